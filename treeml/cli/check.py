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
        raise click.UsageError("--fix changes a file, and standard input is not a file")
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
    from treeml.lang.check import check_source
    from treeml.lang.render import apply_fixes

    source, repaired = read(spec, is_untrusted()), 0
    while True:
        mistakes = [found for found in check_source(source, untrusted=is_untrusted())[1] if found.is_error]
        text = apply_fixes(source, mistakes)
        if text == source.text:
            break
        repaired += sum(any(fix.span.source == source for fix in found.fix) for found in mistakes)
        source = Source(source.name, text, source.path)
    if repaired:
        write_file(spec, source.text)
        if not out.quiet:
            say(f"repaired {counted(repaired, 'mistake')} in {spec}", err=True)
