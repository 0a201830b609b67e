"""Prices -> trees: the weighted tree problem under the dual weights, asked of any back-end that takes weighted errors.

Prices become whole numbers first, and the bound is that of the rounded prices, so that rounding can weaken a proof but
never falsify it. How many digits they keep depends on who prices: as many as the back-end takes, since a solver that
computes with floats carries fewer than one that counts. Where a back-end proves, cheap trees are tried first
(`pairs.py`), and the back-end has the last word: a bound that ends the search is always its own. Every answer is
checked as `run` checks it, that of the native solver too where it is asked directly, and no tree that is known may
exceed a bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from treeml.backends.claims import Evidence, Proof
from treeml.backends.contract import Backend, Deadline, Limits, Refusal
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.forests.best_tree import BestTree, BestTreeSolver, best_tree
from treeml.forests.column_generation import PricedTrees, Prices
from treeml.forests.criterion import Criterion, Grown
from treeml.forests.examples import Examples, Making, Whole, in_whole_numbers, made, votes_of, without_empty_leaves
from treeml.forests.native_pricing import native_solver
from treeml.forests.pairs import MOST, Pairs
from treeml.lang.diagnostic import BackendError, Diagnostic, RefusedError
from treeml.native.loader import missing
from treeml.problem.evaluate import meets
from treeml.problem.problem import Goal, Problem
from treeml.problem.terms import Predicted, Sum
from treeml.problem.tree import Node

FINEST = 2**40  # what the sizes of all prices add up to, as whole numbers
COARSER = 4  # so many times fewer digits, where a back-end does not take numbers so large
COUNTED = (Evidence("enumeration", "pairs of tests under every root"),)
COARSEST = 2**12  # no bound from prices as coarse as this would ever meet a tolerance


Voting = tuple[Making, NDArray[np.intp]]  # a tree, or how to make it, and its votes on the examples


class TooFine(Exception):
    """The back-end does not take prices of so many digits."""

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        super().__init__()
        self.refusals = refusals


class NoTree(Exception):
    """It was proved that no tree meets the requirements."""

    def __init__(self, conflict: tuple[str, ...], evidence: Proof) -> None:
        super().__init__(*conflict)
        self.conflict, self.evidence = conflict, evidence


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
    solver: BestTreeSolver = field(init=False)
    scale: int = field(init=False)  # what the sizes of prices add up to
    last: Node | None = None

    def __post_init__(self) -> None:
        problem, examples = self.problem, self.examples
        self.bits = np.ascontiguousarray(problem.bits[:, examples.row])
        depth = problem.max_depth
        counts = self.columns > 1 and self.backend.can.proves and missing() is None
        self.pairs = Pairs(self.bits, DEEP if depth is None else depth) if counts else None
        plain = all(bound.sum.kinds() == {"Depth"} and bound.sense == "<=" for bound in problem.bounds)
        self.exact = self.pairs is not None and plain and self.pairs.exhaustive
        self.solver = solver_of(self)
        self.scale = scale_of(self.backend)

    def __call__(self, prices: Prices, enough: float, deadline: Deadline) -> PricedTrees[Grown]:
        while True:
            try:
                return self.priced(self.whole(prices), enough, deadline)
            except TooFine as refused:
                if self.scale <= COARSEST:
                    said = [_refused(self.backend.name, refusal.because) for refusal in refused.refusals]
                    raise RefusedError(said) from None
                self.scale //= COARSER

    def whole(self, prices: Prices) -> Whole:
        """The prices in whole numbers, by the criterion's own way where it has one."""
        own = getattr(self.criterion, "in_whole_numbers", None)
        whole: Whole = in_whole_numbers(prices, self.scale) if own is None else own(prices, self.scale)
        assert sum(map(abs, whole.tolist())) < MOST
        return whole

    def priced(self, whole: Whole, enough: float, deadline: Deadline) -> PricedTrees[Grown]:
        trees: list[Voting] = []
        if self.pairs is not None:
            found = self.pairs.find(self.gains(whole), self.columns)
            trees = list(self.allowed(found.trees))
            if self.exact and found.best is not None:
                self.hold(found.best, trees, whole, "the count of pairs")
                bound = self.criterion.bound(whole, found.best)
                if trees and bound is not None and float(bound) > enough:
                    return PricedTrees(self.grown(trees), bound, confirmed=False, evidence=COUNTED)
            elif trees and not self.quick and self.worth(trees, whole) > enough:
                return PricedTrees(self.grown(trees))
        best = self.solver(whole, deadline, self.last)
        self.calls += 1
        if best.infeasible:
            if trees or self.last is not None:
                raise BackendError(_contradicted(self.backend.name, "there is no tree", "but one is known"))
            raise NoTree(best.conflict, best.evidence)
        if best.tree is not None:
            self.last = best.tree
            trees.insert(0, (best.tree, votes_of(best.tree, self.bits)))
        if best.edge is None:
            return PricedTrees(self.grown(trees), None, stop=best.stop)
        self.hold(best.edge, trees, whole, self.backend.name)
        bound = self.criterion.bound(whole, best.edge)
        return PricedTrees(self.grown(trees), bound, stop=best.stop, evidence=best.evidence)

    def hold(self, edge: int, trees: list[Voting], whole: Whole, who: str) -> None:
        """Raises if a tree that is known is worth more than what was said to be the most."""
        known = max((self.edge(votes, whole) for _, votes in trees), default=edge)
        if known > edge:
            claim = f"no tree is worth more than {edge:,} at these prices"
            raise BackendError(_contradicted(who, claim, f"but one is worth {known:,}"))

    def edge(self, votes: NDArray[np.intp], whole: Whole) -> int:
        """The signs of a tree times the prices: what it is worth, exactly."""
        return int(self.examples.signs(votes).astype(np.int64) @ whole)

    def worth(self, trees: list[Voting], whole: Whole) -> float:
        """What the bound would be if none were better than the best of these; where it is low, a proof is due."""
        bound = self.criterion.bound(whole, max(self.edge(votes, whole) for _, votes in trees))
        return np.inf if bound is None else float(bound)

    @property
    def quick(self) -> bool:
        """Is the back-end as fast as a heuristic, so that it is asked in every round?"""
        return self.backend.name == "native"

    def allowed(self, trees: tuple[Voting, ...]) -> Iterator[Voting]:
        """The trees that meet every bound of the problem."""
        for tree, votes in trees:
            if self.exact:
                yield tree, votes
                continue
            whole = without_empty_leaves(made(tree), self.problem.bits)
            if all(meets(bound, self.problem, whole) for bound in self.problem.bounds):
                yield whole, votes

    def grown(self, trees: list[Voting]) -> list[Grown]:
        found: dict[bytes, Grown] = {}
        for tree, votes in trees:
            signs = self.examples.signs(votes)
            found.setdefault(signs.tobytes(), Grown(tree, signs))
        return list(found.values())[: max(1, self.columns)]

    def gains(self, prices: Whole) -> NDArray[np.float64]:
        """classes x examples: what each prediction adds to the signs of a tree times the prices."""
        examples = self.examples
        gains = np.zeros((examples.classes, len(examples.row)))
        np.subtract.at(gains, (examples.rival, examples.example), prices)
        np.add.at(gains, (examples.actual[examples.example], examples.example), prices)
        return gains

    def cost(self, prices: Whole) -> Whole:
        """rows x classes: what each prediction costs, the opposite of what it gains."""
        cost = np.zeros((self.problem.rows, self.examples.classes), dtype=np.int64)
        cost[self.examples.row] = -self.gains(prices).T.astype(np.int64)
        return cost

    def asked(self, cost: Whole) -> Problem:
        """The problem of one tree with these costs as its goal.

        What a row costs at least is a constant of the goal, so that costs are never negative: a back-end that counts
        weights of classes takes them then.
        """
        least = cost.min(axis=1, keepdims=True)
        goal = Goal(Sum(((Fraction(1), Predicted(cost - least)),), Fraction(int(least.sum()))))
        return self.problem.asking((goal,), self.problem.bounds)


