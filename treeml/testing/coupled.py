"""Random small problems with one to three coupled requirements -> disagreements with the oracle.

    python -m treeml.testing.coupled --cases 100000 --backend native --backend cpsat

The requirements are those of the language: gaps between two or three groups, recall, specificity, precision, rates,
counts, accuracy and errors, as lower limits, upper limits and equations. Most limits are drawn near the value of some
tree, where one row more or less decides.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends import registry
from treeml.problem.evaluate import Routed
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Depth, Largest, Leaves, Predicted, Ratio, Sum, Support, Used
from treeml.problem.tree import Leaf, Node, Split
from treeml.testing.fuzz import FuzzTally, fuzz, store
from treeml.testing.problems import bound, errors, from_columns, single

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bits = NDArray[np.bool_]

GAPS = ("parity", "opportunity", "odds")
SHARES = ("recall", "specificity", "precision", "rate", "count", "accuracy", "errors")


def coupled_problem(random: Random) -> Problem:
    """A problem of up to a dozen rows with one to three requirements on the predictions of all rows."""
    rows = random.randint(2, 12)
    columns = [_column(random, rows) for _ in range(random.randint(1, 4))]
    count = [random.choice((1, 1, 1, 2, 3)) for _ in range(rows)]
    classes = random.choice((2, 2, 2, 3))
    world = _World(random, from_columns(columns, classes, (), (), count))
    bounds = [made for number in range(random.randint(1, 3)) for made in world.requirement(f"requirement {number + 1}")]
    return world.problem.asking(world.goals(), (*world.shape(), *bounds))


def _column(random: Random, rows: int) -> tuple[str, list[int]]:
    kind = random.choice(("binary", "binary", "ordered", "levels"))
    levels = 2 if kind == "binary" else 3
    return kind, [random.randrange(levels) for _ in range(rows)]


class _World:
    """The classes, groups and weights of one problem, and the requirements made of them."""

    def __init__(self, random: Random, problem: Problem) -> None:
        self.random, self.problem = random, problem
        self.actual = np.array([random.randrange(problem.classes) for _ in range(problem.rows)])
        groups = random.choice((2, 2, 3, 3, 5))
        self.group = np.array([random.randrange(groups) for _ in range(problem.rows)])
        plain = [1] * problem.rows
        drawn = [random.choice((0, 1, 2, 5, 1000)) for _ in range(problem.rows)]
        self.weight = np.array(random.choice((plain, plain, drawn)), dtype=np.int64)
        self.positive = problem.classes - 1

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
        )
        return tuple(Goal(total) for total in random.choice(choices))

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
            quotient = Fraction(self.random.randint(1, 9), 10)
            linear = self.linear(total, quotient)
            return [bound(linear, sense, 0, name)]
        return [bound(total, sense, self.limit(total, sense), name)]

    def linear(self, ratio: Ratio, quotient: Fraction) -> Sum:
        (_, above), (_, below) = ratio.numerator.parts[0], ratio.denominator.parts[0]
        assert isinstance(above, Predicted)
        assert isinstance(below, Predicted)
        cost = quotient.denominator * above.cost - quotient.numerator * below.cost
        return single(Predicted(cost, Fraction(1, quotient.denominator)))

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
            parts += [self.difference(one, other) for one, other in permutations(weighty, 2)]
        return parts

    def difference(self, one: Bits, other: Bits) -> Sum:
        above, below = int(self.weight[one].sum()), int(self.weight[other].sum())
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


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m treeml.testing.coupled", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--backend", action="append", help="a name; may be given several times; default: native")
    parser.add_argument("--cases", type=int, default=1000, help="for each back-end")
    parser.add_argument("--seed", type=int, default=1, help="of the first problem; the next ones count up")
    parser.add_argument("--into", type=Path, default=Path("found"), help="folder for the shrunk cases")
    asked = parser.parse_args(arguments)
    wrong = 0
    for name in asked.backend or ["native"]:
        tally = FuzzTally()
        seeds = iter(range(asked.seed, asked.seed + asked.cases))
        try:
            for found in fuzz(registry.get(name), seeds, tally=tally, make=coupled_problem):
                wrong += 1
                sys.stdout.write(f"{name}: seed {found.seed}: {found.reason}\n  {store(found, asked.into)}\n")
                sys.stdout.flush()
        except KeyboardInterrupt:
            sys.stdout.write(f"{name}: stopped by Ctrl-C\n")
        sys.stdout.write(f"{name}: {tally.tried} problems, {tally.taken} taken, {tally.refused} refused\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
