"""Name of a function, and its argument -> a process that runs it, and the messages that it sends back.

A solver that crashes, fills its memory or never returns takes down only its own process. The process is a fresh
interpreter, not a fork: a fork of a program with threads may hang, and importing the caller's script again (as
`multiprocessing` does) breaks scripts without a main guard. The process ends itself when its parent is gone.
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
LOG_BYTES = 4000  # the end of a process's output, kept for a message about how it ended


class Child:
    """A running process. `messages` never blocks; wait for `channel` to become readable."""

    def __init__(self, task: str, payload: bytes, memory: int | None = None) -> None:
        if os.name == "nt":
            raise OSError("processes that report to this one need a system with POSIX pipes; use `treeml solve`")
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
                start_new_session=True,  # Ctrl-C in a terminal goes to the parent, which decides
                env={**os.environ, "PYTHONPATH": _import_path()},
            )
        except OSError:
            os.close(self.channel)
            self.log.close()
            raise
        finally:
            os.close(other_end)
        # Written by a thread, because a large payload blocks until the child has started and reads it.
        threading.Thread(target=self._feed, args=(payload,), daemon=True).start()

    def messages(self) -> Iterator[tuple[str, Any]]:
        """The messages that have arrived since the last call."""
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
        """The bytes that the process and its descendants hold now; 0 if the system does not say."""
        held = sum(_resident(pid) for pid in _family(self.process.pid))
        self.peak = max(self.peak, held)
        return held

    def interrupt(self) -> None:
        """Asks the process to stop, as Ctrl-C does: a solver then returns what it has."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGINT)

    def kill(self) -> None:
        """Ends the process and all that it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Makes sure that the process has ended, and releases its resources."""
        self.kill()
        self.process.wait()
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()
        os.close(self.channel)
        self.log.close()

    def printed(self) -> str:
        """The end of its standard output and error."""
        size = self.log.seek(0, os.SEEK_END)
        self.log.seek(max(0, size - LOG_BYTES))
        return self.log.read().decode("utf-8", "replace").strip()

    def end(self) -> str:
        """How the process ended, in words."""
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
        # The pipe stays open: when it closes, the child knows that the parent is gone.
        with suppress(OSError, ValueError):
            pipe.write(LENGTH.pack(len(payload)) + payload)
            pipe.flush()


def serve() -> None:
    """The child's side: reads the payload, runs the task, sends its messages."""
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
    # `os._exit`, because threads that a solver left behind must not keep the process alive.
    sys.stdout.flush()
    os._exit(0)


def peak_memory() -> int:
    """The peak memory, in bytes, of this process and of each child that it has waited for."""
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
    """Limits what the child can allocate, so that a huge allocation fails at once; the parent watches what it holds."""
    try:
        import resource

        limit = _status_bytes(os.getpid(), "VmData") + memory
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    except (ImportError, OSError, ValueError):
        return


def _import_path() -> str:
    return os.pathsep.join(dict.fromkeys(path or os.getcwd() for path in sys.path))


def _family(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
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
