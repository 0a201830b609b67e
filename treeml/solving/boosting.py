"""Model, data -> a forest by a criterion of one's own; a stored forest -> its verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from time import monotonic
from typing import Any

from treeml.backends.contract import OnProgress
from treeml.forests.boost import OWN_OPTIONS, TOLERANCE
from treeml.forests.criterion import Criterion
from treeml.lang.spec import Method
from treeml.lang.statements import Statements
from treeml.solving.forest_result import solve_forest
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions
from treeml.solving.pipeline import prepare
from treeml.solving.result import Result
from treeml.solving.verify import Verification
from treeml.solving.verify_forest import verify_forest
from treeml.trees.forest import Forest


def boost_with(
    kind: type[Criterion],
    model: Statements,
    data: Any = None,
    y: Any = None,
    *,
    options: Mapping[str, Any] | None = None,
    run: RunOptions = DEFAULT_OPTIONS,
    on_progress: OnProgress | None = None,
) -> Result:
    """The best forest by a criterion that is given as its class, with `options` for it.

    >>> result = boost_with(Mixed, model, x, y, options={"share": Fraction(3, 4)})

    The model has no `ensemble` and no goal (`satisfy`).
    """
    begun = monotonic()
    dataset, request = prepare(model, data, y, run)
    spec = replace(request.spec, ensemble=Method(kind.name, dict(options or {})), goals=())
    return solve_forest(replace(dataset, spec=spec), replace(request, spec=spec), begun, on_progress, kind)


def verify_kept(
    forest: Forest, model: Statements, data: Any = None, y: Any = None, run: RunOptions = DEFAULT_OPTIONS
) -> Verification:
    """A stored forest, verified against a model and its rows.

    >>> verify_kept(Forest.read("forest.json"), model, "spambase.csv").verified
    """
    dataset, request = prepare(model, data, y, run)
    given = {} if request.spec.ensemble is None else request.spec.ensemble.options
    options = {name: value for name, value in given.items() if name not in OWN_OPTIONS}
    (value,) = verify_forest(forest, dataset, options, resolve=False).objective
    tolerance = Fraction(given.get("tolerance", TOLERANCE)) * max(Fraction(1), abs(value))
    return verify_forest(forest, dataset, options, tolerance=tolerance)
