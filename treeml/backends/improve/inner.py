"""A local instance, a depth -> a tree for it of at most that depth, by the native search or by any back-end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from treeml.backends.contract import Backend, Deadline, Limits, Status, Stop
from treeml.backends.improve.instance import LocalInstance
from treeml.backends.improve.vertices import node_of_flat
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.lang.diagnostic import BackendError
from treeml.native import shallow
from treeml.problem.problem import Bound, Feature, Problem, Test
from treeml.problem.terms import Depth, Predicted, Sum, WeightedDepth
from treeml.problem.tree import Leaf, Node, Split

WORDS_PER_SECOND = 15 * 10**7  # of the native search: its effort is counted, not timed, so that runs repeat
MOST_MEMORY = 1 << 29  # bytes of one native search, if no limit is given
SLACKS: tuple[int | None, ...] = (0, 1, 2, 3, 5, 8, 12, 20, 40, None)  # of the native search, one after the other


@dataclass(frozen=True, slots=True)
class LocalResult:
    """The result for a local instance: a tree over the problem's tests, a proof that no tree exists, or neither."""

    tree: Node | None = None
    is_proof: bool = False
    why: str = ""  # the reason, if there is neither a tree nor a proof


class Inner(Protocol):
    """Solves local instances. `levels` is the number of effort levels worth trying."""

    levels: int
    is_thorough: bool  # does it search a whole subtree so well that parts of it need not be tried?
    failures: list[str]  # error messages of back-ends that failed

    @property
    def weighs(self) -> bool:
        """Does it respect the weights of classes? Otherwise it gets safe subtrees only."""

    def shallower(self, instance: LocalInstance, level: int, deadline: Deadline) -> LocalResult:
        """A tree for the instance that makes the whole tree shallower there, as shallow as it can find."""


@dataclass(slots=True)
class NativeInner:
    """The native search: exact if it finishes, and guided by the current subtree."""

    patience: float
    memory: int | None = None
    levels: int = len(SLACKS)
    is_thorough: bool = True
    weighs: bool = True
    failures: list[str] = field(default_factory=list)  # stays empty: it runs no back-end

    def shallower(self, instance: LocalInstance, level: int, deadline: Deadline) -> LocalResult:
        work = int(self.patience * WORDS_PER_SECOND / 2 ** max(0, self.levels - 1 - level - 2))
        found = None
        try:
            with shallow.Shallow(
                instance.bits, instance.labels, instance.weights, instance.guide, self.memory or MOST_MEMORY
            ) as solver:
                depth = instance.weighted_depth - 1
                while depth >= 0:
                    answer = solver.search(depth, SLACKS[level], work, deadline.left())
                    if answer != shallow.FOUND:
                        break
                    found = solver.tree()
                    depth = _weighted_depth(found, instance) - 1
        except MemoryError:
            return LocalResult(why="memory")
        if found is not None:
            return LocalResult(instance.replacement(found))
        return LocalResult(is_proof=answer == shallow.NONE, why="memory" if answer == shallow.MEMORY else "effort")


def _weighted_depth(tree: shallow.FlatShallowTree, instance: LocalInstance) -> int:
    depth = np.zeros(len(tree.test), dtype=np.int64)
    deepest = 0
    for number, test in enumerate(tree.test):
        if test < 0:
            deepest = max(deepest, int(depth[number]) + instance.weights[int(tree.label[number])])
        else:
            depth[tree.yes[number]] = depth[tree.no[number]] = depth[number] + 1
    return deepest


