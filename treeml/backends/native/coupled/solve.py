"""Problem with coupled requirements -> Answer: the coupled search, and what follows if memory ends it."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic

from treeml.backends.contract import Answer, Limits, OnProgress, Stop
from treeml.backends.native.coupled.handover import hand_over
from treeml.backends.native.coupled.run import CoupledRun
from treeml.problem.problem import Problem
from treeml.problem.tree import Node


def solve_coupled(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
    options = {name: value for name, value in limits.options.items() if name != "hand_over"}
    run = CoupledRun(problem, replace(limits, options=options), start, on_progress, monotonic())
    answer = run.answer()
    if answer.stop is Stop.MEMORY and limits.options.get("hand_over", True):
        return hand_over(problem, limits, answer, on_progress)
    return answer
