"""One typed name per measure: `tml.accuracy`, `tml.recall("yes")`, `tml.parity_gap("sex")`.

Type checkers and editors read the names, signatures and types from here; a test keeps them equal to the measures that
`treeml.lang.measures` declares.
"""

from __future__ import annotations

from fractions import Fraction
from inspect import signature
from typing import Any, Literal, Protocol

from treeml.lang.formula import Constraint, Formula, MeasureWithArguments, documented_measure
from treeml.lang.measures import MEASURES

Column = str | Formula  # the name of a column, or `tml.column("name")`
ClassLabel = str | int | float | bool | Fraction | Formula
Conditions = Constraint | dict[str, Any] | list[Constraint | dict[str, Any]] | tuple[Constraint | dict[str, Any], ...]
Number = int | float | Fraction | Formula


class OfClass(Protocol):
    """A measure of one class."""

    def __call__(self, label: ClassLabel, /) -> Formula: ...


class OfColumn(Protocol):
    """A measure of one column."""

    def __call__(self, column: Column) -> Formula: ...


class OfConditions(Protocol):
    """A measure of the rows that meet conditions: comparisons, or `column="value"`; `predicted` is the prediction."""

    def __call__(self, *conditions: Constraint, given: Conditions = (), **equal: Any) -> Formula: ...


class OfSums(Protocol):
    """A quotient of two sums over the predictions."""

    def __call__(self, numerator: Formula, denominator: Formula) -> Formula: ...


class OfClassAndWeight(Protocol):
    """A measure of one class in which recall has a weight."""

    def __call__(self, label: ClassLabel, beta: Number) -> Formula: ...


class OfLevel(Protocol):
    """A measure at a level between 0 and 1."""

    def __call__(self, level: Number) -> Formula: ...


class OfColumns(Protocol):
    """A measure of several columns and a distance."""

    def __call__(self, *columns: Column, distance: Literal["squared", "absolute"] = "squared") -> Formula: ...


class OfDirection(Protocol):
    """A measure of a column and a direction along it."""

    def __call__(self, column: Column, direction: Literal["increasing", "decreasing"]) -> Formula: ...


def _plain(name: str, *examples: str) -> Formula:
    """A measure without arguments."""
    return documented_measure(name, _doc(name, examples))


def _called(kind: Any, name: str, *examples: str) -> Any:
    """A measure with arguments, whose signature is that of the protocol `kind`."""
    declared = signature(kind.__call__)
    own = [parameter for parameter in declared.parameters.values() if parameter.name != "self"]
    return MeasureWithArguments(MEASURES[name], _doc(name, examples), declared.replace(parameters=own))


def _doc(name: str, examples: tuple[str, ...]) -> str:
    summary = MEASURES[name].summary
    lines = "".join(f">>> {example}\n" for example in examples)
    return f"{summary[:1].upper()}{summary[1:]}.\n\n{lines}"


# size

depth = _plain("depth", "model.require(tml.depth <= 3)")
leaves = _plain("leaves", "model.minimize(tml.error_rate + 0.01 * tml.leaves)")
splits = _plain("splits", "model.require(tml.splits <= 7)")

# errors

errors = _plain("errors", "model.minimize(tml.errors)")
error_rate = _plain("error_rate", "model.minimize(tml.error_rate)")
accuracy = _plain("accuracy", "model.maximize(tml.accuracy)")
balanced_accuracy = _plain("balanced_accuracy", "model.maximize(tml.balanced_accuracy)")
gmean = _plain("gmean", "model.maximize(tml.gmean)")

# rates

