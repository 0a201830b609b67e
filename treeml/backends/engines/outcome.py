"""What a solver made of a model, in words that all of them share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


class End(Enum):
    """How a search in a solver ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    TIME = "time"
    MEMORY = "memory"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, eq=False, slots=True)
class Outcome:
    """`bound` is a proved lower bound on the whole goal, offset included; `values` the best assignment found."""

    end: End
    values: Whole | None = None
    bound: int | None = None
    raw: str = ""
    statistics: dict[str, float] = field(default_factory=dict)


# Called with an assignment (or None) and a lower bound (or None); False stops the search.
OnIncumbent = Callable[["Whole | None", "int | None"], bool | None]


def run_in_thread(
    work: Callable[[], Any], interrupt: Callable[[], None], watch: Callable[[], None] | None = None
) -> Any:
    """Runs a solver in a thread of its own, so that Ctrl-C reaches Python, which asks it to stop and waits.

    `watch` is called every now and then, to stop it for other reasons.
    """
    results: list[Any] = []
    failures: list[BaseException] = []

    def body() -> None:
        try:
            results.append(work())
        except BaseException as failure:
            failures.append(failure)
        finally:
            done.set()

    # An event, not `join`: a Ctrl-C inside `join` can make a running thread look ended.
    done = Event()
    Thread(target=body, daemon=True).start()
    while not done.is_set():
        try:
            if not done.wait(0.1) and watch is not None:
                watch()
        except KeyboardInterrupt:
            interrupt()
    if failures:
        raise failures[0]
    return results[0]
