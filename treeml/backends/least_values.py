"""Answer without a proof -> the same, proved if its values are the least that the goals can have.

A run that was stopped may have reached all that there is: no errors, a single leaf, a depth of 0. With several goals
each is looked at in turn: it is at its best if the bound of the answer says so, or what is known without a search.
"""

from __future__ import annotations

from dataclasses import replace

from treeml.backends.claims import BOUND, Evidence, combined, supporting
from treeml.backends.contract import Answer, Status, Stop
from treeml.problem.problem import Problem

ROW_BY_ROW = Evidence("bound meets tree", "", (Evidence("row by row"),))


def proved_by_least_values(problem: Problem, answer: Answer) -> Answer:
    if answer.status is not Status.FEASIBLE or not answer.objective or answer.tolerance:
        return answer
    bounded = -1 if answer.bound is None else answer.bounded_goal or 0
    proofs = [] if bounded < 0 else list(combined("bound meets tree", supporting(answer.evidence, BOUND)))
    for number, (goal, value) in enumerate(zip(problem.goals, answer.objective, strict=True)):
        if number < bounded or (number == bounded and value == answer.bound and proofs):
            continue  # goals before the one that is bounded are proved
        least = goal.sum.lower_bound(problem, row_by_row=True)
        if least is None or value != least:
            return answer
        proofs.append(ROW_BY_ROW)
    return replace(
        answer,
        status=Status.OPTIMAL,
        stop=Stop.PROVED,
        bound=answer.objective[-1],
        bounded_goal=None,
        evidence=combined("goals in turn", proofs) if len(problem.goals) > 1 else tuple(proofs),
    )
