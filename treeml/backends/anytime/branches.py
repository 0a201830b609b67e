"""A tree of the search: branches that know their rows and their value, so that one can be replaced by a better one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from treeml.backends.anytime.local_kernel import Rows, Value
from treeml.problem.tree import Node, Split


@dataclass(frozen=True, slots=True, eq=False)
class GrownBranch:
    """A subtree with its rows: a split with two branches, or a subtree that was solved as a whole."""

    rows: Rows
    height: int  # the levels that it may have
    value: Value
    leaves: int
    is_best: bool = False  # no branch of this height is better
    solved: Node | None = None
    test: int = -1
    yes: GrownBranch | None = None
    no: GrownBranch | None = None

    @property
    def sides(self) -> tuple[GrownBranch, GrownBranch]:
        assert self.yes is not None
        assert self.no is not None
        return self.yes, self.no

    def node(self) -> Node:
        if self.solved is not None:
            return self.solved
        yes, no = self.sides
        return Split(self.test, yes.node(), no.node())


Path = tuple[bool, ...]  # from the root: on the yes side?


def at(root: GrownBranch, path: Path) -> GrownBranch:
    for is_yes in path:
        root = root.sides[0 if is_yes else 1]
    return root


def upper_branches(root: GrownBranch, height: int) -> Iterator[tuple[Path, GrownBranch]]:
    """Every branch that may have more levels than `height`."""
    todo: list[tuple[Path, GrownBranch]] = [((), root)]
    while todo:
        path, branch = todo.pop()
        if branch.height <= height:
            continue
        yield path, branch
        if branch.solved is None:
            yes, no = branch.sides
            todo += [((*path, False), no), ((*path, True), yes)]


def replaced(root: GrownBranch, path: Path, new: GrownBranch) -> GrownBranch:
    """The tree with another branch at the end of a path."""
    if not path:
        return new
    yes, no = root.sides
    if path[0]:
        yes = replaced(yes, path[1:], new)
    else:
        no = replaced(no, path[1:], new)
    return replace(root, yes=yes, no=no, value=yes.value + no.value, leaves=yes.leaves + no.leaves)
