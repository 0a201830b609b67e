"""Goal depth, with the native search: build the tree again quickly, make it shallower, then save leaves at that depth.

The last phase needs little time, and without it the tree of a search that ran out of time would have more leaves than
it needs, so a share of the time is kept for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from treeml.backends.contract import Deadline
from treeml.backends.improve.depth import Shallower
from treeml.backends.improve.rebuild import QUICK, THOROUGH, Rebuild
from treeml.backends.improve.vertices import Vertex

FIRST_SHARE = 0.05  # of the time, for the quick start
MAIN_SHARE = 0.9  # of the time, until the last phase begins


@dataclass(slots=True)
class DepthSearch:
    """The phases of one search; without `rebuild` it is the main phase alone."""

    shallower: Shallower
    deadline: Deadline
    rebuild: Callable[[tuple[int, ...]], Rebuild] | None
    rebuilt: bool = field(init=False, default=False)  # is the last replacement a tree that was built again?
    phases: list[tuple[Rebuild | Shallower, Deadline]] = field(init=False)
    ended: int = field(init=False, default=0)  # the number of phases that have ended

    def __post_init__(self) -> None:
        self.phases = [(self.shallower, self.deadline)]
        if self.rebuild is not None:
            left = self.deadline.left()
            self.phases = [
                (self.rebuild(QUICK), Deadline.after(FIRST_SHARE * left)),
                (self.shallower, Deadline.after(MAIN_SHARE * left)),
                (self.rebuild(THOROUGH), self.deadline),
            ]

    def next(self, root: Vertex, deadline: Deadline) -> tuple[Vertex, Vertex] | None:
        """The replacement of the first phase that has one; the caller's deadline is the last of the phases'."""
        while self.ended < len(self.phases):
            phase, until = self.phases[self.ended]
            found = phase.next(root, Deadline(min(until.at, deadline.at)))
            if found is not None:
                self.rebuilt = isinstance(phase, Rebuild)
                return found
            self.ended += 1
        return None

    def reject(self, vertex: Vertex) -> None:
        """Its replacement is not wanted: a requirement would be broken, or another goal would get worse."""
        if not self.rebuilt:
            self.shallower.settled.note(vertex, self.shallower.inner.levels, False)

    @property
    def is_over(self) -> bool:
        """Was every instance within reach tried with the greatest effort? Leaves do not count: they are no goal."""
        return self.shallower.is_over

    @property
    def tried(self) -> int:
        return sum(phase.tried for phase, _ in self.phases)

    @property
    def proofs(self) -> int:
        return self.shallower.proofs

    @property
    def unproved(self) -> int:
        return self.shallower.unproved

    @property
    def failures(self) -> Sequence[str]:
        return self.shallower.failures

    @property
    def refused(self) -> Sequence[str]:
        return self.shallower.refused
