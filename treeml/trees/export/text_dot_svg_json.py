"""Tree, Forest -> the forms for people and for TreeML itself: text, Graphviz, SVG, PNG, PDF, HTML and JSON."""

from __future__ import annotations

from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.display import json_text
from treeml.trees.export.contract import NO_ROWS, Export, ShownRows
from treeml.trees.forest import Forest
from treeml.trees.html import html_page
from treeml.trees.picture import draw_picture
from treeml.trees.svg import DrawingView, draw_forest_svg
from treeml.trees.tree import Tree
from treeml.trees.views import view_of


def _text(model: Tree | Forest) -> str:
    return str(model)


def _text_of_rows(model: Tree | Forest, shown: ShownRows) -> str:
    _refuse_data("text", shown)
    if shown.sideways:
        raise DataError(
            Diagnostic(
                "D492", "the form `text` always grows from left to right", place="text", helps=("leave `sideways` out",)
            )
        )
    return model.to_text(shown.row) if isinstance(model, Tree) else model.text(row=shown.row)


def _dot(model: Tree | Forest, shown: ShownRows = NO_ROWS) -> str:
    """One graph, or that of each tree after the other."""
    _refuse_data("dot", shown)
    return "\n".join(tree.to_dot(shown.row, sideways=shown.sideways) for tree in _trees(model))


def _svg(model: Tree | Forest, shown: ShownRows = NO_ROWS) -> str:
    if isinstance(model, Tree):
        return model.to_svg(shown.row, shown.data, sideways=shown.sideways)
    return draw_forest_svg(model.trees, _views(model, shown))


def _png(model: Tree | Forest, shown: ShownRows = NO_ROWS) -> bytes:
    return draw_picture(_svg(model, shown), "png")


def _pdf(model: Tree | Forest, shown: ShownRows = NO_ROWS) -> bytes:
    return draw_picture(_svg(model, shown), "pdf")


def _html(model: Tree | Forest, shown: ShownRows = NO_ROWS) -> str:
    return html_page(model, _views(model, shown))


def _views(model: Tree | Forest, shown: ShownRows) -> list[DrawingView]:
    return [view_of(tree, shown.row, shown.data, shown.sideways) for tree in _trees(model)]


def _trees(model: Tree | Forest) -> tuple[Tree, ...]:
    return (model,) if isinstance(model, Tree) else model.trees


def _refuse_data(form: str, shown: ShownRows) -> None:
    if shown.data is not None:
        raise DataError(
            Diagnostic(
                "D492",
                f"the form `{form}` has no room for distributions of rows",
                place=form,
                helps=("choose svg, png, pdf or html",),
            )
        )


def _json(model: Tree | Forest) -> str:
    return json_text(model.to_json(), indent=1)


TEXT = Export("text", (".txt",), _text, _text, _text_of_rows)
DOT = Export("dot", (".dot", ".gv"), _dot, _dot, _dot)
SVG = Export("svg", (".svg",), _svg, _svg, _svg)
PNG = Export("png", (".png",), _png, _png, _png)
PDF = Export("pdf", (".pdf",), _pdf, _pdf, _pdf)
HTML = Export("html", (".html",), _html, _html, _html)
JSON = Export("json", (".json",), _json, _json)