@dataclass(slots=True)
class ByBackend:
    """Any back-end: asked again and again for an error-free tree one level shallower, until it finds no more."""

    backends: tuple[tuple[Backend, Mapping[str, Any]], ...]
    limits: Limits
    patience: float
    levels: int = 1
    is_thorough: bool = False
    failures: list[str] = field(default_factory=list)  # error messages of back-ends that failed

    @property
    def weighs(self) -> bool:
        return all("WeightedDepth" in backend.can.bounds for backend, _ in self.backends)

    def shallower(self, instance: LocalInstance, level: int, deadline: Deadline) -> LocalResult:
        tried = LocalResult(why="no back-end takes it")
        for backend, options in self.backends:
            tried = self._by(backend, options, instance, deadline)
            if tried.tree is not None or tried.is_proof:
                break
        return tried

    def _by(
        self, backend: Backend, options: Mapping[str, Any], instance: LocalInstance, deadline: Deadline
    ) -> LocalResult:
        best: Node | None = None
        weights = (0,) * len(instance.weights) if instance.is_safe else instance.weights
        depth = (instance.depth if instance.is_safe else instance.weighted_depth) - 1
        start = current_tree(instance) if backend.can.starts else None
        while depth >= 0:
            made = plan(local_problem(instance, depth, weights), backend, options)
            if not isinstance(made, Plan):
                return LocalResult(best, why=made[0].because)
            until = Deadline(min(deadline.at, Deadline.after(self.patience).at))
            try:
                answer = run(made, replace(self.limits, deadline=until, options=dict(options)), start)
            except (BackendError, MemoryError) as error:
                # A solver that fails costs one round only: the tree stays as good as it was.
                self.failures.append(f"{backend.name}: {error}")
                return LocalResult(best, why="failed")
            if answer.stop is Stop.INTERRUPTED:
                raise KeyboardInterrupt
            if answer.tree is None:
                proved = best is None and answer.status is Status.INFEASIBLE
                return LocalResult(best, proved, "" if proved else answer.stop.value)
            best = _replacement(answer.tree, instance)
            depth = _depth(answer.tree, weights) - 1
        return LocalResult(best)


def local_problem(instance: LocalInstance, depth: int, weights: tuple[int, ...] = ()) -> Problem:
    """The instance as a problem of its own: any error-free tree of at most this depth, with weights of classes."""
    rows, classes = len(instance.rows), len(instance.weights)
    cost = np.ones((rows, classes), dtype=np.int64)
    cost[np.arange(rows), instance.labels] = 0
    one = Fraction(1)
    least = min(weights, default=0)
    limits = [Bound(Sum(((one, Depth()),)), "<=", Fraction(depth - least), "depth")]
    if any(weight > least for weight in weights):
        limits.append(Bound(Sum(((one, WeightedDepth(weights)),)), "<=", Fraction(depth), "weighted depth"))
    return Problem(
        features=tuple(
            Feature(f"test {number}", "binary", 2, None, number, 1) for number in range(len(instance.tests))
        ),
        tests=tuple(Test(number, "true") for number in range(len(instance.tests))),
        count=np.ones(rows, dtype=np.int64),
        classes=classes,
        goals=(),
        bounds=(Bound(Sum(((one, Predicted(cost)),)), "<=", Fraction(0), "errors"), *limits),
        given_bits=instance.bits,
    )


def _replacement(tree: Node, instance: LocalInstance) -> Node:
    order = [tree]
    for node in order:
        if isinstance(node, Split):
            order += [node.yes, node.no]
    built: dict[int, Node] = {}
    for node in reversed(order):
        if isinstance(node, Leaf):
            built[id(node)] = instance.below[node.label]
        else:
            built[id(node)] = Split(int(instance.tests[node.test]), built[id(node.yes)], built[id(node.no)])
    return built[id(tree)]


def current_tree(instance: LocalInstance) -> Node | None:
    """The subtree as it is, over the tests of the instance, to begin a search near it; None if it has other tests.

    Its leaves get the classes of the instance, which number the predictions and the parts that were cut off anew.
    """
    guide = instance.guide
    if guide is None:
        return None
    labels = guide.label.copy()
    todo = [(0, np.arange(len(instance.rows)))]
    while todo:
        number, rows = todo.pop()
        if guide.test[number] < 0:
            labels[number] = instance.labels[rows[0]]
        else:
            said = instance.bits[guide.test[number], rows].astype(np.bool_)
            todo += [(int(guide.yes[number]), rows[said]), (int(guide.no[number]), rows[~said])]
    return node_of_flat(replace(guide, label=labels))


def _depth(tree: Node, weights: tuple[int, ...]) -> int:
    deepest, todo = 0, [(tree, 0)]
    while todo:
        node, depth = todo.pop()
        if isinstance(node, Split):
            todo += [(node.yes, depth + 1), (node.no, depth + 1)]
        else:
            deepest = max(deepest, depth + weights[node.label])
    return deepest
