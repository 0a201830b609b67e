"""Request, data -> Table -> Dataset: the stages `load` and `bind`.

Messages about a file show nothing of its content unless whoever wrote the specification may see it
(`lang/redaction.py`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from treeml.data import bind as binding
from treeml.data.read import load as load_table
from treeml.data.read import load_arrays
from treeml.data.table import Dataset, Table
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.redaction import Redacted, redacted_data
from treeml.lang.spec import Method
from treeml.measures.merging import load_merged
from treeml.solving.request import Request


def load(request: Request, data: Any = None, y: Any = None, weight: Any = None, *, merge: bool = False) -> Table:
    """The table that was given, or the one that the spec names; only the latter is confined to the spec's folder.

    `merge`: equal rows of a large file may be merged.
    """
    spec, limits = request.spec, request.reading
    given = limits if limits.folder is None else replace(limits, folder=None)
    with discreet(request):
        if y is not None or weight is not None:
            return load_arrays(data, y, weight, spec.columns, given)
        if data is None and spec.data is None:
            raise DataError(_no_data())
        span = spec.spans.get("data") if data is None else None
        source = data if data is not None else spec.folder / str(spec.data)
        limits = given if data is not None else limits
        merged = load_merged(Path(source), spec, span, limits) if merge and isinstance(source, (str, Path)) else None
        return merged or load_table(source, spec.columns, span=span, limits=limits)


def bind(table: Table, request: Request, *, keep_table: bool = False) -> Dataset:
    """The rows in the roles that the spec gives them.

    The table is kept in the dataset if parts of the rows will be learned from, as `validate` does.
    """
    keep = keep_table or isinstance(request.spec.validate, Method)
    with discreet(request):
        return binding.bind(request.spec, table, keep=keep)


def discreet(request: Request) -> Redacted:
    """Messages about the data of this run, without content that its reader may not see."""
    return redacted_data(request.spec, True if request.is_data_given else None)


def _no_data() -> Diagnostic:
    return Diagnostic(
        "D400",
        "there is no data to learn from",
        helps=('name a file in the spec: `data "file.csv"`', "or give one: --data file.csv, solve(frame)"),
    )
