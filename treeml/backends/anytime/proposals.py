"""Rows of a problem -> tests that are worth trying as their split, the most promising first.

As in CART (Breiman, Friedman, Olshen and Stone, 1984), the score is the Gini index of the goal's costs, or the squared
error of the targets. Every column proposes its best cut. A sample of
very many rows proposes almost the same cuts as all of them, in a fraction of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeml.backends.native.coded_columns import CodedColumn, columns_of, test_of_cut
from treeml.backends.native.goals import NativeObjective
from treeml.backends.native.inputs import forbidden_features
from treeml.problem.evaluate import answers
from treeml.problem.problem import Problem

MOST_ROWS = 50_000  # that are sorted; of more rows, a sample is
MOST_ANSWERS, FEWEST_ROWS = 30_000_000, 2_000  # to tests that are added up; of more, those of a sample of rows are
AT_ONCE = 1 << 24  # answers that are added up at once

Rows = NDArray[np.intp]
Sums = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Proposal:
    score: float  # less is better
    test: int


class Splits:
    """Proposals of splits for sets of rows."""

    def __init__(self, problem: Problem, objective: NativeObjective) -> None:
        self.problem = problem
        self.values = _values(problem, objective)
        self.is_loss = objective.loss is not None
        forbidden = forbidden_features(problem)
        columns = columns_of(problem, forbidden)
        self.ordered = [column for column in columns if column.test < 0 and column.missing != "high"]
        self.tests = np.array([column.test for column in columns if column.test >= 0], dtype=np.intp)
        self._bits: NDArray[np.bool_] | None = None

    def propose(self, rows: Rows, random: np.random.Generator | None = None, share: float = 1.0) -> list[Proposal]:
        """The best cut of every column; with `random`, of a share of the columns."""
        if len(rows) > MOST_ROWS:
            rows = rows[np.sort(np.random.default_rng(len(rows)).integers(0, len(rows), MOST_ROWS))]
        values = self.values[rows]
        found: list[Proposal] = []
        for column in self.ordered:
            if random is not None and random.random() > share:
                continue
            proposal = self._cut(column, rows, values)
            if proposal is not None:
                found.append(proposal)
        places = np.arange(len(self.tests))
        if random is not None and len(places):
            places = places[random.random(len(places)) <= share]
        if len(places):
            found += self._tests(places, rows, values)
        found.sort(key=lambda each: each.score)
        return found

    def _cut(self, column: CodedColumn, rows: Rows, values: Sums) -> Proposal | None:
        codes = self.problem.features[column.feature].codes
        assert codes is not None
        here = codes[rows]
        order = np.argsort(here, kind="stable")
        here = here[order]
        ends = np.flatnonzero(here[1:] != here[:-1])
        if not len(ends):
            return None
        sums = np.cumsum(values[order], axis=0)
        scores = self._score(sums[ends]) + self._score(sums[-1] - sums[ends])
        place = int(scores.argmin())
        cut = int(here[ends[place]])
        # Missing rows have the code -1: they come first, with the rows up to the cut.
        test, _ = test_of_cut(self.problem, column, cut + 1 if column.missing == "low" else cut)
        return Proposal(float(scores[place]), test)

    def _tests(self, places: NDArray[np.intp], rows: Rows, values: Sums) -> list[Proposal]:
        most = max(FEWEST_ROWS, MOST_ANSWERS // len(places))
        if len(rows) > most:
            some = np.sort(np.random.default_rng(len(rows)).integers(0, len(rows), most))
            rows, values = rows[some], values[some]
        yes = np.empty((len(places), values.shape[1]), dtype=np.float32)
        count = np.empty(len(places), dtype=np.int64)
        amounts, size = values.astype(np.float32), max(1, AT_ONCE // max(1, len(rows)))
        for first in range(0, len(places), size):
            block = slice(first, first + size)
            bits = self.bits[places[block, None], rows[None, :]]
            yes[block], count[block] = bits.astype(np.float32) @ amounts, bits.sum(axis=1)
        useful = np.flatnonzero((count > 0) & (count < len(rows)))
        scores = self._score(yes[useful].astype(np.float64)) + self._score(values.sum(axis=0) - yes[useful])
        return [Proposal(float(score), int(self.tests[places[at]])) for score, at in zip(scores, useful, strict=True)]

    @property
    def bits(self) -> NDArray[np.bool_]:
        """The answers to `tests`. The cuts of ordered columns have none: they may be too many for the memory."""
        if self._bits is None:
            rows = np.arange(self.problem.rows)
            self._bits = (
                self.problem.bits
                if len(self.tests) == len(self.problem.tests)
                else np.array([answers(self.problem, int(test), rows) for test in self.tests], dtype=np.bool_)
            )
        return self._bits

    def _score(self, sums: Sums) -> Sums:
        """The impurity of sides with these sums."""
        if self.is_loss:
            weight = sums[:, :1]
            squares = (sums[:, 1:] ** 2).sum(axis=1, keepdims=True)
            return np.asarray(-np.divide(squares, weight, out=np.zeros_like(squares), where=weight > 0)[:, 0])
        total = sums.sum(axis=1)
        squares = (sums**2).sum(axis=1)
        return np.asarray(total - np.divide(squares, total, out=np.zeros_like(squares), where=total > 0))


def _values(problem: Problem, objective: NativeObjective) -> Sums:
    """What is summed over the rows of a side: what every class saves, or weights and weighted targets."""
    if objective.loss is not None:
        targets = objective.loss.targets.astype(np.float64)
        weight = objective.loss.weight.astype(np.float64)[:, None]
        return np.concatenate([weight, weight * (targets - targets.mean(axis=0))], axis=1)
    if objective.cost is None:
        return np.ones((problem.rows, 1))
    cost = objective.cost.astype(np.float64)
    return np.asarray(cost.max(axis=1, keepdims=True) - cost)
