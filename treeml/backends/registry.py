"""Name -> back-end: the only list of back-ends.

Back-ends of this and of other packages are found through the entry-point group `treeml.backends`. Listing names imports
no back-end, and importing a back-end does not import its solver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint
from typing import Any, TypeGuard

from treeml.backends.contract import Backend
from treeml.lang.diagnostic import BackendError, Diagnostic, RefusedError
from treeml.lang.identity import Same
from treeml.lang.plugins import BACKENDS, installed
from treeml.lang.suggest import did_you_mean

GROUP = BACKENDS

# The entries of pyproject.toml in this group, so that a checkout works without being installed; a test compares them.
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

# A problem that names no back-end is offered to these first, in this order, then to others that are `can.automatic`.
PREFERENCE = ("native", "cpsat", "mip", "maxsat", "oracle")
CONTRACT = tuple(word for word in (*Backend.__annotations__, *vars(Backend)) if not word.startswith("_"))


def names() -> tuple[str, ...]:
    """Every registered name: first those in PREFERENCE, then the others in alphabetical order."""
    return tuple(sorted(_entries(), key=_rank))


def get(name: str) -> Backend:
    """The back-end of this name; raises an error that lists the names there are, or says why this one does not load."""
    entry = _own()[name] if name in BUILT_IN else _entries().get(name)
    if entry is None:
        raise RefusedError(_unknown(name))
    problem = _load(name, entry)
    if isinstance(problem, Diagnostic):
        raise BackendError(problem)
    return problem


def all() -> tuple[Backend, ...]:
    """Every registered back-end that loads, in the order of `names`; `broken` reports the others."""
    loaded = (_load(name, entry) for name, entry in _sorted_entries())
    return tuple(backend for backend in loaded if not isinstance(backend, Diagnostic))


def automatic() -> Iterator[Backend]:
    """The back-ends that may be chosen for a problem that names none, in the order in which they are tried.

    Each is loaded when it is its turn: mostly the first one takes the problem.
    """
    loaded = (_load(name, entry) for name, entry in _sorted_entries())
    return (backend for backend in loaded if not isinstance(backend, Diagnostic) and backend.can.automatic)


def default_name() -> str:
    """The back-end that is tried first."""
    return PREFERENCE[0]


def names_of_single() -> tuple[str, ...]:
    """The names of all back-ends except those that run others; one that does not load is among them."""
    loaded = ((name, _load(name, entry)) for name, entry in _sorted_entries())
    return tuple(name for name, each in loaded if isinstance(each, Diagnostic) or not each.can.runs_others)


def broken() -> tuple[Diagnostic, ...]:
    """One diagnostic for every registered back-end that does not load."""
    loaded = (_load(name, entry) for name, entry in _sorted_entries())
    return tuple(problem for problem in loaded if isinstance(problem, Diagnostic))


def _rank(name: str) -> tuple[int, str]:
    return (PREFERENCE.index(name) if name in PREFERENCE else len(PREFERENCE), name)


def _sorted_entries() -> tuple[tuple[str, EntryPoint], ...]:
    return _in_order(Same(installed(GROUP)))


@lru_cache(maxsize=4)
def _in_order(others: Same[Mapping[str, EntryPoint]]) -> tuple[tuple[str, EntryPoint], ...]:
    return tuple(sorted(_with_own(others.kept).items(), key=lambda item: _rank(item[0])))


def _entries() -> dict[str, EntryPoint]:
    return _with_own(installed(GROUP))


def _with_own(others: Mapping[str, EntryPoint]) -> dict[str, EntryPoint]:
    """All entry points by name. A built-in name always wins: another package cannot replace `oracle`."""
    return {**others, **_own()}


@lru_cache(maxsize=1)
def _own() -> dict[str, EntryPoint]:
    return {name: EntryPoint(name, target, GROUP) for name, target in BUILT_IN.items()}


def _load(name: str, entry: EntryPoint) -> Backend | Diagnostic:
    try:
        kind = _named(entry)
        backend = kind() if isinstance(kind, type) else kind
    except Exception as error:  # foreign code: report whatever it raises instead of crashing
        return _does_not_load(name, entry, f"{type(error).__name__}: {error}")
    if not _meets_contract(backend):
        lacks = ", ".join(word for word in CONTRACT if not hasattr(backend, word))
        reason = f"it lacks {lacks}, which the contract asks for (`BackendBase` supplies defaults)"
        return _does_not_load(name, entry, reason)
    if backend.name != name:
        return _does_not_load(name, entry, f"it is registered as `{name}` and calls itself `{backend.name}`")
    return backend


@lru_cache(maxsize=64)
def _named(entry: EntryPoint) -> Any:
    return entry.load()


_CHECKED: set[type] = set()  # a protocol check costs a tenth of a small solve, so each class is checked once


def _meets_contract(backend: Any) -> TypeGuard[Backend]:
    kind = type(backend)
    if kind not in _CHECKED and isinstance(backend, Backend):
        _CHECKED.add(kind)
    return kind in _CHECKED


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