recall: OfClass = _called(OfClass, "recall", 'model.require(tml.recall("yes") >= 0.8)')
precision: OfClass = _called(OfClass, "precision", 'model.require(tml.precision("yes") >= 0.7)')
specificity: OfClass = _called(OfClass, "specificity", 'model.require(tml.specificity("yes") >= 0.9)')
npv: OfClass = _called(OfClass, "npv", 'model.require(tml.npv("yes") >= 0.9)')
f1: OfClass = _called(OfClass, "f1", 'model.maximize(tml.f1("yes"))')
fbeta: OfClassAndWeight = _called(OfClassAndWeight, "fbeta", 'model.maximize(tml.fbeta("yes", 2))')
jaccard: OfClass = _called(OfClass, "jaccard", 'model.maximize(tml.jaccard("yes"))')
mcc: OfClass = _called(OfClass, "mcc", 'model.maximize(tml.mcc("yes"))')
auc: OfClass = _called(OfClass, "auc", 'model.report("measures", tml.auc("yes"))')
count: OfConditions = _called(
    OfConditions, "count", 'model.require(tml.count(tml.column("age") >= 40, predicted="yes") <= 100)'
)
rate: OfConditions = _called(
    OfConditions, "rate", 'model.require(tml.rate(predicted="yes", given={"sex": "F"}) >= 0.2)'
)
ratio: OfSums = _called(
    OfSums, "ratio", 'model.require(tml.ratio(tml.count(predicted="yes", actual="no"), tml.errors) <= 0.5)'
)

# fairness

parity_gap: OfColumn = _called(OfColumn, "parity_gap", 'model.require(tml.parity_gap("sex") <= 0.05)')
opportunity_gap: OfColumn = _called(OfColumn, "opportunity_gap", 'model.require(tml.opportunity_gap("sex") <= 0.05)')
predictive_gap: OfColumn = _called(OfColumn, "predictive_gap", 'model.require(tml.predictive_gap("sex") <= 0.05)')
odds_gap: OfColumn = _called(OfColumn, "odds_gap", 'model.require(tml.odds_gap("sex") <= 0.05)')

# costs

mistake_cost = _plain(
    "mistake_cost", 'model.cost(predict="no", when="yes", cost=5)', "model.minimize(tml.mistake_cost)"
)
gain = _plain("gain", 'model.gain(predict="treat", by="score_if_treated")', "model.maximize(tml.gain)")
test_cost = _plain("test_cost", 'model.test_cost("blood_pressure", 3)', "model.require(tml.test_cost <= 1000)")

# errors, reported only

log_loss = _plain("log_loss", "model.minimize(tml.log_loss)")
gini = _plain("gini", "model.minimize(tml.gini)")
description_length = _plain("description_length", "model.minimize(tml.description_length)")
kappa = _plain("kappa", 'model.report("measures", tml.kappa)')

# losses

rmse = _plain("rmse", 'model.report("measures", tml.rmse)')
squared_loss = _plain("squared_loss", "model.minimize(tml.squared_loss)")
absolute_loss = _plain("absolute_loss", "model.minimize(tml.absolute_loss)")
mse = _plain("mse", "model.minimize(tml.mse)")
mean_absolute_error = _plain("mean_absolute_error", "model.minimize(tml.mean_absolute_error)")
r2 = _plain("r2", "model.require(tml.r2 >= 0.5)")
quantile_loss: OfLevel = _called(OfLevel, "quantile_loss", "model.minimize(tml.quantile_loss(0.9))")
cluster_loss: OfColumns = _called(
    OfColumns, "cluster_loss", 'model.minimize(tml.cluster_loss("height", "weight", distance="absolute"))'
)

# survival

survival_loss = _plain("survival_loss", "model.minimize(tml.survival_loss)")
concordance = _plain("concordance", 'model.report("measures", tml.concordance)')
brier = _plain("brier", 'model.report("measures", tml.brier)')

# leaves

support = _plain("support", "model.require(tml.support >= 10)")
purity = _plain("purity", "model.require(tml.purity >= 0.7)")
leaf_errors = _plain("leaf_errors", "model.require(tml.leaf_errors <= 5)")
leaf_weight = _plain("leaf_weight", "model.require(tml.leaf_weight >= 20)")

# features

features_used = _plain("features_used", "model.require(tml.features_used <= 4)")
uses: OfColumn = _called(OfColumn, "uses", 'model.require(tml.uses("age") == 1)')
monotone: OfDirection = _called(OfDirection, "monotone", 'model.require(tml.monotone("income", "increasing"))')

# ensembles

margin = _plain("margin", 'model.ensemble("lpboost").maximize(tml.margin)')
