"""Problem -> the same problem in numbers that a back-end can represent: the innermost step of a plan.

If values lie on a finite grid, a limit can be replaced by the nearest allowed value of the grid, and a price by any
other that orders all pairs of values in the same way. So limits that no tree reaches, shares such as 0.6666666666666666
and prices such as 1e30 become small numbers. Nothing is rounded: the same trees are allowed, and the same of two trees
is better. What a back-end proves about the rescaled goal is translated back to the user's goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from treeml.backends.claims import Evidence, Proof
from treeml.backends.contract import Answer, Carries, Limits, OnProgress, Progress, Refusal, Solve, Status, Stop
from treeml.backends.planning.lowerings import Step
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.grid import Grid
from treeml.problem.magnitudes import added
from treeml.problem.neighbors import SHORT, alike, beside, simplest_between
from treeml.problem.problem import Bound, Goal, Problem, once
from treeml.problem.shapes import depth_without_answers, depth_without_bounds, leaves_at
from treeml.problem.terms import Depth, Leaves, Purity, Ratio, Sum, Term
from treeml.problem.tree import Node

PLAIN = 2**40  # numbers up to here are left as they are
MOST_STEPS = 512  # the most steps of the shorter part of a bounded sum of two for which `_line` is tried
DEEPEST_MODEL = 10  # deeper trees are beyond solvers with variables for every node
ONE = Fraction(1)
TURNED = {"<=": ">=", ">=": "<=", "=": "="}


@dataclass(frozen=True, slots=True)
class Rescaled:
    """A rescaled problem, sentences on what was done, and for every goal the way back, if it needs one."""

    asked: Problem
    problem: Problem
    sentences: tuple[str, ...] = ()
    prices: tuple[Price | None, ...] = ()


@once
def rescaled(problem: Problem, carries: Carries | None) -> Rescaled:
    """The rescaled problem; the problem itself if all its numbers are small enough."""
    sentences: list[str] = []
    bounds: list[Bound] = []
    for bound in problem.bounds:
        for settled, sentence in _settled(bound, problem, carries):
            if settled is not None:
                bounds.append(settled)
            if sentence:
                sentences.append(sentence)
    goals: list[Goal] = []
    prices: list[Price | None] = []
    for goal in problem.goals:
        other, price, sentence = _priced(goal, problem, carries)
        goals.append(other)
        prices.append(price)
        if sentence:
            sentences.append(sentence)
    same = len(bounds) == len(problem.bounds) and all(map(_is, bounds, problem.bounds))
    if same and all(map(_is, goals, problem.goals)):
        return Rescaled(problem, problem)
    return Rescaled(
        problem, problem.asking(tuple(goals), tuple(bounds)), tuple(dict.fromkeys(sentences)), tuple(prices)
    )


def _is(one: object, other: object) -> bool:
    return one is other


def oversized(problem: Problem, carries: Carries | None, name: str) -> Iterator[Refusal]:
    """Refusals for numbers of a rescaled problem that are still too large for the back-end."""
    if carries is None:
        return
    for bound in problem.bounds:
        feature = f"the requirement {bound.name}" if bound.name else "a requirement"
        if _is_only(bound, Purity):
            factor, purity = bound.sum.parts[0]
            assert isinstance(purity, Purity)
            share = (bound.limit - bound.sum.constant) / factor
            reach = added(purity.weight.ravel()) * max(abs(share.numerator), share.denominator)
            if reach > carries.shares:
                yield _beyond(feature, name, reach, carries.shares)
        elif len(bound.sum.parts) != 1 or not bound.sum.parts[0][1].is_count:
            yield from _beyond_sums(bound.sum, problem, carries, feature, name)
    for goal in problem.goals:
        feature = f"the goal {goal.text}" if goal.text else "the goal"
        yield from _beyond_sums(goal.sum, problem, carries, feature, name)


def _beyond_sums(total: Sum, problem: Problem, carries: Carries, feature: str, name: str) -> Iterator[Refusal]:
    reach = _reach(total, problem, carries.sums)
    if reach is not None:
        yield _beyond(feature, name, reach, carries.sums)


def _reach(total: Sum, problem: Problem, most: int) -> int | None:
    """The largest distance of a sum from zero, in its units, if it is above `most`; otherwise None."""
    rough = total.rough_size(problem)
    if rough is None or rough <= most:
        return None
    grid = total.grid(problem)
    return None if grid is None or grid.size <= most else grid.size


def _beyond(feature: str, name: str, reach: int, most: int) -> Refusal:
    return Refusal(
        feature,
        f"{name} computes with whole numbers up to {most:.1e}, and this takes numbers up to {reach:.1e}",
        "give weights, costs and factors with fewer digits",
    )


# -- bounds ---------------------------------------------------------------------------------


def _settled(bound: Bound, problem: Problem, carries: Carries | None) -> Iterator[tuple[Bound | None, str]]:
    """Bounds that together are equivalent to this one, each with a sentence if it differs; None: always met."""
    if len(bound.sum.parts) != 1:
        yield from _settled_sum(bound, problem, carries)
        return
    bound = _with_small_terms(bound, problem, carries)
    factor, term = bound.sum.parts[0]
    limit = bound.limit - bound.sum.constant if bound.sum.constant else bound.limit
    if factor != 1:
        limit /= factor
    sense = bound.sense if factor.numerator > 0 else TURNED[bound.sense]
    if isinstance(term, Purity):
        other = _settled_share(limit, sense, added(term.weight.ravel()), carries)
    elif isinstance(term, Ratio):
        other = _settled_ratio(limit, sense, term, problem)
    else:
        other = _settled_limit(limit, sense, term, problem)
    if other is limit:
        yield bound, ""
    elif other is None:
        kept = _depth_instead(bound.name, problem) if isinstance(term, Leaves) and sense == "<=" else None
        yield kept, f"{_called(bound)} holds for every tree"
    else:
        sentence = f"{_called(bound)} is compared with {other}: no value here lies between"
        if isinstance(term, Depth) and sense == "<=":
            sentence = f"no tree here is deeper than {other}, so depth is bounded by {other}"
        yield replace(bound, limit=factor * other + bound.sum.constant), sentence


def _depth_instead(name: str, problem: Problem) -> Bound | None:
    """A limit on depth that every tree keeps, in place of one on leaves; None if there is one, or if trees get deep.

    Solvers build a model of a tree that is as deep as some limit allows: without any they would refuse the problem."""
    deepest = depth_without_answers(problem)
    if problem.max_depth is not None or deepest > DEEPEST_MODEL:
        return None
    return Bound(Sum(((ONE, Depth()),)), "<=", Fraction(deepest), name)


def _called(bound: Bound) -> str:
    return f"`{bound.name}`" if bound.name else "a requirement"


def _with_small_terms(bound: Bound, problem: Problem, carries: Carries | None) -> Bound:
    """The bound with common factors taken out of its term, if the numbers are too large."""
    factor, term = bound.sum.parts[0]
    if carries is None or term.is_count:
        return bound
    if isinstance(term, Purity):
        share = (bound.limit - bound.sum.constant) / factor
        too_large = added(term.weight.ravel()) * share.denominator > carries.shares
    else:
        too_large = _reach(bound.sum, problem, carries.sums) is not None
    smaller = term.divided() if too_large else term
    return bound if smaller is term else replace(bound, sum=Sum(((factor, smaller),), bound.sum.constant))


def _settled_limit(limit: Fraction, sense: str, term: Term, problem: Problem) -> Fraction | None:
    """The limit itself if it is small; otherwise the nearest allowed value, or one just beyond all values."""
    if isinstance(term, Depth) and sense == "<=" and limit >= 0:
        there_are = depth_without_bounds(problem, floor(limit))
        return limit if there_are == floor(limit) else Fraction(there_are)  # solvers need a depth bound
    if isinstance(term, Leaves) and sense == "<=" and limit >= 1:
        return limit if limit < leaves_at(depth_without_answers(problem), problem) else None
    if term.step is not None and _are_few(limit, term.step or ONE):
        return limit
    grid = term.grid(problem.asking((), ()))  # without bounds: a bound on depth or leaves would justify itself
    return limit if grid is None else _on_grid(limit, sense, grid)


def _are_few(limit: Fraction, step: Fraction) -> bool:
    """Is the limit a small number of steps? The quotient is compared without making it."""
    above, below = abs(limit.numerator) * step.denominator, limit.denominator * abs(step.numerator)
    return (above <= PLAIN and below <= PLAIN) or _is_plain(Fraction(above, below))


def _is_plain(steps: Fraction) -> bool:
    return abs(steps) <= PLAIN and steps.denominator <= PLAIN


def _on_grid(limit: Fraction, sense: str, grid: Grid) -> Fraction | None:
    """An equivalent limit on the grid or just beyond it; None if all values are allowed."""
    steps = limit / grid.unit
    if _is_plain(steps):
        return limit
    if sense == "<=":
        whole = floor(steps)
        return None if whole >= grid.greatest else grid.unit * max(whole, grid.least - 1)
    if sense == ">=":
        whole = ceil(steps)
        return None if whole <= grid.least else grid.unit * min(whole, grid.greatest + 1)
    if steps.denominator == 1 and grid.least <= steps <= grid.greatest:
        return limit
    return grid.unit * (grid.greatest + 1)  # no tree has this value, just as no tree has the limit


def _is_only(bound: Bound, kind: type) -> bool:
    return len(bound.sum.parts) == 1 and isinstance(bound.sum.parts[0][1], kind)


def _settled_share(limit: Fraction, sense: str, weight: int, carries: Carries | None) -> Fraction | None:
    """An equivalent limit for a share m / w with m <= w, where w is at most the weight of all rows."""
    if (sense == ">=" and limit <= 0) or (sense == "<=" and limit >= 1):
        return None
    if limit < 0 or limit > 1:
        return limit if _is_plain(limit) else Fraction(2 if limit > 1 else -1)
    if carries is None or weight * limit.denominator <= min(carries.shares, PLAIN):
        return limit
    other = beside(limit, sense, weight, weight)
    return limit if other == limit else other


def _settled_ratio(limit: Fraction, sense: str, term: Ratio, problem: Problem) -> Fraction:
    """An equivalent limit for a quotient: numerator and denominator are bounded by the grids of the two sums."""
    above, below = term.numerator.grid(problem), term.denominator.grid(problem)
    constant = term.numerator.constant or term.denominator.constant
    if above is None or below is None or constant or limit < 0 or min(above.least, below.least) < 0:
        return limit
    if limit.denominator <= SHORT and limit.numerator <= SHORT:
        return limit
    worth = above.unit / below.unit
    return beside(limit / worth, sense, above.greatest, below.greatest) * worth


def _settled_sum(bound: Bound, problem: Problem, carries: Carries | None) -> Iterator[tuple[Bound | None, str]]:
    """The bound with a limit on the grid, or, if numbers are too large, another line that allows the same values.

    In the second case an equation becomes two bounds.
    """
    reach = None if carries is None else _reach(bound.sum, problem, carries.sums)
    if reach is None:
        limit = bound.limit - bound.sum.constant
        grid = None if _is_plain(limit) else bound.sum.grid(problem)
        other = limit if grid is None else _on_grid(limit, bound.sense, grid)
        if other is limit:
            yield bound, ""
        elif other is None:
            yield None, f"{_called(bound)} holds for every tree"
        else:
            sentence = f"{_called(bound)} is compared with {other}: no value here lies between"
            yield replace(bound, limit=other + bound.sum.constant), sentence
        return
    pair = _pair_of(bound.sum, problem)
    if pair is None or pair.grids[pair.short].span > MOST_STEPS:
        yield bound, ""
        return
    limit = bound.limit - bound.sum.constant
    for sense in ("<=", ">=") if bound.sense == "=" else (bound.sense,):
        line = _line(pair, limit) if sense == "<=" else _line(pair.turned(), -limit)
        if line is None:
            yield None, f"{_called(bound)} holds for every tree"
        else:
            sentence = f"{_called(bound)} is rewritten in smaller numbers that allow the same values of its two parts"
            yield Bound(line[0], "<=", line[1], bound.name), sentence


@dataclass(frozen=True, slots=True)
class Pair:
    """Two parts of a sum that should be small; `long` and `short` are their indices, `short` has fewer steps."""

    total: Sum
    long: int
    short: int
    grids: tuple[Grid, Grid]  # of the parts with their factors

    def turned(self) -> Pair:
        """The same for minus the sum."""
        one, other = (grid.times(Fraction(-1)) for grid in self.grids)
        return Pair(self.total.negated(), self.long, self.short, (one, other))

    @property
    def worth(self) -> Fraction:
        """What a step of the short part is worth, in steps of the long one."""
        return self.grids[self.short].unit / self.grids[self.long].unit

    def in_steps(self, long: int, short: int) -> Sum:
        """The sum in which one step of each part counts `long` or `short`, without the constant."""
        parts = list(self.total.parts)
        for number, weight in ((self.long, long), (self.short, short)):
            factor, term = parts[number]
            parts[number] = (factor * weight / self.grids[number].unit, term)
        return Sum(tuple(parts))


def _pair_of(total: Sum, problem: Problem) -> Pair | None:
    if len(total.parts) != 2:
        return None
    grids = []
    for factor, term in total.parts:
        grid = term.grid(problem)
        if grid is None or not factor or not grid.unit:
            return None
        grids.append(grid.times(factor))
    long = 0 if grids[0].span >= grids[1].span else 1
    return Pair(total, long, 1 - long, (grids[0], grids[1]))


def _line(pair: Pair, limit: Fraction) -> tuple[Sum, Fraction] | None:
    """A sum of small numbers and a limit that allow the same pairs of steps; None if all pairs are allowed.

    For every value of the short part, the long part may go up to some step. A line with another slope allows the same
    pairs if every allowed pair lies below it and every first forbidden pair above it.
    """
    long, short = pair.grids[pair.long], pair.grids[pair.short]
    ends = {
        place: min(long.greatest, max(long.least - 1, floor(limit / long.unit - pair.worth * place)))
        for place in range(short.least, short.greatest + 1)
    }
    allowed = {place: end for place, end in ends.items() if end >= long.least}
    refused = {place: end + 1 for place, end in ends.items() if end < long.greatest}
    if not refused:
        return None
    if not allowed:
        return pair.in_steps(1, 1), Fraction(long.least + short.least - 1)
    low, high = Fraction(0), None
    for place, end in allowed.items():
        for other, beyond in refused.items():
            if place > other:
                slope = Fraction(beyond - end, place - other)
                high = slope if high is None or slope < high else high
            elif place < other:
                low = max(low, Fraction(end - beyond, other - place))
    slope = simplest_between(low, high)
    most = max(slope.denominator * end + slope.numerator * place for place, end in allowed.items())
    return pair.in_steps(slope.denominator, slope.numerator), Fraction(most)


# -- goals ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Price:
    """The way back from a goal `long * u + short * v` in small whole numbers to the user's goal."""

    pair: Pair
    long: int
    short: int

    def value(self, whole: Fraction) -> Fraction | None:
        """The user's value of a tree whose rescaled value is known; None if no pair of steps has it.

        At most one pair has it: the next one is `short` steps of the one part and `long` steps of the other away, which
        is outside the grid.
        """
        long, short = self.pair.grids[self.pair.long], self.pair.grids[self.pair.short]
        number = floor(whole)
        first = max(short.least, ceil(Fraction(number - self.long * long.greatest, self.short)))
        last = min(short.greatest, floor(Fraction(number - self.long * long.least, self.short)))
        remainder = number * pow(self.short, -1, self.long) % self.long if self.long > 1 else 0
        place = first + (remainder - first) % self.long
        return self._user((number - self.short * place) // self.long, place) if place <= last else None

    def lower(self, whole: Fraction) -> Fraction:
        """A lower bound on the user's values if no tree has a rescaled value below `whole`."""
        long, short = self.pair.grids[self.pair.long], self.pair.grids[self.pair.short]
        turn = Fraction(whole - self.long * long.least) / self.short
        places = {short.least, short.greatest, floor(turn), ceil(turn)}
        return min(
            self._user(max(Fraction(long.least), Fraction(whole - self.short * place) / self.long), place)
            for place in places
            if short.least <= place <= short.greatest
        )

    def _user(self, steps: Fraction | int, place: int) -> Fraction:
        long, short = self.pair.grids[self.pair.long], self.pair.grids[self.pair.short]
        return long.unit * steps + short.unit * place + self.pair.total.constant


def _priced(goal: Goal, problem: Problem, carries: Carries | None) -> tuple[Goal, Price | None, str]:
    """The goal in smaller numbers: without common factors, and with a simpler ratio between its two parts."""
    most = 0 if carries is None else min(carries.goals, carries.sums)
    if carries is None or _reach(goal.sum, problem, most) is None:
        return goal, None, ""
    parts = tuple((factor, term.divided()) for factor, term in goal.sum.parts)
    sentence = ""
    if not all(map(_is, (term for _, term in parts), (term for _, term in goal.sum.parts))):
        goal = replace(goal, sum=Sum(parts, goal.sum.constant))
        sentence = f"a common factor is taken out of {_named(goal)}"
        if _reach(goal.sum, problem, most) is None:
            return goal, None, sentence
    pair = _pair_of(goal.sum, problem)
    if pair is None:
        return goal, None, sentence
    worth = alike(pair.worth, pair.grids[pair.long].span, pair.grids[pair.short].span)
    if worth == pair.worth:
        return goal, None, sentence
    other = replace(goal, sum=pair.in_steps(worth.denominator, worth.numerator))
    sentence = (
        f"in {_named(goal)} one step of the shorter part counts as {worth} steps of the other, "
        "which orders all trees as the given factors do"
    )
    return other, Price(pair, worth.denominator, worth.numerator), sentence


def _named(goal: Goal) -> str:
    return f"the goal {goal.text}" if goal.text else "the goal"


# -- the step of a plan ---------------------------------------------------------------------


def rescaling(carries: Carries | None, known: Sequence[Rescaled] = ()) -> Step:
    """The step directly around the back-end, which rescales what the other steps ask; `known` is from planning."""
    sentence = "; ".join(dict.fromkeys(said for made in known for said in made.sentences))

    def around(inner: Solve) -> Solve:
        def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
            made = next((made for made in known if made.asked is problem), None) or rescaled(problem, carries)
            if not any(made.prices):
                return inner(made.problem, limits, start, on_progress)
            return _Lifting(problem, made, limits, on_progress).solve(inner, start)

        return solve

    return Step(sentence, around)


def _rescaled_too(evidence: Proof) -> Proof:
    """Evidence about the rescaled problem as evidence about the user's problem."""
    return tuple(Evidence("rescaled", "", (each,)) for each in evidence)


@dataclass(slots=True)
class _Lifting:
    """One solve of a problem with rescaled goals; it translates all values back to the user's."""

    problem: Problem
    made: Rescaled
    limits: Limits
    on_progress: OnProgress | None
    within_gap: bool = False

    def solve(self, inner: Solve, start: Node | None) -> Answer:
        # The gap is defined for the user's values, so it is checked here.
        listens = self.on_progress is not None or self.limits.gap
        limits = replace(self.limits, gap=Fraction(0))
        answer = inner(self.made.problem, limits, start, self.on_inner_progress if listens else None)
        trace = tuple(self.moment(moment) for moment in answer.trace)
        answer = replace(answer, evidence=_rescaled_too(answer.evidence), trace=trace)
        if answer.tree is None:
            return replace(answer, bound=self.bound(answer.bound, answer.bounded_goal or 0))
        objective = evaluate_goals(self.problem, answer.tree)
        if answer.status is Status.OPTIMAL:
            number = -1 if answer.bounded_goal is None else answer.bounded_goal
            below = None if answer.bound is None else objective[number]
            return replace(answer, objective=objective, bound=below)
        number = answer.bounded_goal or 0
        below = self.bound(answer.bound, number)
        below = None if below is None else min(below, objective[number])
        stop = Stop.GAP if self.within_gap and answer.stop is Stop.INTERRUPTED else answer.stop
        return replace(answer, objective=objective, bound=below, stop=stop)

    def on_inner_progress(self, moment: Progress) -> bool | None:
        lifted = self.moment(moment)
        if self.on_progress is not None and self.on_progress(lifted) is False:
            return False
        if self.limits.gap and lifted.objective and lifted.bound is not None:
            value = lifted.objective[0]
            self.within_gap = value - lifted.bound <= self.limits.gap * abs(value)
            return False if self.within_gap else None
        return None

    def moment(self, moment: Progress) -> Progress:
        objective = None
        if moment.tree is not None and moment.objective is not None:
            objective = evaluate_goals(self.problem, moment.tree)[: len(moment.objective)]
        elif moment.objective is not None:
            values = [
                value if price is None else price.value(value)
                for value, price in zip(moment.objective, self.made.prices, strict=False)
            ]
            objective = None if None in values else tuple(value for value in values if value is not None)
        bound = self.bound(moment.bound, 0) if len(self.problem.goals) == 1 else None
        return replace(moment, objective=objective, bound=bound, evidence=_rescaled_too(moment.evidence))

    def bound(self, whole: Fraction | None, number: int) -> Fraction | None:
        price = self.made.prices[number]
        return whole if whole is None or price is None else price.lower(whole)
