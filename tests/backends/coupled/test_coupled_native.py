"""native with requirements that couple the leaves: its answers, its limits, its refusals, and what follows."""

from __future__ import annotations

from fractions import Fraction
from itertools import count, product
from random import Random
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.backends import registry
from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Deadline, Limits, Progress, Status, Stop
from treeml.backends.native.backend import NativeBackend
from treeml.backends.native.coupled.run import CoupledRun
from treeml.backends.native.coupled.stand_in import with_stand_in
from treeml.backends.native.kernel_choice import choose_kernel
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.lang.diagnostic import BackendError
from treeml.problem import terms
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Depth, Leaves, Predicted, Purity, Sum
from treeml.problem.tree import Leaf
from treeml.testing.coupled import coupled_problem
from treeml.testing.fuzz import FuzzTally, fuzz
from treeml.testing.problems import binary, bound, errors, minimize, single

NATIVE = NativeBackend()


def solved(problem: Problem, limits: Limits | None = None, **given: Any) -> Answer:
    planned = plan(problem, NATIVE, {} if limits is None else limits.options)
    assert isinstance(planned, Plan), planned
    return run(planned, limits or Limits(Deadline.after(60)), **given)


def fair_rows(seed: int, rows: int, columns: int) -> tuple[list[str], list[int], list[int]]:
    """Random rows, classes that depend on them, and two groups."""
    random = Random(seed)
    table = ["".join(random.choice("01") for _ in range(columns)) for _ in range(rows)]
    actual = [int(row[0] == row[1]) if random.random() < 0.7 else random.randrange(2) for row in table]
    group = [int(random.random() < (0.3 if row[0] == "1" else 0.7)) for row in table]
    return table, actual, group


def parity(group: list[int], limit: Fraction | str, name: str = "parity") -> list[Bound]:
    sides = [group.count(side) for side in (0, 1)]
    cost = np.array([[0, sides[1] if own == 0 else -sides[0]] for own in group], dtype=np.int64)
    scale = Fraction(1, sides[0] * sides[1])
    return [bound(Predicted(sign * cost, scale), "<=", limit, name) for sign in (1, -1)]


def fair_problem(seed: int = 1, rows: int = 60, columns: int = 6, depth: int = 2, limit: str = "1/50") -> Problem:
    table, actual, group = fair_rows(seed, rows, columns)
    bounds = (bound(Depth(), "<=", depth, "depth"), *parity(group, limit))
    return binary(table, 2, minimize(errors(actual, 2)), bounds)


def test_random_problems_agree_with_the_oracle() -> None:
    tally = FuzzTally()
    assert list(fuzz(NATIVE, iter(range(150)), tally=tally, make=coupled_problem)) == []
    assert (tally.taken, tally.refused) == (150, 0)


@pytest.mark.parametrize("kernel", ["binary", "numeric"])
def test_any_tree_is_found_where_there_is_one(kernel: str) -> None:
    """Without a goal, one of the requirements stands in for it."""
    stood_in, statuses = 0, set()
    for seed in range(300):
        drawn = coupled_problem(Random(seed))
        problem = drawn.asking((), drawn.bounds)
        truth = OracleBackend().solve(problem, Limits(Deadline.after(60)))
        planned = plan(problem, NATIVE, {"kernel": kernel})
        if not isinstance(planned, Plan):
            continue
        stood_in += with_stand_in(problem, f"coupled {kernel}".removesuffix(" binary")) is not None
        answer = run(planned, Limits(Deadline.after(60), options={"kernel": kernel}))
        assert answer.status is truth.status
        statuses.add(answer.status)
    assert stood_in > 20
    assert statuses == {Status.OPTIMAL, Status.INFEASIBLE}


@pytest.mark.parametrize("name", ["cpsat", "mip", "maxsat"])
def test_other_back_ends_find_the_same_value(name: str) -> None:
    problem = fair_problem(rows=30, columns=4)
    planned = plan(problem, registry.get(name))
    assert isinstance(planned, Plan)
    theirs = run(planned, Limits(Deadline.after(60)))
    assert theirs.status is Status.OPTIMAL
    assert solved(problem).objective == theirs.objective


