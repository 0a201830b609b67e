"""The documented examples of pystreed, gosdt and pycontree -> the same values with TreeML, by its guide for migrating?

    python -m benchmarks.peer_examples --peer PYTHON

PYTHON is an interpreter with these libraries; what it lacks is left out. Every task of theirs is asked for as their
documentation does, on a table that is drawn from a seed, and with TreeML as docs/migrating.md says. The values of both
trees are computed here from what they predict, by one definition that is not TreeML's code. The tasks survival, linear
leaves, costs by row and policies are in `benchmarks.tasks`. Exit code 1: a value differs.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peer_process import asked, file_of_rows

CHILD = Path(__file__).with_name("peer_examples_child.py")
Columns = dict[str, Any]
CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tree predicts, and the leaf of each row; without them, the number of its leaves, if that is known."""

    predicted: Any
    leaves: Any = None
    size: int | None = None
    paths: Sequence[Sequence[str]] = ()  # for each leaf the columns that are tested on the way to it, from the root


@dataclass(frozen=True, slots=True)
class Case:
    """One example: what it asks TreeML for, and the value of a tree."""

    text: str
    value: Callable[[Columns, Outcome], float]
    columns: str = "b"  # the first letter of the columns that it splits on
    numbers: bool = False  # whether the target is a number


def main(words: Sequence[str] | None = None) -> int:
    options = arguments(words)
    differ = 0
    print(f"{'example':30}{'set':>6}{'treeml':>16}{'peer':>16}")
    for name, case in CASES.items():
        if options.only and not any(each in name for each in options.only):
            continue
        for seed in options.seeds:
            columns = drawn(options.rows, seed, case.numbers)
            theirs, columns = by_peer(options.peer, name, columns)
            if theirs is None:
                print(f"{name:30}{seed:6}   the library is not installed, or failed")
                break
            ours = by_treeml(case, columns)
            values = case.value(columns, ours), case.value(columns, theirs)
            same = abs(values[0] - values[1]) <= CLOSE * max(1.0, abs(values[1]))
            differ += not same
            print(f"{name:30}{seed:6}{values[0]:16.6f}{values[1]:16.6f}{'' if same else '   DIFFERS'}", flush=True)
    return 1 if differ else 0


def drawn(rows: int, seed: int, numbers: bool) -> Columns:
    random = np.random.default_rng(seed)
    columns: Columns = {f"b{place}": (random.random(rows) < 0.4).astype(int) for place in range(10)}
    columns |= {f"x{place}": random.normal(size=rows).round(2) for place in range(3)}
    hidden = columns["b1"] + columns["b2"] * columns["b3"] + (columns["x0"] > 0.5) * columns["b0"]
    noise = random.random(rows) < 0.15
    columns["y"] = (hidden * 1.5 + random.normal(size=rows)).round(2) if numbers else (hidden + noise) % 2
    return columns


def by_treeml(case: Case, columns: Columns) -> Outcome:
    import treeml as tml

    used = {name: each for name, each in columns.items() if name[0] == case.columns or name == "y"}
    result = tml.parse(case.text).solve(used, within=120)
    assert result.tree is not None
    assert result.is_optimal
    leaves = np.asarray(result.tree.apply(used))
    paths = [[test.column for test, _ in path] for path, _ in result.tree.paths()]
    return Outcome(np.array(result.tree.predict(used), dtype=float), leaves, len(paths), paths)


def by_peer(python: str, case: str, columns: Columns) -> tuple[Outcome | None, Columns]:
    """The tree of the other library, and the columns, which are its own if it made some."""
    with file_of_rows(columns) as path:
        printed = asked(python, CHILD, case, path)
    if printed is None:
        return None, columns
    said = json.loads(printed.strip().splitlines()[-1])
    if "columns" in said:
        table = list(csv.reader(io.StringIO(said["columns"])))
        made = {f"b{place}": np.array([int(row[place]) for row in table[1:]]) for place in range(1, len(table[0]))}
        columns = {**made, "y": columns["y"]}
    leaves = np.array(said["leaves"]) if "leaves" in said else None
    paths = [[f"b{place}" for place in path] for path in said.get("paths", ())]
    return Outcome(np.array(said["predicted"], dtype=float), leaves, said.get("size"), paths), columns


# -- the values ------------------------------------------------------------------------------------------


def error_rate(columns: Columns, outcome: Outcome) -> float:
    return float((outcome.predicted != columns["y"]).mean())


def sparse_errors(columns: Columns, outcome: Outcome) -> float:
    leaves = len(np.unique(outcome.leaves)) if outcome.leaves is not None else outcome.size
    assert leaves is not None
    return error_rate(columns, outcome) + 0.01 * leaves


def f1(columns: Columns, outcome: Outcome) -> float:
    said, meant = outcome.predicted == 1, columns["y"] == 1
    return float(2 * (said & meant).sum() / (said.sum() + meant.sum()))


