"""Infeasible problem -> which of its named requirements conflict, and how far one of them must be relaxed.

A set of names is reported only after a proof that no tree meets these requirements together. A deletion filter makes
the set small: each name is left out in turn, and stays out if there is still no tree. If the back-end has an
`unsat_core`, the filter starts from the few names that a refutation used. The resulting set is minimal (without any one
of its names there is a tree), unless time ran out, which the explanation then says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, gcd, lcm

from treeml.backends.contract import Answer, Backend, Deadline, Limits, Status
from treeml.lang.diagnostic import RefusedError
from treeml.problem.evaluate import evaluate_sum, meets_all
from treeml.problem.impossible import impossible
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.shapes import deepest
from treeml.problem.terms import (
    Depth,
    Largest,
    Predicted,
    Purity,
    Ratio,
    Sum,
)
from treeml.problem.tree import Leaf

DEEPEST_TRIED = 5
LONGEST = 60.0  # seconds for one question; without a limit on depth some would go on for hours
MOST_GROWN = 4  # greedy trees that are tried per question
MOST_BITS = 2_000_000  # rows times tests up to which a problem without its depth bound is tried


def explained(backend: Backend, problem: Problem, limits: Limits, answer: Answer) -> Answer:
    """The infeasible answer, completed by the names of the bounds that conflict, as far as time allows."""
    if answer.status is not Status.INFEASIBLE or not limits.options.get("explain", True):
        return answer
    inner = replace(limits, options={**limits.options, "explain": False, "write": "", "proof": ""})
    inner = replace(inner, options={name: value for name, value in inner.options.items() if name in backend.options})

    def verdict(part: Problem, deadline: Deadline) -> Status:
        if has_easy_tree(part, problem.goals, deadline):
            return Status.OPTIMAL
        return _verdict(backend, part, replace(inner, deadline=deadline))

    names = list(dict.fromkeys(bound.name for bound in problem.bounds))
    if len(names) > 2:
        found = backend.unsat_core(problem, inner)
        if found is not None and len(found) < len(names):
            named = with_names(problem, found)
            names = found if verdict(named, limits.deadline) is Status.INFEASIBLE else names
    names, _ = filtered(problem, names, limits, verdict)
    return replace(answer, conflict=tuple(name for name in names if name))


def with_names(problem: Problem, names: list[str]) -> Problem:
    """The problem of finding any tree that meets the bounds with these names."""
    return problem.asking((), tuple(bound for bound in problem.bounds if bound.name in names))


Verdict = Callable[[Problem, Deadline], Status]  # is there a tree?


def filtered(problem: Problem, names: list[str], limits: Limits, verdict: Verdict) -> tuple[list[str], bool]:
    """A subset of the names that still conflicts, and whether it is proved to be minimal.

    Every question has its share of the time that is left. What limits the size of a tree is left out last: without it
    a question is hardest, and easier with fewer other requirements.
    """
    names, is_minimal = list(names), True
    try:
        for name, deadline in shared_time(problem, names.copy(), limits):
            if limits.deadline.passed:
                return names, False
            status = verdict(with_names(problem, [other for other in names if other != name]), deadline)
            if status is Status.INFEASIBLE:
                names.remove(name)
            elif status is Status.UNKNOWN:
                is_minimal = False
    except KeyboardInterrupt:
        return names, False
    return names, is_minimal


def shared_time(problem: Problem, names: Sequence[str], limits: Limits) -> Iterator[tuple[str, Deadline]]:
    """Names of requirements with a deadline for a question about each; limits on the size of a tree come last."""
    sized = {bound.name for bound in problem.bounds if bound.sum.kinds() & {"Depth", "Leaves"}}
    for number, name in enumerate(sorted(names, key=sized.__contains__)):
        yield name, Deadline.after(min(LONGEST, limits.deadline.left() / (len(names) - number)))


def has_easy_tree(problem: Problem, goals: tuple[Goal, ...], deadline: Deadline) -> bool:
    """Does a single leaf meet the bounds, or a tree that is grown greedily for a goal or for one of the bounds?

    A tree may also meet them with other labels in its leaves. This shows for most satisfiable requirements that they
    are satisfiable, at any depth and without a solver.
    """
    # imported here: start-up time
    from treeml.backends.anytime.multipliers import relabeled
    from treeml.backends.heuristics.cart import CartBackend

    if any(meets_all(problem, Leaf(label)) for label in range(problem.classes) or (-1,)):
        return True
    if problem.rows * len(problem.tests) > MOST_BITS:
        return False
    towards = [goal for goal in goals if goal.sum.kinds() & {"Predicted", "Loss"}]
    for bound in problem.bounds:
        if "Predicted" in bound.sum.kinds() and len(towards) < MOST_GROWN:
            sign = -1 if bound.sense == ">=" else 1
            towards.append(Goal(Sum(tuple((sign * factor, term) for factor, term in bound.sum.parts))))
    limits = Limits(deadline)
    grown = (CartBackend().solve(problem.asking((goal,), problem.bounds), limits) for goal in towards)
    if any(answer.tree is not None for answer in grown):
        return True
    if not towards or not any("Predicted" in bound.sum.kinds() for bound in problem.bounds):
        return False
    free = tuple(bound for bound in problem.bounds if "Predicted" not in bound.sum.kinds())
    unpruned = replace(limits, options={"prune": "none"})
    tree = CartBackend().solve(problem.asking(tuple(towards[:1]), free), unpruned).tree
    return tree is not None and relabeled(problem.asking((), problem.bounds), tree, deadline) is not None


def _verdict(backend: Backend, problem: Problem, limits: Limits) -> Status:
    """Is there a tree? UNKNOWN if this is neither proved nor refuted.

    A model with a variable per node needs a depth bound. Without one, the question is decided only if the other bounds
    conflict by counting alone, or if they imply a small depth.
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


