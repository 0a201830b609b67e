"""Problem -> a smaller Problem with the same answers, and the way back for its trees.

Rows that no test tells apart always share a leaf, so they become one row: their counts and their rows of costs are
added up, whatever their classes. Rows are not merged if leaves hold numbers (`Loss`) or a user's function looks at rows
(`Custom`).

A test that all rows answer alike splits nothing and is dropped. Of several tests that split the rows in the same way,
perhaps with yes and no swapped, only the first is kept. This may change which column is tested, so tests of different
features are merged only if no term distinguishes these features, as test costs and `Used` do; within one feature
merging is safe for these terms. `Monotone` judges leaves by the regions that their tests describe, and two tests may
agree on every row yet describe different regions: with such a term only constant tests are dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.problem.answers import feature_keys
from treeml.problem.arrays import Bits, Whole
from treeml.problem.fans import fan_tests
from treeml.problem.problem import Feature, Goal, Problem
from treeml.problem.terms import Composite, Sum, Term
from treeml.problem.tree import Leaf, Node, Split

Lift = Callable[[Node], Node]


def reduce(problem: Problem, rows: bool = True, tests: bool = True) -> tuple[Problem, Lift]:
    """Merge equal rows and tests; the lift turns a tree over the smaller problem into one over the original."""
    totals = [goal.sum for goal in problem.goals] + [bound.sum for bound in problem.bounds]
    terms = [term for total in totals for term in total.terms()]
    if rows and all(term.merges_rows for term in terms):
        first, group = _groups(_row_keys(problem), np.zeros(problem.rows, dtype=np.int64))
        if len(first) < problem.rows:
            problem = _with_rows(problem, first, group)
    kept = np.arange(len(problem.tests))
    if tests:
        kept = _kept_tests(problem, problem.bits, terms)
        if len(kept) < len(problem.tests):
            problem = _with_tests(problem, kept)
    original = kept.tolist()

    def lift(node: Node) -> Node:
        if isinstance(node, Leaf):
            return node
        return Split(original[node.test], lift(node.yes), lift(node.no))

    return problem, lift


def row_groups(problem: Problem) -> NDArray[np.int64]:
    """For every row the number of the row that `reduce` makes of it, if it merges rows."""
    return _groups(_row_keys(problem), np.zeros(problem.rows, dtype=np.int64))[1]


def _row_keys(problem: Problem) -> NDArray[np.uint64]:
    """A row of words for every row of the problem: equal if no test tells the two apart.

    The answers to every cut of wide columns of numbers would fill gigabytes, where one code per column says the same.
    """
    has_bits = problem.given_bits is not None or "bits" in vars(problem)
    if has_bits or len(problem.tests) <= 64 * len(problem.features):
        return _packed(problem.bits.T)
    asked = [feature for feature in problem.features if feature.tests]
    keys = np.empty((problem.rows, len(asked)), dtype=np.uint64)
    for place, feature in enumerate(asked):
        found = feature_keys(problem, feature)
        codes = found if found.dtype.kind in "iu" else np.unique(found, return_inverse=True)[1].reshape(-1)
        keys[:, place] = codes.astype(np.int64).view(np.uint64)
    return keys


def _kept_tests(problem: Problem, bits: Bits, terms: list[Term]) -> NDArray[np.int64]:
    """The tests that are kept, in order."""
    count = len(problem.tests)
    if not count or not problem.rows:
        return np.arange(count) if problem.rows else np.empty(0, dtype=np.int64)
    answers = bits ^ bits[:, :1]  # make the first row answer no, so that a test and its opposite are equal
    of_fan = np.zeros(count, dtype=bool)  # the tests of a fan are kept together
    for tests in fan_tests(problem):
        of_fan[tests] = True
    splitting = np.flatnonzero(answers.any(axis=1) | of_fan)
    if not all(term.merges_tests for term in terms):
        return splitting
    feature = problem.feature_of_test
    distinguished = frozenset[int]().union(*(term.distinguished_features() for term in terms))
    tags = np.array([number + 1 if number in distinguished else 0 for number in range(len(problem.features))])
    tag = np.where(of_fan, len(tags) + 1 + np.arange(count), tags[feature])
    first, _ = _groups(_packed(answers[splitting]), tag[splitting])
    return splitting[first]


def _packed(table: Bits) -> NDArray[np.uint64]:
    """Rows of bits as rows of 64-bit words."""
    height, width = table.shape
    words = max(1, -(-width // 64))
    packed = np.packbits(np.ascontiguousarray(table), axis=1)
    padded = np.zeros((height, words * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def _groups(words: NDArray[np.uint64], tag: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of every group of equal rows with the same tag, in order, and the group of every row."""
    salt = _mixed(np.arange(1, words.shape[1] + 1, dtype=np.uint64))
    key = _mixed(words ^ salt).sum(axis=1, dtype=np.uint64) ^ _mixed(tag.astype(np.uint64))
    first, group = _first_and_group(key)
    if not (np.array_equal(words, words[first][group]) and np.array_equal(tag, tag[first][group])):
        # Two different rows have the same hash: compare the rows themselves.
        whole = np.ascontiguousarray(np.column_stack([words, tag.astype(np.uint64)]))
        first, group = _first_and_group(whole.view(np.dtype((np.void, whole.shape[1] * 8))).reshape(-1))
    return first, group


def _mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash 64-bit keys: the finalizer of Appleby's MurmurHash3 (2011)."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        keys = (keys ^ (keys >> np.uint64(33))) * np.uint64(factor)
    return keys ^ (keys >> np.uint64(33))


def _first_and_group(keys: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return first[order], place[group.reshape(-1)]


def _with_rows(problem: Problem, first: NDArray[np.int64], group: NDArray[np.int64]) -> Problem:
    has_bits = problem.given_bits is not None or "bits" in vars(problem)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(first)))

    def added(values: Whole) -> Whole:
        total: Whole = np.add.reduceat(values[order], starts, axis=0)
        return total

    made: dict[int, Term] = {}  # a term in two goals stays one term

    def merged(term: Term) -> Term:
        if id(term) not in made:
            made[id(term)] = term.with_sums(merged_sum) if isinstance(term, Composite) else term.merged(added)
        return made[id(term)]

    def merged_sum(total: Sum) -> Sum:
        return total.changed(merged)

    return replace(
        problem,
        features=tuple(
            feature if feature.codes is None else replace(feature, codes=feature.codes[first])
            for feature in problem.features
        ),
        count=added(problem.count),
        goals=tuple(Goal(merged_sum(goal.sum), goal.negated, goal.text) for goal in problem.goals),
        bounds=tuple(replace(bound, sum=merged_sum(bound.sum)) for bound in problem.bounds),
        given_bits=np.ascontiguousarray(problem.bits[:, first]) if has_bits else None,
    )


def _with_tests(problem: Problem, kept: NDArray[np.int64]) -> Problem:
    """The problem with these tests only; features keep their numbers, codes and levels."""
    starts = [feature.first_test for feature in problem.features]
    begins = np.searchsorted(kept, [*starts, len(problem.tests)]).tolist()
    features = [
        Feature(f.name, f.kind, f.levels, f.codes, begin, end - begin, f.has_missing)
        for f, begin, end in zip(problem.features, begins, begins[1:], strict=False)
    ]
    return replace(
        problem,
        features=tuple(features),
        tests=tuple([problem.tests[test] for test in kept.tolist()]),
        given_bits=np.ascontiguousarray(problem.bits[kept]),
    )
