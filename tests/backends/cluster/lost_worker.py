"""Solves on a cluster of three processes, one of which is killed while it works on the first solve."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from typing import Any

import numpy as np

import treeml as tml

TEXTS = [
    "minimize errors require depth <= 4",
    "minimize errors + 2 * leaves require depth <= 3",
    "maximize accuracy require depth <= 3 require support >= 20",
]


def rows(seed: int, count: int = 800, width: int = 20) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    bits = random.integers(0, 2, size=(count, width))
    target = (bits[:, 0] & bits[:, 1]) ^ (bits[:, 2] & bits[:, 3]) ^ (random.random(count) < 0.2)
    return bits, target.astype(int)


def columns_of_numbers(seed: int, count: int = 1500) -> tuple[Any, Any]:
    """More cuts than are made into tests by default."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(count, 3))
    target = ((values[:, 0] > 0.31) & (values[:, 1] > -0.52)) ^ (random.random(count) < 0.15)
    return values, target.astype(int)


def kill_while_busy(cluster: Any, killed: threading.Event, over: threading.Event) -> None:
    """Kill the first worker that has tasks."""
    pids = {worker.worker_address: worker.pid for worker in cluster.workers.values()}
    while not over.is_set() and not killed.is_set():
        for address, state in list(cluster.scheduler.workers.items()):
            if any(str(each.key).startswith("task-") for each in list(state.processing)):
                os.kill(pids[address], signal.SIGKILL)
                killed.set()
                return
        time.sleep(0.005)


def solved(cluster: Any) -> dict[str, Any]:
    address = cluster.scheduler_address
    killed, over = threading.Event(), threading.Event()
    threading.Thread(target=kill_while_busy, args=(cluster, killed, over), daemon=True).start()
    cases = []
    for number, text in enumerate(TEXTS):
        bits, target = rows(number)
        spread = tml.parse(text).solve(bits, target, cluster=address)
        alone = tml.parse(text).solve(bits, target, backend="native")
        cases.append(
            {
                "cluster": [spread.objective, spread.bound],
                "native": [alone.objective, alone.bound],
                "status": spread.status.value,
                "verified": spread.verified,
                "evidence": spread.evidence[0].name,
            }
        )
    over.set()
    numbers = tml.parse("minimize errors require depth <= 3")
    values, label = columns_of_numbers(4)
    spread = numbers.solve(values, label, cluster=address)
    alone = numbers.solve(values, label, backend="native")
    late = tml.parse("minimize errors require depth <= 6").solve(values, label, cluster=address, within=5)
    none = tml.parse("minimize errors require depth <= 2 require purity >= 99%")
    bits, target = rows(9)
    both = [none.solve(bits, target, cluster=address), none.solve(bits, target, backend="native")]
    deep = tml.parse("minimize errors require depth <= 4")
    best = deep.solve(bits, target, backend="native").objective
    asked: list[Any] = []

    def stop(progress: Any) -> bool:
        asked.append(progress)
        return len(asked) < 2

    stopped = deep.solve(bits, target, cluster=address, on_progress=stop)
    return {
        "killed": killed.is_set(),
        "numbers": [[each.status.value, each.objective, each.bound] for each in (spread, alone)],
        "late": {
            "objective": late.objective,
            "bound": late.bound,
            "verified": late.verified,
        },
        "cases": cases,
        "infeasible": [each.status.value for each in both],
        "stopped": {
            "status": stopped.status.value,
            "objective": stopped.objective,
            "bound": stopped.bound,
            "best": best,
        },
    }


def main() -> None:
    from distributed import LocalCluster

    with LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0") as cluster:  # type: ignore[no-untyped-call]
        outcome = solved(cluster)
    print(json.dumps(outcome))


if __name__ == "__main__":
    main()
