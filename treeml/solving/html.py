"""Result -> HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from treeml.lang.display import shown_lines
from treeml.lang.numerals import readable
from treeml.lang.render import render
from treeml.solving.failure import of_failure
from treeml.solving.report import bound_words, status_words, within
from treeml.trees.html import escaped

if TYPE_CHECKING:
    from treeml.solving.result import Result

_CELL = "text-align:left;padding:2px 14px 2px 0"


def result_html(result: Result) -> str:
    """The headline as a table, the tree or forest as drawings, then measures and requirements."""
    parts = [html_table([[name, text] for name, text in _headline(result).items()])]
    if result.tree is not None:
        parts.append(result.tree._repr_html_())
    if result.forest is not None:
        parts.append(result.forest._repr_html_())
    if result.measures:
        rows = [[name, readable(value)] for name, value in result.measures.items()]
        parts.append(html_table(rows, "measure", "value"))
    if result.exact is not None and result.exact.requirements:
        rows = [
            [r.text, readable(r.value), readable(r.slack), "yes" if r.met else "NO"] for r in result.exact.requirements
        ]
        parts.append(html_table(rows, "requirement", "value", "slack", "met"))
    for diagnostic in of_failure(result):  # why there is no tree, and what to change
        parts.append(f'<pre style="text-align:left">{escape(shown_lines(render(diagnostic)))}</pre>')
    parts += [f"<p><i>{escaped(note)}</i></p>" for note in result.notes]
    return "\n".join(parts)


def _headline(result: Result) -> dict[str, str]:
    facts = {"status": status_words(result)}
    if result.objective is not None:
        values = result.objective if isinstance(result.objective, tuple) else (result.objective,)
        facts["objective"] = ", ".join(within(value, result.tolerance if result.forest else 0.0) for value in values)
    if not result.is_optimal and result.bound is not None:
        facts["bound"] = bound_words(result)
    facts["back-end"] = f"{result.backend}, {result.seconds:.3f} s"
    return facts


def html_table(rows: list[list[str]], *header: str) -> str:
    """Rows of text as a table; every cell is escaped."""
    head = "".join(f'<th style="{_CELL}">{escape(text)}</th>' for text in header)
    lines = [f"<tr>{head}</tr>"] if header else []
    for row in rows:
        cells = "".join(f'<td style="{_CELL}">{escaped(text)}</td>' for text in row)
        lines.append(f"<tr>{cells}</tr>")
    return f"<table>{''.join(lines)}</table>"
