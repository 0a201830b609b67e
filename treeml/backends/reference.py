"""Registry of back-ends -> a page with every option that they declare."""

from __future__ import annotations

from collections.abc import Iterator

from treeml.backends import registry
from treeml.backends.contract import Option
from treeml.backends.options import taken

INTRODUCTION = """\
# Options of back-ends

`solve with native(pairs = 0)` in a spec, `--with "native(pairs = 0)"` in a shell, `options={"pairs": 0}` in Python.
This page is made from what the back-ends declare."""


def options_page() -> str:
    """The whole page, as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield INTRODUCTION
    for name in registry.names():
        backend = registry.get(name)
        yield f"\n## {name}\n"
        yield f"{backend.summary[:1].upper()}{backend.summary[1:]}.\n"
        yield "| option | unless given | may be | meaning |"
        yield "| --- | --- | --- | --- |"
        for option, known in taken(backend).items():
            yield f"| `{option}` | {_value(known.default)} | {_range(known)} | {known.summary.replace('|', '/')} |"


def _value(value: object) -> str:
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value >= 2**62:
        return "no limit"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _range(known: Option) -> str:
    if known.choices:
        return ", ".join(known.choices)
    if known.type is bool:
        return "true, false"
    if known.low is None and known.high is None:
        return "text" if known.type is str else "names" if known.type is tuple else "any number"
    low = "" if known.low is None else f"{known.low:,}"
    high = "" if known.high is None or known.high >= 2**62 else f"{known.high:,}"
    return f"{low} .. {high}".strip()
