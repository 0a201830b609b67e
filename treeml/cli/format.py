"""`treeml fmt`: .tml files -> the same files in canonical layout."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from treeml.cli.options import is_untrusted, output_options, untrusted_option
from treeml.cli.output import Printer, say, write_file
from treeml.lang.display import shown_lines


@click.command("fmt")
@click.argument("specs", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option("--check", "only_check", is_flag=True, help="Change nothing; exit with 1 if a file would change.")
@output_options("style")
@untrusted_option
def command(specs: tuple[str, ...], only_check: bool, out: Printer) -> None:
    """Format .tml files in the canonical layout and keep comments; `-` reads standard input."""
    # imported here: start-up time
    from treeml.lang.format import format_source
    from treeml.lang.source import PIPED_NAME, Source
    from treeml.lang.source_file import read

    changed = 0
    with out.mistakes():
        for name in specs:
            from_input = name == "-"
            source = Source(PIPED_NAME, sys.stdin.read()) if from_input else read(Path(name), is_untrusted())
            text = format_source(source)
            if from_input and not only_check:
                # A pipe gets the text itself; a terminal would obey control characters in a comment.
                click.echo(shown_lines(text) if sys.stdout.isatty() else text, nl=False)
            elif text != source.text:
                changed += 1
                say(f"{'would change' if only_check else 'changed'} {name}", err=True)
                if not only_check:
                    write_file(Path(name), text)
    if only_check and changed:
        sys.exit(1)
