"""The cover hyperflow: its definition, what it can express, and its size; `cover_tables` computes its tables.

A state (k, Q) is the set Q of rows that reach a node at depth k; paths that cover the same rows share a state. A tree
is a unit of flow from the root state (0, all rows) that every split divides in two:

    lam[S, c]          S is a leaf that predicts c
    b[S, j]            S, at depth k <= d - 2, is split by test j into two states of depth k + 1
    v[S, j, c1, c0]    S, at depth d - 1, is split by test j into a leaf c1 (yes) and a leaf c0 (no)

    sum_c lam[root, c] + sum_j b[root, j] (+ v)  =  1
    sum_c lam[S, c] + sum_j b[S, j] (+ v)  =  sum of b[R, j] over the arcs of which S is a side        every other S

The two sides of a split share no rows, so without coupling rows the linear relaxation is integral (Martin, Rardin and
Campbell 1990): it is the dynamic program over trees. Every linear quantity of a tree is a row over the
columns: a leaf carries the sums of the costs of its rows, a split the price of its test, both of every form. Tests that
split a state identically share a column, unless the use of their features counts. Conditions on leaves remove columns.

    used        u[f] >= b[S, j], v[S, j, ..] for every test j of f;   u[f] <= their sum
    depth       D[k] >= every split at depth k - 1;                   D[k] <= their sum
    largest     t >= every part;  t <= part + M (1 - y[part]);  sum of y = 1
    test costs  the features already paid for are part of a state, so a split knows whether its test is new

If nothing couples the subtrees (one additive goal, at most a minimum support), states end at depth d - 2, and lam[S]
costs as much as the best tree of depth two on S, which is counted exactly ("pairs"). A `whole` cover, which is written
to a file or solved without presolve, continues to depth d - 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.task.integer_task import Form, IntegerTask, parts_of
from treeml.backends.task.unsupported import Unsupported
from treeml.native import cover as native
from treeml.problem.magnitudes import added
from treeml.problem.problem import Problem
from treeml.problem.terms import Loss
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]

NEVER = 2**60  # the price of a leaf or split that is not allowed


@dataclass(frozen=True, eq=False, slots=True)
class Cover:
    """States, arcs, and the amounts that leaves and splits add to every form.

    Axis 0 of the tables is the form: the goal, then `row_forms`, then one form per condition on some leaf, which counts
    the leaves that meet it.
    """

    states: native.States
    tests: NDArray[np.int32]  # the tests used here, by their number in the problem
    feature: NDArray[np.int32]  # the features of those tests
    labels: int
    labeled: bool  # do leaves predict classes?
    last: int  # first state of the last level
    splits_last: bool  # are states of the last level split into leaves?
    forms: tuple[Form, ...]
    leaf: Whole  # forms x states x labels
    leaf_allowed: Bits  # states x labels
    yes: Whole  # forms x last states x tests x labels
    no: Whole
    yes_allowed: Bits  # last states x tests x labels
    no_allowed: Bits
    arc_price: Whole  # forms x arcs: test costs
    bottom_price: Whole  # forms x last states x tests
    pairs: tuple[Whole, NDArray[np.int32]] | None  # cost and tests of the best depth-2 tree on every last state
    rounded: bool  # were real losses rounded down?
    offset: int  # added to the goal

    @property
    def level_of_state(self) -> Whole:
        starts = self.states.level_start
        return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def pair_tree(cover: Cover, state: int) -> Node:
    """The best tree of depth two on a state, with leaves that have no label yet."""
    assert cover.pairs is not None
    root, yes, no = (int(test) for test in cover.pairs[1][state - cover.last])

    def side(test: int) -> Node:
        return Leaf(-1) if test < 0 else Split(int(cover.tests[test]), Leaf(-1), Leaf(-1))

    return Leaf(-1) if root < 0 else Split(int(cover.tests[root]), side(yes), side(no))


def couples(task: IntegerTask) -> bool:
    """Does the task have more than one sum over leaves, so that subtrees depend on each other?"""
    forms = [item for item in task.requirements if item.low is not None or item.high is not None]
    some = any(rule.some for rule in task.leaf_rules)
    return bool(forms) or some or bool(task.monotone) or not task.goal.additive


def prices_pairs(task: IntegerTask, whole: bool = False) -> bool:
    """Are subtrees of depth two precomputed?"""
    if whole:
        return False
    goal = task.goal
    plain = goal.additive and not (goal.test_costs or goal.losses) and goal.leaves >= 0
    only_support = all(rule.kind == "support" and not rule.some for rule in task.leaf_rules)
    return task.depth >= 2 and plain and only_support and not couples(task)


def check_cover(problem: Problem, task: IntegerTask, whole: bool = False) -> None:
    """Raises Unsupported if the tables would hold too large numbers, or if there are too many classes.

    No set of rows has a larger loss than all rows together, so the cost of a single leaf bounds every entry.
    """
    if prices_pairs(task, whole) and problem.classes > 64:
        raise Unsupported("more than 64 classes", "depth-2 subtrees are counted for at most 64")
    for form in (task.goal, *row_forms(task)):
        total = Fraction(0)
        for factor, loss in form.losses:
            if loss.kind == "squared":
                moved_targets(loss, problem.rows)
                if factor < 0:
                    raise Unsupported(
                        "maximizing a squared loss", "it is rounded down, which is safe only if it is minimized"
                    )
            else:
                total += abs(factor) * _spread(loss)
                if _sides(loss) >= 2**61:
                    raise Unsupported("targets of this size", "they pass whole numbers of 64 bits", "round them")
        if form.predicted is not None:
            total += int(np.abs(form.predicted).max(axis=1, initial=0).sum())
        total += int(problem.count.sum()) * sum(abs(cost) for cost in form.test_costs.values())
        if total >= NEVER // 64 or (2**task.depth) * abs(form.leaves) >= NEVER // 64:
            raise Unsupported(
                "numbers of this size", "their sum is beyond what solvers handle exactly", "round targets or weights"
            )


def _spread(loss: Loss) -> int:
    """An upper bound on the absolute loss of a single leaf, or on its quantile loss times the denominator."""
    weight = [int(w) for w in loss.weight]
    side = 1 if loss.kind == "absolute" else max(loss.level.numerator, loss.level.denominator - loss.level.numerator)
    total = 0
    for output in range(loss.targets.shape[1]):
        values = [int(value) for value in loss.targets[:, output]]
        middle = sorted(values)[len(values) // 2] if values else 0
        total += sum(w * abs(value - middle) for w, value in zip(weight, values, strict=True))
    return side * total


def _sides(loss: Loss) -> int:
    """What the weight of all rows, and the distance of any two, come to in steps of the level."""
    levels = 2 if loss.kind == "absolute" else loss.level.denominator
    reach = max((int(own.max()) - int(own.min()) for own in loss.targets.T if len(own)), default=0)
    return levels * max(reach, added(loss.weight))


def estimate_states(tests: int, levels: int) -> int:
    """An upper bound on the number of states on levels 0 .. levels - 1."""
    return sum(comb(tests, k) << k for k in range(max(1, levels)))


def estimate_cells(problem: Problem, task: IntegerTask, whole: bool = False) -> int:
    """An upper bound on the numbers in the tables: the time to build them, and, times eight, the memory."""
    tests, labels = len(problem.tests), max(1, problem.classes)
    words = -(-problem.rows // 64)
    if prices_pairs(task, whole):
        return estimate_states(tests, task.depth - 1) * (words + labels) + tests * tests * labels
    states = estimate_states(tests, task.depth)
    return states * (words + tests * labels * (len(task.requirements) + 1) * 2)


def row_forms(task: IntegerTask) -> tuple[Form, ...]:
    """The forms of the requirements, with the forms inside a maximum."""
    found: list[Form] = []
    for part in parts_of(task.goal):
        if part is not task.goal:
            found.append(part)
    for requirement in task.requirements:
        found.extend(parts_of(requirement.form))
    return tuple(found)


def moved_targets(loss: Loss, rows: int) -> Whole:
    """The targets minus their mean; raises Unsupported if their squares are too large."""
    outputs = loss.targets.shape[1]
    weight = loss.weight.astype(np.int64)
    total = max(1, int(weight.sum()))
    centers = [sum(int(w) * int(y) for w, y in zip(weight, loss.targets[:, o], strict=True)) // total
               for o in range(outputs)]  # fmt: skip
    moved = loss.targets - np.array(centers, np.int64)
    if int(weight.max(initial=0)) * int(np.abs(moved).max(initial=0)) ** 2 * max(1, rows) * outputs >= 2**62:
        raise Unsupported("targets of this size", "their squares do not fit in 64-bit integers", "round them")
    return moved


def cover_work(problem: Problem, task: IntegerTask, whole: bool = False) -> int:
    """Steps of counting: pairs of tests by words of rows, or rows by tests, for every state."""
    tests = len(problem.tests)
    if prices_pairs(task, whole):
        each = 1 + problem.rows // 64 + 8 * max(1, problem.classes)
        return estimate_states(tests, task.depth - 1) * tests * tests * each // 2
    forms = 1 + len(task.requirements)
    return estimate_states(tests, task.depth) * tests * problem.rows * max(1, problem.classes) * forms // 16


def is_whole(options: Mapping[str, Any]) -> bool:
    """Is the cover written to a file, or solved without presolve? Then depth-2 subtrees are not precomputed."""
    return bool(options.get("write")) or not options.get("presolve", True)
