"""Tree -> a Python module that needs nothing: `predict(row)` for a row given as a dict.

A value is missing that is None or NaN. ValueError where a column is missing that never was in training.
"""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

from treeml.data.table import label_text
from treeml.export.asked import Asked, asked, level_texts, required, threshold
from treeml.tree import Field, Leaf, Node, Tree

DEEPEST = 30  # Python allows a hundred levels of indentation; below that a function of its own continues

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


def write(tree: Tree) -> str:
    return _Writer(tree).module()


class _Writer:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.names = {field.name: f"v{number}" for number, field in enumerate(tree.fields)}
        self.waiting: list[Node] = [tree.root]

    def module(self) -> str:
        imports = "\n\nimport datetime" if any(isinstance(leaf.prediction, date) for leaf in self.tree.leaves) else ""
        target = _comment(self.tree.target or ", ".join(self.tree.outputs))
        parts = [f'"""A decision tree for {target}, written by TreeML."""{imports}{HELPERS}']
        parts.append(self.opening())
        number = 0
        while number < len(self.waiting):
            arguments = ", ".join(self.names.values())
            lines = [f"def _part_{number}({arguments}):", *self.lines(self.waiting[number], 1)]
            parts.append("\n".join(lines))
            number += 1
        return "\n\n\n".join(part.strip("\n") for part in parts) + "\n"

    def opening(self) -> str:
        lines = ["def predict(row):", '    """The prediction for one row, a dict from column to value."""']
        for field in self.tree.fields:
            lines.append(f"    {self.names[field.name]} = {_read(field)}")
        for field in required(self.tree):
            message = repr(f"{field.name} is missing, which it never was in training")
            lines += [f"    if {self.names[field.name]} is None:", f"        raise ValueError({message})"]
        lines.append(f"    return _part_0({', '.join(self.names.values())})")
        return "\n".join(lines)

    def lines(self, node: Node, depth: int) -> list[str]:
        indent = "    " * depth
        if isinstance(node, Leaf):
            rows = f"{node.rows} {'row' if node.rows == 1 else 'rows'}"
            return [f"{indent}return {_label(node.prediction)}  # {rows}"]
        if depth > DEEPEST:
            self.waiting.append(node)
            return [f"{indent}return _part_{len(self.waiting) - 1}({', '.join(self.names.values())})"]
        question = asked(self.tree, node.test)
        condition = _condition(question, self.names[question.field.name])
        comment = f"  # {_comment(str(node.test))}"
        yes = self.lines(node.yes, depth + 1)
        return [f"{indent}if {condition}:{comment}", *yes, *self.lines(node.no, depth)]


def _read(field: Field) -> str:
    read = f"{'_text' if field.levels else '_number'}(row[{field.name!r}])"
    if field.fill is None:
        return read
    fill = repr(label_text(field.fill)) if field.levels else repr(threshold(field.fill))
    return f"{fill} if {read} is None else {read}"


def _condition(question: Asked, name: str) -> str:
    if question.kind == "missing":
        return f"{name} is None"
    if question.kind == "at most":
        condition = f"{name} <= {threshold(question.values[0])!r}"
    elif question.field.levels:
        condition = f"{name} in {level_texts(question.field, question.values)!r}"
    else:
        condition = f"{name} in {tuple(threshold(value) for value in question.values)!r}"
    if not (question.field.missing and question.field.fill is None):
        return condition
    return f"{name} is None or {condition}" if question.missing_yes else f"{name} is not None and {condition}"


def _label(value: Any) -> str:
    if isinstance(value, Fraction):
        return repr(float(value))
    return repr(value)


def _comment(text: str) -> str:
    """Text that cannot end the line, or the docstring, that it stands in."""
    safe = "".join(letter if letter.isprintable() else " " for letter in text)
    return safe.replace("\\", "/").replace('"""', "'''")
