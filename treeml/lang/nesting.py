"""A node -> how deep it is nested, and where; functions that recurse over expressions rely on the limit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from treeml.lang.source import Span
from treeml.lang.syntax import Argument

MAXIMUM_DEPTH = 200
# Fields of these types hold no nodes; types are texts here, because annotations are not evaluated.
_PLAIN = ("str", "int", "bool", "Fraction", "Span | None", "tuple[Span, ...]", "tuple[str, ...]")


def deepest(node: Any) -> tuple[int, Any]:
    """The number of levels of a node, itself included, and a node on the lowest level; without recursion."""
    depth, lowest = 0, node
    stack = [(node, 1)]
    while stack:
        current, level = stack.pop()
        if level > depth:
            depth, lowest = level, current
        for name in _NAMES[type(current)]:
            value = getattr(current, name)
            if value is None:
                continue
            for child in value if type(value) is tuple else (value,):
                stack.append((child, level if type(child) is Argument else level + 1))
    return depth, lowest


class _Names(dict[type, tuple[str, ...]]):
    """The fields of each class of nodes that may hold nodes."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        own = fields(kind) if is_dataclass(kind) and kind is not Span else ()
        self[kind] = tuple(each.name for each in own if each.type not in _PLAIN)
        return self[kind]


_NAMES = _Names()
