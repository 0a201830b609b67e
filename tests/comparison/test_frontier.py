"""Sweeps over the limit of a requirement: every answer is that of a sweep without reuse, and says where it is from."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from treeml.backends.contract import Status, Stop
from treeml.lang.statements import Statements
from treeml.solving.options import RunOptions
from treeml.solving.pipeline import solve
from treeml.studies.comparison.jobs import Case, Job
from treeml.studies.comparison.record import Record, of_result
from treeml.studies.frontier import Chain, chains_of
from treeml.studies.sweep import plan_sweep

LIMITS = ["0%", "5%", "10%", "15%", "20%", "30%", "40%", "100%"]
FAIR = """
param tolerance = 5%
param least = 0%
data "rows.csv"
predict label is 1
maximize accuracy
require depth <= 2
require parity_gap(sex) <= tolerance
require recall(1) >= least
forbid split on sex
"""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    random = Random(5)
    lines = []
    for _ in range(40):
        sex = random.choice("mf")
        a, b = int(random.random() < (0.8 if sex == "m" else 0.3)), random.randrange(2)
        lines.append(f"{a},{b},{random.randrange(2)},{sex},{int(random.random() < 0.15 + 0.6 * a + 0.15 * b)}")
    (tmp_path / "rows.csv").write_text("a,b,c,sex,label\n" + "\n".join(lines) + "\n")
    return tmp_path / "rows.csv"


@pytest.fixture
def fair(rows: Path) -> Statements:
    return parsed(FAIR, rows)


def parsed(text: str, rows: Path) -> Statements:
    return Statements.parse(text.replace('"rows.csv"', f'"{rows}"'))


def planned(model: Statements, backend: str = "oracle", **settings: list[str]) -> list[Job]:
    return plan_sweep([Case(model)], settings, [backend], options=RunOptions())


def solved(job: Job) -> tuple[Record, Any]:
    """The outcome of a job, in this process."""
    result = solve(job.case.model, options=job.options)
    return {**job.about, **of_result(result)}, result


def followed(chain: Chain, at_once: int) -> tuple[dict[str, Record], int]:
    """All records of a chain by key, and the number of searches."""
    records: dict[str, Record] = {}
    searches = 0
    while ready := chain.next_jobs(at_once):
        for job in ready:
            searches += 1
            record = chain.take(*solved(job))
            records[record["key"]] = record
        for record in chain.reused():
            records[record["key"]] = record
    return records, searches


@pytest.mark.parametrize("at_once", [1, 3])
def test_reuse_changes_no_answer(fair: Statements, at_once: int) -> None:
    jobs = planned(fair, tolerance=LIMITS)
    (chain,) = chains_of(jobs)
    assert [job.about["params"]["tolerance"] for job in chain.jobs] == [0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 1]
    records, searches = followed(chain, at_once)
    taken_over = 0
    for job in jobs:
        record, alone = records[job.about["key"]], solved(job)[0]
        same = ("status", "stop", "objective", "bound", "verified")
        assert [record[name] for name in same] == [alone[name] for name in same]
        if "reused" in record:
            taken_over += 1
            assert record["evidence"][0]["rule"] == "looser limits"
            assert record["reused"]["params"]["tolerance"] > record["params"]["tolerance"]
            assert any("without a search" in note for note in record["notes"])
    assert taken_over == len(jobs) - searches
    assert taken_over >= 1


def test_each_optimum_is_proved_once(fair: Statements) -> None:
    jobs = planned(fair, tolerance=LIMITS)
    (chain,) = chains_of(jobs)
    records, searches = followed(chain, 1)
    # The tightest limits are searched for a start, even if another point would have answered them.
    assert searches <= len({record["objective"] for record in records.values()}) + 1


def test_infeasible_limits_exclude_tighter_ones(rows: Path) -> None:
    impossible = parsed(FAIR + "require precision(1) >= 99%\nrequire leaves >= 3\n", rows)
    jobs = planned(impossible, least=["90%", "95%", "100%"])
    (chain,) = chains_of(jobs)
    records, searches = followed(chain, 1)
    assert {record["status"] for record in records.values()} == {"infeasible"}
    assert searches == 1
    conflicts = {tuple(record["conflict"]) for record in records.values()}
    assert len(conflicts) == 1


def test_limits_in_both_directions_and_two_params(fair: Statements) -> None:
    jobs = planned(fair, tolerance=["5%", "20%"], least=["50%", "80%"])
    found = {
        tuple((job.about["params"]["tolerance"], job.about["params"]["least"]) for job in chain.jobs)
        for chain in chains_of(jobs)
    }
    # (0.05, 0.8) is the tightest, (0.2, 0.5) the loosest, and the other two cannot be compared.
    assert all((0.05, 0.5) not in chain or (0.2, 0.8) not in chain for chain in found)
    assert any(chain[0] == (0.05, 0.8) and chain[-1] == (0.2, 0.5) for chain in found)


def test_what_is_not_only_a_limit_is_not_reused(rows: Path) -> None:
    priced = parsed("param price = 1\n" + FAIR.replace("maximize accuracy", "minimize errors + price * leaves"), rows)
    assert chains_of(planned(priced, price=["1", "2"])) == []
    validated = parsed(FAIR + "validate by folds(2, seed = 1)\n", rows)
    assert chains_of(planned(validated, tolerance=["5%", "20%"])) == []


def test_a_stopped_job_gets_the_bound_of_looser_limits(fair: Statements) -> None:
    jobs = planned(fair, tolerance=["0%", "100%"])
    (chain,) = chains_of(jobs)
    chain.take(*solved(chain.next_jobs(1)[0]))
    loosest = chain.done[1][1]
    assert loosest is not None
    record, result = solved(chain.jobs[0])
    stopped = replace(result, status=Status.FEASIBLE, stop=Stop.TIME, bound=None, evidence=())
    record = chain.take({**record, "status": "feasible", "bound": None}, stopped)
    assert record["bound"] == loosest.objective
    assert record["evidence"][0]["rule"] == "looser limits"
    assert Fraction(record["bound"]) >= Fraction(record["objective"])


def test_the_tolerance_of_a_proof_is_relative_to_its_value(rows: Path) -> None:
    jobs = planned(parsed(FAIR.replace("maximize accuracy", "minimize errors"), rows), tolerance=["0%", "100%"])
    (chain,) = chains_of(jobs)
    record, loosest = solved(chain.next_jobs(1)[0])
    assert loosest.objective > 5
    chain.take(record, replace(loosest, tolerance=0.25))
    record, result = solved(chain.jobs[0])
    stopped = replace(result, status=Status.FEASIBLE, stop=Stop.TIME, bound=None, evidence=())
    record = chain.take({**record, "status": "feasible", "bound": None}, stopped)
    assert record["bound"] == 0.75 * loosest.objective


def test_a_start_comes_from_tighter_limits(fair: Statements) -> None:
    jobs = planned(fair, tolerance=["0%", "10%", "100%"])
    (chain,) = chains_of(jobs)
    for _ in range(2):
        for job in chain.next_jobs(1):
            chain.take(*solved(job))
    tightest = chain.done[0][1]
    assert tightest is not None
    assert [job.options.start for job in chain.next_jobs(1)] == [tightest.tree]


def test_a_tighter_tree_that_is_better_is_a_contradiction(fair: Statements) -> None:
    jobs = planned(fair, tolerance=["0%", "100%"])
    (chain,) = chains_of(jobs)
    record, poor = solved(chain.jobs[0])
    best_record, best = solved(chain.jobs[1])
    assert poor.objective < best.objective
    chain.take({**record, "key": best_record["key"]}, poor)  # the poor tree is called optimal at the loose limit
    told = chain.take({**best_record, "key": record["key"]}, best)
    assert told["codes"] == ["B514"]
    assert told["unverified"]
    assert "better than what it calls optimal" in told["because"]
