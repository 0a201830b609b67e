"""What the solver back-ends promise besides right answers: limits, files, proofs, explanations, repeatability."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Deadline, Limits, Status, Stop
from treeml.backends.infeasibility import RequiredSum, nearest
from treeml.backends.registry import get
from treeml.backends.solvers.engines import running
from treeml.backends.solvers.engines.outcome import Proved
from treeml.backends.solvers.solve_state import SolveState
from treeml.backends.task.greedy_start import first_trees
from treeml.backends.task.node_questions import read_questions
from treeml.backends.task.read_problem import read_problem
from treeml.lang.diagnostic import RefusedError
from treeml.native import cover
from treeml.native.rup import check_proof
from treeml.problem.problem import Bound, Feature, Goal, Problem
from treeml.problem.problem import Test as Question
from treeml.problem.terms import Depth, Leaves, Predicted, Sum
from treeml.problem.tree import Leaf
from treeml.system.interrupt import listening, press

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
    """Two numeric columns without binary tests."""
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
        if first == "c":
            continue
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
    answer = solve("sat", perfect, proof=str(path), solver=solver, encoding="order")
    assert answer.status is Status.INFEASIBLE
    assert set(answer.conflict) == {"shallow", "perfect"}
    clauses = Path(f"{path}.cnf")
    assert check_proof(clauses, path) is None
    # Without the clauses that require a perfect tree there is a tree, so the proof must fail.
    lines = clauses.read_text().splitlines()
    units = [line for line in lines[1:] if len(line.split()) > 2]
    header = lines[0].split()
    clauses.write_text("\n".join([f"p cnf {header[2]} {len(units)}", *units]) + "\n")
    assert check_proof(clauses, path) is not None


def test_sat_finds_the_least_depth() -> None:
    from treeml.backends.planning.plan import Plan, plan

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
    few_errors = RequiredSum(
        sum_of_errors, "<=", Fraction(3), lambda sense, limit: (Bound(sum_of_errors, sense, limit, "beside"),)
    )
    assert nearest(get(name), problem, "few errors", few_errors, Limits()).values == (8,)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_conflict_that_does_not_involve_depth(name: str) -> None:
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


def test_gurobi_is_refused_where_it_is_not_installed(monkeypatch: Any) -> None:
    from treeml.backends.solvers.engines import gurobi

    monkeypatch.setattr(gurobi, "missing", lambda: "pip install gurobipy")
    (refusal,) = get("mip").refusals(parity(), {"solver": "gurobi"})
    assert refusal.because == "mip cannot take solver = gurobi: it is not installed"
    assert refusal.instead == "pip install gurobipy"
    with pytest.raises(RefusedError, match="gurobi"):
        solve("mip", parity(), solver="gurobi")


@pytest.mark.skipif(find_spec("gurobipy") is None, reason="gurobipy is not installed")
@pytest.mark.parametrize("formulation", ["cover", "flow", "binoct"])
def test_gurobi_solves_small_models(formulation: str) -> None:
    answer = solve("mip", parity(3, 2), solver="gurobi", formulation=formulation, presolve=False)
    assert (answer.status, answer.objective) == (Status.OPTIMAL, (4,))
    assert answer.raw_status == "OPTIMAL"


@pytest.mark.skipif(find_spec("gurobipy") is None, reason="gurobipy is not installed")
def test_the_licence_limit_of_gurobi_is_checked_before_the_model_is_built() -> None:
    from treeml.backends.solvers.engines import gurobi

    if not gurobi._is_size_limited():
        pytest.skip("there is a full licence")
    wide = {"solver": "gurobi", "formulation": "flow"}
    refusals = list(get("mip").refusals(parity(8, 4), wide))
    assert "licence" in refusals[0].because
    assert "highs" in refusals[0].instead
    with pytest.raises(RefusedError, match="gurobi"):
        solve("mip", hard(60, 3), solver="gurobi", formulation="cover", presolve=False)


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
    subprocess.run([sys.executable, "-c", f"import {order}"], check=True, timeout=600)


def test_importing_a_back_end_imports_no_solver() -> None:
    code = (
        "import sys, treeml.backends.solvers.cpsat, treeml.backends.solvers.mip\n"
        "import treeml.backends.solvers.maxsat, treeml.backends.solvers.sat\n"
        "assert not {'ortools', 'highspy', 'pyscipopt', 'pysat', 'gurobipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


# -- limits on a solver, and the notes about them -------------------------------------------------


@pytest.mark.parametrize("encoding", ["auto", "order", "leaves"])
@pytest.mark.parametrize("seed", [1, 2, 35, 38, 48, 56])  # from 35 on, the best of all trees is excluded
def test_a_margin_keeps_to_tests_with_rows_on_either_side(seed: int, encoding: str) -> None:
    from random_problems import random_problem

    from treeml.backends.oracle.backend import OracleBackend
    from treeml.problem.evaluate import answers
    from treeml.problem.tree import Leaf, Node

    problem = random_problem(seed, most_bounds=0, numeric=True)
    everything, total = np.arange(problem.rows), int(problem.count.sum())
    margin = max(2, total // 4)

    def allowed(test: int) -> bool:
        held = int(problem.count[answers(problem, test, everything)].sum())
        return min(held, total - held) >= margin

    def tests_of(node: Node) -> list[int]:
        return [] if isinstance(node, Leaf) else [node.test, *tests_of(node.yes), *tests_of(node.no)]

    assert not list(get("maxsat").refusals(problem))
    answer = solve("maxsat", problem, margin=margin, encoding=encoding)
    # A tree excluded by the margin may be better, so nothing is claimed.
    assert (answer.status, answer.stop, answer.bound) == (Status.FEASIBLE, Stop.FINISHED, None)
    assert any("either side" in note for note in answer.notes)
    assert answer.tree is not None
    assert all(allowed(test) for test in tests_of(answer.tree))
    kept = [test for test in range(len(problem.tests)) if allowed(test)]
    questions = tuple(Question(problem.tests[test].feature, "true") for test in kept)
    only = Problem(
        problem.features, questions, problem.count, problem.classes, problem.goals, problem.bounds, problem.bits[kept]
    )
    assert answer.objective == OracleBackend().solve(only).objective


def leafy(limit: int) -> Bound:
    return Bound(Sum(((ONE, Leaves()),)), "<=", Fraction(limit), "leaves")


@pytest.mark.parametrize("name", ["cpsat", "mip"])
def test_a_solver_can_prove_everything_by_itself(name: str) -> None:
    problem = parity(4, 3, (leafy(5),))
    one, other = (solve(name, problem, presolve=presolve) for presolve in (True, False))
    assert one.status is other.status is Status.OPTIMAL
    assert one.objective == other.objective
    assert not any("no solver was called" in note for note in other.notes)
    assert other.raw_status


@pytest.mark.parametrize("name", ["cpsat", "mip"])
def test_where_no_solver_was_called_the_notes_say_so(name: str) -> None:
    # One leaf is all that fits, and the relaxation knows its price.
    answer = solve(name, parity(3, 2, (leafy(1),)))
    assert answer.status is Status.OPTIMAL
    assert any("no solver was called" in note for note in answer.notes)


@pytest.mark.parametrize("name", ["cpsat", "mip"])
def test_targets_beyond_exact_squares_are_refused_in_the_plan(name: str) -> None:
    from treeml.problem.terms import Loss

    targets = np.array([[0], [9_007_199_254_740_993], [3], [4]], np.int64)
    plain = parity(2, 1)
    for kind in ("squared", "absolute"):
        loss = Loss(kind, targets * (1 if kind == "squared" else 500), np.ones(4, np.int64))
        problem = Problem(
            plain.features, plain.tests, plain.count, 0, (Goal(Sum(((ONE, loss),))),), plain.bounds, plain.bits
        )
        refusals = list(get(name).refusals(problem))
        assert refusals, kind
        assert "size" in refusals[0].feature


@pytest.mark.parametrize(
    ("name", "options", "word"),
    [
        ("cpsat", {}, "encoding cover"),
        ("cpsat", {"encoding": "rows"}, "encoding rows: asked for"),
        ("mip", {}, "formulation cover"),
        ("mip", {"formulation": "flow"}, "formulation flow: asked for"),
        ("maxsat", {}, "encoding order"),
    ],
)
def test_the_plan_says_which_encoding_and_why(name: str, options: dict[str, Any], word: str) -> None:
    from treeml.backends.planning.plan import Plan, plan

    planned = plan(parity(4, 3), get(name), options)
    assert isinstance(planned, Plan)
    said = planned.explain()[-1]
    assert said.startswith(word)
    assert any(character.isdigit() for character in said)


HARD = [
    ("cpsat", {"encoding": "rows"}),
    ("cpsat", {"encoding": "order"}),
    ("cpsat", {"encoding": "cover", "presolve": False}),
    ("mip", {"formulation": "flow"}),
    ("mip", {"formulation": "flow", "solver": "scip"}),
    ("maxsat", {}),
    ("maxsat", {"strategy": "core"}),
]


def hard(rows: int, depth: int = 4) -> Problem:
    """No solver proves this in a second, nor builds it where there are many rows: noise, and a coupling requirement."""
    make = np.random.default_rng(3)
    bits = make.random((40, rows)) < 0.5
    actual = (make.random(rows) < 0.5).astype(int)
    features = tuple(Feature(f"x{j}", "binary", 2, None, j, 1) for j in range(40))
    tests = tuple(Question(j, "true") for j in range(40))
    bounds = (Bound(Sum(((ONE, Depth()),)), "<=", Fraction(depth), "deep"), leafy(11))
    return Problem(features, tests, np.ones(rows, np.int64), 2, (Goal(errors(actual)),), bounds, bits)


@pytest.mark.parametrize(
    ("name", "options"),
    HARD,
    ids=lambda value: " ".join(map(str, value.values())) if isinstance(value, dict) else value,
)
@pytest.mark.parametrize("rows", [120, 900])
def test_a_limit_of_one_second_is_kept_with_a_valid_bound(name: str, options: dict[str, Any], rows: int) -> None:
    from treeml.problem.evaluate import evaluate_goals, meets_all

    problem = hard(rows)
    answer = solve(name, problem, Deadline.after(1.0), **options)
    assert answer.stop is Stop.TIME
    assert answer.status in (Status.FEASIBLE, Status.UNKNOWN)
    if answer.tree is not None:
        assert meets_all(problem, answer.tree)
        assert answer.objective == evaluate_goals(problem, answer.tree)
        assert answer.bound is None or answer.bound <= answer.objective[0]
    # A leaf is right for half of the rows.
    assert answer.bound is None or answer.bound <= rows // 2


@pytest.mark.parametrize(
    ("name", "options"),
    HARD,
    ids=lambda value: " ".join(map(str, value.values())) if isinstance(value, dict) else value,
)
def test_ctrl_c_ends_every_search(name: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    pressed = press_when_the_search_begins(monkeypatch)
    answer = solve(name, hard(60), Deadline(), **options)
    assert pressed
    assert answer.stop is Stop.INTERRUPTED
    assert answer.status in (Status.FEASIBLE, Status.UNKNOWN)


def press_when_the_search_begins(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ctrl-C once, as soon as a solver or the enumeration of states listens for it; the list is then not empty."""
    pressed: list[str] = []

    @contextmanager
    def listening_and_pressed(*arguments: Any, **more: Any) -> Iterator[Callable[[], bool]]:
        with listening(*arguments, **more) as is_pressed:
            if not pressed:
                pressed.append("once")
                press()
            yield is_pressed

    for module in (running, cover):
        monkeypatch.setattr(module, "listening", listening_and_pressed)
    return pressed


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("cpsat", {"encoding": "order"}),
        ("mip", {"formulation": "flow"}),
        ("mip", {"formulation": "flow", "solver": "scip"}),
        ("maxsat", {}),
    ],
)
def test_memory_that_a_solver_takes_ends_its_search(name: str, options: dict[str, Any], monkeypatch: Any) -> None:
    """The process seems to grow by a gigabyte at every check, so the limit is exceeded before any solver can finish."""
    from itertools import count

    from treeml.backends.solvers.engines import sat
    from treeml.system import memory

    grown = count(1)
    for module in (memory, running, sat):
        monkeypatch.setattr(module, "resident", lambda: next(grown) * 2**30)
    answer = get(name).solve(hard(60), Limits(Deadline.after(120.0), memory=3 * 2**30, options=options))
    assert answer.stop is Stop.MEMORY
    assert answer.status in (Status.FEASIBLE, Status.UNKNOWN)


