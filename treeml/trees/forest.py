"""Trees with weights -> a Forest: what a user keeps of a boosted ensemble. It needs neither a solver nor data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.table import label_text
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.display import readable_json, shown
from treeml.lang.numerals import exact_number
from treeml.system.reading import read_text
from treeml.system.writing import replace_file
from treeml.trees.json_form import brief, plain_json, write_tree
from treeml.trees.tree import Tree

VERSION = 1


@dataclass(frozen=True)
class Forest:
    """Trees that vote, each with its exact weight; of classes with equal votes the first wins.

    >>> forest = tml.Forest.read("forest.json")
    >>> forest.predict({"age": [30, 60], "sex": ["F", "M"]})
    array(['no', 'yes'], dtype='<U3')
    """

    trees: tuple[Tree, ...]  # the heaviest first
    weights: tuple[Fraction, ...]
    criterion: str = ""  # the boosting method: lpboost, hardmargin, mdboost

    @property
    def classes(self) -> tuple[Any, ...]:
        """The user's own labels.

        >>> forest.classes
        ('no', 'yes')
        """
        return self.trees[0].classes

    @property
    def total(self) -> Fraction:
        """The sum of the weights.

        >>> forest.total
        Fraction(1, 1)
        """
        return sum(self.weights, Fraction(0))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that are tested, each once, those of heavier trees first.

        >>> forest.columns
        ('age', 'sex')
        """
        return tuple(dict.fromkeys(name for tree in self.trees for name in tree.columns))

    def __repr__(self) -> str:
        subject = f" for {shown(self.trees[0].target)}" if self.trees and self.trees[0].target else ""
        by = f" by {self.criterion}" if self.criterion else ""
        leaves = sum(len(tree.leaves) for tree in self.trees)
        return f"<Forest{subject}: {len(self.trees)} trees{by}, {leaves} leaves>"

    def votes(self, data: Any) -> NDArray[np.float64]:
        """For each row the share of the weight that votes for each class, in the order of `classes`.

        >>> forest.votes({"age": [60], "sex": ["M"]})
        array([[0., 1.]])
        """
        votes, total = self._whole_votes(data)
        return np.asarray(votes / total, dtype=np.float64)

    def predict(self, data: Any) -> NDArray[Any]:
        """The class with the most votes for each row, as a label of the training data.

        >>> forest.predict({"age": [60], "sex": ["M"]})
        array(['yes'], dtype='<U3')
        """
        votes, _ = self._whole_votes(data)
        return np.asarray(_labels(self.classes)[np.argmax(votes, axis=1)])

    def predict_proba(self, data: Any) -> NDArray[np.float64]:
        """The shares of the votes, the same as `votes`; for two classes, a share is (1 + margin of the class) / 2.

        >>> forest.predict_proba({"age": [60], "sex": ["M"]})
        array([[0., 1.]])
        """
        return self.votes(data)

    def margins(self, data: Any, y: Any, normalized: bool = True) -> NDArray[np.float64]:
        """For each row the votes for its class `y` minus those for the strongest other class.

        A row with a margin above 0 is predicted correctly. A normalized margin lies between -1 and 1; otherwise it is
        multiplied by the sum of the weights.

        >>> forest.margins({"age": [60, 30], "sex": ["M", "F"]}, ["yes", "yes"])
        array([ 1., -1.])
        """
        votes, total = self._whole_votes(data)
        numbers = {label_text(label): number for number, label in enumerate(self.classes)}
        labels = [label_text(label) for label in y]
        unknown = sorted(set(labels) - set(numbers))
        if unknown or len(labels) != len(votes):
            raise DataError(_wrong_labels(unknown, len(labels), len(votes), numbers))
        own = np.array([numbers[label] for label in labels], dtype=np.intp)
        return np.asarray(margins_of(votes, own) / total * (1.0 if normalized else float(self.total)), dtype=np.float64)

    def _whole_votes(self, data: Any) -> tuple[NDArray[Any], int]:
        """Votes in whole numbers, and the sum of the votes of one row."""
        numbers = {label_text(label): number for number, label in enumerate(self.classes)}
        predicted = []
        for tree in self.trees:
            labels = np.array([numbers[label_text(leaf.prediction)] for leaf in tree.leaves], dtype=np.intp)
            predicted.append(labels[tree.apply(data)])
        return count_votes(predicted, self.weights, len(self.classes))

    def to_json(self) -> dict[str, Any]:
        """The forest as plain JSON values: exact weights, and each tree as docs/tree-json.md describes it.

        >>> forest.to_json()["weights"]
        ['3/4', '1/4']
        """
        return {
            "treeml_forest": VERSION,
            "criterion": self.criterion,
            "weights": [str(weight) for weight in self.weights],
            "trees": [write_tree(tree) for tree in self.trees],
        }

    @classmethod
    def from_json(cls, value: str | bytes | Mapping[str, Any], place: str = "the forest") -> Forest:
        """The forest that `to_json` wrote, from its values or their text; DataError if it is not such a forest.

        `place` names the source in error messages.

        >>> tml.Forest.from_json(forest.to_json()) == forest
        True
        """
        if isinstance(value, (str, bytes)):
            try:
                value = plain_json(value)
            except ValueError as error:
                raise DataError(_no_forest(f"{place} is not JSON: {error}", place)) from error
        if isinstance(value, Mapping) and "treeml_forest" not in value and isinstance(value.get("forest"), Mapping):
            value = value["forest"]
        if not isinstance(value, Mapping) or value.get("treeml_forest") != VERSION:
            raise DataError(
                _no_forest(f"{place} is not a forest: it has no `treeml_forest` of version {VERSION}", place)
            )
        trees, weights = value.get("trees"), value.get("weights")
        if not isinstance(trees, list) or not isinstance(weights, list) or not trees or len(trees) != len(weights):
            raise DataError(_no_forest(f"{place} does not hold as many weights as trees", place))
        read = tuple(Tree.from_json(tree, f"trees[{number}] of {place}") for number, tree in enumerate(trees))
        if len({(tree.task, tree.classes) for tree in read}) > 1 or read[0].task != "classes":
            raise DataError(_no_forest(f"the trees of {place} do not predict the same classes", place))
        return cls(read, tuple(_weight(weight, place) for weight in weights), str(value.get("criterion", "")))

    @classmethod
    def read(cls, path: str | Path) -> Forest:
        """The forest in a file that `write` or `treeml solve -o` wrote, or `treeml solve --json` printed.

        >>> len(tml.Forest.read("forest.json").trees)
        2
        """
        try:
            text = read_text(path)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise DataError(_no_forest(f"{path} cannot be read: {reason}", str(path))) from error
        return cls.from_json(text, str(path))

    def write(self, path: str | Path) -> None:
        """Write the forest to a file as JSON.

        >>> forest.write("forest.json")
        """
        replace_file(path, readable_json(self.to_json(), indent=1) + "\n")

    def text(self, most: int | None = None, row: Any = None) -> str:
        """The trees with their weights, the heaviest first; only the first `most` of them if it is given.

        The lines on the path of `row` are marked.

        >>> print(forest.text(most=1).splitlines()[0])
        tree 1 of 2, weight 0.75
        """
        shown = self.trees[:most]
        parts = [
            f"tree {number} of {len(self.trees)}, weight {float(weight):.6g}\n{tree.to_text(row)}"
            for number, (tree, weight) in enumerate(zip(shown, self.weights, strict=False), 1)
        ]
        if len(shown) < len(self.trees):
            rest = sum(self.weights[len(shown) :], Fraction(0))
            parts.append(f"and {len(self.trees) - len(shown)} more trees, of weight {float(rest):.6g} together")
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from treeml.trees.html import forest_html  # imported here: start-up time

        return forest_html(self)

    def to_dot(self, *, sideways: bool = False) -> tuple[str, ...]:
        """Each tree in the language of Graphviz; with `sideways` from left to right.

        >>> len(forest.to_dot())
        2
        """
        return tuple(tree.to_dot(sideways=sideways) for tree in self.trees)

    def to_svg(self, *, sideways: bool = False) -> tuple[str, ...]:
        """Each tree as an SVG drawing that needs no other file; with `sideways` from left to right.

        >>> len(forest.to_svg())
        2
        """
        return tuple(tree.to_svg(sideways=sideways) for tree in self.trees)


