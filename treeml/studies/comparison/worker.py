"""One job -> one record, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Progress, Status, Stop
from treeml.lang.diagnostic import DataError, InfeasibleError, RefusedError, SpecError
from treeml.studies.comparison.lost_results import Incumbent
from treeml.studies.comparison.record import Record, of_end, of_error, of_refusal, of_result
from treeml.system.child import Send, peak_memory

if TYPE_CHECKING:
    from treeml.lang.statements import Statements
    from treeml.solving.result import Result

SECONDS_BETWEEN_BOUNDS = 0.1
SECONDS_BETWEEN_FORESTS = 1.0  # a forest is large, and only the last one is needed


def work(job: dict[str, Any], send: Send) -> None:
    """Solve the job and send every better tree at once; `done` carries the record and the result, if there is one."""
    _load_what_every_job_needs()
    send("started", None)
    watch = Watch(send, job["senses"])
    result: Result | None = None
    try:
        result = _solve(job, watch)
        record = of_result(result)
        record.update(watch.times(result))
    except (RefusedError, DataError) as error:  # such as numbers too large together, which only lowering finds out
        record = of_refusal(error)
    except InfeasibleError as error:
        record = of_end("", Stop.PROVED, status=Status.INFEASIBLE.value, conflict=error.conflict, **watch.known())
    except SpecError as error:
        if isinstance(error.__cause__, MemoryError):
            record = of_end("it ran out of the memory it was given", Stop.MEMORY, **watch.known())
        else:
            record = {**of_error(error), **watch.known()}
    except MemoryError:
        record = of_end("it ran out of the memory it was given", Stop.MEMORY, **watch.known())
    except KeyboardInterrupt:
        record = of_end("it was interrupted before it had an answer", Stop.INTERRUPTED, **watch.known())
    record["peak_memory"] = peak_memory()
    record["version"] = _version(job["options"].backend or record.get("backend", ""))
    send("done", (record, result))


def keep(job: dict[str, Any], send: Send) -> None:
    """Verify the best answer reported by a lost process; `done` carries the record and the result, as in `work`."""
    from treeml.solving.pipeline import prepare
    from treeml.studies.comparison.fold import prepare_fold
    from treeml.studies.comparison.lost_results import kept

    send("started", None)
    result: Result | None = None
    try:
        with _data(job) as data:
            if job.get("fold") is not None:
                fold = prepare_fold(_model(job), data, job["fold"], job["options"])
                result = fold.scored(kept(fold.train, fold.request, job["incumbent"]))
            else:
                dataset, request = prepare(_model(job), data, job["y"], job["options"])
                result = kept(dataset, request, job["incumbent"])
        record = of_result(result)
    except SpecError as error:
        record = of_error(error)
    record["version"] = _version(job["options"].backend or record.get("backend", ""))
    send("done", (record, result))


class Watch:
    """Records when trees are found, by the same clock for all back-ends: from the moment the process is ready.

    It is ready when its modules are imported, as the clock of the result begins then, too.
    """

    def __init__(self, send: Send, senses: tuple[str, ...]) -> None:
        self.send, self.senses = send, senses
        self.begun = monotonic()
        self.first: float | None = None
        self.best: float | None = None
        self.last: Progress | None = None
        self.objective: tuple[Any, ...] | None = None
        self.trace: list[dict[str, Any]] = []
        self.sent = 0.0
        self.forest_sent = -inf

    def begin(self) -> None:
        self.begun = monotonic()

    def __call__(self, moment: Progress) -> None:
        now = monotonic() - self.begun
        better = moment.objective is not None and moment.objective != self.objective
        if better:
            self.objective = moment.objective
            self.first = now if self.first is None else self.first
            self.best = now
        if better or now - self.sent >= SECONDS_BETWEEN_BOUNDS:
            self.sent = now
            self.last = moment
            self.trace.append(self.in_the_users_sense(now, moment))
            self.send(
                "progress", (self.trace[-1], Progress(now, moment.objective, moment.bound, evidence=moment.evidence))
            )
        if better:
            self.tell_incumbent(now, moment)

    def tell_incumbent(self, now: float, moment: Progress) -> None:
        """Send the answer to keep if this process is lost."""
        incumbent = Incumbent.of(moment)
        if incumbent is None or (incumbent.weights and now - self.forest_sent < SECONDS_BETWEEN_FORESTS):
            return
        if incumbent.weights:
            self.forest_sent = now
        self.send("incumbent", incumbent)

    def in_the_users_sense(self, now: float, moment: Progress) -> dict[str, Any]:
        from treeml.solving.result import plain

        signs = [-1 if sense == "maximize" else 1 for sense in self.senses]
        values = None
        if moment.objective is not None:
            values = [plain(sign * value) for sign, value in zip(signs, moment.objective, strict=False)]
        bound = None if moment.bound is None or len(signs) != 1 else plain(signs[0] * moment.bound)
        return {"seconds": round(now, 6), "objective": values, "bound": bound}

    def known(self) -> Record:
        """What is known if there is no answer."""
        return {"seconds": round(monotonic() - self.begun, 6), "trace": self.trace}

    def times(self, result: Result) -> Record:
        seconds = result.seconds
        with_tree = result.tree is not None or result.forest is not None
        return {
            # The result's own clock starts a little later, and no tree may come after its end.
            "first_tree_seconds": self._rounded(min(seconds, self.first or seconds), with_tree),
            "best_seconds": self._rounded(min(seconds, self.best or seconds), with_tree),
            "proof_seconds": self._rounded(seconds, result.status in (Status.OPTIMAL, Status.INFEASIBLE)),
            "trace": self.trace,
        }

    @staticmethod
    def _rounded(seconds: float, known: bool) -> float | None:
        return round(seconds, 6) if known else None


def _solve(job: dict[str, Any], watch: Watch) -> Result:
    from treeml.solving.pipeline import solve

    with _data(job) as data:
        if job.get("fold") is not None:
            from treeml.studies.comparison.fold import solve_fold

            watch.begin()
            return solve_fold(_model(job), data, job["fold"], job["options"], watch)
        watch.begin()
        return solve(_model(job), data, job["y"], job["options"], watch)


def _model(job: dict[str, Any]) -> Statements:
    from treeml.lang.statements import Statements

    return Statements(job["statements"], folder=job["folder"], bindings=job["bindings"], untrusted=job["untrusted"])


@contextmanager
def _data(job: dict[str, Any]) -> Iterator[Any]:
    """The data as given, or the file that came with the job."""
    if job.get("file") is None:
        yield job["data"]
        return
    name, content = job["file"]
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        yield path


def _load_what_every_job_needs() -> None:
    """Import libraries before the clock starts, so that times measure the back-end and not Python."""
    import polars  # noqa: F401


def _version(backend: str) -> str:
    from treeml.backends import registry

    try:
        return registry.get(backend.partition("(")[0].strip()).version()
    except Exception:  # a library that does not load has no version
        return ""
