"""Survival, linear leaves, costs by row, treatment policies: whole calls of TreeML against the fits of pystreed.

    python -m benchmarks.tasks --peer PYTHON

PYTHON is an interpreter with pystreed, and with scikit-survival for the sets that ship with it; without one, our values
and times alone. All other sets are drawn from a fixed seed. Both sides get the same tests of 0 and 1. The values are
computed here, from the leaf that each row reaches, by one definition for both, which is not TreeML's code. Times are
seconds of the processor, ours those of the whole call from a table to a verified tree; very short ones are the fastest
of several. `*` marks a proof. pystreed wants at least five rows per column in a linear leaf, so both do; a simple
linear leaf has one column.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.peer_process import asked, file_of_rows

CHILD = Path(__file__).with_name("tasks_child.py")
SHIPPED = ("veterans", "whas500", "gbsg2", "aids")
CUTS = 8  # of a column of numbers
WHILE = 0.25
Columns = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A tree as the leaf of each row, its seconds and whether it is proved."""

    leaves: Any
    seconds: float
    proved: bool


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked for, and the value of a leaf."""

    text: str
    leaf: Callable[[Columns, Any], float]
    makes: Callable[[int, int, int], Columns]  # rows, tests, seed
    most: bool = False  # whether larger values are better


def main(words: Sequence[str] | None = None) -> None:
    options = arguments(words)
    print(f"{'task':10}{'set':16}{'rows':>6}{'tests':>6}{'depth':>6}{'treeml':>26}{'pystreed':>26}{'ratio':>9}")
    for task in options.tasks:
        for name, columns in sets_of(task, options):
            for depth in options.depth:
                line(options, task, name, columns, depth)


def line(options: argparse.Namespace, task: str, name: str, columns: Columns, depth: int) -> None:
    """Measures both and prints one line."""
    asked = TASKS[task]
    ours = by_treeml(asked, columns, depth, options.within)
    peer = by_peer(options.peer, task, columns, depth, options.within) if options.peer else None
    values = [value_of(asked, columns, each.leaves) if each else None for each in (ours, peer)]
    tests = sum(each.startswith("b") for each in columns)
    shown = f"{task:10}{name:16}{len(ours.leaves):6}{tests:6}{depth:6}"
    for fitted, value in zip((ours, peer), values, strict=True):
        cell = f"{value:.6f}{'*' if fitted.proved else ' '}{fitted.seconds:9.4f} s" if fitted else "-"
        shown += f"{cell:>26}"
    if peer is not None and values[1] is not None and values[0] is not None:
        gap = values[0] - values[1] if asked.most else values[1] - values[0]
        note = "" if abs(gap) <= 1e-6 * max(1, abs(values[1])) else " better" if gap > 0 else " WORSE"
        shown += f"{peer.seconds / ours.seconds:8.2f}x{note}"
    print(shown, flush=True)


def by_treeml(task: Task, columns: Columns, depth: int, within: float) -> Fitted:
    import treeml as tml

    lines = ", ".join(name for name in columns if name.startswith("u"))
    support = 5 * (lines.count(",") + 1)
    text = task.text.format(depth=depth, lines=lines, support=support)
    tml.parse(text.replace(f"depth <= {depth}", "depth <= 0")).solve(columns)  # imports what a first call imports
    best, spent = float("inf"), 0.0
    while best == float("inf") or spent < WHILE:
        model = tml.parse(text)  # pystreed's estimator is made outside of its time as well
        began = process_time()
        result = model.solve(columns, within=within)
        taken = process_time() - began
        best, spent = min(best, taken), spent + taken
    assert result.tree is not None
    return Fitted(np.asarray(result.tree.apply(columns)), best, result.status is tml.Status.OPTIMAL)


def by_peer(python: str, task: str, columns: Columns, depth: int, within: float) -> Fitted | None:
    with file_of_rows(columns) as path:
        said = asked(python, CHILD, "fit", path, task, str(depth), str(within))
    return None if said is None else Fitted(**json.loads(said.strip().splitlines()[-1]))


def value_of(task: Task, columns: Columns, leaves: Any) -> float:
    leaves = np.asarray(leaves)
    return sum(task.leaf(columns, np.flatnonzero(leaves == leaf)) for leaf in np.unique(leaves))


def sets_of(task: str, options: argparse.Namespace) -> list[tuple[str, Columns]]:
    made = [(f"made {seed}", TASKS[task].makes(options.rows, options.tests, seed)) for seed in options.seeds]
    if task != "survival" or not options.peer:
        return made
    shipped = ((name, asked(options.peer, CHILD, "rows", name)) for name in options.shipped)
    return [(name, as_tests(said)) for name, said in shipped if said] + made


def as_tests(text: str) -> Columns:
    """A table of numbers, time and died -> tests of 0 and 1: each column is cut at its quantiles."""
    lines = list(csv.DictReader(io.StringIO(text)))
    columns: Columns = {}
    for name in lines[0]:
        if name in ("time", "died"):
            continue
        values = np.array([float(line[name] or "nan") for line in lines])
        known = values[~np.isnan(values)]
        cuts = np.unique(np.quantile(known, np.arange(1, CUTS + 1) / (CUTS + 1)))
        for cut in cuts[cuts < known.max()]:
            columns[f"b{len(columns)}"] = (values > cut).astype(int)
    columns["time"] = np.array([float(line["time"]) for line in lines])
    columns["died"] = np.array([int(line["died"]) for line in lines])
    return columns


# -- the tasks ----------------------------------------------------------------------------------------


def some_tests(rows: int, tests: int, seed: int) -> tuple[Columns, np.random.Generator]:
    random = np.random.default_rng(seed)
    shares = random.uniform(0.15, 0.6, tests)
    return {f"b{place}": (random.random(rows) < shares[place]).astype(int) for place in range(tests)}, random


def made_survival(rows: int, tests: int, seed: int) -> Columns:
    columns, random = some_tests(rows, tests, seed)
    rate = np.exp(0.9 * columns["b0"] - 0.8 * columns["b1"] * columns["b2"] + 0.4 * columns["b3"])
    ends, lost = random.exponential(1 / rate), random.exponential(2.0, rows)
    columns["time"] = np.maximum(np.minimum(ends, lost).round(3), 0.001)
    columns["died"] = (ends <= lost).astype(int)
    return columns


def survival_leaf(columns: Columns, rows: Any) -> float:
    """Minus the logarithm of the likelihood of a leaf, beyond that of a tree that knows every row."""
    hazard, deaths = baseline(columns)[rows], np.flatnonzero(columns["died"][rows])
    if not len(deaths):
        return 0.0
    return float(-np.log(hazard[deaths]).sum()) + len(deaths) * log(hazard.sum() / len(deaths))


def baseline(columns: Columns) -> Any:
    """The cumulative hazard of Nelson and Aalen at the time of each row."""
    times, died = columns["time"], columns["died"]
    moments = np.unique(times)
    steps = [died[times == moment].sum() / (times >= moment).sum() for moment in moments]
    sums = np.cumsum(steps)
    return np.where(sums > 0, sums, 1 / (len(times) + 1))[np.searchsorted(moments, times)]


def made_lines(rows: int, tests: int, seed: int) -> Columns:
    columns, random = some_tests(rows, tests, seed)
    columns["u0"], columns["u1"] = random.normal(size=rows).round(3), random.normal(size=rows).round(3)
    slope = np.where(columns["b0"] == 1, 2.0, -1.0) + columns["b1"]
    columns["y"] = (slope * columns["u0"] + columns["b2"] * columns["u1"] + 0.5 * random.normal(size=rows)).round(3)
    return columns


def linear_leaf(columns: Columns, rows: Any) -> float:
    lines = [columns[name][rows] for name in sorted(columns) if name.startswith("u")]
    left = np.column_stack([np.ones(len(rows)), *lines])
    rest = columns["y"][rows] - left @ np.linalg.lstsq(left, columns["y"][rows], rcond=None)[0]
    return float(rest @ rest)


def simple_leaf(columns: Columns, rows: Any) -> float:
    """The same with the one column that leaves least."""
    every = [name for name in columns if name.startswith("u")]
    return min(linear_leaf({"y": columns["y"], name: columns[name]}, rows) for name in every)


def made_costs(rows: int, tests: int, seed: int) -> Columns:
    columns, random = some_tests(rows, tests, seed)
    truth = (columns["b0"] + columns["b1"] * columns["b2"] + (random.random(rows) < 0.15)) % 2
    for number in range(2):
        columns[f"cost_{number}"] = np.where(truth == number, 0.0, random.integers(1, 100, rows) / 4)
    columns["class"] = truth
    return columns


def cost_leaf(columns: Columns, rows: Any) -> float:
    return min(float(columns[f"cost_{number}"][rows].sum()) for number in range(2))


def made_policy(rows: int, tests: int, seed: int) -> Columns:
    columns, random = some_tests(rows, tests, seed)
    share = np.where(columns["b0"] == 1, 0.7, 0.4)
    columns["treatment"] = (random.random(rows) < share).astype(int)
    gain = np.where(columns["b1"] == 1, 2.0, -1.0) + columns["b2"]
    columns["outcome"] = (columns["treatment"] * gain + random.normal(size=rows)).round(3)
    columns["propensity"] = np.where(columns["treatment"] == 1, share, 1 - share)
    columns["reward_0"], columns["reward_1"] = np.zeros(rows), gain.round(3)
    for number in range(2):  # doubly robust scores
        model = columns[f"reward_{number}"]
        rest = (columns["treatment"] == number) * (columns["outcome"] - model) / columns["propensity"]
        columns[f"score_{number}"] = model + rest
    return columns


def policy_leaf(columns: Columns, rows: Any) -> float:
    return max(float(columns[f"score_{number}"][rows].sum()) for number in range(2))


TASKS = {
    "survival": Task(
        "predict time observed died\nminimize survival_loss\nrequire depth <= {depth}\n", survival_leaf, made_survival
    ),
    "linear": Task(
        "predict y\nminimize squared_loss\nrequire depth <= {depth}\nrequire support >= {support}\n"
        "forbid split on {lines}\nleaves linear({lines})\n",
        linear_leaf,
        made_lines,
    ),
    "simple": Task(
        "predict y\nminimize squared_loss\nrequire depth <= {depth}\nrequire support >= 5\n"
        "forbid split on {lines}\nleaves simple_linear({lines})\n",
        simple_leaf,
        made_lines,
    ),
    "costs": Task(
        "predict class\nfeatures all except cost_0, cost_1\ncost predict 0 by column cost_0\n"
        "cost predict 1 by column cost_1\nminimize mistake_cost\nrequire depth <= {depth}\n",
        cost_leaf,
        made_costs,
    ),
    "policy": Task(
        "predict treatment\nfeatures all except outcome, propensity, reward_0, reward_1, score_0, score_1\n"
        "gain predict 0 by column score_0\ngain predict 1 by column score_1\nmaximize gain\nrequire depth <= {depth}\n",
        policy_leaf,
        made_policy,
        most=True,
    ),
}


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--peer", help="an interpreter that can import pystreed")
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--shipped", nargs="*", default=list(SHIPPED), choices=SHIPPED, help="of scikit-survival")
    parser.add_argument("--depth", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--rows", type=int, default=500, help="of the sets that are drawn")
    parser.add_argument("--tests", type=int, default=40, help="of the sets that are drawn")
    parser.add_argument("--within", type=float, default=60, help="seconds for each fit")
    return parser.parse_args(words)


if __name__ == "__main__":
    main()
