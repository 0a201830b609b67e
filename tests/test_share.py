"""A share of the tests: others first for another commit, none begun when the time is over."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.mark.slow
@pytest.mark.parametrize("number", range(20))
def test_slow(number):
    pass

def test_quick():
    pass
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest(Path(__file__).with_name("conftest.py").read_text())
    pytester.makeini("[pytest]\nmarkers = slow: takes long\n")
    pytester.makepyfile(TESTS)
    return pytester


def order(suite: pytest.Pytester, *arguments: str) -> list[str]:
    lines = suite.runpytest_inprocess("-v", "-p", "no:randomly", *arguments).outlines
    return [line.split()[0] for line in lines if "::" in line]


def test_quick_ones_alone_unless_asked(suite: pytest.Pytester) -> None:
    assert [name.partition("::")[2] for name in order(suite)] == ["test_quick"]
    assert len(order(suite, "--slow")) == 21


def test_each_commit_has_its_order(suite: pytest.Pytester) -> None:
    one, other, again = (order(suite, "--slow-minutes", "60", "--order", text) for text in ("a1", "b2", "a1"))
    assert one == again != other
    assert sorted(one) == sorted(other)
    assert len(one) == 20


def test_none_is_begun_when_the_time_is_over(suite: pytest.Pytester) -> None:
    suite.runpytest_inprocess("--slow-minutes", "-1").assert_outcomes(skipped=20, deselected=1)


def test_a_share_of_the_quick_ones(suite: pytest.Pytester) -> None:
    suite.runpytest_inprocess("--quick-minutes", "60").assert_outcomes(passed=1, deselected=20)
    suite.runpytest_inprocess("--quick-minutes", "-1").assert_outcomes(skipped=1, deselected=20)


def test_parts_have_every_test_once(suite: pytest.Pytester) -> None:
    parts = [order(suite, "--slow-minutes", "60", "--part", part) for part in ("1/3", "2/3", "3/3")]
    assert [len(part) for part in parts] == [7, 7, 6]
    assert len({name for part in parts for name in part}) == 20
