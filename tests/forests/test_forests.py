"""Forests as users see them: predictions, requirements, stored files, and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from boosting_worlds import model, world

import treeml as tml
from treeml.backends.contract import Answer, Status, Stop
from treeml.backends.oracle.backend import OracleBackend
from treeml.forests.progress import ForestProgress
from treeml.solving.boosting import verify_kept
from treeml.solving.pipeline import prepare
from treeml.solving.progress_text import progress_text
from treeml.solving.report import summary
from treeml.solving.verify_forest import verify_forest
from treeml.trees.forest import Forest


def solved(**options: Any) -> tuple[tml.Result, Any, Any]:
    x, y = world(3, rows=30)
    return model("lpboost", 2, **{"penalty": 0.1, **options}).solve(x, y), x, y


def test_votes_margins_and_predictions_agree() -> None:
    result, x, y = solved()
    forest = result.forest
    assert forest is not None
    assert sum(forest.weights) == 1
    assert list(forest.weights) == sorted(forest.weights, reverse=True)
    shares = forest.predict_proba(x)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(x)))
    margins = forest.margins(x, y)
    assert margins == pytest.approx(np.where(y == 1, 1, -1) * (shares[:, 1] - shares[:, 0]))
    predicted = forest.predict(x)
    assert ((predicted == y) == (margins > 0))[margins != 0].all()
    assert result.measures["errors"] == int((predicted != y).sum())
    assert result.measures["smallest_margin"] == pytest.approx(margins.min())
    by_hand = sum(
        float(w) * np.where(t.predict(x) == y, 1, -1) for t, w in zip(forest.trees, forest.weights, strict=True)
    )
    assert margins == pytest.approx(by_hand)


def test_margins_of_mdboost_grow_with_the_weights() -> None:
    x, y = world(3, rows=30)
    forest = model("mdboost", 2, penalty=12).solve(x, y).forest
    assert forest is not None
    assert forest.total == 12
    assert forest.margins(x, y, normalized=False) == pytest.approx(12 * forest.margins(x, y))


def test_json_there_and_back(tmp_path: Any) -> None:
    result, x, _ = solved()
    forest = result.forest
    assert forest is not None
    assert Forest.from_json(json.dumps(forest.to_json())) == forest
    forest.write(tmp_path / "forest.json")
    assert Forest.read(tmp_path / "forest.json") == forest
    whole = json.loads(json.dumps(result.to_json()))
    assert whole["tolerance"] == result.tolerance
    assert whole["tree"] is None
    again = Forest.from_json(whole)
    assert (again.predict(x) == forest.predict(x)).all()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"treeml_forest": 2}, "not a forest"),
        ({"weights": ["1/2"]}, "as many weights"),
        ({"weights": ["half", "1/2"]}, "not a weight"),
        ({"weights": ["-1/2", "1/2"]}, "above 0"),
        ({"trees": []}, "as many weights"),
    ],
)
def test_a_file_that_is_not_a_forest_is_refused(change: dict[str, Any], said: str) -> None:
    result, _, _ = solved()
    assert result.forest is not None
    small = Forest(result.forest.trees[:2], (Fraction(1, 2), Fraction(1, 2)), "lpboost")
    with pytest.raises(tml.DataError, match=said):
        Forest.from_json({**small.to_json(), **change})
    with pytest.raises(tml.DataError, match="JSON"):
        Forest.from_json("{")


def test_every_tree_is_drawn() -> None:
    result, _, _ = solved()
    forest = result.forest
    assert forest is not None
    assert len(forest.to_dot()) == len(forest.to_svg()) == len(forest.trees)
    assert all(dot.startswith("digraph") for dot in forest.to_dot())
    assert f"tree 1 of {len(forest.trees)}" in str(forest)
    assert f"and {len(forest.trees) - 1} more trees" in forest.text(1)
    assert "trees by lpboost" in str(result)


def test_a_tree_asks_for_no_column_that_it_does_not_test() -> None:
    """Trees from the pricing may have tests that all rows answer alike; these tests and their columns are left out."""
    from treeml.forests.pricing_problem import lower_one_tree
    from treeml.problem.tree import Leaf, Split
    from treeml.trees.raising import raise_tree

    dataset, _ = prepare(model("lpboost", 2), {"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]}, [0, 0, 1, 1])
    lowered = lower_one_tree(dataset, False)
    names = [question.column for question in lowered.questions]
    node = Split(names.index("a"), Split(names.index("b"), Leaf(1), Leaf(0)), Leaf(0))
    tree = raise_tree(node, lowered.questions, dataset)
    assert tree.columns == ("a",)
    assert [field.name for field in tree.fields] == ["a"]
    assert tree.predict({"a": [0, 1]}).tolist() == [0, 1]


def test_every_tree_obeys_the_spec() -> None:
    x, y = world(4, rows=40, columns=6)
    frame = {f"c{number}": column for number, column in enumerate(x.T)} | {"y": y}
    asked = model("lpboost", 3, penalty=0.1)
    asked.predict("y")
    asked.require(tml.support >= tml.rows(5))
    asked.require(tml.leaves <= 3)
    asked.forbid("c0")
    result = asked.solve(frame)
    assert result.is_optimal
    assert result.forest is not None
    assert result.exact is not None
    assert all(requirement.met for requirement in result.exact.requirements)
    for tree in result.forest.trees:
        assert tree.depth <= 3
        assert len(tree.leaves) <= 3
        assert min(leaf.rows for leaf in tree.leaves) >= 5
        assert "c0" not in tree.columns
    free = model("lpboost", 3, penalty=0.1)
    free.predict("y")
    assert free.solve(frame).objective >= result.objective  # type: ignore[operator]


def test_requirements_on_classes_hold_for_every_tree() -> None:
    x, y = world(5, rows=24)
    asked = model("lpboost", 2, penalty=0.2)
    asked.require(tml.accuracy >= tml.percent(60))
    result = asked.solve(x, y)
    assert result.forest is not None
    for tree in result.forest.trees:
        assert (tree.predict(x) == y).mean() >= 0.6
    for backend in ("oracle", "mip"):
        assert asked.solve(x, y, backend=backend).objective == pytest.approx(result.objective, abs=2e-6)


@pytest.mark.parametrize("backend", ["oracle", "native", "cpsat", "mip", "maxsat"])
@pytest.mark.parametrize(("name", "options"), [("lpboost", {"penalty": 0.15}), ("mdboost", {"penalty": 4})])
def test_every_pricing_back_end_finds_the_same_optimum(backend: str, name: str, options: dict[str, Any]) -> None:
    x, y = world(6, rows=18, columns=3)
    exact = model(name, 2, **options).solve(x, y, backend="oracle")
    result = model(name, 2, **options, columns=1 if backend == "native" else 10).solve(x, y, backend=backend)
    assert result.is_optimal
    assert result.backend == backend
    assert result.statistics["pricing_calls"] >= 1
    assert result.objective == pytest.approx(exact.objective, rel=2e-6, abs=2e-6)


def test_a_greedy_forest_is_never_called_optimal_and_never_better() -> None:
    for name, options in (("lpboost", {"penalty": 0.1}), ("mdboost", {"penalty": 6})):
        x, y = world(7, rows=40, columns=6)
        best = model(name, 2, **options).solve(x, y)
        greedy = model(name, 2, **options).solve(x, y, backend="cart")
        assert best.is_optimal
        assert greedy.status is Status.FEASIBLE
        assert greedy.bound is None
        assert any("proves nothing" in note for note in greedy.notes)
        assert greedy.objective <= best.objective + 2e-6 * max(1, best.objective)  # type: ignore[operator]


def test_same_seed_same_forest() -> None:
    x, y = world(8, rows=40, columns=6)
    for name in ("lpboost", "mdboost"):
        one, other = (model(name, 3).solve(x, y, seed=5).forest for _ in range(2))
        assert one == other


def test_the_first_tree_is_enough_where_one_is_perfect() -> None:
    x, y = world(9, rows=20)
    x[:, 0] = y
    result = model("lpboost", 1, penalty=0.1).solve(x, y)
    assert result.objective == 1
    assert result.forest is not None
    assert len(result.forest.trees) == 1


def test_the_number_of_trees_is_limited() -> None:
    x, y = world(3, rows=30, columns=8)
    best = model("lpboost", 2, penalty=0.1).solve(x, y)
    assert best.objective > 0  # type: ignore[operator]  # at 0, two trees that contradict each other would do
    asked = tml.Model()
    asked.ensemble("lpboost", penalty=0.1, trees=3)
    asked.maximize(tml.margin)
    asked.require(tml.depth <= 2)
    result = asked.solve(x, y)
    assert result.forest is not None
    assert best.forest is not None
    assert len(best.forest.trees) > 3 >= len(result.forest.trees)
    assert result.status is Status.FEASIBLE
    assert result.objective < best.objective <= result.bound + 1e-12  # type: ignore[operator]
    assert any("were kept" in note for note in result.notes)


def test_a_margin_indistinguishable_from_0_is_reported_as_0() -> None:
    """Contradictory rows make the best margin 0; weights are rounded, so the margin is slightly below that."""
    chance = np.random.default_rng(5)
    x = chance.integers(0, 2, (60, 5))
    x[1::2] = x[::2]
    y = chance.integers(0, 2, 60)
    y[1::2] = 1 - y[::2]
    result = model("lpboost", 2, penalty=0.5).solve(x, y)
    assert result.status is Status.OPTIMAL
    assert -1e-9 < result.objective <= 0  # type: ignore[operator]
    assert result.gap is not None
    assert 0 <= result.gap <= result.tolerance
    nearly = replace(result, objective=-2e-11, measures={"margin": -2e-11, "error_rate": 2e-11})
    lines = summary(nearly).splitlines()
    assert "objective  0 (within 1e-06)" in lines
    assert [line.split(maxsplit=1)[1] for line in lines if line.startswith(("margin ", "error_rate "))] == [
        "0 (within 1e-06)",
        "2e-11",
    ]
    assert "objective  -0.01" in summary(replace(result, objective=-0.01)).splitlines()


def test_no_question_whose_answer_changes_nothing() -> None:
    x = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    y = x[:, 0] ^ x[:, 1]
    result = model("lpboost", 1, penalty=0.5).solve(x, y)
    assert result.forest is not None
    for tree in result.forest.trees:
        assert len({leaf.prediction for leaf in tree.leaves}) == len(tree.leaves)


def test_a_forest_that_was_kept_is_verified_again(tmp_path: Any) -> None:
    x, y = world(6, rows=30, columns=6)
    asked = model("lpboost", 2, penalty=0.1, columns=5)
    result = asked.solve(x, y)
    assert result.forest is not None
    assert result.exact is not None
    result.forest.write(tmp_path / "forest.json")
    kept = Forest.read(tmp_path / "forest.json")
    check = verify_kept(kept, asked, x, y)
    assert check.verified
    assert check.objective == result.exact.objective
    first, second, *others = kept.weights
    worse = replace(kept, weights=(first + second / 2, second / 2, *others))
    assert "other weights of the same trees" in verify_kept(worse, asked, x, y).mismatches[0]
    shallow = verify_kept(kept, model("lpboost", 1, penalty=0.1), x, y)
    assert any("`depth <= 1` is not met" in mismatch for mismatch in shallow.mismatches)


@pytest.mark.parametrize(
    ("ensemble", "code"), [("lpboost(penalty = 0.01)", "D431"), ("lpboost(penalty = 1, nu = 0.5)", "D432")]
)
def test_a_refusal_of_a_criterion_points_at_its_statement(ensemble: str, code: str) -> None:
    x, y = world(3, rows=30)
    asked = tml.Model.parse(f"predict y\nensemble by {ensemble}\nmaximize margin\nrequire depth <= 1\n")
    with pytest.raises(tml.DataError) as caught:
        asked.solve(x, y)
    (refused,) = caught.value.diagnostics
    assert refused.code == code
    assert f"2 | ensemble by {ensemble}" in str(caught.value)


def test_a_limit_leaves_a_forest_with_its_bound() -> None:
    x, y = world(10, rows=60, columns=8)
    best = model("lpboost", 2, penalty=0.05).solve(x, y)
    result = model("lpboost", 2, penalty=0.05, iterations=3).solve(x, y)
    assert result.status is Status.FEASIBLE
    assert result.stop is Stop.FINISHED
    assert result.gap is not None
    assert result.gap > 0
    assert "a forest whose trees meet every requirement" in summary(result)
    assert result.objective <= best.objective + 1e-6 <= result.bound + 2e-6  # type: ignore[operator]
    none = model("lpboost", 2, penalty=0.05).solve(x, y, within=0)
    assert none.stop is Stop.TIME
    assert none.forest is None or none.status is Status.FEASIBLE
    near = model("lpboost", 2, penalty=0.05).solve(x, y, gap=0.2)
    assert near.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert near.gap <= 0.2  # type: ignore[operator]


def test_progress_says_what_it_should() -> None:
    x, y = world(11, rows=40, columns=6)
    seen: list[ForestProgress] = []
    result = model("lpboost", 2, penalty=0.05).solve(x, y, on_progress=lambda moment: seen.append(moment))
    assert tuple(seen) == result.trace
    assert [moment.iteration for moment in seen] == list(range(1, len(seen) + 1))
    bounds = [moment.bound for moment in seen if moment.bound is not None]
    assert bounds == sorted(bounds)  # of what is minimized: never worse
    words = progress_text(seen[-1])
    assert all(word in words for word in ("round", "tree", "margin", "bound"))
    assert len(words) <= 60
    stopped = model("lpboost", 2, penalty=0.05).solve(x, y, on_progress=lambda moment: moment.iteration < 3)
    assert stopped.stop is Stop.INTERRUPTED
    assert stopped.forest is not None


def test_the_verifier_finds_wrong_weights_values_and_trees() -> None:
    x, y = world(12, rows=30)
    asked = model("lpboost", 2, penalty=Fraction(1, 10))
    result = asked.solve(x, y)
    forest = result.forest
    assert forest is not None
    assert result.exact is not None
    dataset, _ = prepare(asked, x, y)
    options = {"penalty": Fraction(1, 10)}
    tolerance = Fraction(1, 10**6)
    value = result.exact.objective[0]
    assert verify_forest(forest, dataset, options, value, tolerance).verified
    wrong_value = verify_forest(forest, dataset, options, value + Fraction(1, 10**9), tolerance)
    assert any("claimed" in mismatch for mismatch in wrong_value.mismatches)
    moved = (forest.weights[0] - Fraction(1, 100), forest.weights[1] + Fraction(1, 100), *forest.weights[2:])
    worse = verify_forest(Forest(forest.trees, moved, "lpboost"), dataset, options, None, tolerance)
    assert any("other weights" in mismatch for mismatch in worse.mismatches)
    heavier = Forest(forest.trees, (forest.weights[0] + 1, *forest.weights[1:]), "lpboost")
    assert any("add up" in mismatch for mismatch in verify_forest(heavier, dataset, options).mismatches)
    stricter, _ = prepare(model("lpboost", 1, penalty=Fraction(1, 10)), x, y)
    assert any("depth" in mismatch for mismatch in verify_forest(forest, stricter, options).mismatches)


# -- what is refused ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "code"),
    [
        ("lpboost", {"penalty": 0.001}, "D431"),
        ("lpboost", {"penalty": 0.1, "nu": 0.2}, "D432"),
        ("hardmargin", {}, "D433"),
        ("mdboost", {"penalty": 0}, "D434"),
    ],
)
def test_options_that_cannot_be(name: str, options: dict[str, Any], code: str) -> None:
    x, y = world(13, rows=30)
    with pytest.raises(tml.DataError, match=code):
        model(name, 2, **options).solve(x, y)


def test_one_class() -> None:
    x, y = world(13)
    with pytest.raises(tml.DataError, match="D430"):
        model("lpboost", 2).solve(x, np.ones_like(y))
    with pytest.raises(tml.DataError, match="D430"):
        model("lpboost", 2).solve(x, y, weight=(y == 1).astype(int))


def test_weights_too_light_for_a_variance() -> None:
    x, y = world(13)
    with pytest.raises(tml.DataError, match="D435"):
        model("mdboost", 2).solve(x, y, weight=np.full(len(y), 0.001))


def test_a_criterion_for_two_classes() -> None:
    x, y = world(13, classes=3)
    with pytest.raises(tml.DataError, match=r"D436.*mdboost"):
        model("mdboost", 2).solve(x, y)


def test_contradictory_rows_are_mentioned() -> None:
    x, y = world(13, rows=30)
    result = model("lpboost", 2, penalty=0.5).solve(x, y)
    assert any("same answers to every test" in note for note in result.notes)
    assert any("not above 0" in note for note in result.notes) == (result.objective <= 0)  # type: ignore[operator]


def test_requirements_that_no_tree_meets() -> None:
    x, y = world(13)
    asked = model("lpboost", 1)
    asked.require(tml.accuracy >= tml.percent(99))
    result = asked.solve(x, y, backend="oracle")
    assert result.status is Status.INFEASIBLE
    assert result.forest is None


@pytest.mark.parametrize("how", ["raises", "times out"])
def test_a_back_end_that_gives_up_keeps_the_forest_found_so_far(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    x, y = world(3, rows=30)
    calls = 0
    honest = OracleBackend.solve

    def solve(self: OracleBackend, *arguments: Any) -> Answer:
        nonlocal calls
        calls += 1
        if calls < 4:
            return honest(self, *arguments)
        if how == "raises":
            raise RuntimeError("out of luck")
        return Answer(Status.UNKNOWN, Stop.TIME)

    monkeypatch.setattr(OracleBackend, "solve", solve)
    result = model("lpboost", 2, penalty=0.1, columns=1).solve(x, y, backend="oracle")
    assert result.status is Status.FEASIBLE
    assert result.stop is (Stop.FAILED if how == "raises" else Stop.TIME)
    assert result.forest is not None
    assert result.verified
    assert result.bound is not None
    if how == "raises":
        assert any("forest so far is kept" in note for note in result.notes)


def test_a_back_end_that_fails_at_once_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def solve(*_: Any) -> Answer:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(OracleBackend, "solve", solve)
    x, y = world(3, rows=30)
    with pytest.raises(tml.BackendError, match="out of luck"):
        model("lpboost", 2, penalty=0.1, columns=1).solve(x, y, backend="oracle")


def test_the_command_line_shows_a_forest(tmp_path: Any) -> None:
    from click.testing import CliRunner

    from treeml.cli.main import treeml

    result, _, _ = solved()
    assert result.forest is not None
    path = tmp_path / "result.json"
    path.write_text(json.dumps(result.to_json()))
    shown = CliRunner().invoke(treeml, ["show", str(path)])
    assert shown.exit_code == 0
    assert f"tree 1 of {len(result.forest.trees)}" in shown.output
    dots = CliRunner().invoke(treeml, ["show", str(path), "--as", "dot"])
    assert dots.output.count("digraph") == len(result.forest.trees)
    again = CliRunner().invoke(treeml, ["show", str(path), "--as", "json"])
    assert Forest.from_json(again.output) == result.forest


@pytest.mark.parametrize("gap", [0.2, 0.35, 0.5])
def test_a_forest_of_fair_trees_is_proved_by_a_back_end_that_takes_fairness(gap: float) -> None:
    """Trees counted without the requirement may all violate it: that does not prove that every tree does."""
    chance = np.random.default_rng(8)
    X = chance.integers(0, 2, (60, 4))
    sex = chance.integers(0, 2, 60)
    y = (X[:, 0] + X[:, 1] + sex + chance.normal(0, 0.7, 60) > 1.6).astype(int)
    rows = {**{f"x{i}": X[:, i].tolist() for i in range(4)}, "sex": sex.tolist(), "y": y.tolist()}
    spec = (
        "predict y is 1\nensemble by lpboost(nu = 0.5)\nmaximize margin\nrequire depth <= 1\n"
        f"require parity_gap(sex) <= {gap}\nforbid split on sex"
    )
    asked = tml.parse(spec).solve(rows, backend="cpsat")
    looked = tml.parse(spec).solve(rows, backend="oracle")
    assert asked.is_optimal
    assert looked.is_optimal
    assert asked.objective == pytest.approx(looked.objective, abs=1e-5)
