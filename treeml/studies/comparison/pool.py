"""Jobs -> records, each from its own process, which is ended if it is late or uses too much memory.

One loop watches all processes: it reads their messages, measures their memory, and enforces their deadlines. A back-end
that misses its deadline is first interrupted, as by Ctrl-C, and killed if it does not end. If a process ends without an
answer, the best tree or forest that it had reported is kept, after another process has verified it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from treeml.backends.contract import Progress, Stop
from treeml.studies.comparison.jobs import Job
from treeml.studies.comparison.lost_results import Incumbent, first_and_best
from treeml.studies.comparison.record import Record, has_tree, is_proof, is_refused, of_end
from treeml.system.child import Child
from treeml.system.interrupt import listening

TASK = "treeml.studies.comparison.worker:work"
KEEP = "treeml.studies.comparison.worker:keep"
SECONDS_TO_START = 120.0  # to load Python and its libraries on a busy machine
SECONDS_TO_STOP = 5.0  # after an interrupt
GRACE, GRACE_SHARE = 3.0, 0.1  # allowed delay of an answer, for verification and transfer
SECONDS_TO_KEEP = 60.0  # to verify the last answer reported by a lost process
POLL = 0.05


@dataclass(slots=True, eq=False)
class RunningJob:
    """A running job, and what is known about it."""

    job: Job
    child: Child
    started: float | None = None  # when its libraries were loaded
    moment: Record = field(default_factory=dict)  # its latest report
    trace: list[Record] = field(default_factory=list)
    interrupted: float | None = None
    because: str = ""  # why it is being ended
    stop: Stop = Stop.FAILED
    record: Record | None = None
    result: Any = None
    incumbent: Incumbent | None = None  # the best that it reported
    lost: RunningJob | None = None  # the run whose incumbent this one verifies

    @property
    def seconds(self) -> float:
        return monotonic() - (self.child.begun if self.started is None else self.started)


Finished = tuple[Job, Record, Any]  # the job, its record, and its Result or None


def run_jobs(
    jobs: Sequence[Job],
    at_once: int = 1,
    on_change: Callable[[Sequence[RunningJob]], None] | None = None,
    on_progress: Callable[[Progress], bool | None] | None = None,
) -> Iterator[Finished]:
    """Every job's record as it finishes. After Ctrl-C, running jobs report their best answer, and no job is started."""
    waiting = list(jobs)
    running: list[RunningJob] = []
    arrived = threading.Event()  # set when a process has sent something
    with listening() as is_interrupted:
        try:
            while waiting or running:
                if is_interrupted():
                    for run in running:
                        if run.lost is None:
                            _interrupt(run, "it was interrupted before it had an answer", Stop.INTERRUPTED)
                    yield from map(_not_begun, waiting)
                    waiting = []
                while waiting and len(running) < at_once:
                    job = waiting.pop(0)
                    outcome = _begin(job, arrived)
                    if isinstance(outcome, RunningJob):
                        running.append(outcome)
                    else:
                        yield job, outcome, None
                for run in [each for each in running if _advance(each, on_progress)]:
                    running.remove(run)
                    again = _kept(run, arrived)
                    if again is not None:
                        running.append(again)
                    else:
                        yield _finished(run)
                if on_change is not None:
                    on_change(running)
                if running:
                    arrived.wait(POLL)
                    arrived.clear()
        finally:
            for run in running:
                run.child.close()


def _begin(job: Job, arrived: threading.Event) -> RunningJob | Record:
    try:
        return RunningJob(job, Child(TASK, job.payload(), job.memory, arrived))
    except OSError as error:
        because = f"its process could not be started: {error.strerror or error}"
        return {**job.about, **of_end(because, lost=True)}


def _advance(run: RunningJob, on_progress: Callable[[Progress], bool | None] | None) -> bool:
    """Read messages and enforce limits; whether the job has ended."""
    for kind, value in run.child.messages():
        if kind == "started":
            run.started = monotonic()
        elif kind == "progress":
            run.moment, progress = value
            run.trace.append(run.moment)
            if on_progress is not None and on_progress(progress) is False:
                _interrupt(run, "it was interrupted before it had an answer", Stop.INTERRUPTED)
        elif kind == "incumbent":
            run.incumbent = value
        elif kind == "done":
            run.record, run.result = value
    if run.record is not None or run.child.has_ended:
        return True
    _keep_limits(run)
    return run.child.has_ended


