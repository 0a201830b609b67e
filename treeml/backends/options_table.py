"""The built-in back-ends -> treeml/lang/backend_options.json, from which `treeml check` knows their names and options.

Run `python -m treeml.backends.options_table` after a change of a back-end's options; a test fails until that is done.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from treeml.backends.registry import BUILT_IN, get
from treeml.lang.backend_options import TABLE, declared_options


def options_table() -> dict[str, Any]:
    """The content of the file; the options of a back-end are null if it reads them from a library."""
    backends = {name: get(name) for name in sorted(BUILT_IN)}
    options = {
        name: {key: asdict(option) for key, option in declared_options(backend).items()}
        if isinstance(backend.options, dict)
        else None
        for name, backend in backends.items()
    }
    aliases = {alias: name for name, backend in backends.items() for alias in backend.can.aliases}
    return {"aliases": aliases, "backends": options}


def options_json() -> str:
    return json.dumps(options_table(), indent=1) + "\n"


def write(path: Path = TABLE) -> None:
    path.write_text(options_json(), encoding="utf-8")


if __name__ == "__main__":
    write()
