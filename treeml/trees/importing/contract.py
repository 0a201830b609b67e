"""What an importer is: it recognizes the trees of one other program, and reads them.

An importer is one module. An installed package adds its own by declaring it in the entry-point group
`treeml.importers`; `start from "file"` then reads files of its format:

    # my_package/nested.py: files such as `NESTED age 40 yes no`
    from treeml.trees.importing.contract import Importer, SketchLeaf, SketchSplit

    def recognizes(source):
        return isinstance(source, str) and source.startswith("NESTED ")

    def read(source, origin, dataset):
        _, column, threshold, below, above = source.split()
        return SketchSplit(column, "<=", threshold, SketchLeaf(below), SketchLeaf(above))

    IMPORTER = Importer("Nested", recognizes, read)

    # pyproject.toml of my_package
    [project.entry-points."treeml.importers"]
    nested = "my_package.nested:IMPORTER"

Importers of installed packages are asked before the project's own, so that they can recognize a special case of a
general form such as JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from treeml.lang.diagnostic import DataError, Diagnostic

if TYPE_CHECKING:
    from treeml.data.table import Dataset
    from treeml.trees.tree import Tree

DEEPEST = 400  # levels; a deeper text is a mistake, and would exhaust the stack


@dataclass(frozen=True, slots=True)
class SketchLeaf:
    """A leaf: the label it predicts, as text, and the line of the file it stands on."""

    label: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class SketchSplit:
    """A split: rows whose column is at most, below, or equal to the value go to the yes side."""

    column: str
    comparison: str  # "<=", "<" or "="
    value: str
    yes: Sketch
    no: Sketch
    line: int = 0


Sketch = SketchLeaf | SketchSplit  # names and texts only: the data decide what they mean


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a tree comes from, for messages."""

    name: str  # "tree.txt", "the estimator"
    program: str  # "Weka", "ITI", "scikit-learn"

    def refuse(self, code: str, title: str, line: int = 0, note: str = "", help: str = "") -> NoReturn:
        """Raise DataError with the place of the mistake."""
        place = f"{self.name}:{line}" if line else self.name
        raise DataError(
            Diagnostic(code, title, notes=(note,) if note else (), helps=(help,) if help else (), place=place)
        )


@dataclass(frozen=True, slots=True)
class Importer:
    """Reads the trees of one program.

    The source is the text of a file, or an object that Python code passed as a start. `read` returns a sketch, whose
    names and labels are then looked up in the data, or a complete Tree.
    """

    program: str  # for messages
    recognizes: Callable[[Any], bool]
    read: Callable[[Any, Origin, Dataset], Sketch | Tree]
