"""The depth of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.problem.fans import depth_of_path
from treeml.problem.grid import Grid, counting
from treeml.problem.shapes import depth_without_answers
from treeml.problem.terms.base import Term
from treeml.problem.terms.recurrence import Recurrence

if TYPE_CHECKING:
    from treeml.problem.evaluate import Routed
    from treeml.problem.problem import Problem


@dataclass(frozen=True, eq=False, slots=True)
class Depth(Term):
    """The number of splits on the longest path."""

    phrase: ClassVar[str] = "depth"
    merges_rows: ClassVar[bool] = True
    merges_tests: ClassVar[bool] = True
    is_count: ClassVar[bool] = True

    def value(self, routed: Routed) -> Fraction:
        return Fraction(max(depth_of_path(routed.problem, path) for _, path, _ in routed.leaves))

    def recurrence(self) -> type[Recurrence]:
        return DepthRecurrence

    def grid(self, problem: Problem) -> Grid:
        return counting(0, depth_without_answers(problem))

    def rough_grid(self, problem: Problem) -> tuple[Fraction, int]:
        return Fraction(1), max(1, problem.rows)


class DepthRecurrence(Recurrence):
    def at_leaf(self, mask: int, label: int) -> int:
        return 0

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return 1 + max(yes, no)

    def chained(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return max(yes, no)
