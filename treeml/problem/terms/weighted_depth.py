"""The depth of a tree whose leaves stand for subtrees: every class adds levels of its own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.problem.fans import depth_of_path
from treeml.problem.grid import Grid, counting
from treeml.problem.shapes import depth_without_answers
from treeml.problem.terms.base import Term
from treeml.problem.terms.depth import DepthRecurrence
from treeml.problem.terms.recurrence import Recurrence

if TYPE_CHECKING:
    from treeml.problem.evaluate import Routed
    from treeml.problem.problem import Problem


@dataclass(frozen=True, eq=False, slots=True)
class WeightedDepth(Term):
    """The largest sum, over the leaves, of the splits above a leaf and the weight of its class (Schidler 2021)."""

    weights: tuple[int, ...]  # levels that a leaf of each class stands for; not negative

    phrase: ClassVar[str] = "depth with weights of classes"
    merges_rows: ClassVar[bool] = True
    merges_tests: ClassVar[bool] = True
    is_count: ClassVar[bool] = True

    def value(self, routed: Routed) -> Fraction:
        leaves = ((leaf.label, depth_of_path(routed.problem, path)) for leaf, path, _ in routed.leaves)
        return Fraction(max(depth + self.weights[label] for label, depth in leaves))

    def recurrence(self) -> type[Recurrence]:
        return WeightedDepthRecurrence

    def grid(self, problem: Problem) -> Grid:
        return counting(0, depth_without_answers(problem) + max(self.weights, default=0))

    def rough_grid(self, problem: Problem) -> tuple[Fraction, int]:
        return Fraction(1), max(1, problem.rows) + max(self.weights, default=0)

    def to_json(self) -> dict[str, Any]:
        return {"weights": list(self.weights)}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> WeightedDepth:
        return cls(tuple(fields["weights"]))


class WeightedDepthRecurrence(DepthRecurrence):
    def at_leaf(self, mask: int, label: int) -> int:
        return int(self.term.weights[label])
