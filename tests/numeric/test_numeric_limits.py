"""Deadlines, interrupts, progress, starting trees, limits on values and memory, and failing allocations."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from numeric_brute import random_case

from treeml.native.numeric import FlatThresholdTree, NumericSolver, Outcome


def hard(rows: int = 4000, columns: int = 12, depth: int = 4) -> NumericSolver:
    """Random data, for which nothing can be proved in a short time."""
    random = np.random.default_rng(0)
    codes = np.array([random.permutation(rows) for _ in range(columns)], dtype=np.int32)
    solver = NumericSolver(codes)
    solver.labels(random.integers(0, 2, rows), 2)
    solver.set(depth=depth)
    return solver


def test_a_deadline_leaves_a_tree_and_a_true_bound() -> None:
    solver = hard()
    solver.set(microseconds=200_000)
    outcome = solver.solve()
    assert outcome.status == "feasible"
    assert outcome.stop == "time"
    assert outcome.value is not None
    assert 0 <= outcome.bound <= outcome.value
    assert outcome.tree is not None


def test_no_time_at_all() -> None:
    solver = hard()
    solver.set(microseconds=0)
    outcome = solver.solve()
    assert outcome.stop == "time"
    assert outcome.tree is not None


@pytest.mark.parametrize("threads", [1, 3])
def test_progress_never_gets_worse(threads: int) -> None:
    seen: list[tuple[int | None, int]] = []

    def watch(_seconds: float, value: int | None, bound: int) -> bool:
        seen.append((value, bound))
        return len(seen) < 12

    solver = hard()
    solver.set(poll_milliseconds=5, threads=threads)
    outcome = solver.solve(watch)
    assert outcome.stop == "interrupted"
    values = [value for value, _ in seen if value is not None]
    assert values == sorted(values, reverse=True)
    assert [bound for _, bound in seen] == sorted(bound for _, bound in seen)
    assert all(value is None or bound <= value for value, bound in seen)


def test_the_best_tree_so_far_has_the_value_that_is_reported() -> None:
    """Codes with gaps, a constant column and equal ones: the tree is in the columns and codes of the caller."""
    random = np.random.default_rng(4)
    distinct = np.array([7 * random.permutation(3000) + 5 for _ in range(6)], dtype=np.int32)
    codes = np.vstack([np.full((1, 3000), 3, dtype=np.int32), distinct[:1], distinct])
    labels, seen = random.integers(0, 3, 3000), 0
    solver = NumericSolver(codes)
    solver.labels(labels, 3)
    solver.set(depth=4, poll_milliseconds=5)

    def errors(tree: FlatThresholdTree, node: int, rows: Any) -> int:
        if tree.column[node] < 0:
            return int(np.count_nonzero(labels[rows] != tree.label[node]))
        goes = codes[tree.column[node], rows] <= tree.cut[node]
        return errors(tree, tree.yes[node], rows[goes]) + errors(tree, tree.no[node], rows[~goes])

    def watch(_seconds: float, value: int | None, _bound: int) -> bool:
        nonlocal seen
        tree = solver.best_tree()
        if value is not None:
            assert tree is not None
            assert errors(tree, 0, np.arange(3000)) == value
            seen += 1
        return seen < 5

    outcome = solver.solve(watch)
    assert seen
    assert outcome.tree is not None
    assert errors(outcome.tree, 0, np.arange(3000)) == outcome.value


def random_tree(random: np.random.Generator, codes: Any, depth: int) -> FlatThresholdTree:
    """Splits at random, some of them useless, down to this depth."""
    column, cut, yes, no = [], [], [], []

    def add(left: int) -> int:
        node = len(column)
        is_split = left > 0 and random.random() < 0.9
        column.append(int(random.integers(len(codes))) if is_split else -1)
        cut.append(int(random.integers(-1, codes.max() + 2)))
        yes.append(-1)
        no.append(-1)
        if is_split:
            yes[node], no[node] = add(left - 1), add(left - 1)
        return node

    add(depth)
    return FlatThresholdTree(column, cut, yes, no, [0] * len(column))


@pytest.mark.parametrize("seed", range(40))
def test_proposed_trees_change_no_optimum(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, depth = int(random.integers(100, 400)), 3
    codes = random.integers(0, int(random.integers(10, 300)), (int(random.integers(2, 5)), rows)).astype(np.int32)
    labels, weight = random.integers(0, 2 + seed % 2, rows), random.integers(0, 4, rows)
    support, leaves = int(random.integers(1, 4)), int(random.choice([5, 8]))

    def solver() -> NumericSolver:
        made = NumericSolver(codes)
        made.labels(labels, 3, weight)
        made.set(depth=depth, support=support, leaves=leaves, poll_milliseconds=1, threads=1 + 2 * (seed % 5 == 0))
        return made

    def solved_with(propose: Callable[[], FlatThresholdTree]) -> Outcome:
        again = solver()
        return again.solve(lambda *_: again.propose(propose()))

    alone = solver().solve()
    assert alone.tree is not None
    best = alone.tree
    # trees at random, some of them too deep or too large; then the optimum itself
    for found in (solved_with(lambda: random_tree(random, codes, depth + 1)), solved_with(lambda: best)):
        assert (found.status, found.value, found.bound) == (alone.status, alone.value, alone.bound)


def test_a_proposed_tree_is_the_answer_if_it_is_best() -> None:
    """The best tree of a long search, proposed to a short one that would not find it."""
    long, short = hard(rows=800, columns=6), hard(rows=800, columns=6)
    long.set(microseconds=1_000_000)
    best = long.solve()
    assert best.tree is not None
    assert best.value is not None
    tree, seen = best.tree, 0

    def watch(_seconds: float, _value: int | None, _bound: int) -> bool:
        nonlocal seen
        seen += 1
        short.propose(tree)
        return seen < 20

    short.set(poll_milliseconds=1, greedy=0)
    found = short.solve(watch)
    assert found.value is not None
    assert found.value <= best.value


def test_an_exception_of_the_watcher_comes_out() -> None:
    def watch(_seconds: float, _value: int | None, _bound: int) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        hard().solve(watch)


def test_ctrl_c_in_the_watcher_keeps_the_best_tree() -> None:
    def watch(_seconds: float, value: int | None, _bound: int) -> bool:
        if value is not None:
            raise KeyboardInterrupt
        return True

    outcome = hard().solve(watch)
    assert outcome.stop == "interrupted"
    assert outcome.tree is not None


def test_two_solves_on_one_object() -> None:
    case = random_case(Random(4), rows=12)
    solver = case.solver()
    assert solver.solve() == solver.solve()


def test_a_start_is_never_lost() -> None:
    """With no time to search, the answer is at least as good as the start."""
    codes = np.array([[0, 1, 2, 3], [5, 5, 9, 9], [1, 1, 1, 1], [0, 0, 4, 4]], dtype=np.int32)
    solver = NumericSolver(codes)
    solver.labels(np.array([0, 0, 1, 0]), 2)
    solver.set(depth=2, microseconds=0, greedy=0)
    assert solver.solve().value == 1
    # Column 3 equals column 1 and is merged with it; column 2 is constant and sends all rows to `no`.
    solver.start(
        FlatThresholdTree(
            [2, -1, 3, -1, 0, -1, -1], [0, 0, 3, 0, 2, 0, 0], [1, -1, 3, -1, 5, -1, -1], [2, -1, 4, -1, 6, -1, -1], []
        )
    )
    assert solver.solve().value == 0


def test_a_start_that_is_not_a_tree_is_refused() -> None:
    solver = NumericSolver(np.array([[0, 1]], dtype=np.int32))
    with pytest.raises(ValueError, match="node 0 of the tree"):
        solver.start(FlatThresholdTree([0], [0], [0], [0], []))


def test_upper_and_enough() -> None:
    codes = np.arange(8, dtype=np.int32)[None, :]
    solver = NumericSolver(codes)
    solver.labels(np.array([0, 1, 0, 1, 0, 1, 0, 1]), 2)
    solver.set(depth=2)
    least = solver.solve().value
    assert least == 2
    solver.set(upper=2)
    assert solver.solve().status == "infeasible"
    solver.set(upper=3)
    assert solver.solve().value == 2
    solver.set(upper=2**63 - 1, enough=5)
    outcome = solver.solve()
    assert outcome.value is not None
    assert outcome.value < 5


def test_memory_limit() -> None:
    solver = hard(rows=20000, columns=20)
    solver.set(memory=6_000_000)
    outcome = solver.solve()
    assert outcome.stop == "memory"
    assert outcome.tree is not None
    solver.set(memory=1 << 16)
    try:
        assert solver.solve().stop == "memory"
    except MemoryError as error:
        assert "memory" in str(error)  # noqa: PT017


@pytest.mark.parametrize("seed", range(6))
def test_any_allocation_may_fail(seed: int) -> None:
    case = random_case(Random(1000 + seed), rows=25, columns=4, depth=4)
    solver = case.solver()
    wanted = solver.solve()
    number = 1
    while number < 3000:
        solver.set(fail_allocation=number)
        try:
            outcome = solver.solve()
        except MemoryError:
            number += 1 + number // 8
            continue
        if outcome.status == "optimal":
            assert outcome.value == wanted.value
        elif outcome.value is not None and wanted.value is not None:
            assert outcome.bound <= wanted.value <= outcome.value
        number += 1 + number // 8
    solver.set(fail_allocation=0)
    assert solver.solve() == wanted


@pytest.mark.parametrize("seed", range(3))
def test_a_greedy_tree_that_no_memory_ended_guides_no_other_tree(seed: int) -> None:
    random = np.random.default_rng(seed)
    solver = NumericSolver(random.integers(0, 12, (2, 60)).astype(np.int32))
    solver.costs(random.integers(-3, 9, (60, 2)))
    solver.set(depth=4)
    wanted = solver.solve().value
    assert wanted is not None
    for number in range(60, 140):  # the allocations of the first trees
        solver.set(fail_allocation=number)
        outcome = solver.solve()
        assert outcome.value is not None
        assert outcome.bound <= wanted <= outcome.value
