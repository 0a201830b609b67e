"""Name of a function, and its argument -> a process that runs it, and the messages that it sends back.

A solver that crashes, fills its memory or never returns takes down only its own process. The process is a fresh
interpreter, not a fork: a fork of a program with threads may hang, and importing the caller's script again (as
`multiprocessing` does) breaks scripts without a main guard. The process ends itself when its parent is gone.

Messages come through the standard output, which the child keeps for them alone; what a solver prints goes to the log.
A thread reads them, because Windows cannot wait for several pipes at once.
"""

from __future__ import annotations

import os
import pickle
import queue
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

from treeml.system import windows_memory

Send = Callable[[str, Any], None]
LENGTH = struct.Struct("<Q")
IS_WINDOWS = sys.platform == "win32"
LOG_BYTES = 4000  # the end of a process's output, kept for a message about how it ended


class Child:
    """A running process. `messages` never blocks; `arrived`, which several may share, is set when there are some."""

    def __init__(self, task: str, payload: bytes, memory: int | None = None, arrived: threading.Event | None = None):
        self.arrived = arrived or threading.Event()
        self.log = tempfile.TemporaryFile()  # noqa: SIM115
        self.begun = monotonic()
        self.peak = 0  # bytes
        self._buffer = bytearray()
        self._chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()  # an empty one ends them
        self._open = True
        command = [sys.executable, "-P", "-c", "from treeml.system.child import serve; serve()"]
        try:
            self.process = subprocess.Popen(
                [*command, task, str(memory or 0)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.log,
                env={**os.environ, "PYTHONPATH": _import_path()},
                # Ctrl-C in a terminal goes to the parent, which decides.
                start_new_session=not IS_WINDOWS,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError:
            self.log.close()
            raise
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()
        # Written by a thread, because a large payload blocks until the child has started and reads it.
        threading.Thread(target=self._feed, args=(payload,), daemon=True).start()

    def messages(self) -> Iterator[tuple[str, Any]]:
        """The messages that have arrived since the last call."""
        with suppress(queue.Empty):
            while self._open:
                chunk = self._chunks.get_nowait()
                self._open = bool(chunk)
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
        held = sum(map(_resident, _family(self.process.pid)))
        self.peak = max(self.peak, held)
        return held

    def interrupt(self) -> None:
        """Asks the process to stop, as Ctrl-C does: a solver then returns what it has."""
        with suppress(ProcessLookupError):
            self.process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))

    def kill(self) -> None:
        """Ends the process and all that it started."""
        if IS_WINDOWS:
            tree = ["taskkill", "/F", "/T", "/PID", str(self.process.pid)]
            subprocess.run(tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Makes sure that the process has ended, and releases its resources."""
        self.kill()
        self.process.wait()
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()
        self._reader.join()
        if self.process.stdout is not None:
            self.process.stdout.close()
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

    def _listen(self) -> None:
        pipe = self.process.stdout
        assert pipe is not None
        chunk = b"-"
        while chunk:
            try:
                chunk = os.read(pipe.fileno(), 1 << 20)
            except OSError:
                chunk = b""
            self._chunks.put(chunk)
            self.arrived.set()

    def _feed(self, payload: bytes) -> None:
        pipe = self.process.stdin
        assert pipe is not None
        # The pipe stays open: when it closes, the child knows that the parent is gone.
        with suppress(OSError, ValueError):
            pipe.write(LENGTH.pack(len(payload)) + payload)
            pipe.flush()


def serve() -> None:
    """The child's side: reads the payload, runs the task, sends its messages."""
    channel = _take_output()
    if sys.platform == "win32":  # the only signal that reaches another process there
        signal.signal(signal.SIGBREAK, lambda *_: signal.raise_signal(signal.SIGINT))
    task, memory = sys.argv[1], int(sys.argv[2])
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
    """The peak memory, in bytes, of this process and, but for Windows, of each child that it has waited for."""
    if IS_WINDOWS:
        return int(windows_memory.counters(os.getpid()).peak_resident)
    try:
        import resource
    except ImportError:
        return 0
    used = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return max(used) * (1 if sys.platform == "darwin" else 1024)


def _take_output() -> int:
    """The standard output, for messages; from now on what is printed goes to the standard error."""
    channel = os.dup(1)
    os.dup2(2, 1)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(channel, os.O_BINARY)
    return channel


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
    if IS_WINDOWS:
        yield from windows_memory.family(pid)
        return
    todo = [pid]
    while todo:
        pid = todo.pop()
        yield pid
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
                    todo += map(int, file.read().split())


def _resident(pid: int) -> int:
    return windows_memory.counters(pid).resident if IS_WINDOWS else _status_bytes(pid, "VmRSS")


def _status_bytes(pid: int, name: str) -> int:
    with suppress(OSError), open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return 0