# -- how far a requirement must be relaxed -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RequiredSum:
    """A requirement as the user wrote it: the sum compared with the limit, and the bounds that express it.

    The bounds of a problem cannot replace it: there, constants have moved to the limit, a quotient has become linear,
    and a gap has become many bounds.
    """

    sum: Sum
    sense: str
    limit: Fraction
    bounds_at: Callable[[str, Fraction], tuple[Bound, ...]]  # the bounds for another sense and limit


@dataclass(frozen=True, slots=True)
class NearestLimits:
    """Limits with which a requirement could be met together with the others, the closest to its own limit first.

    There is one such limit; an equation may have one below and one above. There is none if the other requirements
    conflict by themselves, and `values` is None if time ran out before a proof or no closest value exists. Of one that
    is not an equation, `met` may still be known, a limit that some tree keeps, and `bound`: no nearer one can be kept.
    """

    values: tuple[Fraction, ...] | None
    met: Fraction | None = None
    bound: Fraction | None = None


def nearest(backend: Backend, problem: Problem, name: str, quantity: RequiredSum, limits: Limits) -> NearestLimits:
    """How far this requirement would have to give, the others kept."""
    others = tuple(bound for bound in problem.bounds if bound.name != name)
    found: list[tuple[Fraction, Fraction]] = []
    unknown: NearestLimits | None = None
    for sense in ("<=", ">=") if quantity.sense == "=" else (quantity.sense,):
        # For an equation: the least value at or above the limit, and the greatest at or below it.
        beyond = quantity.bounds_at({"<=": ">=", ">=": "<="}[sense], quantity.limit) if quantity.sense == "=" else ()
        value = _extreme(backend, problem.asking((), (*others, *beyond)), quantity, sense, limits)
        if isinstance(value, Fraction):
            found.append((abs(value - quantity.limit), value))
        elif isinstance(value, NearestLimits):
            unknown = value
    if found or unknown is None:
        return NearestLimits(tuple(value for _, value in sorted(set(found))))
    return NearestLimits(None) if quantity.sense == "=" else unknown


def _extreme(
    backend: Backend, problem: Problem, quantity: RequiredSum, sense: str, limits: Limits
) -> Fraction | Status | NearestLimits:
    """The least (for >=: the greatest) value over all trees, or INFEASIBLE, or what is known of it without a proof."""
    # imported here: start-up time
    from treeml.backends.planning.plan import Plan, plan
    from treeml.backends.run import run

    sign, total = 1 if sense == "<=" else -1, quantity.sum
    goal = Goal(Sum(tuple((sign * factor, term) for factor, term in total.parts), sign * total.constant))
    planned = plan(problem.asking((goal,), problem.bounds), backend, limits.options)
    if not isinstance(planned, Plan):
        halved = _by_halves(backend, problem, quantity, sense, limits)
        return NearestLimits(None) if halved is Status.UNKNOWN else halved
    answer = run(planned, limits)
    if answer.status is Status.OPTIMAL and answer.objective:
        return sign * answer.objective[0]
    if answer.status is Status.INFEASIBLE:
        return Status.INFEASIBLE
    met = sign * answer.objective[0] if answer.objective else None
    bound = None if answer.bound is None else sign * answer.bound
    if bound is not None and sign * (bound - quantity.limit) <= 0:
        bound = None  # that the limit itself cannot be kept is known already
    return NearestLimits(None, met, bound)


