"""A set of trees, or the file of one -> its first tree, which is the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from treeml.data.table import Dataset
from treeml.trees.importing.contract import DEEPEST, Importer, Origin
from treeml.trees.json_form import plain_json
from treeml.trees.tree import Tree


def recognizes(source: Any) -> bool:
    if isinstance(source, str):
        return source.lstrip()[:1] == "{" and '"treeml_trees"' in source[:200]
    return isinstance(source, Sequence) and len(source) > 0 and isinstance(source[0], Tree)


def read(source: Any, origin: Origin, dataset: Dataset) -> Tree:
    if not isinstance(source, str):
        first: Tree = source[0]
        return first
    try:
        content = plain_json(source)
        roots = content["trees"]
        test, yes, no = (int(roots[part][0]) for part in ("test", "yes", "no"))
        root = content["leaves"][yes] if test < 0 else _branch(content, (test, yes, no), 0)
        return Tree.from_json({**content["head"], "root": root}, origin.name)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        origin.refuse(
            "D480", f"{origin.name} holds no set of trees with a first one", note=f"a part is missing: {error}"
        )


def _branch(content: Mapping[str, Any], node: tuple[int, int, int], depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        raise ValueError("the tree is too deep")
    test, *sides = node
    yes, no = (_node(content, side, depth + 1) for side in sides)
    return {"test": content["tests"][test], "yes": yes, "no": no}


def _node(content: Mapping[str, Any], number: int, depth: int) -> Any:
    test, yes, no = (int(content["nodes"][part][number]) for part in ("test", "yes", "no"))
    return content["leaves"][yes] if test < 0 else _branch(content, (test, yes, no), depth)


IMPORTER = Importer("TreeML", recognizes, read)
