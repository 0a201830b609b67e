"""`compare` and `race` as on Windows: no process groups and no /proc, but handles, snapshots and `taskkill`.

The functions of Windows are played by a kernel that looks at the processes of Linux, so the same calls are made in the
same order, and processes are really watched and ended. That Windows lays out the records like this and answers these
calls is checked with a program under Wine (tests/native/load_library.c).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from test_compare import compared

import treeml as tml
from treeml.system import child, windows_memory
from treeml.system.memory import resident
from treeml.system.windows_memory import NO_HANDLE, MemoryCounters, ProcessEntry

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="plays Windows on Linux")


class PlayedKernel:
    """The functions of kernel32 that are called, over the processes of Linux."""

    def __init__(self) -> None:
        self.open: set[int] = set()
        self.listed: list[tuple[int, int]] = []

    def OpenProcess(self, access: int, inherit: int, pid: int) -> int | None:
        assert (access, inherit) == (0x1000, 0)
        if not Path(f"/proc/{pid}").exists():
            return None
        self.open.add(pid)
        return pid

    def K32GetProcessMemoryInfo(self, handle: int, record: Any, size: int) -> int:
        counters: MemoryCounters = record._obj
        assert handle in self.open
        assert size == counters.size == 72
        try:
            counters.resident = int(Path(f"/proc/{handle}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            return 0
        counters.peak_resident = counters.resident
        return 1

    def CreateToolhelp32Snapshot(self, what: int, pid: int) -> int:
        assert (what, pid) == (2, 0)
        pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        self.listed = [(pid, parent) for pid in pids if (parent := parent_of(pid)) is not None]
        self.open.add(-2)
        return -2

    def Process32FirstW(self, handle: int, record: Any) -> int:
        entry: ProcessEntry = record._obj
        assert handle in self.open
        assert entry.size == 568
        if not self.listed:
            return 0
        entry.pid, entry.parent = self.listed.pop()
        return 1

    Process32NextW = Process32FirstW

    def CloseHandle(self, handle: int) -> None:
        self.open.remove(handle)


def parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


@pytest.fixture
def windows(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> PlayedKernel:
    kernel = PlayedKernel()
    monkeypatch.setattr(windows_memory, "kernel", lambda: kernel)
    monkeypatch.setattr(child, "IS_WINDOWS", True)
    programs = tmp_path_factory.mktemp("programs")
    taskkill = programs / "taskkill"
    taskkill.write_text('#!/bin/sh\n[ "$1 $2 $3" = "/F /T /PID" ] && kill -9 "$4"\n')
    taskkill.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return kernel


def test_records_are_laid_out_as_windows_has_them() -> None:
    assert (ctypes.sizeof(MemoryCounters), MemoryCounters.resident.offset) == (72, 16)
    assert (ctypes.sizeof(ProcessEntry), ProcessEntry.pid.offset, ProcessEntry.parent.offset) == (568, 8, 32)


def test_a_process_and_its_descendants(windows: PlayedKernel) -> None:
    import subprocess

    sleeper = subprocess.Popen([sys.executable, "-c", "print('here', flush=True); input()"], stdin=-1, stdout=-1)
    assert sleeper.stdout is not None
    sleeper.stdout.readline()
    assert {os.getpid(), sleeper.pid} <= set(windows_memory.family(os.getpid()))
    assert windows_memory.counters(sleeper.pid).resident > 10**6
    sleeper.communicate(b"\n")
    assert list(windows_memory.family(sleeper.pid)) == [sleeper.pid]
    assert windows_memory.counters(sleeper.pid).resident == 0
    assert not windows.open


def test_no_snapshot_is_no_family(windows: PlayedKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "CreateToolhelp32Snapshot", lambda what, pid: NO_HANDLE)
    assert list(windows_memory.family(7)) == [7]


def test_own_memory(windows: PlayedKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert child.peak_memory() > 10**7
    monkeypatch.setattr("treeml.system.memory.os", PlayedSystem)
    assert resident() > 10**7


class PlayedSystem:
    name, getpid = "nt", os.getpid

    @staticmethod
    def sysconf(name: str) -> int:
        raise ValueError("unrecognized configuration name")


@pytest.mark.parametrize("name", ["fill", "crash"])
def test_the_table_is_complete(name: str, spec: Path, bad_backends: Path, windows: PlayedKernel) -> None:
    """One back-end holds more than its limit and is ended, or crashes; the other answers."""
    (bad_backends / "resource.py").write_text("raise ImportError")  # so that no process can limit itself
    records, result = compared(spec, "--with", f"{name},oracle", "--within", "600s", "--memory", "400MB")
    assert [record["stop"] for record in records] == ["memory" if name == "fill" else "failed", "proved"]
    assert ("it held" in records[0]["because"]) == (name == "fill")
    assert records[1]["peak_memory"] > 10**7
    assert result.exit_code == (0 if name == "fill" else 5)
    assert not windows.open


def test_a_race_ends_its_losers(windows: PlayedKernel) -> None:
    model = tml.parse("predict y minimize errors require depth <= 1")
    result = model.solve({"x": [0, 0, 1, 1], "y": ["a", "a", "b", "b"]}, backend="race(native, oracle)")
    assert result.objective == 0


def test_a_process_that_is_asked_to_stop(windows: PlayedKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(signal, "CTRL_BREAK_EVENT", 1, raising=False)
    running = child.Child("treeml.system.child:no_such", b"")
    monkeypatch.setattr(running.process, "send_signal", sent.append)
    running.interrupt()
    running.close()
    assert sent == [1]
    assert "exit code" in running.end() or "SIGKILL" in running.end()
