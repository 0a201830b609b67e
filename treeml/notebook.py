"""Model, Result, Forest -> HTML for notebooks; a %%treeml cell -> a Result; progress -> one line under the cell.

    %load_ext treeml.notebook
    %%treeml result --data frame --set price=0.02
    predict disease
    minimize error_rate + price * leaves

The variables of the notebook take part: `--data` names a frame, a param takes the number or text that a variable of
its name holds (`--set` beats it), and the result is bound to the name given. Only the magic imports IPython, an extra.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.lang.display import MOST_OF_A_SENTENCE, shown

if TYPE_CHECKING:
    from treeml.backends.contract import OnProgress, Progress
    from treeml.estimators.distillation import Distilled
    from treeml.model import Model
    from treeml.solving.result import Result
    from treeml.trees.forest import Forest

MOST_TREES = 6  # of a forest that are drawn
USAGE = "%%treeml [name] [--data variable] [--with back-end] [--within time] [--set name=value] [--quiet]"

_CELL = "text-align:left;padding:2px 14px 2px 0"
_SECONDS_BETWEEN_UPDATES = 0.2


def model_html(model: Model) -> str:
    """The model as colored .tml text."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter

    from treeml.lang.pygments_lexer import TreemlLexer

    return str(highlight(str(model), TreemlLexer(), HtmlFormatter(noclasses=True, nobackground=True)))


def result_html(result: Result) -> str:
    """The headline as a table, the tree or forest as drawings, measures and requirements below."""
    from treeml.solving.report import readable, status_words, within

    facts = {"status": status_words(result)}
    if result.objective is not None:
        values = result.objective if isinstance(result.objective, tuple) else (result.objective,)
        facts["objective"] = ", ".join(within(value, result.tolerance if result.forest else 0.0) for value in values)
    if not result.is_optimal and result.bound is not None:
        gap = "" if result.gap is None else f" (gap {100 * result.gap:.2f} %)"
        facts["bound"] = f"{readable(result.bound)}{gap}"
    facts["back-end"] = f"{result.backend}, {result.seconds:.3f} s"
    parts = [_table([[name, text] for name, text in facts.items()])]
    if result.tree is not None:
        parts.append(result.tree._repr_html_())
    if result.forest is not None:
        parts.append(forest_html(result.forest))
    if result.measures:
        parts.append(_table([[name, readable(value)] for name, value in result.measures.items()], "measure", "value"))
    if result.exact is not None and result.exact.requirements:
        rows = [
            [r.text, readable(r.value), readable(r.slack), "yes" if r.met else "NO"] for r in result.exact.requirements
        ]
        parts.append(_table(rows, "requirement", "value", "slack", "met"))
    parts += [f"<p><i>{_html(note)}</i></p>" for note in result.notes]
    return "\n".join(parts)


def forest_html(forest: Forest) -> str:
    """The heaviest trees as drawings, each under its weight."""
    parts = [f"<p>{len(forest.trees)} trees by {_html(forest.criterion or 'votes')}</p>"]
    for tree, weight in list(zip(forest.trees, forest.weights, strict=True))[:MOST_TREES]:
        parts.append(f"<p>weight {float(weight):.6g}</p>{tree._repr_html_()}")
    if len(forest.trees) > MOST_TREES:
        parts.append(f"<p>and {len(forest.trees) - MOST_TREES} lighter ones</p>")
    return "\n".join(parts)


def distilled_html(distilled: Distilled) -> str:
    """How faithful the tree is, and the tree."""
    rows = [["fidelity", f"{distilled.fidelity:.1%} on {distilled.rows:,} rows"]]
    if distilled.unseen is not None:
        rows.append(["on unseen rows", f"{distilled.unseen:.1%}"])
    return _table(rows) + distilled.tree._repr_html_()


def _html(text: str) -> str:
    """Text that may hold names of others."""
    return escape(shown(text, MOST_OF_A_SENTENCE))


