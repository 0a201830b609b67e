"""data folder -> sparse trees (error rate + price * leaves): whole calls of TreeML against the fit of GOSDT.

`python -m benchmarks.sparse --data-dir DIR --gosdt PYTHON`. Files are CSV of binary columns with a header and a column
`label`; PYTHON is an interpreter with the package gosdt (none: our times alone). Every set is solved for every price,
without a limit on depth and with one. Times are CPU seconds of one thread, so that a busy machine favors neither; ours
is the whole call from a frame to a verified tree, the fastest of three, and GOSDT's is its `fit` on the same rows.
`*` marks a proof. A row counts for the ratio if GOSDT takes at least 0.1 s and both prove the same objective.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

SLOW = 0.1  # seconds of GOSDT from which on a row counts
CLOSE = 1e-6


def main() -> None:
    options = arguments()
    if options.one:
        measure = {"treeml": by_treeml, "gosdt": by_gosdt}[options.one]
        print(json.dumps(measure(options.file, options.price[0], options.depth[0], options.within)))
        return
    # Imported here: the interpreters of peers run this file by its path.
    from benchmarks.data_folder import data_folder, sets_in

    options.data_dir = data_folder(options.data_dir, "sparse", options.sets)
    print(f"{'set':12}{'price':>8}{'depth':>7}{'treeml':>24}{'gosdt':>24}{'ratio':>9}")
    ratios = []
    for name in sets_in(options.data_dir, options.sets):
        for price in options.price:
            for depth in options.depth:
                ours = run(options, "treeml", name, price, depth)
                peer = run(options, "gosdt", name, price, depth) if options.gosdt else None
                ratio = peer["seconds"] / ours["seconds"] if ours and peer else None
                equal = bool(ours and peer) and abs(ours["objective"] - peer["objective"]) < CLOSE
                if ratio is not None and peer["seconds"] >= SLOW and equal and ours["proved"]:
                    ratios.append(ratio)
                limit = "none" if depth == 0 else str(depth)
                cells = f"{name:12}{price:8g}{limit:>7}{shown(ours):>24}{shown(peer):>24}"
                print(cells + (f"{ratio:8.1f}x" if ratio is not None else ""), flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)} rows count: geometric mean {mean:.1f}, minimum {min(ratios):.1f}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data-dir", type=Path, default=Path())
    parser.add_argument("--sets", nargs="*", help="names of files without .csv; all by default")
    parser.add_argument("--price", type=float, nargs="*", default=[0.02, 0.01, 0.005, 0.002])
    parser.add_argument("--depth", type=int, nargs="*", default=[0, 5], help="0: no limit")
    parser.add_argument("--within", type=float, default=60, help="seconds for each fit")
    parser.add_argument("--gosdt", help="an interpreter that can import gosdt")
    parser.add_argument("--one", choices=("treeml", "gosdt"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def run(options: argparse.Namespace, solver: str, name: str, price: float, depth: int) -> dict[str, Any] | None:
    command = [options.gosdt if solver == "gosdt" else sys.executable, __file__, "--one", solver]
    command += ["--file", str(options.data_dir / f"{name}.csv"), "--price", str(price), "--depth", str(depth)]
    command += ["--within", str(options.within)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return None
    return dict(json.loads(done.stdout.splitlines()[-1]))


def shown(result: dict[str, Any] | None) -> str:
    if not result:
        return "-"
    return f"{result['seconds']:.3f} s {result['objective']:.5f}{'*' if result['proved'] else ' '}"


def by_treeml(path: Path, price: float, depth: int, within: float) -> dict[str, Any]:
    import polars as pl

    import treeml as tml

    frame = pl.read_csv(path)
    limit = f"require depth <= {depth}" if depth else ""
    model = tml.parse(f"predict label minimize error_rate + {price} * leaves {limit}")
    model.solve(frame.head(100))  # imports are not part of a call
    best = float("inf")
    for _ in range(3):
        began = process_time()
        result = model.solve(frame, within=within)
        best = min(best, process_time() - began)
        if best > 2:
            break
    return {"seconds": best, "objective": float(result.objective), "proved": result.status.value == "optimal"}


def by_gosdt(path: Path, price: float, depth: int, within: float) -> dict[str, Any]:
    import pandas as pd
    from gosdt import GOSDTClassifier

    frame = pd.read_csv(path)
    limits = {"depth_budget": depth} if depth else {}
    model = GOSDTClassifier(
        regularization=price, allow_small_reg=True, time_limit=int(within), verbose=False, worker_limit=1, **limits
    )
    began = process_time()
    model.fit(frame.drop(columns="label"), frame["label"])
    seconds = process_time() - began
    result = model.result_
    return {
        "seconds": seconds,
        "objective": float(result.upperbound),
        "proved": "CONVERGED" in str(result.status),
    }


if __name__ == "__main__":
    main()
