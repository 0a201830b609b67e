"""X, y and any weak learner -> weighted learners, round by round: for models that no criterion of `forests` covers.

A model maximizes a function of the margins over the learners known so far. Its dual prices are weights of the rows.
The next learner is fitted with these weights, until none has an edge that is larger by more than a gap (column
generation). The models, for signs p (1 where a learner is right, -1 where not), weights w and margins m = p' w:

- Ratsch: max r - D sum xi, with m >= r - xi and sum w = 1; without xi if D is not above 0.
- Demiriz: min sum w + C sum xi, with m >= 1 - xi.
- Aglin: max sum m + C min m, with sum w = 1. The prices are 1 + v, where v >= 0 adds up to C; the library fits the next
  learner with v alone, which ends its search too early, and this module with 1 + v.
- MDBoost: max sum m - D/2 m' A m, with sum w = 1. A is the variance, or a kernel of the rows. Prices may be negative:
  such a row counts for the other class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.forests.quadratic import Simplex

Numbers = NDArray[np.float64]
Weigh = Callable[[Numbers], "Weighed"]  # signs, learners x rows -> the best weights
Fit = Callable[[NDArray[Any], NDArray[Any], Numbers], Any]  # rows, classes, weights -> a fitted learner

STEPS = 10**6  # weights of rows are passed on as whole numbers up to this
TINY = 1e-9  # weights of learners below this are treated as zero


@dataclass(frozen=True, eq=False)
class Weighed:
    weights: Numbers  # of the learners
    prices: Numbers  # of the rows
    value: float  # of the model
    edge: float  # what a learner has to exceed


@dataclass(frozen=True, eq=False)
class Voters:
    """The learners with weight, and how the search for them ended."""

    learners: list[Any]
    weights: Numbers
    signs: Numbers  # learners x rows
    value: float
    rounds: int
    finished: bool  # the last learner had no larger edge


@dataclass(frozen=True, slots=True)
class Ending:
    """When the rounds end."""

    gap: float
    most: int  # rounds; 0 for no limit
    seconds: float  # infinite for no limit


def rounds(X: NDArray[Any], y: NDArray[Any], fit: Fit, weigh: Weigh, ending: Ending) -> Voters:
    """Fit learners to the prices of the rows until no learner helps."""
    classes = np.unique(y)
    until = monotonic() + ending.seconds
    learners: list[Any] = []
    signs = np.zeros((0, len(y)))
    prices, state, finished = np.ones(len(y)), None, False
    while not finished and (not ending.most or len(learners) < ending.most) and (not learners or monotonic() < until):
        learner, right = _fitted(X, y, classes, prices, fit)
        if state is not None and right @ prices <= state.edge + ending.gap:
            finished = True
            break
        learners.append(learner)
        signs = np.vstack([signs, right])
        state = weigh(signs)
        prices = state.prices
    assert state is not None
    kept = np.flatnonzero(state.weights > TINY)
    if not len(kept):
        raise ValueError("no learner is worth its weight: all rows fall short at this regulator; raise it")
    return Voters(
        [learners[place] for place in kept], state.weights[kept], signs[kept], state.value, len(learners), finished
    )


def _fitted(X: NDArray[Any], y: NDArray[Any], classes: NDArray[Any], prices: Numbers, fit: Fit) -> tuple[Any, Numbers]:
    """A learner for these prices, and 1 or -1 for every row."""
    asked = y
    if (prices < 0).any():
        if len(classes) != 2:
            raise ValueError(f"this model weighs two classes against each other, and here there are {len(classes)}")
        asked = np.where(prices < 0, np.where(y == classes[0], classes[1], classes[0]), y)
    whole = np.rint(np.abs(prices) / np.abs(prices).max() * STEPS)
    counted = whole > 0
    learner = fit(X[counted], asked[counted], whole[counted])
    return learner, np.where(np.asarray(learner.predict(X)) == y, 1.0, -1.0)


def weigh_ratsch(penalty: float) -> Weigh:
    def weigh(signs: Numbers) -> Weighed:
        learners, rows = signs.shape
        slacks = rows if penalty > 0 else 0
        costs = np.concatenate([np.zeros(learners), [-1.0], np.full(slacks, penalty)])
        limits = np.hstack([-signs.T, np.ones((rows, 1)), -np.eye(rows, slacks)])
        solved = _minimized(costs, (limits, np.zeros(rows)), _one(learners, 1 + slacks), learners)
        return Weighed(solved.x[:learners], solved.prices, -solved.value, float((signs @ solved.prices).max()))

    return weigh


def weigh_demiriz(cost: float) -> Weigh:
    def weigh(signs: Numbers) -> Weighed:
        learners, rows = signs.shape
        costs = np.concatenate([np.ones(learners), np.full(rows, cost)])
        limits = np.hstack([-signs.T, -np.eye(rows)])
        solved = _minimized(costs, (limits, np.full(rows, -1.0)), None, -1)
        return Weighed(solved.x[:learners], solved.prices, solved.value, 1.0)

    return weigh


def weigh_aglin(share: float) -> Weigh:
    def weigh(signs: Numbers) -> Weighed:
        learners, rows = signs.shape
        costs = np.append(-signs.sum(axis=1), -share)
        limits = np.hstack([-signs.T, np.ones((rows, 1))])
        solved = _minimized(costs, (limits, np.zeros(rows)), _one(learners, 1), learners)
        prices = 1 + solved.prices
        return Weighed(solved.x[:learners], prices, -solved.value, float((signs @ prices).max()))

    return weigh


def weigh_by_variance(penalty: float, kernel: Numbers) -> Weigh:
    def weigh(signs: Numbers) -> Weighed:
        program = Simplex(1.0)
        program.add(signs.sum(axis=1), penalty * signs @ kernel @ signs.T)
        program.solve(float("inf"))
        margins = program.weights @ signs
        prices = 1 - penalty * kernel @ margins
        value = float(margins.sum() - penalty / 2 * margins @ kernel @ margins)
        return Weighed(program.weights, prices, value, float((signs @ prices).max()))

    return weigh


def variance(rows: int) -> Numbers:
    """m' A m is the number of rows times the variance of m."""
    return (np.eye(rows) - 1 / rows) * rows / (rows - 1)


