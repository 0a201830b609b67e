"""Mixed tables: numbers, Boolean columns, levels and separate missing values, with every goal and bound of the kernel.

They are compared with the oracle, and with the binary kernel with every threshold as a test."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import polars as pl
import pytest

import treeml as tml
from treeml.backends.contract import NO_LIMITS, Status
from treeml.backends.native.backend import NativeBackend
from treeml.backends.oracle.backend import OracleBackend
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Depth, Leaves, Loss, Predicted, Sum, Support, Term, Used
from treeml.testing.problems import bound, errors, from_columns

KINDS = ("ordered", "ordered", "ordered", "binary", "levels", "subsets")


def column(random: Random, rows: int) -> tuple[str, list[int]]:
    """Columns with ties and duplicates, some with missing values."""
    kind = random.choice(KINDS)
    levels = {"binary": 2, "levels": 4, "subsets": 3}.get(kind, random.choice((2, 4, rows, 3 * rows)))
    missing = random.choice((0, 0, 0.1, 0.4))
    return kind, [-1 if random.random() < missing else random.randrange(max(levels, 2)) for _ in range(rows)]


def goal_term(random: Random, rows: int, classes: int, count: list[int]) -> Term:
    if not classes:
        outputs = random.choice((1, 1, 2))
        targets = [[random.randint(-9, 9) for _ in range(outputs)] for _ in range(rows)]
        weight = np.array([random.choice((0, 1, 1, 4)) for _ in range(rows)], dtype=np.int64)
        return Loss("squared", np.array(targets, dtype=np.int64), weight)
    actual = [random.randrange(classes) for _ in range(rows)]
    shape = random.choice(("errors", "errors", "weights", "costs"))
    if shape == "costs":
        cost = [[random.randint(-2, 6) for _ in range(classes)] for _ in range(rows)]
        return Predicted(np.array(cost, dtype=np.int64))
    weight = count if shape == "errors" else [random.choice((0, 1, 2, 5, 10**9)) for _ in range(rows)]
    return errors(actual, classes, weight)


def problem(random: Random, rows: int, columns: int, depth: int) -> Problem:
    n = random.randint(1, rows)
    classes = random.choice((0, 2, 2, 2, 3, 5, 7))
    count = [random.choice((1, 1, 1, 2, 3)) for _ in range(n)]
    made = [column(random, n) for _ in range(random.randint(1, columns))]
    parts: list[tuple[Fraction, Term]] = [(Fraction(1), goal_term(random, n, classes, count))]
    if random.random() < 0.4:
        parts.append((random.choice((Fraction(1, 2), Fraction(1), Fraction(3))), Leaves()))
    bounds: list[Bound] = [bound(Depth(), "<=", random.randint(0, depth), "depth")]
    if random.random() < 0.3:
        bounds.append(bound(Leaves(), "<=", random.randint(1, 6), "leaves"))
    if random.random() < 0.3:
        bounds.append(bound(Support(), ">=", random.randint(1, 4), "support"))
    if random.random() < 0.3:
        bounds.append(bound(Used(frozenset({random.randrange(len(made))})), "<=", 0, "without"))
    return from_columns(made, classes, (Goal(Sum(tuple(parts), Fraction(0))),), tuple(bounds), count)


def check(asked: Problem, threads: int, *, oracle: bool) -> None:
    limits = replace(NO_LIMITS, options={"kernel": "numeric"}, threads=threads)
    found = NativeBackend().solve(asked, limits)
    if oracle:
        wanted = OracleBackend().solve(asked)
    else:
        wanted = NativeBackend().solve(asked, replace(NO_LIMITS, options={"kernel": "binary"}))
    assert found.status is wanted.status
    assert found.status in (Status.OPTIMAL, Status.INFEASIBLE)
    if found.tree is None:
        return
    assert found.objective is not None
    assert wanted.objective is not None
    assert evaluate_goals(asked, found.tree) == found.objective
    assert abs(found.objective[0] - wanted.objective[0]) <= found.tolerance + wanted.tolerance


@pytest.mark.parametrize("part", range(4))
def test_equal_to_the_oracle(part: int) -> None:
    for seed in range(100 * part, 100 * part + 60):
        random = Random(seed)
        check(problem(random, rows=7, columns=3, depth=2), random.choice((1, 1, 2)), oracle=True)


@pytest.mark.parametrize("part", range(4))
def test_equal_to_the_binary_kernel(part: int) -> None:
    for seed in range(5000 + 100 * part, 5000 + 100 * part + 40):
        random = Random(seed)
        check(problem(random, rows=40, columns=4, depth=3), random.choice((1, 1, 2)), oracle=False)


@pytest.mark.parametrize("missing", ["separate", "median"])
@pytest.mark.parametrize("seed", range(4))
def test_missing_values_through_the_language(missing: str, seed: int) -> None:
    """A whole solve with numbers, a Boolean column, ordered levels and categories; the tree is applied to the rows."""
    random = Random(seed)
    rows = range(30)
    frame = pl.DataFrame(
        {
            "size": [None if random.random() < 0.3 else random.randint(0, 90) / 8 for _ in rows],
            "age": [None if random.random() < 0.2 else random.randint(0, 40) for _ in rows],
            "member": [random.random() < 0.5 for _ in rows],
            "color": [random.choice(("red", "green", "blue")) for _ in rows],
            "grade": [random.choice(("1 low", "2 middle", "3 high")) for _ in rows],
            "y": [random.choice("abc") for _ in rows],
        }
    )
    text = f"""
        predict y
        column size, age : number, missing {missing}
        column grade : ordered
        minimize errors
        require depth <= 2
    """
    results = [tml.parse(text).solve(frame, backend=f"native(kernel = {kernel})") for kernel in ("numeric", "binary")]
    results.append(tml.parse(text).solve(frame, backend="oracle"))
    assert all(result.verified and result.is_optimal for result in results)
    assert len({result.objective for result in results}) == 1


@pytest.mark.slow
def test_thousands_equal_to_the_oracle() -> None:
    for seed in range(10000, 12500):
        random = Random(seed)
        check(problem(random, rows=8, columns=3, depth=3), random.choice((1, 1, 2)), oracle=True)


@pytest.mark.slow
def test_thousands_equal_to_the_binary_kernel() -> None:
    for seed in range(20000, 23000):
        random = Random(seed)
        check(problem(random, rows=60, columns=4, depth=3), random.choice((1, 1, 2)), oracle=False)
