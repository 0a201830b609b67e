"""`treeml plot`: stored results -> a picture."""

from __future__ import annotations

from pathlib import Path

import click

from treeml.cli.options import output_options
from treeml.cli.output import Printer


@click.command("plot")
@click.argument("kind", type=click.Choice(["timeline", "cactus", "tradeoff", "margins"]))
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="x.png, x.svg, x.pdf, or x.json for the data.",
)
@click.option("--across", metavar="MEASURE", help="The horizontal axis of a trade-off.")
@click.option("--up", metavar="MEASURE", help="The vertical axis of a trade-off.")
@click.option("--data", metavar="FILE", type=click.Path(path_type=Path), help="The rows, for margins.")
@output_options("style")
def command(
    kind: str, results: Path, output: Path, across: str | None, up: str | None, data: Path | None, out: Printer
) -> None:
    """Draw RESULTS: a file of `compare -o` or `sweep -o`; for margins, a forest of `solve -o`."""
    # imported here: start-up time
    from treeml.studies import plots
    from treeml.studies.comparison.journal import read_records

    with out.mistakes():
        if kind == "margins":
            if data is None:
                raise click.UsageError("margins are those of rows: give them with --data")
            picture = plots.margins(plots.forest_margins(results, data), data.name)
        elif kind == "tradeoff":
            picture = plots.tradeoff(read_records(results), across, up)
        else:
            make = plots.timeline if kind == "timeline" else plots.cactus
            picture = make(read_records(results))
        plots.draw(picture, output)
