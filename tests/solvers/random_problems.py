"""Random small problems with every kind of goal and bound, for comparing back-ends with the oracle."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from treeml.problem.problem import Bound, Feature, Goal, Problem, Test
from treeml.problem.terms import (
    Depth,
    Largest,
    LeafErrors,
    Leaves,
    Loss,
    Monotone,
    Predicted,
    Purity,
    Ratio,
    Sum,
    Support,
    TestCost,
    Used,
)

ONE = Fraction(1)


def random_problem(seed: int, *, numbers: bool = False, numeric: bool = False, most_bounds: int = 3) -> Problem:
    """`numbers`: leaves hold numbers, not classes. `numeric`: mostly ordered features."""
    make = np.random.default_rng(seed)
    rows = int(make.integers(1, 13))
    features, tests = _features(make, rows, numeric)
    count = make.integers(1, 4, rows) if make.random() < 0.3 else np.ones(rows, np.int64)
    classes = 0 if numbers else int(make.integers(1, 4))
    depth = int(make.choice([0, 1, 2, 2, 2, 3]))
    bounds = [Bound(_alone(Depth()), "<=", Fraction(depth), "depth")]
    given = _bits(features, tests, rows)
    if numbers:
        goals = (Goal(_loss_goal(make, rows, len(features))),)
        pool = (_leaves_bound, _support_bound, _used_bound, _test_cost_bound)
    else:
        actual = make.integers(0, classes, rows)
        weight = make.integers(0, 5, rows) if make.random() < 0.3 else count
        goals = (Goal(_class_goal(make, actual, weight, classes, len(features))),)
        if make.random() < 0.1:
            goals = ()
        pool = (
            _leaves_bound, _support_bound, _used_bound, _test_cost_bound, _purity_bound, _leaf_errors_bound,
            _leaf_weight_bound,
            _predicted_bound, _predicted_bound, _gap_bound, _ratio_bound, _monotone_bound, _mixed_bound, _depth_bound,
        )  # fmt: skip
        shared = (actual, weight, classes)
    for number in range(int(make.integers(0, most_bounds + 1))):
        maker = pool[int(make.integers(0, len(pool)))]
        extra = shared if not numbers else (np.zeros(rows, np.int64), count, 0)
        bounds.append(maker(make, f"r{number}", rows, features, *extra))
    return Problem(features, tests, count.astype(np.int64), classes, goals, tuple(bounds), given)


def _features(make: np.random.Generator, rows: int, numeric: bool) -> tuple[tuple[Feature, ...], tuple[Test, ...]]:
    features: list[Feature] = []
    tests: list[Test] = []
    for number in range(int(make.integers(1, 5))):
        kinds = (
            ("ordered", "ordered", "levels", "subsets", "binary")
            if numeric
            else ("binary", "binary", "ordered", "levels")
        )
        kind = str(make.choice(kinds))
        levels = 2 if kind == "binary" else int(make.integers(2, 5))
        codes = make.integers(0, levels, rows).astype(np.int32)
        first = len(tests)
        if kind == "binary":
            tests.append(Test(number, "true"))
        elif kind == "ordered":
            tests += [Test(number, "at most", (cut,)) for cut in range(levels - 1)]
        elif kind == "levels":
            tests += [Test(number, "level", (level,)) for level in range(levels)]
        else:
            subsets = [tuple(v for v in range(levels) if mask >> v & 1) for mask in range(1, 2**levels - 1)]
            tests += [Test(number, "among", subset) for subset in subsets if 0 in subset]
        features.append(Feature(f"f{number}", kind, levels, codes, first, len(tests) - first))
    return tuple(features), tuple(tests)


def _bits(features: tuple[Feature, ...], tests: tuple[Test, ...], rows: int) -> np.ndarray:
    bits = np.zeros((len(tests), rows), bool)
    for number, test in enumerate(tests):
        codes = features[test.feature].codes
        assert codes is not None
        if test.kind == "true":
            bits[number] = codes == 1
        elif test.kind == "at most":
            bits[number] = codes <= test.values[0]
        else:
            bits[number] = np.isin(codes, test.values)
    return bits


def _alone(term: object, factor: Fraction = ONE) -> Sum:
    return Sum(((factor, term),))  # type: ignore[arg-type]


def _errors(actual: np.ndarray, weight: np.ndarray, classes: int) -> Predicted:
    return Predicted(
        (np.arange(classes)[None, :] != actual[:, None]).astype(np.int64) * weight[:, None].astype(np.int64)
    )


def _class_goal(make: np.random.Generator, actual: np.ndarray, weight: np.ndarray, classes: int, features: int) -> Sum:
    parts: list[tuple[Fraction, object]] = []
    choice = make.random()
    if choice < 0.6:
        parts.append((Fraction(1, int(make.integers(1, 4))), _errors(actual, weight, classes)))
    elif choice < 0.9:
        parts.append((ONE, Predicted(make.integers(-3, 6, (len(actual), classes)), Fraction(1, 3))))
    else:
        one, two = (Predicted(make.integers(-2, 3, (len(actual), classes))) for _ in range(2))
        parts.append((ONE, Largest((_alone(one), Sum(((ONE, two),), Fraction(1, 2))))))
    if make.random() < 0.3:
        parts.append((Fraction(int(make.integers(-1, 4)), 2), Leaves()))
    if make.random() < 0.15:
        parts.append((Fraction(1, 2), TestCost(tuple(int(c) for c in make.integers(0, 3, features)))))
    if make.random() < 0.15:
        parts.append((ONE, Used(frozenset(range(features)))))
    return Sum(tuple(parts), Fraction(int(make.integers(-2, 3))))  # type: ignore[arg-type]


def _loss_goal(make: np.random.Generator, rows: int, features: int) -> Sum:
    kind = str(make.choice(["squared", "absolute", "quantile"]))
    outputs = 2 if make.random() < 0.2 else 1
    targets = make.integers(-5, 20, (rows, outputs))
    weight = make.integers(1, 4, rows) if make.random() < 0.4 else np.ones(rows, np.int64)
    level = Fraction(int(make.integers(1, 10)), 10)
    parts: list[tuple[Fraction, object]] = [(Fraction(1, 2), Loss(kind, targets, weight, Fraction(1, 3), level))]
    if make.random() < 0.4:
        parts.append((Fraction(int(make.integers(0, 4)), 2), Leaves()))
    if make.random() < 0.2:
        parts.append((Fraction(1, 2), TestCost(tuple(int(c) for c in make.integers(0, 3, features)))))
    return Sum(tuple(parts))  # type: ignore[arg-type]


def _sense(make: np.random.Generator) -> str:
    return str(make.choice(["<=", "<=", ">=", ">=", "="]))


def _leaves_bound(make, name, rows, features, *shared):  # type: ignore[no-untyped-def]
    return Bound(_alone(Leaves()), _sense(make), Fraction(int(make.integers(1, 6))), name)


def _depth_bound(make, name, rows, features, *shared):  # type: ignore[no-untyped-def]
    return Bound(_alone(Depth()), ">=", Fraction(int(make.integers(0, 3))), name)


def _support_bound(make, name, rows, features, *shared):  # type: ignore[no-untyped-def]
    return Bound(_alone(Support()), str(make.choice([">=", ">=", "<="])), Fraction(int(make.integers(1, 5))), name)


def _used_bound(make, name, rows, features, *shared):  # type: ignore[no-untyped-def]
    some = frozenset(int(f) for f in range(len(features)) if make.random() < 0.7)
    return Bound(_alone(Used(some)), _sense(make), Fraction(int(make.integers(0, 3))), name)


def _test_cost_bound(make, name, rows, features, *shared):  # type: ignore[no-untyped-def]
    costs = tuple(int(c) for c in make.integers(0, 4, len(features)))
    return Bound(
        _alone(TestCost(costs)), str(make.choice(["<=", ">="])), Fraction(int(make.integers(0, 3 * rows))), name
    )


def _purity_bound(make, name, rows, features, actual, weight, classes):  # type: ignore[no-untyped-def]
    matrix = (np.arange(classes)[None, :] == actual[:, None]).astype(np.int64) * weight[:, None]
    limit = Fraction(int(make.integers(3, 11)), 10)
    return Bound(_alone(Purity(matrix)), str(make.choice([">=", ">=", "<="])), limit, name)


def _leaf_errors_bound(make, name, rows, features, actual, weight, classes):  # type: ignore[no-untyped-def]
    cost = _errors(actual, weight, classes).cost
    term = LeafErrors(cost, Fraction(1, 2))
    return Bound(_alone(term), str(make.choice(["<=", "<=", ">="])), Fraction(int(make.integers(0, 4)), 2), name)


def _leaf_weight_bound(make, name, rows, features, actual, weight, classes):  # type: ignore[no-untyped-def]
    least = Sum(((Fraction(-1), LeafErrors(np.repeat(-weight[:, None], classes, axis=1), Fraction(1, 2))),))
    return Bound(least, str(make.choice([">=", ">=", "<="])), Fraction(int(make.integers(0, rows)), 2), name)


def _predicted_bound(make, name, rows, features, actual, weight, classes):  # type: ignore[no-untyped-def]
    cost = make.integers(-2, 4, (rows, classes))
    return Bound(
        _alone(Predicted(cost, Fraction(1, 2))), _sense(make), Fraction(int(make.integers(-2, rows + 1)), 2), name
    )


def _gap_bound(make, name, rows, features, actual, weight, classes):  # type: ignore[no-untyped-def]
    parts = tuple(
        Sum(((Fraction(1, 3), Predicted(make.integers(-2, 3, (rows, classes)))),), Fraction(int(make.integers(0, 2))))
        for _ in range(int(make.integers(2, 4)))
    )
    sense = str(make.choice(["<=", "<=", ">=", "="]))
    return Bound(_alone(Largest(parts)), sense, Fraction(int(make.integers(-1, rows // 2 + 2)), 3), name)


def _ratio_bound(make, name, rows, features, actual, weight, classes):  # type: ignore[no-untyped-def]
    label = int(make.integers(0, classes))
    above, below = np.zeros((rows, classes), np.int64), np.zeros((rows, classes), np.int64)
    below[:, label] = weight
    above[:, label] = weight * (actual == label)
    term = Ratio(_alone(Predicted(above)), _alone(Predicted(below)))
    return Bound(_alone(term), str(make.choice([">=", ">=", "<="])), Fraction(int(make.integers(2, 10)), 10), name)


def _monotone_bound(make, name, rows, features, actual, weight, classes):  # type: ignore[no-untyped-def]
    number = int(make.integers(0, len(features)))
    if features[number].kind == "subsets" or features[number].kind == "levels":
        return _leaves_bound(make, name, rows, features)
    term = Monotone(number, bool(make.random() < 0.5), int(make.integers(0, classes)))
    return Bound(_alone(term), "=", ONE, name)


def _mixed_bound(make, name, rows, features, actual, weight, classes):  # type: ignore[no-untyped-def]
    parts = (
        (Fraction(1, 2), Predicted(make.integers(-1, 3, (rows, classes)))),
        (Fraction(int(make.integers(-2, 3))), Leaves()),
        (Fraction(int(make.integers(-1, 2))), Depth()),
        (Fraction(int(make.integers(-1, 2))), Used(frozenset(range(len(features))))),
    )
    return Bound(Sum(parts), str(make.choice(["<=", ">="])), Fraction(int(make.integers(-2, rows + 3))), name)
