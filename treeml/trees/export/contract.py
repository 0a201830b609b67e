"""What an export is: a name, file endings, and a function that writes a tree.

An export is one module. An installed package adds its own by declaring it in the entry-point group `treeml.exports`:

    # my_package/table.py
    from treeml.export import Export

    def write(tree):
        return "\\n".join(f"{leaf.prediction}: {leaf.rows} rows" for leaf in tree.leaves)

    EXPORT = Export("table", (".txt",), write)

    # pyproject.toml of my_package
    [project.entry-points."treeml.exports"]
    table = "my_package.table:EXPORT"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treeml.trees.forest import Forest
    from treeml.trees.tree import Tree


@dataclass(frozen=True, slots=True)
class ShownRows:
    """Rows that a drawing shows: the path of one, and how many spread at every node; and where its root is."""

    row: Any = None
    data: Any = None
    sideways: bool = False  # the root at the left, and not at the top


NO_ROWS = ShownRows()


@dataclass(frozen=True, slots=True)
class Export:
    """One form in which trees are written for other programs.

    `write` returns text, or bytes if the form is not text. `write_forest` does the same for a forest; an export without
    it refuses forests. `write_rows` does the same with rows to show, or sideways; an export without it refuses that.

    >>> from treeml.export import Export
    >>> Export("leaf count", (".txt",), lambda tree: str(len(tree.leaves))).write(tree)
    '3'
    """

    name: str
    endings: tuple[str, ...]  # of files that hold this form, such as ".sql"; the first is suggested to users
    write: Callable[[Tree], str | bytes]
    write_forest: Callable[[Forest], str | bytes] | None = None
    write_rows: Callable[[Tree | Forest, ShownRows], str | bytes] | None = None
