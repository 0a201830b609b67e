"""Records of one case -> every pair of claims that cannot both hold, and every answer that did not verify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from treeml.lang.diagnostic import Diagnostic
from treeml.lang.numerals import exact_number
from treeml.studies.comparison.record import Record, case_of, has_tree, is_proof, is_refused

TOLERANCE = Fraction(1, 10**6)  # of real-valued objectives, relative; everything else is exact


def contradictions(records: Sequence[Record]) -> list[tuple[Diagnostic, tuple[Record, ...]]]:
    """Every contradiction within a case, with the records that show it."""
    found: list[tuple[Diagnostic, tuple[Record, ...]]] = []
    for case in dict.fromkeys(map(case_of, records)):
        here = [record for record in records if case_of(record) == case and not is_refused(record)]
        found += [(_unverified(record), (record,)) for record in here if record.get("unverified")]
        for one, other in combinations(here, 2):
            if one.get("fingerprint") == other.get("fingerprint") and contradict(one, other):
                found.append((_contradiction(one, other), (one, other)))
    return found


def contradict(one: Record, other: Record) -> bool:
    """Whether the claims of two records cannot both be true."""
    return any(_refutes(a, b) for a, b in ((one, other), (other, one)))


def _refutes(proof: Record, other: Record) -> bool:
    """Whether `other` holds a tree that cannot exist according to `proof`."""
    if not has_tree(other):
        return False
    if proof.get("status") == "infeasible":
        return True
    if proof.get("status") == "optimal":
        return _is_better(other, proof)
    return _beats_bound(other, proof)


def _is_better(one: Record, other: Record) -> bool:
    """Whether the tree of `one` is better by the first goal on which the two differ."""
    for mine, its in zip(values_of(one), values_of(other), strict=False):
        allowed = TOLERANCE * max(Fraction(1), abs(its)) if one.get("real_valued") else 0
        if abs(mine - its) > allowed:
            return mine < its
    return False


def _beats_bound(one: Record, other: Record) -> bool:
    """Whether the tree of `one` beats the bound of `other`; with several goals it is unknown which is bounded."""
    bound, goals = other.get("bound"), one.get("goals") or []
    if bound is None or len(goals) != 1 or is_proof(other):
        return False
    sign = -1 if goals[0]["sense"] == "maximize" else 1
    value, limit = values_of(one)[0], sign * exact_number(bound)
    # The bound was rounded to a decimal, so differences within the rounding error do not count.
    return value < limit - TOLERANCE * max(Fraction(1), abs(limit))


def values_of(record: Record) -> list[Fraction]:
    """The values of the goals, with signs so that all are minimized."""
    return [
        exact_number(goal["value"]) * (-1 if goal["sense"] == "maximize" else 1) for goal in record.get("goals", ())
    ]


def _unverified(record: Record) -> Diagnostic:
    return Diagnostic(
        record["codes"][0],
        f"the answer of {record['backend']} does not hold",
        notes=(*_where(record), record["because"]),
        helps=("this is a mistake of the back-end, not of the specification",),
    )


def _contradiction(one: Record, other: Record) -> Diagnostic:
    return Diagnostic(
        "B517",
        f"{one['backend']} and {other['backend']} contradict each other",
        notes=(*_where(one), _claim(one), _claim(other)),
        helps=("one of the two is wrong: please report it with the reproduction folder",),
    )


def _where(record: Record) -> Iterator[str]:
    if record.get("spec"):
        yield f"on {record['spec']} with {record.get('data')}"


def _claim(record: Record) -> str:
    values = record.get("objective")
    listed = values if isinstance(values, list) else [] if values is None else [values]
    text = f"{record['backend']} says {record['status']}"
    if listed:
        text += f" with {', '.join(str(value) for value in listed)}"
    if not is_proof(record) and record.get("bound") is not None:
        text += f" and that nothing beats {record['bound']}"
    return text
