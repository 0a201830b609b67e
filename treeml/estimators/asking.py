"""Keyword arguments of an estimator -> the Model with the same meaning.

The keywords cover the common cases. `spec` takes everything else that the language can express; the keywords that
describe a tree must then keep their defaults, so that nothing is specified twice and nothing is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from treeml.lang import measure_formulas as measures
from treeml.lang.formula import Constraint, Formula, expression, percent, rows
from treeml.lang.syntax import Relation, Require
from treeml.model import Model, load

Counted = Mapping[Any, Fraction]


def read_spec(spec: Any) -> Model:
    """The model given as text, as the path of a .tml file, or as a Model."""
    if isinstance(spec, Model):
        return Model(spec.statements, folder=spec.folder, bindings=spec.bindings, untrusted=spec.untrusted)
    if isinstance(spec, Path) or (isinstance(spec, str) and spec.endswith(".tml") and "\n" not in spec):
        return load(spec)
    if isinstance(spec, str):
        return Model.parse(spec)
    raise TypeError(f"spec is .tml text, the path of a .tml file, or a Model, not {type(spec).__name__}")


def whole(name: str, value: Any, least: int) -> int:
    """An argument that must be an integer of at least `least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} is a whole number of at least {least}, not {value!r}")
    return int(value)


def limit_size(model: Model, max_depth: Any, min_support: Any, max_leaves: Any) -> None:
    """Requirements on depth, support and leaves."""
    if max_depth is not None:
        model.require(measures.depth <= whole("max_depth", max_depth, least=0))
    if max_leaves is not None:
        model.require(measures.leaves <= whole("max_leaves", max_leaves, least=1))
    if _is_share(min_support):
        if not 0 < min_support < 1:
            raise ValueError(f"min_support is a number of rows or a share between 0 and 1, not {min_support!r}")
        model.require(measures.support >= percent(100 * Fraction(str(min_support))))
    elif whole("min_support", min_support, least=1) > 1:
        model.require(measures.support >= rows(int(min_support)))


def limit_columns(model: Model, forbid: Any) -> None:
    """Forbid tests on one or several columns."""
    if forbid is not None:
        model.forbid(*([forbid] if isinstance(forbid, str) else forbid))


def limit_leaf_weight(model: Model, share: Any, total: Fraction) -> None:
    """Require a smallest share of the total weight in every leaf."""
    if isinstance(share, bool) or not isinstance(share, (int, float, np.number)) or not 0 <= share <= 1:
        raise ValueError(f"min_weight_fraction_leaf is a share between 0 and 1, not {share!r}")
    if share:
        model.require(measures.leaf_weight >= Fraction(str(share)) * total)


def priced(goal: Formula, leaf_price: Any) -> Formula:
    """The goal plus a penalty per leaf."""
    price = Fraction(str(leaf_price))
    if price < 0:
        raise ValueError(f"leaf_price is at least 0, not {leaf_price!r}")
    return goal + price * measures.leaves if price else goal


def add_class_weights(model: Model, class_weight: Any, weights: Counted) -> Fraction:
    """Add class weights and return the total weight. `weights` holds the weights of the classes in the data."""
    if class_weight is None:
        return sum(weights.values(), Fraction(0))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight is None, 'balanced' or a dict, not {class_weight!r}")
        average = sum(weights.values(), Fraction(0)) / len(weights)
        factors = {name: average / weight for name, weight in weights.items()}
    elif isinstance(class_weight, Mapping):
        factors = {_plain(name): Fraction(str(weight)) for name, weight in class_weight.items()}
        unknown = [name for name in factors if name not in weights]
        if unknown and not factors.keys() >= weights.keys():  # as in scikit-learn: probably a typing mistake
            classes = ", ".join(map(str, weights))
            raise ValueError(f"class_weight names {unknown[0]!r}, and y has no such class; its classes are {classes}")
    else:
        raise TypeError(f"class_weight is None, 'balanced' or a dict, not {type(class_weight).__name__}")
    for name, factor in factors.items():
        if name in weights:  # scikit-learn allows classes that do not occur in a fold
            model.weight_class(name, factor)
    return sum((weight * factors.get(name, 1) for name, weight in weights.items()), Fraction(0))


def add_mistake_costs(model: Model, cost_matrix: Any, classes: Sequence[Any], present: Iterable[Any]) -> None:
    """Add costs, given as {(predicted, actual): cost} or as a matrix (actual x predicted classes).

    The layout of the matrix is that of scikit-learn's `confusion_matrix`.
    """
    there = set(present)
    for (predicted, actual), cost in _costs(cost_matrix, classes).items():
        if predicted in there and actual in there:
            model.cost(predict=predicted, when=actual, cost=cost)


def add_fairness(model: Model, fairness: Any) -> None:
    """Require upper bounds on measures: {"parity_gap(sex)": 0.05}."""
    if fairness is None:
        return
    if not isinstance(fairness, Mapping):
        raise TypeError("fairness is a dict of measures and their bounds, such as {'parity_gap(sex)': 0.05}")
    for text, bound in fairness.items():
        model.require(Constraint(Relation((_measure_text(text), expression(bound)), ("<=",))))


def _measure_text(text: Any) -> Any:
    """The node of a measure that is given as text, as in a requirement."""
    if isinstance(text, Formula):
        return text.node
    try:
        (statement,) = Model.parse(f"require {text} <= 1").statements
    except ValueError as error:
        raise ValueError(
            f"{text!r} is not a measure: write it as in the language, such as 'parity_gap(sex)'"
        ) from error
    assert isinstance(statement, Require)
    condition = statement.condition
    if not isinstance(condition, Relation) or len(condition.operands) != 2:
        raise ValueError(_not_a_measure(text))
    return condition.operands[0]


def _not_a_measure(text: Any) -> str:
    return f"{text!r} is not a measure: write it as in the language, such as 'parity_gap(sex)'"


def _costs(cost_matrix: Any, classes: Sequence[Any]) -> dict[tuple[Any, Any], Any]:
    if isinstance(cost_matrix, Mapping):
        costs = {(_plain(pair[0]), _plain(pair[1])): cost for pair, cost in cost_matrix.items()}
        unknown = {name for pair in costs for name in pair} - set(classes)
        if unknown:
            raise ValueError(f"cost_matrix speaks of classes that y does not have: {sorted(map(str, unknown))}")
        return costs
    matrix = np.asarray(cost_matrix)
    if matrix.shape != (len(classes), len(classes)):
        raise ValueError(
            f"cost_matrix has the shape {matrix.shape}; for {len(classes)} classes it is a square of that size, "
            "with a row per actual and a column per predicted class"
        )
    return {
        (predicted, actual): matrix[row, place].item()
        for row, actual in enumerate(classes)
        for place, predicted in enumerate(classes)
        if row != place or matrix[row, place]
    }


def _is_share(value: Any) -> bool:
    return isinstance(value, (float, np.floating))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
