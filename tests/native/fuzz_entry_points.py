"""Random calls of every C entry point: sizes, options, orders of calls, failing allocations, interrupts, wrong input.

    python tests/native/fuzz_entry_points.py --seconds 60 --seed 1

Run it with a library that was built with sanitizers (`make native-fuzz`): they report the errors. In addition, every
returned tree must be a valid tree. `--case` runs one case again.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from treeml.native import coupled as coupled_search
from treeml.native import coupled_numeric, cover, numeric
from treeml.native import solver as over_tests
from treeml.native.matrix import MatrixSolver
from treeml.native.roots import best_under_roots
from treeml.native.rup import check_text
from treeml.native.shallow import FlatShallowTree, Shallow
from treeml.native.solver import NativeError

Random = np.random.Generator
REFUSED = (ValueError, OverflowError, MemoryError, NativeError, cover.CoverStopped, ctypes.ArgumentError)
EXTREMES = (0, 1, -1, 2, 2**31 - 1, -(2**31), 2**31, 2**53, 2**60, 2**62, 2**63 - 1, -(2**63), -(2**62))


def chance(random: Random, percent: int) -> bool:
    return int(random.integers(100)) < percent


def number(random: Random, low: int, high: int) -> int:
    """Mostly within the range, sometimes far outside."""
    return EXTREMES[random.integers(len(EXTREMES))] if chance(random, 4) else int(random.integers(low, high + 1))


def numbers(random: Random, shape: Any, low: int, high: int, dtype: Any = np.int64) -> Any:
    array = random.integers(low, high + 1, shape).astype(dtype)
    if chance(random, 8) and array.size:
        limit = np.iinfo(dtype)
        spot = EXTREMES[random.integers(len(EXTREMES))]
        array.flat[random.integers(array.size)] = min(max(spot, limit.min), limit.max)
    return array


def small(random: Random) -> tuple[int, int]:
    """Tests and rows."""
    return int(random.integers(0, 9)), int(random.choice([1, 2, 7, 30, 63, 64, 65, 130, 300]))


def options_of(random: Random, table: dict[str, tuple[int, int, int, str]]) -> dict[str, int]:
    """Some options, within their range or not."""
    chosen = {"depth": int(random.integers(0, 5))} if chance(random, 85) else {}
    for name in random.permutation(list(table))[: int(random.integers(0, 8))]:
        low, high, _, _ = table[name]
        if name in ("milliseconds", "microseconds", "deepen"):
            chosen[str(name)] = int(random.integers(0, 50))
        elif name == "memory":
            chosen[str(name)] = int(random.integers(2**16, 2**22))
        elif name == "threads":
            chosen[str(name)] = int(random.integers(1, 4))
        elif name == "fail_allocation":
            chosen[str(name)] = int(random.integers(0, 300))
        elif name == "depth":
            chosen[str(name)] = int(random.choice([0, 1, 2, 3, 5, 61, 62, 63, 64, 70, 1000000]))
        elif chance(random, 10):
            chosen[str(name)] = EXTREMES[random.integers(len(EXTREMES))]
        else:
            chosen[str(name)] = int(random.integers(low, min(high, low + 1000, 2**62) + 1))
    return chosen


def limit(chosen: dict[str, int], name: str, unit: int) -> None:
    """A time limit, so that every case ends soon."""
    if not 0 <= chosen.get(name, -1) <= 20 * unit:
        chosen[name] = 20 * unit


def binary(random: Random) -> None:
    """treeml.h: the data and goals in any order, then a search; repeated several times."""
    native = over_tests.library()
    handle = native.treeml_create()
    callback, keep = over_tests.PROGRESS(), []
    try:
        tests, rows = small(random)
        for _ in range(int(random.integers(1, 4))):
            if chance(random, 70):
                tests, rows = small(random)
                bits = numbers(random, (tests, rows), 0, 1, np.uint8)
                columns = numbers(random, tests, 0, 3, np.int32) if chance(random, 40) else None
                native.treeml_tests(handle, bits if chance(random, 97) else None, tests, rows, columns)
            if chance(random, 20):
                words = random.integers(0, 2 ** min(64, rows + 1), (tests, -(-rows // 64)), np.uint64, endpoint=False)
                native.treeml_packed_tests(handle, words if chance(random, 97) else None, tests, rows, None)
            classes = int(random.choice([1, 2, 2, 2, 3, 5, 70]))
            weight = numbers(random, rows, 0, 5) if chance(random, 40) else None
            # If the tests were refused, later calls must be refused before they read arrays, so lengths fit the data.
            if native.treeml_tests(handle, numbers(random, (tests, rows), 0, 1, np.uint8), tests, rows, None):
                continue
            for name in random.permutation(["goal", "counts", "forbid", "extra", "start"]):
                if name == "counts" and chance(random, 30):
                    native.treeml_counts(handle, numbers(random, rows, 0, 4))
                elif name == "forbid" and chance(random, 30):
                    native.treeml_forbid(handle, numbers(random, tests, 0, 1, np.uint8))
                elif name == "goal":
                    keep.append(goal(random, native, handle, rows, classes, weight))
                elif name == "extra" and chance(random, 40):
                    extra(random, native, handle, rows, classes)
                elif name == "start" and chance(random, 30):
                    nodes = int(random.integers(0, 8))
                    parts = [numbers(random, nodes, -1, max(nodes, tests), np.int32) for _ in range(3)]
                    native.treeml_start(handle, *parts, nodes)
            chosen = options_of(random, over_tests.options())
            limit(chosen, "milliseconds", 1)
            for name, value in chosen.items():
                native.treeml_set(handle, name.encode(), value)
            native.treeml_set(handle, b"no such option", 1)
            if chance(random, 30):
                stop_at = int(random.integers(0, 4))
                callback = over_tests.PROGRESS(lambda *_, stop_at=stop_at: int(stop_at == 0))
                native.treeml_watch(handle, callback, None)
            interrupt = None
            if chance(random, 10):
                interrupt = threading.Thread(target=native.treeml_interrupt, args=(handle,))
                interrupt.start()
            code = native.treeml_solve(handle)
            if interrupt is not None:
                interrupt.join()
            native.treeml_watch(handle, over_tests.PROGRESS(), None)
            native.treeml_choose(handle, number(random, 0, 2))
            if code == 0:
                read_tree(native, handle, tests)
            for name, (_, _, initial, _) in over_tests.options().items():
                native.treeml_set(handle, name.encode(), initial)
    finally:
        native.treeml_destroy(handle)


def goal(random: Random, native: Any, handle: int, rows: int, classes: int, weight: Any) -> Any:
    kind = int(random.integers(0, 7))
    if kind == 0:
        native.treeml_labels(handle, numbers(random, rows, 0, classes - 1, np.int32), classes, weight)
    elif kind == 1:
        native.treeml_costs(handle, numbers(random, (rows, classes), -3, 9), classes)
    elif kind == 2:
        outputs = int(random.integers(1, 3))
        targets = numbers(random, (rows, outputs), -50, 50)
        native.treeml_targets(handle, number(random, 0, 1), targets, outputs, weight, None, 0, 1)
    elif kind == 3:
        levels = numbers(random, int(random.integers(0, 3)), 0, 4)
        targets = numbers(random, (rows, 1), -50, 50)
        native.treeml_targets(handle, 2, targets, 1, weight, levels, len(levels), number(random, 1, 4))
    elif kind == 4:
        died = numbers(random, rows, 0, 1)
        cost = numbers(random, rows, -9, 99) * (died == 1)
        native.treeml_hazards(handle, numbers(random, rows, 1, 1 << 41), cost, died.astype(np.uint8))
    elif kind == 5:
        width = int(random.integers(1, 4))
        values, target = random.integers(-5, 5, (rows, width)).astype(float), random.integers(-9, 9, rows).astype(float)
        own = np.ones(rows) if weight is None else np.abs(weight.astype(float))
        ridge, is_simple = float(random.choice((0.0, 0.5, -1.0))), random.choice((0, 1))
        spread = None if chance(random, 2) else random.integers(-1, 4, width).astype(float)
        native.treeml_lines(handle, values, spread, width, target, own, ridge, is_simple)
    else:

        def costs(_state: Any, sets: int, starts: Any, members: Any, found: Any) -> int:
            for place in range(sets):
                found[place] = float((starts[place + 1] - starts[place]) % 7)
            return int(bool(sets and members and chance(random, 2)))

        custom = over_tests.LEAF_COSTS(costs)
        native.treeml_custom(handle, custom, None)
        return custom
    return None


def extra(random: Random, native: Any, handle: int, rows: int, classes: int) -> None:
    kind = int(random.integers(0, 3))
    if kind == 0:
        prices = numbers(random, int(random.integers(0, 5)), 0, 4)
        native.treeml_column_costs(handle, prices, len(prices))
    # The previous goal determines the width of a matrix; 70 columns are enough for every goal above.
    elif kind == 1:
        native.treeml_leaf_limit(handle, numbers(random, (rows, max(classes, 70)), 0, 3), number(random, 0, 20))
    else:
        native.treeml_purity(handle, numbers(random, (rows, max(classes, 70)), 0, 3), number(random, 0, 3), 4)


def read_tree(native: Any, handle: int, tests: int) -> None:
    nodes = native.treeml_nodes(handle)
    block = np.full((4, nodes), -7, dtype=np.int32)
    first = block.ctypes.data
    native.treeml_tree(handle, *(first + 4 * nodes * part for part in range(4)))
    check_tree(block[0], block[1], block[2], tests)
    name, value, text = ctypes.c_char_p(), ctypes.c_double(), ctypes.c_char_p()
    for place in range(-1, native.treeml_statistics() + 1):
        native.treeml_statistic(handle, place, name, value, text)


def check_tree(test: Any, yes: Any, no: Any, tests: int) -> None:
    for node in range(len(test)):
        assert -1 <= test[node] < tests, "a test that does not exist"
        if test[node] >= 0:
            assert node < yes[node] < len(test), "a child before its parent, or beyond the tree"
            assert node < no[node] < len(test), "a child before its parent, or beyond the tree"


def thresholds(random: Random) -> None:
    """numeric.h, through its Python wrapper."""
    columns, rows = small(random)
    shape = (columns, rows)
    values = random.normal(size=shape) if chance(random, 30) else numbers(random, shape, 0, 12, np.int32)
    if values.dtype == np.float64 and chance(random, 10) and values.size:
        values.flat[random.integers(values.size)] = random.choice([np.nan, np.inf, -0.0, 5e-324])
    solver = numeric.NumericSolver(values, numbers(random, rows, 0, 4) if chance(random, 30) else None)
    weight = numbers(random, rows, 0, 5) if chance(random, 40) else None
    classes = int(random.choice([1, 2, 2, 3, 5, 40]))
    for _ in range(int(random.integers(1, 3))):
        kind = int(random.integers(0, 3))
        if kind == 0:
            solver.labels(numbers(random, rows, 0, classes - 1), number(random, classes, classes), weight)
        elif kind == 1:
            solver.costs(numbers(random, (rows, classes), -3, 9))
        else:
            solver.targets(numbers(random, (rows, int(random.integers(1, 3))), -50, 50), weight)
        if chance(random, 20):
            nodes = int(random.integers(1, 6))
            parts = [numbers(random, nodes, -1, nodes, np.int32).tolist() for _ in range(4)]
            solver.start(numeric.FlatThresholdTree(*parts, []))
        chosen = options_of(random, numeric.options())
        limit(chosen, "microseconds", 1000)
        try:
            solver.set(**chosen)
            stop_at = int(random.integers(0, 3))
            outcome = solver.solve((lambda *_, stop_at=stop_at: stop_at > 0) if chance(random, 30) else None)
            if outcome.tree is not None:
                tree = outcome.tree
                check_tree(np.array(tree.column), np.array(tree.yes), np.array(tree.no), columns)
                for column, cut in zip(tree.column, tree.cut, strict=True):
                    if column >= 0:
                        solver.beside(column, cut)
        finally:
            solver.set(**{name: initial for name, (_, _, initial, _) in numeric.options().items()})
        if columns:
            solver.ranks(number(random, 0, columns - 1))


def coupled_thresholds(random: Random) -> None:
    """coupled_numeric.h, through its Python wrapper."""
    columns, rows = small(random)
    classes, sums = int(random.choice([1, 2, 2, 3, 12, 13])), int(random.choice([0, 1, 1, 2, 8, 9]))
    count = numbers(random, rows, 0, 4) if chance(random, 40) else None
    codes, values = numbers(random, (columns, rows), 0, 12, np.int32), numbers(random, (1 + sums, rows, classes), -3, 9)
    solver = coupled_numeric.CoupledNumeric(codes, values, count=count)
    for _ in range(int(random.integers(1, 4))):
        if chance(random, 20):
            solver.set_values(numbers(random, (1 + sums, rows, classes), -(10**9), 10**9))
        chosen = options_of(random, coupled_numeric.options_of_coupled_numeric())
        limit(chosen, "microseconds", 1000)
        nodes = int(random.integers(1, 6))
        start = tuple(numbers(random, nodes, -1, nodes, np.int32) for _ in range(5)) if chance(random, 20) else None
        low = [None if chance(random, 30) else number(random, -9, 9) for _ in range(sums)]
        high = [None if chance(random, 30) else number(random, -9, 30) for _ in range(sums)]
        stop_at = int(random.integers(0, 3))
        watch = (lambda *_, stop_at=stop_at: stop_at > 0) if chance(random, 30) else None
        try:
            found = solver.solve(low, high, start=start, on_progress=watch, options=chosen)
        except REFUSED:
            continue
        check_tree(found.feature, found.left, found.right, columns)
    solver.close()


def covers(random: Random) -> None:
    tests, rows = small(random)
    bits = cover.pack_bits(random.random((tests, rows)) < 0.5)
    count = numbers(random, rows, 1, 3)
    classes = int(random.choice([1, 2, 3, 65]))
    cost = numbers(random, (rows, classes), 0, 9)
    tags = None
    if chance(random, 20):
        words = int(random.integers(0, 3))
        tags = tuple(random.integers(0, 4, (tests, words)).astype(np.uint64) for _ in range(2))
    states = cover.enumerate_states(
        bits, count, number(random, 1, 3) if chance(random, 90) else 0, support=number(random, 1, 3), tags=tags,
        group=numbers(random, tests, 0, 2, np.int32), cost=cost if chance(random, 50) else None,
        max_bytes=int(random.choice([10**5, 10**6, 10**7])), seconds=0.02,
    )  # fmt: skip
    keys = states.keys[: 1 + int(random.integers(200))]
    threads = int(random.integers(1, 4))
    for function in (
        lambda: cover.sums(keys, rows, numbers(random, (rows, classes), -5, 5)),
        lambda: cover.split_sums(bits, keys, rows, numbers(random, (rows, 2), -5, 5), threads),
        lambda: cover.best_pairs(bits, keys, rows, cost, count, number(random, 1, 3), number(random, 0, 3), threads),
        lambda: cover.quantile_losses(
            bits, keys, rows, numbers(random, rows, -50, 50), count, number(random, 0, 3), number(random, 0, 3)
        ),
        lambda: cover.sums(keys ^ np.uint64(2**63), rows, cost),
    ):
        try:
            function()
        except REFUSED:
            continue


def shallow(random: Random) -> None:
    tests, rows = small(random)
    classes = int(random.integers(1, 4))
    guide = None
    if chance(random, 30):
        nodes = int(random.integers(1, 6))
        guide = FlatShallowTree(*(numbers(random, nodes, -1, nodes, np.int32) for _ in range(4)))
    labels = numbers(random, rows, 0, classes - 1, np.int32)
    memory = int(random.choice([0, 0, 10**4, 10**5, 10**6]))
    weights = numbers(random, classes, 0, 2, np.int32).tolist()
    with Shallow(random.random((tests, rows)) < 0.5, labels, weights, guide, memory) as search:
        for _ in range(3):
            slack = None if chance(random, 50) else number(random, 0, 3)
            work = int(random.choice([0, 1, 1000, 10**6]))
            if search.search(number(random, 0, 4), slack, work, 0.02) == 0:
                found = search.tree()
                check_tree(found.test, found.yes, found.no, tests)


def coupled(random: Random) -> None:
    """coupled.h, through its Python wrapper."""
    tests, rows = small(random)
    classes, sums = int(random.choice([1, 2, 2, 3, 32])), int(random.choice([0, 1, 1, 2, 8]))
    bits = numbers(random, (tests, rows), 0, 1, np.uint8)
    solver = coupled_search.Coupled(
        bits, numbers(random, (1 + sums, rows, classes), -3, 9),
        count=numbers(random, rows, 0, 4) if chance(random, 40) else None,
        columns=numbers(random, tests, -2, 3, np.int32) if chance(random, 40) else None,
        forbidden=numbers(random, tests, 0, 1, np.uint8) if chance(random, 20) else None,
    )  # fmt: skip
    for _ in range(int(random.integers(1, 4))):
        if chance(random, 20):
            solver.set_values(numbers(random, (1 + sums, rows, classes), -(10**12), 10**12))
        chosen = options_of(random, coupled_search.options_of_coupled())
        limit(chosen, "microseconds", 1000)
        start = None
        if chance(random, 20):
            nodes = int(random.integers(1, 6))
            start = tuple(numbers(random, nodes, -1, nodes, np.int32) for _ in range(4))
        low = [None if chance(random, 30) else number(random, -9, 9) for _ in range(sums)]
        high = [None if chance(random, 30) else number(random, -9, 30) for _ in range(sums)]
        stop_at = int(random.integers(0, 3))
        watch = (lambda *_, stop_at=stop_at: stop_at > 0) if chance(random, 30) else None
        try:
            found = solver.solve(
                low, high, depth=int(random.integers(0, 5)), start=start, on_progress=watch, options=chosen
            )
        except REFUSED:
            continue
        check_tree(found.test, found.left, found.right, tests)
    solver.close()


def roots(random: Random) -> None:
    tests, rows = small(random)
    gain = numbers(random, (int(random.integers(0, 4)), rows), -9, 9, np.int32).astype(np.float64)
    if chance(random, 10) and gain.size:
        gain.flat[random.integers(gain.size)] = random.choice([np.nan, np.inf, 1e300])
    chosen = numbers(random, int(random.integers(0, 5)), 0, max(0, tests - 1), np.int32)
    best_under_roots((random.random((tests, rows)) < 0.5).astype(np.uint8), gain, number(random, 1, 3), chosen)


def proofs(random: Random) -> None:
    """Mostly valid clauses and proof steps, sometimes truncated, modified or random."""

    def clause() -> str:
        return " ".join(str(number(random, -4, 4)) for _ in range(int(random.integers(0, 4)))) + " 0\n"

    clauses = [clause() for _ in range(int(random.integers(0, 12)))]
    formula = f"p cnf {number(random, 0, 5)} {len(clauses)}\n" + "".join(clauses)
    steps = "".join(("d " if chance(random, 25) else "") + clause() for _ in range(int(random.integers(0, 8))))
    texts = [bytearray(formula.encode()), bytearray((steps + "0\n").encode())]
    for text in texts:
        for _ in range(int(random.integers(0, 3)) if chance(random, 40) else 0):
            text[random.integers(len(text))] = int(random.choice(list(b"0 -\n1pcd9\x00\xff")))
        if chance(random, 10):
            del text[random.integers(len(text)) :]
    check_text(bytes(texts[0]), bytes(texts[1]))


def matrices(random: Random) -> None:
    """The short way from a matrix and labels to a tree."""
    columns, rows = small(random)
    values = random.normal(size=(rows, columns)).round(int(random.integers(0, 4)))
    if chance(random, 5) and values.size:
        values.flat[random.integers(values.size)] = random.choice([np.nan, np.inf, -np.inf, -0.0, 1e308, 5e-324])
    labels = numbers(random, rows, -2, int(random.integers(-1, 4)))
    solver = MatrixSolver(values, labels, int(random.integers(1, 6)))
    found = solver.solve(number(random, 0, 4), float(random.choice([0.0, 1e-4, 1.0])))
    for node in found.nodes:
        column, _, low, high, yes, no, label = node
        if column >= 0:
            assert values[low, column] < values[high, column]
            assert min(yes, no) > 0
        else:
            assert 0 <= label < len(solver.size.labels)


KINDS: dict[str, Callable[[Random], None]] = {
    "binary": binary,
    "thresholds": thresholds,
    "matrices": matrices,
    "coupled thresholds": coupled_thresholds,
    "covers": covers,
    "shallow": shallow,
    "coupled": coupled,
    "roots": roots,
    "proofs": proofs,
}


def run_case(seed: int, case: int, only: str | None = None) -> str:
    random = np.random.default_rng([seed, case])
    kind = only or list(KINDS)[case % len(KINDS)]
    try:
        KINDS[kind](random)
    except REFUSED:
        return "refused"
    return "run"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--case", type=int)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--at", type=Path, help="store the number of the current case in this file")
    asked = parser.parse_args()
    sys.stdout.write(f"seed {asked.seed}\n")
    sys.stdout.flush()
    if asked.case is not None:
        sys.stdout.write(run_case(asked.seed, asked.case, asked.kind) + "\n")
        return
    until, case, tally = time.monotonic() + asked.seconds, 0, {"run": 0, "refused": 0}
    while case < asked.cases and time.monotonic() < until:
        if asked.at is not None:
            asked.at.write_text(f"--seed {asked.seed} --case {case}\n", encoding="utf-8")
        tally[run_case(asked.seed, case, asked.kind)] += 1
        case += 1
    sys.stdout.write(f"{case} cases: {tally['run']} ran, {tally['refused']} were refused\n")


if __name__ == "__main__":
    main()
