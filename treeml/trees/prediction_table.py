"""Tree or forest, a file of rows -> a table of predictions: what is predicted for each row, how sure, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeml.data.dates import CALENDAR
from treeml.data.read import load
from treeml.data.table import Table, label_text, plain_columns
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.spec import ColumnSpec
from treeml.trees.drawing import against_text
from treeml.trees.forest import Forest
from treeml.trees.nodes import Field, TreeLeaf, class_shares
from treeml.trees.path_facts import Answers, answered_facts, fewest_facts
from treeml.trees.tree import Tree

if TYPE_CHECKING:
    import polars as pl

Columns = dict[str, list[Any]]
ENDINGS = (".csv", ".parquet", ".pq")


@dataclass(frozen=True, slots=True)
class WantedColumns:
    """The columns to add to the prediction."""

    probabilities: bool = False
    leaf: bool = False
    path: bool = False
    reasons: bool = False


def predict_file(model: Tree | Forest, rows: Path, wanted: WantedColumns, *, keep: bool = True) -> pl.DataFrame:
    """The rows of a file with their predictions beside them; without the columns of the file if not `keep`."""
    import polars as pl

    table = load(rows, _types(model))
    added = predicted_columns(model, plain_columns(table), wanted)
    frame = pl.DataFrame([_series(name, values) for name, values in added.items()])
    original = _original(table) if keep else None
    if original is None:
        return frame
    taken = [name for name in added if name in original.columns]
    if taken:
        raise DataError(_taken(taken[0], rows))
    return original.hstack(frame)


def read_rows(model: Tree | Forest, path: Path) -> dict[str, Any]:
    """The columns of a file, with those that the model tests read as it needs them."""
    return plain_columns(load(path, _types(model)))


def predicted_columns(model: Tree | Forest, rows: Mapping[str, list[Any]], wanted: WantedColumns) -> Columns:
    """`predicted disease`, then `probability of ...` for each class, `leaf`, `path` and `reasons`, as far as wanted."""
    first = model if isinstance(model, Tree) else model.trees[0]
    if isinstance(model, Forest) and (wanted.leaf or wanted.path or wanted.reasons):
        raise DataError(_many_trees(len(model.trees)))
    if wanted.probabilities and first.task != "classes":
        raise DataError(_no_probabilities(first.task))
    added: Columns = {}
    predictions = model.predict(rows).tolist()
    if first.task == "clusters":
        for place, name in enumerate(first.outputs):
            added[f"center {name}"] = [each[place] for each in predictions]
    else:
        added[_name_of_predictions(first)] = predictions
    if wanted.probabilities:
        shares = model.predict_proba(rows)
        for place, label in enumerate(model.classes):
            added[f"probability of {label_text(label)}"] = shares[:, place].tolist()
    if isinstance(model, Tree) and (wanted.leaf or wanted.path or wanted.reasons):
        reached = model.apply(rows).tolist()
        paths = list(model.paths())
        if wanted.leaf:
            added["leaf"] = [leaf + 1 for leaf in reached]
        if wanted.path:
            texts = ["; ".join(answered_facts(model, path)) for path, _ in paths]
            added["path"] = [texts[leaf] for leaf in reached]
        if wanted.reasons:
            texts = [_reasons(model, path, leaf) for path, leaf in paths]
            added["reasons"] = [texts[leaf] for leaf in reached]
    return added


def _name_of_predictions(tree: Tree) -> str:
    """`predicted price`; `relative hazard of months` if the leaves hold another number about the target."""
    if not tree.target:
        return "prediction"
    return f"predicted {tree.target}" if tree.predicted == tree.target else f"{tree.predicted} of {tree.target}"


def written(frame: pl.DataFrame, ending: str) -> bytes:
    """The table as a CSV or a Parquet file."""
    made = BytesIO()
    if ending == ".csv":
        frame.write_csv(made)
    else:
        frame.write_parquet(made)
    return made.getvalue()


def _types(model: Tree | Forest) -> dict[str, ColumnSpec]:
    """Numbers, dates and times are read as such; all else keeps its text, since it may have values that are new."""
    trees = (model,) if isinstance(model, Tree) else model.trees
    return {field.name: ColumnSpec(_type(field)) for tree in trees for field in tree.fields}


def _type(field: Field) -> str:
    return field.type if field.type in CALENDAR else "category" if field.levels else "number"


def _reasons(tree: Tree, path: Answers, leaf: TreeLeaf) -> str:
    """`yes because age > 40 and sex is not F: 2 of 3 training rows like this are yes`."""
    prediction = tree.prediction_text(leaf)
    because = " and ".join(fewest_facts(tree, path))
    text = f"{prediction} because {because}" if because else f"{prediction}, as for every row"
    if tree.task == "classes" and leaf.counts and leaf.rows:
        own = leaf.counts[tree.classes.index(leaf.prediction)]
        share = class_shares(leaf, tree.classes)[tree.classes.index(leaf.prediction)]
        weighted = f" ({100 * float(share):.1f} % by weight)" if share != Fraction(own, leaf.rows) else ""
        against = against_text(tree, leaf, whose="their")
        note = f", {against}" if against else ""
        return f"{text}: {own} of {leaf.rows} training rows like this are {prediction}{weighted}{note}"
    return f"{text}: the training rows like this number {leaf.rows}" if leaf.rows else text


def _original(table: Table) -> pl.DataFrame | None:
    """The columns of a CSV or Parquet file as they are; None for formats without a line of names."""
    return getattr(table.again, "frame", None)


def _series(name: str, values: list[Any]) -> pl.Series:
    import polars as pl

    kinds = {type(value) for value in values}
    plain = len(kinds) == 1 and kinds <= {str, int, float, bool}
    return pl.Series(name, values if plain else [label_text(value) for value in values])


def _taken(name: str, rows: Path) -> Diagnostic:
    return Diagnostic(
        "D477",
        f"{rows.name} already has a column `{name}`",
        place=str(rows),
        helps=("write the predictions without the columns of the file: --only",),
    )


def _many_trees(trees: int) -> Diagnostic:
    return Diagnostic(
        "D478",
        f"a row has no single leaf or path in a forest of {trees} trees",
        notes=("--probabilities shows the shares of the votes",),
        helps=("remove --leaf, --path and --reasons",),
    )


def _no_probabilities(task: str) -> Diagnostic:
    return Diagnostic("D478", f"a tree that predicts {task} has no probabilities", helps=("remove --probabilities",))
