"""An entry-point group -> the plug-ins that installed packages add to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points


def installed(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name, without loading any of them.

    Searching the installed packages takes longer than many a solve, so it is repeated only after a folder of `sys.path`
    has changed.
    """
    return _installed(group, tuple(map(_folder_state, sys.path)))


def package_of(entry: EntryPoint) -> str:
    """The name of the package that declares an entry point, for messages."""
    return entry.dist.name if entry.dist is not None else entry.value.partition(".")[0].partition(":")[0]


@lru_cache(maxsize=8)
def _installed(group: str, folders: tuple[tuple[str, int], ...]) -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=group)}


def _folder_state(folder: str) -> tuple[str, int]:
    """A folder, and when an entry was last added to it or removed from it."""
    try:
        return folder, os.stat(folder or ".").st_mtime_ns
    except OSError:
        return folder, 0
