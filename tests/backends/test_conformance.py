"""Every registered back-end passes the public suite, and the stored answers are the oracle's."""

from __future__ import annotations

from itertools import count, islice

import pytest

from treeml.backends import registry
from treeml.testing import Conformance
from treeml.testing.cases import FOLDER, SuiteCase, as_json, cases, oracle_answer
from treeml.testing.fuzz import FuzzTally, fuzz

for _name in registry.names():
    _title = f"Test{_name.title()}"
    globals()[_title] = type(_title, (Conformance,), {"backend": _name})


def test_there_are_enough_cases() -> None:
    assert len(cases()) >= 60
    assert {path.stem for path in FOLDER.glob("*.tml")} <= {case.name for case in cases()}


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_answers_are_the_oracles(case: SuiteCase) -> None:
    objective = case.expected.objective
    stored = {
        "status": case.expected.status.value,
        "objective": None if objective is None else [str(value) for value in objective],
    }
    assert as_json(oracle_answer(case.problem())) == stored


@pytest.mark.parametrize("name", [name for name in registry.names() if name != "oracle"])
def test_a_share_of_the_fuzzer(name: str) -> None:
    tally = FuzzTally()
    assert list(fuzz(registry.get(name), islice(count(10_000), 60), tally=tally)) == []
    assert tally.taken
