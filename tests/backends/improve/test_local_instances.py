"""Local instances: new classes, weights, safety, replacement, and support sets, against their definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from deep_worlds import chain, labels_of, perfect

from treeml.backends.improve import support
from treeml.backends.improve.inner import current_tree, local_problem
from treeml.backends.improve.instance import LocalInstance, Reach, cut_instance, whole_instance
from treeml.backends.improve.limits import SETS, reach_of
from treeml.backends.improve.vertices import Vertex, deepest_path, flat_of, grow, node_of, node_of_flat, replace
from treeml.native.shallow import FOUND, Shallow
from treeml.problem.evaluate import Routed
from treeml.problem.problem import Problem

SEEDS = range(12)
FAR = Reach(100, lambda _: 10_000)


def world(seed: int) -> tuple[Problem, Vertex, np.ndarray]:
    problem = perfect(seed)
    labels = labels_of(problem)
    return problem, grow(chain(problem, labels), problem, np.arange(problem.rows)), np.array(labels, dtype=np.int32)


@pytest.mark.parametrize("seed", SEEDS)
def test_vertices_flat_trees_and_nodes_convert_into_each_other(seed: int) -> None:
    _, root, _ = world(seed)
    node = node_of(root)
    assert node_of_flat(flat_of(root)) == node
    assert root.height == len(deepest_path(root)) - 1
    assert root.size == sum(vertex.is_leaf for vertex in root.below())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("reduction", ["none", "tree", "support"])
def test_cut_leaves_are_classes_of_their_own_and_growing_by_height_is_safe(seed: int, reduction: str) -> None:
    problem, root, classes = world(seed)
    for levels in (1, 2, 3, 5):
        instance = cut_instance(root, problem, classes, Reach(levels, lambda _: 10_000), reduction, False)
        assert instance is not None
        assert instance.depth <= levels
        assert instance.weighted_depth == root.height
        assert instance.is_safe
        check_classes(instance)
        # What hangs below a class is as high as its weight.
        for weight, below in zip(instance.weights, instance.below, strict=True):
            assert grow(below, problem, root.rows).height <= weight


def check_classes(instance: LocalInstance) -> None:
    """Rows that agree on all tests have one class; the support of the classes is kept."""
    assert support.supports(instance.bits, instance.labels)
    assert len(support.distinct_rows(instance.bits)) <= len(instance.rows)
    assert set(instance.labels.tolist()) == set(range(len(instance.weights)))


def test_a_subtree_is_safe_only_if_its_depth_alone_decides() -> None:
    problem, root, classes = world(0)
    made = cut_instance(root, problem, classes, Reach(3, lambda _: 10_000), "tree", False)
    assert made is not None
    heavy = LocalInstance(
        made.root, made.rows, made.tests, made.bits, made.labels, (made.weighted_depth, *made.weights[1:]), made.below,
        made.guide, made.depth, made.weighted_depth, made.is_whole,
    )  # fmt: skip
    assert made.is_safe
    assert not heavy.is_safe


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("reduction", ["none", "tree", "support"])
def test_a_tree_for_the_instance_takes_the_subtrees_place(seed: int, reduction: str) -> None:
    """Theorems 1 and 2: rows keep their classes, and no weighted depth less means no depth more."""
    problem, root, classes = world(seed)
    instance = cut_instance(root, problem, classes, Reach(4, lambda _: 10_000), reduction, False)
    assert instance is not None
    with Shallow(instance.bits, instance.labels, instance.weights, instance.guide) as solver:
        depth = next(d for d in range(100) if solver.search(d, work=10**7) == FOUND)
        new = grow(instance.replacement(solver.tree()), problem, root.rows)
    assert new.height <= depth
    assert Routed(problem, node_of(new)).labels.tolist() == classes.tolist()
    assert depth <= instance.weighted_depth or reduction == "support"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("reduction", ["none", "tree"])
def test_the_subtree_itself_is_a_tree_for_its_instance(seed: int, reduction: str) -> None:
    """Solvers start from it, so its leaves have the classes of the instance and not those of the problem."""
    problem, root, classes = world(seed)
    for vertex in deepest_path(root)[:-1]:
        for levels in (1, 3, 5):
            instance = cut_instance(vertex, problem, classes, Reach(levels, lambda _: 10_000), reduction, False)
            assert instance is not None
            tree = current_tree(instance)
            assert tree is not None
            routed = Routed(local_problem(instance, instance.depth, instance.weights), tree)
            assert routed.labels.tolist() == instance.labels.tolist()


def test_a_subtree_out_of_reach_makes_no_instance() -> None:
    problem, root, classes = world(1)
    assert whole_instance(root, problem, classes, FAR) is not None
    assert whole_instance(root, problem, classes, Reach(2, lambda _: 10_000)) is None
    assert whole_instance(root, problem, classes, Reach(100, lambda _: 5)) is None
    assert whole_instance(root, problem, classes, Reach(100, lambda _: 10_000, cells=10)) is None
    assert cut_instance(root, problem, classes, Reach(100, lambda _: 1), "tree", False) is None


def test_replacing_changes_heights_above_and_nothing_else() -> None:
    problem, root, _ = world(2)
    path = deepest_path(root)
    vertex = path[len(path) // 2]
    again = grow(node_of(vertex), problem, vertex.rows)
    before = node_of(root)
    assert replace(vertex, again) is root
    assert node_of(root) == before
    other = replace(root, grow(before, problem, root.rows))
    assert other is not root
    assert other.parent is None


@pytest.mark.parametrize("seed", SEEDS)
def test_support_sets_support_and_cannot_lose_a_test(seed: int) -> None:
    problem = perfect(seed)
    labels = np.array(labels_of(problem), dtype=np.int32)
    bits = problem.bits

    def by_pairs(tests: np.ndarray) -> bool:
        kept = bits[tests]
        return all(
            labels[a] == labels[b] or bool((kept[:, a] != kept[:, b]).any())
            for a, b in combinations(range(len(labels)), 2)
        )

    deleted, added, least = (
        find(bits, labels) for find in (support.by_deletion, support.by_addition, support.smallest)
    )
    assert deleted is not None
    assert added is not None
    assert least is not None
    for tests in (deleted, added, least):
        assert support.supports(bits[tests], labels)
        assert by_pairs(tests)
    for test in deleted:
        assert not by_pairs(deleted[deleted != test])
    assert len(least) == min(len(deleted), len(added))
    assert support.supports(bits[:3], labels) == by_pairs(np.arange(3))


def test_deletion_works_on_thousands_of_tests() -> None:
    generator = np.random.default_rng(4)
    bits = generator.random((3000, 60)) < 0.5
    labels = (bits[0] ^ bits[1]).astype(np.int32)
    found = support.by_deletion(bits, labels)
    assert found is not None
    assert support.supports(bits[found], labels)
    assert all(not support.supports(bits[found[found != test]], labels) for test in found)


def test_contradictory_rows_have_no_support_set() -> None:
    bits = np.array([[True, True, False]])
    labels = np.array([0, 1, 1], dtype=np.int32)
    assert not support.supports(bits, labels)
    assert support.by_deletion(bits, labels) is None
    assert support.by_addition(bits, labels) is None
    assert support.smallest(bits, labels) is None


@pytest.mark.parametrize("name", SETS)
def test_the_papers_limits_fall_with_depth(name: str) -> None:
    deepest, most, least = SETS[name]
    reach = reach_of(name)
    rows = [reach.rows(depth) for depth in range(1, deepest + 1)]
    assert (reach.depth, rows[0], rows[-1]) == (deepest, most, least)
    assert rows == sorted(rows, reverse=True)
    assert reach_of(name, 4, 33).rows(20) == 33
    assert reach_of(name, 4, 33).depth == 4
