"""Result -> text for people: a summary, the tree, and the items of the spec's `report` statement."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Status, Stop
from treeml.lang.display import MOST_OF_A_SENTENCE, shown, shown_lines, width
from treeml.lang.numerals import readable
from treeml.solving.progress_text import in_users_terms, progress_text
from treeml.solving.verify import written

if TYPE_CHECKING:
    from rich.table import Table

    from treeml.solving.result import Result

STATUS_WORDS = {
    Status.OPTIMAL: "optimal, and proved",
    Status.LOCAL: "local: no subtree in reach can be improved; not proved best",
    Status.FEASIBLE: "a tree that meets every requirement; not proved best",
    Status.INFEASIBLE: "infeasible: no tree meets the requirements",
    Status.UNKNOWN: "unknown: neither a tree nor a proof",
}
FOREST_WORDS = STATUS_WORDS | {Status.FEASIBLE: "a forest whose trees meet every requirement; not proved best"}
STOP_WORDS = {
    Stop.PROVED: "the proof is complete",
    Stop.GAP: "the requested gap was reached",
    Stop.TIME: "the time limit was reached",
    Stop.MEMORY: "the memory limit was reached",
    Stop.INTERRUPTED: "it was interrupted",
    Stop.FINISHED: "the search ran to its end",
    Stop.FAILED: "the solver failed",
}


MOST_OF_A_CELL = 500  # characters; a reason may be a long sentence
MOST_TREES = 5  # trees of a forest that a report draws


def show(result: Result, quiet: bool = False) -> None:
    """Print a result for people."""
    print(summary(result, quiet))


def summary(result: Result, quiet: bool = False) -> str:
    """The report as plain text."""
    items = [item.name for item in result.reports] or ["tree", "measures", "requirements"]
    blocks = [_headline(result)]
    blocks += [text for text in (REPORTS[item](result) for item in items) if text]
    if "measures" not in items and result.tree is not None and _named(result):
        blocks.append(table_text([{"measure": name, "value": value} for name, value in _named(result).items()]))
    if result.validation is not None:
        blocks.append(result.validation.text())
    if result.notes and not quiet:
        blocks.append("\n".join(f"note: {shown(note, MOST_OF_A_SENTENCE)}" for note in result.notes))
    return shown_lines("\n\n".join(blocks))


def short_summary(result: Result) -> str:
    """One line: `optimal: accuracy 0.855; tree with 7 leaves, depth 3; native, 0.66 s`."""
    parts = []
    values = result.objective if isinstance(result.objective, tuple) else (result.objective,)
    goals = () if result.exact is None else result.exact.goals
    named = [f"{goal.text.partition(' ')[2] or 'objective'} {readable(goal.value)}" for goal in goals]
    if result.objective is not None:
        parts.append(", ".join(named or [f"objective {readable(value)}" for value in values]))
    if result.tree is not None:
        leaves = len(result.tree.leaves)
        parts.append(f"tree with {leaves} {'leaf' if leaves == 1 else 'leaves'}, depth {result.tree.depth}")
    elif result.forest is not None:
        parts.append(f"forest of {len(result.forest.trees)} trees")
    if result.conflict:
        parts.append(f"{' and '.join(result.conflict)} {'conflict' if len(result.conflict) > 1 else 'cannot be met'}")
    parts.append(f"{result.backend}, {result.seconds:.2f} s")
    return f"{result.status.value}: {'; '.join(parts)}"


def status_words(result: Result) -> str:
    return (STATUS_WORDS if result.forest is None else FOREST_WORDS)[result.status]


def bound_words(result: Result) -> str:
    """`0.91: no tree is better by more than 0.081 (9.8 % of the objective)`."""
    text, share = readable(result.bound), ""
    if result.gap is not None and result.gap <= 1:
        share = f" ({100 * result.gap:.1f} % of the objective)"
    if result.bound is None or result.objective is None or isinstance(result.objective, tuple):
        return text + share  # with several goals, the bound is that of one of them
    kind = "tree" if result.forest is None else "forest"
    return f"{text}: no {kind} is better by more than {readable(abs(result.objective - result.bound))}{share}"


def _headline(result: Result) -> str:
    lines = [f"{'status':<10} {status_words(result)}"]
    if result.stop is not Stop.PROVED:
        lines.append(f"{'stopped':<10} {STOP_WORDS[result.stop]}")
    if result.conflict:
        lines.append(f"{'conflict':<10} {'; '.join(result.conflict)}")
    if result.objective is not None:
        values = result.objective if isinstance(result.objective, tuple) else (result.objective,)
        tolerance = result.tolerance if result.forest else 0.0  # the value of a tree is exact
        lines.append(f"{'objective':<10} {', '.join(within(value, tolerance) for value in values)}")
    if result.status not in (Status.OPTIMAL, Status.INFEASIBLE) and result.bound is not None:
        lines.append(f"{'bound':<10} {bound_words(result)}")
    if result.evidence:
        said = "proved by" if result.status in (Status.OPTIMAL, Status.INFEASIBLE) else "bound by"
        lines.append(f"{said:<10} {'; '.join(each.name for each in result.evidence)}")
    if result.certificate is not None:
        lines.append(f"{'certified':<10} {result.certificate.summary}")
    lines.append(f"{'back-end':<10} {result.backend}, {result.seconds:.3f} s")
    if result.forest is not None:
        lines.append(f"{'forest':<10} {len(result.forest.trees)} trees by {result.forest.criterion}")
    if result.tree is not None or result.forest is not None:
        lines.append(f"{'verified':<10} {_how_verified(result)}")
    return "\n".join(lines)


def _how_verified(result: Result) -> str:
    if not result.verified:
        return "NO"
    if result.spec is not None and (result.spec.linear is not None or result.spec.observed is not None):
        return "yes, recomputed from the rows in floating point"
    if result.exact is not None and result.exact.is_rounded:
        nearness = f", within {result.tolerance:.2g} (relative) of the numbers as given" if result.tolerance else ""
        return f"yes, recomputed from the rows with rounded numbers{nearness}"
    return "yes, recomputed exactly from the rows"


def _tree(result: Result) -> str:
    if result.forest is not None:
        return result.forest.text(MOST_TREES)
    return "" if result.tree is None else str(result.tree)


def _measures(result: Result) -> str:
    rows = [
        {"measure": name, "value": within(value, result.tolerance) if name.endswith("margin") else readable(value)}
        for name, value in result.measures.items()
    ]
    rows += [{"measure": name, "value": value} for name, value in _named(result).items() if name not in result.measures]
    return table_text(rows if result.measures else [])


def _named(result: Result) -> dict[str, str]:
    """The measures that the `report` statement names; a quotient may have nothing to divide by."""
    named = () if result.spec is None else result.spec.reported
    names = [use.text or written(use) for use in named]
    return {name: readable(result.measures[name]) if name in result.measures else "undefined" for name in names}


def _requirements(result: Result) -> str:
    if result.exact is None:
        return ""
    rows = [
        {
            "requirement": requirement.shown,
            "value": readable(requirement.value),
            "slack": readable(requirement.slack),
            "met": "yes" if requirement.met else "NO",
        }
        for requirement in result.exact.requirements
    ]
    return table_text(list({tuple(row.values()): row for row in rows}.values()))  # what is said twice is shown once


def _confusion(result: Result) -> str:
    if result.exact is None or result.exact.confusion is None:
        return ""
    classes, weights = result.exact.confusion
    rows = [
        {"actual": name, **{f"predicted {other}": readable(weights[i][j]) for j, other in enumerate(classes)}}
        for i, name in enumerate(classes)
    ]
    return table_text(rows)


def _timeline(result: Result) -> str:
    goals = () if result.spec is None else result.spec.goals
    later = result.build_seconds
    lines = [progress_text(in_users_terms(moment, goals, later)) for moment in result.trace]
    return "\n".join(lines) or "no progress was reported"


def _plan(result: Result) -> str:
    return "\n".join(shown(step, MOST_OF_A_SENTENCE) for step in result.plan)


def _statistics(result: Result) -> str:
    return table_text([{"statistic": n, "value": readable(v)} for n, v in sorted(result.statistics.items())])


REPORTS = {
    "tree": _tree,
    "measures": _measures,
    "requirements": _requirements,
    "confusion": _confusion,
    "timeline": _timeline,
    "plan": _plan,
    "statistics": _statistics,
}


def show_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print dictionaries as a table: with rich in a terminal, as aligned text elsewhere."""
    if not sys.stdout.isatty():
        print(table_text(rows))
        return
    from rich.console import Console

    Console().print(rich_table(rows))


def rich_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """A table for a terminal. Cells are Text, because rich would read `[red]` in a plain string as markup."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold")
    for heading in _headings(rows):
        table.add_column(Text(_cell(heading)), overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(row.get(heading))) for heading in _headings(rows)))
    return table


def table_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Dictionaries as lines of aligned columns."""
    if not rows:
        return ""
    headings = _headings(rows)
    cells = [[_cell(heading) for heading in headings]]
    cells += [[_cell(row.get(heading)) for heading in headings] for row in rows]
    widths = [max(width(line[i]) for line in cells) for i in range(len(headings))]
    lines = ["  ".join(map(_padded, line, widths)).rstrip() for line in cells]
    lines.insert(1, "  ".join("-" * each for each in widths))
    return "\n".join(lines)


def _headings(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(heading for row in rows for heading in row))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return shown("; ".join(str(part) for part in value), MOST_OF_A_CELL)
    return shown(value, MOST_OF_A_CELL)


def _padded(cell: str, columns: int) -> str:
    return cell + " " * (columns - width(cell))


def within(value: Any, tolerance: float) -> str:
    """A number that is known up to a tolerance: one that may be 0 is shown as 0."""
    return f"0 (within {tolerance:g})" if value and abs(value) <= tolerance else readable(value)
