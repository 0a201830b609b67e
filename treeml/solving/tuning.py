"""Model, data -> the penalty of its boosting criterion that does best on unseen rows, by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from treeml.data.table import Dataset
from treeml.lang.diagnostic import DataError, Diagnostic, RefusedError
from treeml.lang.spec import Method
from treeml.lang.statements import Statements
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions
from treeml.solving.pipeline import prepare, solve_part
from treeml.solving.request import Request
from treeml.solving.result import Result
from treeml.solving.validation import Validation, cross_validated

# The grids of Aglin 2022, section 6.5.
GRIDS: Mapping[str, tuple[Fraction, ...]] = {
    "lpboost": tuple(Fraction(eighths, 8) for eighths in range(1, 9)),
    "mdboost": tuple(map(Fraction, ("0.5", "1", "3", "6", "12", "25", "50", "100"))),
}


@dataclass(frozen=True, slots=True)
class TunedPenalty:
    """The best penalty, or the first of several, how each did, and the forest for all rows with the best penalty."""

    penalty: Fraction
    validations: Mapping[Fraction, Validation]
    result: Result

    def accuracy(self, penalty: Any) -> float:
        """The mean accuracy on the rows held out."""
        return self.validations[_exact(penalty)].mean("accuracy")


def tune(
    model: Statements,
    data: Any = None,
    y: Any = None,
    options: RunOptions = DEFAULT_OPTIONS,
    *,
    grid: Sequence[Any] | None = None,
    folds: int = 4,
) -> TunedPenalty:
    """Try every penalty of the grid by cross-validation, and solve for all rows with the best one.

    >>> tuned = tune(model, frame, options=RunOptions(within=60), grid=[0.5, 1, 2])
    >>> tuned.result.forest

    `within` limits each forest; `seed` is also the seed of the folds.
    """
    dataset, request = prepare(model, data, y, options, keep_table=True)
    return tune_dataset(dataset, request, grid, folds)


def tune_dataset(dataset: Dataset, request: Request, grid: Sequence[Any] | None = None, folds: int = 4) -> TunedPenalty:
    """The same for a dataset that is bound already."""
    method = request.spec.ensemble
    if method is None:
        raise RefusedError(_no_ensemble())
    penalties = [_exact(penalty) for penalty in (grid if grid is not None else GRIDS.get(method.name, ()))]
    if not penalties:
        raise DataError(_no_grid(method.name))
    how = Method("folds", {"folds": folds, "seed": request.spec.seed or 0})
    validations: dict[Fraction, Validation] = {}
    for penalty in penalties:
        again = _with_penalty(request, method, penalty)
        validations[penalty] = cross_validated(replace(dataset, spec=again.spec), how, again, solve_part)
    best = max(penalties, key=lambda penalty: validations[penalty].mean("accuracy"))
    chosen = _with_penalty(request, method, best)
    return TunedPenalty(best, validations, solve_part(replace(dataset, spec=chosen.spec), chosen))


def _with_penalty(request: Request, method: Method, penalty: Fraction) -> Request:
    options = {name: value for name, value in method.options.items() if name != "nu"}
    other = replace(method, options={**options, "penalty": penalty})
    return replace(request, spec=replace(request.spec, ensemble=other))


def _exact(penalty: Any) -> Fraction:
    return Fraction(repr(penalty)) if isinstance(penalty, float) else Fraction(penalty)


def _no_ensemble() -> Diagnostic:
    return Diagnostic(
        "B522",
        "only a forest has a penalty to tune",
        helps=("write `ensemble by lpboost` or `ensemble by mdboost`, and `maximize margin`",),
    )


def _no_grid(name: str) -> Diagnostic:
    return Diagnostic(
        "D439", f"`{name}` has no grid of penalties of its own", helps=("give one: tune(model, data, grid=[1, 3, 10])",)
    )
