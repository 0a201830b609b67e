"""A random generator -> small problems of every kind, for the fuzzer and for tests of back-ends.

Problems are built directly, without reading data, so that a back-end can be tested alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.problem.problem import Bound, Feature, Goal, Problem, Test
from treeml.problem.terms import (
    Contingency,
    Custom,
    Depth,
    DiscountedTestCost,
    Largest,
    LeafErrors,
    Leaves,
    Loss,
    Monotone,
    Predicted,
    Purity,
    Ratio,
    StoredCost,
    Sum,
    Support,
    Term,
    TestCost,
    Used,
    WeightedDepth,
)


def single(term: Term, factor: Fraction | int = 1, constant: Fraction | int = 0) -> Sum:
    return Sum(((Fraction(factor), term),), Fraction(constant))


def minimize(*terms: Term | Sum) -> tuple[Goal, ...]:
    return tuple(Goal(term if isinstance(term, Sum) else single(term)) for term in terms)


def bound(term: Term | Sum, sense: str, limit: Fraction | int | str, name: str = "") -> Bound:
    return Bound(term if isinstance(term, Sum) else single(term), sense, Fraction(limit), name)


def errors(actual: Sequence[int], classes: int, weight: Sequence[int] | None = None) -> Predicted:
    """The weight of the rows whose class is not the one predicted."""
    cost = np.array([[int(label != truth) for label in range(classes)] for truth in actual], dtype=np.int64)
    weights = np.ones(len(actual), dtype=np.int64) if weight is None else np.array(weight, dtype=np.int64)
    return Predicted(cost.reshape(len(actual), classes) * weights[:, None])


def binary(
    rows: Sequence[str],
    classes: int,
    goals: tuple[Goal, ...],
    bounds: tuple[Bound, ...] = (),
    count: Sequence[int] | None = None,
) -> Problem:
    """A problem over yes-or-no features, the rows written as strings of 0 and 1."""
    width = len(rows[0]) if rows else 0
    bits = np.array([[row[place] == "1" for row in rows] for place in range(width)], dtype=bool).reshape(
        width, len(rows)
    )
    features = tuple(Feature(f"x{place}", "binary", 2, None, place, 1) for place in range(width))
    tests = tuple(Test(place, "true") for place in range(width))
    counts = np.ones(len(rows), dtype=np.int64) if count is None else np.array(count, dtype=np.int64)
    return Problem(features, tests, counts, classes, goals, bounds, bits)


def from_columns(
    columns: Sequence[tuple[str, Sequence[int]]],
    classes: int,
    goals: tuple[Goal, ...],
    bounds: tuple[Bound, ...] = (),
    count: Sequence[int] | None = None,
) -> Problem:
    """A problem over columns, each given by the kind of its feature and by its codes; -1 is missing."""
    features: list[Feature] = []
    tests: list[Test] = []
    for number, (kind, codes) in enumerate(columns):
        levels = 2 if kind == "binary" else max(max(codes, default=0) + 1, 2)
        missing = min(codes, default=0) < 0
        own = list(_tests(number, kind, levels, missing))
        coded = np.array(codes, dtype=np.int32)
        features.append(Feature(f"x{number}", kind, levels, coded, len(tests), len(own), missing))
        tests += own
    rows = len(columns[0][1]) if columns else len(count or ())
    bits = np.zeros((len(tests), rows), dtype=bool)
    for place, test in enumerate(tests):
        bits[place] = [test.answers_yes(code) for code in columns[test.feature][1]]
    counts = np.ones(rows, dtype=np.int64) if count is None else np.array(count, dtype=np.int64)
    return Problem(tuple(features), tuple(tests), counts, classes, goals, bounds, bits)


def _tests(feature: int, kind: str, levels: int, missing: bool) -> list[Test]:
    sides = (False, True) if missing else (False,)
    if kind == "binary":
        made = [Test(feature, "true", (), side) for side in sides]
    elif kind == "ordered":
        made = [Test(feature, "at most", (level,), side) for level in range(levels - 1) for side in sides]
    elif kind in ("levels", "branches"):
        made = [Test(feature, "level" if kind == "levels" else "branch", (level,)) for level in range(levels)]
    else:
        # A subset and its complement make the same split: take the one without the last level.
        subsets = range(1, 2 ** (levels - 1))
        chosen = [tuple(level for level in range(levels) if subset >> level & 1) for subset in subsets]
        made = [Test(feature, "among", subset, side) for subset in chosen for side in sides]
    return [*made, Test(feature, "missing")] if missing else made


@dataclass(frozen=True, slots=True)
class PriceSpread(StoredCost):
    """A leaf cost as a user might define it: the range of the prices of its rows, plus one half."""

    prices: tuple[int, ...]

    def __call__(self, rows: NDArray[np.int64]) -> float:
        own = [self.prices[int(row)] for row in rows]
        return max(own) - min(own) + 0.5

    def restricted(self, rows: NDArray[np.intp]) -> PriceSpread:
        return PriceSpread(tuple(self.prices[row] for row in rows.tolist()))

    def to_json(self) -> dict[str, Any]:
        return {"prices": list(self.prices)}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> PriceSpread:
        return cls(tuple(fields["prices"]))


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a random problem may be."""

    rows: int = 9
    columns: int = 3
    classes: int = 3
    depth: int = 3
    bounds: int = 3
    goals: int = 2
    branches: bool = False  # may a node split a column by all its levels at once?
    is_extreme: bool = False  # weights, prices, targets and limits from 1e-9 to beyond 64 bits, and of 16 digits


