"""Specification, data -> a verified result: every stage of a run, in order.

parse    .tml text                   -> Statements      lang/statements.py, lang/parse.py
check    Statements, RunOptions      -> Spec            checking.py, lang/check.py
load     a file, a frame, arrays     -> Table           rows.py, data/read.py
bind     Table, Spec                 -> Dataset         rows.py, data/bind.py
lower    Dataset                     -> Problem         choice.py, measures/lower_dataset.py
plan     Problem, back-ends          -> Plan            choice.py, backends/planning/plan.py
run      Plan, limits                -> Answer          backends/run.py and the back-end
raise    Answer                      -> Tree            trees/raising.py
verify   Tree, Dataset               -> exact values    verify_answer.py, verify.py

A forest (`ensemble by ...`) takes its own way from Dataset to Result: `forest_result.py`. Arrays of numbers and a spec
that asks for the fewest errors (or the best accuracy) up to a small depth take a shorter way: `express.py`. So does a
frame of 0 and 1, after `load`, if the spec also limits gaps between groups: `express_gaps.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from treeml.backends.continuation import continued
from treeml.backends.contract import Answer, OnProgress, Status, Stop
from treeml.data.limits import UNLIMITED, ReadingLimits
from treeml.data.table import Dataset, Table
from treeml.lang.diagnostic import DataError
from treeml.lang.source import Source
from treeml.lang.statements import Statements
from treeml.measures.evaluators import outcome_of
from treeml.problem.evaluate import is_answer
from treeml.solving.checking import check
from treeml.solving.choice import Chosen, lower, plan
from treeml.solving.conflict import smallest_conflict
from treeml.solving.express import express
from treeml.solving.express_gaps import express_gaps
from treeml.solving.feasibility import impossible
from treeml.solving.haste import best_of_samples, better_of, may_sample, start_of, time_to_verify
from treeml.solving.long_run import long_reading_said, long_run_said
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions
from treeml.solving.overruled import with_reasons
from treeml.solving.progress_text import Reporter
from treeml.solving.request import Request, make_request
from treeml.solving.result import Clock, ProblemSource, Result, assemble, refuted
from treeml.solving.rounded_numbers import for_the_users_numbers
from treeml.solving.rows import bind, load
from treeml.solving.starting_tree import StartInterrupted, starting_answer, starting_tree
from treeml.solving.unfinished_reading import result_of_part, sooner
from treeml.solving.validation import validated
from treeml.solving.verify_answer import verify_answer
from treeml.trees.raising import raise_tree

SECONDS_TO_EXPLAIN = 5.0  # for making a conflict small, if the back-end does not name one


def solve(
    model: Statements | Source | str,
    data: Any = None,
    y: Any = None,
    options: RunOptions = DEFAULT_OPTIONS,
    on_progress: OnProgress | None = None,
    on_table: Callable[[Table], None] | None = None,
) -> Result:
    """The best tree or forest: from `data` (a path, a frame, or X with `y`), or from the file that the model names.

    `on_table` is shown the rows as they were read, unless there was no time to read all of them.
    """
    begun = monotonic() if options.begun is None else options.begun
    statements = parse(model)
    if on_progress is None and on_table is None and (quick := express(statements, data, y, options, begun)) is not None:
        return quick
    request = requested(statements, data, y, options)
    is_file = y is None and options.weight is None and (data is None or isinstance(data, (str, Path)))
    try:
        with long_reading_said(request.long_run, begun, request.spec.within) if is_file else nullcontext():
            table = load(replace(request, reading=sooner(request)), data, y, options.weight, merge=True)
    except DataError as error:
        in_memory = y is not None or options.weight is not None
        return result_of_part(error, request, data, in_memory, begun, verified_result)
    if on_table is not None:
        on_table(table)
    if not is_file and on_progress is None:
        brief = express_gaps(table, request, begun, verified_result)
        if brief is not None:
            return brief
    dataset = bind(table, request)
    result = solve_dataset(dataset, request, begun, on_progress)
    result = validated(result, dataset, request, solve_part)
    if is_file:
        return replace(result, origin=ProblemSource(partial(prepare, statements, data, None, options), data))
    return result


def prepare(
    model: Statements | Source | str,
    data: Any = None,
    y: Any = None,
    options: RunOptions = DEFAULT_OPTIONS,
    *,
    reading: ReadingLimits = UNLIMITED,
    keep_table: bool = False,
    merge: bool = False,
) -> tuple[Dataset, Request]:
    """The first half: parse, check, load and bind. `merge`: equal rows of a large file may become one."""
    request = requested(parse(model), data, y, options, reading)
    table = load(request, data, y, options.weight, merge=merge)
    return bind(table, request, keep_table=keep_table), request


def requested(
    statements: Statements, data: Any, y: Any, options: RunOptions, reading: ReadingLimits = UNLIMITED
) -> Request:
    """The checked spec with the options of this run."""
    spec, warnings = check(statements, options, data=data, has_target=y is not None)
    return make_request(spec, warnings, options, is_data_given=data is not None, reading=reading, begun=options.begun)


def solve_dataset(
    dataset: Dataset,
    request: Request,
    begun: float,
    on_progress: OnProgress | None = None,
    *,
    explains: bool = True,
) -> Result:
    """The second half: lower, plan, run, raise and verify. `explains` says whether to find out why there is no tree."""
    if request.spec.ensemble is not None:
        from treeml.solving.forest_result import solve_forest  # imported here: start-up time

        return solve_forest(dataset, request, begun, on_progress)
    quick = None
    if may_sample(dataset, request):
        sampled = best_of_samples(dataset, request, begun, on_progress, verified_result)
        quick = sampled.result
        if quick is not None and (sampled.is_final or quick.stop is Stop.INTERRUPTED):
            return quick
    try:
        chosen = plan(lower(dataset, request), request)
    except KeyboardInterrupt:
        if quick is None:
            raise
        return replace(quick, stop=Stop.INTERRUPTED)
    try:
        start = starting_tree(dataset, request, chosen.lowered, begun) or start_of(quick, chosen.lowered)
    except StartInterrupted as interrupted:
        return verified_result(_kept(interrupted, chosen), chosen, dataset, request, Clock(begun, monotonic()))
    built = monotonic()
    files = request.files()
    if explains and not files and (ruled_out := impossible(chosen.lowered)) is not None:
        return refuted(ruled_out, chosen, request, begun)
    limits = request.limits(begun, chosen.method, time_to_verify(dataset.rows, built - begun, request.spec.within))
    if on_progress is not None:
        on_progress = Reporter(on_progress, request.spec.goals, begun, request.spec.within)
    known = starting_answer(request, chosen.lowered, limits)
    is_asked, is_limited = chosen.has_company and chosen.plan.backend.can.quick, request.spec.improve_within is not None
    with long_run_said(request.long_run, limits, begun, is_asked=is_asked, is_limited=is_limited) as patient:
        if known is not None and chosen.plan.backend.can.proves:
            answer = continued(chosen.plan, patient, known, on_progress)
        else:
            answer = chosen.run(patient, start if known is None else known.tree, on_progress)
    if explains and answer.status is Status.INFEASIBLE and not answer.conflict:
        answer = replace(answer, conflict=smallest_conflict(chosen, limits, SECONDS_TO_EXPLAIN))
    answer = _with_notes_on_files(answer, request, files)
    if request.spec.listing is not None:
        note = (
            "the specification lists trees, and this is the best of them: `treeml list` or model.trees() has them all"
        )
        answer = replace(answer, notes=(*answer.notes, note))
    return better_of(verified_result(answer, chosen, dataset, request, Clock(begun, built)), quick)


def _kept(interrupted: StartInterrupted, chosen: Chosen) -> Answer:
    """The starting tree so far as the answer, if it is one."""
    tree = interrupted.tree
    if tree is None or not is_answer(chosen.lowered.problem, tree):
        return Answer(Status.UNKNOWN, Stop.INTERRUPTED)
    return Answer(Status.FEASIBLE, Stop.INTERRUPTED, tree)


def verified_result(answer: Answer, chosen: Chosen, dataset: Dataset, request: Request, clock: Clock) -> Result:
    """The last stages: raise and verify."""
    tree = exact = None
    if answer.tree is not None:
        outcome = outcome_of(raise_tree(answer.tree, chosen.lowered.questions, dataset), dataset)
        exact = verify_answer(outcome, answer, chosen, dataset)
        tree = with_reasons(outcome, dataset, exact.goals)
    if dataset.rounding:
        value = exact.goals[-1].value if exact and exact.goals else None
        answer = for_the_users_numbers(answer, dataset, value, chosen.lowered.problem)
    return assemble(answer, chosen, request, tree, exact, clock)


def parse(model: Statements | Source | str) -> Statements:
    """The statements of a text; a model that was parsed or built before stays as it is."""
    return model if isinstance(model, Statements) else Statements.parse(model)


def solve_part(dataset: Dataset, request: Request) -> Result:
    """The result for a part of the rows, as validation needs it."""
    return solve_dataset(dataset, request, monotonic(), explains=False)


def _with_notes_on_files(answer: Answer, request: Request, before: dict[str, Any]) -> Answer:
    """The answer with a note on each file that was asked for and not written."""
    for kind, (path, state) in request.files().items():
        if state == before[kind][1]:
            because = "no question had to be refuted by clauses" if kind == "proof" else "none had to be built"
            answer = replace(answer, notes=(*answer.notes, f"no {kind} was written to {path}: {because}"))
    return answer
