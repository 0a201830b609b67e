"""The outcome of one job -> one plain object: a line of the table, of the JSON list and of the results file.

A record holds the job (`spec`, `data`, `params`, `backend`, `repeat`, `seed`) and its outcome: the fields of a result,
a refusal (`refused`, `because`), or a failure (`stop` is `failed`, `because`; `lost` if the process ended without an
answer, which is not necessarily the fault of the back-end: somebody may have killed it).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Status, Stop
from treeml.lang.measures import MEASURES
from treeml.lang.numerals import exact_number

if TYPE_CHECKING:
    from treeml.lang.diagnostic import SpecError
    from treeml.solving.result import Result

Record = dict[str, Any]

LARGEST = sys.float_info.max

UNVERIFIED = frozenset({"B510", "B511", "B512", "B513", "B514", "B516"})
EMPTY: Mapping[str, Any] = {
    "status": Status.UNKNOWN.value,
    "stop": Stop.FAILED.value,
    "objective": None,
    "bound": None,
    "gap": None,
    "verified": False,
    "seconds": None,
    "build_seconds": None,
    "measures": {},
    "requirements": [],
    "tree": None,
    "conflict": [],
    "notes": [],
    "trace": [],
}


def of_result(result: Result) -> Record:
    """A result with exact values of its goals, so that two records can be compared."""
    goals = () if result.exact is None else result.exact.goals
    return {
        **result.to_json(),
        "goals": [{"text": goal.text, "sense": goal.sense, "value": str(goal.value)} for goal in goals],
        "real_valued": is_real_valued(result),
    }


def is_real_valued(result: Result) -> bool:
    """Whether optimality is proved only up to a tolerance, as for losses."""
    goals = () if result.spec is None else result.spec.goals
    return any(MEASURES[use.measure].leaf_loss is not None for goal in goals for _, use in goal.expression.parts)


def of_refusal(error: SpecError) -> Record:
    return {"refused": True, "because": "; ".join(dict.fromkeys(each.title for each in error.diagnostics))}


def of_error(error: SpecError) -> Record:
    """The record of a back-end that failed, or whose answer did not verify."""
    parts = [part for each in error.diagnostics for part in (each.title, *each.notes)]
    codes = [each.code for each in error.diagnostics]
    return {
        **EMPTY,
        "because": "; ".join(dict.fromkeys(parts)),
        "codes": codes,
        "unverified": any(code in UNVERIFIED for code in codes),
    }


def of_end(because: str, stop: Stop = Stop.FAILED, **known: Any) -> Record:
    """The record of a process that gave no answer: the reason, and what it had reported before."""
    return {**EMPTY, "stop": stop.value, "because": because, **known}


def flaw_of(value: Any) -> str:
    """Why a JSON value is not a record; "" if it is one.

    Only the fields that others compute with are checked: names, numbers and exact values.
    """
    if not isinstance(value, dict):
        return "it is not an object"
    for name in ("key", "backend", "spec", "data", "fingerprint", "fold", "status", "stop"):
        if name in value and not isinstance(value[name], str):
            return f"its `{name}` is not a text"
    if "backend" not in value:
        return "it names no `backend`"
    for name, kind in (("params", dict), ("measures", dict), ("goals", list), ("trace", list), ("limits", dict)):
        if not isinstance(value.get(name, kind()), kind):
            return f"its `{name}` have the wrong type"
    if not all(isinstance(each, str) or _is_number(each) for each in value.get("params", {}).values()):
        return "the value of a param is neither a text nor a number"
    for name in ("seconds", "build_seconds", "first_tree_seconds", "best_seconds", "proof_seconds", "bound"):
        if not _is_number(value.get(name, 0)):
            return f"its `{name}` is not a number"
    objective = value.get("objective")
    if not all(map(_is_number, objective if isinstance(objective, list) else [objective])):
        return "its `objective` is not a number"
    if not all(map(_is_goal, value.get("goals", ()))):
        return "the value of a goal is not an exact number"
    return "" if all(map(_is_moment, value.get("trace", ()))) else "its `trace` does not hold times and numbers"


def _is_number(value: Any) -> bool:
    """Whether the value is None or a finite number."""
    return value is None or isinstance(value, bool) or (isinstance(value, (int, float)) and abs(value) <= LARGEST)


def _is_goal(goal: Any) -> bool:
    if not isinstance(goal, dict) or not all(isinstance(goal.get(name), str) for name in ("text", "sense")):
        return False
    try:
        exact_number(goal.get("value"))
    except ValueError:
        return False
    return True


def _is_moment(moment: Any) -> bool:
    if not isinstance(moment, dict) or not isinstance(moment.get("objective") or [], list):
        return False
    numbers = [moment.get("seconds"), moment.get("bound"), *(moment.get("objective") or [])]
    known = {"seconds", "objective", "bound"} <= moment.keys() and moment["seconds"] is not None
    return known and None not in numbers[2:] and all(map(_is_number, numbers))


def is_refused(record: Record) -> bool:
    return bool(record.get("refused"))


def has_failed(record: Record) -> bool:
    return record.get("stop") == Stop.FAILED.value


def is_proof(record: Record) -> bool:
    return record.get("status") in (Status.OPTIMAL.value, Status.INFEASIBLE.value)


def has_tree(record: Record) -> bool:
    """Whether there is a tree or a forest."""
    return record.get("tree") is not None or record.get("forest") is not None


def case_of(record: Record) -> tuple[Any, ...]:
    """The problem of a record, without back-end and repetition: records of one case can be compared."""
    params = tuple(sorted(record.get("params", {}).items()))
    return (record.get("spec"), record.get("data"), params, record.get("fold"))
