"""Balanced, fair and prescriptive trees: whole calls of TreeML against the fits of odtlearn with CBC.

    python -m benchmarks.odtlearn_tasks --peer PYTHON

PYTHON is an interpreter with odtlearn and mip 1.15 (docs/backends/measured.md); without one, our values alone. The rows
are drawn from a fixed seed, and both sides get the same columns of 0 and 1. Values and gaps are computed here from the
predictions, by one definition for both, which is not TreeML's code. Times are seconds of the processor. `*` marks a
claim of optimality.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peer_process import asked, file_of_rows

CHILD = Path(__file__).with_name("odtlearn_tasks_child.py")
Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of TreeML, what predictions are worth, and their gap between groups, if it is bounded."""

    goal: str
    value: Callable[[Columns, Any], float]
    gap: Callable[[Columns, Any], float] | None = None


def made(rows: int, features: int, seed: int) -> Columns:
    random = np.random.default_rng(seed)
    columns: Columns = {f"b{place}": random.integers(0, 2, rows) for place in range(features)}
    columns["group"] = random.integers(0, 2, rows)
    noisy = columns["b0"] + columns["b1"] + columns["group"] + random.integers(0, 2, rows)
    columns["y"] = (noisy >= 2).astype(int)
    share = np.where(columns["b0"] == 1, 0.7, 0.4)
    columns["treatment"] = (random.random(rows) < share).astype(int)
    gain = np.where(columns["b1"] == 1, 2.0, -1.0)
    columns["outcome"] = (columns["treatment"] * gain + random.normal(size=rows)).round(3)
    columns["propensity"] = np.where(columns["treatment"] == 1, share, 1 - share)
    columns["reward_0"], columns["reward_1"] = np.zeros(rows), gain + columns["b2"]
    for number in range(2):
        is_given, model = columns["treatment"] == number, columns[f"reward_{number}"]
        columns[f"ipw_{number}"] = is_given * columns["outcome"] / columns["propensity"]
        columns[f"direct_{number}"] = model
        columns[f"robust_{number}"] = model + is_given * (columns["outcome"] - model) / columns["propensity"]
    return columns


def accuracy(columns: Columns, said: Any) -> float:
    return float(np.mean(said == columns["y"]))


def balanced(columns: Columns, said: Any) -> float:
    return float(np.mean([np.mean(said[columns["y"] == number] == number) for number in range(2)]))


def policy(scores: str) -> Callable[[Columns, Any], float]:
    return lambda columns, said: float(np.mean(np.where(said == 1, columns[f"{scores}_1"], columns[f"{scores}_0"])))


def gap_among(actual: tuple[int, ...]) -> Callable[[Columns, Any], float]:
    """The difference between the groups of the shares that are predicted positive, among rows of these classes."""

    def gap(columns: Columns, said: Any) -> float:
        among = np.isin(columns["y"], actual)
        shares = [float(np.mean(said[among & (columns["group"] == group)])) for group in range(2)]
        return abs(shares[0] - shares[1])

    return gap


def largest_gap(columns: Columns, said: Any) -> float:
    return max(gap_among((number,))(columns, said) for number in range(2))


FAIR = "predict y is 1\nmaximize accuracy\nrequire {}(group) <= {{bound}}\n"
TASKS = {
    "accuracy": Task("predict y\nmaximize accuracy\n", accuracy),
    "balance": Task("predict y\nmaximize balanced_accuracy\n", balanced),
    "parity": Task(FAIR.format("parity_gap"), accuracy, gap_among((0, 1))),
    "opportunity": Task(FAIR.format("opportunity_gap"), accuracy, gap_among((1,))),
    "equality": Task(FAIR.format("predictive_gap"), accuracy, gap_among((0,))),
    "odds": Task(FAIR.format("odds_gap"), accuracy, largest_gap),
    **{
        name: Task(
            f"predict treatment\ngain predict 0 by column {name}_0\ngain predict 1 by column {name}_1\nmaximize gain\n",
            policy(name),
        )
        for name in ("ipw", "direct", "robust")
    },
}


def main(words: Sequence[str] | None = None) -> None:
    options = arguments(words)
    print(f"{'task':12}{'seed':>5}{'depth':>6}{'treeml':>24}{'odtlearn, CBC':>24}   note")
    for task in options.tasks:
        for seed in options.seeds:
            columns = made(options.rows, options.features, seed)
            for depth in options.depth:
                line(options, task, seed, columns, depth)


def line(options: argparse.Namespace, name: str, seed: int, columns: Columns, depth: int) -> None:
    task = TASKS[name]
    sides = [by_treeml(task, columns, depth, options)]
    peer = by_peer(name, columns, depth, options) if options.peer else None
    sides += [] if peer is None else [peer]
    shown, values = f"{name:12}{seed:>5}{depth:>6}", []
    for said, is_proved, seconds in sides:
        value = task.value(columns, said)
        is_within = task.gap is None or task.gap(columns, said) <= options.bound + 1e-9
        values.append(value if is_within else None)
        shown += f"{value:12.6f}{'*' if is_proved else ' '}{seconds:9.3f} s{'' if is_within else ' GAP'}"
    if options.peer:
        shown += "   " + (compared(*values) if peer else "theirs fails")
    print(shown, flush=True)


def compared(ours: float | None, theirs: float | None) -> str:
    if ours is None:
        return "WRONG"
    if theirs is None:
        return "theirs exceeds the bound"
    return "equal" if abs(ours - theirs) <= 1e-9 else "better" if ours > theirs else "WORSE"


def by_treeml(task: Task, columns: Columns, depth: int, options: argparse.Namespace) -> tuple[Any, bool, float]:
    import treeml as tml

    features = ", ".join(name for name in columns if name.startswith("b"))
    text = task.goal.format(bound=options.bound) + f"features {features}\nrequire depth <= {depth}\n"
    began = process_time()
    result = tml.parse(text).solve(columns, within=options.within)
    seconds = process_time() - began
    assert result.tree is not None
    said = np.asarray([int(each) for each in result.tree.predict(columns)])
    return said, result.status is tml.Status.OPTIMAL, seconds


def by_peer(name: str, columns: Columns, depth: int, options: argparse.Namespace) -> tuple[Any, bool, float] | None:
    """What the peer says; None if it ends with an error."""
    with file_of_rows(columns) as path:
        words = (path, name, str(options.bound), str(depth), str(int(options.within)))
        said = asked(options.peer, CHILD, *words)
    if said is None:
        return None
    found = json.loads(said.strip().splitlines()[-1])
    return np.asarray(found["said"]), abs(found["gap"]) < 1e-6, found["seconds"]


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--peer", help="an interpreter that can import odtlearn")
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--depth", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--features", type=int, default=5)
    parser.add_argument("--bound", type=float, default=0.1, help="on the gap between groups")
    parser.add_argument("--within", type=float, default=60, help="seconds for each fit")
    return parser.parse_args(words)


if __name__ == "__main__":
    main(sys.argv[1:])
