"""Statements, options of this run -> the checked Spec, before any data is read.

The options take the place of the same parts of the `solve` statement, so that one set of rules checks both and mistakes
look the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Any

from treeml.lang.diagnostic import Diagnostic, SpecError
from treeml.lang.source import Source, Span
from treeml.lang.spec import Method, Spec
from treeml.lang.statements import Statements
from treeml.lang.syntax import Include, Name, Negate, Number, Solve, Statement
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions
from treeml.system.confinement import Confined

Checked = tuple[Spec, tuple[Diagnostic, ...]]


def check(
    statements: Statements, options: RunOptions = DEFAULT_OPTIONS, *, data: Any = None, has_target: bool = False
) -> Checked:
    """The spec of this run, and warnings; SpecError lists every mistake.

    `data` replaces the file that the specification names; `has_target` means that the target is given beside it.
    """
    untrusted = options.untrusted or statements.untrusted
    subject = _Subject(
        _with_options(tuple(statements.statements), options),
        {**statements.bindings, **(options.params or {})},
        statements.folder,
        has_target,
        untrusted,
    )
    try:
        spec, warnings = _checked(subject)
    except SpecError as refused:
        spec, warnings = _with_target_of_file(refused, subject, data)
    if untrusted:
        from treeml.lang.trust import capped

        spec = capped(spec, within=options.within is not None, threads=options.threads is not None)
    return spec, warnings


def check_with_data(
    statements: Statements, data: Any = None, options: RunOptions = DEFAULT_OPTIONS
) -> tuple[Diagnostic, ...]:
    """Warnings about a specification, alone or with data; SpecError lists every mistake."""
    spec, warnings = check(statements, options, data=data)
    if data is not None:
        # imported here: start-up time
        from treeml.data.limits import reading_limits
        from treeml.solving.choice import lower
        from treeml.solving.request import Request
        from treeml.solving.rows import bind, load

        request = Request(spec, warnings, reading=reading_limits(spec), is_data_given=True)
        lower(bind(load(request, data), request), request).form(numeric=False)
    return warnings


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is checked."""

    statements: tuple[Statement, ...]
    bindings: Mapping[str, Any]
    folder: Path
    has_target: bool
    untrusted: bool


def _checked(subject: _Subject) -> Checked:
    if any(isinstance(statement, Include) for statement in subject.statements):  # an included file may change
        return _check(subject)
    try:
        # Values are compared with their types: True, 1 and 1.0 are equal, and `check` treats them differently.
        bindings = frozenset((name, type(value), value) for name, value in subject.bindings.items())
    except TypeError:  # the value of a param is not hashable; `check` will report it
        return _check(subject)
    statements = key_of(subject.statements)
    found = _check_once(statements, bindings, subject.folder, subject.has_target, subject.untrusted)
    return _check(subject) if _writes_files(found[0]) else found  # whose file that is may have changed, too


def _writes_files(spec: Spec) -> bool:
    methods = list(spec.backends) + ([] if spec.improve is None else [spec.improve])
    for method in methods:  # grows: methods can have methods among their options
        for value in method.options.values():
            if isinstance(value, Confined):
                return True
            methods += [each for each in value if isinstance(each, Method)] if isinstance(value, tuple) else []
    return False


class SameStatements:
    """Statements as a key. Those of a text are compared by identity, because equal ones may stand in other places."""

    __slots__ = ("key", "statements")

    def __init__(self, statements: tuple[Statement, ...], *, by_identity: bool) -> None:
        self.statements = statements  # keeps them alive, so that no other object gets the identity of one of them
        self.key: tuple[Any, ...] = tuple(map(id, statements)) if by_identity else statements

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameStatements) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def key_of(statements: tuple[Statement, ...]) -> SameStatements:
    """Statements as a key for what was computed from them."""
    return SameStatements(statements, by_identity=not _built_in_python(statements))


@lru_cache(maxsize=32)
def _check_once(
    statements: SameStatements,
    bindings: frozenset[tuple[str, type, Any]],
    folder: Path,
    has_target: bool,
    untrusted: bool,
) -> Checked:
    """A model is solved many times, fold by fold; it is checked once."""
    given = {name: value for name, _, value in bindings}
    return _check(_Subject(statements.statements, given, folder, has_target, untrusted))


