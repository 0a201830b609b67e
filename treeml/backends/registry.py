"""A name -> the back-end that answers to it.

Back-ends are found through the entry-point group `treeml.backends`, the project's own as well as those of other
packages. Listing names imports none of them, and importing one does not import its solver.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeGuard

from treeml.backends.contract import Backend
from treeml.lang.diagnostic import BackendError, Diagnostic, RefusedError
from treeml.lang.suggest import did_you_mean

GROUP = "treeml.backends"

# What pyproject.toml lists in the group, for a checkout that is not installed; a test keeps the two equal.
BUILT_IN: Mapping[str, str] = {
    "native": "treeml.backends.native.backend:NativeBackend",
    "oracle": "treeml.backends.oracle.backend:OracleBackend",
    "cart": "treeml.backends.heuristics.cart:CartBackend",
    "cpsat": "treeml.backends.solvers.cpsat:CpSatBackend",
    "mip": "treeml.backends.solvers.mip:MipBackend",
    "maxsat": "treeml.backends.solvers.maxsat:MaxSatBackend",
    "sat": "treeml.backends.solvers.sat:SatBackend",
    "parameterized": "treeml.backends.parameterized.backend:ParameterizedBackend",
    "race": "treeml.backends.race:RaceBackend",
    "improve": "treeml.backends.improve.backend:ImproveBackend",
}

# The order in which a problem without `solve with` is offered; a greedy tree is nobody's answer unless asked for.
PREFERENCE = ("native", "cpsat", "mip", "maxsat", "oracle")
ONLY_WHEN_ASKED = frozenset({"parameterized", "cart", "race", "improve"})


def names() -> tuple[str, ...]:
    """Every registered name: those of the stated order first, then the others by the alphabet."""
    return tuple(sorted(_entries(), key=_rank))


def get(name: str) -> Backend:
    """The back-end of this name, or an error that says which names there are, or why this one does not load."""
    entry = _own()[name] if name in BUILT_IN else _entries().get(name)
    if entry is None:
        raise RefusedError(_unknown(name))
    problem = _load(name, entry)
    if isinstance(problem, Diagnostic):
        raise BackendError(problem)
    return problem


def all() -> tuple[Backend, ...]:
    """Every registered back-end that loads, in the order of `names`; `broken` tells of the others."""
    loaded = (_load(name, entry) for name, entry in _sorted_entries())
    return tuple(backend for backend in loaded if not isinstance(backend, Diagnostic))


def broken() -> tuple[Diagnostic, ...]:
    """One diagnostic for every registered back-end that does not load."""
    loaded = (_load(name, entry) for name, entry in _sorted_entries())
    return tuple(problem for problem in loaded if isinstance(problem, Diagnostic))


def _rank(name: str) -> tuple[int, str]:
    return (PREFERENCE.index(name) if name in PREFERENCE else len(PREFERENCE), name)


def _sorted_entries() -> list[tuple[str, EntryPoint]]:
    return sorted(_entries().items(), key=lambda item: _rank(item[0]))


def _entries() -> dict[str, EntryPoint]:
    """The project's own names are its own: another package cannot take `oracle` over."""
    # Looking through the installed packages takes longer than many a solve: it is done anew when one came or went.
    return {**_found(entry_points, tuple(map(_changed, sys.path))), **_own()}


@lru_cache(maxsize=1)
def _found(look: Callable[..., Iterable[EntryPoint]], folders: tuple[tuple[str, int], ...]) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in look(group=GROUP)}


def _changed(folder: str) -> tuple[str, int]:
    """A folder, and when something was last put into it or taken out."""
    try:
        return folder, os.stat(folder or ".").st_mtime_ns
    except OSError:
        return folder, 0


@lru_cache(maxsize=1)
def _own() -> dict[str, EntryPoint]:
    return {name: EntryPoint(name, target, GROUP) for name, target in BUILT_IN.items()}


def _load(name: str, entry: EntryPoint) -> Backend | Diagnostic:
    try:
        kind = _named(entry)
        backend = kind() if isinstance(kind, type) else kind
    except Exception as error:  # another package's code: whatever it raises is its message, not our crash
        return _does_not_load(name, entry, f"{type(error).__name__}: {error}")
    if not _keeps_contract(backend):
        wanted = ("name", "summary", "can", "options", "missing", "version", "refusals", "solve")
        lacks = ", ".join(word for word in wanted if not hasattr(backend, word))
        return _does_not_load(name, entry, f"it lacks {lacks}, which the contract asks for")
    if backend.name != name:
        return _does_not_load(name, entry, f"it is registered as `{name}` and calls itself `{backend.name}`")
    return backend


@lru_cache(maxsize=64)
def _named(entry: EntryPoint) -> Any:
    return entry.load()


_KEEP_IT: set[type] = set()  # looking a protocol's members up takes a tenth of a small solve


def _keeps_contract(backend: Any) -> TypeGuard[Backend]:
    kind = type(backend)
    if kind not in _KEEP_IT and isinstance(backend, Backend):
        _KEEP_IT.add(kind)
    return kind in _KEEP_IT


def _does_not_load(name: str, entry: EntryPoint, reason: str) -> Diagnostic:
    package = entry.dist.name if entry.dist is not None else "treeml"
    return Diagnostic(
        "B504",
        f"the back-end `{name}` does not load",
        notes=(f"`{entry.value}` of the package {package}: {reason}",),
        helps=(f"update or remove the package {package}", "`treeml backends` lists the others"),
    )


def _unknown(name: str) -> Diagnostic:
    known = names()
    return Diagnostic(
        "B502",
        f"no back-end is called `{name}`",
        notes=("back-ends are " + ", ".join(known),),
        helps=(*did_you_mean(name, known), "`treeml backends` says what each can do"),
    )
