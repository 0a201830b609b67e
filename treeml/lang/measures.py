"""The names of all measures, with what the checker and the documentation must know of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a measure."""

    name: str
    kind: str  # column, columns, class, number, word or conditions
    choices: tuple[str, ...] = ()  # of a word
    low: str = ""  # of a number, exclusive
    high: str = ""
    optional: bool = False
    repeated: bool = False  # the last parameter may be given several times


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of a tree."""

    name: str
    summary: str
    task: str  # "any", "classes", "numbers", "clusters" or "ensemble"
    unit: str  # count (a plain whole number), rows (unweighted), weight, share, cost, loss, truth or value
    group: str  # for lists and suggestions: size, errors, rates, fairness, costs, losses, leaves, features, ensembles
    parameters: tuple[Parameter, ...] = ()
    whole: bool = False  # always a whole number, so that < and > make sense
    needs_positive: bool = False  # speaks of the positive class: `predict ... is ...`
    goal: str = ""  # "minimize" or "maximize": the sense in which it is usually wanted; "" where it is only bounded


_COLUMN = (Parameter("column", "column"),)
_CLASS = (Parameter("class", "class"),)
_CONDITIONS = (Parameter("conditions", "conditions"),)
_LEVEL = (Parameter("level", "number", low="0", high="1"),)
_COLUMNS = (
    Parameter("columns", "columns", repeated=True),
    Parameter("distance", "word", ("squared", "absolute"), optional=True),
)
_DIRECTION = Parameter("direction", "word", ("increasing", "decreasing"))


def _size(name: str, summary: str) -> Measure:
    return Measure(name, summary, "any", "count", "size", whole=True, goal="minimize")


def _errors(name: str, summary: str, unit: str, goal: str) -> Measure:
    return Measure(name, summary, "classes", unit, "errors", goal=goal)


def _rate(name: str, summary: str) -> Measure:
    return Measure(name, summary, "classes", "share", "rates", _CLASS, goal="maximize")


def _gap(name: str, summary: str) -> Measure:
    return Measure(name, summary, "classes", "share", "fairness", _COLUMN, needs_positive=True, goal="minimize")


def _loss(name: str, summary: str, task: str = "numbers", parameters: tuple[Parameter, ...] = ()) -> Measure:
    return Measure(name, summary, task, "loss", "losses", parameters, goal="minimize")


MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        _size("depth", "splits on the longest path; a lone leaf has depth 0"),
        _size("leaves", "number of leaves"),
        _size("splits", "number of splits: leaves minus one"),
        Measure("support", "fewest rows in a leaf, unweighted", "any", "rows", "leaves", whole=True),
        _errors("errors", "weight of the rows whose class is predicted wrongly", "weight", "minimize"),
        _errors("error_rate", "share of the weight that is predicted wrongly", "share", "minimize"),
        _errors("accuracy", "one minus error_rate", "share", "maximize"),
        _errors("balanced_accuracy", "mean over the classes of their recall", "share", "maximize"),
        _rate("recall", "share of the class that is predicted as it"),
        _rate("precision", "share of what is predicted as the class that is of it"),
        _rate("specificity", "share of the other classes that is not predicted as the class"),
        Measure("count", "weight of the rows that meet the conditions", "classes", "weight", "rates", _CONDITIONS),
        Measure(
            "rate",
            "among the rows that meet what is given, the share that meets the conditions",
            "classes",
            "share",
            "rates",
            _CONDITIONS,
        ),
        _gap("parity_gap", "largest minus smallest rate of the positive prediction over the groups of a column"),
        _gap("opportunity_gap", "the same among rows that are actually positive"),
        _gap("predictive_gap", "the same among rows that are actually negative"),
        _gap("odds_gap", "the larger of opportunity_gap and predictive_gap"),
        Measure(
            "mistake_cost",
            "sum of weight times the cost of predicting one class for another",
            "classes",
            "cost",
            "costs",
            goal="minimize",
        ),
        Measure(
            "test_cost",
            "sum over rows of the costs of the distinct columns tested on their path",
            "any",
            "cost",
            "costs",
            goal="minimize",
        ),
        _loss("squared_loss", "sum of weighted squared distances to the mean of the leaf"),
        _loss("absolute_loss", "sum of weighted distances to the median of the leaf"),
        _loss("quantile_loss", "sum of weighted pinball losses to the quantile of the leaf", parameters=_LEVEL),
        _loss(
            "cluster_loss",
            "sum of squared (or absolute) distances to the centroid of the leaf over the named columns",
            "clusters",
            _COLUMNS,
        ),
        Measure("purity", "smallest share of the majority class of a leaf", "classes", "share", "leaves"),
        Measure("leaf_errors", "most errors in a leaf", "classes", "weight", "leaves"),
        Measure("leaf_weight", "least weight of the rows of a leaf", "classes", "weight", "leaves"),
        Measure(
            "features_used",
            "number of distinct columns in the tree",
            "any",
            "count",
            "features",
            whole=True,
            goal="minimize",
        ),
        Measure("uses", "whether the tree tests the column", "any", "truth", "features", _COLUMN, whole=True),
        Measure(
            "monotone",
            "along the column, the positive prediction never falls (or never rises)",
            "classes",
            "truth",
            "features",
            (*_COLUMN, _DIRECTION),
            whole=True,
            needs_positive=True,
        ),
        Measure(
            "margin",
            "of an ensemble: its soft minimum margin, or its mean margin minus half its variance",
            "ensemble",
            "value",
            "ensembles",
            goal="maximize",
        ),
    )
}
