"""Large data, little time -> a tree found on a sample of the rows, and verified on all of them.

A search on millions of rows may need more time for its tests and tables than a limit allows, on a busy machine in
particular. Then samples are searched instead, each four times as large as the one before, for as long as the next one
can be expected to end in time. Every row of a sample stands for as many rows of the data, so that requirements and
prices in rows keep their meaning. The tree is verified on all rows like any other; nothing is proved about it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np

from treeml.backends.contract import Answer, Deadline, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.heuristics.cart import CartBackend
from treeml.backends.planning.plan import Plan
from treeml.backends.planning.plan import plan as make_plan
from treeml.data.table import Dataset, take_column, take_rows
from treeml.lang.diagnostic import BackendError, DataError, RefusedError
from treeml.measures.cuts import ranks
from treeml.measures.lower_dataset import Lowered
from treeml.problem.tree import Node
from treeml.solving.choice import Chosen, Problems, lower, plan
from treeml.solving.request import Request
from treeml.solving.result import Clock, Result

LATE = 0.5  # seconds beyond the limit that a plan on all rows may take, if no sample had a tree
LARGE = 2_000_000  # cells, rows times columns; fewer are always searched as they are
LEVELS_OF_A_COLUMN = 4  # levels of a text that take as long as a column of numbers
LEVELS_OF_A_LAST_COLUMN = 16  # the same for the last sample: one of few rows says nothing about rare levels
FIRST = 300_000  # cells of the first sample
FEWEST = 1_000  # rows of the first sample
GROWTH = 4  # from one sample to the next
MOST = 5_000_000  # cells of the last sample: a larger one needs much memory and hardly leads to a better tree
SHARE_OF_SAMPLE = 0.2  # of the time that is left, for a first tree, if there is time for a search on all rows
SHARE = 0.4  # of the time that is left, for making the tests of all rows; the search needs the rest
_TIMED = 1 << 17  # values on which the time to make tests is measured
_LONGER = 0.17  # values beyond the caches of the processor take longer: ten million twice as long each
_SORTINGS = 4  # times that: the search sorts every column once more, and puts the rows in the order of each
_SECONDS_PER_ROW = 1.5e-6  # to raise and verify a tree, on a busy machine
_SHARE_OF_BUILDING = 0.3  # verifying a tree takes at most this share of the time in which the rows were read and tested
_SHARE_OF_LIMIT = 0.25
_LEAST = 0.3  # seconds for the search of the first sample

Verified = Callable[[Answer, Chosen, Dataset, Request, Clock], Result]


def may_sample(dataset: Dataset, request: Request) -> bool:
    """Are the data large and the time limited, so that a tree of a sample comes first?

    A tree to start from, a file to write or trees to list concern all tests, so such runs never use samples.
    """
    spec = request.spec
    if spec.within is None or dataset.given_weight is not None:
        return False
    if dataset.rows * _width(dataset) < LARGE or dataset.rows < GROWTH * _first_size(dataset):
        return False
    if (
        request.cluster is not None
        or request.start is not None
        or spec.start is not None
        or spec.improve is not None
        or spec.listing is not None
        or any(rule.method == "branches" for rule in spec.binarizations)  # all rows have to be seen for every branch
    ):
        return False
    return not request.files()


def _first_size(dataset: Dataset) -> int:
    """The rows of the first sample."""
    return max(FEWEST, FIRST // max(1, _width(dataset)))


def _width(dataset: Dataset, levels: int = LEVELS_OF_A_COLUMN) -> int:
    """The columns that a search has to go through: every level of a text is a test of its own.

    `levels` of a text take as long as a column of numbers.
    """
    columns = map(dataset.column, dataset.features)
    return sum(1 if each.is_number else 1 + len(each.levels) // levels for each in columns)


def is_pressed(dataset: Dataset, request: Request, begun: float) -> bool:
    """Is the time too short to make the tests of all rows?"""
    return _time_for_thresholds(dataset) > SHARE * (request.deadline(begun) - monotonic())


def _time_for_thresholds(dataset: Dataset) -> float:
    """Seconds in which a test can be made of every threshold of the columns that are cut everywhere, and sorted."""
    rules = {rule.column or "": rule.method for rule in dataset.spec.binarizations}
    every = [
        column
        for column in map(dataset.column, dataset.features)
        if column.is_number and rules.get(column.name, rules.get("", "thresholds")) == "thresholds"
    ]
    if not every:
        return 0.0
    part = take_column(every[0], np.arange(min(_TIMED, dataset.rows))).values
    begun = monotonic()
    ranks(part)
    longer = (dataset.rows / _TIMED) ** _LONGER
    return float(_SORTINGS * (monotonic() - begun) * len(every) * dataset.rows / _TIMED * longer)


@dataclass(frozen=True, slots=True)
class FromSamples:
    """The best tree of the samples, if one of their trees meets the requirements on all rows."""

    result: Result | None
    is_final: bool  # is the time too short to plan a search on all rows?


def best_of_samples(
    dataset: Dataset,
    request: Request,
    begun: float,
    on_progress: OnProgress | None,
    verified: Verified,
) -> FromSamples:
    """The best tree found on samples of the rows, in a share of the time that is left, or in all of it.

    All of it is for samples if the time is too short to make the tests of all rows, or to make the plan for them: some
    back-ends merge equal rows or compare all tests before their search, which takes no notice of the time.
    """
    best: Result | None = None
    size = _first_size(dataset)
    most = min(dataset.rows // 2, MOST // max(1, _width(dataset, LEVELS_OF_A_LAST_COLUMN)))
    is_final = is_pressed(dataset, request, begun)
    deadline = monotonic() + (1.0 if is_final else SHARE_OF_SAMPLE) * (request.deadline(begun) - monotonic())
    while True:
        started = monotonic()
        try:
            problems, chosen = _planned(dataset, size, request)
        except KeyboardInterrupt:
            if best is None:
                raise
            return FromSamples(replace(best, stop=Stop.INTERRUPTED), is_final)
        planning = monotonic() - started
        if not is_final and _takes_too_long(planning, dataset, size, request, begun):
            is_final, deadline = True, request.deadline(begun)
        kept = time_to_verify(dataset.rows, started - begun, request.spec.within)
        limits = request.limits(begun, chosen.method, kept)
        end = min(limits.deadline.at, deadline)
        # The first sample has a moment even if reading took all the time: a late tree is better than none.
        part = Deadline(end if best else max(started + (end - started) / 2, monotonic() + _LEAST))
        if is_final and best is None and not request.spec.backends:
            best = _greedy(problems, dataset, request, Clock(begun, started), replace(limits, deadline=part), verified)
            if best is not None and monotonic() >= end and best.tree is not None and len(best.tree.leaves) > 1:
                return FromSamples(best, is_final)  # reading took all the time
        start = start_of(best, chosen.lowered)
        answer = chosen.run(replace(limits, deadline=part), start, _without_bounds(on_progress))
        if answer.tree is not None:
            found = _on_all_rows(answer, chosen, dataset, request, Clock(begun, started), verified)
            best = found if best is None or (found is not None and _is_better(found, best)) else best
        if answer.stop is Stop.INTERRUPTED:
            return FromSamples(best, is_final)
        cannot_plan = best is None and planning * dataset.rows / size > request.deadline(begun) - monotonic() + LATE
        is_final |= cannot_plan  # then all of the time is for samples
        deadline = request.deadline(begun) if cannot_plan else deadline
        following = min(GROWTH * size, most)
        # A search that was stopped took all that it was given: the next one gets what is left after its plan.
        took = planning if is_final and answer.stop is Stop.TIME else monotonic() - started
        is_last, is_late = following < 2 * size, monotonic() + following / size * took > deadline
        if cannot_plan and (is_last or is_late):
            return FromSamples(_unanswered(chosen, dataset, request, Clock(begun, started), verified), is_final=True)
        if is_last:
            is_long = planning * dataset.rows / size > SHARE * (request.deadline(begun) - monotonic())
            return FromSamples(best, is_final and (most < dataset.rows // 2 or is_long))
        if is_late or (not is_final and best is not None and answer.stop is Stop.TIME):
            return FromSamples(best, is_final)
        size = following


def _unanswered(chosen: Chosen, dataset: Dataset, request: Request, clock: Clock, verified: Verified) -> Result:
    """The result if no tree of a sample meets the requirements, and there is no time to ask for one on all rows."""
    rows = f"all {dataset.given_rows:,} rows"
    note = f"no tree of a sample met the requirements, and the time is too short for a plan on {rows}"
    return verified(Answer(Status.UNKNOWN, Stop.TIME, notes=(note,)), chosen, dataset, request, clock)


def _greedy(
    problems: Problems, dataset: Dataset, request: Request, clock: Clock, limits: Limits, verified: Verified
) -> Result | None:
    """The greedy tree of a sample: if there are many columns and few rows, the best of the sample may be worse."""
    lowered = problems.form(numeric=False)
    planned = make_plan(lowered.problem, CartBackend())
    if not isinstance(planned, Plan):
        return None
    chosen = Chosen(planned, lowered, races=True)
    answer = chosen.run(replace(limits, options={}))
    return None if answer.tree is None else _on_all_rows(answer, chosen, dataset, request, clock, verified)


def _planned(dataset: Dataset, size: int, request: Request) -> tuple[Problems, Chosen]:
    """The plan for a sample; a refusal that counts the rows of the sample says that they are a part of all rows."""
    problems = lower(sampled(dataset, size), request)
    try:
        return problems, plan(problems, request)
    except RefusedError as refused:
        note = f"these are a sample of the {dataset.given_rows:,} rows, which is searched first; all of them need more"
        raise RefusedError(
            [
                replace(each, notes=(*each.notes, note)) if f"{size:,} rows" in each.title else each
                for each in refused.diagnostics
            ]
        ) from refused


def _takes_too_long(planning: float, dataset: Dataset, size: int, request: Request, begun: float) -> bool:
    """Is the time too short for a plan on all rows, if one on a sample took `planning` seconds?

    A first plan may have imported a solver, so it is made once more before that is believed.
    """

    def is_too_long(seconds: float) -> bool:
        return seconds * dataset.rows / size > SHARE * (request.deadline(begun) - monotonic())

    if not is_too_long(planning):
        return False
    started = monotonic()
    _planned(dataset, size, request)
    return is_too_long(monotonic() - started)


def sampled(dataset: Dataset, size: int) -> Dataset:
    """One row in every n, drawn at random, which stands for all of them."""
    step = dataset.rows // size
    rows = np.arange(size) * step + np.random.default_rng(size).integers(0, step, size)
    count = np.full(size, step) if dataset.count is None else dataset.count[rows] * step
    return replace(
        dataset,
        table=take_rows(dataset.table, rows) if dataset.table.rows == dataset.rows else dataset.table,
        rows=size,
        row_numbers=dataset.row_numbers[rows],
        target=None if dataset.target is None else take_column(dataset.target, rows),
        actual=dataset.actual[rows] if len(dataset.actual) else dataset.actual,
        weight=dataset.weight[rows] * step,
        targets=dataset.targets[rows],
        linear=None if dataset.linear is None else dataset.linear.at(rows),
        row_cost=None if dataset.row_cost is None else dataset.row_cost[rows],
        given=None,
        count=count,
    )


def time_to_verify(rows: int, building: float, within: float | None) -> float:
    """Seconds to keep for verifying the answer, if reading the rows and making their tests took `building` seconds."""
    kept = min(_SECONDS_PER_ROW * rows, _SHARE_OF_BUILDING * building)
    return kept if within is None else min(kept, _SHARE_OF_LIMIT * within)


def _on_all_rows(
    answer: Answer, chosen: Chosen, dataset: Dataset, request: Request, clock: Clock, verified: Verified
) -> Result | None:
    note = (
        f"the time limit is too short for a search on all {dataset.given_rows:,} rows: the tree was found on a sample "
        f"of {chosen.lowered.problem.rows:,} and verified on all"
    )
    unproved = Answer(
        Status.FEASIBLE,
        answer.stop if answer.stop in (Stop.INTERRUPTED, Stop.MEMORY) else Stop.TIME,
        answer.tree,
        statistics=answer.statistics,
        notes=(*answer.notes, note),
    )
    try:
        return verified(unproved, chosen, dataset, request, clock)
    except BackendError:  # the requirements hold on the sample, and not on all rows
        from treeml.solving.labels_of_all_rows import with_labels_of_all_rows  # imported here: start-up time
    assert answer.tree is not None
    tree = with_labels_of_all_rows(answer.tree, chosen.lowered, dataset)
    try:
        return None if tree is None else verified(replace(unproved, tree=tree), chosen, dataset, request, clock)
    except BackendError:  # another requirement does not hold
        return None


def start_of(quick: Result | None, lowered: Lowered) -> Node | None:
    """The tree of a sample for the search on all rows to go on from; None if it has no such tests."""
    if quick is None or quick.tree is None:
        return None
    from treeml.trees.importing.read import lower_start  # imported here: start-up time

    try:
        return lower_start(quick.tree, lowered)
    except DataError:
        return None


def better_of(result: Result, quick: Result | None) -> Result:
    """The result of the search on all rows, or the tree of a sample with the bound of that search, if it is better."""
    if quick is None or result.status in (Status.OPTIMAL, Status.INFEASIBLE):
        return result
    if result.tree is not None and not _is_better(quick, result):
        return result
    if (
        result.bound is None
        or not isinstance(quick.objective, (int, float))
        or not isinstance(result.bound, (int, float))
    ):
        return quick
    gap = abs(quick.objective - result.bound) / abs(quick.objective) if quick.objective else None
    return replace(quick, stop=result.stop, bound=result.bound, gap=gap, evidence=result.evidence)


def _is_better(result: Result, other: Result) -> bool:
    return _values(result) < _values(other)


def _values(result: Result) -> list[float]:
    assert result.exact is not None
    return [float(goal.value) if goal.sense == "minimize" else -float(goal.value) for goal in result.exact.goals]


def _without_bounds(on_progress: OnProgress | None) -> OnProgress | None:
    """Reports of a search on a sample tell the time alone: its values and bounds are not those of the data."""
    if on_progress is None:
        return None
    return lambda progress: on_progress(Progress(progress.seconds))
