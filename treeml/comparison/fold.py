"""One fold of a cross-validation -> the result on the other rows, with its scores on those held out."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.spec import Method

if TYPE_CHECKING:
    from treeml.backends.contract import OnProgress
    from treeml.model import Model
    from treeml.result import Result


def solve_fold(model: Model, data: Any, fold: tuple[int, int, int], on_progress: OnProgress, **asked: Any) -> Result:
    """Fold `number` of `folds`, as `validate by folds(folds, seed = seed)` makes them."""
    from treeml.backends.run import run
    from treeml.data.take import take
    from treeml.request import choose, prepare, starting_tree
    from treeml.result import assemble
    from treeml.validation import Part, Validation, scores, splits

    number, folds, seed = fold
    begun = monotonic()
    dataset, request = prepare(model, data, **asked)
    if request.spec.ensemble is not None:
        title = "folds of a sweep are for single trees; a forest is validated by `validate by folds(...)` in its spec"
        raise DataError(Diagnostic("D494", title, place="--folds"))
    train, test = list(splits(dataset, Method("folds", {"folds": folds, "seed": seed}), request))[number - 1]
    part = take(dataset, train)
    alone = replace(request, spec=replace(request.spec, validate=None))
    chosen = choose(part, alone)
    built = monotonic()
    start = starting_tree(part, alone, chosen.lowered) if isinstance(alone.spec.start, Method) else None
    answer = run(chosen.plan, alone.limits(begun, chosen.method), start, on_progress)
    result = assemble(answer, chosen, part, alone, begun, built)
    if result.tree is None:
        return result
    unseen = Part(len(test), result.status.value, scores(result.tree, part), scores(result.tree, take(dataset, test)))
    return replace(result, validation=Validation(f"fold {number} of {folds}", (unseen,)))
