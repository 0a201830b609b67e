"""An answer, verified -> what a user gets: status, values in the user's sense, the tree, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Progress, Status, Stop

if TYPE_CHECKING:
    from treeml.lang.diagnostic import Diagnostic
    from treeml.tree import Tree
    from treeml.validation import Validation
    from treeml.verify import Verification

Number = int | float


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The answer to one spec. Values are in the user's sense: an accuracy is an accuracy, not a negated error.

    `objective`, `bound` and `measures` are plain numbers for reading; `exact` holds them as fractions, together with
    every requirement's value and slack, as `verify` recomputed them from the rows.
    """

    status: Status
    stop: Stop
    backend: str
    tree: Tree | None = None
    objective: Number | tuple[Number, ...] | None = None
    bound: Number | None = None
    gap: float | None = None
    verified: bool = False
    seconds: float = 0.0
    build_seconds: float = 0.0
    measures: Mapping[str, Number] = field(default_factory=dict)
    exact: Verification | None = None
    conflict: tuple[str, ...] = ()
    trace: tuple[Progress, ...] = ()
    statistics: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    plan: tuple[str, ...] = ()
    raw_status: str = ""
    validation: Validation | None = None
    reports: tuple[Any, ...] = ()  # what the spec's `report` statement asks for

    @property
    def is_optimal(self) -> bool:
        return self.status is Status.OPTIMAL

    def to_json(self) -> dict[str, Any]:
        """One object for machines; its keys are documented in docs/command-line.md and only ever grow."""
        objective = list(self.objective) if isinstance(self.objective, tuple) else self.objective
        value: dict[str, Any] = {
            "status": self.status.value,
            "stop": self.stop.value,
            "backend": self.backend,
            "objective": objective,
            "bound": self.bound,
            "gap": self.gap,
            "verified": self.verified,
            "seconds": round(self.seconds, 6),
            "build_seconds": round(self.build_seconds, 6),
            "measures": dict(self.measures),
            "requirements": [] if self.exact is None else [r.to_json() for r in self.exact.requirements],
            "tree": None if self.tree is None else self.tree.to_json(),
            "conflict": list(self.conflict),
            "notes": list(self.notes),
            "plan": list(self.plan),
            "statistics": {name: plain(number) for name, number in self.statistics.items()},
            "trace": [
                {
                    "seconds": round(moment.seconds, 6),
                    "objective": None if moment.objective is None else [plain(v) for v in moment.objective],
                    "bound": None if moment.bound is None else plain(moment.bound),
                }
                for moment in self.trace
            ],
            "raw_status": self.raw_status,
        }
        if self.validation is not None:
            value["validation"] = self.validation.to_json()
        return value

    def __str__(self) -> str:
        from treeml.report import summary

        return summary(self)


def plain(value: Fraction | float | int) -> Number:
    """A number to read: whole numbers as int, all else as the nearest float."""
    if isinstance(value, float):
        return value
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else float(exact)
