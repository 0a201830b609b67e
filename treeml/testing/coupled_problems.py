"""A random generator -> small problems with one to three coupled requirements.

The requirements are those of the language: gaps between two or more groups, recall, specificity, precision, f1, rates,
counts, accuracy, errors and costs of tests, as lower limits, upper limits and equations, beside limits on depth,
leaves, support, purity and errors of leaves. Goals are errors, costs, prices of leaves and tests, quotients and gaps,
one or several. Most limits are drawn near the value of some tree, where one row more or less decides.

`odd_problem` draws the same at magnitudes at which words of a machine end or floats lose a unit: weights around 2^31,
2^53 and the largest sums of solvers, weights of 0, limits with long denominators or beyond every sum, empty groups.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from treeml.problem.evaluate import Routed
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import (
    Depth,
    DiscountedTestCost,
    Largest,
    LeafErrors,
    Leaves,
    Predicted,
    Purity,
    Ratio,
    Sum,
    Support,
    TestCost,
    Used,
)
from treeml.problem.tree import Leaf, Node, Split
from treeml.testing.problems import bound, errors, from_columns, single

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bits = NDArray[np.bool_]

GAPS = ("parity", "opportunity", "odds")
SHARES = ("recall", "specificity", "precision", "f1", "rate", "count", "accuracy", "errors")


def coupled_problem(random: Random) -> Problem:
    """A problem of up to a dozen rows with one to three requirements on the predictions or tests of all rows."""
    return _problem(random, _World)


def odd_problem(random: Random) -> Problem:
    """The same with odd magnitudes."""
    return _problem(random, _OddWorld)


def _problem(random: Random, kind: type[_World]) -> Problem:
    rows = random.randint(2, random.choice((5, 5, 5, 5, 8)))
    columns = [_column(random, rows) for _ in range(random.randint(1, 4))]
    if random.random() < 0.3:  # columns of numbers, with about as many levels as rows
        rows = random.randint(2, random.choice((4, 5, 6)))
        columns = [("ordered", [random.randrange(rows) for _ in range(rows)]) for _ in range(random.randint(1, 2))]
    count = [random.choice((1, 1, 1, 2, 3)) for _ in range(rows)]
    classes = random.choice((2, 2, 2, 3))
    world = kind(random, from_columns(columns, classes, (), (), count))
    bounds = [made for number in range(random.randint(1, 3)) for made in world.requirement(f"requirement {number + 1}")]
    return world.problem.asking(world.goals(), (*world.shape(), *world.leaf_rules(), *bounds))


def _column(random: Random, rows: int) -> tuple[str, list[int]]:
    kind = random.choice(("binary", "binary", "ordered", "levels"))
    levels = 2 if kind == "binary" else 3
    return kind, [random.randrange(levels) for _ in range(rows)]


def _linear(ratio: Ratio, quotient: Fraction) -> Sum:
    """What has the sign of a quotient less this one: a requirement on a quotient is lowered to that."""
    (_, above), (_, below) = ratio.numerator.parts[0], ratio.denominator.parts[0]
    assert isinstance(above, Predicted)
    assert isinstance(below, Predicted)
    cost = quotient.denominator * above.cost - quotient.numerator * below.cost
    return single(Predicted(cost, Fraction(1, quotient.denominator)))


class _World:
    """The classes, groups and weights of one problem, and the requirements made of them."""

    def __init__(self, random: Random, problem: Problem) -> None:
        self.random, self.problem = random, problem
        self.actual = np.array([random.randrange(problem.classes) for _ in range(problem.rows)])
        groups = random.choice((2, 2, 3, 3, 5))
        self.group = np.array([random.randrange(groups) for _ in range(problem.rows)])
        self.weight = np.array(self.weights(), dtype=np.int64)
        self.positive = problem.classes - 1
        self.fees = self.test_cost()

    def weights(self) -> list[int]:
        random, rows = self.random, range(self.problem.rows)
        plain = [1] * self.problem.rows
        drawn = [random.choice((0, 1, 2, 5, 1000)) for _ in rows]
        large = [random.choice((1, 1000, 10**6 + 3)) for _ in rows]
        return random.choice((plain, plain, plain, drawn, drawn, large))

    def test_cost(self) -> TestCost:
        """Costs of the columns, often lower below a test of another one."""
        random, number = self.random, len(self.problem.features)
        costs = tuple(random.choice((0, 1, 2, 3, 7)) for _ in range(number))
        scale = Fraction(1, random.choice((1, 1, 10)))
        pairs = [(one, other) for one in range(number) for other in range(number) if one != other and costs[one]]
        if random.random() < 0.5 or not pairs:
            return TestCost(costs, scale)
        chosen = random.sample(pairs, random.randint(1, len(pairs)))
        return DiscountedTestCost(
            costs, scale, tuple((one, other, random.randrange(costs[one])) for one, other in sorted(chosen))
        )

    def goals(self) -> tuple[Goal, ...]:
        random, classes = self.random, self.problem.classes
        wrong = errors(self.actual.tolist(), classes, self.weight.tolist())
        costs = [[random.randint(-1, 4) for _ in range(classes)] for _ in range(self.problem.rows)]
        mistakes = Predicted(np.array(costs, dtype=np.int64), Fraction(1, random.choice((1, 2))))
        price = Fraction(random.choice((1, 2, 3)), random.choice((1, 2, 10)))
        choices: tuple[tuple[Sum, ...], ...] = (
            (single(wrong),),
            (single(wrong),),
            (single(mistakes),),
            (Sum(((Fraction(1), wrong), (price, Leaves()))),),
            (single(Leaves()),),
            (single(wrong), single(Leaves())),
            (single(mistakes), single(wrong)),
            (single(Depth()),),
            (),
            (Sum(((Fraction(1), wrong), (price, self.fees))),),
            (Sum(((Fraction(1), mistakes), (price, self.fees), (Fraction(1, 2), Leaves()))),),
            (single(self.fees), single(wrong)),
            (single(wrong), single(self.fees)),
            *self.quotients(),
        )
        return tuple(Goal(total) for total in random.choice(choices))

    def quotients(self) -> list[tuple[Sum, ...]]:
        """Goals that are quotients, which are maximized, and gaps."""
        made: list[tuple[Sum, ...]] = []
        for kind in ("precision", "f1"):
            quotient = self.share(kind)
            if isinstance(quotient, Ratio):
                made.append((single(quotient, -1),))
        parts = self.gap(self.random.choice(GAPS))
        return [*made, (single(Largest(tuple(parts))),)] if parts else made

    def shape(self) -> list[Bound]:
        random, made = self.random, []
        if random.random() < 0.85:
            made.append(bound(Depth(), "<=", random.randint(0, 3), "depth"))
        if random.random() < 0.25:
            made.append(bound(Leaves(), "<=", random.randint(1, 6), "leaves"))
        if random.random() < 0.25:
            made.append(bound(Support(), ">=", random.randint(1, 4), "support"))
        if random.random() < 0.1:
            made.append(bound(Used(frozenset({random.randrange(len(self.problem.features))})), "<=", 0, "unused"))
        if random.random() < 0.15:
            made.append(bound(self.fees, "<=", self.limit(single(self.fees), "<="), "fees"))
        return made

    def leaf_rules(self) -> list[Bound]:
        """What every leaf has to keep by itself."""
        random, classes, made = self.random, self.problem.classes, []
        if random.random() < 0.15:
            weight = np.zeros((self.problem.rows, classes), dtype=np.int64)
            weight[np.arange(self.problem.rows), self.actual] = self.weight
            share = Fraction(random.choice((1, 2, 3, 4, 9)), random.choice((2, 3, 4, 10)))
            made.append(bound(Purity(weight), ">=", min(share, Fraction(1)), "purity"))
        if random.random() < 0.1:
            wrong = errors(self.actual.tolist(), classes, self.weight.tolist())
            made.append(bound(LeafErrors(wrong.cost), "<=", random.choice((0, 1, 1, 2, 3, 1000)), "leaf errors"))
        return made

    def requirement(self, name: str) -> list[Bound]:
        """The bounds of one requirement; none if it has no rows to speak of."""
        kind = self.random.choice((*GAPS, *SHARES))
        if kind in GAPS:
            parts = self.gap(kind)
            limit = Fraction(self.random.choice((0, 1, 5, 10, 20, 30, 50)), 100)
            return [bound(Largest(tuple(parts)), "<=", limit, name)] if parts else []
        total = self.share(kind)
        if total is None:
            return []
        sense = self.random.choice(("<=", ">=", ">=", "="))
        if isinstance(total, Ratio):
            return [self.quotient(total, sense, name)]
        return [bound(total, sense, self.limit(total, sense), name)]

    def quotient(self, total: Ratio, sense: str, name: str) -> Bound:
        return bound(_linear(total, Fraction(self.random.randint(1, 9), 10)), sense, 0, name)

    def gap(self, kind: str) -> list[Sum]:
        """The differences of the rate of the positive class between every two groups, in both orders."""
        everywhere = np.ones(self.problem.rows, dtype=bool)
        among = {
            "parity": (everywhere,),
            "opportunity": (self.actual == self.positive,),
            "odds": (self.actual == self.positive, self.actual != self.positive),
        }[kind]
        parts = []
        for rows in among:
            sides = [rows & (self.group == group) for group in range(int(self.group.max()) + 1)]
            weighty = [side for side in sides if self.weight[side].sum() > 0]
            differences = [self.difference(one, other) for one, other in permutations(weighty, 2)]
            parts += [each for each in differences if each is not None]
        return parts

    def difference(self, one: Bits, other: Bits) -> Sum | None:
        """The rate of one side less that of the other; None if its whole numbers need more than 64 bits."""
        above, below = int(self.weight[one].sum()), int(self.weight[other].sum())
        if above * below >= 2**62:
            return None
        cost = np.zeros((self.problem.rows, self.problem.classes), dtype=np.int64)
        cost[one, self.positive] = self.weight[one] * below
        cost[other, self.positive] = -self.weight[other] * above
        return single(Predicted(cost, Fraction(1, above * below)))

    def share(self, kind: str) -> Sum | Ratio | None:
        positive = np.arange(self.problem.classes) == self.positive
        everywhere = np.ones(self.problem.rows, dtype=bool)
        truly = self.actual == self.positive
        if kind == "precision":
            return Ratio(single(self.counted(truly, positive)), single(self.counted(everywhere, positive)))
        if kind == "f1":
            wrong = np.where(truly[:, None], ~positive[None, :], positive[None, :]) * self.weight[:, None]
            right = 2 * self.counted(truly, positive).cost
            return Ratio(single(Predicted(right)), single(Predicted(right + wrong.astype(np.int64))))
        if kind in ("accuracy", "errors"):
            wrong = errors(self.actual.tolist(), self.problem.classes, self.weight.tolist())
            total = int(self.weight.sum())
            if kind == "errors" or not total:
                return single(wrong)
            return single(Predicted(wrong.cost, Fraction(1, total)), -1, 1)
        rows, labels = {
            "recall": (truly, positive),
            "specificity": (~truly, ~positive),
            "rate": (self.group == 0, positive),
            "count": (self.group == 1, ~positive),
        }[kind]
        total = int(self.weight[rows].sum())
        if not total:
            return None
        counted = self.counted(rows, labels)
        return single(counted if kind == "count" else Predicted(counted.cost, Fraction(1, total)))

    def counted(self, rows: Bits, labels: Bits) -> Predicted:
        return Predicted(np.where(rows[:, None] & labels[None, :], self.weight[:, None], 0).astype(np.int64))

    def limit(self, total: Sum, sense: str) -> Fraction:
        """The value of some tree, often moved by a little."""
        value = total.evaluate(Routed(self.problem, self.tree()), None)
        assert value is not None
        if sense == "=" or self.random.random() < 0.6:
            return value
        return value + Fraction(self.random.choice((-1, 1)), self.random.choice((1, 2, 3, 7, 1000)))

    def tree(self) -> Node:
        """A random tree of depth 2 without empty leaves."""

        def grow(rows: NDArray[np.intp], depth: int) -> Node:
            splits = [
                test
                for test in range(len(self.problem.tests))
                if 0 < int(self.problem.bits[test, rows].sum()) < len(rows)
            ]
            if not depth or not splits:
                return Leaf(self.random.randrange(self.problem.classes))
            test = self.random.choice(splits)
            yes = self.problem.bits[test, rows]
            return Split(test, grow(rows[yes], depth - 1), grow(rows[~yes], depth - 1))

        return grow(np.arange(self.problem.rows), 2)


ODD_WEIGHTS = (
    (1, 2**31 - 1, 2**31, 2**31 + 1),
    (0, 0, 1, 2**31),
    (1, 2, 124_999, 125_001),  # sums on both sides of the longest row of the mip
    (1, 333_333, 10**9 + 7),
    (0, 1, 2**50 - 1, 2**50 + 1),  # sums on both sides of the largest that solvers carry
    (3, 2**53 - 1, 2**53 + 1),
    (0, 0, 0, 1),
)
ODD_OFFSETS = ("0", "0", "1e-12", "-1e-12", "1e-30", "0.5", "-0.5", "1e18", "-1e18", "1e30", "9007199254740993")
ODD_LIMITS = (0.0, 1e-9, 0.1 + 0.2, 1 / 3, 0.05, 1.0 - 2**-53, 1.0)  # as a float that was not rounded is read


class _OddWorld(_World):
    """The same requirements on weights and with limits at which numbers may be clipped or rounded."""

    def weights(self) -> list[int]:
        chosen = self.random.choice(ODD_WEIGHTS)
        return [self.random.choice(chosen) for _ in range(self.problem.rows)]

    def limit(self, total: Sum, sense: str) -> Fraction:
        return super().limit(total, sense) + Fraction(self.random.choice(ODD_OFFSETS))

    def quotient(self, total: Ratio, sense: str, name: str) -> Bound:
        """The quotient as it is, or multiplied out as the language does it, with a limit of a long denominator."""
        share = self.long_share()
        if self.random.random() < 0.25:
            return bound(total, sense, share, name)
        below = tuple((-share * factor, term) for factor, term in total.denominator.parts)
        return bound(Sum((*total.numerator.parts, *below)), sense, 0, name)

    def requirement(self, name: str) -> list[Bound]:
        """Limits of gaps are long fractions, too."""
        return [
            replace(each, limit=self.long_share()) if each.sum.kinds() == {"Largest"} else each
            for each in super().requirement(name)
        ]

    def long_share(self) -> Fraction:
        random = self.random
        return random.choice(
            (Fraction(random.choice(ODD_LIMITS)), Fraction(random.randint(1, 10**12), 10**12 + 39), Fraction(1, 2))
        )
