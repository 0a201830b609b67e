"""A formula and a proof, as files -> None if the proof holds, or what is wrong with it."""

from __future__ import annotations

import ctypes
from pathlib import Path

from treeml.native.library import open_library


def check_proof(formula: str | Path, proof: str | Path) -> str | None:
    """The formula in DIMACS, the proof in DRUP."""
    return check_text(Path(formula).read_bytes(), Path(proof).read_bytes())


def check_text(formula: bytes, proof: bytes) -> str | None:
    function = open_library().treeml_rup_check
    function.restype = ctypes.c_int
    text, size = ctypes.c_char_p, ctypes.c_size_t
    function.argtypes = (text, size, text, size, text, size)
    message = ctypes.create_string_buffer(200)
    code = function(formula, len(formula), proof, len(proof), message, len(message))
    return None if code == 0 else message.value.decode() or f"code {code}"
