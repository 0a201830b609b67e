"""A spec that no tree meets -> the requirements that conflict, and how far one of them would have to give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fractions import Fraction
from math import ceil, floor
from shlex import quote
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Deadline, Limits, Status
from treeml.backends.infeasibility import RequiredSum, filtered, has_easy_tree, nearest, planned_answer, with_names
from treeml.lang.diagnostic import Diagnostic, RefusedError, SpecError
from treeml.problem.problem import Bound, Problem
from treeml.solving.report import readable
from treeml.solving.result import plain

if TYPE_CHECKING:
    from treeml.data.table import Dataset
    from treeml.lang.spec import Requirement
    from treeml.solving.request import Chosen, Request

HOLDS_OR_NOT = frozenset({"uses", "monotone"})  # measures without a next value
BESIDE = "a limit beside the one asked for"
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
    from treeml.solving.feasibility import impossible

    backend, problem = chosen.plan.backend, chosen.lowered.problem
    asked = _named(names, request)
    if not backend.can.proves:
        raise RefusedError(
            Diagnostic(
                "B501",
                f"{backend.name} cannot say why: it proves nothing",
                helps=("ask another: `treeml explain --why spec.tml --with cpsat`",),
            )
        )
    limits = request.limits(begun, chosen.method)
    answer = planned_answer(backend, problem.asking((), problem.bounds), limits)
    status = Status.UNKNOWN if answer is None else answer.status
    if status is not Status.INFEASIBLE:
        known = Status.OPTIMAL if answer is not None and answer.tree is not None else Status.UNKNOWN
        return Why(known, backend.name, seconds=monotonic() - begun)
    assert answer is not None
    ruled_out = impossible(chosen.lowered)
    left, is_minimal = _smallest(chosen, limits, [ruled_out.name] if ruled_out is not None else list(answer.conflict))
    requirements = request.spec.requirements
    return Why(
        Status.INFEASIBLE,
        backend.name,
        tuple(r for r in requirements if r.name in left),
        tuple(r for r in requirements if r.name not in left),
        is_minimal,
        {requirement.name: _nearest(chosen, requirement, _quiet(chosen, limits)) for requirement in asked},
        None if ruled_out is None else ruled_out.diagnostic,
        monotonic() - begun,
    )


def smallest(chosen: Chosen, limits: Limits, seconds: float) -> tuple[str, ...]:
    """Names of requirements that cannot be met together, none of them needless as far as the time shows."""
    names = list(dict.fromkeys(bound.name for bound in chosen.lowered.problem.bounds))
    if len(names) < 2:
        return tuple(names)
    deadline = Deadline(min(limits.deadline.at, monotonic() + seconds))
    return tuple(_smallest(chosen, replace(limits, deadline=deadline), [])[0])


def _smallest(chosen: Chosen, limits: Limits, start: list[str]) -> tuple[list[str], bool]:
    """The same, from names that are thought to conflict, and whether none of them can be done without."""
    backend, problem, quiet = chosen.plan.backend, chosen.lowered.problem, _quiet(chosen, limits)

    def verdict(part: Problem) -> Status:
        if has_easy_tree(part, problem.goals, limits):
            return Status.OPTIMAL
        found = planned_answer(backend, part, quiet)
        return Status.UNKNOWN if found is None else found.status

    if not start or verdict(with_names(problem, start)) is not Status.INFEASIBLE:
        start = list(dict.fromkeys(bound.name for bound in problem.bounds))
    return filtered(problem, start, limits, verdict)


def _quiet(chosen: Chosen, limits: Limits) -> Limits:
    """Without explanations of explanations, and without files."""
    known = chosen.plan.backend.options
    off = {"explain": False, "write": "", "proof": ""}
    return replace(limits, options={**limits.options, **{name: off[name] for name in off if name in known}})


def _nearest(chosen: Chosen, requirement: Requirement, limits: Limits) -> tuple[Fraction, ...] | None:
    from treeml.measures.lower import lower_linear, lower_requirement, row_limit

    dataset, problem = chosen.lowered.dataset, chosen.lowered.problem
    if any(use.measure in HOLDS_OR_NOT for _, use in requirement.expression.parts):
        return None

    def bounds_at(sense: str, limit: Fraction) -> tuple[Bound, ...]:
        other = replace(requirement, sense=sense, limit=limit, share_of_rows=False, name=BESIDE)
        return tuple(lower_requirement(other, dataset, problem.features))

    quantity = RequiredSum(
        lower_linear(requirement.expression, dataset, problem.features),
        requirement.sense,
        row_limit(requirement, dataset.rows),
        bounds_at,
    )
    return nearest(chosen.plan.backend, problem, requirement.name or requirement.text, quantity, limits)


def _named(names: Sequence[str], request: Request) -> list[Requirement]:
    """The requirements that are meant, each called by its name, by its text, or by a measure that it alone has."""
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
        helps=tuple(f"did you mean `{near}`?" for near in get_close_matches(name, words, n=1)),
        place="--nearest",
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
    rows = " rows" if requirement.share_of_rows else ""
    said = " or ".join(f"{requirement.sense} {_safe(value, requirement.sense)}{rows}" for value in values)
    return f"{head} could be {said}, the others kept"


def _safe(value: Fraction, sense: str) -> str:
    """A number to type in: rounded to the side that can be met, and exactly where that is not the value itself."""
    steps = value * 10**6
    if steps.denominator == 1:
        return readable(value)
    rounded = Fraction(floor(steps) if sense == ">=" else ceil(steps), 10**6)
    return f"{readable(rounded)} (exactly {value})"
