"""Other tasks by pystreed, in its own interpreter: `python tasks_child.py fit rows.csv TASK DEPTH SECONDS`.

Any Python with pystreed can run this file, which prints one line of JSON: the leaf that each row reaches, the fastest
fit in seconds of the processor, and whether it is proved. `python tasks_child.py rows NAME` prints a data set that
ships with scikit-survival as CSV. Columns of the rows are named: b... are tests of 0 and 1, u... are columns of linear
models, cost_... what a class costs; time and died; y; treatment, outcome, propensity and reward_...
"""

import json
import sys
from time import perf_counter, process_time

WHILE = 0.25  # seconds for which short fits are repeated


def fit(path: str, task: str, depth: str, seconds: str) -> None:
    import numpy as np

    with open(path, encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    column = {name: rows[:, place] for place, name in enumerate(names)}
    tests = np.column_stack([column[name] for name in names if name.startswith("b")]).astype(int)
    best, spent = float("inf"), 0.0
    while best == float("inf") or spent < WHILE:
        model, arguments = task_of(task, column, tests, int(depth), float(seconds))
        began, wall = process_time(), perf_counter()
        model.fit(tests, *arguments)
        taken = process_time() - began
        proved = perf_counter() - wall < float(seconds)
        best, spent = min(best, taken), spent + taken
    leaves = leaves_of(model.get_tree(), tests)
    print("\n" + json.dumps({"leaves": leaves, "seconds": best, "proved": proved}))


def task_of(task, column, tests, depth, seconds):
    """The estimator of a task, and what its `fit` takes after the tests."""
    import numpy as np
    import pystreed

    limits = {"max_depth": depth, "time_limit": seconds}
    if task == "survival":
        ends = np.zeros(len(tests), dtype=[("event", bool), ("time", float)])
        ends["event"], ends["time"] = column["died"] > 0, column["time"]
        model = pystreed.STreeDSurvivalAnalysis(**limits)
        inner = model._compute_baseline_cumulative_hazard_function
        # Version 1.4.0 uses events as indices of a list, which booleans of newer versions of numpy cannot be.
        model._compute_baseline_cumulative_hazard_function = lambda events, times: inner(events.astype(int), times)
        return model, (ends,)
    if task in ("linear", "simple"):
        lines = np.column_stack([column[name] for name in sorted(column) if name.startswith("u")])
        model = pystreed.STreeDPiecewiseLinearRegressor(simple=task == "simple", cost_complexity=0.0, **limits)
        return model, (column["y"], lines)
    if task == "costs":
        costs = np.column_stack([column[name] for name in sorted(column) if name.startswith("cost_")])
        return pystreed.STreeDInstanceCostSensitiveClassifier(**limits), (costs,)
    past = [column[name] for name in ("treatment", "outcome", "propensity", "reward_0", "reward_1")]
    return pystreed.STreeDPrescriptivePolicyGenerator(**limits), (np.column_stack(past),)


def leaves_of(root, tests):
    """The number of the leaf of every row; rows whose answer is 1 go to the right."""
    import numpy as np

    found = np.zeros(len(tests), dtype=int)
    waiting, leaf = [(root, np.arange(len(tests)))], 0
    while waiting:
        node, rows = waiting.pop()
        if node.is_leaf_node():
            found[rows] = leaf
            leaf += 1
        else:
            yes = tests[rows, node.feature] == 1
            waiting += [(node.right_child, rows[yes]), (node.left_child, rows[~yes])]
    return found.tolist()


def rows(name: str) -> None:
    import pandas
    from sksurv import datasets

    load = {"gbsg2": "gbsg2", "veterans": "veterans_lung_cancer", "whas500": "whas500", "aids": "aids"}[name]
    table, ends = getattr(datasets, f"load_{load}")()
    died, time = ends.dtype.names
    numbers = pandas.get_dummies(table, dtype=float)
    numbers = numbers.assign(time=ends[time], died=ends[died].astype(int))
    print(numbers.to_csv(index=False))


if __name__ == "__main__":
    {"fit": fit, "rows": rows}[sys.argv[1]](*sys.argv[2:])
