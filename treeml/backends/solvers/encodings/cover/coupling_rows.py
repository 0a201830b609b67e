"""IntegerTask -> the rows that couple the columns of a cover: requirements, over forms and a few extra variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from treeml.backends.solvers.encodings.cover.cover import row_forms
from treeml.backends.task.integer_task import Form, IntegerTask, form_range, parts_of
from treeml.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class ExtraVariable:
    """A variable besides the flow: u[f] (used), D[k] (depth), t (largest) or y (which part is the largest)."""

    kind: str
    number: int  # the feature (kind used) or the level (kind depth)
    lower: int
    upper: int
    wants_small: bool  # can a smaller value help the solver, so that rows must bound it from below?
    wants_large: bool  # can a larger value help, so that rows must bound it from above?


@dataclass(frozen=True, slots=True)
class CouplingRow:
    """low <= form over the columns + extra variables <= high."""

    form: int | None
    extras: Mapping[int, int]
    low: int | None
    high: int | None
    name: str = ""
    sign: int = 1  # the sign of the form


@dataclass(slots=True)
class Coupling:
    goal: dict[int, int] = field(default_factory=dict)  # number of the extra variable -> coefficient
    rows: list[CouplingRow] = field(default_factory=list)
    extras: list[ExtraVariable] = field(default_factory=list)
    told_apart: bool = False  # must columns with equal values be kept apart, for monotonicity or because of rounding?


def coupling_of(problem: Problem, task: IntegerTask) -> Coupling:
    losses = any(part.losses for item in task.requirements for part in parts_of(item.form))
    made = Coupling(told_apart=bool(task.monotone) or losses)
    number = {id(form): place for place, form in enumerate((task.goal, *row_forms(task)))}
    wanted = _wanted(task)
    place: dict[tuple[str, int], int] = {}
    for feature in sorted(task.watched):
        small, large = wanted.get(("used", feature), (False, False))
        place["used", feature] = len(made.extras)
        made.extras.append(ExtraVariable("used", feature, 0, 1, small, large))
    if ("depth", 0) in wanted:
        small, large = wanted["depth", 0]
        for level in range(1, task.depth + 1):
            place["depth", level] = len(made.extras)
            made.extras.append(ExtraVariable("depth", level, 0, 1, small, large))

    def extras_of(form: Form, small: bool, large: bool) -> dict[int, int]:
        """The extra variables of a form; `small` and `large` say whether a smaller or a larger form helps."""
        found: dict[int, int] = {}
        for feature, value in form.used.items():
            found[place["used", feature]] = value
        if form.depth:
            for level in range(1, task.depth + 1):
                found[place["depth", level]] = form.depth
        for factor, parts in form.largest:
            found[largest(parts, small if factor > 0 else large, large if factor > 0 else small)] = factor
        return found

    def largest(parts: tuple[Form, ...], small: bool, large: bool) -> int:
        ranges = [form_range(part, problem, task) for part in parts]
        top = len(made.extras)
        lower, upper = max(low for low, _ in ranges), max(high for _, high in ranges)
        made.extras.append(ExtraVariable("largest", 0, lower, upper, small, large))
        for part in parts:
            inner = extras_of(part, small, large)
            made.rows.append(CouplingRow(number[id(part)], {**inner, top: -1}, None, -part.offset))
        if large:
            choice = []
            for part, (low, _) in zip(parts, ranges, strict=True):
                choice.append(len(made.extras))
                made.extras.append(ExtraVariable("choice", 0, 0, 1, False, False))
                room = max(0, upper - low)
                inner = {extra: -value for extra, value in extras_of(part, small, large).items()}
                extras = {**inner, top: 1, choice[-1]: room}
                made.rows.append(CouplingRow(number[id(part)], extras, None, room + part.offset, sign=-1))
            made.rows.append(CouplingRow(None, dict.fromkeys(choice, 1), 1, 1))
        return top

    made.goal = extras_of(task.goal, True, False)
    for requirement in task.requirements:
        extras = extras_of(requirement.form, requirement.high is not None, requirement.low is not None)
        made.rows.append(
            CouplingRow(number[id(requirement.form)], extras, requirement.low, requirement.high, requirement.name)
        )
    some = [rule for rule in task.leaf_rules if rule.some]
    for index, rule in enumerate(some, start=len(number)):
        made.rows.append(CouplingRow(index, {}, 1, None, rule.name))
    return made


def _wanted(task: IntegerTask) -> dict[tuple[str, int], tuple[bool, bool]]:
    """For `used` and `depth`: can a smaller value help anywhere, and can a larger one?"""
    found: dict[tuple[str, int], tuple[bool, bool]] = {}

    def note(form: Form, small: bool, large: bool) -> None:
        for key, value in (*((("used", f), v) for f, v in form.used.items()), (("depth", 0), form.depth)):
            if value:
                before = found.get(key, (False, False))
                here = (small, large) if value > 0 else (large, small)
                found[key] = (before[0] or here[0], before[1] or here[1])
        for factor, parts in form.largest:
            for part in parts:
                # If a larger maximum helps, it is bounded from both sides.
                note(part, True, large if factor > 0 else small)

    note(task.goal, True, False)
    for requirement in task.requirements:
        note(requirement.form, requirement.high is not None, requirement.low is not None)
    return found
