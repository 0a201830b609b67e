"""A comparison -> the same with a certificate for every answer that a back-end proved.

The tree of each back-end is certified natively and checked here, whoever found it; what cannot be certified says why.
"""

from __future__ import annotations

from treeml.lang.diagnostic import SpecError
from treeml.solving.certificates.certify import Certificate
from treeml.studies.compare import Comparison, ComparisonEntry

PROVED = ("optimal", "infeasible")


def certify_all(comparison: Comparison) -> None:
    """Add `certificate`, or `certificate_refused` with the reason, to the records of proved answers."""
    for entry in comparison.entries:
        if entry.record.get("status") not in PROVED:
            continue
        made = _certificate(entry)
        entry.record["certificate"] = made.to_json() if isinstance(made, Certificate) else None
        if isinstance(made, str):
            entry.record["certificate_refused"] = made


def _certificate(entry: ComparisonEntry) -> Certificate | str:
    """The certificate, or why there is none."""
    if entry.result is None:
        return "the result was not kept"
    try:
        return entry.result.certify()
    except SpecError as error:
        return "; ".join(note for each in error.diagnostics for note in each.notes or (each.title,))
