"""`treeml new`: a data file -> a first specification for it, with what was inferred as comments."""

from __future__ import annotations

from pathlib import Path

import click

from treeml.cli.options import output_options
from treeml.cli.output import Printer, say


@click.command("new")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--predict", "target", metavar="COLUMN", help="The column to predict; the last one by default.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write to this file, which must not exist; - prints."
)
@output_options("style", "quiet")
def command(data: Path, target: str | None, output: Path | None, out: Printer) -> None:
    """Write a first spec for DATA, beside it unless -o says otherwise."""
    # imported here: start-up time
    from treeml.solving.first_spec import first_spec
    from treeml.system.writing import create_file

    place = data.with_suffix(".tml") if output is None else output
    to_screen = str(output) == "-"
    with out.mistakes():
        text = first_spec(data, target, Path() if to_screen else place.parent)
        if to_screen:
            say(text.rstrip("\n"))
            return
        try:
            create_file(place, text)
        except FileExistsError:
            raise click.UsageError(f"{place} exists already: name another file with -o") from None
        except OSError as error:
            raise click.FileError(str(place), error.strerror or str(error)) from error
    if not out.quiet:
        say(f"{place} is written; next: treeml solve {place}", err=True)
