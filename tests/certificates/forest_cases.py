"""Small random forests with the truth by listing all trees, and certificates of their margins, right and wrong."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import ceil, floor

import numpy as np

from treeml.native.certify import Prover, TreeShape


@dataclass
class ForestCase:
    columns: list[list[str]]  # of the tests
    labels: list[int]
    classes: int
    weights: list[int]
    depth: int
    support: int
    penalty: Fraction | None  # None: no row may fall short
    prices: list[list[int]]  # rows x rivals
    trees: list[tuple[int, list[int]]]  # votes and nodes in prefix order
    claim: tuple[int, int, int] = (0, 0, 0)  # value, bound, the margin up to which rows pay

    def data(self) -> bytes:
        names = [*(f"x{i}" for i in range(len(self.columns))), "y", "w"]
        cells = [*self.columns, [f"c{y}" for y in self.labels], [str(w) for w in self.weights]]
        return ("\n".join([",".join(names), *map(",".join, zip(*cells, strict=True))]) + "\n").encode()

    def written(self, claims: list[list[int]]) -> bytes:
        over, under = (1, 0) if self.penalty is None else self.penalty.as_integer_ratio()
        lines = ["treeml certificate 2", 'separator ","', f"rows {len(self.labels)}", 'target "y"']
        lines += [*(f'class "c{y}"' for y in range(self.classes)), f"depth {self.depth}", f"support {self.support}"]
        lines += [f'test "x{i}" words "1"' for i in range(len(self.columns))]
        lines += [f"claim margin {' '.join(map(str, self.claim))}", f'forest {over} {under} weight "w" 1']
        lines += [f"prices {' '.join(str(u) for row in self.prices for u in row)}"]
        lines += [f"tree {votes} {' '.join(map(str, nodes))}" for votes, nodes in self.trees]
        lines += [f"claims {len(claims)}", *(" ".join(map(str, claim)) for claim in claims), "end"]
        return ("\n".join(lines) + "\n").encode()

    def costs(self) -> np.ndarray:
        matrix = np.zeros((len(self.labels), self.classes), dtype=np.int64)
        for row, (label, prices) in enumerate(zip(self.labels, self.prices, strict=True)):
            rivals = [c for c in range(self.classes) if c != label]
            matrix[row, rivals] = [sum(prices) + price for price in prices]
        return matrix

    def prover(self) -> Prover:
        place = np.array([[int(cell != "1") for cell in column] for column in self.columns])
        return Prover(place, [1] * len(place), self.costs(), TreeShape(self.depth, 0, self.support, 0))

    def is_feasible(self) -> bool:
        paid = sum(map(sum, self.prices))
        limit = None if self.penalty is None else self.penalty * paid
        each = [(sum(row), weight) for row, weight in zip(self.prices, self.weights, strict=True)]
        return paid > 0 and all(weight > 0 if limit is None else own <= limit * weight for own, weight in each if own)


def all_trees(case: ForestCase) -> dict[tuple[int, ...], list[int]]:
    """Every prediction of all rows that some tree makes, with such a tree."""

    def below(rows: tuple[int, ...], depth: int) -> dict[tuple[tuple[int, int], ...], list[int]]:
        if len(rows) < case.support:
            return {}
        found = {tuple((row, label) for row in rows): [-1 - label] for label in range(case.classes)}
        for test, column in enumerate(case.columns if depth else []):
            yes = tuple(row for row in rows if column[row] == "1")
            no = tuple(row for row in rows if column[row] != "1")
            if yes and no:
                sides = below(yes, depth - 1).items(), below(no, depth - 1).items()
                for (one, tree), (other, more) in product(*sides):
                    found.setdefault(tuple(sorted(one + other)), [test, *tree, *more])
        return found

    every = below(tuple(range(len(case.labels))), case.depth)
    return {tuple(label for _, label in key): tree for key, tree in every.items()}


def value_of(case: ForestCase, votes: list[tuple[int, tuple[int, ...]]]) -> tuple[Fraction, int]:
    """The soft margin of a forest in units of one vote, by trying every margin as r, and the best r."""
    margins = []
    for row, label in enumerate(case.labels):
        given = [sum(vote for vote, predicted in votes if predicted[row] == c) for c in range(case.classes)]
        margins.append(given[label] - max(given[c] for c in range(case.classes) if c != label))
    heavy = [(m, w) for m, w in zip(margins, case.weights, strict=True) if w]
    if case.penalty is None:
        return Fraction(min(m for m, _ in heavy)), min(m for m, _ in heavy)
    tried = [(r - case.penalty * sum(w * max(0, r - m) for m, w in heavy), r) for r, _ in heavy]
    return max(tried)


def random_forest_case(rng: random.Random) -> tuple[ForestCase, Fraction, Fraction] | None:
    """A case, the value of its forest, and the value of the best forest that was met, both per vote."""
    rows, classes = rng.randint(3, 7), rng.choice([2, 2, 3])
    labels = [rng.randrange(classes) for _ in range(rows)]
    weights = [rng.choice([0, 1, 1, 2]) for _ in range(rows)]
    columns = [[rng.choice("01") for _ in range(rows)] for _ in range(rng.randint(2, 3))]
    if not sum(weights):
        return None
    penalty = None if rng.random() < 0.2 else Fraction(rng.randint(1, 4), sum(weights))
    prices = [[weight * 60 // (classes - 1)] * (classes - 1) for weight in weights]
    case = ForestCase(columns, labels, classes, weights, rng.randint(1, 3), rng.choice([1, 1, 2]), penalty, prices, [])
    trees = list(all_trees(case).items())
    if not trees:
        return None
    best = Fraction(-1)
    chosen: list[tuple[int, tuple[int, ...]]] = []
    for _ in range(60):
        chosen = [(rng.randint(1, 5), rng.choice(trees)[0]) for _ in range(rng.randint(1, 3))]
        best = max(best, value_of(case, chosen)[0] / sum(vote for vote, _ in chosen))
    known = dict(trees)
    total = sum(vote for vote, _ in chosen)
    value, r = value_of(case, chosen)
    for _ in range(rng.randint(0, 6)):  # other prices that keep their limits
        changed = replace(case, prices=[list(row) for row in case.prices])
        row = rng.randrange(rows)
        changed.prices[row][rng.randrange(classes - 1)] = rng.randint(0, 200)
        case = changed if changed.is_feasible() else case
    case.trees = [(vote, known[predicted]) for vote, predicted in chosen]
    case.claim = (floor(value), 0, r)
    return case, value / total, best


def with_bound(case: ForestCase, least: int) -> ForestCase:
    """The statement that follows if no tree costs less than `least`."""
    paid, total = sum(map(sum, case.prices)), sum(votes for votes, _ in case.trees)
    bound = ceil(Fraction((paid - least) * total, paid)) if paid else 0
    return replace(case, claim=(case.claim[0], bound, case.claim[2]))


def false_statement(case: ForestCase, best: Fraction, rng: random.Random) -> ForestCase:
    """A bound below a forest that exists, or a value above that of the forest; sometimes with wrong prices, too."""
    total = sum(votes for votes, _ in case.trees)
    value, bound, r = case.claim
    if rng.random() < 0.5:
        bound = ceil(best * total) - rng.randint(1, 3)
    else:
        value += rng.randint(1, 3)
        r = rng.choice([r, value, r + 1])
    made = replace(case, claim=(value, bound, r), prices=[list(row) for row in case.prices])
    if rng.random() < 0.4:
        row = rng.randrange(len(made.prices))
        made.prices[row] = [rng.randint(0, 400) for _ in made.prices[row]]
    return made
