"""Tree or forest, name of an export -> the text or bytes that the export writes.

Listing names imports no export; an export is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Any

from treeml.data.dates import CALENDAR
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.plugins import installed
from treeml.trees.export.contract import Export, ShownRows
from treeml.trees.forest import Forest
from treeml.trees.plugin_loading import load_plugin
from treeml.trees.tree import Tree

GROUP = "treeml.exports"

# The only list of the project's own exports.
BUILT_IN: Mapping[str, str] = {
    "text": "treeml.trees.export.text_dot_svg_json:TEXT",
    "dot": "treeml.trees.export.text_dot_svg_json:DOT",
    "svg": "treeml.trees.export.text_dot_svg_json:SVG",
    "json": "treeml.trees.export.text_dot_svg_json:JSON",
    "png": "treeml.trees.export.text_dot_svg_json:PNG",
    "pdf": "treeml.trees.export.text_dot_svg_json:PDF",
    "html": "treeml.trees.export.text_dot_svg_json:HTML",
    "rules": "treeml.trees.export.rules:EXPORT",
    "sql": "treeml.trees.export.sql:EXPORT",
    "python": "treeml.trees.export.python:EXPORT",
    "c": "treeml.trees.export.c:EXPORT",
    "pmml": "treeml.trees.export.pmml:EXPORT",
    "onnx": "treeml.trees.export.onnx:EXPORT",
}

DRAWINGS = "choose dot, svg, png, pdf or html"
PICTURES = ("text", "dot", "svg", "json", "png", "pdf", "html")  # hold whatever a tree holds
DATED = ("python", "sql", "rules")  # compare dates and times, too


def export(
    model: Tree | Forest, form: str, *, row: Any = None, data: Any = None, sideways: bool = False
) -> str | bytes:
    """A tree or a forest in the named form: text, or bytes for a form that is not text, such as ONNX.

    `names` lists the forms. An unknown name raises ValueError; a tree that the form cannot express raises DataError.
    The forms for people mark the path of `row`; pictures show how the rows of `data` spread at every node, and with
    `sideways` grow from left to right.

    >>> from treeml.export import export
    >>> print(export(tree, "rules"))
    IF "age" <= 40.0 THEN "disease" = "no"  # 5 rows
    IF "age" > 40.0 AND "sex" in ["F"] THEN "disease" = "no"  # 2 rows
    IF "age" > 40.0 AND "sex" not in ["F"] THEN "disease" = "yes"  # 3 rows
    <BLANKLINE>
    """
    found = get(form)
    if row is not None or data is not None or sideways:
        if found.write_rows is None:
            raise DataError(
                Diagnostic(
                    "D492",
                    f"the form `{form}` does not show rows" if not sideways else f"the form `{form}` is not a drawing",
                    place=form,
                    helps=("choose text, dot, svg, png, pdf or html" if not sideways else DRAWINGS,),
                )
            )
        return found.write_rows(model, ShownRows(row, data, sideways))
    _refuse_dates(model, form)
    if isinstance(model, Tree):
        if form not in PICTURES and any(leaf.slopes for leaf in model.leaves):
            raise DataError(
                Diagnostic(
                    "D492",
                    f"the form `{form}` holds one number per leaf, and the leaves of this tree are linear models",
                    place=form,
                    helps=("`json`, `text`, `dot` and `svg` hold them",),
                )
            )
        return found.write(model)
    if found.write_forest is None:
        raise DataError(
            Diagnostic(
                "D492",
                f"the form `{form}` is for single trees, and this is a forest",
                place=form,
                helps=("choose another form: `treeml show --as json`",),
            )
        )
    return found.write_forest(model)


def _refuse_dates(model: Tree | Forest, form: str) -> None:
    trees = (model,) if isinstance(model, Tree) else model.trees
    dated = next((field.name for tree in trees for field in tree.fields if field.type in CALENDAR), None)
    if dated is not None and form not in PICTURES and form not in DATED:
        title = f"the form `{form}` compares numbers and labels, and `{dated}` holds dates or times"
        helps = ("`python`, `sql`, `rules`, `json`, `text`, `dot` and `svg` hold them",)
        raise DataError(Diagnostic("D492", title, place=form, helps=helps))


def names() -> tuple[str, ...]:
    """The names of all exports: the project's own, then those of installed packages.

    >>> from treeml.export import names
    >>> names()[:4]
    ('text', 'dot', 'svg', 'json')
    """
    return (*BUILT_IN, *sorted(set(installed(GROUP)) - set(BUILT_IN)))


def get(name: str) -> Export:
    """The export of this name; ValueError if there is none, DataError if the package that adds it does not load.

    >>> from treeml.export import get
    >>> get("sql").endings
    ('.sql',)
    """
    if name in BUILT_IN:  # another package cannot replace an export of the project
        entry: EntryPoint | None = EntryPoint(name, BUILT_IN[name], GROUP)
    else:
        entry = installed(GROUP).get(name)
    if entry is None:
        raise ValueError(f"no form is called {name!r}: forms are {', '.join(names())}")
    return load_plugin(entry, Export, "D492", "form")
