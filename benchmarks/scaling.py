"""generated data -> how the native solver's running time grows with rows and tests, with the exponent.

`python -m benchmarks.scaling`. The data is a hidden tree of depth four with noise; each table varies one size only.
"""

from __future__ import annotations

import argparse
import math
from time import process_time

import numpy as np

from treeml.native.solver import Solver
from treeml.native.solver_input import Labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, nargs="*", default=[300, 3_000, 30_000])
    parser.add_argument("--tests", type=int, nargs="*", default=[25, 50, 100])
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--noise", type=float, default=0.1)
    options = parser.parse_args()
    print(f"depth {options.depth}, noise {options.noise:g}")
    table("rows", [(rows, options.tests[0]) for rows in options.rows], options)
    table("tests", [(options.rows[0], tests) for tests in options.tests], options)


def table(growing: str, sizes: list[tuple[int, int]], options: argparse.Namespace) -> None:
    print(f"{'rows':>8}{'tests':>8}{'CPU seconds':>14}{'passes':>10}{'exponent':>10}")
    before: tuple[float, int] | None = None
    for rows, tests in sizes:
        seconds, passes = measure(rows, tests, options)
        size = rows if growing == "rows" else tests
        exponent = ""
        if before is not None:
            exponent = f"{math.log(seconds / before[0]) / math.log(size / before[1]):.2f}"
        print(f"{rows:8}{tests:8}{seconds:14.4f}{passes:10.0f}{exponent:>10}", flush=True)
        before = seconds, size


def measure(rows: int, tests: int, options: argparse.Namespace) -> tuple[float, float]:
    random = np.random.default_rng(1)
    bits = (random.random((tests, rows)) < 0.4).astype(np.uint8)
    labels = np.where(bits[0] == 1, bits[1] & bits[2], bits[3] ^ bits[4]) ^ (random.random(rows) < options.noise)
    solver = Solver(bits, Labels(labels.astype(np.int32), 2))
    best, passes = math.inf, 0.0
    for _ in range(3):
        began = process_time()
        found = solver.solve(depth=options.depth)
        best = min(best, process_time() - began)
        passes = found.statistics["passes"]
        assert found.status == "optimal"
        if best > 2:
            break
    return best, passes


if __name__ == "__main__":
    main()
