"""The benchmark of survival, linear leaves, costs by row and policies, without the peers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import treeml as tml

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import tasks
from benchmarks.tasks import TASKS, as_tests, main, value_of

SMALL = ["--rows", "80", "--tests", "5", "--seeds", "3", "--depth", "1", "2"]


@pytest.fixture(autouse=True)
def _measure_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "WHILE", 0.0)


def test_all_tasks_are_solved_and_told_without_a_peer(capsys: pytest.CaptureFixture[str]) -> None:
    main(SMALL)
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == [task for task in TASKS for _ in range(2)]
    assert all("*" in line and line.rstrip().endswith("-") for line in lines)


def test_an_interpreter_without_the_peer_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    main([*SMALL, "--tasks", "costs", "--peer", sys.executable])
    told = capsys.readouterr()
    assert "pystreed" in told.err
    assert all(line.rstrip().endswith("-") for line in told.out.splitlines()[1:])


@pytest.mark.parametrize("task", TASKS)
def test_values_are_those_of_the_goal(task: str) -> None:
    """The definition of the benchmark and that of the language agree."""
    asked = TASKS[task]
    columns = asked.makes(80, 5, 4)
    text = asked.text.format(depth=2, lines="u0, u1", support=10)
    result = tml.parse(text).solve(columns)
    assert value_of(asked, columns, result.tree.apply(columns)) == pytest.approx(float(result.objective), rel=1e-9)


def test_numbers_become_tests_at_quantiles() -> None:
    rows = (f"{place},{place % 2},{place + 1},{place % 3 == 0:d}" for place in range(20))
    columns = as_tests("\n".join(["age,sex,time,died", *rows, ",1,5,1"]))
    assert list(columns) == [*(f"b{place}" for place in range(9)), "time", "died"]
    assert [int(np.sum(columns[f"b{place}"])) for place in (0, 7, 8)] == [17, 3, 11]
