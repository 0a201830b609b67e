"""data folder -> errors and the proven lower bound on them after some seconds, for depths that cannot be finished.

`python -m benchmarks.bounds --data-dir DIR --depth 4 5 6 --within 1 10`. Files are CSV with a header; the target is the
column `--target`, all other columns are numbers. A cell shows the errors of the best tree and the lower bound, or one
number and * if it is proved best. `--require TEXT` replaces the requirement on depth, for example "leaves <= 10" or "",
`--minimize TEXT` the goal, for example "errors + 14 * leaves", and `--backend native` names a back-end; without it the
default answers. Every fit is a process of its own, which loads all
modules first; limits are wall-clock time, or with `--processor` processor time of all threads, for busy machines.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.data_folder import data_folder, sets_in

GRACE = 30.0  # seconds for starting, reading and ending


def main() -> None:
    options = arguments()
    if options.file:
        print(json.dumps(solved(options)))
        return
    options.data_dir = data_folder(options.data_dir, "numeric", options.sets)
    requirements = options.require or [f"depth <= {depth}" for depth in options.depth]
    print("| set | required | " + " | ".join(f"{seconds:g} s" for seconds in options.within) + " |")
    print("| --- | --- |" + " --- |" * len(options.within), flush=True)
    positive = cells = 0
    for name in sets_in(options.data_dir, options.sets):
        for required in requirements:
            results = [run(options, name, required, seconds) for seconds in options.within]
            print(f"| {name} | {required} | " + " | ".join(map(shown, results)) + " |", flush=True)
            positive += sum(result["bound"] > 0 or result["proved"] for result in results)
            cells += len(results)
    print(f"proved or bounded above 0: {positive} of {cells}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data-dir", type=Path, default=Path())
    parser.add_argument("--sets", nargs="*", help="names of files without .csv; all by default")
    parser.add_argument("--target", default="label", help="the column to predict")
    parser.add_argument("--depth", type=int, nargs="*", default=[4, 5, 6])
    parser.add_argument("--require", nargs="*", help="requirements instead of depths")
    parser.add_argument("--minimize", default="errors", help="the goal")
    parser.add_argument("--within", type=float, nargs="*", default=[1, 10], help="seconds for each fit")
    parser.add_argument("--backend", default="", help="a back-end instead of the default")
    parser.add_argument("--processor", action="store_true", help="limit the processor time of a fit")
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def run(options: argparse.Namespace, name: str, required: str, seconds: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.bounds", "--file", str(options.data_dir / f"{name}.csv")]
    command += ["--target", options.target, "--require", required, "--within", str(seconds)]
    command += ["--backend", options.backend, "--minimize", options.minimize]
    command += ["--processor"] if options.processor else []
    patience = None if options.processor else seconds + GRACE
    done = subprocess.run(command, capture_output=True, text=True, timeout=patience)
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def shown(result: dict[str, Any]) -> str:
    return f"{result['errors']}*" if result["proved"] else f"{result['errors']} > {result['bound']}"


def solved(options: argparse.Namespace) -> dict[str, Any]:
    import treeml as tml

    tml.parse("predict y minimize errors require depth <= 1").solve([[0.0], [1.0]], [0, 1])  # loads modules
    values, labels = read(options.file, options.target)
    text = f"predict y minimize {options.minimize}"
    text += f" require {options.require[0]}" if options.require[0] else ""
    text += f" solve with {options.backend}" if options.backend else ""
    model, seconds, began = tml.parse(text), options.within[0], process_time()
    if options.processor:
        result = model.solve(values, labels, on_progress=lambda _moment: process_time() - began < seconds)
    else:
        result = model.solve(values, labels, within=f"{seconds} s")
    return {
        "errors": int(result.objective),
        "bound": 0 if result.bound is None else int(result.bound),
        "proved": result.status.value == "optimal",
        "rules": [each.name for each in result.evidence],
    }


def read(path: Path, target: str) -> tuple[Any, Any]:
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    place = header.index(target)
    values = np.array([[float(cell) for at, cell in enumerate(row) if at != place] for row in rows])
    known = {label: number for number, label in enumerate(sorted({row[place] for row in rows}))}
    return values, np.array([known[row[place]] for row in rows], dtype=np.int32)


if __name__ == "__main__":
    main()
