"""A sweep on a cluster of two processes, one of which is killed after the first result."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from treeml.model import load
from treeml.studies.comparison.jobs import Case
from treeml.studies.comparison.journal import Journal
from treeml.studies.sweep import sweep


def main(spec: Path, kept: Path) -> None:
    from distributed import LocalCluster

    journal = Journal(kept, resume=False)
    values = {"price": [str(value) for value in range(8)]}
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:  # type: ignore[no-untyped-call]
        victim = next(iter(cluster.workers.values())).pid
        killed = threading.Event()

        def kill() -> None:
            while not journal.path.read_bytes().count(b"\n"):
                time.sleep(0.02)
            os.kill(victim, signal.SIGKILL)
            killed.set()

        threading.Thread(target=kill, daemon=True).start()
        case = Case(load(spec), spec_name="priced")
        found = list(sweep([case], values, ["oracle"], cluster=cluster.scheduler_address, journal=journal))
    journal.close()
    print(json.dumps({"killed": killed.is_set(), "found": found}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
