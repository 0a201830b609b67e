"""How far a requirement would have to give: the values equal those found by enumerating every tree."""

from __future__ import annotations

import shlex
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

import treeml as tml
from treeml.backends import run
from treeml.backends.contract import Answer, Status, Stop
from treeml.backends.infeasibility import _simplest
from treeml.backends.planning.plan import Plan
from treeml.cli.main import treeml
from treeml.testing.truth import AllTrees
from treeml.testing.worlds import CLASSES, Required, Wanted, Weighted, World, WorldColumn, WorldMeasure

RANDOM = Random(4)
ROWS = 7
WORLD = World(
    CLASSES,
    (
        WorldColumn("c0", "number", ("0", "1", "0", "1", "0", "1", "1")),
        WorldColumn("c1", "number", ("0", "0", "1", "1", "0", "1", "0")),
        WorldColumn("g", "category", ("a", "b", "b", "a", "a", "b", "a")),
    ),
    ("p", "q", "q", "p", "q", "p", "q"),
    weight=("1", "0.5", "2", "1", "1.25", "1", "3"),
    goals=(Wanted("minimize", Weighted((("1", WorldMeasure("leaves")),))),),
    mistake_costs=(("p", "q", "3"), ("q", "p", "0.5")),
    test_costs=(("c0", "2"), ("c1", "3.5")),
)


def one(measure: str, *arguments: str, factor: str = "1") -> Weighted:
    return Weighted(((factor, WorldMeasure(measure, arguments)),))


SHALLOW = Required(one("depth"), "<=", "1")
ASKED = [
    Required(one("accuracy"), ">=", "0.9"),
    Required(one("error_rate"), "<=", "0.1"),
    Required(one("errors"), "<=", "0.5"),
    Required(one("balanced_accuracy"), ">=", "0.95"),
    Required(one("mistake_cost"), "<=", "0.1"),
    Required(one("leaf_errors"), "<=", "0.2"),
    Required(one("purity"), ">=", "0.95"),
    Required(Weighted((("1", WorldMeasure("accuracy")), ("-0.1", WorldMeasure("leaves")))), ">=", "0.75"),
    Required(Weighted((("2", WorldMeasure("errors")), ("1", WorldMeasure("leaves")))), "<=", "3"),
    Required(one("support"), ">=", "9", " rows"),
    Required(one("errors"), "=", "0.3"),
]
TOGETHER = [
    (Required(one("precision", '"p"'), ">=", "0.95"), Required(one("recall", '"p"'), ">=", "0.9")),
    (Required(one("recall", '"p"'), ">=", "0.9"), Required(one("precision", '"p"'), ">=", "0.95")),
    (Required(one("parity_gap", "g"), "<=", "0.01"), Required(one("errors"), "=", "4.5")),
    (Required(one("odds_gap", "g"), "<=", "0.01"), Required(one("errors"), "=", "5.25")),
    (Required(one("specificity", '"p"'), ">=", "0.9"), Required(one("recall", '"p"'), ">=", "0.8")),
]
CASES = [(required, (SHALLOW,)) for required in ASKED] + [(required, (SHALLOW, other)) for required, other in TOGETHER]


def by_looking(required: Required, others: tuple[Required, ...]) -> list[Fraction]:
    """The values at which the requirement can be met, nearest to its limit first."""
    view = AllTrees(replace(WORLD, requirements=others))
    limit = Fraction(required.limit)
    values = {
        view.total(required.what, tree, predicted)
        for tree, predicted in view.labelled()
        if all(view.meets(other, tree, predicted) for other in others)
    }
    known = [value for value in values if value is not None]
    assert len(known) == len(values)
    assert not any(view_meets(value, required.sense, limit) for value in known)
    above = [min(value for value in known if value > limit)] if any(value > limit for value in known) else []
    below = [max(value for value in known if value < limit)] if any(value < limit for value in known) else []
    wanted = {"<=": above, ">=": below, "=": above + below}[required.sense]
    return sorted(wanted, key=lambda value: abs(value - limit))


def view_meets(value: Fraction, sense: str, limit: Fraction) -> bool:
    return {"<=": value <= limit, ">=": value >= limit, "=": value == limit}[sense]


@pytest.mark.parametrize("backend", ["oracle", "cpsat", "mip", "maxsat", "native"])
@pytest.mark.parametrize(("required", "others"), CASES, ids=lambda each: str(each).replace('"', ""))
def test_the_value_equals_that_of_enumerating_every_tree(
    required: Required, others: tuple[Required, ...], backend: str, tmp_path: Path
) -> None:
    world = replace(WORLD, requirements=(required, *others))
    path = tmp_path / "rows.csv"
    path.write_text(world.table())
    try:
        why = tml.parse(world.text()).why(str(path), nearest=[str(required)], backend=backend)
    except tml.RefusedError:
        assert backend in ("native", "maxsat")
        return
    assert why.status is Status.INFEASIBLE
    found = why.nearest[str(required)]
    expected = by_looking(required, others)
    if found is None:
        assert backend not in ("oracle", "cpsat")  # these two always find the value
        return
    assert list(found) == expected


def test_without_a_proof_it_says_what_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def out_of_time(plan: Plan, *arguments: Any) -> Answer:
        answer = runs.run(plan, *arguments)
        if not plan.problem.goals or answer.status is not Status.OPTIMAL:
            return answer
        return replace(answer, status=Status.FEASIBLE, stop=Stop.TIME, bounded_goal=0)

    runs = SimpleNamespace(run=run.run)
    monkeypatch.setattr(run, "run", out_of_time)
    required = Required(one("errors"), "<=", "0.5")
    path = tmp_path / "rows.csv"
    world = replace(WORLD, requirements=(required, SHALLOW))
    path.write_text(world.table())
    why = tml.parse(world.text()).why(str(path), nearest=[str(required)], backend="oracle")
    (least,) = by_looking(required, (SHALLOW,))
    assert why.nearest[str(required)] is None
    assert (why.narrowed[str(required)].met, why.narrowed[str(required)].bound) == (least, least)
    assert why.to_json()["narrowed"] == {str(required): {"met": float(least), "bound": float(least)}}
    assert f"<= {float(least):g} can be met, and nothing below {float(least):g} can be met" in str(why)


