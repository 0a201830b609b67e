"""data folder -> the cost of caches and of wiping them.

`python -m benchmarks.caches --data-dir DIR --depth 5`. The first table compares the kinds of cache: entries, peak
memory and CPU seconds. The second limits the cache to a fraction of the entries that it has without a limit, and shows
for every wiping strategy and wiped fraction the time relative to the time without a limit. Every solve ends with the
same value.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import process_time

import numpy as np

from treeml.native.solver import Found, Solver
from treeml.native.solver_input import Labels

KINDS = {"row sets, hashed": 1, "closed itemsets, hashed": 4, "paths, hashed": 2, "paths, in a trie": 3, "none": 0}
STRATEGIES = {
    "most reused stay": 0,
    "most descendants stay": 1,
    "only what is required stays": 2,
    "deepest, youngest stay": 3,
}
BOUNDS = (75, 50)  # percent of the entries
WIPED = (40, 30)  # percent of the cache that a wipe removes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", default=["anneal", "heart-cleveland", "tic-tac-toe", "vote", "yeast"])
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--within", type=float, default=60, help="seconds for each solve")
    options = parser.parse_args()
    for name in options.sets:
        table = np.loadtxt(options.data_dir / f"{name}.csv", delimiter=",", skiprows=1).astype(np.int64)
        tables(options, name, Solver(np.ascontiguousarray(table[:, 1:].T.astype(np.uint8)), Labels(table[:, 0])))


def tables(options: argparse.Namespace, name: str, solver: Solver) -> None:
    unbounded, value = 0, None
    print(f"{name}, depth {options.depth}")
    print(f"{'cache':30}{'entries':>10}{'MB':>8}{'CPU s':>9}")
    for kind, number in KINDS.items():
        seconds, found = solve(options, solver, {"cache_kind": number})
        entries = int(found.statistics["entries"])
        if number == 1:
            alone, unbounded, value = seconds, entries, found.value
        late = "" if found.status == "optimal" else "  not proved in time"
        print(f"{kind:30}{entries:10,}{found.statistics['peak_memory'] / 2**20:8.1f}{seconds:9.3f}{late}", flush=True)
    heads = "".join(f"{f'{bound} %, wipe {wiped} %':>18}" for bound in BOUNDS for wiped in WIPED)
    print(f"{'bounded':30}{heads}   times as long (subproblems wiped)")
    for strategy, number in STRATEGIES.items():
        cells = ""
        for bound in BOUNDS:
            for wiped in WIPED:
                changes = {"cache": max(1, unbounded * bound // 100), "wipe": number, "wipe_share": wiped}
                seconds, found = solve(options, solver, changes)
                assert found.status != "optimal" or found.value == value
                late = ">" if found.status != "optimal" else ""
                lost = int(found.statistics["wiped"])
                cells += f"{f'{late}{seconds / alone:.2f} ({lost:,})':>18}"
        print(f"{strategy:30}{cells}", flush=True)
    print()


def solve(options: argparse.Namespace, solver: Solver, changes: dict[str, int]) -> tuple[float, Found]:
    best = float("inf")
    for _ in range(3):
        began = process_time()
        found = solver.solve(depth=options.depth, seconds=options.within, options=changes)
        best = min(best, process_time() - began)
        if best > 1:
            break
    return best, found


if __name__ == "__main__":
    main()
