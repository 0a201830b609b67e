"""A tree built again from the root down: the greedy tree as far as the depth allows, compared with brute force."""

from __future__ import annotations

from functools import cache
from math import log2
from typing import Any

import numpy as np
import pytest
from deep_worlds import chain, labels_of, perfect, random_rows

from treeml.backends import registry
from treeml.backends.contract import Answer, Deadline, Limits, Status
from treeml.backends.improve.instance import Reach, whole_instance
from treeml.backends.improve.phases import DepthSearch
from treeml.backends.improve.rebuild import THOROUGH, Rebuild, TreeBuilder
from treeml.backends.improve.vertices import Vertex, grow, node_of, replace
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.problem.evaluate import Routed
from treeml.problem.problem import Problem
from treeml.problem.terms import Depth, Leaves, Support
from treeml.problem.tree import Leaf, Node
from treeml.testing.problems import binary, bound, errors, minimize

SEEDS = range(12)
EVERYTHING = Reach(100, lambda _: 10**6)


def many_classes(seed: int, rows: int = 24, tests: int = 5) -> tuple[Problem, list[int]]:
    """Three classes, no errors, the least depth."""
    texts, _ = random_rows(seed, rows, tests)
    random = np.random.default_rng(seed)
    actual = random.integers(0, 3, len(texts)).tolist()
    return binary(texts, 3, minimize(Depth()), (bound(errors(actual, 3), "<=", 0, "errors"),)), actual


def levels_needed(bits: np.ndarray, labels: np.ndarray) -> Any:
    """Brute force: rows -> the levels of their shallowest tree without an error."""

    @cache
    def least(rows: tuple[int, ...]) -> int:
        if len({int(labels[row]) for row in rows}) == 1:
            return 0
        found = 10**6
        for test in range(len(bits)):
            yes = tuple(row for row in rows if bits[test, row])
            no = tuple(row for row in rows if not bits[test, row])
            if yes and no:
                found = min(found, 1 + max(least(yes), least(no)))
        return found

    return least


def impurity(labels: np.ndarray) -> float:
    counts = np.bincount(labels)
    return -sum(int(count) * log2(count / len(labels)) for count in counts if count)


def check_every_split(node: Node, rows: tuple[int, ...], levels: int, bits: np.ndarray, labels: np.ndarray) -> None:
    """No test with a higher gain leaves both sides enough levels."""
    least = levels_needed(bits, labels)
    todo = [(node, rows, levels)]
    while todo:
        part, rows, levels = todo.pop()
        if isinstance(part, Leaf):
            assert len(set(labels[list(rows)])) == 1
            continue
        assert levels >= 1
        best, own = -1.0, None
        for test in range(len(bits)):
            yes = tuple(row for row in rows if bits[test, row])
            no = tuple(row for row in rows if not bits[test, row])
            if yes and no and max(least(yes), least(no)) <= levels - 1:
                gain = impurity(labels[list(rows)]) - impurity(labels[list(yes)]) - impurity(labels[list(no)])
                best = max(best, gain)
                if test == part.test:
                    own = gain
        assert own is not None, "the split that was chosen leaves too few levels"
        assert own == pytest.approx(best)
        todo.append((part.yes, tuple(row for row in rows if bits[part.test, row]), levels - 1))
        todo.append((part.no, tuple(row for row in rows if not bits[part.test, row]), levels - 1))


