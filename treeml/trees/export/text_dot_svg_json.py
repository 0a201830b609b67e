"""Tree, Forest -> the forms that they write themselves: text, Graphviz, SVG and JSON."""

from __future__ import annotations

from treeml.lang.display import json_text
from treeml.trees.drawing import draw_forest_svg
from treeml.trees.export.contract import Export
from treeml.trees.forest import Forest
from treeml.trees.tree import Tree


def _dot(tree: Tree) -> str:
    return tree.to_dot()


def _forest_dot(forest: Forest) -> str:
    """One graph after the other."""
    return "\n".join(forest.to_dot())


def _svg(tree: Tree) -> str:
    return tree.to_svg()


def _forest_svg(forest: Forest) -> str:
    return draw_forest_svg(forest.trees)


def _json(model: Tree | Forest) -> str:
    return json_text(model.to_json(), indent=1)


TEXT = Export("text", (".txt",), str, str)
DOT = Export("dot", (".dot", ".gv"), _dot, _forest_dot)
SVG = Export("svg", (".svg",), _svg, _forest_svg)
JSON = Export("json", (".json",), _json, _json)
