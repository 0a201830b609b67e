"""A tree, requirements on every leaf -> the tree with branches cut and leaves split until every leaf keeps them.

Searches that know no such requirements are much faster, most of all on columns of numbers, and their trees often need
few changes: a pure branch has a tail of small impure leaves, or a large leaf holds too many errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from treeml.backends.anytime.coarse import quantile_tests
from treeml.backends.anytime.local_kernel import Rows, restricted_bound
from treeml.backends.anytime.proposals import Splits
from treeml.backends.heuristics.pruning import Costs, goal_costs, leaf_labels
from treeml.backends.native.goals import joinable, kind, objective_of
from treeml.problem.arrays import all_rows
from treeml.problem.evaluate import answers, meets_all
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import LeafErrors, Part, Purity, Support
from treeml.problem.tree import Leaf, Node, Split

RULES = (Purity, LeafErrors)
DEEPEST = 12  # levels of a tree with leaves that were split, if nothing limits its depth
PROMISING = 12  # splits that are tried for a leaf, with the middle of their columns

Found = tuple[Node, Fraction]  # a branch and its cost


def without_rules(problem: Problem) -> Problem | None:
    """The problem without its requirements on every leaf but their size; None if it has no others."""
    kept = tuple(bound for bound in problem.bounds if kind(bound) not in RULES)
    return None if len(kept) == len(problem.bounds) or not problem.classes else problem.asking(problem.goals, kept)


@dataclass
class LeafMending:
    """Changes trees so that every leaf keeps the requirements of an additive problem on single leaves."""

    problem: Problem

    def mended(self, tree: Node) -> Node | None:
        """The cheapest tree that was found; None if cutting and splitting does not lead to any."""
        found = self.branch(tree, all_rows(self.problem.rows), self.levels)
        return None if found is None else found[0]

    @cached_property
    def levels(self) -> int:
        deepest = self.problem.max_depth
        return DEEPEST if deepest is None else min(deepest, DEEPEST)

    @cached_property
    def rules(self) -> tuple[Bound, ...]:
        return tuple(bound for bound in self.problem.bounds if kind(bound) in (*RULES, Support))

    @cached_property
    def splits(self) -> Splits:
        return Splits(self.problem, objective_of(joinable(self.problem)))

    def branch(self, node: Node, rows: Rows, levels: int) -> Found | None:
        """The cheapest of the branch with mended sides and of a leaf in its place; if neither will do, a new branch."""
        found = [self.leaf(rows)]
        if isinstance(node, Split) and levels:
            found.append(self.joined(node, rows, levels))
        kept = [each for each in found if each is not None]
        return min(kept, key=lambda each: each[1]) if kept else self.grown(rows, levels)

    def joined(self, node: Split, rows: Rows, levels: int) -> Found | None:
        goes = answers(self.problem, node.test, rows)
        if goes.all() or not goes.any():
            return None
        yes = self.branch(node.yes, rows[goes], levels - 1)
        no = None if yes is None else self.branch(node.no, rows[~goes], levels - 1)
        return None if yes is None or no is None else (Split(node.test, yes[0], no[0]), yes[1] + no[1])

    def leaf(self, rows: Rows) -> Found | None:
        """The cheapest leaf that keeps the requirements."""
        best = leaf_labels(self.problem, [rows])[0]
        for label in sorted(range(self.problem.classes), key=lambda label: (label != best, self.cost(rows, label))):
            if self.keeps(rows, label):
                return Leaf(label), self.cost(rows, label)
        return None

    def keeps(self, rows: Rows, label: int) -> bool:
        part = Part(rows)
        bounds = tuple(restricted_bound(bound, part) for bound in self.rules)
        alone = Problem((), (), self.problem.count[rows], self.problem.classes, (), bounds)
        return meets_all(alone, Leaf(label))

    def cost(self, rows: Rows, label: int) -> Fraction:
        return Fraction(len(rows)) if self.costs is None else self.costs.leaf(rows, label)

    @cached_property
    def costs(self) -> Costs | None:
        return goal_costs(self.problem) if self.problem.goals else None

    def grown(self, rows: Rows, levels: int) -> Found | None:
        """A new branch: the cheapest split into two leaves that keep the requirements, or one whose worse side costs
        least, with sides that are split again."""
        best: Found | None = None
        evenest: tuple[Fraction, int] | None = None
        for test in self.tests(rows) if levels else ():
            goes = answers(self.problem, test, rows)
            if goes.all() or not goes.any():
                continue
            sides = rows[goes], rows[~goes]
            leaves = [self.leaf(side) for side in sides]
            yes, no = leaves
            if yes is not None and no is not None:
                if best is None or yes[1] + no[1] < best[1]:
                    best = Split(test, yes[0], no[0]), yes[1] + no[1]
            else:
                worse = max(self.cost(side, leaf_labels(self.problem, [side])[0]) for side in sides)
                evenest = (worse, test) if evenest is None or worse < evenest[0] else evenest
        if best is not None or evenest is None or levels < 2:
            return best
        return self.joined(Split(evenest[1], Leaf(0), Leaf(0)), rows, levels)

    def tests(self, rows: Rows) -> Iterator[int]:
        """Splits that promise much, and those in the middle of their columns."""
        columns = {column.feature: column for column in self.splits.ordered}
        for proposal in self.splits.propose(rows)[:PROMISING]:
            yield proposal.test
            column = columns.get(self.problem.tests[proposal.test].feature)
            if column is not None:
                yield from quantile_tests(self.problem, column, 1, rows)
