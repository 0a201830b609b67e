"""Tree -> the same tree for other programs: rules, SQL, Python, C, PMML and ONNX, beside JSON, dot, SVG and text.

Every form predicts exactly what `Tree.predict` does, on borders, missing values and unknown levels too. A row that the
tree refuses (a value is missing that never was in training) has no prediction there: NULL, an exception, -1 or NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from treeml.lang.display import json_text

if TYPE_CHECKING:
    from treeml.trees.tree import Tree

_OWN: Mapping[str, Callable[[Tree], str]] = {
    "text": str,
    "dot": lambda tree: tree.to_dot(),
    "svg": lambda tree: tree.to_svg(),
    "json": lambda tree: json_text(tree.to_json(), indent=1),
}
_MODULES = {"rules": "rules", "sql": "sql", "python": "python", "c": "c", "pmml": "pmml", "onnx": "onnx"}
FORMS = (*_OWN, *_MODULES)
BINARY = frozenset({"onnx"})


def export(tree: Tree, form: str) -> str | bytes:
    """The tree in one of FORMS; bytes for those in BINARY."""
    if form in _OWN:
        return _OWN[form](tree)
    if form not in _MODULES:
        raise ValueError(f"no form is called {form!r}: forms are {', '.join(FORMS)}")
    written: str | bytes = import_module(f"treeml.trees.export.{_MODULES[form]}").write(tree)
    return written
