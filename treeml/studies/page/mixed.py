"""The files of one page -> a warning if they are about different problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from treeml.lang.diagnostic import Diagnostic, Severity

Read = tuple[str, Mapping[str, Any] | None, Sequence[Mapping[str, Any]]]  # name of a file, its result, its records


def warning_of_mixture(files: Sequence[Read]) -> Iterator[Diagnostic]:
    """One file may hold many problems, but two files on one page should have a problem in common."""
    first, *others = files
    known = _problems(first)
    for other in others:
        problems = _problems(other)
        if known and problems and known.keys().isdisjoint(problems):
            yield Diagnostic(
                "D499",
                f"{first[0]} and {other[0]} are about different specifications or data",
                notes=(f"{first[0]}: {_named(known)}", f"{other[0]}: {_named(problems)}"),
                helps=("make a page for each; or solve again, if the specification or the data changed in between",),
                severity=Severity.WARNING,
            )
            return


def _problems(file: Read) -> dict[str, str]:
    """The fingerprints of the problems in a file, each with its name."""
    _, result, records = file
    found = {}
    for record in records:
        if isinstance(record.get("fingerprint"), str):
            found[record["fingerprint"]] = f"{record.get('spec')} with {record.get('data')}"
    about = (result or {}).get("about")
    if isinstance(about, Mapping) and isinstance(about.get("fingerprint"), str):
        spec, data = about.get("spec"), about.get("data")
        names = [each.get(key) for each, key in ((spec, "name"), (data, "source")) if isinstance(each, Mapping)]
        found[about["fingerprint"]] = " with ".join(str(name) for name in names)
    return found


def _named(problems: Mapping[str, str]) -> str:
    names = list(dict.fromkeys(problems.values()))
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
