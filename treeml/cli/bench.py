"""`treeml bench`: suites of published tables -> our figures beside theirs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from treeml.cli.options import LIMITS, output_options, records_option, resume_option, run_options
from treeml.cli.output import Printer
from treeml.solving.options import RunOptions

SUITES = ("cp4im", "numeric", "least-depth", "boosting", "boosting-variance", "improvement")


@click.command("bench")
@click.argument("suites", nargs=-1, type=click.Choice(SUITES))
@click.option(
    "--data-dir", type=click.Path(path_type=Path, file_okay=False), help="Folder with the data; else generated sets."
)
@click.option("--only", "sets", metavar="SET", multiple=True, help="Run only this set; may be repeated.")
@click.option("--with", "backends", metavar="A,B,C", help="Use these back-ends instead of the one chosen by default.")
@run_options(*LIMITS)
@click.option("--parallel", type=click.IntRange(min=1), default=1, help="How many run at once.", show_default=True)
@records_option
@resume_option
@output_options("as_json", "style", "quiet")
def command(suites: tuple[str, ...], options: RunOptions, out: Printer, **arguments: Any) -> None:
    """Run the tables of papers (all SUITES, or those named) and print their figures beside ours."""
    from treeml.studies.bench.run import bench  # imported here: start-up time

    with out.mistakes():
        finished = bench(suites, options=options, quiet=not out.shows_progress, **arguments)
        out.rows(finished.rows)
        out.diagnostics(finished.diagnostics)
    sys.exit(finished.exit_code)
