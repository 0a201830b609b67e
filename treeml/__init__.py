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

from treeml.version import __version__ as __version__

if TYPE_CHECKING:
    from treeml.backends.contract import Status as Status
    from treeml.backends.contract import Stop as Stop
    from treeml.estimators.distillation import distill as distill
    from treeml.lang.diagnostic import BackendError as BackendError
    from treeml.lang.diagnostic import DataError as DataError
    from treeml.lang.diagnostic import Diagnostic as Diagnostic
    from treeml.lang.diagnostic import InfeasibleError as InfeasibleError
    from treeml.lang.diagnostic import RefusedError as RefusedError
    from treeml.lang.diagnostic import SpecError as SpecError
    from treeml.lang.formula import between as between
    from treeml.lang.formula import column as column
    from treeml.lang.formula import hours as hours
    from treeml.lang.formula import method as method
    from treeml.lang.formula import minutes as minutes
    from treeml.lang.formula import param as param
    from treeml.lang.formula import percent as percent
    from treeml.lang.formula import quantity as quantity
    from treeml.lang.formula import rows as rows
    from treeml.lang.formula import seconds as seconds
    from treeml.model import Model as Model
    from treeml.model import load as load
    from treeml.model import parse as parse
    from treeml.solving.pipeline import solve as solve
    from treeml.solving.result import Result as Result
    from treeml.trees.forest import Forest as Forest
    from treeml.trees.tree import Tree as Tree


_HOMES = {
    "Model": "treeml.model",
    "load": "treeml.model",
    "parse": "treeml.model",
    "solve": "treeml.solving.pipeline",
    "Result": "treeml.solving.result",
    "Forest": "treeml.trees.forest",
    "Tree": "treeml.trees.tree",
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


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if not name.startswith("_"):
        from treeml.lang.measures import MEASURES

        if name in MEASURES:
            from treeml.lang.formula import measure

            return measure(name)
    raise AttributeError(_unknown(name))


def __dir__() -> list[str]:
    from treeml.lang.measures import MEASURES

    return sorted({*_HOMES, *MEASURES, "__version__"})


def _unknown(name: str) -> str:
    from treeml.lang.suggest import suggest

    guess = suggest(name, __dir__())
    return f"treeml has no {name!r}" + (f"; did you mean {guess}?" if guess else "")
