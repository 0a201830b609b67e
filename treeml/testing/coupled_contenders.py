"""The number of a case -> the back-ends, with their options, that solve it beside those that were asked for.

General solvers are slower than `native` by orders of magnitude, so each case goes to one of them only, and most cases
to none; the numbers of cases decide, so that every run over enough of them meets every solver in every variant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from treeml.backends import registry
from treeml.backends.contract import NO_OPTIONS, Backend
from treeml.backends.options import settle
from treeml.backends.oracle.backend import OracleBackend

EVERY = 3  # one case in every three is also given to another back-end


@dataclass(frozen=True, slots=True)
class Contender:
    """A back-end and the options that it is run with."""

    backend: Backend
    options: Mapping[str, Any] = field(default_factory=lambda: NO_OPTIONS)
    threads: int = 1

    @property
    def name(self) -> str:
        given = {**self.options, **({"threads": self.threads} if self.threads > 1 else {})}
        said = ", ".join(f"{name} = {_text(value)}" for name, value in given.items())
        return f"{self.backend.name}({said})" if said else self.backend.name


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def contender(text: str) -> Contender:
    """The back-end of a name with options, as in `mip(solver = scip)`."""
    name, _, rest = text.partition("(")
    backend = registry.get(name)
    pairs = [part.partition("=") for part in rest.rstrip(")").split(",") if part.strip()]
    options = settle(backend, {key.strip(): _value(value.strip()) for key, _, value in pairs})
    return Contender(backend, options, options.pop("threads", 1))


def _value(text: str) -> Any:
    return {"true": True, "false": False}.get(text, int(text) if text.isdigit() else text)


def others() -> Sequence[Contender]:
    """Every back-end but `native`, the oracle and races: as it is, in its variants, and in two of them at once."""
    return [
        contender(f"{backend.name}({options})")
        for backend in registry.all()
        if backend.name not in (registry.default_name(), OracleBackend.name)
        and not (backend.can.runs_others and backend.can.proves)
        for options in ("", *backend.can.variants, *_pairs(backend.can.variants))
    ]


def _pairs(variants: Sequence[str]) -> list[str]:
    """Two variants at once, where they set different options."""
    return [
        f"{one}, {other}"
        for one, other in combinations(variants, 2)
        if one.partition("=")[0].strip() != other.partition("=")[0].strip()
    ]


def other_for(number: int, among: Sequence[Contender]) -> list[Contender]:
    """The one that solves the case of this number, too; mostly none."""
    return [] if number % EVERY or not among else [among[number // EVERY % len(among)]]
