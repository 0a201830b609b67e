"""Specification, data -> why no tree exists: the requirements that conflict, and how far one would have to give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor
from shlex import quote
from time import monotonic
from typing import Any

from treeml.backends.contract import Deadline, Limits, Status
from treeml.backends.infeasibility import NearestLimits, RequiredSum, planned_answer, shared_time
from treeml.backends.infeasibility import nearest as nearest_values
from treeml.lang.diagnostic import Diagnostic, RefusedError, SpecError
from treeml.lang.measures import MEASURES
from treeml.lang.numerals import readable
from treeml.lang.spec import Requirement
from treeml.lang.statements import Statements
from treeml.lang.suggest import did_you_mean
from treeml.measures.lower import lower_linear, lower_requirement, row_limit
from treeml.problem.problem import Bound
from treeml.solving.choice import Chosen, lower, plan
from treeml.solving.conflict import reduced_conflict, without_explanations
from treeml.solving.feasibility import impossible
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions
from treeml.solving.pipeline import prepare
from treeml.solving.request import Request
from treeml.solving.result import plain

BESIDE = "a limit beside the one asked for"
WORDS = {Status.INFEASIBLE: "infeasible", Status.OPTIMAL: "feasible", Status.UNKNOWN: "unknown"}


@dataclass(frozen=True, slots=True)
class Why:
    """Why no tree exists.

    >>> print(model.why("heart.csv"))

    `status` is INFEASIBLE if the requirements in `conflict` cannot be met together, OPTIMAL if a tree exists, and
    UNKNOWN otherwise.
    """

    status: Status
    backend: str
    conflict: tuple[Requirement, ...] = ()
    others: tuple[Requirement, ...] = ()
    is_minimal: bool = False  # each requirement in `conflict` is known to be needed for it
    nearest: Mapping[str, tuple[Fraction, ...] | None] = field(default_factory=dict)
    narrowed: Mapping[str, NearestLimits] = field(default_factory=dict)  # where `nearest` is None: what is known
    because: Diagnostic | None = None  # if the rows alone show the conflict
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The answer as one object for JSON.

        >>> json.dumps(model.why("heart.csv").to_json())
        """
        found = {
            name: None if values is None else [{"value": plain(v), "exact": str(v)} for v in values]
            for name, values in self.nearest.items()
        }
        return {
            "status": WORDS[self.status],
            "backend": self.backend,
            "conflict": [_as_json(requirement) for requirement in self.conflict],
            "minimal": self.is_minimal,
            "others": [_as_json(requirement) for requirement in self.others],
            "nearest": found,
            "narrowed": {
                name: {part: None if v is None else plain(v) for part, v in (("met", each.met), ("bound", each.bound))}
                for name, each in self.narrowed.items()
            },
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        if self.status is Status.OPTIMAL:
            return f"there is a tree that meets every requirement, found by {self.backend}: nothing conflicts"
        if self.status is Status.UNKNOWN:
            return f"not known: {self.backend} neither found a tree nor proved that there is none"
        one = len(self.conflict) == 1
        what = "this requirement" if one else "these requirements together"
        lines = [f"no tree meets {what}, proved by {self.backend}", ""]
        lines += [f"    require {_written(requirement)}" for requirement in self.conflict]
        lines.append("")
        if not one:
            all_needed = "without any one of them there is a tree"
            lines.append(all_needed if self.is_minimal else "some of them may not be needed for the conflict")
        if self.others:
            lines.append("no part is played by " + ", ".join(f"`{_written(other)}`" for other in self.others))
        asked = [r for r in (*self.conflict, *self.others) if r.name in self.nearest]
        lines += [_near(r, self.narrowed.get(r.name, NearestLimits(self.nearest[r.name]))) for r in asked]
        return "\n".join(lines).rstrip()


def why(
    model: Statements,
    data: Any = None,
    y: Any = None,
    options: RunOptions = DEFAULT_OPTIONS,
    nearest: Sequence[str] = (),
) -> Why:
    """Why no tree exists, if none does; for the requirements in `nearest`, the nearest values at which one exists."""
    begun = monotonic()
    dataset, request = prepare(model, data, y, options)
    chosen = plan(lower(dataset, request), request, may_prove_nothing=False)
    backend, problem = chosen.plan.backend, chosen.lowered.problem
    asked = _requirements_of(nearest, request)
    if not backend.can.proves:
        raise RefusedError(_proves_nothing(backend.name))
    limits = request.limits(begun, chosen.method)
    answer = planned_answer(backend, problem.asking((), problem.bounds), limits)
    if answer is None or answer.status is not Status.INFEASIBLE:
        known = Status.OPTIMAL if answer is not None and answer.tree is not None else Status.UNKNOWN
        return Why(known, backend.name, seconds=monotonic() - begun)
    ruled_out = impossible(chosen.lowered)
    likely = [ruled_out.name] if ruled_out is not None else list(answer.conflict)
    # Half of the time for the conflict: what is asked besides comes after it.
    first = replace(limits, deadline=Deadline.after(limits.deadline.left() / 2)) if asked else limits
    left, is_minimal = reduced_conflict(chosen, first, likely)
    requirements = request.spec.requirements
    near = _nearest_of_all(chosen, asked, without_explanations(chosen, limits))
    return Why(
        Status.INFEASIBLE,
        backend.name,
        tuple(r for r in requirements if r.name in left),
        tuple(r for r in requirements if r.name not in left),
        is_minimal,
        {name: each.values for name, each in near.items()},
        {name: each for name, each in near.items() if each.values is None},
        None if ruled_out is None else ruled_out.diagnostic,
        monotonic() - begun,
    )


def _nearest_of_all(chosen: Chosen, asked: Sequence[Requirement], limits: Limits) -> dict[str, NearestLimits]:
    by_name = {requirement.name: requirement for requirement in asked}
    questions = shared_time(chosen.lowered.problem, list(by_name), limits)
    found = {name: _nearest(chosen, by_name[name], replace(limits, deadline=due)) for name, due in questions}
    return {name: found[name] for name in by_name}


def _nearest(chosen: Chosen, requirement: Requirement, limits: Limits) -> NearestLimits:
    dataset, problem = chosen.lowered.dataset, chosen.lowered.problem
    if any(MEASURES[use.measure].unit == "truth" for _, use in requirement.expression.parts):
        return NearestLimits(None)

    def bounds_at(sense: str, limit: Fraction) -> tuple[Bound, ...]:
        other = replace(requirement, sense=sense, limit=limit, share_of_rows=False, name=BESIDE)
        return tuple(lower_requirement(other, dataset, problem.features))

    quantity = RequiredSum(
        lower_linear(requirement.expression, dataset, problem.features),
        requirement.sense,
        row_limit(requirement, dataset.rows),
        bounds_at,
    )
    return nearest_values(chosen.plan.backend, problem, requirement.name or requirement.text, quantity, limits)


def _requirements_of(names: Sequence[str], request: Request) -> list[Requirement]:
    """Requirements by their name, by their text, or by a measure that no other requirement has."""
    known = request.spec.requirements
    found: list[Requirement] = []
    mistakes = []
    for name in names:
        meant = [each for each in known if name in (each.name, each.text)]
        meant = meant or [each for each in known if name in _measures(each)]
        if len(meant) == 1:
            found += meant
        else:
            mistakes.append(_several(name, meant) if meant else _unknown(name, known))
    if mistakes:
        raise SpecError(mistakes)
    return list({id(requirement): requirement for requirement in found}.values())


def _measures(requirement: Requirement) -> set[str]:
    return {text for _, use in requirement.expression.parts for text in (use.measure, use.text) if text}


def _proves_nothing(backend: str) -> Diagnostic:
    return Diagnostic(
        "B501",
        f"{backend} cannot say why: it proves nothing",
        helps=("ask another: `treeml explain --why spec.tml --with cpsat`",),
    )


def _several(name: str, meant: Sequence[Requirement]) -> Diagnostic:
    return Diagnostic(
        "N214",
        f"{len(meant)} requirements speak of `{name}`",
        notes=("they are " + ", ".join(f"`{each.name}`" for each in meant),),
        helps=tuple(f"write --nearest {quote(each.name)}" for each in meant[:1]),
        place="--nearest",
    )


def _unknown(name: str, known: Sequence[Requirement]) -> Diagnostic:
    names = [each.name for each in known]
    words = [*names, *(measure for each in known for measure in sorted(_measures(each)))]
    return Diagnostic(
        "N213",
        f"no requirement is called `{name}`",
        notes=("the requirements are " + (", ".join(f"`{each}`" for each in names) or "none"),),
        helps=did_you_mean(name, words),
        place="--nearest",
    )


def _written(requirement: Requirement) -> str:
    given = requirement.name and requirement.name != requirement.text
    return f"{requirement.name}: {requirement.text}" if given else requirement.text or requirement.name


def _as_json(requirement: Requirement) -> dict[str, Any]:
    span = requirement.span
    line = None if span is None else span.source.position(span.start)[0]
    return {"name": requirement.name, "text": requirement.text, "line": line}


def _near(requirement: Requirement, found: NearestLimits) -> str:
    head = f"nearest   `{_written(requirement)}`"
    values, rows = found.values, " rows" if requirement.share_of_rows else ""
    if values is None:
        known = []
        if found.met is not None:
            known.append(f"{requirement.sense} {_safe(found.met, requirement.sense)}{rows} can be met")
        if found.bound is not None:
            side = "below" if requirement.sense == "<=" else "above"
            known.append(f"nothing {side} {_safe(found.bound, requirement.sense)}{rows} can be met")
        if known:
            return f"{head}: not known exactly, time did not suffice; {', and '.join(known)}"
        return f"{head}: not known; time did not suffice, or it has no next value"
    if not values:
        return f"{head}: no value helps, the others conflict without it"
    said = " or ".join(f"{requirement.sense} {_safe(value, requirement.sense)}{rows}" for value in values)
    return f"{head} could be {said}, the others kept"


def _safe(value: Fraction, sense: str) -> str:
    """A number to type in: rounded to the side that can be met, with the exact value if that differs."""
    steps = value * 10**6
    if steps.denominator == 1:
        return readable(value)
    rounded = Fraction(floor(steps) if sense == ">=" else ceil(steps), 10**6)
    return f"{readable(rounded)} (exactly {value})"
