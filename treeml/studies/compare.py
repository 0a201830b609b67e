"""Models, back-ends -> the same problem solved by each, side by side, with every claim checked against the others.

Each back-end runs in a process of its own, with its own memory limit and deadline (`treeml/studies/comparison`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeml.lang.diagnostic import BackendError, Diagnostic
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions
from treeml.studies.comparison.contradictions import contradictions
from treeml.studies.comparison.jobs import Case, Job, jobs_of
from treeml.studies.comparison.record import Record, has_failed, has_tree, is_proof, is_refused

if TYPE_CHECKING:
    from treeml.backends.contract import OnProgress
    from treeml.lang.statements import Statements
    from treeml.solving.result import Result
    from treeml.studies.comparison.journal import Journal
    from treeml.studies.comparison.pool import RunningJob

DEFAULT_WITHIN = 300.0  # seconds, unless the spec or the caller gives a limit
REFUSED, CANNOT_WRITE, INFEASIBLE, NO_TREE, FAILED = 1, 1, 3, 4, 5  # exit codes

OnChange = Callable[[Sequence[Record], Sequence["RunningJob"]], None]


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonEntry:
    """One line of a comparison: the record of a back-end, and its result if it has one."""

    backend: str
    result: Result | None = None
    because: str = ""  # why it refused, or why it has no answer
    record: Record = field(default_factory=dict)
    case: Case | None = None

    def to_json(self) -> Record:
        return self.record


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The results of several back-ends on the same problems."""

    entries: tuple[ComparisonEntry, ...]

    @property
    def records(self) -> list[Record]:
        return [entry.record for entry in self.entries]

    @property
    def best(self) -> Result | None:
        """A proved result if there is one, else the first with a tree."""
        results = [entry.result for entry in self.entries if entry.result is not None and entry.result.tree is not None]
        return next((result for result in results if result.is_optimal), results[0] if results else None)

    @property
    def contradictions(self) -> list[Diagnostic]:
        """Claims that cannot both hold, and answers that did not verify."""
        return [diagnostic for diagnostic, _ in contradictions(self.records)]

    @property
    def exit_code(self) -> int:
        """0 answered, 1 all refused, 3 infeasible, 4 no tree and no proof, 5 a failure or a false claim."""
        records = [record for record in self.records if not is_refused(record)]
        if not records:
            return REFUSED
        if self.contradictions or any(has_failed(record) for record in records):
            return FAILED
        if any(has_tree(record) for record in records):
            return 0
        return INFEASIBLE if any(is_proof(record) for record in records) else NO_TREE

    def to_json(self) -> list[Record]:
        return self.records

    def raise_contradictions(self) -> None:
        """BackendError if two claims cannot both hold, or if an answer did not verify."""
        found = self.contradictions
        if found:
            raise BackendError(found)

    def reproductions(self, folder: Path) -> list[Path]:
        """Write a folder for every contradiction, with the spec, the data, the records, the seeds and the versions."""
        from treeml.studies.comparison.reproduction import reproduce

        cases = {entry.record["key"]: entry.case for entry in self.entries}
        written = []
        for diagnostic, records in contradictions(self.records):
            case = cases[records[0]["key"]]
            assert case is not None
            written.append(reproduce(folder, case, records, diagnostic))
        return list(dict.fromkeys(written))


def compare(
    model: Statements,
    data: Any = None,
    backends: Sequence[str] | None = None,
    *,
    y: Any = None,
    options: RunOptions = DEFAULT_OPTIONS,
    parallel: int = 1,
    repeat: int = 1,
    on_progress: OnProgress | None = None,
) -> Comparison:
    """Solve with every capable back-end, or with those named, `parallel` at a time; refusals are part of the answer."""
    cases = [Case(model, data, y)]
    jobs = prepare(cases, backends, options=replace(options, races=True), parallel=parallel, repeat=repeat)
    return run(jobs, parallel, on_progress=on_progress)


def prepare(
    cases: Sequence[Case],
    backends: Sequence[str] | None = None,
    *,
    options: RunOptions = DEFAULT_OPTIONS,
    parallel: int = 1,
    repeat: int = 1,
) -> list[Job]:
    """The jobs of a comparison; mistakes in a spec or its data are reported here, once, before anything runs."""
    from treeml.solving.pipeline import prepare

    limit = None
    seen: set[tuple[Any, ...]] = set()
    for case in cases:
        same = (id(case.model.statements[0]) if case.model.statements else 0, repr(case.model.bindings), id(case.data))
        if same in seen:
            continue  # another fold of the same rows
        seen.add(same)
        given = RunOptions(params=options.params, weight=options.weight, memory=options.memory)
        _, request = prepare(case.model, case.data, case.y, given)
        limit = request.memory
    return jobs_of(
        cases,
        backends,
        replace(options, memory=limit),
        repeat=repeat,
        default_memory=_share_of_memory(parallel),
        default_within=DEFAULT_WITHIN,
    )


def run(
    jobs: Sequence[Job],
    parallel: int = 1,
    journal: Journal | None = None,
    on_change: OnChange | None = None,
    on_progress: OnProgress | None = None,
) -> Comparison:
    """Run the jobs, except those that are already in the journal."""
    from treeml.studies.comparison.pool import run_jobs

    done: dict[str, ComparisonEntry] = {}
    for job in jobs:
        record = journal.done.get(job.about["key"]) if journal is not None else None
        if record is not None:
            done[job.about["key"]] = ComparisonEntry(job.backend, None, record.get("because", ""), record, job.case)

    def changed(running: Sequence[RunningJob]) -> None:
        if on_change is not None:
            on_change([entry.record for entry in done.values()], running)

    left = [job for job in jobs if job.about["key"] not in done]
    for job, record, result in run_jobs(left, parallel, changed, on_progress):
        done[record["key"]] = ComparisonEntry(job.backend, result, record.get("because", ""), record, job.case)
        if journal is not None:
            journal.add(record)
        changed([])
    return Comparison(tuple(done[job.about["key"]] for job in jobs))


def _share_of_memory(parallel: int) -> int | None:
    """The memory limit of one of several jobs: 90 % of the machine's memory, divided by the number of parallel jobs."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    return int(total * 0.9) // max(1, parallel)
