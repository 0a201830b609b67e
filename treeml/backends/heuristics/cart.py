"""Problem -> a tree grown greedily, one split at a time: a starting tree for other back-ends, and a baseline.

This is generic top-down induction: the leaf whose split gains most is split first, so that a bound on leaves can stop
it. Growth respects depth, leaves and support; whether the tree meets the other requirements is checked only at the end.
Nothing that it returns is ever called optimal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf
from time import monotonic
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import (
    NO_LIMITS,
    Answer,
    BackendBase,
    Capabilities,
    Limits,
    OnProgress,
    Option,
    Progress,
    Status,
    Stop,
)
from treeml.backends.heuristics.guides import guided_tree
from treeml.backends.heuristics.impurity import CRITERIA, Rows, SplitCounts, evidence, side_sums, worth
from treeml.backends.heuristics.limited_sum import cut_back, growing_for
from treeml.backends.heuristics.pruning import leaf_labels, parts, pruned
from treeml.backends.heuristics.validated_pruning import PruningValidation, validated
from treeml.problem.answers import has_bits_in_time
from treeml.problem.evaluate import evaluate_sum, meets
from treeml.problem.fans import chain_order, chained, fan_tests, single_tests
from treeml.problem.problem import Problem
from treeml.problem.terms import EVERY_TERM
from treeml.problem.tree import Leaf, Node

EXACT_SUMS = 2**53
PRUNINGS = ("goal", "complexity", "validated", "pessimistic", "description", "none")
NOT_VALIDATED = "not pruned: validated pruning needs a goal on classes, or a squared or absolute loss"


class CartBackend(BackendBase):
    name: ClassVar[str] = "cart"
    summary: ClassVar[str] = "a greedy tree, grown one split at a time; not optimal, and not meant to be"
    can: ClassVar[Capabilities] = Capabilities(
        goals=EVERY_TERM,
        bounds=EVERY_TERM,
        sums=True,
        proves=False,
        needs_depth=False,
        lexicographic=True,
        minimizes_depth=True,
        merges_rows=True,
        merges_tests=True,
        branches=True,
        reports=True,
        carries=None,
        automatic=False,
        aliases=("sklearn",),
    )
    options: ClassVar[Mapping[str, Option]] = {
        "criterion": Option(str, "gini", "what makes a good split of classes", tuple(CRITERIA)),
        "depth": Option(int, None, "the most splits on a path, in addition to the bounds", low=0),
        "support": Option(int, 1, "the fewest rows in a leaf, in addition to the bounds", low=1),
        "prune": Option(str, "goal", "how the grown tree is pruned", PRUNINGS),
        "price": Option(float, 0, "the price of a leaf, as a share of the rows, for complexity pruning", low=0),
        "folds": Option(int, 10, "the parts of the rows for validated pruning", low=2),
        "standard_errors": Option(
            float,
            1,
            "validated pruning takes the smallest tree whose error is at most this many standard errors above the best",
            low=0,
        ),
        "confidence": Option(
            float, 0.25, "the confidence level of pessimistic pruning; lower prunes more", low=1e-6, high=0.5
        ),
    }

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        began = monotonic()
        option = {name: limits.options.get(name, known.default) for name, known in self.options.items()}
        stops: list[Stop] = []
        nodes, notes = 0, tuple[str, ...]()

        def grow(problem: Problem) -> Node:
            nonlocal nodes, notes
            asked = growing_for(problem)
            growth = _Growth(
                asked, option["criterion"], option["depth"], option["support"], lambda: limits.deadline.passed
            )
            stops.append(growth.grow())
            tree, nodes = growth.tree(), nodes + len(growth.nodes)
            if option["prune"] == "goal":
                tree = cut_back(tree, problem)
            if option["prune"] != "validated":
                return pruned(tree, problem, option["prune"], option["price"], option["confidence"])
            how = PruningValidation(option["folds"], option["standard_errors"], limits.seed)
            smaller = validated(tree, problem, growth.again, how)
            notes = (NOT_VALIDATED,) if smaller is None else ()
            return tree if smaller is None else smaller

        tree = guided_tree(problem, grow)
        stop = next((stop for stop in stops if stop is not Stop.FINISHED), Stop.FINISHED)
        broken = [bound.name or bound.sense for bound in problem.bounds if not meets(bound, problem, tree)]
        statistics = {"nodes": float(nodes), "solve_seconds": monotonic() - began}
        if broken:
            note = "the greedy tree breaks " + ", ".join(dict.fromkeys(broken)) + "; another back-end may keep it"
            return Answer(Status.UNKNOWN, stop, statistics=statistics, raw_status="grown", notes=(note,))
        objective = tuple(evaluate_sum(goal.sum, problem, tree) for goal in problem.goals)
        moment = Progress(monotonic() - began, objective, None, tree)
        if on_progress is not None:
            on_progress(moment)
        note = "grown greedily: a better tree may exist"
        return Answer(Status.FEASIBLE, stop, tree, objective, None, (), (moment,), statistics, "grown", (note, *notes))


def greedy_tree(problem: Problem, criterion: str = "gini", max_depth: int | None = None, min_support: int = 1) -> Node:
    """A greedy tree within the problem's bounds on depth, leaves and support; it may break other bounds."""
    growth = _Growth(growing_for(problem), criterion, max_depth, min_support, lambda: False)
    growth.grow()
    return pruned(cut_back(growth.tree(), problem), problem, "goal")