def of_leaves(cost: Callable[[Any], float]) -> Callable[[Columns, Outcome], float]:
    """The sum over the leaves of the cost of their targets."""

    def value(columns: Columns, outcome: Outcome) -> float:
        return sum(cost(columns["y"][outcome.leaves == leaf]) for leaf in np.unique(outcome.leaves))

    return value


def gini(targets: Any) -> float:
    return float(len(targets) - sum((targets == label).sum() ** 2 for label in (0, 1)) / len(targets))


def entropy(targets: Any) -> float:
    counts = [int((targets == label).sum()) for label in (0, 1)]
    return sum(count * log(len(targets) / count) for count in counts if count)


def squares(targets: Any) -> float:
    return float(((targets - targets.mean()) ** 2).sum())


def sparse_squares(columns: Columns, outcome: Outcome) -> float:
    """The price of a split is a share of the squares around the mean of all rows."""
    splits = len(np.unique(outcome.leaves)) - 1
    return of_leaves(squares)(columns, outcome) / squares(columns["y"]) + 0.01 * splits


def costs(columns: Columns, outcome: Outcome) -> float:
    """Of mistakes, and of tests: b0, b1 and b2 share a sample, so the second of them costs less."""
    said, meant = outcome.predicted, columns["y"]
    total = float(40.0 * ((said == 1) & (meant == 0)).sum() + 90.0 * ((said == 0) & (meant == 1)).sum())
    for leaf, path in enumerate(outcome.paths):
        seen: list[str] = []
        for name in dict.fromkeys(path):
            is_cheaper = name in SAMPLE and any(each in SAMPLE for each in seen)
            total += int((outcome.leaves == leaf).sum()) * (SAMPLE.get(name, (1.0, 1.0))[is_cheaper])
            seen.append(name)
    return total


SAMPLE = {"b0": (3.0, 1.0), "b1": (3.0, 1.0), "b2": (5.0, 2.0)}  # the cost of a test, and after another one of them


def fair_errors(columns: Columns, outcome: Outcome, among: Any) -> float:
    group = columns["b0"] == 1
    rates = [float((outcome.predicted[side & among] == 1).mean()) for side in (group, ~group)]
    assert abs(rates[0] - rates[1]) <= 0.05 + CLOSE
    return error_rate(columns, outcome)


def parity_errors(columns: Columns, outcome: Outcome) -> float:
    return fair_errors(columns, outcome, np.ones(len(columns["y"]), dtype=bool))


def opportunity_errors(columns: Columns, outcome: Outcome) -> float:
    return fair_errors(columns, outcome, columns["y"] == 1)


FAIR = "predict y is 1\nforbid split on b0\nminimize errors\nrequire depth <= 2\nrequire {}(b0) <= 0.05\n"
COSTS = (
    """\
predict y
cost predict 1 when 0 = 40
cost predict 0 when 1 = 90
"""
    + "".join(f"cost test {name} = {SAMPLE.get(name, (1,))[0]:g}\n" for name in (f"b{place}" for place in range(10)))
    + "".join(
        f"cost test {name} after {other} = {less:g}\n"
        for name, (_, less) in SAMPLE.items()
        for other in SAMPLE
        if other != name
    )
    + "minimize mistake_cost + test_cost\nrequire depth <= 2\n"
)
CASES = {
    "pystreed: costs": Case(COSTS, costs),
    "pystreed: accuracy": Case("predict y\nminimize errors\nrequire depth <= 3\nrequire splits <= 5\n", error_rate),
    "pystreed: sparse accuracy": Case(
        "predict y\nminimize error_rate + 0.01 * leaves\nrequire depth <= 3\n", sparse_errors
    ),
    "pystreed: f1": Case("predict y\nmaximize f1(1)\nrequire depth <= 2\n", f1),
    "pystreed: gini": Case("predict y\nminimize gini\nrequire depth <= 2\n", of_leaves(gini)),
    "pystreed: entropy": Case("predict y\nminimize log_loss\nrequire depth <= 2\n", of_leaves(entropy)),
    "pystreed: parity": Case(FAIR.format("parity_gap"), parity_errors),
    "pystreed: opportunity": Case(FAIR.format("opportunity_gap"), opportunity_errors),
    "pystreed: regression": Case(
        "predict y\nminimize squared_loss\nrequire depth <= 3\n", of_leaves(squares), numbers=True
    ),
    "pystreed: sparse regression": Case(
        "predict y\nmaximize r2 - 0.01 * leaves\nrequire depth <= 3\n", sparse_squares, numbers=True
    ),
    "gosdt: sparse": Case("predict y\nminimize error_rate + 0.01 * leaves\nrequire depth <= 3\n", sparse_errors),
    "gosdt: guessed thresholds": Case(
        "predict y\nminimize error_rate + 0.01 * leaves\nrequire depth <= 3\n", sparse_errors
    ),
    "pycontree: accuracy": Case("predict y\nminimize errors\nrequire depth <= 2\n", error_rate, "x"),
}


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--peer", default=sys.executable, help="an interpreter with these libraries")
    parser.add_argument("--only", nargs="*", help="only examples whose name contains one of these")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--rows", type=int, default=300)
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
