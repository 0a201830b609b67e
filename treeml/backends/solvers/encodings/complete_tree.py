"""The complete binary tree of a depth: node t has the children 2t + 1 (yes, left) and 2t + 2 (no, right)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class CompleteTree:
    depth: int

    @property
    def branches(self) -> int:
        return (1 << self.depth) - 1

    @property
    def leaves(self) -> int:
        return 1 << self.depth

    @cached_property
    def paths(self) -> tuple[tuple[tuple[int, bool], ...], ...]:
        """For every leaf, the nodes above it, each with True if the path takes the yes side."""
        return tuple(self.path(self.branches + leaf) for leaf in range(self.leaves))

    def path(self, node: int) -> tuple[tuple[int, bool], ...]:
        steps: list[tuple[int, bool]] = []
        while node > 0:
            parent = (node - 1) // 2
            steps.append((parent, node == 2 * parent + 1))
            node = parent
        return tuple(reversed(steps))

    def level(self, node: int) -> int:
        return (node + 1).bit_length() - 1

    def under(self, node: int) -> range:
        """The leaves below a node."""
        down = self.depth - self.level(node)
        first = (node + 1 << down) - 1 - self.branches
        return range(first, first + (1 << down))

    def active_node(self, leaf: int) -> int | None:
        """The node that must be split for the leaf to exist: the last one at which its path goes right.

        At a node without a split all rows go left, so a leaf reached by left turns only always exists (None).
        """
        rights = [node for node, yes in self.paths[leaf] if not yes]
        return rights[-1] if rights else None
