"""Problem with coupled requirements -> reasons why the coupled search cannot solve it, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from treeml.backends.contract import Refusal
from treeml.backends.native.coupled.task import read_coupled
from treeml.problem.problem import Problem
from treeml.problem.terms import Custom, Loss, TestCost

MOST_SUMS, MOST_CLASSES = 8, 32  # as in treeml/native/coupled/search.h
WHAT = {
    TestCost: "costs of tests",
    Loss: "a loss of numbers",
    Custom: "a function of the user",
}


def coupled_refusals(problem: Problem) -> Iterator[Refusal]:
    for goal in problem.goals:
        feature = f"the goal {goal.text}" if goal.text else "the goal"
        for _, term in goal.sum.parts:
            for kind, words in WHAT.items():
                if isinstance(term, kind):
                    yield Refusal(feature, f"native does not minimize {words} beside a requirement on all predictions")
                    return
    if problem.classes > MOST_CLASSES:
        yield Refusal(f"{problem.classes} classes", f"the coupled search of native takes up to {MOST_CLASSES} of them")
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
