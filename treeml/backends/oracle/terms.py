"""A term -> how its value of a tree follows from the leaves and from the two sides of a split.

One small class per term, each its definition in the contract written out. This is on purpose not the code that
verifies answers: the oracle and the verifier are two readings of the same definitions, and are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from treeml.problem.problem import Problem, Test
from treeml.problem.terms import (
    Custom,
    Depth,
    Largest,
    LeafErrors,
    Leaves,
    Loss,
    Monotone,
    Predicted,
    Purity,
    Ratio,
    Sum,
    Support,
    Term,
    TestCost,
    Used,
)


@dataclass
class Piece:
    """A term within one problem; sets of rows are masks over `groups` of rows that no test tells apart."""

    term: Any
    problem: Problem
    groups: list[list[int]]
    better: str  # "less", "more" or "same": in which direction a value may only help
    priced: frozenset[int] = frozenset()  # features whose being tested above matters

    def __post_init__(self) -> None:
        """For what a term can prepare once."""

    def rows(self, mask: int) -> list[int]:
        return [row for place, rows in enumerate(self.groups) if mask >> place & 1 for row in rows]

    def at_leaf(self, mask: int, label: int) -> Any:
        raise TypeError(self.term)

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return yes + no

    def number(self, value: Any) -> Fraction:
        return Fraction(value)


class PredictedPiece(Piece):
    def __post_init__(self) -> None:
        cost = self.term.cost.tolist()
        labels = range(self.problem.classes)
        self.cost = [[sum(cost[row][label] for row in rows) for label in labels] for rows in self.groups]

    def at_leaf(self, mask: int, label: int) -> Any:
        return sum(cost[label] for place, cost in enumerate(self.cost) if mask >> place & 1)

    def number(self, value: Any) -> Fraction:
        return Fraction(self.term.scale * value)


class LeafErrorsPiece(PredictedPiece):
    def at_leaf(self, mask: int, label: int) -> Any:
        return self.term.scale * super().at_leaf(mask, label)

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return max(yes, no)

    def number(self, value: Any) -> Fraction:
        return Fraction(value)


class LeavesPiece(Piece):
    def at_leaf(self, mask: int, label: int) -> int:
        return 1


class DepthPiece(Piece):
    def at_leaf(self, mask: int, label: int) -> int:
        return 0

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return 1 + max(yes, no)


class TestCostPiece(Piece):
    def at_leaf(self, mask: int, label: int) -> int:
        return 0

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        feature = self.problem.tests[test].feature
        if feature in tested:
            return yes + no
        rows = sum(int(self.problem.count[row]) for row in self.rows(mask))
        return yes + no + rows * self.term.costs[feature]

    def number(self, value: Any) -> Fraction:
        return Fraction(self.term.scale * value)


class UsedPiece(Piece):
    """The set of features, ordered by inclusion: of two trees alike, one that uses a subset uses no more."""

    def at_leaf(self, mask: int, label: int) -> frozenset[int]:
        return frozenset()

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return yes | no | ({self.problem.tests[test].feature} & self.term.features)

    def number(self, value: frozenset[int]) -> Fraction:
        return Fraction(len(value))


class LossPiece(Piece):
    def at_leaf(self, mask: int, label: int) -> Fraction:
        rows = self.rows(mask)
        weight = [int(self.term.weight[row]) for row in rows]
        outputs = self.term.targets.shape[1]
        targets = [[int(self.term.targets[row, output]) for row in rows] for output in range(outputs)]
        return sum((self.of_one(values, weight) for values in targets), Fraction(0))

    def of_one(self, values: list[int], weight: list[int]) -> Fraction:
        """The mean has the least squared loss; one of the values has the least absolute and the least pinball loss."""
        assert isinstance(self.term, Loss)
        pairs = list(zip(values, weight, strict=True))
        total = sum(weight)
        if total == 0:
            return Fraction(0)
        if self.term.kind == "squared":
            mean = Fraction(sum(value * share for value, share in pairs), total)
            return sum((share * (value - mean) ** 2 for value, share in pairs), Fraction(0))
        level = self.term.level
        above, below = (Fraction(1), Fraction(1)) if self.term.kind == "absolute" else (level, 1 - level)
        return min(
            sum((share * max(above * (value - guess), below * (guess - value)) for value, share in pairs), Fraction(0))
            for guess in set(values)
        )

    def number(self, value: Any) -> Fraction:
        return Fraction(self.term.scale * value)


class SupportPiece(Piece):
    def at_leaf(self, mask: int, label: int) -> int:
        return sum(int(self.problem.count[row]) for row in self.rows(mask))

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return min(yes, no)


class PurityPiece(Piece):
    def at_leaf(self, mask: int, label: int) -> Fraction:
        rows = self.rows(mask)
        weights = [sum(int(row[place]) for row in self.term.weight[rows]) for place in range(self.problem.classes)]
        return Fraction(max(weights), sum(weights)) if sum(weights) else Fraction(1)

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return min(yes, no)


class CustomPiece(Piece):
    def at_leaf(self, mask: int, label: int) -> Fraction:
        import numpy as np

        rows = np.array(sorted(self.rows(mask)), dtype=np.int64)
        return Fraction(self.term.function(rows))


class MonotonePiece(Piece):
    """The value is the tree as a function: one bit for every possible input, 1 where the prediction is positive."""

    def __post_init__(self) -> None:
        codes = [_codes(self.problem, number) for number in range(len(self.problem.features))]
        inputs = list(product(*codes))
        self.everywhere = (1 << len(inputs)) - 1
        self.passing = [
            sum(1 << place for place, codes in enumerate(inputs) if _answers_yes(test, codes[test.feature]))
            for test in self.problem.tests
        ]
        feature = self.term.feature
        self.step = prod(len(own) for own in codes[feature + 1 :])  # from an input to the one with the next code
        self.lower = sum(1 << place for place, known in enumerate(inputs) if -1 < known[feature] < codes[feature][-1])

    def at_leaf(self, mask: int, label: int) -> int:
        return self.everywhere if label == self.term.positive else 0

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return (yes & self.passing[test]) | (no & ~self.passing[test])

    def number(self, value: int) -> Fraction:
        """Broken where an input and the one with the next code of the feature are positive in the wrong order."""
        raised = value >> self.step
        broken = value & ~raised if self.term.increasing else raised & ~value
        return Fraction(0 if broken & self.lower else 1)


PIECES: Mapping[type, type[Piece]] = {
    Predicted: PredictedPiece,
    Leaves: LeavesPiece,
    Depth: DepthPiece,
    TestCost: TestCostPiece,
    Used: UsedPiece,
    Loss: LossPiece,
    Support: SupportPiece,
    Purity: PurityPiece,
    LeafErrors: LeafErrorsPiece,
    Monotone: MonotonePiece,
    Custom: CustomPiece,
}


def pieces_of(problem: Problem, groups: list[list[int]]) -> list[Piece]:
    """Every term of the goals and bounds once, each with the direction in which its value may only help."""
    pieces = []
    for term, directions in _watched(problem).values():
        better = directions.pop() if len(directions) == 1 and not isinstance(term, Monotone) else "same"
        costs = term.costs if isinstance(term, TestCost) else ()
        priced = frozenset(number for number, cost in enumerate(costs) if cost)
        pieces.append(PIECES[type(term)](term, problem, groups, better, priced))
    return pieces


def terms_of(problem: Problem) -> list[Term]:
    """Every term of the goals and bounds once, those inside others included."""
    return [term for term, _ in _watched(problem).values()]


def _watched(problem: Problem) -> dict[int, tuple[Term, set[str]]]:
    found: dict[int, tuple[Term, set[str]]] = {}
    for goal in problem.goals:
        _directions(goal.sum, 1, found)
    for bound in problem.bounds:
        for sign in {"<=": (1,), ">=": (-1,), "=": (1, -1)}[bound.sense]:
            _directions(bound.sum, sign, found)
    return found


def _directions(total: Sum, sign: int, found: dict[int, tuple[Term, set[str]]]) -> None:
    """`sign` is 1 where less of the sum helps, and -1 where more of it does."""
    for factor, term in total.parts:
        scale = term.scale if isinstance(term, Predicted | TestCost | Loss) else 1
        here = sign * factor * scale
        if isinstance(term, Largest):
            for part in term.parts:
                _directions(part, 1 if here >= 0 else -1, found)
        elif isinstance(term, Ratio):
            for part in (term.numerator, term.denominator):
                _directions(part, 1, found)
                _directions(part, -1, found)
        else:
            found.setdefault(id(term), (term, set()))[1].add("less" if here >= 0 else "more")


def value_of(total: Sum, numbers: Mapping[int, Fraction], undefined: Fraction | None) -> Fraction | None:
    """The sum, given the numbers of its terms by identity; a ratio without a denominator is `undefined`."""
    result = total.constant
    for factor, term in total.parts:
        if isinstance(term, Largest):
            parts = [value_of(part, numbers, undefined) for part in term.parts]
            number = max((part for part in parts if part is not None), default=undefined)
        elif isinstance(term, Ratio):
            above, below = value_of(term.numerator, numbers, None), value_of(term.denominator, numbers, None)
            number = undefined if above is None or not below else above / below
        else:
            number = numbers[id(term)]
        if number is None:
            return None
        result += factor * number
    return result


def inputs_of(problem: Problem) -> int:
    """How many inputs there are, if every feature may have any of its codes."""
    return prod(len(_codes(problem, number)) for number in range(len(problem.features)))


def _codes(problem: Problem, feature: int) -> range:
    """Every code that the feature of an input can have; -1 is missing."""
    known = problem.features[feature]
    levels = 2 if known.kind == "binary" else known.levels
    return range(-1 if known.has_missing else 0, levels)


def _answers_yes(test: Test, code: int) -> bool:
    if code == -1:
        return test.kind == "missing" or test.missing_yes
    if test.kind == "at most":
        return code <= test.values[0]
    if test.kind == "true":
        return code == 1
    return code in test.values
