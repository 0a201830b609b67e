"""Tree -> ONNX with standard operators only.

Every column is an input of its own with one value per row: numbers are doubles (missing: NaN), levels are texts
(missing: ""). Outputs: `prediction`; `leaf`, the number of the leaf, or -1 if the tree gives no prediction; `shares`
for classes. Without a prediction, `prediction` is "" for texts, NaN for numbers and the smallest int64 for integers.
Doubles are compared exactly, unlike in the tree operators of ONNX, which use floats. A column whose name an input
cannot have (an empty name, or that of an output) is called `column_1`, `column_2` ...; the properties of the model map
it to the column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from treeml.data.table import label_text
from treeml.lang.display import readable_json, visible_letter
from treeml.trees.export.contract import Export
from treeml.trees.export.questions import ExportQuestion, asked, level_texts, required, threshold
from treeml.trees.export.votes import EXACT_DOUBLES, all_columns, class_number, whole_weights
from treeml.trees.forest import Forest
from treeml.trees.nodes import Branch, Field, Node, class_shares
from treeml.trees.tree import Tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TAKEN = frozenset({"rows", "prediction", "leaf", "shares", "votes"})
OPSET = 19  # the first that can compare texts
NO_NUMBER = -(2**63)


def write(tree: Tree) -> bytes:
    _need_onnx()
    return _checked(_Graph(tree).model())


def write_forest(forest: Forest) -> bytes:
    votes = [
        [[float(weight) if class_number(forest, leaf) == place else 0.0 for place in range(len(forest.classes))]
         for leaf in tree.leaves]
        for tree, weight in zip(forest.trees, whole_weights(forest, EXACT_DOUBLES), strict=True)
    ]  # fmt: skip
    return write_votes(all_columns(forest), forest.trees, votes)


def write_votes(whole: Tree, trees: Sequence[Tree], votes: Sequence[Sequence[Sequence[float]]]) -> bytes:
    """Trees that vote. `whole` has the columns of all trees; `votes[tree][leaf]` holds one number per class.

    Outputs: `prediction`, `votes`, and `shares`, each of the votes divided by their sum.
    """
    _need_onnx()
    return _checked(_Graph(whole).voting(trees, votes))


def _need_onnx() -> None:
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        from treeml.lang.diagnostic import DataError, Diagnostic

        raise DataError(
            Diagnostic("D492", "ONNX needs the package onnx", place="onnx", helps=("pip install 'treeml[export]'",))
        ) from error


def _checked(model: Any) -> bytes:
    import onnx

    onnx.checker.check_model(model)
    written: bytes = model.SerializeToString()
    return written


def input_names(tree: Tree) -> dict[str, str]:
    """The name of the input for every column: its own name, unless it is empty, reserved, or not valid UTF-8."""
    own = {field.name for field in tree.fields}
    names: dict[str, str] = {}
    for number, field in enumerate(tree.fields, 1):
        name = field.name
        if not name or name in TAKEN or name.startswith("treeml/") or whole_text(name) != name:
            name = f"column_{number}"
            while name in own:
                name += "_"
        own.add(name)
        names[field.name] = name
    return names


def whole_text(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot encode, written as escapes."""
    return "".join(visible_letter(letter) if "\ud800" <= letter <= "\udfff" else letter for letter in text)


def _written(value: Any) -> str:
    return whole_text(label_text(value))


