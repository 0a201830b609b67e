"""The address of a Dask scheduler -> a client with workers, or a message that says what is missing."""

from __future__ import annotations

from time import monotonic
from typing import Any

from treeml.lang.diagnostic import BackendError, Diagnostic

SECONDS = 20  # to reach the scheduler, and for the first worker to appear


def connected(address: str, most: float = float("inf")) -> Any:
    """A client of the scheduler, after `most` seconds at most.

    BackendError if Dask is not installed, or nobody answers, or there is no worker.
    """
    end = monotonic() + min(SECONDS, most)
    try:
        from distributed import Client  # imported here: an extra, and start-up time
    except ImportError as error:
        raise BackendError(_needs("distributed")) from error
    try:
        client: Any = Client(address, timeout=f"{_left(end)}s")  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise BackendError(_no_cluster(address, f"{type(error).__name__}: {error}")) from error
    try:
        client.wait_for_workers(1, timeout=_left(end))
    except Exception as error:
        client.close()
        if not isinstance(error, TimeoutError):
            raise
        raise BackendError(_no_cluster(address, "a scheduler answers, and it has no workers", "worker")) from error
    return client


def _left(end: float) -> float:
    return max(0.1, end - monotonic())


def _needs(package: str) -> Diagnostic:
    return Diagnostic("B530", f"a cluster needs the package {package}", helps=("pip install 'treeml[cluster]'",))


def _no_cluster(address: str, because: str, lacking: str = "scheduler") -> Diagnostic:
    start = "start one with `dask scheduler`, and give the address that it prints: tcp://host:8786"
    if lacking == "worker":
        start = f"start some with `dask worker {address}`"
    return Diagnostic("B531", f"there is no cluster at {address}", notes=(because,), place="--cluster", helps=(start,))
