"""A formula and a proof, as files -> None if the proof holds, or what is wrong with it."""

from __future__ import annotations

import ctypes
from pathlib import Path

from treeml.native.loader import declare

_SIGNATURES = {"treeml_rup_check": (ctypes.c_int, (ctypes.c_char_p, ctypes.c_size_t) * 3)}


def check_proof(formula: str | Path, proof: str | Path) -> str | None:
    """The formula in DIMACS, the proof in DRUP."""
    return check_text(Path(formula).read_bytes(), Path(proof).read_bytes())


def check_text(formula: bytes, proof: bytes) -> str | None:
    message = ctypes.create_string_buffer(200)
    code = declare(_SIGNATURES).treeml_rup_check(formula, len(formula), proof, len(proof), message, len(message))
    return None if code == 0 else message.value.decode() or f"code {code}"
