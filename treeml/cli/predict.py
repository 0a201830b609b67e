"""`treeml predict`: a stored tree or forest, rows -> their predictions, and why."""

from __future__ import annotations

from pathlib import Path

import click

from treeml.cli.options import output_options
from treeml.cli.output import Printer, say, write_file


@click.command("predict")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("rows", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file: x.csv or x.parquet.")
@click.option("--probabilities", is_flag=True, help="Add the probability of every class.")
@click.option("--leaf", is_flag=True, help="Add the number of the leaf, counted from 1 in the order of the text.")
@click.option("--path", is_flag=True, help="Add every test on the way to the leaf, as it was answered.")
@click.option("--reasons", is_flag=True, help="Add a sentence that says why.")
@click.option("--only", is_flag=True, help="Leave the columns of ROWS out.")
@output_options("style")
def command(
    file: Path,
    rows: Path,
    output: Path | None,
    probabilities: bool,
    leaf: bool,
    path: bool,
    reasons: bool,
    only: bool,
    out: Printer,
) -> None:
    """Predict ROWS (CSV or Parquet) by the tree or forest in FILE, and write them with their predictions."""
    # imported here: start-up time
    from treeml.trees.forest import Forest, is_forest
    from treeml.trees.prediction_table import ENDINGS, WantedColumns, predict_file, written
    from treeml.trees.tree import Tree

    if output is not None and output.suffix not in ENDINGS:
        raise click.UsageError(f"predictions are written as x.csv or x.parquet, not as {output.name}")
    with out.mistakes():
        model = Forest.read(file) if is_forest(file) else Tree.read(file)
        frame = predict_file(model, rows, WantedColumns(probabilities, leaf, path, reasons), keep=not only)
        if output is None:
            say(written(frame, ".csv").decode().rstrip("\n"))
        else:
            write_file(output, written(frame, output.suffix))
