"""A text or an object -> the importer that recognizes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from treeml.lang.plugins import installed
from treeml.trees.importing import estimator, iti, tree_json, tree_set_json, weka
from treeml.trees.importing.contract import Importer
from treeml.trees.plugin_loading import load_plugin

GROUP = "treeml.importers"

# The only list of the project's own importers, in the order in which they are asked; Weka's takes any text.
BUILT_IN = (estimator.IMPORTER, tree_set_json.IMPORTER, tree_json.IMPORTER, iti.IMPORTER, weka.IMPORTER)


def importer_of(source: Any) -> Importer | None:
    """The first importer that recognizes the text of a file, or an object; None if there is none."""
    return next((importer for importer in importers() if importer.recognizes(source)), None)


def importers() -> Iterator[Importer]:
    """Those of installed packages by name, then the project's own."""
    for _, entry in sorted(installed(GROUP).items()):
        yield load_plugin(entry, Importer, "D481", "importer")
    yield from BUILT_IN
