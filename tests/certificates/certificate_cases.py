"""Small random problems with the truth by brute force, and certificates of them, right and wrong.

Nothing here knows the rules of the checkers: the truth comes from listing what all trees cost.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from functools import cache
from types import SimpleNamespace

import numpy as np

from treeml.native.certify import Prover, TreeShape
from treeml.solving.certificates.points import closing_claims


@dataclass
class Case:
    """A data file and what is asked; a tree is a test number with two trees, or -1 - class."""

    words: list[list[str]]  # columns: the target, the tests, the weights
    names: list[str]
    tests: list[tuple[str, str, list[str], list[list[bool]]]]  # column, line, cuts, answers per cut
    labels: list[int]
    classes: int
    weights: list[int]
    goals: list[tuple[int, list[list[int]]]]  # price, costs actual x predicted
    depth: int
    leaves: int = 0
    support: int = 1
    require: tuple[int, list[list[int]]] | None = None
    limit: int = 0
    multiplier: tuple[int, int] = (0, 1)
    claim: str = "optimal"
    tree: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return len(self.labels)

    @property
    def answers(self) -> list[list[bool]]:
        return [answers for test in self.tests for answers in test[3]]

    def data(self) -> bytes:
        lines = [",".join(self.names)] + [",".join(column[row] for column in self.words) for row in range(self.rows)]
        return ("\n".join(lines) + "\n").encode()

    def header(self) -> list[str]:
        lines = ["treeml certificate 2", 'separator ","', f"rows {self.rows}", 'target "y"']
        lines += [f'class "c{label}"' for label in range(self.classes)]
        lines += [f"depth {self.depth}"]
        lines += [f"leaves {self.leaves}"] if self.leaves else []
        lines += [f"support {self.support}"] if self.support > 1 else []
        lines += ['missing "?"']
        lines += [f'test "{column}" {line}' for column, line, _, _ in self.tests]
        for (price, costs), factor in zip(self.goals, combined(self)[2], strict=True):
            lines += [f'goal {factor} price {price} weight "w" 10', *_costs(costs)]
        if self.require is not None:
            factor = 1 if self.claim == "infeasible" else self.multiplier[0]
            lines += [f'require {self.limit} {factor} price {self.require[0]} weight "w" 10', *_costs(self.require[1])]
        lines += [f"claim {self.claim}"]
        lines += [f"tree {' '.join(map(str, self.tree))}"] if self.tree else []
        lines += [f"value {' '.join(map(str, self.values))}"] if self.values else []
        return lines

    def matrix(self, costs: list[list[int]]) -> np.ndarray:
        return np.array([[w * cost for cost in costs[y]] for w, y in zip(self.weights, self.labels, strict=True)])


def _costs(costs: list[list[int]]) -> list[str]:
    lines = [[f"cost {' '.join(map(str, vector))}", f'when "y" "c{label}"'] for label, vector in enumerate(costs)]
    return [line for pair in lines for line in pair]


def random_case(rng: random.Random) -> Case:
    rows, classes = rng.randint(4, 11), rng.choice([2, 2, 2, 3])
    labels = [rng.randrange(classes) for _ in range(rows)]
    weights = [rng.randint(0, 3) for _ in range(rows)] if rng.random() < 0.3 else [1] * rows
    columns, tests, names = [], [], []
    for number in range(rng.randint(2, 4)):
        column, test = _random_test(rng, rows, f"x{number}")
        columns.append(column)
        names.append(f"x{number}")
        tests.append(test)
    words = [[f"c{label}" for label in labels], *columns, [f"0.{w}" for w in weights]]
    goals = [_random_amount(rng, classes) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    case = Case(words, ["y", *names, "w"], tests, labels, classes, weights, goals, rng.choice([2, 3, 3, 3, 4]))
    if rng.random() < 0.3:
        case.leaves = rng.randint(1, 6)
    if rng.random() < 0.3:
        case.support = rng.randint(2, 3)
    if rng.random() < 0.3:
        case.goals = case.goals[:1]
        case.require = _random_amount(rng, classes)
        case.limit = rng.randint(0, 6)
        case.multiplier = rng.choice([(0, 1), (0, 1), (0, 1), (1, 1), (2, 1), (1, 2), (3, 2)])
        if case.multiplier == (0, 1):  # the claims limit the requirement: a set of points instead of a multiplier
            case.leaves, case.depth = 0, min(case.depth, 3)
            case.tests = [test for test in case.tests if len(test[3]) == 1]
    return case


def _random_test(
    rng: random.Random, rows: int, name: str
) -> tuple[list[str], tuple[str, str, list[str], list[list[bool]]]]:
    kind = rng.choice(["words", "words", "every", "cuts"])
    if kind == "words":
        column = [rng.choice("abc") for _ in range(rows)]
        yes = rng.sample("abc", rng.randint(1, 2))
        line = "words " + " ".join(f'"{word}"' for word in yes)
        return column, (name, line, [], [[cell in yes for cell in column]])
    column = [rng.choice(["1", "2", "2.5", "1e1", "?"]) for _ in range(rows)]
    known = [None if cell == "?" else float(cell) for cell in column]
    missing = rng.random() < 0.5
    cuts = (
        sorted({x for x in known if x is not None})[:-1]
        if kind == "every" and len({x for x in known if x is not None}) > 1
        else sorted(rng.sample([0.5, 1, 2, 2.2, 9], 2))
    )
    answers = [[missing if x is None else x <= cut for x in known] for cut in cuts]
    line = "cuts " + " ".join(map(str, cuts))
    return column, (name, line + (" missing" if missing else ""), [], answers)


def _random_amount(rng: random.Random, classes: int) -> tuple[int, list[list[int]]]:
    price = rng.choice([0, 0, 1, 2])
    if rng.random() < 0.6:
        return price, [[int(i != j) for j in range(classes)] for i in range(classes)]
    return price, [[rng.randint(-1, 4) for _ in range(classes)] for _ in range(classes)]


def outcomes(case: Case) -> dict[tuple[int, ...], list[int]]:
    """Every combination of values of goals and requirement (last) that some tree has, with such a tree."""
    amounts = [*case.goals, *([case.require] if case.require else [])]
    matrices = [case.matrix(costs) for _, costs in amounts]
    answers = case.answers
    most = case.leaves or 2**case.depth

    @cache
    def below(rows: frozenset[int], depth: int, leaves: int) -> dict[tuple[int, ...], tuple[list[int], int]]:
        found: dict[tuple[int, ...], tuple[list[int], int]] = {}
        if len(rows) < case.support:
            return found
        here = sorted(rows)
        for label in range(case.classes):
            key = tuple(int(m[here, label].sum()) + price for m, (price, _) in zip(matrices, amounts, strict=True))
            found.setdefault((*key, 1), ([-1 - label], 1))
        for test, answer in enumerate(answers if depth and leaves > 1 else []):
            yes = frozenset(row for row in rows if answer[row])
            if not yes or yes == rows:
                continue
            left, right = below(yes, depth - 1, leaves - 1), below(rows - yes, depth - 1, leaves - 1)
            for one, (tree, _) in left.items():
                for other, (more, _) in right.items():
                    key = tuple(a + b for a, b in zip(one, other, strict=True))
                    if key[-1] <= leaves:
                        found.setdefault(key, ([test, *tree, *more], key[-1]))
        return found

    everything = below(frozenset(range(case.rows)), case.depth, most)
    return {key[:-1]: tree for key, (tree, _) in everything.items()}


def feasible(case: Case, found: dict[tuple[int, ...], list[int]]) -> dict[tuple[int, ...], list[int]]:
    """Those that meet the requirement, by the values of the goals."""
    if case.require is None:
        return found
    return {key[:-1]: tree for key, tree in found.items() if key[-1] <= case.limit}


def combined(case: Case) -> tuple[np.ndarray, int, list[int]]:
    """One cost matrix, one price, and the factors of the goals, by the definitions in docs/certificates.md."""
    if case.claim == "infeasible":
        assert case.require is not None
        return case.matrix(case.require[1]), case.require[0], []
    matrices = [case.matrix(costs) for _, costs in case.goals]
    by, divisor = case.multiplier
    factors = [divisor]
    for (price, _), matrix in reversed(list(zip(case.goals[1:], matrices[1:], strict=True))):
        factors.insert(0, factors[0] * (int(np.abs(matrix).sum()) + price * case.rows + 1))
    total = sum(f * m for f, m in zip(factors, matrices, strict=True))
    price = sum(f * p for f, (p, _) in zip(factors, case.goals, strict=True))
    if case.require is not None:
        total, price = total + by * case.matrix(case.require[1]), price + by * case.require[0]
    return total, price, factors


def prover_of(case: Case) -> Prover:
    places, cuts = [], []
    for _, _, _, answers in case.tests:
        if answers:
            places.append([sum(not each[row] for each in answers) for row in range(case.rows)])
            cuts.append(len(answers))
    matrix, price, _ = combined(case)
    return Prover(np.array(places), cuts, matrix, TreeShape(case.depth, case.leaves, case.support, price))


def claims_of(case: Case, best: tuple[int, ...] | None) -> tuple[list[list[int]], int, int]:
    """Claims for a statement, what they prove, and their base; those of points are made for the true optimum."""
    if case.multiplier[0] or case.claim == "infeasible" or case.require is None:
        prover = prover_of(case)
        proved = prover.prove(needed(case))
        return parsed(proved.text), proved.bound, prover.base
    if best is None:
        return [], 0, 0
    amounts = [
        SimpleNamespace(matrix=case.matrix(costs), price=price) for price, costs in (case.goals[0], case.require)
    ]
    families = [
        SimpleNamespace(place=np.array([int(not yes) for yes in answers[0]])) for _, _, _, answers in case.tests
    ]
    asked = SimpleNamespace(goals=amounts[:1], require=amounts[1], families=families, values=best, limit=case.limit)
    asked.depth, asked.support = case.depth, case.support
    closed = closing_claims(asked, float("inf"))  # type: ignore[arg-type]
    if closed is None:
        return [], 0, 0
    base = best[0] - parsed(closed.text)[-1][2]
    return parsed(closed.text), closed.bound, base


def written(case: Case, claims: list[list[int]]) -> bytes:
    lines = [*case.header(), f"claims {len(claims)}", *(" ".join(map(str, claim)) for claim in claims), "end"]
    return ("\n".join(lines) + "\n").encode()


def parsed(text: bytes) -> list[list[int]]:
    return [[int(x) for x in line.split()] for line in text.splitlines()]


def with_statement(
    case: Case, rng: random.Random, found: dict[tuple[int, ...], list[int]], is_true: bool
) -> Case | None:
    """The case with a claim that is true, or with one that is false; None if the case admits no such claim."""
    allowed = feasible(case, found)
    if case.require is not None and not allowed:
        if is_true or rng.random() < 0.5:
            return replace(case, claim="infeasible", goals=[], multiplier=(0, 1)) if is_true else None
        return None
    if not allowed:
        return None
    best = min(allowed)
    if is_true:
        return replace(case, tree=allowed[best], values=list(best))
    if case.require is not None and rng.random() < 0.3:
        return replace(case, claim="infeasible", goals=[], multiplier=(0, 1))
    worse = [key for key in allowed if key > best]
    if len(case.goals) == 1 and (not worse or rng.random() < 0.4):
        key = rng.choice(list(allowed))
        return replace(case, claim=f"bound {best[0] + rng.randint(1, 3)}", tree=allowed[key], values=list(key))
    if not worse:
        return None
    key = rng.choice(worse)
    return replace(case, tree=allowed[key], values=list(key))


def needed(case: Case) -> int:
    """The bound that the claims have to prove for the statement."""
    if case.claim == "infeasible":
        return case.limit + 1
    values = [int(case.claim.split()[1])] if case.claim.startswith("bound") else case.values
    factors = combined(case)[2]
    wanted = sum(f * v for f, v in zip(factors, values, strict=True))
    return wanted - factors[-1] + case.multiplier[0] * case.limit + 1
