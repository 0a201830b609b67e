"""Tree, Forest -> HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from treeml.lang.display import MOST_OF_A_SENTENCE, shown
from treeml.trees.drawing import draw_svg
from treeml.trees.nodes import TreeData

if TYPE_CHECKING:
    from treeml.trees.forest import Forest

MOST_TREES = 6  # trees of a forest that are drawn


def tree_html(tree: TreeData) -> str:
    """The drawing of a tree, which scrolls sideways if it is wider than the page."""
    return f'<div style="overflow-x:auto">{draw_svg(tree)}</div>'


def forest_html(forest: Forest) -> str:
    """The drawings of the trees with the largest weights, each under its weight."""
    parts = [f"<p>{len(forest.trees)} trees by {escaped(forest.criterion or 'votes')}</p>"]
    for tree, weight in list(zip(forest.trees, forest.weights, strict=True))[:MOST_TREES]:
        parts.append(f"<p>weight {float(weight):.6g}</p>{tree_html(tree)}")
    if len(forest.trees) > MOST_TREES:
        parts.append(f"<p>and {len(forest.trees) - MOST_TREES} lighter ones</p>")
    return "\n".join(parts)


def escaped(text: str) -> str:
    """Text from outside, with control characters made visible and HTML characters escaped."""
    return escape(shown(text, MOST_OF_A_SENTENCE))
