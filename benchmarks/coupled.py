"""data folder -> a table of solving times with requirements that couple the leaves, beside pystreed if it is there.

`python -m benchmarks.coupled --data-dir DIR --pystreed PYTHON`. DIR holds adult, compas, german-credit, student-mat and
student-por as binary CSV with a header: the label first and the sensitive group second, in compas the label last.
`--pystreed` names a Python that has pystreed; without it only our times are printed. Times are those of the whole call
`model.solve` from a frame to a verified result, and of the whole `fit` there, each with one thread in its own process,
in seconds of the processor, so that other work on the machine matters less. Very short calls are repeated for a quarter
of a second, and the fastest counts. Ratios refer to the whole calls.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

WHILE = 0.25  # calls are repeated for this many seconds
SETS = ("adult", "compas", "german-credit", "student-mat", "student-por")
LIMITS = ("0.01", "0.02", "0.05")
GROUP_OF_COMPAS = "Race=African-American"
TASKS = {"parity": "group-fairness", "opportunity": "equality-of-opportunity"}


@dataclass(frozen=True, slots=True)
class FairCase:
    name: str
    depth: int
    kinds: tuple[str, ...]  # parity, opportunity, odds, recall
    limit: str

    @property
    def title(self) -> str:
        return f"{self.name} d{self.depth} {'+'.join(self.kinds)} {self.limit}"

    @property
    def peer_task(self) -> str | None:
        """What pystreed calls it; None if it has no such task."""
        return TASKS.get(self.kinds[0]) if len(self.kinds) == 1 else None


def cases(depths: list[int], sets: list[str]) -> Iterator[FairCase]:
    for name in sets:
        for depth in depths:
            for limit in LIMITS:
                yield FairCase(name, depth, ("parity",), limit)
                yield FairCase(name, depth, ("opportunity",), limit)
            yield FairCase(name, depth, ("parity", "opportunity"), "0.01")
            yield FairCase(name, depth, ("recall",), "0.95")


def main() -> None:
    options = arguments()
    if options.one:
        print(json.dumps(measure(options)))
        return
    print(f"{'case':40}{'ours, s':>12}{'errors':>9}{'pystreed, s':>14}{'errors':>9}{'ratio':>9}")
    ratios: dict[int, list[float]] = {}
    for case in cases(options.depth, options.sets):
        has_peer = bool(options.pystreed and case.peer_task)
        ours, theirs = run_ours(options, case), run_peer(options, case) if has_peer else None
        for _ in range(1, options.rounds):
            ours = faster(ours, run_ours(options, case))
            theirs = None if theirs is None else faster(theirs, run_peer(options, case))
        print(line(case, ours, theirs), flush=True)
        if theirs is not None and ours["proved"]:
            # A peer that ran out of time needs at least that much: the ratio is then a lower bound.
            ratios.setdefault(case.depth, []).append(theirs["seconds"] / ours["seconds"])
    for depth, each in ratios.items():
        mean = math.exp(sum(map(math.log, each)) / len(each))
        print(f"depth {depth}, {len(each)} cases beside pystreed: geometric mean {mean:.1f}, minimum {min(each):.1f}")


def faster(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return min(one, other, key=lambda run: (not run["proved"], run["seconds"]))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--depth", type=int, nargs="*", default=[2, 3])
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--backend", default="native", help="the back-end that solves our side")
    parser.add_argument("--pystreed", metavar="PYTHON", help="a Python interpreter that has pystreed")
    parser.add_argument("--rounds", type=int, default=1, help="runs of both sides in turn, of which the fastest counts")
    parser.add_argument("--within", type=float, default=60, help="seconds for each call")
    parser.add_argument("--one", nargs=4, metavar=("SET", "DEPTH", "KINDS", "LIMIT"), help=argparse.SUPPRESS)
    return parser.parse_args()


def line(case: FairCase, ours: dict[str, Any], theirs: dict[str, Any] | None) -> str:
    text = f"{case.title:40}{_seconds(ours):>12}{ours['errors']:>9}"
    if theirs is None:
        return text
    ratio = theirs["seconds"] / ours["seconds"]
    differs = ours["proved"] and theirs["proved"] and ours["errors"] != theirs["errors"]
    doubt = "  VALUES DIFFER" if differs else ""
    return f"{text}{_seconds(theirs):>14}{theirs['errors']:>9}{ratio:9.1f}{doubt}"


def _seconds(result: dict[str, Any]) -> str:
    return f"{result['seconds']:.4f}" if result["proved"] else f"> {result['seconds']:.1f}"


LOST = {"seconds": math.inf, "errors": -1, "proved": False}


def run_ours(options: argparse.Namespace, case: FairCase) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.coupled", "--data-dir", str(options.data_dir)]
    command += ["--backend", options.backend, "--within", str(options.within)]
    command += ["--one", case.name, str(case.depth), "+".join(case.kinds), case.limit]
    return _child(command, options.within)


def run_peer(options: argparse.Namespace, case: FairCase) -> dict[str, Any]:
    label, group, rest, _ = table_of(options.data_dir, case.name)
    with tempfile.TemporaryDirectory() as place:
        rows = Path(place) / "rows.csv"
        np.savetxt(rows, np.column_stack([label, group, rest]), fmt="%d", delimiter=",")
        child = Path(__file__).with_name("pystreed_child.py")
        asked = [str(case.peer_task), case.limit, str(case.depth), str(options.within)]
        return _child([options.pystreed, str(child), str(rows), *asked], options.within)


def _child(command: list[str], within: float) -> dict[str, Any]:
    """The output of one process, or a lost run; some searches end long after their time limit."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * within + 60, check=False)
    except subprocess.TimeoutExpired:
        return {**LOST, "seconds": 2 * within + 60}
    if done.returncode:
        print(done.stderr[-500:], file=sys.stderr)
        return dict(LOST)
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def table_of(folder: Path, name: str) -> tuple[Any, Any, Any, list[str]]:
    """Label, group, the other columns, and the names of these."""
    path = folder / f"{name}.csv"
    names = path.read_text(encoding="utf-8").splitlines()[0].split(",")
    rows = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64)
    label, group = (len(names) - 1, names.index(GROUP_OF_COMPAS)) if name == "compas" else (0, 1)
    others = [place for place in range(len(names)) if place not in (label, group)]
    return rows[:, label], rows[:, group], rows[:, others], [names[place] for place in others]


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Our whole call on one case, in this process."""
    import polars

    import treeml as tml

    name, depth, kinds, limit = options.one
    label, group, rest, names = table_of(options.data_dir, name)
    frame = polars.DataFrame({"label": label, "group": group, **dict(zip(names, rest.T, strict=True))})
    model = tml.parse(text_of(int(depth), kinds.split("+"), limit, options))
    tml.parse(text_of(0, kinds.split("+"), limit, options)).solve(frame)  # imports are not timed
    best, spent, result = math.inf, 0.0, None
    while result is None or (best < 5 and spent < WHILE):
        began = process_time()
        result = model.solve(frame)
        seconds = process_time() - began
        best, spent = min(best, seconds), spent + seconds
    proved = result.verified and result.status is tml.Status.OPTIMAL
    errors = -1 if result.tree is None else round(float(result.measures["errors"]))
    return {"seconds": best, "errors": errors, "proved": proved}


def text_of(depth: int, kinds: list[str], limit: str, options: argparse.Namespace) -> str:
    required = {
        "parity": f"require parity_gap(group) <= {limit}",
        "opportunity": f"require opportunity_gap(group) <= {limit}",
        "odds": f"require odds_gap(group) <= {limit}",
        "recall": f"require recall(1) >= {limit}",
    }
    lines = [
        "predict label is 1",
        "minimize errors",
        f"require depth <= {depth}",
        *(required[kind] for kind in kinds),
        "forbid split on group",
        f"solve with {options.backend} within {options.within} s",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
