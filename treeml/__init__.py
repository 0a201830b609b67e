"""TreeML: a constraint-modelling language for decision trees, with solver-agnostic back-ends and verified answers.

    import treeml as tml
    model = tml.Model()
    model.predict("disease")
    model.maximize(tml.accuracy)
    model.require(tml.depth <= 3)
    result = model.solve("heart.csv")

Every measure is a name here (`tml.leaves`, `tml.parity_gap("sex")`). Names are imported at first use, so that
importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treeml.version import __version__

if TYPE_CHECKING:
    from treeml.backends.contract import Status, Stop
    from treeml.estimators.distillation import distill
    from treeml.lang.diagnostic import BackendError, DataError, Diagnostic, InfeasibleError, RefusedError, SpecError
    from treeml.lang.formula import (
        between,
        column,
        hours,
        method,
        minutes,
        param,
        percent,
        quantity,
        rows,
        seconds,
    )
    from treeml.lang.measure_formulas import (
        absolute_loss,
        accuracy,
        auc,
        balanced_accuracy,
        brier,
        cluster_loss,
        concordance,
        count,
        depth,
        description_length,
        error_rate,
        errors,
        f1,
        fbeta,
        features_used,
        gain,
        gini,
        gmean,
        jaccard,
        kappa,
        leaf_errors,
        leaf_weight,
        leaves,
        log_loss,
        margin,
        mcc,
        mean_absolute_error,
        mistake_cost,
        monotone,
        mse,
        npv,
        odds_gap,
        opportunity_gap,
        parity_gap,
        precision,
        predictive_gap,
        purity,
        quantile_loss,
        r2,
        rate,
        ratio,
        recall,
        rmse,
        specificity,
        splits,
        squared_loss,
        support,
        survival_loss,
        test_cost,
        uses,
    )
    from treeml.model import Model, load, parse, solve
    from treeml.solving.result import Result
    from treeml.studies.tree_sets.tree_set import TreeSet
    from treeml.trees.forest import Forest
    from treeml.trees.tree import Tree

__all__ = [
    "BackendError",
    "DataError",
    "Diagnostic",
    "Forest",
    "InfeasibleError",
    "Model",
    "RefusedError",
    "Result",
    "SpecError",
    "Status",
    "Stop",
    "Tree",
    "TreeSet",
    "__version__",
    "absolute_loss",
    "accuracy",
    "auc",
    "balanced_accuracy",
    "between",
    "brier",
    "cluster_loss",
    "column",
    "concordance",
    "count",
    "depth",
    "description_length",
    "distill",
    "error_rate",
    "errors",
    "f1",
    "fbeta",
    "features_used",
    "gain",
    "gini",
    "gmean",
    "hours",
    "jaccard",
    "kappa",
    "leaf_errors",
    "leaf_weight",
    "leaves",
    "load",
    "log_loss",
    "margin",
    "mcc",
    "mean_absolute_error",
    "method",
    "minutes",
    "mistake_cost",
    "monotone",
    "mse",
    "npv",
    "odds_gap",
    "opportunity_gap",
    "param",
    "parity_gap",
    "parse",
    "percent",
    "precision",
    "predictive_gap",
    "purity",
    "quantile_loss",
    "quantity",
    "r2",
    "rate",
    "ratio",
    "recall",
    "rmse",
    "rows",
    "seconds",
    "solve",
    "specificity",
    "splits",
    "squared_loss",
    "support",
    "survival_loss",
    "test_cost",
    "uses",
]

# Where each name lives; every other name of `__all__` is a measure of treeml.lang.measure_formulas.
_HOMES = {
    "Model": "treeml.model",
    "load": "treeml.model",
    "parse": "treeml.model",
    "solve": "treeml.model",
    "Result": "treeml.solving.result",
    "Forest": "treeml.trees.forest",
    "Tree": "treeml.trees.tree",
    "TreeSet": "treeml.studies.tree_sets.tree_set",
    "distill": "treeml.estimators.distillation",
    "Status": "treeml.backends.contract",
    "Stop": "treeml.backends.contract",
    "Diagnostic": "treeml.lang.diagnostic",
    "SpecError": "treeml.lang.diagnostic",
    "DataError": "treeml.lang.diagnostic",
    "RefusedError": "treeml.lang.diagnostic",
    "InfeasibleError": "treeml.lang.diagnostic",
    "BackendError": "treeml.lang.diagnostic",
    "between": "treeml.lang.formula",
    "column": "treeml.lang.formula",
    "hours": "treeml.lang.formula",
    "method": "treeml.lang.formula",
    "minutes": "treeml.lang.formula",
    "param": "treeml.lang.formula",
    "percent": "treeml.lang.formula",
    "quantity": "treeml.lang.formula",
    "rows": "treeml.lang.formula",
    "seconds": "treeml.lang.formula",
}


def _import(name: str) -> Any:
    """The public object of this name, imported now; the next access finds it without coming here."""
    if name in __all__:
        home = import_module(_HOMES.get(name, "treeml.lang.measure_formulas"))
        return globals().setdefault(name, getattr(home, name))
    if not name.startswith("_"):
        from treeml.lang.measures import MEASURES  # imported here: start-up time

        if name in MEASURES:  # a measure that another package declares has no typed name
            from treeml.lang.formula import measure

            return measure(name)
    raise AttributeError(_unknown(name))


if not TYPE_CHECKING:
    __getattr__ = _import  # hidden from type checkers, which would accept any name otherwise


def __dir__() -> list[str]:
    from treeml.lang.measures import MEASURES

    return sorted({*__all__, *MEASURES})


def _unknown(name: str) -> str:
    from treeml.lang.suggest import suggest

    guess = suggest(name, __dir__())
    return f"treeml has no {name!r}" + (f"; did you mean {guess}?" if guess else "")
