"""Specs x data x back-ends x repeats -> jobs, each with a key that tells whether it was done before."""

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

MOST_OF_A_FILE = 1 << 40  # bytes; some files of the system claim more, and never end


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One spec with one set of data."""

    model: Statements
    data: Any = None  # a path, a frame, arrays; None: the file that the spec names
    y: Any = None
    spec_name: str = "model"
    data_name: str = ""
    fold: tuple[int, int, int] | None = None  # which of how many, and the seed: trained on the others, tested on it
    carries: bool = False  # its file goes along with the job, to a machine that may not have it


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    case: Case
    backend: str  # as it was asked for: native, native(threads = 2); empty for the one that the spec would get
    options: RunOptions
    about: Record  # who is asked what: the opening of the record
    within: float
    memory: int | None
    senses: tuple[str, ...] = ()
    file: tuple[str, bytes] | None = field(default=None, repr=False)  # the data, where they go along

    def payload(self, incumbent: Incumbent | None = None) -> bytes:
        """All that the process of this job is told; made when it starts, so that many jobs hold the data once.

        With an incumbent, it is told to verify that and no more.
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
    """All jobs, those of one case together; SpecError for a spec or a name that is wrong."""
    from treeml.backends import registry

    # Back-ends that run others would compete with their own members.
    names = list(backends) if backends else list(registry.names_of_single())
    # A share of this machine's memory is no part of what is asked: elsewhere, or with more at once, it is another.
    memory = options.memory
    assert not isinstance(memory, str)
    held = default_memory if memory is None else memory
    jobs = []
    for case in cases:
        _can_be_sent(case)
        mark = fingerprint(case, options.params)
        file = _file(case) if case.carries else None
        for name in names:
            # A spec is checked with every back-end, so that a wrong name or option is seen before anything runs.
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
    """Changes with what is asked and with the rows, and with nothing else."""
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
    """The file that holds the rows; None where they came from Python."""
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
    except Exception as error:  # whatever a user's object raises when it is asked to be copied
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
    """`native, mip(solver = highs, threads = 2)` -> its back-ends: commas within parentheses do not separate."""
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
