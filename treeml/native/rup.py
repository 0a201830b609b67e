"""A formula and a proof, as files -> None if the proof holds, or what is wrong with it."""

from __future__ import annotations

import ctypes
from enum import Enum
from pathlib import Path

from treeml.native.loader import declare

_SIGNATURES = {"treeml_rup_check": (ctypes.c_int, (ctypes.c_char_p, ctypes.c_size_t) * 3)}


class Refutation(Enum):
    """What the C code found; the numbers are those of `rup.h`."""

    PROVED = 0
    WRONG = 1  # a step does not follow, or the empty clause is never reached
    UNREADABLE = 2
    NO_MEMORY = 3


def check_proof(formula: str | Path, proof: str | Path) -> str | None:
    """The formula in DIMACS, the proof in DRUP."""
    return check_text(Path(formula).read_bytes(), Path(proof).read_bytes())


def check_text(formula: bytes, proof: bytes) -> str | None:
    found, fault = refute(formula, proof)
    return None if found is Refutation.PROVED else fault


def refute(formula: bytes, proof: bytes) -> tuple[Refutation, str]:
    """Whether the proof refutes the formula, and what is wrong with it."""
    message = ctypes.create_string_buffer(200)
    code = declare(_SIGNATURES).treeml_rup_check(formula, len(formula), proof, len(proof), message, len(message))
    return Refutation(code), message.value.decode() or f"code {code}"
