"""`treeml plot`: stored results -> a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from treeml.cli.options import output_options
from treeml.cli.output import Printer

if TYPE_CHECKING:
    from treeml.studies.plots import Plot


@click.command("plot")
@click.argument("kind", type=click.Choice(["timeline", "cactus", "tradeoff", "margins", "importance", "pareto"]))
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="x.png, x.svg, x.pdf, or x.json for the data.",
)
@click.option("--across", metavar="MEASURE", help="The horizontal axis of a trade-off or a front.")
@click.option("--up", metavar="MEASURE", help="The vertical axis of a trade-off or a front.")
@click.option(
    "--data", metavar="FILE", type=click.Path(path_type=Path), help="The rows, for margins and sets of trees."
)
@output_options("style")
def command(
    kind: str, results: Path, output: Path, across: str | None, up: str | None, data: Path | None, out: Printer
) -> None:
    """Draw RESULTS: a file of `compare -o` or `sweep -o`.

    For margins, a forest of `solve -o`; for importance and pareto, a set of trees of `list -o`.
    """
    # imported here: start-up time
    from treeml.studies import plots
    from treeml.studies.comparison.journal import read_records

    with out.mistakes():
        if kind == "margins":
            if data is None:
                raise click.UsageError("margins are those of rows: give them with --data")
            picture = plots.margins(plots.forest_margins(results, data), data.name)
        elif kind in ("importance", "pareto"):
            picture = _of_set(kind, results, data, across, up)
        elif kind == "tradeoff":
            picture = plots.tradeoff(read_records(results), across, up)
        else:
            make = plots.timeline if kind == "timeline" else plots.cactus
            picture = make(read_records(results))
        plots.draw(picture, output)


def _of_set(kind: str, file: Path, data: Path | None, across: str | None, up: str | None) -> Plot:
    # imported here: start-up time
    from treeml.studies import plots
    from treeml.studies.tree_sets.sources import TooManyTrees
    from treeml.studies.tree_sets.tree_set import TreeSet

    if kind == "importance" and (across or up):
        raise click.UsageError("the axes of importance are fixed: --across and --up do not apply")
    if kind == "pareto" and (data is None or not across or not up):
        raise click.UsageError("a front compares two measures on rows: give --across, --up and --data")
    trees = TreeSet.read(file, None if data is None else str(data))
    try:
        if kind == "importance":
            return plots.importance(trees.importance())
        assert across is not None
        assert up is not None
        return plots.pareto(trees, across, up)
    except TooManyTrees as error:
        raise click.ClickException(str(error)) from error
