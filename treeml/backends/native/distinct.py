"""A listing -> the numbers of its trees that are different functions: of equal ones the best, with the fewest leaves.

Two trees are the same function if they predict the same for every combination of values that their columns can have,
whatever the order of their tests. The kernel numbers functions by ordered decision diagrams, from shared subtrees, so
trees have to be made for that: up to MOST_MERGED of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Deadline
from treeml.backends.native.listing import TreeListing
from treeml.native.sets import Domain
from treeml.problem.problem import Problem, Test

Roots = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
MOST_MERGED = 1_000_000  # trees that are compared as functions
CHUNK = 1 << 16


@dataclass(frozen=True, eq=False, slots=True)
class Distinct:
    """Trees that are different functions, by their numbers in the listing."""

    numbers: NDArray[np.int64]
    looked: int  # trees of the listing that were compared


def distinct_trees(listing: TreeListing, enough: int | None, deadline: Deadline) -> Distinct:
    """One tree of every function, until more than `enough` are found or MOST_MERGED trees were compared.

    SetsStopped if memory or time do not suffice.
    """
    domain = domain_of(listing)
    costs = np.unique(np.array(listing.sets.costs, dtype=np.int64), return_inverse=True)[1].reshape(-1)
    ends = np.cumsum(np.minimum(np.array(listing.sets.counts, dtype=object), MOST_MERGED + 1)).astype(np.float64)
    found: list[NDArray[np.int64]] = []  # function, cost, leaves and number of every tree
    known: set[int] = set()
    looked = 0
    for first, roots in _chunks(listing, min(listing.total, MOST_MERGED)):
        left = deadline.left()
        functions, leaves = listing.sets.functions(domain, roots, -1.0 if left == float("inf") else left)
        numbers = np.arange(first, first + len(functions))
        kernel = numbers if first < listing.sure else np.array([listing.kernel_number(first)])
        cost = costs[np.searchsorted(ends, kernel, side="right")]
        found.append(np.stack([functions.astype(np.int64), cost, leaves.astype(np.int64), numbers]))
        looked = first + len(functions)
        if enough is not None:
            known.update(np.unique(functions).tolist())
            if len(known) > enough:
                break
    return Distinct(_first_of_each(found), looked)


def _first_of_each(found: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Of every function the number of the cheapest tree; of several, of the first one with the fewest leaves."""
    if not found:
        return np.zeros(0, dtype=np.int64)
    function, cost, leaves, number = np.concatenate(found, axis=1)
    order = np.lexsort((number, leaves, cost, function))
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = function[order][1:] != function[order][:-1]
    return np.sort(number[order[is_first]])


def _chunks(listing: TreeListing, count: int) -> Iterator[tuple[int, Roots]]:
    sure = min(count, listing.sure)
    for first in range(0, sure, CHUNK):
        yield first, listing.sets.trees(first, min(CHUNK, sure - first))
    for number in range(sure, count):
        yield number, listing.sets.trees(listing.kernel_number(number), 1)


def domain_of(listing: TreeListing) -> Domain:
    """What the tests of the kernel ask of the values that inputs can have; a missing value is the first one."""
    problem = listing.problem
    kernel = listing.sets
    values = [len(feature.possible_codes) for feature in problem.features[: kernel.columns]]
    begins, first, change = [], [0], []
    for number in listing.tests.tolist():
        test = problem.tests[number]
        answers = _runs(problem, test)
        begins.append(answers[0])
        change += answers[1]
        first.append(len(change))
    return Domain(
        np.array([*values, *[1] * (kernel.columns - len(values))], np.int64),
        np.array(begins, np.uint8),
        np.array(first, np.int64),
        np.array(change, np.int64),
    )


def _runs(problem: Problem, test: Test) -> tuple[bool, list[int]]:
    """Whether the first value answers yes, and the values where the answer changes."""
    codes = problem.features[test.feature].possible_codes
    if test.kind == "at most" and codes.start == 0:
        return codes.start <= test.values[0], [test.values[0] + 1] if test.values[0] + 1 < codes.stop else []
    answers = [test.answers_yes(code) for code in codes]
    return answers[0], [place for place in range(1, len(answers)) if answers[place] != answers[place - 1]]
