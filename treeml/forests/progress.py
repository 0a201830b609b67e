"""A round of column generation -> ForestProgress, as callbacks and progress lines get it."""

from __future__ import annotations

from dataclasses import dataclass, field

from treeml.backends.contract import Progress
from treeml.problem.tree import Node


@dataclass(frozen=True, slots=True)
class ForestProgress(Progress):
    """One round. As in every Progress, the objective and the bound are negated: problems are minimized."""

    iteration: int = 0
    trees: int = 0
    reduced_cost: float = 0.0
    error_rate: float = 0.0
    # The forest so far, over the tests of the problem. Callbacks get it; the trace does not keep it.
    weighted: tuple[tuple[Node, float], ...] = field(default=(), compare=False, repr=False)

    @property
    def line(self) -> str:
        """The text of a progress line."""
        value = "no forest yet" if self.objective is None else f"margin {-float(self.objective[0]):.6g}"
        bound = "" if self.bound is None else f"   bound {-float(self.bound):.6g}"
        return (
            f"{self.seconds:.1f} s   round {self.iteration}   trees {self.trees}   {value}{bound}   "
            f"reduced cost {self.reduced_cost:.3g}   training error {100 * self.error_rate:.2f} %"
        )
