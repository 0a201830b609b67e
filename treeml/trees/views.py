"""A row and a table of rows -> what a drawing of a tree shows of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treeml.data.table import label_text
from treeml.trees.distributions import distributions
from treeml.trees.nodes import TreeData
from treeml.trees.routing import row_sides
from treeml.trees.svg import PLAIN, DrawingView


def view_of(tree: TreeData, row: Any = None, data: Any = None, sideways: bool = False) -> DrawingView:
    """The path of `row`, and how the rows of `data` spread at every node; each only if it is given."""
    if row is None and data is None and not sideways:
        return PLAIN
    return DrawingView(
        None if row is None else row_sides(tree, row),
        {name: "missing" if row[name] is None else label_text(row[name]) for name in tree.columns if name in row}
        if isinstance(row, Mapping)
        else None,
        None if data is None else distributions(tree, data),
        sideways,
    )
