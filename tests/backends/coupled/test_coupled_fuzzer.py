"""The fuzzer of coupled requirements: who gets which cases, what it counts, and that it finds false claims."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Deadline, Limits, Status, Stop
from treeml.backends.native.backend import NativeBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf
from treeml.testing.coupled import ODD, REFUSED, UNFINISHED, Way, main, truth_of, wrong
from treeml.testing.coupled_contenders import contender, other_for, others
from treeml.testing.coupled_problems import odd_problem
from treeml.testing.planted_requirements import REACHES, planted_problem, refuted


def test_the_fuzzer_says_how_many_problems_there_were(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cases", "3", "--seed", "73"]) == 0
    assert "native taken: 3\n" in capsys.readouterr().out


def test_every_other_back_end_gets_its_share_of_the_cases_and_odd_magnitudes() -> None:
    names = {
        (each.name, number % ODD == 0) for number in range(12 * len(others())) for each in other_for(number, others())
    }
    assert names == {(each.name, is_odd) for each in others() for is_odd in (True, False)}
    assert {"cpsat", "mip", "mip(solver = scip)", "maxsat", "improve"} <= {name for name, _ in names}


def test_the_fuzzer_counts_what_is_refused_and_what_is_not_finished(capsys: pytest.CaptureFixture[str]) -> None:
    """The mip refuses sums that floats lose, and CART proves nothing: neither is dropped."""
    assert main(["--cases", "16", "--seed", "400", "--backend", "mip", "--backend", "cart", "--others", "no"]) == 0
    told = dict(line.rsplit(": ", 1) for line in capsys.readouterr().out.splitlines() if ": " in line)
    counts = {name: int(number) for name, number in told.items()}
    assert counts["mip refused"]
    assert counts["mip taken"] + counts["mip refused"] + counts.get("mip not finished", 0) == 16
    assert counts["cart not finished"]


@pytest.mark.parametrize("name", [each.name for each in others()])
def test_other_back_ends_agree_with_the_oracle_at_odd_magnitudes(name: str) -> None:
    """The plain way, so that an answer without a proof would be counted; the fuzzer draws the others."""
    for seed in range(6):
        problem = odd_problem(Random(seed))
        assert wrong(problem, contender(name), Way("plain", 1), truth_of(problem)) in (None, REFUSED, UNFINISHED)


@pytest.mark.parametrize("reach", REACHES)
def test_a_planted_tree_with_nothing_to_spare_is_excluded_by_no_claim(reach: int) -> None:
    """Sums on both sides of the largest that floats, words of 32 bits and solvers carry."""
    for seed in range(4):
        problem, tree = planted_problem(Random(seed), reach)
        assert meets_all(problem, tree)
        for name in ("native", "cpsat", "mip", "mip(solver = scip)", "maxsat", "improve"):
            solver = contender(name)
            planned = plan(problem, solver.backend, solver.options)
            if isinstance(planned, Plan):
                answer = run(planned, Limits(Deadline.after(60), options=solver.options))
                assert refuted(problem, tree, answer) is None
                assert answer.status is Status.OPTIMAL or not solver.backend.can.proves


def test_scip_separates_the_last_unit_of_a_long_row() -> None:
    """It compares sums by relative differences; with its usual tolerance, its best tree broke a limit by one unit."""
    problem, tree = planted_problem(Random(1148), 999_983)
    solver = contender("mip(formulation = flow, solver = scip)")
    planned = plan(problem, solver.backend, solver.options)
    assert isinstance(planned, Plan)
    answer = run(planned, Limits(Deadline.after(60), options=solver.options))
    assert answer.status is Status.OPTIMAL
    assert answer.objective == evaluate_goals(problem, tree)


@pytest.mark.parametrize(("seed", "reach"), [(5001, 999_999), (5035, 10**9 + 7), (5191, 999_999)])
def test_cpsat_decides_labels_where_requirements_are_large_sums(seed: int, reach: int) -> None:
    """Deciding the tests alone, it counted through values of the sums, and nine rows took more than a minute."""
    problem, _ = planted_problem(Random(seed), reach)
    solver = contender("cpsat(encoding = rows)")
    planned = plan(problem, solver.backend, solver.options)
    assert isinstance(planned, Plan)
    assert run(planned, Limits(Deadline.after(60), options=solver.options)).status is Status.OPTIMAL


def test_a_planted_tree_refutes_false_claims() -> None:
    problem, tree = planted_problem(Random(1), 997)
    (value,) = evaluate_goals(problem, tree)
    search = (Evidence("search"),)
    assert refuted(problem, tree, Answer(Status.INFEASIBLE, Stop.PROVED, evidence=search))
    assert refuted(problem, tree, Answer(Status.OPTIMAL, Stop.PROVED, tree, (value + 1,), value, evidence=search))
    above = Answer(Status.UNKNOWN, Stop.TIME, bound=value + 1, evidence=(Evidence("search bound"),))
    assert refuted(problem, tree, above)
    assert refuted(problem, tree, replace(above, bound=value)) is None


def test_a_wrong_answer_is_found_shrunk_and_stored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A back-end that calls every tree optimal disagrees with the oracle."""
    honest = NativeBackend.solve

    def lying(backend: NativeBackend, problem: Problem, *given: Any) -> Answer:
        answer = honest(backend, problem, *given)
        if answer.status is not Status.OPTIMAL or not problem.goals:
            return answer
        worse = [Leaf(label) for label in range(problem.classes) if meets_all(problem, Leaf(label))]
        if not worse:
            return answer
        values = evaluate_goals(problem, worse[0])
        return replace(answer, tree=worse[0], objective=values, bound=values[-1], trace=())

    monkeypatch.setattr(NativeBackend, "solve", lying)
    assert main(["--cases", "40", "--seed", "70", "--into", str(tmp_path)]) == 1
    assert list(tmp_path.glob("native-*.json"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 6000, 100))
def test_many_random_problems_agree_with_the_oracle(seed: int) -> None:
    assert main(["--cases", "100", "--seed", str(seed)]) == 0
