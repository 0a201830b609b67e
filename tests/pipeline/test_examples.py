"""Every example: its text and its Python version make equal models, and it is solved, or refused by name."""

from __future__ import annotations

import runpy
from fractions import Fraction
from pathlib import Path

import pytest

import treeml as tml
from treeml.lang.format import format_source
from treeml.lang.source_file import read

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("plain", "perfect", "sparse", "fair", "costs", "quantile", "boost", "deep", "list")
SOLVED = ("plain", "perfect", "sparse", "costs", "quantile")


def text_model(name: str) -> tml.Model:
    return tml.load(EXAMPLES / name / f"{name}.tml")


@pytest.mark.parametrize("name", NAMES)
def test_the_twin_builds_an_equal_model(name: str) -> None:
    twin = runpy.run_path(str(EXAMPLES / name / f"{name}.py"))["model"]
    assert twin == text_model(name)
    assert tml.Model.parse(str(twin)) == twin


@pytest.mark.parametrize("name", NAMES)
def test_formatting_keeps_the_meaning_and_gives_no_warning(name: str) -> None:
    source = read(EXAMPLES / name / f"{name}.tml")
    assert tml.Model.parse(format_source(source)) == text_model(name)
    assert text_model(name).check() == ()


@pytest.mark.parametrize("name", SOLVED)
def test_text_and_python_twin_give_the_same_greedy_tree(name: str) -> None:
    twin = runpy.run_path(str(EXAMPLES / name / f"{name}.py"))["model"]
    twin.folder = EXAMPLES / name
    first, second = text_model(name).solve(backend="cart"), twin.solve(backend="cart")
    assert first.verified
    assert first.status is tml.Status.FEASIBLE
    assert first.tree == second.tree
    assert first.exact is not None
    assert all(requirement.met for requirement in first.exact.requirements)


def test_a_forest_is_proved_best_and_validated() -> None:
    result = text_model("boost").solve(backend="oracle")
    assert result.is_optimal
    assert result.verified
    assert result.tree is None
    assert result.forest is not None
    assert all(tree.depth <= 2 for tree in result.forest.trees)
    assert result.forest.total == 1
    assert result.bound is not None
    assert isinstance(result.objective, float)
    assert 0 <= result.bound - result.objective <= result.tolerance
    assert result.validation is not None


def test_a_greedy_tree_is_improved_until_no_subtree_can_be() -> None:
    result = text_model("deep").solve()
    assert result.status is tml.Status.LOCAL
    assert result.verified
    assert result.trace[0].objective is not None
    assert result.exact is not None
    assert result.exact.objective < result.trace[0].objective


def test_a_tree_that_misses_a_requirement_is_never_returned() -> None:
    result = text_model("fair").solve(backend="cart")
    assert result.status is tml.Status.UNKNOWN
    assert result.tree is None
    assert any("parity" in note for note in result.notes)


def test_validation_estimates_on_unseen_rows_and_leaves_the_tree_alone() -> None:
    model = text_model("quantile")
    result = model.solve(backend="cart")
    assert result.validation is not None
    assert len(result.validation.parts) == 5
    assert sum(part.rows for part in result.validation.parts) == 300
    without = tml.Model([s for s in model.statements if type(s).__name__ != "Validate"], folder=model.folder)
    assert without.solve(backend="cart").tree == result.tree


def test_params_given_to_load_beat_the_defaults() -> None:
    cheap = tml.load(EXAMPLES / "sparse" / "sparse.tml", price=0.0001).solve(backend="cart")
    dear = tml.load(EXAMPLES / "sparse" / "sparse.tml", price=0.4).solve(backend="cart")
    assert cheap.exact is not None
    assert cheap.exact.objective == (
        Fraction(cheap.measures["errors"], 300) + Fraction("0.0001") * cheap.measures["leaves"],
    )
    assert dear.measures["leaves"] <= cheap.measures["leaves"]
