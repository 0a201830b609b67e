"""A listing, or a file -> the trees of a set: one by one as `Tree`, or all at once as shared nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treeml.backends.native.listing import TreeListing
from treeml.data.table import Dataset
from treeml.measures.lower_dataset import Lowered
from treeml.native.sets import SharedNodes
from treeml.problem.constants import exact_sum
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.reduce import row_groups
from treeml.problem.tree import Leaf
from treeml.trees.nodes import TreeLeaf, TreeTest
from treeml.trees.raising import field_of, leaf_outputs, plain_value, question_test, raise_tree
from treeml.trees.tree import Tree

CHUNK = 1 << 20  # trees that are made at once
CLOSE = 1000  # trees between two others that are made with them
MOST_TREES = 50_000_000  # that can be looked at one by one

Codes = NDArray[np.int32]
Whole = NDArray[np.int64]
Roots = tuple[Codes, Codes, Codes]  # test, yes and no of every tree; the sides are numbers of nodes


class TreeSource(Protocol):
    """The trees of a set, numbered from 0 in the order of the goal."""

    @property
    def count(self) -> int: ...

    @property
    def dataset(self) -> Dataset | None:
        """The rows that the trees were found for, if they are known."""
        ...

    def tree(self, number: int) -> Tree: ...
    def value(self, number: int) -> Fraction: ...

    @property
    def tests(self) -> Sequence[TreeTest]:
        """What the tests of the nodes ask."""
        ...

    def nodes(self) -> SharedNodes:
        """The nodes of all trees; the class of a leaf is its `yes`, -1 if leaves hold numbers."""
        ...

    def chunks(self) -> Iterator[Roots]:
        """The roots of all trees, some at a time; to be called after `nodes`."""
        ...

    def leaf_sums(self, leaves: Codes, values: Whole) -> Whole:
        """leaves x columns: the sums of rows x columns of values over the training rows of these leaf nodes."""
        ...

    def leaf_records(self, leaves: Codes) -> list[TreeLeaf]:
        """What these leaf nodes hold."""
        ...


@dataclass(eq=False)
class ListedTrees:
    """Trees of a listing, of which the best `count` belong to the set."""

    listing: TreeListing
    lowered: Lowered
    dataset: Dataset
    count: int
    _nodes: SharedNodes | None = field(default=None, init=False)

    def tree(self, number: int) -> Tree:
        return raise_tree(self.listing.tree(number), self.lowered.questions, self.dataset)

    def value(self, number: int) -> Fraction:
        """The value of the first goal, as it is minimized."""
        if self.listing.units.error:
            return evaluate_goals(self.listing.asked, self.listing.tree(number))[0]
        costs, ends = self._ends
        return self.listing.units.value(costs[int(np.searchsorted(ends, number, side="right"))])

    @cached_property
    def _ends(self) -> tuple[list[int], NDArray[Any]]:
        """The costs, and for each the number of trees up to it."""
        ends = list(accumulate(self.listing.sets.counts))
        kind = np.int64 if not ends or ends[-1] < 2**62 else object
        return self.listing.sets.costs, np.array(ends, dtype=kind)

    def histogram(self) -> list[tuple[Fraction, int]]:
        """Values of the first goal, as it is minimized, with their numbers of trees, the best first."""
        return self.listing.histogram(self.count)

    @cached_property
    def tests(self) -> Sequence[TreeTest]:
        return [question_test(self.lowered.questions[int(test)]) for test in self.listing.lifted_tests()]

    def nodes(self) -> SharedNodes:
        if self._nodes is None:
            too_many(self.count)
            for _ in self.chunks():
                pass
            self._nodes = self.listing.sets.nodes()
        return self._nodes

    def chunks(self) -> Iterator[Roots]:
        sure = min(self.count, self.listing.sure)
        for first in range(0, sure, CHUNK):
            yield self.listing.sets.trees(first, min(CHUNK, sure - first))
        for number in self.listing.examined[: self.count - sure]:
            yield self.listing.sets.trees(number, 1)

    @cached_property
    def group(self) -> Whole:
        """For every row of the data its row in the kernel."""
        asked, reduced = self.listing.asked, self.listing.problem
        return row_groups(asked) if reduced.rows < asked.rows else np.arange(asked.rows, dtype=np.int64)

    def leaf_sums(self, leaves: Codes, values: Whole) -> Whole:
        merged = np.zeros((self.listing.problem.rows, values.shape[1]), dtype=np.int64)
        np.add.at(merged, self.group, values)
        out = np.empty((len(leaves), values.shape[1]), dtype=np.int64)
        state = self.nodes().state
        step = max(1, (1 << 24) // max(1, len(merged)))
        for first in range(0, len(leaves), step):
            rows = self.listing.sets.rows_of(state[leaves[first : first + step]])
            out[first : first + step] = rows.astype(np.int64) @ merged
        return out

    def leaf_records(self, leaves: Codes) -> list[TreeLeaf]:
        nodes, records = self.nodes(), []
        for leaf in leaves.tolist():
            rows = np.flatnonzero(self.listing.sets.rows_of(nodes.state[leaf : leaf + 1])[0][self.group])
            records.append(leaf_record(self.dataset, int(nodes.yes[leaf]), rows))
        return records


@dataclass(eq=False)
class ChosenTrees(ListedTrees):
    """Some trees of a listing as a source of their own, so that only these are made and measured."""

    numbers: Sequence[int] | NDArray[np.int64] = ()  # in the listing

    def tree(self, number: int) -> Tree:
        return super().tree(int(self.numbers[number]))

    def value(self, number: int) -> Fraction:
        return super().value(int(self.numbers[number]))

    def histogram(self) -> list[tuple[Fraction, int]]:
        if self.listing.units.error:
            return sorted(Counter(map(self.value, range(self.count))).items())
        costs, ends = self._ends
        bins = np.searchsorted(ends, np.asarray(self.numbers, dtype=ends.dtype), side="right")
        counts: dict[Fraction, int] = {}
        for place, trees in Counter(bins.tolist()).items():
            value = self.listing.units.value(costs[place])
            counts[value] = counts.get(value, 0) + trees
        return sorted(counts.items())

    def nodes(self) -> SharedNodes:
        """Only the nodes of these trees: the listing may have made many more for others."""
        return self._own[0]

    def chunks(self) -> Iterator[Roots]:
        yield self._own[1]

    @cached_property
    def _own(self) -> tuple[SharedNodes, Roots]:
        too_many(self.count)
        chunks = list(self._made())
        test, yes, no = (
            np.concatenate([chunk[part] for chunk in chunks]) if chunks else np.zeros(0, np.int32) for part in range(3)
        )
        made = self.listing.sets.nodes()
        kept = reachable(made, (test, yes, no))
        place = np.zeros(len(made.test) + 1, dtype=np.int32)
        place[kept] = np.arange(len(kept), dtype=np.int32)
        inner = made.test[kept] >= 0
        yes_side = np.where(inner, place[np.where(inner, made.yes[kept], 0)], made.yes[kept])
        no_side = np.where(inner, place[np.where(inner, made.no[kept], 0)], made.no[kept])
        split = test >= 0
        left, right = (np.where(split, place[np.where(split, side, 0)], side) for side in (yes, no))
        return SharedNodes(made.test[kept], yes_side, no_side, made.state[kept]), (test, left, right)

    def _made(self) -> Iterator[Roots]:
        """The roots, by the numbers that the nodes have in the listing; trees that are close are made together."""
        sure, examined = self.listing.sure, self.listing.examined
        places = np.array([n if n < sure else examined[n - sure] for n in map(int, self.numbers)], dtype=np.int64)
        order = np.argsort(places, kind="stable")
        roots = np.empty((3, len(places)), dtype=np.int32)
        begin = 0
        for end in range(1, len(order) + 1):
            first, last = int(places[order[begin]]), int(places[order[end - 1]])
            following = int(places[order[end]]) if end < len(order) else None
            if following is not None and following - last <= CLOSE and following - first < CHUNK:
                continue
            made = self.listing.sets.trees(first, last - first + 1)
            chosen = order[begin:end]
            for part in range(3):
                roots[part, chosen] = made[part][places[chosen] - first]
            begin = end
        yield roots[0], roots[1], roots[2]


def reachable(nodes: SharedNodes, roots: Roots | tuple[Whole, Whole, Whole]) -> Whole:
    """The nodes of these trees, in order."""
    test, yes, no = roots
    seen = np.zeros(len(nodes.test), dtype=bool)
    now = np.unique(np.concatenate([yes[test >= 0], no[test >= 0]]))
    while len(now):
        seen[now] = True
        inner = now[nodes.test[now] >= 0]
        following = np.unique(np.concatenate([nodes.yes[inner], nodes.no[inner]])).astype(np.int64)
        now = following[~seen[following]]
    return np.flatnonzero(seen)


def chosen_trees(source: TreeSource, ranks: Sequence[int] | NDArray[np.int64]) -> ChosenTrees | None:
    """These trees as a source of their own; None if the source is a file, or a number is too large for C."""
    if not isinstance(source, ListedTrees):
        return None
    whole = source.numbers if isinstance(source, ChosenTrees) else None
    numbers = ranks if whole is None else [int(whole[int(rank)]) for rank in ranks]
    ends = (numbers[0], numbers[-1]) if isinstance(numbers, range) and numbers else numbers
    if max(map(int, ends), default=0) >= 2**62:
        return None
    return ChosenTrees(source.listing, source.lowered, source.dataset, len(numbers), numbers)


def leaf_record(dataset: Dataset, label: int, rows: NDArray[np.intp]) -> TreeLeaf:
    """A leaf with these rows."""
    if not dataset.classes:
        weight, group = dataset.weight[rows], np.zeros(len(rows), dtype=np.intp)
        outputs = leaf_outputs(dataset)
        exact = tuple(replace(each, values=each.values[rows]).constants(weight, group, 1)[0] for each in outputs)
        numbers = tuple(map(float, exact))
        return TreeLeaf(numbers if dataset.target is None else numbers[0], len(rows), exact=exact)
    actual, size = dataset.actual[rows], len(dataset.classes)
    counts = np.bincount(actual, minlength=size).tolist()
    weights = tuple(exact_sum(dataset.weight[rows[actual == k]]) * dataset.weight_scale for k in range(size))
    return TreeLeaf(plain_value(dataset.classes[label]), len(rows), tuple(counts), weights)


def head_of(dataset: Dataset, tests: Sequence[TreeTest]) -> Tree:
    """A tree without splits that knows the columns of all tests: what the trees of a set have in common."""
    names = dict.fromkeys(test.column for test in tests)
    return replace(raise_tree(Leaf(0), (), dataset), fields=tuple(field_of(dataset, name) for name in names))


class TooManyTrees(ValueError):
    """The set has more trees than can be looked at one by one."""


def too_many(count: int) -> None:
    """Raises TooManyTrees if trees cannot be looked at one by one."""
    if count > MOST_TREES:
        raise TooManyTrees(
            f"{count:,} trees are too many to look at each: take the best of them, trees[:1_000_000], or a sample"
        )
