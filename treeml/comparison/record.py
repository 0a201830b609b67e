"""What came of one job -> one plain object: a line of the table, of the JSON list and of the results file.

A record says who was asked what (`spec`, `data`, `params`, `backend`, `repeat`, `seed`), and then what a result says of
itself, that it was refused (`refused`, `because`), or how it failed (`stop` is `failed`, `because`; `lost` where its
process ended without an answer, which says nothing of the back-end: somebody may have killed it).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Status, Stop

if TYPE_CHECKING:
    from treeml.lang.diagnostic import SpecError
    from treeml.result import Result

Record = dict[str, Any]

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
    """A result with its goals as exact values, so that two records can be held against each other."""
    goals = () if result.exact is None else result.exact.goals
    return {
        **result.to_json(),
        "goals": [{"text": goal.text, "sense": goal.sense, "value": str(goal.value)} for goal in goals],
        "real_valued": is_real_valued(result),
    }


def is_real_valued(result: Result) -> bool:
    """Is optimality proved to a tolerance only, as it is for losses?"""
    goals = () if result.spec is None else result.spec.goals
    return any(use.measure.endswith("_loss") for goal in goals for _, use in goal.expression.parts)


def of_refusal(error: SpecError) -> Record:
    return {"refused": True, "because": "; ".join(dict.fromkeys(each.title for each in error.diagnostics))}


def of_error(error: SpecError) -> Record:
    """A back-end that failed, or whose answer does not hold."""
    parts = [part for each in error.diagnostics for part in (each.title, *each.notes)]
    codes = [each.code for each in error.diagnostics]
    return {
        **EMPTY,
        "because": "; ".join(dict.fromkeys(parts)),
        "codes": codes,
        "unverified": any(code in UNVERIFIED for code in codes),
    }


def of_end(because: str, stop: Stop = Stop.FAILED, **known: Any) -> Record:
    """A process that gave no answer: why, and what it had told before."""
    return {**EMPTY, "stop": stop.value, "because": because, **known}


def is_refused(record: Record) -> bool:
    return bool(record.get("refused"))


def has_failed(record: Record) -> bool:
    return record.get("stop") == Stop.FAILED.value


def is_proof(record: Record) -> bool:
    return record.get("status") in (Status.OPTIMAL.value, Status.INFEASIBLE.value)


def has_tree(record: Record) -> bool:
    """Is there an answer that predicts: a tree, or a forest?"""
    return record.get("tree") is not None or record.get("forest") is not None


def case_of(record: Record) -> tuple[Any, ...]:
    """What was asked, apart from whom and how often: records of one case can be held against each other."""
    params = tuple(sorted(record.get("params", {}).items()))
    return (record.get("spec"), record.get("data"), params, record.get("fold"))
