"""data folder -> a table of solving times of TreeML and other exact solvers.

`python -m benchmarks.race --data-dir DIR --depth 4 5`. Every fit runs in its own process with one thread, and only the
fit is timed. `model` is the whole call from numpy arrays to a verified Result, `solver` is the C solver alone with its
tree checked; ratios refer to the whole call. Files are CSV with a header, the label first, features 0 or 1. `--weights`
gives the rows random weights, and adds our whole call without weights in the same run; `--numbers` turns a label with
two classes into a number and uses squared loss. Times are seconds of the processor, so that other work on the machine
matters less; with several threads, of the clock. Very short fits of any solver are repeated for a quarter of a second.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.data_folder import data_folder, sets_in

OURS = ("model", "solver")
PEERS = ("pystreed", "pydl8.5")
SLOW = 0.05  # a set counts in the mean if the fastest peer takes at least this many seconds
WHILE = 0.25  # fits are repeated for this many seconds


def main() -> None:
    options = arguments()
    if options.one:
        print(json.dumps(measure(options)))
        return
    options.data_dir = data_folder(options.data_dir, "cp4im", options.sets)
    for depth in options.depth:
        race(options, depth)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--depth", type=int, nargs="*", default=[4])
    parser.add_argument("--sets", nargs="*", help="names of files without .csv; all by default")
    parser.add_argument("--peers", nargs="*", default=["pystreed"], choices=PEERS)
    parser.add_argument("--within", type=float, default=120, help="seconds for each fit")
    parser.add_argument("--repeat", type=int, default=3, help="minimum number of fits; the fastest counts")
    parser.add_argument("--threads", type=int, default=1, help="threads of our solver")
    parser.add_argument("--memory", type=int, help="memory limit of our solver, in megabytes")
    parser.add_argument("--weights", choices=("none", "whole", "real"), default="none")
    parser.add_argument("--numbers", action="store_true", help="squared loss on numbers derived from the labels")
    parser.add_argument("--peer-python", default=sys.executable, help="a Python interpreter that has the peers")
    parser.add_argument("--one", choices=(*OURS, *PEERS), help=argparse.SUPPRESS)
    return parser.parse_args()


def race(options: argparse.Namespace, depth: int) -> None:
    names = sets_in(options.data_dir, options.sets)
    solvers = [*OURS, *options.peers]
    print(f"depth {depth}: seconds (peak MB of the fit), value; {options.weights} weights")
    weighted = options.weights != "none"
    dearer = f"{'unweighted':>12}{'times':>7}" if weighted else ""
    print(f"{'set':20}" + "".join(f"{name:>26}" for name in solvers) + f"{'ratio':>9}{dearer}")
    ratios, small, times = [], [], []
    for name in names:
        results = {solver: run(options, solver, name, depth) for solver in solvers}
        ours, peers = results["model"], [results[peer] for peer in options.peers]
        proved = [peer["seconds"] for peer in peers if peer["proved"]]
        fastest = min(proved, default=math.inf)
        ratio = fastest / ours["seconds"] if ours["proved"] and proved else math.nan
        cells = "".join(f"{cell(results[solver]):>26}" for solver in solvers)
        values = [result["value"] for result in results.values() if result["proved"]]
        # Some peers add weights as single-precision floats.
        same = all(math.isclose(value, values[0], rel_tol=1e-5) for value in values)
        if weighted:
            plain = run(argparse.Namespace(**{**vars(options), "weights": "none"}), "model", name, depth)["seconds"]
            times.append(ours["seconds"] / plain)
            dearer = f"{plain:12.4f}{times[-1]:7.2f}"
        print(f"{name:20}{cells}{ratio:9.1f}{dearer}{'' if same else '  VALUES DIFFER'}", flush=True)
        if not math.isnan(ratio):
            (ratios if fastest > SLOW else small).append(ratio)
    for title, group in ((f"peer above {SLOW * 1000:.0f} ms", ratios), ("the others", small)):
        if group:
            print(f"{title}: {len(group)} sets, geometric mean {middle(group):.1f}, minimum {min(group):.1f}")
    if times:
        print(f"times unweighted: geometric mean {middle(times):.2f}, maximum {max(times):.2f}")


def middle(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def cell(result: dict[str, Any]) -> str:
    if not result["proved"]:
        return "not proved"
    return f"{result['seconds']:.4f} ({result['megabytes']:.1f}) {result['value']:g}"


def run(options: argparse.Namespace, solver: str, name: str, depth: int) -> dict[str, Any]:
    """Run one solver on one data set in its own process."""
    python = sys.executable if solver in OURS else options.peer_python
    command = [python, "-m", "benchmarks.race", "--data-dir", str(options.data_dir), "--sets", name]
    command += [
        "--depth",
        str(depth),
        "--one",
        solver,
        "--within",
        str(options.within),
        "--repeat",
        str(options.repeat),
    ]
    command += ["--threads", str(options.threads), "--weights", options.weights]
    command += ["--memory", str(options.memory)] if options.memory else []
    command += ["--numbers"] if options.numbers else []
    lost = {"seconds": math.inf, "value": math.nan, "proved": False, "megabytes": math.nan}
    patience = (options.within + 30) * options.repeat + 60
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        return lost
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        print(done.stderr[-500:], file=sys.stderr)
        return lost
    return dict(json.loads(lines[-1]))


def measure(options: argparse.Namespace) -> dict[str, Any]:
    table = np.loadtxt(options.data_dir / f"{options.sets[0]}.csv", delimiter=",", skiprows=1)
    rows, labels = table[:, 1:].astype(np.uint8), table[:, 0]
    random = np.random.default_rng(0)
    weight = None
    if options.weights == "whole":
        weight = random.integers(1, 10**6, len(labels))
    elif options.weights == "real":
        weight = np.round(random.random(len(labels)), 6)
    if options.numbers and set(labels) <= {0, 1}:
        labels = 10 * labels + random.integers(0, 10, len(labels))
    fits = {"model": whole_call, "solver": native, "pystreed": streed, "pydl8.5": dl85}
    fit = fits[options.one](options, rows, labels, weight)
    best = math.inf
    value, proved = math.nan, False
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fits_made, spent = 0, 0.0
    clock = process_time if options.threads == 1 else perf_counter
    while not fits_made or (best <= 5 and (fits_made < options.repeat or spent < WHILE)):
        began = clock()
        judge = fit()
        seconds = clock() - began
        best, spent, fits_made = min(best, seconds), spent + seconds, fits_made + 1
        value, proved = judge()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": best, "value": value, "proved": proved, "megabytes": (after - before) / 1024}


Judge = Callable[[], tuple[float, bool]]  # the value, and whether it is proved optimal; not timed
Fit = Callable[[], Judge]


def whole_call(options: argparse.Namespace, rows: Any, labels: Any, weight: Any) -> Fit:
    import treeml as tml

    answers = labels if options.numbers else labels.astype(np.int64)
    memory = options.memory * 2**20 if options.memory else None

    def model() -> tml.Model:
        goal = tml.squared_loss if options.numbers else tml.errors
        return tml.Model().predict("y").minimize(goal).require(tml.depth <= options.depth[0])

    few = slice(0, None, max(1, len(rows) // 8))
    model().solve(rows[few], answers[few], weight=None if weight is None else weight[few])  # imports are not timed

    def fit() -> Judge:
        asked = model().solve_with("native", within=options.within)
        result = asked.solve(rows, answers, weight=weight, threads=options.threads, memory=memory)
        return lambda: (float(result.objective), result.verified and result.status is tml.Status.OPTIMAL)

    return fit


def native(options: argparse.Namespace, rows: Any, labels: Any, weight: Any) -> Fit:
    from treeml.native.solver import Solver
    from treeml.native.solver_input import Labels, Targets

    bits = np.ascontiguousarray(rows.T)
    # Real weights have six decimals here and real labels three: count them in millionths and thousandths.
    scale = 10**6 if options.weights == "real" else 1
    whole = None if weight is None else np.round(weight * scale).astype(np.int64)
    unit = 1000 if options.numbers else 1
    numbers = np.round(labels * unit).astype(np.int64)
    memory = options.memory * 2**20 if options.memory else None

    def fit() -> Judge:
        if options.numbers:
            solver = Solver(bits, Targets(numbers[:, None], "squared", weight=whole))
        else:
            solver = Solver(bits, Labels(numbers, int(numbers.max()) + 1, whole))
        found = solver.solve(depth=options.depth[0], seconds=options.within, threads=options.threads, memory=memory)
        value = float(found.value) if found.value is not None else math.nan
        if not options.numbers:
            wrong = found.predict(bits) != numbers
            assert value == int(wrong.sum() if whole is None else whole[wrong].sum())
        return lambda: (value / scale / unit**2, found.status == "optimal")

    return fit


def streed(options: argparse.Namespace, rows: Any, labels: Any, weight: Any) -> Fit:
    import pystreed

    if weight is not None:
        raise SystemExit("pystreed takes no weights of rows")
    features, target = rows.astype(np.int32), labels.astype(float if options.numbers else np.int32)
    depth = options.depth[0]

    def fit() -> Judge:
        if options.numbers:
            model = pystreed.STreeDRegressor(optimization_task="regression", max_depth=depth, time_limit=options.within)
        else:
            model = pystreed.STreeDClassifier(max_depth=depth, time_limit=options.within)
        model.fit(features, target)

        def judge() -> tuple[float, bool]:
            predicted = model.predict(features)
            value = ((predicted - labels) ** 2).sum() if options.numbers else (predicted != labels).sum()
            return float(value), bool(model.fit_result.is_optimal())

        return judge

    return fit


def dl85(options: argparse.Namespace, rows: Any, labels: Any, weight: Any) -> Fit:
    from pydl85 import DL85Classifier

    features, target = rows.astype(np.int32), labels.astype(np.int32)
    weights = None if weight is None else list(weight)

    def fit() -> Judge:
        model = DL85Classifier(max_depth=options.depth[0], time_limit=int(options.within))
        model.fit(features, target, sample_weight=weights)
        return lambda: (float(model.error_), not model.timeout_)

    return fit


if __name__ == "__main__":
    main()
