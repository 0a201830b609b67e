"""The name of an entry-point group -> what installed packages register there, found without importing any of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BACKENDS = "treeml.backends"
MEASURES = "treeml.measures"
CRITERIA = "treeml.criteria"


def installed(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name. Looking takes milliseconds, so it is repeated only after a change."""
    return _found(group, tuple(map(_last_change, sys.path)))


def resolve(reference: str | Callable[..., Any]) -> Callable[..., Any]:
    """A function, given as itself or as "module:function", whose module is imported at the first use."""
    return _imported(reference) if isinstance(reference, str) else reference


@lru_cache(maxsize=16)
def _found(group: str, folders: tuple[tuple[str, int], ...]) -> Mapping[str, EntryPoint]:
    from importlib.metadata import entry_points  # imported here: start-up time

    return {entry.name: entry for entry in entry_points(group=group)}


def _last_change(folder: str) -> tuple[str, int]:
    """A folder, and when an entry was last added to it or removed from it."""
    try:
        return folder, os.stat(folder or ".").st_mtime_ns
    except OSError:
        return folder, 0


@lru_cache(maxsize=256)
def _imported(reference: str) -> Callable[..., Any]:
    module, _, name = reference.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found
