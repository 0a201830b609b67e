"""Small data sets for forests, and every tree on them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import treeml as tml


def world(seed: int, rows: int = 14, columns: int = 4, classes: int = 2) -> tuple[NDArray[Any], NDArray[Any]]:
    """0/1 columns, and classes that follow them with noise; equal rows and contradictions occur."""
    chance = np.random.default_rng(seed)
    x = chance.integers(0, 2, (rows, columns))
    y = (x[:, 0] + x[:, 1] * x[:, 2] + (chance.random(rows) < 0.25)) % classes
    y[:classes] = np.arange(classes)
    return x, y


def distinct(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows that all differ, so that none contradict each other; every class occurs."""
    classes = len(set(y.tolist()))
    rows, first = np.unique(x, axis=0, return_index=True)
    labels = y[first]
    labels[:classes] = np.arange(classes)
    return rows, labels


def model(criterion: str, depth: int, **options: Any) -> tml.Model:
    asked = tml.Model()
    asked.ensemble(criterion, **options)
    asked.maximize(tml.margin)
    asked.require(tml.depth <= depth)
    return asked


def all_votes(x: NDArray[Any], classes: int, depth: int) -> NDArray[np.int64]:
    """The votes of every tree of this depth: one line for each possible vote on the rows."""
    found = {votes.tobytes(): votes for votes in _votes(x, np.arange(len(x)), classes, depth)}
    return np.array(list(found.values()))


def _votes(x: NDArray[Any], rows: NDArray[Any], classes: int, depth: int) -> list[NDArray[np.int64]]:
    """Votes on these rows, and 0 on the others."""
    everything = []
    for label in range(classes):
        votes = np.zeros(len(x), dtype=np.int64)
        votes[rows] = label
        everything.append(votes)
    if depth == 0 or not len(rows):
        return everything
    for column in range(x.shape[1]):
        yes = rows[x[rows, column] == 1]
        no = rows[x[rows, column] == 0]
        if len(yes) and len(no):
            sides = product(_votes(x, yes, classes, depth - 1), _votes(x, no, classes, depth - 1))
            everything += [one + other for one, other in sides]
    unique = {votes.tobytes(): votes for votes in everything}
    return list(unique.values())


def signs_of(votes: NDArray[np.int64], y: NDArray[Any]) -> NDArray[np.float64]:
    """trees x rows, for two classes."""
    return np.where(votes == y, 1.0, -1.0)


def soft_margin_optimum(votes: NDArray[np.int64], y: NDArray[Any], classes: int, penalty: float | None) -> float:
    """The linear program over every tree, in its primal form, by scipy."""
    from scipy.optimize import linprog

    trees, rows = len(votes), len(y)
    slacks = 0 if penalty is None else rows
    cost = np.concatenate([np.zeros(trees), [-1.0], np.full(slacks, penalty or 0.0)])
    lines = []
    for row in range(rows):
        for rival in range(classes):
            if rival == y[row]:
                continue
            sign = (votes[:, row] == y[row]).astype(float) - (votes[:, row] == rival)
            line = np.concatenate([-sign, [1.0], np.zeros(slacks)])
            if slacks:
                line[trees + 1 + row] = -1.0
            lines.append(line)
    once = np.concatenate([np.ones(trees), np.zeros(1 + slacks)])[None, :]
    limits = [(0, None)] * trees + [(None, None)] + [(0, None)] * slacks
    solved = linprog(cost, A_ub=np.array(lines), b_ub=np.zeros(len(lines)), A_eq=once, b_eq=[1.0], bounds=limits)
    assert solved.status == 0
    return float(-solved.fun)
