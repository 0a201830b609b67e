"""A fitted tree of scikit-learn -> a sketch. This module does not import scikit-learn."""

from __future__ import annotations

from typing import Any

from treeml.data.table import Dataset, label_text
from treeml.trees.importing.contract import DEEPEST, Importer, Origin, Sketch, SketchLeaf, SketchSplit


def is_estimator(value: Any) -> bool:
    """Whether the object looks like an estimator of scikit-learn, fitted or not."""
    return hasattr(value, "get_params") and hasattr(value, "fit") and hasattr(value, "predict")


def read_estimator(estimator: Any, origin: Origin, dataset: Dataset) -> Sketch:
    """The tree of a fitted classifier; DataError for anything else that looks like an estimator."""
    if not hasattr(estimator, "tree_"):
        origin.refuse(
            "D440",
            f"a {type(estimator).__name__} holds no tree",
            help="start from a DecisionTreeClassifier after its `fit`",
        )
    if not hasattr(estimator, "classes_"):
        origin.refuse("D440", f"a {type(estimator).__name__} predicts no classes")
    names = _names(estimator, origin, dataset)
    tree, classes = estimator.tree_, estimator.classes_
    if tree.max_depth > DEEPEST:
        origin.refuse("D481", f"the estimator holds a tree of {tree.max_depth} levels, and at most {DEEPEST} are read")

    def node(number: int) -> Sketch:
        left, right = int(tree.children_left[number]), int(tree.children_right[number])
        if left < 0:
            return SketchLeaf(label_text(classes[int(tree.value[number][0].argmax())]))
        value = repr(float(tree.threshold[number]))
        return SketchSplit(names[int(tree.feature[number])], "<=", value, node(left), node(right))

    return node(0)


def _names(estimator: Any, origin: Origin, dataset: Dataset) -> list[str]:
    """The estimator's column names, or those of the data in order if it was fitted on an array."""
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None:
        return [str(name) for name in known]
    target = dataset.target.name if dataset.target is not None else ""
    apart = {target, dataset.spec.weight_column or dataset.table.weight}
    names = [name for name in dataset.table.columns if name not in apart]
    if len(names) != estimator.n_features_in_:
        origin.refuse(
            "D444",
            f"the estimator was fitted on {estimator.n_features_in_} columns, and here are {len(names)}",
            help="fit it on a frame, so that it knows the names of its columns",
        )
    return names


IMPORTER = Importer("scikit-learn", is_estimator, read_estimator)
