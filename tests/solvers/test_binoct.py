"""BinOCT: thresholds of a column are found by the bits of a binary search."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import treeml as tml
from treeml.backends.contract import NO_LIMITS
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.solvers.encodings.mip.binoct import BinoctProgram, build_binoct, threshold_columns
from treeml.backends.solvers.engines import highs
from treeml.backends.solvers.engines.outcome import SolverEnd
from treeml.backends.solvers.engines.running import RunLimits
from treeml.backends.task.node_questions import read_questions
from treeml.backends.task.read_problem import read_problem
from treeml.data.bind import bind
from treeml.data.read import load
from treeml.lang.check import check_source
from treeml.lang.source import Source
from treeml.measures.lower_dataset import lower
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.problem import Problem
from treeml.problem.tree import Split


def problem_of(values: int, depth: int = 1) -> Problem:
    table = {"x": list(range(values)), "y": ["a" if place < max(1, values // 3) else "b" for place in range(values)]}
    return problem_from(table, depth)


def problem_from(table: dict[str, list[Any]], depth: int) -> Problem:
    spec, mistakes = check_source(Source("spec", f"predict y\nminimize errors\nrequire depth <= {depth}"))
    assert spec is not None, mistakes
    return lower(bind(spec, load(pl.DataFrame(table), spec.columns))).problem


@pytest.mark.parametrize(("values", "bits"), [(2, 0), (3, 1), (4, 2), (9, 3), (10, 4), (17, 4), (18, 5)])
def test_a_column_of_k_thresholds_needs_the_logarithm_of_k_bits(values: int, bits: int) -> None:
    problem = problem_of(values)
    questions = read_questions(problem, binary=True)
    (column,) = threshold_columns(questions)
    assert len(column.tests) == values - 1
    model = build_binoct(problem, read_problem(problem), questions)
    assert isinstance(model, BinoctProgram)
    assert [len(each) for each in model.bits] == [bits]
    # Two rows for the ends, and two for every range that is halved.
    halved = values - 2
    kept_out = len(model.draft.rows) - 1 - values - 2 - 4  # columns chosen, places, labels, errors
    assert kept_out == 2 + 2 * halved


def test_levels_of_a_category_are_columns_of_their_own() -> None:
    table = {"color": ["r", "g", "b", "r", "g", "b"], "y": ["a", "b", "b", "a", "b", "a"]}
    problem = problem_from(table, 2)
    assert [len(column.tests) for column in threshold_columns(read_questions(problem, binary=True))] == [1, 1, 1]


@pytest.mark.parametrize("depth", [1, 2])
def test_the_solver_finds_the_threshold(depth: int) -> None:
    generator = np.random.default_rng(depth)
    x = generator.integers(0, 12, (40, 2)).astype(float)
    y = np.where((x[:, 0] <= 4) ^ (x[:, 1] > 7), "a", "b")
    model = tml.Model().minimize(tml.errors).require(tml.depth <= depth)
    published = model.solve(x, y, backend="mip", options={"formulation": "binoct", "presolve": False})
    assert published.status is tml.Status.OPTIMAL
    assert published.objective == model.solve(x, y, backend="native").objective


@pytest.mark.parametrize("seed", range(8))
def test_the_program_alone_holds_the_best_tree(seed: int) -> None:
    """Without the trees that other searches find beside the solver, so that the solution itself is read."""
    generator = np.random.default_rng(seed)
    columns = {f"x{number}": generator.integers(0, 9, 14).tolist() for number in range(2)}
    problem = problem_from({**columns, "y": generator.choice(["a", "b", "c"], 14).tolist()}, 1 + seed % 2)
    model = build_binoct(problem, read_problem(problem), read_questions(problem, binary=True))
    outcome = highs.solve_program(model.draft.program(), RunLimits(NO_LIMITS.deadline))
    assert outcome.end is SolverEnd.OPTIMAL
    assert outcome.values is not None
    best = OracleBackend().solve(problem).objective
    assert evaluate_goals(problem, model.decode(outcome.values)) == best
    assert best > (0,)


def test_every_threshold_has_its_own_bits() -> None:
    problem = problem_of(12)
    questions = read_questions(problem, binary=True)
    model = build_binoct(problem, read_problem(problem), questions)
    assert isinstance(model, BinoctProgram)
    (column,) = model.columns
    found = []
    for number in range(2 ** len(model.bits[0])):
        values = np.zeros(model.draft.program().columns, dtype=np.int64)
        values[model.chosen[0]] = 1
        for place, bit in enumerate(model.bits[0]):
            values[bit] = number >> (len(model.bits[0]) - 1 - place) & 1
        tree = model.decode(values)
        assert isinstance(tree, Split)
        found.append(column.tests.index(tree.test))
    assert found == sorted(found)
    assert set(found) == set(range(11))
