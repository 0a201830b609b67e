"""The native search for shallow trees: its proofs and its trees against the oracle, its limits, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from deep_worlds import chain, labels_of, perfect, random_rows

from treeml.backends.contract import Status
from treeml.backends.improve.vertices import flat_of, grow, node_of_flat
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.native.shallow import FOUND, MEMORY, MISSED, NONE, WORK, FlatShallowTree, Shallow
from treeml.problem.tree import Leaf, Node, Split


def depth_of(node: Node) -> int:
    return 0 if isinstance(node, Leaf) else 1 + max(depth_of(node.yes), depth_of(node.no))


def predict(node: Node, column: np.ndarray) -> int:
    while isinstance(node, Split):
        node = node.yes if column[node.test] else node.no
    return node.label


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("guided", [False, True])
def test_the_least_depth_is_the_oracles(seed: int, guided: bool) -> None:
    problem = perfect(seed, rows=14, tests=5)
    labels = np.array(labels_of(problem), dtype=np.int32)
    made = plan(problem, OracleBackend())
    assert isinstance(made, Plan)
    truth = run(made)
    guide = flat_of(grow(chain(problem, labels.tolist()), problem, np.arange(problem.rows))) if guided else None
    with Shallow(problem.bits, labels, [0, 0], guide) as solver:
        answers = [solver.search(depth) for depth in range(6)]
        if truth.status is Status.INFEASIBLE:
            assert set(answers) == {NONE}
            return
        assert truth.objective is not None
        least = int(truth.objective[0])
        assert answers == [NONE] * least + [FOUND] * (6 - least)
        assert solver.search(least) == FOUND
        tree = node_of_flat(solver.tree())
    assert depth_of(tree) == least
    assert [predict(tree, problem.bits[:, row]) for row in range(problem.rows)] == labels.tolist()


@pytest.mark.parametrize("seed", range(12))
def test_weights_are_levels_below_a_leaf(seed: int) -> None:
    """Every pure leaf of class c may lie at depth - weight[c] at most; checked by trying all trees."""
    texts, labels = random_rows(seed, rows=8, tests=4)
    bits = np.array([[text[t] == "1" for text in texts] for t in range(4)])
    weights = (0, 2)

    def possible(rows: frozenset[int], depth: int) -> bool:
        classes = {labels[row] for row in rows}
        if len(classes) == 1:
            return weights[classes.pop()] <= depth
        sides = [
            (frozenset(r for r in rows if bits[t][r]), frozenset(r for r in rows if not bits[t][r])) for t in range(4)
        ]
        return depth > 0 and any(
            yes and no and possible(yes, depth - 1) and possible(no, depth - 1) for yes, no in sides
        )

    with Shallow(bits, np.array(labels, dtype=np.int32), weights) as solver:
        for depth in range(7):
            expected = possible(frozenset(range(len(labels))), depth)
            assert (solver.search(depth) == FOUND) == expected


def test_equal_and_opposite_tests_and_many_rows_are_packed_soundly() -> None:
    random = np.random.default_rng(5)
    base = random.random((12, 700)) < 0.5
    bits = np.concatenate([base, ~base, base, np.ones((1, 700), bool)])
    labels = (base[0] ^ base[1] ^ (base[2] & base[3])).astype(np.int32)
    with Shallow(bits, labels, [0, 0]) as solver:
        assert solver.search(2) == NONE
        assert solver.search(4) == FOUND
        tree = node_of_flat(solver.tree())
    assert depth_of(tree) <= 4
    assert [predict(tree, bits[:, row]) for row in range(700)] == labels.tolist()


def test_more_slack_finds_trees_that_less_slack_misses() -> None:
    """Two parities: no test alone gains anything, so the first choice is a guess."""
    rows = np.arange(64)
    bits = np.array([(rows >> t) & 1 == 1 for t in range(6)])
    labels = ((rows >> 4 & 1) ^ (rows >> 5 & 1) ^ (rows >> 3 & 1)).astype(np.int32)
    with Shallow(bits, labels, [0, 0]) as solver:
        assert solver.search(3, slack=0) in (MISSED, FOUND)
        assert solver.search(3) == FOUND
        assert solver.search(2) == NONE


def test_limits_end_the_search() -> None:
    random = np.random.default_rng(1)
    bits = random.random((60, 300)) < 0.5
    labels = random.integers(0, 2, 300).astype(np.int32)
    with Shallow(bits, labels, [0, 0]) as solver:
        assert solver.search(7, work=1000) == WORK
        assert solver.search(7, seconds=0.0, work=10**12) == WORK
    with Shallow(bits, labels, [0, 0], memory=500_000) as small:
        assert small.search(6, work=10**11) == MEMORY
    with pytest.raises(MemoryError):
        Shallow(bits, labels, [0, 0], memory=1000)


def test_input_that_makes_no_sense_is_refused() -> None:
    bits = np.zeros((1, 2), dtype=bool)
    with pytest.raises(MemoryError):
        Shallow(bits, np.array([0, 5], dtype=np.int32), [0, 0])
    loop = FlatShallowTree(*(np.array(part, dtype=np.int32) for part in ([0, -1], [0, -1], [1, -1], [-1, 0])))
    with pytest.raises(MemoryError):
        Shallow(bits, np.array([0, 1], dtype=np.int32), [0, 0], loop)