def kernel_of(X: NDArray[Any], gamma: Any) -> Numbers:
    """exp(-gamma * squared distance) of every two rows."""
    X = np.asarray(X, dtype=np.float64)
    spread = float(X.var())
    named = {"auto": len(X), "scale": X.shape[1] * spread, "nscale": spread}
    factor = 1 / named[gamma] if isinstance(gamma, str) else float(gamma)
    squares = (X**2).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0)
    found: Numbers = np.exp(-factor * distances)
    return found


@dataclass(frozen=True, eq=False)
class _Minimum:
    x: Numbers
    value: float
    prices: Numbers  # of the inequalities


def _one(learners: int, others: int) -> tuple[Numbers, Numbers]:
    """The weights of the learners add up to 1."""
    return np.append(np.ones(learners), np.zeros(others))[None, :], np.ones(1)


def _minimized(
    costs: Numbers, most: tuple[Numbers, Numbers], equal: tuple[Numbers, Numbers] | None, free: int
) -> _Minimum:
    """min costs @ x with most[0] @ x <= most[1]; every x is at least 0, but for the one at place `free`."""
    from scipy.optimize import linprog  # imported here: start-up time

    bounds = [(None, None) if place == free else (0, None) for place in range(len(costs))]
    rest = {} if equal is None else {"A_eq": equal[0], "b_eq": equal[1]}
    found = linprog(costs, A_ub=most[0], b_ub=most[1], bounds=bounds, method="highs", **rest)
    if not found.success:
        raise ValueError(f"the weights of the learners were not found: {found.message}")
    return _Minimum(found.x, float(found.fun), np.maximum(-found.ineqlin.marginals, 0))
