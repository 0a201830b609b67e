"""A node -> how deep it is nested, and where; functions that recurse over expressions rely on the limit."""

from __future__ import annotations

from typing import Any

from treeml.lang.source import Span
from treeml.lang.syntax import Argument

MAXIMUM_DEPTH = 200


def deepest(node: Any) -> tuple[int, Any]:
    """The number of levels of a node, itself included, and a node on the lowest level; without recursion."""
    depth, lowest = 0, node
    stack = [(node, 1)]
    while stack:
        current, level = stack.pop()
        if level > depth:
            depth, lowest = level, current
        for name in getattr(current, "__slots__", ()):
            value = getattr(current, name)
            for child in value if isinstance(value, tuple) else (value,):
                if hasattr(child, "__dataclass_fields__") and not isinstance(child, Span):
                    stack.append((child, level if isinstance(child, Argument) else level + 1))
    return depth, lowest
