"""Fair trees by pystreed, in its own interpreter: `python pystreed_child.py rows.csv TASK LIMIT DEPTH SECONDS`.

Any Python with pystreed can run this file, which prints one line of JSON. The first column of the rows is the class,
the second the sensitive group. Seconds are those of the processor. Very short fits are repeated for a quarter of a
second, and the fastest counts.
"""

import json
import sys
from time import perf_counter, process_time

WHILE = 0.25


def main(path: str, task: str, limit: str, depth: str, seconds: str) -> None:
    import numpy as np
    from pystreed import STreeDGroupFairnessClassifier

    rows = np.loadtxt(path, delimiter=",", dtype=int)
    actual, table = rows[:, 0], rows[:, 1:]
    best, spent = float("inf"), 0.0
    while best == float("inf") or spent < WHILE:
        model = STreeDGroupFairnessClassifier(
            task,
            sensitive_feature=0,
            discrimination_limit=float(limit),
            max_depth=int(depth),
            time_limit=float(seconds),
        )
        began, wall = process_time(), perf_counter()
        model.fit(table, actual)
        taken = process_time() - began
        proved = perf_counter() - wall < float(seconds)
        best, spent = min(best, taken), spent + taken
    predicted = np.asarray(model.predict(table)).ravel()
    group = table[:, 0] == 1
    among = actual == 1 if task == "equality-of-opportunity" else np.ones(len(actual), dtype=bool)
    rates = [float(predicted[among & side].mean()) for side in (group, ~group)]
    errors = int((predicted != actual).sum())
    print("\n" + json.dumps({"errors": errors, "gap": abs(rates[0] - rates[1]), "seconds": best, "proved": proved}))


if __name__ == "__main__":
    main(*sys.argv[1:])
