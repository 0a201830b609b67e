"""Statements with `include` -> all statements, those of the included files in the place of the `include`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from treeml.lang import trust
from treeml.lang.findings import Findings
from treeml.lang.source import PIPED_NAME, Source, Span
from treeml.lang.source_file import MOST_BYTES, decode
from treeml.lang.syntax import Data, Include, Start, Statement, String, Validate, Version
from treeml.system.confinement import Outside, lies_in, open_within
from treeml.system.reading import read_opened, read_plain

MAXIMUM_FILES = 200


@dataclass(frozen=True, slots=True)
class Included:
    statements: list[Statement]
    sources: tuple[str, ...]  # names, in the order of their first statements
    file: str  # that includes the others, as commands name it; empty if it is not a file
    sound: bool  # every file was read and parsed as a whole
    lost: frozenset[str]  # params of the included files whose declaration could not be read


def resolve_includes(
    statements: Sequence[Statement], folder: Path, findings: Findings, untrusted: bool = False
) -> Included:
    """Replace every `include` by the statements of its file; their paths are made relative to `folder`."""
    resolver = _Resolver(findings, folder, untrusted)
    first = next((statement.span for statement in statements if statement.span is not None), None)
    file = ""
    if first is not None:
        resolver.names.append(first.source.name)
        own = first.source.path
        file = "-" if first.source.name == PIPED_NAME else first.source.name if own is not None else ""
        if own is not None:
            resolver.open.append((_identity(own), None))
    found = list(resolver.statements(statements, folder, PurePath()))
    return Included(found, tuple(dict.fromkeys(resolver.names)), file, resolver.sound, frozenset(resolver.lost))


class _Resolver:
    def __init__(self, findings: Findings, folder: Path, untrusted: bool) -> None:
        self.findings = findings
        self.folder, self.untrusted = folder, untrusted
        self.most_files = trust.FILES if untrusted else MAXIMUM_FILES
        self.names: list[str] = []
        self.open: list[
            tuple[str, Span | None]
        ] = []  # files being read, outermost first, with the include that opened them
        self.seen: dict[str, Span | None] = {}
        self.sound = True
        self.lost: set[str] = set()

    def statements(self, statements: Iterable[Statement], folder: Path, below: PurePath) -> Iterable[Statement]:
        for statement in statements:
            if isinstance(statement, Include):
                yield from self._included(statement, folder, below)
            elif below != PurePath() and isinstance(statement, Version):
                continue
            else:
                yield _moved(statement, below)

    def _included(self, include: Include, folder: Path, below: PurePath) -> Iterable[Statement]:
        path = folder / below / include.path
        identity = _identity(path)
        if self._again(include, identity):
            return
        source = self._read(include, path)
        if source is None:
            self.sound = False
            return
        from treeml.lang.parse import Parsed, parse_all

        parsed = parse_all(source) if not self.untrusted or len(source.text) <= trust.CHARACTERS else Parsed()
        if source.hidden and parsed.diagnostics:
            self._no_specification(include, len(parsed.diagnostics))
        else:
            self.findings.extend(parsed.diagnostics)
        if parsed.diagnostics:
            self.sound = False
            self.lost |= lost_params(source)
        self.names.append(source.name)
        self.open.append((identity, include.span))
        yield from self.statements(parsed.statements, folder, below / PurePath(include.path).parent)
        self.open.pop()

    def _again(self, include: Include, identity: str) -> bool:
        if any(identity == opened for opened, _ in self.open):
            position = [opened for opened, _ in self.open].index(identity)
            inner = [span for _, span in self.open[position + 1 :] if span is not None]
            self.findings.error(
                "N209",
                f'"{include.path}" includes itself' if not inner else f'"{include.path}" is included in a circle',
                (include.span, "would read this file again" if not inner else "is being read already"),
                *((span, "through this include") for span in inner),
                help="put what the files share into a file of its own, and include that",
            )
            return True
        if identity in self.seen:
            self.findings.error(
                "N209",
                f'"{include.path}" is included twice',
                (self.seen[identity], "first here"),
                (include.span, "and again here"),
                help="remove one of the two: every statement in it would be said twice",
            )
            return True
        if len(self.seen) >= self.most_files:
            title = f"more than {self.most_files} files are included"
            self.findings.error("N209", title, (include.span, "one too many"))
            return True
        if self.untrusted and len(self.open) > trust.NESTING:
            title = f"files that are not trusted include each other more than {trust.NESTING} deep"
            self.findings.error("A805", title, (include.span, "one too many"))
            return True
        self.seen[identity] = include.span
        return False

    def _read(self, include: Include, path: Path) -> Source | None:
        name: str = include.path
        if include.span is not None:
            name = (PurePath(include.span.source.name).parent / include.path).as_posix()
        try:
            return Source(name, decode(self._content(path)), path, hidden=self._is_hidden(path))
        except Outside:
            self.findings.error(
                "A801",
                f'"{include.path}" leads out of the folder of the specification, which is not trusted',
                (include.span, "included here"),
            )
            return None
        except UnicodeDecodeError:
            reason, help = "is not text in UTF-8", "save it as plain text in UTF-8"
        except FileNotFoundError:
            reason, help = "does not exist", f"a path is relative to the file that includes it: looked for {name}"
        except IsADirectoryError:
            reason, help = "is a folder", "name a .tml file in it"
        except (OSError, ValueError) as error:
            reason, help = f"cannot be read: {getattr(error, 'strerror', None) or error}", f"looked for {name}"
        self.findings.error("N208", f'"{include.path}" {reason}', (include.span, "included here"), help=help)
        return None

    def _content(self, path: Path) -> bytes:
        if not self.untrusted:
            return read_plain(path, MOST_BYTES)
        with open_within(path, self.folder) as handle:
            return read_opened(handle, path, MOST_BYTES)

    def _is_hidden(self, path: Path) -> bool:
        """Lines of an included file are shown only if it is a .tml file in the folder of this specification."""
        inside = lies_in(path, self.folder)
        return self.untrusted or path.suffix != ".tml" or not inside

    def _no_specification(self, include: Include, mistakes: int) -> None:
        why = (
            "a specification that is not trusted shows no lines of other files"
            if self.untrusted
            else "lines are shown of files that end in .tml and lie in the folder of the specification"
        )
        self.findings.error(
            "A806",
            f'"{include.path}" is not a specification',
            (include.span, "included here"),
            note=(f"{mistakes} of its statements cannot be read" if mistakes > 1 else "it cannot be read", why),
            help="name a file that holds a specification",
        )


def lost_params(source: Source) -> frozenset[str]:
    """Names after the word `param` in a text that could not be parsed completely."""
    return frozenset(re.findall(r"\bparam\s+(\w+)", source.text))


def _moved(statement: Statement, below: PurePath) -> Statement:
    """A statement of an included file, with paths relative to the folder of the including file."""
    if below == PurePath():
        return statement
    if isinstance(statement, Data):
        return replace(statement, path=_joined(below, statement.path))
    if isinstance(statement, Start) and isinstance(statement.source, String):
        return replace(statement, source=replace(statement.source, text=_joined(below, statement.source.text)))
    if isinstance(statement, Validate) and isinstance(statement.method, String):
        return replace(statement, method=replace(statement.method, text=_joined(below, statement.method.text)))
    return statement


def _joined(below: PurePath, path: str) -> str:
    return (below / path).as_posix()


def _identity(path: Path) -> str:
    """The same text for the same file, whatever path leads to it."""
    try:
        return os.path.normcase(os.path.realpath(path))
    except (OSError, ValueError):  # not a valid path, which reading it will report
        return str(path)
