"""Whether predictions are monotone in a feature."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.problem.grid import Grid, counting
from treeml.problem.terms.base import Term
from treeml.problem.terms.recurrence import Recurrence

if TYPE_CHECKING:
    from treeml.problem.arrays import Bits
    from treeml.problem.evaluate import Routed
    from treeml.problem.problem import Problem

    Region = dict[int, Bits]  # for every tested feature the codes, and at the end missing, that lead to a leaf


@dataclass(frozen=True, eq=False, slots=True)
class Monotone(Term):
    """1 if raising the feature alone (if not increasing: lowering it) never turns `positive` to another class, else 0.

    Judged on the leaves as regions: of two leaves that some two inputs reach which agree on every other feature, the
    one with the higher value of the feature must be positive if the other is. Two tests may agree on every row yet
    describe different regions, so tests are never merged.
    """

    feature: int
    increasing: bool
    positive: int

    phrase: ClassVar[str] = "whether predictions rise along a column"
    merges_rows: ClassVar[bool] = True

    def value(self, routed: Routed) -> Fraction:
        return Fraction(int(self._holds(routed)))

    def recurrence(self) -> type[Recurrence]:
        return MonotoneRecurrence

    def grid(self, problem: Problem) -> Grid:
        return counting(0, 1)

    def to_json(self) -> dict[str, Any]:
        return {"feature": self.feature, "increasing": self.increasing, "positive": self.positive}

    def _holds(self, routed: Routed) -> bool:
        """Is there no positive leaf and no other leaf such that an input moves between them the wrong way?"""
        tested = sorted(routed.features)
        if self.feature not in tested:
            return True
        regions = [_region(path, tested, routed) for _, path, _ in routed.leaves]
        positive = [leaf.label == self.positive for leaf, _, _ in routed.leaves]
        for low, low_positive in zip(regions, positive, strict=True):
            for high, high_positive in zip(regions, positive, strict=True):
                breaks = low_positive and not high_positive if self.increasing else high_positive and not low_positive
                if breaks and _can_rise(low, high, self.feature):
                    return False
        return True


def _region(path: tuple[tuple[int, bool], ...], tested: list[int], routed: Routed) -> Region:
    import numpy as np  # imported here: start-up time

    problem = routed.problem
    region = {}
    for number in tested:
        feature = problem.features[number]
        region[number] = np.ones((2 if feature.kind == "binary" else feature.levels) + 1, dtype=np.bool_)
        region[number][-1] = feature.has_missing
    for test, answer in path:
        passing = routed.passing_codes(test)
        region[problem.tests[test].feature] &= passing if answer else ~passing
    return region


def _can_rise(low: Region, high: Region, feature: int) -> bool:
    """Can an input move from one region to the other by raising this feature alone?"""
    for number, here in low.items():
        if number != feature:
            if not (here & high[number]).any():
                return False
            continue
        below, above = here[:-1].nonzero()[0], high[number][:-1].nonzero()[0]
        if not len(below) or not len(above) or below[0] >= above[-1]:
            return False
    return True


class MonotoneRecurrence(Recurrence):
    """The value is the tree as a function: one bit for every possible input, 1 where the prediction is positive."""

    is_ordered: ClassVar[bool] = False

    def prepare(self) -> None:
        codes = [feature.possible_codes for feature in self.problem.features]
        inputs = list(product(*codes))
        self.everywhere = (1 << len(inputs)) - 1
        self.passing = [
            sum(1 << place for place, codes in enumerate(inputs) if test.answers_yes(codes[test.feature]))
            for test in self.problem.tests
        ]
        feature = self.term.feature
        self.stride = prod(len(own) for own in codes[feature + 1 :])  # from an input to the one with the next code
        self.lower = sum(1 << place for place, known in enumerate(inputs) if -1 < known[feature] < codes[feature][-1])

    def at_leaf(self, mask: int, label: int) -> int:
        return self.everywhere if label == self.term.positive else 0

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return (yes & self.passing[test]) | (no & ~self.passing[test])

    def number(self, value: int) -> Fraction:
        """0 if an input and the one with the next code of the feature are positive in the wrong order."""
        raised = value >> self.stride
        broken = value & ~raised if self.term.increasing else raised & ~value
        return Fraction(0 if broken & self.lower else 1)


def inputs_of(problem: Problem) -> int:
    """The number of possible inputs, if every feature may have any of its codes."""
    return prod(len(feature.possible_codes) for feature in problem.features)
