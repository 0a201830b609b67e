"""An entry point of an installed package -> the export or importer that it names, or a message about the package."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import TypeVar

from treeml.lang.diagnostic import DataError, Diagnostic

AnyPlugin = TypeVar("AnyPlugin")


def load_plugin(entry: EntryPoint, kind: type[AnyPlugin], code: str, what: str) -> AnyPlugin:
    """The object of class `kind`; DataError with this code if the package does not load or names something else."""
    try:
        found = entry.load()
    except Exception as error:  # code of another package may raise anything
        raise DataError(_does_not_load(entry, code, what, f"{type(error).__name__}: {error}")) from error
    if not isinstance(found, kind):
        reason = f"it is of type {type(found).__name__}, not {kind.__name__}"
        raise DataError(_does_not_load(entry, code, what, reason))
    return found


def _does_not_load(entry: EntryPoint, code: str, what: str, reason: str) -> Diagnostic:
    package = entry.dist.name if entry.dist is not None else "treeml"
    return Diagnostic(
        code,
        f"the {what} `{entry.name}` does not load",
        notes=(f"`{entry.value}` of the package {package}: {reason}",),
        helps=(f"update or remove the package {package}",),
    )
