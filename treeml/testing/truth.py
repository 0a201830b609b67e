"""A world -> the best value of any tree, or that there is none, by examining every tree with exact fractions.

This is written from docs/measures.md alone and uses no part of the package except the worlds themselves, so it cannot
share a mistake with reading, lowering, solving or verifying.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import ceil, log
from random import Random

from treeml.testing.real_truth import cumulative_hazards, linear_loss, survival_loss, variance
from treeml.testing.worlds import CLASSES, CLUSTERS, SURVIVAL, Required, Weighted, World, WorldColumn, WorldMeasure

MOST_TREES = 6_000
MOST_LABELLED = 40_000
UNKNOWN_RULES = ("by quantiles", "by width")  # the package chooses these cuts, so they are unknown here


class TooMany(Exception):
    """There are too many trees to examine, or the tests are not known here."""


@dataclass(frozen=True, slots=True)
class TruthQuestion:
    """One test: the rows that pass it, and which of the column's values pass it."""

    column: str
    rows: frozenset[int]
    values: frozenset[int]
    of: int  # the number of values
    is_ordered: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A leaf: its rows, and the answers on the path to it."""

    rows: tuple[int, ...]
    path: tuple[tuple[int, bool], ...] = ()


Grown = tuple[Place, ...]  # a tree is its leaves


@dataclass(frozen=True, slots=True)
class Truth:
    """The best values of the goals as the user states them; None if no tree meets the requirements."""

    best: tuple[Fraction, ...] | None
    off: Fraction = Fraction(0)  # how far a value computed in floating point may be off


def truth(world: World) -> Truth | None:
    """None if there are too many trees to examine."""
    if world.forest or world.is_large:
        return None
    try:
        view = View(_dropped(world))
        return Truth(view.best(), view.off())
    except TooMany:
        return None


def some_values(random: Random, world: World, what: Weighted) -> tuple[Fraction, ...]:
    """Values of the sum on some trees: limits near these are interesting."""
    try:
        view = View(_dropped(world))
        trees = [view.random_tree(random) for _ in range(4)]
        values = [view.total(what, tree, view.random_labels(random, tree)) for tree in trees]
    except TooMany:
        return ()
    return tuple(value for value in values if value is not None and value >= 0)


def _dropped(world: World) -> World:
    for column in world.columns:
        if column.missing == "median":
            raise TooMany  # the package decides which of two middle values is used
        if column.missing == "drop":
            for row in reversed(range(world.rows)):
                if column.values[row] == "":
                    world = world.without_row(row)
    return world


class View:
    """A world with its numbers parsed and its tests listed."""

    def __init__(self, world: World) -> None:
        self.world, self.rows = world, world.rows
        self.questions = tuple(each for column in world.columns if column.name != "g" for each in _questions(column))
        self.actual = world.target
        self.names = sorted(set(world.target)) if world.task == CLASSES else []
        by_class = dict(world.class_weights)
        own = [Fraction(text) for text in world.weight] or [Fraction(1)] * self.rows
        self.weight = [
            own[row] * Fraction(by_class.get(self.actual[row], "1")) if self.actual else own[row]
            for row in range(self.rows)
        ]
        self.numbers = {
            column.name: [Fraction(text) if text else None for text in column.values]
            for column in world.columns
            if column.kind == "number"
        }
        self.targets = [Fraction(text) for text in world.target] if world.task not in (CLASSES, CLUSTERS) else []
        self.cost = {(said, true): Fraction(cost) for said, true, cost in world.mistake_costs}
        self.row_cost = {
            said: [Fraction(text) * (-1 if verb == "gain" else 1) for text in values]
            for verb, said, values in world.row_costs
        }
        self.died = [text == "1" for text in world.died]
        self.hazards = cumulative_hazards(self.targets, self.died) if world.died else []
        self.test_cost = {name: Fraction(cost) for name, cost in world.test_costs}
        self.discount = {(name, before): Fraction(cost) for name, before, cost in world.test_discounts}
        self.total = cache(self._total)

    def off(self) -> Fraction:
        """Logarithms and linear models are computed in floating point, which docs/measures.md bounds."""
        if self.world.task == SURVIVAL:
            return Fraction(1, 10**8)
        if not self.world.lines:
            return Fraction(0)
        whole = (Place(tuple(range(self.rows))),)
        squares = _loss(replace_lines(self), WorldMeasure("squared_loss"), whole, ("",))
        return Fraction(1, 10**9) * max(Fraction(1), squares)

    # -- trees

    def best(self) -> tuple[Fraction, ...] | None:
        best: tuple[Fraction, ...] | None = None
        found: tuple[Fraction, ...] = ()
        for tree, predicted in self.labelled():
            if not all(self.meets(required, tree, predicted) for required in self.world.requirements):
                continue
            values = tuple(self.total(goal.what, tree, predicted) or Fraction(0) for goal in self.world.goals)
            signed = tuple(
                -value if goal.sense == "maximize" else value
                for value, goal in zip(values, self.world.goals, strict=True)
            )
            if best is None or signed < best:
                best, found = signed, values
        return None if best is None else found

    def labelled(self) -> Iterator[tuple[Grown, tuple[str, ...]]]:
        """Every tree with every choice of a class for its leaves."""
        looked_at = 0
        for tree in self.trees():
            choices: Sequence[tuple[str, ...]] = (
                list(product(self.names, repeat=len(tree))) if self.names else [("",) * len(tree)]
            )
            looked_at += len(choices)
            if looked_at > MOST_LABELLED:
                raise TooMany
            for choice in choices:
                yield tree, choice

    def trees(self) -> list[Grown]:
        levels = max(0, self.rows - 1)
        for required in self.world.requirements:
            if required.sense in ("<=", "=") and str(required.what) == "depth":
                levels = min(levels, int(Fraction(required.limit)))
        made: dict[tuple[frozenset[int], int], list[Grown]] = {}

        def grow(rows: frozenset[int], left: int) -> list[Grown]:
            key = (rows, left)
            if key in made:
                return made[key]
            found: list[Grown] = [(Place(tuple(sorted(rows))),)]
            for number, question in enumerate(self.questions) if left and len(rows) > 1 else ():
                yes, no = rows & question.rows, rows - question.rows
                if not yes or not no:
                    continue
                for one, other in product(grow(yes, left - 1), grow(no, left - 1)):
                    found.append(_below(number, True, one) + _below(number, False, other))
                    if len(found) > MOST_TREES:
                        raise TooMany
            made[key] = found
            return found

        return grow(frozenset(range(self.rows)), levels)

    def random_tree(self, random: Random) -> Grown:
        tree: Grown = (Place(tuple(range(self.rows))),)
        for _ in range(random.choice((0, 1, 2, 3))):
            place = random.choice(tree)
            ways = [
                number
                for number, question in enumerate(self.questions)
                if 0 < len(question.rows.intersection(place.rows)) < len(place.rows)
            ]
            if ways:
                number = random.choice(ways)
                inside = self.questions[number].rows
                sides = [
                    Place(tuple(row for row in place.rows if (row in inside) == side), (*place.path, (number, side)))
                    for side in (True, False)
                ]
                tree = (*(each for each in tree if each is not place), *sides)
        return tree

    def random_labels(self, random: Random, tree: Grown) -> tuple[str, ...]:
        return tuple(random.choice(self.names) if self.names else "" for _ in tree)

    # -- measures

    def meets(self, required: Required, tree: Grown, predicted: tuple[str, ...]) -> bool:
        value = self.total(required.what, tree, predicted)
        if value is None:
            return True  # a bound on an undefined share holds
        if not required.sense:
            return value == 1
        limit = Fraction(required.limit)
        if required.unit == "%":
            limit = Fraction(ceil(limit * self.rows / 100))
        return {"<=": value <= limit, ">=": value >= limit, "=": value == limit}[required.sense]

    def _total(self, what: Weighted, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
        """The weighted sum; None if it is an undefined share."""
        total = Fraction(0)
        for factor, use in what.parts:
            value = self.value(use, tree, predicted)
            if value is None and len(what.parts) == 1:
                return None
            total += Fraction(factor) * (value or Fraction(0))
        return total

    def value(self, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
        return _MEASURES[use.name](self, use, tree, predicted)

    def said(self, tree: Grown, predicted: tuple[str, ...]) -> list[str]:
        """The predicted class of every row."""
        said = [""] * self.rows
        for place, label in zip(tree, predicted, strict=True):
            for row in place.rows:
                said[row] = label
        return said


def replace_lines(view: View) -> View:
    """The same world with constants in its leaves."""
    return View(replace(view.world, lines=()))


def _below(number: int, side: bool, tree: Grown) -> Grown:
    return tuple(Place(place.rows, ((number, side), *place.path)) for place in tree)


def _questions(column: WorldColumn) -> Iterator[TruthQuestion]:
    missing = frozenset(row for row, text in enumerate(column.values) if text == "")
    if column.rule.startswith(UNKNOWN_RULES):
        raise TooMany
    if column.kind == "category":
        levels = sorted(set(column.values))
        subsets = (
            [frozenset((level,)) for level in range(len(levels))]
            if column.rule == "by levels"
            else [frozenset(n for n in range(len(levels)) if bits >> n & 1) for bits in range(1, 2 ** len(levels) - 1)]
        )
        for subset in subsets:
            rows = frozenset(row for row, text in enumerate(column.values) if levels.index(text) in subset)
            yield TruthQuestion(column.name, rows, subset, len(levels), False)
        return
    numbers = [_number_of(column.kind, text) if text else None for text in column.values]
    distinct = sorted({value for value in numbers if value is not None})
    if column.rule.startswith("at "):
        cuts = [Fraction(text) for text in column.rule[3:].split(",")]
    else:
        cuts = [(low + high) / 2 for low, high in pairwise(distinct)]
    for place, cut in enumerate(cuts):
        below = frozenset(row for row, value in enumerate(numbers) if value is not None and value <= cut)
        values = frozenset(range(place + 1))
        yield TruthQuestion(column.name, below, values, len(cuts) + 1, True)
        if missing:
            yield TruthQuestion(column.name, below | missing, values, len(cuts) + 1, True)
    if missing:
        yield TruthQuestion(column.name, missing, frozenset(), len(cuts) + 1, True)


def _number_of(kind: str, text: str) -> Fraction:
    return Fraction(date.fromisoformat(text).toordinal()) if kind == "date" else Fraction(text)


# -- definitions of the measures --------------------------------------------------------------------------


def _share(above: Fraction, below: Fraction) -> Fraction | None:
    return above / below if below else None


def _weight_where(view: View, rows: Iterator[int]) -> Fraction:
    return sum((view.weight[row] for row in rows), Fraction(0))


def _errors(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    said = view.said(tree, predicted)
    return _weight_where(view, (row for row in range(view.rows) if said[row] != view.actual[row]))


def _error_rate(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    return _share(_errors(view, use, tree, predicted), sum(view.weight, Fraction(0)))


def _accuracy(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    rate = _error_rate(view, use, tree, predicted)
    return None if rate is None else 1 - rate


def _recall_of(view: View, name: str, said: list[str]) -> Fraction | None:
    own = [row for row in range(view.rows) if view.actual[row] == name]
    return _share(_weight_where(view, (row for row in own if said[row] == name)), _weight_where(view, iter(own)))


def _recall(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    return _recall_of(view, use.arguments[0].strip('"'), view.said(tree, predicted))


def _balanced_accuracy(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    said = view.said(tree, predicted)
    recalls = [_recall_of(view, name, said) for name in view.names]
    return sum((recall or Fraction(0) for recall in recalls), Fraction(0)) / len(view.names)


def _precision(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    name, said = use.arguments[0].strip('"'), view.said(tree, predicted)
    chosen = [row for row in range(view.rows) if said[row] == name]
    right = _weight_where(view, (row for row in chosen if view.actual[row] == name))
    return _share(right, _weight_where(view, iter(chosen)))


def _npv(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    name, said = use.arguments[0].strip('"'), view.said(tree, predicted)
    chosen = [row for row in range(view.rows) if said[row] != name]
    right = _weight_where(view, (row for row in chosen if view.actual[row] != name))
    return _share(right, _weight_where(view, iter(chosen)))


def _overlap(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> tuple[Fraction, Fraction]:
    """The weights of what is both, and of what is just one of the two: of the class, or predicted as it."""
    name, said = use.arguments[0].strip('"'), view.said(tree, predicted)
    times = [(said[row] == name) + (view.actual[row] == name) for row in range(view.rows)]
    both, one = (_weight_where(view, (row for row, each in enumerate(times) if each == wanted)) for wanted in (2, 1))
    return both, one


def _f1(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    both, one = _overlap(view, use, tree, predicted)
    return _share(2 * both, 2 * both + one)


def _jaccard(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    both, one = _overlap(view, use, tree, predicted)
    return _share(both, both + one)


def _mcc(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    """The covariance of two marks per row divided by the root of their variances, to 80 digits, rounded down."""
    name, said = use.arguments[0].strip('"'), view.said(tree, predicted)
    of_it = {row for row in range(view.rows) if view.actual[row] == name}
    named = {row for row in range(view.rows) if said[row] == name}
    total = _weight_where(view, iter(range(view.rows)))
    share, chosen, both = (_weight_where(view, iter(rows)) / total for rows in (of_it, named, of_it & named))
    variances = share * (1 - share) * chosen * (1 - chosen)
    if not variances:
        return Fraction(0)
    covariance = both - share * chosen
    return _root(covariance**2 / variances, 1 if covariance >= 0 else -1)


def _root(square: Fraction, sign: int = 1) -> Fraction:
    """To 80 digits, rounded down."""
    with localcontext() as context:
        context.prec = 400
        root = (Decimal(square.numerator) / Decimal(square.denominator)).sqrt() * sign
        return Fraction(root.quantize(Decimal(1).scaleb(-80), ROUND_FLOOR))


def _gmean(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    said = view.said(tree, predicted)
    if len(view.names) != 2:
        raise TooMany  # with more classes it can only be reported
    first, second = (_recall_of(view, name, said) for name in view.names)
    return None if first is None or second is None else _root(first * second)


def _specificity(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    name, said = use.arguments[0].strip('"'), view.said(tree, predicted)
    others = [row for row in range(view.rows) if view.actual[row] != name]
    return _share(_weight_where(view, (row for row in others if said[row] != name)), _weight_where(view, iter(others)))


def _holds(view: View, conditions: tuple[tuple[str, str], ...], row: int, said: list[str]) -> bool:
    where = {"predicted": said, "actual": view.actual, "g": view.world.groups if view.world.task == CLASSES else ()}
    return all(where[who][row] == what for who, what in conditions)


def _count(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    said = view.said(tree, predicted)
    asked = use.conditions + use.given
    return _weight_where(view, (row for row in range(view.rows) if _holds(view, asked, row, said)))


def _rate(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    said = view.said(tree, predicted)
    among = [row for row in range(view.rows) if _holds(view, use.given, row, said)]
    chosen = (row for row in among if _holds(view, use.conditions, row, said))
    return _share(_weight_where(view, chosen), _weight_where(view, iter(among)))


def _gap_among(view: View, rows: list[int], said: list[str]) -> Fraction:
    groups = view.world.groups
    rates = []
    for name in sorted(set(groups)):
        own = [row for row in rows if groups[row] == name]
        rate = _share(_weight_where(view, (row for row in own if said[row] == "p")), _weight_where(view, iter(own)))
        if rate is not None:
            rates.append(rate)
    return max(rates) - min(rates) if rates else Fraction(0)


def _parity_gap(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    return _gap_among(view, list(range(view.rows)), view.said(tree, predicted))


def _opportunity_gap(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    rows = [row for row in range(view.rows) if view.actual[row] == "p"]
    return _gap_among(view, rows, view.said(tree, predicted))


def _predictive_gap(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    rows = [row for row in range(view.rows) if view.actual[row] != "p"]
    return _gap_among(view, rows, view.said(tree, predicted))


def _odds_gap(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    return max(_opportunity_gap(view, use, tree, predicted), _predictive_gap(view, use, tree, predicted))


def _mistake_cost(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    total = Fraction(0)
    for row, said in enumerate(view.said(tree, predicted)):
        if view.row_cost:
            total += view.weight[row] * view.row_cost[said][row] if said in view.row_cost else 0
        elif said != view.actual[row]:
            total += view.weight[row] * view.cost.get((said, view.actual[row]), Fraction(1))
    return total


def _test_cost(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    total = Fraction(0)
    for place in tree:
        asked: list[str] = []
        for number, _ in place.path:
            name = view.questions[number].column
            if name not in asked:
                prices = [view.test_cost.get(name, Fraction(0))]
                prices += [view.discount[name, before] for before in asked if (name, before) in view.discount]
                total += len(place.rows) * min(prices)
                asked.append(name)
    return total


def _gain(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    return -_mistake_cost(view, use, tree, predicted)


def _depth(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    return Fraction(max(len(place.path) for place in tree))


def _leaves(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    return Fraction(len(tree))


def _splits(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    return Fraction(len(tree) - 1)


def _columns_of(view: View, tree: Grown) -> set[str]:
    return {view.questions[number].column for place in tree for number, _ in place.path}


def _features_used(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    return Fraction(len(_columns_of(view, tree)))


def _uses(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    return Fraction(use.arguments[0] in _columns_of(view, tree))


def _support(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    return Fraction(min(len(place.rows) for place in tree))


def _leaf_weight(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    return min(_weight_where(view, iter(place.rows)) for place in tree)


def _leaf_errors(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    return max(
        _weight_where(view, (row for row in place.rows if view.actual[row] != label))
        for place, label in zip(tree, predicted, strict=True)
    )


def _purity(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    shares = []
    for place in tree:
        heaviest = max(
            _weight_where(view, (row for row in place.rows if view.actual[row] == name)) for name in view.names
        )
        share = _share(heaviest, _weight_where(view, iter(place.rows)))
        shares += [] if share is None else [share]
    return min(shares, default=Fraction(1))


def _class_weights(view: View, tree: Grown) -> Iterator[list[Fraction]]:
    """The weight of every class in every leaf."""
    for place in tree:
        yield [_weight_where(view, (row for row in place.rows if view.actual[row] == name)) for name in view.names]


def _mean_mixture(view: View, tree: Grown, cost: Callable[[list[Fraction], Fraction], Fraction]) -> Fraction:
    """The costs of the mixtures of classes in the leaves that weigh something, divided by the weight of all rows."""
    total = _weight_where(view, iter(range(view.rows)))
    if not total:
        raise TooMany
    leaves = ((weights, sum(weights, Fraction(0))) for weights in _class_weights(view, tree))
    return sum((cost(weights, whole) for weights, whole in leaves if whole), Fraction(0)) / total


def _gini(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    def cost(weights: list[Fraction], whole: Fraction) -> Fraction:
        return whole - sum((weight**2 for weight in weights), Fraction(0)) / whole

    return _mean_mixture(view, tree, cost)


def _log_loss(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    def cost(weights: list[Fraction], whole: Fraction) -> Fraction:
        return sum((weight * Fraction(log(whole / weight)) for weight in weights if weight), Fraction(0))

    return _mean_mixture(view, tree, cost)


def _monotone(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    """If two inputs differ in this column only, the one with the higher value is positive if the other is."""
    name, rising = use.arguments[0], use.arguments[1] == "increasing"
    regions = [_region(view, place) for place in tree]
    for one, first in enumerate(regions):
        for other, second in enumerate(regions):
            if predicted[one] != "p" or predicted[other] == "p":
                continue
            if not all(first[column] & second[column] for column in first if column != name):
                continue
            if any(
                (low < high) if rising else (low > high)
                for low in first[name]
                for high in second[name]
                if low >= 0 and high >= 0
            ):
                return Fraction(0)
    return Fraction(1)


def _region(view: View, place: Place) -> dict[str, set[int]]:
    """For every column the values with which an input reaches the leaf; -1 is missing."""
    region: dict[str, set[int]] = {}
    for question in view.questions:
        column = next(each for each in view.world.columns if each.name == question.column)
        region.setdefault(question.column, set(range(question.of)) | ({-1} if "" in column.values else set()))
    for number, side in place.path:
        question = view.questions[number]
        column = next(each for each in view.world.columns if each.name == question.column)
        missing = {row for row, text in enumerate(column.values) if text == ""}
        passes = set(question.values) | ({-1} if missing and missing <= question.rows else set())
        region[question.column] &= passes if side else region[question.column] - passes
    for column in view.world.columns:
        region.setdefault(column.name, {0})
    return region


def _constants(view: View, use: WorldMeasure, tree: Grown) -> Iterator[tuple[list[tuple[Fraction, Fraction]], str]]:
    """For every leaf and output, the values with their weights, and the kind of loss."""
    if use.name == "cluster_loss":
        kind = "absolute" if use.arguments[-1] == "absolute" else "squared"
        columns = [name for name in use.arguments if name not in ("absolute", "squared")]
    else:
        kind, columns = use.name.removesuffix("_loss"), [""]
    for place in tree:
        for name in columns:
            values = [view.numbers[name][row] if name else view.targets[row] for row in place.rows]
            if any(value is None for value in values):
                raise TooMany
            yield (
                [(value, view.weight[row]) for value, row in zip(values, place.rows, strict=True) if value is not None],
                kind,
            )


def _survival_loss(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    parts = (([view.hazards[row] for row in place.rows], [view.died[row] for row in place.rows]) for place in tree)
    return sum((Fraction(survival_loss(hazards, died)) for hazards, died in parts), Fraction(0))


def _linear_loss(view: View, tree: Grown) -> Fraction:
    columns = []
    for name in view.world.lines:
        known = [value for value in view.numbers[name] if value is not None]
        if len(known) < view.rows:
            raise TooMany
        columns.append(known)
    prices = [Fraction(view.world.ridge) * variance(column, view.weight) for column in columns]
    total = Fraction(0)
    for place in tree:
        own = [[column[row] for row in place.rows] for column in columns]
        targets, weights = ([each[row] for row in place.rows] for each in (view.targets, view.weight))
        total += linear_loss(own, targets, weights, prices)
    return total


def _loss(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    if view.world.lines and use.name == "squared_loss":
        return _linear_loss(view, tree)
    total = Fraction(0)
    for values, kind in _constants(view, use, tree):
        if kind == "squared":
            weight = sum((own for _, own in values), Fraction(0))
            if weight:
                mean = sum((value * own for value, own in values), Fraction(0)) / weight
                total += sum((own * (value - mean) ** 2 for value, own in values), Fraction(0))
            continue
        level = Fraction(use.arguments[0]) if kind == "quantile" else Fraction(1)
        other = 1 - level if kind == "quantile" else Fraction(1)
        total += min(
            sum(
                (own * (level * (value - at) if value > at else other * (at - value)) for value, own in values),
                Fraction(0),
            )
            for at, _ in values
        )
    return total


def _mean_loss(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    """The loss of a mean, divided by the weight of all rows."""
    of = {"mse": "squared_loss", "mean_absolute_error": "absolute_loss"}[use.name]
    return _share(_loss(view, replace(use, name=of), tree, predicted), sum(view.weight, Fraction(0)))


_MEASURES = {
    "errors": _errors,
    "error_rate": _error_rate,
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "recall": _recall,
    "precision": _precision,
    "npv": _npv,
    "f1": _f1,
    "jaccard": _jaccard,
    "mcc": _mcc,
    "gmean": _gmean,
    "specificity": _specificity,
    "count": _count,
    "rate": _rate,
    "parity_gap": _parity_gap,
    "opportunity_gap": _opportunity_gap,
    "predictive_gap": _predictive_gap,
    "odds_gap": _odds_gap,
    "mistake_cost": _mistake_cost,
    "gain": _gain,
    "test_cost": _test_cost,
    "depth": _depth,
    "leaves": _leaves,
    "splits": _splits,
    "features_used": _features_used,
    "uses": _uses,
    "support": _support,
    "leaf_weight": _leaf_weight,
    "leaf_errors": _leaf_errors,
    "purity": _purity,
    "gini": _gini,
    "log_loss": _log_loss,
    "monotone": _monotone,
    "survival_loss": _survival_loss,
    "squared_loss": _loss,
    "absolute_loss": _loss,
    "quantile_loss": _loss,
    "cluster_loss": _loss,
    "mse": _mean_loss,
    "mean_absolute_error": _mean_loss,
}
