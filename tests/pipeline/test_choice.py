"""Which back-end solves a spec: the one named, the first capable one of several, or the first in the default order."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.backends.contract import Status

X = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)])
Y = X[:, 0] ^ X[:, 1]


def model() -> tml.Model:
    asked = tml.Model()
    asked.minimize(tml.errors)
    asked.require(tml.depth <= 2)
    return asked


def test_without_a_named_back_end_the_order_of_the_registry_decides() -> None:
    result = model().solve(X, Y)
    assert result.backend == "native"
    assert result.plan[0].startswith("native is the first of native, cpsat, mip, maxsat, oracle")


def test_several_named_back_ends_are_tried_in_order() -> None:
    wished = tml.Model().minimize(tml.errors).require(tml.depth <= 4).solve_with("oracle", "cart")
    assert wished.solve(X, Y).backend == "oracle"
    large = np.random.default_rng(1).integers(0, 2, (300, 60))
    assert wished.solve(large, large[:, 0]).backend == "cart"


def test_arguments_of_a_run_override_the_statement() -> None:
    wished = model().solve_with("cart")
    assert wished.solve(X, Y, backend="oracle").backend == "oracle"


def test_options_reach_the_back_end_and_unknown_ones_are_refused() -> None:
    result = model().solve(X, Y, backend="cart", options={"criterion": "entropy"})
    assert result.backend == "cart"
    with pytest.raises(tml.SpecError, match="criterium"):
        model().solve(X, Y, backend="cart", options={"criterium": "entropy"})
    with pytest.raises(tml.SpecError, match="criterium"):
        model().solve(X, Y, backend="cart(criterium = entropy)")


REFUSED = "maximize precision(1) + recall(1) require depth <= 6"  # the oracle alone takes a quotient in a sum


def table_of_many_trees() -> tuple[Any, Any]:
    large = np.random.default_rng(1).integers(0, 2, (300, 40))
    return large, large[:, 0] ^ large[:, 1]


def test_if_every_back_end_refuses_each_says_why() -> None:
    asked = tml.Model.parse(f"{REFUSED} list up to 5 trees")
    with pytest.raises(tml.RefusedError, match="B505") as refusal:
        asked.solve(*table_of_many_trees())
    notes = refusal.value.diagnostics[0].notes
    assert {"native", "oracle"} <= {note.split(":")[0] for note in notes}


def test_why_there_is_no_tree_needs_a_proof() -> None:
    text = "predict y binarize all by branches minimize errors require errors = 0 require depth <= 5"
    random = np.random.default_rng(2)
    columns = {f"x{number}": random.choice(list("abcdef"), 400).tolist() for number in range(6)}
    with pytest.raises(tml.RefusedError, match="B505"):
        tml.Model.parse(text).why({**columns, "y": random.integers(0, 2, 400).tolist()})


@pytest.mark.parametrize("text", [REFUSED, f"{REFUSED} solve threads 1"])
def test_if_every_back_end_refuses_there_is_a_tree_without_a_proof(text: str) -> None:
    result = tml.Model.parse(text).solve(*table_of_many_trees(), within=3)
    assert (result.status, result.bound) == (Status.FEASIBLE, None)
    assert result.backend == "cart"
    assert isinstance(result.objective, float)
    assert result.objective > 1.5
    assert "oracle looks at every tree" in " ".join(result.plan)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"backend": "natve"}, "N204"),
        ({"within": "60"}, "T305"),
        ({"within": "soon"}, "N202"),
        ({"gap": -1}, "T309"),
        ({"threads": 0}, "T309"),
        ({"memory": "much"}, "T330"),
    ],
)
def test_unknown_back_ends_are_named(asked: dict[str, object], code: str) -> None:
    with pytest.raises(tml.SpecError, match=code):
        model().solve(X, Y, **asked)


def test_an_ignored_limit_is_reported() -> None:
    assert "cart ignores the limit on memory" in model().solve(X, Y, backend="cart", memory="1GB").notes
    assert not any("memory" in note for note in model().solve(X, Y, backend="native", memory="1GB").notes)


@pytest.mark.parametrize("kernel", ["binary", "numeric"])
def test_a_named_kernel_minimizes_a_gap(kernel: str) -> None:
    """The limits on a gap that are asked in turn reach the kernel as limits on sums."""
    data = {
        "age": [1, 2, 3, 4, 5, 6],
        "sex": ["F", "M", "F", "M", "F", "M"],
        "ill": ["no", "yes", "no", "yes", "no", "no"],
    }
    text = (
        'predict ill is "yes"\nforbid split on sex\nminimize parity_gap(sex)\nrequire depth <= 2\nrequire errors <= 1\n'
    )
    result = tml.Model.parse(text + f"solve with native(kernel = {kernel})").solve(data)
    assert result.status is tml.Status.OPTIMAL
    assert result.exact.goals[0].value == Fraction(1, 3)


@pytest.mark.parametrize("memory", ["1 kB", "70 kB"])
def test_too_little_memory_to_begin_is_no_failure(memory: str) -> None:
    random = np.random.default_rng(3)
    rows = random.integers(0, 2, (200, 60))
    asked = tml.Model().minimize(tml.errors).require(tml.depth <= 4)
    result = asked.solve(rows, random.integers(0, 2, 200), backend="native", memory=memory)
    assert (result.status, result.stop) == (tml.Status.UNKNOWN, tml.Stop.MEMORY)


def test_goals_that_need_a_test_for_every_cut_are_cut_by_quantiles_if_these_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = np.random.default_rng(0)
    rows, classes = random.random((600, 3)), random.integers(0, 2, 600)
    monkeypatch.setattr("treeml.backends.native.backend._MOST_BITS", 100_000)
    monkeypatch.setattr("treeml.problem.answers.MOST_ANSWERS", 100_000)
    result = tml.parse("minimize log_loss require depth <= 2").solve(rows, classes)
    assert result.status is tml.Status.OPTIMAL
    assert any("cut by quantiles(16)" in note for note in result.notes)
