"""What a solver's status supports: every row with a fake solver that lies, and with real solvers where possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from treeml.backends.claims import BOUND, INFEASIBLE, OPTIMAL, Evidence, UnfoundedClaim
from treeml.backends.contract import Deadline
from treeml.backends.solvers.engines import cpsat, highs, scip
from treeml.backends.solvers.engines.outcome import Proved, SolverEnd, SolverOutcome
from treeml.backends.solvers.engines.program import FREE, Program
from treeml.backends.solvers.engines.running import RunLimits
from treeml.backends.solvers.engines.statuses import (
    SAT,
    TABLES,
    Meaning,
    accuracy_for,
    callback_bound,
    outcome_of,
    row_of,
    whole_bound,
)

ENGINES = {"CP-SAT": cpsat, "HiGHS": highs, "SCIP": scip}
ROWS = [(solver, status, row) for solver, table in TABLES.items() for status, row in table.items()]
EVER = RunLimits(Deadline())


def program(columns: int = 8, rows: int = 3, feasible: bool = True, sign: int = 1) -> Program:
    """A covering program: every row needs half of the sum of all its columns."""
    make = np.random.default_rng(0)
    held = make.integers(1, 30, (rows, columns))
    needed = held.sum(axis=1) // 2 if feasible else held.sum(axis=1) + 1
    return Program(
        cost=sign * make.integers(1, 40, columns),
        lower=np.zeros(columns, np.int64),
        upper=np.ones(columns, np.int64),
        start=np.arange(rows + 1, dtype=np.int64) * columns,
        index=np.tile(np.arange(columns), rows).astype(np.int32),
        value=held.ravel().astype(np.int64),
        low=needed.astype(np.int64) if sign > 0 else np.full(rows, -FREE, np.int64),
        high=np.full(rows, FREE, np.int64) if sign > 0 else needed.astype(np.int64),
    )


def forbidden() -> Any:
    raise AssertionError("a field was read that the status does not carry")


# -- a solver that lies ------------------------------------------------------------


@pytest.mark.parametrize(("solver", "status", "row"), ROWS)
def test_no_field_is_read_that_the_status_does_not_carry(solver: str, status: str, row: Meaning) -> None:
    values: Callable[[], Any] = (lambda: np.array([3])) if row.values else forbidden
    bound: Callable[[], Any] = (lambda: 3) if row.bound else forbidden
    outcome = outcome_of(solver, status, values, bound, lambda found: int(found[0]))
    assert (outcome.end is SolverEnd.OPTIMAL) == row.optimal
    assert (outcome.end is SolverEnd.INFEASIBLE) == row.infeasible
    assert (outcome.values is not None) == (row.values and not row.infeasible)
    assert (outcome.bound is not None) == row.bound


@pytest.mark.parametrize(("solver", "status", "row"), ROWS)
def test_optimal_with_a_gap_is_not_optimal(solver: str, status: str, row: Meaning) -> None:
    if row.values and row.bound:
        outcome = outcome_of(solver, status, lambda: np.array([3]), lambda: 2, lambda found: int(found[0]))
        assert outcome.end is not SolverEnd.OPTIMAL
        assert outcome.bound is not None
        assert outcome.bound.least == 2


@pytest.mark.parametrize(("solver", "status", "row"), ROWS)
def test_an_optimum_below_its_own_bound_proves_neither(solver: str, status: str, row: Meaning) -> None:
    if row.optimal:
        outcome = outcome_of(solver, status, lambda: np.array([3]), lambda: 4, lambda found: int(found[0]))
        assert (outcome.end, outcome.bound) == (SolverEnd.FAILED, None)


def test_an_optimum_without_a_solution_is_a_failure() -> None:
    outcome = outcome_of("HiGHS", "kOptimal", lambda: None, lambda: 3, lambda found: 3)
    assert (outcome.end, outcome.values) == (SolverEnd.FAILED, None)


@pytest.mark.parametrize(
    ("solver", "status"), [("HiGHS", "kUnboundedOrInfeasible"), ("SCIP", "inforunbd"), ("Gurobi", "INF_OR_UNBD")]
)
def test_infeasible_or_unbounded_is_infeasible_only_where_columns_are_bounded(solver: str, status: str) -> None:
    assert outcome_of(solver, status, forbidden, forbidden, None).end is SolverEnd.FAILED
    assert outcome_of(solver, status, forbidden, forbidden, None, is_bounded=True).end is SolverEnd.INFEASIBLE


def test_an_unknown_status_is_a_failure() -> None:
    with pytest.raises(ValueError, match="CP-SAT ended with the unknown status SURE"):
        row_of("CP-SAT", "SURE")


def test_a_callback_bound_is_used_only_if_its_status_allows() -> None:
    assert callback_bound("CP-SAT", "bound_callback", None) is None
    assert callback_bound("CP-SAT", "UNKNOWN", 0) is None
    known = callback_bound("CP-SAT", "bound_callback", 5)
    assert known is not None
    assert known.least == 5


def test_an_outcome_without_evidence_cannot_be_made() -> None:
    with pytest.raises(UnfoundedClaim):
        SolverOutcome(SolverEnd.OPTIMAL, np.array([1]))
    with pytest.raises(UnfoundedClaim):
        SolverOutcome(SolverEnd.INFEASIBLE, evidence=Evidence("solver bound"))
    with pytest.raises(UnfoundedClaim):
        Proved(3, Evidence("solver infeasible"))


# -- floats ------------------------------------------------------------------------


@pytest.mark.parametrize("endless", [float("inf"), -float("inf"), float("nan"), 1e20, -1e20, 1e100, -1e100])
def test_an_infinite_solver_value_is_not_a_bound(endless: float) -> None:
    assert whole_bound(endless, 0.0) is None


def test_float_errors_are_subtracted_before_rounding_up() -> None:
    plain = accuracy_for(program(), 1e-10)
    assert plain.whole_bound(74.0) == 74
    assert plain.whole_bound(73.4) == 74
    assert plain.whole_bound(74.0000001) == 74
    wide = replace(program(), upper=np.full(8, 10**9, np.int64))
    accuracy = accuracy_for(wide, 1e-10)
    assert accuracy.tolerance == 1e-10
    assert accuracy.slack(0.0) > 8e9 * 1e-10
    # So wide that no tolerance separates one unit from the next: the bound is lowered and proves nothing.
    assert (accuracy_for(replace(wide, upper=np.full(8, 10**12, np.int64)), 1e-10).whole_bound(74.0) or 0) < 74


def test_any_duals_give_a_valid_integer_bound() -> None:
    made = program(12, 4)
    best = highs.solve_program(made, EVER)
    assert best.bound is not None
    make = np.random.default_rng(1)
    for _ in range(50):
        bound = highs.exact_bound(made, make.normal(0, 3, made.rows))
        assert bound is not None
        assert bound <= best.bound.least


# -- the real solvers --------------------------------------------------------------


@pytest.mark.parametrize("name", ENGINES)
def test_solved(name: str) -> None:
    outcome = ENGINES[name].solve_program(program(), EVER)
    assert outcome.end is SolverEnd.OPTIMAL
    assert outcome.values is not None
    assert outcome.bound is not None
    assert outcome.bound.least == int(program().cost @ outcome.values)
    assert outcome.proof.supports(OPTIMAL)
    assert not outcome.proof.supports(INFEASIBLE)


@pytest.mark.parametrize("name", ENGINES)
def test_without_a_solution(name: str) -> None:
    outcome = ENGINES[name].solve_program(program(feasible=False), EVER)
    assert (outcome.end, outcome.bound, outcome.values) == (SolverEnd.INFEASIBLE, None, None)
    assert outcome.proof.supports(INFEASIBLE)
    assert not outcome.proof.supports(BOUND)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", ENGINES)
def test_stopped_by_a_limit_on_work(name: str, sign: int) -> None:
    """The bound, if there is one, is valid; a default of 0 would not be, as all costs are negative."""
    hard = program(40, 20, sign=sign)
    best = cpsat.solve_program(hard, EVER)
    assert best.end is SolverEnd.OPTIMAL
    assert best.bound is not None
    outcome = ENGINES[name].solve_program(hard, replace(EVER, work=1e-4 if name == "CP-SAT" else 1))
    assert outcome.end in (SolverEnd.TIME, SolverEnd.OPTIMAL)
    assert outcome.bound is None or outcome.bound.least <= best.bound.least
    assert (outcome.evidence is not None) == (outcome.end is SolverEnd.OPTIMAL)


@pytest.mark.parametrize("name", ENGINES)
def test_stopped_by_its_listener(name: str) -> None:
    hard = program(40, 20, sign=-1)
    best = cpsat.solve_program(hard, EVER)
    assert best.bound is not None
    told: list[Proved] = []

    def listen(values: Any, bound: Proved | None) -> bool:
        told.extend([] if bound is None else [bound])
        return values is None

    outcome = ENGINES[name].solve_program(hard, EVER, None, listen)
    assert outcome.end in (SolverEnd.INTERRUPTED, SolverEnd.OPTIMAL)
    bounds = told + ([] if outcome.bound is None else [outcome.bound])
    assert all(bound.least <= best.bound.least for bound in bounds)


def solved_by_cpsat(seconds: float | None, stop: bool) -> tuple[str, SolverOutcome]:
    from ortools.sat.python import cp_model

    model, variables = cpsat.write_model(program(40, 20, sign=-1))
    solver = cp_model.CpSolver()
    if seconds is not None:
        solver.parameters.max_time_in_seconds = seconds

    class Stops(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        def on_solution_callback(self) -> None:
            if stop:
                self.stop_search()

    status = solver.solve(model, Stops())
    return solver.status_name(status), cpsat._outcome(solver, model, status, variables, [], cpsat._float_error(model))


def test_cpsat_that_ends_before_it_begins_has_no_bound() -> None:
    status, outcome = solved_by_cpsat(0.0, stop=False)
    assert (status, outcome.end, outcome.bound, outcome.values) == ("UNKNOWN", SolverEnd.TIME, None, None)


def test_cpsat_with_a_solution_has_a_bound() -> None:
    best = cpsat.solve_program(program(40, 20, sign=-1), EVER)
    assert best.bound is not None
    status, outcome = solved_by_cpsat(None, stop=True)
    assert status in ("FEASIBLE", "OPTIMAL")
    assert outcome.values is not None
    assert outcome.bound is not None
    assert outcome.bound.least <= best.bound.least


def test_an_invalid_model_of_cpsat_is_a_failure() -> None:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    huge = [model.new_int_var(-(2**62), 2**62, "") for _ in range(4)]
    model.add(sum(2**40 * each for each in huge) >= 1)
    model.minimize(huge[0])
    outcome = cpsat.run_model(model, huge, EVER)
    assert (outcome.raw, outcome.end, outcome.bound) == ("MODEL_INVALID", SolverEnd.FAILED, None)


def test_cpsat_without_an_objective_reports_no_bound() -> None:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    either = [model.new_bool_var("") for _ in range(2)]
    model.add_bool_or(either)
    told: list[Proved | None] = []
    outcome = cpsat.run_model(model, either, EVER, on_incumbent=lambda values, bound: told.append(bound))
    assert outcome.end is SolverEnd.OPTIMAL
    assert outcome.bound is None
    assert not any(told)


def test_a_constant_goal_is_its_own_bound() -> None:
    made = replace(program(), cost=np.zeros(8, np.int64), offset=-8)
    for engine in ENGINES.values():
        outcome = engine.solve_program(made, EVER)
        assert outcome.end is SolverEnd.OPTIMAL
        assert outcome.bound is None or outcome.bound.least == -8


@pytest.mark.parametrize(
    ("option", "value", "status"), [("time_limit", 0.0, "kTimeLimit"), ("mip_max_nodes", 0, "kSolutionLimit")]
)
def test_highs_that_is_stopped_at_once(option: str, value: float, status: str) -> None:
    hard = program(40, 20, sign=-1)
    best = cpsat.solve_program(hard, EVER)
    assert best.bound is not None
    solver = highs._model(hard, whole=True, threads=1, seed=0)
    solver.setOptionValue(option, value)
    solver.run()
    outcome = highs._outcome(solver, hard, [], accuracy_for(hard, highs.FINEST))
    assert (outcome.raw, outcome.end) == (status, SolverEnd.TIME)
    assert outcome.bound is None or outcome.bound.least <= best.bound.least


def test_highs_that_never_ran_reports_nothing() -> None:
    solver = highs._model(program(), whole=True, threads=1, seed=0)
    outcome = highs._outcome(solver, program(), [], accuracy_for(program(), highs.FINEST))
    assert (outcome.raw, outcome.end, outcome.bound, outcome.values) == ("kNotset", SolverEnd.FAILED, None, None)


@pytest.mark.parametrize(
    ("parameter", "value", "status"),
    [
        ("limits/time", 0.0, "timelimit"),
        ("limits/totalnodes", 1, "totalnodelimit"),
        ("limits/nodes", 1, "nodelimit"),
        ("limits/gap", 100.0, "gaplimit"),
    ],
)
def test_scip_that_is_stopped_at_once(parameter: str, value: float, status: str) -> None:
    hard = program(40, 20, sign=-1)
    best = cpsat.solve_program(hard, EVER)
    assert best.bound is not None
    model, variables = scip.write_model(hard)
    model.setParam(parameter, value)
    model.optimize()
    outcome = scip._outcome(model, variables, hard, [], accuracy_for(hard, scip.FINEST))
    assert outcome.raw in (status, "optimal")
    assert outcome.bound is None or outcome.bound.least <= best.bound.least
    # With an allowed gap there is no proof, whatever the row of the status says.
    assert outcome.end is not SolverEnd.OPTIMAL or outcome.bound is not None


def test_scip_that_never_ran_reports_nothing() -> None:
    model, variables = scip.write_model(program())
    outcome = scip._outcome(model, variables, program(), [], accuracy_for(program(), scip.FINEST))
    assert (outcome.end, outcome.bound, outcome.values) == (SolverEnd.FAILED, None, None)


@pytest.mark.parametrize("name", ["g3", "g4", "m22", "mgh", "cadical153", "cadical195"])
def test_solvers_of_clauses(name: str) -> None:
    from pysat.solvers import Solver

    pigeons = [[5 * i + j for j in range(1, 5)] for i in range(5)]
    holes = [[-(5 * a + j), -(5 * b + j)] for j in range(1, 5) for a in range(5) for b in range(a)]
    with Solver(name=name, bootstrap_with=[[1, 2], [-1]]) as solver:
        assert SAT[solver.solve_limited(expect_interrupt=True)].values
        assert SAT[solver.solve_limited(assumptions=[-2], expect_interrupt=True)].infeasible
    with Solver(name=name, bootstrap_with=pigeons + holes) as solver:
        solver.conf_budget(1)
        row = SAT[solver.solve_limited(expect_interrupt=True)]
        assert not row.values  # a budget of one conflict is not enough, or it needs no more
    assert not SAT[None].values
    assert not SAT[None].infeasible


def test_highs_is_right_where_some_columns_need_not_be_whole() -> None:
    """A program of nine columns whose optimum its presolve cuts off, if two of them are left continuous."""
    upper = np.array([1, 1, 1, 1, 1, 1, 1, 6, 2])
    mixed = Program(
        cost=np.array([0, 0, 0, 0, 0, 0, 0, 1, 1]),
        lower=np.zeros(9, np.int64),
        upper=upper,
        start=np.array([0, 2, 3, 4, 5, 6, 7, 13, 17]),
        index=np.array([0, 1, 2, 3, 4, 5, 6, 2, 3, 4, 6, 0, 7, 3, 5, 1, 8], np.int32),
        value=np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, -6, -1, 1, 1, -2, -1]),
        low=np.array([1, 1, 1, 1, 1, 1, -FREE, -FREE]),
        high=np.array([1, 1, 1, 1, 1, 1, 0, 0]),
        whole=upper == 1,
    )
    outcome = highs.solve_program(mixed, EVER)
    assert outcome.end is SolverEnd.OPTIMAL
    assert outcome.bound is not None
    assert outcome.bound.least == 2


def test_cpsat_is_right_where_rows_have_conditions() -> None:
    """A tree of one split on seven rows, as the back-end writes it: presolve of CP-SAT 9.15 dropped a condition, and
    another solution, with four thousand times the goal, came out as optimal."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    b = [model.new_bool_var("") for _ in range(13)]
    left, right = (model.new_int_var(0, 1099291725452, "") for _ in range(2))
    for alone in ([0, 1], [2, 3], [4, 5], [6, 7, 8], [9, 10], [11, 12]):
        model.add_exactly_one(b[place] for place in alone)
    for asked, answers in ((6, (0, 2, 5)), (7, (0, 3, 5)), (8, (1, 3, 5))):
        model.add_bool_and(b[place].negated() for place in answers).only_enforce_if(b[asked])
    model.add(2 * b[0] + 3 * b[2] + 2 * b[4] >= 1)
    model.add_bool_or(b[0], b[2], b[4])
    model.add(2 * b[1] + 3 * b[3] + 2 * b[5] >= 1).only_enforce_if(b[8].negated())
    model.add_bool_or(b[1], b[3], b[5], b[8])
    prices = (109951162777, 110390967428, 878949595247)
    for one, other, first, cost in ((9, 10, 0, left), (11, 12, 1, right)):
        paid = sum(price * b[first + 2 * place] for place, price in enumerate(prices))
        model.add(cost >= paid).only_enforce_if(b[one])
        model.add(cost >= 219902325 * b[first]).only_enforce_if(b[other])
    model.add(left + right >= 219902325)
    model.minimize(left + right)
    outcome = cpsat.run_model(model, [*b, left, right], EVER)
    assert outcome.end is SolverEnd.OPTIMAL
    assert outcome.bound is not None
    assert outcome.bound.least == 219902325


