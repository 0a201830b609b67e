"""Terms -> their values on all trees of a set at once, exactly.

A term is evaluated on every shared node once, from the leaves up, and then on the roots. Values are whole numbers; what
is made of them (quotients, largest of several sums) is computed once for every combination that occurs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.native.sets import SharedNodes
from treeml.problem.magnitudes import largest
from treeml.problem.problem import Bound
from treeml.problem.terms import Composite, Depth, LeafErrors, Leaves, Predicted, Purity, Sum, Support, Term, Used
from treeml.studies.tree_sets.sources import Roots, TreeSource

Whole = NDArray[np.int64]
Join = Callable[[Whole, Whole, Any], Whole]  # values of the yes and the no side, and the tests -> values of the split


class NotVectorized(Exception):
    """The term has to be evaluated tree by tree."""


@dataclass(eq=False)
class TermValues:
    """One number for every node, how it follows from those of the sides, and what it means."""

    values: Whole
    join: Join
    meaning: Callable[[int], Fraction]

    def of_roots(self, roots: Roots, leaf_number: NDArray[np.int64]) -> Whole:
        """The numbers of whole trees; a tree that is a leaf has the node `leaf_number`."""
        test, yes, no = roots
        alone = test < 0
        yes, no = np.where(alone, 0, yes), np.where(alone, 0, no)
        joined = self.join(self.values[yes], self.values[no], test)
        return np.where(alone, self.values[leaf_number] if len(leaf_number) else 0, joined)


@dataclass(frozen=True, eq=False)
class Measured:
    """The value of every tree: a code, and the exact value of every code (None if undefined)."""

    codes: NDArray[np.int64]
    table: list[Fraction | None]

    def __getitem__(self, numbers: Any) -> list[Fraction | None]:
        return [self.table[code] for code in self.codes[numbers].tolist()]


class NodeValues:
    """Evaluates sums and bounds on all trees of a source."""

    def __init__(self, source: TreeSource, feature_of_test: NDArray[np.int64]) -> None:
        self.source, self.feature = source, feature_of_test
        self.nodes: SharedNodes = source.nodes()
        self.leaves = np.flatnonzero(self.nodes.test < 0).astype(np.int32)
        self._columns: dict[int, TermValues] = {}

    def sums(self, totals: list[Sum], read: Callable[[Callable[[Sum, Any], Any]], Any]) -> Measured:
        """`read` gets a function that evaluates a sum on one tree, and returns the value of that tree."""
        terms = [term for total in totals for term in total.terms() if not isinstance(term, Composite)]
        columns = {id(term): self.column(term) for term in terms}
        order = list(columns)
        codes, rows = self._combinations([columns[key] for key in order])
        table = []
        for row in rows.tolist():
            known = {key: columns[key].meaning(number) for key, number in zip(order, row, strict=True)}
            table.append(read(partial(_value, known)))
        return Measured(codes, table)

    def value(self, total: Sum, negated: bool) -> Measured:
        """A goal in the user's sense; a quotient by zero has no value."""

        def read(value: Callable[[Sum, Any], Any]) -> Fraction | None:
            found: Fraction | None = value(total, None)
            return found if found is None or not negated else -found

        return self.sums([total], read)

    def meets(self, bounds: list[Bound]) -> Measured:
        """1 where all bounds hold."""

        def read(value: Callable[[Sum, Any], Any]) -> Fraction:
            return Fraction(int(all(bound.holds(value(bound.sum, None)) for bound in bounds)))

        return self.sums([bound.sum for bound in bounds], read)

    def numbers(self, term: Term) -> Whole:
        """The number of a term on every tree; what it means is up to the column of the term."""
        column = self.column(term)
        parts = [column.of_roots(roots, self._lone_leaf(roots)) for roots in self.source.chunks()]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def _combinations(self, columns: list[TermValues]) -> tuple[NDArray[np.int64], Whole]:
        """For every tree the number of its combination of values, and the combinations."""
        if not columns:
            return np.zeros(self.source.count, dtype=np.int64), np.zeros((1, 0), dtype=np.int64)
        known: dict[tuple[int, ...], int] = {}
        parts = []
        for roots in self.source.chunks():
            lone = self._lone_leaf(roots)
            table = np.stack([column.of_roots(roots, lone) for column in columns], axis=1)
            unique, place = np.unique(table, axis=0, return_inverse=True)
            numbers = np.array([known.setdefault(tuple(row), len(known)) for row in unique.tolist()], dtype=np.int64)
            parts.append(numbers[place.reshape(-1)])
        codes = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
        return codes, np.array(list(known), dtype=np.int64).reshape(len(known), len(columns))

    def _lone_leaf(self, roots: Roots) -> NDArray[np.int64]:
        """The node that stands for a tree without splits, for every tree of a chunk: the last node, made for it."""
        return np.full(len(roots[0]), len(self.nodes.test), dtype=np.int64)

    def column(self, term: Term) -> TermValues:
        if id(term) not in self._columns:
            self._columns[id(term)] = self._made(term)
            self._kept = [*getattr(self, "_kept", []), term]  # an id is that of a term as long as the term lives
        return self._columns[id(term)]

    def _made(self, term: Term) -> TermValues:
        match term:
            case Predicted():
                return self._summed(self._at_labels(term.cost), np.add, lambda number: term.scale * number)
            case Leaves():
                return self._summed(np.ones(len(self.leaves) + 1, np.int64), np.add, Fraction)
            case Depth():
                zeros = np.zeros(len(self.leaves) + 1, np.int64)
                return self._propagated(zeros, lambda yes, no, _: 1 + np.maximum(yes, no), Fraction)
            case Support():
                return self._summed(self._sums(np.ones((self._rows, 1), np.int64))[:, 0], np.minimum, Fraction)
            case LeafErrors():
                join = np.maximum if term.scale >= 0 else np.minimum
                return self._summed(self._at_labels(term.cost), join, lambda number: term.scale * number)
            case Purity():
                return self._purity(term)
            case Used():
                return self._used(term)
        raise NotVectorized(type(term).__name__)

    @property
    def _rows(self) -> int:
        if self.source.dataset is None:
            raise ValueError("this measure needs the rows of the data: TreeSet.read(path, data=...)")
        return self.source.dataset.rows

    def _sums(self, values: Whole) -> Whole:
        """Sums over the rows of every leaf, and at the end over all rows: those of a tree without splits."""
        if values.shape[0] != self._rows or largest(values) * max(1, len(values)) >= 2**62:
            raise NotVectorized("large numbers")
        return np.vstack([self.source.leaf_sums(self.leaves, values), values.sum(axis=0, keepdims=True)])

    def _at_labels(self, cost: Whole) -> Whole:
        sums = self._sums(cost)
        labels = np.append(self.nodes.yes[self.leaves], self._lone_label())
        return np.asarray(sums[np.arange(len(sums)), labels], dtype=np.int64)

    def _lone_label(self) -> int:
        """The class of a tree without splits, if the set has one; else any."""
        for test, yes, _ in self.source.chunks():
            alone = np.flatnonzero(test < 0)
            if len(alone):
                return int(yes[alone[0]])
        return 0

    def _summed(self, leaves: Whole, join: Any, meaning: Callable[[int], Fraction]) -> TermValues:
        return self._propagated(leaves, lambda yes, no, _: join(yes, no), meaning)

    def _propagated(self, leaves: Whole, join: Join, meaning: Callable[[int], Fraction]) -> TermValues:
        """The values of all nodes from those of the leaves; the last value is that of a tree without splits."""
        nodes = self.nodes
        values = np.zeros(len(nodes.test) + 1, dtype=np.int64)
        values[self.leaves], values[-1] = leaves[:-1], leaves[-1]
        known = np.zeros(len(nodes.test), dtype=bool)
        known[self.leaves] = True
        waiting = np.flatnonzero(nodes.test >= 0)
        while len(waiting):
            ready = known[nodes.yes[waiting]] & known[nodes.no[waiting]]
            now = waiting[ready]
            values[now] = join(values[nodes.yes[now]], values[nodes.no[now]], nodes.test[now])
            known[now] = True
            waiting = waiting[~ready]
        return TermValues(values, join, meaning)

    def _purity(self, term: Purity) -> TermValues:
        sums = self._sums(term.weight)
        shares = [Fraction(max(row), sum(row)) if any(row) else Fraction(1) for row in sums.tolist()]
        ordered = sorted(set(shares))
        place = {share: number for number, share in enumerate(ordered)}
        return self._summed(np.array([place[share] for share in shares]), np.minimum, lambda number: ordered[number])

    def _used(self, term: Used) -> TermValues:
        wanted = sorted(term.features)
        if len(wanted) > 62:
            raise NotVectorized("many columns")
        bit = np.zeros(int(self.feature.max(initial=-1)) + 2, dtype=np.int64)
        for place, feature in enumerate(wanted):
            if feature < len(bit) - 1:
                bit[feature] = 1 << place
        of_test = bit[self.feature] if len(self.feature) else np.zeros(1, np.int64)

        def join(yes: Whole, no: Whole, test: Any) -> Whole:
            return np.asarray(yes | no | of_test[np.maximum(test, 0)], dtype=np.int64)

        zeros = np.zeros(len(self.leaves) + 1, np.int64)
        return self._propagated(zeros, join, lambda number: Fraction(number.bit_count()))


def _value(known: dict[int, Fraction], total: Sum, undefined: Fraction | None) -> Fraction | None:
    return total.with_values(known, undefined)
