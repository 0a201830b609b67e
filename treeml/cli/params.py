"""`treeml params`: a specification -> its params and their values."""

from __future__ import annotations

from pathlib import Path

import click

from treeml.cli.options import load_model, output_options, set_option, spec_argument, untrusted_option
from treeml.cli.output import Printer, say


@click.command("params")
@spec_argument
@set_option
@output_options("as_json", "style")
@untrusted_option
def command(spec: Path, settings: tuple[str, ...], out: Printer) -> None:
    """List the params of SPEC: value, domain, and where the value comes from."""
    from treeml.solving.explain import params  # imported here: start-up time

    with out.mistakes():
        rows = params(load_model(spec, settings))
        if rows or out.as_json:
            out.rows(rows)
        else:
            say(f"{spec} has no params")