class _Graph:
    """Builds a graph node by node; each method returns the name of its value."""

    def __init__(self, tree: Tree) -> None:
        import numpy
        from onnx import helper, numpy_helper

        self.tree, self.helper, self.tensors, self.numpy = tree, helper, numpy_helper, numpy
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.names = input_names(tree)
        self.columns = {field.name: self.column(field) for field in tree.fields}

    def model(self) -> Any:
        from onnx import TensorProto

        h = self.helper
        leaf = self.leaf(self.tree)
        self.nodes.append(h.make_node("Identity", [leaf], ["leaf"]))
        values, kind, shape = self.predictions()
        # The last entry is for rows without a prediction: index -1 counts from the end.
        self.nodes.append(h.make_node("Gather", [self.constant(values), leaf], ["prediction"], axis=0))
        outputs = [
            h.make_tensor_value_info("prediction", kind, ["rows", *shape]),
            h.make_tensor_value_info("leaf", TensorProto.INT64, ["rows"]),
        ]
        if self.tree.task == "classes":
            shares = [[float(s) for s in class_shares(leaf, self.tree.classes)] for leaf in self.tree.leaves]
            shares.append([float("nan")] * len(self.tree.classes))
            self.nodes.append(
                h.make_node("Gather", [self.constant(self.numpy.array(shares)), leaf], ["shares"], axis=0)
            )
            outputs.append(h.make_tensor_value_info("shares", TensorProto.DOUBLE, ["rows", len(self.tree.classes)]))
        return self.made("tree", outputs)

    def made(self, name: str, outputs: list[Any]) -> Any:
        from onnx import TensorProto

        h = self.helper
        inputs = [
            h.make_tensor_value_info(name, TensorProto.STRING if field.levels else TensorProto.DOUBLE, ["rows"])
            for name, field in zip(self.names.values(), self.tree.fields, strict=True)
        ]
        if not inputs:  # a single leaf needs an input for the number of rows
            inputs = [h.make_tensor_value_info("rows", TensorProto.DOUBLE, ["rows"])]
        graph = h.make_graph(self.nodes, name, inputs, outputs, self.constants)
        model = h.make_model(graph, producer_name="treeml", opset_imports=[h.make_opsetid("", OPSET)], ir_version=9)
        renamed = {given: readable_json(name) for name, given in self.names.items() if given != name}
        if renamed:
            h.set_model_props(model, renamed)
        return model

    def voting(self, trees: Sequence[Tree], votes: Sequence[Sequence[Sequence[float]]]) -> Any:
        from onnx import TensorProto

        h, np, classes = self.helper, self.numpy, len(self.tree.classes)
        counted, total = "", 0.0
        for tree, each in zip(trees, votes, strict=True):
            # The last entry is for rows without a prediction: index -1 counts from the end, and a sum with NaN is NaN.
            table = self.constant(np.array([*each, [np.nan] * classes], dtype=np.float64))
            given = self.add("Gather", table, self.leaf(tree))
            counted = self.add("Add", counted, given) if counted else given
            total += sum(each[0])
        self.nodes.append(h.make_node("Identity", [counted], ["votes"]))
        self.nodes.append(h.make_node("Div", [counted, self.constant(np.array(total))], ["shares"]))
        # An extra first column is infinite for rows without votes, so that it wins exactly for these rows.
        one = self.constant(np.array([1], dtype=np.int64))
        first = self.add("Slice", counted, self.constant(np.array([0], dtype=np.int64)), one, one)
        nothing = self.add("IsNaN", first)
        none = self.add("Where", nothing, self.constant(np.array(np.inf)), self.constant(np.array(-1.0)))
        zero = self.add("Where", self.add("IsNaN", counted), self.constant(np.array(0.0)), counted)
        both = self.concatenated(none, zero)
        best = self.largest(both)
        values, kind, _ = self.label_values(self.tree.classes)
        order = np.concatenate([values[-1:], values[:-1]])
        self.nodes.append(h.make_node("Gather", [self.constant(order), best], ["prediction"], axis=0))
        return self.made(
            "forest",
            [
                h.make_tensor_value_info("prediction", kind, ["rows"]),
                h.make_tensor_value_info("votes", TensorProto.DOUBLE, ["rows", classes]),
                h.make_tensor_value_info("shares", TensorProto.DOUBLE, ["rows", classes]),
            ],
        )

    def concatenated(self, *columns: str) -> str:
        name = f"treeml/{len(self.nodes)}"
        self.nodes.append(self.helper.make_node("Concat", list(columns), [name], axis=1))
        return name

    def largest(self, values: str) -> str:
        """The position of the largest value in every row, the first of equal ones."""
        name = f"treeml/{len(self.nodes)}"
        self.nodes.append(self.helper.make_node("ArgMax", [values], [name], axis=1, keepdims=0))
        return name

    def predictions(self) -> tuple[NDArray[Any], int, list[int]]:
        from onnx import TensorProto

        tree, np = self.tree, self.numpy
        found = [leaf.prediction for leaf in tree.leaves]
        if tree.task == "numbers":
            return np.array([*map(float, found), np.nan]), TensorProto.DOUBLE, []
        if tree.task == "clusters":
            rows = [*(list(map(float, each)) for each in found), [np.nan] * len(tree.outputs)]
            return np.array(rows), TensorProto.DOUBLE, [len(tree.outputs)]
        return self.label_values(found)

    def label_values(self, labels: Sequence[Any]) -> tuple[NDArray[Any], int, list[int]]:
        """The labels, then the value for rows without a prediction."""
        from onnx import TensorProto

        np = self.numpy
        if all(type(label) is int for label in self.tree.classes):
            return np.array([*labels, NO_NUMBER], dtype=np.int64), TensorProto.INT64, []
        return (
            np.array([*(whole_text(label_text(label)) for label in labels), ""], dtype=object),
            TensorProto.STRING,
            [],
        )

    def leaf(self, tree: Tree) -> str:
        """The leaf of every row, computed from the leaves up without recursion, so that any depth works."""
        first = next(iter(self.columns.values()))[0] if self.columns else "rows"
        shape = self.add("Shape", first)
        numbers: dict[int, str] = {}
        order: list[Node] = list(tree.nodes())
        leaf = len(tree.leaves)
        for node in reversed(order):
            if isinstance(node, Branch):
                yes = self.condition(asked(tree, node.test))
                numbers[id(node)] = self.add("Where", yes, numbers[id(node.yes)], numbers[id(node.no)])
            else:
                leaf -= 1
                numbers[id(node)] = self.add("Expand", self.constant(self.numpy.array(leaf, dtype="int64")), shape)
        found = numbers[id(tree.root)]
        for field in required(tree):
            nobody = self.constant(self.numpy.array(-1, dtype="int64"))
            found = self.add("Where", self.columns[field.name][1], nobody, found)
        return found

    def column(self, field: Field) -> tuple[str, str]:
        """The values with missing ones filled in, and the mask of missing values."""
        np = self.numpy
        if field.levels:
            missing = self.add("Equal", self.names[field.name], self.constant(np.array("", dtype=object)))
        else:
            missing = self.add("IsNaN", self.names[field.name])
        if field.fill is None:
            return self.names[field.name], missing
        fill = np.array(_written(field.fill), dtype=object) if field.levels else np.array(float(field.fill))
        return self.add("Where", missing, self.constant(fill), self.names[field.name]), missing

    def condition(self, question: ExportQuestion) -> str:
        np = self.numpy
        values, missing = self.columns[question.field.name]
        if question.kind == "missing":
            return missing
        if question.kind == "at most":
            limit = self.constant(np.array(float(threshold(question.values[0]))))
            found = self.add("LessOrEqual", values, limit)
        else:
            levels = question.field.levels
            passing: Iterable[Any] = map(float, question.values)
            if levels:
                passing = map(whole_text, level_texts(question.field, question.values))
            each = [
                self.add("Equal", values, self.constant(np.array(value, dtype=object if levels else float)))
                for value in passing
            ]
            found = each[0]
            for other in each[1:]:
                found = self.add("Or", found, other)
        return self.add("Or", found, missing) if question.missing_yes else found

    def add(self, operator: str, *inputs: str) -> str:
        name = f"treeml/{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, list(inputs), [name]))
        return name

    def constant(self, value: NDArray[np.generic]) -> str:
        name = f"treeml/constant/{len(self.constants)}"
        self.constants.append(self.tensors.from_array(value, name))
        return name


EXPORT = Export("onnx", (".onnx",), write, write_forest)
