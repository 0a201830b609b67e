"""What a bounded cache keeps when it is full, by a program in C over the cache alone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "treeml" / "native"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_every_wipe_halves_the_counts_of_reuses(tmp_path: Path) -> None:
    sources = [NATIVE / "solver/cache.c", NATIVE / "common/arena.c", NATIVE / "common/memory.c"]
    program = tmp_path / "halved_reuses"
    here = ROOT / "tests/native/halved_reuses.c"
    subprocess.run(["cc", "-std=c11", f"-I{NATIVE}", here, *sources, "-pthread", "-o", program], check=True)
    subprocess.run([program], check=True)
