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
    within: float | None = None  # seconds that the call may take
    # The forest so far, over the tests of the problem. Callbacks get it; the trace does not keep it.
    weighted: tuple[tuple[Node, float], ...] = field(default=(), compare=False, repr=False)

    @property
    def line(self) -> str:
        """The text of a progress line: `round 12, margin 0.31, bound 0.33, 9 trees, 7.9 s`."""
        value = "no forest yet" if self.objective is None else f"margin {-float(self.objective[0]):.4g}"
        parts = [f"round {self.iteration}", value]
        if self.bound is not None:
            parts.append(f"bound {-float(self.bound):.4g}")
        limit = "" if self.within is None else f" of {self.within:g}"
        return ", ".join([*parts, f"{self.trees} tree{'' if self.trees == 1 else 's'}", f"{self.seconds:.1f}{limit} s"])
