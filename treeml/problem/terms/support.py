"""The rows of the smallest leaf."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.problem.grid import Grid, counting
from treeml.problem.magnitudes import added
from treeml.problem.terms.base import Locality, Term
from treeml.problem.terms.recurrence import Recurrence

if TYPE_CHECKING:
    from treeml.problem.evaluate import Routed
    from treeml.problem.problem import Problem


@dataclass(frozen=True, eq=False, slots=True)
class Support(Term):
    """The fewest of the user's rows (sum of count) in a leaf."""

    phrase: ClassVar[str] = "the rows of the smallest leaf"
    locality: ClassVar[Locality] = Locality.EXTREME
    merges_rows: ClassVar[bool] = True
    merges_tests: ClassVar[bool] = True
    is_count: ClassVar[bool] = True

    def value(self, routed: Routed) -> Fraction:
        return Fraction(min(added(routed.problem.count[rows]) for _, _, rows in routed.leaves))

    def recurrence(self) -> type[Recurrence]:
        return SupportRecurrence

    def grid(self, problem: Problem) -> Grid:
        return counting(0, added(problem.count))

    def lower_bound(self, problem: Problem, factor: Fraction, row_by_row: bool) -> Fraction | None:
        """Every leaf holds a row."""
        return factor if factor >= 0 else None


class SupportRecurrence(Recurrence):
    def at_leaf(self, mask: int, label: int) -> int:
        return sum(int(self.problem.count[row]) for row in self.rows(mask))

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return min(yes, no)
