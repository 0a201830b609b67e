"""Records and running jobs -> the table: one line per back-end, updated live in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from treeml.lang.numerals import readable
from treeml.studies.comparison.jobs import Job
from treeml.studies.comparison.pool import RunningJob
from treeml.studies.comparison.record import Record, has_tree, is_refused

Row = Mapping[str, Any]
COLUMNS = (
    "back-end", "status", "objective", "bound", "gap", "first tree (s)", "best tree (s)", "proof (s)",
    "model built (s)", "total (s)", "memory", "verified", "certified", "reason",
)  # fmt: skip
IDENTITY = {"spec": "spec", "data": "data", "repeat": "run"}


def rows_of(records: Sequence[Record]) -> list[Row]:
    """One line per record; the spec, the data and the number of the run only if there are several."""
    headings = telling_names(records)
    rows = [{**identity(record, headings), **_row(record)} for record in records]
    is_asked = any("certificate" in record for record in records)
    columns = [name for name in COLUMNS if is_asked or name != "certified"]
    return [{name: row.get(name) for name in [*(IDENTITY[each] for each in headings), *columns]} for row in rows]


def telling_names(records: Sequence[Record]) -> list[str]:
    """What tells the records of a table apart, besides the back-end: spec, data, or number of the run."""
    return [name for name in IDENTITY if len({record.get(name) for record in records}) > 1]


def identity(record: Record, names: Sequence[str]) -> Row:
    """The cells of these names, under their headings."""
    return {IDENTITY[name]: record.get(name) for name in names}


class Show(Protocol):
    def __call__(self, records: Sequence[Record], running: Sequence[RunningJob]) -> None: ...


@contextmanager
def live_table(jobs: Sequence[Job], quiet: bool) -> Iterator[Show]:
    """A live table on standard error; nothing if it is quiet or not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda records, running: None
        return
    from rich.console import Console
    from rich.live import Live

    abouts = [job.about for job in jobs]
    headings = telling_names(abouts)
    with Live(console=Console(stderr=True), transient=True, refresh_per_second=4) as live:

        def show(records: Sequence[Record], running: Sequence[RunningJob]) -> None:
            done = {record["key"]: record for record in records}
            now = {run.job.about["key"]: run for run in running}
            rows = []
            for about in abouts:
                record, run = done.get(about["key"]), now.get(about["key"])
                cells = _row(record) if record else _running(run) if run else {"status": "waiting"}
                rows.append({**identity(about, headings), "back-end": about["backend"], **cells})
            live.update(_rich(rows))

        yield show


def _row(record: Record) -> Row:
    if is_refused(record):
        return {"back-end": record["backend"], "status": "refused", "reason": record["because"]}
    return {
        "back-end": record["backend"],
        "status": "failed" if record["stop"] == "failed" else record["status"],
        "objective": _numbers(record["objective"]),
        "bound": _numbers(record["bound"]),
        "gap": _gap(record),
        "first tree (s)": _seconds(record.get("first_tree_seconds")),
        "best tree (s)": _seconds(record.get("best_seconds")),
        "proof (s)": _seconds(record.get("proof_seconds")),
        "model built (s)": _seconds(record["build_seconds"]),
        "total (s)": _seconds(record["seconds"]),
        "memory": _megabytes(record.get("peak_memory")),
        "verified": "yes" if record["verified"] else "NO" if record.get("unverified") or has_tree(record) else "",
        "certified": _certified(record),
        "reason": record.get("because") or _reused(record) or _reason(record),
    }


def _gap(record: Record) -> str:
    """A share of the objective, or the difference from the bound where that is larger than the objective."""
    gap, value, bound = record["gap"], record["objective"], record["bound"]
    if gap is None or gap <= 1:
        return "" if gap is None else f"{100 * gap:.2f} %"
    is_one = isinstance(value, (int, float)) and isinstance(bound, (int, float))
    return f"by {readable(abs(value - bound))}" if is_one else "over 100 %"


def _running(run: RunningJob) -> Row:
    moment = run.moment
    return {
        "status": "starting" if run.started is None else "running",
        "objective": _numbers(moment.get("objective")),
        "bound": _numbers(moment.get("bound")),
        "total (s)": f"{run.seconds:.1f}",
        "memory": _megabytes(run.child.peak),
    }


def _reused(record: Record) -> str:
    """The combination of a sweep whose answer is this one, too."""
    source = record.get("reused")
    if not source:
        return ""
    params = source.get("params", {})
    told = [f"{name} = {value}" for name, value in params.items() if record["params"].get(name) != value]
    return f"by the proof for {', '.join(told)}"


def _certified(record: Record) -> str:
    made = record.get("certificate")
    if made is None:
        return str(record.get("certificate_refused", ""))
    many = "1 claim" if made["claims"] == 1 else f"{made['claims']:,} claims"
    return f"{made['claim']} by {many}, checked in {made['checked']['seconds']:.2f} s"


def _reason(record: Record) -> str:
    from treeml.backends.contract import Stop
    from treeml.solving.report import STOP_WORDS

    return "" if record["stop"] == Stop.PROVED.value else STOP_WORDS[Stop(record["stop"])]


def _numbers(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    return ", ".join(readable(each) for each in values if each is not None)


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _megabytes(size: int | None) -> str:
    return "" if not size else f"{size / 1e6:.0f} MB"


def _rich(rows: Sequence[Row]) -> Any:
    from treeml.solving.report import rich_table

    return rich_table(rows)
