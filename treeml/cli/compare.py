"""`treeml compare`: specifications -> the results of several back-ends, side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from treeml.cli.options import (
    LIMITS,
    backends_option,
    data_files_option,
    load_model,
    output_options,
    records_option,
    resume_option,
    run_options,
    set_option,
    specs_argument,
    untrusted_option,
)
from treeml.cli.output import Printer
from treeml.solving.options import RunOptions


@click.command("compare")
@specs_argument
@data_files_option
@set_option
@backends_option
@run_options(*LIMITS)
@click.option("--parallel", type=click.IntRange(min=1), default=1, help="How many run at once.", show_default=True)
@click.option("--repeat", type=click.IntRange(min=1), default=1, help="Runs of each, with increasing seeds.")
@records_option
@resume_option
@click.option("--certificates", is_flag=True, help="Have every proved answer certified and checked.")
@click.option("--against", type=click.Path(path_type=Path), help="Compare with the results in this file.")
@click.option(
    "--reproduce",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    help="Folder for what reproduces a contradiction: spec, data, seeds and versions.",
)
@output_options("as_json", "style", "quiet")
@untrusted_option
def command(
    specs: tuple[Path, ...], settings: tuple[str, ...], options: RunOptions, out: Printer, **arguments: Any
) -> None:
    """Solve each SPEC with every capable back-end, each in its own process, and compare them."""
    from treeml.cli.comparison_run import ComparisonArguments, compare_specs  # imported here: start-up time

    with out.mistakes():
        models = [(str(spec), load_model(spec, settings)) for spec in specs]
        finished = compare_specs(models, options, ComparisonArguments(**arguments, quiet=not out.shows_progress))
        out.result(finished.comparison.to_json(), finished.text)
        out.diagnostics(finished.diagnostics)
    sys.exit(finished.exit_code)
