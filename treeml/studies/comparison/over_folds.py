"""Records of the folds of a cross-validation -> one record per job: means over the folds, and all unseen scores."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from treeml.studies.comparison.record import Record

SINGLE = ("key", "fold", "tree", "trace", "requirements", "goals", "forest")  # what only one fold has


def over_folds(records: Sequence[Record]) -> list[Record]:
    """One record for the folds of each job, in their order; a record without a fold stays as it is."""
    groups: dict[Any, list[Record]] = {}
    for place, record in enumerate(records):
        groups.setdefault(_job(record) if record.get("fold") else place, []).append(record)
    return [_joined(group) if group[0].get("fold") else group[0] for group in groups.values()]


def unseen_values(record: Record, measure: str) -> list[float]:
    """The values of a measure on the rows held out, one per part; none if some part does not have it."""
    values = [part["test"].get(measure) for part in record.get("validation", {}).get("parts", ())]
    return [] if None in values else values


def unseen_names(record: Record) -> list[str]:
    """The measures that every part has."""
    parts = record.get("validation", {}).get("parts", ())
    return [name for name in (parts[0]["test"] if parts else ()) if unseen_values(record, name)]


def unseen_measure(records: Sequence[Record]) -> str | None:
    """`unseen accuracy`, if these are records of folds: the measure of the goal, or else of all classes or numbers."""
    known = [record for record in records if record.get("folds") and unseen_names(record)]
    if not known:
        return None
    names = unseen_names(known[0])
    goal = str(known[0].get("goal", ""))
    wanted = next((name for name in names if name == goal), None)
    usual = next((name for name in ("accuracy", "mean_squared_error") if name in names), names[0])
    return f"unseen {wanted or usual}"


def _job(record: Record) -> tuple[Any, ...]:
    params = tuple(sorted((name, str(value)) for name, value in record.get("params", {}).items()))
    return record.get("spec"), record.get("data"), record.get("backend"), record.get("repeat"), params


def _joined(group: Sequence[Record]) -> Record:
    """The folds of one job as one record; its status is that of all folds, or what some of them have."""
    parts = [part for record in group for part in record.get("validation", {}).get("parts", ())]
    names = [name for name in group[0].get("measures", {}) if all(name in each.get("measures", {}) for each in group)]
    statuses = list(dict.fromkeys(record["status"] for record in group))
    reasons = list(dict.fromkeys(record["because"] for record in group if record.get("because")))
    goals = group[0].get("goals") or [{"text": ""}]
    joined = {name: value for name, value in group[0].items() if name not in SINGLE}
    return {
        **joined,
        "status": statuses[0] if len(statuses) == 1 else ", ".join(statuses),
        "objective": None,
        "bound": None,
        "gap": None,
        "goal": goals[0]["text"].partition(" ")[2],
        "measures": {name: mean(each["measures"][name] for each in group) for name in names},
        "validation": {"method": f"folds({len(group)})", "parts": parts},
        "folds": len(group),
        "seconds": sum(record.get("seconds") or 0.0 for record in group),
        **({"because": "; ".join(reasons)} if reasons else {}),
    }
