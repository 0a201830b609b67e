"""Random tables, specifications and time limits -> what stopped runs promise, and where they break it.

`python -m benchmarks.stopped --cases 100 --seed 0` draws cases of many kinds: numbers, tests and categories, 100 to a
million rows, 2 to 500 columns, goals and requirements of every sort, limits from 0.2 to 20 seconds. Every run is a
process of its own, of the command line on a file or of one call in Python on a frame, and has to keep these promises:

- it ends within a second or 5 % of its limit, whichever is more, unless other programs had the processor;
- it has a tree if a rival has one, and one within a second per million cells where CART has one;
- its tree is at least as good as CART's, as the best with one split, and as the best with two levels, each if that
  meets the requirements and is proved in the same time;
- its bound holds for every tree that any run found, and if it says infeasible, no run has a tree;
- its exit code is that of its answer, and neither it nor a rival fails.

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
from time import monotonic, process_time
from typing import Any

import numpy as np
import polars as pl

from benchmarks.stopped_cases import Case, drawn

GRACE = 60.0  # seconds after which a run that does not end is ended
SPEC_IS_WRONG, INFEASIBLE, NO_TREE, FAILED = 1, 3, 4, 5  # exit codes
ANSWERED = {"optimal": (0,), "feasible": (0,), "local": (0,), "infeasible": (0, INFEASIBLE), "unknown": (0, NO_TREE)}


@dataclass
class Run:
    """One process: what it answered and how long it took."""

    answer: dict[str, Any]
    seconds: float
    processor: float
    said: str = ""
    code: int = 0  # of the process; 0 for a call in Python that ended as documented

    @property
    def value(self) -> list[float] | None:
        found = self.answer.get("objective")
        if found is None or self.answer.get("status") in (None, "unknown", "infeasible"):
            return None
        return [float(each) for each in (found if isinstance(found, (list, tuple)) else [found])]


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
        command = [sys.executable, "-m", "benchmarks.stopped", "--one", str(spec), str(data), str(within)]
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
    took, processor = answer.get("took", seconds), answer.get("processor", used)
    return Run(answer, took, processor, answer.get("said", errors.strip()[-300:]), answer.get("code", child.returncode))


def called(spec: str, data: str, within: str) -> dict[str, Any]:
    """One call in Python, on a frame that is read before."""
    import treeml as tml

    frame = pl.read_csv(data) if data.endswith("csv") else pl.read_parquet(data)
    begun, used = monotonic(), process_time()
    try:
        result = tml.parse(Path(spec).read_text()).solve(frame, within=float(within))
    except tml.SpecError as error:
        code = FAILED if isinstance(error, tml.BackendError) else 0
        return {"status": None, "said": str(error)[:300], "code": code, **_spent(begun, used)}
    answer = {name: getattr(result, name) for name in ("objective", "bound", "notes")}
    return {**answer, "status": result.status.value, **_spent(begun, used)}


def _spent(begun: float, used: float) -> dict[str, float]:
    return {"took": monotonic() - begun, "processor": process_time() - used}


def broken_promises(case: Case, verdict: Verdict) -> Any:
    mine, within = verdict.mine, case.within
    latest = within + max(1.0, 0.05 * within)
    if min(mine.seconds, mine.processor) > latest:
        yield f"late: {mine.seconds:.2f} s, {mine.processor:.2f} s of the processor"
    elif mine.seconds > latest:
        return  # it had too little of the processor for a comparison
    known = {name: rival for name, rival in verdict.rivals.items() if rival.value is not None}
    status = mine.answer.get("status")
    for name, each in {"the run": mine, **verdict.rivals}.items():
        if each.code not in ANSWERED.get(each.answer.get("status"), (0, SPEC_IS_WRONG, NO_TREE)):
            yield f"{name} ended with code {each.code} ({each.answer.get('status')}): {each.said}"
    if status is None and "refused" not in mine.said and not known:
        return
    if status == "infeasible" and known:
        yield f"says infeasible, and {', '.join(known)} has a tree"
    if mine.value is None:
        if known and status != "infeasible":
            yield f"no tree ({status}, {mine.said}), and {', '.join(known)} has one"
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
