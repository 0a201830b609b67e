"""data folder -> times of the numeric kernel compared with another solver for continuous columns, and with CART.

`python -m benchmarks.numeric --data-dir DIR --depth 2 3`. Files are CSV with a header and a column `label`. The peer is
`pycontree`, run by the interpreter that `--peer-python` names (this one by default); if it is not installed, its
column stays empty. Every solver runs in its own process with one thread; the fastest of `--repeat` fits counts, or
of as many as a quarter of a second takes.
Our time is the whole call from an array of numbers to a tree whose errors are recounted with thresholds between the
given numbers; the peer's time is its `fit` alone. Times are CPU seconds, so that a busy machine favors neither.
If we have proved the optimum and the peer has used up its time, it would have needed longer than that: its time is
what it has spent, and the ratio, marked with `>`, is a lower bound. The mean counts it as such, and says so.
`--whole` times `model.solve(X, y)` on our side, from arrays to a verified result. `--losses` times losses of numbers.
`--anytime` compares our result after one second with the peer's after ten; `--large` generates a table of 100,000 rows
and races CART.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

SHORT = 0.25  # seconds for which a fit is repeated at least, for everybody, if one does not take long
LONG = 2  # seconds of a fit that is not repeated


def main() -> None:
    options = arguments()
    if options.one:
        print(json.dumps(measure(options)))
        return
    # Imported here: the interpreters of peers run this file by its path.
    from benchmarks.data_folder import data_folder, sets_in

    if options.data_dir is not None:
        options.data_dir = data_folder(options.data_dir, "numeric", options.sets)
        options.sets = sets_in(options.data_dir, options.sets)
    if options.ablation:
        ablate(options)
    elif options.anytime:
        know(options)
    elif options.data_dir is not None:
        for depth in options.depth:
            race(options, depth)
    if options.large:
        large(options)
    if options.losses:
        losses()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--depth", type=int, nargs="*", default=[2, 3])
    parser.add_argument("--sets", nargs="*", help="names of files without .csv; all by default")
    parser.add_argument("--peer-python", default=sys.executable, help="an interpreter that can import pycontree")
    parser.add_argument("--within", type=float, default=120, help="seconds for each fit")
    parser.add_argument("--repeat", type=int, default=5, help="number of fits; the fastest counts")
    parser.add_argument("--threads", type=int, default=1, help="threads of the numeric kernel")
    parser.add_argument("--ablation", action="store_true", help="switch off each idea of the search in turn")
    parser.add_argument("--anytime", action="store_true", help="compare errors after 1 s with the peer's after 10 s")
    parser.add_argument("--large", action="store_true", help="100,000 rows x 10 columns, and scikit-learn's CART")
    parser.add_argument("--whole", action="store_true", help="time model.solve(X, y) on our side")
    parser.add_argument("--losses", action="store_true", help="losses of numbers, 10,000 rows x 8 columns")
    parser.add_argument("--one", choices=("numeric", "whole", "pycontree"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--set", nargs="*", default=[], help=argparse.SUPPRESS)
    return parser.parse_args()


def race(options: argparse.Namespace, depth: int) -> None:
    print(f"depth {depth}: seconds, errors (* proved)")
    print(f"{'set':14}{'rows':>7}{'columns':>9}{'numeric':>22}{'pycontree':>22}{'ratio':>9}")
    ratios: list[float] = []
    unfinished = 0
    for name in options.sets:
        path = options.data_dir / f"{name}.csv"
        ours = run(options, "whole" if options.whole else "numeric", path, depth)
        peer = run(options, "pycontree", path, depth)
        ratio = peer["seconds"] / ours["seconds"] if peer and ours["proved"] else None
        text = "" if ratio is None else f"{'' if peer['proved'] else '>'}{ratio:.1f}x"
        if ratio is not None:
            ratios.append(ratio)
            unfinished += not peer["proved"]
        shape = f"{name:14}{ours['rows']:7}{ours['columns']:9}"
        print(f"{shape}{shown(ours):>22}{shown(peer):>22}{text:>9}", flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        remark = f" ({unfinished} of them lower bounds, since the peer was not finished)" if unfinished else ""
        print(f"geometric mean of {len(ratios)} ratios{remark}: {mean:.1f}; minimum {min(ratios):.1f}")


def ablate(options: argparse.Namespace) -> None:
    variants = ("", "lazy=0", "cross=0", "near=0", "greedy=0", "deepen=0", "slack=0", "kernel=2", "kernel=1", "cell=32")
    print(f"\n{'set':14}{'depth':>6}" + "".join(f"{variant or 'all':>11}" for variant in variants))
    for name in options.sets:
        for depth in options.depth:
            path = options.data_dir / f"{name}.csv"
            times = [run(options, "numeric", path, depth, variant)["seconds"] for variant in variants]
            print(f"{name:14}{depth:6}" + "".join(f"{seconds:11.4f}" for seconds in times), flush=True)


def know(options: argparse.Namespace) -> None:
    """Errors of the best tree so far; the limits are wall-clock time, because both solvers stop by it."""
    print(f"{'set':14}{'depth':>6}{'numeric, 1 s':>16}{'bound':>8}{'pycontree, 10 s':>18}")
    options.repeat = 1
    for name in options.sets:
        for depth in options.depth:
            path = options.data_dir / f"{name}.csv"
            options.within = 1.0
            ours = run(options, "numeric", path, depth)
            options.within = 10.0
            peer = run(options, "pycontree", path, depth)
            shape = f"{name:14}{depth:6}{known(ours):>16}{ours['bound']:8}"
            print(f"{shape}{known(peer) if peer else 'not installed':>18}", flush=True)


def known(result: dict[str, Any]) -> str:
    return f"{result['errors']}{'*' if result['proved'] else ''}"


def shown(result: dict[str, Any] | None) -> str:
    if not result:
        return "not installed"
    return f"{result['seconds']:.5f} {result['errors']}{'*' if result['proved'] else ''}"


def run(options: argparse.Namespace, solver: str, path: Path, depth: int, variant: str = "") -> dict[str, Any]:
    python = options.peer_python if solver == "pycontree" else sys.executable
    command = [python, __file__, "--one", solver, "--file", str(path), "--depth", str(depth)]
    command += ["--within", str(options.within), "--repeat", str(options.repeat), "--threads", str(options.threads)]
    command += ["--set", variant] if variant else []
    quiet = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # idle threads of numpy would count as CPU time
    done = subprocess.run(command, capture_output=True, text=True, env=quiet)
    if done.returncode:
        if solver == "pycontree" and "No module named" in done.stderr:
            return {}
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """One solver on one file: the fastest of several fits."""
    values, labels = read(options.file)
    fit = {"numeric": fit_numeric, "whole": fit_whole, "pycontree": fit_contree}[options.one]
    best = fit(options, values, labels)
    began, fits = process_time(), 1  # the first fit also imports, which would take all of the time below
    while best["seconds"] <= LONG and (fits < options.repeat or process_time() - began < SHORT):
        fits += 1
        result = fit(options, values, labels)
        if result["seconds"] < best["seconds"]:
            best = result
    return {**best, "rows": values.shape[0], "columns": values.shape[1]}


def read(path: Path) -> tuple[Any, Any]:
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    place = header.index("label")
    values = np.array([[float(cell) for at, cell in enumerate(row) if at != place] for row in rows])
    known = {label: number for number, label in enumerate(sorted({row[place] for row in rows}))}
    return values, np.array([known[row[place]] for row in rows], dtype=np.int32)


def fit_numeric(options: argparse.Namespace, values: Any, labels: Any) -> dict[str, Any]:
    sys.path[:0] = [str(Path(__file__).resolve().parents[1])]
    from treeml.native.numeric import NumericSolver

    given = {name: int(value) for name, _, value in (setting.partition("=") for setting in options.set)}
    clock = process_time if options.threads == 1 else perf_counter
    began = clock()
    solver = NumericSolver(values.T)
    solver.labels(labels, int(labels.max()) + 1)
    solver.set(depth=options.depth[0], microseconds=int(1e6 * options.within), threads=options.threads, **given)
    found = solver.solve()
    errors = count_errors(found.tree, solver, values, labels)
    assert errors == found.value
    seconds = clock() - began
    return {"seconds": seconds, "errors": errors, "proved": found.status == "optimal", "bound": found.bound}


def fit_whole(options: argparse.Namespace, values: Any, labels: Any) -> dict[str, Any]:
    sys.path[:0] = [str(Path(__file__).resolve().parents[1])]
    import treeml as tml

    model = tml.Model().predict("y").minimize(tml.errors).require(tml.depth <= options.depth[0])
    began = process_time()
    result = model.solve(values, labels, within=options.within)
    seconds = process_time() - began
    assert result.verified
    return {"seconds": seconds, "errors": int(result.objective), "proved": result.is_optimal, "bound": result.bound}


def losses() -> None:
    """Whole calls at depth two; the first is not shown, since it imports."""
    import treeml as tml

    random = np.random.default_rng(0)
    values, noise = random.normal(size=(10_000, 8)), random.normal(size=10_000)
    switched = np.where(values[:, 1] > 0.3, 3 * values[:, 2], -values[:, 3])
    clear = np.round(2 * values[:, 0] + switched + np.sin(3 * values[:, 4]) + noise, 3)
    goals = {"squared": tml.squared_loss, "absolute": tml.absolute_loss, "quantile 0.9": tml.quantile_loss(0.9)}
    print(f"\n{'targets':10}{'loss':>15}{'seconds':>10}{'proved':>9}")
    for place, (title, targets) in enumerate((("", clear[:100]), ("clear", clear), ("noise", np.round(noise, 3)))):
        for name, goal in goals.items():
            model = tml.Model().predict("y").minimize(goal).require(tml.depth <= 2)
            began = process_time()
            result = model.solve(values[: len(targets)], targets, within=60)
            if place:
                print(f"{title:10}{name:>15}{process_time() - began:10.2f}{result.is_optimal!s:>9}", flush=True)


def count_errors(tree: Any, solver: Any, values: Any, labels: Any) -> int:
    """The rows that a tree misclassifies, computed from the numbers: a threshold lies between two of them."""

    def predict(node: int) -> Any:
        column = tree.column[node]
        if column < 0:
            return tree.label[node]
        low, high = (values[row, column] for row in solver.beside(column, tree.cut[node]))
        threshold = min(low + (high - low) / 2, np.nextafter(high, low))  # half of the last bit may round up
        assert low <= threshold < high
        return np.where(values[:, column] <= threshold, predict(tree.yes[node]), predict(tree.no[node]))

    return int(np.count_nonzero(predict(0) != labels))


def fit_contree(options: argparse.Namespace, values: Any, labels: Any) -> dict[str, Any]:
    from pycontree import ConTree

    model = ConTree(max_depth=options.depth[0], time_limit=options.within)
    began, wall = process_time(), perf_counter()
    model.fit(values, labels)
    seconds, elapsed = process_time() - began, perf_counter() - wall
    errors = int(np.count_nonzero(model.predict(values) != labels))
    return {"seconds": seconds, "errors": errors, "proved": elapsed < options.within}


def large(options: argparse.Namespace) -> None:
    """An optimal tree of depth two, and the best tree and bound of depth three after ten seconds."""
    from sklearn.tree import DecisionTreeClassifier

    random = np.random.default_rng(7)
    rows = 100_000
    values = random.normal(size=(rows, 10))
    noise = random.random(rows) < 0.1
    labels = ((values[:, 0] > 0.3) ^ (values[:, 1] * values[:, 2] > 0.2) ^ noise).astype(np.int32)
    print(f"\n{rows:,} rows x 10 columns")
    print(f"{'depth':>6}{'seconds':>10}{'errors':>9}{'bound':>9}{'CART':>9}")
    options.set, within = [], {2: 60.0, 3: 10.0}
    for depth, limit in within.items():
        options.depth, options.within = [depth], limit
        began = perf_counter()
        result = fit_numeric(options, values, labels)
        seconds = perf_counter() - began
        greedy = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(values, labels)
        cart = int(np.count_nonzero(greedy.predict(values) != labels))
        print(f"{depth:6}{seconds:10.2f}{result['errors']:9}{result['bound']:9}{cart:9}")


if __name__ == "__main__":
    main()
