"""`treeml check`: a specification -> ok, warnings, or every mistake."""

from __future__ import annotations

from pathlib import Path

import click

from treeml.cli.options import (
    data_option,
    is_untrusted,
    load_model,
    output_options,
    set_option,
    spec_argument,
    untrusted_option,
)
from treeml.cli.output import Printer, counted, say, write_file
from treeml.lang.diagnostic import SpecError
from treeml.lang.source import Source
from treeml.lang.source_file import STANDARD_INPUT, read
from treeml.solving.checking import check_with_data


@click.command("check")
@spec_argument
@data_option
@set_option
@click.option("--fix", is_flag=True, help="Apply the safe repairs to the file.")
@output_options("style", "quiet")
@untrusted_option
def command(spec: Path, data: str | None, settings: tuple[str, ...], fix: bool, out: Printer) -> None:
    """Check SPEC, alone or (--data) together with data."""
    if fix and str(spec) == STANDARD_INPUT:
        raise click.UsageError("--fix changes a file, and standard input is none")
    with out.mistakes():
        if fix:
            _repair(spec, out)
        warnings = check_with_data(load_model(spec, settings), data)
        out.warnings(warnings)
    if not out.quiet:
        say(f"{spec}: ok" if not warnings else f"{spec}: ok, with {counted(len(warnings), 'warning')}")


def _repair(spec: Path, out: Printer) -> None:
    """Apply the safe fixes until none is left: one mistake can hide another."""
    # imported here: start-up time
    from treeml.lang.parse import parse
    from treeml.lang.render import apply_fixes

    source, repaired = read(spec, is_untrusted()), 0
    while True:
        try:
            parse(source)
            break
        except SpecError as error:
            text = apply_fixes(source, error.diagnostics)
            if text == source.text:
                break
            repaired += sum(bool(diagnostic.fix) for diagnostic in error.diagnostics)
            source = Source(source.name, text, source.path)
    if repaired:
        write_file(spec, source.text)
        if not out.quiet:
            say(f"repaired {counted(repaired, 'mistake')} in {spec}", err=True)
