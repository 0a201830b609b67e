"""Least depth and least size of a perfect tree: every encoding, native and deepening against the oracle."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from perfect_problems import DEPTH, GOALS, perfect_problem
from random_problems import ONE

from treeml.backends.contract import Answer, Deadline, Limits, Status, Stop
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import DEEPEST_IMPLIED, Plan, plan
from treeml.backends.registry import get
from treeml.backends.run import run
from treeml.lang.diagnostic import RefusedError
from treeml.native.rup import check_proof
from treeml.problem.problem import Bound, Feature, Problem, Test
from treeml.problem.shapes import deepest
from treeml.problem.terms import Predicted, Sum

WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "native": ("native", {}),
    "sat": ("sat", {}),
    "sat order": ("sat", {"encoding": "order"}),
    "sat leaves": ("sat", {"encoding": "leaves"}),
    "sat binary": ("sat", {"encoding": "binary", "rows": "all"}),
    "sat complete": ("sat", {"encoding": "complete"}),
    "sat complete, all rows": ("sat", {"encoding": "complete", "rows": "all"}),
    "sat partition": ("sat", {"encoding": "partition"}),
    "sat partition, all rows": ("sat", {"encoding": "partition", "rows": "all"}),
    "parameterized": ("parameterized", {}),
    "parameterized support": ("parameterized", {"columns": "support"}),
    "parameterized all": ("parameterized", {"columns": "all"}),
    "maxsat": ("maxsat", {}),
    "cpsat": ("cpsat", {}),
}


@cache
def truth(seed: int, goals: str) -> Answer:
    return OracleBackend().solve(perfect_problem(seed, GOALS[goals]))


def check(way: str, seed: int, goals: str) -> None:
    """Every answer is proved, verified by `run`, and what the oracle found."""
    name, options = WAYS[way]
    problem = perfect_problem(seed, GOALS[goals])
    planned = plan(problem, get(name), options)
    if name in ("maxsat", "cpsat") and goals.startswith("leaves") and deepest(problem) > DEEPEST_IMPLIED:
        assert isinstance(planned, list), "these need a bound on depth"
        return
    assert isinstance(planned, Plan), planned
    answer = run(planned, Limits(Deadline.after(60), options=options))
    assert (answer.status, answer.stop) == (Status.OPTIMAL, Stop.PROVED)
    assert answer.objective == truth(seed, goals).objective, (way, seed, goals)


@pytest.mark.parametrize("goals", GOALS)
@pytest.mark.parametrize("way", WAYS)
def test_least(way: str, goals: str) -> None:
    for seed in range(6):
        check(way, seed, goals)


@pytest.mark.parametrize("way", ["sat complete", "sat partition", "parameterized"])
def test_nodes_below_a_leaf_are_not_leaves(way: str) -> None:
    """Unbalanced trees for which one leaf too many was found when nodes below a leaf had to separate rows."""
    check(way, 169, "leaves")
    check(way, 225, "depth then leaves")


def asked_for(seed: int, depth: int) -> Problem:
    return perfect_problem(seed, bounds=(Bound(DEPTH, "<=", Fraction(depth), "depth"),))


def a_level_short(seed: int) -> Problem:
    least = truth(seed, "depth").objective
    assert least is not None
    assert least[0] >= 1
    return asked_for(seed, int(least[0]) - 1)


@pytest.mark.parametrize("encoding", ["order", "complete", "partition"])
def test_the_proof_of_a_level_less_holds(encoding: str, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    answer = get("sat").solve(a_level_short(5), Limits(options={"encoding": encoding, "proof": str(proof)}))
    assert answer.status is Status.INFEASIBLE
    assert check_proof(f"{proof}.cnf", proof) is None
    assert any("checked" in note for note in answer.notes)


def test_the_hybrid_switches_at_the_depth_given() -> None:
    problem = asked_for(5, 3)
    deep, shallow = (plan(problem, get("sat"), {"switch": switch}) for switch in (3, 4))
    assert isinstance(deep, Plan)
    assert isinstance(shallow, Plan)
    assert deep.remark == "encoding partition: depth 3 is not below the switch at 3"
    assert "partition" not in shallow.remark
    assert "(encoding = partition)" in get("sat").solve(problem, Limits(options={"switch": 3})).notes[0]


def test_encodings_for_perfect_trees_refuse_other_questions() -> None:
    lenient = replace(asked_for(5, 2), bounds=(Bound(DEPTH, "<=", Fraction(2), "depth"),))
    loose = lenient.asking((), (*lenient.bounds, Bound(asked_for(5, 2).bounds[0].sum, "<=", Fraction(1), "errors")))
    for encoding in ("complete", "partition"):
        with pytest.raises(RefusedError, match="different classes"):
            get("sat").solve(loose, Limits(options={"encoding": encoding}))
    assert get("sat").solve(loose, Limits()).stop is Stop.PROVED


def test_too_little_memory_is_reported() -> None:
    answer = get("sat").solve(asked_for(5, 3), Limits(memory=100))
    assert (answer.status, answer.stop) == (Status.UNKNOWN, Stop.MEMORY)
    assert any("do not fit" in note for note in answer.notes)


def test_without_time_the_greedy_tree_is_there() -> None:
    problem = perfect_problem(5, GOALS["leaves"])
    planned = plan(problem, get("sat"))
    assert isinstance(planned, Plan)
    answer = run(planned, Limits(Deadline.after(0)))
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.TIME)


def test_the_notes_state_that_one_level_less_is_infeasible() -> None:
    planned = plan(perfect_problem(5, GOALS["depth"]), get("sat"))
    assert isinstance(planned, Plan)
    answer = run(planned)
    assert answer.objective is not None
    assert any(note.startswith(f"depth {answer.objective[0] - 1}: there is no tree") for note in answer.notes)


def test_small_trees_over_many_tests_are_left_to_sat() -> None:
    from treeml.solving.preference import preferred

    codes = np.arange(150, dtype=np.int32)
    feature = Feature("x", "ordered", 150, codes, 0, 149)
    tests = tuple(Test(0, "at most", (cut,)) for cut in range(149))
    cost = np.stack([codes >= 75, codes < 75], axis=1).astype(np.int64)
    perfect = Bound(Sum(((ONE, Predicted(cost)),)), "<=", Fraction(0), "errors")
    problem = Problem((feature,), tests, np.ones(150, np.int64), 2, GOALS["leaves"], (perfect,))
    first = preferred(problem)
    assert first is not None
    assert first[0] == "sat"
    assert "only 2 leaves" in first[1]
    assert preferred(problem.asking(GOALS["depth"], problem.bounds)) is None
    assert preferred(perfect_problem(5, GOALS["leaves"])) is None


@pytest.mark.slow
@pytest.mark.parametrize("goals", GOALS)
@pytest.mark.parametrize("way", WAYS)
def test_least_of_many(way: str, goals: str) -> None:
    for seed in range(100, 400):
        check(way, seed, goals)
