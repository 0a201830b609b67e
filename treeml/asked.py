"""Model, what is asked of this run -> the checked Spec, before any data is read.

What is asked on the command line or in a call of `solve` becomes part of the model's own `solve` statement, so that it
is checked by the same rules and its mistakes look the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from treeml.lang.diagnostic import Diagnostic, SpecError
from treeml.lang.source import Source
from treeml.lang.syntax import Solve, Statement
from treeml.spec import Spec

if TYPE_CHECKING:
    from treeml.model import Model


def checked(
    model: Model,
    *,
    backend: str | None = None,
    within: float | str | None = None,
    gap: float | str | None = None,
    seed: int | None = None,
    threads: int | None = None,
    params: Mapping[str, Any] | None = None,
    has_target: bool = False,
) -> tuple[Spec, tuple[Diagnostic, ...]]:
    """The spec of this run, and warnings."""
    from treeml.lang.check import check

    asked = {"with": backend, "within": _time(within), "gap": gap, "seed": seed, "threads": threads}
    statements = _with_request(model.statements, asked)
    spec, warnings = check(statements, {**model.bindings, **(params or {})}, model.folder, has_target=has_target)
    return spec, tuple(warnings)


def _with_request(statements: list[Statement], asked: Mapping[str, Any]) -> list[Statement]:
    """The statements with what is asked put into the `solve` statement, in place of what stood there."""
    from treeml.lang.parse import parse

    given = {name: value for name, value in asked.items() if value is not None}
    if not given:
        return statements
    own = next((statement for statement in statements if isinstance(statement, Solve)), Solve())
    for name, value in given.items():
        text = f"solve {name} {value}"
        try:
            (parsed,) = parse(Source(f"--{name}", text))
        except (SpecError, ValueError) as error:
            raise SpecError(_unreadable(name, value)) from error
        if not isinstance(parsed, Solve):
            raise SpecError(_unreadable(name, value))
        part = "backends" if name == "with" else name
        own = replace(own, **{part: getattr(parsed, part)}, span=own.span or parsed.span)
    return [statement for statement in statements if not isinstance(statement, Solve)] + [own]


def _unreadable(name: str, value: Any) -> Diagnostic:
    example = {"with": "native, or native(threads = 2)", "within": "60s or 5min", "gap": "1% or 0.01"}.get(name, "7")
    return Diagnostic("S150", f"`{value}` cannot be read here", place=f"--{name}", helps=(f"write --{name} {example}",))


def _time(within: float | str | None) -> str | None:
    """Numbers from Python are seconds; text says its unit."""
    if isinstance(within, (int, float)):
        return f"{within:.9f}".rstrip("0").rstrip(".") + " s"
    return within
