"""The committed matrix of what each back-end solves or refuses: any change fails, and so does a wrong answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from treeml.backends import registry
from treeml.cli.main import treeml
from treeml.testing import matrix
from treeml.testing.cases import SuiteCase, cases
from treeml.testing.matrix import Cell, deviation, expected, solved, write


def conformance(*arguments: str) -> Result:
    return CliRunner().invoke(treeml, ["conformance", *arguments])


def test_every_back_end_has_a_cell_for_every_case() -> None:
    names = {case.name for case in cases()}
    assert set(expected()) == set(registry.BUILT_IN)
    for backend, row in expected().items():
        # A wrong answer has no cell, and the test of its case fails.
        assert set(row) == names, (backend, sorted(names - set(row)))


# Cases that a back-end solves without a proof: it has a tree, and its floats leave a gap.
UNPROVED = {("mip", "magnitude-test-cost-and-clusters")}


def test_a_proving_back_end_solves_every_case_that_it_takes() -> None:
    for name, row in expected().items():
        unsettled = {(name, case) for case, text in row.items() if text in ("open", "a tree")}
        if registry.get(name).can.proves:
            assert unsettled <= UNPROVED
        assert not any(text.startswith("wrong") for text in row.values())


def test_every_case_is_solved_by_a_back_end_other_than_the_oracle() -> None:
    others = [row for name, row in expected().items() if name not in ("oracle", "race")]
    settled = ("optimal", "infeasible")
    alone = {case.name for case in cases() if not any(row.get(case.name, "").startswith(settled) for row in others)}
    # Several shares of weights with sixteen digits each: no other back-end has numbers of that size.
    assert alone == {"magnitude-purity-several"}


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_proved_values_are_the_oracles(case: SuiteCase) -> None:
    told = {row[case.name] for row in expected().values() if case.name in row}
    proved = {text for text in told if text.startswith("optimal ")} | (told & {"infeasible"})
    right = solved(case.truth())
    assert proved <= {right}


@pytest.mark.parametrize(
    ("before", "now"),
    [("optimal 3", "refused: the goal"), ("refused: the goal", "optimal 3"), ("optimal 3", "optimal 4")],
)
def test_a_change_for_better_or_worse_is_reported(monkeypatch: pytest.MonkeyPatch, before: str, now: str) -> None:
    monkeypatch.setattr(matrix, "expected", lambda: {"native": {"goal-errors": before}})
    assert deviation(Cell("native", "goal-errors", before)) is None
    assert deviation(Cell("native", "goal-errors", now)) == f"native, goal-errors: {now}, and matrix.json has {before}"
    assert deviation(Cell("native", "new", now)) == f"native, new: {now}, and matrix.json has nothing"
    assert deviation(Cell("somebody", "goal-errors", now)) is None


def test_wrong_cells_are_never_written(tmp_path: Path) -> None:
    path = tmp_path / "matrix.json"
    found = [Cell("oracle", "goal-errors", "wrong: optimal at 3"), Cell("oracle", "goal-leaves", "refused: all")]
    write(found, path)
    written = json.loads(path.read_text())
    assert written["oracle"]["goal-errors"] == expected()["oracle"]["goal-errors"]
    assert written["oracle"]["goal-leaves"] == "refused: all"
    assert written["cart"] == dict(expected()["cart"])


def test_the_command_prints_the_table() -> None:
    done = conformance("oracle", "--case", "goal-errors", "--case", "bound-purity", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == [
        {"case": "bound-purity", "outcome": expected()["oracle"]["bound-purity"]},
        {"case": "goal-errors", "outcome": expected()["oracle"]["goal-errors"]},
    ]
    assert conformance("oracle", "--case", "goal-errors").stdout.endswith(
        "oracle: 1 solved, 0 refused, 0 open, 0 wrong\n"
    )


OWN = """
from dataclasses import replace
from fractions import Fraction
from treeml.problem.tree import Leaf
from treeml.problem.evaluate import evaluate_goals
from treeml.backends.oracle.backend import OracleBackend

class Modest(OracleBackend):
    name = "modest"
    def refusals(self, problem, options=None):
        from treeml.backends.contract import Refusal
        yield Refusal("everything", "modest takes nothing", "ask another")

class Hasty(OracleBackend):
    name = "hasty"
    def solve(self, problem, limits=None, start=None, on_progress=None):
        answer = super().solve(problem)
        worst = evaluate_goals(problem, Leaf(0))
        return replace(answer, tree=Leaf(0), objective=worst, bound=worst[-1])
"""


def test_back_ends_of_other_packages_can_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_backends.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    modest = conformance("their_backends:Modest", "--case", "goal-errors")
    assert modest.exit_code == 0, modest.output
    assert "refused: everything" in modest.stdout
    assert "modest: 0 solved, 1 refused, 0 open, 0 wrong" in modest.stdout
    hasty = conformance("their_backends:Hasty", "--case", "goal-errors")
    assert hasty.exit_code == 5
    assert "goal-errors: wrong: " in hasty.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody",), "error[B502]: no back-end is called `nobody`"),
        (("no_such_module:Thing",), "error[B504]: the back-end `no_such_module:Thing` does not load"),
        (("json:dumps",), "error[B504]: the back-end `json:dumps` does not load"),
        (("oracle", "--case", "goal-eror"), "error[N215]: no case is called `goal-eror`"),
    ],
)
def test_wrong_arguments_of_the_command_are_refused(arguments: tuple[str, ...], said: str) -> None:
    done = conformance(*arguments)
    assert done.exit_code != 0
    assert done.stderr.splitlines()[0] == said


def test_a_deviation_is_a_failure_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "expected", lambda: {"oracle": {"goal-errors": "refused: all"}})
    done = conformance("oracle", "--case", "goal-errors")
    assert done.exit_code == 5
    assert "goal-errors: optimal 2, and matrix.json has refused: all" in done.stderr


def test_the_module_reports_differences(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert matrix.main(["--backend", "oracle", "--case", "goal-errors"]) == 0
    monkeypatch.setattr(matrix, "expected", lambda: {"oracle": {}})
    assert matrix.main(["--backend", "oracle", "--case", "goal-errors"]) == 1
    assert capsys.readouterr().out == "oracle, goal-errors: optimal 2, and matrix.json has nothing\n"
