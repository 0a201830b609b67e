"""Model, data, result -> the context of a result: the spec, a summary of the data, versions, seed and limits.

`treeml solve -o` stores it with the result, so that a page can be made later, elsewhere, without the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treeml.data.table import Column, Table
    from treeml.lang.statements import Statements
    from treeml.solving.result import Result

MOST_COLUMNS = 200  # columns that are described


def about(
    model: Statements, data: Any, result: Result, file: Path | None = None, rows: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The context of a result; `rows` is the `summary` of the table that was solved."""
    from treeml.solving.result import plain
    from treeml.studies.comparison.jobs import Case, fingerprint
    from treeml.studies.comparison.reproduction import versions

    spec = result.spec
    assert spec is not None
    case = Case(model, data, None, "" if file is None else str(file))
    found: dict[str, Any] = {
        "spec": {"name": file.name if file is not None else "model", "text": _text(model, file, spec.untrusted)},
        "params": {name: value if isinstance(value, str) else plain(value) for name, value in spec.params.items()},
        "fingerprint": fingerprint(case),
        "versions": versions(),
        "limits": {
            "seed": spec.seed or 0,
            "threads": spec.threads or 1,
            "within": spec.within,
            "gap": plain(spec.gap),
        },
    }
    if rows is not None:
        found["data"] = {**rows, "target": spec.target or rows["target"]}
    if result.exact is not None:
        found["goals"] = [
            {"text": goal.text, "sense": goal.sense, "value": str(goal.value)} for goal in result.exact.goals
        ]
        found["requirements"] = [
            {
                "value": None if each.value is None else str(each.value),
                "slack": None if each.slack is None else str(each.slack),
            }
            for each in result.exact.requirements
        ]
        if result.exact.confusion is not None:
            classes, weights = result.exact.confusion
            found["confusion"] = {"classes": list(classes), "weights": [[plain(w) for w in row] for row in weights]}
    return found


def _text(model: Statements, file: Path | None, untrusted: bool) -> str:
    if file is None:
        return str(model)
    from treeml.lang.source_file import read

    return read(file, untrusted).text


def summary(table: Table) -> dict[str, Any]:
    """What the table holds; it is made while the table is there, since reading a large file again takes long."""
    names = list(table.columns)
    counts = None if table.merged is None else table.merged.count
    return {
        "source": Path(table.source).name,
        "rows": table.given_rows,
        "columns": [_column(table.columns[name], counts) for name in names[:MOST_COLUMNS]],
        "more_columns": max(0, len(names) - MOST_COLUMNS),
        "target": table.target,
    }


def summary_of(result: Result, data: Any) -> dict[str, Any]:
    """The summary of the table that the result is about, which is read once more."""
    from treeml.data.limits import reading_limits
    from treeml.solving.request import Request
    from treeml.solving.rows import load

    spec = result.spec
    assert spec is not None
    return summary(load(Request(spec, reading=reading_limits(spec), is_data_given=data is not None), data))


def _column(column: Column, rows: NDArray[np.int64] | None) -> dict[str, Any]:
    """A column in numbers; `rows`: how many of the user's rows each of its values stands for, if equal ones are merged.

    Numbers that were cut while reading have no range here: only their pieces are known.
    """
    import numpy as np

    from treeml.data.table import CutColumn, label_text
    from treeml.solving.result import plain

    absent = np.zeros(len(column.values), bool) if column.missing is None else column.missing
    missing = int(np.count_nonzero(absent) if rows is None else rows[absent].sum())
    found: dict[str, Any] = {"name": column.name, "type": column.type, "missing": missing}
    if column.is_number:
        present = () if isinstance(column, CutColumn) else column.values[~absent]
        if len(present):
            low, middle, high = np.min(present), np.median(present), np.max(present)
            found["range"] = [plain(float(low)), plain(float(middle)), plain(float(high))]
        return found
    named = column.values >= 0
    weights = None if rows is None else rows[named]
    counts = np.bincount(column.values[named], weights, minlength=len(column.levels)).astype(np.int64).tolist()
    order = sorted(range(len(counts)), key=lambda code: -counts[code])
    found["levels"] = [[label_text(column.levels[code]), counts[code]] for code in order[:8]]
    found["more_levels"] = max(0, len(order) - 8)
    return found
