"""data folder -> the speedup from more threads of the native solver, compared with what the machine allows.

`python -m benchmarks.threads --data-dir DIR --sets splice-1 --depth 4`. Three measurements: one thread alone; several
threads on one problem; and the same number of single-threaded solves in parallel, each in its own process. The speedup
of the parallel solves over sequential ones is the most that threads could gain, because hardware threads share cores
and memory bandwidth. Files are CSV with a header, the label first, features 0 or 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.data_folder import data_folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", required=True, help="names of files without .csv")
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3, help="number of runs; the fastest counts")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.data_dir = data_folder(options.data_dir, "cp4im", options.sets)
    if options.one:
        measure(options)
        return
    count = options.threads
    print(f"depth {options.depth}: seconds")
    print(f"{'set':20}{'1 thread':>12}{f'{count} threads':>12}{f'{count} at once':>12}{'gain':>8}{'possible':>10}")
    for name in options.sets:
        alone = run(options, name, 1, 1)
        shared = run(options, name, count, 1)
        at_once = run(options, name, 1, count)
        print(
            f"{name:20}{alone:12.3f}{shared:12.3f}{at_once:12.3f}{alone / shared:8.2f}{count * alone / at_once:10.2f}",
            flush=True,
        )


def run(options: argparse.Namespace, name: str, threads: int, processes: int) -> float:
    """Seconds until the last of several processes that start together has solved the problem."""
    command = [sys.executable, "-m", "benchmarks.threads", "--one", "--data-dir", str(options.data_dir), "--sets", name]
    command += ["--depth", str(options.depth), "--threads", str(threads)]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    best = float("inf")
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for _ in range(options.repeat):
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        best = min(best, max(float(child.stdout.readline()) for child in children if child.stdout is not None))
    for child in children:
        child.communicate()
    return best


def measure(options: argparse.Namespace) -> None:
    """Solve once for every line on standard input, and print the time."""
    from treeml.native.solver import Solver
    from treeml.native.solver_input import Labels

    table = np.loadtxt(options.data_dir / f"{options.sets[0]}.csv", delimiter=",", skiprows=1)
    bits, labels = np.ascontiguousarray(table[:, 1:].T.astype(np.uint8)), table[:, 0].astype(np.int32)
    solver = Solver(bits, Labels(labels, int(labels.max()) + 1))
    print("ready", flush=True)
    for _ in sys.stdin:
        began = perf_counter()
        found = solver.solve(depth=options.depth, threads=options.threads)
        assert found.status == "optimal"
        print(perf_counter() - began, flush=True)


if __name__ == "__main__":
    main()
