"""Random tables, specifications and time limits -> what stopped runs promise, and where they break it.

`python -m benchmarks.stopped --cases 100 --seed 0` draws cases of many kinds: numbers, tests and categories, 100 to a
million rows, 2 to 500 columns, goals and requirements of every sort, limits from 0.2 to 20 seconds. Every run is a
process of its own, of the command line on a file or of one call in Python on a frame, and has to keep these promises:

- it ends within a second or 5 % of its limit, whichever is more, unless other programs had the processor;
- it has a tree if a rival has one, and one within a second per million cells where CART has one;
- its tree is at least as good as CART's, as the best with one split, and as the best with two levels, each if that
  meets the requirements and is proved in the same time;
- its bound holds for every tree that any run found, and if it says infeasible, no run has a tree.

`--case N` repeats one case, `--patience 3` gives rivals three times the limit, `--keep DIR` keeps the files.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, thread_time
from typing import Any

import numpy as np
import polars as pl

KINDS = ("decimals", "integers", "binary", "categories", "mixed")
MOST_CELLS = 12_000_000
GRACE = 60.0  # seconds after which a run that does not end is ended
SECONDS_PER_CELL = 1e-6  # for reading and a first tree


@dataclass
class Case:
    """What is asked for; `senses` has 1 for every goal to minimize and -1 for every goal to maximize."""

    frame: pl.DataFrame
    kind: str
    lines: list[str]
    senses: list[int]
    depth: int | None
    within: float
    is_file: bool
    ending: str = "csv"

    def text(self, depth: int | None, backend: str = "") -> str:
        limit = [] if depth is None else [f"require depth <= {depth}"]
        return "\n".join([*self.lines, *limit, *([f"solve with {backend}"] if backend else [])]) + "\n"

    @property
    def title(self) -> str:
        way = f"file.{self.ending}" if self.is_file else "call"
        asked = "; ".join(line for line in self.text(self.depth).splitlines() if not line.startswith("predict"))
        return f"{self.frame.height} x {self.frame.width - 1} {self.kind}, {self.within:g} s, {way}: {asked}"


@dataclass
class Run:
    """One process: what it answered and how long it took."""

    answer: dict[str, Any]
    seconds: float
    processor: float
    said: str = ""

    @property
    def value(self) -> list[float] | None:
        found = self.answer.get("objective")
        if found is None or self.answer.get("status") in (None, "unknown", "infeasible"):
            return None
        return [float(each) for each in (found if isinstance(found, list) else [found])]


@dataclass
class Verdict:
    mine: Run
    rivals: dict[str, Run] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)


def main() -> None:
    options = arguments()
    if options.one:
        print(json.dumps(called(*options.one)))
        return
    broken = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for number in [options.case] if options.case is not None else range(options.first, options.cases):
            case = drawn(np.random.default_rng([options.seed, number]))
            verdict = judged(case, folder, options.patience)
            broken += bool(verdict.broken)
            told = verdict.broken or ([shown(verdict)] if options.verbose or options.case is not None else [])
            for line in told:
                print(f"{number} {case.title}\n    {line}", flush=True)
            if verdict.broken:
                print(f"    {shown(verdict)}", flush=True)
    print(f"seed {options.seed}: {broken} cases in which a promise was broken", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--case", type=int, help="this one alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--patience", type=float, default=1.0, help="times the limit, for the rivals")
    parser.add_argument("--verbose", action="store_true", help="also print the cases in which nothing is broken")
    parser.add_argument("--keep", type=Path, help="keep the last files in this folder")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


def drawn(draw: np.random.Generator) -> Case:
    """A case; the same generator draws the same one."""
    rows = int(10 ** draw.choice([draw.uniform(2, 4), draw.uniform(2, 4), draw.uniform(4, 6)]))
    columns = int(min(2 ** draw.uniform(1, 9), max(2, MOST_CELLS // rows)))
    kind = str(draw.choice(KINDS))
    is_number = draw.random() < 0.2
    classes = 2 if draw.random() < 0.7 else int(draw.integers(3, 8))
    frame = table(draw, rows, columns, kind, 0 if is_number else classes)
    lines, senses, needs_depth = asked(draw, is_number, rows)
    depth = int(draw.integers(1, 7)) if needs_depth or draw.random() < 0.7 else None
    within = round(float(np.exp(draw.uniform(np.log(0.2), np.log(20)))), 1)
    is_file, ending = draw.random() < 0.5, str(draw.choice(["csv", "parquet"]))
    predicted = 'predict y is "q"' if any("gap" in line for line in lines) else "predict y"
    return Case(frame, kind, [predicted, *lines], senses, depth, within, is_file, ending)


def table(draw: np.random.Generator, rows: int, columns: int, kind: str, classes: int) -> pl.DataFrame:
    """Columns of a kind, and a target that follows a few of them by a random tree, with noise; 0 classes: numbers."""
    values: dict[str, Any] = {}
    codes = []
    for number in range(columns):
        own = str(draw.choice(KINDS[:-1])) if kind == "mixed" else kind
        column = _column(draw, rows, own)
        codes.append(column)
        values[f"x{number}"] = np.array(list("abcdefgh"))[column] if own == "categories" else column
    group = draw.integers(0, 2, rows)
    target = _followed(draw, codes, rows, int(draw.integers(2, 6)))
    if classes:
        label = (target % classes).astype(np.int64)
        noisy = draw.random(rows) < draw.choice([0.0, 0.05, 0.2, 0.4])
        rare = draw.random() < 0.3  # most rows of one class
        label[noisy] = draw.integers(0, classes, int(noisy.sum()))
        if rare:
            label[draw.random(rows) < 0.8] = 0
        label[:classes] = np.arange(classes)
        y: Any = np.array(list("pqrstuvw"))[label]
    else:
        y = np.round(target + draw.normal(size=rows) * draw.choice([0.1, 1.0]), 3)
    return pl.DataFrame({**values, "g": np.array(["f", "m"])[group], "w": draw.integers(1, 5, rows), "y": y})


def _column(draw: np.random.Generator, rows: int, kind: str) -> Any:
    if kind == "decimals":
        return np.round(draw.normal(size=rows), int(draw.choice([2, 4, 8])))
    levels = {"integers": int(draw.choice([5, 30, 1000])), "binary": 2, "categories": int(draw.integers(2, 9))}[kind]
    return draw.integers(0, levels, rows)


def _followed(draw: np.random.Generator, codes: list[Any], rows: int, depth: int) -> Any:
    """A number per row, by a random tree."""
    place = np.zeros(rows, dtype=np.int64)
    for _ in range(depth):
        column = np.asarray(codes[int(draw.integers(len(codes)))], dtype=np.float64)
        place = 2 * place + (column > np.quantile(column, draw.uniform(0.2, 0.8)))
    return draw.integers(0, 12, 1 << depth)[place]


def asked(draw: np.random.Generator, is_number: bool, rows: int) -> tuple[list[str], list[int], bool]:
    """The lines of a specification but for the depth, the senses of its goals, and whether it needs a depth."""
    lines, needs_depth = ["features all except w"], False
    if draw.random() < 0.2:
        lines.append("weight by w")
    if is_number:
        loss = str(draw.choice(["squared_loss", "absolute_loss", "quantile_loss(0.8)"]))
        goals, needs_depth = [f"minimize {loss}"], True
    else:
        goals, more, needs_depth = _goals(draw)
        lines += more
    if draw.random() < 0.3:
        lines.append(f"require support >= {int(draw.choice([2, 10, max(2, rows // 50)]))} rows")
    if draw.random() < 0.3:
        lines.append(f"require leaves <= {int(draw.integers(2, 12))}")
        needs_depth = False
    if not is_number and draw.random() < 0.35:
        lines.append(_requirement(draw))
    senses = [1 if "minimize" in goal else -1 for goal in goals]
    return [*lines, *goals], senses, needs_depth


def _goals(draw: np.random.Generator) -> tuple[list[str], list[str], bool]:
    """Goals, further lines that they need, and whether they need a depth."""
    choices: list[tuple[list[str], list[str], bool]] = [
        (["minimize errors"], [], True),
        (["maximize accuracy"], [], True),
        (["maximize balanced_accuracy"], [], True),
        (["minimize mistake_cost"], ['cost predict "p" when "q" = 7', 'cost predict "q" when "p" = 2'], True),
        ([f"minimize error_rate + {draw.choice([0.0005, 0.002, 0.01])} * leaves"], [], False),
        (["minimize errors", "then minimize leaves"], [], True),
        (["minimize leaves"], [f"require accuracy >= {draw.choice([0.5, 0.6, 0.7])}"], False),
        (["minimize leaves", "then minimize errors"], [f"require accuracy >= {draw.choice([0.5, 0.6])}"], False),
        (['maximize f1("q")'], [], True),
        (['maximize recall("q")'], [f'require precision("q") >= {draw.choice([0.3, 0.5, 0.7])}'], True),
        (["minimize errors + 0.1 * test_cost"], ["cost test x0 = 2", "cost test x1 = 1"], True),
        (["minimize parity_gap(g)"], [f"require accuracy >= {draw.choice([0.5, 0.6])}"], True),
    ]
    return choices[int(draw.integers(len(choices)))]


def _requirement(draw: np.random.Generator) -> str:
    return str(
        draw.choice(
            [
                f'require recall("q") >= {draw.choice([0.3, 0.6, 0.9])}',
                f'require precision("q") >= {draw.choice([0.3, 0.6])}',
                f'require specificity("q") >= {draw.choice([0.5, 0.8])}',
                'require rate(predicted = "q" given g = "f") - rate(predicted = "q" given g = "m") <= 0.05',
                f"require accuracy >= {draw.choice([0.5, 0.7])}",
                f"require features_used <= {int(draw.integers(2, 5))}",
                f"require purity >= {draw.choice([0.5, 0.6])}",
            ]
        )
    )


def judged(case: Case, folder: Path, patience: float) -> Verdict:
    """The run of the case and of its rivals, and the promises that are broken."""
    case.frame.write_csv(folder / "data.csv") if case.ending == "csv" else case.frame.write_parquet(
        folder / "data.parquet"
    )
    mine = run(case, folder, case.text(case.depth), case.within)
    verdict = Verdict(mine)
    if mine.answer.get("status") != "optimal":
        most = patience * max(case.within, 1.0)
        for name, text, seconds in (
            ("cart", case.text(case.depth, "cart"), 60.0),
            ("one split", case.text(1), most),
            ("two levels", case.text(2), most),
        ):
            levels = {"one split": 1, "two levels": 2}.get(name, 0)
            if case.depth is None or levels <= case.depth:
                verdict.rivals[name] = run(case, folder, text, seconds)
    verdict.broken = list(broken_promises(case, verdict))
    return verdict


def run(case: Case, folder: Path, text: str, within: float) -> Run:
    """One process, on the file or on the frame."""
    spec = folder / "spec.tml"
    spec.write_text(text)
    data = folder / f"data.{case.ending}"
    if case.is_file:
        command = [sys.executable, "-m", "treeml", "solve", str(spec), "--data", str(data), "-q", "--json"]
        command += ["--within", f"{within}s"]
    else:
        command = [sys.executable, __file__, "--one", str(spec), str(data), str(within)]
    begun = monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        said, errors = child.communicate(timeout=within + GRACE)
    except subprocess.TimeoutExpired:
        child.kill()
        said, errors = child.communicate()
    seconds = monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    try:
        answer: dict[str, Any] = json.loads(said.splitlines()[-1] if not case.is_file else said)
    except (ValueError, IndexError):
        answer = {}
    return Run(answer, answer.get("took", seconds), answer.get("processor", used), errors.strip()[-300:])


def called(spec: str, data: str, within: str) -> dict[str, Any]:
    """One call in Python, on a frame that is read before."""
    import treeml as tml

    frame = pl.read_csv(data) if data.endswith("csv") else pl.read_parquet(data)
    begun, used = monotonic(), thread_time()
    try:
        result = tml.parse(Path(spec).read_text()).solve(frame, within=float(within))
    except tml.SpecError as error:
        return {"status": None, "said": str(error)[:300], **_spent(begun, used)}
    answer = {name: getattr(result, name) for name in ("objective", "bound", "notes")}
    return {**answer, "status": result.status.value, **_spent(begun, used)}


def _spent(begun: float, used: float) -> dict[str, float]:
    return {"took": monotonic() - begun, "processor": thread_time() - used}


def broken_promises(case: Case, verdict: Verdict) -> Any:
    mine, within = verdict.mine, case.within
    latest = within + max(1.0, 0.05 * within)
    if min(mine.seconds, mine.processor) > latest:
        yield f"late: {mine.seconds:.2f} s, {mine.processor:.2f} s of the processor"
    elif mine.seconds > latest:
        return  # it had too little of the processor for a comparison
    known = {name: rival for name, rival in verdict.rivals.items() if rival.value is not None}
    status = mine.answer.get("status")
    if status is None and "refused" not in mine.said and not known:
        return
    if status == "infeasible" and known:
        yield f"says infeasible, and {', '.join(known)} has a tree"
    if mine.value is None:
        if known and status != "infeasible":
            yield f"no tree ({status}, {mine.said or mine.answer.get('said', '')}), and {', '.join(known)} has one"
        return
    for name, rival in known.items():
        is_fair = rival.answer["status"] == "optimal" or (name == "cart" and rival.processor <= within + 1.0)
        if is_fair and is_better(rival, mine, case.senses):
            yield f"worse than {name}"
        bound = mine.answer.get("bound")
        if isinstance(bound, (int, float)) and rival.value is not None and len(case.senses) == 1:
            sense = case.senses[0]
            if sense * rival.value[0] < sense * bound - 1e-9 * abs(bound):
                yield f"the bound {bound} does not hold for {name}"


def is_better(one: Run, other: Run, senses: list[int]) -> bool:
    assert one.value is not None
    assert other.value is not None
    ours = [sense * value for sense, value in zip(senses, one.value, strict=True)]
    theirs = [sense * value for sense, value in zip(senses, other.value, strict=True)]
    close = [a if abs(a - b) > 1e-9 * max(abs(a), abs(b)) else b for a, b in zip(ours, theirs, strict=True)]
    return close < theirs


def shown(verdict: Verdict) -> str:
    runs = {"default": verdict.mine, **verdict.rivals}
    return "; ".join(f"{name} {_described(each)}" for name, each in runs.items())


def _described(run: Run) -> str:
    took = f"{run.seconds:.1f} s, {run.processor:.1f} s of the processor"
    return f"{run.value} ({run.answer.get('status')}, {took}, bound {run.answer.get('bound')})"


if __name__ == "__main__":
    main()
