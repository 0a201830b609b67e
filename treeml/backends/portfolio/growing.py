"""Greedy trees of more and more leaves, labeled to suit the goal and the requirements: first trees for any classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from treeml.backends.anytime.grown import grown_trees
from treeml.backends.anytime.multipliers import guides, relabeled
from treeml.backends.contract import Deadline
from treeml.backends.equal_sides import without_idle_questions
from treeml.backends.heuristics.guides import guided
from treeml.backends.heuristics.impurity import evidence
from treeml.backends.heuristics.validated_pruning import smallest_cut
from treeml.backends.native.coupled.relabeling import labeled
from treeml.backends.portfolio.companion import Companion
from treeml.backends.portfolio.relaxed import fitted
from treeml.problem.evaluate import Routed, is_answer
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

SECONDS = 0.2  # for the labels of one tree
PATIENCE = 4  # trees that are not better than a smaller one, after which larger ones are not tried
ROUNDS = 3  # of trees for a quotient, each guided by the best tree before
MOST_THRESHOLDS = 12  # shares of a class from which on leaves predict it
FURTHER = 3  # trees that are cut back: the first one that meets the requirements, and larger ones


def offers_grown_trees(company: Companion, asked: Problem, offer: Callable[[Node], bool]) -> None:
    """Offers trees for a problem, larger and larger ones for as long as that helps; a quotient is guided by the best.

    `asked` may have fewer requirements than the whole problem: larger trees do not help with those that it lacks.
    """
    for guide in _guides(company, asked):
        idle = 0
        for tree in grown_trees(guide, company.is_over):
            others = [without_idle_questions(asked, other) for other in _labelings(asked, tree)]
            taken = [offer(other) for other in others]
            if any(taken):
                idle = 0
            elif idle or company.tree is not None or any(is_answer(asked, other) for other in others):
                idle += 1
            if idle == PATIENCE:
                break


def _guides(company: Companion, asked: Problem) -> Iterator[Problem]:
    """What trees are grown for: the goal, guided by the best tree if it is a quotient, then limited sums beside it."""
    guide = guided(asked)
    for _ in range(ROUNDS):
        before = company.tree
        yield guide
        if guide is asked or company.tree is None or company.tree is before:
            break
        guide = guided(asked, company.tree)
    yield from guides(asked)


def offers_few_leaves(company: Companion, asked: Problem) -> None:
    """Offers trees of few leaves that meet every requirement: grown as `asked` says, and cut back where that allows it.

    The goal of `asked` is what a requirement limits.
    """
    for guide in list(guides(company.problem)) or [asked]:
        _cut_back_to_few(company, guide)


def _cut_back_to_few(company: Companion, guide: Problem) -> None:
    problem, further = company.problem, 0

    def enough(tree: Node) -> Node | None:
        other = without_idle_questions(problem, tree)
        return other if is_answer(problem, other) else fitted(problem, other)

    for tree in grown_trees(guide, company.is_over):
        if not further:
            for other in _labelings(problem, tree):
                company.offer(without_idle_questions(problem, other))
            if enough(tree) is None:
                continue
        smaller = smallest_cut(tree, guide, lambda cut: enough(cut) is not None)
        found = None if smaller is None else enough(smaller)
        if found is not None:
            company.offer(found)
        further += 1
        if further == FURTHER:
            return


def _labelings(problem: Problem, tree: Node) -> Iterator[Node]:
    """The tree as it grew, and with other labels: those that meet the requirements at the least cost that was found.

    Where that cost is no sum, leaves predict a class if its share there is above a threshold.
    """
    other = relabeled(problem, tree, Deadline.after(SECONDS)) if problem.classes else None
    if other is not None:
        yield other
    yield tree
    if other is None and problem.classes == 2:
        yield from _by_thresholds(problem, tree)


def _by_thresholds(problem: Problem, tree: Node) -> Iterator[Node]:
    known = evidence(guided(problem))
    if known is None or known.classes is None:
        return
    weights = np.array([known.classes[rows].sum(axis=0) for _, _, rows in Routed(problem, tree).leaves])
    order = np.argsort(weights[:, 1] / np.maximum(weights.sum(axis=1), 1e-300), kind="stable")
    for first in np.unique(np.linspace(0, len(order), MOST_THRESHOLDS).astype(np.intp)):
        labels = np.zeros(len(order), dtype=np.intp)
        labels[order[first:]] = 1
        yield labeled(tree, iter(labels))