def test_a_core_leaves_out_sums_that_no_refutation_needs() -> None:
    sum_of_errors = parity().goals[0].sum
    idle = [Bound(Sum(((ONE, Leaves()),)), ">=", Fraction(number - 9), f"idle {number}") for number in range(5)]
    problem = parity(4, 2, (Bound(sum_of_errors, "<=", Fraction(3), "few errors"), *idle))
    found = get("maxsat").unsat_core(problem, Limits())
    assert set(found) == {"shallow", "few errors"}
    assert set(solve("maxsat", problem).conflict) == {"shallow", "few errors"}


def difference(problem: Problem, sign: int) -> Sum:
    """How much more often the one class is predicted to the first half of the rows than to the second."""
    cost = np.zeros((problem.rows, 2), np.int64)
    cost[: problem.rows // 2, 1], cost[problem.rows // 2 :, 1] = sign, -sign
    return Sum(((ONE, Predicted(cost)),))


def test_either_difference_of_a_gap_is_one_sum() -> None:
    problem = parity(3, 2)
    gap = [Bound(difference(problem, sign), "<=", Fraction(1), "gap") for sign in (1, -1)]
    other = Bound(difference(problem, 1), "<=", Fraction(2), "other")
    asked = read_problem(problem.asking(problem.goals, (*problem.bounds, *gap, other)))
    assert [(item.name, item.low, item.high) for item in asked.requirements] == [("gap", -1, 1), ("other", None, 2)]


@pytest.mark.parametrize("name", SOLVERS)
def test_an_impossible_gap_is_proved_infeasible(name: str) -> None:
    problem = parity(3, 2)
    gap = [Bound(difference(problem, sign), "<=", Fraction(-1), "gap") for sign in (1, -1)]
    answer = solve(name, problem.asking(problem.goals, (*problem.bounds, *gap)))
    assert (answer.status, answer.conflict) == (Status.INFEASIBLE, ("gap",))


@pytest.mark.parametrize(("name", "options"), [("maxsat", {"encoding": "binary"}), ("cpsat", {"encoding": "rows"})])
def test_a_model_of_single_tests_is_measured_by_its_tests(name: str, options: dict[str, Any]) -> None:
    """Without binary tests the model of the same columns has a fifth of the size, which fits."""
    problem = raw(rows=2000, depth=9)
    refused = list(get(name).refusals(problem, options))
    assert len(refused) == 1
    assert "48 tests" in refused[0].because
    assert not list(get(name).refusals(problem, {"encoding": "order"}))


def test_where_the_greedy_tree_breaks_a_requirement_a_smaller_one_comes_first() -> None:
    problem = raw(depth=2)
    asked = read_problem(problem)
    trees = list(first_trees(read_questions(problem), asked))
    assert [isinstance(tree, Leaf) for tree in trees] == [False, False, True, True]
    few = Bound(Sum(((ONE, Leaves()),)), "<=", ONE, "few")
    bounded = problem.asking(problem.goals, (*problem.bounds, few))
    search = SolveState(bounded, read_problem(bounded), Limits(), None)
    search.begin_with(trees)
    assert isinstance(search.tree, Leaf)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("cpsat", {"encoding": "rows"}),
        ("cpsat", {"encoding": "order"}),
        ("mip", {"formulation": "flow"}),
        ("mip", {"formulation": "flow", "solver": "scip"}),
        ("maxsat", {}),
        ("maxsat", {"strategy": "core"}),
        ("maxsat", {"solver": "cadical195"}),
    ],
)
def test_a_signal_stops_every_solver_with_the_best_tree_so_far(
    name: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pressed = press_when_the_search_begins(monkeypatch)
    answer = solve(name, parity(9, 4), Deadline(), **options)
    assert pressed
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.INTERRUPTED)
    assert answer.tree is not None


