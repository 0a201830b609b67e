"""A text or an object -> the importer that recognizes it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Any

from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.system.plugins import installed, package_of
from treeml.trees.importing import estimator, iti, tree_json, weka
from treeml.trees.importing.contract import Importer

GROUP = "treeml.importers"

# The only list of the project's own importers, in the order in which they are asked; Weka's takes any text.
BUILT_IN = (estimator.IMPORTER, tree_json.IMPORTER, iti.IMPORTER, weka.IMPORTER)


def importer_of(source: Any) -> Importer | None:
    """The first importer that recognizes the text of a file, or an object; None if there is none."""
    return next((importer for importer in importers() if importer.recognizes(source)), None)


def importers() -> Iterator[Importer]:
    """Those of installed packages by name, then the project's own."""
    for _, entry in sorted(installed(GROUP).items()):
        yield _load(entry)
    yield from BUILT_IN


def _load(entry: EntryPoint) -> Importer:
    try:
        found = entry.load()
    except Exception as error:  # code of another package may raise anything
        raise DataError(_does_not_load(entry, f"{type(error).__name__}: {error}")) from error
    if not isinstance(found, Importer):
        raise DataError(_does_not_load(entry, f"it is of type {type(found).__name__}, not an Importer"))
    return found


def _does_not_load(entry: EntryPoint, reason: str) -> Diagnostic:
    package = package_of(entry)
    return Diagnostic(
        "D481",
        f"the importer `{entry.name}` does not load",
        notes=(f"`{entry.value}` of the package {package}: {reason}",),
        helps=(f"update or remove the package {package}",),
    )
