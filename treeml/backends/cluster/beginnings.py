"""The first tests of a problem -> groups of them, each a task; a group -> the best tree that begins with one of them.

The cuts of a column of numbers are many, and neighbors differ by few rows: a tree keeps its branches if its first cut
is moved, and only the rows between the two cuts change what they cost. So one cut that is solved somewhat beyond the
value of the best tree closes its neighbors, too. That holds if nothing is required of single leaves, where a row more
or less may decide; otherwise every cut is solved on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from treeml.backends.claims import Evidence, Proof
from treeml.backends.cluster.root_task import ROW_BY_ROW, RootAnswer, lower_bound, solve_root
from treeml.backends.contract import Deadline
from treeml.problem.answers import has_every_cut
from treeml.problem.evaluate import answers
from treeml.problem.problem import Feature, Problem
from treeml.problem.terms import Leaves, Predicted
from treeml.problem.tree import Node

TASKS = 16  # for the cuts of one column, at most
FEWEST = 16  # cuts in one of them

Latest = Callable[[], Fraction | None]  # the value of the best tree by now


def groups_of(problem: Problem) -> list[range]:
    """The tests of every task: neighboring cuts of a column, or a single test."""
    found: list[range] = []
    for feature in problem.features:
        tests = range(feature.first_test, feature.first_test + feature.tests)
        size = max(FEWEST, -(-feature.tests // TASKS)) if has_every_cut(feature) else 1
        found += [tests[start : start + size] for start in range(0, len(tests), size)]
    return found


def promising(problem: Problem, groups: list[range]) -> list[int]:
    """The groups in the order of what the best single split by one of their tests costs."""
    cost = np.zeros((problem.rows, max(1, problem.classes)))
    for factor, term in problem.goals[0].sum.parts:
        if isinstance(term, Predicted):
            cost += float(factor * term.scale) * term.cost
    split = np.concatenate([_split_costs(problem, feature, cost) for feature in problem.features])
    return [int(number) for number in np.argsort([split[group].min() for group in groups], kind="stable")]


def _split_costs(problem: Problem, feature: Feature, cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a single split by each test of a feature costs."""
    if has_every_cut(feature):
        assert feature.codes is not None
        classes = range(cost.shape[1])
        by_code = [np.bincount(feature.codes, weights=cost[:, each], minlength=feature.levels) for each in classes]
        yes = np.cumsum(np.stack(by_code, axis=1), axis=0)[:-1]
    else:
        rows = np.arange(problem.rows)
        tests = range(feature.first_test, feature.first_test + feature.tests)
        yes = np.array([cost[answers(problem, test, rows)].sum(axis=0) for test in tests])
    return np.asarray(yes.min(axis=1) + (cost.sum(axis=0) - yes).min(axis=1))


@dataclass(frozen=True, slots=True)
class GroupTask:
    """A group of first tests, and what its search may use."""

    number: int  # of the group
    tests: range
    upper: Fraction | None  # the value of the best tree known when the task is sent: only better trees are wanted
    seconds: float
    memory: int | None  # bytes


def solve_group(problem: Problem, task: GroupTask, latest: Latest = lambda: None) -> RootAnswer:
    """The best tree below `upper` that begins with one of the tests, or a bound on all such trees."""
    if len(task.tests) == 1:
        found = solve_root(problem, task.tests[0], task.upper, task.seconds, task.memory)
        return replace(found, root=task.number)
    return _Group(problem, task, latest, task.upper, Deadline.after(task.seconds)).solve()


