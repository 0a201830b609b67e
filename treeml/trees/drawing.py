"""Tree -> text and Graphviz, and the words that all drawings of a tree share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from treeml.data.table import label_text
from treeml.lang.display import shortened, shown
from treeml.trees.nodes import Branch, Node, TreeData, TreeLeaf, class_shares, overruled_class, rounded_text
from treeml.trees.palette import PATH, leaf_tint

MOST_OF_A_REASON = 60  # characters of a requirement in a box


def draw_text(tree: TreeData, path: Sequence[int] | None = None) -> str:
    """The tree as lines of text, one node per line; `path` holds the sides that a row takes, and marks its lines."""
    if isinstance(tree.root, TreeLeaf):
        return leaf_text(tree, tree.root)
    return "\n".join([f"predict {shown(tree.target)}" if tree.target else "clusters", *_text_lines(tree, path)])


def draw_dot(tree: TreeData, path: Sequence[int] | None = None, sideways: bool = False) -> str:
    """The tree in the language of Graphviz."""
    lines = [
        "digraph tree {",
        *(["  rankdir=LR;"] if sideways else []),
        f'  label="{_dot_text(title_of(tree))}"; labelloc=t; fontname="Helvetica";',
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="Helvetica"];',
        '  edge [fontname="Helvetica"];',
    ]
    number = 0
    todo: list[tuple[Node, str, str, Sequence[int] | None]] = [(tree.root, "", "", path)]
    while todo:
        node, parent, condition, ahead = todo.pop()
        name, on_path = f"n{number}", "" if ahead is None else f', color="{PATH}", penwidth=3'
        number += 1
        if isinstance(node, Branch):
            lines.append(f'  {name} [label="{_dot_text(shown(node.test.column))}"{on_path}];')
            for place, side in reversed(list(enumerate(tree.sides(node)))):
                todo.append((side.node, name, side.short, path_below(ahead, place)))
        else:
            said = (tree.prediction_text(node), rows_text(tree, node), against_text(tree, node))
            label = _dot_text("\n".join(line for line in said if line))
            lines.append(f'  {name} [label="{label}", fillcolor="{leaf_tint(tree, node)}"{on_path}];')
        if parent:
            lines.append(f'  {parent} -> {name} [label="{_dot_text(condition)}"{on_path}];')
    lines.append("}")
    return "\n".join(lines) + "\n"


def path_below(path: Sequence[int] | None, place: int) -> Sequence[int] | None:
    """The rest of a path on one side of a branch; None if it does not go there."""
    return path[1:] if path and path[0] == place else None


def title_of(tree: TreeData) -> str:
    return f"decision tree for {shown(tree.target)}" if tree.target else "decision tree"


def leaf_text(tree: TreeData, leaf: TreeLeaf) -> str:
    """A leaf in one line: what it predicts and the rows in it."""
    # The target is named because `sex is F: no` would be unclear for a class called `no`.
    subject = f"{shown(tree.predicted)} = " if tree.predicted else ""
    against = against_text(tree, leaf)
    return f"{subject}{tree.prediction_text(leaf)}  [{leaf_facts(tree, leaf)}{f'; {against}' if against else ''}]"


def rows_text(tree: TreeData, leaf: TreeLeaf) -> str:
    """The number of rows in a leaf, and their share of all rows."""
    total = sum(each.rows for each in tree.leaves)
    rows = f"{leaf.rows:,} {'row' if leaf.rows == 1 else 'rows'}"
    part = f" ({_percent(Fraction(leaf.rows, total))} of all)" if total and len(tree.leaves) > 1 else ""
    return rows + part


def against_text(tree: TreeData, leaf: TreeLeaf, whose: str = "its") -> str:
    """`against its majority yes, for recall(sick) >= 0.9`; empty if the leaf predicts its largest class."""
    overruled = overruled_class(leaf, tree.classes)
    if overruled is None:
        return ""
    reason = f", for {shortened(shown(leaf.because), MOST_OF_A_REASON)}" if leaf.because else ""
    return f"against {whose} majority {shown(label_text(tree.classes[overruled]))}{reason}"


def leaf_facts(tree: TreeData, leaf: TreeLeaf) -> str:
    """The rows of a leaf and the shares of the classes, the largest first."""
    facts = rows_text(tree, leaf)
    if tree.task != "classes" or not leaf.counts:
        return facts
    if leaf.weights and leaf.weights != leaf.counts:  # the shares are then those of the weight
        facts += f", weight {rounded_text(float(sum(leaf.weights)))}"
    shares = class_shares(leaf, tree.classes)
    largest_first = sorted(range(len(shares)), key=lambda number: (-shares[number], number))
    named = [
        f"{shown(label_text(tree.classes[number]))} {_percent(shares[number])}"
        for number in largest_first
        if shares[number]
    ]
    if len(named) > 4:
        named = [*named[:3], f"{len(named) - 3} more classes"]
    return f"{facts}: {', '.join(named)}"


def _text_lines(tree: TreeData, path: Sequence[int] | None) -> Iterator[str]:
    """Every node below the root, after what is true of its rows."""
    todo: list[tuple[Node, str, Sequence[int] | None, str]] = [(tree.root, "", path, "")]
    while todo:
        node, indent, ahead, line = todo.pop()
        if isinstance(node, TreeLeaf):
            yield f"{line}: {leaf_text(tree, node)}"
            continue
        if line:
            yield line
        sides = tree.sides(node)
        for place, side in reversed(list(enumerate(sides))):
            below = path_below(ahead, place)
            last = place == len(sides) - 1
            corner = ("└" if last else "├") + ("─" if below is None else "▶")
            todo.append((side.node, indent + ("   " if last else "│  "), below, f"{indent}{corner} {side.fact}"))


def _percent(share: Fraction) -> str:
    """A share for people; it is 100 % only if it is exactly 1, and 0 % only if it is exactly 0."""
    percent = 100 * share
    if percent.denominator == 1:
        return f"{percent.numerator}%"
    if percent > Fraction("99.9"):
        return ">99.9%"
    if percent < Fraction("0.1"):
        return "<0.1%"
    return f"{float(percent):.1f}%"


def _dot_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
