"""`treeml list`: a specification -> all its good trees, counted, and the first of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from treeml.cli.options import (
    INFEASIBLE,
    NO_TREE,
    data_option,
    load_model,
    output_options,
    run_options,
    set_option,
    spec_argument,
    untrusted_option,
)
from treeml.cli.output import Printer
from treeml.solving.options import RunOptions

if TYPE_CHECKING:
    from treeml.model import Model
    from treeml.studies.tree_sets.tree_set import TreeSet


@click.command("list")
@spec_argument
@data_option
@set_option
@click.option("--most", type=click.IntRange(min=1), help="How many trees to list, the best first.")
@click.option("--slack", metavar="DISTANCE", help="List trees within this distance of the best: 2%, 3rows, 0.01.")
@click.option("--like", metavar="PACKAGE", help="Count trees as another package does: treefarms.")
@click.option("--where", "conditions", metavar="CONDITION", multiple=True, help="Keep the trees that meet this.")
@click.option("--by", metavar="MEASURE", help="Show the tree that is best by this measure instead of the first ones.")
@click.option("--show", type=click.IntRange(min=0), help="How many trees to show; 1, or none if quiet.")
@run_options("within", "memory")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write the set: trees.json or trees.parquet; or a page to explore it: trees.html.",
)
@click.option(
    "--committee", type=click.Path(path_type=Path), help="Write all trees with one vote each: a forest, as JSON."
)
@click.option("--measure", "measures", metavar="MEASURE", multiple=True, help="Show this measure on the page as well.")
@output_options("as_json", "style", "quiet")
@untrusted_option
def command(
    spec: Path,
    data: str | None,
    settings: tuple[str, ...],
    most: int | None,
    slack: str | None,
    like: str | None,
    conditions: tuple[str, ...],
    by: str | None,
    show: int | None,
    options: RunOptions,
    output: Path | None,
    committee: Path | None,
    measures: tuple[str, ...],
    out: Printer,
) -> None:
    """List all good trees for SPEC: those that its `list` statement asks for."""
    # imported here: start-up time
    from treeml.studies.tree_sets.listing import list_trees
    from treeml.studies.tree_sets.sources import TooManyTrees

    if measures and (output is None or output.suffix != ".html"):
        raise click.UsageError("--measure is shown on a page: -o trees.html")
    with out.mistakes():
        model = _asking(load_model(spec, settings), most, slack, like)
        trees = list_trees(model, data, None, options)
        out.warnings(trees.listed.warnings)
        try:
            kept = trees
            for condition in conditions:
                kept = kept.where(condition)
            if output is not None:
                _save(kept, output, measures)
            if committee is not None:
                _save_committee(kept, committee)
            shown = (0 if out.quiet else 1) if show is None else show
            text = "" if out.as_json else "\n\n".join(_text(trees, kept, conditions, by, shown, out.quiet))
            if out.as_json or not out.quiet or output is None or show is not None:
                out.result(kept.to_json(1 if show is None else show) if out.as_json else None, text)
        except TooManyTrees as error:
            raise click.ClickException(str(error)) from error
    known = trees.count or trees.listed.best is not None
    sys.exit(0 if known else INFEASIBLE if not trees.listed.stop else NO_TREE)


def _asking(model: Model, most: int | None, slack: str | None, like: str | None) -> Model:
    """The model, with a `list` statement from the options instead of its own."""
    if most is None and slack is None and like is None:
        return model
    from treeml.lang.syntax import ListTrees  # imported here: start-up time

    own = next((node for node in model.statements if isinstance(node, ListTrees)), ListTrees())
    model.statements = [node for node in model.statements if not isinstance(node, ListTrees)]
    try:
        model.list_trees(most, within=slack, like=own.style if like is None else like)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    made = model.statements.pop()
    assert isinstance(made, ListTrees)
    if most is None and slack is None:
        made = ListTrees(own.most, own.within, made.style)
    model.add(made)
    return model


def _save(trees: TreeSet, output: Path, measures: tuple[str, ...]) -> None:
    try:
        if output.suffix == ".html":
            trees.page(output, measures)
        else:
            trees.save(output)
    except OSError as error:
        raise click.FileError(str(output), error.strerror or str(error)) from error


def _save_committee(trees: TreeSet, path: Path) -> None:
    try:
        trees.committee().write(path)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.FileError(str(path), error.strerror or str(error)) from error


def _text(
    trees: TreeSet, kept: TreeSet, conditions: tuple[str, ...], by: str | None, show: int, quiet: bool
) -> Iterator[str]:
    """The statement; then, unless the command is quiet, notes and the numbers of trees; then trees."""
    from treeml.solving.report import table_text  # imported here: start-up time

    yield trees.statement
    if not quiet:
        yield from trees.listed.notes
    if conditions:
        yield f"{kept.count:,} of them meet {' and '.join(conditions)}"
    elif kept.count and not quiet:
        rows = [{"value": f"{value:g}", "trees": f"{number:,}"} for value, number in kept.histogram[:8]]
        more = len(kept.histogram) - len(rows)
        yield table_text(rows) + (f"\nand {more:,} further values" if more > 0 else "")
    if trees.choice is not None:
        yield trees.choice.text()
        if not quiet:
            yield str(trees.choice.tree)
    if by is not None and kept.count:
        yield f"best by {by}:\n{kept.best_by(by)}"
        return
    for rank in range(min(show, kept.count)):
        yield f"tree {rank}, value {kept.value(rank):g}:\n{kept[rank]}"
