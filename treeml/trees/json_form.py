"""Tree <-> plain JSON values, in the versioned form that docs/tree-json.md describes.

Reading is strict: a value that is missing, unknown or of the wrong type is refused with its place in the file. A tree
is data, and reading one runs no code.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from treeml.data.dates import CALENDAR
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.numerals import exact_number, finite_float
from treeml.system.reading import read_text
from treeml.trees.nodes import KINDS, TASKS, Branch, Field, Node, TreeData, TreeLeaf, TreeTest

VERSION = 1
DEEPEST = 800  # levels; a deeper tree would exhaust the stack
LARGEST = sys.float_info.max  # largest number in a label or a test
AnyTree = TypeVar("AnyTree", bound=TreeData)
TYPES = ("binary", "number", "integer", "category", "ordered", "text", "date", "time")


def write_tree(tree: TreeData) -> dict[str, Any]:
    """A tree as JSON values."""
    return {
        "treeml_tree": VERSION,
        "task": tree.task,
        "target": tree.target,
        "classes": [_write_label(label) for label in tree.classes],
        "outputs": list(tree.outputs),
        "inputs": list(tree.inputs),
        "columns": [_write_field(field) for field in tree.fields],
        "root": _write_node(tree.root, tree),
    }


def read_tree_file(kind: type[AnyTree], path: Path) -> AnyTree:
    """The tree in a file that holds a tree, or a result with a tree."""
    try:
        text = read_text(path)
    except OSError as error:
        _refuse(f"{path} cannot be read: {error.strerror or error}", "", str(path))
    except UnicodeDecodeError:
        _refuse(f"{path} is not UTF-8 text", "", str(path))
    return read_tree(kind, text, str(path))


def read_tree(kind: type[AnyTree], value: str | bytes | Mapping[str, Any], place: str = "the tree") -> AnyTree:
    """A tree of class `kind` from JSON values or their text; `place` names the source in messages."""
    if isinstance(value, (str, bytes)):
        try:
            value = plain_json(value)
        except ValueError as error:
            _refuse(f"{place} is not JSON: {error}", "", place)
    return _Reader(place).tree(kind, value)


def plain_json(text: str | bytes) -> Any:
    """The values of a JSON text in which every number is finite; ValueError for any other text."""
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=finite_float)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _write_field(field: Field) -> dict[str, Any]:
    written: dict[str, Any] = {"name": field.name, "type": field.type}
    if field.levels:
        written["levels"] = [_write_label(level) for level in field.levels]
    if field.missing:
        written["missing"] = True
    if field.fill is not None:
        written["fill"] = _write_label(field.fill)
    return written


def _write_node(node: Node, tree: TreeData) -> dict[str, Any]:
    if isinstance(node, Branch):
        test: dict[str, Any] = {"column": node.test.column, "kind": node.test.kind}
        if node.test.values:
            test["values"] = [_write_label(value) for value in node.test.values]
        if node.test.missing_yes:
            test["missing_yes"] = True
        return {"test": test, "yes": _write_node(node.yes, tree), "no": _write_node(node.no, tree)}
    if tree.task == "classes":
        leaf = {
            "predict": _write_label(node.prediction),
            "rows": node.rows,
            "counts": list(node.counts),
            "weights": [_write_exact(weight) for weight in node.weights],
        }
        return {**leaf, "because": node.because} if node.because else leaf
    prediction = list(node.prediction) if tree.task == "clusters" else node.prediction
    written: dict[str, Any] = {
        "predict": prediction,
        "rows": node.rows,
        "exact": [_write_exact(value) for value in node.exact],
    }
    if node.slopes:
        written["slopes"] = dict(node.slopes)
    if node.centers:
        written["centers"] = dict(node.centers)
    return {**written, "curve": [list(point) for point in node.curve]} if node.curve else written


def _write_exact(value: Fraction) -> int | str:
    return value.numerator if value.denominator == 1 else f"{value.numerator}/{value.denominator}"


def _write_label(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    _refuse(f"a label of type {type(value).__name__} cannot be written as JSON: {value!r}", "", "the tree")


class _Reader:
    """Reads values at places such as root.yes.test.column; a message names the place."""

    def __init__(self, source: str) -> None:
        self.source = source

    def tree(self, kind: type[AnyTree], value: Any) -> AnyTree:
        found = self.object(value, "")
        if "treeml_tree" not in found and isinstance(found.get("tree"), Mapping):
            found = found["tree"]
        if "treeml_tree" not in found:
            self.refuse("", "is not a tree: it has no `treeml_tree`")
        version = found["treeml_tree"]
        if version != VERSION or isinstance(version, bool):
            self.refuse("treeml_tree", f"is {brief(version)}, but this program reads version {VERSION}")
        known = {"treeml_tree", "task", "target", "classes", "outputs", "inputs", "columns", "root"}
        self.only(found, known, "")
        task = self.word(found, "task", TASKS, "")
        fields = tuple(
            self.field(field, f"columns[{place}]") for place, field in enumerate(self.list(found, "columns", ""))
        )
        labels = tuple(self.label(label, "classes") for label in self.list(found, "classes", ""))
        outputs = tuple(self.texts(found, "outputs"))
        if (task == "classes") != bool(labels):
            self.refuse("classes", "must be there for a tree that predicts classes, and for no other")
        if (task == "classes") == bool(outputs):
            self.refuse("outputs", "must be there for a tree that predicts numbers, and for no other")
        empty = TreeData(TreeLeaf(None), task, self.text(found, "target", ""), labels, outputs, fields)
        root = self.node(found.get("root"), empty, {field.name: field for field in fields}, "root", 0)
        return kind(root, task, empty.target, labels, outputs, fields, tuple(self.texts(found, "inputs")))

    def field(self, value: Any, place: str) -> Field:
        found = self.object(value, place)
        self.only(found, {"name", "type", "levels", "missing", "fill"}, place)
        levels = tuple(self.label(level, place) for level in self.list(found, "levels", place, ()))
        fill = self.label(found.get("fill"), f"{place}.fill")
        column_type = self.word(found, "type", TYPES, place)
        if bool(levels) == (column_type in ("number", "integer", *CALENDAR)):
            self.refuse(f"{place}.levels", "must be there for a column of levels, and for no column of numbers")
        if fill is not None and (fill not in levels if levels else not _is_number(fill)):
            self.refuse(f"{place}.fill", "is not a value of the column")
        return Field(self.text(found, "name", place), column_type, levels, self.truth(found, "missing", place), fill)

    def node(self, value: Any, tree: TreeData, fields: Mapping[str, Field], place: str, level: int) -> Node:
        if level > DEEPEST:
            self.refuse("", f"is nested too deeply: at most {DEEPEST} levels are read")
        found = self.object(value, place)
        if "test" in found:
            self.only(found, {"test", "yes", "no"}, place)
            test = self.test(found["test"], fields, f"{place}.test")
            yes = self.node(found.get("yes"), tree, fields, f"{place}.yes", level + 1)
            return Branch(test, yes, self.node(found.get("no"), tree, fields, f"{place}.no", level + 1))
        if "predict" not in found:
            self.refuse(place, "has neither a `test` nor a `predict`")
        return self.class_leaf(found, tree, place) if tree.task == "classes" else self.number_leaf(found, tree, place)

    def test(self, value: Any, fields: Mapping[str, Field], place: str) -> TreeTest:
        found = self.object(value, place)
        self.only(found, {"column", "kind", "values", "missing_yes"}, place)
        kind = self.word(found, "kind", KINDS, place)
        name = self.text(found, "column", place)
        if name not in fields:
            self.refuse(f"{place}.column", f"is `{name}`, which is not among the columns of the tree")
        values = tuple(self.label(item, place) for item in self.list(found, "values", place, ()))
        if (kind == "among" and not values) or (kind != "among" and len(values) != (kind != "missing")):
            self.refuse(f"{place}.values", f"has {len(values)} values, which does not fit `{kind}`")
        numeric = not fields[name].levels and kind != "missing"
        kind_of = {"date": date, "time": datetime}.get(fields[name].type)
        if numeric and kind_of is not None and not all(type(each) is kind_of for each in values):
            self.refuse(f"{place}.values", f"compares a column of {fields[name].type}s with something else")
        if numeric and kind_of is None and not all(map(_is_number, values)):
            self.refuse(f"{place}.values", "compares a column of numbers with something else")
        return TreeTest(name, kind, values, self.truth(found, "missing_yes", place))

    def class_leaf(self, found: Mapping[str, Any], tree: TreeData, place: str) -> TreeLeaf:
        self.only(found, {"predict", "rows", "counts", "weights", "because"}, place)
        label = self.label(found["predict"], f"{place}.predict")
        if not any(label == known and type(label) is type(known) for known in tree.classes):
            self.refuse(f"{place}.predict", f"is {brief(label)}, which is not one of the classes")
        counts = tuple(self.count(count, f"{place}.counts") for count in self.list(found, "counts", place, ()))
        weights = tuple(self.exact(item, f"{place}.weights") for item in self.list(found, "weights", place, ()))
        for name, amounts in (("counts", counts), ("weights", weights)):
            if amounts and len(amounts) != len(tree.classes):
                self.refuse(f"{place}.{name}", f"has {len(amounts)} values for {len(tree.classes)} classes")
        because = self.text(found, "because", place) if "because" in found else ""
        return TreeLeaf(label, self.count(found.get("rows", 0), f"{place}.rows"), counts, weights, because=because)

    def number_leaf(self, found: Mapping[str, Any], tree: TreeData, place: str) -> TreeLeaf:
        self.only(found, {"predict", "rows", "exact", "curve", "slopes", "centers"}, place)
        exact = tuple(self.exact(item, f"{place}.exact") for item in self.list(found, "exact", place))
        if len(exact) != len(tree.outputs):
            self.refuse(f"{place}.exact", f"has {len(exact)} values for {len(tree.outputs)} outputs")
        numbers = tuple(map(float, exact))
        prediction = numbers if tree.task == "clusters" else numbers[0]
        given = found["predict"]
        if (tuple(given) if isinstance(given, list) else given) != prediction:
            self.refuse(f"{place}.predict", "is not the number that `exact` gives")
        curve = tuple(self.point(item, f"{place}.curve") for item in self.list(found, "curve", place, ()))
        slopes = self.slopes(found.get("slopes", {}), tree, f"{place}.slopes")
        centers = self.centers(found.get("centers", {}), dict(slopes), f"{place}.centers")
        rows = self.count(found.get("rows", 0), f"{place}.rows")
        return TreeLeaf(prediction, rows, exact=exact, slopes=slopes, curve=curve, centers=centers)

    def slopes(self, value: Any, tree: TreeData, place: str) -> tuple[tuple[str, float], ...]:
        """Columns and what one unit of each adds to the prediction."""
        found = self.object(value, place)
        numbers = {field.name for field in tree.fields if not field.levels}
        for name, slope in found.items():
            if name not in numbers:
                self.refuse(place, f"names `{name}`, which is not among the columns of numbers of the tree")
            if not _is_number(slope):
                self.refuse(place, f"holds {brief(slope)}, not a number")
        if found and tree.task != "numbers":
            self.refuse(place, "belongs to a tree that predicts a number")
        return tuple((name, float(slope)) for name, slope in found.items())

    def centers(self, value: Any, slopes: Mapping[str, float], place: str) -> tuple[tuple[str, int | float], ...]:
        """Columns of slopes, and where each of them adds nothing to the prediction."""
        found = self.object(value, place)
        for name, center in found.items():
            if name not in slopes:
                self.refuse(place, f"names `{name}`, which has no slope")
            if not _is_number(center):
                self.refuse(place, f"holds {brief(center)}, not a number")
        return tuple(found.items())

    def point(self, value: Any, place: str) -> tuple[float, float]:
        """A time, and the share that survives it."""
        if not isinstance(value, (list, tuple)) or len(value) != 2 or not all(map(_is_number, value)):
            self.refuse(place, f"holds {brief(value)}, not a time and a share")
        if not 0 <= value[1] <= 1:
            self.refuse(place, f"holds the share {brief(value[1])}, which is not between 0 and 1")
        return float(value[0]), float(value[1])

    def object(self, value: Any, place: str) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            self.refuse(place, "is not an object")
        return value

    def list(self, found: Mapping[str, Any], name: str, place: str, default: Any = None) -> Any:
        value = found.get(name, default)
        if not isinstance(value, (list, tuple)):
            self.refuse(_join(place, name), "is not a list" if name in found else "is not there")
        return value

    def text(self, found: Mapping[str, Any], name: str, place: str) -> str:
        value = found.get(name)
        if not isinstance(value, str):
            self.refuse(_join(place, name), "is not a text" if name in found else "is not there")
        return value

    def texts(self, found: Mapping[str, Any], name: str) -> tuple[str, ...]:
        values = self.list(found, name, "")
        if not all(isinstance(value, str) for value in values):
            self.refuse(name, "holds something that is not a text")
        return tuple(values)

    def word(self, found: Mapping[str, Any], name: str, words: tuple[str, ...], place: str) -> str:
        text = self.text(found, name, place)
        if text not in words:
            self.refuse(_join(place, name), f"is `{text}`, not one of {', '.join(words)}")
        return text

    def truth(self, found: Mapping[str, Any], name: str, place: str) -> bool:
        value = found.get(name, False)
        if not isinstance(value, bool):
            self.refuse(_join(place, name), "is neither true nor false")
        return value

    def count(self, value: Any, place: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
            self.refuse(place, f"is {brief(value)}, not a number of rows")
        return value

    def exact(self, value: Any, place: str) -> Fraction:
        if isinstance(value, (int, str)):
            try:
                return exact_number(value)
            except ValueError:
                pass
        self.refuse(place, f'holds {brief(value)}, not an exact number such as 3 or "7/2"')

    def label(self, value: Any, place: str) -> Any:
        if value is None or isinstance(value, (str, bool)) or (_is_number(value) and abs(value) <= LARGEST):
            return value
        if isinstance(value, Mapping) and len(value) == 1:
            kind, text = next(iter(value.items()))
            if kind in ("date", "datetime") and isinstance(text, str):
                try:
                    return (date if kind == "date" else datetime).fromisoformat(text)
                except ValueError:
                    pass
        self.refuse(place, f"holds {brief(value)}, which is not a label")

    def only(self, found: Mapping[str, Any], known: set[str], place: str) -> None:
        unknown = sorted(map(str, set(found) - known))
        if unknown:
            self.refuse(_join(place, unknown[0]), f"is not known; known are {', '.join(sorted(known))}")

    def refuse(self, place: str, what: str) -> NoReturn:
        where = f"`{place}` of {self.source}" if place else self.source
        _refuse(f"{where} {what}", "docs/tree-json.md describes the form", self.source)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def brief(value: Any) -> str:
    """A value for a message; a long one is cut off."""
    if isinstance(value, int) and not abs(value) < 10**40:
        return "a whole number of more than 40 digits"
    text = repr(value)[:61]
    return text if len(text) <= 60 else f"{text[:60]}..."


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _refuse(title: str, note: str, place: str) -> NoReturn:
    raise DataError(Diagnostic("D480", title, notes=(note,) if note else (), place=place))
