"""Problem -> the tables of the cover hyperflow.

A state (k, Q) is the set Q of rows that reach a node at depth k; paths that cover the same rows share a state. A tree
is a unit of flow from the root state (0, all rows) that every split divides in two:

    lam[S, c]          S is a leaf that predicts c
    b[S, j]            S, at depth k <= d - 2, is split by test j into two states of depth k + 1
    v[S, j, c1, c0]    S, at depth d - 1, is split by test j into a leaf c1 (yes) and a leaf c0 (no)

    sum_c lam[root, c] + sum_j b[root, j] (+ v)  =  1
    sum_c lam[S, c] + sum_j b[S, j] (+ v)  =  sum of b[R, j] over the arcs of which S is a side        every other S

A side of a split never holds rows of the other, so without further rows the linear relaxation is integral (Martin,
Rardin and Campbell 1990): it is the dynamic program of the tree. Every linear quantity of a tree is a row over the
columns: a leaf carries the sums of the costs of its rows, a split the price of its test, both of every form. Tests that
split a state alike are one column, unless the use of their features is counted. Conditions on leaves remove columns.

    used        u[f] >= b[S, j], v[S, j, ..] for every test j of f;   u[f] <= their sum
    depth       D[k] >= every split at depth k - 1;                   D[k] <= their sum
    largest     t >= every part;  t <= part + M (1 - y[part]);  sum of y = 1
    test costs  the features already paid for are part of a state, so a split knows whether its test is new

Where nothing couples the subtrees (one additive goal, at most a least support), states end at depth d - 2, and lam[S]
costs what the best tree of depth two on S costs, counted exactly ("pairs").
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Deadline, Leaf, Loss, Node, Problem, Split
from treeml.backends.encodings.asked import Asked, Form, LeafRule, Unsupported, parts_of
from treeml.native import cover as native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]

NO_DEADLINE = Deadline()
MOST_BYTES = 8 * 2**30  # where no limit on memory is given
NEVER = 2**60  # the price of what is not allowed


@dataclass(frozen=True, eq=False, slots=True)
class Cover:
    """States, arcs, and what leaves and splits add to every form.

    Axis 0 of tables is the form: the goal, then those of `row_forms`, then one per condition on some leaf, which counts
    the leaves that meet it.
    """

    states: native.States
    tests: NDArray[np.int32]  # numbers, in the problem, of the tests used here
    feature: NDArray[np.int32]  # of those tests
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
    """The best tree of depth two on a state; its leaves are labeled by whoever knows the rows."""
    assert cover.pairs is not None
    root, yes, no = (int(test) for test in cover.pairs[1][state - cover.last])

    def side(test: int) -> Node:
        return Leaf(-1) if test < 0 else Split(int(cover.tests[test]), Leaf(-1), Leaf(-1))

    return Leaf(-1) if root < 0 else Split(int(cover.tests[root]), side(yes), side(no))


def couples(asked: Asked) -> bool:
    """Does anything but one sum over leaves matter?"""
    forms = [item for item in asked.requirements if item.low is not None or item.high is not None]
    some = any(rule.some for rule in asked.leaf_rules)
    return bool(forms) or some or bool(asked.monotone) or not asked.goal.additive


def takes_pairs(asked: Asked) -> bool:
    """May depth-2 subtrees be priced whole?"""
    goal = asked.goal
    plain = goal.additive and not (goal.test_costs or goal.losses) and goal.leaves >= 0
    only_support = all(rule.kind == "support" and not rule.some for rule in asked.leaf_rules)
    return asked.depth >= 2 and plain and only_support and not couples(asked)


def estimate_states(tests: int, levels: int) -> int:
    """At most so many states on levels 0 .. levels - 1."""
    return sum(comb(tests, k) << k for k in range(max(1, levels)))


def estimate_cells(problem: Problem, asked: Asked) -> int:
    """At most so many numbers in the tables: what building takes in time and, times eight, in memory."""
    tests, labels = len(problem.tests), max(1, problem.classes)
    words = -(-problem.rows // 64)
    if takes_pairs(asked):
        return estimate_states(tests, asked.depth - 1) * (words + labels) + tests * tests * labels
    states = estimate_states(tests, asked.depth)
    if not couples(asked):
        return states * (words + labels) + min(states, CHUNK) * tests * labels
    return states * (words + tests * labels * (len(asked.requirements) + 1) * 2)


CHUNK = 4096  # states priced at a time where only the best split of each is kept


def build_cover(
    problem: Problem, asked: Asked, deadline: Deadline = NO_DEADLINE, memory: int = 0, threads: int = 1
) -> Cover:
    """Raises native.CoverStopped where memory or time is not enough, Unsupported where a number is too large."""
    used_tests = _useful_tests(problem, asked)
    bits = native.pack_bits(problem.bits[used_tests])
    feature = np.array([problem.tests[j].feature for j in used_tests], np.int32)
    labels = max(1, problem.classes)
    support = max(1, asked.support)
    paid = sorted({f for form in asked.forms for part in parts_of(form) for f in part.test_costs})
    watched = asked.watched
    pairs = takes_pairs(asked)
    levels = max(1, asked.depth - 1 if pairs else asked.depth)
    group = np.array([f + 1 if f in watched else 0 for f in feature], np.int32)
    settle = None
    only_support = all(rule.kind == "support" and not rule.some for rule in asked.leaf_rules)
    goal = asked.goal
    splits_never_pay_by_themselves = goal.leaves >= 0 and all(cost >= 0 for cost in goal.test_costs.values())
    if not couples(asked) and only_support and not goal.losses and splits_never_pay_by_themselves and problem.classes:
        settle = _matrix(goal, problem)
    states = native.enumerate_states(
        bits,
        problem.count,
        levels,
        support=support,
        group=group,
        tags=_tags(problem, asked, feature, paid),
        cost=settle,
        max_bytes=memory or MOST_BYTES,
        seconds=_seconds(deadline),
    )
    forms = (asked.goal, *row_forms(asked))
    if not pairs and _table_bytes(states, len(used_tests), labels, len(forms)) > (memory or MOST_BYTES):
        raise native.CoverStopped(native.MEMORY)
    if asked.depth == 0 or not len(used_tests):
        return _tables(problem, asked, states, used_tests, feature, labels, forms, bits, False, paid, threads)
    if pairs:
        return _pair_tables(problem, asked, states, used_tests, feature, labels, bits, deadline, threads)
    return _tables(problem, asked, states, used_tests, feature, labels, forms, bits, True, paid, threads)


def _table_bytes(states: native.States, tests: int, labels: int, forms: int) -> int:
    """Both sides of every split of the last states, in every form and twice more while they are worked on."""
    last = int(states.level_start[-1] - states.level_start[-2])
    return 8 * 2 * last * tests * labels * (forms + 2) + states.keys.nbytes


def row_forms(asked: Asked) -> tuple[Form, ...]:
    """The forms of rows, those under a largest value among them, each once."""
    found: list[Form] = []
    for part in parts_of(asked.goal):
        if part is not asked.goal:
            found.append(part)
    for requirement in asked.requirements:
        found.extend(parts_of(requirement.form))
    return tuple(found)


def _useful_tests(problem: Problem, asked: Asked) -> NDArray[np.int64]:
    """Tests that split the rows: with monotony required all of them, else each split once per counted feature."""
    seen: set[tuple[bytes, int]] = set()
    kept = []
    special = asked.watched | {f for form in asked.forms for part in parts_of(form) for f in part.test_costs}
    for number, answers in enumerate(problem.bits):
        if answers.all() or not answers.any():
            continue
        feature = problem.tests[number].feature
        side = answers if answers[0] else ~answers
        key = (side.tobytes(), number if asked.monotone else feature if feature in special else -1)
        if key not in seen:
            seen.add(key)
            kept.append(number)
    return np.array(kept, np.int64)


def _tags(
    problem: Problem, asked: Asked, feature: NDArray[np.int32], paid: list[int]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]] | None:
    """What a path must remember beside its rows: features paid for; and, for monotony, its very answers."""
    tests = len(feature)
    if asked.monotone:
        yes, no = np.zeros((tests, 2 * tests), bool), np.zeros((tests, 2 * tests), bool)
        yes[np.arange(tests), 2 * np.arange(tests)] = True
        no[np.arange(tests), 2 * np.arange(tests) + 1] = True
        return native.pack_bits(yes), native.pack_bits(no)
    if paid:
        place = {f: i for i, f in enumerate(paid)}
        marks = np.zeros((tests, len(paid)), bool)
        for j, f in enumerate(feature):
            if int(f) in place:
                marks[j, place[int(f)]] = True
        packed = native.pack_bits(marks)
        return packed, packed
    return None


def _paid_already(
    problem: Problem, asked: Asked, states: native.States, feature: NDArray[np.int32], paid: list[int]
) -> Bits:
    """states x paid features: was it tested above?"""
    words = max(1, -(-problem.rows // 64))
    marks = np.unpackbits(np.ascontiguousarray(states.keys[:, words:]).view(np.uint8), axis=1, bitorder="little")
    if not asked.monotone:
        return marks[:, : len(paid)].astype(bool)
    pairs = marks[:, : 2 * len(feature)].reshape(states.size, len(feature), 2)
    answered: Bits = (pairs != 0).any(axis=2)
    result = np.zeros((states.size, len(paid)), bool)
    for i, f in enumerate(paid):
        result[:, i] = answered[:, feature == f].any(axis=1)
    return result


def _seconds(deadline: Deadline) -> float:
    left = deadline.left()
    return -1.0 if left == float("inf") else left


def _matrix(form: Form, problem: Problem) -> Whole:
    """rows x labels."""
    if form.predicted is None:
        return np.zeros((problem.rows, max(1, problem.classes)), np.int64)
    return form.predicted


def _pair_tables(
    problem: Problem,
    asked: Asked,
    states: native.States,
    tests: NDArray[np.int64],
    feature: NDArray[np.int32],
    labels: int,
    bits: NDArray[np.uint64],
    deadline: Deadline,
    threads: int,
) -> Cover:
    cost = _matrix(asked.goal, problem)
    least = cost.min(axis=1, keepdims=True)
    if problem.classes > 64:
        raise Unsupported("more than 64 classes", "depth-2 subtrees are counted for at most 64")
    last = int(states.level_start[-2])
    best = native.best_pairs(
        bits, states.keys[last:], problem.rows, cost - least, problem.count, max(1, asked.support), asked.goal.leaves,
        threads, _seconds(deadline),
    )  # fmt: skip
    leaf = native.sums(states.keys, problem.rows, cost - least)[None] + asked.goal.leaves
    none = np.zeros((1, 0, len(tests), labels), np.int64)
    return Cover(
        states, tests.astype(np.int32), feature, labels, bool(problem.classes), last, False, (asked.goal,), leaf,
        np.ones((states.size, labels), bool), none, none, none[0].astype(bool), none[0].astype(bool),
        np.zeros((1, len(states.parent)), np.int64), np.zeros((1, 0, len(tests)), np.int64), best, False,
        int(least.sum()),
    )  # fmt: skip


def _tables(
    problem: Problem,
    asked: Asked,
    states: native.States,
    tests: NDArray[np.int64],
    feature: NDArray[np.int32],
    labels: int,
    forms: tuple[Form, ...],
    bits: NDArray[np.uint64],
    splits_last: bool,
    paid: list[int],
    threads: int,
) -> Cover:
    rows, last = problem.rows, int(states.level_start[-2])
    keys = states.keys[last:] if splits_last else states.keys[:0]
    width = len(forms) + sum(rule.some for rule in asked.leaf_rules)
    leaf = np.zeros((width, states.size, labels), np.int64)
    yes = np.zeros((width, len(keys), len(tests), labels), np.int64)
    no = np.zeros_like(yes)
    rounded = False
    for number, form in enumerate(forms):
        if form.predicted is not None:
            leaf[number] += native.sums(states.keys, rows, form.predicted)
            below = native.split_sums(bits, keys, rows, form.predicted, threads)
            yes[number] += below
            no[number] += leaf[number, last:, None, :][: len(keys)] - below
        for table in (leaf[number], yes[number], no[number]):
            table += form.leaves
        for factor, loss in form.losses:
            whole, sides = _losses(loss, factor, problem, states, keys, bits)
            rounded |= loss.kind == "squared"
            leaf[number] += whole[:, None]
            yes[number] += sides[:, :, 0, None]
            no[number] += sides[:, :, 1, None]
    count = native.sums(states.keys, rows, problem.count[:, None])[:, 0]
    some = [rule for rule in asked.leaf_rules if rule.some]
    for number, rule in enumerate(some, start=len(forms)):
        values = problem.count[:, None] if rule.kind == "support" or rule.cost is None else rule.cost
        whole = native.sums(states.keys, rows, values)
        below = native.split_sums(bits, keys, rows, values, threads)
        above = whole[last:, None, :][: len(keys)] - below
        leaf[number], yes[number], no[number] = (_meets_some(rule, table, labels) for table in (whole, below, above))
    allowed = _allowed(problem, asked, states, keys, bits, labels, count, last, threads)
    arc_price, bottom_price = _prices(problem, asked, states, feature, forms, paid, count, len(keys), last)
    if np.abs(leaf).max(initial=0) >= NEVER // 64:
        raise Unsupported("weights of this size", "their sum is beyond what solvers handle exactly")
    return Cover(
        states, tests.astype(np.int32), feature, labels, bool(problem.classes), last, splits_last, forms, leaf,
        allowed[0], yes, no, allowed[1], allowed[2], arc_price, bottom_price, None, rounded, 0,
    )  # fmt: skip


def _losses(
    loss: Loss,
    factor: Fraction,
    problem: Problem,
    states: native.States,
    keys: NDArray[np.uint64],
    bits: NDArray[np.uint64],
) -> tuple[Whole, Whole]:
    """factor * loss of every state, and of both sides of every split of the last ones; rounded down where real."""
    if loss.kind == "squared":
        return _squared(loss, factor, problem, states, keys, bits)
    level = Fraction(1, 2) if loss.kind == "absolute" else loss.level
    above, below = (1, 1) if loss.kind == "absolute" else (level.numerator, level.denominator - level.numerator)
    step = factor if loss.kind == "absolute" else factor / level.denominator
    assert step.denominator == 1, "the unit of the form makes these whole"
    whole = np.zeros(states.size, np.int64)
    sides = np.zeros((len(keys), len(bits), 2), np.int64)
    none = bits[:0]
    for output in range(loss.targets.shape[1]):
        target = loss.targets[:, output]
        alone, _ = native.quantile_losses(none, states.keys, problem.rows, target, loss.weight, above, below)
        whole += alone * int(step)
        if len(keys):
            _, split = native.quantile_losses(bits, keys, problem.rows, target, loss.weight, above, below)
            sides += split * int(step)
    return whole, sides


def _squared(
    loss: Loss,
    factor: Fraction,
    problem: Problem,
    states: native.States,
    keys: NDArray[np.uint64],
    bits: NDArray[np.uint64],
) -> tuple[Whole, Whole]:
    """sum w y^2 - (sum w y)^2 / sum w, about the mean of all rows so that floats keep their digits."""
    if factor < 0:
        raise Unsupported("a squared loss that is to be large", "it is rounded down, which is only safe where it costs")
    outputs = loss.targets.shape[1]
    weight = loss.weight.astype(np.int64)
    total = max(1, int(weight.sum()))
    centers = [int((weight * loss.targets[:, o]).sum()) // total for o in range(outputs)]
    moved = loss.targets - np.array(centers, np.int64)
    if int(weight.max(initial=0)) * int(np.abs(moved).max(initial=0)) ** 2 * max(1, problem.rows) * outputs >= 2**62:
        raise Unsupported("targets of this size", "their squares are beyond whole numbers of 64 bits", "round them")
    values = np.column_stack([weight, weight[:, None] * moved, (weight[:, None] * moved**2).sum(axis=1)])

    def price(sums: Whole) -> Whole:
        weights, squares = sums[..., 0].astype(float), sums[..., -1].astype(float)
        firsts = (sums[..., 1:-1].astype(float) ** 2).sum(axis=-1)
        real = squares - np.divide(firsts, weights, out=np.zeros_like(firsts), where=weights > 0)
        slack = 1e-12 * squares
        steps: Whole = np.floor(np.maximum(0.0, real - slack) * float(factor) - 1e-6).clip(min=0).astype(np.int64)
        return steps

    whole = native.sums(states.keys, problem.rows, values)
    last = whole[states.size - len(keys) :] if len(keys) else whole[:0]
    below = native.split_sums(bits, keys, problem.rows, values)
    sides = np.stack([price(below), price(last[:, None, :] - below)], axis=-1)
    return price(whole), sides


def _allowed(
    problem: Problem,
    asked: Asked,
    states: native.States,
    keys: NDArray[np.uint64],
    bits: NDArray[np.uint64],
    labels: int,
    count: Whole,
    last: int,
    threads: int,
) -> tuple[Bits, Bits, Bits]:
    """Which leaves meet the conditions on every leaf: states x labels, and the two sides of splits of the last ones."""
    rows = problem.rows
    leaf = np.ones((states.size, labels), bool)
    yes_count = native.split_sums(bits, keys, rows, problem.count[:, None], threads)[:, :, 0]
    no_count = count[last:, None][: len(keys)] - yes_count
    support = max(1, asked.support)
    leaf &= (count >= support)[:, None]
    yes = np.repeat((yes_count >= support)[:, :, None], labels, axis=2)
    no = np.repeat((no_count >= support)[:, :, None], labels, axis=2)
    # Both sides hold rows, or the split is none.
    both = ((yes_count >= 1) & (no_count >= 1))[:, :, None]
    yes, no = yes & both, no & both
    for rule in asked.leaf_rules:
        if rule.some or rule.kind == "support" or rule.cost is None:
            continue
        whole = native.sums(states.keys, rows, rule.cost)
        below = native.split_sums(bits, keys, rows, rule.cost, threads)
        above = whole[last:, None, :][: len(keys)] - below
        leaf &= _meets(rule, whole)
        yes &= _meets(rule, below)
        no &= _meets(rule, above)
    return leaf, yes, no


def _meets(rule: LeafRule, sums: Whole) -> Bits:
    if rule.kind == "errors":
        return sums * rule.limit.denominator <= rule.limit.numerator
    share = sums.max(axis=-1) * rule.limit.denominator >= sums.sum(axis=-1) * rule.limit.numerator
    if rule.limit > 1:
        share &= False
    return np.broadcast_to(share[..., None], sums.shape)


def _meets_some(rule: LeafRule, sums: Whole, labels: int) -> Bits:
    if rule.kind == "support":
        met = sums[..., 0] * rule.limit.denominator <= rule.limit.numerator
        return np.repeat(met[..., None], labels, axis=-1)
    if rule.kind == "errors":
        return sums * rule.limit.denominator >= rule.limit.numerator
    total = sums.sum(axis=-1)
    met = sums.max(axis=-1) * rule.limit.denominator <= total * rule.limit.numerator
    met = np.where(total > 0, met, rule.limit >= 1)
    return np.repeat(met[..., None], labels, axis=-1)


def _prices(
    problem: Problem,
    asked: Asked,
    states: native.States,
    feature: NDArray[np.int32],
    forms: tuple[Form, ...],
    paid: list[int],
    count: Whole,
    lasts: int,
    last: int,
) -> tuple[Whole, Whole]:
    """What tests cost: forms x arcs, and forms x last states x tests."""
    width = len(forms) + sum(rule.some for rule in asked.leaf_rules)
    arcs = np.zeros((width, len(states.parent)), np.int64)
    bottoms = np.zeros((width, lasts, len(feature)), np.int64)
    if not paid:
        return arcs, bottoms
    place = {f: i for i, f in enumerate(paid)}
    known = _paid_already(problem, asked, states, feature, paid)
    column = np.array([place.get(int(f), -1) for f in feature])
    priced = column >= 0
    for number, form in enumerate(forms):
        cost = np.array([form.test_costs.get(int(f), 0) for f in feature], np.int64)
        if len(states.parent):
            fresh = priced[states.test] & ~known[states.parent, column[states.test]]
            arcs[number] = cost[states.test] * count[states.parent] * fresh
        if lasts:
            fresh_below = priced[None, :] & ~known[last:][:, column]
            bottoms[number] = cost[None, :] * count[last:, None] * fresh_below
    return arcs, bottoms
