"""Tree -> a Python module without dependencies: `predict(row)` for a row given as a dict.

None and NaN are missing values. A missing value in a column that had none in training raises ValueError.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

from treeml.data.dates import CALENDAR
from treeml.data.table import label_text
from treeml.trees.export.contract import Export
from treeml.trees.export.questions import ExportQuestion, asked, filled, level_texts, required, threshold
from treeml.trees.export.votes import all_columns, class_number, whole_weights
from treeml.trees.forest import Forest
from treeml.trees.nodes import Field, Node, TreeLeaf
from treeml.trees.tree import Tree

DEEPEST = 30  # deeper subtrees become functions of their own: Python allows at most 100 levels of indentation

HELPERS = '''

def _number(value):
    if value is None or value != value:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else float(value)


def _text(value):
    """How a level reads: 1, 1.0 and "1" are all 1, and True is true."""
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)
'''

CALENDAR_HELPERS = '''

def _time(value):
    """A date, a time, or the ISO text of one, as a time; one with a zone as the same moment in UTC."""
    if value is None or value != value or value == "":
        return None
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value.strip())
    elif hasattr(value, "astype"):
        value = value.astype("datetime64[us]").item()
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    return value if value.tzinfo is None else value.astimezone(datetime.timezone.utc).replace(tzinfo=None)


def _date(value):
    time = _time(value)
    return None if time is None else time.date()
'''


PREDICT_BY_VOTES = '''CLASSES = ({labels},)
TREES = ({trees},)


def votes(row):
    """For every class the weight of the trees that vote for it, in whole numbers."""
    found = [0] * len(CLASSES)
    for tree, weight in TREES:
        found[tree(row)] += weight
    return found


def predict(row):
    """The prediction for one row, a dict from column to value: of equal votes the first class wins."""
    found = votes(row)
    return CLASSES[found.index(max(found))]'''


def write(tree: Tree) -> str:
    parts = [opening(tree, "A decision tree", imports([tree])), *Writer(tree, "predict").functions()]
    return "\n\n\n".join(parts) + "\n"


def write_forest(forest: Forest) -> str:
    # Each tree returns the number of its class, so that labels of any kind are told apart.
    writers = [Writer(_numbered(forest, tree), f"_tree_{number}") for number, tree in enumerate(forest.trees)]
    head = opening(all_columns(forest), f"{len(forest.trees)} decision trees that vote", imports(forest.trees))
    weighted = zip(writers, whole_weights(forest), strict=True)
    predict = PREDICT_BY_VOTES.format(
        labels=", ".join(label(each) for each in forest.classes),
        trees=", ".join(f"({writer.name}, {weight})" for writer, weight in weighted),
    )
    parts = [part for writer in writers for part in writer.functions()]
    return "\n\n\n".join([head, *parts, predict]) + "\n"


def _numbered(forest: Forest, tree: Tree) -> Tree:
    """The tree with the number of a class in place of its label."""

    def numbered(node: Any) -> Any:
        if isinstance(node, TreeLeaf):
            return replace(node, prediction=class_number(forest, node))
        return replace(node, yes=numbered(node.yes), no=numbered(node.no))

    return replace(tree, root=numbered(tree.root), classes=tuple(range(len(tree.classes))))


def opening(tree: Tree, what: str, imported: str) -> str:
    """The docstring of the module, its imports, and the helpers that every tree uses."""
    target = _comment(tree.target or ", ".join(tree.outputs))
    dated = CALENDAR_HELPERS if _has_dates(tree) else ""
    return f'"""{what} for {target}, written by TreeML."""{imported}{HELPERS}{dated}'.strip("\n")


def imports(trees: Sequence[Tree]) -> str:
    predicted = any(isinstance(leaf.prediction, date) for tree in trees for leaf in tree.leaves)
    return "\n\nimport datetime" if predicted or any(map(_has_dates, trees)) else ""


def _has_dates(tree: Tree) -> bool:
    return any(field.type in CALENDAR for field in tree.fields)


class Writer:
    """One tree as a function of this name, plus as many helper functions as its depth needs."""

    def __init__(self, tree: Tree, name: str) -> None:
        self.tree, self.name = tree, name
        self.names = {field.name: f"v{number}" for number, field in enumerate(tree.fields)}
        self.part = "_part" if name == "predict" else f"{name}_part"
        self.waiting: list[Node] = [tree.root]

    def functions(self) -> list[str]:
        parts = [self.opening()]
        number = 0
        while number < len(self.waiting):
            arguments = ", ".join(self.names.values())
            lines = [f"def {self.part}_{number}({arguments}):", *self.lines(self.waiting[number], 1)]
            parts.append("\n".join(lines))
            number += 1
        return parts

    def opening(self) -> str:
        lines = [f"def {self.name}(row):", '    """The prediction for one row, a dict from column to value."""']
        for field in self.tree.fields:
            lines.append(f"    {self.names[field.name]} = {_read(field)}")
        for field in required(self.tree):
            message = repr(f"{field.name} is missing, but the training data had no missing values there")
            lines += [f"    if {self.names[field.name]} is None:", f"        raise ValueError({message})"]
        lines.append(f"    return {self.part}_0({', '.join(self.names.values())})")
        return "\n".join(lines)

    def lines(self, node: Node, depth: int) -> list[str]:
        indent = "    " * depth
        if isinstance(node, TreeLeaf):
            rows = f"{node.rows} {'row' if node.rows == 1 else 'rows'}"
            return [f"{indent}return {label(node.prediction)}  # {rows}"]
        if depth > DEEPEST:
            self.waiting.append(node)
            return [f"{indent}return {self.part}_{len(self.waiting) - 1}({', '.join(self.names.values())})"]
        question = asked(self.tree, node.test)
        condition = _condition(question, self.names[question.field.name])
        comment = f"  # {_comment(str(node.test))}"
        yes = self.lines(node.yes, depth + 1)
        return [f"{indent}if {condition}:{comment}", *yes, *self.lines(node.no, depth)]


def _read(field: Field) -> str:
    kind = "text" if field.levels else field.type if field.type in CALENDAR else "number"
    read = f"_{kind}(row[{field.name!r}])"
    if field.fill is None:
        return read
    fill = repr(label_text(field.fill)) if field.levels else _cut(filled(field))
    return f"{fill} if {read} is None else {read}"


def _condition(question: ExportQuestion, name: str) -> str:
    if question.kind == "missing":
        return f"{name} is None"
    if question.kind == "at most":
        condition = f"{name} <= {_cut(question.values[0])}"
    elif question.field.levels:
        condition = f"{name} in {level_texts(question.field, question.values)!r}"
    else:
        condition = f"{name} in {tuple(threshold(value) for value in question.values)!r}"
    if not (question.field.missing and question.field.fill is None):
        return condition
    return f"{name} is None or {condition}" if question.missing_yes else f"{name} is not None and {condition}"


def _cut(value: Any) -> str:
    return repr(value if isinstance(value, date) else threshold(value))


def label(value: Any) -> str:
    if isinstance(value, Fraction):
        return repr(float(value))
    return repr(value)


def _comment(text: str) -> str:
    """Text that cannot end the line or the docstring that contains it."""
    safe = "".join(letter if letter.isprintable() else " " for letter in text)
    return safe.replace("\\", "/").replace('"""', "'''")


EXPORT = Export("python", (".py",), write, write_forest)
