"""The name of a measure -> its declaration: unit, arguments, lowering to terms and exact evaluator in one object.

Other packages add measures through the entry-point group `treeml.measures`: the entry point has the name of the measure
and leads to a `Measure`. Lowering and evaluator may be given as "module:function", so that reading declarations imports
neither numpy nor data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from treeml.lang import plugins
from treeml.lang.spec import Use

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a measure."""

    name: str
    kind: str  # column, columns, class, number, word, conditions or sum (of additive measures)
    choices: tuple[str, ...] = ()  # of a word
    low: str = ""  # of a number, exclusive
    high: str = ""
    optional: bool = False
    repeated: bool = False  # the last parameter may be given several times


@dataclass(frozen=True, slots=True)
class LeafLoss:
    """The loss that the numbers of a leaf minimize; parameters of the measure may choose kind, level and columns."""

    kind: str = "squared"  # squared, absolute, quantile or hazard
    level: Fraction = Fraction(1, 2)  # of a quantile
    kind_parameter: str = ""  # the parameter that gives the kind instead
    level_parameter: str = ""  # the parameter that gives the level instead
    columns_parameter: str = ""  # the parameter that names the columns; without it a leaf predicts the target


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of a tree: all that the checker, the back-ends, the verification and the documentation need."""

    name: str
    summary: str
    task: str  # "any", "classes", "numbers", "clusters" or "ensemble"
    unit: str  # count (a plain whole number), rows (unweighted), weight, share, cost, loss, truth, quotient or value
    group: str  # for lists and suggestions: size, errors, rates, fairness, costs, losses, survival, leaves, ...
    parameters: tuple[Parameter, ...] = ()
    whole: bool = False  # always a whole number, so that < and > make sense
    needs_positive: bool = False  # depends on the positive class: `predict ... is ...`
    goal: str = ""  # "minimize" or "maximize": the sense in which it is usually wanted; "" if it is only bounded
    # The rows of each group of a column that a fairness measure compares: "all", "positives", "negatives" or several.
    # Its first parameter is the column, and a group without such rows is refused before solving.
    fairness: tuple[str, ...] = ()
    signed: bool = False  # can be negative, as costs that columns give can be
    ignores_predictions: bool = False  # the same whatever the leaves predict
    additive: bool = False  # a sum over the rows of what the class predicted for each counts, plus a constant
    leaf_loss: LeafLoss | None = None  # if the leaves hold numbers that minimize it
    instead: str = ""  # of a measure that can be reported, not optimized or required: what to ask for instead
    lowering: str | Callable[..., Any] = ""  # (Use, Dataset, tuple[Feature, ...]) -> Sum of terms
    evaluator: str | Callable[..., Any] = ""  # (Use, Dataset, TreeOutcome) -> Fraction, or None if it is undefined


_COLUMN = (Parameter("column", "column"),)
_CLASS = (Parameter("class", "class"),)
_CONDITIONS = (Parameter("conditions", "conditions"),)
_LEVEL = (Parameter("level", "number", low="0", high="1"),)
_COLUMNS = (
    Parameter("columns", "columns", repeated=True),
    Parameter("distance", "word", ("squared", "absolute"), optional=True),
)
_SUMS = (Parameter("numerator", "sum"), Parameter("denominator", "sum"))
_DIRECTION = Parameter("direction", "word", ("increasing", "decreasing"))


def _size(name: str, summary: str) -> Measure:
    return Measure(name, summary, "any", "count", "size", whole=True, goal="minimize", ignores_predictions=True)


def _errors(name: str, summary: str, unit: str, goal: str) -> Measure:
    return Measure(name, summary, "classes", unit, "errors", goal=goal, additive=True)


def _rate(name: str, summary: str, *, additive: bool = False) -> Measure:
    return Measure(name, summary, "classes", "share", "rates", _CLASS, goal="maximize", additive=additive)


def _gap(name: str, summary: str, compared: tuple[str, ...]) -> Measure:
    return Measure(
        name,
        summary,
        "classes",
        "share",
        "fairness",
        _COLUMN,
        needs_positive=True,
        goal="minimize",
        fairness=compared,
        lowering="treeml.measures.lowerings:gap",
    )


def _reported(
    name: str, summary: str, task: str, unit: str, group: str, instead: str, parameters: tuple[Parameter, ...] = ()
) -> Measure:
    functions = f"treeml.measures.reported:{name}"
    return Measure(
        name, summary, task, unit, group, parameters, instead=instead, lowering=functions, evaluator=functions
    )


def _impurity(name: str, summary: str, unit: str, evaluator: str = "") -> Measure:
    """A cost of the mixture of classes in the leaves, whatever these predict."""
    return Measure(
        name,
        summary,
        "classes",
        unit,
        "errors",
        goal="minimize",
        ignores_predictions=True,
        evaluator=evaluator,
    )


def _loss(
    name: str, summary: str, loss: LeafLoss, task: str = "numbers", parameters: tuple[Parameter, ...] = ()
) -> Measure:
    return Measure(name, summary, task, "loss", "losses", parameters, goal="minimize", leaf_loss=loss)


def _with_functions(measure: Measure) -> Measure:
    """A built-in measure is lowered and evaluated by the functions of its name, unless it says otherwise."""
    return replace(
        measure,
        lowering=measure.lowering or f"treeml.measures.lowerings:{measure.name}",
        evaluator=measure.evaluator or f"treeml.measures.evaluators:{measure.name}",
    )


BUILT_IN: Mapping[str, Measure] = {
    measure.name: _with_functions(measure)
    for measure in (
        _size("depth", "splits on the longest path; a lone leaf has depth 0"),
        _size("leaves", "number of leaves"),
        _size("splits", "number of splits: leaves minus one"),
        Measure(
            "support",
            "fewest rows in a leaf, unweighted",
            "any",
            "rows",
            "leaves",
            whole=True,
            ignores_predictions=True,
        ),
        _errors("errors", "weight of the rows whose class is predicted wrongly", "weight", "minimize"),
        _errors("error_rate", "share of the weight that is predicted wrongly", "share", "minimize"),
        _errors("accuracy", "one minus error_rate", "share", "maximize"),
        _errors("balanced_accuracy", "mean over the classes of their recall", "share", "maximize"),
        _rate("recall", "share of the class that is predicted as it", additive=True),
        _rate("precision", "share of what is predicted as the class that is of it"),
        _rate("specificity", "share of the other classes that is not predicted as the class", additive=True),
        _rate("npv", "share of what is not predicted as the class that is not of it"),
        _rate("f1", "harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)"),
        Measure(
            "fbeta",
            "mean of precision and recall in which recall counts beta^2 times as much; beta = 1 gives f1",
            "classes",
            "share",
            "rates",
            (*_CLASS, Parameter("beta", "number", low="0")),
            goal="maximize",
        ),
        _rate("jaccard", "what is predicted as the class and of it, as a share of what is either: TP / (TP + FP + FN)"),
        Measure(
            "mcc",
            "Matthews' correlation of being predicted as the class and being of it; 0 if all get one prediction",
            "classes",
            "value",
            "rates",
            _CLASS,
            goal="maximize",
        ),
        Measure(
            "gmean",
            "geometric mean over the classes of their recall",
            "classes",
            "value",
            "errors",
            goal="maximize",
        ),
        _reported(
            "auc",
            "chance that a row of the class is in a leaf with a larger share of it than a row of another class",
            "classes",
            "share",
            "rates",
            "optimize `balanced_accuracy`, or `recall` with a bound on `specificity`",
            _CLASS,
        ),
        _impurity(
            "log_loss",
            "mean of minus the logarithm of the share that the class of a row has in its leaf",
            "value",
            "treeml.measures.reported:log_loss",
        ),
        _impurity(
            "gini", "mean over rows of the Gini impurity of their leaves", "share", "treeml.measures.reported:gini"
        ),
        _impurity(
            "description_length",
            "bits that describe the tree and, given the tree, the classes of the rows",
            "value",
        ),
        _reported(
            "kappa",
            "agreement of predictions and classes beyond chance: Cohen's kappa",
            "classes",
            "value",
            "errors",
            "optimize `accuracy` or `balanced_accuracy`",
        ),
        Measure(
            "count",
            "weight of the rows that meet the conditions",
            "classes",
            "weight",
            "rates",
            _CONDITIONS,
            additive=True,
        ),
        Measure(
            "rate",
            "among the rows that meet what is given, the share that meets the conditions",
            "classes",
            "share",
            "rates",
            _CONDITIONS,
            additive=True,
        ),
        Measure(
            "ratio",
            "one sum over the predictions divided by another, such as two counts",
            "classes",
            "quotient",
            "rates",
            _SUMS,
            goal="maximize",
            lowering="treeml.measures.lower:ratio",
        ),
        _gap(
            "parity_gap", "largest minus smallest rate of the positive prediction over the groups of a column", ("all",)
        ),
        _gap("opportunity_gap", "the same among rows that are actually positive", ("positives",)),
        _gap("predictive_gap", "the same among rows that are actually negative", ("negatives",)),
        _gap("odds_gap", "the larger of opportunity_gap and predictive_gap", ("positives", "negatives")),
        Measure(
            "mistake_cost",
            "sum of weight times the cost of predicting one class for another",
            "classes",
            "cost",
            "costs",
            goal="minimize",
            signed=True,
            additive=True,
        ),
        Measure(
            "gain",
            "minus mistake_cost: what the predictions earn, where `gain predict` names columns",
            "classes",
            "cost",
            "costs",
            goal="maximize",
            signed=True,
            additive=True,
        ),
        Measure(
            "test_cost",
            "sum over rows of the costs of the distinct columns tested on their path",
            "any",
            "cost",
            "costs",
            goal="minimize",
            ignores_predictions=True,
        ),
        _loss("squared_loss", "sum of weighted squared distances to the mean of the leaf", LeafLoss("squared")),
        _loss("absolute_loss", "sum of weighted distances to the median of the leaf", LeafLoss("absolute")),
        _loss("mse", "mean squared error: squared_loss divided by the weight of all rows", LeafLoss("squared")),
        _loss(
            "mean_absolute_error",
            "absolute_loss divided by the weight of all rows",
            LeafLoss("absolute"),
        ),
        Measure(
            "r2",
            "share of the variance that the tree explains: one minus mse divided by the variance of the target",
            "numbers",
            "share",
            "losses",
            goal="maximize",
            leaf_loss=LeafLoss("squared"),
        ),
        _reported(
            "rmse",
            "root of the mean squared error of the predictions",
            "numbers",
            "value",
            "losses",
            "the trees with the least `mse` are those with the least `rmse`; for `rmse <= 5`, write `mse <= 25`",
        ),
        Measure(
            "survival_loss",
            "minus the logarithm of the likelihood that each leaf has its own multiple of one baseline hazard",
            "numbers",
            "loss",
            "survival",
            goal="minimize",
            leaf_loss=LeafLoss("hazard"),
        ),
        _reported(
            "concordance",
            "share of the pairs of rows, whose order of deaths is known, that the relative hazards order right",
            "numbers",
            "share",
            "survival",
            "optimize `survival_loss`",
        ),
        _reported(
            "brier",
            "mean squared error of the shares in the leaves: of classes, or of survivors over time",
            "any",
            "value",
            "survival",
            "optimize `survival_loss`; for classes, the trees with the least `gini` are those with the least `brier`",
        ),
        _loss(
            "quantile_loss",
            "sum of weighted pinball losses to the quantile of the leaf",
            LeafLoss("quantile", level_parameter="level"),
            parameters=_LEVEL,
        ),
        _loss(
            "cluster_loss",
            "sum of squared (or absolute) distances to the centroid of the leaf over the named columns",
            LeafLoss(kind_parameter="distance", columns_parameter="columns"),
            "clusters",
            _COLUMNS,
        ),
        Measure(
            "purity",
            "smallest share of the majority class of a leaf",
            "classes",
            "share",
            "leaves",
            ignores_predictions=True,
        ),
        Measure("leaf_errors", "most errors in a leaf", "classes", "weight", "leaves"),
        Measure(
            "leaf_weight",
            "least weight of the rows of a leaf",
            "classes",
            "weight",
            "leaves",
            ignores_predictions=True,
        ),
        Measure(
            "features_used",
            "number of distinct columns in the tree",
            "any",
            "count",
            "features",
            whole=True,
            goal="minimize",
            ignores_predictions=True,
        ),
        Measure(
            "uses",
            "whether the tree tests the column",
            "any",
            "truth",
            "features",
            _COLUMN,
            whole=True,
            ignores_predictions=True,
        ),
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


class _Measures(Mapping[str, Measure]):
    """The measures of this project and those of installed packages, which are searched only for unknown names."""

    def __getitem__(self, name: str) -> Measure:
        if name in BUILT_IN:
            return BUILT_IN[name]
        entry = plugins.installed(plugins.MEASURES).get(name)
        found = None if entry is None else _loaded(entry)
        if not isinstance(found, Measure):
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        yield from BUILT_IN
        for name, entry in plugins.installed(plugins.MEASURES).items():
            if name not in BUILT_IN and isinstance(_loaded(entry), Measure):
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)


MEASURES: Mapping[str, Measure] = _Measures()


def load_failure(name: str) -> str:
    """Why the measure that an installed package registers under this name cannot be used; "" if no package does."""
    entry = plugins.installed(plugins.MEASURES).get(name)
    found = None if entry is None else _loaded(entry)
    return found if isinstance(found, str) else ""


@lru_cache(maxsize=256)
def _loaded(entry: EntryPoint) -> Measure | str:
    """The declaration that an entry point leads to, or why it is unusable."""
    package = entry.dist.name if entry.dist is not None else "another package"
    where = f"`{entry.value}` of {package}"
    try:
        found = entry.load()
    except Exception as error:  # another package's code: whatever it raises, the spec is not to blame
        return f"{where}: {type(error).__name__}: {error}"
    if not isinstance(found, Measure):
        return f"{where} is not a treeml.lang.measures.Measure"
    if found.name != entry.name:
        return f"{where} declares `{found.name}` and is registered as `{entry.name}`"
    if not found.lowering or not found.evaluator:
        return f"{where} declares no {'evaluator' if found.lowering else 'lowering'}"
    return found


@dataclass(frozen=True, slots=True)
class ChosenLoss:
    """The loss of the leaves in one use of a measure, with the arguments of that use."""

    kind: str = "squared"
    level: Fraction = Fraction(1, 2)
    columns: tuple[str, ...] = ()  # empty: the target


def chosen_loss(use: Use) -> ChosenLoss | None:
    """The loss that the leaves minimize under this measure; None if the measure is not a loss of leaves."""
    measure = MEASURES[use.measure]
    loss = measure.leaf_loss
    if loss is None:
        return None
    given = dict(zip((parameter.name for parameter in measure.parameters), use.arguments, strict=False))
    columns = given.get(loss.columns_parameter, ())
    return ChosenLoss(
        str(given.get(loss.kind_parameter) or loss.kind),
        Fraction(given.get(loss.level_parameter) or loss.level),
        (columns,) if isinstance(columns, str) else tuple(columns),
    )
