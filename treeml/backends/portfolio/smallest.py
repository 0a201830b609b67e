"""The goal depth or leaves, with limits on sums over rows -> smaller and smaller trees that keep the limits.

A limited sum takes the place of the goal, and a limit on depth or leaves that of what is minimized. Greedy trees of
more and more levels or leaves are grown until one keeps every limit; then smaller ones are looked for. Where none is
found, the next attempt asks for less and takes longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from treeml.backends.anytime import local_kernel
from treeml.backends.anytime.grown import grown_trees
from treeml.backends.anytime.search import DEEPEST, first_tree
from treeml.backends.contract import Deadline
from treeml.backends.heuristics.limited_sum import cut_back, minimized_shape, with_limited_sum_as_goal
from treeml.backends.portfolio.companion import Companion
from treeml.backends.portfolio.growing import offers_few_leaves
from treeml.backends.portfolio.simpler import is_searched, search_while
from treeml.problem.evaluate import Routed, is_answer
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Depth, Leaves, Sum

FIRST_SECONDS = 0.5  # for a smaller tree; longer each time there is none
LONGER = 1.5
FIRST_SHARE = 0.1  # of the leaves that a smaller tree does without; halved each time there is none


def offers_smaller_trees(company: Companion) -> bool:
    """Offers smaller and smaller trees until the run is over; False if there is none, or the goal is another."""
    problem = company.problem
    counted = minimized_shape(problem) if len(problem.goals) == 1 else None
    asked = None if counted is None else with_limited_sum_as_goal(problem)
    if counted is None:
        return False
    if asked is None:
        _offer_cut_trees(company)
        return False
    search = _Smaller(company, counted, asked)
    if not search.takes(1):
        return False
    search.grow()
    search.shrink()
    return company.tree is not None


def _offer_cut_trees(company: Companion) -> None:
    """Offers the first grown tree that meets requirements on single leaves, with leaves in the place of its parts."""
    problem = company.problem
    for tree in grown_trees(problem, company.is_over):
        if is_answer(problem, tree):
            company.offer(cut_back(tree, problem))
            return


@dataclass
class _Smaller:
    company: Companion
    counted: Depth | Leaves
    asked: Problem  # the stand-in

    def bounded(self, most: int) -> Problem:
        limit = Bound(Sum(((Fraction(1), self.counted),)), "<=", Fraction(most))
        return self.asked.asking(self.asked.goals, (*self.asked.bounds, limit))

    def takes(self, most: int) -> bool:
        return is_searched(self.bounded(most))

    def grow(self) -> None:
        """Offers greedy trees of more and more levels or leaves until one keeps every limit."""
        company, most = self.company, 1
        if isinstance(self.counted, Leaves):
            offers_few_leaves(company, self.asked)
        largest = min(company.problem.rows, DEEPEST) if isinstance(self.counted, Depth) else company.problem.rows
        while company.tree is None and most <= largest and not company.is_over():
            shaped = self.bounded(most)
            if not local_kernel.takes(shaped):
                self.search(most, FIRST_SECONDS)
            elif (tree := first_tree(shaped, company.limits.deadline)) is not None:
                company.offer(tree)
            most = most + 1 if isinstance(self.counted, Depth) else 2 * most

    def shrink(self) -> None:
        """Offers trees that are smaller than the best one, as long as there is time."""
        company, seconds, share = self.company, FIRST_SECONDS, FIRST_SHARE
        while company.tree is not None and not company.is_over():
            before, size = company.tree, int(self.counted.value(Routed(company.problem, company.tree)))
            if size <= 1:
                return  # single leaves and splits were grown before
            self.search(size - max(1, int(share * size)), seconds)
            if company.tree is before:
                seconds, share = LONGER * seconds, share / 2
            else:
                share = FIRST_SHARE

    def search(self, most: int, seconds: float) -> None:
        """Looks for a tree of this size until there is one, or the time is up."""
        company, before, asked = self.company, self.company.tree, self.bounded(most)
        until = Deadline.after(seconds)
        search_while(
            asked, company.offer, company, until, is_enough=lambda: company.tree is not before, heard=lambda: before
        )