def random_problem(random: Random, sizes: Sizes | None = None, kinds: Sequence[str] | None = None) -> Problem:
    """A small problem with random columns, counts, goals and bounds; `kinds` restricts the kinds of terms."""
    sizes = sizes or Sizes()
    rows = random.randint(1, sizes.rows)
    columns = [
        _random_column(random, rows, sizes.branches)
        for _ in range(random.randint(0 if random.random() < 0.05 else 1, sizes.columns))
    ]
    count = [random.choice((1, 1, 1, 2, 3)) for _ in range(rows)]
    numbers = random.random() < 0.2 and (kinds is None or "Loss" in kinds)
    classes = 0 if numbers else random.randint(1 if random.random() < 0.1 else 2, sizes.classes)
    shell = from_columns(columns, classes, (), (), count)
    terms = _Extreme(random, shell, kinds) if sizes.is_extreme else _Terms(random, shell, kinds)
    goals = tuple(Goal(terms.goal()) for _ in range(random.choice((0, 1, 1, 1, 1, sizes.goals))))
    bounds = [bound(Depth(), "<=", random.randint(0, sizes.depth), "depth")] if random.random() < 0.8 else []
    for number in range(random.randint(0, sizes.bounds)):
        made = terms.bound(f"requirement {number + 1}")
        bounds += [] if made is None else [made]
    return shell.asking(goals, tuple(bounds))


def _random_column(random: Random, rows: int, branches: bool) -> tuple[str, list[int]]:
    kinds = ("binary", "binary", "binary", "ordered", "levels", "subsets")
    kind = random.choice(("branches", "branches", *kinds[2:]) if branches else kinds)
    levels = 2 if kind == "binary" else random.randint(2, 4 if kind == "ordered" else 3)
    low = -1 if random.random() < 0.1 else 0
    return kind, [random.randint(low, levels - 1) for _ in range(rows)]


