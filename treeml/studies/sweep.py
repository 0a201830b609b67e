"""Specs x data x params x folds -> jobs, run on this machine or on a Dask cluster; each result is stored at once.

Each job runs in its own process with its own limits (`treeml/studies/comparison`), so that a crashing solver costs one
result and not a worker. If a worker dies, Dask gives its jobs to others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from treeml.backends.cluster.connection import connected
from treeml.backends.contract import Stop
from treeml.lang.diagnostic import Diagnostic, SpecError
from treeml.lang.statements import Statements
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions
from treeml.studies.comparison.jobs import Case, Job
from treeml.studies.comparison.record import Record, of_end

if TYPE_CHECKING:
    from treeml.studies.comparison.journal import Journal

MOST_WHOLE_STEPS = 1000
LONGEST_RANGE = 1000  # characters
_END = re.compile(r"(-?[\d._]+)\s*(%?)")
CHOSEN = ""  # no named back-end: the job chooses one when it runs


def sweep(
    cases: Sequence[Case],
    settings: Mapping[str, Sequence[str]],
    backends: Sequence[str] | None = None,
    *,
    folds: int = 0,
    jobs: int = 1,
    cluster: str | None = None,
    journal: Journal | None = None,
    options: RunOptions = DEFAULT_OPTIONS,
    reuse: bool = True,
) -> Iterator[Record]:
    """The record of every combination as it finishes; those in the journal come first and are not run again.

    `reuse`: a combination that the answers to others settle is not searched; never on a cluster.
    """
    planned = plan_sweep(
        cases, settings, backends, folds=folds, carries=cluster is not None, jobs=jobs, options=options
    )
    done = {} if journal is None else journal.done
    left = [job for job in planned if job.about["key"] not in done]
    yield from (done[job.about["key"]] for job in planned if job.about["key"] in done)
    for record in on_cluster(left, cluster) if cluster is not None else on_this_machine(left, jobs, reuse):
        if journal is not None:
            journal.add(record)
        yield record


def plan_sweep(
    cases: Sequence[Case],
    settings: Mapping[str, Sequence[str]],
    backends: Sequence[str] | None = None,
    *,
    folds: int = 0,
    carries: bool = False,
    jobs: int = 1,
    options: RunOptions = DEFAULT_OPTIONS,
) -> list[Job]:
    """Every combination as a job; a mistake in any of them is reported before the first one runs."""
    from treeml.studies.compare import prepare

    seed = options.seed or 0
    numbers = [(number + 1, folds, seed) for number in range(folds)] if folds else [None]
    combined = []
    for case, values, fold in product(cases, product(*settings.values()), numbers):
        bindings = {**case.model.bindings, **dict(zip(settings, values, strict=True))}
        model = Statements(
            case.model.statements, folder=case.model.folder, bindings=bindings, untrusted=case.model.untrusted
        )
        combined.append(replace(case, model=model, fold=fold, carries=carries))
    return prepare(combined, backends or [CHOSEN], options=options, parallel=jobs)


def on_this_machine(jobs: Sequence[Job], at_once: int, reuse: bool = True) -> Iterator[Record]:
    """The records as jobs finish. After Ctrl-C, running jobs report their best answer; then KeyboardInterrupt."""
    from treeml.studies.comparison.pool import run_jobs
    from treeml.studies.frontier import chains_of

    chains = chains_of(jobs) if reuse else []
    home = {job.about["key"]: chain for chain in chains for job in chain.jobs}
    ready = [job for job in jobs if job.about["key"] not in home]
    ready += [job for chain in chains for job in chain.next_jobs(at_once)]
    is_interrupted = False
    while ready and not is_interrupted:
        for _, record, result in run_jobs(ready, at_once):
            is_interrupted |= record.get("stop") == Stop.INTERRUPTED.value
            chain = home.get(record["key"])
            known = record if chain is None else chain.take(record, result)
            if record.get("begun", True):
                yield known
        for chain in chains:
            yield from chain.reused()
        ready = [job for chain in chains for job in chain.next_jobs(at_once)]
    if is_interrupted:
        raise KeyboardInterrupt


def on_cluster(jobs: Sequence[Job], address: str) -> Iterator[Record]:
    """Run with Dask. Jobs of a dead worker go to other workers; a job that kills every worker is recorded as failed."""
    client = connected(address)
    from distributed import as_completed

    with client:
        asked = {client.submit(run_job, job, pure=False): job for job in jobs}
        for future in as_completed(list(asked)):  # type: ignore[no-untyped-call]
            if future.status == "finished":
                yield future.result()
            else:
                because = f"the cluster gave up: {future.exception()}"
                yield {**asked[future].about, **of_end(" ".join(because.split()), lost=True)}


def run_job(job: Job) -> Record:
    """The record of one job, run in a process of its own."""
    from treeml.studies.comparison.pool import run_jobs

    ((_, record, _),) = run_jobs([job])
    return record


def values_of(text: str, steps: int | None = None) -> list[str]:
    """`0..20%`, `1..4` or `a, b, c` -> the values of a param, as they would be written after --set.

    A range between integers gives every integer, unless `steps` is given; any other range gives eleven evenly spaced
    values.
    """
    ends = [_END.fullmatch(end.strip()) for end in text.rsplit("..", 1)] if len(text) <= LONGEST_RANGE else []
    if len(ends) != 2 or None in ends:
        values = [part.strip() for part in text.split(",") if part.strip()]
        if not values:
            raise SpecError(_no_values(text))
        return values
    try:
        (low, of_low), (high, of_high) = ((Fraction(end[1]), end[2]) for end in ends if end is not None)
    except ValueError as error:
        raise SpecError(_no_values(text)) from error
    unit = of_high or of_low
    if of_low and not of_high:
        raise SpecError(_no_values(text))
    if high < low:
        raise SpecError(_no_values(text))
    whole = low.denominator == high.denominator == 1 and not unit and high - low < MOST_WHOLE_STEPS
    number = steps or (int(high - low) + 1 if whole else 11)
    if number == 1 or low == high:
        return [_decimal(low) + unit]
    step = (high - low) / (number - 1)
    between = (_decimal(low + step * place, step) for place in range(1, number - 1))
    return [value + unit for value in (_decimal(low), *between, _decimal(high))]


def texts_of(values: Sequence[Any] | str) -> list[str]:
    """Values from Python as they would be written after --set; text is read as there."""
    if isinstance(values, str):
        return values_of(values)
    texts = [_decimal(Fraction(repr(value))) if isinstance(value, float) else str(value) for value in values]
    if not texts:
        raise SpecError(_no_values("[]"))
    return texts


def _decimal(value: Fraction, step: Fraction = Fraction(0)) -> str:
    """The value with all digits if they are few, else rounded to a hundredth of a step, so that reports stay short."""
    digits = 0
    while (value * 10**digits).denominator != 1 and (not step or 10**digits * step < 100):
        digits += 1
    whole = round(value * 10**digits)
    while digits and whole % 10 == 0:
        whole, digits = whole // 10, digits - 1
    sign, text = "-" if whole < 0 else "", str(abs(whole)).rjust(digits + 1, "0")
    return sign + (f"{text[:-digits]}.{text[-digits:]}" if digits else text)


def _no_values(text: str) -> Diagnostic:
    return Diagnostic(
        "S151",
        f"`{text}` names no values",
        place="--set",
        helps=("write 0..20%, 1..4, or values with commas: 1, 2, 5",),
    )
