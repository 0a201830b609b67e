"""Specs with losses of unusual magnitudes: every back-end agrees with the oracle, or refuses with a reason."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.problem.constants import group_losses
from treeml.problem.precision import narrowed, smallest_difference
from treeml.problem.terms import Leaves, Loss, Sum
from treeml.problem.terms import TestCost as CostOfTests

FAR = {"x": list(range(8)), "z": [0, 1] * 4, "y": [1, 2, 1, 2, 5, 6, 5, 1_000_000]}
BACKENDS = ("native", "native(kernel = numeric)", "cpsat", "mip")


def solved(text: str, data: dict[str, Any], backend: str | None) -> tml.Result | None:
    try:
        return tml.Model.parse(text).solve(data, backend=backend, within=60)
    except tml.BackendError:
        raise
    except tml.SpecError:  # refused with a reason
        return None


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_far_value_hides_no_better_tree(backend: str) -> None:
    result = solved("predict y minimize squared_loss require depth <= 2", FAR, backend)
    assert result is not None
    assert result.exact is not None
    assert result.exact.goals[0].value == Fraction(2, 3)
    assert (result.status, result.tolerance, result.gap) == (tml.Status.OPTIMAL, 0.0, 0.0)


@pytest.mark.parametrize("backend", [*BACKENDS, None])
def test_targets_near_a_million_with_weights(backend: str | None) -> None:
    data = {
        "b": [9, 10, 11, 10, 10, 10, 9, 10],
        "d": [0, 0, 1, 1, 0, 0, 1, 1],
        "yy": [3e6, 1000001, 1000000, 3e6, 999999.5, 999999.5, 1000001, 1000000],
        "ww": [4, 3, 1, 5, 2, 1, 4, 2],
    }
    text = "predict yy weight by ww binarize b at 9.5, 10.5 require depth <= 2 minimize squared_loss + leaves"
    oracle, result = solved(text, data, "oracle"), solved(text, data, backend)
    assert oracle is not None
    assert result is not None
    assert (result.status, result.objective) == (tml.Status.OPTIMAL, oracle.objective)


@pytest.mark.parametrize("cost", ["0.25", "1", "3", "100"])
@pytest.mark.parametrize("loss", ["squared_loss", "absolute_loss", "quantile_loss(0.5)"])
def test_tests_and_losses_share_a_unit(loss: str, cost: str) -> None:
    data = {"x": [0, 0, 1, 1], "y": [0, 1, 3, 4]}
    text = f"predict y cost test x = {cost} minimize {loss} + test_cost require depth <= 1"
    values = {backend: solved(text, data, backend) for backend in ("oracle", "native", "cpsat", "mip")}
    assert len({None if result is None else result.objective for result in values.values()}) == 1


@pytest.mark.parametrize(
    ("price", "targets", "best"),
    [
        ("33554432", [0, 0, 1, 1], 33554433),
        ("0.1", [1e-5, 2e-5, 3e-5, 9e-5], 0.100000003875),
        ("100", [1e-5, 2e-5, 3e-5, 9e-5], 100.000000003875),
    ],
)
def test_prices_of_any_size_beside_a_loss(price: str, targets: list[float], best: float) -> None:
    data = {"x": [0, 1, 2, 3], "y": targets}
    for backend in BACKENDS[:2]:
        result = solved(f"predict y minimize squared_loss + {price} * leaves require depth <= 2", data, backend)
        assert result is not None
        assert (result.status, result.objective) == (tml.Status.OPTIMAL, best)


def test_a_level_of_16_digits() -> None:
    model = tml.Model()
    model.minimize(tml.quantile_loss(1 / 3))
    model.require(tml.depth <= 2)
    rows, targets = np.arange(8.0)[:, None], np.array([1, 2, 3, 5, 8, 13, 21, 34.0])
    results = [model.solve(rows, targets, backend=backend) for backend in ("oracle", "native", None)]
    assert len({result.objective for result in results}) == 1


def test_targets_keep_their_digits_beside_weights_of_many_digits() -> None:
    data = {"x": [0, 1, 2], "y": [1000000000000001, 1000000000000003, 1000000000000000], "w": [1e6, 1e6, 0.001]}
    for backend in ("oracle", "native"):
        result = solved("predict y weight by w minimize squared_loss require depth <= 0", data, backend)
        assert result is not None
        assert result.objective == pytest.approx(2000000.0035, rel=1e-9)
        assert not result.notes


@pytest.mark.parametrize("backend", ["native", "native(kernel = numeric)"])
@pytest.mark.parametrize("goal", ["squared_loss + depth", "depth"])
def test_depth_in_a_goal_is_left_to_the_plan(goal: str, backend: str) -> None:
    text = f"predict y minimize {goal} require depth <= 2"
    oracle, result = solved(text, FAR, "oracle"), solved(text, FAR, backend)
    assert oracle is not None
    assert result is not None
    assert result.objective == oracle.objective


NUMBERS = {
    "small": [0, 1, 2, 5, -3],
    "tiny": [1e-9, 2e-9, 5e-9, 9e-9],
    "huge": [10**15, -(10**15), 10**14 + 7, 3],
    "far": [1, 2, 1, 5, 1e6],
    "far apart": [1e-3, 1, 2, 1e9, -1e9],
    "digits": [0.1234567890123456, 0.9876543210987654, 0.5555555555555555, 0.7777777777777778],
}


def _random_case(random: Random) -> tuple[str, dict[str, Any]]:
    rows, features = random.randint(2, 7), random.randint(1, 2)
    data: dict[str, Any] = {f"x{i}": [random.randint(0, 2) for _ in range(rows)] for i in range(features)}
    data["y"] = random.choices(NUMBERS[random.choice(list(NUMBERS))], k=rows)
    text = "predict y "
    if random.random() < 0.5:
        data["w"] = random.choices(random.choice([[1, 2, 9], [0.1, 0.25, 3], [0.001, 1, 1e6]]), k=rows)
        text += "weight by w "
    goal = random.choice(["squared_loss", "squared_loss", "absolute_loss", "quantile_loss(0.3)"])
    if random.random() < 0.5:
        goal += f" + {random.choice(['1', '0.1', '33554432', '0.01714285714285714', '0.000001'])} * leaves"
    if random.random() < 0.3:
        text += f"cost test x0 = {random.choice(['0.1', '100', '1000000000000'])} "
        goal += " + test_cost"
    text += f"minimize {goal} require depth <= {random.randint(0, 2)} "
    if random.random() < 0.3:
        text += f"require support >= {random.randint(1, 3)} "
    if random.random() < 0.3:
        text += f"require leaves <= {random.randint(1, 4)} "
    return text, data


@pytest.mark.parametrize("seed", range(12))
def test_random_magnitudes_agree_with_the_oracle(seed: int) -> None:
    text, data = _random_case(Random(seed))
    oracle = solved(text, data, "oracle")
    assert oracle is not None
    for backend in BACKENDS:
        result = solved(text, data, backend)
        if result is None:
            assert backend != "native", text
            continue
        assert result.status == oracle.status, (backend, text)
        if oracle.exact is None:
            continue
        assert result.exact is not None
        value, best = result.exact.goals[0].value, oracle.exact.goals[0].value
        allowed = Fraction(result.tolerance) * max(1, value) * Fraction(1001, 1000)
        assert 0 <= value - best <= allowed, (backend, text, data)
        assert allowed <= best / 10**5 + Fraction(1, 10**40), (backend, text, data)


def _loss(kind: str, targets: list[int], weight: list[int]) -> Loss:
    return Loss(kind, np.array(targets)[:, None], np.array(weight), level=Fraction(1, 3))


@pytest.mark.parametrize("kind", ["squared", "absolute", "quantile"])
def test_narrowed_gaps_keep_every_loss_up_to_the_limit(kind: str) -> None:
    random = Random(3)
    for _ in range(40):
        targets = random.choices([1, 2, 3, 1000, 1003, 10**9, 10**9 + 4, -(10**12)], k=6)
        weight = random.choices([0, 1, 2, 7], k=6)
        most = Fraction(random.randint(0, 60))
        loss = _loss(kind, targets, weight)
        smaller = narrowed(Sum(((Fraction(1), loss),)), most)
        if smaller is None:
            continue
        closer = smaller.parts[0][1]
        assert isinstance(closer, Loss)
        for chosen in range(1, 2**6):
            group = np.array([0 if chosen >> row & 1 else 1 for row in range(6)])
            before = group_losses(kind, loss.targets[:, 0], loss.weight, group, 2, loss.level)
            after = group_losses(kind, closer.targets[:, 0], closer.weight, group, 2, loss.level)
            assert after == before if before <= most else after > most


def test_expensive_tests_are_rescaled_and_stay_too_expensive() -> None:
    loss = _loss("squared", [0, 1], [1, 1])
    total = Sum(((Fraction(1), loss), (Fraction(1), CostOfTests((10**12, 0, 1)))))
    smaller = narrowed(total, Fraction(1, 2))
    assert smaller is not None
    costs = smaller.parts[1][1]
    assert isinstance(costs, CostOfTests)
    amounts = [cost * costs.scale for cost in costs.costs]
    assert amounts[1] == 0
    assert all(2 * amount > Fraction(1, 2) for amount in (amounts[0], amounts[2]))
    assert amounts[0] <= 1


def test_values_of_small_data_lie_apart() -> None:
    loss = _loss("squared", [0, 1, 5, 7], [2, 2, 2, 2])
    values = set()
    for chosen in range(2**4):
        group = np.array([chosen >> row & 1 for row in range(4)])
        values.add(group_losses("squared", loss.targets[:, 0], loss.weight, group, 2) + Fraction(1, 3))
    ordered = sorted(values)
    apart = min(b - a for a, b in pairwise(ordered))
    total = Sum(((Fraction(1), loss), (Fraction(1, 3), Leaves())))
    assert 0 < smallest_difference(total, 2) <= apart
    assert smallest_difference(total, 2**40) > 0


def test_requirements_on_squared_losses_are_kept_exactly() -> None:
    for limit, sense in (("0.7", "<="), ("0.66", "<="), ("0.6667", ">="), ("5", ">=")):
        text = f"predict y minimize leaves require squared_loss {sense} {limit} require depth <= 2"
        oracle, result = solved(text, FAR, "oracle"), solved(text, FAR, "cpsat")
        assert oracle is not None
        assert result is not None
        assert (result.status, result.objective) == (oracle.status, oracle.objective), text


@pytest.mark.parametrize("backend", ["cpsat", "mip", "mip(solver = scip)"])
@pytest.mark.parametrize(
    "loss", ["absolute_loss", "quantile_loss(0.05)", "quantile_loss(0.3333333333333333)", "quantile_loss(0.9)"]
)
def test_large_weights_far_from_large_targets(loss: str, backend: str) -> None:
    """All weight at the farthest distance would pass 64 bits; what the rows really lose does not."""
    data = {"a": [1, 0, 0, 0], "w": [2147483648, 5, 10**12, 0], "y": [0, 10**9, 2, -(10**9)]}
    text = f"predict y weight by w minimize {loss} require depth <= 1"
    oracle, result = solved(text, data, "oracle"), solved(text, data, backend)
    assert oracle is not None
    if result is None:
        assert "333" in loss  # levels of 16 digits beside such weights are refused in a sentence
        return
    assert (result.status, result.objective, result.tolerance) == (tml.Status.OPTIMAL, oracle.objective, 0.0)