class _Terms:
    """Random terms for one problem; the same generator state gives the same terms."""

    def __init__(self, random: Random, problem: Problem, kinds: Sequence[str] | None) -> None:
        self.random, self.problem = random, problem
        self.actual = [random.randrange(max(problem.classes, 1)) for _ in range(problem.rows)]
        self.group = [random.randrange(2) for _ in range(problem.rows)]
        self.weight = [random.choice((0, 1, 1, 2, 5, 10**9)) for _ in range(problem.rows)]
        allowed = RANDOM_TERMS.keys() if kinds is None else kinds
        self.makers = {
            kind: partial(each.make, self)
            for kind, each in RANDOM_TERMS.items()
            if kind in allowed and each.leaves_hold in ("anything", "classes" if problem.classes else "numbers")
        }
        self.main = "Predicted" if problem.classes else "Loss"

    def goal(self) -> Sum:
        """Mostly errors or a loss, often with a price per leaf, sometimes any other term."""
        likely = [
            kind for kind in (self.main, self.main, self.main, "Leaves", "TestCost", "Depth") if kind in self.makers
        ]
        kind = self.random.choice(likely if likely and self.random.random() < 0.8 else self.list_of_goals())
        parts = [(Fraction(1), self.makers[kind]())]
        if self.random.random() < 0.3 and "Leaves" in self.makers and kind != "Leaves":
            parts.append((self.random.choice((Fraction(1, 10), Fraction(1, 2), Fraction(1))), Leaves()))
        return Sum(tuple(parts), Fraction(self.random.choice((0, 0, 0, 1)), 3))

    def list_of_goals(self) -> list[str]:
        return [kind for kind in self.makers if kind not in ("Ratio", "Contingency", "Monotone")] or list(self.makers)

    def bound(self, name: str) -> Bound | None:
        kinds = list(self.makers)
        if not kinds or not self.problem.rows:
            return None
        kind = self.random.choice(kinds)
        term = self.makers[kind]()
        sense, limit = self.usual(kind)
        if self.random.random() < 0.15 and kind not in ("Monotone", "Purity"):
            sense = self.random.choice(("<=", ">=", "="))
        return bound(term, sense, limit, name)

    def usual(self, kind: str) -> tuple[str, Fraction]:
        return RANDOM_TERMS[kind].usual(self.random, self.problem.rows)

    def predicted(self) -> Predicted:
        shape = self.random.choice(("errors", "errors", "weighted", "rate", "costs"))
        classes = self.problem.classes
        if shape == "errors":
            return errors(self.actual, classes, self.problem.count.tolist())
        if shape == "weighted":
            return Predicted(errors(self.actual, classes, self.weight).cost, Fraction(1, self.random.randint(1, 3)))
        if shape == "rate":
            return self.rate(self.random.randrange(2), self.random.choice((1, -1)))
        cost = [[self.random.randint(-1, 4) for _ in range(classes)] for _ in range(self.problem.rows)]
        return Predicted(np.array(cost, dtype=np.int64).reshape(self.problem.rows, classes))

    def rate(self, group: int, sign: int) -> Predicted:
        """Positive predictions in one group minus those in the other."""
        cost = np.zeros((self.problem.rows, self.problem.classes), dtype=np.int64)
        for row, own in enumerate(self.group):
            cost[row, self.problem.classes - 1] = sign if own == group else -sign
        return Predicted(cost)

    def weighted_depth(self) -> WeightedDepth:
        return WeightedDepth(tuple(self.random.randint(0, 2) for _ in range(self.problem.classes)))

    def test_cost(self) -> TestCost:
        costs = tuple(self.random.randint(0, 3) for _ in self.problem.features)
        return TestCost(costs, Fraction(1, self.random.randint(1, 2)))

    def discounted_test_cost(self) -> TestCost:
        plain = self.test_cost()
        pairs = [(one, other) for one in range(len(plain.costs)) for other in range(len(plain.costs)) if one != other]
        chosen = self.random.sample(pairs, min(len(pairs), self.random.randint(1, 3)))
        discounts = tuple((one, other, self.random.randint(0, plain.costs[one])) for one, other in chosen)
        return DiscountedTestCost(plain.costs, plain.scale, discounts)

    def used(self) -> Used:
        everything = range(len(self.problem.features))
        some = [number for number in everything if self.random.random() < 0.6]
        return Used(frozenset(some or everything))

    def purity(self) -> Purity:
        weight = np.zeros((self.problem.rows, self.problem.classes), dtype=np.int64)
        for row, truth in enumerate(self.actual):
            weight[row, truth] = int(self.problem.count[row])
        return Purity(weight)

    def leaf_errors(self) -> LeafErrors:
        return LeafErrors(errors(self.actual, self.problem.classes, self.problem.count.tolist()).cost)

    def monotone(self) -> Monotone | Leaves:
        ordered = [n for n, feature in enumerate(self.problem.features) if feature.kind in ("binary", "ordered")]
        if not ordered:
            return Leaves()
        return Monotone(self.random.choice(ordered), self.random.random() < 0.5, self.problem.classes - 1)

    def largest(self) -> Largest:
        return Largest((single(self.rate(0, 1)), single(self.rate(0, -1))))

    def ratio(self) -> Ratio:
        """Precision of the last class."""
        last = self.problem.classes - 1
        named = np.zeros((self.problem.rows, self.problem.classes), dtype=np.int64)
        named[:, last] = self.problem.count
        right = named * (np.array(self.actual) == last)[:, None]
        return Ratio(single(Predicted(right)), single(Predicted(named)))

    def contingency(self) -> Contingency:
        """mcc or gmean of the last class."""
        last = self.problem.classes - 1
        of_it = np.array(self.actual) == last
        of_it[:1], of_it[1:2] = True, False  # both sides have rows
        named = np.zeros((self.problem.rows, self.problem.classes), dtype=np.int64)
        named[:, last] = self.problem.count
        right, wrong = named * of_it[:, None], named * ~of_it[:, None]
        kind = self.random.choice(("mcc", "gmean"))
        ends = (Fraction(max(1, int(each.sum()))) for each in (right, wrong))
        return Contingency(kind, single(Predicted(right)), single(Predicted(wrong)), *ends)

    def loss(self) -> Loss:
        outputs = self.random.choice((1, 1, 1, 2))
        targets = [[self.random.randint(-5, 9) for _ in range(outputs)] for _ in range(self.problem.rows)]
        kind = self.random.choice(("squared", "absolute", "quantile"))
        weight = self.problem.count * self.random.choice((1, 2))
        level = Fraction(self.random.randint(1, 9), 10)
        return Loss(
            kind, np.array(targets, dtype=np.int64).reshape(self.problem.rows, outputs), weight, Fraction(1, 2), level
        )

    def custom(self) -> Custom:
        return Custom(PriceSpread(tuple(self.random.randint(0, 4) for _ in range(self.problem.rows))))


