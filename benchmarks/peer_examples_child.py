"""The documented calls of other libraries, in their interpreter: `python peer_examples_child.py CASE rows.csv`.

Prints one line of JSON: what the tree predicts for each row and, where the library tells them, the leaf of each row,
the tests on the way to each leaf, or the number of leaves. Columns of the rows: b... are tests of 0 and 1, x... are
numbers, y is the target; the sensitive group of fairness is b0.
"""

import json
import sys


def main(case: str, path: str) -> None:
    import numpy as np

    with open(path, encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    target = rows[:, names.index("y")]
    tests = rows[:, [name.startswith("b") for name in names]]
    numbers = rows[:, [name.startswith("x") for name in names]]
    library, _, task = case.partition(": ")
    done = {"pystreed": by_pystreed, "gosdt": by_gosdt, "pycontree": by_contree}[library](task, tests, numbers, target)
    print("\n" + json.dumps(done))


def by_pystreed(task, tests, numbers, target):
    import pystreed
    from tasks_child import leaves_of

    tests = tests.astype(int)
    wanted = [target if task == "regression" or task == "sparse regression" else target.astype(int)]
    if task == "accuracy":
        model = pystreed.STreeDClassifier("accuracy", max_depth=3, max_num_nodes=5)
    elif task == "sparse accuracy":
        model = pystreed.STreeDClassifier("cost-complex-accuracy", max_depth=3, cost_complexity=0.01)
    elif task == "f1":
        model = pystreed.STreeDClassifier("f1-score", max_depth=2)
    elif task in ("gini", "entropy"):
        kind = {"gini": "gini-index", "entropy": "entropy"}[task]
        # Version 1.4.0 misses the best trees of depth two with its terminal solver.
        limits = {"max_depth": 2, "max_num_nodes": 3, "cost_complexity": 0.0, "use_terminal_solver": False}
        model = pystreed.STreeDClassifier("accuracy-flex", accuracy_objective=kind, **limits)
    elif task == "costs":
        model = pystreed.STreeDCostSensitiveClassifier(max_depth=2)
        costs = [pystreed.FeatureCostSpecifier(*COSTS[place], place, place) for place in range(tests.shape[1])]
        wanted.append(pystreed.CostSpecifier(MISTAKES, costs))
    elif task in ("parity", "opportunity"):
        name = {"parity": "group-fairness", "opportunity": "equality-of-opportunity"}[task]
        model = pystreed.STreeDGroupFairnessClassifier(name, discrimination_limit=0.05, max_depth=2)
    elif task == "regression":
        model = pystreed.STreeDRegressor("regression", max_depth=3)
    else:
        model = pystreed.STreeDRegressor("cost-complex-regression", max_depth=3, cost_complexity=0.01)
    model.fit(tests, *wanted)
    tree = model.get_tree()
    found = {"predicted": model.predict(tests).tolist(), "leaves": leaves_of(tree, tests)}
    return {**found, "paths": paths_of(tree)}


def paths_of(root):
    """The tests on the way to every leaf, in the order of `leaves_of`."""
    waiting, found = [(root, [])], []
    while waiting:
        node, path = waiting.pop()
        if node.is_leaf_node():
            found.append(path)
        else:
            below = [*path, node.feature]
            waiting += [(node.right_child, below), (node.left_child, below)]
    return found


MISTAKES = [[0.0, 40.0], [90.0, 0.0]]  # [actual][predicted]
# For each test: its cost, its cost after another one of its group, the group.
COSTS = [(3.0, 1.0, "blood"), (3.0, 1.0, "blood"), (5.0, 2.0, "blood")] + [(1.0, 1.0, f"own{k}") for k in range(20)]


def by_gosdt(task, tests, numbers, target):
    import gosdt
    import pandas
    from gosdt import _classifier

    for name in (
        "check_array",
        "check_X_y",
    ):  # an argument of theirs has another name in newer versions of scikit-learn
        if hasattr(_classifier, name):
            setattr(_classifier, name, with_its_new_name(getattr(_classifier, name)))
    if task == "guessed thresholds":
        binarizer = gosdt.ThresholdGuessBinarizer(n_estimators=20, max_depth=1, random_state=2021)
        frame = pandas.DataFrame(numbers, columns=[f"x{place}" for place in range(numbers.shape[1])])
        table = binarizer.set_output(transform="pandas").fit_transform(frame, target.astype(int)).astype(bool)
    else:
        table = pandas.DataFrame(tests.astype(bool), columns=[f"b{place}" for place in range(tests.shape[1])])
    model = gosdt.GOSDTClassifier(regularization=0.01, depth_budget=3, time_limit=60)
    model.fit(table, target.astype(int))
    found = model.predict(table).astype(int).tolist()
    return {"predicted": found, "size": str(model.trees_[0]).count("prediction"), "columns": table.astype(int).to_csv()}


def with_its_new_name(check):
    def renamed(*words, force_all_finite=True, **options):
        return check(*words, ensure_all_finite=force_all_finite, **options)

    return renamed


def by_contree(task, tests, numbers, target):
    import pandas
    import pycontree

    model = pycontree.ConTree(max_depth=2)
    frame = pandas.DataFrame(numbers)
    model.fit(frame, pandas.Series(target.astype(int)))
    return {"predicted": [int(label) for label in model.predict(frame)]}


if __name__ == "__main__":
    main(*sys.argv[1:])
