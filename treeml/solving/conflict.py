"""A problem that no tree solves -> a small set of its requirements that conflict."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic

from treeml.backends.contract import Deadline, Limits, Status
from treeml.backends.infeasibility import filtered, has_easy_tree, planned_answer, with_names
from treeml.problem.problem import Problem
from treeml.solving.choice import Chosen


def smallest_conflict(chosen: Chosen, limits: Limits, seconds: float) -> tuple[str, ...]:
    """Names of requirements that no tree meets together; needless ones are left out as far as the time permits."""
    names = _names(chosen.lowered.problem)
    if len(names) < 2:
        return tuple(names)
    deadline = Deadline(min(limits.deadline.at, monotonic() + seconds))
    return tuple(reduced_conflict(chosen, replace(limits, deadline=deadline), [])[0])


def reduced_conflict(chosen: Chosen, limits: Limits, start: list[str]) -> tuple[list[str], bool]:
    """The same, from names that are likely to conflict, and whether each of them is known to be needed."""
    backend, problem, quiet = chosen.plan.backend, chosen.lowered.problem, without_explanations(chosen, limits)

    def verdict(part: Problem, deadline: Deadline) -> Status:
        if has_easy_tree(part, problem.goals, deadline):
            return Status.OPTIMAL
        found = planned_answer(backend, part, replace(quiet, deadline=deadline))
        return Status.UNKNOWN if found is None else found.status

    if not start or verdict(with_names(problem, start), limits.deadline) is not Status.INFEASIBLE:
        start = _names(problem)
    return filtered(problem, start, limits, verdict)


def without_explanations(chosen: Chosen, limits: Limits) -> Limits:
    """The same limits for runs that serve an explanation: they explain nothing themselves and write no files."""
    known = chosen.plan.backend.options
    off = {"explain": False, "write": "", "proof": ""}
    return replace(limits, options={**limits.options, **{name: off[name] for name in off if name in known}})


def _names(problem: Problem) -> list[str]:
    return list(dict.fromkeys(bound.name for bound in problem.bounds))
