"""Rows and columns, one by one -> Program, for encodings that are not built from arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.engines.program import FREE, Program, gather_rows
from treeml.backends.task.deadline import NO_DEADLINE, in_time

Terms = list[tuple[int, int]]  # (coefficient, column)


class ProgramBuilder:
    """A program under construction; adding a row raises OutOfTime after the deadline."""

    def __init__(self, deadline: Deadline = NO_DEADLINE) -> None:
        self.deadline = deadline
        self.lower: list[int] = []
        self.upper: list[int] = []
        self.whole: list[bool] = []
        self.rows: list[tuple[np.ndarray, np.ndarray, int, int]] = []
        self.goal: dict[int, int] = {}
        self.offset = 0

    def column(self, lower: int = 0, upper: int = 1, whole: bool = True) -> int:
        self.lower.append(lower)
        self.upper.append(upper)
        self.whole.append(whole)
        return len(self.lower) - 1

    def columns(self, count: int, whole: bool = True) -> list[int]:
        return [self.column(whole=whole) for _ in range(count)]

    def row(self, terms: Iterable[tuple[int, int]], low: int | None, high: int | None) -> None:
        if len(self.rows) % 256 == 0:
            in_time(self.deadline)
        added: dict[int, int] = {}
        for factor, column in terms:
            added[column] = added.get(column, 0) + factor
        ids = np.array(list(added), np.int64)
        values = np.array(list(added.values()), np.int64)
        self.rows.append((ids, values, -FREE if low is None else low, FREE if high is None else high))

    def most(self, terms: Iterable[tuple[int, int]]) -> int:
        """The largest value that the sum can have."""
        return sum(max(factor * self.lower[c], factor * self.upper[c]) for factor, c in terms)

    def at_most_if(self, terms: Terms, limit: int, condition: Terms, needed: int) -> None:
        """terms <= limit if the columns of the condition sum to `needed`, their largest possible sum."""
        room = max(0, self.most(terms) - limit)
        self.row([*terms, *((room * factor, column) for factor, column in condition)], None, limit + room * needed)

    def minimize(self, terms: Iterable[tuple[int, int]], offset: int) -> None:
        for factor, column in terms:
            self.goal[column] = self.goal.get(column, 0) + factor
        self.offset += offset

    def program(self) -> Program:
        cost = np.zeros(len(self.lower), np.int64)
        for column, factor in self.goal.items():
            cost[column] = factor
        start, index, value, low, high = gather_rows(self.rows)
        return Program(
            cost,
            np.array(self.lower, np.int64),
            np.array(self.upper, np.int64),
            start,
            index,
            value,
            low,
            high,
            self.offset,
            whole=np.array(self.whole, bool),
        )