def test_the_answer_names_its_evidence_and_statistics() -> None:
    answer = solved(fair_problem())
    assert answer.status is Status.OPTIMAL
    assert answer.evidence == (Evidence("search", "native, coupled kernel"),)
    assert answer.statistics["solve_seconds"] >= 0
    assert answer.bound == answer.objective[0] if answer.objective else None


def test_no_tree_is_proved() -> None:
    problem = fair_problem(limit="0")
    _, actual, _ = fair_rows(1, 60, 6)
    strict = problem.asking(problem.goals, (*problem.bounds, bound(errors(actual, 2), "<=", 5, "errors")))
    assert solved(strict).status is Status.INFEASIBLE
    beyond = problem.asking(problem.goals, (*problem.bounds, bound(errors(actual, 2), ">=", 61, "errors")))
    answer = solved(beyond)
    assert answer.status is Status.INFEASIBLE
    assert answer.evidence[0].rule == "counting"


@pytest.mark.parametrize("seed", range(12))
def test_without_a_depth_limit_the_best_tree_of_any_depth_is_proved(seed: int) -> None:
    random = Random(seed)
    table, actual, group = fair_rows(seed, 9, 4)
    price = random.choice((Fraction(0), Fraction(1, 2), Fraction(2)))
    goal = Sum(((Fraction(1), errors(actual, 2)), *(((price, Leaves()),) if price else ())))
    if len(set(group)) < 2:
        group[0] = 1 - group[0]
    problem = binary(table, 2, (Goal(goal),), tuple(parity(group, random.choice(("0", "1/10", "1/3")))))
    truth = OracleBackend().solve(problem)
    answer = solved(problem)
    assert (answer.status, answer.objective) == (truth.status, truth.objective)


def test_a_depth_that_is_not_limited_ends_with_the_time() -> None:
    table, actual, group = fair_rows(3, 200, 12)
    problem = binary(table, 2, minimize(errors(actual, 2)), tuple(parity(group, "1/100")))
    answer = solved(problem, Limits(Deadline.after(0.3)))
    assert answer.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert answer.bound is not None


def test_goals_that_are_too_large_for_one_cost_are_solved_in_turn() -> None:
    table, actual, group = fair_rows(5, 12, 3)
    random = Random(5)
    heavy = errors(actual, 2, [random.randrange(2**40) for _ in actual])
    other = errors([1 - label for label in actual], 2, [random.randrange(2**40) for _ in actual])
    bounds = (bound(Depth(), "<=", 2, "depth"), *parity(group, "1/5"))
    problem = binary(table, 2, minimize(heavy, other), bounds)
    truth, answer = OracleBackend().solve(problem), solved(problem)
    assert (answer.status, answer.objective) == (truth.status, truth.objective)
    assert answer.evidence[0].rule == "goals in turn"


def test_rows_without_tests() -> None:
    positive = Predicted(np.array([[0, 1], [0, 1]]))
    alike = binary(("", ""), 2, minimize(errors((0, 0), 2)), (bound(positive, ">=", 1),))
    assert solved(alike).objective == (Fraction(2),)


# -- limits ---------------------------------------------------------------------------------


def test_a_start_is_kept_if_there_is_no_time() -> None:
    problem = fair_problem(rows=300, columns=20, depth=4)
    assert meets_all(problem, Leaf(0))
    answer = solved(problem, Limits(Deadline.after(0)), start=Leaf(0))
    assert answer.status is Status.FEASIBLE
    assert answer.objective is not None
    assert answer.objective <= evaluate_goals(problem, Leaf(0))


def test_a_listener_stops_the_search() -> None:
    problem = fair_problem(rows=400, columns=40, depth=5, limit="1/1000")
    calls = count()

    def listener(moment: Progress) -> bool:
        return next(calls) < 1

    answer = solved(problem, Limits(Deadline.after(60)), on_progress=listener)
    assert answer.stop is Stop.INTERRUPTED


