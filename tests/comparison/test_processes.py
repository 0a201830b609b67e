"""Processes of back-ends: killed from outside, left behind by a parent that dies, or watched in a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import treeml as tml
from treeml.lang.diagnostic import BackendError
from treeml.system.child import _family


def started(spec: Path, folder: Path, *arguments: str, **streams: Any) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]), "COLUMNS": "200"}
    command = [sys.executable, "-m", "treeml", "compare", str(spec), *arguments]
    return subprocess.Popen(command, env=environment, **streams)


def child_of(process: subprocess.Popen[bytes]) -> int:
    """The process of the first back-end, once it has loaded its libraries and sleeps."""
    while True:
        below = list(_family(process.pid))[1:]
        if below and _processor_seconds(below[0]) > 0.3:
            return below[0]
        assert process.poll() is None
        time.sleep(0.05)


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_killing_a_back_end_leaves_the_table_complete(spec: Path, bad_backends: Path) -> None:
    process = started(spec, bad_backends, "--with", "sleep,oracle", "--json", stdout=subprocess.PIPE)
    os.kill(child_of(process), signal.SIGKILL)
    out, _ = process.communicate(timeout=600)
    sleeper, oracle = json.loads(out)
    assert sleeper["stop"] == "failed"
    assert "SIGKILL" in sleeper["because"]
    assert oracle["status"] == "optimal"
    assert process.returncode == 5


def test_back_ends_end_with_their_parent(spec: Path, bad_backends: Path) -> None:
    process = started(spec, bad_backends, "--with", "sleep", stdout=subprocess.DEVNULL)
    child = child_of(process)
    process.kill()
    process.wait()
    for _ in range(12_000):
        try:
            state = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the back-end outlived its parent")


def test_a_terminal_shows_a_live_table(spec: Path, bad_backends: Path) -> None:
    reading, writing = pty.openpty()
    process = started(spec, bad_backends, "--with", "oracle,cart", stdout=subprocess.DEVNULL, stderr=writing)
    os.close(writing)
    shown = b""
    while True:
        try:
            chunk = os.read(reading, 1 << 16)
        except OSError:  # the other end was closed
            break
        if not chunk:
            break
        shown += chunk
    os.close(reading)
    assert process.wait() == 0
    assert b"waiting" in shown
    assert b"starting" in shown or b"running" in shown


def test_data_that_cannot_be_sent_is_reported() -> None:
    model = tml.parse("predict label minimize errors require depth <= 1")
    with pytest.raises(BackendError, match="cannot be sent"):
        model.compare({"a": [0, 1], "label": [0, 1], "unused": [lambda: 0, lambda: 1]}, ["oracle"])
