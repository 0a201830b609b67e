"""Plan, limits -> Answer, every claim of it checked.

A back-end is believed in nothing that can be recomputed: the tree, its objective, every bound, and that no lower bound
lies above what was reached. What does not hold is a failure of the back-end, not a warning.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from time import monotonic

from treeml.backends.claims import Contradiction, UnfoundedClaim
from treeml.backends.contract import (
    NO_LIMITS,
    Answer,
    Backend,
    Leaf,
    Limits,
    Node,
    OnProgress,
    Problem,
    Split,
    Status,
    Stop,
)
from treeml.backends.evaluate import Routed, evaluate_sum, meets
from treeml.backends.options import settle, threaded
from treeml.backends.plan import Plan
from treeml.lang.diagnostic import BackendError, Diagnostic, SpecError


def run(
    plan: Plan, limits: Limits = NO_LIMITS, start: Node | None = None, on_progress: OnProgress | None = None
) -> Answer:
    limits = threaded(plan.backend, limits)
    limits = replace(limits, options=settle(plan.backend, limits.options))
    began = monotonic()
    try:
        answer = plan.solve(limits, start, on_progress)
    except KeyboardInterrupt:
        # The back-end could not catch it, or its steps were between two solves: what is left is the start.
        answer = _start_or_nothing(plan.problem, start)
    except SpecError:
        raise
    except Contradiction as contradiction:
        raise BackendError(_unverified(plan.backend, "B514", str(contradiction))) from contradiction
    except UnfoundedClaim as unfounded:
        raise BackendError(_unverified(plan.backend, "B520", str(unfounded))) from unfounded
    except Exception as error:
        raise BackendError(_failed(plan.backend, error)) from error
    answer = checked(plan, answer)
    statistics = {"seconds": monotonic() - began, **answer.statistics}
    notes = answer.notes
    if limits.memory is not None and not plan.backend.can.keeps_memory:
        notes = (*notes, f"{plan.backend.name} does not keep a limit on memory")
    return replace(answer, statistics=statistics, notes=notes)


def checked(plan: Plan, answer: Answer) -> Answer:
    """The answer with its objective recomputed; raises if anything in it does not hold."""
    fault = _wrong_status(plan, answer)
    if answer.tree is None:
        if fault is not None:
            raise BackendError(_unverified(plan.backend, *fault))
        return answer
    problem, tree = plan.problem, answer.tree
    fault = fault or _malformed(tree, problem)
    if fault is not None:
        raise BackendError(_unverified(plan.backend, *fault))
    routed = Routed(problem, tree)
    objective = tuple(evaluate_sum(goal.sum, problem, tree, routed) for goal in problem.goals)
    fault = _empty_leaf(routed) or _broken_bound(routed) or _wrong_value(answer, objective)
    if fault is not None:
        raise BackendError(_unverified(plan.backend, *fault))
    return replace(answer, objective=objective)


Fault = tuple[str, str]  # a code, and a sentence


def _wrong_status(plan: Plan, answer: Answer) -> Fault | None:
    with_tree = answer.status in (Status.OPTIMAL, Status.LOCAL, Status.FEASIBLE)
    if with_tree != (answer.tree is not None):
        return "B511", f"it says {answer.status.value} and returns {'no' if with_tree else 'a'} tree"
    if answer.status is Status.OPTIMAL and not plan.backend.can.proves:
        return "B511", "it says optimal, though it proves nothing"
    if (answer.status in (Status.OPTIMAL, Status.INFEASIBLE)) != (answer.stop is Stop.PROVED):
        return "B511", f"it says {answer.status.value} and stopped because: {answer.stop.value}"
    return None


def _malformed(tree: Node, problem: Problem) -> Fault | None:
    """What is wrong with the tree as a tree of this problem."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Split):
            if not 0 <= node.test < len(problem.tests):
                return "B510", f"its tree uses test {node.test}, and there are {len(problem.tests)}"
            waiting += [node.yes, node.no]
        elif not isinstance(node, Leaf):
            return "B510", f"its tree holds {node!r}"
        elif problem.classes and not 0 <= node.label < problem.classes:
            return "B510", f"its tree predicts class {node.label}, and there are {problem.classes}"
    return None


def _empty_leaf(routed: Routed) -> Fault | None:
    if routed.problem.rows and any(not len(rows) for _, _, rows in routed.leaves):
        return "B510", "its tree has a leaf that no row reaches"
    return None


def _broken_bound(routed: Routed) -> Fault | None:
    for bound in routed.problem.bounds:
        if not meets(bound, routed.problem, routed.tree, routed):
            value = evaluate_sum(bound.sum, routed.problem, routed.tree, routed)
            what = bound.name or "a bounded sum"
            return "B512", f"its tree has {what} at {value}, and it must be {bound.sense} {bound.limit}"
    return None


def _wrong_value(answer: Answer, objective: tuple[Fraction, ...]) -> Fault | None:
    if answer.objective is not None and not _close(answer.objective, objective, answer.tolerance):
        return "B513", f"it says {_text(answer.objective)}, and its tree has {_text(objective)}"
    if answer.bound is None or not objective:
        return None
    value = objective[bounded_goal(answer)]
    if answer.bound > value + answer.tolerance:
        return "B514", f"its bound {answer.bound} lies above the value {value} of its own tree"
    if answer.status is Status.OPTIMAL and answer.bound < value - answer.tolerance:
        return "B514", f"it says optimal with the value {value} and the bound {answer.bound}"
    return None


def bounded_goal(answer: Answer) -> int:
    """Which of the goals the bound of the answer is on."""
    if answer.bounded_goal is not None:
        return answer.bounded_goal
    return -1 if answer.status is Status.OPTIMAL else 0


def _close(claimed: tuple[Fraction, ...], exact: tuple[Fraction, ...], tolerance: Fraction) -> bool:
    return len(claimed) == len(exact) and all(abs(a - b) <= tolerance for a, b in zip(claimed, exact, strict=True))


def _start_or_nothing(problem: Problem, start: Node | None) -> Answer:
    if start is not None and _malformed(start, problem) is None:
        routed = Routed(problem, start)
        if _empty_leaf(routed) is None and _broken_bound(routed) is None:
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
