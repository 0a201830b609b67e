"""Problem -> the tables of the cover hyperflow: states, enumerated and summed in C, and their amounts in every form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.encodings.cover.cover import Cover, couples, moved_targets, prices_pairs, row_forms
from treeml.backends.task.deadline import NO_DEADLINE, in_time
from treeml.backends.task.integer_task import Form, IntegerTask, LeafRule, parts_of
from treeml.native import cover as native
from treeml.problem.magnitudes import product_at_least
from treeml.problem.problem import Problem
from treeml.problem.terms import Loss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]

MOST_BYTES = 8 * 2**30  # if there is no limit on memory


def build_cover(
    problem: Problem,
    task: IntegerTask,
    deadline: Deadline = NO_DEADLINE,
    memory: int = 0,
    threads: int = 1,
    whole: bool = False,
) -> Cover:
    """The cover of a task; raises native.CoverStopped if memory or time runs out in C, OutOfTime at the deadline."""
    used_tests = _useful_tests(problem, task)
    bits = native.pack_bits(problem.bits[used_tests])
    feature = np.array([problem.tests[j].feature for j in used_tests], np.int32)
    support = max(1, task.support)
    paid = sorted({f for form in task.forms for part in parts_of(form) for f in part.test_costs})
    watched = task.watched
    pairs = prices_pairs(task, whole)
    levels = max(1, task.depth - 1 if pairs else task.depth)
    group = np.array([f + 1 if f in watched else 0 for f in feature], np.int32)
    settle = None
    only_support = all(rule.kind == "support" and not rule.some for rule in task.leaf_rules)
    goal = task.goal
    splits_never_pay_by_themselves = goal.leaves >= 0 and all(cost >= 0 for cost in goal.test_costs.values())
    if not couples(task) and only_support and not goal.losses and splits_never_pay_by_themselves and problem.classes:
        settle = cost_matrix(goal, problem)
    states = native.enumerate_states(
        bits,
        problem.count,
        levels,
        support=support,
        group=group,
        tags=_tags(problem, task, feature, paid),
        cost=settle,
        max_bytes=memory or MOST_BYTES,
        seconds=seconds_left(deadline),
    )
    forms, labels = 1 + len(row_forms(task)), max(1, problem.classes)
    if not pairs and _table_bytes(states, len(used_tests), labels, forms) > (memory or MOST_BYTES):
        raise native.CoverStopped(native.MEMORY)
    splits_last = task.depth > 0 and len(used_tests) > 0
    count = Counting(problem, states, bits, splits_last and not pairs, threads, deadline)
    if splits_last and pairs:
        return pair_tables(count, task, used_tests, feature)
    return split_tables(count, task, used_tests, feature, paid)


def _table_bytes(states: native.States, tests: int, labels: int, forms: int) -> int:
    """The bytes for both sides of every split of the last states, in every form, plus two temporary copies."""
    last = int(states.level_start[-1] - states.level_start[-2])
    return 8 * 2 * last * tests * labels * (forms + 2) + states.keys.nbytes


@dataclass(frozen=True, eq=False)
class Counting:
    """The states, with methods that sum values of rows over them."""

    problem: Problem
    states: native.States
    bits: NDArray[np.uint64]
    splits_last: bool  # are states of the last level split into leaves?
    threads: int
    deadline: Deadline

    @property
    def last(self) -> int:
        """The first state of the last level."""
        return int(self.states.level_start[-2])

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The states that are split into leaves."""
        return self.states.keys[self.last :] if self.splits_last else self.states.keys[:0]

    @property
    def pause(self) -> Callable[[], None] | None:
        return None if self.deadline.at == float("inf") else partial(in_time, self.deadline)

    def whole(self, values: Whole) -> Whole:
        """Sums over states: states x values."""
        return native.sums(self.states.keys, self.problem.rows, values)

    def all_three(self, values: Whole) -> tuple[Whole, Whole, Whole]:
        """Sums over states, and over the yes and no sides of splits of the last states (states x tests x values)."""
        whole = self.whole(values)
        yes = native.split_sums(self.bits, self.keys, self.problem.rows, values, self.threads, self.pause)
        return whole, yes, whole[self.last :, None, :][: len(self.keys)] - yes