def growing_trees(problem: Problem, is_over: Callable[[], bool]) -> Iterator[Node]:
    """Greedy trees of more and more leaves, each with the splits of the one before, within depth, leaves and support.

    No fans are grown, and the trees may break other bounds.
    """
    growth = _Growth(problem, "gini", None, 1, is_over, has_fans=False)
    before = 0
    for size in _sizes(growth.most_leaves):
        growth.most_leaves = size
        growth.grow()
        if growth.leaves == before or growth.late:
            return
        yield growth.tree()
        before = growth.leaves


def _sizes(most: float) -> Iterator[float]:
    """Numbers of leaves, each a third larger than the one before."""
    size = 1
    while size < most:
        yield size
        size += 1 + size // 3
    yield most


@dataclass
class _Growing:
    rows: Rows
    depth: int
    tests: tuple[int, ...] = ()  # none for a leaf, one for a yes-or-no split, more for a node with several branches
    sides: tuple[int, ...] = ()  # the nodes below: one for each test, and the rest


@dataclass
class _Growth:
    problem: Problem
    criterion: str
    depth: int | None
    support: int
    is_over: Callable[[], bool]
    has_fans: bool = True
    nodes: list[_Growing] = field(default_factory=list)
    leaves: int = 0
    late: bool = False
    rows: Rows | None = None  # None: all rows of the problem
    waiting: list[tuple[float, int, tuple[int, ...]]] = field(default_factory=list)  # (-gain, node, tests)

    def __post_init__(self) -> None:
        bounds = self.problem.bound_on
        depths = [limit for limit in (self.depth, self.problem.max_depth) if limit is not None]
        self.most_depth: float = min(depths, default=inf)
        leaves, support = bounds("Leaves", "<="), bounds("Support", ">=")
        self.most_leaves: float = inf if leaves is None else float(leaves)
        self.least_support = max(self.support, 1 if support is None else -(-support.numerator // support.denominator))
        self.known: SplitCounts | None = evidence(self.problem)
        self.fans = fan_tests(self.problem) if self.has_fans else []
        self.single = np.zeros(len(self.problem.tests), dtype=np.bool_)
        self.single[single_tests(self.problem)] = True

    def grow(self) -> Stop:
        """Splits the most promising leaf repeatedly; returns why it stopped."""
        try:
            if not self.nodes:
                self.add(np.arange(self.problem.rows) if self.rows is None else self.rows, 0)
                self.leaves = 1
            while self.waiting and self.leaves < self.most_leaves:
                if self.late:
                    break
                _, number, tests = heappop(self.waiting)
                if self.leaves + len(tests) > self.most_leaves:
                    continue
                node = self.nodes[number]
                sides = tuple([self.add(part, node.depth + 1) for part in parts(self.problem, tests, node.rows)])
                # All children exist before the node becomes a split, so that an interrupt leaves a valid tree.
                node.sides, node.tests = sides, tests
                self.leaves += len(tests)
        except KeyboardInterrupt:
            return Stop.INTERRUPTED
        return Stop.TIME if self.late else Stop.FINISHED

    def again(self, rows: Rows) -> Node:
        """The tree that grows from these rows alone."""
        other = _Growth(self.problem, self.criterion, self.depth, self.support, self.is_over, rows=rows)
        other.grow()
        return other.tree()

    def add(self, rows: Rows, depth: int) -> int:
        number = len(self.nodes)
        self.nodes.append(_Growing(rows, depth))
        if depth < self.most_depth:
            self.late = self.late or self.is_over() or not has_bits_in_time(self.problem, self.is_over)
            best = None if self.late else self.best_split(rows)
            if best is not None:
                heappush(self.waiting, (-best[0], number, best[1]))
        return number

    def best_split(self, rows: Rows) -> tuple[float, tuple[int, ...]] | None:
        """The gain and the tests of the best split with enough rows on all sides; None if no split qualifies."""
        if self.known is None or len(self.problem.bits) == 0 or len(rows) < 2:
            return None
        answers = self.problem.bits if len(rows) == self.problem.rows else np.take(self.problem.bits, rows, axis=1)
        fans = [answers[fan.start : fan.stop] for fan in self.fans]
        gain, impurity = worth(answers, rows, self.known, self.criterion, fans)
        if impurity <= 1e-9:
            return None
        count = self.problem.count[rows]
        reached = _reached(answers, count)
        allowed = (reached >= self.least_support) & (count.sum() - reached >= self.least_support) & self.single
        sizes = [reached[fan.start : fan.stop] for fan in self.fans]
        whole = [(size > 0).sum() > 1 and size[size > 0].min() >= self.least_support for size in sizes]
        allowed = np.append(allowed, np.array(whole, dtype=np.bool_))
        if not allowed.any():
            return None
        best = int(np.argmax(np.where(allowed, gain, -inf)))
        if best < len(reached):
            return float(gain[best]), (best,)
        fan = self.fans[best - len(reached)]
        return float(gain[best]), chain_order(self.problem, [(test, int(reached[test])) for test in fan])

    def tree(self) -> Node:
        return self.node(0) if self.nodes else Leaf(0 if self.problem.classes else -1)

    def node(self, number: int) -> Node:
        here = self.nodes[number]
        if not here.tests:
            return Leaf(leaf_labels(self.problem, [here.rows])[0])
        return chained(here.tests, [self.node(side) for side in here.sides])


def _reached(answers: NDArray[np.bool_], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows that answer yes to each test. Sums in floating point are much faster, and exact up to 2^53."""
    if int(count.sum()) >= EXACT_SUMS:
        return np.asarray(answers @ count)
    return side_sums(answers, count.astype(np.float64)).astype(np.int64)
