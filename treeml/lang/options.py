"""The name of a back-end -> the options that it takes, without importing it.

Back-ends import numpy, and some a library in C; checking a spec must not. So what the built-in ones declare is kept in
options.json, which `python -m treeml.lang.options` writes anew and a test compares with the back-ends themselves.
Options that are read from a library are checked when that is loaded to run. A back-end of another package is asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("options.json")


@dataclass(frozen=True, slots=True)
class Known:
    """One option, as far as a written value can be checked against it."""

    type: str  # int, float, bool or str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    writes: bool = False  # it names a file


def options_of(name: str) -> Mapping[str, Known] | None:
    """What a back-end takes; None where that shows only when it runs: it is not installed, or asks a library."""
    from treeml.backends.registry import BUILT_IN, get, names

    if name in BUILT_IN:
        return _table().get(name)
    from treeml.backends.options import taken

    if name not in names():
        return None
    try:
        return declared(taken(get(name)))
    except Exception:  # another package's code: whatever it raises, the spec is not to blame
        return None


def declared(options: Mapping[str, Any]) -> dict[str, Known]:
    """The options of a back-end in the form of the table."""
    return {
        name: Known(option.type.__name__, tuple(option.choices), option.low, option.high, option.writes)
        for name, option in options.items()
    }


@cache
def _table() -> Mapping[str, Mapping[str, Known]]:
    stored = json.loads(TABLE.read_text(encoding="utf-8"))
    return {
        backend: {
            name: Known(option["type"], tuple(option["choices"]), option["low"], option["high"], option["writes"])
            for name, option in options.items()
        }
        for backend, options in stored.items()
    }


def collected() -> dict[str, dict[str, Known]]:
    """What the built-in back-ends themselves say; those that ask a library first are left out."""
    from treeml.backends.options import taken
    from treeml.backends.registry import BUILT_IN, get

    backends = [get(name) for name in sorted(BUILT_IN)]
    return {backend.name: declared(taken(backend)) for backend in backends if isinstance(backend.options, dict)}


def write(path: Path = TABLE) -> None:
    table = {name: {key: asdict(option) for key, option in options.items()} for name, options in collected().items()}
    path.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
