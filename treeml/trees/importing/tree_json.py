"""The project's own JSON -> a Tree."""

from __future__ import annotations

from typing import Any

from treeml.data.table import Dataset
from treeml.trees.importing.contract import Importer, Origin
from treeml.trees.tree import Tree


def recognizes(source: Any) -> bool:
    """Any JSON object or list: a message then says what is missing for a tree."""
    return isinstance(source, str) and source.lstrip()[:1] in ("{", "[")


def read(source: str, origin: Origin, dataset: Dataset) -> Tree:
    """The tree in a JSON text, or in the result that holds it."""
    return Tree.from_json(source, origin.name)


IMPORTER = Importer("TreeML", recognizes, read)