DEEP = 10**6


def scale_of(backend: Backend) -> int:
    """As much as the back-end carries with a goal that it prefers: costs go from 0 to twice the prices."""
    carries = backend.can.carries
    if carries is None:
        return FINEST
    return int(max(COARSEST, min(FINEST, 1 << (carries.goals // 2).bit_length() - 1)))


def solver_of(pricing: TreePricing) -> BestTreeSolver:
    """The native solver itself where the bounds are those that it takes directly, else the back-end by its contract."""
    if pricing.backend.name == "native" and not pricing.limits.options:
        direct = native_solver(pricing)
        if direct is not None:
            return direct
    return by_contract(pricing)


def by_contract(pricing: TreePricing) -> BestTreeSolver:
    """Any back-end: the same problem with the goal that the prices make."""
    backend = pricing.backend

    def solve(prices: Whole, deadline: Deadline, start: Node | None) -> BestTree:
        made = plan(pricing.asked(pricing.cost(prices)), backend, pricing.limits.options)
        if not isinstance(made, Plan):
            raise TooFine(made)
        begin = start if backend.can.starts else None
        answer = run(made, replace(pricing.limits, deadline=deadline, gap=Fraction(0)), begin)
        return best_tree(answer)

    return solve


def _refused(backend: str, because: str) -> Diagnostic:
    return Diagnostic("B501", because, place=backend)


def _contradicted(who: str, claim: str, but: str) -> Diagnostic:
    return Diagnostic(
        "B514",
        f"the answer of {who} does not hold",
        notes=(f"it says that {claim}, {but}",),
        helps=("this is a mistake of the program, not of the specification; please report it with the data",),
    )
