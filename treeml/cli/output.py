"""What commands print, how mistakes end them, and the files they write."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from treeml.lang.display import json_text, shown_lines

if TYPE_CHECKING:
    from treeml.lang.diagnostic import Diagnostic

OWN_LIMITS = ("compare", "sweep")  # commands whose jobs run in processes with limits of their own
OUT_OF_MEMORY = 5


@dataclass(frozen=True, slots=True)
class Printer:
    """Prints for one command, in the style that its options ask for."""

    style: str = "full"  # of mistakes: full, concise or json
    quiet: bool = False
    as_json: bool = False

    @property
    def shows_progress(self) -> bool:
        return not (self.quiet or self.as_json)

    def result(self, value: Any, text: str) -> None:
        """Print a result: as JSON if the user asks for that, else as text."""
        say(json_text(value) if self.as_json else text)

    def rows(self, rows: list[dict[str, Any]]) -> None:
        """Print a table, or its rows as JSON."""
        from treeml.solving import report  # imported here: start-up time

        if self.as_json:
            say(json_text(rows))
        else:
            report.show_rows(rows)

    def warnings(self, warnings: Iterable[Diagnostic]) -> None:
        """Print warnings, unless the command is quiet."""
        if not self.quiet:
            self.diagnostics(warnings)

    def diagnostics(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Print messages to standard error."""
        for diagnostic in diagnostics:
            from treeml.lang.render import render  # imported here: start-up time

            say(render(diagnostic, self.style), err=True)
            if self.style == "full":
                click.echo(err=True)

    @contextmanager
    def mistakes(self) -> Iterator[None]:
        """Print what goes wrong in the block, and exit with its code."""
        from treeml.lang.diagnostic import SpecError  # imported here: start-up time

        try:
            with self._watched():
                yield
        except SpecError as error:
            self.diagnostics(error.diagnostics)
            sys.exit(error.exit_code)
        except BrokenPipeError:
            sys.stderr.close()  # the reader has gone: `treeml show tree.json | head`
            sys.exit(0)
        except MemoryError:
            click.echo("out of memory: use fewer rows or tests, or `solve with` a back-end that needs less", err=True)
            sys.exit(OUT_OF_MEMORY)

    @contextmanager
    def infeasible_as_json(self) -> Iterator[None]:
        """A conflict that is found before any data is read is a result too."""
        from treeml.lang.diagnostic import InfeasibleError  # imported here: start-up time

        try:
            yield
        except InfeasibleError as error:
            if self.as_json:
                say(json_text({"status": "infeasible", "stop": "proved", "conflict": error.conflict}))
            raise

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """End the process if a specification that is not trusted exceeds its limits."""
        context = click.get_current_context()
        if not context.meta.get("untrusted") or context.info_name in OWN_LIMITS:
            yield
            return
        # imported here: start-up time
        from treeml.cli.watchdog import watched
        from treeml.lang import trust
        from treeml.solving.request import amount_of_memory

        within, memory = context.params.get("within"), context.params.get("memory")
        with watched(
            trust.SECONDS if within is None else _seconds(within),
            trust.MEMORY if memory is None else amount_of_memory(memory),
            lambda diagnostic: self.diagnostics([diagnostic]),
        ):
            yield


def _seconds(within: str) -> float:
    """The value of --within, read as in a specification."""
    from treeml.lang.statements import Statements
    from treeml.solving.checking import check
    from treeml.solving.options import RunOptions

    spec, _ = check(Statements().satisfy(), RunOptions(within=within), has_target=True)
    assert spec.within is not None
    return spec.within


def say(text: str, err: bool = False) -> None:
    """Print text that may hold names, labels and paths from outside."""
    click.echo(shown_lines(text), err=err)


def write_file(path: Path, content: str | bytes) -> None:
    """Replace a file; a failure is a mistake of the command line."""
    from treeml.system.writing import replace_file  # imported here: start-up time

    try:
        replace_file(path, content)
    except OSError as error:
        raise click.FileError(str(path), error.strerror or str(error)) from error


def counted(count: int, word: str) -> str:
    """`1 warning`, `2 warnings`."""
    return f"{count} {word}" + ("" if count == 1 else "s")
