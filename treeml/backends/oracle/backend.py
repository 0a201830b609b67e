"""Problem -> the best of all its trees, found by examining all of them.

Every other back-end is tested against this one, so the code is written to be obviously correct rather than fast. A tree
is a leaf, or a test with a tree on either side, and the value of each term on a tree follows from its values on the two
sides. So the possible outcomes of the trees over a set of rows are those of a leaf, and those of every pair of outcomes
of the two sides of every test. A node with more branches is a chain of tests. An outcome may be dropped only if another
is at least as good in every value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import comb
from time import monotonic
from typing import Any, ClassVar

import numpy as np

from treeml.backends.claims import Evidence
from treeml.backends.contract import (
    NO_LIMITS,
    NO_OPTIONS,
    Answer,
    BackendBase,
    Capabilities,
    Limits,
    OnProgress,
    Option,
    Progress,
    Refusal,
    Status,
    Stop,
)
from treeml.backends.oracle.terms import recurrences_of, sums_over_leaves
from treeml.problem.fans import chain_order, children, fan_tests, has_whole_fans, single_tests
from treeml.problem.problem import Bound, Problem, once
from treeml.problem.shapes import groups
from treeml.problem.terms import EVERY_TERM, Recurrence
from treeml.problem.terms.monotone import inputs_of
from treeml.problem.tree import Leaf, Node, Split

MOST_INPUTS = 50_000  # the most inputs on which monotone predictions are checked


class OracleBackend(BackendBase):
    name: ClassVar[str] = "oracle"
    summary: ClassVar[str] = "looks at every tree; for small problems, and for testing the others"
    can: ClassVar[Capabilities] = Capabilities(
        goals=EVERY_TERM,
        bounds=EVERY_TERM,
        sums=True,
        needs_depth=False,
        lexicographic=True,
        minimizes_depth=True,
        merges_rows=True,
        merges_tests=True,
        branches=True,
        starts=True,
        reports=True,
        explains=True,
        carries=None,
        aliases=("brute_force",),
    )
    options: ClassVar[Mapping[str, Option]] = {
        "limit": Option(int, 20_000, "the most cases it will look at", low=1),
        "outcomes": Option(int, 2_000_000, "the most outcomes of subtrees it will keep", low=1),
    }

    def refusals(self, problem: Problem, options: Mapping[str, Any] = NO_OPTIONS) -> Iterator[Refusal]:
        most = options.get("limit", self.options["limit"].default)
        size = estimate(problem)
        if size > most:
            yield Refusal(
                "the size of the problem",
                f"oracle looks at every tree, which here means about {_rounded(size)} cases; its limit is {most:,}",
                "bound depth lower, use fewer rows or tests, or raise it: oracle(limit = ...)",
            )
        inputs = inputs_of(problem)
        if inputs > MOST_INPUTS and any("Monotone" in bound.sum.kinds() for bound in problem.bounds):
            yield Refusal(
                "a monotone requirement",
                f"oracle looks at every possible input, here {_rounded(inputs)}; its limit is {MOST_INPUTS:,}",
                "use fewer columns, or coarser cuts",
            )

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        began = monotonic()
        search = _Search(problem, limits, on_progress, began)
        try:
            search.offer_start(start)
            search.examine_all()
        except _StoppedError as stopped:
            return search.answer(Status.FEASIBLE if search.best else Status.UNKNOWN, stopped.stop)
        except KeyboardInterrupt:
            return search.answer(Status.FEASIBLE if search.best else Status.UNKNOWN, Stop.INTERRUPTED)
        if search.best is not None:
            return search.answer(Status.OPTIMAL, Stop.PROVED)
        return replace(search.answer(Status.INFEASIBLE, Stop.PROVED), conflict=_conflict(problem, limits))


@once
def estimate(problem: Problem) -> int:
    """The number of cases: sets of rows that a node of a tree can hold, times the outcomes of each.

    The number of sets is bounded by the paths of tests, and by the sets of distinct rows. With a single sum over leaves
    each set has one best outcome; every further sum in a goal or bound makes outcomes incomparable, by measurement
    about one for every four distinct rows.
    """
    sides = {
        min(answers.tobytes(), (~answers).tobytes()) for answers in problem.bits if 0 < answers.sum() < problem.rows
    }
    distinct = int(groups(problem).max(initial=0)) + 1
    depth = _deepest(problem, distinct, len(sides))
    by_paths = sum(comb(len(sides), length) << length for length in range(min(depth, len(sides)) + 1))
    outcomes = int(max(1, distinct // 4) ** max(0, sums_over_leaves(problem) - 1))
    return min(by_paths, (1 << distinct) - 1) * outcomes


class _StoppedError(Exception):
    def __init__(self, stop: Stop) -> None:
        self.stop = stop


Outcome = tuple[tuple[Any, ...], Node]  # the value of every recurrence, and a tree with these values


@dataclass
class _Search:
    problem: Problem
    limits: Limits
    on_progress: OnProgress | None
    began: float
    best: tuple[tuple[Fraction, ...], Node] | None = None
    trace: list[Progress] = field(default_factory=list)
    known: dict[tuple[int, int, frozenset[int]], list[Outcome]] = field(default_factory=dict)
    kept: int = 0

    def __post_init__(self) -> None:
        alike = _groups(self.problem)
        self.everything = (1 << len(alike)) - 1
        self.yes = _masks(self.problem, alike)
        self.sizes = [sum(int(self.problem.count[row]) for row in rows) for rows in alike]
        self.splits: list[tuple[int, ...]] = [(test,) for test in single_tests(self.problem)]
        self.splits += [tuple(tests) for tests in fan_tests(self.problem)]
        self.recurrences: list[Recurrence] = recurrences_of(self.problem, alike)
        places = range(len(self.recurrences))
        self.exact = [place for place in places if self.recurrences[place].better == "same"]
        self.less = [place for place in places if self.recurrences[place].better == "less"]
        self.more = [place for place in places if self.recurrences[place].better == "more"]
        self.labels = range(self.problem.classes) if self.problem.classes else (-1,)
        sides = {min(mask, self.everything ^ mask) for mask in self.yes} - {0}
        self.depth = _deepest(self.problem, len(alike), len(sides))
        self.priced = frozenset().union(*(each.priced() for each in self.recurrences))
        self.most_outcomes = self.limits.options.get("outcomes", OracleBackend.options["outcomes"].default)

    def offer_start(self, start: Node | None) -> None:
        """Take the start as the first incumbent, if it is a tree of the problem and meets the bounds."""
        if start is not None and has_whole_fans(self.problem, start):
            outcome = self.outcome_of(start, self.everything, frozenset())
            if outcome is not None:
                self.consider([outcome])

    def outcome_of(self, node: Node, mask: int, tested: frozenset[int]) -> Outcome | None:
        if isinstance(node, Leaf):
            return self.leaf(mask, node.label) if mask and node.label in self.labels else None
        tests, sides = children(self.problem, node)
        below = tested | ({self.problem.tests[node.test].feature} & self.priced)
        masks = self.parts(tests, mask)
        found = [self.outcome_of(side, part, below) for side, part in zip(sides, masks, strict=True)]
        whole = found[-1]
        for place in reversed(range(len(tests))):
            side = found[place]
            if side is None or whole is None:
                return None
            reached = sum(masks[place:])
            whole = (self.chain if place else self.join)(tests[place], reached, tested, side, whole)
        return whole

    def examine_all(self) -> None:
        """Like `outcomes` for all rows, but every outcome is considered at once, for an early incumbent."""
        self.check_time()
        self.consider([self.leaf(self.everything, label) for label in self.labels])
        for tests in self.splits if self.depth > 0 else ():
            if self.best is not None and not self.problem.goals:
                return
            self.consider(self.split(tests, self.everything, self.depth, frozenset()))

    def consider(self, outcomes: list[Outcome]) -> None:
        improved = False
        for values, tree in outcomes:
            numbers = {id(each.term): each.number(value) for each, value in zip(self.recurrences, values, strict=True)}
            if not all(self.keeps(bound, numbers) for bound in self.problem.bounds):
                continue
            objective = tuple(goal.sum.with_values(numbers, Fraction(0)) or Fraction(0) for goal in self.problem.goals)
            if self.best is None or objective < self.best[0]:
                self.best, improved = (objective, tree), True
        if improved and self.best is not None:
            moment = Progress(monotonic() - self.began, self.best[0], None, self.best[1])
            self.trace.append(moment)
            if self.on_progress is not None and self.on_progress(moment) is False:
                raise _StoppedError(Stop.INTERRUPTED)

    @staticmethod
    def keeps(bound: Bound, numbers: dict[int, Fraction]) -> bool:
        """A bound on a quotient by zero holds."""
        value = bound.sum.with_values(numbers, None)
        if value is None:
            return True
        return {"<=": value <= bound.limit, ">=": value >= bound.limit, "=": value == bound.limit}[bound.sense]

    def outcomes(self, mask: int, depth: int, tested: frozenset[int]) -> list[Outcome]:
        """The outcomes of all trees over these rows; `tested` holds the priced features that were tested above."""
        depth = min(depth, mask.bit_count() - 1)
        key = (mask, depth, tested)
        if key not in self.known:
            found = [self.leaf(mask, label) for label in self.labels]
            for tests in self.splits if depth > 0 else ():
                found += self.split(tests, mask, depth, tested)
            self.known[key] = self.undominated(found)
            self.kept += len(self.known[key])
            if self.kept > self.most_outcomes:
                raise _StoppedError(Stop.MEMORY)
        return self.known[key]

    def split(self, tests: tuple[int, ...], mask: int, depth: int, tested: frozenset[int]) -> list[Outcome]:
        """The outcomes of all trees that split these rows by a test, or by all tests of a fan at once."""
        below = tested | ({self.problem.tests[tests[0]].feature} & self.priced)
        if len(tests) > 1:
            tests = chain_order(self.problem, [(test, self.size(mask & self.yes[test])) for test in tests])
        masks = self.parts(tests, mask)
        if len(masks) < 2 or not all(masks):
            return []
        found = self.outcomes(masks[-1], depth - 1, below)
        for place in reversed(range(len(tests))):  # the last test is joined first
            pairs = product(self.outcomes(masks[place], depth - 1, below), found)
            join, reached = self.chain if place else self.join, sum(masks[place:])
            found = self.undominated(join(tests[place], reached, tested, *pair) for pair in pairs)
        return found

    def parts(self, tests: tuple[int, ...], mask: int) -> list[int]:
        """The rows that pass each of the tests first, and the rows that pass none."""
        parts = []
        for test in tests:
            parts.append(mask & self.yes[test])
            mask ^= parts[-1]
        return [*parts, mask]

    def size(self, mask: int) -> int:
        return sum(size for place, size in enumerate(self.sizes) if mask >> place & 1)

    def undominated(self, outcomes: Iterable[Outcome]) -> list[Outcome]:
        """The outcomes that no other dominates: equal in values without a direction, and as good in all others."""
        alike: dict[tuple[Any, ...], list[Outcome]] = {}
        seen: set[tuple[Any, ...]] = set()
        for outcome in outcomes:
            self.check_time()
            values = outcome[0]
            if values in seen:
                continue
            seen.add(values)
            rivals = alike.setdefault(tuple(values[place] for place in self.exact), [])
            if any(self.as_good(rival[0], values) for rival in rivals):
                continue
            rivals[:] = [rival for rival in rivals if not self.as_good(values, rival[0])]
            rivals.append(outcome)
        return [outcome for rivals in alike.values() for outcome in rivals]

    def as_good(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        return all(one[i] <= other[i] for i in self.less) and all(one[i] >= other[i] for i in self.more)

    def leaf(self, mask: int, label: int) -> Outcome:
        return tuple(each.at_leaf(mask, label) for each in self.recurrences), Leaf(label)

    def join(self, test: int, mask: int, tested: frozenset[int], left: Outcome, right: Outcome) -> Outcome:
        values = tuple(
            each.joined(test, mask, tested, yes, no)
            for each, yes, no in zip(self.recurrences, left[0], right[0], strict=True)
        )
        return values, Split(test, left[1], right[1])

    def chain(self, test: int, mask: int, tested: frozenset[int], left: Outcome, right: Outcome) -> Outcome:
        values = tuple(
            each.chained(test, mask, tested, yes, no)
            for each, yes, no in zip(self.recurrences, left[0], right[0], strict=True)
        )
        return values, Split(test, left[1], right[1])

    def check_time(self) -> None:
        if self.limits.deadline.passed:
            raise _StoppedError(Stop.TIME)

    def answer(self, status: Status, stop: Stop) -> Answer:
        objective, tree = self.best if self.best is not None else (None, None)
        proved = status is Status.OPTIMAL and bool(objective)
        known = status in (Status.OPTIMAL, Status.INFEASIBLE)
        evidence = (Evidence("enumeration" if proved or status is Status.INFEASIBLE else "no goal"),) if known else ()
        return Answer(
            status,
            stop,
            tree,
            objective,
            bound=objective[-1] if proved and objective else None,
            trace=tuple(self.trace),
            statistics={"nodes": len(self.known), "solve_seconds": monotonic() - self.began},
            raw_status="looked at every tree" if stop is Stop.PROVED else "stopped early",
            evidence=evidence,
        )


def _groups(problem: Problem) -> list[list[int]]:
    """Groups of rows that answer every test alike, and so always share a leaf."""
    alike: dict[bytes, list[int]] = {}
    answers = problem.bits.T
    for row in range(problem.rows):
        alike.setdefault(answers[row].tobytes(), []).append(row)
    return list(alike.values())


def _masks(problem: Problem, alike: list[list[int]]) -> list[int]:
    """For every test the groups that answer yes, one bit each."""
    firsts = np.array([rows[0] for rows in alike], dtype=np.intp)
    packed = np.packbits(problem.bits[:, firsts], axis=1, bitorder="little")
    return [int.from_bytes(yes.tobytes(), "little") for yes in packed]


def _deepest(problem: Problem, distinct: int, tests: int) -> int:
    """No path is longer: every leaf holds a row, no path uses a test twice, and the bounds limit depth further."""
    limits = [distinct - 1, tests]
    if problem.max_depth is not None:
        limits.append(problem.max_depth)
    leaves = problem.bound_on("Leaves", "<=")
    if leaves is not None:
        limits.append(leaves.numerator // leaves.denominator - 1)
    support = problem.bound_on("Support", ">=")
    if support is not None and support > 0:
        limits.append(int(int(problem.count.sum()) / support) - 1)
    return max(0, min(limits))


def _conflict(problem: Problem, limits: Limits) -> tuple[str, ...]:
    """Names of requirements that conflict: each is left out in turn, and stays out if there is still no tree.

    A requirement is kept if the problem without it exceeds the size limit or the time.
    """
    most = limits.options.get("limit", OracleBackend.options["limit"].default)
    names = list(dict.fromkeys(bound.name for bound in problem.bounds))
    for name in names.copy():
        without = tuple(bound for bound in problem.bounds if bound.name in names and bound.name != name)
        smaller = replace(problem, goals=(), bounds=without)
        if estimate(smaller) > most:
            continue
        search = _Search(smaller, limits, None, monotonic())
        try:
            search.examine_all()
        except _StoppedError:
            continue
        if search.best is None:
            names.remove(name)
    return tuple(name for name in names if name)


def _rounded(size: int) -> str:
    return f"{size:,}" if size < 10**7 else f"10^{len(str(size)) - 1}"