@pytest.mark.parametrize("extra", [0, 1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_split_has_the_highest_gain_that_the_depth_allows(seed: int, extra: int) -> None:
    problem, actual = many_classes(seed)
    labels = np.array(actual)
    rows = tuple(range(problem.rows))
    limit = levels_needed(problem.bits, labels)(rows) + extra
    start = grow(chain(problem, actual), problem, np.arange(problem.rows))
    made = plan(problem, registry.get("improve"))
    assert isinstance(made, Plan)
    known = run(made, start=node_of(start)).tree  # of the least depth, so that every limit can be met
    assert known is not None
    root = grow(known, problem, np.arange(problem.rows))
    instance = whole_instance(root, problem, labels.astype(np.int32), EVERYTHING)
    assert instance is not None
    built = TreeBuilder(instance, 10**6, 10**12, Deadline(), 1 << 29).built(limit)
    tree = instance.replacement(built)
    assert Routed(problem, tree).labels.tolist() == actual
    check_every_split(tree, rows, limit, problem.bits, labels)


def rebuilt(problem: Problem, root: Vertex, labels: list[int], reach: Reach = EVERYTHING) -> Vertex:
    search = Rebuild(problem, np.array(labels, dtype=np.int32), reach, 10.0, THOROUGH)
    while (found := search.next(root, Deadline())) is not None:
        old, new = found
        before = root.height, root.size
        root = replace(old, new)
        assert (root.height, root.size) != before
        assert root.height <= before[0]
        assert root.size < before[1] or root.height < before[0]
    assert search.is_over
    return root


@pytest.mark.parametrize("reach", [EVERYTHING, Reach(4, lambda _: 10), Reach(100, lambda _: 15)])
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_keep_their_classes_and_the_tree_is_no_deeper(seed: int, reach: Reach) -> None:
    problem = perfect(seed)
    labels = labels_of(problem)
    start = chain(problem, labels)
    depth = grow(start, problem, np.arange(problem.rows)).height
    root = rebuilt(problem, grow(start, problem, np.arange(problem.rows)), labels, reach)
    assert root.height <= depth
    assert Routed(problem, node_of(root)).labels.tolist() == labels


def improved(problem: Problem, start: Node, **options: Any) -> Answer:
    made = plan(problem, registry.get("improve"), options)
    assert isinstance(made, Plan), made
    return run(made, Limits(options=options), start)


def test_of_trees_of_one_depth_one_with_fewer_leaves_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = [perfect(seed, rows=60) for seed in SEEDS]
    with_fewer = [improved(problem, chain(problem, labels_of(problem))) for problem in problems]
    whole = DepthSearch.__post_init__

    def alone(self: DepthSearch) -> None:
        self.rebuild = None
        whole(self)

    monkeypatch.setattr(DepthSearch, "__post_init__", alone)
    without = [improved(problem, chain(problem, labels_of(problem))) for problem in problems]
    sizes = []
    for problem, one, other in zip(problems, with_fewer, without, strict=True):
        assert one.status is other.status is Status.LOCAL
        assert one.objective == other.objective
        assert one.tree is not None
        assert other.tree is not None
        assert Routed(problem, one.tree).labels.tolist() == labels_of(problem)
        sizes.append([int(Leaves().value(Routed(problem, tree))) for tree in (one.tree, other.tree)])
    smaller, larger = np.array(sizes).sum(axis=0)
    assert smaller < larger


def test_a_deep_start_is_built_again_in_one_round() -> None:
    problem = perfect(3, rows=60)
    start = chain(problem, labels_of(problem))
    answer = improved(problem, start, rounds=1)
    assert answer.tree is not None
    before, after = (grow(tree, problem, np.arange(problem.rows)) for tree in (start, answer.tree))
    assert after.height < before.height
    assert after.size < before.size


@pytest.mark.parametrize("seed", SEEDS)
def test_leaves_that_would_be_too_small_are_refused(seed: int) -> None:
    """The fewest rows of a leaf are a requirement on the whole tree, which a rebuilt tree can break."""
    problem = perfect(seed)
    labels = labels_of(problem)
    root = grow(chain(problem, labels), problem, np.arange(problem.rows))
    smallest = min(len(vertex.rows) for vertex in root.below() if vertex.is_leaf)
    limited = problem.asking(problem.goals, (*problem.bounds, bound(Support(), ">=", smallest, "support")))
    answer = improved(limited, node_of(root))
    assert answer.tree is not None
    routed = Routed(limited, answer.tree)
    assert min(len(rows) for _, _, rows in routed.leaves) >= smallest


@pytest.mark.parametrize("features", ["tree", "support"])
def test_with_fewer_tests_the_tree_is_not_built_again(features: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("a rebuilt tree may use any test")

    monkeypatch.setattr(Rebuild, "next", never)
    problem = perfect(1, rows=18, tests=5)
    assert improved(problem, chain(problem, labels_of(problem)), features=features).tree is not None


def test_no_time_builds_nothing() -> None:
    problem = perfect(2)
    labels = labels_of(problem)
    root = grow(chain(problem, labels), problem, np.arange(problem.rows))
    search = Rebuild(problem, np.array(labels, dtype=np.int32), EVERYTHING, 10.0, THOROUGH)
    assert search.next(root, Deadline(0.0)) is None
    assert not search.is_over
