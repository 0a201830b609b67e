"""A data file -> the text of a first specification for it: what was inferred, as comments, and a goal that fits."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np

from treeml.data.classes import can_be_classes, classes_of
from treeml.data.read import load
from treeml.data.table import Column, Table, label_text, listed
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.display import shown
from treeml.lang.spec import Spec
from treeml.lang.suggest import nearest
from treeml.lang.words import spell_name, spell_string

MOST_COLUMNS = 60  # that are described; a table may have thousands
RARE = 0.2  # a smallest class below this share makes plain accuracy a poor goal
GROUPS = ("sex", "gender", "race", "ethnicity", "nationality", "religion")


def first_spec(data: Path, target: str | None = None, folder: Path | None = None) -> str:
    """The specification; `folder` is where it will be stored, since its path to the data is relative to it."""
    table = load(data)
    names = list(table.columns)
    target = names[-1] if target is None and table.target is None else target or table.target
    assert target is not None
    if target not in table.columns:
        raise DataError(_no_column(target, table, data))
    if len(names) < 2:
        raise DataError(Diagnostic("D405", f"{data.name} has only the column `{target}`", place=str(data)))
    identifiers = [name for name in names if name != target and _is_identifier(table.columns[name])]
    path = os.path.relpath(data, folder or data.parent)
    paragraphs = [
        f"# A first specification for {shown(data.name)}: {table.rows:,} rows, {len(names)} columns.\n"
        "# A line that begins with # is a comment. `treeml explain measures` lists all goals.",
        f"data {spell_string(path)}\npredict {spell_name(target)}  # {_told(table.columns[target], table.rows)}"
        + _except(identifiers),
        _columns(table, target, identifiers),
        _goal(table, table.columns[target]),
        "solve within 60 s",
    ]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n"


def _except(identifiers: list[str]) -> str:
    if not identifiers:
        return ""
    named = ", ".join(map(spell_name, identifiers))
    return f"\nfeatures all except {named}  # they only number the rows"


def _columns(table: Table, target: str, identifiers: list[str]) -> str:
    """A declaration of every column: as a comment where inference suffices, in force where it does not."""
    lines = ["# What was inferred. Remove the first # of a line to change it."]
    described = [name for name in table.columns if name not in identifiers]
    for name in described[:MOST_COLUMNS]:
        column = table.columns[name]
        missing = 0 if column.missing is None else int(column.missing.sum())
        if name == target:
            if missing:
                lines.append(f"column {spell_name(name)} : {_kind(column)}, missing drop  # {missing} have no value")
            continue
        told = _told(column, table.rows)
        if missing and column.type != "text":
            rule = f"column {spell_name(name)} : {column.type}, missing separate"
            lines.append(f"{rule}  # {told}; {missing} of {table.rows} are missing")
        else:
            lines.append(f"# column {spell_name(name)} : {column.type}  # {told}")
    if len(described) > MOST_COLUMNS:
        lines.append(f"# and {len(described) - MOST_COLUMNS} further columns")
    return "\n".join(lines)


def _goal(table: Table, target: Column) -> str:
    sizes = "require depth <= 3\nrequire support >= 5  # rows in every leaf"
    if target.type != "text" and not can_be_classes(Spec(), target):
        return f"minimize mse\n{sizes}"
    _, actual = classes_of(target)
    counts = np.bincount(actual[actual >= 0])
    is_rare = len(counts) > 1 and counts.min() < RARE * counts.sum()
    goal = "balanced_accuracy  # each class counts the same, however rare" if is_rare else "accuracy"
    group = next((name for name in table.columns if name.casefold() in GROUPS and name != target.name), None)
    fair = f"\n# require parity_gap({spell_name(group)}) <= 5%  # equal rates of predictions" if group else ""
    return f"maximize {goal}\n{sizes}{fair}"


def _kind(column: Column) -> str:
    return "category" if column.type == "text" else column.type


def _is_identifier(column: Column) -> bool:
    """Does every row have another whole number, as if it were its number?"""
    if column.type != "integer" or column.missing is not None or len(column.values) < 10:
        return False
    words = column.name.casefold().replace("-", "_").replace(" ", "_").split("_")
    return bool({"id", "index", "nr", "no", "number", "row"} & set(words)) and (
        len(np.unique(column.values)) == len(column.values)
    )


def _told(column: Column, rows: int) -> str:
    """`29 .. 77`, or the levels, most frequent first."""
    known = column.values if column.missing is None else column.values[~column.missing]
    if not len(known):
        return "every value is missing"
    if column.is_number:
        different = len(np.unique(known))
        return f"{label_text(known.min())} .. {label_text(known.max())}, {different} different values"
    if column.type == "text":
        return f"{len(column.levels)} different texts in {rows} rows: not used"
    counts = Counter(known.tolist()).most_common()
    return listed([f"{shown(label_text(column.levels[code]), 30)} ({_rows(count)})" for code, count in counts], 6)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _no_column(target: str, table: Table, data: Path) -> Diagnostic:
    close = nearest(target, table.columns)
    return Diagnostic(
        "D402",
        f"{data.name} has no column `{target}`",
        notes=(f"it has {listed(list(table.columns))}",),
        helps=(f"did you mean `{close}`?",) if close else (),
        place="--predict",
    )