def conditional(seed: int) -> tuple[Any, list[Any]]:
    """A random model of the shapes that the back-end writes: rows under conditions, sets of which one is true."""
    from random import Random

    from ortools.sat.python import cp_model

    random, model = Random(seed), cp_model.CpModel()
    b = [model.new_bool_var("") for _ in range(random.randint(6, 11))]
    size = random.choice([10, 1000, 10**6, 2**33, 10**11])
    costs = [model.new_int_var(0, 12 * size, "") for _ in range(random.randint(1, 3))]

    def literals(count: int) -> list[Any]:
        return [each if random.random() < 0.6 else each.negated() for each in random.choices(b, k=count)]

    place = 0
    while place + 3 <= len(b) and random.random() < 0.8:
        count = random.choice([2, 2, 3])
        (model.add_exactly_one if random.random() < 0.7 else model.add_at_most_one)(b[place : place + count])
        place += count
    for _ in range(random.randint(1, 4)):
        model.add_bool_or(literals(random.randint(2, 3)))
    for _ in range(random.randint(1, 3)):
        model.add_bool_and(literals(random.randint(1, 3))).only_enforce_if(literals(1))
    for _ in range(random.randint(2, 6)):
        paid = sum(random.randint(-size if random.random() < 0.5 else 1, size) * each for each in random.sample(b, 3))
        row = model.add(random.choice(costs) >= paid + random.choice([0, 0, random.randint(-size, size)]))
        if random.random() < 0.8:
            row.only_enforce_if(literals(random.choice([1, 1, 2])))
    for _ in range(random.randint(0, 3)):
        row = model.add(sum(random.randint(1, 5) * each for each in random.sample(b, 3)) >= random.randint(1, 4))
        if random.random() < 0.6:
            row.only_enforce_if(literals(1))
    paid = sum(random.randint(-size, size) * each for each in random.sample(b, random.randint(0, 3)))
    model.minimize(sum(costs) + paid)
    return model, [*b, *costs]


def test_cpsat_agrees_with_itself_without_presolve() -> None:
    """Eight of these came out wrong while presolve compared rows with such sets."""
    from ortools.sat.python import cp_model

    for seed in range(450):
        model, variables = conditional(seed)
        plain = cp_model.CpSolver()
        plain.parameters.num_workers = 1
        plain.parameters.cp_model_presolve = False
        plain.parameters.cp_model_probing_level = 0
        status = plain.status_name(plain.solve(model))
        outcome = cpsat.run_model(model, variables, EVER)
        assert outcome.raw == status, seed
        if outcome.end is SolverEnd.OPTIMAL:
            assert outcome.bound is not None
            assert outcome.bound.least == round(plain.objective_value), seed
