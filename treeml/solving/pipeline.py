"""Text -> report: the whole flow on one screen.

read     a file or a string          -> Source          lang/source.py
parse    Source                      -> Model           lang/parse.py, model.py
check    Model, params               -> Spec            lang/check.py
load     a file, a frame, arrays     -> Table           data/read.py
bind     Spec, Table                 -> Dataset         data/bind.py
lower    Dataset                     -> Problem         data/problem.py (data/binarize.py, measures/)
plan     Problem, back-end           -> Plan            backends/plan.py
run      Plan, limits                -> Answer          backends/run.py and the back-end
raise    Answer                      -> Tree            tree.py
verify   Tree, Dataset               -> exact values    verify.py

A forest (`ensemble by ...`) takes its own way from Dataset to Result: ensembles/boost.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treeml.backends.contract import OnProgress
    from treeml.lang.diagnostic import Diagnostic
    from treeml.model import Model
    from treeml.solving.result import Result
    from treeml.solving.why import Why
    from treeml.studies.compare import Comparison

SECONDS_TO_EXPLAIN = 5.0  # to make a conflict small, where the back-end does not name one


def solve(
    model: Model, data: Any = None, y: Any = None, *, on_progress: OnProgress | None = None, **asked: Any
) -> Result:
    """The best tree or forest for a model: from `data` (a path, a frame, or X with `y`), or from the file it names.

    What is asked here beats the model's own `solve` statement: `backend`, `within` (seconds, or text such as "5 min"),
    `gap`, `seed`, `threads`, `memory`, `options` of the back-end, `params`, `weight` (one per row),
    `start` (a Tree, a fitted tree of scikit-learn, or the path of a tree).
    """
    from treeml.backends.contract import Status
    from treeml.backends.run import run
    from treeml.solving.feasibility import impossible
    from treeml.solving.request import choose, prepare, starting_tree
    from treeml.solving.result import assemble, refuted
    from treeml.solving.validation import validated
    from treeml.solving.why import smallest

    begun = monotonic()
    dataset, request = prepare(model, data, y, **asked)
    if request.spec.ensemble is not None:
        from treeml.forests.boost import boost

        return validated(boost(dataset, request, begun, on_progress), dataset, request)
    chosen = choose(dataset, request)
    start = starting_tree(dataset, request, chosen.lowered)
    built = monotonic()
    ruled_out = impossible(chosen.lowered)
    before = request.files()
    if ruled_out is not None and not before:
        return refuted(ruled_out, chosen, request, begun)
    limits = request.limits(begun, chosen.method)
    answer = run(chosen.plan, limits, start, on_progress)
    if answer.status is Status.INFEASIBLE and not answer.conflict:
        answer = replace(answer, conflict=smallest(chosen, limits, SECONDS_TO_EXPLAIN))
    for kind, (path, state) in request.files().items():
        if state == before[kind][1]:
            because = "no question had to be refuted by clauses" if kind == "proof" else "none had to be built"
            answer = replace(answer, notes=(*answer.notes, f"no {kind} was written to {path}: {because}"))
    result = assemble(answer, chosen, dataset, request, begun, built)
    return validated(result, dataset, request)


def check(model: Model, data: Any = None, **asked: Any) -> tuple[Diagnostic, ...]:
    """Warnings about a model, alone or with data; SpecError with every mistake where something is wrong."""
    from treeml.solving.checking import checked

    spec, warnings = checked(model, data=data, **asked)
    if data is not None:
        from treeml.data.bind import bind
        from treeml.lang.redaction import redacted_data
        from treeml.measures.lower_dataset import lower
        from treeml.solving.request import read_data

        with redacted_data(spec, data):
            lower(bind(spec, read_data(spec, data)))
    return warnings


def compare(model: Model, data: Any = None, backends: Sequence[str] | None = None, **asked: Any) -> Comparison:
    """The same model solved by several back-ends (all that are capable, unless some are named), one after the other."""
    from treeml.studies.compare import compare

    return compare(model, data, backends, **asked)


def explain(model: Model, data: Any = None, **asked: Any) -> str:
    """How a model would be solved: the back-end, the steps that lead to it, and the size of the problem."""
    return plan_text(plan_rows(model, data, **asked))


def plan_text(rows: list[dict[str, str]]) -> str:
    return "\n".join(f"{row['what']:<9} {row['text']}" for row in rows)


def plan_rows(model: Model, data: Any = None, **asked: Any) -> list[dict[str, str]]:
    """The same as rows of two words: what the row is about, and its text."""
    from treeml.solving.explain import of_plan
    from treeml.solving.request import choose, prepare

    dataset, request = prepare(model, data, **asked)
    return of_plan(choose(dataset, request), request)


def parameters(
    model: Model, data: Any = None, *, within: float | str | None = None, **asked: Any
) -> list[dict[str, Any]]:
    """Rows, features, domains, differences and a support set, and whether `parameterized` will finish."""
    from treeml.solving.parameters import of_data
    from treeml.solving.request import prepare

    dataset, request = prepare(model, data, within=within, **asked)
    return of_data(dataset, request.spec.within)


def why(model: Model, data: Any = None, *, nearest: Sequence[str] = (), **asked: Any) -> Why:
    """Which requirements of a model conflict, if no tree meets them; `nearest` names some that could give way."""
    from treeml.solving.request import choose, prepare
    from treeml.solving.why import why

    begun = monotonic()
    dataset, request = prepare(model, data, **asked)
    return why(dataset, request, choose(dataset, request), begun, nearest)


def backends(model: Model, data: Any = None, **asked: Any) -> list[dict[str, Any]]:
    """Which back-ends can solve a model, and why the others cannot."""
    from treeml.solving.request import plans, prepare

    dataset, request = prepare(model, data, **asked)
    rows = []
    for backend, _, outcome, _ in plans(dataset, request, everybody=True):
        refused = outcome if isinstance(outcome, list) else []
        because = list(dict.fromkeys(refusal.because for refusal in refused))
        rows.append({"back-end": backend.name, "takes it": "no" if refused else "yes", "because": because})
    return rows


def params(model: Model) -> list[dict[str, Any]]:
    """The params of a model: what each is, may be, and where its value comes from."""
    from treeml.solving.explain import of_params

    return of_params(model)
