"""A problem, a tree that meets its bounds -> a better tree, round by round.

The current tree is complete and valid between any two steps, so whatever ends the loop (the time limit, Ctrl-C, a
failing inner solver, the caller) leaves an answer that is no worse than the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from time import monotonic
from typing import Any, Protocol

import numpy as np

from treeml.backends.contract import Answer, Backend, Deadline, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.improve import checkpoint
from treeml.backends.improve.depth import Settled, Shallower
from treeml.backends.improve.inner import ByBackend, NativeInner
from treeml.backends.improve.instance import Reach
from treeml.backends.improve.limits import reach_of
from treeml.backends.improve.phases import DepthSearch
from treeml.backends.improve.rebuild import Rebuild
from treeml.backends.improve.subtrees import BetterSubtrees
from treeml.backends.improve.vertices import Vertex, grow, node_of
from treeml.backends.improve.vertices import replace as put
from treeml.problem.evaluate import Routed, evaluate_sum, meets
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Depth, Predicted, Sum
from treeml.problem.tree import Node
from treeml.system.interrupt import listening, passing_on

# Goals that do not depend on predictions.
SHAPE = frozenset({"Depth", "Leaves", "Support", "TestCost", "DiscountedTestCost", "Used"})
SAVE_EVERY = 1.0  # the least number of seconds between two checkpoints


@dataclass(frozen=True, slots=True)
class ImproveSettings:
    """The options of `improve by subtrees(...)`."""

    depth: int | None = None
    rows: int | None = None
    rounds: int | None = None
    features: str = "auto"
    limits: str = "d300"
    patience: float = 10.0
    seconds: float | None = None
    checkpoint: str = ""


Inners = tuple[tuple[Backend, Mapping[str, Any]], ...]


class _Search(Protocol):
    @property
    def tried(self) -> int: ...

    @property
    def proofs(self) -> int: ...

    @property
    def is_over(self) -> bool: ...

    @property
    def unproved(self) -> int: ...

    @property
    def failures(self) -> Sequence[str]:
        """Error messages of inner back-ends that failed."""

    @property
    def refused(self) -> Sequence[str]:
        """Why an inner back-end did not take a requirement."""

    def next(self, root: Vertex, deadline: Deadline) -> tuple[Vertex, Vertex] | None: ...


def improve(
    problem: Problem,
    start: Node,
    inners: Inners,
    limits: Limits,
    settings: ImproveSettings,
    on_progress: OnProgress | None = None,
) -> Answer:
    return _Rounds(problem, start, inners, limits, settings, on_progress).run()


def minimizes_depth(problem: Problem) -> bool:
    """Is the first goal to minimize depth alone?"""
    if not problem.goals:
        return False
    parts = problem.goals[0].sum.parts
    return len(parts) == 1 and isinstance(parts[0][1], Depth) and parts[0][0] > 0


def is_about_shape(problem: Problem) -> bool:
    """Does no goal depend on predictions? Then rows keep theirs."""
    return frozenset(kind for goal in problem.goals for kind in goal.sum.kinds()) <= SHAPE


@dataclass
class _Rounds:
    problem: Problem
    start: Node
    inners: Inners
    limits: Limits
    settings: ImproveSettings
    on_progress: OnProgress | None
    began: float = field(default_factory=monotonic)
    rounds: int = 0
    saved_at: float = 0.0
    trace: list[Progress] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        own = self.settings.seconds
        at = self.limits.deadline.at if own is None else min(self.limits.deadline.at, self.began + own)
        self.deadline = Deadline(at)
        everybody = np.arange(self.problem.rows)
        self.root = grow(self.start, self.problem, everybody)
        self.settled = Settled(self.problem.rows)
        self.number = ""
        if self.settings.checkpoint:
            self.resume(self.settings.checkpoint)
        self.objective = self.value(node_of(self.root))
        # Of several trees of one value the first is kept. It is the closest to the start: later rounds at that value
        # change subtrees in vain, and with every subtree that is changed the tree predicts unseen rows a little worse.
        # A tree that was built again with fewer leaves replaces it.
        self.kept_tree, self.kept_leaves = node_of(self.root), self.root.size

    def resume(self, path: str) -> None:
        self.number = checkpoint.fingerprint(self.problem)
        saved = checkpoint.read(path, self.number, self.problem)
        if saved is None:
            return
        tree = grow(saved.tree, self.problem, np.arange(self.problem.rows))
        routed = Routed(self.problem, node_of(tree))
        sound = all(meets(bound, self.problem, routed.tree, routed) for bound in self.problem.bounds)
        if sound and self.value(routed.tree) <= self.value(node_of(self.root)):
            self.root, self.rounds, self.settled.known = tree, saved.rounds, saved.settled
            self.notes.append(f"resumed from the checkpoint {path} after {saved.rounds} rounds")

    def value(self, tree: Node) -> tuple[Fraction, ...]:
        routed = Routed(self.problem, tree)
        return tuple(evaluate_sum(goal.sum, self.problem, tree, routed) for goal in self.problem.goals)

    def run(self) -> Answer:
        stop, is_local = Stop.FINISHED, False
        searches: list[_Search] = []
        try:
            with passing_on():
                self.tell()
                for search in self.searches():
                    searches.append(search)
                    stop, is_local = self.rounds_of(search)
                    if not is_local:
                        break
        except KeyboardInterrupt:
            stop, is_local = Stop.INTERRUPTED, False
        self.save(always=True)
        return self.answer(stop, is_local, searches)

    def searches(self) -> list[_Search]:
        """The methods to try in turn: shallower subtrees first if depth is the first goal."""
        found: list[_Search] = []
        if minimizes_depth(self.problem):
            found.append(self.depth_search())
        if len(self.problem.goals) > len(found):
            levels, rows = self.settings.depth or 3, self.settings.rows or 5000
            found.append(BetterSubtrees(self.keeping(), self.inners, self.limits, levels, rows, self.settings.patience))
        return found

    def depth_search(self) -> DepthSearch:
        """Shallower subtrees; if any test may be used, and the native search is at hand, fewer leaves as well."""
        main = self.shallower()

        def rebuild(slacks: tuple[int, ...]) -> Rebuild:
            patience, memory = self.settings.patience, self.limits.memory
            return Rebuild(self.problem, main.classes, main.reach, patience, slacks, memory)

        rebuilds = self.inners[0][0].can.shallow_search and "none" in main.reductions and self.problem.classes
        return DepthSearch(main, self.deadline, rebuild if rebuilds else None)

    def shallower(self) -> Shallower:
        first, options = self.inners[0]
        if first.can.shallow_search:
            if options:
                self.notes.append(f"{first.name}'s options do not apply to its search for shallower subtrees")
            inner: NativeInner | ByBackend = NativeInner(self.settings.patience, self.limits.memory)
            deepest = self.settings.depth or self.problem.rows
            most = self.settings.rows or self.problem.rows
            reach = Reach(deepest, lambda _: most)
        else:
            inner = ByBackend(self.inners, self.limits, self.settings.patience)
            reach = reach_of(self.settings.limits, self.settings.depth, self.settings.rows)
        reductions = {"auto": ("none", "tree", "support"), "all": ("none",)}
        asked = reductions.get(self.settings.features, (self.settings.features,))
        return Shallower(self.problem, self.kept(), inner, reach, asked, self.settled)

    def keeping(self) -> Problem:
        """The problem in which rows keep their predictions, if no goal depends on predictions.

        This is stated as the first goal, not as a bound: its value is 0 and stays 0, and back-ends handle goals better.
        """
        if not self.problem.classes or not is_about_shape(self.problem):
            return self.problem
        cost = np.ones((self.problem.rows, self.problem.classes), dtype=np.int64)
        cost[np.arange(self.problem.rows), self.kept()] = 0
        kept = Goal(Sum(((Fraction(1), Predicted(cost)),)), text="what is predicted")
        others = tuple(b for b in self.problem.bounds if not all(isinstance(t, Predicted) for _, t in b.sum.parts))
        return self.problem.asking((kept, *self.problem.goals), others)

    def kept(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """What every row must keep: its predicted class, or its leaf if leaves hold numbers."""
        routed = Routed(self.problem, node_of(self.root))
        if self.problem.classes:
            return routed.labels.astype(np.int32)
        kept = np.zeros(self.problem.rows, dtype=np.int32)
        for number, (_, _, rows) in enumerate(routed.leaves):
            kept[rows] = number
        return kept

    def rounds_of(self, search: _Search) -> tuple[Stop, bool]:
        """Replace subtrees while possible; return why it ended, and whether everything was tried."""
        checks = [bound for bound in self.problem.bounds if not _holds_anyway(bound.sum.parts, bound.sense)]
        while True:
            if self.settings.rounds is not None and self.rounds >= self.settings.rounds:
                self.notes.append(f"stopped after {self.rounds} rounds, as asked")
                return Stop.FINISHED, False
            found = search.next(self.root, self.deadline)
            if found is None:
                return (Stop.FINISHED, True) if search.is_over else (Stop.TIME, False)
            with listening(raises=False):  # a replacement is made as a whole; Ctrl-C takes effect after it
                if not self.replaced(*found, search, checks):
                    return Stop.INTERRUPTED, False

    def replaced(self, old: Vertex, new: Vertex, search: _Search, checks: Sequence[Bound]) -> bool:
        """Put `new` in the place of `old` if the tree stays sound; False if the caller wants to stop."""
        root = put(old, new)
        tree = node_of(root)
        objective = self.value(tree)
        routed = Routed(self.problem, tree)
        if objective > self.objective or not all(meets(b, self.problem, tree, routed) for b in checks):
            # A shallower subtree may have too many leaves, or leaves that are too small.
            self.root = put(new, old)
            if isinstance(search, DepthSearch):
                search.reject(old)
            return True
        self.root = root
        self.rounds += 1
        better, self.objective = objective < self.objective, objective
        if not better and isinstance(search, DepthSearch) and search.rebuilt and root.size < self.kept_leaves:
            self.kept_tree, self.kept_leaves = tree, root.size
        goes_on = not better or self.tell()
        self.save()
        return goes_on

    def tell(self) -> bool:
        """Report the current tree; False if the caller wants to stop."""
        self.kept_tree, self.kept_leaves = node_of(self.root), self.root.size
        moment = Progress(monotonic() - self.began, self.objective, None, self.kept_tree)
        self.trace.append(moment)
        return self.on_progress is None or self.on_progress(moment) is not False

    def save(self, always: bool = False) -> None:
        if not self.settings.checkpoint or (not always and monotonic() - self.saved_at < SAVE_EVERY):
            return
        checkpoint.write(self.settings.checkpoint, self.number, self.root, self.rounds, self.settled.known)
        self.saved_at = monotonic()

    def answer(self, stop: Stop, is_local: bool, searches: list[_Search]) -> Answer:
        tried, proofs = sum(each.tried for each in searches), sum(each.proofs for each in searches)
        statistics = {"rounds": float(self.rounds), "local_instances": float(tried), "local_proofs": float(proofs)}
        notes = [*self.notes, *_troubles(searches)]
        left = sum(search.unproved for search in searches)
        if is_local and left:
            notes.append(f"{left} local searches ended without a proof; more `patience` may improve the tree")
        return Answer(
            Status.LOCAL if is_local else Status.FEASIBLE,
            stop,
            self.kept_tree,
            self.objective,
            None,
            (),
            tuple(replace(moment) for moment in self.trace),
            {**statistics, "solve_seconds": monotonic() - self.began},
            "no subtree in reach can be improved" if is_local else "",
            tuple(dict.fromkeys(notes)),
        )


def _holds_anyway(parts: tuple[tuple[Fraction, Any], ...], sense: str) -> bool:
    """Does the bound still hold if predictions stay the same and depth only decreases?"""
    if all(isinstance(term, Predicted) for _, term in parts):
        return True
    return len(parts) == 1 and isinstance(parts[0][1], Depth) and sense == ("<=" if parts[0][0] > 0 else ">=")


def _troubles(searches: list[_Search]) -> list[str]:
    """Notes about the inner solvers for the report."""
    notes = []
    for search in searches:
        if search.failures:
            notes.append(
                f"{len(search.failures)} local searches failed and were skipped, the first: {search.failures[0]}"
            )
        if search.refused:
            notes.append(f"requirements were checked on whole trees only, because {search.refused[0]}")
    return notes
