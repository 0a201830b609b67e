"""A result and records of a comparison -> a self-contained HTML page that fetches nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.display import json_text, shown_lines, visible
from treeml.studies.comparison.journal import MOST_OF_A_JOURNAL, read_records
from treeml.studies.comparison.record import flaw_of
from treeml.studies.page.colors import colored
from treeml.studies.page.node_charts import node_charts
from treeml.studies.page.template import asset, filled, in_script
from treeml.system.reading import read_text
from treeml.trees.palette import COLORS, TINTS

# The page shows the table and the timeline of records; their trees would only make it large.
LEFT_OUT = ("tree", "forest", "requirements", "measures", "statistics", "plan", "notes", "conflict", "printed")

SCRIPTS = ("elements.js", "rows.js", "asking.js", "plot.js", "layout.js", "page.js")


def write_page(result: Mapping[str, Any] | None, records: Sequence[Mapping[str, Any]] = (), data: Any = None) -> str:
    """The page of a result, of a comparison, or of both. `result` is what `treeml solve -o` or `--json` writes.

    With `data`, in any form that `Tree.predict` takes, nodes show on demand how these rows spread over their column.
    """
    from treeml.trees.forest import Forest
    from treeml.trees.tree import Tree

    shown = dict(result or _best(records) or {})
    tree = Tree.from_json(shown["tree"]) if shown.get("tree") else None
    forest = Forest.from_json(shown["forest"]) if shown.get("forest") else None
    about = shown.pop("about", {})
    flaw = _flaw_of_about(about)
    if flaw:
        raise DataError(_no_page(flaw))
    spec = about.get("spec", {})
    single = tree if forest is None else forest.trees[0]
    target = single.target if single is not None and single.target else spec.get("name", "a comparison of back-ends")
    kind = "TreeML:" if single is None else "Decision tree for" if forest is None else "Forest for"
    trees = forest.trees if forest is not None else [tree] if tree is not None else []
    charts, charts_line = node_charts(trees, data)
    content = {
        "result": shown or None,
        "about": about,
        "records": [{name: value for name, value in each.items() if name not in LEFT_OUT} for each in records],
        "colors": COLORS,
        "tints": TINTS,
        "charts": charts,
        "charts_line": charts_line,
    }
    try:
        text = json_text(content, allow_nan=False)
    except ValueError:
        raise DataError(_no_page("it holds a number that is not finite")) from None
    except RecursionError:
        raise DataError(_no_page("it is nested too deeply")) from None
    pieces = {
        "title": escape(f"{kind} {visible(target)}"),
        "style": asset("page.css"),
        "script": "".join(map(asset, SCRIPTS)),
        "spec": colored(shown_lines(spec.get("text", ""))),
        "text": escape(str(forest or tree or "")),
        "data": in_script(text),
    }
    return filled("page.html", pieces)


def read_result(path: Path) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """The result, or the records of a comparison, in a file; DataError for any other file."""
    try:
        text = read_text(path, MOST_OF_A_JOURNAL)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(_unreadable(path, getattr(error, "strerror", None) or str(error))) from error
    try:
        value = json.loads(text)
    except RecursionError:
        raise DataError(_unreadable(path, "it is nested too deeply")) from None
    except ValueError:
        records = read_records(path)
        if not records:
            raise DataError(_unreadable(path, "it holds no results")) from None
        return None, records
    if isinstance(value, dict) and "key" in value and "fingerprint" in value:
        value = [value]  # a comparison of one line
    if isinstance(value, list):
        flaw = next((flaw for flaw in map(flaw_of, value) if flaw), "")
        if flaw:
            raise DataError(_unreadable(path, flaw))
        return None, value
    if isinstance(value, dict) and "status" in value:
        return value, []
    raise DataError(_unreadable(path, "it is not a result"))


def _best(records: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The answer of a comparison on one problem: a proved one if there is one."""
    if len({record.get("fingerprint") for record in records}) != 1:
        return None
    with_tree = [record for record in records if record.get("tree") or record.get("forest")]
    proved = [record for record in with_tree if record.get("status") == "optimal"]
    return next(iter(proved + with_tree), None)


def _flaw_of_about(about: Any) -> str:
    """What keeps a page from quoting the spec of a result."""
    spec = about.get("spec", {}) if isinstance(about, dict) else None
    if not isinstance(spec, dict):
        return "its `about` is not of the kind that it has to be"
    is_text = all(isinstance(spec.get(name, ""), str) for name in ("name", "text"))
    return "" if is_text else "the name or the text of its spec is no text"


def _no_page(reason: str) -> Diagnostic:
    return Diagnostic(
        "D493",
        f"a page cannot be made of this result: {reason}",
        helps=("give a file that `treeml solve -o` or `treeml compare -o` wrote",),
    )


def _unreadable(path: Path, reason: str) -> Diagnostic:
    return Diagnostic(
        "D493",
        f"{path} cannot be read as a result: {reason}",
        place=str(path),
        helps=("give a file that `treeml solve -o` or `treeml compare -o` wrote",),
    )
