"""A wrong spec -> the exact text of all that is said about it.

`python tests/bad/bad_specs.py` writes the .txt beside every .tml anew, to be read before it is committed. A first line
`# --set name=value` in a spec gives params.
"""

from __future__ import annotations

import re
from contextlib import chdir
from functools import cache
from pathlib import Path

from treeml.lang.check import check_source
from treeml.lang.diagnostic import Diagnostic, SpecError
from treeml.lang.render import render
from treeml.lang.source_file import read

FOLDER = Path(__file__).resolve().parent


def specs() -> list[Path]:
    return sorted(FOLDER.glob("*.tml"))


@cache
def diagnostics(path: Path) -> list[Diagnostic]:
    """All that `treeml check` says, called in the folder of the spec."""
    with chdir(path.parent):
        try:
            source = read(path.name)
        except SpecError as error:
            return list(error.diagnostics)
        bindings = dict(re.findall(r"--set (\w+)=(\S+)", source.line(1)))
        return check_source(source, bindings)[1]


def rendered(path: Path, format: str = "full") -> str:
    return "\n\n".join(render(diagnostic, format) for diagnostic in diagnostics(path)) + "\n"


if __name__ == "__main__":
    for spec in specs():
        spec.with_suffix(".txt").write_text(rendered(spec), encoding="utf-8")
