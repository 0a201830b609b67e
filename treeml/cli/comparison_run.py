"""Models, arguments of `treeml compare` -> a comparison, its table, contradictions, and an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treeml.lang.diagnostic import Diagnostic
from treeml.solving.options import RunOptions
from treeml.solving.report import table_text
from treeml.studies.certified import certify_all
from treeml.studies.compare import CANNOT_WRITE, FAILED, Comparison, prepare, run
from treeml.studies.comparison.changes import against as changes_against
from treeml.studies.comparison.changes import refuted, speedups
from treeml.studies.comparison.contradictions import contradictions
from treeml.studies.comparison.gap_over_time import TITLE, gaps_over_time
from treeml.studies.comparison.jobs import Case, split_names
from treeml.studies.comparison.journal import Journal, read_records
from treeml.studies.comparison.record import Record
from treeml.studies.comparison.table import live_table, rows_of

if TYPE_CHECKING:
    from treeml.model import Model


@dataclass(frozen=True, slots=True, eq=False)
class FinishedComparison:
    comparison: Comparison
    text: str  # the table, and the best tree if there is one spec
    diagnostics: tuple[Diagnostic, ...]
    exit_code: int


@dataclass(frozen=True, slots=True)
class ComparisonArguments:
    """What the command line says besides the specs and the options of a run."""

    data: Sequence[str] = ()
    backends: str | None = None
    parallel: int = 1
    repeat: int = 1
    output: Path | None = None
    resume: bool = False
    against: Path | None = None
    reproduce: Path = Path()
    certificates: bool = False
    quiet: bool = False


def compare_specs(
    models: Sequence[tuple[str, Model]], options: RunOptions, arguments: ComparisonArguments
) -> FinishedComparison:
    """Run every job, and collect the table and the contradictions."""
    names = None if arguments.backends is None else split_names(arguments.backends)
    cases = [Case(model, file, None, name) for name, model in models for file in (arguments.data or (None,))]
    jobs = prepare(cases, names, options=options, parallel=arguments.parallel, repeat=arguments.repeat)
    earlier = [] if arguments.against is None else read_records(arguments.against)
    journal = None if arguments.output is None else Journal(arguments.output, arguments.resume)
    try:
        with live_table(jobs, arguments.quiet) as show:
            comparison = run(jobs, arguments.parallel, journal, show)
    finally:
        if journal is not None:
            journal.close()
    if arguments.certificates:
        certify_all(comparison)
    troubles = [diagnostic for diagnostic, _ in contradictions(comparison.records)]
    troubles += [_refuted(one, other) for one, other in refuted(comparison.records, earlier)]
    exit_code = FAILED if troubles else comparison.exit_code
    if troubles:
        troubles.append(_reproductions(comparison, arguments.reproduce))
    if journal is not None and journal.trouble:
        troubles.append(Diagnostic("D491", journal.trouble, helps=("the table above is complete; the file is not",)))
        exit_code = exit_code or CANNOT_WRITE
    return FinishedComparison(comparison, _text(comparison, earlier, arguments.against), tuple(troubles), exit_code)


def _text(comparison: Comparison, earlier: Sequence[Record], against: Path | None) -> str:
    parts = [table_text(rows_of(comparison.records))]
    gaps = gaps_over_time(comparison.records)
    if gaps:
        parts.append(f"{TITLE}\n{table_text(gaps)}")
    if against is not None:
        changes = changes_against(comparison.records, earlier)
        shown = [{name: cell for name, cell in change.items() if name != "faster"} for change in changes]
        parts.append(f"against {against}: {len(changes)} of {len(comparison.entries)} jobs were run before")
        parts += [table_text(shown), table_text(speedups(changes))]
    best = comparison.best
    if best is not None and len({entry.record["fingerprint"] for entry in comparison.entries}) == 1:
        parts.append(str(best.tree))
    return "\n\n".join(part for part in parts if part)


def _reproductions(comparison: Comparison, folder: Path) -> Diagnostic:
    try:
        written = comparison.reproductions(folder)
    except OSError as error:
        return Diagnostic("D491", f"no reproduction could be written: {error.strerror or error}", place=str(folder))
    return Diagnostic(
        "B519",
        "what does not hold can be seen again",
        notes=tuple(f"{path} has the spec, the data, the seeds and the versions" for path in written),
        helps=("please report it with this folder",),
    )


def _refuted(one: Record, other: Record) -> Diagnostic:
    return Diagnostic(
        "B517",
        f"{one['backend']} now and {other['backend']} earlier contradict each other",
        notes=(
            f"now: {one['status']} with {one['objective']}",
            f"earlier: {other['status']} with {other['objective']}, by version {other.get('treeml')}",
        ),
        helps=("the rows and the spec are the same: one of the two is wrong",),
    )
