"""Requirements that couple the leaves -> trees that meet them, by prices on what the requirements limit.

With a price on every limited sum (a Lagrange multiplier) the problem is additive, and trees for it are found quickly.
Prices rise where a requirement is broken and fall where there is room. The leaves of every tree are then labeled again,
so that the requirements are met at the least cost that single changes reach. A quotient is minimized as in Dinkelbach
(1967): as a difference, at the best quotient so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from treeml.backends.anytime import local_kernel
from treeml.backends.anytime.search import Anytime
from treeml.backends.contract import Deadline
from treeml.backends.native.coupled.requirements import limits_predictions
from treeml.backends.native.coupled.task import CoupledTask, read_coupled
from treeml.problem.evaluate import Routed, meets_all
from treeml.problem.magnitudes import row_reach
from treeml.problem.problem import Goal, Problem
from treeml.problem.quotient import Quotient, quotient_of
from treeml.problem.terms import Leaves, Predicted, Sum
from treeml.problem.tree import Leaf, Node, Split

STEPS = 4096  # prices are multiples of 1 / STEPS of the goal's unit
RISE, FALL = 1.6, 1.25  # factors of a price
FIRST_SECONDS = 0.2  # for one set of prices; more each time round
ROUND = 12  # sets of prices between two beginnings
SAFE = 2**50
NEVER = Deadline()

Labels = NDArray[np.intp]


def takes(problem: Problem) -> bool:
    """Is the first goal a sum or a quotient, and does every other requirement hold in every part?"""
    if not problem.classes or not problem.rows or not local_kernel.takes(_free(problem, _one(problem))):
        return False
    return _surrogate(problem) is not None


@dataclass(eq=False)
class Multipliers:
    """The search; `offer` takes a tree and says whether it is better than all before."""

    problem: Problem
    offer: Callable[[Node], bool]
    is_over: Callable[[], bool]
    interrupts: list[Callable[[], None]]
    seed: int = 0
    quotient: Fraction | None = None  # the least so far, if the goal is one

    def rounds(self, deadline: Deadline) -> Iterator[bool]:
        """Searches until the time is up; after every round of prices: was a tree better than all before?"""
        random = np.random.default_rng(self.seed)
        seconds, number = FIRST_SECONDS, 0
        best: NDArray[np.float64] | None = None
        while True:
            task = _surrogate(self.problem, self.quotient)
            if task is None:
                return
            prices = _first_prices(task) if best is None else best * np.exp(random.normal(0, 0.5, len(best)))
            has_better = False
            for _ in range(ROUND):
                if deadline.passed or self.is_over():
                    return
                number += 1
                sums, is_better = self.try_prices(task, prices, seconds, number, deadline)
                if is_better:
                    best, has_better = prices.copy(), True
                prices = prices * np.where(_broken(task, sums) > 0, RISE, 1 / FALL)
            seconds *= 1.5
            yield has_better

    def try_prices(
        self, task: CoupledTask, prices: NDArray[np.float64], seconds: float, number: int, deadline: Deadline
    ) -> tuple[NDArray[np.int64], bool]:
        """The limited sums of the tree for these prices before repair; was a tree better than all before?"""
        whole = np.clip(np.rint(prices * STEPS), -SAFE, SAFE).astype(np.int64)
        cost = task.values[0] * STEPS
        sums = np.zeros(task.sums, dtype=np.int64)
        for each, price, low in zip(task.values[1:], whole, task.low, strict=True):
            cost = cost + (each * price if low is None else -each * price)
        price = int(task.objective.price) * STEPS
        if row_reach(cost) + price * self.problem.rows > 2**57:
            return sums, False
        shaped = _free(self.problem, _goal(cost, price))
        is_better = False

        def offered(tree: Node) -> None:
            nonlocal is_better, sums
            routed = Routed(self.problem, tree)
            found = _Relabeling(task, routed)
            sums = found.sums
            for labels in found.repaired():
                relabeled = _labeled(tree, iter(labels))
                if self.offer(relabeled):
                    is_better = True
                    self.note(relabeled)

        search = Anytime(shaped, offered, self.is_over, self.seed + number)
        self.interrupts.append(search.kernel.interrupt)
        search.run(Deadline(min(deadline.at, Deadline.after(seconds).at)))
        self.interrupts.pop()
        return sums, is_better

    def note(self, tree: Node) -> None:
        quotient = quotient_of(self.problem.goals[0]) if self.problem.goals else None
        if quotient is not None:
            self.quotient = quotient.of(Routed(self.problem, tree))


def _one(problem: Problem) -> Goal:
    return _goal(np.ones((problem.rows, problem.classes), dtype=np.int64), 1)


def _goal(cost: NDArray[np.int64], price: int) -> Goal:
    parts = ((Fraction(1), Predicted(cost)), (Fraction(price), Leaves()))
    return Goal(Sum(parts if price else parts[:1]))


def _free(problem: Problem, goal: Goal) -> Problem:
    """The problem with this goal, without its limits on predictions."""
    return problem.asking((goal,), tuple(bound for bound in problem.bounds if not limits_predictions(bound)))


def _surrogate(problem: Problem, at: Fraction | None = None) -> CoupledTask | None:
    """The problem with a plain first goal, in whole numbers; None if it has another kind of goal or numbers."""
    goals = problem.goals
    if goals:
        quotient: Quotient | None = quotient_of(goals[0])
        if quotient is not None:
            goals = (Goal(quotient.against(quotient.least if at is None else at)),)
        elif any(goal.sum.kinds() - {"Predicted", "Leaves"} for goal in goals):
            return None
    try:
        task = read_coupled(problem.asking(goals, problem.bounds))
    except OverflowError:
        return None
    return None if task.objective.price < 0 else task  # a search for trees takes prices of leaves that are not negative


def _first_prices(task: CoupledTask) -> NDArray[np.float64]:
    """Prices with which every limited sum weighs as much as the goal."""
    worth = max(1, row_reach(task.values[0]) + int(task.objective.price) * 8)
    return np.array([worth / max(1, row_reach(each)) for each in task.values[1:]], dtype=np.float64)


def _broken(task: CoupledTask, sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """By how much each sum is beyond its limits."""
    return np.array(
        [
            max(0, 0 if low is None else low - int(value), 0 if high is None else int(value) - high)
            for value, low, high in zip(sums, task.low, task.high, strict=True)
        ],
        dtype=np.int64,
    )


def relabeled(problem: Problem, tree: Node, deadline: Deadline) -> Node | None:
    """The tree with labels that meet the requirements on predictions, if single changes lead there in time."""
    task = _surrogate(problem)
    if task is None or task.excluded is not None:
        return None
    labels = _Relabeling(task, Routed(problem, tree), deadline)
    for found in labels.repaired():
        candidate = _labeled(tree, iter(found))
        if meets_all(problem, candidate):
            return candidate
    return None


class _Relabeling:
    """The leaves of a tree, with what every label costs and adds to the limited sums."""

    def __init__(self, task: CoupledTask, routed: Routed, deadline: Deadline = NEVER) -> None:
        self.task, self.deadline = task, deadline
        leaves = routed.leaves
        self.values = np.stack([task.values[:, rows].sum(axis=1) for _, _, rows in leaves])  # leaves x sums x classes
        self.labels: Labels = np.array([leaf.label for leaf, _, _ in leaves], dtype=np.intp)
        self.scale = np.array([max(1, row_reach(each)) for each in task.values[1:]], dtype=np.float64)
        self.sums = self.totals(self.labels)[1:]

    def totals(self, labels: Labels) -> NDArray[np.int64]:
        return np.asarray(self.values[np.arange(len(labels)), :, labels].sum(axis=0))

    def violation(self, totals: NDArray[np.int64]) -> float:
        return float((_broken(self.task, totals[1:]) / self.scale).sum()) if self.task.sums else 0.0

    def repaired(self) -> Iterator[Labels]:
        """Labels that meet the requirements, from those of the tree and from those that cost least."""
        for start in (self.labels, self.values[:, 0, :].argmin(axis=1)):
            labels = self.met(start.copy())
            if labels is not None:
                yield self.cheaper(labels)

    def met(self, labels: Labels) -> Labels | None:
        """Changes one label at a time, at the least cost for what it mends, until nothing is broken."""
        broken = self.violation(self.totals(labels))
        while broken > 0:
            best: tuple[float, float, int, int] | None = None
            for leaf, label, totals in self.changes(labels):
                left = self.violation(totals)
                if left < broken:
                    extra = float(self.values[leaf, 0, label] - self.values[leaf, 0, labels[leaf]])
                    ratio = extra / (broken - left) if extra > 0 else extra
                    if best is None or ratio < best[0]:
                        best = (ratio, left, leaf, label)
            if best is None or self.deadline.passed:
                return None
            _, broken, leaf, label = best
            labels[leaf] = label
        return labels

    def cheaper(self, labels: Labels) -> Labels:
        """Changes labels while that costs less and breaks nothing."""
        while True:
            now = self.totals(labels)[0]
            found = [
                (int(totals[0]), leaf, label)
                for leaf, label, totals in self.changes(labels)
                if totals[0] < now and not self.violation(totals)
            ]
            if not found or self.deadline.passed:
                return labels
            _, leaf, label = min(found)
            labels[leaf] = label

    def changes(self, labels: Labels) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
        """Every single change of a label, and all sums after it."""
        now = self.totals(labels)
        for leaf in range(len(labels)):
            rest = now - self.values[leaf, :, labels[leaf]]
            for label in range(self.values.shape[2]):
                if label != labels[leaf]:
                    yield leaf, label, rest + self.values[leaf, :, label]


def _labeled(node: Node, labels: Iterator[np.intp]) -> Node:
    """The tree with other labels, in the order of `Routed.leaves`."""
    if isinstance(node, Leaf):
        return Leaf(int(next(labels)))
    yes = _labeled(node.yes, labels)
    return Split(node.test, yes, _labeled(node.no, labels))
