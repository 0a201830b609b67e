"""`treeml report`: stored results -> one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from treeml.cli.options import output_options
from treeml.cli.output import Printer, write_file


@click.command("report")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Write the page to this file.")
@click.option("--data", metavar="FILE", help="Rows for distributions in the nodes, or for measures of a set of trees.")
@click.option("--measure", "measures", metavar="MEASURE", multiple=True, help="Show this measure of a set of trees.")
@output_options("style")
def command(files: tuple[Path, ...], output: Path, data: str | None, measures: tuple[str, ...], out: Printer) -> None:
    """Write one HTML page of FILES: a result of `solve -o`, results of `compare -o`, or both; or a set of `list -o`."""
    with out.mistakes():
        if any(map(_is_set, files)):
            if len(files) > 1:
                raise click.UsageError("the page of a set of trees shows this set alone: give one file")
            write_file(output, _set_page(files[0], data, measures))
            return
        if measures:
            raise click.UsageError("--measure belongs to a set of trees, a file of `list -o`")
        write_file(output, _result_page(files, data, out))


def _result_page(files: tuple[Path, ...], data: str | None, out: Printer) -> str:
    # imported here: start-up time
    from treeml.studies.page.mixed import warning_of_mixture
    from treeml.studies.page.write import read_result, write_page

    results, records, read = [], [], []
    for file in files:
        result, more = read_result(file)
        read.append((file.name, result, more))
        results += [] if result is None else [result]
        records += more
    if len(results) > 1:
        raise click.UsageError("a page shows one result: give one, and any number of files of `compare -o`")
    out.warnings(warning_of_mixture(read))
    if data is not None and not results:
        raise click.UsageError("--data belongs to a result of `solve -o`: its tree shows how the rows spread")
    return write_page(results[0] if results else None, records, None if data is None else _rows(results[0], data))


def _rows(result: dict[str, Any], data: str) -> Any:
    """The rows of a file, as the tree or forest of the result reads them."""
    # imported here: start-up time
    from treeml.trees.forest import Forest
    from treeml.trees.prediction_table import read_rows
    from treeml.trees.tree import Tree

    if not result.get("forest") and not result.get("tree"):
        raise click.UsageError("--data belongs to a result with a tree, and this one has none")
    model = Forest.from_json(result["forest"]) if result.get("forest") else Tree.from_json(result["tree"])
    return read_rows(model, Path(data))


def _is_set(file: Path) -> bool:
    """Does the file say that it holds a set of trees?"""
    if file.suffix == ".parquet":
        return True
    try:
        with file.open("rb") as opened:
            return b'"treeml_trees"' in opened.read(64)
    except OSError:
        return False  # the reader of results says why


def _set_page(file: Path, data: str | None, measures: tuple[str, ...]) -> str:
    from treeml.studies.tree_sets.explorer import explorer_page  # imported here: start-up time
    from treeml.studies.tree_sets.tree_set import TreeSet

    if measures and data is None:
        raise click.UsageError("measures need the rows of the data: --data")
    return explorer_page(TreeSet.read(file, data), measures)
