"""data folder -> how much each idea of the native search contributes: time without it divided by time with it.

`python -m benchmarks.ablation --data-dir DIR --depth 4`. Work (subproblems and depth-two passes) is counted too,
because it is the same in every run.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.data_folder import data_folder
from treeml.native.solver import Found, Solver
from treeml.native.solver_input import Labels

IDEAS: dict[str, dict[str, int]] = {
    "all ideas": {},
    "no similarity bound": {"similarity": 0},
    "no merging of tests": {"merge_tests": 0},
    "contradictions kept": {"unavoidable": 0},
    "larger side counted": {"small_side": 0},
    "no dynamic side order": {"dynamic": 0},
    "no deepening": {"deepening": 0},
    "no hierarchical bound": {"hierarchical": 0},
    "no stored infeasibility": {"infeasible": 0},
    "weak stored bound": {"strong": 0},
    "no cache": {"cache_kind": 0},
    "no table of depth-two results": {"small_cache": 0},
    "cache by path": {"cache_kind": 2},
    "cache in a trie": {"cache_kind": 3},
    "archive of 16": {"archive": 16},
    "tests by information gain": {"order": 2},
    "tests as in the data": {"order": 0},
    "order at the root only": {"order_everywhere": 0},
    "AVX2 kernel": {"kernel": 2},
    "portable kernel": {"kernel": 1},
    "no pair counts": {"pairs": 0},
    "no pair counts, reversible sets": {"pairs": 0, "reversible": 1},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", default=["anneal", "heart-cleveland", "hepatitis", "tic-tac-toe", "vote"])
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--within", type=float, default=30, help="seconds for each solve")
    options = parser.parse_args()
    options.data_dir = data_folder(options.data_dir, "cp4im", options.sets)
    first: dict[str, float] = {}
    print(f"depth {options.depth}, CPU seconds without the idea divided by seconds with all ideas, geometric mean")
    print(f"{'':34}" + "".join(f"{name[:12]:>14}" for name in options.sets) + f"{'mean':>9}{'passes':>11}{'nodes':>11}")
    for idea, changes in IDEAS.items():
        ratios, passes, nodes, cells = [], 0.0, 0.0, ""
        for name in options.sets:
            seconds, found = solve(options, name, changes)
            if found is None:
                cells += f"{'-':>14}"
                continue
            first.setdefault(name, seconds)
            passes += found.statistics["passes"]
            nodes += found.statistics["nodes"]
            late = found.status != "optimal"
            ratios.append(seconds / first[name])
            cells += f"{('>' if late else '') + format(ratios[-1], '.2f'):>14}"
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
        print(f"{idea:34}{cells}{mean:9.2f}{passes:11.0f}{nodes:11.0f}", flush=True)


def solve(options: argparse.Namespace, name: str, changes: dict[str, int]) -> tuple[float, Found | None]:
    table = np.loadtxt(options.data_dir / f"{name}.csv", delimiter=",", skiprows=1).astype(np.int64)
    solver = Solver(np.ascontiguousarray(table[:, 1:].T.astype(np.uint8)), Labels(table[:, 0]))
    best = math.inf
    found = None
    for _ in range(3):
        began = process_time()
        try:
            found = solver.solve(depth=options.depth, seconds=options.within, options=changes)
        except ValueError:  # this processor does not support the kernel
            return math.nan, None
        best = min(best, process_time() - began)
        if best > 2:
            break
    return best, found


if __name__ == "__main__":
    main()
