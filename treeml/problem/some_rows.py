"""Problem, rows -> the same tests, goals and bounds on these rows alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from treeml.problem.problem import Problem
from treeml.problem.terms import Sum
from treeml.problem.terms.base import Part

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def on_rows(problem: Problem, rows: NDArray[np.intp]) -> Problem:
    import numpy as np  # imported here: start-up time

    part = Part(rows)

    def restricted(total: Sum) -> Sum:
        return total.changed(lambda term: term.restricted(part))

    return Problem(
        tuple(
            each if each.codes is None else replace(each, codes=np.ascontiguousarray(each.codes[rows]))
            for each in problem.features
        ),
        problem.tests,
        problem.count[rows],
        problem.classes,
        tuple(replace(goal, sum=restricted(goal.sum)) for goal in problem.goals),
        tuple(replace(bound, sum=restricted(bound.sum)) for bound in problem.bounds),
        None if problem.given_bits is None else np.ascontiguousarray(problem.given_bits[:, rows]),
    )
