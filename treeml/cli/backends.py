"""`treeml backends`: the back-ends, or those that can solve a specification."""

from __future__ import annotations

from pathlib import Path

import click

from treeml.cli.options import data_option, load_model, output_options, set_option, untrusted_option
from treeml.cli.output import Printer


@click.command("backends")
@click.argument("spec", required=False, type=click.Path(path_type=Path))
@data_option
@set_option
@output_options("as_json", "style")
@untrusted_option
def command(spec: Path | None, data: str | None, settings: tuple[str, ...], out: Printer) -> None:
    """List the back-ends; with SPEC, say which can solve it, and why the others cannot."""
    from treeml.solving.explain import backends, capable_backends  # imported here: start-up time

    with out.mistakes():
        out.rows(backends() if spec is None else capable_backends(load_model(spec, settings), data))
