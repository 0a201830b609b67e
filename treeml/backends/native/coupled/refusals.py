"""Problem with coupled requirements -> reasons why the coupled search cannot solve it, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from treeml.backends.contract import Refusal
from treeml.backends.native.coupled.conditions import condition_refusals
from treeml.backends.native.coupled.requirements import limits_predictions
from treeml.backends.native.coupled.task import MOST, read_coupled
from treeml.problem.problem import Problem
from treeml.problem.terms import Custom, Loss, Predicted

MOST_SUMS, MOST_CLASSES = 60, 32  # as in treeml/native/coupled/search.h
WITH_CONDITIONS = frozenset({"TestCost", "DiscountedTestCost", "Purity", "LeafErrors"})  # have numbers of their own
WHAT = {
    Loss: "a loss of numbers",
    Custom: "a function of the user",
}


def coupled_refusals(problem: Problem) -> Iterator[Refusal]:
    for goal in problem.goals:
        feature = f"the goal {goal.text}" if goal.text else "the goal"
        for _, term in goal.sum.parts:
            for kind, words in WHAT.items():
                if isinstance(term, kind):
                    beside = "beside a requirement that couples the leaves"
                    yield Refusal(feature, f"native does not minimize {words} {beside}")
                    return
    if not problem.classes:
        yield Refusal("a limit on the costs of tests", "the coupled search of native needs classes to predict")
        return
    found = list(condition_refusals(problem))
    if found:
        yield from found
        return
    if problem.classes > MOST_CLASSES:
        yield Refusal(f"{problem.classes} classes", f"the coupled search of native takes up to {MOST_CLASSES} of them")
        return
    if _surely_fits(problem):
        return
    try:
        sums = read_coupled(problem).sums
    except OverflowError as error:
        yield Refusal("the size of the numbers", str(error), "round the weights or costs to fewer digits")
        return
    if sums > MOST_SUMS:
        yield Refusal(
            f"{sums} limited sums over the predictions",
            f"the coupled search of native takes up to {MOST_SUMS} of them",
            "join small groups in a new column, and compare those",
        )


def _surely_fits(problem: Problem) -> bool:
    """Is it plain from the largest numbers alone that the search takes all sums? Reading the task costs more."""
    if any(bound.sum.kinds() & WITH_CONDITIONS for bound in problem.bounds):
        return False
    terms = [bound.sum.parts[0][1] for bound in problem.bounds if limits_predictions(bound)]
    if len(terms) > MOST_SUMS or len(problem.goals) > 1:
        return False
    whole = 1
    for goal in problem.goals:
        if len(goal.sum.parts) != 1:
            return False
        factor, term = goal.sum.parts[0]
        if not isinstance(term, Predicted):
            return False
        whole = abs((factor * term.scale).numerator)
        terms.append(term)
    most = max([term.largest for term in terms if isinstance(term, Predicted)], default=0)
    return 2 * whole * most * problem.rows <= MOST
