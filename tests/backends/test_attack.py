"""The attack finds claims that do not hold; its oracle agrees with the other one, and with counting by hand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import log
from pathlib import Path
from random import Random

import pytest

import treeml as tml
from treeml.testing.attack import (
    LIMITS,
    AttackClaim,
    AttackTally,
    attack,
    backends_for_forests,
    backends_for_large_worlds,
    claim_of,
    faults,
    runs_of,
    shrunk,
    store,
    usual_backends,
    variants,
    worlds,
)
from treeml.testing.planted_worlds import planted_world
from treeml.testing.random_worlds import CELLS, forest_world, large_world, random_world
from treeml.testing.truth import Truth, truth
from treeml.testing.worlds import (
    CLASSES,
    LINES,
    NUMBERS,
    SURVIVAL,
    Required,
    Wanted,
    Weighted,
    World,
    WorldColumn,
    WorldMeasure,
)

XOR = World(
    CLASSES,
    (
        WorldColumn("c0", "number", ("0", "0", "1", "1")),
        WorldColumn("c1", "number", ("0", "1", "0", "1")),
        WorldColumn("g", "category", ("a", "b", "a", "b")),
    ),
    ("p", "q", "q", "p"),
    goals=(Wanted("minimize", Weighted((("1", WorldMeasure("errors")),))),),
)


def asked(measure: str, sense: str, limit: str, *arguments: str) -> Required:
    return Required(Weighted((("1", WorldMeasure(measure, arguments)),)), sense, limit)


def best(world: World, *requirements: Required) -> tuple[Fraction, ...] | None:
    found = truth(replace(world, requirements=requirements))
    assert found is not None
    return found.best


def test_counted_by_hand() -> None:
    assert best(XOR, asked("depth", "<=", "2")) == (0,)
    assert best(XOR, asked("depth", "<=", "1")) == (2,)
    assert best(XOR, asked("depth", "<=", "2"), asked("leaves", "<=", "3")) == (1,)
    assert best(XOR, asked("depth", "<=", "1"), asked("purity", ">=", "0.5000000000000001")) is None
    assert best(XOR, asked("parity_gap", "<=", "0", "g"), asked("depth", "<=", "1")) == (2,)
    assert best(replace(XOR, weight=("0.1", "1", "1", "0.1")), asked("depth", "<=", "1")) == (Fraction(1, 5),)


def test_losses_counted_by_hand() -> None:
    numbers = World(
        NUMBERS,
        (WorldColumn("c0", "number", ("1", "2", "3")),),
        ("1", "3", "1000000"),
        goals=(Wanted("minimize", Weighted((("1", WorldMeasure("squared_loss")),))),),
    )
    assert best(numbers, asked("leaves", "<=", "2")) == (2,)
    assert best(numbers, asked("leaves", "<=", "3")) == (0,)
    low = replace(numbers, goals=(Wanted("minimize", Weighted((("1", WorldMeasure("quantile_loss", ("0.3",))),))),))
    assert best(low, asked("leaves", "<=", "2")) == (Fraction(6, 10),)


def test_survival_lines_and_dates_counted_by_hand() -> None:
    """One death per side: each side has its own hazard, so nothing is lost; a line through two points fits them."""
    times = World(
        SURVIVAL,
        (WorldColumn("c0", "number", ("0", "1")),),
        ("1", "2"),
        died=("1", "1"),
        goals=(Wanted("minimize", Weighted((("1", WorldMeasure("survival_loss")),))),),
    )
    # Cumulative hazards 1/2 and 3/2, so the leaf of both has the relative hazard 1.
    assert float(best(times, asked("depth", "<=", "0"))[0]) == pytest.approx(-log(0.5) - log(1.5))
    assert best(times, asked("depth", "<=", "1")) == (0,)
    line = World(
        LINES,
        (WorldColumn("c0", "number", ("0", "1", "2")), WorldColumn("c1", "date", ("2024-01-15", "2024-02-15", ""))),
        ("0", "1", "5"),
        lines=("c0",),
        goals=(Wanted("minimize", Weighted((("1", WorldMeasure("squared_loss")),))),),
    )
    assert best(line, asked("depth", "<=", "0")) == (Fraction(3, 2),)  # the best slope is 5/2
    assert best(line, asked("depth", "<=", "1")) == (0,)
    # The variance of c0 is 2/3, so a ridge of 1 divides the slope by two: 14 - 25/4 is left.
    assert best(replace(line, ridge="1"), asked("depth", "<=", "0")) == (Fraction(14) - Fraction(25, 4),)
    assert best(replace(XOR, goals=(Wanted("maximize", Weighted((("1", WorldMeasure("gmean")),))),))) == (1,)


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell[0] in (SURVIVAL, LINES)][::7])
def test_times_and_lines_agree_with_the_default(cell: tuple[str, str, str]) -> None:
    for number in range(3):
        world = random_world(Random(number), *cell)
        claim = claim_of(world.text(), world.table(), "", 60.0)
        assert claim.kind in ("solved", "rejected")
        assert list(faults(world, [claim], truth(world))) == []


def test_only_neighboring_inputs_count_for_monotonicity() -> None:
    rising = Required(Weighted((("1", WorldMeasure("monotone", ("c0", "increasing"))),)))
    assert best(XOR, asked("depth", "<=", "2"), rising) == (1,)


@pytest.mark.parametrize("number", range(0, 60, 2))
def test_both_oracles_agree(number: int, tmp_path: Path) -> None:
    """The oracle for problems and this one share no code, so reading, lowering and verifying are tested as well."""
    random = Random(number)
    world = random_world(random, *random.choice(CELLS))
    known = truth(world)
    claim = claim_of(world.text(), world.table(), "oracle", 60.0)
    if known is not None and claim.kind == "solved" and not claim.is_rounded:
        assert list(faults(world, [claim], known)) == []
        assert claim.status == ("optimal" if known.best is not None else "infeasible")


def test_every_goal_meets_every_requirement() -> None:
    assert len(set(CELLS)) == len(CELLS) > 1000
    for number, cell in enumerate(CELLS):
        world = random_world(Random(number), *cell)
        assert world.text()
        if number % 50 == 0:
            tml.parse(world.text())


def test_worlds_repeat() -> None:
    for make in (large_world, forest_world, planted_world):
        one, other = (make(Random(3)) for _ in range(2))
        assert (one.text(), one.table()) == (other.text(), other.table())


DEPTH_1 = replace(XOR, requirements=(asked("depth", "<=", "1"),))


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (AttackClaim("x", "solved", "optimal", (Fraction(3),)), "says optimal with 3, and the best is 2"),
        (AttackClaim("x", "solved", "feasible", (Fraction(1),)), "says 1, better than the best, 2"),
        (AttackClaim("x", "solved", "infeasible"), "says infeasible, and there is a tree with 2"),
        (
            AttackClaim("x", "solved", "feasible", (Fraction(4),), bound=2.5),
            "says bound 2.5, and there is a tree with 2",
        ),
        (AttackClaim("x", "broken", said="KeyError: 3"), "broken: KeyError: 3"),
        (AttackClaim("x", "lost", said="its process ended with code -11"), "lost: its process ended with code -11"),
        (AttackClaim("x", "solved", "feasible", (Fraction(4),), bound=2.0), None),
        (AttackClaim("x", "refused", said="B501"), None),
    ],
)
def test_a_claim_against_the_truth(claim: AttackClaim, reason: str | None) -> None:
    found = [fault.reason for fault in faults(DEPTH_1, [claim], Truth((Fraction(2),)))]
    assert found == ([] if reason is None else [f"x within 0 s {reason}"])


PLANTED = replace(DEPTH_1, has_planted=True, planted=("2",))


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (AttackClaim("x", "solved", "optimal", (Fraction(3),)), "says optimal with 3, and there is a tree with 2"),
        (AttackClaim("x", "solved", "infeasible"), "says infeasible, and there is a tree with 2"),
        (AttackClaim("x", "solved", "unknown", None, bound=2.5), "says bound 2.5, and there is a tree with 2"),
        (AttackClaim("x", "solved", "optimal", (Fraction(1),)), None),
        (AttackClaim("x", "solved", "feasible", (Fraction(3),), bound=2.0), None),
    ],
)
def test_a_claim_against_the_planted_tree(claim: AttackClaim, reason: str | None) -> None:
    found = [fault.reason for fault in faults(PLANTED, [claim], None)]
    assert found == ([] if reason is None else [f"x within 0 s {reason}"])
    assert not PLANTED.without_row(0).has_planted


def test_planted_trees_are_drawn_and_solved() -> None:
    assert sum(world.has_planted for world, _ in zip(worlds(3), range(40), strict=False)) > 2
    for number in range(8):
        world = planted_world(Random(number))
        names = [name for name, _ in runs_of(world, Random(1), ())]
        assert {"", "native(kernel = numeric)", "native(kernel = binary)"} <= set(names)
        claim = claim_of(world.text(), world.table(), "", 60.0)
        assert claim.kind in ("solved", "refused", "rejected"), claim.said
        assert list(faults(world, [claim], None)) == []


def test_runs_against_each_other() -> None:
    maximized = replace(XOR, goals=(Wanted("maximize", Weighted((("1", WorldMeasure("accuracy")),))),))
    tree = AttackClaim("a", "solved", "feasible", (Fraction(1, 2),))
    for claim, count in (
        (AttackClaim("b", "solved", "optimal", (Fraction(1, 4),)), 1),
        (AttackClaim("b", "solved", "infeasible"), 1),
        (AttackClaim("b", "solved", "unknown", None, bound=0.4), 1),
        (AttackClaim("b", "solved", "unknown", None, bound=0.6), 0),
        (AttackClaim("b", "solved", "optimal", (Fraction(3, 4),)), 0),
    ):
        assert len(list(faults(maximized, [tree, claim], None))) == count


def test_a_fault_is_made_smaller_and_can_be_shown_again(tmp_path: Path) -> None:
    world = replace(XOR, requirements=(asked("depth", "<=", "2"), asked("leaves", "<=", "9")))

    def lie(world: World, runs: Sequence[tuple[str, float]]) -> list[AttackClaim]:
        value = Fraction(1 if "leaves" in world.text() and world.rows > 2 else 0)
        return [AttackClaim(name, "solved", "optimal", (value,), within=seconds) for name, seconds in runs]

    (found,) = faults(world, lie(world, [("oracle", 300.0)]), truth(world))
    small = shrunk(found, lambda smaller, runs: faults(smaller, lie(smaller, runs), truth(smaller)))
    assert small.world.rows == 3
    assert [str(required) for required in small.world.requirements] == ["leaves <= 9"]
    place = store(small, tmp_path)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run([place / "reproduce.sh"], capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stderr
    assert "optimal, and proved" in done.stdout
    assert "# right: 0" in (place / "reproduce.sh").read_text()


def test_the_attack_reports_its_coverage(tmp_path: Path) -> None:
    told: list[str] = []
    assert attack(10.0, 7, tmp_path, ["oracle", "cart"], told.append, most=6) == 0
    text = "".join(told)
    small = re.search(r"^worlds: .*?(\d+) small(, \d|$)", text, re.M)
    assert small is not None
    assert f"goals x requirements: {small[1]} of {len(CELLS)} tried" in text
    assert text.endswith("0 faults\n")
    assert isinstance(AttackTally().cells, set)


def test_logarithms_are_compared_up_to_their_rounding() -> None:
    world = replace(XOR, goals=(Wanted("minimize", Weighted((("1", WorldMeasure("log_loss")),))),))
    known = truth(world)
    assert known is not None
    assert known.best is not None
    claim = AttackClaim("native", "solved", status="optimal", values=(known.best[0] - Fraction(1, 10**16),))
    assert not list(faults(world, [claim], known))
    far = replace(claim, values=(known.best[0] - Fraction(1, 10**6),))
    assert list(faults(world, [far], known))


def test_a_rejected_pair_is_drawn_again() -> None:
    rejected: list[World] = []
    drawn = worlds(7, rejected)
    first = next(drawn)
    rejected[:] = [first]
    second = next(drawn)
    rejected.clear()
    assert second.cell == first.cell
    assert next(drawn).cell != first.cell
    refused, mistake = AttackClaim("x", "refused", said="B501"), AttackClaim("x", "rejected", said="T304")
    tally = AttackTally()
    tally.add(first, [mistake], None)
    assert not tally.cells
    tally.add(second, [refused], None)
    assert tally.cells == {first.cell}


def test_short_runs_are_compared_with_a_long_run() -> None:
    runs = runs_of(large_world(Random(1)), Random(2), (), 33.0)
    assert [seconds for _, seconds in runs if seconds > max(LIMITS)] == [33.0]
    assert {name for name, seconds in runs if seconds <= 2} == set(backends_for_large_worlds())


def test_the_back_ends_to_attack_are_those_of_the_registry() -> None:
    proving = {"native", "cpsat", "mip", "maxsat", "sat", "oracle", "parameterized"}
    assert set(usual_backends()) == {"", *proving}
    assert {"native(kernel = numeric)", "mip(solver = scip)", "cart", "race(native, cpsat)"} <= set(variants())
    assert set(backends_for_forests()) == {"", *proving - {"oracle", "parameterized"}}
    assert "native(threads = 2)" in backends_for_large_worlds()
