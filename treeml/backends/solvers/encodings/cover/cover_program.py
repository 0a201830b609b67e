"""Cover, coupling rows -> Program, and a solution of the program -> a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.solvers.encodings.cover.coupling_rows import Coupling
from treeml.backends.solvers.encodings.cover.cover import NEVER, Cover, pair_tree
from treeml.backends.solvers.engines.program import FREE, Program, gather_rows, sorted_rows
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]

LEAF, ARC, BOTTOM, PAIR = range(4)
STRONG_LINKS = 60_000  # the most rows that link single states to a feature or level; beyond, one row per level


@dataclass(frozen=True, eq=False, slots=True)
class CoverColumns:
    """The columns of the flow, one entry per column; the meaning of a field depends on the kind."""

    kind: NDArray[np.int8]
    state: Whole
    item: Whole  # ARC: number of the arc; BOTTOM: number of the test; else -1
    one: Whole  # label of a leaf, or of the yes side
    zero: Whole  # label of the no side
    value: Whole  # forms x columns

    @property
    def size(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, eq=False, slots=True)
class ColumnChoice:
    """Which columns to use: masks over leaves and arcs, and bottom splits as (state, test, one, zero)."""

    leaf: Bits
    arc: Bits
    bottom: tuple[Whole, Whole, Whole, Whole]
    pair: Bits


def best_columns(cover: Cover) -> ColumnChoice:
    """The columns if nothing couples them: the cheapest label of each leaf, the cheapest split of each last state."""
    goal = np.where(cover.leaf_allowed, cover.leaf[0], NEVER)
    leaf = np.zeros_like(cover.leaf_allowed)
    leaf[np.arange(len(goal)), goal.argmin(axis=1)] = True
    leaf &= cover.leaf_allowed
    least = goal.min(axis=1)
    none = np.zeros(0, np.int64)
    bottom = (none, none, none, none)
    pair = np.zeros(len(goal), bool)
    if cover.splits_last and len(cover.tests):
        yes = np.where(cover.yes_allowed, cover.yes[0], NEVER)
        no = np.where(cover.no_allowed, cover.no[0], NEVER)
        both = yes.min(axis=2) + no.min(axis=2) + cover.bottom_price[0]
        test = both.argmin(axis=1)
        places = np.arange(len(both))
        good = np.flatnonzero((both[places, test] < least[cover.last :]) & (both[places, test] < NEVER))
        test = test[good]
        bottom = (good + cover.last, test, yes[good, test].argmin(axis=1), no[good, test].argmin(axis=1))
    if cover.pairs is not None:
        pair[cover.last :] = cover.pairs[0] < least[cover.last :]
        leaf[cover.last :] &= ~pair[cover.last :, None]
    return ColumnChoice(leaf, np.ones(len(cover.states.parent), bool), bottom, pair)


def all_columns(cover: Cover) -> ColumnChoice:
    """Every allowed leaf and split."""
    none = np.zeros(0, np.int64)
    bottom = (none, none, none, none)
    if cover.splits_last and len(cover.tests):
        allowed = cover.yes_allowed[:, :, :, None] & cover.no_allowed[:, :, None, :]
        state, test, one, zero = np.nonzero(allowed)
        bottom = (state + cover.last, test, one, zero)
    return ColumnChoice(
        cover.leaf_allowed, np.ones(len(cover.states.parent), bool), bottom, np.zeros(cover.states.size, bool)
    )


def chosen_columns(cover: Cover, keep: ColumnChoice, coupling: Coupling) -> CoverColumns:
    """The chosen columns that a flow from the root can reach, without duplicates."""
    states = cover.states
    watched = {extra.number for extra in coupling.extras if extra.kind == "used"}
    leaf_state, label = np.nonzero(keep.leaf)
    bottom_state, test, one, zero = (
        keep.bottom if coupling.told_apart else _without_doubles(cover, keep.bottom, watched)
    )
    reached, arc = _reachable(cover, keep, np.union1d(np.union1d(leaf_state, bottom_state), np.flatnonzero(keep.pair)))
    chosen = reached[leaf_state]
    leaf_state, label = leaf_state[chosen], label[chosen]
    chosen = reached[bottom_state]
    bottom_state, test, one, zero = bottom_state[chosen], test[chosen], one[chosen], zero[chosen]
    pair = np.flatnonzero(keep.pair & reached)
    place = bottom_state - cover.last
    values = np.concatenate(
        [
            cover.leaf[:, leaf_state, label],
            cover.arc_price[:, arc],
            cover.bottom_price[:, place, test] + cover.yes[:, place, test, one] + cover.no[:, place, test, zero],
            np.repeat(cover.pairs[0][pair - cover.last][None, :], cover.leaf.shape[0], axis=0)
            if cover.pairs is not None
            else np.zeros((cover.leaf.shape[0], 0), np.int64),
        ],
        axis=1,
    )
    sizes = (len(leaf_state), len(arc), len(bottom_state), len(pair))
    blank = [np.full(size, -1, np.int64) for size in sizes]
    return CoverColumns(
        np.repeat(np.arange(4), sizes).astype(np.int8),
        np.concatenate([leaf_state, states.parent[arc], bottom_state, pair]).astype(np.int64),
        np.concatenate([blank[0], arc, test, blank[3]]),
        np.concatenate([label, blank[1], one, blank[3]]),
        np.concatenate([blank[0], blank[1], zero, blank[3]]),
        values,
    )


def write_program(cover: Cover, columns: CoverColumns, coupling: Coupling, cutoff: int | None = None) -> Program:
    """The program: flow conservation, then the coupling rows; `cutoff` is an upper bound on the goal."""
    states = cover.states
    size, extras = columns.size, len(coupling.extras)
    # One row per state that occurs, in the order of the states.
    present = np.zeros(states.size, bool)
    present[columns.state] = True
    arcs = columns.kind == ARC
    sides = np.concatenate([states.yes[columns.item[arcs]], states.no[columns.item[arcs]]])
    present[sides] = True
    number = np.cumsum(present) - 1
    where = np.flatnonzero(arcs)
    row = np.concatenate([number[columns.state], number[sides]])
    column = np.concatenate([np.arange(size), where, where])
    value = np.concatenate([np.ones(size, np.int64), np.full(len(sides), -1, np.int64)])
    count = int(present.sum())
    start, index, entry = sorted_rows(row, column, value, count)
    balance = np.zeros(count, np.int64)
    balance[0] = 1
    goal = np.concatenate([columns.value[0], np.zeros(extras, np.int64)])
    for extra, factor in coupling.goal.items():
        goal[size + extra] += factor
    further: list[tuple[Whole, Whole, int, int]] = []
    for item in coupling.rows:
        form = np.zeros(size, np.int64) if item.form is None else item.sign * columns.value[item.form]
        used = np.flatnonzero(form)
        ids = np.concatenate([used, size + np.array(list(item.extras), np.int64)])
        values = np.concatenate([form[used], np.array(list(item.extras.values()), np.int64)])
        low = -FREE if item.low is None else item.low
        high = FREE if item.high is None else item.high
        further.append((ids, values, low, high))
    further.extend(_links(cover, columns, coupling))
    if cutoff is not None:
        used = np.flatnonzero(goal)
        further.append((used, goal[used], -FREE, cutoff - cover.offset))
    start2, index2, value2, low2, high2 = gather_rows(further)
    return Program(
        cost=goal,
        lower=np.concatenate([np.zeros(size, np.int64), np.array([e.lower for e in coupling.extras], np.int64)]),
        upper=np.concatenate([np.ones(size, np.int64), np.array([e.upper for e in coupling.extras], np.int64)]),
        start=np.concatenate([start, start[-1] + start2[1:]]),
        index=np.concatenate([index, index2]),
        value=np.concatenate([entry, value2]),
        low=np.concatenate([balance, low2]),
        high=np.concatenate([balance, high2]),
        offset=cover.offset,
        integral_relaxation=not coupling.rows and not coupling.extras and cutoff is None,
    )


def read_tree(cover: Cover, columns: CoverColumns, values: Whole) -> Node:
    """The tree that the flow describes."""
    chosen = {int(columns.state[c]): int(c) for c in np.flatnonzero(values[: columns.size])}
    states = cover.states

    def leaf(label: int) -> Leaf:
        return Leaf(int(label) if cover.labeled else -1)

    def grow(state: int) -> Node:
        column = chosen[state]
        kind, item = columns.kind[column], int(columns.item[column])
        if kind == LEAF:
            return leaf(columns.one[column])
        if kind == ARC:
            test = int(cover.tests[states.test[item]])
            return Split(test, grow(int(states.yes[item])), grow(int(states.no[item])))
        if kind == BOTTOM:
            return Split(int(cover.tests[item]), leaf(columns.one[column]), leaf(columns.zero[column]))
        return pair_tree(cover, state)

    return grow(0)


def columns_of(cover: Cover, columns: CoverColumns, tree: Node, bits: Bits) -> Whole | None:
    """The tree as values of the columns, to start a solver; None if the columns do not contain the tree."""
    # imported here: start-up time
    from treeml.native.cover import pack_bits

    if cover.pairs is not None:
        return None
    states = cover.states
    words = max(1, -(-states.rows // 64))
    by_key = {(int(s), int(i), int(a), int(b)): c for c, (s, i, a, b) in enumerate(
        zip(columns.state, columns.item, columns.one, columns.zero, strict=True))}  # fmt: skip
    arcs: dict[tuple[int, int], list[int]] = {}
    for column in np.flatnonzero(columns.kind == ARC):
        arcs.setdefault((int(columns.state[column]), 0), []).append(int(column))
    values = np.zeros(columns.size, np.int64)
    place = {int(test): number for number, test in enumerate(cover.tests)}
    everything = np.ones(states.rows, bool)

    def mark(node: Node, state: int, rows: Bits) -> bool:
        if isinstance(node, Leaf):
            column = by_key.get((state, -1, max(0, node.label), -1))
            if column is None:
                return False
            values[column] = 1
            return True
        yes_rows = rows & bits[node.test]
        if state >= cover.last:
            test = place.get(node.test)
            if test is None or not isinstance(node.yes, Leaf) or not isinstance(node.no, Leaf):
                return False
            column = by_key.get((state, test, max(0, node.yes.label), max(0, node.no.label)))
            if column is None:
                return False
            values[column] = 1
            return True
        key = pack_bits(yes_rows[None, :])[0]
        for candidate in arcs.get((state, 0), ()):
            arc = int(columns.item[candidate])
            yes, no = int(states.yes[arc]), int(states.no[arc])
            if np.array_equal(states.keys[yes, :words], key):
                values[candidate] = 1
                return mark(node.yes, yes, yes_rows) and mark(node.no, no, rows & ~bits[node.test])
        return False

    return values if mark(tree, 0, everything) else None


def _without_doubles(
    cover: Cover, bottom: tuple[Whole, Whole, Whole, Whole], watched: set[int]
) -> tuple[Whole, Whole, Whole, Whole]:
    """Bottom splits without duplicates: those of one state with equal values and equal use of counted features."""
    state, test, one, zero = bottom
    if not len(state):
        return bottom
    place = state - cover.last
    effects = cover.bottom_price[:, place, test] + cover.yes[:, place, test, one] + cover.no[:, place, test, zero]
    feature = cover.feature[test]
    counted = np.where(np.isin(feature, list(watched)), feature, -1)
    # Sorting by a hash puts duplicates side by side; only splits equal in every part count as duplicates.
    mixed = np.zeros(len(state), np.uint64)
    for part in (counted, *effects):
        mixed = (mixed ^ part.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    order = np.argsort(state.astype(np.uint64) << np.uint64(36) | mixed >> np.uint64(28), kind="stable")
    same = (state[order][1:] == state[order][:-1]) & (counted[order][1:] == counted[order][:-1])
    for effect in effects:
        same &= effect[order][1:] == effect[order][:-1]
    first = order[np.concatenate([[True], ~same])]
    first.sort()
    return state[first], test[first], one[first], zero[first]


def _reachable(cover: Cover, keep: ColumnChoice, ends: Whole) -> tuple[Bits, Whole]:
    """The states that a tree of chosen columns can pass through, and the chosen arcs between them."""
    states = cover.states
    alive = np.zeros(states.size, bool)
    alive[ends] = True
    starts = states.level_start
    arcs = keep.arc.copy()
    for level in range(len(starts) - 3, -1, -1):
        first, last = np.searchsorted(states.parent, (starts[level], starts[level + 1]))
        part = slice(int(first), int(last))
        arcs[part] &= alive[states.yes[part]] & alive[states.no[part]]
        alive[states.parent[part][arcs[part]]] = True
    reached = np.zeros(states.size, bool)
    reached[0] = alive[0]
    for level in range(len(starts) - 2):
        first, last = np.searchsorted(states.parent, (starts[level], starts[level + 1]))
        part = slice(int(first), int(last))
        arcs[part] &= reached[states.parent[part]]
        reached[states.yes[part][arcs[part]]] = True
        reached[states.no[part][arcs[part]]] = True
    return reached & alive, np.flatnonzero(arcs)


def _links(cover: Cover, columns: CoverColumns, coupling: Coupling) -> list[tuple[Whole, Whole, int, int]]:
    """Rows that tie u[f] and D[k] to the columns in use."""
    found: list[tuple[Whole, Whole, int, int]] = []
    if not any(extra.kind in ("used", "depth") for extra in coupling.extras):
        return found
    splits = np.isin(columns.kind, (ARC, BOTTOM))
    test = np.where(columns.kind == ARC, 0, columns.item)
    arcs = columns.kind == ARC
    test[arcs] = cover.states.test[columns.item[arcs]]
    feature = np.where(splits, cover.feature[np.where(splits, test, 0)] if len(cover.feature) else -1, -1)
    level = cover.level_of_state[columns.state]
    for number, extra in enumerate(coupling.extras):
        if extra.kind == "used":
            mine = np.flatnonzero(splits & (feature == extra.number))
        elif extra.kind == "depth":
            mine = np.flatnonzero(splits & (level == extra.number - 1))
        else:
            continue
        variable = columns.size + number
        if extra.wants_small and len(mine):
            states, group = np.unique(columns.state[mine], return_inverse=True)
            strong = len(states) * len(coupling.extras) <= STRONG_LINKS
            groups = group if strong else level[mine]
            capacity = np.ones(len(mine), np.int64) if strong else 2 ** level[mine]
            for one in np.unique(groups):
                these = mine[groups == one]
                room = int(capacity[groups == one][0])
                ids = np.append(these, variable)
                found.append((ids, np.append(np.ones(len(these), np.int64), -room), -FREE, 0))
        if extra.wants_large:
            ids = np.append(mine, variable)
            found.append((ids, np.append(np.full(len(mine), -1, np.int64), 1), -FREE, 0))
    return found
