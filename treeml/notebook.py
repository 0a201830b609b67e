"""A %%treeml cell -> a Result: the cell magic of IPython.

    %load_ext treeml.notebook
    %%treeml result --data frame --set price=0.02
    predict disease
    minimize error_rate + price * leaves

`--data` names a variable that holds a frame, or a file. A param takes the value of the variable of its name, if that is
a number or text; `--set` takes precedence. The result is bound to the name that is given. A mistake is an exception, so
that "Run All" stops at it; it is shown without a traceback, with the cell as it should read if that is known.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from treeml.lang.diagnostic import SpecError
from treeml.lang.render import apply_fixes, render
from treeml.lang.source import Source
from treeml.lang.syntax import Param
from treeml.model import Model

if TYPE_CHECKING:
    from treeml.solving.result import Result

USAGE = "%%treeml [name] [--data variable] [--with back-end] [--within time] [--set name=value] [--quiet]"


def load_ipython_extension(ipython: Any) -> None:
    """Register the magic; `%load_ext treeml.notebook` calls it."""

    def treeml(line: str, cell: str) -> Any:
        try:
            return solve_cell(line, cell, ipython.user_ns)
        except SpecError as error:
            raise CellError(error.diagnostics) from error

    ipython.register_magic_function(treeml, "cell", "treeml")


def solve_cell(line: str, cell: str, variables: dict[str, Any], *, quiet: bool = False) -> Result:
    """Solve the specification in a cell with the variables of the notebook; bind the result if a name is given.

    >>> result = solve_cell("--data frame", "predict disease minimize errors", {"frame": frame})
    """
    arguments = _arguments(line)
    bindings = dict(arguments.settings)
    model = Model.parse(Source("cell", cell))
    for name in _params(model):
        if name not in bindings and isinstance(variables.get(name), (int, float, str)):
            bindings[name] = variables[name]
    model.bind(**bindings)
    data = None
    if arguments.data is not None:
        if arguments.data not in variables and not arguments.data.endswith((".csv", ".parquet")):
            raise NameError(
                f"no variable is called {arguments.data!r}; --data names a frame of the notebook, or a file"
            )
        data = variables.get(arguments.data, arguments.data)
    shows_bar = not (quiet or arguments.quiet)
    result = model.solve(data, backend=arguments.backend, within=arguments.within, progress=shows_bar)
    if arguments.name is not None:
        variables[arguments.name] = result
    return result


@dataclass(slots=True)
class CellArguments:
    """The line of a %%treeml cell."""

    name: str | None = None
    data: str | None = None
    backend: str | None = None
    within: str | None = None
    quiet: bool = False
    settings: dict[str, str] = field(default_factory=dict)


def _arguments(line: str) -> CellArguments:
    found, words = CellArguments(), shlex.split(line)
    while words:
        word = words.pop(0)
        if word == "--quiet":
            found.quiet = True
        elif word in ("--data", "--with", "--within", "--set"):
            if not words:
                raise ValueError(f"{word} needs a value: {USAGE}")
            value = words.pop(0)
            if word == "--set":
                name, equals, given = value.partition("=")
                if not equals:
                    raise ValueError(f"write --set name=value, not --set {value}")
                found.settings[name] = given
            else:
                setattr(found, {"--data": "data", "--with": "backend", "--within": "within"}[word], value)
        elif word.isidentifier() and found.name is None:
            found.name = word
        else:
            raise ValueError(f"{word!r} is not understood: {USAGE}")
    return found


def _params(model: Model) -> list[str]:
    return [statement.name for statement in model.statements if isinstance(statement, Param)]


class CellError(SpecError):
    """The mistakes of a cell. IPython shows them without a traceback."""

    def __str__(self) -> str:
        # `treeml check --fix` repairs files; here the repaired cell is shown instead.
        shown = [render(replace(diagnostic, fix=())) for diagnostic in self.diagnostics]
        sources = {fix.span.source.text: fix.span.source for each in self.diagnostics for fix in each.fix}
        for source in sources.values():
            shown.append(f"the cell, repaired:\n\n{apply_fixes(source, self.diagnostics).strip()}")
        return "\n\n".join(shown)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows of the exception."""
        return str(self).splitlines()
