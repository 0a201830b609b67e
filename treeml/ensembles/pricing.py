"""Prices -> trees: the weighted tree problem under the dual weights, asked of any back-end that takes weighted errors.

Prices become whole numbers first, and the bound is that of the rounded prices, so that rounding can weaken a proof but
never falsify it. Where a back-end proves, cheap trees are tried first (`pairs.py`), and the back-end has the last word:
a bound that ends the search is always its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import (
    Backend,
    Deadline,
    Goal,
    Limits,
    Node,
    Predicted,
    Problem,
    Status,
    Stop,
    Sum,
)
from treeml.ensembles.column_generation import Priced, Prices
from treeml.ensembles.criterion import Criterion, Grown
from treeml.ensembles.examples import Examples, Whole, votes_of, without_empty_leaves
from treeml.ensembles.pairs import MOST, Pairs

SCALE = 2**40  # what the sizes of all prices add up to, as whole numbers


@dataclass(frozen=True, eq=False, slots=True)
class Best:
    """The best tree at some prices, as a back-end answered it."""

    tree: Node | None
    edge: int | None  # no tree's signs times the prices exceed it; None where nothing was proved
    stop: Stop | None = None  # why it ended early, if it did
    conflict: tuple[str, ...] = ()
    infeasible: bool = False


Solver = Callable[[Whole, Deadline, Node | None], Best]
"""Prices of the margins, the moment to end, a tree to start from."""


class NoTree(Exception):
    """It was proved that no tree meets the requirements."""

    def __init__(self, conflict: tuple[str, ...]) -> None:
        super().__init__(*conflict)
        self.conflict = conflict


@dataclass(eq=False, slots=True)
class TreePricing:
    """The pricing of a forest; one object for all rounds."""

    problem: Problem
    examples: Examples
    criterion: Criterion
    backend: Backend
    limits: Limits
    columns: int  # at most so many trees a round
    calls: int = 0  # of the back-end
    bits: NDArray[np.bool_] = field(init=False)  # tests x examples
    pairs: Pairs | None = field(init=False)
    exact: bool = field(init=False)  # do pairs find the best tree of all that are allowed?
    solver: Solver = field(init=False)
    last: Node | None = None

    def __post_init__(self) -> None:
        problem, examples = self.problem, self.examples
        self.bits = np.ascontiguousarray(problem.bits[:, examples.row])
        depth = problem.max_depth
        counts = self.columns > 1 and self.backend.can.proves and examples.classes == 2
        deep = DEEP if depth is None else depth
        self.pairs = Pairs(self.bits, examples.actual == 1, deep) if counts else None
        plain = all(bound.sum.kinds() == {"Depth"} and bound.sense == "<=" for bound in problem.bounds)
        self.exact = self.pairs is not None and plain and self.pairs.exhaustive
        self.solver = solver_of(self)

    def __call__(self, prices: Prices, enough: float, deadline: Deadline) -> Priced[Grown]:
        whole = in_whole_numbers(prices)
        trees: list[Node] = []
        bound: Fraction | None = None
        if self.pairs is not None:
            found = self.pairs.find(whole, self.columns)
            trees = list(self.allowed(found.trees))
            if self.exact and found.best is not None:
                bound = self.criterion.bound(whole, found.best)
                if trees and bound is not None and float(bound) > enough:
                    return Priced(self.grown(trees), bound, confirmed=False)
            elif trees and not self.quick:
                return Priced(self.grown(trees))
        best = self.solver(whole, deadline, self.last)
        self.calls += 1
        if best.infeasible:
            raise NoTree(best.conflict)
        if best.tree is not None:
            self.last = best.tree
            trees.insert(0, best.tree)
        bound = None if best.edge is None else self.criterion.bound(whole, best.edge)
        return Priced(self.grown(trees), bound, stop=best.stop)

    @property
    def quick(self) -> bool:
        """Is the back-end as fast as a heuristic, so that it is asked in every round?"""
        return self.backend.name == "native"

    def allowed(self, trees: tuple[Node, ...]) -> Iterator[Node]:
        """The trees that meet every bound of the problem."""
        from treeml.backends.evaluate import meets

        for tree in trees:
            whole = without_empty_leaves(tree, self.problem.bits)
            if self.exact or all(meets(bound, self.problem, whole) for bound in self.problem.bounds):
                yield whole

    def grown(self, trees: list[Node]) -> list[Grown]:
        found: dict[bytes, Grown] = {}
        for tree in trees:
            signs = self.examples.signs(votes_of(tree, self.bits))
            found.setdefault(signs.tobytes(), Grown(tree, signs))
        return list(found.values())[: max(1, self.columns)]

    def cost(self, prices: Whole) -> Whole:
        """rows x classes: what each prediction costs. The signs of a tree times the prices are minus its cost."""
        examples = self.examples
        cost = np.zeros((self.problem.rows, examples.classes), dtype=np.int64)
        rows = examples.row[examples.example]
        np.add.at(cost, (rows, examples.rival), prices)
        np.subtract.at(cost, (rows, examples.actual[examples.example]), prices)
        return cost


DEEP = 10**6


def in_whole_numbers(prices: Prices) -> Whole:
    """The prices, scaled so that their sizes add up to about SCALE; each is rounded by half a unit at most."""
    size = float(np.abs(prices).sum())
    if size <= 0:
        return np.ones(len(prices), dtype=np.int64)
    whole = np.rint(prices * (SCALE / size)).astype(np.int64)
    assert int(np.abs(whole).sum()) < MOST
    return whole


def rounding(margins: int) -> float:
    """How far rounding can move the edge of a tree, for prices whose sizes add up to 1."""
    return margins / 2 / SCALE


def solver_of(pricing: TreePricing) -> Solver:
    """The native solver itself where the bounds are those that it takes directly, else the back-end by its contract."""
    if pricing.backend.name == "native" and not pricing.limits.options:
        from treeml.ensembles.native_pricing import native_solver

        direct = native_solver(pricing)
        if direct is not None:
            return direct
    return by_contract(pricing)


def by_contract(pricing: TreePricing) -> Solver:
    """Any back-end: the same problem with the goal that the prices make."""
    from treeml.backends.plan import Plan, plan
    from treeml.backends.run import run
    from treeml.lang.diagnostic import RefusedError

    problem, backend = pricing.problem, pricing.backend

    def solve(prices: Whole, deadline: Deadline, start: Node | None) -> Best:
        goal = Goal(Sum(((Fraction(1), Predicted(pricing.cost(prices))),)))
        made = plan(problem.asking((goal,), problem.bounds), backend, pricing.limits.options)
        if not isinstance(made, Plan):
            raise RefusedError([_refused(backend.name, refusal.because) for refusal in made])
        begin = start if backend.can.starts else None
        answer = run(made, replace(pricing.limits, deadline=deadline, gap=Fraction(0)), begin)
        proved = answer.status in (Status.OPTIMAL, Status.INFEASIBLE)
        stop = None if proved or answer.stop is Stop.FINISHED else answer.stop
        edge = None
        if answer.bound is not None and (answer.status is Status.OPTIMAL or backend.can.proves):
            edge = int(-(answer.bound - answer.tolerance) // 1)
        return Best(answer.tree, edge, stop, answer.conflict, answer.status is Status.INFEASIBLE)

    return solve


def _refused(backend: str, because: str) -> Any:
    from treeml.lang.diagnostic import Diagnostic

    return Diagnostic("B501", because, place=backend)
