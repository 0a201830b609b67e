"""`treeml report`: stored results -> one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from treeml.cli.options import output_options
from treeml.cli.output import Printer, write_file


@click.command("report")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Write the page to this file.")
@output_options("style")
def command(files: tuple[Path, ...], output: Path, out: Printer) -> None:
    """Write one HTML page of FILES: a result of `solve -o`, results of `compare -o`, or both."""
    from treeml.studies.page.write import read_result, write_page  # imported here: start-up time

    with out.mistakes():
        results, records = [], []
        for file in files:
            result, more = read_result(file)
            results += [] if result is None else [result]
            records += more
        if len(results) > 1:
            raise click.UsageError("a page shows one result: give one, and any number of files of `compare -o`")
        write_file(output, write_page(results[0] if results else None, records))
