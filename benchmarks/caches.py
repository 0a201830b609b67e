"""data folder -> the cost of caches and of wiping them.

`python -m benchmarks.caches --data-dir DIR --depth 5`. The first table compares the kinds of cache: entries, peak
memory and CPU seconds. The second limits the cache to a fraction of the entries that it has without a limit, and shows
for every wiping strategy and wiped fraction the time relative to the time without a limit. Every solve ends with the
same value. `--curve` shows the entries and the memory of every kind over time, as Figure 5.1 of Aglin's thesis (2022)
does: the search is stopped after one limit of time after the other. `--unbounded` runs the sets and depths of Table 5.2
of the thesis, once each, with the default cache and, if that is proved, with one that is bounded as there.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.data_folder import data_folder
from treeml.native.solver import Found, Solver
from treeml.native.solver_input import Labels

KINDS = {"row sets, hashed": 1, "closed itemsets, hashed": 4, "paths, hashed": 2, "paths, in a trie": 3, "none": 0}
STRATEGIES = {
    "most reused stay": 0,
    "most descendants stay": 1,
    "only what is required stays": 2,
    "deepest, youngest stay": 3,
}
LARGEST = {"anneal": 8, "diabetes": 7, "german-credit": 6, "kr-vs-kp": 8, "yeast": 7}  # Table 5.2 of the thesis
SETS = ("anneal", "heart-cleveland", "tic-tac-toe", "vote", "yeast")
FIRST_STOP = 0.125  # seconds of wall clock; doubled until the search ends
MILLIONS = {"anneal": 648, "diabetes": 238, "german-credit": 92, "kr-vs-kp": 136, "yeast": 419}  # entries there
BOUNDS = (75, 50)  # percent of the entries
WIPED = (40, 30)  # percent of the cache that a wipe removes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", help=f"by default {', '.join(SETS)}, or those of Table 5.2")
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--within", type=float, default=60, help="seconds for each solve")
    parser.add_argument("--unbounded", action="store_true", help="the sets and depths of Table 5.2 of the thesis")
    parser.add_argument("--curve", action="store_true", help="entries and memory over time")
    options = parser.parse_args()
    options.data_dir = data_folder(options.data_dir, "cp4im", options.sets)
    if options.curve:
        curves(options)
        return
    if options.unbounded:
        largest(options)
        return
    for name in options.sets or SETS:
        tables(options, name, solver_of(options.data_dir, name))


def solver_of(folder: Path, name: str) -> Solver:
    table = np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1).astype(np.int64)
    return Solver(np.ascontiguousarray(table[:, 1:].T.astype(np.uint8)), Labels(table[:, 0]))


def largest(options: argparse.Namespace) -> None:
    print(f"{'set':20}{'depth':>6}{'entries':>10}{'MB':>8}{'CPU s':>9}{'errors':>8}{'bound':>7}  status")
    for name, depth in LARGEST.items():
        if options.sets is not None and name not in options.sets:
            continue
        began = process_time()
        found = solver_of(options.data_dir, name).solve(depth=depth, seconds=options.within)
        entries, memory = int(found.statistics["entries"]), found.statistics["peak_memory"] / 2**20
        print(f"{name:20}{depth:6}{entries:10,}{memory:8.1f}{process_time() - began:9.2f}", end="")
        print(f"{found.value!s:>8}{found.bound!s:>7}  {found.status}", flush=True)
        if found.status == "optimal":
            bounded_like_there(options, name, depth, entries, process_time() - began)


def bounded_like_there(options: argparse.Namespace, name: str, depth: int, entries: int, alone: float) -> None:
    """The same with the share of the entries that 30 million are of theirs, wiped by reuse, 40 % at a time."""
    most = max(1, entries * 30 // MILLIONS[name])
    began = process_time()
    changes = {"cache": most, "wipe": 0, "wipe_share": 40}
    found = solver_of(options.data_dir, name).solve(depth=depth, seconds=options.within, options=changes)
    seconds, memory = process_time() - began, found.statistics["peak_memory"] / 2**20
    print(f"{'  bounded':26}{most:10,}{memory:8.1f}{seconds:9.2f}{found.value!s:>8}{found.bound!s:>7}", end="")
    print(f"  {found.status}, {seconds / alone:.2f} times as long", flush=True)


def curves(options: argparse.Namespace) -> None:
    """Entries and megabytes of every kind, stopped earlier and later; the search is the same up to the stop."""
    for name in options.sets or SETS:
        solver = solver_of(options.data_dir, name)
        print(f"{name}, depth {options.depth}\n{'cache':30}{'CPU s':>9}{'entries':>10}{'MB':>8}")
        for kind, number in KINDS.items():
            limit, status = FIRST_STOP, ""
            while status != "optimal" and limit <= options.within:
                began = process_time()
                found = solver.solve(depth=options.depth, seconds=limit, options={"cache_kind": number})
                seconds, status, limit = process_time() - began, found.status, 2 * limit
                entries, memory = int(found.statistics["entries"]), found.statistics["peak_memory"] / 2**20
                end = "  proved" if status == "optimal" else ""
                print(f"{kind:30}{seconds:9.3f}{entries:10,}{memory:8.1f}{end}", flush=True)


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
