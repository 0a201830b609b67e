"""One solve spread over a Dask cluster: the tree's value and the proof are those of one machine."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from click.testing import CliRunner

import treeml as tml
from treeml.backends.claims import BOUND, INFEASIBLE, OPTIMAL, Evidence
from treeml.backends.cluster import backend
from treeml.backends.cluster.root_task import solve_root
from treeml.backends.contract import Deadline, Limits, Status
from treeml.backends.native.backend import NativeBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.cli.main import treeml
from treeml.lang.diagnostic import RefusedError
from treeml.problem.evaluate import evaluate_goals, is_answer
from treeml.problem.problem import Problem
from treeml.problem.tree import Split
from treeml.solving import pipeline
from treeml.solving.choice import lower

TEXTS = [
    "minimize errors require depth <= 3",
    "minimize errors + 2 * leaves require depth <= 3",
    "maximize accuracy require depth <= 2 require support >= 8",
    "minimize errors require depth <= 3 require purity >= 60%",
    "minimize errors require depth <= 2 require leaf_errors <= 4",
]


def problem_of(text: str, seed: int) -> Problem:
    random = np.random.default_rng(seed)
    bits = random.integers(0, 2, size=(80, 7))
    target = (bits[:, 0] & bits[:, 1]) ^ (random.random(80) < 0.25)
    dataset, request = pipeline.prepare(tml.parse(text), bits, target.astype(int))
    return lower(dataset, request).form(numeric=False).problem


def best(problem: Problem) -> Fraction | None:
    planned = plan(problem, NativeBackend())
    assert isinstance(planned, Plan)
    answer = run(planned)
    assert answer.status in (Status.OPTIMAL, Status.INFEASIBLE)
    return None if answer.objective is None else answer.objective[0]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("seed", range(4))
def test_first_tests_together_are_the_whole_problem(text: str, seed: int) -> None:
    problem = problem_of(text, seed)
    optimum = best(problem)
    found = [solve_root(problem, root, None, 60, None) for root in range(len(problem.tests))]
    for each in found:
        if each.tree is not None:
            assert isinstance(each.tree, Split)
            assert each.tree.test == each.root
            assert is_answer(problem, each.tree)
            assert evaluate_goals(problem, each.tree)[0] == each.value == each.bound
        else:
            assert each.is_infeasible
    values = [each.value for each in found if each.value is not None]
    if optimum is None:
        assert not values
    elif values:  # otherwise the best tree is a single leaf
        assert min(values) >= optimum
        assert min(values) == optimum or problem.goals[0].sum.kinds() & {"Leaves"} or optimum < min(values)


@pytest.mark.parametrize("seed", range(4))
def test_an_upper_value_gives_a_bound_that_holds(seed: int) -> None:
    problem = problem_of(TEXTS[0], seed)
    exact = {root: solve_root(problem, root, None, 60, None) for root in range(len(problem.tests))}
    for upper in (Fraction(3), Fraction(15), Fraction(40)):
        for root, each in exact.items():
            assert each.value is not None
            found = solve_root(problem, root, upper, 60, None)
            assert found.bound <= each.value
            assert any(proof.supports(BOUND) for proof in found.evidence)
            if each.value < upper:
                assert found.value == each.value
            else:
                assert found.bound >= upper or found.value == each.value


def test_the_rule_needs_evidence_for_every_beginning() -> None:
    solved, bounded = Evidence("search"), Evidence("search bound")
    assert Evidence("root by root", "", (solved, bounded)).supports(OPTIMAL)
    assert not Evidence("root by root", "", (solved, bounded)).supports(INFEASIBLE)
    assert Evidence("root by root", "", (solved,)).supports(INFEASIBLE)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("minimize errors require depth <= 2 require recall(1) >= 50%", {}),
        ("minimize errors require depth <= 2 require leaves <= 3", {}),
        ("minimize errors require depth <= 2", {"backend": "cpsat"}),
        ("minimize errors require depth <= 2", {"backend": "native(threads = 2)"}),
    ],
)
def test_what_does_not_split_is_refused_before_anything_is_sent(text: str, options: dict[str, str]) -> None:
    bits = np.random.default_rng(0).integers(0, 2, size=(30, 4))
    with pytest.raises(RefusedError):
        tml.parse(text).solve(bits[:, 1:], bits[:, 0], cluster="tcp://127.0.0.1:1", **options)


def test_no_cluster_at_the_address(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b,y\n0,1,1\n1,0,0\n1,1,0\n0,0,1\n")
    (tmp_path / "spec.tml").write_text('data "rows.csv"\npredict y\nminimize errors\nrequire depth <= 2\n')
    said = CliRunner().invoke(treeml, ["solve", str(tmp_path / "spec.tml"), "--cluster", "no address at all"])
    assert said.exit_code == 5
    assert "error[B531]: there is no cluster at no address at all" in said.output


@pytest.mark.slow
def test_a_solve_on_a_cluster_that_loses_a_worker() -> None:
    # In a process of its own: the event loop of a cluster wants one without the threads of other tests.
    command = [sys.executable, str(Path(__file__).with_name("lost_worker.py"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome["killed"]
    for case in outcome["cases"]:
        assert case["cluster"] == case["native"], case
        assert case["status"] == "optimal"
        assert "root by root" in case["evidence"]
        assert case["verified"]
    spread, alone = outcome["numbers"]  # every cut of the columns is tried, as on one machine
    assert spread == alone
    assert spread[0] == "optimal"
    assert outcome["late"]["bound"] <= outcome["late"]["objective"]
    assert outcome["late"]["verified"]
    assert outcome["infeasible"] == ["infeasible", "infeasible"]
    assert outcome["stopped"]["status"] == "feasible"
    assert outcome["stopped"]["bound"] <= outcome["stopped"]["best"] <= outcome["stopped"]["objective"]


def test_a_connection_that_does_not_close_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    is_closed = Event()

    class Hanging:
        def close(self) -> None:
            is_closed.wait()

    monkeypatch.setattr(backend, "TO_LEAVE", 0.0)
    backend._leave(Hanging(), None)  # comes back, although the connection is still open
    assert not is_closed.is_set()
    is_closed.set()


def test_a_cluster_is_not_asked_if_there_is_no_time_to_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "TO_CONNECT", float("inf"))
    answer = backend.ClusterBackend("tcp://nobody:1").solve(
        problem_of(TEXTS[0], 0), Limits(deadline=Deadline.after(60))
    )
    assert answer.tree is not None
    assert answer.notes == ("the cluster at tcp://nobody:1 did not answer in the time that was left",)
