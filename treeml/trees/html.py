"""Tree, Forest -> HTML for notebooks, and a page of its own."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from treeml.lang.display import MOST_OF_A_SENTENCE, shown, shown_lines
from treeml.trees.nodes import TreeData
from treeml.trees.svg import PLAIN, DrawingView, draw_svg

if TYPE_CHECKING:
    from treeml.trees.forest import Forest

MOST_TREES = 6  # trees of a forest that are drawn


def tree_html(tree: TreeData, view: DrawingView = PLAIN) -> str:
    """The drawing of a tree, which scrolls sideways if it is wider than the page."""
    return f'<div style="overflow-x:auto">{draw_svg(tree, view)}</div>'


def forest_html(forest: Forest, views: Sequence[DrawingView] = ()) -> str:
    """The drawings of the trees with the largest weights, each under its weight."""
    views = views or [PLAIN] * len(forest.trees)
    parts = [f"<p>{len(forest.trees)} trees by {escaped(forest.criterion or 'votes')}</p>"]
    for tree, weight, view in list(zip(forest.trees, forest.weights, views, strict=True))[:MOST_TREES]:
        parts.append(f"<p>weight {float(weight):.6g}</p>{tree_html(tree, view)}")
    if len(forest.trees) > MOST_TREES:
        parts.append(f"<p>and {len(forest.trees) - MOST_TREES} lighter ones</p>")
    return "\n".join(parts)


def html_page(model: TreeData | Forest, views: Sequence[DrawingView] = ()) -> str:
    """A page with the drawing, and the same as text for who cannot see it; it fetches nothing and runs nothing.

    `views` holds one for each tree, or nothing.
    """
    target = model.target if isinstance(model, TreeData) else model.trees[0].target
    kind = "Decision tree" if isinstance(model, TreeData) else "Forest"
    title = f"{kind} for {escaped(target)}" if target else kind
    drawing = tree_html(model, *views) if isinstance(model, TreeData) else forest_html(model, views)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        "<style>body { font-family: Helvetica, Arial, sans-serif; margin: 2em } pre { overflow-x: auto }</style>\n"
        f"</head>\n<body>\n<h1>{title}</h1>\n{drawing}\n<details><summary>As text</summary>\n"
        f"<pre>{escape(shown_lines(str(model)))}</pre>\n</details>\n</body>\n</html>\n"
    )


def escaped(text: str) -> str:
    """Text from outside, with control characters made visible and HTML characters escaped."""
    return escape(shown(text, MOST_OF_A_SENTENCE))
