"""Records of this run and of an earlier one -> what has changed, for every job and every back-end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import exp, log
from typing import Any

from treeml.studies.comparison.contradictions import contradict, values_of
from treeml.studies.comparison.record import Record, has_tree, is_refused

Change = dict[str, Any]
NOTABLE = 0.1  # seconds; smaller differences are noise


def against(now: Sequence[Record], earlier: Sequence[Record]) -> list[Change]:
    """One line for every job of this run that was also part of the earlier run."""
    before = {_identity(record): record for record in earlier}
    changes = []
    for record in now:
        old = before.get(_identity(record))
        if old is not None:
            changes.append(_change(record, old))
    return changes


def speedups(changes: Sequence[Change]) -> list[Change]:
    """The speed-up of every back-end: the geometric mean over the jobs that were proved both times."""
    rows = []
    for name in dict.fromkeys(change["back-end"] for change in changes):
        ratios = [change["faster"] for change in changes if change["back-end"] == name and change["faster"]]
        mean = exp(sum(map(log, ratios)) / len(ratios)) if ratios else None
        rows.append({"back-end": name, "jobs": len(ratios), "times as fast": "" if mean is None else f"{mean:.2f}"})
    return rows


def refuted(now: Sequence[Record], earlier: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Pairs of a record of this run and an earlier one that contradict each other on the same rows."""
    return [
        (one, other)
        for one, other in product(now, earlier)
        if one.get("fingerprint") == other.get("fingerprint")
        and not is_refused(one)
        and not is_refused(other)
        and contradict(one, other)
    ]


def _identity(record: Record) -> tuple[Any, ...]:
    params = tuple(sorted(record.get("params", {}).items()))
    return (record.get("spec"), record.get("data"), params, record["backend"], record.get("repeat"), record.get("fold"))


def _change(record: Record, old: Record) -> Change:
    ratio = None
    new_seconds, old_seconds = record.get("proof_seconds"), old.get("proof_seconds")
    if new_seconds and old_seconds:
        ratio = old_seconds / new_seconds
    return {
        "spec": record.get("spec"),
        "data": record.get("data"),
        "back-end": record["backend"],
        "status": _arrow(_status(old), _status(record)),
        "objective": _objective(record, old),
        "seconds": _arrow(_text(old.get("seconds")), _text(record.get("seconds"))),
        "faster": ratio,
        "verdict": _verdict(record, old, ratio),
    }


def _verdict(record: Record, old: Record, ratio: float | None) -> str:
    if record.get("fingerprint") != old.get("fingerprint"):
        return "not comparable: the spec or the data have changed"
    rank = {"failed": 0, "refused": 1, "unknown": 2, "feasible": 3, "local": 3, "optimal": 4, "infeasible": 4}
    step = rank.get(_status(record), 2) - rank.get(_status(old), 2)
    if step:
        return "better" if step > 0 else "WORSE"
    if has_tree(record) and has_tree(old) and values_of(record) != values_of(old):
        return "better" if values_of(record) < values_of(old) else "WORSE"
    longest = max(record.get("proof_seconds") or 0, old.get("proof_seconds") or 0)
    if ratio is not None and longest > NOTABLE and not 0.8 <= ratio <= 1.25:
        return "faster" if ratio > 1 else "SLOWER"
    return "same"


def _status(record: Record) -> str:
    if is_refused(record):
        return "refused"
    return "failed" if record.get("stop") == "failed" else str(record["status"])


def _objective(record: Record, old: Record) -> str:
    return _arrow(str(old.get("objective") or ""), str(record.get("objective") or ""))


def _text(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.3f}"


def _arrow(old: str, new: str) -> str:
    return new if old == new else f"{old or '-'} -> {new or '-'}"
