"""A function's name and what it is given -> a process of its own, and the messages that it sends back.

A solver that crashes, fills its memory or never returns takes down its own process and nothing else. The process is a
fresh interpreter, not a fork: a fork of a program with threads may hang, and one that imports the caller's script again
(as `multiprocessing` does) surprises whoever wrote it without a guard. It ends itself when its parent has gone.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from time import monotonic
from typing import Any

Send = Callable[[str, Any], None]
LENGTH = struct.Struct("<Q")
LOG_BYTES = 4000  # of what a process printed, kept for a message about its end


class Child:
    """A running process. `messages` never blocks; wait for `channel` to become readable."""

    def __init__(self, task: str, payload: bytes, memory: int | None = None) -> None:
        self.channel, other_end = os.pipe()
        os.set_blocking(self.channel, False)
        self.log = tempfile.TemporaryFile()  # noqa: SIM115
        self.begun = monotonic()
        self.peak = 0  # bytes
        self._buffer = bytearray()
        self._open = True
        command = [sys.executable, "-P", "-c", "from treeml.system.child import serve; serve()"]
        try:
            self.process = subprocess.Popen(
                [*command, str(other_end), task, str(memory or 0)],
                stdin=subprocess.PIPE,
                stdout=self.log,
                stderr=subprocess.STDOUT,
                pass_fds=(other_end,),
                start_new_session=True,  # Ctrl-C in a terminal is for the parent, which decides
                env={**os.environ, "PYTHONPATH": _import_path()},
            )
        except OSError:
            os.close(self.channel)
            self.log.close()
            raise
        finally:
            os.close(other_end)
        # Written by a thread: a large payload fills the pipe until the child has started and reads.
        threading.Thread(target=self._feed, args=(payload,), daemon=True).start()

    def messages(self) -> Iterator[tuple[str, Any]]:
        """What has arrived since the last call."""
        while self._open:
            try:
                chunk = os.read(self.channel, 1 << 20)
            except BlockingIOError:
                break
            if not chunk:
                self._open = False
            self._buffer += chunk
        while len(self._buffer) >= LENGTH.size:
            (size,) = LENGTH.unpack_from(self._buffer)
            if len(self._buffer) < LENGTH.size + size:
                return
            frame = bytes(self._buffer[LENGTH.size : LENGTH.size + size])
            del self._buffer[: LENGTH.size + size]
            yield pickle.loads(frame)

    @property
    def has_ended(self) -> bool:
        return not self._open and self.process.poll() is not None

    def memory(self) -> int:
        """The bytes that the process and those it started hold now; 0 where the system does not tell."""
        held = sum(_resident(pid) for pid in _family(self.process.pid))
        self.peak = max(self.peak, held)
        return held

    def interrupt(self) -> None:
        """Ask for an end, as Ctrl-C does: a solver answers with what it has."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGINT)

    def kill(self) -> None:
        """End it and whatever it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Make sure that it has ended, and give back what it held."""
        self.kill()
        self.process.wait()
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()
        os.close(self.channel)
        self.log.close()

    def printed(self) -> str:
        """The end of what it wrote to its standard output and error."""
        size = self.log.seek(0, os.SEEK_END)
        self.log.seek(max(0, size - LOG_BYTES))
        return self.log.read().decode("utf-8", "replace").strip()

    def end(self) -> str:
        """How it ended, in words."""
        code = self.process.wait()
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"signal {-code}"
            return f"its process was ended by {name}"
        return f"its process ended with exit code {code} and no answer"

    def _feed(self, payload: bytes) -> None:
        pipe = self.process.stdin
        assert pipe is not None
        # The pipe stays open: its end tells the child that the parent has gone.
        with suppress(OSError, ValueError):
            pipe.write(LENGTH.pack(len(payload)) + payload)
            pipe.flush()


def serve() -> None:
    """The child's side: read the payload, do the task, send what it says."""
    channel, task, memory = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    lock = threading.Lock()

    def send(kind: str, value: Any) -> None:
        frame = pickle.dumps((kind, value))
        with lock:
            _write(channel, LENGTH.pack(len(frame)) + frame)

    source = sys.stdin.buffer
    (size,) = LENGTH.unpack(source.read(LENGTH.size))
    payload = source.read(size)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    module, _, function = task.partition(":")
    work = getattr(import_module(module), function)
    given = pickle.loads(payload)
    if memory:
        _limit_memory(memory)
    work(given, send)
    # Not an ordinary exit: threads that a solver left behind must not keep the process alive.
    sys.stdout.flush()
    os._exit(0)


def peak_memory() -> int:
    """The most bytes that this process, and each that it has waited for, held at once."""
    try:
        import resource
    except ImportError:  # not a Unix
        return 0
    used = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return max(used) * (1 if sys.platform == "darwin" else 1024)


def _write(channel: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(channel, view) :]


def _end_with_parent() -> None:
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    os._exit(1)


def _limit_memory(memory: int) -> None:
    """A jump far beyond the limit fails in the child at once; the parent watches the limit itself, a little later."""
    try:
        import resource

        limit = _status_bytes(os.getpid(), "VmData") + memory
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    except (ImportError, OSError, ValueError):
        return


def _import_path() -> str:
    return os.pathsep.join(dict.fromkeys(path or os.getcwd() for path in sys.path))


def _family(pid: int) -> Iterator[int]:
    """A process and all below it."""
    todo = [pid]
    while todo:
        pid = todo.pop()
        yield pid
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
                    todo += map(int, file.read().split())


def _resident(pid: int) -> int:
    return _status_bytes(pid, "VmRSS")


def _status_bytes(pid: int, name: str) -> int:
    with suppress(OSError), open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return 0