def _by_halves(
    backend: Backend, problem: Problem, quantity: RequiredSum, sense: str, limits: Limits
) -> Fraction | Status:
    """The same by bisection, for a sum that the back-end can bound but not minimize."""
    step = _step(quantity.sum)
    reached = _value(backend, problem, quantity.sum, limits)
    if isinstance(reached, Status):
        return reached
    if step is None:
        return Status.UNKNOWN
    refused = quantity.limit
    while abs(refused - reached) >= step:
        third = (reached - refused) / 3
        middle = _simplest(*sorted((refused + third, reached - third)))
        value = _value(
            backend, problem.asking((), (*problem.bounds, *quantity.bounds_at(sense, middle))), quantity.sum, limits
        )
        if isinstance(value, Fraction):
            reached = value
        elif value is Status.INFEASIBLE:
            refused = middle
        else:
            return Status.UNKNOWN
    return reached


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction between the two with the smallest denominator: back-ends handle small denominators best."""
    if low < 0:
        return Fraction(0) if high >= 0 else -_simplest(-high, -low)
    whole = ceil(low)
    if whole <= high:
        return Fraction(whole)
    floor = whole - 1
    return floor + 1 / _simplest(1 / (high - floor), 1 / (low - floor))


def _value(backend: Backend, problem: Problem, total: Sum, limits: Limits) -> Fraction | Status:
    """The value of the sum for some tree of the problem, or INFEASIBLE, or UNKNOWN."""
    answer = planned_answer(backend, problem, limits)
    if answer is None or answer.status is Status.UNKNOWN:
        return Status.UNKNOWN
    return Status.INFEASIBLE if answer.tree is None else evaluate_sum(total, problem, answer.tree)


def _step(total: Sum) -> Fraction | None:
    """A lower bound on the distance between two different values of the sum; None if none is known."""
    if len(total.parts) == 1:
        factor, term = total.parts[0]
        if isinstance(term, Purity):
            # Two different fractions with denominators of at most d differ by at least 1 / d**2.
            return abs(factor) / max(1, int(term.weight.sum())) ** 2
        if isinstance(term, Ratio):
            above, below = (_predicted(part) for part in (term.numerator, term.denominator))
            if above is None or below is None:
                return None
            most = max(1, int(abs(below[1].cost).max(axis=1).sum()))
            return abs(factor * above[0] * above[1].scale / (below[0] * below[1].scale)) / most**2
    steps = list(_steps(total))
    if None in steps:
        return None
    known = [abs(each) for each in steps if each]
    if not known:
        return None
    denominator = lcm(*(each.denominator for each in known))
    return Fraction(gcd(*(int(each * denominator) for each in known)), denominator)


def _predicted(total: Sum) -> tuple[Fraction, Predicted] | None:
    if len(total.parts) != 1 or total.constant or not isinstance(total.parts[0][1], Predicted):
        return None
    return total.parts[0][0], total.parts[0][1]


def _steps(total: Sum) -> Iterator[Fraction | None]:
    """Numbers such that any two values of the sum differ by an integer combination of them."""
    for factor, term in total.parts:
        if term.step is not None:
            yield factor * term.step
        elif isinstance(term, Largest):
            for part in term.parts:
                yield from (None if each is None else factor * each for each in _steps(part))
                yield factor * part.constant
        else:
            yield None


def planned_answer(backend: Backend, problem: Problem, limits: Limits) -> Answer | None:
    """The answer of the back-end to this problem, by a plan; None if the back-end cannot solve it."""
    # imported here: start-up time
    from treeml.backends.planning.plan import Plan, plan
    from treeml.backends.run import run

    planned = plan(problem, backend, limits.options)
    if not isinstance(planned, Plan) and problem.max_depth is None and not problem.goals:
        # A back-end that needs a depth bound minimizes depth instead.
        planned = plan(problem.asking((Goal(Sum(((Fraction(1), Depth()),))),), problem.bounds), backend, limits.options)
    return run(planned, limits) if isinstance(planned, Plan) else None
