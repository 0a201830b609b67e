"""Models, arguments of `treeml sweep` -> records, their table, a trade-off curve, and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from treeml.lang.diagnostic import Diagnostic, SpecError
from treeml.lang.numerals import readable
from treeml.solving.options import RunOptions
from treeml.solving.report import table_text
from treeml.studies.compare import CANNOT_WRITE, Comparison, ComparisonEntry
from treeml.studies.comparison.contradictions import contradictions
from treeml.studies.comparison.jobs import Case, split_names
from treeml.studies.comparison.journal import Journal, is_final
from treeml.studies.comparison.over_folds import over_folds, unseen_names, unseen_values
from treeml.studies.comparison.record import Record
from treeml.studies.comparison.table import rows_of
from treeml.studies.plots import draw, tradeoff
from treeml.studies.sweep import sweep, values_of

if TYPE_CHECKING:
    from treeml.model import Model

INTERRUPTED = 130  # the exit code after Ctrl-C, as in shells: 128 plus the number of the signal


@dataclass(frozen=True, slots=True, eq=False)
class FinishedSweep:
    records: list[Record]
    text: str
    diagnostics: tuple[Diagnostic, ...]
    exit_code: int


@dataclass(frozen=True, slots=True)
class SweepArguments:
    """What the command line says besides the specs and the options of a run."""

    data: Sequence[str] = ()
    settings: Sequence[str] = ()
    steps: int | None = None
    folds: int | None = None
    backends: str | None = None
    jobs: int = 1
    cluster: str | None = None
    reuse: bool = True
    output: Path | None = None
    resume: bool = False
    plot: Path | None = None
    across: str | None = None
    up: str | None = None
    quiet: bool = False


def sweep_specs(models: Sequence[tuple[str, Model]], options: RunOptions, arguments: SweepArguments) -> FinishedSweep:
    """Run every job until the end or Ctrl-C, and collect the table and the contradictions."""
    cases = [Case(model, file, None, name) for name, model in models for file in (arguments.data or (None,))]
    journal = None if arguments.output is None else Journal(arguments.output, arguments.resume)
    records: list[Record] = []
    is_interrupted = False
    try:
        found = sweep(
            cases,
            param_values(arguments.settings, arguments.steps),
            None if arguments.backends is None else split_names(arguments.backends),
            folds=arguments.folds or 0,
            jobs=arguments.jobs,
            cluster=arguments.cluster,
            journal=journal,
            options=options,
            reuse=arguments.reuse,
        )
        for record in found:
            records.append(record)
            if not arguments.quiet:
                _show_count(len(records))
    except KeyboardInterrupt:
        is_interrupted = True
    finally:
        if journal is not None:
            journal.close()
    records.sort(key=lambda record: (record["spec"], record["data"], str(record["backend"]), _order(record)))
    troubles = [diagnostic for diagnostic, _ in contradictions(records)]
    exit_code = Comparison(tuple(ComparisonEntry(record["backend"], record=record) for record in records)).exit_code
    if journal is not None and journal.trouble:
        troubles.append(Diagnostic("D491", journal.trouble, helps=("the table above is complete; the file is not",)))
        exit_code = exit_code or CANNOT_WRITE
    if is_interrupted:
        troubles.append(_interrupted(sum(map(is_final, records)), arguments.output, arguments.resume))
        exit_code = INTERRUPTED
    elif arguments.plot is not None:
        draw(tradeoff(records, arguments.across, arguments.up), arguments.plot)
    return FinishedSweep(records, _text(records), tuple(troubles), exit_code)


def _interrupted(done: int, output: Path | None, resume: bool) -> Diagnostic:
    if output is None:
        help = "with `-o sweep.jsonl` results are kept as they come, and `--resume` goes on with them"
    else:
        help = f"the same command {'again' if resume else 'with `--resume`'} runs what {output} does not hold"
    title = f"the sweep was interrupted after {done} job{'' if done == 1 else 's'}"
    return Diagnostic("B532", title, helps=(help,))


def param_values(settings: Sequence[str], steps: int | None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for setting in settings:
        name, equals, values = setting.partition("=")
        if not equals or not name.strip() or name.strip() in found:
            title = f"`{setting}` gives no param its values, once each"
            raise SpecError(Diagnostic("S151", title, place="--set", helps=("write --set tolerance=0..20%",)))
        found[name.strip()] = values_of(values, steps)
    return found


def _order(record: Record) -> list[Any]:
    values = [
        (0, value, "") if isinstance(value, (int, float)) else (1, 0, str(value)) for value in record["params"].values()
    ]
    return [*values, (1, 0, record.get("fold", ""))]


def _text(records: Sequence[Record]) -> str:
    if any(record.get("fold") for record in records):
        return _folds_text(records)
    rows = []
    for record, row in zip(records, rows_of(records), strict=True):
        measures = {name: readable(value) for name, value in record.get("measures", {}).items()}
        unseen: dict[str, str] = {}
        for part in record.get("validation", {}).get("parts", ()):
            unseen = {f"unseen {name}": readable(value) for name, value in part["test"].items()}
        rows.append({**record["params"], **_known(row), **measures, **unseen, "seconds": row["total (s)"]})
    return table_text(rows)


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in row if name in ("spec", "data", "back-end", "status", "objective", "reason")}


def _folds_text(records: Sequence[Record]) -> str:
    """A row per job, with the mean and the spread over its folds; the folds themselves are in the file of -o."""
    summary = over_folds(records)
    rows = []
    for record, row in zip(summary, rows_of(summary), strict=True):
        known = _known(row)
        known.pop("objective", None)  # that of other rows in every fold
        cells = {**record["params"], **known}
        parts = record["validation"]["parts"]
        for name in unseen_names(record):
            values = unseen_values(record, name)
            cells[f"unseen {name}"] = f"{mean(values):.4g}"
            cells[f"spread of {name}"] = f"{stdev(values):.4g}" if len(values) > 1 else ""
        if "leaves" in record["measures"]:
            cells["leaves"] = f"{record['measures']['leaves']:.1f}"
        cells["folds"] = f"{len(parts)} of {record['folds']}"
        rows.append({**cells, "seconds": row["total (s)"]})
    return table_text(rows)


def _show_count(number: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{number} done")
        sys.stderr.flush()
