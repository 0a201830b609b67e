"""Problem with coupled requirements -> reasons why the coupled search cannot solve it, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from treeml.backends.contract import Refusal
from treeml.backends.native.coupled.task import read_coupled
from treeml.problem.problem import Problem
from treeml.problem.terms import Custom, Loss, TestCost

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
    try:
        read_coupled(problem)
    except OverflowError as error:
        yield Refusal("the size of the numbers", str(error), "round the weights or costs to fewer digits")
