"""A limit on leaves: prices per leaf give a lower bound that no tree contradicts, and trees that keep the limit."""

from __future__ import annotations

import numpy as np
import pytest

import treeml as tml
from treeml.backends.claims import BOUND, OPTIMAL, Evidence
from treeml.backends.contract import Progress
from treeml.backends.native import priced_leaves


def noisy(seed: int, rows: int = 60, columns: int = 6) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    values = random.integers(0, 2, (rows, columns)).astype(float)
    labels = ((values[:, 0] > 0) & (values[:, 1] > 0)) ^ (random.random(rows) < 0.3)
    return values, labels.astype(int)


@pytest.mark.parametrize("leaves", [3, 4, 5, 7])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_never_exceeds_the_optimum(monkeypatch: pytest.MonkeyPatch, seed: int, leaves: int) -> None:
    values, labels = noisy(seed)
    spec = f"predict y minimize errors require leaves <= {leaves} solve with native"
    best = tml.parse(spec).solve(values, labels)
    assert best.status.value == "optimal"
    bounds: list[int] = []
    searched = priced_leaves.Prices.search

    def search(prices: priced_leaves.Prices) -> None:
        searched(prices)
        if prices.bound is not None:
            bounds.append(prices.bound)

    monkeypatch.setattr(priced_leaves, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(priced_leaves.Prices, "search", search)
    again = tml.parse(spec).solve(values, labels)
    assert again.status.value == "optimal"
    assert again.objective == best.objective
    assert all(bound <= best.objective for bound in bounds)
    assert bounds


def test_a_price_whose_tree_has_all_leaves_proves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search itself is not given a moment: only the price can have proved it."""
    values, labels = noisy(7, rows=2000, columns=14)
    spec = "predict y minimize errors require leaves <= 3 solve with native"
    monkeypatch.setattr(priced_leaves, "FIRST_SECONDS", 0.0)
    result = tml.parse(spec).solve(values, labels)
    assert result.status.value == "optimal"
    rules = {each.rule for each in result.evidence} | {b.rule for each in result.evidence for b in each.rests_on}
    assert "price of leaves" in rules or "search" in rules


def test_a_stopped_run_states_the_bound_of_a_price(monkeypatch: pytest.MonkeyPatch) -> None:
    values, labels = noisy(3, rows=3000, columns=24)
    spec = "predict y minimize errors require leaves <= 9 solve with native"
    monkeypatch.setattr(priced_leaves, "FIRST_SECONDS", 0.0)
    seen: list[tuple[int, str]] = []

    def watch(moment: Progress) -> bool:
        if moment.bound is not None and moment.evidence:
            seen.append((int(moment.bound), moment.evidence[0].rule))
        return not any(rule == "price of leaves" for _, rule in seen)

    result = tml.parse(spec).solve(values, labels, on_progress=watch)
    assert result.bound is not None
    assert result.bound <= result.objective
    assert any(rule == "price of leaves" for _, rule in seen) or result.status.value == "optimal"


def test_the_rule_supports_a_bound_and_no_more() -> None:
    evidence = Evidence("price of leaves", "2 per leaf", (Evidence("search"),))
    assert evidence.supports(BOUND)
    assert not evidence.supports(OPTIMAL)


@pytest.mark.parametrize(
    "spec",
    [
        "predict y minimize errors require depth <= 2 require leaves <= 4",
        "predict y minimize errors + 0.01 * leaves require leaves <= 5",
        "predict y minimize errors require leaves <= 2",
    ],
)
def test_other_specs_are_searched_as_they_are(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    values, labels = noisy(1)

    def fail(_prices: priced_leaves.Prices) -> None:
        raise AssertionError("no price is needed")

    monkeypatch.setattr(priced_leaves, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(priced_leaves.Prices, "search", fail)
    assert tml.parse(f"{spec} solve with native").solve(values, labels).status.value == "optimal"
