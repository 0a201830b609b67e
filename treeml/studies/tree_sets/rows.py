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
from treeml.problem.terms import Predicted, Used
from treeml.solving.pipeline import prepare
from treeml.solving.result import Number, plain
from treeml.studies.tree_sets.measures import Asked, value_on
from treeml.studies.tree_sets.node_values import NodeValues
from treeml.studies.tree_sets.predictions import (
    Patterns,
    Predictions,
    class_costs,
    class_votes,
    number_ends,
    patterns_of,
)
from treeml.studies.tree_sets.sources import ListedTrees, Roots, TreeSource, too_many

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
    too_many(source.count)
    place = {name: number for number, name in enumerate(names)}
    values = NodeValues(source, np.array([place[test.column] for test in source.tests], dtype=np.int64))
    ranks = np.asarray(trees.ranks, dtype=np.int64)
    found = {}
    for name in names:
        uses = values.numbers(Used(frozenset({place[name]})))
        found[name] = int(np.count_nonzero(uses[ranks]))
    return found


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
    roots = predictions.chosen(np.asarray(trees.ranks, dtype=np.int64))
    before = class_costs(predictions, patterns.bits, merged, roots)
    column_of = [test.column for test in source.tests]
    found: dict[str, tuple[Number, Number]] = {}
    for name in names:
        tests = [place for place, column in enumerate(column_of) if column == name]
        if not tests:
            found[name] = (0, 0)
            continue
        gain = _changed(predictions, patterns, merged, tests, roots) - dataset.rows * before
        ends = (Fraction(int(end), dataset.rows) * scale for end in (gain.min(), gain.max()))
        least, most = map(plain, ends)
        found[name] = (least, most)
    return found


def _changed(
    predictions: Predictions, patterns: Patterns, cost: NDArray[np.int64], tests: list[int], roots: Roots
) -> NDArray[np.int64]:
    """For every tree the cost if the column takes the value of each row in turn, added up over these rows."""
    answers, place = np.unique(patterns.bits[tests], axis=1, return_inverse=True)
    rows = np.bincount(place.reshape(-1)[patterns.row], minlength=answers.shape[1])
    total = np.zeros(len(roots[0]), dtype=np.int64)
    for value in range(answers.shape[1]):
        bits = patterns.bits.copy()
        bits[tests] = answers[:, value : value + 1]
        total += int(rows[value]) * class_costs(predictions, bits, cost, roots)
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
    too_many(source.count)
    predictions, patterns = Predictions(source), patterns_of(source, dataset, unseen=False)
    roots = predictions.chosen(np.asarray(trees.ranks, dtype=np.int64))
    return class_votes(predictions, patterns.bits, len(dataset.classes), roots)[patterns.row]


def _number_agreement(trees: TreeSet, dataset: Dataset) -> Agreement:
    source = trees.source
    too_many(source.count)
    predictions, patterns = Predictions(source), patterns_of(source, dataset, unseen=False)
    roots = predictions.chosen(np.asarray(trees.ranks, dtype=np.int64))
    numbers = np.array(predictions.table or [0.0], dtype=np.float64)
    if numbers.ndim > 1:
        raise ValueError("agreement is about one number or class per row, and these trees predict several")
    ends = number_ends(predictions, patterns.bits, numbers, roots)
    alone = np.flatnonzero(roots[0] < 0)
    if len(alone):
        lone = float(source.tree(int(np.asarray(trees.ranks)[alone[0]])).leaves[0].prediction)
        ends = np.stack([np.minimum(ends[:, 0], lone), np.maximum(ends[:, 1], lone)], axis=1)
    ends = ends[patterns.row]
    return Agreement(("least", "most"), ends, np.flatnonzero(ends[:, 0] != ends[:, 1]))


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
    predictions = Predictions(source)
    roots = predictions.chosen(np.asarray(trees.ranks, dtype=np.int64))
    scale = factor * term.scale
    return [
        scale * total + goal.sum.constant for total in class_costs(predictions, patterns.bits, cost, roots).tolist()
    ]


def _labels(source: TreeSource) -> list[str] | None:
    head = getattr(source, "head", None)
    classes = head.classes if head is not None else () if source.dataset is None else source.dataset.classes
    return [label_text(label) for label in classes] if len(classes) else None
