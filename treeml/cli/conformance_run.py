"""The name of a back-end -> its outcome on every case of the conformance suite, and its faults."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from treeml.backends import registry
from treeml.backends.contract import Backend
from treeml.lang.diagnostic import BackendError, Diagnostic, SpecError
from treeml.lang.suggest import did_you_mean
from treeml.solving.report import table_text
from treeml.testing.cases import cases
from treeml.testing.matrix import Cell, cells, deviation


@dataclass(frozen=True, slots=True)
class FinishedConformance:
    rows: list[dict[str, str]]
    text: str
    faults: list[str]  # wrong answers; for a back-end of this project also every deviation from the stored matrix


def conform(name: str, only: Sequence[str] = ()) -> FinishedConformance:
    """Run the cases, all or `only` some."""
    backend = _found(name)
    missing = backend.missing()
    if missing is not None:
        raise BackendError(Diagnostic("B504", f"{name} cannot run here", notes=(missing,)))
    known = [case.name for case in cases()]
    for case in only:
        if case not in known:
            raise SpecError(
                Diagnostic("N215", f"no case is called `{case}`", place="--case", helps=did_you_mean(case, known))
            )
    found = list(cells([backend], only))
    rows = [{"case": each.case, "outcome": each.text} for each in found]
    counts = {word: sum(_kind(each) == word for each in found) for word in ("solved", "refused", "open", "wrong")}
    summary = f"{backend.name}: " + ", ".join(f"{number} {word}" for word, number in counts.items())
    faults = [f"{each.case}: {each.text}" for each in found if each.is_wrong]
    if registry.BUILT_IN.get(backend.name, "").endswith(f":{type(backend).__name__}"):
        faults += [said for each in found if not each.is_wrong and (said := deviation(each)) is not None]
    return FinishedConformance(rows, f"{table_text(rows)}\n\n{summary}", faults)


def _kind(cell: Cell) -> str:
    first = cell.text.partition(":")[0]
    return first if first in ("refused", "open", "wrong") else "solved"


def _found(name: str) -> Backend:
    """A registered back-end, or one in a module that can be imported from the current folder."""
    if ":" not in name:
        return registry.get(name)
    module, _, word = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = getattr(import_module(module), word)
        backend = found() if isinstance(found, type) else found
    except Exception as error:  # foreign code: any exception becomes the message
        notes = (f"{type(error).__name__}: {error}",)
        raise BackendError(Diagnostic("B504", f"the back-end `{name}` does not load", notes=notes)) from error
    if not isinstance(backend, Backend):
        lacks = "it is not what the contract in treeml/backends/contract.py asks for"
        raise BackendError(Diagnostic("B504", f"the back-end `{name}` does not load", notes=(lacks,)))
    return backend
