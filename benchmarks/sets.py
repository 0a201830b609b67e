"""data folder -> a table: counting and making all good trees, beside the package `treefarms` in one run.

`python -m benchmarks.sets --data-dir DIR`. DIR has compas.csv and fico.csv: a header, the label first, features 0 or 1.
Every measurement runs in its own process with one thread, several times, and the fastest counts. `count` is the search
and the counting alone, from bits in memory; `make` adds all trees as Python objects that share their subtrees; `model`
is the whole call `Model.trees` from arrays, with its checks. The peer is left out if it is not installed, or with
--peers none. Trees are counted as treefarms counts them (`as treefarms`); `own` is the count by our own rules. Where
the peer's reference is not the least objective, its count is larger: it then counts up to a larger limit.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.data_folder import data_folder

# set, price of a leaf, depth budget of the peer (one more than the depth), slack
CASES = (
    ("compas", "0.01", 4, "0.05"),
    ("compas", "0.005", 5, "0.02"),
    ("compas", "0.005", 5, "0.05"),
    ("compas", "0.005", 5, "0.1"),
    ("fico", "0.01", 4, "0.05"),
    ("fico", "0.01", 5, "0.05"),
)
MOST_MADE = 2_000_000  # larger sets are counted only
PARTS = ("count", "make", "model", "treefarms")


def main() -> None:
    options = arguments()
    if options.one:
        print(json.dumps(measure(options)))
        return
    options.data_dir = data_folder(options.data_dir, "sparse", options.sets)
    has_peer = options.peers == "treefarms" and find_spec("treefarms") is not None
    parts = PARTS if has_peer else PARTS[:-1]
    print(f"{'set':8}{'price':>7}{'budget':>7}{'slack':>6}{'own':>12}{'trees':>12}{'theirs':>12}", end="")
    print(f"{'count s':>9}{'MB':>6}{'make s':>9}{'model s':>9}{'fit s':>9}{'all s':>9}{'ratios':>18}")
    for number, case in enumerate(CASES):
        if options.sets and case[0] not in options.sets:
            continue
        show(case, {part: run(options, part, number) for part in parts})


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", help="compas, fico; both by default")
    parser.add_argument("--peers", choices=("treefarms", "none"), default="treefarms")
    parser.add_argument("--repeat", type=int, default=3, help="the fastest counts")
    parser.add_argument("--within", type=float, default=300, help="seconds for each measurement")
    parser.add_argument("--one", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--case", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


def show(case: tuple[str, str, int, str], found: dict[str, dict[str, Any]]) -> None:
    name, price, budget, slack = case
    count, make, model = (found[part] for part in PARTS[:3])
    peer = found.get("treefarms", {})
    fit, whole = peer.get("seconds", math.nan), peer.get("all", math.nan)
    ratios = f"{fit / count['seconds']:8.0f}{whole / make['seconds']:9.0f}" if peer else ""
    print(f"{name:8}{price:>7}{budget:>7}{slack:>6}{count['own']:>12}{count['trees']:>12}", end="")
    print(f"{peer.get('trees', '-'):>12}{count['seconds']:9.4f}{count['megabytes']:6.0f}{make['seconds']:9.4f}", end="")
    print(f"{model['seconds']:9.4f}{fit:9.3f}{whole:9.3f}{ratios:>18}", flush=True)


def run(options: argparse.Namespace, part: str, case: int) -> dict[str, Any]:
    """One measurement in its own process."""
    command = [sys.executable, "-m", "benchmarks.sets", "--data-dir", str(options.data_dir), "--one", part]
    command += ["--case", str(case), "--repeat", str(options.repeat), "--within", str(options.within)]
    lost = {"seconds": math.nan, "trees": "-", "own": "-", "all": math.nan, "megabytes": math.nan}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.within, check=False)
    except subprocess.TimeoutExpired:
        return lost
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        print(done.stderr[-500:], file=sys.stderr)
        return lost
    return dict(json.loads(lines[-1]))


def measure(options: argparse.Namespace) -> dict[str, Any]:
    name, price, budget, slack = CASES[options.case]
    table = np.loadtxt(options.data_dir / f"{name}.csv", delimiter=",", skiprows=1, dtype=np.int64)
    labels, rows = table[:, 0], table[:, 1:]
    if options.one == "treefarms":
        return treefarms(rows, labels, float(price), budget, float(slack))
    if options.one == "model":
        return whole_call(options, rows, labels, CASES[options.case])
    return kernel(options, rows, labels, CASES[options.case])


def kernel(options: argparse.Namespace, rows: Any, labels: Any, case: tuple[str, str, int, str]) -> dict[str, Any]:
    """The search and the counting, from a problem in memory; `make` makes all trees as well."""
    from treeml.backends.contract import Deadline
    from treeml.backends.native.listing import Slack, TreeListing
    from treeml.problem.problem import Bound, Feature, Goal, Problem, Test
    from treeml.problem.terms import Depth, Leaves, Predicted, Sum

    _, price, budget, slack = case
    cost = np.stack([labels != 0, labels != 1], axis=1).astype(np.int64)
    one = Fraction(1)
    goal = Goal(Sum(((one, Predicted(cost, Fraction(1, len(labels)))), (Fraction(price), Leaves()))))
    bound = Bound(Sum(((one, Depth()),)), "<=", Fraction(budget - 1))
    bits = np.ascontiguousarray(rows.T.astype(bool))
    features = tuple(Feature(f"f{n}", "binary", 2, bits[n].astype(np.int32), n, 1) for n in range(len(bits)))
    tests = tuple(Test(n, "true") for n in range(len(bits)))
    problem = Problem(features, tests, np.ones(len(labels), dtype=np.int64), 2, (goal,), (bound,), bits)
    best, listing = math.inf, None
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(options.repeat):
        began = perf_counter()
        listing = TreeListing(problem, "treefarms")
        listing.extend(Slack(Fraction(slack), True), None, Deadline())
        if options.one == "make" and listing.total <= MOST_MADE:
            made = sum(1 for _ in listing.trees(0, listing.total))
            assert made == listing.total
        best = min(best, perf_counter() - began)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert listing is not None
    own = TreeListing(problem)
    own.extend(Slack(Fraction(slack), True), None, Deadline())
    seconds = math.nan if options.one == "make" and listing.total > MOST_MADE else best
    return {"seconds": seconds, "trees": listing.total, "own": own.total, "megabytes": (after - before) / 1024}


def whole_call(options: argparse.Namespace, rows: Any, labels: Any, case: tuple[str, str, int, str]) -> dict[str, Any]:
    import treeml as tml

    _, price, budget, slack = case
    best, trees = math.inf, None
    for _ in range(options.repeat + 1):  # the first call imports
        model = tml.Model().predict("y").require(tml.depth <= budget - 1)
        model.minimize(tml.error_rate + Fraction(price) * tml.leaves)
        began = perf_counter()
        trees = model.trees(rows, labels, slack=f"{Fraction(slack) * 100}%", like="treefarms")
        best = min(best, perf_counter() - began)
    assert trees is not None
    return {"seconds": best, "trees": trees.count}


def treefarms(rows: Any, labels: Any, price: float, budget: int, slack: float) -> dict[str, Any]:
    """The peer: its fit, and its fit with all its trees made one by one."""
    import pandas as pd
    from treefarms import TREEFARMS

    frame = pd.DataFrame(rows, columns=[f"f{n}" for n in range(rows.shape[1])])
    with TemporaryDirectory() as folder:
        settings = {
            "regularization": price,
            "rashomon_bound_multiplier": slack,
            "depth_budget": budget,
            "rashomon_trie": f"{folder}/trie.json",
            "verbose": False,
        }
        began = perf_counter()
        model = TREEFARMS(settings)
        model.fit(frame, pd.Series(labels, name="label"))
        fitted = perf_counter() - began
        trees = int(model.get_tree_count())
        for number in range(trees if trees <= MOST_MADE else 0):
            model[number]
        made = perf_counter() - began if trees <= MOST_MADE else math.nan
    return {"seconds": fitted, "all": made, "trees": trees}


if __name__ == "__main__":
    main()
