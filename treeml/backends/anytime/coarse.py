"""A problem on columns of numbers -> the same problem on a few tests per column, on which three levels are solved fast.

The cuts are quantiles of the rows. A tree on them is a good guess where to split; the cuts around it are then found
exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treeml.backends.native.coded_columns import CodedColumn, columns_of, test_of_cut
from treeml.backends.native.inputs import forbidden_features
from treeml.problem.arrays import Rows
from treeml.problem.evaluate import answers
from treeml.problem.problem import Feature, Problem, Test
from treeml.problem.terms import Sum, Term, TestCost

FEWEST_CUTS, MOST_CUTS = 3, 32  # per column
FEW_TESTS = 200  # of all columns, a few of each
MOST_ANSWERS = 50_000_000  # tests times rows up to which short tables may have more columns than that
MOST_KEPT = 20_000_000  # answers that are kept for further goals on the same tests
FEW_ROWS = 2_000  # that show which single tests split most rows off, where there are too many of them


def on_few_tests(problem: Problem) -> tuple[Problem, list[int]] | None:
    """The problem on some 200 tests, or on a few of every column if the rows are not too many for that."""
    return coarsened(problem, FEW_TESTS, MOST_ANSWERS)


def coarsened(problem: Problem, most_tests: int, most_answers: int = 0) -> tuple[Problem, list[int]] | None:
    """The problem on few tests, and the test of the problem that each of them is; None if the columns are too many.

    With `most_answers`, tests times rows, they are never too many: few of them are taken then.

    Every test has a feature of its own there, so goals and bounds lose what depends on features, such as their costs.
    It is a problem to find trees with; what they are worth is up to the caller.
    """
    goals = tuple(replace(goal, sum=_without_features(goal.sum)) for goal in problem.goals)
    if any(not goal.sum.parts for goal in goals):
        return None
    key = (coarsened, most_tests, most_answers, forbidden_features(problem))
    tests, bits = problem.facts_about_tests.get(key) or _few_tests(problem, most_tests, most_answers)
    if bits.size <= MOST_KEPT:
        problem.facts_about_tests[key] = tests, bits
    if not tests:
        return None
    features = tuple(Feature(f"test {number}", "binary", 2, None, number, 1) for number in range(len(tests)))
    bounds = tuple(bound for bound in problem.bounds if _without_features(bound.sum) is bound.sum)
    asked = tuple(Test(number, "true") for number in range(len(tests)))
    return Problem(features, asked, problem.count, problem.classes, goals, bounds, bits), tests


def _few_tests(problem: Problem, most_tests: int, most_answers: int) -> tuple[list[int], NDArray[np.bool_]]:
    """The tests, and their answers; none if the columns are too many."""
    columns: Sequence[CodedColumn] = columns_of(problem, forbidden_features(problem))
    fewest = sum(FEWEST_CUTS if column.test < 0 else 1 for column in columns)
    if fewest > 2 * most_tests and fewest * problem.rows > most_answers:
        columns = _telling(problem, columns, max(2 * most_tests, most_answers // problem.rows)) if most_answers else ()
    cuts = min(max(most_tests // max(1, len(columns)), FEWEST_CUTS), MOST_CUTS)
    tests = list(dict.fromkeys(test for column in columns for test in quantile_tests(problem, column, cuts)))
    rows = np.arange(problem.rows)
    bits = np.array([answers(problem, test, rows) for test in tests], dtype=np.bool_).reshape(len(tests), problem.rows)
    return tests, bits


def _telling(problem: Problem, columns: Sequence[CodedColumn], most: int) -> list[CodedColumn]:
    """Columns that make at most `most` tests: numbers first, then single tests that split most rows off."""
    numbers = [column for column in columns if column.test < 0][: most // FEWEST_CUTS]
    single = [column for column in columns if column.test >= 0]
    rows = np.unique(np.linspace(0, problem.rows - 1, FEW_ROWS).astype(np.intp))
    yes = np.array([answers(problem, column.test, rows).mean() for column in single])
    order = np.argsort(np.abs(yes - 0.5), kind="stable")[: most - FEWEST_CUTS * len(numbers)]
    return [*numbers, *(single[place] for place in order)]


def _without_features(total: Sum) -> Sum:
    """The sum without terms that depend on the feature of a test."""
    kept = tuple(part for part in total.parts if not any(_needs_features(term) for term in Sum((part,)).terms()))
    return total if len(kept) == len(total.parts) else replace(total, parts=kept)


def _needs_features(term: Term) -> bool:
    """Costs of tests have one number per feature, also if all of them are 0."""
    return bool(term.distinguished_features()) or isinstance(term, TestCost)


def quantile_tests(problem: Problem, column: CodedColumn, cuts: int, rows: Rows | None = None) -> list[int]:
    """The tests of a column at quantiles of all rows, or of these."""
    if column.test >= 0:
        return [column.test]
    codes = problem.features[column.feature].codes
    assert codes is not None
    codes = codes if rows is None else codes[rows]
    present = np.sort(codes[codes >= 0])
    if not len(present):
        return []
    at = present[np.linspace(0, len(present), cuts + 2)[1:-1].astype(np.intp)]
    wanted = np.unique(at[at < present[-1]])
    shift = 1 if column.missing == "low" else 0
    return [test_of_cut(problem, column, int(code) + shift)[0] for code in wanted]
