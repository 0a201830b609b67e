"""A mistake -> one object that the command line, an editor and an exception all show.

A diagnostic has a title in the user's words, a code, labelled places in the user's own text, notes (what the tool
knows) and helps (what to type). `render.py` turns it into text or JSON.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from treeml.lang.render import render
from treeml.lang.source import Span


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Label:
    """A span of the text, and what is wrong or true there."""

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong, where, and what to do about it.

    >>> try:
    ...     tml.parse("maximise accuracy")
    ... except tml.SpecError as error:
    ...     print(error.diagnostics[0].code)
    S101
    """

    code: str
    title: str
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()
    fix: tuple[Fix, ...] = ()
    place: str = ""  # used if there is no span: a data file, the command line
    severity: Severity = Severity.ERROR

    @property
    def is_error(self) -> bool:
        """Whether it stops the work, unlike a warning.

        >>> [each.title for each in tml.parse("predict disease minimize errors").check() if each.is_error]
        []
        """
        return self.severity is Severity.ERROR


@dataclass(frozen=True, slots=True)
class Fix:
    """A replacement of source text that `treeml check --fix` can make safely."""

    span: Span
    replacement: str


class SpecError(ValueError):
    """One or more diagnostics that stop the work; the command line shows them and exits with `exit_code`.

    >>> try:
    ...     tml.parse("predict disease minimize eror_rate").check()
    ... except tml.SpecError as error:
    ...     print(error)
    """

    exit_code = 1

    def __init__(self, diagnostics: Iterable[Diagnostic] | Diagnostic) -> None:
        self.diagnostics = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        super().__init__(*self.diagnostics)

    def __str__(self) -> str:
        return "\n\n".join(render(diagnostic) for diagnostic in self.diagnostics)


class DataError(SpecError):
    """The data, or the combination of data and spec, are wrong.

    >>> try:
    ...     tml.parse("predict illness minimize errors").solve("heart.csv")
    ... except tml.DataError as error:
    ...     print(error.diagnostics[0].title)
    """


class RefusedError(SpecError):
    """No back-end can solve this problem, or not the one that was asked for.

    >>> try:
    ...     tml.parse("predict disease minimize errors").solve("heart.csv", backend="cart")
    ... except tml.RefusedError as error:
    ...     print(error.diagnostics[0].helps)
    """


class InfeasibleError(SpecError):
    """It was proved that no tree meets the requirements.

    >>> try:
    ...     tml.parse("predict disease satisfy require accuracy >= 1 require depth <= 0").solve("heart.csv")
    ... except tml.InfeasibleError as error:
    ...     print(error.conflict)
    """

    exit_code = 3

    @property
    def conflict(self) -> list[str]:
        """The texts of the requirements that conflict.

        >>> try:
        ...     tml.parse("predict disease satisfy require accuracy >= 1 require depth <= 0").solve("heart.csv")
        ... except tml.InfeasibleError as error:
        ...     print(error.conflict)
        """
        labels = (label for diagnostic in self.diagnostics if diagnostic.is_error for label in diagnostic.labels)
        return list(dict.fromkeys(label.span.text for label in labels))


class BackendError(SpecError):
    """A back-end failed, or its answer did not verify.

    >>> try:
    ...     model.solve("heart.csv", backend="cpsat")
    ... except tml.BackendError as error:
    ...     print(error.diagnostics[0].title)
    ... except tml.SpecError:
    ...     pass  # another mistake
    """

    exit_code = 5
