"""A set of trees, rows -> which columns matter, on which rows the trees differ, and how they do on other rows.

The dependence on a column is model reliance in the sense of Fisher, Rudin and Dominici (2019): how much the cost of the
predictions grows on average if every row gets the column's value of a row drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.table import Dataset, label_text
from treeml.measures.lower import lower_goal
from treeml.problem.terms import Predicted
from treeml.solving.pipeline import prepare
from treeml.solving.result import Number, plain
from treeml.studies.tree_sets.measures import Asked, value_on
from treeml.studies.tree_sets.predictions import Patterns, Predictions, class_costs, patterns_of
from treeml.studies.tree_sets.sources import ListedTrees, TreeSource, too_many

if TYPE_CHECKING:
    from treeml.studies.tree_sets.tree_set import TreeSet

MOST_RELIED_ON = 2_000_000  # trees whose reliance on every column is computed


@dataclass(frozen=True, slots=True)
class ColumnImportance:
    """One column over all trees of a set."""

    name: str
    share: Number  # of the trees that use it
    least: Number | None  # that the cost of predictions depends on it, over all trees; None if not computed
    most: Number | None


@dataclass(frozen=True, eq=False, slots=True)
class Agreement:
    """What the trees of a set predict for the rows of the data."""

    predictions: tuple[Any, ...]  # classes; or the least and the largest number
    votes: NDArray[Any]  # rows x predictions: how many trees; for numbers, the least and the largest prediction
    disputed: NDArray[np.intp]  # rows whose prediction depends on the tree

    @property
    def share(self) -> float:
        """The share of rows on which all trees agree.

        >>> trees.agreement().share
        0.93
        """
        return 1 - len(self.disputed) / max(1, len(self.votes))


@dataclass(frozen=True, slots=True)
class Spread:
    """The values of a measure over all trees of a set."""

    measure: str
    values: tuple[Number, ...]  # of every tree, in the order of the set

    @property
    def least(self) -> Number:
        """The smallest value.

        >>> trees.unseen("test.csv", "accuracy").least
        """
        return min(self.values)

    @property
    def most(self) -> Number:
        """The largest value.

        >>> trees.unseen("test.csv", "accuracy").most
        """
        return max(self.values)

    @property
    def median(self) -> float:
        """The value in the middle.

        >>> trees.unseen("test.csv", "accuracy").median
        """
        return float(median(self.values))


def importance(trees: TreeSet) -> list[ColumnImportance]:
    """The columns that may be tested, the most used first."""
    source = trees.source
    names = _columns(source)
    if not trees.count:
        return [ColumnImportance(name, 0, None, None) for name in names]
    used = _uses(trees, names)
    reliance = _reliance(trees, names)
    found = [
        ColumnImportance(name, plain(Fraction(used[name], trees.count)), *reliance.get(name, (None, None)))
        for name in names
    ]
    return sorted(found, key=lambda column: -column.share)


def _columns(source: TreeSource) -> list[str]:
    asked = [] if source.dataset is None else source.dataset.features
    return list(dict.fromkeys([*asked, *(test.column for test in source.tests)]))


def _uses(trees: TreeSet, names: Sequence[str]) -> dict[str, int]:
    """The number of trees that use a column: counted by the kernel if the set is all that it counted."""
    source = trees.source
    if isinstance(source, ListedTrees) and _is_counted(trees, source):
        place = {feature.name: number for number, feature in enumerate(source.listing.problem.features)}
        return {name: source.count - source.listing.sets.without(place[name]) for name in names}
    return {name: sum(map(bool, trees.measure(f"uses(`{_escaped(name)}`)"))) for name in names}


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace("`", "\\`")


def _is_counted(trees: TreeSet, source: ListedTrees) -> bool:
    """Does the set have exactly the trees that the kernel counted?"""
    return trees.count == source.listing.sets.total and isinstance(trees.ranks, range)


def _reliance(trees: TreeSet, names: Sequence[str]) -> dict[str, tuple[Number, Number]]:
    """For every column the least and the most by which the cost of predictions depends on it."""
    source, dataset = trees.source, trees.source.dataset
    if dataset is None or not dataset.classes or source.count > MOST_RELIED_ON:
        return {}
    predictions, patterns = Predictions(source), patterns_of(source, dataset, unseen=False)
    cost, scale = _prediction_cost(trees, dataset)
    merged = np.zeros((patterns.bits.shape[1], cost.shape[1]), dtype=np.int64)
    np.add.at(merged, patterns.row, cost)
    chosen = np.asarray(trees.ranks, dtype=np.int64)
    before = class_costs(predictions, patterns.bits, merged, source.count)[chosen]
    column_of = [test.column for test in source.tests]
    found: dict[str, tuple[Number, Number]] = {}
    for name in names:
        tests = [place for place, column in enumerate(column_of) if column == name]
        if not tests:
            found[name] = (0, 0)
            continue
        changed = _changed(predictions, patterns, merged, tests, source.count)[chosen]
        gain = changed - dataset.rows * before  # in units of scale / rows
        ends = (Fraction(int(end), dataset.rows) * scale for end in (gain.min(), gain.max()))
        least, most = map(plain, ends)
        found[name] = (least, most)
    return found


def _changed(
    predictions: Predictions, patterns: Patterns, cost: NDArray[np.int64], tests: list[int], trees: int
) -> NDArray[np.int64]:
    """For every tree the cost if the column takes the value of each row in turn, added up over these rows."""
    answers, place = np.unique(patterns.bits[tests], axis=1, return_inverse=True)
    rows = np.bincount(place.reshape(-1)[patterns.row], minlength=answers.shape[1])
    total = np.zeros(trees, dtype=np.int64)
    for value in range(answers.shape[1]):
        bits = patterns.bits.copy()
        bits[tests] = answers[:, value : value + 1]
        total += int(rows[value]) * class_costs(predictions, bits, cost, trees)
    return total


def _prediction_cost(trees: TreeSet, dataset: Dataset) -> tuple[NDArray[np.int64], Fraction]:
    """Rows x classes of costs: what the goal counts for predictions, else errors."""
    for text in (_goal_text(trees), "errors"):
        if not text:
            continue
        goal = lower_goal(trees._measures.measure(text).goal, dataset, ())
        for factor, term in goal.sum.parts:
            if isinstance(term, Predicted):
                sign = -1 if trees.listed.sense == "maximize" and text != "errors" else 1
                return term.cost, sign * factor * term.scale
    raise AssertionError("errors are a cost of predictions")


def _goal_text(trees: TreeSet) -> str:
    return trees.listed.goal.partition(" ")[2]


def agreement(trees: TreeSet) -> Agreement:
    source, dataset = trees.source, trees.source.dataset
    if dataset is None:
        raise ValueError("agreement needs the rows of the data: TreeSet.read(path, data=...)")
    if not dataset.classes:
        return _number_agreement(trees, dataset)
    votes: NDArray[Any]
    if isinstance(source, ListedTrees) and _is_counted(trees, source):
        votes = source.listing.sets.votes()[source.group]
    else:
        votes = _class_votes(trees, dataset)
    disputed = np.flatnonzero((votes > 0).sum(axis=1) > 1)
    return Agreement(tuple(dataset.classes), votes, disputed)


def _class_votes(trees: TreeSet, dataset: Dataset) -> NDArray[np.int64]:
    source = trees.source
    predictions, patterns = Predictions(source), patterns_of(source, dataset, unseen=False)
    chosen = _membership(trees)
    votes = np.zeros((patterns.bits.shape[1], len(dataset.classes)), dtype=np.int64)
    for block in predictions.blocks(patterns.bits.shape[1]):
        for first, codes in predictions.chunks(patterns.bits[:, block]):
            kept = codes[chosen[first : first + len(codes)]]
            for label in range(votes.shape[1]):
                votes[block, label] += (kept == label).sum(axis=0)
    return votes[patterns.row]


def _number_agreement(trees: TreeSet, dataset: Dataset) -> Agreement:
    source = trees.source
    predictions, patterns = Predictions(source), patterns_of(source, dataset, unseen=False)
    chosen, numbers = _membership(trees), np.array(predictions.table, dtype=np.float64)
    if numbers.ndim > 1:
        raise ValueError("agreement is about one number or class per row, and these trees predict several")
    if not len(numbers):
        numbers = np.array([source.tree(0).leaves[0].prediction if source.count else np.nan])
    low = np.full(patterns.bits.shape[1], np.inf)
    high = -low
    lone = np.array([_lone_prediction(trees)])
    table = np.concatenate([numbers, lone])
    for block in predictions.blocks(len(low)):
        for first, codes in predictions.chunks(patterns.bits[:, block], lone=len(numbers)):
            values = table[codes[chosen[first : first + len(codes)]]]
            if len(values):
                low[block] = np.minimum(low[block], values.min(axis=0))
                high[block] = np.maximum(high[block], values.max(axis=0))
    ends = np.stack([low, high], axis=1)[patterns.row]
    return Agreement(("least", "most"), ends, np.flatnonzero(ends[:, 0] != ends[:, 1]))


def _lone_prediction(trees: TreeSet) -> float:
    """The number that a tree without splits predicts, if the source has one."""
    place = 0
    for test, _, _ in trees.source.chunks():
        alone = np.flatnonzero(test < 0)
        if len(alone):
            return float(trees.source.tree(place + int(alone[0])).leaves[0].prediction)
        place += len(test)
    return float("nan")


def _membership(trees: TreeSet) -> NDArray[np.bool_]:
    too_many(trees.source.count)
    chosen = np.zeros(trees.source.count, dtype=bool)
    chosen[np.asarray(trees.ranks, dtype=np.int64)] = True
    return chosen


def unseen(trees: TreeSet, data: Any, y: Any, measure: str) -> Spread:
    """The measure on other rows; the goal if none is named."""
    too_many(trees.count)
    text = measure or _goal_text(trees)
    other, _ = prepare(trees._measures.model, data, y, keep_table=True)
    asked = trees._measures.measure(text)
    try:
        values = _class_values(trees, asked, other)
    except _NotSumsOfPredictions:
        values = [_defined(value_on(asked, tree, other)) for tree in trees]
    return Spread(text, tuple(plain(value) for value in values))


class _NotSumsOfPredictions(Exception):
    pass


def _defined(value: Fraction | None) -> Fraction:
    return Fraction(0) if value is None else value


def _class_values(trees: TreeSet, asked: Asked, other: Dataset) -> list[Fraction]:
    """Values of sums of costs of predictions, for all trees at once."""
    source = trees.source
    labels = _labels(source)
    if labels is None or [label_text(label) for label in other.classes] != labels:
        raise _NotSumsOfPredictions
    goal = lower_goal(asked.goal, other, ())
    if [type(term) for _, term in goal.sum.parts] != [Predicted]:
        raise _NotSumsOfPredictions
    factor, term = goal.sum.parts[0]
    assert isinstance(term, Predicted)
    patterns = patterns_of(source, other, unseen=True)
    cost = np.zeros((patterns.bits.shape[1], term.cost.shape[1]), dtype=np.int64)
    np.add.at(cost, patterns.row, term.cost)
    totals = class_costs(Predictions(source), patterns.bits, cost, source.count)
    scale = factor * term.scale
    return [scale * int(totals[int(rank)]) + goal.sum.constant for rank in trees.ranks]


def _labels(source: TreeSource) -> list[str] | None:
    head = getattr(source, "head", None)
    classes = head.classes if head is not None else () if source.dataset is None else source.dataset.classes
    return [label_text(label) for label in classes] if len(classes) else None


