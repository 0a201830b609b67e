"""What every measure means: its unit, its task, its exact evaluator, and its lowering to the terms of a Problem.

One registry that the checker, the lowering, the verifier, the documentation and the tests share. Adding a measure is
adding an entry here: the grammar and the back-ends stay as they are. The checker reads this module without data, so
numpy is imported only by the functions that need rows.
"""

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
    unit: str  # "count" (a plain whole number), "rows" (unweighted), "weight", "share", "cost", "loss", "truth", "value"
    group: str  # for lists and suggestions: size, errors, rates, fairness, costs, losses, leaves, features, ensembles
    parameters: tuple[Parameter, ...] = ()
    whole: bool = False  # always a whole number, so that < and > make sense
    needs_positive: bool = False  # speaks of the positive class: `predict ... is ...`
    goal: str = ""  # "minimize" or "maximize": the sense in which it is usually wanted; "" where it is only bounded


_COLUMN = Parameter("column", "column")
_CLASS = Parameter("class", "class")

MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("depth", "splits on the longest path; a lone leaf has depth 0", "any", "count", "size", whole=True, goal="minimize"),
        Measure("leaves", "number of leaves", "any", "count", "size", whole=True, goal="minimize"),
        Measure("splits", "number of splits: leaves minus one", "any", "count", "size", whole=True, goal="minimize"),
        Measure("support", "fewest rows in a leaf, unweighted", "any", "rows", "leaves", whole=True),
        Measure("errors", "weight of the rows whose class is predicted wrongly", "classes", "weight", "errors", goal="minimize"),
        Measure("error_rate", "share of the weight that is predicted wrongly", "classes", "share", "errors", goal="minimize"),
        Measure("accuracy", "one minus error_rate", "classes", "share", "errors", goal="maximize"),
        Measure("balanced_accuracy", "mean over the classes of their recall", "classes", "share", "errors", goal="maximize"),
        Measure("recall", "share of the class that is predicted as it", "classes", "share", "rates", (_CLASS,), goal="maximize"),
        Measure("precision", "share of what is predicted as the class that is of it", "classes", "share", "rates", (_CLASS,), goal="maximize"),
        Measure("specificity", "share of the other classes that is not predicted as the class", "classes", "share", "rates", (_CLASS,), goal="maximize"),
        Measure("count", "weight of the rows that meet the conditions", "classes", "weight", "rates", (Parameter("conditions", "conditions"),)),
        Measure("rate", "among the rows that meet what is given, the share that meets the conditions", "classes", "share", "rates", (Parameter("conditions", "conditions"),)),
        Measure("parity_gap", "largest minus smallest rate of the positive prediction over the groups of a column", "classes", "share", "fairness", (_COLUMN,), needs_positive=True, goal="minimize"),
        Measure("opportunity_gap", "the same among rows that are actually positive", "classes", "share", "fairness", (_COLUMN,), needs_positive=True, goal="minimize"),
        Measure("predictive_gap", "the same among rows that are actually negative", "classes", "share", "fairness", (_COLUMN,), needs_positive=True, goal="minimize"),
        Measure("odds_gap", "the larger of opportunity_gap and predictive_gap", "classes", "share", "fairness", (_COLUMN,), needs_positive=True, goal="minimize"),
        Measure("mistake_cost", "sum of weight times the cost of predicting one class for another", "classes", "cost", "costs", goal="minimize"),
        Measure("test_cost", "sum over rows of the costs of the distinct columns tested on their path", "any", "cost", "costs", goal="minimize"),
        Measure("squared_loss", "sum of weighted squared distances to the mean of the leaf", "numbers", "loss", "losses", goal="minimize"),
        Measure("absolute_loss", "sum of weighted distances to the median of the leaf", "numbers", "loss", "losses", goal="minimize"),
        Measure("quantile_loss", "sum of weighted pinball losses to the quantile of the leaf", "numbers", "loss", "losses", (Parameter("level", "number", low="0", high="1"),), goal="minimize"),
        Measure("cluster_loss", "sum of squared (or absolute) distances to the centroid of the leaf over the named columns", "clusters", "loss", "losses", (Parameter("columns", "columns", repeated=True), Parameter("distance", "word", ("squared", "absolute"), optional=True)), goal="minimize"),
        Measure("purity", "smallest share of the majority class of a leaf", "classes", "share", "leaves"),
        Measure("leaf_errors", "most errors in a leaf", "classes", "weight", "leaves"),
        Measure("features_used", "number of distinct columns in the tree", "any", "count", "features", whole=True, goal="minimize"),
        Measure("uses", "whether the tree tests the column", "any", "truth", "features", (_COLUMN,), whole=True),
        Measure("monotone", "along the column, the positive prediction never falls (or never rises)", "classes", "truth", "features", (_COLUMN, Parameter("direction", "word", ("increasing", "decreasing"))), whole=True, needs_positive=True),
        Measure("margin", "of an ensemble: its soft minimum margin, or its mean margin minus half its variance", "ensemble", "value", "ensembles", goal="maximize"),
    )
}
