"""data folder -> a table of solving times with requirements that couple the leaves, beside pystreed if it is there.

`python -m benchmarks.coupled --data-dir DIR --pystreed PYTHON`. DIR, or its folder `fair`, holds adult, compas,
german-credit, student-mat and student-por as binary CSV with a header: the label first and the sensitive group second,
in compas the label last.
`--pystreed` names a Python that has pystreed; without it only our times are printed. Times are those of the whole call
`model.solve` from a frame to a verified result, and of the whole `fit` there, each with one thread, in seconds of the
processor, so that other work on the machine matters less. Each side is one process that takes the cases in turn; one
that does not end in time is replaced. Very short calls are repeated for a quarter of a second, and the fastest counts;
`--rounds` lets both sides take turns. Ratios refer to the whole calls.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.data_folder import data_folder

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
    if options.serve:
        for asked in sys.stdin:
            print("\n" + json.dumps(measure(options, FairCase(**json.loads(asked)))), flush=True)
        return
    options.data_dir = data_folder(options.data_dir, "fair", options.sets)
    print(f"{'case':40}{'ours, s':>12}{'errors':>9}{'pystreed, s':>14}{'errors':>9}{'ratio':>9}")
    ratios: dict[int, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        ours_side, peer_side = Ours(options), Peer(options, Path(folder)) if options.pystreed else None
        for case in cases(options.depth, options.sets):
            peer = peer_side if case.peer_task else None
            ours, theirs = ours_side.run(case), peer.run(case) if peer else None
            for _ in range(1, options.rounds):
                ours = faster(ours, ours_side.run(case))
                theirs = faster(theirs, peer.run(case)) if peer and theirs else None
            print(line(case, ours, theirs), flush=True)
            if theirs is not None and ours["proved"]:
                # A peer that ran out of time needs at least that much: the ratio is then a lower bound.
                ratios.setdefault(case.depth, []).append(theirs["seconds"] / ours["seconds"])
        for side in (ours_side, peer_side):
            if side is not None:
                side.end()
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
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
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


class Side:
    """A process that answers one case after the other: a line of JSON for each line of JSON."""

    def __init__(self, command: list[str], within: float) -> None:
        self.command, self.patience = command, 2 * within + 60
        self.process: subprocess.Popen[str] | None = None
        self.lines: queue.Queue[str] = queue.Queue()

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer, or a lost run; some searches end long after their time limit."""
        process = self.process or self.begin()
        assert process.stdin is not None
        process.stdin.write(json.dumps(question) + "\n")
        process.stdin.flush()
        while True:
            try:
                said = self.lines.get(timeout=self.patience)
            except queue.Empty:
                self.end()
                return {**LOST, "seconds": self.patience}
            if not said:  # it died, and has said why
                self.end()
                return dict(LOST)
            if said.startswith("{"):
                return dict(json.loads(said))

    def begin(self) -> subprocess.Popen[str]:
        quiet = {
            **os.environ,
            "OPENBLAS_NUM_THREADS": "1",
        }  # idle threads of numpy would count as time of the processor
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = process = subprocess.Popen(self.command, text=True, env=quiet, **pipes)
        self.lines = lines = queue.Queue()

        def read() -> None:
            assert process.stdout is not None
            for each in process.stdout:
                lines.put(each)
            lines.put("")

        threading.Thread(target=read, daemon=True).start()
        return process

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = None


class Ours(Side):
    def __init__(self, options: argparse.Namespace) -> None:
        command = [sys.executable, "-m", "benchmarks.coupled", "--serve", "--data-dir", str(options.data_dir)]
        command += ["--backend", options.backend, "--within", str(options.within)]
        super().__init__(command, options.within)

    def run(self, case: FairCase) -> dict[str, Any]:
        return self.ask({"name": case.name, "depth": case.depth, "kinds": case.kinds, "limit": case.limit})


class Peer(Side):
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        super().__init__([options.pystreed, str(Path(__file__).with_name("pystreed_child.py"))], options.within)
        self.options, self.folder = options, folder

    def run(self, case: FairCase) -> dict[str, Any]:
        path = self.folder / f"{case.name}.csv"
        if not path.exists():
            label, group, rest, _ = table_of(self.options.data_dir, case.name)
            np.savetxt(path, np.column_stack([label, group, rest]), fmt="%d", delimiter=",")
        question = {"path": str(path), "task": case.peer_task, "limit": case.limit, "depth": case.depth}
        return self.ask({**question, "seconds": self.options.within})


@lru_cache(maxsize=8)
def table_of(folder: Path, name: str) -> tuple[Any, Any, Any, list[str]]:
    """Label, group, the other columns, and the names of these."""
    path = folder / f"{name}.csv"
    names = path.read_text(encoding="utf-8").splitlines()[0].split(",")
    rows = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64)
    label, group = (len(names) - 1, names.index(GROUP_OF_COMPAS)) if name == "compas" else (0, 1)
    others = [place for place in range(len(names)) if place not in (label, group)]
    return rows[:, label], rows[:, group], rows[:, others], [names[place] for place in others]


@lru_cache(maxsize=8)
def frame_of(folder: Path, name: str) -> Any:
    import polars

    label, group, rest, names = table_of(folder, name)
    return polars.DataFrame({"label": label, "group": group, **dict(zip(names, rest.T, strict=True))})


def measure(options: argparse.Namespace, case: FairCase) -> dict[str, Any]:
    """Our whole call on one case, in this process."""
    import treeml as tml

    frame = frame_of(options.data_dir, case.name)
    model = tml.parse(text_of(case.depth, case.kinds, case.limit, options))
    tml.parse(text_of(0, case.kinds, case.limit, options)).solve(frame)  # imports are not timed
    best, spent, result = math.inf, 0.0, None
    while result is None or (best < 5 and spent < WHILE):
        began = process_time()
        result = model.solve(frame)
        assert result.objective is None or result.tree is not None  # results make their parts when they are read
        seconds = process_time() - began
        best, spent = min(best, seconds), spent + seconds
    proved = result.verified and result.status is tml.Status.OPTIMAL
    errors = -1 if result.tree is None else round(float(result.measures["errors"]))
    return {"seconds": best, "errors": errors, "proved": proved}


def text_of(depth: int, kinds: Sequence[str], limit: str, options: argparse.Namespace) -> str:
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
