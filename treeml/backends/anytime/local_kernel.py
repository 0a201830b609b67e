"""Rows of an additive problem, levels -> the best subtree for these rows, by the native kernels, each set solved once.

A goal that adds up over the leaves has a value for every subtree, so parts of a tree can be solved and compared on
their own. Sets of rows are known by the sum of random numbers of their rows: a set that is met again is not solved
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import NO_OPTIONS, Limits
from treeml.backends.native.coded_columns import CodedColumns
from treeml.backends.native.flat_tree import flat_tree, tree_of
from treeml.backends.native.goals import NativeObjective, joinable, kind, objective_of
from treeml.backends.native.inputs import forbidden_features, make_solver, numeric_solver, search_settings
from treeml.backends.native.kernel_choice import choose_additive_kernel
from treeml.backends.native.leaf_sizes import leaf_sizes
from treeml.backends.native.refusals import refusals
from treeml.problem.fans import has_fans
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Depth, LeafErrors, Leaves, Part, Purity, Support, Used
from treeml.problem.tree import Leaf, Node

if TYPE_CHECKING:
    from treeml.backends.native.numeric_kernel import ThresholdSolver
    from treeml.native.solver import Found, Solver

Rows = NDArray[np.intp]
Value = int | Fraction

LOCAL = (Support, Used, Purity, LeafErrors)  # bounds that hold for a tree if they hold for every part of it
SHAPE = (Depth, Leaves)
MOST_KNOWN = 100_000  # solved sets that are remembered


@dataclass(frozen=True, slots=True)
class SolvedBranch:
    """The best known subtree for a set of rows: no tree of its depth is better if it `is_best`."""

    tree: Node
    value: Value
    leaves: int
    is_best: bool


def takes(problem: Problem) -> bool:
    """Does the goal add up over the leaves, and does every requirement hold if it holds in every part?"""
    if not problem.goals or not problem.rows or has_fans(problem) or any(True for _ in refusals(problem)):
        return False
    if any(kind(bound) not in (*LOCAL, *SHAPE) for bound in problem.bounds):
        return False
    if not any({"Predicted", "Loss"} & goal.sum.kinds() for goal in joinable(problem).goals):
        return False  # a single leaf is best
    if any({"TestCost", "DiscountedTestCost", "Custom"} & goal.sum.kinds() for goal in problem.goals):
        return False  # what a part pays depends on the tests above it, or on the numbers of its rows
    shape = [bound for bound in problem.bounds if kind(bound) in SHAPE]
    return all(bound.sense == "<=" and bound.sum.parts[0][0] > 0 for bound in shape)


def needs_answers(problem: Problem) -> bool:
    """Does the search need the answers of all rows to all tests, rather than columns as they are?"""
    return choose_additive_kernel(problem, NO_OPTIONS)[0] == "binary"


class LocalKernel:
    """Exact subtrees for sets of rows; only trees that split the rows are remembered with their depth."""

    def __init__(self, problem: Problem, seed: int = 0, pressed: Event | None = None) -> None:
        """`pressed`: set when a solve is interrupted, by Ctrl-C or by `interrupt`; several kernels may share it."""
        problem = joinable(problem)
        self.problem = problem
        self.objective: NativeObjective = objective_of(problem)
        self.kernel, _ = choose_additive_kernel(problem, NO_OPTIONS)
        settings = search_settings(problem, self.objective, Limits(), self.kernel)
        self.support = int(settings.get("support", 1))
        sizes = leaf_sizes(problem) if self.kernel == "numeric" else None
        self.sizes = problem.count if sizes is None else sizes.size
        self.most_depth = int(settings.get("depth", problem.rows))
        leaves = settings.get("leaves")
        self.most_leaves: int | None = None if leaves is None else int(leaves)
        self.bounds = tuple(bound for bound in problem.bounds if kind(bound) in LOCAL)
        self.limits_leaves = any(kind(bound) in (Purity, LeafErrors) for bound in self.bounds)
        self.numbers = np.random.default_rng(seed).integers(0, 2**63, problem.rows, dtype=np.uint64)
        self.known: dict[tuple[int, int, int], SolvedBranch] = {}
        self.bits = problem.bits if self.kernel == "binary" else None
        self.columns = CodedColumns(problem, forbidden_features(problem))
        self.codes = self.columns.codes() if self.kernel == "numeric" else None
        self.solves = 0
        self.pressed = pressed or Event()
        self._running: Solver | ThresholdSolver | None = None

    def key(self, rows: Rows) -> int:
        return int(self.numbers[rows].sum(dtype=np.uint64)) ^ len(rows)

    def interrupt(self) -> None:
        """Ends the solve that runs in another thread."""
        running = self._running
        if running is not None:
            running.interrupt()

    def best(
        self,
        rows: Rows,
        depth: int,
        seconds: float = inf,
        leaves: int | None = None,
        start: Node | None = None,
        options: Mapping[str, int] | None = None,
    ) -> SolvedBranch | None:
        """The best subtree that is found in this time; None if there is no such subtree or not enough time.

        `options` are those of the kernel.
        """
        room = 0 if leaves is None else min(leaves, 1 << min(depth, 62))
        key = (self.key(rows), depth, room)
        known = self.known.get(key)
        if known is not None and known.is_best:
            return known
        with self._solver(rows, self._objective(rows)) as solver:
            found = solver.solve(
                depth=depth,
                support=self.support,
                leaves=leaves,
                leaf_price=self.objective.price,
                seconds=seconds,
                start=None if start is None or isinstance(start, Leaf) else flat_tree(start),
                options=options,
            )
        self._note(found)
        if not len(found.test) or found.value is None:
            return known
        tree = tree_of(found, self.problem)
        solved = SolvedBranch(tree, found.value, int((found.test < 0).sum()), found.status == "optimal")
        if known is not None and known.value < solved.value:
            solved = replace(known, is_best=solved.is_best)
        if len(self.known) >= MOST_KNOWN:
            self.known.clear()
        self.known[key] = solved
        return solved

    def choose(self, rows: Rows, cost: NDArray[np.int64], seconds: float) -> tuple[int, int, int] | None:
        """The best single split if rows cost what `cost` says, rows x parts: its test and the part on either side."""
        objective = NativeObjective(cost=cost)
        with self._solver(rows, objective, classes=cost.shape[1]) as solver:
            found = solver.solve(depth=1, seconds=seconds)
        self._note(found)
        if len(found.test) != 3:
            return None
        return int(found.test[0]), int(found.label[found.left[0]]), int(found.label[found.right[0]])

    def _note(self, found: Found) -> None:
        if found.stop == "interrupted":
            self.pressed.set()

    def restricted(self, rows: Rows, classes: int | None = None) -> Problem:
        """The problem on these rows alone, without goals and without limits on the shape."""
        problem = self.problem
        features, bits = problem.features, self.bits
        if len(rows) < problem.rows:  # large tables are not copied
            features = tuple(
                each if each.codes is None else replace(each, codes=each.codes[rows]) for each in problem.features
            )
            bits = None if bits is None else np.take(bits, rows, axis=1)
        part = Part(rows, frozenset(), frozenset())
        bounds = () if classes else tuple(restricted_bound(bound, part) for bound in self.bounds)
        return Problem(features, problem.tests, problem.count[rows], classes or problem.classes, (), bounds, bits)

    def _objective(self, rows: Rows) -> NativeObjective:
        whole, part = self.objective, Part(rows, frozenset(), frozenset())
        return replace(
            whole,
            cost=None if whole.cost is None else whole.cost[rows],
            loss=None if whole.loss is None else whole.loss.restricted(part),
        )

    @contextmanager
    def _solver(
        self, rows: Rows, objective: NativeObjective, classes: int | None = None
    ) -> Iterator[Solver | ThresholdSolver]:
        """A solver for these rows; `classes`: those of the costs, if they are not those of the problem."""
        if self.codes is not None and objective.most == inf:
            part = self.columns.at(rows, self.codes)
            solver: Solver | ThresholdSolver = numeric_solver(self.problem, objective, self.sizes[rows], part)
        else:
            solver = make_solver(self.restricted(rows, classes), objective, self.kernel)
        self._running = solver
        self.solves += 1
        try:
            yield solver
        finally:
            self._running = None


def restricted_bound(bound: Bound, part: Part) -> Bound:
    return replace(bound, sum=bound.sum.changed(lambda term: term.restricted(part)))
