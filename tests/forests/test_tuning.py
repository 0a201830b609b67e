"""Tuning by cross-validation, and the plots."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from boosting_worlds import model, world

import treeml as tml
from treeml.forests.plots import plot_margins, plot_progress, progress_lines
from treeml.solving.tuning import GRIDS, tune


def test_tuning_takes_the_penalty_that_is_best_on_unseen_rows() -> None:
    x, y = world(21, rows=40, columns=5)
    tuned = tune(model("mdboost", 2), x, y, grid=[0.5, 3, 25], folds=3)
    assert set(tuned.validations) == {Fraction(1, 2), Fraction(3), Fraction(25)}
    assert all(len(validation.parts) == 3 for validation in tuned.validations.values())
    assert tuned.accuracy(tuned.penalty) == max(tuned.accuracy(penalty) for penalty in tuned.validations)
    assert tuned.result.is_optimal
    assert tuned.result.forest is not None
    assert tuned.result.forest.total == tuned.penalty


def test_a_tuned_penalty_replaces_nu() -> None:
    x, y = world(22, rows=30)
    tuned = tune(model("lpboost", 1, nu=0.5), x, y, grid=["1/4", 1], folds=2)
    assert tuned.penalty in (Fraction(1, 4), Fraction(1))


def test_only_criteria_with_a_grid_are_tuned() -> None:
    assert len(GRIDS["lpboost"]) == len(GRIDS["mdboost"]) == 8
    x, y = world(22, rows=30)
    with pytest.raises(tml.DataError, match="D439"):
        tune(model("hardmargin", 1), x, y)
    single = tml.Model()
    single.maximize(tml.accuracy)
    single.require(tml.depth <= 1)
    with pytest.raises(tml.RefusedError, match="B522"):
        tune(single, x, y)


def test_plots_show_what_happened() -> None:
    x, y = world(23, rows=40, columns=5)
    result = model("lpboost", 2, penalty=0.1).solve(x, y)
    rounds, values, bounds = progress_lines(result)
    assert len(rounds) == len(result.trace)
    assert np.nanmax(values) <= np.nanmin(bounds) + 1e-6
    axes = plot_progress(result)
    assert [line.get_label() for line in axes.lines] == ["margin of the forest", "bound"]
    spread = plot_margins(result, x, y)
    assert spread.lines[0].get_xdata().min() == pytest.approx(result.measures["smallest_margin"])
