"""The table of objective, bound and gap over time: when there is one, and what its cells say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from treeml.cli import comparison_run
from treeml.cli.main import treeml
from treeml.studies.compare import Comparison
from treeml.studies.comparison.gap_over_time import TITLE, gaps_over_time
from treeml.studies.comparison.record import of_end

Moment = tuple[float, "float | list[float] | None", "float | None"]


def record(
    *trace: Moment, seconds: float = 10.0, value: Any = None, bound: float | None = None, **more: Any
) -> dict[str, Any]:
    def values(value: Any) -> Any:
        return value if value is None or isinstance(value, list) else [value]

    moments = [{"seconds": at, "objective": values(each), "bound": below} for at, each, below in trace]
    base = {"backend": "native", "stop": "time", "seconds": seconds, "objective": value, "bound": bound}
    return {**base, "trace": moments, **more}


def test_values_and_bounds_stand_from_when_they_were_reported() -> None:
    (row,) = gaps_over_time([record((0.7, 80, None), (1.5, 60, 0), (4.0, 50, 20), value=40, bound=30)])
    assert row == {
        "back-end": "native",
        "0.5 s": "",
        "1 s": "80",
        "2 s": "60, 0 (100.0 %)",
        "5 s": "50, 20 (60.0 %)",
        "10 s": "40, 30 (25.0 %)",
    }


def test_a_run_that_ended_keeps_its_answer() -> None:
    proved = record((0.2, 7, 3), seconds=1.0, value=5, bound=5, stop="proved", backend="cpsat")
    _, row = gaps_over_time([record((0.1, 9, 1), value=9, bound=1), proved])
    assert [row["0.5 s"], row["1 s"], row["10 s"]] == ["7, 3 (57.1 %)", "5, 5 (0 %)", "5, 5 (0 %)"]


def test_nothing_is_shown_if_nobody_was_stopped_with_a_bound() -> None:
    proved = record((0.2, 7, 3), value=5, bound=5, stop="proved")
    greedy = record((0.2, 7, None), value=7, stop="finished")
    assert gaps_over_time([proved, greedy]) == []
    assert gaps_over_time([]) == []


def test_refusals_failures_and_several_goals_have_no_line() -> None:
    refused = {"backend": "sat", "refused": True, "because": "it cannot"}
    failed = {"backend": "mip", **of_end("it crashed")}
    several = record((0.2, [7, 3], None), value=[7, 3], bound=2)
    assert gaps_over_time([refused, failed, several]) == []
    rows = gaps_over_time([refused, failed, several, record((0.1, 9, 1), value=9, bound=1)])
    assert [row["back-end"] for row in rows] == ["native"]


@pytest.mark.parametrize(
    ("value", "bound", "cell"), [(0, -2, "0, -2"), (-1, -5, "-1, -5"), (0.5, 1, "0.5, 1 (100.0 %)")]
)
def test_a_gap_beyond_the_objective_is_not_a_share(value: float, bound: float, cell: str) -> None:
    (row,) = gaps_over_time([record((0.1, value, bound), value=value, bound=bound)])
    assert row["10 s"] == cell


def test_a_bound_may_come_before_a_tree() -> None:
    (row,) = gaps_over_time([record((0.1, None, 4), (6.0, 9, 4), value=9, bound=4)])
    assert row["5 s"] == "bound 4"


def test_lines_are_told_apart_and_long_times_are_whole_seconds() -> None:
    one = record((0.1, 9, 1), value=9, bound=1, seconds=3600.0, spec="one.tml")
    rows = gaps_over_time([one, {**one, "spec": "two.tml"}])
    assert [row["spec"] for row in rows] == ["one.tml", "two.tml"]
    assert "3600 s" in rows[0]


def test_the_command_prints_it_only_after_a_stop(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert TITLE not in CliRunner().invoke(treeml, ["compare", str(spec), "--with", "oracle,cart"]).stdout
    run = comparison_run.run

    def stopped(*arguments: Any) -> Comparison:
        (entry,) = run(*arguments).entries
        trace = [{"seconds": 0.0, "objective": [2], "bound": 0}]
        record = {**entry.record, "stop": "time", "status": "feasible", "bound": 0, "seconds": 10.0, "trace": trace}
        return Comparison((replace(entry, record=record),))

    monkeypatch.setattr(comparison_run, "run", stopped)
    text = CliRunner().invoke(treeml, ["compare", str(spec), "--with", "oracle"]).stdout
    title, heading, _, row = text[text.index(TITLE) :].splitlines()[:4]
    assert title == TITLE
    assert heading.split("  ")[0] == "back-end"
    assert row.split() == ["oracle", *["2,", "0", "(100.0", "%)"] * 4, "1,", "0", "(100.0", "%)"]
