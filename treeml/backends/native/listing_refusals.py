"""Problem -> reasons why its trees cannot be listed, in sentences; and which of its requirements couple the leaves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treeml.backends.contract import Refusal
from treeml.backends.native.coupled.task import limited_sums
from treeml.backends.native.goals import at_most, kind, scaled_cost
from treeml.backends.native.listing_units import ListingUnits
from treeml.backends.native.refusals import refusals as solver_refusals
from treeml.problem.fans import has_fans
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Predicted

MOST_BITS = 2**31  # tests times rows
MOST_CLASSES, MOST_SUMS = 64, 16  # beside requirements that couple the leaves
GOALS = frozenset({"Predicted", "Leaves", "TestCost", "Loss", "Custom"})
BOUNDS = frozenset({"Depth", "Leaves", "Support", "Purity", "LeafErrors", "Predicted", "Used"})


def listing_refusals(problem: Problem, style: str = "") -> Iterator[Refusal]:
    """Why the trees of a problem cannot be listed, in sentences."""
    found = [*_goal_refusals(problem), *_bound_refusals(problem, style)]
    if has_fans(problem):
        instead = "split by levels or by subsets"
        found.append(Refusal("a column split by branches", "trees are listed over yes-or-no tests", instead))
    if not found:
        found = [*_size_refusals(problem)]
    yield from found
    if not found:
        yield from solver_refusals(problem.asking(problem.goals, _without(problem, predicted_bounds(problem))))
    if problem.given_bits is None and len(problem.tests) * problem.rows > MOST_BITS:
        yield Refusal("the size", "the answers to all tests do not fit in memory", "take fewer cuts")


def _goal_refusals(problem: Problem) -> Iterator[Refusal]:
    if len(problem.goals) > 1 and any({"Loss", "Custom"} & goal.sum.kinds() for goal in problem.goals):
        instead = "leave out the other goals; a small price on leaves puts small trees first: `+ 0.001 * leaves`"
        yield Refusal("several goals", "trees are listed by a loss of numbers alone", instead)
    for goal in problem.goals:
        for name in sorted(goal.sum.kinds() - GOALS):
            yield Refusal(f"the goal {goal.text}", f"trees are listed by goals that add up over leaves, not by {name}")
    predicts = any("Predicted" in goal.sum.kinds() for goal in problem.goals) or coupling_bounds(problem)
    if problem.classes and not predicts:
        yield Refusal(
            "the goal",
            "`list` needs a goal that depends on predictions: otherwise any class would do in any leaf",
            "add a second goal: `then minimize errors`",
        )


def _bound_refusals(problem: Problem, style: str) -> Iterator[Refusal]:
    for bound in problem.bounds:
        feature = f"the requirement {bound.name}" if bound.name else "a requirement"
        instead = "list the trees without it, and keep those that meet it: trees.where(...)"
        if len(bound.sum.parts) != 1 or not bound.sum.kinds() <= BOUNDS:
            names = ", ".join(sorted(bound.sum.kinds()))
            because = (
                f"`list` cannot bound {names}: a requirement has to hold leaf by leaf, or to limit the size or a sum "
                "over the predictions"
            )
            yield Refusal(feature, because, instead)
        elif kind(bound) is Predicted and style and not is_goal(problem, bound):
            yield Refusal(
                feature, f"{style} knows no requirement on all predictions, so there is no such count", instead
            )


def _size_refusals(problem: Problem) -> Iterator[Refusal]:
    """What the kernel does not take of losses, and of requirements that couple the leaves."""
    if any("Loss" in goal.sum.kinds() for goal in problem.goals):
        try:
            ListingUnits(problem)
        except OverflowError as error:
            yield Refusal("the size of the numbers", str(error), "round the numbers or weights to fewer digits")
    coupling = coupling_bounds(problem)
    if not coupling:
        return
    if problem.classes > MOST_CLASSES:
        because = f"beside a requirement on all predictions, `list` takes up to {MOST_CLASSES} of them"
        yield Refusal(f"{problem.classes} classes", because)
    try:
        sums = len(limited_sums(coupling)[0])
    except OverflowError as error:
        yield Refusal("the size of the numbers", str(error), "round the weights or costs to fewer digits")
        return
    if sums > MOST_SUMS:
        because = f"`list` takes up to {MOST_SUMS} of them"
        instead = "join small groups in a new column, and compare those"
        yield Refusal(f"{sums} limited sums over the predictions", because, instead)


def is_goal(problem: Problem, bound: Bound) -> bool:
    """Is the bounded sum, from above, a positive multiple of the only goal?"""
    goal = problem.goals[0].sum if len(problem.goals) == 1 else None
    if goal is None or goal.kinds() != {"Predicted"} or bound.sense == "=":
        return False
    theirs, mine = scaled_cost(goal), at_most(bound)
    assert theirs is not None
    return mine[0] * theirs[0] > 0 and np.array_equal(mine[1], theirs[1])


def predicted_bounds(problem: Problem) -> list[Bound]:
    return [bound for bound in problem.bounds if kind(bound) is Predicted]


def coupling_bounds(problem: Problem) -> list[Bound]:
    """The bounds on sums over the predictions that are not bounds on the goal."""
    return [bound for bound in predicted_bounds(problem) if not is_goal(problem, bound)]


def _without(problem: Problem, bounds: list[Bound]) -> tuple[Bound, ...]:
    return tuple(bound for bound in problem.bounds if not any(bound is other for other in bounds))
