"""Specs x data x back-ends x repeats -> jobs, each with a key that identifies jobs already done."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeml.lang import trust
from treeml.lang.diagnostic import BackendError, Diagnostic, SpecError
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions
from treeml.studies.comparison.record import Record
from treeml.system.confinement import open_within
from treeml.system.reading import open_plain, read_opened, read_plain, refuse_special
from treeml.version import __version__

if TYPE_CHECKING:
    from treeml.lang.spec import Spec
    from treeml.lang.statements import Statements
    from treeml.studies.comparison.lost_results import Incumbent

MOST_OF_A_FILE = 1 << 40  # bytes; some system files claim to be larger, and never end


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One spec with one set of data."""

    model: Statements
    data: Any = None  # a path, a frame or arrays; None: the file that the spec names
    y: Any = None
    spec_name: str = "model"
    data_name: str = ""
    fold: tuple[int, int, int] | None = None  # number, count and seed: trained on the other folds, tested on this one
    carries: bool = False  # the job includes the data file, for a machine that may not have it


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One case for one back-end, with its limits."""

    case: Case
    backend: str  # as given: native, native(threads = 2); empty to let the job choose
    options: RunOptions
    about: Record  # the first fields of the record: spec, data, params, back-end, seed
    within: float
    memory: int | None
    senses: tuple[str, ...] = ()
    file: tuple[str, bytes] | None = field(default=None, repr=False)  # the data file, if the job includes it

    def payload(self, incumbent: Incumbent | None = None) -> bytes:
        """The input of this job's process, made when it starts, so that many jobs share the data until then.

        With an incumbent, the process only verifies it.
        """
        case, model = self.case, self.case.model
        job = {
            "statements": model.statements,
            "folder": model.folder,
            "bindings": model.bindings,
            "untrusted": model.untrusted,
            "data": case.data,
            "y": case.y,
            "options": self.options,
            "senses": self.senses,
            "fold": case.fold,
            "file": self.file,
            "incumbent": incumbent,
        }
        return pickle.dumps(job)


def jobs_of(
    cases: Sequence[Case],
    backends: Sequence[str] | None,
    options: RunOptions,
    *,
    repeat: int = 1,
    default_within: float,
    default_memory: int | None = None,
) -> list[Job]:
    """All jobs, grouped by case; SpecError for a wrong spec or name."""
    from treeml.backends import registry

    # Back-ends that run others would compete with their own members.
    names = list(backends) if backends else list(registry.names_of_single())
    # The default share of this machine's memory is not part of the key: it differs between machines and runs.
    memory = options.memory
    assert not isinstance(memory, str)
    held = default_memory if memory is None else memory
    jobs = []
    for case in cases:
        _can_be_sent(case)
        mark = fingerprint(case, options.params)
        file = _file(case) if case.carries else None
        for name in names:
            # Each back-end is checked with the spec, so that a wrong name or option is found before anything runs.
            own = replace(options, backend=name or None)
            spec = checked_spec(case, own)
            limit = spec.within if spec.within is not None else default_within
            for number in range(repeat):
                seed = (spec.seed or 0) + number
                if memory is None and spec.untrusted:
                    held = min(trust.MEMORY, held or trust.MEMORY)
                given = replace(own, within=limit, memory=held, seed=seed)
                about = _about(case, spec, name, number, seed, limit, memory, mark)
                about["limits"]["memory"] = held
                senses = tuple(goal.sense for goal in spec.goals)
                jobs.append(Job(case, name, given, about, limit, held, senses, file))
    return jobs


def checked_spec(case: Case, options: RunOptions = DEFAULT_OPTIONS) -> Spec:
    from treeml.solving.checking import check

    return check(case.model, options, data=case.data, has_target=case.y is not None)[0]


def fingerprint(case: Case, params: Mapping[str, Any] | None = None) -> str:
    """A hash of the problem and the rows, and of nothing else."""
    from treeml.lang.findings import Findings
    from treeml.lang.format import format_statements
    from treeml.lang.include import resolve_includes

    model = case.model
    statements = resolve_includes(model.statements, model.folder, Findings(), model.untrusted).statements
    digest = hashlib.sha256(format_statements(statements).encode())
    digest.update(repr((sorted({**model.bindings, **(params or {})}.items()), case.fold)).encode())
    path = data_path(case)
    if path is None:
        digest.update(pickle.dumps((case.data, case.y)))
    else:
        # What cannot be read, or lies outside the folder of a spec that is not trusted, the job will tell of.
        with suppress(OSError, ValueError), _opened(case, path) as handle:
            refuse_special(handle, path)
            if os.fstat(handle).st_size <= MOST_OF_A_FILE:
                while chunk := os.read(handle, 1 << 20):
                    digest.update(chunk)
    return digest.hexdigest()[:16]


def _opened(case: Case, path: Path) -> AbstractContextManager[int]:
    if case.data is not None or not case.model.untrusted:
        return open_plain(path)
    return open_within(path, case.model.folder)


def data_path(case: Case) -> Path | None:
    """The file that holds the rows; None if they came from Python."""
    if case.data is None:
        spec = checked_spec(case)
        return None if spec.data is None else spec.folder / spec.data
    return Path(case.data) if isinstance(case.data, (str, Path)) else None


def _about(
    case: Case, spec: Spec, backend: str, number: int, seed: int, within: float, memory: int | None, mark: str
) -> Record:
    from treeml.solving.result import plain

    path = data_path(case)
    params = {name: value if isinstance(value, str) else plain(value) for name, value in spec.params.items()}
    about: Record = {
        "spec": case.spec_name,
        "data": case.data_name or (path.name if path is not None else "rows from Python"),
        "params": params,
        "backend": backend,
        "repeat": number + 1,
        "seed": seed,
        "limits": {"within": within, "memory": memory, "threads": spec.threads or 1, "gap": plain(spec.gap)},
        "fingerprint": mark,
        "treeml": __version__,
    }
    if case.fold is not None:
        about["fold"] = f"{case.fold[0]} of {case.fold[1]}"
    text = repr([about[name] for name in ("backend", "repeat", "seed", "limits", "fingerprint", "treeml", "params")])
    return {"key": hashlib.sha256(text.encode()).hexdigest()[:16], **about}


def _can_be_sent(case: Case) -> None:
    try:
        pickle.dumps((case.model.statements, case.model.bindings, case.data, case.y))
    except Exception as error:  # pickling a user's object may raise anything
        raise BackendError(_cannot_be_sent(error)) from error


def _file(case: Case) -> tuple[str, bytes] | None:
    path = data_path(case)
    if path is None:
        return None
    if case.data is not None:
        return path.name, path.read_bytes()
    if not case.model.untrusted:
        return path.name, read_plain(path, MOST_OF_A_FILE)
    with open_within(path, case.model.folder) as handle:
        return path.name, read_opened(handle, path, trust.MEMORY)


def _cannot_be_sent(error: Exception) -> Diagnostic:
    return Diagnostic(
        "B518",
        "this model cannot be sent to another process",
        notes=(f"{type(error).__name__}: {error}",),
        helps=("functions have to be defined in a module, and data be a file, a frame or arrays",),
    )


def split_names(text: str) -> list[str]:
    """`native, mip(solver = highs, threads = 2)` -> its back-ends; commas inside parentheses do not separate."""
    names, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            names.append(text[start:place])
            start = place + 1
    names.append(text[start:])
    found = [name.strip() for name in names if name.strip()]
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise SpecError(Diagnostic("S150", f"`{twice}` is named twice", place="--with", helps=("name each once",)))
    return found
