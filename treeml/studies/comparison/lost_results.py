"""The best tree or forest reported by a lost back-end -> a verified result, in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Answer, Progress, Status, Stop
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from treeml.data.table import Dataset
    from treeml.solving.request import Request
    from treeml.solving.result import Result


@dataclass(frozen=True, slots=True)
class Incumbent:
    """The best answer that a back-end has reported so far, in a form that its process can send."""

    trees: tuple[Node, ...]
    weights: tuple[float, ...] = ()  # empty for a single tree

    @staticmethod
    def of(moment: Progress) -> Incumbent | None:
        weighted: tuple[tuple[Node, float], ...] = getattr(moment, "weighted", ())
        if weighted:
            return Incumbent(tuple(tree for tree, _ in weighted), tuple(weight for _, weight in weighted))
        return None if moment.tree is None else Incumbent((moment.tree,))


def kept(dataset: Dataset, request: Request, incumbent: Incumbent) -> Result:
    """The result that the lost back-end would have given if stopped then; its values are recomputed from the rows."""
    if incumbent.weights:
        from treeml.solving.forest_result import recovered_forest

        return recovered_forest(dataset, request, incumbent.trees, incumbent.weights, monotonic())
    return _single(dataset, request, incumbent.trees[0])


def _single(dataset: Dataset, request: Request, tree: Node) -> Result:
    from treeml.backends.run import checked
    from treeml.solving.choice import lower, plan
    from treeml.solving.pipeline import verified_result
    from treeml.solving.result import Clock

    begun = monotonic()
    chosen = plan(lower(dataset, request), request)
    answer = checked(chosen.plan, Answer(Status.FEASIBLE, Stop.FAILED, tree))
    return verified_result(answer, chosen, dataset, request, Clock(begun, monotonic()))


def first_and_best(trace: Sequence[dict[str, Any]]) -> tuple[float | None, float | None]:
    """The times of the first tree and of the best tree."""
    reported = [moment for moment in trace if moment["objective"] is not None]
    if not reported:
        return None, None
    best = next(moment for moment in reported if moment["objective"] == reported[-1]["objective"])
    return reported[0]["seconds"], best["seconds"]
