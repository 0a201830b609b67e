"""Every goal and constraint of the native solver, compared with a brute-force search over all trees."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from native_brute import class_cost, least, pinball, squared

from treeml.native.solver import Found, SearchLimits, Solver
from treeml.native.solver_input import ClassCosts, Conditions, CostOfCounts, CostOfRows, Labels, LeafCosts, Targets

SEEDS = range(40)
KINDS = ("labels", "weights", "costs", "classes", "weighted classes", "negative costs")
OPTION_SETS: tuple[dict[str, int], ...] = (
    {},
    {"general": 1},
    {"similarity": 0, "dynamic": 0, "deepening": 0},
    {"cache_kind": 0},
    {"cache": 3},
    {"cache": 7, "general": 1, "wipe": 2},
    {"cache_kind": 2, "order": 2},
    {"cache_kind": 3, "order": 3, "general": 1},
    {"unavoidable": 0, "merge_tests": 0, "strong": 0},
    {"infeasible": 0, "hierarchical": 0, "small_side": 0},
    {"reversible": 1, "general": 1, "order": 0},
    {"archive": 8, "order_everywhere": 0},
    {"kernel": 1},
    {"threads": 3},
    {"memory": 1 << 19, "wipe": 1},
    {"memory": 1 << 19, "wipe": 2, "cache_kind": 3},
)


def problem(seed: int, tests: int = 5, rows: int = 12) -> tuple[np.random.Generator, np.ndarray]:
    random = np.random.default_rng(seed)
    tests = int(random.integers(1, tests + 1))
    rows = int(random.integers(1, rows + 1))
    return random, (random.random((tests, rows)) < random.choice([0.2, 0.5, 0.7])).astype(np.uint8)


def goal(kind: str, random: np.random.Generator, rows: int) -> tuple[LeafCosts, np.ndarray]:
    """The costs of leaves, and the same goal as a cost matrix."""
    classes = 2 if kind in ("labels", "weights", "costs", "negative costs") else int(random.integers(1, 5))
    labels = random.integers(0, classes, rows)
    weight = np.ones(rows, dtype=np.int64)
    if kind.startswith("weight"):
        weight = random.integers(0, random.choice([3, 20, 100_000]), rows)
    cost = weight[:, None] * (labels[:, None] != np.arange(classes)[None, :])
    if kind == "costs":
        cost = random.integers(0, 9, (rows, classes))
    if kind == "negative costs":
        cost = random.integers(-9, 9, (rows, classes))
    if "costs" in kind:
        return ClassCosts(cost), cost
    return Labels(labels, classes, weight if kind.startswith("weight") else None), cost


def value_of(found: Found, bits: np.ndarray, cost: np.ndarray, price: int = 0) -> int:
    predicted = found.predict(bits)
    return int(cost[np.arange(len(cost)), predicted].sum()) + price * found.leaves


def check(found: Found, expected: Fraction | None) -> None:
    if expected is None:
        assert (found.status, found.value) == ("infeasible", None)
    else:
        assert found.status == "optimal"
        assert found.value == expected
        assert found.bound == expected


@pytest.mark.parametrize("options", OPTION_SETS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_classes(kind: str, options: dict[str, int]) -> None:
    for seed in SEEDS:
        random, bits = problem(seed)
        given, cost = goal(kind, random, bits.shape[1])
        solver = Solver(bits, given)
        for depth in (0, 1, 2, 3, 4):
            price = int(random.choice([0, 0, 1, 3]))
            expected = least(bits, class_cost(cost), depth, price=price)
            found = solver.solve(depth=depth, leaf_price=price, options=options)
            check(found, expected)
            assert value_of(found, bits, cost, price) == expected
            assert found.depth <= depth


@pytest.mark.parametrize("general", [0, 1])
@pytest.mark.parametrize("kind", ["labels", "weights", "weighted classes", "negative costs"])
def test_constraints(kind: str, general: int) -> None:
    for seed in SEEDS:
        random, bits = problem(1000 + seed)
        tests, rows = bits.shape
        given, cost = goal(kind, random, rows)
        columns = random.integers(0, tests, tests)
        forbidden = random.random(tests) < 0.2
        count = random.integers(1, 4, rows)
        support = int(random.integers(1, 6))
        leaves = int(random.integers(1, 7))
        price = int(random.choice([0, 2]))
        depth = int(random.integers(0, 5))

        def supported(
            members: tuple[int, ...], cost: np.ndarray = cost, count: np.ndarray = count, support: int = support
        ):
            return class_cost(cost)(members) if count[list(members)].sum() >= support else None

        found = Solver(bits, given, Conditions(count=count)).solve(depth=depth, support=support, leaf_price=price)
        check(found, least(bits, supported, depth, price=price))
        found = Solver(bits, given).solve(depth=depth, leaves=leaves, leaf_price=price, options={"general": general})
        check(found, least(bits, class_cost(cost), depth, leaves=leaves, price=price))
        assert found.leaves <= leaves
        found = Solver(bits, given, Conditions(count=count)).solve(depth=depth, leaves=leaves, support=support)
        check(found, least(bits, supported, depth, leaves=leaves))
        found = Solver(bits, given, Conditions(forbidden=forbidden)).solve(depth=depth, options={"general": general})
        check(found, least(bits, class_cost(cost), depth, forbidden=forbidden))
        assert not any(forbidden[test] for test in found.test if test >= 0)
        found = Solver(bits, given, Conditions(columns=columns)).solve(depth=depth, once=True)
        check(found, least(bits, class_cost(cost), depth, columns=columns, once=True))


def combination(seed: int) -> None:
    """Random combinations of a leaf bound, a leaf price, support, weights, costs, depth and options."""
    random, bits = problem(seed, tests=6, rows=14)
    rows = bits.shape[1]
    given, cost = goal(str(random.choice(KINDS)), random, rows)
    depth = int(random.integers(0, 5))
    leaves = int(random.integers(1, 10)) if random.random() < 0.7 else None
    price = int(random.choice([0, 0, 1, 7]))
    support = int(random.integers(1, 5)) if random.random() < 0.4 else 1
    count = random.integers(1, 4, rows)
    switches = (
        "similarity",
        "dynamic",
        "deepening",
        "infeasible",
        "hierarchical",
        "strong",
        "small_cache",
        "small_side",
    )
    options = {name: 0 for name in switches if random.random() < 0.15}
    options |= {"cache_kind": int(random.integers(0, 4))} if random.random() < 0.3 else {}
    options |= {"cache": int(random.integers(2, 9))} if random.random() < 0.2 else {}

    def allowed(members: tuple[int, ...]) -> Fraction | None:
        return class_cost(cost)(members) if support == 1 or count[list(members)].sum() >= support else None

    solver = Solver(bits, given, Conditions(count=count if support > 1 else None))
    found = solver.solve(depth=depth, leaves=leaves, leaf_price=price, support=support, options=options)
    expected = least(bits, allowed, depth, leaves=leaves, price=price)
    check(found, expected)
    if expected is not None:
        assert found.leaves <= (leaves or found.leaves)
        assert found.depth <= depth
        assert value_of(found, bits, cost, price) == expected


def test_combinations() -> None:
    for seed in range(9000, 9200):
        combination(seed)


def test_leaves_agree_with_the_general_search() -> None:
    """The search with a leaf bound on problems that are too large for brute force."""
    for seed in range(60):
        random, bits = problem(7000 + seed, tests=9, rows=70)
        given, _ = goal(str(random.choice(["labels", "weights", "negative costs"])), random, bits.shape[1])
        solver = Solver(bits, given)
        asked = {"depth": int(random.integers(3, 6)), "leaves": int(random.integers(3, 12))}
        asked["leaf_price"] = int(random.choice([0, 0, 2]))
        found, other = solver.solve(**asked), solver.solve(**asked, options={"general": 1})
        assert found.status == other.status == "optimal"
        assert (found.value, found.bound) == (other.value, found.value)
        assert found.leaves <= asked["leaves"]


def test_column_costs() -> None:
    for seed in SEEDS:
        random, bits = problem(2000 + seed)
        tests, rows = bits.shape
        given, cost = goal("weights", random, rows)
        columns = random.integers(0, max(1, tests // 2), tests)
        column_cost = random.integers(0, 3, tests)
        count = random.integers(0, 3, rows)
        depth = int(random.integers(0, 4))
        for extra in ({}, {"cache_kind": 2}, {"cache_kind": 3}, {"cache_kind": 0}):
            found = Solver(bits, given, Conditions(columns=columns, column_cost=column_cost, count=count)).solve(
                depth=depth, support=1, options=extra
            )

            def supported(members: tuple[int, ...], cost: np.ndarray = cost, count: np.ndarray = count):
                return class_cost(cost)(members) if count[list(members)].sum() >= 1 else None

            check(found, least(bits, supported, depth, columns=columns, column_cost=column_cost, count=count))


def test_purity_and_errors_of_a_leaf() -> None:
    for seed in SEEDS:
        random, bits = problem(3000 + seed)
        rows = bits.shape[1]
        given, cost = goal("classes", random, rows)
        classes = cost.shape[1]
        depth = int(random.integers(0, 4))
        weight = random.integers(0, 3, (rows, classes))
        share = Fraction(int(random.integers(0, 11)), 10)
        limited = random.integers(0, 4, (rows, classes))
        limit = int(random.integers(0, 12))

        def pure(
            members: tuple[int, ...], cost: np.ndarray = cost, weight: np.ndarray = weight, share: Fraction = share
        ) -> Fraction | None:
            sums = weight[list(members)].sum(axis=0)
            return class_cost(cost)(members) if sums.max() >= share * int(sums.sum()) else None

        def bounded(
            members: tuple[int, ...], cost: np.ndarray = cost, limited: np.ndarray = limited, limit: int = limit
        ) -> Fraction | None:
            allowed = limited[list(members)].sum(axis=0) <= limit
            sums = cost[list(members)].sum(axis=0)[allowed]
            return Fraction(int(sums.min())) if len(sums) else None

        check(Solver(bits, given, Conditions(purity=(weight, share))).solve(depth=depth), least(bits, pure, depth))
        check(
            Solver(bits, given, Conditions(leaf_limit=(limited, limit))).solve(depth=depth), least(bits, bounded, depth)
        )


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize(
    "options", [{}, {"similarity": 0, "cache_kind": 0}, {"cache_kind": 3, "reversible": 1}], ids=str
)
def test_losses(outputs: int, options: dict[str, int]) -> None:
    for seed in SEEDS:
        random, bits = problem(4000 + seed, tests=4, rows=9)
        rows = bits.shape[1]
        targets = random.integers(-20, 20, (rows, outputs))
        weight = random.integers(0, 4, rows)
        depth = int(random.integers(0, 4))
        price = int(random.choice([0, 5]))
        half = Fraction(1, 2)
        found = Solver(bits, Targets(targets, "absolute", weight=weight)).solve(depth=depth, options=options)
        expected = least(bits, pinball(targets, weight, half), depth)
        assert expected is not None
        check(found, 2 * expected)
        levels = [Fraction(1, 10), half, Fraction(4, 5)]
        several = Solver(bits, Targets(targets, "quantile", levels, weight)).solve_levels(
            SearchLimits(depth), options=options
        )
        for level, one in zip(levels, several, strict=True):
            check(one, least(bits, pinball(targets, weight, level), depth))
        found = Solver(bits, Targets(targets, "squared", weight=weight)).solve(
            depth=depth, options=options, leaf_price=price
        )
        expected = least(bits, squared(targets, weight), depth, price=price)
        assert found.status == "optimal"
        assert found.value is not None
        assert expected is not None
        assert abs(found.value - expected) <= found.tolerance
        assert found.tolerance < Fraction(1, 1000)


@pytest.mark.parametrize(
    "options", [{}, {"nonnegative": 1}, {"cache_kind": 0}, {"cache": 3}, {"reversible": 1}], ids=str
)
def test_custom(options: dict[str, int]) -> None:
    for seed in SEEDS:
        random, bits = problem(5000 + seed, tests=4, rows=9)
        rows = bits.shape[1]
        secret = random.integers(0, 50, rows)
        shift = 0 if options.get("nonnegative") else int(random.integers(-3, 3))

        def cost(members: Any, secret: np.ndarray = secret, shift: int = shift) -> int:
            return int(secret[list(members)].sum()) % 17 + shift

        depth = int(random.integers(0, 4))
        support = int(random.integers(1, 3))
        solver = Solver(bits, CostOfRows(lambda sets, cost=cost: [cost(members) for members in sets]))
        found = solver.solve(depth=depth, support=support, options=options)
        expected = least(
            bits,
            lambda members, cost=cost, support=support: Fraction(cost(members)) if len(members) >= support else None,
            depth,
        )
        check(found, expected)


def test_custom_of_class_counts() -> None:
    for seed in SEEDS:
        random, bits = problem(5500 + seed, tests=4, rows=9)
        labels = random.integers(0, 3, bits.shape[1])
        solver = Solver(bits, CostOfCounts(lambda counts: counts.sum(1) - counts.max(1), labels, 3))
        cost = (labels[:, None] != np.arange(3)[None, :]).astype(int)
        check(solver.solve(depth=2, options={"nonnegative": 1}), least(bits, class_cost(cost), 2))


def test_upper_enough_and_start() -> None:
    for seed in SEEDS:
        random, bits = problem(6000 + seed)
        given, cost = goal("weights" if seed % 2 else "weighted classes", random, bits.shape[1])
        expected = least(bits, class_cost(cost), 3)
        assert expected is not None
        solver = Solver(bits, given)
        check(solver.solve(depth=3, upper=int(expected) + 1), expected)
        refused = solver.solve(depth=3, upper=int(expected))
        assert refused.status == "infeasible"
        assert refused.bound >= expected
        first = solver.solve(depth=3, enough=int(expected) + 3)
        assert first.value is not None
        assert first.value < expected + 3
        best = solver.solve(depth=3)
        again = solver.solve(depth=3, start=(best.test, best.left, best.right))
        check(again, expected)
        shallow = solver.solve(depth=1)
        again = solver.solve(depth=3, seconds=0, start=(best.test, best.left, best.right))
        assert again.value is not None
        assert again.value <= expected
        assert shallow.value is not None
        assert shallow.value >= expected


@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"cache": 5}, {"deepening": 0, "similarity": 0}], ids=str)
@pytest.mark.parametrize("kind", ["labels", "weights", "classes", "costs"])
def test_prices_without_a_limit_on_depth(kind: str, options: dict[str, int]) -> None:
    """A price per leaf limits the useful depth of every sub-problem; the optimum must not change."""
    for seed in range(25):
        random, bits = problem(3000 + seed)
        given, cost = goal(kind, random, bits.shape[1])
        most = max(1, int(cost.max(axis=1).sum()))
        price = int(random.integers(1, most // 2 + 2))
        support = int(random.choice([1, 1, 2]))

        def supported(members: tuple[int, ...], cost: np.ndarray = cost, support: int = support):
            return class_cost(cost)(members) if len(members) >= support else None

        expected = least(bits, supported, min(5, bits.shape[0]), price=price)
        found = Solver(bits, given).solve(depth=5, support=support, leaf_price=price, options=options)
        check(found, expected)
