"""Problem, back-end -> Plan: the steps that let the back-end solve the problem, or the reasons why it cannot.

A back-end declares what it takes natively; everything else is done here, once for all back-ends, by steps that each
have a sentence for `treeml explain`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from treeml.backends import registry
from treeml.backends.contract import NO_LIMITS, Answer, Backend, Capabilities, Limits, OnProgress, Refusal, Solve
from treeml.backends.planning.capabilities import (
    depth_is_found,
    is_direct,
    is_stepwise,
    lacks,
    needs_bound_cases,
    needs_cases,
    needs_counting,
    needs_deepening,
    needs_descending,
    needs_dividing,
    needs_growing,
    needs_narrowing,
    successive,
)
from treeml.backends.planning.count import count, counts
from treeml.backends.planning.deepen import deepen, grow, without
from treeml.backends.planning.descend import descend
from treeml.backends.planning.divide import divide
from treeml.backends.planning.lexicographic import lexicographic
from treeml.backends.planning.lowerings import Step, bounded, reduction, rewriting, spread
from treeml.backends.planning.narrow import example_bounds, narrow
from treeml.backends.planning.part_by_part import cases_of, part_by_part
from treeml.backends.planning.rescale import Rescaled, oversized, rescaled, rescaling
from treeml.problem.answers import has_many_answers
from treeml.problem.counts import LARGEST
from treeml.problem.problem import Bound, Goal, Problem, once
from treeml.problem.quotient import quotient_of
from treeml.problem.shapes import deepest
from treeml.problem.terms import Depth, Leaves, Predicted, Sum
from treeml.problem.tree import Node

# If a back-end needs a depth bound and the spec has none, one that follows from the rows and the other bounds is used,
# up to this depth: a model of deeper trees would be larger than any user intends.
DEEPEST_IMPLIED = 8

HALVING = "the largest of several sums is minimized by halving: is there a tree in the lower half of what is possible?"
CASES = "the largest of several sums is searched case by case: in each case one of the sums stands for the largest"
DIVIDING = (
    "a quotient is minimized by minimizing its numerator minus a number times its denominator, for numbers near the "
    "best quotient so far, until no better one is possible"
)
COUNTING = (
    "mcc and gmean are optimized by search over the counts: for intervals of false positives, the best tree along a "
    "line bounds them, and the interval is divided at its tree"
)
NARROWING = (
    "a requirement on mcc or gmean becomes limits on true and false positives, for smaller and smaller intervals of "
    "false positives"
)


@dataclass(frozen=True, slots=True)
class Plan:
    """How one back-end solves one problem."""

    problem: Problem
    backend: Backend
    steps: tuple[Step, ...]
    reason: str = ""  # why this back-end was chosen, if the user did not name it
    remark: str = ""  # how the back-end will proceed
    is_relaxed: bool = False  # does it solve an easier problem, whose answer is a bound if it is not the answer?

    def explain(self) -> list[str]:
        """The plan in sentences, in the order in which the steps are done."""
        opening = [self.reason] if self.reason else []
        remark = [self.remark] if self.remark else []
        return [*opening, *(step.sentence for step in self.steps if step.sentence), closing(self.backend), *remark]

    def solve(
        self, limits: Limits = NO_LIMITS, start: Node | None = None, on_progress: OnProgress | None = None
    ) -> Answer:
        """The answer, over the rows and tests of the planned problem. `run` does the same and checks every claim."""
        solve: Solve = self.backend.solve
        for step in reversed(self.steps):
            solve = step.around(solve)
        return solve(self.problem, limits, start, on_progress)


def closing(backend: Backend) -> str:
    """The sentence on what the back-end does itself."""
    return f"{backend.name} solves what is left: {backend.summary}"


def plan(
    problem: Problem, backend: Backend, options: Mapping[str, Any] | None = None, *, names_others: bool = True
) -> Plan | list[Refusal]:
    """The plan, or all reasons why there is none, each with what to do instead; `options` are those of the back-end.

    `names_others`: what to do instead names the back-ends that take the problem. To find them, a plan is made for each,
    which takes long if there are many tests.
    """
    outcome = _plan(problem, backend, options)
    if isinstance(outcome, Plan) or not names_others:
        return outcome
    able = [other.name for other in registry.automatic() if other.name != backend.name and _takes(problem, other)]
    return [replace(refusal, instead=_instead(refusal, able)) for refusal in outcome]


def plans(
    problem: Problem, backends: Iterable[tuple[Backend, Mapping[str, Any]]]
) -> Iterator[tuple[Backend, Mapping[str, Any], Plan | list[Refusal]]]:
    """The plans of several back-ends for one problem."""
    for backend, options in backends:
        yield backend, options, _plan(problem, backend, options)


def _plan(problem: Problem, backend: Backend, options: Mapping[str, Any] | None = None) -> Plan | list[Refusal]:
    can, steps = backend.can, []
    missing = backend.missing()
    if missing is not None:
        return [Refusal(f"the back-end {backend.name}", f"what it needs is not installed: {missing}", missing)]
    spreads = "Largest" not in can.bounds
    direct = is_direct(spread(problem) if spreads else problem, can)
    refusals = [] if direct else list(dict.fromkeys(lacks(spread(problem) if spreads else problem, backend)))
    if refusals:
        return refusals
    lowered = problem
    if not (can.merges_rows and can.merges_tests):
        lowered, step = reduction(problem, not can.merges_rows, not can.merges_tests)
        steps.append(step)
    if can.needs_depth and lowered.max_depth is None and not depth_is_found(lowered, can):
        depth = deepest(lowered)
        if depth > DEEPEST_IMPLIED:
            return [_any_depth(backend, depth)]
        lowered = bounded(lowered, depth)
        sentence = f"no tree here is deeper than {depth}, so depth is bounded by {depth}"
        steps.append(rewriting(sentence, partial(bounded, depth=depth)))
    if not direct:
        steps += restating_steps(lowered, can)
    if spreads and (any("Largest" in total.kinds() for total in _sums(lowered))):
        steps.append(rewriting("a limit on the largest of several sums becomes a limit on each of them", spread))
    asked = lowered_stages(lowered, can)
    steps.append(rescaling(can.carries, asked))
    own = list(_goal_options_refused(backend, problem, [made.problem for made in asked], options or {}))
    own += [refusal for made in asked for refusal in _size_or_own_refusals(backend, made.problem, options)]
    if own:
        return list(dict.fromkeys(own))
    return Plan(problem, backend, tuple(steps), remark=backend.remark(lowered, options or {}))


def restating_steps(lowered: Problem, can: Capabilities) -> Iterator[Step]:
    """The steps that solve goals and bounds which the back-end does not take as they are, by solves of other ones."""
    if successive(lowered, can):
        sentence = f"{len(lowered.goals)} goals are solved in turn, each with the earlier ones held at their best"
        yield Step(sentence, lexicographic)
    if any(needs_deepening(goal, can) for goal in lowered.goals):
        yield Step("depth is minimized by asking for a tree of depth 0, 1, 2, ... in turn", deepen)
    growing = [goal for goal in lowered.goals if needs_growing(goal, can)]
    if growing:
        yield Step("leaves are minimized by asking for a tree of 1, 2, 3, ... leaves in turn", grow)
    goals = [*lowered.goals, *(rest for goal in growing for rest in without(goal, Leaves))]
    if any(needs_descending(goal, can) for goal in goals):
        yield Step(HALVING, descend)
    below = any(needs_bound_cases(bound, can) for bound in _all_bounds(lowered))
    if below or any(needs_cases(goal, can) for goal in goals):
        yield Step(CASES, part_by_part)
    if any(needs_dividing(goal, can) for goal in goals):
        yield Step(DIVIDING, divide)
    if any(needs_counting(goal, can) for goal in goals):
        yield Step(COUNTING, count)
    if any(needs_narrowing(bound, can) for bound in _all_bounds(lowered)):
        yield Step(NARROWING, narrow)


@once
def lowered_stages(problem: Problem, can: Capabilities) -> tuple[Rescaled, ...]:
    """The stages as the back-end gets them: in small numbers, and without a `Largest` if it cannot bound one."""
    return tuple(
        rescaled(stage if "Largest" in can.bounds else spread(stage), can.carries) for stage in stages(problem, can)
    )


def stages(problem: Problem, can: Capabilities) -> Iterator[Problem]:
    """The problems that the back-end will get, stage by stage, with small limits for those not known yet."""
    if is_direct(problem, can):
        yield problem
        return
    for stage in (case for each in _stages(problem, can) for case in _cases(each, can)):
        if any(needs_narrowing(bound, can) for bound in stage.bounds):
            stage = stage.asking(stage.goals, tuple(each for bound in stage.bounds for each in _narrowed(bound, can)))
        yield stage


def _cases(stage: Problem, can: Capabilities) -> Iterator[Problem]:
    by_goal = any(needs_cases(goal, can) for goal in stage.goals)
    if not by_goal and not any(needs_bound_cases(bound, can) for bound in stage.bounds):
        yield stage
        return
    for case in cases_of(stage):
        yield stage.asking(case.goals, case.bounds)


def _narrowed(bound: Bound, can: Capabilities) -> tuple[Bound, ...]:
    return example_bounds(bound) if needs_narrowing(bound, can) else (bound,)


def _stages(problem: Problem, can: Capabilities) -> Iterator[Problem]:
    goals = problem.goals
    if not successive(problem, can) and not any(is_stepwise(goal, can) for goal in goals):
        yield problem
        return
    in_turn = [(goal,) for goal in goals] if successive(problem, can) else [goals]
    for number, asked in enumerate(in_turn):
        stage = problem.asking(asked, (*problem.bounds, *(_held(goal) for goal in goals[:number])))
        if len(asked) == 1 and needs_deepening(asked[0], can):
            stage = bounded(stage.asking(without(asked[0], Depth), stage.bounds), 1)
        elif len(asked) == 1 and needs_growing(asked[0], can) and without(asked[0], Leaves):
            two = Bound(Sum(((Fraction(1), Leaves()),)), "<=", Fraction(2))
            yield from _stages(stage.asking(without(asked[0], Leaves), (*stage.bounds, two)), can)
            continue
        elif len(asked) == 1 and needs_growing(asked[0], can):
            stage = bounded(stage.asking((), (*stage.bounds, Bound(asked[0].sum, "<=", Fraction(2)))), 1)
        elif len(asked) == 1 and needs_descending(asked[0], can):
            stage = stage.asking((), (*stage.bounds, _held(asked[0])))
        elif len(asked) == 1 and needs_dividing(asked[0], can):
            quotient = quotient_of(asked[0])
            assert quotient is not None
            # Several sums stand for those that will be asked: no bound of the problem is equal to all of them.
            for total in quotient.examples():
                yield stage.asking((replace(asked[0], sum=total),), stage.bounds)
            continue
        elif len(asked) == 1 and needs_counting(asked[0], can):
            table = counts(asked[0])
            assert table is not None
            within = (*stage.bounds, *table.wrong_between(1, table.most_wrong - 1))
            yield stage.asking((replace(asked[0], sum=table.line(LARGEST, LARGEST)),), stage.bounds)
            yield stage.asking((replace(asked[0], sum=table.line(1, 1)),), within)
            continue
        yield stage


def _held(goal: Goal) -> Bound:
    """A goal kept at a value that is not known yet: 0, or 2 for leaves, since no tree has 0 leaves.

    A sum over predictions is kept at the middle of its range: a back-end may leave out a limit that every tree meets,
    and would not be asked whether it takes this one.
    """
    quotient = quotient_of(goal)
    total = goal.sum if quotient is None else quotient.largest_sum()
    limit = Fraction(0)
    if total.kinds() == {"Leaves"}:
        limit = total.constant + 2 * sum(factor for factor, _ in total.parts)
    elif len(total.parts) == 1 and isinstance(total.parts[0][1], Predicted):
        factor, term = total.parts[0]
        assert isinstance(term, Predicted)
        share = factor * term.scale
        middle = sum(term.ends) // 2 if share > 0 else -(-sum(term.ends) // 2)
        limit = total.constant + share * middle
    return Bound(total, "<=", limit)


def _all_bounds(problem: Problem) -> tuple[Bound, ...]:
    """The bounds, and those that hold the earlier of several goals, but for quotients: those are plain sums."""
    earlier = (goal for goal in problem.goals[:-1] if quotient_of(goal) is None)
    return (*problem.bounds, *map(_held, earlier))


def _sums(problem: Problem) -> list[Sum]:
    return [goal.sum for goal in problem.goals] + [bound.sum for bound in problem.bounds]


def _size_or_own_refusals(backend: Backend, problem: Problem, options: Mapping[str, Any] | None) -> Iterator[Refusal]:
    """The refusals of the back-end itself; it is not asked if its numbers are too small for the problem."""
    too_large = list(oversized(problem, backend.can.carries, backend.name))
    yield from too_large or backend.refusals(problem, options or {})


def _goal_options_refused(
    backend: Backend, problem: Problem, asked: list[Problem], options: Mapping[str, Any]
) -> Iterator[Refusal]:
    """An option that states a value of the goal needs that goal, alone and in its own units, to reach the back-end."""
    known = backend.options if options else {}
    named = [name for name in options if name in known and known[name].of_goal]
    if not named or (
        len(asked) == len(problem.goals) == 1 and asked[0].goals[:1] and asked[0].goals[0] is problem.goals[0]
    ):
        return
    for name in named:
        because = f"`{name}` is a value of the goal, and here the goal is solved in several steps or in other units"
        if len(problem.goals) != 1:
            because = f"`{name}` is a value of the only goal, and here there is not exactly one"
        yield Refusal(f"the option `{name}`", because, "bound the measure by a requirement instead")


def _takes(problem: Problem, backend: Backend) -> bool:
    """Does the back-end take the problem? One that needs more answers than can be made is not asked."""
    if has_many_answers(problem) and not backend.can.numeric:
        return False
    return isinstance(_plan(problem, backend), Plan)


def _any_depth(backend: Backend, depth: int) -> Refusal:
    return Refusal(
        "a tree of any depth",
        f"{backend.name} builds a model of a fixed depth, and here a tree may be {depth:,} deep",
        "add `require depth <= 4`",
    )


def _instead(refusal: Refusal, able: list[str]) -> str:
    takers = f"{_listed(able)} {'takes' if len(able) == 1 else 'take'} this problem" if able else ""
    return "; ".join(part for part in (refusal.instead, takers) if part) or "no registered back-end takes this problem"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
