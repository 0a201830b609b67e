"""The benchmark of forests on a small data set: its line, its folds, and a penalty tuned in each fold."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from boosting_worlds import world
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.boosting import PENALTIES, PUBLISHED, fold_of_rows, main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    x, y = world(31, rows=40, columns=5)
    lines = ["label,a,b,c,d,e", *(",".join(map(str, row)) for row in np.column_stack([y, x]).tolist())]
    (tmp_path / "small.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.parametrize("tuned", ["", "area", "accuracy"])
@pytest.mark.parametrize("criterion", ["lpboost", "mdboost"])
def test_a_small_set(folder: Path, criterion: str, tuned: str) -> None:
    arguments = ["--data-dir", str(folder), "--set", "small", "--criterion", criterion, "--depth", "1", "--folds", "2"]
    result = CliRunner().invoke(main, [*arguments, *(["--tune", tuned] if tuned else [])])
    assert result.exit_code == 0, result.output
    line = next(line for line in result.output.splitlines() if line.startswith("small"))
    cells = line.split()
    assert cells[1] == "optimal"
    assert float(cells[2]) >= float(cells[3]) - 1e-6  # never below the forest of greedy trees
    assert all(0 <= float(cell) <= 100 for cell in cells[8:11])
    means = next(line for line in result.output.splitlines() if line.startswith("  over the folds"))
    penalties = means.partition("penalties")[2].split()
    assert len(penalties) == 2
    assert tuned or set(penalties) == {PENALTIES[criterion]}


def test_columns_in_another_order_have_the_same_optimum_and_a_gap_ends_below_it(folder: Path) -> None:
    def objective(*arguments: str) -> float:
        given = ["--data-dir", str(folder), "--set", "small", "--criterion", "mdboost", "--depth", "2", "--folds", "0"]
        result = CliRunner().invoke(main, [*given, *arguments])
        assert result.exit_code == 0, result.output
        return float(next(line for line in result.output.splitlines() if line.startswith("small")).split()[2])

    best = objective()
    assert objective("--order", "3") == pytest.approx(best, rel=2e-6)
    assert objective("--gap", "1") < (1 - 1e-5) * best


def test_divisions_show_the_mean_and_the_spread_of_one_division_after_the_other(folder: Path) -> None:
    given = ["--data-dir", str(folder), "--set", "small", "--criterion", "lpboost", "--depth", "1", "--folds", "2"]

    def tests_of(seed: int) -> float:
        result = CliRunner().invoke(main, [*given, "--seed", str(seed)])
        return float(next(line for line in result.output.splitlines() if line.startswith("small")).split()[9])

    alone = [tests_of(seed) for seed in (1, 2, 3)]
    result = CliRunner().invoke(main, [*given, "--divisions", "3"])
    assert result.exit_code == 0, result.output
    spread = next(line for line in result.output.splitlines() if "over 3 divisions" in line)
    error = np.std(alone, ddof=1) / np.sqrt(3)
    for part in (f"test {np.mean(alone):.2f} %", f"error {error:.2f}", f"{min(alone):.2f} to {max(alone):.2f}"):
        assert part in spread
    assert "--folds" in CliRunner().invoke(main, [*given[:-1], "0", "--divisions", "3"]).output


def test_every_published_line_has_both_tables() -> None:
    assert {len(figures) for figures in PUBLISHED.values()} == {7}


def test_folds_without_shuffling_take_the_rows_of_each_class_in_their_order() -> None:
    actual = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    assert fold_of_rows(actual, 2, 0).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    shuffled = fold_of_rows(actual, 2, 1)
    assert [int(np.sum(shuffled[actual == label] == 0)) for label in (0, 1)] == [2, 2]
