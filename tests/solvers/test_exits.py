"""A process with a solver left running ends properly: with its exit code and output, and without an abort."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

LEAVES_A_SOLVER = """
import ctypes, sys
from time import sleep
from treeml.backends.contract import Deadline
from treeml.backends.solvers.engines.running import RunLimits, run_in_thread

# Stands for the destructor of a C++ library whose threads still run: it ends the process with SIGABRT.
libc = ctypes.CDLL(None)
libc.on_exit(ctypes.cast(libc.abort, ctypes.c_void_p), None)
reasons = run_in_thread(lambda: sleep(1000), lambda: None, RunLimits(deadline=Deadline.after(0)))
print(reasons)
sys.exit(7)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "on_exit"), reason="a call of glibc")
def test_a_solver_that_is_left_running_does_not_abort_the_process() -> None:
    run = subprocess.run([sys.executable, "-c", LEAVES_A_SOLVER], capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout) == (7, "['time', 'left']\n")
    assert run.stderr == ""
