"""Rules of the C sources that no compiler checks: one place takes memory, one asks the processor, one the system."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from treeml.native import loader
from treeml.native.numeric import NumericSolver

FOLDER = Path(loader.__file__).parent
SOURCES = sorted(path for path in FOLDER.rglob("*.[ch]"))

REFUSED = """
import resource, sys
import numpy as np
from treeml.native import cover
from treeml.native.roots import best_under_roots

tests, rows = 30_000, 64
bits = np.zeros((tests, rows), dtype=np.uint8)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, used + 2**29))
try:
    best_under_roots(bits, np.ones((1, rows)), 3, np.array([0], dtype=np.int32))
except MemoryError:
    print("roots refused")
cost = np.ones((rows, 2), dtype=np.int64)
packed = np.zeros((tests, 1), dtype=np.uint64)
try:
    cover.best_pairs(packed, np.full((1, 1), 2**64 - 1, np.uint64), rows, cost, np.ones(rows, np.int64), 1, 0)
except cover.CoverStopped as stopped:
    print("cover refused", stopped)
"""


def users(pattern: str) -> set[str]:
    return {str(path.relative_to(FOLDER)) for path in SOURCES if re.search(pattern, path.read_text())}


@pytest.mark.skipif(not SOURCES, reason="an installed package has no C sources")
def test_every_file_has_a_room_and_an_opening_comment() -> None:
    assert [path.name for path in SOURCES if path.parent == FOLDER] == ["treeml.h"]
    assert not [path.name for path in SOURCES if not path.read_text().startswith("/* ")]


@pytest.mark.skipif(not SOURCES, reason="an installed package has no C sources")
def test_memory_the_processor_and_the_system_are_asked_in_one_place() -> None:
    assert users(r"\b(malloc|calloc|realloc|aligned_alloc|free) \(") == {"common/memory.c"}
    assert users(r"__builtin_cpu_supports|target_clones|getenv|__get_cpuid") == {"simd/select.c"}
    platform = {"common/platform.c", "common/platform.h"}
    assert (
        users(r"pthread_|clock_gettime|timespec|syscall \(|<(pthread|unistd|windows|process|sys/\w+|time)\.h>")
        == platform
    )
    assert users(r"__builtin_(?!cpu_supports|convertvector)|__attribute__ \(\(always_inline") == {"common/bits.h"}
    assert users(r"\b(exit|abort|printf|fprintf) \(") <= {"treeml.h", "numeric/numeric.h"}  # in their examples


def test_the_variable_that_names_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = NumericSolver(np.arange(8).reshape(1, 8))
    solver.labels(np.arange(8) % 2, 2)
    monkeypatch.setenv("TREEML_KERNEL", "portable")
    assert solver.solve().kernel == "portable"
    monkeypatch.setenv("TREEML_KERNEL", "nonsense")
    with pytest.raises(ValueError, match="cannot run the kernel"):
        solver.solve()
    monkeypatch.delenv("TREEML_KERNEL")
    solver.set(kernel=1)
    assert solver.solve().kernel == "portable"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits of memory as Linux has them")
@pytest.mark.skipif("TREEML_LIBRARY" in os.environ, reason="sanitizers reserve memory of their own")
def test_programs_without_an_arena_report_lack_of_memory() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", REFUSED], capture_output=True, text=True, env=environment)
    assert done.stdout == "roots refused\ncover refused memory\n", done.stderr