def _useful_tests(problem: Problem, task: IntegerTask) -> NDArray[np.int64]:
    """Tests that split the rows: all if monotonicity is required, else one per distinct split and counted feature."""
    seen: set[tuple[bytes, int]] = set()
    kept = []
    special = task.watched | {f for form in task.forms for part in parts_of(form) for f in part.test_costs}
    for number, answers in enumerate(problem.bits):
        if answers.all() or not answers.any():
            continue
        feature = problem.tests[number].feature
        side = answers if answers[0] else ~answers
        key = (side.tobytes(), number if task.monotone else feature if feature in special else -1)
        if key not in seen:
            seen.add(key)
            kept.append(number)
    return np.array(kept, np.int64)


def _tags(
    problem: Problem, task: IntegerTask, feature: NDArray[np.int32], paid: list[int]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]] | None:
    """What tells states apart besides their rows: features paid for and, for monotonicity, the answers on the path."""
    tests = len(feature)
    if task.monotone:
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


def seconds_left(deadline: Deadline) -> float:
    left = deadline.left()
    return -1.0 if left == float("inf") else left


def cost_matrix(form: Form, problem: Problem) -> Whole:
    """The costs of a form as a matrix, rows x labels."""
    if form.predicted is None:
        return np.zeros((problem.rows, max(1, problem.classes)), np.int64)
    return form.predicted


def pair_tables(count: Counting, task: IntegerTask, tests: NDArray[np.int64], feature: NDArray[np.int32]) -> Cover:
    """The cover with states priced by their best tree of depth two, if nothing couples the subtrees."""
    problem, states, labels = count.problem, count.states, max(1, count.problem.classes)
    cost = cost_matrix(task.goal, problem)
    least = cost.min(axis=1, keepdims=True)
    last = count.last
    best = native.best_pairs(
        count.bits, states.keys[last:], problem.rows, cost - least, problem.count, max(1, task.support),
        task.goal.leaves, count.threads, count.pause,
    )  # fmt: skip
    leaf = count.whole(cost - least)[None] + task.goal.leaves
    none = np.zeros((1, 0, len(tests), labels), np.int64)
    return Cover(
        states, tests.astype(np.int32), feature, labels, bool(problem.classes), last, False, (task.goal,), leaf,
        np.ones((states.size, labels), bool), none, none, none[0].astype(bool), none[0].astype(bool),
        np.zeros((1, len(states.parent)), np.int64), np.zeros((1, 0, len(tests)), np.int64), best, False,
        int(least.sum()),
    )  # fmt: skip


def split_tables(
    count: Counting, task: IntegerTask, tests: NDArray[np.int64], feature: NDArray[np.int32], paid: list[int]
) -> Cover:
    """The cover with the amounts of leaves and splits in every form, and which of them are allowed."""
    problem, states, labels = count.problem, count.states, max(1, count.problem.classes)
    forms = (task.goal, *row_forms(task))
    width = len(forms) + sum(rule.some for rule in task.leaf_rules)
    leaf = np.zeros((width, states.size, labels), np.int64)
    yes = np.zeros((width, len(count.keys), len(tests), labels), np.int64)
    no = np.zeros_like(yes)
    rounded = False
    for number, form in enumerate(forms):
        in_time(count.deadline)
        if form.predicted is not None:
            leaf[number], yes[number], no[number] = count.all_three(form.predicted)
        if form.leaves:
            for table in (leaf[number], yes[number], no[number]):
                table += form.leaves
        for factor, loss in form.losses:
            whole, sides = _losses(count, loss, factor, form.ceiling)
            rounded |= loss.kind == "squared"
            leaf[number] += whole[:, None]
            yes[number] += sides[:, :, 0, None]
            no[number] += sides[:, :, 1, None]
    some = [rule for rule in task.leaf_rules if rule.some]
    for number, rule in enumerate(some, start=len(forms)):
        values = problem.count[:, None] if rule.kind == "support" or rule.cost is None else rule.cost
        tables = (_meets_some(rule, table, labels) for table in count.all_three(values))
        leaf[number], yes[number], no[number] = tables
    held, held_yes, held_no = (table[..., 0] for table in count.all_three(problem.count[:, None]))
    allowed = _allowed(count, task, held, held_yes, held_no)
    arc_price, bottom_price = _prices(count, task, feature, forms, paid, held)
    return Cover(
        states, tests.astype(np.int32), feature, labels, bool(problem.classes), count.last, count.splits_last, forms,
        leaf, allowed[0], yes, no, allowed[1], allowed[2], arc_price, bottom_price, None, rounded, 0,
    )  # fmt: skip


