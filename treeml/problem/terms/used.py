"""The number of features that a tree tests."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.problem.grid import Grid, counting
from treeml.problem.terms.base import Locality, Part, Term
from treeml.problem.terms.recurrence import Recurrence

if TYPE_CHECKING:
    from treeml.problem.evaluate import Routed
    from treeml.problem.problem import Problem


@dataclass(frozen=True, eq=False, slots=True)
class Used(Term):
    """How many of these features the tree tests."""

    features: frozenset[int]

    phrase: ClassVar[str] = "the number of columns used"
    locality: ClassVar[Locality] = Locality.ONCE
    merges_rows: ClassVar[bool] = True
    merges_tests: ClassVar[bool] = True
    is_count: ClassVar[bool] = True

    def value(self, routed: Routed) -> Fraction:
        return Fraction(len(self.features & routed.features))

    def recurrence(self) -> type[Recurrence]:
        return UsedRecurrence

    def restricted(self, part: Part) -> Used:
        """A feature that is tested elsewhere is counted there."""
        return Used(self.features - part.outside)

    def distinguished_features(self) -> frozenset[int]:
        return self.features

    def grid(self, problem: Problem) -> Grid:
        return counting(0, len(self.features))

    def to_json(self) -> dict[str, Any]:
        return {"features": sorted(self.features)}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Used:
        return cls(frozenset(fields["features"]))


class UsedRecurrence(Recurrence):
    """The value is the set of features, ordered by inclusion: a tree that uses a subset uses no more features."""

    def at_leaf(self, mask: int, label: int) -> frozenset[int]:
        return frozenset()

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return yes | no | ({self.problem.tests[test].feature} & self.term.features)

    def number(self, value: frozenset[int]) -> Fraction:
        return Fraction(len(value))
