"""Problem -> IntegerTask: goals and bounds become linear forms in integers, bounds on single leaves become leaf rules.

A recall requirement, for example, arrives as a bound on `Predicted` terms and leaves as an `IntegerRequirement`, which
every encoding then writes in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.task.integer_task import (
    LARGEST_SHARE,
    LARGEST_SUM,
    TOO_LARGE,
    Form,
    IntegerRequirement,
    IntegerTask,
    LeafRule,
    form_range,
)
from treeml.backends.task.unsupported import Unsupported
from treeml.problem.magnitudes import added, checked_product, largest
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import (
    Depth,
    Largest,
    LeafErrors,
    Leaves,
    Loss,
    Monotone,
    Predicted,
    Purity,
    Ratio,
    Sum,
    Support,
    TestCost,
    Used,
    WeightedDepth,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

STEPS_OF_A_LOSS = 10**9
MOST_STEPS = 2**44  # of a squared loss, if prices beside it need finer steps
LARGEST_WEIGHT = 2**59  # of all rows, if only shares of it are compared


def read_problem(problem: Problem, most: Fraction | None = None, steps: int = STEPS_OF_A_LOSS) -> IntegerTask:
    """The task of a problem; raises Unsupported if no encoding can express it.

    Trees whose goal exceeds `most` do not matter, so a squared loss in the goal is rounded to multiples of
    `most` / `steps`.
    """
    if len(problem.goals) > 1:
        raise Unsupported("several goals", "one goal is solved at a time", "the plan solves them one after the other")
    goal = Form()
    if problem.goals:
        goal = form_of(problem.goals[0].sum, "the goal", most, int(problem.count.sum()), steps)
    requirements: list[IntegerRequirement] = []
    rules: list[LeafRule] = []
    monotone: list[tuple[Monotone, str]] = []
    weighted: list[tuple[tuple[int, ...], int]] = []
    depths: list[int] = []
    for bound in problem.bounds:
        for single in _flattened(bound):
            kinds = single.sum.kinds()
            if kinds & {"Support", "Purity", "LeafErrors"}:
                rules.extend(_leaf_rules(single))
            elif "Monotone" in kinds:
                monotone.extend(_monotone(single))
            elif "WeightedDepth" in kinds:
                weighted.append(_weighted_depth(single))
            else:
                requirement = _requirement(single)
                if _is_depth_limit(requirement):
                    assert requirement.high is not None
                    depths.append(requirement.high)
                    if requirement.low is not None:
                        requirements.append(
                            IntegerRequirement(requirement.form, requirement.low, None, requirement.name)
                        )
                else:
                    requirements.append(requirement)
    for requirement in requirements:
        form = requirement.form
        if form.leaves > 0 and requirement.high is not None and _only_leaves(form):
            depths.append((requirement.high - form.offset) // form.leaves - 1)
    if not depths:
        raise Unsupported("unbounded depth", "the model has one variable per node", "add `require depth <= ...`")
    depth = max(-1, min(depths))
    merged = tuple(_relaxed_low(item, depth) for item in _merged(requirements))
    task = IntegerTask(depth, goal, merged, tuple(rules), tuple(monotone), tuple(weighted))
    _check_sizes(task, problem)
    return task


def _weighted_depth(bound: Bound) -> tuple[tuple[int, ...], int]:
    factor, term = bound.sum.parts[0]
    if len(bound.sum.parts) != 1 or factor <= 0 or bound.sense != "<=" or not isinstance(term, WeightedDepth):
        raise Unsupported("a weighted depth", "only a limit from above of it alone is encoded")
    return term.weights, floor((bound.limit - bound.sum.constant) / factor)


def _check_sizes(task: IntegerTask, problem: Problem) -> None:
    """Raises Unsupported if a number would not stay exact in a solver."""
    for form in task.forms:
        if max(map(abs, form_range(form, problem, task))) > LARGEST_SUM:
            raise Unsupported("numbers of this size", TOO_LARGE)
    if task.largest_share > LARGEST_SHARE:
        raise Unsupported("a purity limit with this many digits and such large weights", TOO_LARGE)
    for rule in task.leaf_rules:
        most = LARGEST_WEIGHT if rule.kind == "purity" else LARGEST_SUM
        if rule.cost is not None and _beyond(rule.cost, most):
            raise Unsupported("weights of this size", TOO_LARGE)


def _beyond(cost: Whole, most: int) -> bool:
    return largest(cost) * cost.size > most and added(np.abs(cost).ravel()) > most


def _relaxed_low(item: IntegerRequirement, depth: int) -> IntegerRequirement:
    """The requirement with its lower limit relaxed by the rounding of squared losses, which is below 1 per leaf."""
    if item.low is None or not any(loss.kind == "squared" for _, loss in item.form.losses):
        return item
    return IntegerRequirement(item.form, item.low - 2 ** max(0, depth), item.high, item.name)


def _merged(requirements: list[IntegerRequirement]) -> Iterator[IntegerRequirement]:
    """Merges requirements of one name whose sums of predictions are equal up to sign into one with two limits.

    A gap between groups bounds both differences of every pair of groups, so this halves the number of sums.
    """
    found: dict[tuple[str, bytes] | int, tuple[int, IntegerRequirement]] = {}
    for place, item in enumerate(requirements):
        cost = item.form.predicted
        if cost is None or item.form.losses or not item.form.additive or item.form.leaves or item.form.test_costs:
            found[place] = 1, item
            continue
        sign = 1 if cost.flat[np.flatnonzero(cost)[0]] > 0 else -1
        key = item.name, (sign * cost).tobytes()
        if key not in found:
            found[key] = sign, item
            continue
        first, known = found[key]
        low, high = item.low, item.high
        if sign != first:
            low, high = None if high is None else -high, None if low is None else -low
        low = max((limit for limit in (known.low, low) if limit is not None), default=None)
        high = min((limit for limit in (known.high, high) if limit is not None), default=None)
        if low is not None and high is not None and low > high:
            found[place] = 1, item  # solvers reject a single empty range as invalid, but prove two rows infeasible
        else:
            found[key] = first, IntegerRequirement(known.form, low, high, item.name)
    for _, item in found.values():
        yield item


def form_of(total: Sum, where: str, most: Fraction | None = None, rows: int = 1, steps: int = STEPS_OF_A_LOSS) -> Form:
    """A sum of terms as one form in integers, with common divisors removed.

    Values above `most` do not matter; a test is paid for at most `rows` times; squared losses are rounded to `steps`.
    """
    raw = _Raw(rows, steps)
    for factor, term in total.parts:
        raw.add(factor, term, where)
    raw.constant += total.constant
    if most is not None and most > total.constant and only_costs(total):
        raw.most = most - total.constant
    return raw.form()


def only_costs(total: Sum) -> bool:
    """Is every part of the sum nonnegative?"""
    return all(
        factor >= 0
        and isinstance(term, Loss | Leaves | Depth | Used | TestCost)
        and getattr(term, "scale", 1) >= 0
        and min(getattr(term, "costs", (0,)), default=0) >= 0
        for factor, term in total.parts
    )


class _Raw:
    """A form with fractional coefficients, while terms are added to it."""

    def __init__(self, rows: int = 1, steps: int = STEPS_OF_A_LOSS) -> None:
        self.rows, self.steps = rows, steps
        self.predicted: list[tuple[Fraction, Whole]] = []
        self.leaves = Fraction(0)
        self.depth = Fraction(0)
        self.used: dict[int, Fraction] = {}
        self.test_costs: dict[int, Fraction] = {}
        self.losses: list[tuple[Fraction, Loss]] = []
        self.largest: list[tuple[Fraction, list[_Raw]]] = []
        self.constant = Fraction(0)
        self.most: Fraction | None = None
        self.rough = False

    def add(self, factor: Fraction, term: object, where: str) -> None:
        if not factor:
            return
        if isinstance(term, Predicted):
            self.predicted.append((factor * term.scale, term.cost))
        elif isinstance(term, Leaves):
            self.leaves += factor
        elif isinstance(term, Depth):
            self.depth += factor
        elif isinstance(term, Used):
            for feature in term.features:
                self.used[feature] = self.used.get(feature, Fraction(0)) + factor
        elif isinstance(term, TestCost):
            for feature, cost in enumerate(term.costs):
                if cost:
                    self.test_costs[feature] = self.test_costs.get(feature, Fraction(0)) + factor * term.scale * cost
        elif isinstance(term, Loss):
            if term.kind == "squared" and not _spread(term):
                return  # all targets are equal, so the loss is 0
            self.losses.append((factor * term.scale, term))
        elif isinstance(term, Largest):
            raws = list(_largest_parts(term, where))
            if raws:
                self.largest.append((factor, raws))
        else:
            name = type(term).__name__.lower()
            raise Unsupported(f"{name} in {where}", "it is not a linear quantity of the tree")

    def shape_coefficients(self) -> Iterator[Fraction]:
        yield self.leaves
        yield self.depth
        yield from self.used.values()
        yield from self.test_costs.values()
        for factor, _ in self.predicted:
            yield factor

    def form(self) -> Form:
        unit = self._unit()
        if not self.largest:
            return self._scaled(unit)
        # The value of a maximum must be an integer multiple of one unit, and the whole sum of another.
        built: list[tuple[Fraction, tuple[Form, ...]]] = []
        for factor, raws in self.largest:
            denominators = [
                value.denominator for raw in raws for value in (*raw.shape_coefficients(), raw.constant) if value
            ]
            step = Fraction(1, lcm(*denominators)) if denominators else Fraction(1)
            for raw in raws:
                if raw.losses or raw.largest:
                    raise Unsupported("a loss under a largest value", "it has no whole-number steps")
            built.append((factor * step, tuple(raw._scaled(step, whole_constant=True) for raw in raws)))
        unit = _common_unit([unit, *(factor for factor, _ in built)])
        form = self._scaled(unit)
        largest = tuple((int(factor / unit), parts) for factor, parts in built)
        return Form(
            form.predicted, form.leaves, form.depth, form.used, form.test_costs, form.losses, form.ceiling, form.rough,
            largest, 0, unit, form.constant,
        )  # fmt: skip

    def _unit(self) -> Fraction:
        """A unit of which every coefficient is an integer multiple, as large as the divisors of the costs allow."""
        values = [value for value in (self.leaves, self.depth, *self.used.values(), *self.test_costs.values()) if value]
        for factor, cost in self.predicted:
            divisor = int(np.gcd.reduce(np.abs(cost), axis=None)) if cost.size else 0
            if divisor and factor:
                values.append(factor * divisor)
        for factor, loss in self.losses:
            if loss.kind != "squared":
                values.append(factor / (loss.level.denominator if loss.kind == "quantile" else 1))
        unit = _common_unit(values) if values else None
        real = [abs(factor) * _spread(loss) for factor, loss in self.losses if loss.kind == "squared"]
        squared = sum(real, Fraction(0))
        if squared:
            # Squared losses are real numbers: they are rounded down to a fraction of the largest loss that matters.
            squared = squared if self.most is None else min(squared, self.most)
            step = squared / self.steps
            exact = step if unit is None else unit / max(1, ceil(unit / step))
            reach = squared + abs(self.leaves) + self.rows * sum(self.test_costs.values(), Fraction(0))
            self.rough = reach / exact > MOST_STEPS and not self.predicted and not self.largest
            unit = max(step, reach / MOST_STEPS) if self.rough else exact
        return unit or Fraction(1)

    def _scaled(self, unit: Fraction, whole_constant: bool = False) -> Form:
        predicted: Whole | None = None
        for factor, cost in self.predicted:
            ratio = factor / unit
            part = _times(cost, ratio)
            predicted = part if predicted is None else predicted + part
        if predicted is not None and not predicted.any():
            predicted = None
        return Form(
            predicted=predicted,
            leaves=floor(self.leaves / unit),
            depth=floor(self.depth / unit),
            used={feature: floor(value / unit) for feature, value in self.used.items() if value},
            test_costs={feature: floor(value / unit) for feature, value in self.test_costs.items() if value},
            losses=tuple((factor / unit, loss) for factor, loss in self.losses if factor),
            ceiling=None if self.most is None else floor(self.most / unit) + 1,
            rough=self.rough,
            offset=int(self.constant / unit) if whole_constant else 0,
            scale=unit,
            constant=Fraction(0) if whole_constant else self.constant,
        )


def _times(cost: Whole, ratio: Fraction) -> Whole:
    """cost * ratio, which must be integer; raises Unsupported if it would not stay exact."""
    if not largest(cost):
        return np.zeros(cost.shape, np.int64)
    if largest(cost) * len(cost) * abs(ratio) > LARGEST_SUM and _reach(cost) * abs(ratio) > LARGEST_SUM:
        raise Unsupported("weights of this size", TOO_LARGE)
    whole = cost.astype(np.int64)
    return checked_product(whole if ratio.denominator == 1 else whole // ratio.denominator, ratio.numerator)


def _reach(cost: Whole) -> int:
    """An upper bound on the absolute sum over any rows, whatever classes are predicted."""
    return added(np.abs(cost).max(axis=1, initial=0))


def _spread(loss: Loss) -> Fraction:
    """An upper bound on the squared loss of a single leaf."""
    total = 0
    for output in range(loss.targets.shape[1]):
        values = [int(value) for value in loss.targets[:, output]]
        middle = sum(values) // max(1, len(values))
        total += sum(int(w) * (value - middle) ** 2 for w, value in zip(loss.weight, values, strict=True))
    return Fraction(total)


def _common_unit(values: list[Fraction]) -> Fraction:
    if not values:
        return Fraction(1)
    denominator = lcm(*(value.denominator for value in values))
    numerator = gcd(*(abs(int(value * denominator)) for value in values))
    return Fraction(max(1, numerator), denominator)


def _largest_parts(term: Largest, where: str) -> Iterator[_Raw]:
    """The parts of a maximum, with nested maxima flattened."""
    for part in term.parts:
        if len(part.parts) == 1 and isinstance(part.parts[0][1], Largest) and part.parts[0][0] > 0:
            factor, inner = part.parts[0]
            assert isinstance(inner, Largest)
            for single in inner.parts:
                scaled = Sum(tuple((factor * f, t) for f, t in single.parts), factor * single.constant + part.constant)
                yield from _largest_parts(Largest((scaled,)), where)
            continue
        raw = _Raw()
        for factor, single_term in part.parts:
            raw.add(factor, single_term, where)
        raw.constant += part.constant
        yield raw


def _flattened(bound: Bound) -> Iterator[Bound]:
    """A bound on a maximum or on a quotient as equivalent bounds on plain sums, where there are such."""
    parts = [(factor, term) for factor, term in bound.sum.parts if factor]
    if len(parts) == 1 and isinstance(parts[0][1], Ratio):
        yield from _ratio(bound)
        return
    if len(parts) == 1 and isinstance(parts[0][1], Largest):
        factor, term = parts[0]
        assert isinstance(term, Largest)
        limit = (bound.limit - bound.sum.constant) / factor
        sense = bound.sense if factor > 0 or bound.sense == "=" else {"<=": ">=", ">=": "<="}[bound.sense]
        if sense == "<=":
            for part in term.parts:
                yield from _flattened(Bound(part, "<=", limit, bound.name))
            return
    if any(isinstance(term, Ratio) for _, term in parts):
        raise Unsupported("a quotient in a sum", "precision can only be bounded on its own", "bound it by a number")
    yield bound


def _ratio(bound: Bound) -> Iterator[Bound]:
    """A bound on a quotient as a bound on numerator - limit * denominator; the denominator is never negative."""
    factor, term = bound.sum.parts[0]
    assert isinstance(term, Ratio)
    quotient = (bound.limit - bound.sum.constant) / factor
    sense = bound.sense if factor > 0 or bound.sense == "=" else {"<=": ">=", ">=": "<="}[bound.sense]
    bottom = form_of(term.denominator, "a quotient")
    top = form_of(term.numerator, "a quotient")
    plain = bottom.additive and not (bottom.leaves or bottom.test_costs or bottom.losses or bottom.constant)
    if not plain or top.constant or (bottom.predicted is not None and bottom.predicted.min() < 0):
        raise Unsupported("this quotient", "its denominator is not a count of predictions")
    if top.predicted is not None:
        idle = np.ones_like(top.predicted, dtype=bool) if bottom.predicted is None else bottom.predicted == 0
        if top.predicted[idle].any():
            raise Unsupported("this quotient", "its numerator counts what its denominator does not")
    parts = (*term.numerator.parts, *((-quotient * f, t) for f, t in term.denominator.parts))
    yield Bound(Sum(tuple(parts)), sense, Fraction(0), bound.name)


def _requirement(bound: Bound) -> IntegerRequirement:
    most = bound.limit if bound.sense in ("<=", "=") else None
    form = form_of(bound.sum, f"`{bound.name}`" if bound.name else "a requirement", most)
    limit = (bound.limit - form.constant) / form.scale
    if form.losses and abs(limit) > LARGEST_SUM:  # `form_range` does not bound losses, so they may be as large as that
        raise Unsupported("numbers of this size", TOO_LARGE)
    high = _in_reach(floor(limit)) if bound.sense in ("<=", "=") else None
    low = _in_reach(ceil(limit)) if bound.sense in (">=", "=") else None
    return IntegerRequirement(form, low, high, bound.name)


def _in_reach(limit: int) -> int:
    """The limit clipped to a range that no sum leaves, where its exact value does not matter."""
    return max(-2 * LARGEST_SUM, min(limit, 2 * LARGEST_SUM))


def _leaf_rules(bound: Bound) -> Iterator[LeafRule]:
    if len(bound.sum.parts) != 1:
        raise Unsupported("leaf conditions in a sum", "support, purity and leaf errors are bounded one by one")
    factor, term = bound.sum.parts[0]
    limit = (bound.limit - bound.sum.constant) / factor
    senses = {"=": ("<=", ">="), "<=": ("<=",), ">=": (">=",)}[bound.sense]
    if factor < 0:
        senses = tuple({"<=": ">=", ">=": "<="}[sense] for sense in senses)
    for sense in senses:
        if isinstance(term, Support):
            yield LeafRule("support", sense, _whole(limit, sense), sense == "<=", bound.name)
        elif isinstance(term, Purity):
            yield LeafRule("purity", sense, limit, sense == "<=", bound.name, term.weight)
        else:
            assert isinstance(term, LeafErrors)
            yield LeafRule("errors", sense, _whole(limit / term.scale, sense), sense == ">=", bound.name, term.cost)


def _whole(limit: Fraction, sense: str) -> Fraction:
    """The limit of an integer quantity, rounded to the next integer on its allowed side."""
    return Fraction(_in_reach(floor(limit) if sense == "<=" else ceil(limit)))


def _monotone(bound: Bound) -> Iterator[tuple[Monotone, str]]:
    factor, term = bound.sum.parts[0]
    if len(bound.sum.parts) != 1 or not isinstance(term, Monotone):
        raise Unsupported("monotone in a sum", "it is required on its own")
    limit = (bound.limit - bound.sum.constant) / factor
    at_least = bound.sense == "=" or (bound.sense == ">=") == (factor > 0)
    if at_least and 0 < limit <= 1:
        yield term, bound.name
    elif (bound.sense == "=" and limit == 0) or (not at_least and limit < 1) or (at_least and limit > 1):
        raise Unsupported("a tree that is not monotone", "only monotone trees can be required")


def _is_depth_limit(requirement: IntegerRequirement) -> bool:
    form = requirement.form
    only = form.depth > 0 and form.predicted is None and not (form.leaves or form.used or form.test_costs)
    return only and not form.losses and not form.largest and requirement.high is not None and form.depth == 1


def _only_leaves(form: Form) -> bool:
    return form.predicted is None and form.additive and not (form.test_costs or form.losses)