def _losses(count: Counting, loss: Loss, factor: Fraction, ceiling: int | None) -> tuple[Whole, Whole]:
    """factor * loss of every state and of both sides of every last split; real losses are rounded down."""
    if loss.kind == "squared":
        return _squared(count, loss, factor, ceiling)
    keys, bits, rows = count.keys, count.bits, count.problem.rows
    level = Fraction(1, 2) if loss.kind == "absolute" else loss.level
    above, below = (1, 1) if loss.kind == "absolute" else (level.numerator, level.denominator - level.numerator)
    step = factor if loss.kind == "absolute" else factor / level.denominator
    assert step.denominator == 1, "the unit of the form makes these whole"
    whole = np.zeros(count.states.size, np.int64)
    sides = np.zeros((len(keys), len(bits), 2), np.int64)
    none = bits[:0]
    for output in range(loss.targets.shape[1]):
        target = loss.targets[:, output]
        alone, _ = native.quantile_losses(none, count.states.keys, rows, target, loss.weight, above, below, count.pause)
        whole += _times(alone, step)
        if len(keys):
            _, split = native.quantile_losses(bits, keys, rows, target, loss.weight, above, below, count.pause)
            sides += _times(split, step)
    return whole, sides


def _times(losses: Whole, step: Fraction) -> Whole:
    """The product fits 64 bits, but the step alone need not if all losses are 0, as those of huge equal targets are."""
    return losses * int(step) if losses.any() else losses


def _squared(count: Counting, loss: Loss, factor: Fraction, ceiling: int | None) -> tuple[Whole, Whole]:
    """sum w y^2 - (sum w y)^2 / sum w of all rows of a set, rounded down to steps.

    Let q be the integer next to the mean and r = sum w y - q sum w the remainder. Then the loss is the integer
    sum w y^2 - q (sum w y + r), minus r^2 / sum w, which is at most half of it. Only that quotient is not exact, so the
    error is a few float roundings of the loss itself, and this much is subtracted.
    """
    weight = loss.weight.astype(np.int64)
    moved = moved_targets(loss, count.problem.rows)
    values = np.column_stack([weight, weight[:, None] * moved, (weight[:, None] * moved**2).sum(axis=1)])
    most = 2.0**62 if ceiling is None else float(ceiling)

    def price(sums: Whole) -> Whole:
        weights, firsts = np.maximum(sums[..., :1], 1), sums[..., 1:-1]
        nearest = (2 * firsts + weights) // (2 * weights)
        left = firsts - nearest * weights
        whole = sums[..., -1] - (nearest * (firsts + left)).sum(axis=-1)
        real = whole - (left.astype(float) ** 2 / weights).sum(axis=-1)
        steps: Whole = np.floor((real * float(factor) * (1 - 1e-14)).clip(0.0, most)).astype(np.int64)
        return steps

    whole, below, above = count.all_three(values)
    return price(whole), np.stack([price(below), price(above)], axis=-1)


