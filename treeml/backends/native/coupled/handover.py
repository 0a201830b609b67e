"""An answer that memory cut short -> the answer of the next back-end, which goes on from its tree and bound."""

from __future__ import annotations

from dataclasses import replace

from treeml.backends import registry
from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Limits, OnProgress
from treeml.problem.problem import Problem

OWN = "native"
SHORT = 0.2  # seconds; with less time left no other back-end is asked


def hand_over(problem: Problem, limits: Limits, answer: Answer, on_progress: OnProgress | None) -> Answer:
    """The combined answer; the given one, with a note, if no other back-end can go on or the time is up."""
    # imported here: a plan imports every back-end by name
    from treeml.backends.continuation import continued
    from treeml.backends.planning.plan import Plan, plan

    if limits.deadline.left() < SHORT:
        return answer
    for other in registry.automatic():
        if other.name == OWN or not other.can.proves or other.can.runs_others:
            continue
        planned = plan(problem, other)
        if isinstance(planned, Plan):
            rest = continued(planned, replace(limits, options={}), answer, on_progress)
            return _joined(answer, rest, other.name)
    note = f"{OWN} stopped at its limit on memory, and no other back-end takes this problem"
    return replace(answer, notes=(*answer.notes, note))


def _joined(answer: Answer, rest: Answer, name: str) -> Answer:
    note = f"{OWN} stopped at its limit on memory, and {name} went on from its tree and bound"
    return replace(
        rest,
        trace=(*answer.trace, *rest.trace),
        statistics={**answer.statistics, **rest.statistics},
        notes=(*answer.notes, note, *rest.notes),
        evidence=tuple(Evidence("handed over", name, (each,)) for each in rest.evidence),
    )
