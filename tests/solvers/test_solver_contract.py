"""What the solver back-ends promise beside right answers: limits, files, proofs, explanations, repetition."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treeml.backends.contract import (
    Answer,
    Bound,
    Deadline,
    Depth,
    Feature,
    Goal,
    Leaves,
    Limits,
    Predicted,
    Problem,
    Status,
    Stop,
    Sum,
)
from treeml.backends.contract import Test as Question
from treeml.backends.registry import get
from treeml.backends.why import nearest
from treeml.lang.diagnostic import RefusedError
from treeml.native.rup import check_proof

ONE = Fraction(1)
SOLVERS = ("cpsat", "mip", "maxsat")


def parity(bits: int = 4, depth: int = 2, extra: tuple[Bound, ...] = ()) -> Problem:
    """Is the number of ones odd? No tree of a lower depth does better than one leaf."""
    table = np.array([[number >> bit & 1 for number in range(2**bits)] for bit in range(bits)], bool)
    actual = table.sum(axis=0) % 2
    features = tuple(Feature(f"x{j}", "binary", 2, None, j, 1) for j in range(bits))
    tests = tuple(Question(j, "true") for j in range(bits))
    shallow = Bound(Sum(((ONE, Depth()),)), "<=", Fraction(depth), "shallow")
    count = np.ones(2**bits, np.int64)
    return Problem(features, tests, count, 2, (Goal(errors(actual)),), (shallow, *extra), table)


def errors(actual: Any) -> Sum:
    return Sum(((ONE, Predicted((np.arange(2)[None, :] != np.asarray(actual)[:, None]).astype(np.int64))),))


def raw(rows: int = 40, depth: int = 2) -> Problem:
    """Two numeric columns, taken as they are."""
    make = np.random.default_rng(5)
    features, tests = [], []
    for number in range(2):
        levels, codes = np.unique(make.integers(0, 25, rows), return_inverse=True)
        cuts = len(levels) - 1
        features.append(Feature(f"c{number}", "ordered", len(levels), codes.astype(np.int32), len(tests), cuts))
        tests += [Question(number, "at most", (cut,)) for cut in range(cuts)]
    codes_of = [feature.codes for feature in features]
    assert codes_of[0] is not None
    assert codes_of[1] is not None
    actual = (codes_of[0] > 8) ^ (codes_of[1] > 10)
    shallow = Bound(Sum(((ONE, Depth()),)), "<=", Fraction(depth), "shallow")
    count = np.ones(rows, np.int64)
    return Problem(tuple(features), tuple(tests), count, 2, (Goal(errors(actual)),), (shallow,))


def solve(name: str, problem: Problem, deadline: Deadline | None = None, **options: Any) -> Answer:
    return get(name).solve(problem, Limits(deadline or Deadline.after(60), options=options))


@pytest.mark.parametrize("name", SOLVERS)
def test_numeric_columns_need_no_bits(name: str) -> None:
    problem = raw()
    answer = solve(name, problem)
    assert (answer.status, answer.objective) == (Status.OPTIMAL, (0,))
    if name == "maxsat":
        assert "bits" not in vars(problem)


@pytest.mark.parametrize(
    ("name", "options", "ending", "content"),
    [
        ("mip", {}, "lp", "obj:"),
        ("mip", {"formulation": "flow"}, "lp", "obj:"),
        ("mip", {"formulation": "binoct"}, "mps", "ROWS"),
        ("cpsat", {"encoding": "cover"}, "txt", "variables"),
        ("cpsat", {"encoding": "rows"}, "txt", "constraints"),
        ("cpsat", {"encoding": "order"}, "txt", "bool_or"),
        ("maxsat", {}, "wcnf", "h "),
    ],
)
def test_models_are_written(name: str, options: dict[str, Any], ending: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / f"model.{ending}"
    answer = solve(name, parity(3, 2), write=str(path), **options)
    assert answer.objective == (4,)
    assert content in path.read_text()


def test_a_written_model_solved_elsewhere_has_the_same_optimum(tmp_path: Path) -> None:
    import highspy

    problem = raw(depth=1)
    path = tmp_path / "model.lp"
    answer = solve("mip", problem, write=str(path))
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.readModel(str(path))
    highs.run()
    assert answer.objective is not None
    assert round(highs.getObjectiveValue()) == answer.objective[0]


def test_written_weighted_clauses_have_the_same_optimum(tmp_path: Path) -> None:
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    problem = raw(rows=15, depth=1)
    path = tmp_path / "model.wcnf"
    answer = solve("maxsat", problem, write=str(path))
    formula = WCNF()
    for line in path.read_text().splitlines():
        first, *rest = line.split()
        clause = [int(literal) for literal in rest[:-1]]
        formula.append(clause, weight=None if first == "h" else int(first))
    with RC2(formula) as solver:
        assert solver.compute() is not None
        assert answer.objective == (solver.cost,)


@pytest.mark.parametrize("solver", ["g4", "cadical153"])
def test_a_proof_is_written_and_holds(solver: str, tmp_path: Path) -> None:
    problem = parity(4, 3)
    perfect = problem.asking((), (*problem.bounds, Bound(problem.goals[0].sum, "=", Fraction(0), "perfect")))
    path = tmp_path / "no-tree.drup"
    answer = solve("sat", perfect, proof=str(path), solver=solver)
    assert answer.status is Status.INFEASIBLE
    assert set(answer.conflict) == {"shallow", "perfect"}
    clauses = Path(f"{path}.cnf")
    assert check_proof(clauses, path) is None
    # Without the clauses that say what is perfect there is a tree, so the proof cannot hold.
    lines = clauses.read_text().splitlines()
    units = [line for line in lines[1:] if len(line.split()) > 2]
    header = lines[0].split()
    clauses.write_text("\n".join([f"p cnf {header[2]} {len(units)}", *units]) + "\n")
    assert check_proof(clauses, path) is not None


def test_sat_finds_the_least_depth() -> None:
    from treeml.backends.plan import Plan, plan

    problem = parity(3, 6)
    perfect = Bound(problem.goals[0].sum, "=", Fraction(0), "perfect")
    asked = problem.asking((Goal(Sum(((ONE, Depth()),))),), (*problem.bounds, perfect))
    planned = plan(asked, get("sat"))
    assert isinstance(planned, Plan)
    answer = planned.solve()
    assert (answer.status, answer.objective) == (Status.OPTIMAL, (3,))


def test_sat_refuses_goals() -> None:
    assert any("yes or no" in refusal.because for refusal in get("sat").refusals(parity()))


@pytest.mark.parametrize("name", SOLVERS)
def test_conflicts_are_named(name: str) -> None:
    sum_of_errors = parity().goals[0].sum
    harmless = Bound(Sum(((ONE, Leaves()),)), "<=", Fraction(16), "leaves")
    problem = parity(4, 2, (Bound(sum_of_errors, "<=", Fraction(3), "few errors"), harmless))
    answer = solve(name, problem)
    assert answer.status is Status.INFEASIBLE
    assert set(answer.conflict) == {"shallow", "few errors"}
    assert nearest(get(name), problem, "few errors", Limits()) == (8,)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_conflict_that_depth_has_no_part_in(name: str) -> None:
    cost = np.array([[1, 0]] * 16, np.int64)
    positive = Sum(((ONE, Predicted(1 - cost)),))
    low, high = Bound(positive, ">=", Fraction(9), "many"), Bound(positive, "<=", Fraction(3), "few")
    answer = solve(name, parity(4, 2, (low, high)))
    assert answer.status is Status.INFEASIBLE
    assert set(answer.conflict) == {"many", "few"}


@pytest.mark.parametrize(("name", "options"), [("cpsat", {"encoding": "cover"}), ("mip", {}), ("maxsat", {})])
def test_memory_is_refused_before_it_is_taken(name: str, options: dict[str, Any]) -> None:
    problem = parity(7, 4)
    answer = get(name).solve(problem, Limits(memory=20_000, options=options))
    assert (answer.status, answer.stop) in ((Status.FEASIBLE, Stop.MEMORY), (Status.UNKNOWN, Stop.MEMORY))
    assert any("memory" in note for note in answer.notes)


@pytest.mark.parametrize(("name", "options"), [("mip", {"formulation": "cover"}), ("cpsat", {"encoding": "rows"})])
def test_a_passed_deadline_claims_nothing(name: str, options: dict[str, Any]) -> None:
    answer = solve(name, parity(8, 5), Deadline(0.0), **options)
    assert answer.stop in (Stop.TIME, Stop.PROVED)
    assert answer.status is not Status.INFEASIBLE


def test_what_an_encoding_cannot_do_is_refused_with_a_way_out() -> None:
    with pytest.raises(RefusedError, match="formulation = flow"):
        solve("mip", parity(3, 2, (Bound(Sum(((ONE, Leaves()),)), "<=", Fraction(2), "leaves"),)), formulation="binoct")


def test_gurobi_is_refused_where_it_is_not_installed() -> None:
    from importlib.util import find_spec

    if find_spec("gurobipy") is None:
        with pytest.raises(RefusedError, match="gurobipy"):
            solve("mip", parity(), solver="gurobi")
    else:
        assert solve("mip", parity(), solver="gurobi").objective == (8,)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("cpsat", {"encoding": "order", "deterministic": 5.0}),
        ("mip", {"nodes": 10_000}),
        ("maxsat", {"conflicts": 9_000}),
    ],
)
def test_deterministic_limits_repeat(name: str, options: dict[str, Any]) -> None:
    one, other = (solve(name, raw(), **options) for _ in range(2))
    assert (one.status, one.tree, one.bound) == (other.status, other.tree, other.bound)
    assert one.statistics.get("failures") == other.statistics.get("failures")


def test_a_limit_in_conflicts_stops() -> None:
    answer = solve("maxsat", parity(6, 4), conflicts=1)
    assert answer.stop is Stop.TIME
    assert answer.tree is not None


@pytest.mark.parametrize("name", SOLVERS)
def test_a_gap_is_enough(name: str) -> None:
    answer = get(name).solve(parity(5, 3), Limits(Deadline.after(60), gap=Fraction(99, 100)))
    assert answer.status in (Status.OPTIMAL, Status.FEASIBLE)
    assert answer.objective is not None
    if answer.status is Status.FEASIBLE:
        assert answer.stop is Stop.GAP
        assert answer.bound is not None
        assert answer.objective[0] - answer.bound <= Fraction(99, 100) * answer.objective[0]


@pytest.mark.parametrize("order", ["highspy, ortools.sat.python.cp_model", "ortools.sat.python.cp_model, highspy"])
def test_highs_and_ortools_share_a_process(order: str) -> None:
    subprocess.run([sys.executable, "-c", f"import {order}"], check=True, timeout=60)


def test_importing_a_back_end_imports_no_solver() -> None:
    code = (
        "import sys, treeml.backends.cpsat, treeml.backends.mip, treeml.backends.maxsat, treeml.backends.sat\n"
        "assert not {'ortools', 'highspy', 'pyscipopt', 'pysat', 'gurobipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