def _allowed(
    count: Counting, task: IntegerTask, held: Whole, held_yes: Whole, held_no: Whole
) -> tuple[Bits, Bits, Bits]:
    """Which leaves meet the conditions on every leaf: states x labels, and both sides of the last splits."""
    labels = max(1, count.problem.classes)
    support = max(1, task.support)
    leaf = np.repeat((held >= support)[:, None], labels, axis=1)
    # A split needs rows on both sides.
    both = (held_yes >= 1) & (held_no >= 1)
    yes = np.repeat(((held_yes >= support) & both)[:, :, None], labels, axis=2)
    no = np.repeat(((held_no >= support) & both)[:, :, None], labels, axis=2)
    for rule in task.leaf_rules:
        if rule.some or rule.kind == "support" or rule.cost is None:
            continue
        whole, below, above = count.all_three(rule.cost)
        leaf &= _meets(rule, whole)
        yes &= _meets(rule, below)
        no &= _meets(rule, above)
    return leaf, yes, no


def _meets(rule: LeafRule, sums: Whole) -> Bits:
    if rule.kind == "errors":
        return sums <= int(rule.limit)
    if rule.limit > 1:
        return np.zeros(sums.shape, bool)
    top, bottom = max(0, rule.limit.numerator), rule.limit.denominator
    share = product_at_least(sums.max(axis=-1), bottom, sums.sum(axis=-1), top)
    return np.broadcast_to(share[..., None], sums.shape)


def _meets_some(rule: LeafRule, sums: Whole, labels: int) -> Bits:
    if rule.kind == "support":
        met = sums[..., 0] <= int(rule.limit)
        return np.repeat(met[..., None], labels, axis=-1)
    if rule.kind == "errors":
        return sums >= int(rule.limit)
    total = sums.sum(axis=-1)
    if rule.limit < 0:
        return np.zeros(sums.shape, bool)
    met = product_at_least(total, rule.limit.numerator, sums.max(axis=-1), rule.limit.denominator)
    met = np.where(total > 0, met, rule.limit >= 1)
    return np.repeat(met[..., None], labels, axis=-1)


def _paid_already(
    problem: Problem, task: IntegerTask, states: native.States, feature: NDArray[np.int32], paid: list[int]
) -> Bits:
    """states x features with a price: was the feature tested on the path?"""
    words = max(1, -(-problem.rows // 64))
    marks = np.unpackbits(np.ascontiguousarray(states.keys[:, words:]).view(np.uint8), axis=1, bitorder="little")
    if not task.monotone:
        return marks[:, : len(paid)].astype(bool)
    pairs = marks[:, : 2 * len(feature)].reshape(states.size, len(feature), 2)
    answered: Bits = (pairs != 0).any(axis=2)
    result = np.zeros((states.size, len(paid)), bool)
    for i, f in enumerate(paid):
        result[:, i] = answered[:, feature == f].any(axis=1)
    return result


def _prices(
    count: Counting,
    task: IntegerTask,
    feature: NDArray[np.int32],
    forms: tuple[Form, ...],
    paid: list[int],
    held: Whole,
) -> tuple[Whole, Whole]:
    """The prices of tests: forms x arcs, and forms x last states x tests."""
    states, last, lasts = count.states, count.last, len(count.keys)
    width = len(forms) + sum(rule.some for rule in task.leaf_rules)
    arcs = np.zeros((width, len(states.parent)), np.int64)
    bottoms = np.zeros((width, lasts, len(feature)), np.int64)
    if not paid:
        return arcs, bottoms
    place = {f: i for i, f in enumerate(paid)}
    known = _paid_already(count.problem, task, states, feature, paid)
    column = np.array([place.get(int(f), -1) for f in feature])
    priced = column >= 0
    for number, form in enumerate(forms):
        cost = np.array([form.test_costs.get(int(f), 0) for f in feature], np.int64)
        if len(states.parent):
            fresh = priced[states.test] & ~known[states.parent, column[states.test]]
            arcs[number] = cost[states.test] * held[states.parent] * fresh
        if lasts:
            fresh_below = priced[None, :] & ~known[last:][:, column]
            bottoms[number] = cost[None, :] * held[last:, None] * fresh_below
    return arcs, bottoms
