"""Forest -> what its exports share: whole weights, all columns, and the class that a leaf votes for.

Votes are counted in whole numbers, so that no form rounds: the weights of the trees over their common denominator. Of
classes with equal votes the first wins, as in `Forest.predict`.
"""

from __future__ import annotations

from math import lcm

from treeml.data.table import label_text
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.trees.forest import Forest
from treeml.trees.nodes import Field, TreeLeaf
from treeml.trees.tree import Tree

EXACT_INTEGERS = 2**62  # largest sum of weights in C and SQL
EXACT_DOUBLES = 2**53  # largest sum of weights in ONNX and PMML


def whole_weights(forest: Forest, most: int | None = None) -> list[int]:
    """The weights over their common denominator; DataError if their sum exceeds what a form can count exactly."""
    scale = lcm(*(weight.denominator for weight in forest.weights))
    whole = [int(weight * scale) for weight in forest.weights]
    if most is not None and sum(whole) >= most:
        raise DataError(
            Diagnostic(
                "D492",
                f"the weights of this forest have a common denominator of {scale}, too large to count votes exactly",
                helps=("choose another form: `treeml show --as python`", "or solve with a penalty of fewer digits"),
            )
        )
    return whole


def all_columns(forest: Forest) -> Tree:
    """A tree without tests that has the columns of all trees, for the parts that a forest writes only once."""
    fields: dict[str, Field] = {}
    for tree in forest.trees:
        for field in tree.fields:
            fields.setdefault(field.name, field)
    first = forest.trees[0]
    return Tree(TreeLeaf(first.classes[0]), "classes", first.target, first.classes, (), tuple(fields.values()))


def class_number(forest: Forest, leaf: TreeLeaf) -> int:
    """The place of the class that a leaf predicts among the classes of the forest."""
    return [label_text(label) for label in forest.classes].index(label_text(leaf.prediction))
