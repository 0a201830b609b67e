"""Prices -> trees: the tree problem weighted by the prices, solved by any back-end that takes weighted errors.

Prices are rounded to whole numbers first, and the bound is computed for the rounded prices, so that rounding can weaken
a proof but never falsify it. They keep as many digits as the back-end supports: a solver that computes with floats
supports fewer than one that counts. If the back-end proves its answers, cheap trees are tried first (`pairs.py`), but a
bound that ends the search always comes from the back-end. Every answer is checked as `run` checks it, also that of a
solver that keeps its rows, and no known tree may exceed a bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from treeml.backends.anytime.local_kernel import takes
from treeml.backends.anytime.search import first_tree
from treeml.backends.claims import Evidence, Proof
from treeml.backends.contract import Backend, Deadline, Limits, Refusal, Stop
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import checked, run
from treeml.forests.best_tree import BestTree, BestTreeSolver, best_tree
from treeml.forests.column_generation import PricedTrees, Prices
from treeml.forests.criterion import Criterion, Grown
from treeml.forests.examples import Examples, Making, Whole, made, votes_of, without_empty_leaves
from treeml.forests.pairs import MOST, Pairs
from treeml.lang.diagnostic import BackendError, Diagnostic, RefusedError
from treeml.native.loader import missing
from treeml.problem.answers import has_many_answers
from treeml.problem.evaluate import Routed, meets
from treeml.problem.fans import has_fans
from treeml.problem.problem import Goal, Problem
from treeml.problem.terms import Predicted, Sum
from treeml.problem.tree import Leaf, Node

FINEST = 2**40  # the largest sum of the absolute values of all prices, as whole numbers
COARSER = 4  # the sum is divided by this if a back-end does not support numbers so large
UNLIMITED_DEPTH = 10**6
COUNTED = (Evidence("enumeration", "pairs of tests under every root"),)
COARSEST = 2**12  # the smallest sum; bounds from such coarse prices meet no tolerance

Voting = tuple[Making, NDArray[np.intp]]  # a tree, or a function that makes it, and its votes on the examples


class TooFine(Exception):
    """The back-end does not support prices with this many digits."""

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        super().__init__()
        self.refusals = refusals


class Inexact(Exception):
    """The back-end solved the problem but could not prove its answer, because its prices have too many digits."""


class NoTree(Exception):
    """It was proved that no tree meets the requirements."""

    def __init__(self, conflict: tuple[str, ...], evidence: Proof) -> None:
        super().__init__(*conflict)
        self.conflict, self.evidence = conflict, evidence


@dataclass(eq=False, slots=True)
class TreePricing:
    """Finds trees for prices; one object serves all rounds."""

    problem: Problem
    examples: Examples
    criterion: Criterion
    backend: Backend
    limits: Limits
    columns: int  # the largest number of trees in a round
    calls: int = 0  # of the back-end
    bits: NDArray[np.bool_] | None = field(init=False)  # tests x examples; None if they are too many
    pairs: Pairs | None = field(init=False)  # None if they are too many, or of no use
    grows: bool = field(init=False)  # are trees grown greedily in their place?
    exact: bool = field(init=False)  # do pairs find the best of all allowed trees?
    solver: BestTreeSolver = field(init=False)
    scale: int = field(init=False)  # the sum of the absolute values of the prices
    finest: int = field(init=False)  # the largest such sum that has not been tried and could be accepted
    last: Node | None = None

    def __post_init__(self) -> None:
        problem, examples = self.problem, self.examples
        self.bits = None if has_many_answers(problem) else np.ascontiguousarray(problem.bits[:, examples.row])
        depth = problem.max_depth
        counts = self.columns > 1 and self.backend.can.proves and missing() is None and not has_fans(problem)
        self.pairs = None
        if counts and self.bits is not None:
            pairs = Pairs(self.bits, UNLIMITED_DEPTH if depth is None else depth)
            self.pairs = pairs if pairs.is_affordable(examples.classes) else None
        self.grows = self.pairs is None and (counts or self.bits is None)
        plain = all(bound.sum.kinds() == {"Depth"} and bound.sense == "<=" for bound in problem.bounds)
        self.exact = self.pairs is not None and plain and self.pairs.exhaustive
        self.solver = solver_of(self)
        carries = self.backend.can.carries
        self.scale = FINEST if carries is None else scale_of(carries.goals)
        self.finest = FINEST if carries is None else scale_of(carries.sums)

    def __call__(self, prices: Prices, enough: float, deadline: Deadline) -> PricedTrees[Grown]:
        while True:
            try:
                return self.priced(self.whole(prices), enough, deadline)
            except TooFine as refused:
                if self.scale <= COARSEST:
                    said = [_refused(self.backend.name, refusal.because) for refusal in refused.refusals]
                    raise RefusedError(said) from None
                self.scale //= COARSER
            except Inexact:
                self.scale //= COARSER

    def finer(self) -> bool:
        """Give prices more digits, because only rounding keeps the bound from the value; False if no more digits fit.

        `mip` proves goals that floats can count by its solver, and larger ones exactly where its relaxation settles
        them; if it refuses, prices become coarser again.
        """
        if self.scale >= self.finest:
            return False
        self.scale, self.finest = self.finest, 0
        return True

    def whole(self, prices: Prices) -> Whole:
        """The prices in whole numbers, as the criterion rounds them."""
        whole = self.criterion.in_whole_numbers(prices, self.scale)
        assert sum(map(abs, whole.tolist())) < MOST
        return whole

    def priced(self, whole: Whole, enough: float, deadline: Deadline) -> PricedTrees[Grown]:
        trees: list[Voting] = []
        if self.pairs is not None:
            found = self.pairs.find(self.gains(whole), self.columns, lambda: deadline.passed)
            trees = list(self.allowed(found.trees))
            if self.exact and found.best is not None:
                self.hold(found.best, trees, whole, "the count of pairs")
                bound = self.criterion.bound(whole, found.best)
                if trees and bound is not None and float(bound) > enough:
                    return PricedTrees(self.grown(trees), bound, confirmed=False, evidence=COUNTED)
            elif trees and not self.quick and self.worth(trees, whole) > enough:
                return PricedTrees(self.grown(trees))
        elif self.grows:
            trees = list(self.greedy(whole, deadline))
            if trees and self.worth(trees, whole) > enough:
                return PricedTrees(self.grown(trees))
        best = self.solver(whole, deadline, self.last)
        self.calls += 1
        if best.stop is Stop.FAILED and self.scale > COARSEST:
            raise Inexact
        if best.infeasible:
            if trees or self.last is not None:
                raise BackendError(_contradicted(self.backend.name, "there is no tree", "but one is known"))
            raise NoTree(best.conflict, best.evidence)
        if best.tree is not None:
            self.last = best.tree
            trees.insert(0, (best.tree, self.votes(best.tree)))
        if best.edge is None:
            return PricedTrees(self.grown(trees), None, stop=best.stop)
        self.hold(best.edge, trees, whole, self.backend.name)
        bound = self.criterion.bound(whole, best.edge)
        return PricedTrees(self.grown(trees), bound, stop=best.stop, evidence=best.evidence)

    def votes(self, tree: Node) -> NDArray[np.intp]:
        """The class that a tree predicts for every example."""
        if self.bits is not None:
            return votes_of(tree, self.bits)
        return Routed(self.problem, tree).labels[self.examples.row]

    def greedy(self, whole: Whole, deadline: Deadline) -> Iterator[Voting]:
        """A tree grown on columns of numbers as they are, where an exact search may take very long."""
        problem = self.problem_at(self.cost(whole))
        tree = first_tree(problem, deadline) if takes(problem) else None
        if tree is not None and all(meets(bound, problem, tree) for bound in problem.bounds):
            yield tree, self.votes(tree)

    def first_tree(self, deadline: Deadline) -> Grown | None:
        """A greedy tree or a single leaf for examples of their own weight, if there was no time for a search."""
        prices = self.examples.weight[self.examples.example]
        whole = self.whole(prices / prices.sum())
        leaves = (Leaf(label) for label in range(self.problem.classes))
        allowed = [leaf for leaf in leaves if all(meets(bound, self.problem, leaf) for bound in self.problem.bounds)]
        found = [*self.greedy(whole, deadline), *((leaf, self.votes(leaf)) for leaf in allowed)]
        best = max(found, key=lambda voting: self.edge(voting[1], whole), default=None)
        return None if best is None else self.grown([best])[0]

    def hold(self, edge: int, trees: list[Voting], whole: Whole, who: str) -> None:
        """BackendError if a known tree is worth more than `edge`, the claimed maximum."""
        known = max((self.edge(votes, whole) for _, votes in trees), default=edge)
        if known > edge:
            claim = f"no tree is worth more than {edge:,} at these prices"
            raise BackendError(_contradicted(who, claim, f"but one is worth {known:,}"))

    def edge(self, votes: NDArray[np.intp], whole: Whole) -> int:
        """The exact worth of a tree: its signs times the prices."""
        return int(self.examples.signs(votes).astype(np.int64) @ whole)

    def worth(self, trees: list[Voting], whole: Whole) -> float:
        """The bound if no tree were better than the best of these; if that is low, it is time for a proof."""
        bound = self.criterion.bound(whole, max(self.edge(votes, whole) for _, votes in trees))
        return np.inf if bound is None else float(bound)

    @property
    def quick(self) -> bool:
        """Is the back-end as fast as a heuristic, so that every round calls it?"""
        return self.backend.can.quick

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
        """classes x examples: what each prediction adds to the worth of a tree."""
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

    def problem_at(self, cost: Whole) -> Problem:
        """The problem of one tree with these costs as its goal.

        The least cost of every row moves into the constant of the goal, so that costs are never negative and back-ends
        that count weights of classes support them.
        """
        least = cost.min(axis=1, keepdims=True)
        goal = Goal(Sum(((Fraction(1), Predicted(cost - least)),), Fraction(int(least.sum()))))
        return self.problem.asking((goal,), self.problem.bounds)


def scale_of(most: int) -> int:
    """The sum of the prices if goals reach at most `most`: costs go from 0 to twice the prices."""
    return int(max(COARSEST, min(FINEST, 1 << (most // 2).bit_length() - 1)))


def solver_of(pricing: TreePricing) -> BestTreeSolver:
    """One solver for all rounds if the back-end has one for these bounds, else a new problem in every round."""
    return (None if pricing.bits is None else by_repricing(pricing)) or by_new_problems(pricing)


def by_repricing(pricing: TreePricing) -> BestTreeSolver | None:
    """A solver that keeps its rows. Its answers are checked like those of `solve`: rows are routed again."""
    reprice = pricing.backend.repricing(pricing.problem, pricing.limits, pricing.examples.row)
    if reprice is None:
        return None

    def solve(prices: Whole, deadline: Deadline, start: Node | None) -> BestTree:
        cost = pricing.cost(prices)
        answer = reprice(cost, deadline, start)
        return best_tree(checked(Plan(pricing.problem_at(cost), pricing.backend, ()), answer))

    return solve


def by_new_problems(pricing: TreePricing) -> BestTreeSolver:
    """Any back-end: the problem with a goal made from the prices."""
    backend, given = pricing.backend, pricing.limits.options
    named = [name for name in given if name in backend.options and backend.options[name].of_goal]
    if named:
        because = f"`{named[0]}` is a value of one tree's goal, and a forest asks for trees with ever new goals"
        raise RefusedError([_refused(backend.name, because)])

    def solve(prices: Whole, deadline: Deadline, start: Node | None) -> BestTree:
        made = plan(pricing.problem_at(pricing.cost(prices)), backend, pricing.limits.options)
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
