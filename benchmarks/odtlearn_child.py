"""One fit by odtlearn, in its own interpreter: `python odtlearn_child.py rows.csv FlowOCT cbc DEPTH SECONDS`.

odtlearn needs mip 1.15 with cffi below 1.16 (or gurobipy), which need not be installed together with TreeML. Therefore
any Python that has them can run this file, which prints one line of JSON. The first column of the rows is the class.
"""

import json
import sys
from time import perf_counter, process_time


def main(path: str, kind: str, solver: str, depth: str, seconds: str) -> None:
    import numpy as np
    from odtlearn import flow_oct

    rows = np.loadtxt(path, delimiter=",", dtype=int)
    actual, table = rows[:, 0], rows[:, 1:]
    # CBC runs in one thread by default; num_threads=1 would start a worker that waits forever in lazy constraints.
    threads = None if solver == "cbc" else 1
    model = getattr(flow_oct, kind)(
        solver=solver, depth=int(depth), time_limit=int(seconds), num_threads=threads, _lambda=0
    )
    began, spent = perf_counter(), process_time()
    model.fit(table, actual)
    taken, processor = perf_counter() - began, process_time() - spent
    errors = int((np.asarray(model.predict(table)).ravel() != actual).sum())
    still_open = float(model.optim_gap) * (len(rows) - errors)  # the gap is relative to the correctly predicted rows
    print("\n" + json.dumps({"errors": errors, "open": still_open, "seconds": taken, "processor": processor}))


if __name__ == "__main__":
    main(*sys.argv[1:])
