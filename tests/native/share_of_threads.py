"""A sequence of multi-threaded searches, for a library that was built with ThreadSanitizer.

    python tests/native/share_of_threads.py --seed 1

`make native-threads` runs it: pytest and its extensions do not start under that sanitizer, but numpy and ctypes do.
Every answer must equal the answer with one thread.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from typing import Any

import numpy as np

from treeml.native import cover
from treeml.native.numeric import NumericSolver
from treeml.native.solver import Solver
from treeml.native.solver_input import ClassCosts, Labels, LeafCosts, Targets

BINARY: tuple[dict[str, int], ...] = (
    {},
    {"cache_kind": 0},
    {"cache_kind": 2},
    {"cache_kind": 3},
    {"cache": 1},
    {"archive": 8},
    {"pairs": 0},
    {"deepening": 0, "order": 2},
    {"memory": 3_000_000, "wipe": 1},
    {"kernel": 1},
)
NUMERIC: tuple[dict[str, int], ...] = (
    {},
    {"near": 0},
    {"cross": 0, "lazy": 0},
    {"greedy": 0, "deepen": 0},
    {"kernel": 1},
)


def binary(random: np.random.Generator) -> None:
    bits = random.random((14, 150)) < 0.5
    labels, weight = random.integers(0, 3, 150), random.integers(1, 5, 150)
    targets = random.integers(0, 40, (150, 1))
    goals: tuple[LeafCosts, ...] = (
        Labels(labels % 2),
        Labels(labels, weight=weight),
        ClassCosts(random.integers(0, 9, (150, 3))),
        Targets(targets),
    )
    for goal in goals:
        solver = Solver(bits, goal)
        for further in ({}, {"support": 6}, {"leaves": 5}, {"leaf_price": 2}):
            alone = solver.solve(depth=3, **further)
            for options in BINARY if not further else BINARY[:2]:
                found = solver.solve(depth=3, threads=3, options=options, **further)
                assert abs(found.value - alone.value) <= alone.tolerance + found.tolerance, (type(goal), options)


def numeric(random: np.random.Generator) -> None:
    codes = random.integers(0, 25, (4, 120))
    for classes in (2, 3):
        solver = NumericSolver(codes)
        solver.labels(random.integers(0, classes, 120), classes)
        for depth in (2, 3):
            solver.set(depth=depth, threads=1)
            alone = solver.solve().value
            for options in NUMERIC:
                solver.set(threads=3, **options)
                assert solver.solve().value == alone, options
                solver.set(near=1, cross=1, lazy=1, greedy=1, deepen=200, kernel=0)


def interrupted(random: np.random.Generator) -> None:
    """Another thread stops a long search at the first progress report."""
    solver = Solver(random.random((60, 800)) < 0.5, Labels(random.integers(0, 2, 800)))
    begun = threading.Event()
    other = threading.Thread(target=lambda: (begun.wait(), solver.interrupt()))
    other.start()

    def progress(_seconds: float, _value: Any, _bound: Any) -> None:
        begun.set()

    found = solver.solve(depth=5, threads=3, seconds=60, on_progress=progress)
    begun.set()
    other.join()
    assert found.stop in ("interrupted", "time", "proved")


def covers(random: np.random.Generator) -> None:
    bits = cover.pack_bits(random.random((8, 90)) < 0.5)
    count, cost = np.ones(90, np.int64), random.integers(0, 5, (90, 2))
    states = cover.enumerate_states(bits, count, 3)
    alone = cover.split_sums(bits, states.keys, 90, cost), cover.best_pairs(bits, states.keys, 90, cost, count, 2, 1)
    assert np.array_equal(cover.split_sums(bits, states.keys, 90, cost, 3), alone[0])
    assert np.array_equal(cover.best_pairs(bits, states.keys, 90, cost, count, 2, 1, 3)[0], alone[1][0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    seed = parser.parse_args().seed
    sys.stdout.write(f"seed {seed}\n")
    for part in (binary, numeric, interrupted, covers):
        sys.stdout.write(f"{part.__name__}\n")
        sys.stdout.flush()
        part(np.random.default_rng(seed))


if __name__ == "__main__":
    main()
