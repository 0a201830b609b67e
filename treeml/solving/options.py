"""What the caller of one run asks for, in Python or on the command line -> RunOptions.

These options take precedence over the `solve` statement of the specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treeml.trees.tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class RunOptions:
    """Options of one run; None means that the specification, or else a default, decides."""

    backend: str | None = None  # as in `solve with`: "native", or "native(threads = 2)"
    within: float | str | None = None  # seconds, or text with a unit: "5 min"
    gap: float | str | None = None
    seed: int | None = None
    threads: int | None = None
    memory: int | str | None = None  # bytes, or text with a unit: "2GB"
    backend_options: Mapping[str, Any] | None = None  # by name
    params: Mapping[str, Any] | None = None  # values of the params of the specification
    start: Tree | str | Path | Any = None  # a Tree, the path of one, or a fitted tree of scikit-learn
    weight: Any = None  # one number per row
    untrusted: bool = False  # treat the specification as written by somebody else (SECURITY.md)
    write_model: Path | None = None  # write the solver's own model to this file
    proof: Path | None = None  # write the proof that no tree exists to this file
    cluster: str | None = None  # the address of a Dask scheduler: the search is spread over its workers
    races: bool = False  # the back-end is compared with others, so a stopped run gets no tree from elsewhere
    begun: float | None = None  # when the time began to run, on the monotonic clock; None: when the run begins


DEFAULT_OPTIONS = RunOptions()
