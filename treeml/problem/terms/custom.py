"""A leaf cost that the user gives as a Python function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from treeml.problem.terms.base import Locality, Part, Term
from treeml.problem.terms.recurrence import ByIdentity, Recurrence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treeml.problem.arrays import Rows
    from treeml.problem.evaluate import Routed


@dataclass(frozen=True, eq=False, slots=True)
class Custom(Term):
    """A user's additive cost of a leaf, a function of the numbers of the user's rows in it."""

    function: Callable[[Any], float]

    phrase: ClassVar[str] = "a cost that a function computes from the rows of a leaf"
    locality: ClassVar[Locality] = Locality.SUM
    merges_tests: ClassVar[bool] = True
    is_real: ClassVar[bool] = True

    def value(self, routed: Routed) -> Fraction:
        return sum((Fraction(self.function(rows)) for _, _, rows in routed.leaves), Fraction(0))

    @property
    def rounding(self) -> Fraction:
        """How far a value may be off from that of exact arithmetic; what a user's function returns counts as exact."""
        return Fraction(self.function.rounding) if isinstance(self.function, StoredCost) else Fraction(0)

    def rounding_in(self, routed: Routed) -> Fraction:
        """The same for the value of one tree: each of its leaves adds only the rounding of its own rows."""
        if not isinstance(self.function, StoredCost):
            return Fraction(0)
        return sum((Fraction(self.function.restricted(rows).rounding) for _, _, rows in routed.leaves), Fraction(0))

    def is_never_negative(self) -> bool:
        return isinstance(self.function, StoredCost) and self.function.is_never_negative

    def recurrence(self) -> type[Recurrence]:
        return CustomRecurrence

    def restricted(self, part: Part) -> Custom:
        import numpy as np  # imported here: start-up time

        function, rows = self.function, part.rows
        if isinstance(function, StoredCost):
            return Custom(function.restricted(rows))
        return Custom(lambda numbers: function(rows[np.asarray(numbers, dtype=np.intp)]))

    def to_json(self) -> dict[str, Any]:
        if not isinstance(self.function, StoredCost):
            raise TypeError("a leaf cost given as a function cannot be written to a file")
        return {"function": type(self.function).__name__, **self.function.to_json()}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Custom:
        arguments = {**fields}
        return cls(StoredCost.known[arguments.pop("function")].from_json(arguments))


class StoredCost:
    """A leaf cost that is data, so that it can be written to a file and restricted to some of its rows."""

    __slots__ = ()

    known: ClassVar[dict[str, type[StoredCost]]] = {}
    is_never_negative: ClassVar[bool] = False  # whether no leaf costs less than 0

    def __init_subclass__(cls) -> None:
        cls.known[cls.__name__] = cls

    def __call__(self, rows: Rows) -> float:
        raise NotImplementedError

    @property
    def rounding(self) -> float:
        """How far the sum over the leaves of a tree may be off because the cost is computed in floating point."""
        return 0.0

    def residuals(self) -> NDArray[np.float64] | None:
        """For every row what a single leaf leaves unexplained: a split that tells these numbers apart is a good one."""
        return None

    def restricted(self, rows: Rows) -> Self:
        """The same cost where these rows are numbered from 0."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        raise NotImplementedError


class CustomRecurrence(ByIdentity):
    def at_leaf(self, mask: int, label: int) -> Fraction:
        import numpy as np  # imported here: start-up time

        rows = np.array(sorted(self.rows(mask)), dtype=np.int64)
        return Fraction(self.term.function(rows))
