"""Cover -> a proved lower bound, and for every column a lower bound on the goal of the trees that use it.

The coupling rows are moved into the goal with prices (Lagrangian relaxation). What remains is a dynamic program over
the states, exact in integers: `inside` is the least price of a subtree on a state, `outside` the least price of the
rest of the tree. Their sum at a column bounds every tree with that column, so columns that no better tree can use are
removed before any solver sees them. Multipliers are integer multiples of 1 / unit, so no bound is ever rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.encodings.cover.coupling_rows import Coupling
from treeml.backends.solvers.encodings.cover.cover import NEVER, Cover, pair_tree
from treeml.backends.task.deadline import NO_DEADLINE, OutOfTime, in_time
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

FINEST = 2**14
LARGEST = 2**57  # an upper bound on every sum of priced leaves


@dataclass(frozen=True, eq=False, slots=True)
class Side:
    """One inequality: form * sign (+ extras) <= limit."""

    row: int
    sign: int
    limit: int


@dataclass(frozen=True, eq=False, slots=True)
class PricedCover:
    """The relaxation for given multipliers; all values are scaled by its unit."""

    weights: Whole  # per form
    constant: int
    leaf: Whole  # states x labels
    inside: Whole  # states
    value: int  # the bound, constant included


class Relaxation:
    def __init__(self, cover: Cover, coupling: Coupling, deadline: Deadline = NO_DEADLINE) -> None:
        self.cover, self.coupling, self.deadline = cover, coupling, deadline
        self.sides = [
            side
            for number, row in enumerate(coupling.rows)
            if row.form is not None
            for side in (
                *((Side(number, 1, row.high),) if row.high is not None else ()),
                *((Side(number, -1, -row.low),) if row.low is not None else ()),
            )
        ]
        self.sizes = [_magnitude(cover, number) for number in range(cover.leaf.shape[0])]
        self.unit = max(1, min(FINEST, LARGEST // 4 // (self.sizes[0] + self._beside(coupling.goal))))
        states = cover.states
        starts = states.level_start
        self.levels = [(int(starts[k]), int(starts[k + 1])) for k in range(len(starts) - 1)]
        # Arcs are sorted by parent, so those of one level are contiguous.
        self.arc_range = [tuple(np.searchsorted(states.parent, level)) for level in self.levels]

    def _beside(self, extras: Mapping[int, int]) -> int:
        """The range that extra variables can add to a row or to the goal."""
        known = self.coupling.extras
        return sum(abs(value) * max(abs(known[e].lower), abs(known[e].upper)) for e, value in extras.items())

    def side_size(self, side: Side) -> int:
        """An upper bound on the size of every part of an inequality."""
        row = self.coupling.rows[side.row]
        assert row.form is not None
        return max(self.sizes[row.form], abs(side.limit)) + self._beside(row.extras)

    def price(self, multipliers: Whole) -> PricedCover:
        """The bound for these multipliers (nonnegative integers, scaled by the unit, one per side)."""
        cover, coupling = self.cover, self.coupling
        weights = np.zeros(cover.leaf.shape[0], np.int64)
        weights[0] = self.unit
        constant = self.unit * cover.offset
        extras = dict.fromkeys(range(len(coupling.extras)), 0)
        for extra, value in coupling.goal.items():
            extras[extra] += self.unit * value
        for side, multiplier in zip(self.sides, multipliers.tolist(), strict=True):
            if not multiplier:
                continue
            row = coupling.rows[side.row]
            assert row.form is not None
            weights[row.form] += multiplier * side.sign * row.sign
            constant -= multiplier * side.limit
            for extra, value in row.extras.items():
                extras[extra] += multiplier * side.sign * value
        for extra, value in extras.items():
            known = coupling.extras[extra]
            constant += min(value * known.lower, value * known.upper)
        leaf = _combine(weights, cover.leaf)
        leaf[~cover.leaf_allowed] = NEVER
        inside = leaf.min(axis=1)
        if cover.splits_last:
            inside[cover.last :] = np.minimum(
                inside[cover.last :], self._bottoms(weights)[2].min(axis=1, initial=NEVER)
            )
        if cover.pairs is not None:
            inside[cover.last :] = np.minimum(inside[cover.last :], cover.pairs[0] * self.unit)
        states = cover.states
        for level in range(len(self.levels) - 2, -1, -1):
            in_time(self.deadline)
            first, last = self.arc_range[level]
            if first == last:
                continue
            arcs = slice(first, last)
            through = _combine(weights, cover.arc_price[:, arcs])
            through += inside[states.yes[arcs]] + inside[states.no[arcs]]
            parents = states.parent[arcs]
            begins = np.flatnonzero(np.diff(parents, prepend=-1))
            least = np.minimum.reduceat(through, begins)
            np.minimum(inside[parents[begins]], least, out=least)
            inside[parents[begins]] = least
        np.minimum(inside, NEVER, out=inside)
        return PricedCover(weights, constant, leaf, inside, int(inside[0]) + constant)

    def _bottoms(self, weights: Whole) -> tuple[Whole, Whole, Whole]:
        """Last states x tests x labels of both sides, and last states x tests of the best split."""
        cover = self.cover
        in_time(self.deadline)
        yes = _combine(weights, cover.yes)
        yes[~cover.yes_allowed] = NEVER
        no = _combine(weights, cover.no)
        no[~cover.no_allowed] = NEVER
        both = yes.min(axis=2) + no.min(axis=2) + _combine(weights, cover.bottom_price)
        return yes, no, np.minimum(both, NEVER)

    def tree(self, priced: PricedCover) -> tuple[Node, Whole] | None:
        """A tree of least price, with the values of its forms; None if there is no tree."""
        if priced.inside[0] >= NEVER:
            return None
        values = np.zeros(self.cover.leaf.shape[0], np.int64)
        return self._subtree(0, priced, values), values

    def _subtree(self, state: int, priced: PricedCover, values: Whole) -> Node:
        cover, states = self.cover, self.cover.states
        value = priced.inside[state]
        label = int(priced.leaf[state].argmin())
        if priced.leaf[state, label] == value:
            values += cover.leaf[:, state, label]
            return self._leaf(label)
        if state < cover.last:
            first, last = np.searchsorted(states.parent, (state, state + 1))
            arcs = slice(first, last)
            through = _combine(priced.weights, cover.arc_price[:, arcs])
            through += priced.inside[states.yes[arcs]] + priced.inside[states.no[arcs]]
            arc = int(first) + int(through.argmin())
            values += cover.arc_price[:, arc]
            yes = self._subtree(int(states.yes[arc]), priced, values)
            no = self._subtree(int(states.no[arc]), priced, values)
            return Split(int(cover.tests[states.test[arc]]), yes, no)
        place = state - cover.last
        if cover.pairs is not None:
            values[0] += cover.pairs[0][place]
            return pair_tree(cover, state)
        yes_cost = _combine(priced.weights, cover.yes[:, place])
        yes_cost[~cover.yes_allowed[place]] = NEVER
        no_cost = _combine(priced.weights, cover.no[:, place])
        no_cost[~cover.no_allowed[place]] = NEVER
        both = yes_cost.min(axis=1) + no_cost.min(axis=1) + _combine(priced.weights, cover.bottom_price[:, place])
        test = int(both.argmin())
        one, zero = int(yes_cost[test].argmin()), int(no_cost[test].argmin())
        values += cover.bottom_price[:, place, test] + cover.yes[:, place, test, one] + cover.no[:, place, test, zero]
        return Split(int(cover.tests[test]), self._leaf(one), self._leaf(zero))

    def _leaf(self, label: int) -> Leaf:
        return Leaf(label if self.cover.labeled else -1)

    def outside(self, priced: PricedCover) -> Whole:
        """For every state the least price of a tree without the part below it, constant included."""
        cover, states = self.cover, self.cover.states
        result = np.full(states.size, NEVER, np.int64)
        result[0] = priced.constant
        for level in range(len(self.levels) - 1):
            in_time(self.deadline)
            first, last = self.arc_range[level]
            arcs = slice(first, last)
            above = result[states.parent[arcs]] + _combine(priced.weights, cover.arc_price[:, arcs])
            np.minimum.at(result, states.yes[arcs], above + priced.inside[states.no[arcs]])
            np.minimum.at(result, states.no[arcs], above + priced.inside[states.yes[arcs]])
        return np.minimum(result, NEVER)

    def gradient(self, values: Whole, multipliers: Whole) -> Whole:
        """By how much a tree with these form values violates each side: the slope of the bound, not scaled."""
        coupling = self.coupling
        price = dict.fromkeys(range(len(coupling.extras)), 0)
        for extra, value in coupling.goal.items():
            price[extra] += self.unit * value
        for side, multiplier in zip(self.sides, multipliers.tolist(), strict=True):
            for extra, value in coupling.rows[side.row].extras.items():
                price[extra] += multiplier * side.sign * value
        at = {extra: (known.lower if price[extra] >= 0 else known.upper) for extra, known in enumerate(coupling.extras)}
        slope = np.zeros(len(self.sides), np.int64)
        for number, side in enumerate(self.sides):
            row = coupling.rows[side.row]
            assert row.form is not None
            total = int(values[row.form]) * row.sign + sum(value * at[extra] for extra, value in row.extras.items())
            slope[number] = side.sign * total - side.limit
        return slope


def _combine(weights: Whole, tables: Whole) -> Whole:
    """The sum over forms of weight * table; tables of weight zero are skipped."""
    total: Whole | None = None
    for weight, table in zip(weights.tolist(), tables, strict=True):
        if weight:
            total = table * weight if total is None else total + table * weight
    return np.zeros(tables.shape[1:], np.int64) if total is None else total


def ascend(
    relaxation: Relaxation,
    deadline: Deadline,
    offer: Callable[[Node], int | None],
    rounds: int = 60,
) -> PricedCover:
    """The best multipliers that a cutting-plane method finds; every tree on the way is passed to `offer`.

    Each tree gives a cut on the bound as a function of the multipliers: value + slope . (new - old). The next
    multipliers are optimal under the cuts within a box, which grows while it is active. `offer` returns the best goal
    known, in integer units, and the ascent stops when the bound reaches it.
    """
    # imported here: start-up time
    from treeml.backends.solvers.engines.highs import best_under_cuts

    size = len(relaxation.sides)
    at = np.zeros(size, np.int64)
    best: PricedCover | None = None
    best_at = at
    cuts: list[tuple[float, Whole, Whole]] = []
    box = 4.0 * _first_box(relaxation)
    for _ in range(rounds):
        try:
            priced = relaxation.price(at)
        except OutOfTime:
            if best is None:
                raise
            break
        if best is None or priced.value > best.value:
            best, best_at = priced, at
        found = relaxation.tree(priced)
        if found is None or size == 0:
            if found is not None:
                offer(found[0])
            break
        tree, values = found
        known = offer(tree)
        if known is not None and -(-best.value // relaxation.unit) >= known:
            break
        slope = relaxation.gradient(values, at)
        cuts.append((priced.value / relaxation.unit, slope, at))
        if deadline.passed:
            break
        limit, proposed = best_under_cuts(cuts, best_at, box, relaxation.unit)
        if limit - best.value / relaxation.unit <= max(1e-3, 1e-6 * abs(limit)):
            if not np.any(proposed >= best_at + int(box * relaxation.unit) - 1) or box > 1e9:
                break
            box *= 8
        cap = _cap(relaxation)
        at = np.clip(proposed, 0, cap)
    assert best is not None
    return best


def _first_box(relaxation: Relaxation) -> float:
    """The first box: a unit of a row costs about as much as a row of the data, relative to its coefficients."""
    sizes = [relaxation.sizes[relaxation.coupling.rows[side.row].form or 0] for side in relaxation.sides]
    return relaxation.sizes[0] / min(sizes) if sizes else 1.0


def _cap(relaxation: Relaxation) -> Whole:
    """The largest multipliers that cannot overflow; a side with 0 is not priced."""
    share = LARGEST // 2 // max(1, len(relaxation.sides))
    return np.array([share // relaxation.side_size(side) for side in relaxation.sides], np.int64)


def _magnitude(cover: Cover, number: int) -> int:
    """An upper bound on the absolute value of a form, for all trees."""
    leaves: int = 1 << len(cover.states.level_start)
    if number >= len(cover.forms):
        return leaves
    form = cover.forms[number]
    size = leaves * abs(form.leaves) + (0 if form.predicted is None else int(np.abs(form.predicted).max(axis=1).sum()))
    if form.losses:
        size += leaves * int(np.abs(cover.leaf[number]).max(initial=0))
    prices = (cover.arc_price[number], cover.bottom_price[number])
    return max(1, size + leaves * sum(int(np.abs(price).max(initial=0)) for price in prices))
