"""A term -> how its value on a tree follows from the leaves and from the two sides of a split: what the oracle uses.

Each recurrence writes out the definition of its term. It deliberately shares no code with the evaluation of terms on a
tree: these are two readings of the same definitions, and tests compare them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from treeml.problem.problem import Problem


class Recurrence:
    """A term within one problem. Sets of rows are bit masks over `groups` of rows that no test tells apart."""

    is_ordered: ClassVar[bool] = True  # do values compare as their numbers do?

    def __init__(self, term: Any, problem: Problem, groups: list[list[int]], better: str) -> None:
        self.term = term
        self.problem = problem
        self.groups = groups
        self.better = better  # "less", "more" or "same": the direction in which a change of the value never harms
        self.prepare()

    def prepare(self) -> None:
        """For what can be computed once."""

    @staticmethod
    def scale(term: Any) -> Fraction:
        """The number of a term is this factor times its value here."""
        return Fraction(1)

    @staticmethod
    def watched(term: Any) -> bytes | None:
        """Names a sum over leaves with many possible values; equal names mean equal or opposite sums. None: few."""
        return None

    def priced(self) -> frozenset[int]:
        """Features for which it matters whether they were tested above."""
        return frozenset()

    def rows(self, mask: int) -> list[int]:
        return [row for place, rows in enumerate(self.groups) if mask >> place & 1 for row in rows]

    def at_leaf(self, mask: int, label: int) -> Any:
        """The value of a leaf with these rows and this label."""
        raise NotImplementedError(type(self).__name__)

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        """The value of a split of these rows; `tested` holds the priced features that were tested above."""
        return yes + no

    def chained(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        """The value of a later test of a fan, whose first test is joined last: only that one counts as a split."""
        return self.joined(test, mask, tested | {self.problem.tests[test].feature}, yes, no)

    def number(self, value: Any) -> Fraction:
        """What the value says as a number."""
        return Fraction(self.scale(self.term) * value)


class ByIdentity(Recurrence):
    """A sum over leaves with many possible values that is equal to no other sum."""

    @staticmethod
    def watched(term: Any) -> bytes | None:
        return str(id(term)).encode()
