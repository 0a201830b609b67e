"""The number of leaves."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from treeml.problem.grid import Grid, counting
from treeml.problem.shapes import leaves_without_answers
from treeml.problem.terms.base import Locality, Term
from treeml.problem.terms.recurrence import Recurrence

if TYPE_CHECKING:
    from treeml.problem.evaluate import Routed
    from treeml.problem.problem import Problem


@dataclass(frozen=True, eq=False, slots=True)
class Leaves(Term):
    """The number of leaves."""

    phrase: ClassVar[str] = "the number of leaves"
    locality: ClassVar[Locality] = Locality.SUM
    merges_rows: ClassVar[bool] = True
    merges_tests: ClassVar[bool] = True
    is_count: ClassVar[bool] = True

    def value(self, routed: Routed) -> Fraction:
        return Fraction(len(routed.leaves))

    def recurrence(self) -> type[Recurrence]:
        return LeavesRecurrence

    def grid(self, problem: Problem) -> Grid:
        return counting(1, leaves_without_answers(problem))

    def rough_grid(self, problem: Problem) -> tuple[Fraction, int]:
        return Fraction(1), max(1, problem.rows)

    def lower_bound(self, problem: Problem, factor: Fraction, row_by_row: bool) -> Fraction | None:
        return factor if factor >= 0 else None


class LeavesRecurrence(Recurrence):
    def at_leaf(self, mask: int, label: int) -> int:
        return 1
