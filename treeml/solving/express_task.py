"""Statements, options of this run -> what the express way is asked for, or None if that is more than it can do."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter, is_
from pathlib import Path
from typing import Any

from treeml.lang.diagnostic import Diagnostic, SpecError
from treeml.lang.spec import CheckedGoal, Requirement, Spec, Use
from treeml.lang.statements import Statements
from treeml.lang.syntax import Include
from treeml.solving.checking import SameStatements, check, key_of
from treeml.solving.options import RunOptions

BACKEND = "native"
ERRORS, SQUARES = "errors", "squares"
# Parts of a spec that may be anything, or are looked at one by one; all others must be as if they were not written.
ASKED = ("goals", "requirements", "target", "within", "folder", "spans", "backends", "threads")
FREE_OPTIONS = ("within", "threads", "begun")  # options of a run that are looked at one by one
_other_options = attrgetter(*(each.name for each in fields(RunOptions) if each.name not in FREE_OPTIONS))
_USUAL = _other_options(RunOptions())


@dataclass(frozen=True, slots=True, eq=False)
class ExpressTask:
    """What is asked: the fewest errors, the best accuracy or the least squares, up to a depth."""

    spec: Spec
    warnings: tuple[Diagnostic, ...]
    goal: str  # ERRORS or SQUARES
    depth: int
    within: float | None


def task_of(statements: Statements, options: RunOptions) -> ExpressTask | None:
    """None if the specification or the options ask for more than the best tree up to a depth."""
    if statements.bindings or statements.untrusted or not _is_plain(options):
        return None
    within, threads = options.within, options.threads
    # The types are part of the key: 1 and True are equal, and are read differently.
    types = (type(within), type(threads))
    return _task(key_of(tuple(statements.statements)), str(statements.folder), within, threads, types)


def _is_plain(options: RunOptions) -> bool:
    """Are all options but those of time and threads as if they were not given?"""
    return all(map(is_, _other_options(options), _USUAL))


@lru_cache(maxsize=64)
def _task(
    statements: SameStatements, folder: str, within: Any, threads: Any, _types: tuple[type, type]
) -> ExpressTask | None:
    if any(isinstance(statement, Include) for statement in statements.statements):  # an included file may change
        return None
    try:
        model = Statements(statements.statements, folder=Path(folder))
        spec, warnings = check(model, RunOptions(within=within, threads=threads), data=(), has_target=True)
    except SpecError:
        return None
    if spec.target != "y" or not is_plain(spec) or len(spec.requirements) != 1:
        return None
    depth, kind = depth_limit(spec.requirements[0]), goal_kind(spec.goals[0])
    return None if kind is None or depth is None else ExpressTask(spec, warnings, kind, depth, spec.within)


def is_plain(spec: Spec, allowed: tuple[str, ...] = ()) -> bool:
    """Does the spec have one goal, leave all else as if it were not written, and suit this back-end and one thread?

    Requirements and the parts `allowed` may be anything.
    """
    usual = Spec()
    others = [each.name for each in fields(Spec) if each.name not in ASKED and each.name not in allowed]
    if any(getattr(spec, name) != getattr(usual, name) for name in others) or spec.threads not in (None, 1):
        return False
    named = [(each.name, dict(each.options)) for each in spec.backends]
    return len(spec.goals) == 1 and named in ([], [(BACKEND, {})])


def depth_limit(requirement: Requirement) -> int | None:
    """The limit, if the requirement is one on the depth that trees with a split can meet."""
    depth = int(requirement.limit)
    if requirement.sense != "<=" or requirement.share_of_rows or requirement.limit != depth or depth < 1:
        return None
    return depth if _is_measure(requirement.expression, "depth") else None


def goal_kind(goal: CheckedGoal) -> str | None:
    """What the goal asks for; None if it is neither the fewest errors nor the least squares."""
    if _is_measure(goal.expression, "errors" if goal.sense == "minimize" else "accuracy"):
        return ERRORS
    return SQUARES if goal.sense == "minimize" and _is_measure(goal.expression, "squared_loss") else None


def _is_measure(expression: Any, name: str) -> bool:
    """Is it one measure, and nothing else?"""
    if expression.constant or len(expression.parts) != 1:
        return False
    factor, use = expression.parts[0]
    return bool(factor == 1 and isinstance(use, Use) and use.measure == name and not use.arguments)
