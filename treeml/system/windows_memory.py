"""A process of Windows -> the bytes that it holds, and its descendants.

Types have fixed widths, so that they are laid out alike on every system and tests can play Windows.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

QUERY_INFORMATION = 0x1000  # what every user may ask about an own process
ALL_PROCESSES = 0x2
NO_HANDLE = ctypes.c_void_p(-1).value


class MemoryCounters(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS of psapi.h."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("page_faults", ctypes.c_uint32),
        ("peak_resident", ctypes.c_uint64),
        ("resident", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 6),
    ]


class ProcessEntry(ctypes.Structure):
    """PROCESSENTRY32W of tlhelp32.h."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("usage", ctypes.c_uint32),
        ("pid", ctypes.c_uint32),
        ("heap", ctypes.c_uint64),
        ("module", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("parent", ctypes.c_uint32),
        ("priority", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
        ("name", ctypes.c_uint16 * 260),
    ]


def counters(pid: int) -> MemoryCounters:
    """What a process holds and has held; zeros if it has ended."""
    found = MemoryCounters(size=ctypes.sizeof(MemoryCounters))
    system = kernel()
    process = system.OpenProcess(QUERY_INFORMATION, 0, pid)
    if process:
        system.K32GetProcessMemoryInfo(process, ctypes.byref(found), found.size)
        system.CloseHandle(process)
    return found


def family(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
    children: dict[int, list[int]] = {}
    for child, parent in _processes():
        children.setdefault(parent, []).append(child)
    todo = [pid]
    while todo:
        yield (pid := todo.pop())
        todo += children.pop(pid, [])


def _processes() -> Iterator[tuple[int, int]]:
    """All processes with the one that started them."""
    system = kernel()
    snapshot = system.CreateToolhelp32Snapshot(ALL_PROCESSES, 0)
    if snapshot == NO_HANDLE:
        return
    entry = ProcessEntry(size=ctypes.sizeof(ProcessEntry))
    try:
        found = system.Process32FirstW(snapshot, ctypes.byref(entry))
        while found:
            yield entry.pid, entry.parent
            found = system.Process32NextW(snapshot, ctypes.byref(entry))
    finally:
        system.CloseHandle(snapshot)


def kernel() -> Any:
    system = getattr(ctypes, "WinDLL")("kernel32")  # noqa: B009
    handle, number, pointer = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p
    system.OpenProcess.restype = system.CreateToolhelp32Snapshot.restype = handle
    system.OpenProcess.argtypes = (number, ctypes.c_int, number)
    system.CreateToolhelp32Snapshot.argtypes = (number, number)
    system.K32GetProcessMemoryInfo.argtypes = (handle, pointer, number)
    system.Process32FirstW.argtypes = system.Process32NextW.argtypes = (handle, pointer)
    system.CloseHandle.argtypes = (handle,)
    return system
