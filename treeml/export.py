"""Trees and forests in the forms of other programs: `from treeml.export import export`.

    export(result.tree, "sql")

`names` lists the forms, `get` gives one, and `Export` is what a package declares to add its own.
"""

from treeml.trees.export.contract import Export
from treeml.trees.export.registry import export, get, names

__all__ = ["Export", "export", "get", "names"]
