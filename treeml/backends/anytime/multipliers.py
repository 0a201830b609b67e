"""Requirements that couple the leaves -> trees that meet them, by prices on what the requirements limit.

With a price on every limited sum (a Lagrange multiplier) the problem is additive, and trees for it are found quickly.
Prices rise where a requirement is broken and fall where there is room. The leaves of every tree are then labeled again,
so that the requirements are met at the least cost that small changes reach. A quotient is minimized as in Dinkelbach
(1967): as a difference, at the best quotient so far; what leaves cost beside it is then worth its denominator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from treeml.backends.anytime import local_kernel
from treeml.backends.anytime.grown import grown_trees
from treeml.backends.anytime.search import Anytime
from treeml.backends.contract import Deadline
from treeml.backends.native.coupled.relabeling import Relabeling, excess, labeled
from treeml.backends.native.coupled.requirements import limits_predictions
from treeml.backends.native.coupled.task import CoupledTask, read_coupled
from treeml.problem.evaluate import Routed, evaluate_goals, meets_all
from treeml.problem.magnitudes import row_reach
from treeml.problem.problem import Goal, Problem
from treeml.problem.quotient import Quotient, quotient_of
from treeml.problem.terms import Leaves, Predicted, Sum
from treeml.problem.tree import Node

STEPS = 4096  # prices are multiples of 1 / STEPS of the goal's unit
FASTEST, SLOWEST = 3.0, 1.25  # factors by which a price falls; it rises by their squares
FIRST_SECONDS = 0.2  # for one set of prices; more each time round
TURNING = 1 / 16  # of the first price: below that, a price may change its sign
ROUND = 12  # sets of prices between two beginnings
IDLE = 3  # sets of prices without a better tree after which other methods go on from the best one
PRICES_ALONE = 4  # sets of prices without a tree after which other methods look for one, too
HEAVIER = (8.0, 64.0)  # prices of limited sums for greedy trees, as multiples of the first
MOST_HEAVIER = 2  # limited sums of which each gets such prices
LARGEST = 2.0**52  # of the sums of a priced problem: floats hold whole numbers up to here
STEEPEST = 2.0**40  # how many times its first value a price may rise to: nothing else counts then


def takes(problem: Problem) -> bool:
    """Is the first goal a sum or a quotient, and does every other requirement hold in every part?"""
    if not problem.classes or not problem.rows or not local_kernel.takes(priced(problem)):
        return False
    return _surrogate(problem) is not None


def priced(problem: Problem) -> Problem:
    """A problem like those with prices in the place of requirements."""
    return _free(problem, _one(problem))


@dataclass(eq=False)
class Multipliers:
    """The search; `offer` takes a tree and says whether it is better than all before."""

    problem: Problem
    offer: Callable[[Node], bool]
    is_over: Callable[[], bool]
    interrupts: list[Callable[[], None]]
    seed: int = 0
    best: Node | None = None  # the last tree that was better than all before
    has_tree: bool = False  # was a tree better than all before?
    is_interrupted: bool = False  # by Ctrl-C, which a kernel noticed
    was_short: bool = False  # did the time for the last set of prices end before its first tree was grown?

    def rounds(self, deadline: Deadline) -> Iterator[bool]:
        """Searches until the time is up; after every round of prices: was a tree better than all before?

        It stops within a round as well, when some prices after a better tree have led to nothing: others go on from it.
        """
        random = np.random.default_rng(self.seed)
        seconds, number = FIRST_SECONDS, 0
        best: NDArray[np.float64] | None = None
        prices: NDArray[np.float64] | None = None  # of every limited sum; negative to raise it
        while True:
            task = _surrogate(self.problem, self.best)
            if task is None:
                return
            if prices is None or len(prices) != task.sums:  # at some quotients, a requirement only limits the goal
                first = _first_prices(task)
                self.grow_leaves(task, first, deadline)
                best, prices = None, np.where(_have_two_limits(task), 0.0, first)
            elif best is not None:
                prices = best * np.exp(random.normal(0, 0.5, len(best)))
            pace = np.full(len(prices), FASTEST if best is None else SLOWEST)
            before: NDArray[np.float64] | None = None
            has_better, idle = False, 0
            for _ in range(ROUND):
                if deadline.passed or self.is_interrupted or self.is_over():
                    return
                number += 1
                sums, is_better = self.try_prices(task, prices, seconds, number, deadline)
                if self.was_short:
                    seconds *= 2
                if is_better:
                    best, has_better, idle = prices.copy(), True, -1
                idle += 1
                side = np.sign(excess(task, sums)).astype(np.float64)
                if before is not None:  # a price that turns was close, so its next steps are smaller
                    pace = np.where(side == before, pace, np.maximum(np.sqrt(pace), SLOWEST))
                prices, before = _next_prices(prices, side, pace, first), side
                if best is None and number >= PRICES_ALONE:
                    break  # trees of other methods may meet the requirements
                if has_better and idle == IDLE:
                    has_better = False
                    yield True
            seconds *= 1.5
            yield has_better

    def try_prices(
        self, task: CoupledTask, prices: NDArray[np.float64], seconds: float, number: int, deadline: Deadline
    ) -> tuple[NDArray[np.int64], bool]:
        """The limited sums of the tree for these prices before repair; was a tree better than all before?"""
        sums = np.zeros(task.sums, dtype=np.int64)
        shaped = _at_prices(self.problem, task, prices, int(task.objective.price) * STEPS)
        is_better = False

        def offered(tree: Node) -> None:
            nonlocal is_better, sums
            sums, has_better = self.repair(task, tree)
            is_better |= has_better

        search = Anytime(shaped, offered, self.is_over, self.seed + number)
        self.interrupts.append(search.interrupt)
        # Until the requirements are met, other prices help more than better trees for these.
        end = Deadline(min(deadline.at, Deadline.after(seconds).at))
        search.run(end, None if self.has_tree else 1)
        self.was_short = end.passed and not self.has_tree
        self.is_interrupted |= search.is_interrupted
        self.interrupts.pop()
        return sums, is_better

    def repair(self, task: CoupledTask, tree: Node) -> tuple[NDArray[np.int64], bool]:
        """Offers the tree with labels that meet the requirements: its sums before that; was it better than all?"""
        found = Relabeling(task, Routed(self.problem, tree))
        is_better = False
        for labels in found.repaired():
            relabeled = labeled(tree, iter(labels))
            if self.offer(relabeled):
                is_better = self.has_tree = True
                self.best = relabeled
        return found.sums, is_better

    def grow_leaves(self, task: CoupledTask, prices: NDArray[np.float64], deadline: Deadline) -> None:
        """Greedy trees with more and more leaves, until one meets the requirements, if only leaves count.

        A price of leaves that is too low would let one branch grow to its end before the next one has a split.
        """
        if task.values[0].any() or not task.objective.price:
            return
        for tree in grown_trees(_at_prices(self.problem, task, prices, 0), lambda: deadline.passed or self.is_over()):
            self.repair(task, tree)
            if self.has_tree:
                return


def guides(problem: Problem) -> Iterator[Problem]:
    """Additive problems for greedy trees: with all limited sums beside the goal, then with each of them heavier.

    The goal alone may say nothing about many rows, as a share of the rows of a rare class does about all others.
    """
    task = _surrogate(problem)
    if task is None or task.excluded is not None or not task.sums:
        return
    first = _first_prices(task)
    yield _at_prices(problem, task, first, 0)
    if task.sums == 1 and not task.values[0].any():
        return
    for heavier in HEAVIER:
        for number in range(min(task.sums, MOST_HEAVIER)):
            prices = first.copy()
            prices[number] *= heavier
            yield _at_prices(problem, task, prices, 0)


def _at_prices(problem: Problem, task: CoupledTask, prices: NDArray[np.float64], price: int) -> Problem:
    """The additive problem with these prices of limited sums and of a leaf, rounded where its numbers are large."""
    cost = task.values[0] * float(STEPS)
    for each, weight in zip(task.values[1:], np.rint(prices * STEPS).tolist(), strict=True):
        cost += each * weight
    reach = float(np.abs(cost).max(axis=1).sum()) + price * problem.rows
    factor = min(1.0, LARGEST / reach) if reach else 1.0
    return _free(problem, _goal(np.rint(cost * factor).astype(np.int64), round(price * factor)))


def _one(problem: Problem) -> Goal:
    return _goal(np.ones((problem.rows, problem.classes), dtype=np.int64), 1)


def _goal(cost: NDArray[np.int64], price: int) -> Goal:
    parts = ((Fraction(1), Predicted(cost)), (Fraction(price), Leaves()))
    return Goal(Sum(parts if price else parts[:1]))


def _free(problem: Problem, goal: Goal) -> Problem:
    """The problem with this goal, without its limits on predictions."""
    return problem.asking((goal,), tuple(bound for bound in problem.bounds if not limits_predictions(bound)))


def _surrogate(problem: Problem, beside: Node | None = None) -> CoupledTask | None:
    """The problem with a plain first goal, in whole numbers; None if it has another kind of goal or numbers.

    The sum for a quotient is negative for trees that are better than the tree `beside`.
    """
    goals = problem.goals
    try:
        if goals:
            plain = _without_quotient(problem, goals[0], beside)
            if plain is not None:
                goals = (plain,)
            elif any(goal.sum.kinds() - {"Predicted", "Leaves"} for goal in goals):
                return None
        task = read_coupled(problem.asking(goals, problem.bounds))
    except OverflowError:
        return None
    return None if task.objective.price < 0 else task  # a search for trees takes prices of leaves that are not negative


def _without_quotient(problem: Problem, goal: Goal, beside: Node | None) -> Goal | None:
    """A plain goal in the place of a quotient, or of a quotient and a price of leaves; None for any other goal."""
    quotient, price = _quotient_and_price(goal)
    if quotient is None:
        return None
    routed = None if beside is None else Routed(problem, beside)
    number = quotient.least if routed is None else quotient.of(routed)
    total = quotient.against(number)
    if price:
        below = quotient.least_below if routed is None else max(1, quotient.denominator_of(routed))
        worth = round(price / quotient.worth * below * number.denominator)
        total = Sum((*total.parts, (Fraction(max(1, worth)), Leaves())))
    return Goal(total)


def _quotient_and_price(goal: Goal) -> tuple[Quotient | None, Fraction]:
    leaves = [factor for factor, term in goal.sum.parts if isinstance(term, Leaves)]
    others = tuple(part for part in goal.sum.parts if not isinstance(part[1], Leaves))
    price = sum(leaves, Fraction(0))
    return (quotient_of(Goal(Sum(others))) if price >= 0 else None), price


def _first_prices(task: CoupledTask) -> NDArray[np.float64]:
    """Prices with which every limited sum weighs as much as the goal; negative where it must not be too small."""
    worth = max(1, row_reach(task.values[0]) + int(task.objective.price) * 8)
    sides = [1 if low is None else -1 for low in task.low]
    reach = [max(1, row_reach(each)) for each in task.values[1:]]
    return np.array([side * worth / each for side, each in zip(sides, reach, strict=True)], dtype=np.float64)


def _have_two_limits(task: CoupledTask) -> NDArray[np.bool_]:
    """The sums with a lower and an upper limit: which of them matters is seen when a tree breaks it."""
    limits = zip(task.low, task.high, strict=True)
    return np.array([low is not None and high is not None for low, high in limits], dtype=np.bool_)


def _next_prices(
    prices: NDArray[np.float64], side: NDArray[np.float64], pace: NDArray[np.float64], first: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Prices rise where a limit is broken (`side` is 1 above the upper one, -1 below the lower one) and fall elsewhere.

    A price of the wrong sign falls quickly, and turns when it is small.
    """
    risen = np.where(prices * side > 0, prices * pace**2, prices / pace**2)
    least = np.abs(first) * TURNING
    risen = np.where((prices * side > 0) | (np.abs(prices) > least), risen, side * least)
    highest = np.abs(first) * STEEPEST
    return np.clip(np.where(side == 0, prices / pace, risen), -highest, highest)


def relabeled(problem: Problem, tree: Node, deadline: Deadline) -> Node | None:
    """The tree with labels that meet the requirements, if small changes lead there in time.

    Labels are first those for the least quotient that single rows allow, if the goal is one, and then better ones.
    """
    best: Node | None = None
    value: tuple[Fraction, ...] = ()
    while True:
        other = _relabeled_beside(problem, tree, best, deadline)
        if other is None:
            return best
        reached = evaluate_goals(problem, other)
        if best is not None and reached >= value:
            return best
        best, value = other, reached
        if not problem.goals or _quotient_and_price(problem.goals[0])[0] is None:
            return best


def _relabeled_beside(problem: Problem, tree: Node, beside: Node | None, deadline: Deadline) -> Node | None:
    task = _surrogate(problem, beside)
    if task is None or task.excluded is not None:
        return None
    labels = Relabeling(task, Routed(problem, tree), deadline)
    for found in labels.repaired():
        candidate = labeled(tree, iter(found))
        if meets_all(problem, candidate):
            return candidate
    return None
