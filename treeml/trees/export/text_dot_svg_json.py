"""Tree, Forest -> the forms for people and for TreeML itself: text, Graphviz, SVG, PNG, PDF, HTML and JSON."""

from __future__ import annotations

from treeml.lang.display import json_text
from treeml.trees.drawing import draw_forest_svg
from treeml.trees.export.contract import Export
from treeml.trees.forest import Forest
from treeml.trees.html import html_page
from treeml.trees.picture import draw_picture
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


def _png(model: Tree | Forest) -> bytes:
    return draw_picture(_drawn(model), "png")


def _pdf(model: Tree | Forest) -> bytes:
    return draw_picture(_drawn(model), "pdf")


def _drawn(model: Tree | Forest) -> str:
    return _svg(model) if isinstance(model, Tree) else _forest_svg(model)


def _json(model: Tree | Forest) -> str:
    return json_text(model.to_json(), indent=1)


TEXT = Export("text", (".txt",), str, str)
DOT = Export("dot", (".dot", ".gv"), _dot, _forest_dot)
SVG = Export("svg", (".svg",), _svg, _forest_svg)
PNG = Export("png", (".png",), _png, _png)
PDF = Export("pdf", (".pdf",), _pdf, _pdf)
HTML = Export("html", (".html",), html_page, html_page)
JSON = Export("json", (".json",), _json, _json)
