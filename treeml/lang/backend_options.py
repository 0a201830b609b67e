"""The name of a back-end -> the options it takes, without importing it.

Back-ends import numpy, and some import a C library; checking a spec must not. What the built-in back-ends declare is
therefore stored in backend_options.json, which `python -m treeml.backends.options_table` writes and a test compares
with the back-ends. A back-end that reads its options from a library has `null` there; they are checked when it runs.
A back-end of another package is loaded and asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from treeml.lang.plugins import BACKENDS, installed

TABLE = Path(__file__).with_name("backend_options.json")


@dataclass(frozen=True, slots=True)
class BackendOption:
    """One option, as far as a written value can be checked against it."""

    type: str  # int, float, bool or str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    writes: bool = False  # it names a file


def backend_names() -> tuple[str, ...]:
    """The back-ends of this project and those of other installed packages."""
    own = _table()["backends"]
    return (*own, *(name for name in installed(BACKENDS) if name not in own))


def is_backend(name: str) -> bool:
    """Searching the installed packages is slow, so it happens only if the project has no such back-end itself."""
    return name in _table()["backends"] or name in installed(BACKENDS)


def alias_of(name: str) -> str | None:
    """The back-end that other tools call by this name: `gurobi` is one of the solvers of `mip`."""
    found: str | None = _table()["aliases"].get(name.lower())
    return found


def options_of(name: str) -> Mapping[str, BackendOption] | None:
    """The options of a back-end; None if they are known only when it runs, or if it cannot be loaded."""
    if name in _table()["backends"]:
        return _own_options().get(name)
    entry = installed(BACKENDS).get(name)
    if entry is None:
        return None
    try:
        found = entry.load()
        return declared_options(found() if isinstance(found, type) else found)
    except Exception:  # another package's code: whatever it raises, the spec is not to blame
        return None


def declared_options(backend: Any) -> dict[str, BackendOption]:
    """What a back-end declares, plus `threads` if it can use several; `write` names a file if it can write one."""
    options = {
        name: BackendOption(option.type.__name__, tuple(option.choices), option.low, option.high, option.writes)
        for name, option in backend.options.items()
    }
    if backend.can.writes and "write" in options:
        options["write"] = replace(options["write"], writes=True)
    if backend.can.threads:
        options["threads"] = BackendOption("int", low=1)
    return options


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    stored: Mapping[str, Mapping[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))
    return stored


@cache
def _own_options() -> Mapping[str, Mapping[str, BackendOption]]:
    return {
        backend: {
            name: BackendOption(**{**option, "choices": tuple(option["choices"])}) for name, option in options.items()
        }
        for backend, options in _table()["backends"].items()
        if options is not None
    }
