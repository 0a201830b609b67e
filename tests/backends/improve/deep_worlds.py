"""Small problems with deep trees, for the tests beside this."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import treeml as tml
from treeml.problem.problem import Problem
from treeml.problem.terms import Depth, Predicted
from treeml.problem.tree import Leaf, Node, Split
from treeml.testing.problems import binary, bound, errors, minimize

ROWS, TESTS = 40, 8


def random_rows(seed: int, rows: int = ROWS, tests: int = TESTS) -> tuple[list[str], list[int]]:
    """Distinct rows of bits with a class that three of the tests and some noise decide."""
    random = np.random.default_rng(seed)
    found = sorted({"".join(map(str, row)) for row in random.integers(0, 2, (3 * rows, tests))})
    chosen = [found[i] for i in sorted(random.permutation(len(found))[:rows])]
    return chosen, [int((row[0] == row[1]) ^ (row[2] == "1") ^ (random.random() < 0.2)) for row in chosen]


def perfect(seed: int, rows: int = ROWS, tests: int = TESTS) -> Problem:
    """Minimize depth without errors."""
    texts, actual = random_rows(seed, rows, tests)
    return binary(texts, 2, minimize(Depth()), (bound(errors(actual, 2), "<=", 0, "errors"),))


def chain(problem: Problem, labels: list[int]) -> Node:
    """A tree as deep as it gets: every level sets apart the first row that is left."""
    bits = problem.bits

    def grown(rows: list[int]) -> Node:
        if len({labels[row] for row in rows}) == 1:
            return Leaf(labels[rows[0]])
        test = min(
            (t for t in range(len(bits)) if 0 < sum(bits[t][rows]) < len(rows)),
            key=lambda t: min(sum(bits[t][rows]), len(rows) - sum(bits[t][rows])),
        )
        yes = [row for row in rows if bits[test][row]]
        no = [row for row in rows if not bits[test][row]]
        return Split(test, grown(yes), grown(no))

    return grown(list(range(problem.rows)))


def labels_of(problem: Problem) -> list[int]:
    """The class of every row, from the requirement of no errors."""
    predicted = problem.bounds[0].sum.parts[0][1]
    assert isinstance(predicted, Predicted)
    return [int(np.argmin(row)) for row in predicted.cost]


def write_csv(path: Path, seed: int, rows: int = ROWS, tests: int = TESTS) -> Path:
    texts, actual = random_rows(seed, rows, tests)
    header = ",".join([*(f"x{i}" for i in range(tests)), "label"])
    lines = [",".join([*text, "yes" if label else "no"]) for text, label in zip(texts, actual, strict=True)]
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def model(*statements: str) -> tml.Model:
    return tml.Model.parse("\n".join(("predict label", *statements)))