@pytest.mark.parametrize("calls", [1, 5, 20])
def test_a_listener_stops_the_smaller_depths_too(monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    monkeypatch.setattr("treeml.backends.native.coupled.run.SHORT", 0.0)
    problem = fair_problem(rows=400, columns=40, depth=5, limit="1/1000")
    heard = count()
    answer = solved(problem, Limits(Deadline.after(60)), on_progress=lambda moment: next(heard) < calls)
    assert answer.stop is Stop.INTERRUPTED
    assert next(heard) <= calls + 2


def test_reports_are_bounds_and_values_of_the_problem() -> None:
    problem = fair_problem(rows=150, columns=12, depth=4)
    heard: list[Progress] = []
    answer = solved(problem, on_progress=lambda moment: heard.append(moment))
    assert answer.status is Status.OPTIMAL
    assert answer.objective is not None
    for moment in heard:
        assert moment.bound is None or moment.bound <= answer.objective[0]
        assert moment.objective is None or moment.objective[0] >= answer.objective[0]


# -- what follows if memory ends the search ---------------------------------------------------


def cut_short(monkeypatch: pytest.MonkeyPatch, bound_is: int | None, tree: Leaf | None = None) -> None:
    """Every coupled search ends for lack of memory, with this bound and tree."""

    def answer(self: CoupledRun) -> Answer:
        proof = () if bound_is is None else (Evidence("search bound", "native, coupled kernel"),)
        known = None if bound_is is None else Fraction(bound_is)
        if tree is None:
            return Answer(Status.UNKNOWN, Stop.MEMORY, bound=known, evidence=proof)
        values = evaluate_goals(self.problem, tree)
        return Answer(Status.FEASIBLE, Stop.MEMORY, tree, values, known, evidence=proof)

    monkeypatch.setattr(CoupledRun, "answer", answer)


def test_the_next_back_end_goes_on_if_memory_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = fair_problem(rows=30, columns=4)
    best = solved(problem).objective
    cut_short(monkeypatch, 0, Leaf(0))
    answer = solved(problem)
    assert (answer.status, answer.objective) == (Status.OPTIMAL, best)
    assert "native stopped at its limit on memory, and cpsat went on from its tree and bound" in answer.notes
    assert answer.evidence[0].rule == "handed over"


def test_a_tree_that_meets_the_known_bound_is_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = fair_problem(rows=30, columns=4)
    best = solved(problem).objective
    assert best is not None
    cut_short(monkeypatch, int(best[0]))
    answer = solved(problem)
    assert (answer.status, answer.objective) == (Status.OPTIMAL, best)


def test_a_known_bound_above_a_tree_is_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = fair_problem(rows=30, columns=4)
    best = solved(problem).objective
    assert best is not None
    cut_short(monkeypatch, int(best[0]) + 1)
    with pytest.raises(BackendError, match="contradict"):
        solved(problem)


def test_nobody_goes_on_if_that_is_switched_off_or_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_short(monkeypatch, 0, Leaf(0))
    problem = fair_problem(rows=30, columns=4)
    alone = solved(problem, Limits(Deadline.after(60), options={"hand_over": 0}))
    assert (alone.status, alone.stop, alone.notes) == (Status.FEASIBLE, Stop.MEMORY, ())
    assert solved(problem, Limits(Deadline.after(0))).stop is Stop.MEMORY


def test_memory_that_does_not_hold_the_data_ends_the_search() -> None:
    problem = fair_problem(rows=400, columns=60, depth=3)
    answer = solved(problem, Limits(Deadline.after(20), memory=70_000, options={"hand_over": 0}), start=Leaf(0))
    assert (answer.status, answer.stop, answer.tree) == (Status.FEASIBLE, Stop.MEMORY, Leaf(0))


@pytest.mark.parametrize("groups", [5, 7])
def test_many_groups_are_compared_as_brute_force_does(groups: int) -> None:
    """Every two of five groups make ten sums, of seven groups 21."""
    generator = np.random.default_rng(groups)
    bits, actual = generator.integers(0, 2, (3, 40)), generator.integers(0, 2, 40)
    group = np.arange(40) % groups
    fewest: dict[str, int | None] = dict.fromkeys(("0.1", "0.3", "0.6"))
    for root, left, right in product(range(3), repeat=3):
        below = np.where(bits[root] == 1, bits[right], bits[left])
        for labels in product((0, 1), repeat=4):
            predicted = np.array(labels)[2 * bits[root] + below]
            rates = [
                Fraction(int(predicted[group == each].sum()), int((group == each).sum())) for each in range(groups)
            ]
            wrong = int((predicted != actual).sum())
            for limit, least in fewest.items():
                if max(rates) - min(rates) <= Fraction(limit) and (least is None or wrong < least):
                    fewest[limit] = wrong
    data = {f"x{number}": column.tolist() for number, column in enumerate(bits)}
    data |= {"y": actual.tolist(), "g": [f"g{number}" for number in group]}
    for limit, least in fewest.items():
        text = "predict y is 1\nminimize errors\nrequire depth <= 2\nforbid split on g\nrequire parity_gap(g) <= "
        result = tml.parse(f"{text}{limit}\nsolve with native").solve(data)
        assert (result.status, result.objective) == (tml.Status.OPTIMAL, least)


# -- what it says -----------------------------------------------------------------------------


def refusals(problem: Problem) -> list[str]:
    outcome = plan(problem, NATIVE)
    assert not isinstance(outcome, Plan)
    return [refusal.because for refusal in outcome]


def test_what_is_not_taken_is_refused_in_a_sentence() -> None:
    problem = fair_problem()
    cheap = [bound(terms.TestCost((cost,) * 6), "<=", 9) for cost in (1, 2)]
    costs = problem.asking(problem.goals, (*problem.bounds, *cheap))
    assert refusals(costs) == ["native supports one table of costs, and these have several"]
    dear = problem.asking(problem.goals, (*problem.bounds, bound(terms.TestCost((1,) * 6), ">=", 1)))
    assert refusals(dear) == ["native supports only upper limits on this measure"]
    negative = problem.asking(problem.goals, (*problem.bounds, bound(terms.TestCost((-1,) * 6), "<=", 1)))
    assert refusals(negative) == ["native does not support negative costs of tests"]
    heavy = np.array([[2**50 + row, row] for row in range(60)], dtype=np.int64)
    pure = problem.asking(problem.goals, (*problem.bounds, bound(Purity(heavy), ">=", "1/2", "pure")))
    assert refusals(pure) == ["a share of the purity of leaves has too many digits for the coupled search"]
    many = [
        bound(Predicted(np.array([[0, 1 + (row + number) % 61] for row in range(60)])), ">=", 100)
        for number in range(61)
    ]
    assert refusals(problem.asking(problem.goals, tuple(many))) == [
        "the coupled search of native takes up to 60 of them"
    ]
    huge = Predicted(np.array([[0, 2**57 // 60 - row] for row in range(60)]))
    too_large = problem.asking(problem.goals, (bound(huge, ">=", 2**55),))
    assert refusals(too_large) == ["a sum over the predictions is too large for the coupled search"]


def test_the_plan_names_the_kernel_and_the_requirements() -> None:
    outcome = plan(fair_problem(), NATIVE)
    assert isinstance(outcome, Plan)
    assert (
        outcome.explain()[-1]
        == "the coupled kernel runs: requirements on the predictions of all rows couple the leaves (parity)"
    )


def test_options_of_other_kernels_are_refused() -> None:
    assert choose_kernel(fair_problem(), {"kernel": "numeric"})[0] == "coupled numeric"
    with pytest.raises(ValueError, match="`similarity` is not an option of the coupled kernel"):
        choose_kernel(fair_problem(), {"similarity": 1})
    assert choose_kernel(fair_problem(), {"kernel": "binary", "hand_over": 0, "once": 1})[0] == "coupled"
    assert choose_kernel(fair_problem(limit="1"), {"hand_over": 0})[0] == "binary"


def test_a_limit_that_every_tree_meets_leaves_the_search_as_it_is() -> None:
    problem = fair_problem(limit="1")
    free = problem.asking(problem.goals, problem.bounds[:1])
    answer = solved(problem)
    assert answer.objective == solved(free).objective
    assert answer.evidence == (Evidence("search", "native, binary kernel"),)


def test_a_sum_of_measures_is_still_refused() -> None:
    problem = fair_problem()
    mixed = Sum((*single(errors([0] * 60, 2)).parts, (Fraction(1), Leaves())))
    assert refusals(problem.asking(problem.goals, (bound(mixed, "<=", 5),)))


def test_a_goal_that_is_the_same_for_all_trees_is_planned() -> None:
    spec = 'predict y is "p"\ncost predict "p" by column paid\nmaximize gmean\nrequire gain >= 3'
    result = tml.parse(spec).solve({"c0": [-2, 1], "y": ["p", "p"], "paid": [10**9, 10**9]})
    assert result.status is Status.INFEASIBLE
