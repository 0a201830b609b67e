"""Whether a spec is trusted -> what it may access and use. SECURITY.md describes this for users.

A spec is trusted unless `--untrusted`, `untrusted=True` or TREEML_UNTRUSTED=1 says otherwise. The limits below apply to
untrusted specs; limits given on the command line or in a call (`--within`, `--memory`) replace them.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treeml.lang.spec import Spec

SECONDS = 60.0
MEMORY = 2 * 10**9  # bytes
CHARACTERS = 200_000  # of a spec and all that it includes
STATEMENTS = 2_000
FILES = 20  # included
NESTING = 5  # of files that include files
NAME = 200  # characters of a name or of a text in quotes
DIGITS = 60  # of a number
ROWS = 1_000_000
COLUMNS = 10_000
CELLS = 50_000_000
THREADS = 4


def distrusted() -> bool:
    """Does the environment say that no spec is trusted?"""
    return os.environ.get("TREEML_UNTRUSTED", "").strip().lower() not in ("", "0", "false", "no", "off")


def capped(spec: Spec, *, within: bool, threads: bool) -> Spec:
    """An untrusted spec with its time and threads limited, unless the caller set them for this run."""
    if not spec.untrusted:
        return spec
    seconds = spec.within if within and spec.within is not None else min(SECONDS, spec.within or SECONDS)
    if spec.within == 0:
        seconds = 0.0
    return replace(
        spec,
        within=seconds,
        improve_within=None if spec.improve_within is None else min(spec.improve_within, seconds),
        threads=spec.threads if threads or spec.threads is None else min(THREADS, spec.threads),
    )
