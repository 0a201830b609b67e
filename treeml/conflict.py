"""A spec that no tree meets -> the requirements that conflict, and how far one of them would have to give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fractions import Fraction
from math import ceil, floor
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Limits, Problem, Status
from treeml.backends.why import asked_of, filtered, has_easy_tree, nearest, with_names
from treeml.lang.diagnostic import Diagnostic, RefusedError, SpecError
from treeml.report import readable
from treeml.result import plain

if TYPE_CHECKING:
    from treeml.data.table import Dataset
    from treeml.request import Chosen, Request
    from treeml.spec import Requirement

WORDS = {Status.INFEASIBLE: "infeasible", Status.OPTIMAL: "feasible", Status.UNKNOWN: "unknown"}


@dataclass(frozen=True, slots=True)
class Why:
    """`status` INFEASIBLE: the requirements in `conflict` cannot be met together; OPTIMAL: there is a tree; UNKNOWN."""

    status: Status
    backend: str
    conflict: tuple[Requirement, ...] = ()
    others: tuple[Requirement, ...] = ()
    is_minimal: bool = False  # is there a tree without any one of them? Otherwise that is not known of some
    nearest: Mapping[str, tuple[Fraction, ...] | None] = field(default_factory=dict)
    because: Diagnostic | None = None  # what the rows alone show
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
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
            lines.append(all_needed if self.is_minimal else "of some it is not known whether they are needed")
        if self.others:
            lines.append("no part is played by " + ", ".join(f"`{_written(other)}`" for other in self.others))
        lines += [_near(r, self.nearest[r.name]) for r in (*self.conflict, *self.others) if r.name in self.nearest]
        return "\n".join(lines).rstrip()


def why(dataset: Dataset, request: Request, chosen: Chosen, begun: float, names: Sequence[str] = ()) -> Why:
    """Why there is no tree, if there is none; for the requirements named, the nearest values that they could have."""
    from treeml.feasibility import impossible

    backend, problem = chosen.plan.backend, chosen.lowered.problem
    _known(names, request)
    if not backend.can.proves:
        raise RefusedError(
            Diagnostic(
                "B501",
                f"{backend.name} cannot say why: it proves nothing",
                helps=("ask another: `treeml explain --why spec.tml --with cpsat`",),
            )
        )
    limits = request.limits(begun, chosen.method)
    answer = asked_of(backend, problem.asking((), problem.bounds), limits)
    status = Status.UNKNOWN if answer is None else answer.status
    if status is not Status.INFEASIBLE:
        known = Status.OPTIMAL if answer is not None and answer.tree is not None else Status.UNKNOWN
        return Why(known, backend.name, seconds=monotonic() - begun)
    assert answer is not None
    quiet = replace(limits, options={**limits.options, **({"explain": False} if "explain" in backend.options else {})})

    def verdict(part: Problem) -> Status:
        if has_easy_tree(part, problem.goals, limits):
            return Status.OPTIMAL
        found = asked_of(backend, part, quiet)
        return Status.UNKNOWN if found is None else found.status

    ruled_out = impossible(chosen.lowered)
    start = [ruled_out.name] if ruled_out is not None else list(answer.conflict)
    if not start or verdict(with_names(problem, start)) is not Status.INFEASIBLE:
        start = list(dict.fromkeys(bound.name for bound in problem.bounds))
    left, is_minimal = filtered(problem, start, limits, verdict)
    requirements = request.spec.requirements
    return Why(
        Status.INFEASIBLE,
        backend.name,
        tuple(r for r in requirements if r.name in left),
        tuple(r for r in requirements if r.name not in left),
        is_minimal,
        {name: _nearest(chosen, name, quiet) for name in names},
        None if ruled_out is None else ruled_out.diagnostic,
        monotonic() - begun,
    )


def _nearest(chosen: Chosen, name: str, limits: Limits) -> tuple[Fraction, ...] | None:
    return nearest(chosen.plan.backend, chosen.lowered.problem, name, limits)


def _known(names: Sequence[str], request: Request) -> None:
    known = [requirement.name for requirement in request.spec.requirements]
    wrong = [name for name in names if name not in known]
    if wrong:
        listed = ", ".join(f"`{name}`" for name in known) or "none"
        raise SpecError(
            [
                Diagnostic(
                    "N213",
                    f"no requirement is called `{name}`",
                    notes=(f"the requirements are {listed}",),
                    helps=tuple(f"did you mean `{near}`?" for near in get_close_matches(name, known, n=1)),
                    place="--nearest",
                )
                for name in wrong
            ]
        )


def _written(requirement: Requirement) -> str:
    given = requirement.name and requirement.name != requirement.text
    return f"{requirement.name}: {requirement.text}" if given else requirement.text or requirement.name


def _as_json(requirement: Requirement) -> dict[str, Any]:
    span = requirement.span
    line = None if span is None else span.source.position(span.start)[0]
    return {"name": requirement.name, "text": requirement.text, "line": line}


def _near(requirement: Requirement, values: tuple[Fraction, ...] | None) -> str:
    head = f"nearest   `{_written(requirement)}`"
    if values is None:
        return f"{head}: not known; time did not suffice, or it has no next value"
    if not values:
        return f"{head}: no value helps, the others conflict without it"
    said = " or ".join(f"{requirement.sense} {_safe(value, requirement.sense)}" for value in values)
    return f"{head} could be {said}, the others kept"


def _safe(value: Fraction, sense: str) -> str:
    """A number to type in: rounded to the side that can be met, and exactly where that is not the value itself."""
    steps = value * 10**6
    if steps.denominator == 1:
        return readable(value)
    rounded = Fraction(floor(steps) if sense == ">=" else ceil(steps), 10**6)
    return f"{readable(rounded)} (exactly {value})"
