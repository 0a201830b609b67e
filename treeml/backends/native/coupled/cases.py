"""CoupledTask -> Cases: the few values that the counts behind a narrow requirement can have.

A gap of exactly 0 between two groups is number theory: `p * a - q * b = 0` for the counts a and b of predictions in the
groups has few solutions if p and q are large, while the sum itself can have very many values. A search that knows the
counts of one solution has bounds of its own for each of them; a search that knows the sum alone has to tell apart all
values that parts of a tree can add to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.native.coupled.task import CoupledTask
from treeml.problem.magnitudes import added, common_divisor, row_ends

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

MOST_CASES = 64  # beyond that, sums have so few values that lists of them stay short
MOST_SUMS = 60  # as in treeml/native/coupled/search.h

Limits = tuple[int | None, ...]
Counts = dict[int, int]  # the number of a count -> its value


@dataclass(frozen=True, eq=False, slots=True)
class Cases:
    """Every tree within the limits of a task is within the limits (low, high) of exactly one case."""

    values: Whole  # as in CoupledTask, with counts in place of the sums that were split
    limits: tuple[tuple[Limits, Limits], ...]


@dataclass(frozen=True, eq=False, slots=True)
class _Difference:
    """A sum as p * one count - q * another; p and q have no common divisor."""

    counts: tuple[Whole, Whole]
    p: int
    q: int
    most: tuple[int, int]

    def solutions(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """All pairs of counts whose difference is within the limits."""
        inverse = pow(self.p, -1, self.q)
        for difference in range(low, high + 1):
            for one in range(difference * inverse % self.q, self.most[0] + 1, self.q):
                other = (self.p * one - difference) // self.q
                if 0 <= other <= self.most[1]:
                    yield one, other


def cases_of(task: CoupledTask, most: int = MOST_CASES) -> Cases | None:
    """The cases of all sums that have at most `most` together; None if no sum has so few."""
    solved: list[tuple[int, _Difference, list[tuple[int, int]]]] = []
    for number, (low, high) in enumerate(zip(task.low, task.high, strict=True)):
        difference = None
        if low is not None and high is not None and high - low < most:
            difference = _difference(task.values[1 + number])
        if difference is not None and difference.most[0] < most * difference.q:
            assert low is not None
            assert high is not None
            found = list(islice(difference.solutions(low, high), most + 1))
            solved.append((number, difference, found))
    counts: list[Whole] = []
    split, assignments = set(), [Counts()]
    for number, difference, found in sorted(solved, key=lambda each: len(each[2])):
        places = tuple(_place(counts, count) for count in difference.counts)
        joined = list(islice(_joined(assignments, places, found), most + 1))
        if len(found) <= most and len(joined) <= most:
            assignments = joined
            split.add(number)
    used = sorted({place for assignment in assignments for place in assignment})
    kept = [number for number in range(task.sums) if number not in split]
    if not split or len(kept) + len(used) > MOST_SUMS:
        return None
    values = np.stack([task.values[0], *(task.values[1 + number] for number in kept), *(counts[at] for at in used)])
    lows, highs = ([limits[number] for number in kept] for limits in (task.low, task.high))
    ordered = _nearest_first(task.values[0], [counts[at] for at in used], assignments, used)
    return Cases(values, tuple(_limits(lows, highs, counts, assignment, used) for assignment in ordered))


def _difference(cost: Whole) -> _Difference | None:
    """The sum of `cost` as a difference of two counts; None if it has entries of one sign only."""
    above, below = np.maximum(cost, 0), np.maximum(-cost, 0)
    if not above.any() or not below.any():
        return None
    p, q = common_divisor(above), common_divisor(below)
    one, other = above // p, below // q
    return _Difference((one, other), p, q, (row_ends(one)[1], row_ends(other)[1]))


def _place(counts: list[Whole], count: Whole) -> int:
    """The number of this count: several gaps may refer to the same group."""
    for place, known in enumerate(counts):
        if np.array_equal(known, count):
            return place
    counts.append(count)
    return len(counts) - 1


def _joined(assignments: list[Counts], places: tuple[int, ...], solutions: list[tuple[int, int]]) -> Iterator[Counts]:
    for known in assignments:
        for solution in solutions:
            pairs = list(zip(places, solution, strict=True))
            if all(known.get(place, value) == value for place, value in pairs):
                yield {**known, **dict(pairs)}


def _nearest_first(cost: Whole, counts: list[Whole], assignments: list[Counts], used: list[int]) -> list[Counts]:
    """Cases near the counts that the cheapest class of every row has come first: good trees are there."""
    cheapest = (np.arange(len(cost)), cost.argmin(axis=1))
    aims = [added(count[cheapest]) for count in counts]
    return sorted(
        assignments, key=lambda counted: sum(abs(counted[place] - aim) for place, aim in zip(used, aims, strict=True))
    )


def _limits(
    lows: Sequence[int | None], highs: Sequence[int | None], counts: list[Whole], counted: Counts, used: list[int]
) -> tuple[Limits, Limits]:
    """The limits of a case; a count that is 0 or the greatest possible needs a limit in one direction only."""
    low = [None if counted[at] == 0 else counted[at] for at in used]
    high = [None if counted[at] == row_ends(counts[at])[1] else counted[at] for at in used]
    return (*lows, *low), (*highs, *high)
