"""Plan, limits -> Answer, every claim of it checked.

A back-end is believed in nothing that can be recomputed: the tree, its objective, every bound, and that no lower bound
lies above what was reached. What does not hold is a failure of the back-end, not a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from fractions import Fraction
from time import monotonic
from typing import Any

from treeml.backends.contract import (
    NO_LIMITS,
    Answer,
    Backend,
    Leaf,
    Limits,
    Node,
    OnProgress,
    Option,
    Problem,
    Split,
    Status,
    Stop,
)
from treeml.backends.evaluate import evaluate_sum, meets
from treeml.backends.plan import Plan
from treeml.backends.shapes import leaves_of
from treeml.lang.diagnostic import BackendError, Diagnostic, RefusedError, SpecError


def run(
    plan: Plan, limits: Limits = NO_LIMITS, start: Node | None = None, on_progress: OnProgress | None = None
) -> Answer:
    check_options(plan.backend, limits.options)
    began = monotonic()
    try:
        answer = plan.solve(limits, start, on_progress)
    except KeyboardInterrupt:
        # The back-end could not catch it, or its steps were between two solves: what is left is the start.
        answer = _start_or_nothing(plan.problem, start)
    except SpecError:
        raise
    except Exception as error:
        raise BackendError(_failed(plan.backend, error)) from error
    answer = _exact(plan, answer)
    statistics = {"seconds": monotonic() - began, **answer.statistics}
    return replace(answer, statistics=statistics)


def check_options(backend: Backend, options: Mapping[str, Any]) -> None:
    """Every option is one the back-end has, with a value it can have."""
    mistakes = [_option_mistake(backend, name, value) for name, value in options.items()]
    found = [mistake for mistake in mistakes if mistake is not None]
    if found:
        raise RefusedError(found)


def _option_mistake(backend: Backend, name: str, value: Any) -> Diagnostic | None:
    known = backend.options
    if name not in known:
        near = get_close_matches(name, known, n=1)
        listed = ", ".join(known) or "none"
        return Diagnostic(
            "B503",
            f"{backend.name} has no option `{name}`",
            notes=(f"its options are {listed}",),
            helps=(f"did you mean `{near[0]}`?",) if near else (),
        )
    wanted = _wanted(known[name], value)
    if wanted is None:
        return None
    return Diagnostic(
        "B503", f"`{name}` of {backend.name} cannot be {value}", notes=(f"it is {wanted}: {known[name].summary}",)
    )


def _wanted(option: Option, value: Any) -> str | None:
    """What the option takes, if the value is not of it."""
    if option.choices:
        return None if value in option.choices else "one of " + ", ".join(option.choices)
    if option.type is bool:
        return None if isinstance(value, bool) else "true or false"
    if option.type is str:
        return None if isinstance(value, str) else "a text"
    number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
    if not number or (option.type is int and value != int(value)):
        return "a whole number" if option.type is int else "a number"
    if option.low is not None and value < option.low:
        return f"at least {option.low:g}"
    if option.high is not None and value > option.high:
        return f"at most {option.high:g}"
    return None


def _exact(plan: Plan, answer: Answer) -> Answer:
    """The answer with its objective recomputed; raises if anything in it does not hold."""
    reason = next(_broken_promises(plan, answer), None)
    if reason is not None:
        raise BackendError(_unverified(plan.backend, *reason))
    if answer.tree is None:
        return answer
    return replace(
        answer, objective=tuple(evaluate_sum(goal.sum, plan.problem, answer.tree) for goal in plan.problem.goals)
    )


def _broken_promises(plan: Plan, answer: Answer) -> Iterator[tuple[str, str]]:
    """A code and a sentence for every claim that does not hold."""
    problem, can = plan.problem, plan.backend.can
    with_tree = answer.status in (Status.OPTIMAL, Status.LOCAL, Status.FEASIBLE)
    if with_tree != (answer.tree is not None):
        yield "B511", f"it says {answer.status.value} and returns {'no' if with_tree else 'a'} tree"
    if answer.status is Status.OPTIMAL and not can.proves:
        yield "B511", "it says optimal, though it proves nothing"
    if (answer.status in (Status.OPTIMAL, Status.INFEASIBLE)) != (answer.stop is Stop.PROVED):
        yield "B511", f"it says {answer.status.value} and stopped because: {answer.stop.value}"
    if answer.tree is None:
        return
    fault = _malformed(answer.tree, problem)
    if fault is not None:
        yield "B510", fault
        return
    for bound in problem.bounds:
        if not meets(bound, problem, answer.tree):
            value = evaluate_sum(bound.sum, problem, answer.tree)
            yield (
                "B512",
                f"its tree has {bound.name or 'a bounded sum'} at {value}, and it must be {bound.sense} {bound.limit}",
            )
    objective = tuple(evaluate_sum(goal.sum, problem, answer.tree) for goal in problem.goals)
    if answer.objective is not None and not _close(answer.objective, objective, answer.tolerance):
        yield "B513", f"it says {_text(answer.objective)}, and its tree has {_text(objective)}"
    if answer.bound is None or not objective:
        return
    value = objective[_bounded_goal(answer)]
    if answer.bound > value + answer.tolerance:
        yield "B514", f"its bound {answer.bound} lies above the value {value} of its own tree"
    elif answer.status is Status.OPTIMAL and answer.bound < value - answer.tolerance:
        yield "B514", f"it says optimal with the value {value} and the bound {answer.bound}"


def _bounded_goal(answer: Answer) -> int:
    if answer.bounded_goal is not None:
        return answer.bounded_goal
    return -1 if answer.status is Status.OPTIMAL else 0


def _malformed(tree: Node, problem: Problem) -> str | None:
    """What is wrong with the tree as a tree of this problem."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Split):
            if not 0 <= node.test < len(problem.tests):
                return f"its tree uses test {node.test}, and there are {len(problem.tests)}"
            waiting += [node.yes, node.no]
        elif not isinstance(node, Leaf):
            return f"its tree holds {node!r}"
        elif problem.classes and not 0 <= node.label < problem.classes:
            return f"its tree predicts class {node.label}, and there are {problem.classes}"
    if problem.rows and any(not rows.any() for _, rows in leaves_of(tree, problem)):
        return "its tree has a leaf that no row reaches"
    return None


def _close(claimed: tuple[Fraction, ...], exact: tuple[Fraction, ...], tolerance: Fraction) -> bool:
    return len(claimed) == len(exact) and all(abs(a - b) <= tolerance for a, b in zip(claimed, exact, strict=True))


def _start_or_nothing(problem: Problem, start: Node | None) -> Answer:
    usable = start is not None and _malformed(start, problem) is None
    if usable and start is not None and all(meets(bound, problem, start) for bound in problem.bounds):
        return Answer(Status.FEASIBLE, Stop.INTERRUPTED, start)
    return Answer(Status.UNKNOWN, Stop.INTERRUPTED)


def _text(values: tuple[Fraction, ...]) -> str:
    return ", ".join(str(value) for value in values)


def _unverified(backend: Backend, code: str, reason: str) -> Diagnostic:
    return Diagnostic(
        code,
        f"the answer of {backend.name} does not hold",
        notes=(reason,),
        helps=(
            "this is a mistake of the back-end, not of the specification; please report it with the data",
            "try another back-end: `treeml backends` lists them",
        ),
    )


def _failed(backend: Backend, error: Exception) -> Diagnostic:
    return Diagnostic(
        "B515",
        f"{backend.name} failed",
        notes=(f"{type(error).__name__}: {error}",),
        helps=("try another back-end: `treeml backends` lists them",),
    )
