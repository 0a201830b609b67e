"""Model, data, result -> the context of a result: the spec, a summary of the data, versions, seed and limits.

`treeml solve -o` stores it with the result, so that a page can be made later, elsewhere, without the data.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treeml.data.table import Column
    from treeml.lang.statements import Statements
    from treeml.solving.result import Result

MOST_COLUMNS = 200  # columns that are described


def about(model: Statements, data: Any, result: Result, file: Path | None = None) -> dict[str, Any]:
    from treeml.solving.result import plain
    from treeml.studies.comparison.jobs import Case, fingerprint
    from treeml.studies.comparison.reproduction import versions

    spec = result.spec
    assert spec is not None
    case = Case(model, data, None, "" if file is None else str(file))
    found: dict[str, Any] = {
        "spec": {"name": file.name if file is not None else "model", "text": _text(model, file, spec.untrusted)},
        "params": {name: value if isinstance(value, str) else plain(value) for name, value in spec.params.items()},
        "data": _summary(spec, data),
        "fingerprint": fingerprint(case),
        "versions": versions(),
        "limits": {
            "seed": spec.seed or 0,
            "threads": spec.threads or 1,
            "within": spec.within,
            "gap": plain(spec.gap),
        },
    }
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


def _summary(spec: Any, data: Any) -> dict[str, Any]:
    from treeml.data.limits import reading_limits
    from treeml.solving.request import Request
    from treeml.solving.rows import load

    table = load(Request(spec, reading=reading_limits(spec), is_data_given=data is not None), data)
    names = list(table.columns)
    return {
        "source": Path(table.source).name,
        "rows": table.rows,
        "columns": [_column(table.columns[name]) for name in names[:MOST_COLUMNS]],
        "more_columns": max(0, len(names) - MOST_COLUMNS),
        "target": spec.target or table.target,
    }


def _column(column: Column) -> dict[str, Any]:
    import numpy as np

    from treeml.data.table import label_text
    from treeml.solving.result import plain

    missing = 0 if column.missing is None else int(column.missing.sum())
    found: dict[str, Any] = {"name": column.name, "type": column.type, "missing": missing}
    if column.is_number:
        present = column.values if column.missing is None else column.values[~column.missing]
        if len(present):
            low, middle, high = np.min(present), np.median(present), np.max(present)
            found["range"] = [plain(float(low)), plain(float(middle)), plain(float(high))]
        return found
    codes = column.values[column.values >= 0]
    counts = np.bincount(codes, minlength=len(column.levels)).tolist()
    order = sorted(range(len(counts)), key=lambda code: -counts[code])
    found["levels"] = [[label_text(column.levels[code]), counts[code]] for code in order[:8]]
    found["more_levels"] = max(0, len(order) - 8)
    return found