def is_forest(path: Path) -> bool:
    """Whether a file holds a forest, or a result with a forest."""
    try:
        value = plain_json(read_text(path))
    except (OSError, ValueError):
        return False
    return isinstance(value, dict) and ("treeml_forest" in value or isinstance(value.get("forest"), dict))


def count_votes(
    predicted: Sequence[NDArray[np.intp]], weights: Sequence[Fraction], classes: int
) -> tuple[NDArray[Any], int]:
    """Class numbers by tree and row, weights -> integer votes (rows x classes), and their sum per row."""
    scale = 1
    for weight in weights:
        scale = scale * weight.denominator // gcd(scale, weight.denominator)
    whole = [int(weight * scale) for weight in weights]
    total = sum(whole)
    votes = np.zeros((len(predicted[0]), classes), dtype=np.int64 if total < 2**62 else object)
    rows = np.arange(len(votes))
    for labels, amount in zip(predicted, whole, strict=True):
        votes[rows, labels] += amount
    return votes, total


def margins_of(votes: NDArray[Any], own: NDArray[np.intp]) -> NDArray[Any]:
    """The votes for each row's own class minus those for its strongest rival, in the units of the votes."""
    rows = np.arange(len(votes))
    mine = votes[rows, own]
    rivals = votes.copy()
    rivals[rows, own] = -1
    return np.asarray(mine - rivals.max(axis=1)) if votes.shape[1] > 1 else np.asarray(mine)


def _labels(classes: Sequence[Any]) -> NDArray[Any]:
    """Labels of one plain type as an array of that type; all others as an array of objects."""
    plain = len({type(label) for label in classes}) == 1 and isinstance(classes[0], (str, bool, int, float))
    return np.array(classes, dtype=None if plain else object)


def _weight(value: Any, place: str) -> Fraction:
    try:
        weight = exact_number(value)
    except ValueError as error:
        raise DataError(_no_forest(f'{place} holds {brief(value)}, not a weight such as "3/8"', place)) from error
    if weight <= 0:
        raise DataError(_no_forest(f"{place} holds the weight {brief(value)}, and weights are above 0", place))
    return weight


def _no_forest(title: str, place: str) -> Diagnostic:
    return Diagnostic("D437", title, notes=("docs/boosting.md describes the form",), place=place)


def _wrong_labels(unknown: Sequence[str], labels: int, rows: int, known: Mapping[str, int]) -> Diagnostic:
    if unknown:
        title = f"`{unknown[0]}` is not a class of this forest"
        return Diagnostic("D465", title, notes=(f"its classes are {', '.join(known)}",))
    return Diagnostic("D438", f"{labels} classes were given for {rows} rows", helps=("give one class for each row",))
