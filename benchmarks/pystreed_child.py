"""Fair trees by pystreed, in its own interpreter.

Any Python with pystreed can run this file. It reads lines of JSON with path, task, limit, depth and seconds, and prints
one line of JSON for each. The first column of the rows is the class, the second the sensitive group. Seconds are those
of the processor. Very short fits are repeated for a quarter of a second, and the fastest counts.
"""

import json
import sys
from time import perf_counter, process_time

WHILE = 0.25


def measure(path: str, task: str, limit: str, depth: int, seconds: float) -> str:
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
            max_depth=depth,
            time_limit=seconds,
        )
        began, wall = process_time(), perf_counter()
        model.fit(table, actual)
        taken = process_time() - began
        proved = perf_counter() - wall < seconds
        best, spent = min(best, taken), spent + taken
    predicted = np.asarray(model.predict(table)).ravel()
    group = table[:, 0] == 1
    among = actual == 1 if task == "equality-of-opportunity" else np.ones(len(actual), dtype=bool)
    rates = [float(predicted[among & side].mean()) for side in (group, ~group)]
    errors = int((predicted != actual).sum())
    return json.dumps({"errors": errors, "gap": abs(rates[0] - rates[1]), "seconds": best, "proved": proved})


if __name__ == "__main__":
    for line in sys.stdin:
        print("\n" + measure(**json.loads(line)), flush=True)
