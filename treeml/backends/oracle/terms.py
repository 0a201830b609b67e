"""Problem -> the recurrences of its terms.

The recurrences themselves are in the files of the terms. They deliberately differ from the code that verifies answers:
the oracle and the verifier are two readings of the same definitions, and tests compare them.
"""

from __future__ import annotations

from treeml.problem.problem import Problem
from treeml.problem.terms import Composite, Recurrence, Sum, Term


def recurrences_of(problem: Problem, groups: list[list[int]]) -> list[Recurrence]:
    """One for every term of the goals and bounds, with the direction in which a change of its value never harms."""
    made = []
    for term, directions in _watched(problem).values():
        kind = term.recurrence()
        better = directions.pop() if len(directions) == 1 and kind.is_ordered else "same"
        made.append(kind(term, problem, groups, better))
    return made


def sums_over_leaves(problem: Problem) -> int:
    """How many different sums over leaves matter; a sum and its opposite count once."""
    names = {term.recurrence().watched(term) for term, _ in _watched(problem).values()}
    return len(names - {None})


def _watched(problem: Problem) -> dict[int, tuple[Term, set[str]]]:
    """Every term of the goals and bounds once, including those inside others, with the directions that help."""
    found: dict[int, tuple[Term, set[str]]] = {}
    for goal in problem.goals:
        _directions(goal.sum, 1, found)
    for bound in problem.bounds:
        for sign in {"<=": (1,), ">=": (-1,), "=": (1, -1)}[bound.sense]:
            _directions(bound.sum, sign, found)
    return found


def _directions(total: Sum, sign: int, found: dict[int, tuple[Term, set[str]]]) -> None:
    """`sign` is 1 where less of the sum helps, and -1 where more of it does."""
    for factor, term in total.parts:
        if isinstance(term, Composite):
            own = 1 if sign * factor >= 0 else -1
            for part in term.sums:
                for each in (own,) if term.rises_with_sums else (1, -1):
                    _directions(part, each, found)
        else:
            helps = "less" if sign * factor * term.recurrence().scale(term) >= 0 else "more"
            found.setdefault(id(term), (term, set()))[1].add(helps)
