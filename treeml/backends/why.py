"""Problem without a tree -> which of its named requirements conflict, and how far one of them would have to give.

A set of names is reported only after it is proved that nothing meets its requirements together. It is made small by a
deletion filter: each name is left out in turn, and stays out where there is still no tree. Back-ends on clauses say
first which sums a refutation used at all (`core`), so that the filter starts from few names. The set is then minimal:
without any one of its names there is a tree, or time ran out, which the explanation says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from treeml.backends.contract import (
    Answer,
    Backend,
    Bound,
    Depth,
    Goal,
    Leaf,
    LeafErrors,
    Limits,
    Predicted,
    Problem,
    Purity,
    Ratio,
    Status,
    Sum,
    Support,
)
from treeml.backends.evaluate import evaluate_sum, meets_all
from treeml.backends.shapes import deepest, impossible
from treeml.lang.diagnostic import RefusedError

DEEPEST_TRIED = 5
MOST_GROWN = 4  # greedy trees
MOST_BITS = 2_000_000  # what may be looked at without a depth bound, only to leave its name out


def explained(backend: Backend, problem: Problem, limits: Limits, answer: Answer) -> Answer:
    """An infeasible answer with the names of bounds that conflict, as far as time allows."""
    if answer.status is not Status.INFEASIBLE or not limits.options.get("explain", True):
        return answer
    inner = replace(limits, options={**limits.options, "explain": False, "write": "", "proof": ""})
    inner = replace(inner, options={name: value for name, value in inner.options.items() if name in backend.options})

    def verdict(part: Problem) -> Status:
        return Status.OPTIMAL if has_easy_tree(part, problem.goals, limits) else _verdict(backend, part, inner)

    names = list(dict.fromkeys(bound.name for bound in problem.bounds))
    core = getattr(backend, "core", None)
    if core is not None and len(names) > 2:
        found = core(problem, inner)
        if found is not None and len(found) < len(names) and verdict(with_names(problem, found)) is Status.INFEASIBLE:
            names = found
    names, _ = filtered(problem, names, limits, verdict)
    return replace(answer, conflict=tuple(name for name in names if name))


def with_names(problem: Problem, names: list[str]) -> Problem:
    """The question whether anything meets the bounds of these names."""
    return problem.asking((), tuple(bound for bound in problem.bounds if bound.name in names))


def filtered(
    problem: Problem, names: list[str], limits: Limits, verdict: Callable[[Problem], Status]
) -> tuple[list[str], bool]:
    """The names without those that are not needed, and whether none of those left can be done without."""
    names, is_minimal = list(names), True
    try:
        for name in names.copy():
            if limits.deadline.passed:
                return names, False
            status = verdict(with_names(problem, [other for other in names if other != name]))
            if status is Status.INFEASIBLE:
                names.remove(name)
            elif status is Status.UNKNOWN:
                is_minimal = False
    except KeyboardInterrupt:
        return names, False
    return names, is_minimal


def has_easy_tree(problem: Problem, goals: tuple[Goal, ...], limits: Limits) -> bool:
    """Does a single leaf meet the bounds, or a tree grown greedily towards a goal or towards one of the bounds?

    Most requirements that can be met are seen to be so without a solver, at any depth.
    """
    from treeml.backends.cart import Cart

    if any(meets_all(problem, Leaf(label)) for label in range(problem.classes) or (-1,)):
        return True
    if problem.rows * len(problem.tests) > MOST_BITS:
        return False
    towards = [goal for goal in goals if goal.sum.kinds() & {"Predicted", "Loss"}]
    for bound in problem.bounds:
        if "Predicted" in bound.sum.kinds() and len(towards) < MOST_GROWN:
            sign = -1 if bound.sense == ">=" else 1
            towards.append(Goal(Sum(tuple((sign * factor, term) for factor, term in bound.sum.parts))))
    grown = (Cart().solve(problem.asking((goal,), problem.bounds), Limits(limits.deadline)) for goal in towards)
    return any(answer.tree is not None for answer in grown)


def _verdict(backend: Backend, problem: Problem, limits: Limits) -> Status:
    """Is there a tree? UNKNOWN where neither that nor the contrary is proved.

    A depth bound cannot be left out of a model with a node for every place; it is left out only where the others
    conflict on the rows alone, or allow no deep tree.
    """
    if problem.max_depth is None and backend.can.needs_depth:
        if problem.rows * len(problem.tests) > MOST_BITS:
            return Status.UNKNOWN
        if impossible(problem) is not None:
            return Status.INFEASIBLE
        depth = deepest(problem)
        if depth > DEEPEST_TRIED:
            return Status.UNKNOWN
        limit = Bound(Sum(((Fraction(1), Depth()),)), "<=", Fraction(depth))
        problem = problem.asking(problem.goals, (*problem.bounds, limit))
    try:
        if any(True for _ in backend.refusals(problem)):
            return Status.UNKNOWN
        return backend.solve(problem, limits).status
    except RefusedError:
        return Status.UNKNOWN


# -- how far a requirement would have to give ---------------------------------------------------


def nearest(backend: Backend, problem: Problem, name: str, limits: Limits) -> tuple[Fraction, ...] | None:
    """Limits that the bound of this name could have, the other bounds kept: the closest to the one asked for first.

    One, or for an equation the next below and the next above as far as there are such; nothing where the others
    conflict without it. None where it is not a bound on a quantity, or time did not suffice for a proof.
    """
    mine = [bound for bound in problem.bounds if bound.name == name]
    found: list[tuple[Fraction, Fraction]] = []
    is_known = bool(mine)
    for bound in mine:
        others = tuple(other for other in problem.bounds if other is not bound)
        for sense in ("<=", ">=") if bound.sense == "=" else (bound.sense,):
            # For an equation: the least value not below the limit, and the greatest not above it.
            beyond = (Bound(bound.sum, {"<=": ">=", ">=": "<="}[sense], bound.limit),) if bound.sense == "=" else ()
            value = _extreme(backend, problem.asking((), (*others, *beyond)), replace(bound, sense=sense), limits)
            if isinstance(value, Fraction):
                found.append((abs(value - bound.limit), value))
            is_known &= value is not Status.UNKNOWN
    return tuple(value for _, value in sorted(set(found))) if found or is_known else None


def _extreme(backend: Backend, problem: Problem, bound: Bound, limits: Limits) -> Fraction | Status:
    """The least (for >=: the greatest) value of the bound's sum over all trees; INFEASIBLE, or UNKNOWN."""
    from treeml.backends.plan import Plan, plan
    from treeml.backends.run import run

    sign = 1 if bound.sense == "<=" else -1
    goal = Goal(Sum(tuple((sign * factor, term) for factor, term in bound.sum.parts), sign * bound.sum.constant))
    planned = plan(problem.asking((goal,), problem.bounds), backend, limits.options)
    if not isinstance(planned, Plan):
        return _by_halves(backend, problem, bound, limits)
    answer = run(planned, limits)
    if answer.status is Status.OPTIMAL and answer.objective:
        return sign * answer.objective[0]
    return Status.INFEASIBLE if answer.status is Status.INFEASIBLE else Status.UNKNOWN


