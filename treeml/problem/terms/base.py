"""What every term defines: its value on a tree, and everything else that the package needs to know about it.

A term is one quantity of a tree that goals and bounds add up. Everything about it is in its own file: a subclass of
`Term` is known to the whole package as soon as its module is imported. Back-ends that take a term natively add their
own code for it; all others refuse it with its phrase.

Defaults are the cautious choice: a term that says nothing else keeps rows and tests apart, and is checked on the whole
tree only. Terms hold arrays, so they are compared by identity. They load without numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from treeml.problem.arrays import Rows, Whole
    from treeml.problem.evaluate import Routed
    from treeml.problem.grid import Grid
    from treeml.problem.problem import Problem
    from treeml.problem.terms.recurrence import Recurrence
    from treeml.problem.terms.sum import Sum

KINDS: dict[str, type[Term]] = {}  # every term that has been imported, by the name of its class
EVERY_TERM: Set[str] = KINDS.keys()  # for back-ends that take any term, also one that is defined later


class Locality(Enum):
    """How the value of a tree follows from a subtree and the tree around it."""

    SUM = "the subtree and the rest add up"
    ONCE = "they add up, and what the rest has counted no longer counts in the subtree"
    EXTREME = "the value is that of the best or the worst leaf"
    WHOLE = "only the whole tree has a value"


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """A part of a tree: the rows that reach it, and the features that the rest of the tree tests."""

    rows: Rows
    above: frozenset[int] = frozenset()  # features tested on the path to the part
    outside: frozenset[int] = frozenset()  # features tested anywhere outside the part


class Term:
    """One quantity of a tree. Its kind, as capabilities and stored files name it, is the name of its class."""

    __slots__ = ()

    phrase: ClassVar[str]  # completes "this back-end cannot minimize ..."
    locality: ClassVar[Locality] = Locality.WHOLE
    merges_rows: ClassVar[bool] = False  # may rows that answer every test alike become one row?
    merges_tests: ClassVar[bool] = False  # may a test replace another that splits the rows in the same way?
    is_count: ClassVar[bool] = False  # a whole number that no weights or costs enter?
    is_real: ClassVar[bool] = False  # can two of its values be arbitrarily close to each other?

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "phrase"):
            KINDS[cls.__name__] = cls

    # -- on a tree ------------------------------------------------------------------------

    def value(self, routed: Routed) -> Fraction:
        """The exact value on a tree."""
        raise NotImplementedError(type(self).__name__)

    def evaluate(self, routed: Routed, undefined: Fraction | None) -> Fraction | None:
        """The exact value on a tree, or `undefined` if it has none there."""
        return self.value(routed)

    def recurrence(self) -> type[Recurrence]:
        """How the oracle computes the value of every tree from the values of its subtrees."""
        raise NotImplementedError(type(self).__name__)

    # -- on fewer rows or tests -----------------------------------------------------------

    def merged(self, add_rows: Callable[[Whole], Whole]) -> Term:
        """The term over merged rows; `add_rows` adds up the entries of the rows that become one."""
        return self

    def restricted(self, part: Part) -> Term:
        """The term of a part of the tree, as a problem of its own."""
        return self

    def distinguished_features(self) -> frozenset[int]:
        """Features that the term mentions: a test on one of them cannot be replaced by a test on another feature."""
        return frozenset()

    # -- its numbers ----------------------------------------------------------------------

    @property
    def step(self) -> Fraction | None:
        """All values are whole multiples of this; None if no such number is known."""
        return Fraction(1) if self.is_count else None

    def grid(self, problem: Problem) -> Grid | None:
        """Where the values lie; None for real numbers and quotients."""
        return None

    def rough_grid(self, problem: Problem) -> tuple[Fraction, int] | None:
        """A unit, and at least the number of units that a value is away from zero: a cheaper, looser `grid`."""
        grid = self.grid(problem)
        return None if grid is None else (grid.unit, grid.size)

    def lower_bound(self, problem: Problem, factor: Fraction, row_by_row: bool) -> Fraction | None:
        """A number that factor * value is never below on any tree; None if none is known without a search."""
        return Fraction(0) if factor >= 0 and self.is_never_negative() else None

    def is_never_negative(self) -> bool:
        return self.is_count

    def divided(self) -> Term:
        """The same term with the common factor of its whole numbers moved to its scale."""
        return self

    # -- in a file ------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The fields of the term; its kind is written by the sum that holds it."""
        return {}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        return cls(**fields)

    # -- terms made of sums ---------------------------------------------------------------

    @property
    def sums(self) -> tuple[Sum, ...]:
        """The sums that the term is made of."""
        return ()

    def nested(self) -> Iterator[Term]:
        """The term and all terms that it is made of."""
        yield self
        for total in self.sums:
            yield from total.terms()


class Composite(Term):
    """A term whose value follows from the values of other sums."""

    __slots__ = ()

    merges_rows = True
    merges_tests = True
    rises_with_sums: ClassVar[bool] = False  # is the value never smaller if one of the sums is larger?

    def combined(
        self, value: Callable[[Sum, Fraction | None], Fraction | None], undefined: Fraction | None
    ) -> Fraction | None:
        """The value; `value(total, undefined)` gives that of a sum."""
        raise NotImplementedError(type(self).__name__)

    def with_sums(self, change: Callable[[Sum], Sum]) -> Composite:
        """The same term of changed sums."""
        raise NotImplementedError(type(self).__name__)

    def evaluate(self, routed: Routed, undefined: Fraction | None) -> Fraction | None:
        return self.combined(lambda total, missing: total.evaluate(routed, missing), undefined)

    def restricted(self, part: Part) -> Term:
        return self.with_sums(lambda total: total.changed(lambda term: term.restricted(part)))
