"""`start from native`: another back-end goes on from its tree and bound."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import treeml as tml
from treeml.lang.diagnostic import RefusedError

SPEC = """
predict y is 1
minimize errors
require depth <= 2
require fair: parity_gap(g) <= 5%
forbid split on g
"""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    random = Random(3)
    lines = ["a,b,c,d,g,y"]
    for _ in range(60):
        bits = [random.randrange(2) for _ in range(5)]
        label = bits[0] ^ bits[1] if random.random() < 0.8 else bits[4]
        lines.append(",".join(map(str, (*bits, label))))
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_native_is_the_default(rows: Path) -> None:
    result = tml.parse(SPEC).solve(rows)
    assert result.backend == "native"
    assert result.status is tml.Status.OPTIMAL


@pytest.mark.parametrize("name", ["cpsat", "mip", "maxsat"])
def test_the_answer_names_who_proved_it(rows: Path, name: str) -> None:
    best = tml.parse(SPEC).solve(rows)
    result = tml.parse(f"{SPEC} start from native solve with {name} within 60 s").solve(rows)
    assert (result.backend, result.status, result.objective) == (name, tml.Status.OPTIMAL, best.objective)
    alone = tml.parse(f"{SPEC} solve with {name} within 60 s").solve(rows)
    assert alone.objective == best.objective
    assert not any("native" in each.name for each in alone.evidence)


def test_a_start_without_time_is_no_obstacle(rows: Path) -> None:
    result = tml.parse(f"{SPEC} start from native(seconds = 0.001 s) solve with cpsat within 60 s").solve(rows)
    assert result.status is tml.Status.OPTIMAL


def test_an_infeasible_spec_stays_infeasible(rows: Path) -> None:
    text = f"{SPEC} require exact: errors <= 0 start from native solve with cpsat within 60 s"
    assert tml.parse(text).solve(rows).status is tml.Status.INFEASIBLE


def test_native_refuses_a_start_that_it_cannot_find(rows: Path) -> None:
    text = f"{SPEC} require features_used <= 1 start from native solve with cpsat"
    with pytest.raises(RefusedError, match="native"):
        tml.parse(text).solve(rows)
    result = tml.parse(f"{SPEC} require features_used <= 1").solve(rows)
    assert result.backend == "cpsat"


def test_why_and_nearest_with_native(rows: Path) -> None:
    text = f"{SPEC} require good: errors <= 13 require caught: recall(1) >= 95%"
    answer = tml.parse(text).why(rows, nearest=["fair"], backend="native")
    assert answer.status is tml.Status.INFEASIBLE
    assert [each.name or each.text for each in answer.conflict] == ["depth <= 2", "fair", "good"]
    assert answer.is_minimal
    (nearest,) = answer.nearest["fair"] or ()
    with_it = text.replace("<= 5%", f"<= {nearest.numerator} / {nearest.denominator}")
    assert tml.parse(with_it).solve(rows, backend="cpsat").status is tml.Status.OPTIMAL
    below = text.replace("<= 5%", f"<= {nearest.numerator} / {nearest.denominator} - 0.0001")
    assert tml.parse(below).solve(rows, backend="cpsat").status is tml.Status.INFEASIBLE
