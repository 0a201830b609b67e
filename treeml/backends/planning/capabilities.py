"""Problem, capabilities -> what a back-end lacks for it, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod

from treeml.backends.contract import Backend, Capabilities, Refusal
from treeml.backends.planning.count import counts
from treeml.backends.planning.deepen import without
from treeml.backends.planning.descend import descends
from treeml.backends.planning.lowerings import spread_bound
from treeml.backends.planning.narrow import example_bounds
from treeml.backends.planning.part_by_part import MOST_CASES, bound_cases, goal_cases, has_cases, is_from_below
from treeml.lang.display import shown
from treeml.problem.choices import number_of_choices
from treeml.problem.counts import LARGEST, PositiveCounts, counts_of
from treeml.problem.fans import BRANCHES, has_fans
from treeml.problem.like_terms import CostsTooLarge
from treeml.problem.problem import Bound, Goal, Problem, once
from treeml.problem.quotient import Quotient, quotient_of
from treeml.problem.terms import KINDS, Composite, Depth, Leaves, Sum


@once
def is_direct(problem: Problem, can: Capabilities) -> bool:
    """Does the back-end take every goal and bound as it is? Then it lacks nothing, and no step has to restate them.

    This is the usual case, and much quicker to see than every reason against it.
    """
    if len(problem.goals) > 1 and not can.lexicographic:
        return False
    if not can.branches and has_fans(problem):
        return False
    for goal in problem.goals:
        kinds = goal.sum.kinds()
        if "Depth" in kinds or not kinds <= can.goals or _is_composed(goal.sum):
            return False
    for bound in problem.bounds:
        kinds = bound.sum.kinds()
        if not kinds <= can.bounds or _is_composed(bound.sum) or not (len(kinds) < 2 or can.sums):
            return False
    return True


def _is_composed(total: Sum) -> bool:
    """Does the sum hold a term that is made of other sums?"""
    return any(isinstance(term, Composite) for _, term in total.parts)


def lacks(problem: Problem, backend: Backend) -> Iterator[Refusal]:
    """One refusal for every column, goal and bound that neither the back-end nor a step of a plan can handle."""
    if not backend.can.branches and has_fans(problem):
        fans = [feature.name for feature in problem.features if feature.kind == BRANCHES]
        yield Refusal(
            f"`{shown(fans[0])}` split by branches",
            f"{backend.name} splits a node in two",
            "`by levels` or `by subsets` makes yes-or-no tests of it; cart grows a tree with branches",
        )
    for bound in problem.bounds:
        feature = f"the requirement {bound.name}" if bound.name else "a requirement"
        if needs_narrowing(bound, backend.can):
            yield from _narrowing_lacks(bound, backend, feature)
        elif needs_bound_cases(bound, backend.can):
            yield from _bound_case_lacks(bound, backend, feature)
        else:
            yield from _lacking(bound.sum, backend, "bound", feature)
    cases = prod(number_of_choices(each.sum) for each in problem.bounds if needs_bound_cases(each, backend.can))
    if cases > MOST_CASES:
        because = f"{backend.name} would search {cases} cases, one for every choice of groups"
        yield Refusal("several gaps that are bounded from below", because, "bound one of them from below")
    for number, goal in enumerate(problem.goals):
        feature = f"the goal {goal.text}" if goal.text else "the goal"
        yield from _goal_lacks(problem, goal, backend, feature)
        if successive(problem, backend.can) and number + 1 < len(problem.goals):
            yield from _hold_lacks(goal, backend, f"another goal after {goal.text or 'the first'}")


def needs_deepening(goal: Goal, can: Capabilities) -> bool:
    return "Depth" in goal.sum.kinds() and not (can.minimizes_depth and "Depth" in can.goals)


def needs_growing(goal: Goal, can: Capabilities) -> bool:
    """Must leaves, or a quotient or root with a price on leaves, be minimized by allowing one leaf more at a time?"""
    if "Leaves" not in goal.sum.kinds() or "Leaves" not in can.bounds or not _price(goal.sum, Leaves) > 0:
        return False
    rest = without(goal, Leaves)
    if not rest:
        return "Leaves" not in can.goals
    return needs_dividing(rest[0], can) or needs_counting(rest[0], can)


def _price(total: Sum, counted: type[Depth] | type[Leaves]) -> Fraction:
    return sum((factor for factor, term in total.parts if isinstance(term, counted)), Fraction(0))


def needs_descending(goal: Goal, can: Capabilities) -> bool:
    return "Largest" in goal.sum.kinds() and "Largest" not in can.goals and descends(goal)


def needs_cases(goal: Goal, can: Capabilities) -> bool:
    """Must a sum with a gap in it be minimized case by case?"""
    is_gap = "Largest" in goal.sum.kinds() and "Largest" not in can.goals
    return is_gap and not descends(goal) and has_cases(goal)


def needs_bound_cases(bound: Bound, can: Capabilities) -> bool:
    """Must a gap that is bounded from below be searched case by case?"""
    return "Largest" not in can.bounds and is_from_below(bound)


def needs_dividing(goal: Goal, can: Capabilities) -> bool:
    """Must a quotient be minimized by solves that minimize sums?"""
    return "Ratio" in goal.sum.kinds() and "Ratio" not in can.goals and quotient_of(goal) is not None


def needs_counting(goal: Goal, can: Capabilities) -> bool:
    """Must mcc or gmean be optimized by solves that minimize sums?"""
    return "Contingency" in goal.sum.kinds() and "Contingency" not in can.goals and counts(goal) is not None


def needs_narrowing(bound: Bound, can: Capabilities) -> bool:
    """Must a requirement on mcc or gmean be replaced by limits on counts?"""
    return "Contingency" in bound.sum.kinds() and "Contingency" not in can.bounds and counts_of(bound.sum) is not None


def is_stepwise(goal: Goal, can: Capabilities) -> bool:
    """Does it take several solves to minimize the goal?"""
    return (
        needs_deepening(goal, can)
        or needs_growing(goal, can)
        or needs_descending(goal, can)
        or needs_cases(goal, can)
        or needs_dividing(goal, can)
        or needs_counting(goal, can)
    )


def successive(problem: Problem, can: Capabilities) -> bool:
    """Must several goals be solved one after the other?"""
    if len(problem.goals) < 2:
        return False
    restated = any(needs_narrowing(bound, can) or needs_bound_cases(bound, can) for bound in problem.bounds)
    return not can.lexicographic or restated or any(is_stepwise(goal, can) for goal in problem.goals)


def depth_is_found(problem: Problem, can: Capabilities) -> bool:
    """Will the steps of the plan bound depth?

    Deepening bounds depth in its own stage; if depth alone is the first goal, its value bounds depth in later stages. A
    bound on leaves bounds depth too.
    """
    if not problem.goals:
        return False
    if needs_growing(problem.goals[0], can) and not without(problem.goals[0], Leaves):
        return True
    if not needs_deepening(problem.goals[0], can):
        return False
    return len(problem.goals) == 1 or problem.goals[0].sum.kinds() == {"Depth"}


def _goal_lacks(problem: Problem, goal: Goal, backend: Backend, feature: str) -> Iterator[Refusal]:
    if needs_descending(goal, backend.can):
        yield from _hold_lacks(goal, backend, feature)
        return
    if needs_growing(goal, backend.can):
        for quotient in without(goal, Leaves):
            yield from _goal_lacks(problem, quotient, backend, feature)
        return
    if needs_cases(goal, backend.can):
        yield from _case_lacks(problem, goal, backend, feature)
        return
    if needs_dividing(goal, backend.can):
        yield from _quotient_lacks(goal, backend, feature)
        return
    if needs_counting(goal, backend.can):
        yield from _counting_lacks(goal, backend, feature)
        return
    if "Contingency" in goal.sum.kinds() - backend.can.goals:
        because = f"{backend.name} takes mcc and gmean only as a goal of their own, or with a price on leaves"
        yield Refusal(feature, because, "make the rest another goal: `maximize mcc(...) then minimize leaves`")
        return
    if "Ratio" in goal.sum.kinds() - backend.can.goals and len(goal.sum.parts) > 1 and "Predicted" in backend.can.goals:
        because = f"{backend.name} takes a quotient, such as f1, only as a goal of its own, or with a price on leaves"
        yield Refusal(feature, because, "make the rest another goal: `maximize f1(...) then minimize leaves`")
        return
    if not needs_deepening(goal, backend.can):
        yield from _lacking(goal.sum, backend, "minimize", feature)
        return
    if _price(goal.sum, Depth) < 0:
        yield Refusal(feature, f"{backend.name} cannot maximize depth", "bound depth from below: `require depth >= 2`")
    elif "Depth" not in backend.can.bounds:
        yield Refusal(feature, f"{backend.name} can neither minimize nor bound depth")
    rest = Sum(tuple(part for part in goal.sum.parts if not isinstance(part[1], Depth)))
    yield from _lacking(rest, backend, "minimize", feature)


def _case_lacks(problem: Problem, goal: Goal, backend: Backend, feature: str) -> Iterator[Refusal]:
    try:
        first, *_ = goal_cases(problem, goal)
    except CostsTooLarge:
        yield Refusal(feature, "its numbers would be beyond 64 bits", "give weights and costs with fewer digits")
        return
    yield from _lacking(first.goals[0].sum, backend, "minimize", feature)
    for bound in first.bounds[:1]:
        yield from _lacking(bound.sum, backend, "bound", feature)


def _bound_case_lacks(bound: Bound, backend: Backend, feature: str) -> Iterator[Refusal]:
    try:
        first, *_ = bound_cases(bound)
    except CostsTooLarge:
        yield Refusal(feature, "its numbers would be beyond 64 bits", "give weights and costs with fewer digits")
        return
    yield from _lacking(first.sum, backend, "bound", feature)


def _quotient_lacks(goal: Goal, backend: Backend, feature: str) -> Iterator[Refusal]:
    quotient = quotient_of(goal)
    assert quotient is not None
    if quotient.is_small:
        yield from _lacking(quotient.largest_sum(), backend, "minimize", feature)
    else:
        yield _large(quotient, feature)


def _large(quotient: Quotient, feature: str) -> Refusal:
    because = f"its numbers would reach {quotient.reach:.1e}, which is beyond 64 bits"
    return Refusal(feature, because, "give weights and costs with fewer digits")


def _counting_lacks(goal: Goal, backend: Backend, feature: str) -> Iterator[Refusal]:
    table = counts(goal)
    assert table is not None
    if not table.is_small:
        yield _large_counts(table, feature)
        return
    yield from _lacking(table.line(1, 1), backend, "minimize", feature)
    yield from _lacking(table.line(1, 1), backend, "bound", feature)


def _narrowing_lacks(bound: Bound, backend: Backend, feature: str) -> Iterator[Refusal]:
    table = counts_of(bound.sum)
    assert table is not None
    if not table.is_small:
        yield _large_counts(table, feature)
        return
    for each in example_bounds(bound):
        yield from _lacking(each.sum, backend, "bound", feature)


def _large_counts(table: PositiveCounts, feature: str) -> Refusal:
    reach = (table.most_right + table.most_wrong) * LARGEST
    return Refusal(feature, f"its numbers would reach {reach:.1e}, which is beyond 64 bits", "give shorter weights")


def _hold_lacks(goal: Goal, backend: Backend, feature: str) -> Iterator[Refusal]:
    """What the back-end lacks to bound the goal from above; a `Largest` is bounded through its parts."""
    quotient = quotient_of(goal)
    held = Bound(goal.sum, "<=", Fraction(0))
    if needs_narrowing(held, backend.can):
        yield from _narrowing_lacks(held, backend, feature)
        return
    if needs_bound_cases(held, backend.can):
        yield from _bound_case_lacks(held, backend, feature)
        return
    if quotient is not None:
        if not quotient.is_small:
            yield _large(quotient, feature)
            return
        held = Bound(quotient.largest_sum(), "<=", Fraction(0))
    for bound in (held,) if "Largest" in backend.can.bounds else spread_bound(held):
        yield from _lacking(bound.sum, backend, "bound", feature)


def _lacking(total: Sum, backend: Backend, verb: str, feature: str) -> Iterator[Refusal]:
    able = backend.can.bounds if verb == "bound" else backend.can.goals
    kinds = total.all_kinds()
    for kind in sorted(kinds - able):
        yield Refusal(feature, f"{backend.name} cannot {verb} {KINDS[kind].phrase}")
    if verb == "bound" and len(total.kinds()) > 1 and kinds <= able and not backend.can.sums:
        mixed = " and ".join(KINDS[kind].phrase for kind in sorted(total.kinds()))
        yield Refusal(feature, f"{backend.name} cannot bound {mixed} added up", "bound each of them by itself")
