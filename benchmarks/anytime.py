"""data folder -> the best tree in a given time: TreeML by default, its parts alone, CART, and other solvers.

`python -m benchmarks.anytime --data-dir DIR --depth 4 5 6 --within 1 10 60`. Files are CSV with a header and a column
`label`. Seven rows of ten are for training, in an order that a fixed seed shuffles; a cell shows the errors on them
(* proved best) and the accuracy on the other rows. Columns: `default` is a specification without a back-end; `native`
and `improve` are named; `cart` is ours, greedy. `--before PYTHON` adds `native` and `improve` of another installation,
such as an earlier release. `--peers PYTHON` names an interpreter with the packages pycontree and licketysplit: ConTree
gets the numbers as they are, LicketySPLIT 15 quantile cuts per column and no price of leaves; it knows no time limit,
so a cell stays empty if it does not end in time. Every fit is a process of its own; limits are wall-clock time.
`--processors 2` limits processor time instead (processor_clock.c), so that other work on the machine changes little: a
fit has its seconds as if it had two processors for itself. `--columns` names the columns to run.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

OURS = {
    "default": "",
    "native": "solve with native",
    "improve": "solve with improve(native)",
    "cart": "solve with cart",
}
PEERS = ("contree", "licketysplit")
SHARE = 0.7  # of the rows are for training
QUANTILES = 15
GRACE = 20.0  # seconds for starting, reading and ending
CROWDED = 100.0  # times as long may a fit take whose limit is processor time


def main() -> None:
    options = arguments()
    if options.one:
        print(json.dumps(measured(options)))
        return
    # Imported here: the interpreters of peers run this file by its path.
    from benchmarks.data_folder import data_folder, sets_in

    options.data_dir = data_folder(options.data_dir, "numeric", options.sets)
    columns = [*OURS, *(["native before", "improve before"] if options.before else [])]
    columns += PEERS if options.peers else ()
    columns = [column for column in columns if options.columns is None or column in options.columns]
    print(f"{'set':13}{'depth':>6}{'s':>4}" + "".join(f"{column:>17}" for column in columns), flush=True)
    best = equal = worse = 0
    for name in sets_in(options.data_dir, options.sets):
        for depth in options.depth:
            for within in options.within:
                results = [fit(options, column, name, depth, within) for column in columns]
                cells = "".join(f"{shown(result):>17}" for result in results)
                print(f"{name:13}{depth:6}{within:4g}{cells}", flush=True)
                rivals = [r["errors"] for c, r in zip(columns, results, strict=True) if r and is_rival(c, options)]
                if not rivals or columns[0] != "default":
                    continue
                mine = results[0]["errors"] if results[0] else float("inf")
                best += mine < min(rivals)
                equal += mine == min(rivals)
                worse += mine > min(rivals)
    print(f"default against the best of its rivals: better {best}, equal {equal}, worse {worse}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data-dir", type=Path, default=Path())
    parser.add_argument("--sets", nargs="*", help="names of files without .csv; all by default")
    parser.add_argument("--depth", type=int, nargs="*", default=[4, 5, 6])
    parser.add_argument("--within", type=float, nargs="*", default=[1, 10, 60], help="seconds for each fit")
    parser.add_argument("--before", help="an interpreter with another version of TreeML, to compare with")
    parser.add_argument("--peers", help="an interpreter that can import pycontree and licketysplit")
    parser.add_argument("--processors", type=int, help="limit processor time on this many processors, not wall time")
    parser.add_argument("--columns", nargs="*", help="such as default cart 'native before'; all by default")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def is_rival(column: str, options: argparse.Namespace) -> bool:
    """Is the default compared with this column: the parts before, where they are given, and CART?"""
    if column == "cart":
        return True
    return column.endswith("before") if options.before else column in ("native", "improve")


def fit(options: argparse.Namespace, column: str, name: str, depth: int, within: float) -> dict[str, Any] | None:
    solver, _, before = column.partition(" ")
    python = options.before if before else options.peers if solver in PEERS else sys.executable
    command = [python, __file__, "--one", solver, "--file", str(options.data_dir / f"{name}.csv")]
    command += ["--depth", str(depth), "--within", str(within)]
    timeout, environment = within + GRACE, None
    if options.processors:
        timeout *= CROWDED
        environment = {**os.environ, "LD_PRELOAD": processor_clock(), "PROCESSORS": str(options.processors)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


@cache
def processor_clock() -> str:
    """The library whose clock counts processor time, compiled."""
    library = Path(mkdtemp()) / "processor_clock.so"
    source = Path(__file__).with_name("processor_clock.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", str(source), "-o", str(library), "-ldl"], check=True)
    return str(library)


def shown(result: dict[str, Any] | None) -> str:
    if result is None:
        return "-"
    return f"{result['errors']}{'*' if result['proved'] else ' '} {100 * result['accuracy']:.1f} %"


def measured(options: argparse.Namespace) -> dict[str, Any]:
    values, labels = read(options.file)
    order = np.random.default_rng(0).permutation(len(labels))
    train, test = order[: int(SHARE * len(order))], order[int(SHARE * len(order)) :]
    fitted = {"contree": by_contree, "licketysplit": by_licketysplit}.get(options.one, by_treeml)
    predict, proved = fitted(options, values[train], labels[train])
    errors = int((np.asarray(predict(values[train])) != labels[train]).sum())
    accuracy = float((np.asarray(predict(values[test])) == labels[test]).mean())
    return {"errors": errors, "accuracy": accuracy, "proved": proved}


def read(path: Path) -> tuple[Any, Any]:
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    place = header.index("label")
    values = np.array([[float(cell) for at, cell in enumerate(row) if at != place] for row in rows])
    known = {label: number for number, label in enumerate(sorted({row[place] for row in rows}))}
    return values, np.array([known[row[place]] for row in rows], dtype=np.int32)


def by_treeml(options: argparse.Namespace, values: Any, labels: Any) -> tuple[Any, bool]:
    import treeml as tml

    text = f"predict y minimize errors require depth <= {options.depth[0]} {OURS[options.one]}"
    result = tml.parse(text).solve(values, labels, within=f"{options.within[0]} s")
    tree = result.tree
    return lambda rows: np.asarray(tree.predict(rows)).astype(np.int32), result.status.value == "optimal"


def by_contree(options: argparse.Namespace, values: Any, labels: Any) -> tuple[Any, bool]:
    from time import perf_counter

    from pycontree import ConTree

    began = perf_counter()
    model = ConTree(max_depth=options.depth[0], time_limit=options.within[0])
    model.fit(values, labels)
    return model.predict, perf_counter() - began < options.within[0]


def by_licketysplit(options: argparse.Namespace, values: Any, labels: Any) -> tuple[Any, bool]:
    from licketysplit import LicketySPLITClassifier

    cuts = [np.unique(np.quantile(column, np.linspace(0, 1, QUANTILES + 2)[1:-1])) for column in values.T]

    def tests(rows: Any) -> Any:
        return np.concatenate([column[:, None] <= cut for column, cut in zip(rows.T, cuts, strict=True)], axis=1)

    model = LicketySPLITClassifier(lambda_leaf=0.0, depth_budget=options.depth[0])
    model.fit(tests(values).astype(np.uint8), labels)
    return lambda rows: model.predict(tests(rows).astype(np.uint8)), False


if __name__ == "__main__":
    main()
