"""Requirements whose counts have few possible values, such as a gap of exactly 0: solved case by case."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

import treeml as tml
from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Deadline, Limits, Progress, Status, Stop
from treeml.backends.native.backend import NativeBackend
from treeml.backends.native.coupled import by_cases, run
from treeml.backends.native.coupled.cases import Cases, cases_of
from treeml.backends.native.coupled.task import CoupledTask, read_coupled
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run as run_plan
from treeml.problem.evaluate import is_answer
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Depth, Predicted
from treeml.problem.tree import Leaf
from treeml.testing.coupled import coupled_problem
from treeml.testing.fuzz import fuzz
from treeml.testing.problems import binary, bound, errors, minimize

NATIVE = NativeBackend()


def solved(problem: Problem, limits: Limits | None = None, **given: object) -> Answer:
    planned = plan(problem, NATIVE)
    assert isinstance(planned, Plan), planned
    return run_plan(planned, limits or Limits(Deadline.after(60)), **given)  # type: ignore[arg-type]


def gap(group: list[int], sides: tuple[int, int], limit: str) -> list[Bound]:
    """The difference between the rates of class 1 in two groups, limited in both directions."""
    sizes = [group.count(side) for side in sides]
    factor = {sides[0]: sizes[1], sides[1]: -sizes[0]}
    cost = np.array([[0, factor.get(own, 0)] for own in group], dtype=np.int64)
    scale = Fraction(1, sizes[0] * sizes[1])
    return [bound(Predicted(sign * cost, scale), "<=", limit, "gap") for sign in (1, -1)]


def unequal_groups(sizes: tuple[int, ...], depth: int, limit: str = "0", seed: int = 1) -> Problem:
    random = Random(seed)
    group = [number for number, size in enumerate(sizes) for _ in range(size)]
    table = ["".join(random.choice("01") for _ in range(9)) for _ in group]
    actual = [int(row[0] == row[1]) if random.random() < 0.8 else 1 for row in table]
    pairs = [(one, other) for one in range(len(sizes)) for other in range(one)]
    gaps = [each for pair in pairs for each in gap(group, pair, limit)]
    return binary(table, 2, minimize(errors(actual, 2)), (bound(Depth(), "<=", depth, "depth"), *gaps))


def sums_of(values: np.ndarray[tuple[int, ...], np.dtype[np.int64]], labels: tuple[int, ...]) -> list[int]:
    return [int(each[np.arange(len(labels)), labels].sum()) for each in values[1:]]


def within(sums: list[int], low: tuple[int | None, ...], high: tuple[int | None, ...]) -> bool:
    return all(
        (least is None or least <= value) and (most is None or value <= most)
        for value, least, most in zip(sums, low, high, strict=True)
    )


@pytest.mark.parametrize("seed", range(60))
def test_labels_within_the_limits_are_in_exactly_one_case(seed: int) -> None:
    problem = coupled_problem(Random(seed))
    task = read_coupled(problem)
    cases = cases_of(task)
    if cases is None or problem.rows > 7:
        return
    for labels in product(range(problem.classes), repeat=problem.rows):
        fitting = sum(within(sums_of(cases.values, labels), low, high) for low, high in cases.limits)
        assert fitting == within(sums_of(task.values, labels), task.low, task.high)


def test_three_groups_share_their_counts() -> None:
    cases = cases_of(read_coupled(unequal_groups((6, 9, 15), 2)))
    assert cases is not None
    assert len(cases.values) == 1 + 3
    counts = [[low if low is not None else 0 for low in lows] for lows, _ in cases.limits]
    assert sorted(map(sorted, counts)) == [[0, 0, 0], [2, 3, 5], [4, 6, 10], [6, 9, 15]]


def test_wide_limits_and_equal_groups_have_no_cases() -> None:
    assert cases_of(read_coupled(unequal_groups((301, 499), 2, "1/20"))) is None
    assert cases_of(read_coupled(unequal_groups((200, 200), 2))) is None


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[Cases]:
    """The cases that were searched; no task is solved as a whole."""
    found: list[Cases] = []

    def noted(task: CoupledTask) -> Cases | None:
        cases = cases_of(task)
        if cases is not None:
            found.append(cases)
        return cases

    monkeypatch.setattr(run, "cases_of", noted)
    monkeypatch.setattr(by_cases, "AT_ONCE", (0.0, 0.0))
    return found


def test_random_problems_agree_with_the_oracle_case_by_case(used: list[Cases]) -> None:
    assert list(fuzz(NATIVE, iter(range(400, 600)), make=coupled_problem)) == []
    assert len(used) > 40


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 20_000, 500))
def test_many_random_problems_agree_with_the_oracle_case_by_case(used: list[Cases], first: int) -> None:
    assert list(fuzz(NATIVE, iter(range(first, first + 500)), make=coupled_problem)) == []


def test_cases_that_all_stop_without_a_tree_keep_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = (Evidence("relaxation", "of a case"),)

    def stopped(*_: object) -> Answer:
        return Answer(Status.UNKNOWN, Stop.TIME, bound=Fraction(2), bounded_goal=0, evidence=proof)

    monkeypatch.setattr(by_cases, "_within", stopped)
    problem = unequal_groups((5, 7), 2)
    answer = solved(problem)
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.TIME)
    assert answer.tree is not None  # an easy one, which no case has found
    assert is_answer(problem, answer.tree)
    assert answer.bound == 2


def test_a_gap_of_zero_between_groups_of_coprime_sizes() -> None:
    """Both rates are 0 or both are 1; the sum itself has a value for nearly every tree."""
    problem = unequal_groups((301, 499), 4)
    answer = solved(problem)
    wrong = min(int(label.sum()) for label in problem.goals[0].sum.parts[0][1].cost.T)  # type: ignore[union-attr]
    assert (answer.status, answer.objective) == (Status.OPTIMAL, (wrong,))
    assert answer.evidence[0].rule == "case by case"


def test_what_a_stopped_run_offers(used: list[Cases]) -> None:
    problem = unequal_groups((304, 512), 3)
    seen: list[Progress] = []

    def listener(moment: Progress) -> bool:
        seen.append(moment)
        return moment.tree is None

    answer = solved(problem, on_progress=listener)
    assert used
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.INTERRUPTED)
    assert answer.tree is not None
    best = solved(problem)
    assert best.status is Status.OPTIMAL
    assert answer.bound is None or (best.objective is not None and answer.bound <= best.objective[0])
    late = solved(problem, Limits(Deadline.after(0)), start=Leaf(1))
    assert (late.status, late.stop) == (Status.FEASIBLE, Stop.TIME)


def test_memory_that_no_case_fits_in_is_handed_over_and_said() -> None:
    group = ["a"] * 30 + ["b"] * 41
    random = Random(3)
    data = {f"x{column}": [random.randrange(2) for _ in group] for column in range(6)}
    data |= {"y": [random.randrange(2) for _ in group]}
    text = "predict y is 1\nminimize errors\nrequire depth <= 2\nrequire parity_gap(g) <= 0\nforbid split on g\n"
    whole = tml.parse(text + "solve with native").solve({**data, "g": group})
    result = tml.parse(text + "solve with native").solve({**data, "g": group}, memory=66_000)
    assert (result.status, result.objective) == (tml.Status.OPTIMAL, whole.objective)
    assert "native stopped at its limit on memory, and cpsat went on from its tree and bound" in result.notes
