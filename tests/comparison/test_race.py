"""A race is a back-end: the whole conformance suite, and what only a race does."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

import treeml as tml
from treeml.backends.claims import Evidence
from treeml.backends.contract import Deadline, Limits, Progress, Status, Stop
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.race import RaceBackend
from treeml.backends.run import run
from treeml.problem.terms import Depth
from treeml.testing import Conformance
from treeml.testing.problems import binary, bound, errors, minimize

ROWS = [format(number, "05b") for number in range(32)]
ACTUAL = [int(row.count("1") in (2, 3)) for row in ROWS]


def problem(depth: int = 3) -> Any:
    return binary(ROWS, 2, minimize(errors(ACTUAL, 2)), (bound(Depth(), "<=", depth, "depth"),))


def raced(*members: str) -> Any:
    planned = plan(problem(), RaceBackend(), {"backends": members})
    assert isinstance(planned, Plan)
    return run(planned, Limits(options={"backends": members}))


@pytest.mark.slow
class TestRace(Conformance):
    backend = "race"
    options = {"backends": ("oracle", "cart")}  # noqa: RUF012


def test_the_first_proof_wins() -> None:
    answer = raced("cart", "oracle")
    assert answer.status is Status.OPTIMAL
    assert answer.objective == OracleBackend().solve(problem()).objective
    assert "oracle was the first" in answer.notes


@pytest.mark.parametrize("name", ["crash", "leave", "fail", "lie"])
def test_a_race_goes_on_without_a_member_that_fails(bad_backends: Path, name: str) -> None:
    answer = raced(name, "oracle")
    assert answer.status is Status.OPTIMAL
    alone = pytest.raises(tml.BackendError)
    with alone as raised:
        raced(name)
    assert "every back-end of the race failed" in str(raised.value)


def test_the_best_incumbent_is_kept(bad_backends: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No member proves anything; the sleeper's tree was better than the greedy one. Then the time is up."""
    best = OracleBackend().solve(problem()).objective
    is_there: list[bool] = []
    monkeypatch.setattr("treeml.backends.race.monotonic", lambda: monotonic() + (10_000 if is_there else 0))

    def listen(moment: Progress) -> None:
        if moment.objective == best:
            is_there.append(True)

    planned = plan(problem(), RaceBackend(), {"backends": ("toldsleep", "cart")})
    assert isinstance(planned, Plan)
    limits = Limits(Deadline.after(3000), options={"backends": ("toldsleep", "cart")})
    answer = run(planned, limits, on_progress=listen)
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.TIME)
    assert answer.tree is not None
    assert answer.objective == best


def test_progress_can_stop_it(bad_backends: Path) -> None:
    moments: list[Progress] = []

    def stop(moment: Progress) -> bool:
        moments.append(moment)
        return False

    planned = plan(problem(), RaceBackend(), {"backends": ("sleep", "cart")})
    assert isinstance(planned, Plan)
    answer = run(planned, Limits(options={"backends": ("sleep", "cart")}), on_progress=stop)
    assert len(moments) == 1
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.INTERRUPTED)
    assert answer.objective == moments[0].objective


def test_members_are_written_in_the_language(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,label\n0,no\n1,yes\n1,yes\n")
    path = tmp_path / "spec.tml"
    path.write_text(
        'data "rows.csv"\npredict label\nminimize errors\nrequire depth <= 1\n'
        "solve with race(oracle(limit = 5_000), cart) within 30 s"
    )
    result = tml.load(path).solve()
    assert result.is_optimal
    assert result.objective == 0
    assert result.backend == "race"


def test_a_race_that_no_member_accepts_is_refused() -> None:
    refusals = plan(problem(), RaceBackend(), {"backends": ("sat",)})
    assert isinstance(refusals, list)
    assert all(refusal.because for refusal in refusals)


def test_each_bound_is_reported_once() -> None:
    from treeml.backends.race import _Running

    race = _Running(problem(), [], Limits(), None, None)
    for value in (1, 3, 2, 3, 4):
        race.hear(Progress(0.0, None, Fraction(value), evidence=(Evidence("search bound"),)))
    assert [moment.bound for moment in race.trace] == [1, 3, 4]
