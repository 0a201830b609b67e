"""Reductions change no answer: brute force over raw and reduced problems agrees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeml as tml
from treeml.problem import answers, terms
from treeml.problem import problem as problems
from treeml.problem.answers import forget_packed, has_bits_in_time, packed_in_time
from treeml.problem.problem import Bound, Feature, Goal, Problem
from treeml.problem.reduce import reduce, row_groups
from treeml.problem.terms import Largest, LeafErrors, Leaves, Loss, Monotone, Predicted, Purity, Sum, Term, Used
from treeml.problem.tree import Leaf, Node, Split
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare

ONE = Fraction(1)


def problem_of(bits: np.ndarray, actual: np.ndarray, *terms: tuple[Fraction, Term], per_feature: int = 1) -> Problem:
    """Binary features, or features of several tests each, over rows of two classes."""
    tests, rows = bits.shape
    cost = np.ones((rows, 2), dtype=np.int64)
    cost[np.arange(rows), actual] = 0
    features = []
    for first in range(0, tests, per_feature):
        features.append(Feature(f"f{first}", "levels", per_feature + 1, None, first, min(per_feature, tests - first)))
    goal = Goal(Sum(((ONE, Predicted(cost)), *terms)))
    return Problem(
        tuple(features),
        tuple(problems.Test(t // per_feature, "level", (t % per_feature,)) for t in range(tests)),
        np.ones(rows, dtype=np.int64),
        2,
        (goal,),
        (),
        bits,
    )


def trees(problem: Problem, rows: np.ndarray, depth: int) -> Iterator[Node]:
    """Every tree that leaves at least one row in each leaf."""
    yield Leaf(0)
    yield Leaf(1)
    if not depth:
        return
    for test in range(len(problem.tests)):
        yes = problem.bits[test][rows]
        if yes.any() and not yes.all():
            for left in trees(problem, rows[yes], depth - 1):
                for right in trees(problem, rows[~yes], depth - 1):
                    yield Split(test, left, right)


def leaves(
    problem: Problem, node: Node, rows: np.ndarray, path: frozenset[int] = frozenset()
) -> Iterator[tuple[int, np.ndarray, frozenset[int]]]:
    if isinstance(node, Leaf):
        yield node.label, rows, path
        return
    yes = problem.bits[node.test][rows]
    path = path | {problem.tests[node.test].feature}
    yield from leaves(problem, node.yes, rows[yes], path)
    yield from leaves(problem, node.no, rows[~yes], path)


def value(problem: Problem, node: Node, total: Sum) -> Fraction:
    reached = list(leaves(problem, node, np.arange(problem.rows)))
    result = total.constant
    for factor, term in total.parts:
        match term:
            case Predicted():
                got = term.scale * sum(int(term.cost[rows, label].sum()) for label, rows, _ in reached)
            case Leaves():
                got = Fraction(len(reached))
            case terms.TestCost():
                got = Fraction(
                    sum(int(problem.count[rows].sum()) * sum(term.costs[f] for f in path) for _, rows, path in reached)
                )
            case Used():
                got = Fraction(len(frozenset().union(*(path for *_, path in reached)) & term.features))
            case LeafErrors():
                got = term.scale * max(int(term.cost[rows, label].sum()) for label, rows, _ in reached)
            case Purity():
                got = min(
                    Fraction(int(term.weight[rows].sum(axis=0).max()), int(term.weight[rows].sum()))
                    for _, rows, _ in reached
                )
            case Largest():
                got = max(value(problem, node, part) for part in term.parts)
        result += factor * got
    return result


def support(problem: Problem, node: Node) -> int:
    return min(int(problem.count[rows].sum()) for _, rows, _ in leaves(problem, node, np.arange(problem.rows)))


def optimum(problem: Problem, depth: int = 2) -> tuple[Fraction, Node]:
    candidates = trees(problem, np.arange(problem.rows), depth)
    return min(((value(problem, tree, problem.goals[0].sum), tree) for tree in candidates), key=lambda pair: pair[0])


tables = st.integers(1, 9).flatmap(
    lambda rows: st.tuples(
        st.lists(st.lists(st.booleans(), min_size=rows, max_size=rows), min_size=1, max_size=4),
        st.lists(st.integers(0, 1), min_size=rows, max_size=rows),
    )
)


# The same few splits again and again, some of them turned round, under different features.
repeated = st.integers(2, 8).flatmap(
    lambda rows: st.lists(st.lists(st.booleans(), min_size=rows, max_size=rows), min_size=1, max_size=2).flatmap(
        lambda splits: st.tuples(
            st.lists(
                st.tuples(st.sampled_from(splits), st.booleans()).map(lambda pair: [bit ^ pair[1] for bit in pair[0]]),
                min_size=3,
                max_size=4,
            ),
            st.lists(st.integers(0, 1), min_size=rows, max_size=rows),
        )
    )
)


def check(problem: Problem) -> None:
    smaller, lift = reduce(problem)
    best, _ = optimum(problem)
    found, tree = optimum(smaller)
    assert found == best
    lifted = lift(tree)
    assert value(problem, lifted, problem.goals[0].sum) == best
    assert support(problem, lifted) == support(smaller, tree)
    assert smaller.count.sum() == problem.rows


@given(tables)
@settings(max_examples=60, deadline=None)
def test_errors_and_leaves(table: tuple[list[list[bool]], list[int]]) -> None:
    bits, actual = np.array(table[0]), np.array(table[1])
    check(problem_of(bits, actual, (Fraction(1, 3), Leaves())))


@given(repeated, st.lists(st.integers(0, 3), min_size=4, max_size=4), st.integers(1, 2))
@settings(max_examples=60, deadline=None)
def test_costs_of_tests(table: tuple[list[list[bool]], list[int]], costs: list[int], per_feature: int) -> None:
    bits, actual = np.array(table[0]), np.array(table[1])
    check(problem_of(bits, actual, (Fraction(1, 4), terms.TestCost(tuple(costs))), per_feature=per_feature))


@given(repeated, st.frozensets(st.integers(0, 3)), st.sampled_from([Fraction(1, 4), Fraction(-1, 4)]))
@settings(max_examples=60, deadline=None)
def test_use_of_features(table: tuple[list[list[bool]], list[int]], named: frozenset[int], factor: Fraction) -> None:
    bits, actual = np.array(table[0]), np.array(table[1])
    check(problem_of(bits, actual, (factor, Used(named))))


@given(tables)
@settings(max_examples=25, deadline=None)
def test_terms_of_the_worst_leaf_and_gaps(table: tuple[list[list[bool]], list[int]]) -> None:
    bits, actual = np.array(table[0]), np.array(table[1])
    rows = len(actual)
    weight = np.eye(2, dtype=np.int64)[actual]
    odd = np.zeros((rows, 2), dtype=np.int64)
    odd[::2, 1] = 3
    gap = Largest((Sum(((ONE, Predicted(odd)),)), Sum(((-ONE, Predicted(odd)),), Fraction(2))))
    check(
        problem_of(
            bits,
            actual,
            (Fraction(1, 2), LeafErrors(1 - weight)),
            (Fraction(-1, 5), Purity(weight)),
            (Fraction(1, 7), gap),
        )
    )


@given(tables)
@settings(deadline=None)
def test_nothing_equal_is_left(table: tuple[list[list[bool]], list[int]]) -> None:
    smaller, _ = reduce(problem_of(np.array(table[0]), np.array(table[1])))
    rows = {column.tobytes() for column in smaller.bits.T}
    assert len(rows) == smaller.rows
    seen = set()
    for row in smaller.bits:
        assert row.any()
        assert not row.all()
        assert row.tobytes() not in seen
        seen |= {row.tobytes(), (~row).tobytes()}


BITS = np.array([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1]], dtype=bool)
ACTUAL = np.array([0, 0, 1, 1])


def test_equal_opposite_and_constant_tests_and_equal_rows() -> None:
    smaller, lift = reduce(problem_of(BITS, ACTUAL))
    assert smaller.bits.astype(int).tolist() == [[0, 0, 1], [0, 1, 1]]
    assert smaller.count.tolist() == [1, 1, 2]
    assert [(f.first_test, f.tests) for f in smaller.features] == [(0, 1), (1, 0), (1, 1), (2, 0), (2, 0)]
    assert lift(Split(1, Leaf(1), Split(0, Leaf(0), Leaf(1)))) == Split(2, Leaf(1), Split(0, Leaf(0), Leaf(1)))


def test_only_the_requested_reductions_are_made() -> None:
    problem = problem_of(BITS, ACTUAL)
    assert reduce(problem, rows=False)[0].rows == 4
    assert len(reduce(problem, tests=False)[0].tests) == 5


def test_features_distinguished_by_terms_are_not_merged() -> None:
    assert len(reduce(problem_of(BITS, ACTUAL, (ONE, Used(frozenset(range(5))))))[0].tests) == 4
    assert len(reduce(problem_of(BITS, ACTUAL, (ONE, terms.TestCost((1, 0, 0, 0, 0)))))[0].tests) == 3
    monotone = Bound(Sum(((ONE, Monotone(0, True, 1)),)), ">=", ONE)
    assert len(reduce(replace(problem_of(BITS, ACTUAL), bounds=(monotone,)))[0].tests) == 4


def test_rows_stay_where_leaves_hold_numbers() -> None:
    loss = Loss("squared", np.arange(4).reshape(4, 1), np.ones(4, dtype=np.int64))
    problem = replace(problem_of(BITS, ACTUAL), goals=(Goal(Sum(((ONE, loss),))),), classes=0)
    smaller, _ = reduce(problem)
    assert smaller.rows == 4
    assert len(smaller.tests) == 2


@pytest.mark.parametrize("shape", [(0, 4), (3, 1)])
def test_small_shapes(shape: tuple[int, int]) -> None:
    smaller, _ = reduce(problem_of(np.zeros(shape, dtype=bool), np.zeros(shape[1], dtype=np.int64)))
    assert len(smaller.tests) == 0
    assert smaller.rows == 1


@pytest.mark.parametrize("seed", range(30))
def test_rows_are_grouped_by_codes_as_by_answers(seed: int) -> None:
    """Columns with many cuts are compared by their codes, so that no answers have to be made."""
    random = np.random.default_rng(seed)
    rows, levels = 40, int(random.integers(2, 150))
    values = random.integers(0, levels, (2, rows))
    table = {"a": values[0].tolist(), "b": values[1].tolist(), "c": random.choice(list("xyz"), rows).tolist()}
    if seed % 3 == 0:
        table["a"] = [None if number % 5 == 0 else value for number, value in enumerate(table["a"])]
    text = "predict y column a : number, missing separate minimize errors require depth <= 2"
    labels = random.choice(["no", "yes"], rows).tolist()
    dataset, request = prepare(tml.Model.parse(text), {**table, "y": labels})
    problem = lower(dataset, request).form(numeric=True).problem
    fine = replace(problem)
    assert "bits" not in vars(fine)
    expected = np.unique(problem.bits.T, axis=0, return_inverse=True)[1].reshape(-1)
    found = row_groups(fine)
    pairs = set(zip(expected.tolist(), found.tolist(), strict=True))
    assert len(pairs) == len(set(expected.tolist())) == len(set(found.tolist()))
    by_codes, by_bits = reduce(fine, True, False)[0], reduce(problem, True, False)[0]
    assert np.array_equal(by_codes.bits, by_bits.bits)
    assert np.array_equal(by_codes.count, by_bits.count)


def test_bits_are_made_in_time_or_not_at_all() -> None:
    table = {"a": list(range(50)), "b": ["x", "y"] * 25, "y": ["no", "yes"] * 25}
    dataset, request = prepare(tml.Model.parse("predict y minimize errors require depth <= 2"), table)
    problem = lower(dataset, request).form(numeric=True).problem
    late, soon = replace(problem), replace(problem)
    assert not has_bits_in_time(late, lambda: True)
    assert "bits" not in vars(late)
    assert has_bits_in_time(soon, lambda: False)
    assert np.array_equal(soon.bits, problem.bits)


@pytest.mark.parametrize("rows", [50, 64, 130])
def test_packed_answers_are_the_bits(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_ROWS_AT_ONCE", 64)
    table = {"a": list(range(rows)), "b": ["x", "y"] * (rows // 2), "y": ["no", "yes"] * (rows // 2)}
    dataset, request = prepare(tml.Model.parse("predict y minimize errors require depth <= 2"), table)
    problem = lower(dataset, request).form(numeric=False).problem
    assert packed_in_time(problem, lambda: True) is None
    words = packed_in_time(problem, lambda: False)
    assert words is not None
    unpacked = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    assert np.array_equal(unpacked[:, :rows], problem.bits)
    assert not unpacked[:, rows:].any()
    assert packed_in_time(problem, lambda: True) is words
    forget_packed(problem)
    assert packed_in_time(problem, lambda: True) is None


def test_many_answers_reach_the_search_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    table = {f"x{i}": draw.integers(0, 6, 200).tolist() for i in range(4)}
    table["y"] = ((draw.random(200) < 0.2) ^ (np.array(table["x0"]) > np.array(table["x1"]))).astype(int).tolist()
    text = "predict y minimize errors require depth <= 2 solve with native(kernel = binary)"
    plain = tml.Model.parse(text).solve(table)
    monkeypatch.setattr(answers, "MOST_ANSWERS", 0)
    monkeypatch.setattr(Problem, "bits", property(lambda problem: pytest.fail("a byte for every answer")))
    packed = tml.Model.parse(text).solve(table)
    assert packed.status.value == plain.status.value == "optimal"
    assert packed.objective == plain.objective
