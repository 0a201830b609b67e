"""Checked spec, options of this run -> a Request: the spec with the limits, options and files of one run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from treeml.backends.contract import Deadline, Limits
from treeml.data.limits import UNLIMITED, ReadingLimits, reading_limits
from treeml.lang import trust
from treeml.lang.diagnostic import Diagnostic, SpecError
from treeml.lang.spec import Method, Spec
from treeml.solving.long_run import LongRun
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions

MEMORY_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True, slots=True)
class Request:
    """What one run needs to know besides the dataset."""

    spec: Spec
    warnings: tuple[Diagnostic, ...] = ()
    backend_options: Mapping[str, Any] | None = None  # given from Python
    memory: int | None = None  # bytes
    start: Any = None  # a Tree, a fitted estimator of scikit-learn, or a path
    write_model: Path | None = None
    proof: Path | None = None  # the file for the proof that no tree exists
    reading: ReadingLimits = UNLIMITED  # for every file that is read
    is_data_given: bool = False  # otherwise the rows come from the file that the spec names
    cluster: str | None = None  # the address of a Dask scheduler
    races: bool = False  # a stopped run of a back-end that was named gets no tree from elsewhere
    long_run: LongRun = field(default_factory=LongRun, compare=False)  # shared by the parts of the run

    def deadline(self, begun: float) -> float:
        """The time of the monotonic clock at which a run that began then is over."""
        return float("inf") if self.spec.within is None else begun + self.spec.within

    def limits(self, begun: float, chosen: Method | None, afterwards: float = 0.0) -> Limits:
        """The limits of a run that began at this time of the monotonic clock: reading and building count.

        `afterwards`: seconds that are needed after the search, to verify its answer.
        """
        spec = self.spec
        return Limits(
            deadline=Deadline(self.deadline(begun) - afterwards),
            gap=spec.gap,
            memory=self.memory,
            threads=spec.threads or 1,
            seed=spec.seed or 0,
            options=self.options_for(chosen),
        )

    def options_for(self, chosen: Method | None) -> dict[str, Any]:
        """The options of a back-end; those given from Python take precedence over those of the spec."""
        options = {**(chosen.options if chosen is not None else {}), **(self.backend_options or {})}
        if self.write_model is not None:
            options["write"] = str(self.write_model)
        if self.proof is not None:
            options["proof"] = str(self.proof)
        return options

    def files(self) -> dict[str, tuple[Path, tuple[int, int] | None]]:
        """The files to write, each with a state that changes when the file is written."""
        wanted = {"proof": self.proof, "model": self.write_model}
        return {kind: (path, _file_state(path)) for kind, path in wanted.items() if path is not None}


def _file_state(path: Path) -> tuple[int, int] | None:
    if not path.exists():
        return None
    known = path.stat()
    return known.st_mtime_ns, known.st_size


def make_request(
    spec: Spec,
    warnings: tuple[Diagnostic, ...],
    options: RunOptions = DEFAULT_OPTIONS,
    *,
    is_data_given: bool,
    reading: ReadingLimits = UNLIMITED,
    begun: float | None = None,
) -> Request:
    """The request of a run. `reading` limits the files further than the spec and the options do."""
    memory = amount_of_memory(options.memory) if isinstance(options.memory, str) else options.memory
    if spec.untrusted:
        reading = reading_limits(spec) if reading is UNLIMITED else replace(reading, folder=spec.folder)
        memory = trust.MEMORY if memory is None else memory
    return Request(
        spec,
        warnings,
        options.backend_options,
        memory,
        options.start,
        options.write_model,
        options.proof,
        reading.tightened(memory, spec.within, begun),
        is_data_given,
        options.cluster,
        options.races,
    )


def amount_of_memory(memory: str) -> int:
    """Bytes of `500MB` or `2GB`; SpecError for anything else."""
    match = re.fullmatch(r"(\d{1,30}(?:\.\d{1,30})?)\s*([A-Za-z]*)", memory.strip())
    unit = match and MEMORY_UNITS.get(match[2].upper())
    if not match or not unit:
        raise SpecError(
            Diagnostic(
                "T330", f"`{memory}` is not an amount of memory", place="--memory", helps=("write 500MB or 2GB",)
            )
        )
    return int(Fraction(match[1]) * unit)
