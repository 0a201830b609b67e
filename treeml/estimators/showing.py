"""A fitted estimator -> its tree as text or a picture, under the names that scikit-learn has for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from treeml.data.table import label_text
from treeml.trees.nodes import Branch, Node, TreeLeaf, class_shares
from treeml.trees.tree import Tree


def export_text(
    estimator: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """The rules of a fitted tree as text, in the layout of `sklearn.tree.export_text`.

    >>> from treeml.sklearn import OptimalTreeClassifier, export_text
    >>> export_text(OptimalTreeClassifier(max_depth=1).fit(X, y)).startswith("|--- ")
    True
    """
    tree = _named(estimator, feature_names, class_names)
    if max_depth < 0 or spacing < 1 or decimals < 0:
        raise ValueError("max_depth and decimals are at least 0, and spacing at least 1")
    lines: list[str] = []

    def visit(node: Node, depth: int) -> None:
        indent = ("|" + " " * spacing) * depth + "|" + "-" * spacing + " "
        if isinstance(node, TreeLeaf):
            lines.append(indent + _leaf_text(tree, node, decimals, show_weights))
        elif depth > max_depth:
            lines.append(f"{indent}truncated branch of depth {_depth(node)}")
        else:
            for side in tree.sides(node):
                lines.append(indent + side.fact)
                visit(side.node, depth + 1)

    visit(tree.root, 0)
    return "\n".join(lines) + "\n"


def plot_tree(
    estimator: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    ax: Any = None,
    sideways: bool = False,
) -> list[Any]:
    """Draw a fitted tree on axes of matplotlib (the present ones by default); returns the texts that were drawn.

    With `sideways` the tree grows from left to right.

    >>> from treeml.sklearn import OptimalTreeClassifier, plot_tree
    >>> len(plot_tree(OptimalTreeClassifier(max_depth=1).fit(X, y))) > 0
    True
    """
    from treeml.trees.picture import draw_on  # imported here: matplotlib is an extra

    tree = _named(estimator, feature_names, class_names)
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.gca()
    before = len(ax.texts)
    draw_on(ax, tree.to_svg(sideways=sideways))
    return list(ax.texts)[before:]


def _leaf_text(tree: Tree, leaf: TreeLeaf, decimals: int, show_weights: bool) -> str:
    if tree.task != "classes":
        values = leaf.prediction if isinstance(leaf.prediction, tuple) else (leaf.prediction,)
        return f"value: [{', '.join(f'{value:.{decimals}f}' for value in values)}]"
    weights = ""
    if show_weights:
        held = [float(each) for each in leaf.weights or class_shares(leaf, tree.classes)]
        weights = f"weights: [{', '.join(f'{each:.{decimals}f}' for each in held)}] "
    return f"{weights}class: {label_text(leaf.prediction)}"


def _depth(node: Node) -> int:
    return 0 if isinstance(node, TreeLeaf) else 1 + max(_depth(node.yes), _depth(node.no))


def _named(estimator: Any, features: Sequence[str] | None, classes: Sequence[str] | None) -> Tree:
    """The tree of an estimator (or a Tree), with other names for its columns and classes if they are given."""
    if not isinstance(estimator, Tree):
        check_is_fitted(estimator)
    tree: Tree = estimator if isinstance(estimator, Tree) else estimator.tree_
    if features is not None and len(features) != len(tree.inputs):
        raise ValueError(
            f"feature_names has {len(features)} names, and the tree was fitted to {len(tree.inputs)} columns"
        )
    if classes is not None and len(classes) != len(tree.classes):
        raise ValueError(f"class_names has {len(classes)} names, and the tree has {len(tree.classes)} classes")
    columns = dict(zip(tree.inputs, map(str, features or tree.inputs), strict=True))
    labels = dict(zip(tree.classes, classes or tree.classes, strict=True))

    def renamed(node: Node) -> Node:
        if isinstance(node, TreeLeaf):
            return replace(node, prediction=labels[node.prediction]) if tree.task == "classes" else node
        test = replace(node.test, column=columns[node.test.column])
        return Branch(test, renamed(node.yes), renamed(node.no))

    return replace(
        tree,
        root=renamed(tree.root),
        classes=tuple(labels.values()),
        fields=tuple(replace(field, name=columns[field.name]) for field in tree.fields),
        inputs=tuple(columns.values()),
    )