def _kept(run: RunningJob, arrived: threading.Event) -> RunningJob | None:
    """A run that verifies the last report of this one, if this one ended without an answer."""
    record = run.record
    answered = record is not None and (
        has_tree(record) or is_proof(record) or is_refused(record) or bool(record.get("unverified"))
    )
    if run.incumbent is None or answered or run.lost is not None:
        return None
    try:
        child = Child(KEEP, run.job.payload(run.incumbent), run.job.memory, arrived)
    except OSError:
        return None
    return RunningJob(run.job, child, lost=run)


def _keep_limits(run: RunningJob) -> None:
    if run.lost is not None:
        if run.seconds > SECONDS_TO_KEEP:
            run.child.kill()
        return
    limit = run.job.memory
    held = run.child.memory()
    if limit is not None and held > limit and run.stop is not Stop.MEMORY:
        run.because, run.stop = f"it held {_size(held)}, more than its limit of {_size(limit)}", Stop.MEMORY
        run.child.kill()
    late = run.seconds > (
        SECONDS_TO_START if run.started is None else run.job.within + max(GRACE, GRACE_SHARE * run.job.within)
    )
    if late and run.interrupted is None:
        _interrupt(run, f"it did not end within its {run.job.within:g} s and was stopped", Stop.FAILED)
    if run.interrupted is not None and monotonic() - run.interrupted > SECONDS_TO_STOP:
        run.child.kill()


def _interrupt(run: RunningJob, because: str, stop: Stop) -> None:
    if run.interrupted is None:
        run.interrupted, run.because, run.stop = monotonic(), because, stop
        run.child.interrupt()


def _finished(run: RunningJob) -> Finished:
    record, result = (_answer(run), run.result) if run.lost is None else _verified(run.lost, run)
    record = {**run.job.about, **record, "backend": run.job.backend or record.get("backend", "")}
    record["peak_memory"] = max(record.get("peak_memory") or 0, (run.lost or run).child.peak)
    for each in (run, run.lost):
        if each is not None:
            each.child.close()
    return run.job, record, result


def _answer(run: RunningJob) -> Record:
    record = run.record if run.record is not None else _without_answer(run)
    if run.stop is Stop.FAILED and run.because and record.get("stop") == Stop.INTERRUPTED.value:
        # It was not Ctrl-C: the job was late, and answered only after an interrupt.
        stop = Stop.TIME if has_tree(record) else Stop.FAILED
        record = {**record, "stop": stop.value, "because": run.because, "lost": False}
    return record


def _verified(lost: RunningJob, again: RunningJob) -> tuple[Record, Any]:
    """The record of a lost run, with the verified tree or forest that it had reported."""
    end, found = _answer(lost), again.record
    if found is None or not (has_tree(found) or found.get("unverified")):
        return end, None
    if found.get("unverified"):
        return {**end, **found, "seconds": end["seconds"]}, None
    first, best = first_and_best(lost.trace)
    because = "; ".join(part for part in (end.get("because"), "the best answer that it had reported is kept") if part)
    timed = {"seconds": end["seconds"], "build_seconds": None, "trace": lost.trace, "told": lost.moment or None}
    times = {"first_tree_seconds": first, "best_seconds": best, "proof_seconds": None}
    kept = {name: end[name] for name in ("lost",) if name in end}
    return {**found, **timed, **times, **kept, "stop": end["stop"], "because": because}, again.result


def _without_answer(run: RunningJob) -> Record:
    known: Record = {"seconds": round(run.seconds, 6), "trace": run.trace, "told": run.moment or None}
    if run.because:
        return of_end(run.because, run.stop, lost=False, **known)
    printed = run.child.printed()
    because = run.child.end() + (f": {printed.splitlines()[-1]}" if printed else "")
    return of_end(because, printed=printed, lost=True, **known)


def _not_begun(job: Job) -> Finished:
    return job, {**job.about, **of_end("it was not begun: interrupted", Stop.INTERRUPTED, begun=False)}, None


def _size(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
