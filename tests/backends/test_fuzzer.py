"""The fuzzer finds wrong answers, shrinks their problems, and stores them as cases."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from treeml.backends.claims import Evidence
from treeml.backends.contract import NO_LIMITS, Answer, Limits, OnProgress, Status, Stop
from treeml.backends.oracle.backend import OracleBackend
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.problem import Problem
from treeml.problem.terms import Custom
from treeml.problem.tree import Leaf, Node
from treeml.testing.cases import load_problem
from treeml.testing.fuzz import Disagreement, fuzz, main, store
from treeml.testing.problems import Sizes, binary, minimize, random_problem
from treeml.testing.stored import from_json, to_json


class Hasty(OracleBackend):
    """Calls the best leaf optimal as soon as there are three rows."""

    name = "hasty"

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        answer = super().solve(problem, limits, start, on_progress)
        if problem.rows < 3 or answer.status is not Status.OPTIMAL or not problem.classes or problem.bounds:
            return answer
        leaf = min((Leaf(label) for label in range(problem.classes)), key=lambda leaf: evaluate_goals(problem, leaf))
        value = evaluate_goals(problem, leaf)
        lie = (Evidence("search"),)
        return Answer(Status.OPTIMAL, Stop.PROVED, leaf, value, value[-1] if value else None, evidence=lie)


def first_disagreement() -> Disagreement:
    return next(fuzz(Hasty(), iter(range(1000))))


def test_a_wrong_optimum_is_found_and_shrunk() -> None:
    found = first_disagreement()
    assert "but the best is" in found.reason
    assert found.problem.rows == 3
    assert len(found.problem.goals) == 1
    assert len(found.problem.bounds) == 0


def test_it_is_kept_as_a_case(tmp_path: Path) -> None:
    found = first_disagreement()
    path = store(found, tmp_path / "found")
    kept = json.loads(path.read_text())
    truth = OracleBackend().solve(load_problem(path))
    assert kept["answer"]["status"] == "optimal"
    assert kept["answer"]["objective"] == [str(value) for value in truth.objective or ()]
    assert "hasty" in kept["found"]


def test_problems_survive_being_written() -> None:
    for seed in range(60):
        problem = random_problem(Random(seed))
        written = to_json(problem)
        again = from_json(json.loads(json.dumps(written)))
        assert to_json(again) == written
        one, other = OracleBackend().solve(problem), OracleBackend().solve(again)
        assert (one.status, one.objective) == (other.status, other.objective)


def test_extreme_problems_survive_too() -> None:
    for seed in range(40):
        problem = random_problem(Random(seed), Sizes(is_extreme=True))
        assert to_json(from_json(json.loads(json.dumps(to_json(problem))))) == to_json(problem)
    limits = {
        bound.limit for seed in range(40) for bound in random_problem(Random(seed), Sizes(is_extreme=True)).bounds
    }
    assert max(limits) > 2**63
    assert Fraction("0.6666666666666666") in limits


def test_a_function_cannot_be_written() -> None:
    with pytest.raises(TypeError, match="cannot be written"):
        to_json(binary(["0"], 0, minimize(Custom(len))))


def test_the_command_reports_what_was_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--backend", "cart", "--seconds", "0.3", "--seed", "5", "--into", str(tmp_path)]) == 0
    assert "cart: " in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_seeds_repeat() -> None:
    one, other = (to_json(random_problem(Random(9))) for _ in range(2))
    assert one == other
    assert to_json(random_problem(Random(10))) != one


def test_rows_that_stand_for_several_are_tried_as_one() -> None:
    problem = random_problem(Random(3))
    many = replace(problem, count=problem.count * 2, given_bits=problem.bits)
    assert OracleBackend().solve(many).status in (Status.OPTIMAL, Status.INFEASIBLE)