Usual = Callable[[Random, int], tuple[str, Fraction]]


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """How random problems use a kind of term. A test fails if a term of the package is missing here."""

    make: Callable[[_Terms], Term]
    usual: Usual  # generator, number of rows -> a sense and a limit that are neither trivial nor always impossible
    leaves_hold: str = "anything"  # or: classes, numbers


RANDOM_TERMS: dict[str, RandomTerm] = {
    "Leaves": RandomTerm(lambda _: Leaves(), lambda random, _: ("<=", Fraction(random.randint(1, 5)))),
    "Depth": RandomTerm(
        lambda _: Depth(), lambda random, _: (random.choice(("<=", ">=")), Fraction(random.randint(0, 3)))
    ),
    "WeightedDepth": RandomTerm(
        lambda terms: terms.weighted_depth(),
        lambda random, _: (random.choice(("<=", ">=")), Fraction(random.randint(0, 4))),
        "classes",
    ),
    "TestCost": RandomTerm(
        lambda terms: terms.test_cost(), lambda random, rows: ("<=", Fraction(random.randint(0, 4 * rows)))
    ),
    "DiscountedTestCost": RandomTerm(
        lambda terms: terms.discounted_test_cost(), lambda random, rows: ("<=", Fraction(random.randint(0, 4 * rows)))
    ),
    "Used": RandomTerm(
        lambda terms: terms.used(),
        lambda random, _: (random.choice(("<=", ">=", "=")), Fraction(random.randint(0, 2))),
    ),
    "Support": RandomTerm(lambda _: Support(), lambda random, _: (">=", Fraction(random.randint(1, 3)))),
    "Predicted": RandomTerm(
        lambda terms: terms.predicted(),
        lambda random, rows: (random.choice(("<=", "<=", ">=")), Fraction(random.randint(-1, rows))),
        "classes",
    ),
    "Purity": RandomTerm(
        lambda terms: terms.purity(), lambda random, _: (">=", Fraction(random.randint(4, 10), 10)), "classes"
    ),
    "LeafErrors": RandomTerm(
        lambda terms: terms.leaf_errors(), lambda random, _: ("<=", Fraction(random.randint(0, 3))), "classes"
    ),
    "Monotone": RandomTerm(lambda terms: terms.monotone(), lambda _, __: (">=", Fraction(1)), "classes"),
    "Largest": RandomTerm(
        lambda terms: terms.largest(), lambda random, _: ("<=", Fraction(random.randint(0, 4))), "classes"
    ),
    "Ratio": RandomTerm(
        lambda terms: terms.ratio(), lambda random, _: (">=", Fraction(random.randint(1, 4), 4)), "classes"
    ),
    "Contingency": RandomTerm(
        lambda terms: terms.contingency(), lambda random, _: (">=", Fraction(random.randint(0, 9), 10)), "classes"
    ),
    "Loss": RandomTerm(
        lambda terms: terms.loss(), lambda random, _: ("<=", Fraction(random.randint(0, 30))), "numbers"
    ),
    "Custom": RandomTerm(lambda terms: terms.custom(), lambda random, _: ("<=", Fraction(random.randint(0, 8)))),
}


