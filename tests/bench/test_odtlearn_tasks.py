"""The benchmark of balanced, fair and prescriptive trees, without the peer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.odtlearn_tasks import TASKS, by_treeml, compared, made, main
from benchmarks.odtlearn_tasks import arguments as parsed


def test_all_tasks_are_solved_and_told_without_a_peer(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--seeds", "1", "--depth", "1", "2"])
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == [task for task in TASKS for _ in range(2)]
    assert all("*" in line and "GAP" not in line for line in lines)


@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if task.gap is not None])
def test_a_bound_on_the_gap_costs_accuracy_and_is_kept(name: str) -> None:
    task, options = TASKS[name], parsed(["--bound", "0.02"])
    columns = made(60, 5, 3)
    fair, fairly, _ = by_treeml(task, columns, 2, options)
    free, freely, _ = by_treeml(TASKS["accuracy"], columns, 2, options)
    assert fairly
    assert freely
    assert task.gap is not None
    assert task.gap(columns, fair) <= 0.02 + 1e-9
    assert task.value(columns, fair) <= task.value(columns, free)


def test_what_is_said_of_two_values() -> None:
    assert compared(0.5, 0.5) == "equal"
    assert compared(0.6, 0.5) == "better"
    assert compared(0.4, 0.5) == "WORSE"
    assert compared(0.4, None) == "theirs exceeds the bound"
