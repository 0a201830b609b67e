"""Programs in C of this folder, each over a few sources of the library."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "treeml" / "native"

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def run_program(name: str, folder: Path, *sources: str) -> None:
    """Compiles a program of this folder with sources of the library, and runs it."""
    paths = [NATIVE / source for source in (*sources, "common/arena.c", "common/memory.c")]
    program = folder / name
    here = ROOT / f"tests/native/{name}.c"
    subprocess.run(["cc", "-std=c11", f"-I{NATIVE}", here, *paths, "-pthread", "-o", program], check=True)
    subprocess.run([program], check=True)