def asked(folder: Path, *arguments: str, measure: str = "accuracy", fit: str = "leaves >= 2") -> tuple[int, str, str]:
    rows = [(a, b, c, (a + b + c) % 2) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    (folder / "rows.csv").write_text("a,b,c,odd\n" + "".join(f"{a},{b},{c},{odd}\n" for a, b, c, odd in rows))
    (folder / "spec.tml").write_text(
        f'data "rows.csv"\npredict odd is 1\nminimize leaves\nrequire good: {measure} >= 95%\nrequire depth <= 2\n'
        f"require leaves <= 9\nrequire fit: {fit}\n"
    )
    done = CliRunner().invoke(treeml, [arguments[0], str(folder / "spec.tml"), *arguments[1:]])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("name", ["accuracy", "good", "accuracy >= 95%"])
def test_a_measure_names_its_requirement(tmp_path: Path, name: str) -> None:
    code, out, _ = asked(tmp_path, "explain", "--why", "--with", "cpsat", "--nearest", name)
    assert code == 3
    assert "nearest   `good: accuracy >= 95%` could be >= 0.5, the others kept" in out


def test_a_measure_of_several_requirements(tmp_path: Path) -> None:
    code, _, said = asked(tmp_path, "explain", "--why", "--with", "cpsat", "--nearest", "leaves")
    assert code == 1
    assert said.splitlines() == [
        "error[N214]: 2 requirements speak of `leaves`",
        " --> --nearest",
        "  = note: they are `leaves <= 9`, `fit`",
        "  = help: write --nearest 'leaves <= 9'",
        "",
    ]


@pytest.mark.parametrize(("backend", "measure"), [("cpsat", "accuracy"), ("native", "purity")])
def test_solve_names_the_smallest_conflict_and_the_next_question(tmp_path: Path, backend: str, measure: str) -> None:
    """Also with native, which does not name a conflict itself."""
    code, _, said = asked(tmp_path, "solve", "--with", backend, measure=measure, fit="leaf_errors <= 7")
    assert code == 3
    path = tmp_path / "spec.tml"
    lines = said.splitlines()
    assert lines[0] == "error[F601]: no tree meets these requirements together"
    shown = [line for line in lines if line.startswith(("4 |", "5 |", "6 |", "7 |"))]
    assert shown == [f"4 | require good: {measure} >= 95%", "5 | require depth <= 2"]
    assert f"this, proved by {backend}" in said
    assert [line for line in lines if "help" in line] == [
        "  = help: relax one of these lines; the other requirements play no part",
        f"  = help: `treeml explain {path} --why --nearest good` says how far it would have to give",
    ]


@pytest.mark.parametrize("limit", ["depth <= 1", "leaves <= 9"])  # by search, and from the rows alone
def test_an_included_requirement_is_shown_where_it_stands_and_the_whole_spec_is_asked(
    tmp_path: Path, limit: str
) -> None:
    (tmp_path / "rows.csv").write_text(
        "x,z,y\n1,1,a\n1,2,b\n2,1,b\n2,2,a\n" + "3,3,a\n3,3,b\n" * limit.startswith("leaves")
    )
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "shared.tml").write_text(
        f"# shared by all\n\nrequire good: accuracy >= 100%\nrequire {limit}\n"
    )
    path = tmp_path / "spec.tml"
    path.write_text('include "parts/shared.tml"\ndata "rows.csv"\npredict y\nmaximize accuracy\nrequire depth <= 3\n')
    result = CliRunner().invoke(treeml, ["solve", str(path)])
    assert result.exit_code == 3
    assert f" --> {tmp_path / 'parts' / 'shared.tml'}:3:" in result.stderr
    command = result.stderr.partition("help: `treeml ")[2].partition("`")[0]
    assert command == f"explain {path} --why --nearest good"
    asked = CliRunner().invoke(treeml, shlex.split(command))
    assert asked.exit_code == 3
    assert "could be >= " in asked.stdout
    piped = CliRunner().invoke(treeml, ["solve", "-"], input=f"include {str(path)!r}".replace("'", '"'))
    assert "help: `treeml explain - --why --nearest good`" in piped.stderr


def test_a_conflict_found_from_rows_alone_includes_the_constant() -> None:
    model = tml.parse("minimize leaves\nrequire accuracy >= 90%\nrequire depth <= 3\n")
    result = model.solve([[0], [0], [0], [1]], ["a", "a", "b", "b"])
    assert result.status is Status.INFEASIBLE
    assert result.because is not None
    assert "at best it is 0.75" in " ".join(result.because.notes)
    assert result.because.helps[-1] == "`model.why(nearest=['accuracy >= 90%'])` says how far it would have to give"


def test_the_simplest_fraction_between() -> None:
    assert _simplest(Fraction(1, 3), Fraction(2, 3)) == Fraction(1, 2)
    assert _simplest(Fraction(5, 7), Fraction(3, 4)) == Fraction(3, 4)
    assert _simplest(Fraction(-3, 4), Fraction(-5, 7)) == Fraction(-3, 4)
    assert _simplest(Fraction(-1), Fraction(1)) == 0
    assert _simplest(Fraction(314, 100), Fraction(315, 100)) == Fraction(22, 7)