def test_an_unknown_solver_bound_is_not_reported() -> None:
    """Solvers that have just begun report minus infinity; the bound row by row is better and may be enough."""
    problem = raw(depth=2)
    nothing = Proved(-(10**20), Evidence("solver bound"))
    cost = np.array([[0, 3], [2, 5], [4, 0]])[np.arange(problem.rows) % 3]
    goal = Goal(Sum(((Fraction(1, 2), Predicted(cost)),), Fraction(1)))
    asked = problem.asking((goal,), problem.bounds)
    search = SolveState(asked, read_problem(asked), Limits(), None)
    assert search.bound_by == (Evidence("row by row"),)
    search.raise_bound(nothing)
    assert search.bound == 1 + Fraction(int(cost.min(axis=1).sum()), 2)
    search.offer(Leaf(0))
    answer = search.answer(Stop.TIME)
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.TIME)
    assert answer.objective == (1 + Fraction(int(cost[:, 0].sum()), 2),)
    alike = problem.asking((Goal(Sum(((Fraction(1), Predicted(np.sort(cost, axis=1))),))),), problem.bounds)
    search = SolveState(alike, read_problem(alike), Limits(), None)
    search.raise_bound(nothing)
    search.offer(Leaf(0))
    answer = search.answer(Stop.TIME)
    assert (answer.status, answer.stop, answer.bound) == (Status.OPTIMAL, Stop.PROVED, answer.objective[0])
