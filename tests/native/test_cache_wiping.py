"""What a bounded cache keeps when it is full, by a program in C over the cache alone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "treeml" / "native"


pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def run(name: str, folder: Path, *sources: str) -> None:
    """Compiles a program of this folder with sources of the library, and runs it."""
    paths = [NATIVE / source for source in (*sources, "common/arena.c", "common/memory.c")]
    program = folder / name
    here = ROOT / f"tests/native/{name}.c"
    subprocess.run(["cc", "-std=c11", f"-I{NATIVE}", here, *paths, "-pthread", "-o", program], check=True)
    subprocess.run([program], check=True)


def test_every_wipe_halves_the_counts_of_reuses(tmp_path: Path) -> None:
    run("halved_reuses", tmp_path, "solver/cache.c")


def test_every_strategy_wipes_what_it_says_and_never_what_the_search_needs(tmp_path: Path) -> None:
    run("wiped_entries", tmp_path)
