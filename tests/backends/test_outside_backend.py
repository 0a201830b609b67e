"""A package outside of TreeML adds a back-end with one file and an entry point."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
from treeml.backends.claims import Evidence
from treeml.backends.contract import NO_LIMITS, Answer, BackendBase, Capabilities, Status, Stop
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.tree import Leaf


class SingleLeaf(BackendBase):
    name = "single_leaf"
    summary = "the best tree without a split"
    can = Capabilities(goals=frozenset({"Predicted"}), bounds=frozenset({"Depth"}), automatic=False)

    def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):
        leaves = [leaf for leaf in map(Leaf, range(problem.classes)) if meets_all(problem, leaf)]
        best = min(leaves, key=lambda leaf: evaluate_goals(problem, leaf))
        objective = evaluate_goals(problem, best)
        if problem.max_depth == 0:
            searched = (Evidence("enumeration", "all leaves"),)
            return Answer(Status.OPTIMAL, Stop.PROVED, best, objective, objective[0], evidence=searched)
        return Answer(Status.FEASIBLE, Stop.FINISHED, best, objective)


class Liar(SingleLeaf):
    name = "liar"

    def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):
        return Answer(Status.FEASIBLE, Stop.FINISHED, Leaf(0), (evaluate_goals(problem, Leaf(0))[0] - 1,))
"""
ENTRY_POINTS = """[treeml.backends]
single_leaf = outside_leaf:SingleLeaf
liar = outside_leaf:Liar
"""
SPEC = "predict y\nmaximize accuracy\nrequire depth <= 0\n"
DATA = "x,y\n1,a\n2,a\n3,b\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """An installed package: one module, and the metadata that an installer would write."""
    (tmp_path / "outside_leaf.py").write_text(MODULE)
    information = tmp_path / "outside_leaf-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: outside-leaf\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "spec.tml").write_text(SPEC)
    (tmp_path / "data.csv").write_text(DATA)
    return tmp_path


def treeml(package: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "treeml", *arguments],
        cwd=package,
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_is_listed(package: Path) -> None:
    listed = treeml(package, "backends")
    assert listed.returncode == 0, listed.stderr
    assert "single_leaf" in listed.stdout
    assert "the best tree without a split" in listed.stdout


def test_it_solves_and_its_answer_is_verified(package: Path) -> None:
    solved = treeml(package, "solve", "spec.tml", "--data", "data.csv", "--with", "single_leaf", "--json")
    assert solved.returncode == 0, solved.stderr
    result = json.loads(solved.stdout)
    assert (result["backend"], result["status"]) == ("single_leaf", "optimal")
    assert result["verified"] is True


def test_it_runs_only_where_it_is_named(package: Path) -> None:
    solved = treeml(package, "solve", "spec.tml", "--data", "data.csv", "--json")
    assert solved.returncode == 0, solved.stderr
    assert json.loads(solved.stdout)["backend"] not in ("single_leaf", "liar")


def test_a_wrong_answer_is_detected(package: Path) -> None:
    solved = treeml(package, "solve", "spec.tml", "--data", "data.csv", "--with", "liar")
    assert solved.returncode != 0
    assert "B513" in solved.stderr
