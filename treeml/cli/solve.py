"""`treeml solve`: a specification -> the best tree, proved and verified."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from treeml.cli.options import (
    INFEASIBLE,
    LIMITS,
    NO_TREE,
    data_option,
    load_model,
    output_options,
    run_options,
    set_option,
    spec_argument,
    untrusted_option,
)
from treeml.cli.output import Printer, say, write_file
from treeml.lang.display import json_text
from treeml.lang.source_file import STANDARD_INPUT
from treeml.solving.options import RunOptions

if TYPE_CHECKING:
    from treeml.solving.result import Result


@click.command("solve")
@spec_argument
@data_option
@set_option
@run_options("backend", *LIMITS, "cluster", "write_model", "proof")
@click.option(
    "--certificate",
    type=click.Path(path_type=Path),
    help="Prove the answer once more, in a form that anybody can check, and write that to this file (.cert.gz).",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the result, as JSON, to this file.")
@output_options("as_json", "style", "quiet")
@untrusted_option
def command(
    spec: Path,
    data: str | None,
    settings: tuple[str, ...],
    options: RunOptions,
    certificate: Path | None,
    output: Path | None,
    out: Printer,
) -> None:
    """Find the best tree for SPEC, prove it, and verify it."""
    # imported here: start-up time
    from treeml.backends.contract import Status
    from treeml.lang.diagnostic import RefusedError
    from treeml.solving import failure, pipeline, report
    from treeml.solving.progress import progress_line
    from treeml.studies.page.about import about, summary

    for path in (options.proof, certificate):
        if path is not None and not path.parent.is_dir():
            raise click.FileError(str(path), "there is no such folder")
    with out.mistakes():
        model = load_model(spec, settings)
        with out.infeasible_as_json(), progress_line(not out.shows_progress) as on_progress:
            rows: dict[str, Any] = {}
            result = pipeline.solve(
                model,
                data,
                None,
                replace(options, begun=click.get_current_context().obj),
                on_progress,
                None if output is None else lambda table: rows.update(summary(table)),
            )
        out.warnings(result.warnings)
        refused = None
        if certificate is not None:
            if out.shows_progress and sys.stderr.isatty():
                say("certifying: the answer is proved once more, in a form that can be checked", err=True)
            try:
                result = _certified(result, certificate)
            except RefusedError as error:  # the answer is shown all the same
                refused = error
        if output is not None:
            kept = {
                **result.to_json(),
                "about": about(model, data, result, None if str(spec) == STANDARD_INPUT else spec, rows or None),
            }
            write_file(output, json_text(kept, indent=1) + "\n")
        if out.as_json or not out.quiet or output is None:
            out.result(result.to_json() if out.as_json else None, report.summary(result, out.quiet))
        out.diagnostics(failure.of_failure(result))
        if refused is not None:
            raise refused
    sys.exit({Status.INFEASIBLE: INFEASIBLE, Status.UNKNOWN: NO_TREE}.get(result.status, 0))


def _certified(result: Result, path: Path) -> Result:
    """The result with its certificate, which is written to the file.

    If the time was over before the proof, as much time again goes into the certificate of the gap.
    """
    is_proved = result.status.value in ("optimal", "infeasible")
    within = None if result.spec is None or is_proved else result.spec.within
    made = result.certify() if within is None else result.certify(within)
    write_file(path, made.packed(path.name.endswith(".gz")))
    return replace(result, certificate=made)
