"""`treeml conformance`: a back-end -> its outcome on every case of the conformance suite."""

from __future__ import annotations

import sys

import click

from treeml.cli.options import FAILED, output_options
from treeml.cli.output import Printer


@click.command("conformance")
@click.argument("backend")
@click.option("--case", "only", metavar="NAME", multiple=True, help="Run only this case; may be repeated.")
@output_options("as_json", "style")
def command(backend: str, only: tuple[str, ...], out: Printer) -> None:
    """Run BACKEND, a registered name or module:Class, on every case of the conformance suite."""
    from treeml.cli.conformance_run import conform  # imported here: start-up time

    with out.mistakes():
        finished = conform(backend, only)
        out.result(finished.rows, finished.text)
        for line in finished.faults:
            click.echo(line, err=True)
    sys.exit(FAILED if finished.faults else 0)
