"""`treeml sweep`: specifications -> their results for every combination of values of the params."""

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
    specs_argument,
    untrusted_option,
)
from treeml.cli.output import Printer
from treeml.solving.options import RunOptions


@click.command("sweep")
@specs_argument
@data_files_option
@click.option(
    "--set", "settings", metavar="NAME=VALUES", multiple=True, help="Values of a param: 0..20%, 1..4, or 1, 2, 5."
)
@click.option("--steps", type=click.IntRange(min=1), help="Number of values in a range.")
@click.option("--folds", type=click.IntRange(min=2), help="Cross-validate with this number of folds.")
@backends_option
@run_options(*LIMITS)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="How many run at once, here.")
@click.option("--cluster", metavar="ADDRESS", help="Run on the Dask cluster with this address.")
@click.option("--reuse/--no-reuse", default=True, help="Take over answers that settle other limits.", show_default=True)
@records_option
@resume_option
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the trade-off: x.png, x.svg, x.pdf or x.json.")
@click.option("--across", metavar="MEASURE", help="The horizontal axis of the plot.")
@click.option("--up", metavar="MEASURE", help="The vertical axis of the plot.")
@output_options("as_json", "style", "quiet")
@untrusted_option
def command(specs: tuple[Path, ...], options: RunOptions, out: Printer, **arguments: Any) -> None:
    """Solve each SPEC for every combination of values of its params."""
    from treeml.cli.sweep_run import SweepArguments, sweep_specs  # imported here: start-up time

    with out.mistakes():
        models = [(str(spec), load_model(spec)) for spec in specs]
        finished = sweep_specs(models, options, SweepArguments(**arguments, quiet=not out.shows_progress))
        out.result(finished.records, finished.text)
        out.diagnostics(finished.diagnostics)
    sys.exit(finished.exit_code)
