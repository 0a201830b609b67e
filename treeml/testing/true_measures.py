"""A tree of a world -> the value of every measure, by its definition.

This is written from docs/measures.md alone and uses no part of the package except the worlds themselves, so it cannot
share a mistake with reading, lowering, solving or verifying.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from math import log

from treeml.testing.true_losses import hazard_loss, loss, mean_loss
from treeml.testing.world_view import Grown, Place, TooMany, View
from treeml.testing.worlds import CLASSES, WorldMeasure


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


def _fbeta(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    """The harmonic mean of precision and recall, recall with the weight beta^2, where both are defined."""
    precision, recall = _precision(view, use, tree, predicted), _recall(view, use, tree, predicted)
    square = Fraction(use.arguments[1]) ** 2
    if precision is None and recall is None:
        return None
    return (1 + square) * precision * recall / (square * precision + recall) if precision and recall else Fraction(0)


def _jaccard(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    both, one = _overlap(view, use, tree, predicted)
    return _share(both, both + one)


def _ratio(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    """The only quotient that worlds write out: what is predicted right as "p", by the errors and all of "q"."""
    said = view.said(tree, predicted)
    hits = (row for row in range(view.rows) if said[row] == view.actual[row] == "p")
    others = (row for row in range(view.rows) if view.actual[row] == "q")
    return _share(_weight_where(view, hits), _errors(view, use, tree, predicted) + _weight_where(view, others))


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


MEASURES = {
    "errors": _errors,
    "error_rate": _error_rate,
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "recall": _recall,
    "precision": _precision,
    "npv": _npv,
    "f1": _f1,
    "fbeta": _fbeta,
    "jaccard": _jaccard,
    "ratio": _ratio,
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
    "survival_loss": hazard_loss,
    "squared_loss": loss,
    "absolute_loss": loss,
    "quantile_loss": loss,
    "cluster_loss": loss,
    "mse": mean_loss,
    "mean_absolute_error": mean_loss,
}