def _check(subject: _Subject) -> Checked:
    from treeml.lang.check import check  # imported here: start-up time

    spec, warnings = check(
        subject.statements,
        subject.bindings,
        subject.folder,
        has_target=subject.has_target,
        untrusted=subject.untrusted,
    )
    return spec, tuple(warnings)


def _with_target_of_file(refused: SpecError, subject: _Subject, data: Any) -> Checked:
    """Some file formats name the target. The file is looked at only if the spec names none."""
    from treeml.data.recognize import names_target
    from treeml.system.confinement import lies_in

    if subject.has_target or not any(diagnostic.code == "T313" for diagnostic in refused.diagnostics):
        raise refused
    try:
        spec, warnings = _check(replace(subject, has_target=True))
    except SpecError:
        raise refused from None
    path = data if data is not None else None if spec.data is None else subject.folder / spec.data
    if not isinstance(path, (str, Path)):
        raise refused
    if subject.untrusted and data is None and not lies_in(path, subject.folder):
        raise refused
    if not names_target(Path(path)):
        raise refused
    return spec, warnings


def _built_in_python(statements: Sequence[Statement]) -> bool:
    return all(statement.span is None for statement in statements)


def _with_options(statements: tuple[Statement, ...], options: RunOptions) -> tuple[Statement, ...]:
    """The statements with the options of this run in the `solve` statement, instead of what it says itself."""
    given = {
        "backends": options.backend,
        "within": options.within,
        "gap": options.gap,
        "seed": options.seed,
        "threads": options.threads,
    }
    parts = tuple((part, type(value), value) for part, value in given.items() if value is not None)
    if not parts:
        return statements
    try:
        return _with_parts_once(key_of(statements), parts)
    except TypeError:  # a value is not hashable; reading it reports the mistake
        return _with_parts(statements, parts)


@lru_cache(maxsize=32)
def _with_parts_once(statements: SameStatements, parts: tuple[tuple[str, type, Any], ...]) -> tuple[Statement, ...]:
    """The same nodes for the same options, so that the check of a model that is solved many times can be reused."""
    return _with_parts(statements.statements, parts)


def _with_parts(statements: tuple[Statement, ...], parts: tuple[tuple[str, type, Any], ...]) -> tuple[Statement, ...]:
    own = next((statement for statement in statements if isinstance(statement, Solve)), Solve())
    has_spans = not _built_in_python(statements)
    own = replace(own, **{part: _node(part, value, has_spans) for part, _, value in parts})
    if has_spans and own.span is None:
        nodes = (*own.backends, own.within, own.gap, own.seed, own.threads)
        own = replace(own, span=next(node.span for node in nodes if node is not None and node.span is not None))
    return (*(statement for statement in statements if not isinstance(statement, Solve)), own)


def _node(part: str, value: Any, has_span: bool) -> Any:
    """An option as the node that stands for it in a `solve` statement; text is read as it would be read there.

    Nodes for a model that was built in Python have no span, so that the check of that model can be reused.
    """
    option = "with" if part == "backends" else part
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not isfinite(value):
            raise SpecError(_unreadable(option, value))
        return _number(value, "s" if part == "within" else "", _source(option, value) if has_span else None)
    if part == "backends" and not has_span and isinstance(value, str) and value.isidentifier():
        return (Name(value),)
    return _read(part, option, value)


def _number(value: float, unit: str, source: Source | None) -> Number | Negate:
    span = None if source is None else Span(source, 0, len(source.text))
    size = Number(Fraction(str(abs(value))), unit, span=span)
    return size if value >= 0 else Negate(size, span=span)


def _read(part: str, option: str, value: Any) -> Any:
    from treeml.lang.parse import parse_clause  # imported here: start-up time

    statements = parse_clause(_source(option, value), "solve", option)
    if len(statements) != 1 or not isinstance(statements[0], Solve):
        raise SpecError(_unreadable(option, value))
    return getattr(statements[0], part)


def _source(option: str, value: Any) -> Source:
    return Source(f"--{option}", str(value), by_caller=True)


def _unreadable(option: str, value: Any) -> Diagnostic:
    example = {"with": "native, or native(threads = 2)", "within": "60s or 5min", "gap": "1% or 0.01"}.get(option, "7")
    return Diagnostic(
        "S150", f"`{value}` cannot be read here", place=f"--{option}", helps=(f"write --{option} {example}",)
    )
