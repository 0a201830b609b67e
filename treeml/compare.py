"""Model, back-ends -> the same problem solved by each, side by side, with every proof held against the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Status
from treeml.lang.diagnostic import BackendError, Diagnostic, RefusedError

if TYPE_CHECKING:
    from treeml.model import Model
    from treeml.result import Result


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One back-end's line: its result, or why it took no part."""

    backend: str
    result: Result | None = None
    because: str = ""

    def to_json(self) -> dict[str, Any]:
        if self.result is None:
            return {"backend": self.backend, "refused": True, "because": self.because}
        return self.result.to_json()


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    entries: tuple[Entry, ...]

    @property
    def best(self) -> Result | None:
        """A proved result if there is one, else the first with a tree."""
        results = [entry.result for entry in self.entries if entry.result is not None and entry.result.tree is not None]
        return next((result for result in results if result.is_optimal), results[0] if results else None)

    def to_json(self) -> list[dict[str, Any]]:
        return [entry.to_json() for entry in self.entries]

    def raise_contradictions(self) -> None:
        """BackendError if two proofs differ, or if a tree is better than a proof allows."""
        proved = [entry for entry in self.entries if entry.result is not None and _is_proof(entry.result)]
        for entry in proved[1:]:
            if _proof(entry.result) != _proof(proved[0].result):
                raise BackendError(_contradiction(proved[0], entry))
        for entry in self.entries:
            if proved and entry.result is not None and _is_better(entry.result, proved[0].result):
                raise BackendError(_contradiction(proved[0], entry))


def compare(model: Model, data: Any = None, backends: Sequence[str] | None = None, **asked: Any) -> Comparison:
    """Every capable back-end in turn, or those named; refusals are part of the answer."""
    from treeml.backends import registry
    from treeml.pipeline import solve
    from treeml.request import prepare, refuse_unsupported

    _, request = prepare(model, data, **{name: value for name, value in asked.items() if name != "on_progress"})
    refuse_unsupported(request.spec)
    entries = []
    for name in backends if backends is not None else registry.names():
        try:
            entries.append(Entry(name, solve(model, data, backend=name, **asked)))
        except RefusedError as refusal:
            because = "; ".join(dict.fromkeys(diagnostic.title for diagnostic in refusal.diagnostics))
            entries.append(Entry(name, None, because))
    return Comparison(tuple(entries))


def _is_proof(result: Result) -> bool:
    return result.status in (Status.OPTIMAL, Status.INFEASIBLE)


def _proof(result: Result | None) -> Any:
    """What was proved: a value, to the tolerance of real-valued objectives, or that there is no tree."""
    if result is None or result.status is Status.INFEASIBLE or result.exact is None:
        return "infeasible"
    return tuple(round(float(value), 6) for value in result.exact.objective)


def _is_better(result: Result, proved: Result | None) -> bool:
    """Is a tree better than what another back-end proved to be best?"""
    if proved is None or result.exact is None:
        return False
    if proved.exact is None:
        return True
    for mine, best in zip(result.exact.goals, proved.exact.goals, strict=True):
        difference = float(mine.value - best.value) * (1 if mine.sense == "minimize" else -1)
        if abs(difference) > 1e-6 * max(1.0, abs(float(best.value))):
            return difference < 0
    return False


def _contradiction(one: Entry, other: Entry) -> Diagnostic:
    def claim(entry: Entry) -> str:
        result = entry.result
        assert result is not None
        return f"{entry.backend} says {result.status.value}" + (
            "" if result.exact is None else f" with {', '.join(str(float(v)) for v in result.exact.objective)}"
        )

    return Diagnostic(
        "B517",
        f"{one.backend} and {other.backend} contradict each other",
        notes=(claim(one), claim(other)),
        helps=("one of the two is wrong: please report it with the spec and the data",),
    )
