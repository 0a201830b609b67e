"""Model, what is asked of this run -> the checked Spec, before any data is read.

What is asked on the command line or in a call of `solve` becomes part of the model's own `solve` statement, so that it
is checked by the same rules and its mistakes look the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeml.lang.diagnostic import Diagnostic, SpecError
from treeml.lang.source import Source, Span
from treeml.lang.spec import Spec
from treeml.lang.syntax import Include, Name, Number, Solve, Statement

if TYPE_CHECKING:
    from treeml.model import Model


def checked(model: Model, *, untrusted: bool = False, **asked: Any) -> tuple[Spec, tuple[Diagnostic, ...]]:
    """The spec of this run, and warnings. `data` are those given instead of the file that the model names."""
    limited = untrusted or model.untrusted
    spec, warnings = _checked(model, limited, **asked)
    if limited:
        from treeml.lang.trust import capped

        spec = capped(spec, within=asked.get("within") is not None, threads=asked.get("threads") is not None)
    return spec, warnings


def _checked(
    model: Model,
    untrusted: bool,
    *,
    backend: str | None = None,
    within: float | str | None = None,
    gap: float | str | None = None,
    seed: int | None = None,
    threads: int | None = None,
    params: Mapping[str, Any] | None = None,
    has_target: bool = False,
    data: Any = None,
) -> tuple[Spec, tuple[Diagnostic, ...]]:
    asked = {"with": backend, "within": within, "gap": gap, "seed": seed, "threads": threads}
    statements = _with_request(model.statements, {name: value for name, value in asked.items() if value is not None})
    bindings = {**model.bindings, **(params or {})}
    if _built_in_python(statements):
        try:
            # With their types: True, 1 and 1.0 are equal, and `check` takes them for different things.
            given = frozenset((name, type(value), value) for name, value in bindings.items())
            return _check_built(tuple(statements), given, model.folder, has_target, untrusted)
        except TypeError:  # a param was given a value that cannot be hashed, which `check` will name
            pass
        except SpecError as refused:
            return _with_target_of_file(refused, statements, bindings, model.folder, has_target, data, untrusted)
    try:
        return _check(statements, bindings, model.folder, has_target, untrusted)
    except SpecError as refused:
        return _with_target_of_file(refused, statements, bindings, model.folder, has_target, data, untrusted)


def _with_target_of_file(
    refused: SpecError,
    statements: Sequence[Statement],
    bindings: Mapping[str, Any],
    folder: Path,
    has_target: bool,
    data: Any,
    untrusted: bool,
) -> tuple[Spec, tuple[Diagnostic, ...]]:
    """Some formats say what is predicted, so that a spec need not; whether the file is of one is looked up only now."""
    from treeml.data.recognize import names_target
    from treeml.system.confinement import lies_in

    if has_target or not any(diagnostic.code == "T313" for diagnostic in refused.diagnostics):
        raise refused
    try:
        spec, warnings = _check(statements, bindings, folder, True, untrusted)
    except SpecError:
        raise refused from None
    path = data if data is not None else None if spec.data is None else folder / spec.data
    if not isinstance(path, (str, Path)) or (untrusted and data is None and not lies_in(path, folder)):
        raise refused
    if not names_target(Path(path)):
        raise refused
    return spec, warnings


def _check(
    statements: Sequence[Statement], bindings: Mapping[str, Any], folder: Path, has_target: bool, untrusted: bool
) -> tuple[Spec, tuple[Diagnostic, ...]]:
    from treeml.lang.check import check

    spec, warnings = check(statements, bindings, folder, has_target=has_target, untrusted=untrusted)
    return spec, tuple(warnings)


@lru_cache(maxsize=32)
def _check_built(
    statements: tuple[Statement, ...],
    bindings: frozenset[tuple[str, type, Any]],
    folder: Path,
    has_target: bool,
    untrusted: bool,
) -> tuple[Spec, tuple[Diagnostic, ...]]:
    """Models built in Python are solved again and again, fold by fold: each is checked once."""
    return _check(statements, {name: value for name, _, value in bindings}, folder, has_target, untrusted)


def _built_in_python(statements: Sequence[Statement]) -> bool:
    """Has nothing here a place in a file, nor includes one, which could change?"""
    return all(statement.span is None and not isinstance(statement, Include) for statement in statements)


def _with_request(statements: list[Statement], asked: Mapping[str, Any]) -> list[Statement]:
    """The statements with what is asked put into the `solve` statement, in place of what stood there."""
    if not asked:
        return statements
    own = next((statement for statement in statements if isinstance(statement, Solve)), Solve())
    plain = _built_in_python(statements)
    for name, value in asked.items():
        part = "backends" if name == "with" else name
        node = _plain_node(name, value) if plain else None
        own = replace(own, **{part: _parsed(name, value, part) if node is None else node})
    if not plain and own.span is None:
        parts = (*own.backends, own.within, own.gap, own.seed, own.threads)
        own = replace(own, span=next(span for span in map(_span, parts) if span is not None))
    return [statement for statement in statements if not isinstance(statement, Solve)] + [own]


def _plain_node(name: str, value: Any) -> Any:
    """A value that needs no reading, as a node without a place; None for one that does."""
    if name == "with":
        return (Name(value),) if isinstance(value, str) and value.isidentifier() else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        return None
    return Number(Fraction(str(value)), "s" if name == "within" else "")


def _parsed(name: str, value: Any, part: str) -> Any:
    """A value as it would be written in a `solve` statement."""
    from treeml.lang.parse import parse

    try:
        (parsed,) = parse(
            Source(f"--{name}", f"solve {name} {_time(value) if name == 'within' else value}", by_caller=True)
        )
    except ValueError as error:
        raise SpecError(_unreadable(name, value)) from error
    if not isinstance(parsed, Solve):
        raise SpecError(_unreadable(name, value))
    return getattr(parsed, part)


def _span(node: Any) -> Span | None:
    return None if node is None else node.span


def _unreadable(name: str, value: Any) -> Diagnostic:
    example = {"with": "native, or native(threads = 2)", "within": "60s or 5min", "gap": "1% or 0.01"}.get(name, "7")
    return Diagnostic("S150", f"`{value}` cannot be read here", place=f"--{name}", helps=(f"write --{name} {example}",))


def _time(within: float | str | None) -> str | None:
    """Numbers from Python are seconds; text says its unit."""
    if isinstance(within, (int, float)):
        return f"{within:.9f}".rstrip("0").rstrip(".") + " s"
    return within
