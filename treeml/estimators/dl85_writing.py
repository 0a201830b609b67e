"""A tree and its leaves -> nested dicts and drawings, written as the DL8.5 library writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.trees.nodes import Branch, Node, TreeLeaf
from treeml.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class KeptLeaf:
    """What a leaf of the fitted tree holds; `shares` are the weights of the classes of its rows."""

    value: Any
    error: float
    shares: NDArray[np.float64] | None = None


def written(tree: Tree, X: NDArray[Any], leaves: list[KeptLeaf], with_shares: bool) -> dict[str, Any]:
    """The tree as nested dicts; with the shares of the classes in every node, if asked."""
    number = iter(range(len(leaves)))

    def node_of(node: Node) -> tuple[dict[str, Any], Any]:
        if isinstance(node, TreeLeaf):
            leaf = leaves[next(number)]
            made, sums = {"value": _plain(leaf.value), "error": _plain(leaf.error)}, leaf.shares
        else:
            assert isinstance(node, Branch)
            place = tree.inputs.index(node.test.column)
            (yes, of_yes), (no, of_no) = node_of(node.yes), node_of(node.no)
            made = {"feat": place, "left": yes, "right": no}
            if node.test.kind == "at most":  # DL8.5 asks whether a column is 1, so the large values are on the left
                made = {"feat": place, "left": no, "right": yes}
                if not np.isin(X[:, place], (0, 1)).all():
                    made["threshold"] = float(node.test.values[0])
            sums = None if of_yes is None else of_yes + of_no
        if with_shares and sums is not None:
            made["proba"] = (sums / sums.sum()).tolist()
        return made, sums

    return node_of(tree.root)[0]


def drawn(tree: dict[str, Any], names: list[Any], class_names: Any) -> str:
    """The tree in the language of Graphviz, with 1 on the edges for yes."""
    lines: list[str] = []

    def add(node: dict[str, Any]) -> int:
        place = len(lines)
        lines.append("")
        if "feat" not in node:
            value = node["value"] if class_names is None else class_names[int(node["value"])]
            lines[place] = f'n{place} [label="{{{{class|{_quoted(value)}}}|{{error|{node["error"]:g}}}}}"]'
            return place
        threshold = f" \\> {node['threshold']:g}" if "threshold" in node else ""
        lines[place] = f'n{place} [label="{{{{feat|{_quoted(names[node["feat"]])}{threshold}}}}}"]'
        for side, answer in (("left", 1), ("right", 0)):
            below = add(node[side])
            lines.append(f"n{place} -> n{below} [label={answer}]")
        return place

    add(tree)
    return "digraph Tree {\nnode [shape=record];\n" + "".join(f"{line};\n" for line in lines) + "}"


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python, and a whole one as an int, as the library writes them."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _quoted(value: Any) -> str:
    """Text inside a record label of Graphviz."""
    return "".join(f"\\{sign}" if sign in '\\"{}|<>' else sign for sign in str(value))