def _table(rows: list[list[str]], *header: str) -> str:
    head = "".join(f'<th style="{_CELL}">{escape(text)}</th>' for text in header)
    lines = [f"<tr>{head}</tr>"] if header else []
    for row in rows:
        cells = "".join(f'<td style="{_CELL}">{_html(text)}</td>' for text in row)
        lines.append(f"<tr>{cells}</tr>")
    return f"<table>{''.join(lines)}</table>"


@contextmanager
def notebook_progress() -> Iterator[OnProgress]:
    """A callback that keeps a bar under the cell up to date: how much of the gap is closed, and the values."""
    from IPython.display import display

    shown = display(_Bar("building ..."), display_id=True)
    last = 0.0

    def show(moment: Progress) -> None:
        nonlocal last
        from treeml.solving.progress import closed, progress_text

        if monotonic() - last >= _SECONDS_BETWEEN_UPDATES and shown is not None:
            last = monotonic()
            shown.update(_Bar(progress_text(moment), closed(moment)))

    ended = _Bar("stopped", 0.0)
    try:
        yield show
        ended = _Bar("done", 1.0)
    finally:
        if shown is not None:
            shown.update(ended)


class _Bar:
    """One line of progress, as HTML in notebooks and as text in terminals."""

    def __init__(self, text: str, share: float | None = None) -> None:
        self.text = text
        self.share = share

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        value = "" if self.share is None else f' value="{self.share:.3f}"'
        return f"<progress{value}></progress> <code>{_html(self.text)}</code>"


def solve_cell(line: str, cell: str, variables: dict[str, Any], *, quiet: bool = False) -> Result:
    """Solve the spec in a cell, with the variables of the notebook, and bind the result if a name is given."""
    from treeml.model import parse

    asked = _asked(line)
    bindings = dict(asked.settings)
    model = parse(cell)
    for name in _params(model):
        if name not in bindings and isinstance(variables.get(name), (int, float, str)):
            bindings[name] = variables[name]
    model.bind(**bindings)
    data = None
    if asked.data is not None:
        if asked.data not in variables and not asked.data.endswith((".csv", ".parquet")):
            raise NameError(f"no variable is called {asked.data!r}; --data names a frame of the notebook, or a file")
        data = variables.get(asked.data, asked.data)
    result = model.solve(data, backend=asked.backend, within=asked.within, progress=not (quiet or asked.quiet))
    if asked.name is not None:
        variables[asked.name] = result
    return result


class _Asked:
    """The line of a %%treeml cell."""

    name: str | None = None
    data: str | None = None
    backend: str | None = None
    within: str | None = None
    quiet: bool = False

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}


def _asked(line: str) -> _Asked:
    asked, words = _Asked(), shlex.split(line)
    while words:
        word = words.pop(0)
        if word == "--quiet":
            asked.quiet = True
        elif word in ("--data", "--with", "--within", "--set"):
            if not words:
                raise ValueError(f"{word} needs a value: {USAGE}")
            value = words.pop(0)
            if word == "--set":
                name, equals, given = value.partition("=")
                if not equals:
                    raise ValueError(f"write --set name=value, not --set {value}")
                asked.settings[name] = given
            else:
                setattr(asked, {"--data": "data", "--with": "backend", "--within": "within"}[word], value)
        elif word.isidentifier() and asked.name is None:
            asked.name = word
        else:
            raise ValueError(f"{word!r} is not understood: {USAGE}")
    return asked


def _params(model: Model) -> list[str]:
    from treeml.lang.syntax import Param

    return [statement.name for statement in model.statements if isinstance(statement, Param)]


def load_ipython_extension(ipython: Any) -> None:
    """Called by `%load_ext treeml.notebook`."""

    def treeml(line: str, cell: str) -> Any:
        from treeml.lang.diagnostic import SpecError

        try:
            return solve_cell(line, cell, ipython.user_ns)
        except SpecError as error:
            return _Mistakes(str(error))

    ipython.register_magic_function(treeml, "cell", "treeml")


class _Mistakes:
    """What is wrong with a cell: the messages, and no traceback."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text)}</pre>"
