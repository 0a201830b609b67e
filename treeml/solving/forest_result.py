"""Dataset, request -> a Result with a forest: plan, boost, verify."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from treeml.backends.contract import OnProgress, Status
from treeml.data.table import Dataset
from treeml.forests.boost import ForestAnswer, ForestTask, boost, refuse_one_class, weigh
from treeml.forests.criterion import Criterion
from treeml.lang.diagnostic import BackendError, Diagnostic
from treeml.problem.tree import Node
from treeml.solving.choice import lower, plan
from treeml.solving.long_run import long_run_said
from treeml.solving.request import Request
from treeml.solving.result import Result, plain
from treeml.solving.verify import Verification
from treeml.solving.verify_forest import verify_forest


def solve_forest(
    dataset: Dataset,
    request: Request,
    begun: float,
    on_progress: OnProgress | None = None,
    kind: type[Criterion] | None = None,
) -> Result:
    """The best forest by the criterion of the spec's `ensemble` statement, or by `kind`."""
    refuse_one_class(dataset)
    task = _task(dataset, request, begun)
    with long_run_said(request.long_run, task.limits, begun, is_asked=False, what="forest"):
        answer = boost(task, on_progress, kind)
    return _result(answer, task, request)


def recovered_forest(
    dataset: Dataset, request: Request, trees: Sequence[Node], weights: Sequence[float], begun: float
) -> Result:
    """The last forest reported by a run that was killed, verified; it has no bound and no proof."""
    task = _task(dataset, request, begun)
    return _result(weigh(task, trees, weights), task, request)


def _task(dataset: Dataset, request: Request, begun: float) -> ForestTask:
    chosen = plan(lower(dataset, request), request)
    limits = request.limits(begun, chosen.method)
    return ForestTask(dataset, request.spec, chosen.lowered, chosen.plan, limits, begun)


def _result(answer: ForestAnswer, task: ForestTask, request: Request) -> Result:
    exact = _verified(answer, task)
    notes = (
        task.lowered.notes
        if exact is None
        else (*task.lowered.notes, *answer.remarks, *exact.notes, *answer.limit_notes)
    )
    return Result(
        status=answer.status,
        stop=answer.stop,
        backend=task.plan.backend.name,
        objective=None if answer.value is None else plain(answer.value),
        bound=None if answer.bound is None else plain(answer.bound),
        gap=answer.gap,
        verified=exact is not None,
        seconds=monotonic() - task.begun,
        build_seconds=answer.built - task.begun,
        measures={} if exact is None else {name: plain(number) for name, number in exact.measures.items()},
        exact=exact,
        conflict=answer.conflict,
        trace=answer.trace,
        statistics=answer.statistics,
        notes=notes,
        warnings=request.warnings,
        plan=answer.plan,
        raw_status=answer.raw_status,
        reports=task.spec.report,
        spec=task.spec,
        forest=answer.forest,
        # Rounded weights move the penalty for slack, which is at most 1 above the margin, by twice that share of it.
        tolerance=float(answer.tolerance + 16 * task.dataset.rounding.weights),
        evidence=answer.evidence,
    )


def _verified(answer: ForestAnswer, task: ForestTask) -> Verification | None:
    if answer.forest is None:
        return None
    exact = verify_forest(
        answer.forest,
        task.dataset,
        answer.options,
        answer.value,
        answer.allowed,
        answer.criterion,
        resolve=answer.status is Status.OPTIMAL or not task.limits.deadline.passed,
    )
    if not exact.verified:
        raise BackendError(_not_verified(task.plan.backend.name, exact.mismatches))
    return exact


def _not_verified(backend: str, mismatches: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(
        "B516",
        f"the forest of {backend} does not verify against the rows",
        notes=mismatches[:5],
        helps=("this is a mistake of the program, not of the specification; please report it with the data",),
    )