def _by_halves(backend: Backend, problem: Problem, bound: Bound, limits: Limits) -> Fraction | Status:
    """The same for what the back-end bounds but does not minimize: the gap to what is known impossible is halved."""
    step = _step(bound, problem)
    reached = _value(backend, problem, bound.sum, limits)
    if isinstance(reached, Status):
        return reached
    if step is None:
        return Status.UNKNOWN
    refused = bound.limit
    while abs(refused - reached) >= step:
        middle = (refused + reached) / 2
        tried = problem.asking((), (*problem.bounds, replace(bound, limit=middle)))
        value = _value(backend, tried, bound.sum, limits)
        if isinstance(value, Fraction):
            reached = value
        elif value is Status.INFEASIBLE:
            refused = middle
        else:
            return Status.UNKNOWN
    return reached


def _value(backend: Backend, problem: Problem, total: Sum, limits: Limits) -> Fraction | Status:
    """The sum for some tree of the problem; INFEASIBLE if there is none, UNKNOWN where that is not known."""
    answer = asked_of(backend, problem, limits)
    if answer is None or answer.status is Status.UNKNOWN:
        return Status.UNKNOWN
    return Status.INFEASIBLE if answer.tree is None else evaluate_sum(total, problem, answer.tree)


def _step(bound: Bound, problem: Problem) -> Fraction | None:
    """No two values of the sum are closer than this; None where that is not known."""
    if len(bound.sum.parts) != 1:
        return None
    factor, term = bound.sum.parts[0]
    if isinstance(term, Support):
        return abs(factor)
    if isinstance(term, LeafErrors):
        return abs(factor * term.scale)
    if isinstance(term, Purity):
        # Two fractions with denominators up to a number differ by at least its square's inverse.
        return abs(factor) / max(1, int(term.weight.sum())) ** 2
    if isinstance(term, Ratio):
        parts = term.denominator.parts
        if len(parts) == 1 and isinstance(parts[0][1], Predicted):
            return abs(factor) / max(1, int(abs(parts[0][1].cost).max(axis=1).sum())) ** 2
    return None


def asked_of(backend: Backend, problem: Problem, limits: Limits) -> Answer | None:
    """The answer of the back-end to a problem as it stands, planned for it; None where it cannot take it."""
    from treeml.backends.plan import Plan, plan
    from treeml.backends.run import run

    planned = plan(problem, backend, limits.options)
    if not isinstance(planned, Plan) and problem.max_depth is None and not problem.goals:
        # A back-end that needs a depth looks for the least one instead.
        planned = plan(problem.asking((Goal(Sum(((Fraction(1), Depth()),))),), problem.bounds), backend, limits.options)
    return run(planned, limits) if isinstance(planned, Plan) else None
