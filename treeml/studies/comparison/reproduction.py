"""A contradiction -> a folder that reproduces it: spec, data, records, seeds and versions."""

from __future__ import annotations

import json
import platform
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from treeml.lang.diagnostic import Diagnostic
from treeml.studies.comparison.jobs import Case, data_path
from treeml.studies.comparison.record import Record
from treeml.system.writing import replace_file
from treeml.version import __version__

PACKAGES = ("numpy", "polars", "ortools", "pyscipopt", "highspy", "python-sat", "gurobipy")


def reproduce(folder: Path, case: Case, records: Sequence[Record], diagnostic: Diagnostic) -> Path:
    """Write the folder, named after the problem, and return its path; OSError if it cannot be written."""
    from treeml.lang.render import render

    target = folder / f"treeml-reproduction-{records[0]['fingerprint']}"
    target.mkdir(parents=True, exist_ok=True)
    replace_file(target / "spec.tml", _spec(case, target))
    replace_file(target / "records.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    replace_file(target / "versions.json", json.dumps(versions(records), indent=1) + "\n")
    replace_file(target / "README.md", _readme(case, records, render(diagnostic)))
    return target


def versions(records: Sequence[Record] = ()) -> dict[str, str]:
    """The versions of this package, of Python, of the system, of the libraries and of the back-ends."""
    found = {"treeml": __version__, "python": platform.python_version(), "system": platform.platform()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    for record in records:
        if record.get("version"):
            found[f"back-end {record['backend']}"] = record["version"]
    return found


def _spec(case: Case, target: Path) -> str:
    """The spec with its includes inlined; its data and starting tree are copied into the folder."""
    from treeml.lang.findings import Findings
    from treeml.lang.format import format_statements
    from treeml.lang.include import resolve_includes
    from treeml.lang.syntax import Data, Start, Statement, String

    model = case.model
    statements: list[Statement] = []
    for statement in resolve_includes(model.statements, model.folder, Findings(), model.untrusted).statements:
        if isinstance(statement, Start) and isinstance(statement.source, String):
            shutil.copy(model.folder / statement.source.text, target / Path(statement.source.text).name)
            statement = replace(statement, source=String(Path(statement.source.text).name))
        if not isinstance(statement, Data):
            statements.append(statement)
    return format_statements([Data(_data(case, target)), *statements])


def _data(case: Case, target: Path) -> str:
    path = data_path(case)
    if path is not None:
        shutil.copy(path, target / path.name)
        return path.name
    import polars

    frame = case.data if not hasattr(case.data, "to_dict") else case.data.to_dict(orient="list")
    table = polars.DataFrame(frame) if not isinstance(frame, polars.DataFrame) else frame
    if case.y is not None:
        table = table.with_columns(polars.Series("y", list(case.y)))
    table.write_parquet(target / "data.parquet")
    return "data.parquet"


def _readme(case: Case, records: Sequence[Record], message: str) -> str:
    commands = []
    for record in records:
        parts = ["treeml", "solve", "spec.tml", "--with", record["backend"], "--seed", str(record["seed"])]
        limits = record["limits"]
        parts += ["--within", f"{limits['within']:g}s", "--threads", str(limits["threads"])]
        if limits["memory"]:
            parts += ["--memory", f"{limits['memory']}B"]
        for name, value in case.model.bindings.items():
            parts += ["--set", f"{name}={value}"]
        commands.append(f"    {shlex.join(parts)}")
    listed = "\n".join(f"    {line}".rstrip() for line in message.splitlines())
    return "\n\n".join(["# What happened", listed, "# How to reproduce it", "\n".join(commands)]) + "\n"
