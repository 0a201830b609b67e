"""Data folder -> minimum depth and size of perfect trees: `python -m benchmarks.least --data-dir DIR`.

Seconds are wall clock from the file to the verified tree, including the proof that one level or one leaf less is
impossible; CPU seconds are shown too. The figures of Shati, Cohen and McIlraith (2021) were measured on their machine;
the faster of the two methods in their table is shown. Minimum sizes are found by two methods, which must agree.

`--calibrate` measures where the two SAT encodings of a perfect tree cross over: trees of every depth from 4 to 11 are
searched for random rows, with the complete tree and with partitions. It needs no data, and determines the default of
the option `switch`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np

import treeml as tml
from benchmarks.data_folder import folder_of_folders
from treeml.backends.contract import Deadline, Limits, Status
from treeml.problem.problem import Bound, Feature, Problem, Test
from treeml.problem.terms import Depth, Predicted, Sum
from treeml.solving.result import Result


@dataclass(frozen=True)
class Known:
    file: str
    target: str
    depth: int
    seconds: float | None  # the faster method of the paper; None: the set is not in its table
    leaves: int | None = None  # proved here by two methods


SETS = {
    "iris": Known("numeric/iris.csv", "label", 4, 0.04, 8),
    "wine": Known("numeric/wine.csv", "label", 3, 0.11, 6),
    "banknote": Known("numeric/banknote.csv", "label", 4, 5.82),
    "cryotherapy": Known("numeric/cryotherapy.csv", "label", 4, 0.08, 8),
    "monk2": Known("mixed/monks-2-train.csv", "label", 6, 0.28, 34),
    "car": Known("mixed/car.csv", "res", 8, 89.1, 42),
}
LIMIT = 60.0  # the time limit for a set if the paper's figure is below it
WIDTHS = (12, 26, 8, 8, 10, 8, 10, 7, 8)
HEADER = ("set", "by", "value", "proved", "status", "seconds", "processor", "paper", "verdict")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.least", description=__doc__)
    parser.add_argument("--data-dir", type=Path, help="the folder with the folders numeric and mixed")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for each solve")
    parser.add_argument("--sets", default=",".join(SETS), help="names, separated by commas")
    parser.add_argument("--ways", default="", help="back-ends, separated by semicolons, instead of the default ones")
    parser.add_argument("--calibrate", action="store_true", help="measure where the SAT encodings cross over")
    given = parser.parse_args(arguments)
    if given.calibrate:
        return calibrate(given.limit)
    if given.data_dir is None:
        parser.error("--data-dir is needed")
    given.data_dir = folder_of_folders(given.data_dir, "", ("numeric", "mixed"))
    names = [name for name in given.sets.split(",") if name in SETS]
    failed = 0
    for title, table in (("minimum depth", least_depth), ("minimum size", least_size)):
        sys.stdout.write(f"\n{title}\n")
        write(HEADER)
        for cells in table(given.data_dir, names, given.limit, given.ways.split(";") if given.ways else []):
            write(cells)
            failed += cells[-1] not in ("ok", "open")
    return 1 if failed else 0


def write(cells: tuple[str, ...]) -> None:
    sys.stdout.write("  ".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True)).rstrip() + "\n")
    sys.stdout.flush()


def least_depth(folder: Path, names: list[str], limit: float, ways: list[str]) -> Iterator[tuple[str, ...]]:
    for name in names:
        known = SETS[name]
        for way in ways or ["", "sat"]:
            result, seconds, processor = solve(folder, known, "minimize depth", way, limit)
            bar = LIMIT if not way and known.seconds is not None and known.seconds < LIMIT else None
            yield row(name, way, result, seconds, processor, known.seconds, verdict(result, known.depth, seconds, bar))


def least_size(folder: Path, names: list[str], limit: float, ways: list[str]) -> Iterator[tuple[str, ...]]:
    for name in names:
        known = SETS[name]
        for way in ways or ["", "native", "sat"]:
            result, seconds, processor = solve(folder, known, "minimize leaves", way, limit)
            yield row(name, way, result, seconds, processor, None, verdict(result, known.leaves, seconds, None))


def solve(folder: Path, known: Known, goal: str, way: str, limit: float) -> tuple[Result, float, float]:
    by = f"solve with {way} within {limit} s" if way else f"solve within {limit} s"
    model = tml.parse(f"predict {known.target}\n{goal}\nrequire errors = 0\n{by}\n")
    began, spent = perf_counter(), process_time()
    result = tml.solve(model, folder / known.file)
    return result, perf_counter() - began, process_time() - spent


def verdict(result: Result, best: int | None, seconds: float, bar: float | None) -> str:
    """WRONG: a proof contradicts the value; open: not proved in time."""
    value = result.objective
    if result.status is Status.OPTIMAL:
        if best is not None and value != best:
            return "WRONG"
        return "late" if bar is not None and seconds > bar else "ok"
    if best is not None and result.bound is not None and result.bound > best:
        return "WRONG"
    return "late" if bar is not None else "open"


def row(
    name: str, way: str, result: Result, seconds: float, processor: float, paper: float | None, verdict: str
) -> tuple[str, ...]:
    return (
        name, way or f"default: {result.backend}", str(result.objective), f">= {result.bound}", result.status.value,
        f"{seconds:.2f}", f"{processor:.2f}", "" if paper is None else f"{paper:g}", verdict,
    )  # fmt: skip


def calibrate(limit: float) -> int:
    """Print the CPU seconds of both encodings by rows and depth, and the depth from which partition is faster."""
    sys.stdout.write("rows  tests  depth  complete  partition\n")
    crossings = []
    for rows, tests in ((40, 10), (80, 12), (120, 14)):
        problem = random_rows(rows, tests)
        faster: int | None = None
        for depth in range(4, 12):
            complete, partition = (_time(problem, depth, name, limit) for name in ("complete", "partition"))
            sys.stdout.write(f"{problem.rows:4}  {tests:5}  {depth:5}  {complete:8.2f}  {partition:9.2f}\n")
            sys.stdout.flush()
            faster = (faster or depth) if partition < complete else None
        crossings.append(12 if faster is None else faster)
    sys.stdout.write(
        f"partition is faster from depth {', '.join(map(str, crossings))}: switch at {median(crossings)}\n"
    )
    return 0


def random_rows(rows: int, tests: int) -> Problem:
    """Random rows and classes, which need deep trees, as the lower parts of a large tree do."""
    make = np.random.default_rng(rows)
    bits = np.unique(make.random((rows, tests)) < 0.5, axis=0).T
    actual = make.integers(0, 2, bits.shape[1])
    features = tuple(Feature(f"x{j}", "binary", 2, None, j, 1) for j in range(tests))
    questions = tuple(Test(j, "true") for j in range(tests))
    cost = (np.arange(2)[None, :] != actual[:, None]).astype(np.int64)
    perfect = Bound(Sum(((Fraction(1), Predicted(cost)),)), "<=", Fraction(0), "errors")
    count = np.ones(len(actual), np.int64)
    return Problem(features, questions, count, 2, (), (perfect,), np.ascontiguousarray(bits))


def _time(problem: Problem, depth: int, encoding: str, limit: float) -> float:
    from treeml.backends.registry import get

    deep = Bound(Sum(((Fraction(1), Depth()),)), "<=", Fraction(depth), "depth")
    options = {"encoding": encoding, "rows": "all", "explain": False}
    spent = process_time()
    asked = problem.asking((), (*problem.bounds, deep))
    answer = get("sat").solve(asked, Limits(Deadline.after(limit), options=options))
    spent = process_time() - spent
    return spent if answer.status in (Status.OPTIMAL, Status.INFEASIBLE) else float("inf")


if __name__ == "__main__":
    sys.exit(main())
