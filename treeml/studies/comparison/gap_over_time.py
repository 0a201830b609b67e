"""Records with traces -> a table of how the best value and the bound approached each other, one line per record.

A proof says all there is to say, so the table is for comparisons in which a back-end was stopped with a bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from treeml.backends.contract import Stop
from treeml.lang.numerals import readable
from treeml.studies.comparison.record import Record, is_refused
from treeml.studies.comparison.table import identity, telling_names

SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)  # of the longest run: the moments that are shown
TITLE = "Gap over time: objective, bound, and their difference as a share of the objective"


def gaps_over_time(records: Sequence[Record]) -> list[Mapping[str, Any]]:
    """One line per record with a trace of one goal; none if nobody was stopped with a bound."""
    traced = [
        record for record in records if not is_refused(record) and record.get("seconds") and _has_one_goal(record)
    ]
    if not any(record["stop"] != Stop.PROVED.value and record["bound"] is not None for record in traced):
        return []
    longest = max(record["seconds"] for record in traced)
    headings = {share * longest: _heading(share * longest) for share in SHARES}
    names = telling_names(records)
    return [
        {
            **identity(record, names),
            "back-end": record["backend"],
            **{heading: _cell(record, at) for at, heading in headings.items()},
        }
        for record in traced
    ]


def _heading(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds:.0f} s"


def _has_one_goal(record: Record) -> bool:
    """Is there something to show, and does every bound belong to the value beside it?"""
    values = [moment["objective"] for moment in record.get("trace", ()) if moment["objective"]]
    return bool(values) and all(len(value) == 1 for value in values)


def _cell(record: Record, at: float) -> str:
    value, bound = _known(record, at)
    if value is None:
        return "" if bound is None else f"bound {readable(bound)}"
    if bound is None:
        return readable(value)
    return f"{readable(value)}, {readable(bound)}{_share(value, bound)}"


def _share(value: float, bound: float) -> str:
    """The gap in percent; nothing where it is not defined, or larger than the objective."""
    if value == bound:
        return " (0 %)"
    gap = abs(value - bound) / abs(value) if value else 2.0
    return f" ({100 * gap:.1f} %)" if gap <= 1 else ""


def _known(record: Record, at: float) -> tuple[float | None, float | None]:
    """The best value and the bound at this moment; from the end of the run on, those of its answer."""
    if at >= record["seconds"] and isinstance(record["objective"], (int, float)):
        return record["objective"], record["bound"]
    value = bound = None
    for moment in record["trace"]:
        if moment["seconds"] > at:
            break
        value = moment["objective"][0] if moment["objective"] else value
        bound = moment["bound"] if moment["bound"] is not None else bound
    return value, bound
