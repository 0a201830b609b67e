"""One fold of a cross-validation -> the rows to learn from, and a result's scores on those held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.lang.spec import Method

if TYPE_CHECKING:
    from treeml.backends.contract import OnProgress
    from treeml.data.table import Dataset
    from treeml.model import Model
    from treeml.solving.request import Request
    from treeml.solving.result import Result


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Fold `number` of `folds`, as `validate by folds(folds, seed = ...)` makes them."""

    number: int
    folds: int
    train: Dataset
    test: Dataset
    request: Request

    def scored(self, result: Result) -> Result:
        """The result with its scores on the rows held out."""
        from treeml.solving.validation import Part, Validation, scores

        found = result.forest or result.tree
        if found is None:
            return result
        part = Part(self.test.rows, result.status.value, scores(found, self.train), scores(found, self.test))
        return replace(result, validation=Validation(f"fold {self.number} of {self.folds}", (part,)))


def prepare_fold(model: Model, data: Any, fold: tuple[int, int, int], **asked: Any) -> Fold:
    from treeml.data.subset import held_out, take
    from treeml.solving.request import prepare
    from treeml.solving.validation import splits

    number, folds, seed = fold
    dataset, request = prepare(model, data, keep=True, **asked)
    train, test = list(splits(dataset, Method("folds", {"folds": folds, "seed": seed}), request))[number - 1]
    alone = replace(request, spec=replace(request.spec, validate=None))
    return Fold(number, folds, take(dataset, train), held_out(dataset, test), alone)


def solve_fold(model: Model, data: Any, fold: tuple[int, int, int], on_progress: OnProgress, **asked: Any) -> Result:
    """The result on the other rows."""
    from treeml.backends.run import run
    from treeml.solving.request import choose, starting_tree
    from treeml.solving.result import assemble

    begun = monotonic()
    part = prepare_fold(model, data, fold, **asked)
    if part.request.spec.ensemble is not None:
        from treeml.forests.boost import boost

        return part.scored(boost(part.train, part.request, begun, on_progress))
    chosen = choose(part.train, part.request)
    built = monotonic()
    makes_start = isinstance(part.request.spec.start, Method)  # a tree that was given may have seen the rows held out
    start = starting_tree(part.train, part.request, chosen.lowered) if makes_start else None
    answer = run(chosen.plan, part.request.limits(begun, chosen.method), start, on_progress)
    return part.scored(assemble(answer, chosen, part.train, part.request, begun, built))