WEIGHTS = (1, 3, 7, 10**9, 10**15 + 1)
PRICES = ("1e-9", "0.01714285714285714", "0.3333333333333333", "1", "1e9", "1e15", "1e30")
LIMITS = ("0.6666666666666666", "0.3333333333333333", "1e-9", "1e9", "9223372036854775808", "1e30")


class _Extreme(_Terms):
    """The same with magnitudes at which products and sums exceed 64 bits, or floats lose digits."""

    def __init__(self, random: Random, problem: Problem, kinds: Sequence[str] | None) -> None:
        super().__init__(random, problem, kinds)
        self.weight = [random.choice(WEIGHTS) for _ in range(problem.rows)]

    def goal(self) -> Sum:
        total = super().goal()
        if self.random.random() < 0.4 and "Leaves" in self.makers and "Leaves" not in total.kinds():
            return Sum((*total.parts, (Fraction(self.random.choice(PRICES)), Leaves())), total.constant)
        return total

    def usual(self, kind: str) -> tuple[str, Fraction]:
        sense, limit = super().usual(kind)
        if kind == "Purity":
            return sense, Fraction(self.random.choice(LIMITS[:2]))
        if kind not in ("Monotone", "Used", "Support") and self.random.random() < 0.4:
            return sense, Fraction(self.random.choice(LIMITS))
        return sense, limit

    def purity(self) -> Purity:
        weight = np.zeros((self.problem.rows, self.problem.classes), dtype=np.int64)
        for row, truth in enumerate(self.actual):
            weight[row, truth] = self.weight[row]
        return Purity(weight)

    def loss(self) -> Loss:
        usual = super().loss()
        far = self.random.choice((0, 0, 10**6, 10**9))
        targets = usual.targets + far
        targets[self.random.randrange(len(targets))] += self.random.choice((0, 10**6))
        scale = self.random.choice((Fraction(1), Fraction(1, 10**6), Fraction(1, 4)))
        return Loss(usual.kind, targets, usual.weight, scale, usual.level)
