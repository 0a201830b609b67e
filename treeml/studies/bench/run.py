"""Suites -> records, and a table with the published figures beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from treeml.lang.diagnostic import Diagnostic
from treeml.lang.numerals import readable
from treeml.lang.statements import Statements
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions
from treeml.studies.bench.suites import SUITES, SuiteEntry, entries
from treeml.studies.compare import CANNOT_WRITE, FAILED, Comparison, prepare, run
from treeml.studies.comparison.contradictions import contradictions
from treeml.studies.comparison.jobs import Case, split_names
from treeml.studies.comparison.journal import Journal
from treeml.studies.comparison.record import Record, has_failed, has_tree, is_refused
from treeml.studies.comparison.table import live_table
from treeml.studies.sweep import CHOSEN


@dataclass(frozen=True, slots=True, eq=False)
class Benched:
    """The table of a benchmark run, and its exit code."""

    rows: list[dict[str, Any]]
    comparison: Comparison
    diagnostics: tuple[Diagnostic, ...]
    exit_code: int


def bench(
    suites: Sequence[str],
    *,
    data_dir: Path | None = None,
    sets: Sequence[str] = (),
    backends: str | None = None,
    parallel: int = 1,
    output: Path | None = None,
    resume: bool = False,
    quiet: bool = False,
    options: RunOptions = DEFAULT_OPTIONS,
) -> Benched:
    """Run the named suites, or all of them; one line per data set, depth and back-end."""
    journal = None if output is None else Journal(output, resume)
    try:
        with TemporaryDirectory() as folder:
            asked_for = [
                entry
                for name in (suites or tuple(SUITES))
                for entry in entries(name, data_dir, Path(folder))
                if not sets or entry.set in sets
            ]
            cases = [Case(Statements.parse(entry.spec), entry.data, None, _name(entry)) for entry in asked_for]
            names = [CHOSEN] if backends is None else split_names(backends)
            jobs = prepare(cases, names, options=replace(options, races=True), parallel=parallel)
            with live_table(jobs, quiet) as show:
                comparison = run(jobs, parallel, journal, show)
    finally:
        if journal is not None:
            journal.close()
    by_name = {_name(entry): entry for entry in asked_for}
    rows = [_row(by_name[record["spec"]], record) for record in comparison.records]
    troubles = [diagnostic for diagnostic, _ in contradictions(comparison.records)]
    if journal is not None and journal.trouble:
        troubles.append(Diagnostic("D491", journal.trouble))
    wrong = any(row["verdict"] == "WRONG" for row in rows)
    failed = bool(contradictions(comparison.records)) or any(map(has_failed, comparison.records))
    code = FAILED if wrong or failed else CANNOT_WRITE if troubles else 0
    return Benched(rows, comparison, tuple(troubles), code)


def _name(entry: SuiteEntry) -> str:
    return f"{entry.suite}/{entry.set}" + (f"/depth {entry.depth}" if entry.depth else "")


def _row(entry: SuiteEntry, record: Record) -> dict[str, Any]:
    figure = entry.figure
    value = _value(entry, record)
    seconds = record.get("seconds")
    return {
        "suite": entry.suite,
        "set": entry.set,
        "depth": entry.depth or "",
        "back-end": record["backend"],
        "status": "refused" if is_refused(record) else "failed" if has_failed(record) else record["status"],
        "ours": readable(value),
        "seconds": "" if seconds is None else f"{seconds:.2f}",
        "published": "" if figure is None else readable(figure.value) + ("" if figure.proved else " (not proved)"),
        "their seconds": "" if figure is None or figure.seconds is None else f"{figure.seconds:g}",
        "verdict": _verdict(entry, record, value),
        "source": "" if figure is None else figure.source,
        "reason": record.get("because", ""),
    }


def _value(entry: SuiteEntry, record: Record) -> float | None:
    if not has_tree(record):
        return None
    if entry.measure != "objective":
        found = record.get("measures", {}).get(entry.measure)
        return None if found is None else float(found)
    objective = record["objective"]
    return float(objective[0] if isinstance(objective, list) else objective)


def _verdict(entry: SuiteEntry, record: Record, value: float | None) -> str:
    """Two proved values must be equal; values without a proof can only be compared."""
    if entry.figure is None or value is None:
        return ""
    if entry.suite in ("boosting", "boosting-variance", "improvement"):
        return ""  # means over folds, with options that are not published
    if record["status"] == "optimal" and entry.figure.proved:
        return "equal" if value == entry.figure.value else "WRONG"
    return "equal" if value == entry.figure.value else "better" if value < entry.figure.value else "worse so far"
