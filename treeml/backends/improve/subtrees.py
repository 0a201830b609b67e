"""Every goal but depth: a subtree is replaced by the best tree of a few levels for its rows.

The local problem has the goals of the spec, and its bounds minus what the rest of the tree uses up. A subtree with more
levels than the local tree may have is cut: each part below becomes a class of its own, whose cost for a row is the cost
of the row in that part. So the local tree may place each part anywhere, or drop it. A replacement is accepted if the
whole tree is better by the goals of the spec, in their order, and meets every requirement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Answer, Backend, Deadline, Limits, Status, Stop
from treeml.backends.improve.local_terms import Context, localize
from treeml.backends.improve.vertices import Vertex, grow, node_of
from treeml.backends.planning.lowerings import spread_bound
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.lang.diagnostic import BackendError
from treeml.problem.evaluate import Routed, evaluate_sum, meets
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Depth, Leaves, Locality, Predicted, Sum, Support, Term
from treeml.problem.tree import Leaf, Node, Split

SHAPE = (Depth, Leaves, Support)


@dataclass(slots=True)
class BetterSubtrees:
    """Repeated search for a better subtree."""

    problem: Problem
    backends: tuple[tuple[Backend, Mapping[str, Any]], ...]
    limits: Limits
    depth: int  # levels of a local tree
    rows: int  # of a local problem
    patience: float
    settled: dict[int, tuple[tuple[Any, ...], bool]] = field(default_factory=dict)  # rows -> what was tried; proved?
    numbers: NDArray[np.uint64] = field(init=False)
    tried: int = 0
    proofs: int = 0
    refused: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    is_over: bool = False

    def __post_init__(self) -> None:
        self.numbers = np.random.default_rng(20210118).integers(0, 2**63, self.problem.rows, dtype=np.uint64)

    def next(self, root: Vertex, deadline: Deadline) -> tuple[Vertex, Vertex] | None:
        """A vertex and its replacement; None if nothing is left within reach, or the time is up."""
        self.is_over = False
        routed = Routed(self.problem, node_of(root))
        objective = tuple(evaluate_sum(goal.sum, self.problem, routed.tree, routed) for goal in self.problem.goals)
        values: dict[int, Fraction] = {}

        def value(total: Sum) -> Fraction:
            if id(total) not in values:
                values[id(total)] = evaluate_sum(total, self.problem, routed.tree, routed)
            return values[id(total)]

        parts = [part for bound in self.problem.bounds for part in spread_bound(bound)]
        totals = tuple(value(part.sum) for part in parts if any(t.locality is Locality.SUM for _, t in part.sum.parts))
        costs = any(term.distinguished_features() for total in _sums(self.problem) for term in total.terms())
        for context in self.contexts(root):
            if deadline.passed:
                return None
            # What determines a local problem, without building it: its subtree, and what the rest of the tree uses up.
            key = int(np.bitwise_xor.reduce(self.numbers[context.vertex.rows]))
            around = (context.depth, root.height, context.above if costs else 0, context.outside if costs else 0)
            state = (node_of(context.vertex), around, totals)
            if key in self.settled and self.settled[key][0] == state:
                continue
            local = localize(context, value, self.depth)
            proved = local.is_exact
            for attempt in self.attempts(context.vertex, local.problem):
                self.tried += 1
                tree, is_proof = self.solve(attempt, deadline)
                if tree is not None:
                    new = grow(attempt.raised(tree), self.problem, context.vertex.rows)
                    if self.is_better(root, context.vertex, new, objective):
                        return context.vertex, new
                proved = proved and is_proof
            if deadline.passed:
                return None
            self.proofs += proved
            self.settled[key] = state, proved
        self.is_over = True
        return None

    @property
    def unproved(self) -> int:
        """The number of subtrees without a proof, or whose local problem did not cover all requirements."""
        return sum(not proved for _, proved in self.settled.values())

    def contexts(self, root: Vertex) -> Iterator[Context]:
        """Every vertex within reach, the lowest first: small subtrees are solved quickly."""
        features = _features(root, self.problem)
        total: dict[int, int] = {}
        for used in features.values():
            for feature in used:
                total[feature] = total.get(feature, 0) + 1
        order = sorted(features, key=lambda vertex: (vertex.height, len(vertex.rows)))
        for vertex in order:
            if not 2 <= len(vertex.rows) <= self.rows:
                continue
            above = [self.problem.tests[each.test].feature for each in vertex.above()]
            inside: dict[int, int] = {}
            for each in vertex.below():
                for feature in features[each]:
                    inside[feature] = inside.get(feature, 0) + 1
            outside = frozenset(feature for feature, count in total.items() if count > inside.get(feature, 0))
            yield Context(self.problem, vertex, len(above), root.height, frozenset(above), outside)

    def attempts(self, vertex: Vertex, problem: Problem) -> Iterator[Attempt]:
        """The local problem, cut where the subtree has more levels than a local tree may have."""
        if vertex.height > self.depth:
            cut = _cut(vertex, problem, self.depth)
            if cut is not None:
                yield cut
                if not any("Leaves" in total.kinds() for total in _sums(problem)):
                    return  # it covers the other one: cut parts need not be used
        yield Attempt(problem, node_of(vertex) if vertex.height <= self.depth else None)

    def solve(self, attempt: Attempt, deadline: Deadline) -> tuple[Node | None, bool]:
        """A tree of the local problem, and whether it is proved best (or proved that there is none)."""
        until = Deadline(min(deadline.at, Deadline.after(self.patience).at))
        for backend, options in self.backends:
            answer = self.answer(backend, options, attempt, until)
            if answer is None:
                continue
            if answer.stop is Stop.INTERRUPTED:
                raise KeyboardInterrupt
            return answer.tree, attempt.is_exact and answer.status in (Status.OPTIMAL, Status.INFEASIBLE)
        return None, False

    def answer(
        self, backend: Backend, options: Mapping[str, Any], attempt: Attempt, deadline: Deadline
    ) -> Answer | None:
        problem = attempt.problem
        made = plan(problem, backend, options)
        if not isinstance(made, Plan):
            # Requirements that the back-end cannot handle are left to the check of the whole tree.
            shape = tuple(b for b in problem.bounds if all(isinstance(term, SHAPE) for _, term in b.sum.parts))
            self.refused.append(made[0].because)
            made = plan(problem.asking(problem.goals, shape), backend, options)
            attempt.is_exact = False
            if not isinstance(made, Plan):
                return None
        try:
            return run(made, replace(self.limits, deadline=deadline, options=dict(options)), attempt.start)
        except (BackendError, MemoryError) as error:
            self.failures.append(f"{backend.name}: {error}")
            return None

    def is_better(self, root: Vertex, old: Vertex, new: Vertex, objective: tuple[Fraction, ...]) -> bool:
        tree = _with(root, old, new)
        routed = Routed(self.problem, tree)
        found = tuple(evaluate_sum(goal.sum, self.problem, tree, routed) for goal in self.problem.goals)
        return found < objective and all(meets(bound, self.problem, tree, routed) for bound in self.problem.bounds)


@dataclass(slots=True)
class Attempt:
    """A local problem for a back-end, and how to translate its trees back."""

    problem: Problem
    start: Node | None
    below: tuple[Node, ...] = ()  # the subtrees for which the additional classes stand
    is_exact: bool = True
    own: int = 0  # the number of the problem's own classes

    def raised(self, tree: Node) -> Node:
        if not self.below:
            return tree
        if isinstance(tree, Leaf):
            return tree if tree.label < self.own else self.below[tree.label - self.own]
        return Split(tree.test, self.raised(tree.yes), self.raised(tree.no))


def _cut(vertex: Vertex, problem: Problem, depth: int) -> Attempt | None:
    """The subtree cut `depth` levels down; None if a term is not a cost per row."""
    terms = [term for total in _sums(problem) for _, term in total.parts]
    if not problem.classes or not all(isinstance(term, (Predicted, *SHAPE)) for term in terms):
        return None
    ends: list[Vertex] = []

    def top(each: Vertex, level: int) -> Node:
        if each.is_leaf:
            return Leaf(each.label)
        if level == depth:
            ends.append(each)
            return Leaf(problem.classes + len(ends) - 1)
        yes, no = each.sides
        return Split(each.test, top(yes, level + 1), top(no, level + 1))

    start = top(vertex, 0)
    below = tuple(node_of(end) for end in ends)
    labels = [Routed(problem, node).labels for node in below]
    made: dict[int, Term] = {}

    def extended(total: Sum) -> Sum:
        return Sum(tuple((factor, _extended(term, labels, made)) for factor, term in total.parts), total.constant)

    goals = tuple(Goal(extended(goal.sum), goal.negated, goal.text) for goal in problem.goals)
    # The parts that were cut off have support, leaves and depth of their own, which the check of the whole tree covers.
    bounds = tuple(
        Bound(extended(bound.sum), bound.sense, bound.limit, bound.name)
        for bound in problem.bounds
        if not any(isinstance(term, Leaves) for _, term in bound.sum.parts)
    )
    cut = replace(problem, classes=problem.classes + len(ends), goals=goals, bounds=bounds)
    counts_shape = any(isinstance(term, Leaves | Support) for term in terms)
    return Attempt(cut, start, below, not counts_shape, problem.classes)


def _extended(term: Term, labels: list[NDArray[np.intp]], made: dict[int, Term]) -> Term:
    if not isinstance(term, Predicted):
        return term
    if id(term) not in made:
        rows = np.arange(len(term.cost))
        columns = [term.cost[rows, each] for each in labels]
        made[id(term)] = replace(term, cost=np.column_stack([term.cost, *columns]))
    return made[id(term)]


def _features(root: Vertex, problem: Problem) -> dict[Vertex, tuple[int, ...]]:
    """The feature that every vertex tests; empty for a leaf."""
    return {vertex: () if vertex.is_leaf else (problem.tests[vertex.test].feature,) for vertex in root.below()}


def _sums(problem: Problem) -> list[Sum]:
    return [goal.sum for goal in problem.goals] + [bound.sum for bound in problem.bounds]


def _with(root: Vertex, old: Vertex, new: Vertex) -> Node:
    """The whole tree with one subtree replaced by another."""
    node = node_of(new)
    child = old
    for parent in old.above():
        yes, no = parent.sides
        node = Split(parent.test, node, node_of(no)) if yes is child else Split(parent.test, node_of(yes), node)
        child = parent
    return node
