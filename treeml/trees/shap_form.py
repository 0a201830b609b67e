"""Tree -> the form in which SHAP's TreeExplainer reads a tree, and its rows as the numbers that this form asks about.

SHAP knows numbers and thresholds only. A column of numbers stays one column; every other test becomes a column of its
own, 1 where the answer is yes: `sex is F`. SHAP values of one column of the user then are those of its tests together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.dates import CALENDAR
from treeml.trees.nodes import Node, TreeData, TreeLeaf, TreeTest, class_shares
from treeml.trees.routing import Inputs, Values, answers, read_inputs


class ShapTree(dict[str, Any]):
    """The dictionary that `shap.TreeExplainer` takes as a model; `matrix` makes the rows that go with it.

    >>> model = to_shap(tree)
    >>> explainer = shap.TreeExplainer(model)
    >>> explainer.shap_values(model.matrix(frame))
    """

    def __init__(self, tree: TreeData) -> None:
        self.tree = tree
        self.tests: list[TreeTest | str] = []  # the test of each column, or the name of a column of numbers
        self.feature_names: list[str] = []
        super().__init__(
            trees=[self._flat()],
            internal_dtype=np.float64,
            input_dtype=np.float64,
            objective="binary_crossentropy" if tree.task == "classes" else "squared_error",
            tree_output="probability" if tree.task == "classes" else "raw_value",
            num_outputs=len(tree.classes) if tree.task == "classes" else max(1, len(tree.outputs)),
            base_offset=0.0,
        )

    def matrix(self, data: Any) -> NDArray[np.float64]:
        """Rows (a frame, dicts or an array, as for `Tree.predict`) as one number per feature."""
        inputs = read_inputs(self.tree, data)
        columns = [self._column(test, inputs) for test in self.tests]
        return np.column_stack(columns) if columns else np.zeros((inputs.rows, 0))

    def _column(self, test: TreeTest | str, inputs: Inputs) -> NDArray[np.float64]:
        if isinstance(test, TreeTest):
            return answers(test, inputs.columns[test.column]).astype(np.float64)
        return _numbers(inputs.columns[test])

    def _flat(self) -> dict[str, Any]:
        nodes: list[dict[str, Any]] = []

        def add(node: Node) -> int:
            number = len(nodes)
            nodes.append({})
            if isinstance(node, TreeLeaf):
                nodes[number] = self._leaf(node)
                return number
            feature, threshold, missing_yes = self._question(node.test)
            # The sides of a threshold are swapped for other tests: their yes is 1, which lies above 0.5.
            left, right = (node.yes, node.no) if isinstance(self.tests[feature], str) else (node.no, node.yes)
            lower, upper = add(left), add(right)
            rows = nodes[lower]["rows"] + nodes[upper]["rows"]
            parts = [(nodes[side]["rows"], nodes[side]["value"]) for side in (lower, upper)]
            value = sum(weight * held for weight, held in parts) / rows if rows else parts[0][1]
            gap = lower if missing_yes else upper
            nodes[number] = {
                "left": lower, "right": upper, "default": gap, "feature": feature, "threshold": threshold,
                "rows": rows, "value": value,
            }  # fmt: skip
            return number

        add(self.tree.root)
        return {
            "children_left": np.array([node["left"] for node in nodes], dtype=np.int32),
            "children_right": np.array([node["right"] for node in nodes], dtype=np.int32),
            "children_default": np.array([node["default"] for node in nodes], dtype=np.int32),
            "features": np.array([node["feature"] for node in nodes], dtype=np.int32),
            "thresholds": np.array([node["threshold"] for node in nodes], dtype=np.float64),
            "values": np.array([node["value"] for node in nodes], dtype=np.float64),
            "node_sample_weight": np.array([node["rows"] for node in nodes], dtype=np.float64),
        }

    def _leaf(self, leaf: TreeLeaf) -> dict[str, Any]:
        if self.tree.task == "classes":
            value = np.array([float(share) for share in class_shares(leaf, self.tree.classes)])
        else:
            value = np.atleast_1d(np.asarray(leaf.prediction, dtype=np.float64))
        weight = float(sum(leaf.weights)) or float(leaf.rows)
        return {
            "left": -1, "right": -1, "default": -1, "feature": -2, "threshold": -2.0, "rows": weight, "value": value
        }  # fmt: skip

    def _question(self, test: TreeTest) -> tuple[int, float, bool]:
        """The number of the feature, its threshold, and whether a missing value answers yes."""
        field = next(field for field in self.tree.fields if field.name == test.column)
        asked: TreeTest | str = test
        if test.kind == "at most" and not field.levels:
            asked = test.column
        if asked not in self.tests:
            self.tests.append(asked)
            self.feature_names.append(str(asked))
        number = self.tests.index(asked)
        return number, float(test.values[0]) if isinstance(asked, str) else 0.5, test.missing_yes


def to_shap(tree: TreeData) -> ShapTree:
    """The tree for `shap.TreeExplainer`.

    >>> to_shap(tree).feature_names
    ['age', 'sex is F']
    """
    if any(leaf.slopes for leaf in tree.leaves):
        raise ValueError("the leaves of this tree are linear models, and shap explains trees with one number per leaf")
    if any(field.type in CALENDAR for field in tree.fields):
        raise ValueError("this tree tests dates or times, and shap explains trees over numbers")
    return ShapTree(tree)


def _numbers(column: Values) -> NDArray[np.float64]:
    values = np.asarray(column.values, dtype=np.float64)
    return values if column.missing is None else np.where(column.missing, np.nan, values)
