"""`ratio(a, b)`: any quotient of two sums over the predictions, as a goal and as a requirement."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest

import treeml as tml

ROWS = 14


def _data(seed: int) -> dict[str, list[int]]:
    random = Random(seed)
    columns = {f"x{i}": [random.randrange(2) for _ in range(ROWS)] for i in range(3)}
    return {
        **columns,
        "w": [random.randint(1, 3) for _ in range(ROWS)],
        "y": [random.randrange(2) for _ in range(ROWS)],
    }


def _predictions(data: dict[str, list[int]]) -> set[tuple[int, ...]]:
    """The predictions of every tree of depth 2."""
    columns = [data[f"x{i}"] for i in range(3)]
    found = {tuple([label] * ROWS) for label in (0, 1)}
    for root, left, right in product(range(3), repeat=3):
        for labels in product((0, 1), repeat=4):
            found.add(
                tuple(
                    labels[2 * columns[root][row] + columns[(left, right)[columns[root][row]]][row]]
                    for row in range(ROWS)
                )
            )
    return found


def _sums(data: dict[str, list[int]], predicted: tuple[int, ...]) -> tuple[int, int]:
    """2 FP + FN + 1, and the weight predicted as 1 plus the errors plus 3."""
    false_positives = sum(w for w, y, p in zip(data["w"], data["y"], predicted, strict=True) if p and not y)
    misses = sum(w for w, y, p in zip(data["w"], data["y"], predicted, strict=True) if y and not p)
    named = sum(w for w, p in zip(data["w"], predicted, strict=True) if p)
    return 2 * false_positives + misses + 1, named + false_positives + misses + 3


RATIO = """ratio(errors + count(predicted = 1, actual = 0) + 1, count(predicted = 1) + errors + 3)"""
COMMON = "predict y is 1\nfeatures x0, x1, x2\nweight by w\nrequire depth <= 2\n"


@pytest.mark.parametrize("backend", ["native", "cpsat", "oracle"])
@pytest.mark.parametrize("seed", range(6))
def test_a_quotient_is_optimized_as_brute_force_does(seed: int, backend: str) -> None:
    data = _data(seed)
    values = [Fraction(*_sums(data, predicted)) for predicted in _predictions(data)]
    for sense, best in (("minimize", min(values)), ("maximize", max(values))):
        result = tml.parse(f"{COMMON}{sense} {RATIO}\nsolve with {backend}").solve(data)
        assert result.status is tml.Status.OPTIMAL
        assert result.objective == pytest.approx(float(best), abs=1e-12)


@pytest.mark.parametrize("sense", ["<=", ">="])
@pytest.mark.parametrize("seed", range(6))
def test_a_required_quotient_holds_and_costs_no_more_than_it_must(seed: int, sense: str) -> None:
    data = _data(seed)
    limit = Fraction(Random(seed).randint(20, 60), 100)
    wrong = []
    for predicted in _predictions(data):
        value = Fraction(*_sums(data, predicted))
        if value <= limit if sense == "<=" else value >= limit:
            wrong.append(sum(w for w, y, p in zip(data["w"], data["y"], predicted, strict=True) if y != p))
    model = tml.parse(f"{COMMON}minimize errors\nrequire {RATIO} {sense} {float(limit)}\nsolve with native")
    if not wrong:
        assert model.solve(data).status is tml.Status.INFEASIBLE
        return
    result = model.solve(data)
    assert result.status is tml.Status.OPTIMAL
    assert result.objective == min(wrong)


def test_known_quotients_agree_with_their_names() -> None:
    data = _data(7)
    for name, text in (
        ("precision(1)", "ratio(count(predicted = 1, actual = 1), count(predicted = 1))"),
        ("f1(1)", "ratio(2 * count(predicted = 1, actual = 1), 2 * count(predicted = 1, actual = 1) + errors)"),
    ):
        one = tml.parse(f"{COMMON}maximize {name}\nsolve with native").solve(data)
        other = tml.parse(f"{COMMON}maximize {text}\nsolve with native").solve(data)
        assert one.objective == other.objective


def test_python_builds_the_same_quotient() -> None:
    made = tml.ratio(tml.count(predicted=1, actual=1), tml.count(predicted=1) + 1)
    assert str(made) == "ratio(count(predicted = 1, actual = 1), count(predicted = 1) + 1)"


FBETA_AS_RATIO = "ratio(5 * count(predicted = 1, actual = 1), 4 * count(actual = 1) + count(predicted = 1))"


@pytest.mark.parametrize("backend", ["native", "cpsat", "oracle"])
@pytest.mark.parametrize("seed", range(3))
def test_fbeta_is_optimized_and_is_that_of_scikit_learn(seed: int, backend: str) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    data = _data(seed)
    for beta, text in ((2, "fbeta(1, 2)"), (0.5, "fbeta(1, 0.5)"), (2, FBETA_AS_RATIO)):
        values = [
            metrics.fbeta_score(data["y"], predicted, beta=beta, sample_weight=data["w"], zero_division=0)
            for predicted in _predictions(data)
        ]
        result = tml.parse(f"{COMMON}maximize {text}\nsolve with {backend}").solve(data)
        assert result.status is tml.Status.OPTIMAL
        assert result.objective == pytest.approx(max(values), abs=1e-12)


@pytest.mark.parametrize("backend", ["native", "cpsat", "oracle"])
def test_counts_that_no_tree_changes_stand_beside_others(backend: str) -> None:
    data = _data(7)
    actual = sum(w for w, y in zip(data["w"], data["y"], strict=True) if y)
    best = min(
        sum(w for w, y, p in zip(data["w"], data["y"], predicted, strict=True) if y != p)
        for predicted in _predictions(data)
        if sum(w for w, p in zip(data["w"], predicted, strict=True) if p) == actual
    )
    text = f"{COMMON}minimize errors\nrequire count(predicted = 1) = count(actual = 1)\nsolve with {backend}"
    result = tml.parse(text).solve(data)
    assert result.objective == best
    assert result.status is tml.Status.OPTIMAL


@pytest.mark.parametrize(
    "text",
    [
        "minimize errors\nrequire count(actual = 1) <= 3",
        "minimize errors\nrequire ratio(count(actual = 1), count(actual = 0)) <= 3",
        "minimize count(actual = 1)",
    ],
)
def test_counts_that_no_tree_changes_are_refused_alone(text: str) -> None:
    with pytest.raises(tml.SpecError, match="is the same for every tree"):
        tml.parse(COMMON + text).check()


def test_clashing_bounds_on_a_quotient_hold_where_it_is_undefined() -> None:
    quotient = "ratio(count(predicted = 1, actual = 1), count(predicted = 1))"
    data = _data(1)
    result = tml.parse(f"{COMMON}minimize errors\nrequire {quotient} >= 0.5\nrequire {quotient} <= 0.2").solve(data)
    assert result.status is tml.Status.OPTIMAL
    assert set(result.tree.predict(data)) == {0}