@dataclass(eq=False)
class _Group:
    problem: Problem
    task: GroupTask
    latest: Latest
    upper: Fraction | None  # the value of the best tree known anywhere
    deadline: Deadline
    least: Fraction | None = None  # of the bounds of the cuts that were solved
    proof: list[Evidence] = field(default_factory=lambda: [ROW_BY_ROW])
    tree: Node | None = None
    value: Fraction | None = None
    is_feasible: bool = False
    skips: bool = False  # was a cut closed by its neighbors?

    def __post_init__(self) -> None:
        self.tests = self.task.tests
        self.moved = _moved_costs(self.problem, self.tests)

    def solve(self) -> RootAnswer:
        waiting: list[_Interval] = [_Interval(0, len(self.tests) - 1)]
        while waiting:
            if self.deadline.passed:
                self.lower(lower_bound(self.problem))
                self.is_feasible = True
                break
            interval = self.narrowed(waiting.pop())
            if interval.first > interval.last:
                continue
            middle = (interval.first + interval.last) // 2
            bound = self.solved(middle, interval)
            waiting += interval.halves(middle, bound)
        if not self.is_feasible:
            return RootAnswer(self.task.number, lower_bound(self.problem), self.evidence(), is_infeasible=True)
        if self.skips and self.upper is not None:
            self.lower(self.upper)
        assert self.least is not None
        return RootAnswer(self.task.number, self.least, self.evidence(), self.tree, self.value)

    def solved(self, middle: int, interval: _Interval) -> Fraction | None:
        """Solves the cut in the middle of an interval, and returns its bound; None if it allows no tree."""
        known = self.latest()
        if known is not None:
            self.upper = known if self.upper is None else min(self.upper, known)
        upper = None if self.upper is None else self.upper + self.distance(interval.first, interval.last) / 2
        found = solve_root(self.problem, self.tests[middle], upper, self.deadline.left(), self.task.memory)
        self.proof += found.evidence
        if found.is_infeasible:
            return None
        self.is_feasible = True
        self.lower(found.bound)
        if found.value is not None and (self.upper is None or found.value < self.upper):
            self.tree, self.value, self.upper = found.tree, found.value, found.value
        return found.bound

    def narrowed(self, interval: _Interval) -> _Interval:
        """The interval without the cuts at its ends that the solved cuts beside it close."""
        if self.upper is None or self.moved is None:
            return interval
        first, last = interval.first, interval.last
        while first <= last and interval.below is not None:
            if interval.below - self.distance(interval.first - 1, first) < self.upper:
                break
            first += 1
        while first <= last and interval.above is not None:
            if interval.above - self.distance(last, interval.last + 1) < self.upper:
                break
            last -= 1
        self.skips |= (first, last) != (interval.first, interval.last)
        if first > last:
            return replace(interval, first=first, last=last)
        # A neighbor that was closed and not solved has no bound of its own.
        below = interval.below if first == interval.first else None
        above = interval.above if last == interval.last else None
        return _Interval(first, last, below, above)

    def distance(self, one: int, other: int) -> Fraction:
        """The most that a tree can gain or lose if its first cut is moved from one cut of the group to the other."""
        return Fraction(0) if self.moved is None else self.moved[other] - self.moved[one]

    def lower(self, bound: Fraction) -> None:
        self.least = bound if self.least is None else min(self.least, bound)

    def evidence(self) -> Proof:
        return tuple(dict.fromkeys(self.proof))


@dataclass(frozen=True, slots=True)
class _Interval:
    """Cuts that are not settled, with the bounds of the solved cuts just below and above them, if there are such."""

    first: int
    last: int
    below: Fraction | None = None
    above: Fraction | None = None

    def halves(self, middle: int, bound: Fraction | None) -> Iterator[_Interval]:
        if self.first < middle:
            yield _Interval(self.first, middle - 1, self.below, bound)
        if middle < self.last:
            yield _Interval(middle + 1, self.last, bound, self.above)


def _moved_costs(problem: Problem, tests: range) -> list[Fraction] | None:
    """For every cut, what the rows up to it can gain or lose together; None if rows must not be moved."""
    goal = problem.goals[0].sum
    if any(bound.sum.kinds() != {"Depth"} or bound.sense != "<=" for bound in problem.bounds):
        return None
    if any(factor < 0 for factor, term in goal.parts if isinstance(term, Leaves)):
        return None
    feature = problem.features[problem.tests[tests[0]].feature]
    assert feature.codes is not None
    reach, unit = np.zeros(problem.rows, dtype=np.int64), Fraction(0)
    for factor, term in goal.parts:
        if isinstance(term, Predicted):
            reach, unit = term.cost.max(axis=1) - term.cost.min(axis=1), abs(factor) * term.scale
    order = np.argsort(feature.codes, kind="stable")
    sums = [0, *np.cumsum(reach[order], dtype=np.int64).tolist()]
    ends = np.searchsorted(feature.codes[order], np.array(tests) - feature.first_test, side="right")
    return [unit * sums[int(end)] for end in ends]
