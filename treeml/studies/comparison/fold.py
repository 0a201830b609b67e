"""One fold of a cross-validation -> the training rows, and the scores of a result on the held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.lang.spec import Method

if TYPE_CHECKING:
    from treeml.backends.contract import OnProgress
    from treeml.data.table import Dataset
    from treeml.lang.statements import Statements
    from treeml.solving.options import RunOptions
    from treeml.solving.request import Request
    from treeml.solving.result import Result


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Fold `number` of `folds`, as in `validate by folds(folds, seed = ...)`."""

    number: int
    folds: int
    train: Dataset
    test: Dataset
    request: Request

    def scored(self, result: Result) -> Result:
        """The result with its scores on the held-out rows."""
        from treeml.solving.validation import Validation, scored

        if result.forest is None and result.tree is None:
            return result
        part = scored(result, self.train, self.test)
        return replace(result, validation=Validation(f"fold {self.number} of {self.folds}", (part,)))


def prepare_fold(model: Statements, data: Any, fold: tuple[int, int, int], options: RunOptions) -> Fold:
    from treeml.data.subset import held_out, take
    from treeml.solving.pipeline import prepare
    from treeml.solving.validation import splits

    number, folds, seed = fold
    dataset, request = prepare(model, data, None, options, keep_table=True)
    train, test = list(splits(dataset, Method("folds", {"folds": folds, "seed": seed}), request))[number - 1]
    alone = replace(request, spec=replace(request.spec, validate=None))
    return Fold(number, folds, take(dataset, train), held_out(dataset, test), alone)


def solve_fold(
    model: Statements, data: Any, fold: tuple[int, int, int], options: RunOptions, on_progress: OnProgress
) -> Result:
    """The result on the training rows, scored on the held-out rows."""
    from treeml.solving.pipeline import solve_dataset

    begun = monotonic()
    part = prepare_fold(model, data, fold, options)
    request = part.request
    if not isinstance(request.spec.start, Method):  # a given tree may have been trained on the held-out rows
        request = replace(request, spec=replace(request.spec, start=None), start=None)
    return part.scored(solve_dataset(part.train, request, begun, on_progress, explains=False))
