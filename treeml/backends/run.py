"""Plan, limits -> Answer, with every claim checked.

Everything that can be recomputed is recomputed: the tree, its objective, every bound, that no lower bound exceeds the
value reached, and that no proof contradicts a tree that was given or reported during the search. A claim that does not
hold is an error of the back-end, not a warning.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from time import monotonic

from treeml.backends.claims import Contradiction, Evidence, UnfoundedClaim, is_sharp
from treeml.backends.contract import NO_LIMITS, Answer, Backend, Limits, OnProgress, Status, Stop
from treeml.backends.equal_sides import without_equal_sides
from treeml.backends.least_values import proved_by_least_values
from treeml.backends.options import settle, threaded
from treeml.backends.planning.plan import Plan
from treeml.lang.diagnostic import BackendError, Diagnostic, SpecError
from treeml.problem.evaluate import Routed, evaluate_goals, evaluate_sum, meets
from treeml.problem.fans import has_whole_fans
from treeml.problem.problem import Problem
from treeml.problem.terms import Custom, Sum
from treeml.problem.tree import Leaf, Node, Split


def run(
    plan: Plan, limits: Limits = NO_LIMITS, start: Node | None = None, on_progress: OnProgress | None = None
) -> Answer:
    limits = threaded(plan.backend, limits)
    if limits.options:
        limits = replace(limits, options=settle(plan.backend, limits.options))
    began = monotonic()
    try:
        answer = plan.solve(limits, start, on_progress)
    except KeyboardInterrupt:
        # Ctrl-C came between two solves, or the back-end did not catch it: only the start is left.
        answer = _start_or_nothing(plan.problem, start)
    except SpecError:
        raise
    except ImportError as error:
        # Ctrl-C while a solver's C++ module is being imported surfaces as an ImportError of that module.
        if not limits.deadline.passed and not isinstance(error.__context__, KeyboardInterrupt):
            raise BackendError(_failed(plan.backend, error)) from error
        answer = _start_or_nothing(plan.problem, start)
    except Contradiction as contradiction:
        raise BackendError(_unverified(plan.backend, "B514", str(contradiction))) from contradiction
    except UnfoundedClaim as unfounded:
        raise BackendError(_unverified(plan.backend, "B520", str(unfounded))) from unfounded
    except Exception as error:
        raise BackendError(_failed(plan.backend, error)) from error
    answer = checked(plan, _with_rounding(plan.problem, answer), start)
    answer = without_equal_sides(plan.problem, answer, joins_leaves=plan.backend.can.proves)
    answer = no_less_than_known(plan.problem, no_more_than_shown(plan.problem, answer))
    if plan.backend.can.proves and len(plan.problem.goals) > 1:
        answer = proved_by_least_values(plan.problem, answer)
    statistics = {"seconds": monotonic() - began, **answer.statistics}
    notes = answer.notes
    if limits.memory is not None and not plan.backend.can.keeps_memory:
        notes = (*notes, f"{plan.backend.name} ignores the limit on memory")
    return replace(answer, statistics=statistics, notes=notes)


def checked(plan: Plan, answer: Answer, start: Node | None = None) -> Answer:
    """The answer with its objective recomputed; raises BackendError if a claim is wrong or `start` contradicts it."""
    fault = _wrong_status(plan, answer) or _wrong_bound_field(plan.problem, answer)
    if answer.tree is None:
        fault = fault or _contradicted_by_a_tree(plan.problem, answer, start)
        if fault is not None:
            raise BackendError(_unverified(plan.backend, *fault))
        return answer
    problem, tree = plan.problem, answer.tree
    fault = fault or _malformed(tree, problem)
    if fault is not None:
        raise BackendError(_unverified(plan.backend, *fault))
    routed = Routed(problem, tree)
    objective = evaluate_goals(problem, tree, routed)
    fault = (
        _empty_leaf(routed)
        or _broken_bound(routed)
        or _wrong_value(answer, objective)
        or _contradicted_on_the_way(problem, answer, objective, start)
    )
    if fault is not None:
        raise BackendError(_unverified(plan.backend, *fault))
    return answer if answer.objective == objective else replace(answer, objective=objective)


Fault = tuple[str, str]  # the code of a diagnostic, and a sentence


def _wrong_status(plan: Plan, answer: Answer) -> Fault | None:
    with_tree = answer.status in (Status.OPTIMAL, Status.LOCAL, Status.FEASIBLE)
    if with_tree != (answer.tree is not None):
        return "B511", f"it says {answer.status.value} and returns {'no' if with_tree else 'a'} tree"
    if answer.status is Status.OPTIMAL and not plan.backend.can.proves:
        return "B511", "it says optimal, though it proves nothing"
    if (answer.status in (Status.OPTIMAL, Status.INFEASIBLE)) != (answer.stop is Stop.PROVED):
        return "B511", f"it says {answer.status.value} and stopped because: {answer.stop.value}"
    return None


def _wrong_bound_field(problem: Problem, answer: Answer) -> Fault | None:
    """A bound that is stated inconsistently."""
    if answer.tolerance < 0:
        return "B511", f"it states a tolerance of {answer.tolerance}"
    if answer.bound is None:
        return None
    if not problem.goals:
        return "B511", "it states a bound, and nothing is minimized"
    number, last = bounded_goal(answer), len(problem.goals) - 1
    if not -1 <= number <= last:
        return "B511", f"its bound is on goal {number + 1}, and there are {last + 1}"
    if answer.status is Status.OPTIMAL and number not in (-1, last):
        return "B511", f"it says optimal, and its bound is on goal {number + 1} of {last + 1}"
    if answer.status is not Status.OPTIMAL and number > 0 and not any(map(_in_turn, answer.evidence)):
        # A bound on a later goal means something only while the earlier goals are held at their proved optimum.
        return "B511", f"it states a bound on goal {number + 1}, and does not say that the earlier goals are proved"
    return None


def _in_turn(evidence: Evidence) -> bool:
    return evidence.rule == "goals in turn" or any(map(_in_turn, evidence.rests_on))


def _contradicted_by_a_tree(problem: Problem, answer: Answer, start: Node | None) -> Fault | None:
    """A tree that meets the requirements, though the answer is infeasible."""
    if answer.status is not Status.INFEASIBLE:
        return None
    if start is not None and _is_answer(problem, start):
        return "B514", "it says infeasible, and the tree that it was given to start from meets every requirement"
    if any(moment.tree is not None and _is_answer(problem, moment.tree) for moment in answer.trace):
        return "B514", "it says infeasible, and a tree that it reported meets every requirement"
    return None


def _contradicted_on_the_way(
    problem: Problem, answer: Answer, objective: tuple[Fraction, ...], start: Node | None
) -> Fault | None:
    """A value or a bound reported during the search, or a start, that contradicts the final claim."""
    slack = 2 * answer.tolerance if answer.tolerance else 0
    if len(problem.goals) == 1:
        # With several goals a report does not say which of them it refers to.
        value = objective[0]
        most, least = (value + slack, value - slack) if slack else (value, value)
        for moment in answer.trace:
            if moment.bound is not None and moment.bound > most:
                return "B514", f"the bound {moment.bound} that it reported lies above the value {value} of its tree"
            if answer.status is Status.OPTIMAL and moment.objective and moment.objective[0] < least:
                return "B514", f"it says optimal with the value {value}, and reported a tree with {moment.objective[0]}"
    if answer.status is Status.OPTIMAL and problem.goals and start is not None and _is_answer(problem, start):
        begun_with = tuple(evaluate_sum(goal.sum, problem, start) for goal in problem.goals)
        if begun_with < objective and begun_with[0] < objective[0] - (slack if len(objective) == 1 else 0):
            return "B514", f"it says optimal with {_text(objective)}, and was given a tree with {_text(begun_with)}"
    return None


def _is_answer(problem: Problem, tree: Node) -> bool:
    """Is this a valid tree of the problem that meets every requirement?"""
    if _malformed(tree, problem) is not None:
        return False
    routed = Routed(problem, tree)
    return _empty_leaf(routed) is None and _broken_bound(routed) is None


def _with_rounding(problem: Problem, answer: Answer) -> Answer:
    """The answer, whose tolerance includes the rounding of goals that are computed in floating point."""
    # Both the tree and the best one may be off by it.
    rounding = 2 * sum((_rounding(goal.sum) for goal in problem.goals), Fraction(0))
    return replace(answer, tolerance=answer.tolerance + rounding) if rounding else answer


def _rounding(goal: Sum) -> Fraction:
    """How far a value of the goal may be off because it is computed in floating point."""
    parts = ((factor, term) for factor, term in goal.parts if isinstance(term, Custom))
    return sum((abs(factor) * term.rounding for factor, term in parts), Fraction(0))


def _above_least(problem: Problem, goal: Sum, value: Fraction, routed: Routed) -> Fraction | None:
    """How far the value may be above the least one that is possible, if floating point cannot tell the two apart.

    What counts is the rounding in the leaves of this tree: all rows together may be so far apart that rounding of them
    is larger than what tells trees apart.
    """
    least = goal.lower_bound(problem)
    if least is None:
        return None
    parts = ((factor, term) for factor, term in goal.parts if isinstance(term, Custom))
    rounding = sum((abs(factor) * term.rounding_in(routed) for factor, term in parts), Fraction(0))
    return value - least + rounding if value - least <= rounding else None


def no_more_than_shown(problem: Problem, answer: Answer) -> Answer:
    """The answer, demoted from optimal to feasible if the tolerance of its proof is too large relative to its value.

    A value at the known minimum of the goal (0 for a loss) is exactly optimal whatever the tolerance, and so is one
    that floating point cannot tell from it.
    """
    if answer.status is not Status.OPTIMAL or not answer.tolerance or not answer.objective:
        return answer
    routed = None if answer.tree is None else Routed(problem, answer.tree)
    loose, tolerance = [], Fraction(0)
    for goal, value in zip(problem.goals, answer.objective, strict=True):
        if not goal.sum.is_real or is_sharp(answer.tolerance, value):
            tolerance = answer.tolerance
            continue
        above = None if routed is None else _above_least(problem, goal.sum, value, routed)
        if above is None:
            loose.append(value)
        else:
            tolerance = max(tolerance, min(above, answer.tolerance))
    if not loose:
        if tolerance == answer.tolerance:
            return answer
        return replace(answer, tolerance=tolerance, bound=None if answer.bound is None else answer.objective[-1])
    note = (
        f"no tree is better by more than {float(answer.tolerance):.3g}, which is too large relative to "
        f"{float(loose[0]):.6g} to call this tree optimal"
    )
    bound = None
    if answer.bound is not None and len(problem.goals) == 1:
        bound, least = answer.bound - answer.tolerance, problem.goals[0].sum.lower_bound(problem)
        bound = bound if least is None else max(bound, least)
    return replace(
        answer,
        status=Status.FEASIBLE,
        stop=Stop.FINISHED,
        bound=bound,
        notes=(*answer.notes, note),
    )


def no_less_than_known(problem: Problem, answer: Answer) -> Answer:
    """The answer, whose bound on the first goal is at least what is known without a search.

    A bound that is computed in floating point may lie a little below 0, where no loss can be.
    """
    if answer.bound is None or answer.status in (Status.OPTIMAL, Status.INFEASIBLE) or bounded_goal(answer) != 0:
        return answer
    least = problem.goals[0].sum.lower_bound(problem, row_by_row=True)
    if least is None or least <= answer.bound or (answer.objective and answer.objective[0] < least):
        return answer
    return replace(answer, bound=least, evidence=(Evidence("row by row"),))


def _malformed(tree: Node, problem: Problem) -> Fault | None:
    """A tree that is not a valid tree of this problem."""
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
    if not has_whole_fans(problem, tree):
        return "B510", "its tree does not separate all levels of a column that is split by branches"
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
    if answer.bound == value:
        return None
    if answer.bound > value + answer.tolerance:
        return "B514", f"its bound {answer.bound} lies above the value {value} of its own tree"
    if answer.status is Status.OPTIMAL and answer.bound < value - answer.tolerance:
        return "B514", f"it says optimal with the value {value} and the bound {answer.bound}"
    return None


def bounded_goal(answer: Answer) -> int:
    """The number of the goal that the answer's bound refers to."""
    if answer.bounded_goal is not None:
        return answer.bounded_goal
    return -1 if answer.status is Status.OPTIMAL else 0


def _close(claimed: tuple[Fraction, ...], exact: tuple[Fraction, ...], tolerance: Fraction) -> bool:
    if claimed == exact:
        return True
    return len(claimed) == len(exact) and all(abs(a - b) <= tolerance for a, b in zip(claimed, exact, strict=True))


def _start_or_nothing(problem: Problem, start: Node | None) -> Answer:
    if start is not None and _is_answer(problem, start):
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
