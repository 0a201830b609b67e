"""Data folder -> the solver back-ends on their benchmark sets: `python -m benchmarks.encodings --data-dir DIR`.

One thread each. Seconds are wall clock from the Problem to the answer, including building; CPU seconds next to them
show how much of it was waiting on a busy machine. Every answer is checked against the known optimum.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.data_folder import folder_of_folders
from treeml.backends.contract import Answer, Deadline, Limits, Status
from treeml.problem.problem import Bound, Feature, Goal, Problem, Test
from treeml.problem.terms import Depth, Predicted, Sum

ONE = Fraction(1)


@dataclass(frozen=True)
class Line:
    """One measurement and the values that it is compared with."""

    name: str
    who: str
    answer: Answer
    seconds: float
    processor: float
    best: int | None
    bar: float | None
    said: str = ""  # for a line of another solver: how it compares with ours

    @property
    def is_right(self) -> bool:
        proved = self.answer.status is Status.OPTIMAL
        objective = self.answer.objective
        return proved and (self.best is None or (objective is not None and objective == (self.best,)))

    @property
    def verdict(self) -> str:
        if self.said:
            return self.said
        if self.answer.status in (Status.FEASIBLE, Status.UNKNOWN):
            return "open"
        if not self.is_right:
            return "wrong"
        return "late" if self.bar is not None and self.seconds > self.bar else "ok"

    def cells(self) -> list[str]:
        objective = str(self.answer.objective[0]) if self.answer.objective else "-"
        bar = "" if self.bar is None else f"{self.bar:g}"
        return [
            self.name, self.who, objective, self.answer.status.value, f"{self.seconds:.2f}", f"{self.processor:.2f}",
            bar, self.verdict,
        ]  # fmt: skip


FAULTS = ("wrong", "better", "faster")
HEADER = ["set", "solver", "goal", "status", "seconds", "processor", "bar", "verdict"]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encodings", description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder with cp4im, mixed, numeric and fair")
    parser.add_argument("--limit", type=float, default=200.0, help="seconds for each solve")
    parser.add_argument("--only", default="", help="run the tables whose name contains this")
    parser.add_argument("--set", action="append", help="for the last table: only this set; can be given several times")
    parser.add_argument("--odtlearn", default=sys.executable, help="a Python that has odtlearn and its solvers")
    given = parser.parse_args(arguments)
    tables: dict[str, Callable[[Path, float], Iterator[Line]]] = {
        "cover, depth 3": cover_depth_3,
        "cover, depth 4": cover_depth_4,
        "fairness": fairness,
        "building": building,
        "minimum depth on raw columns": least_depth,
        "accuracy on raw columns": raw_accuracy,
        "formulations, depth 2": formulations,
        "comparison with odtlearn": partial(against_odtlearn, python=given.odtlearn, sets=given.set or BESIDE_ODTLEARN),
    }
    folder_of_folders(given.data_dir, "", ("cp4im", "fair", "mixed", "numeric"))
    warm_up()
    failed = 0
    for title, table in tables.items():
        if given.only not in title:
            continue
        sys.stdout.write(f"\n{title}\n")
        write_row(HEADER)
        for line in table(given.data_dir, given.limit):
            write_row(line.cells())
            failed += line.verdict in FAULTS or (line.verdict == "open" and line.bar is not None)
    return 1 if failed else 0


def warm_up() -> None:
    """Import the solvers before measuring: an import takes as long as some solves."""
    bits = np.array([[False, False, True, True], [False, True, False, True]])
    for who in ("cpsat", "mip", "maxsat"):
        measure("", who, binary(bits, np.array([0, 1, 1, 0]), 1), {}, None, None, 60.0)


def write_row(cells: list[str]) -> None:
    widths = (37, 22, 10, 11, 9, 10, 7, 9)
    sys.stdout.write("  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip() + "\n")
    sys.stdout.flush()


# -- tables ---------------------------------------------------------------------------

DEPTH_3 = {
    "monk1": 10,
    "monk2": 41,
    "monk3": 6,
    "balance-scale": 141,
    "tic-tac-toe": 216,
    "hepatitis": 10,
    "primary-tumor": 46,
}
DEPTH_4 = {"tic-tac-toe": 137, "hepatitis": 3, "lymph": 3, "vote": 5, "soybean": 14, "anneal": 91}


def cover_depth_3(folder: Path, limit: float) -> Iterator[Line]:
    for name, best in DEPTH_3.items():
        yield from _by_cover(folder, name, 3, best, 2.0, limit)


def cover_depth_4(folder: Path, limit: float) -> Iterator[Line]:
    for name, best in DEPTH_4.items():
        yield from _by_cover(folder, name, 4, best, 3.0, limit)
    yield from _by_cover(folder, "german-credit", 4, 204, 12.0, limit)


def _by_cover(folder: Path, name: str, depth: int, best: int, bar: float, limit: float) -> Iterator[Line]:
    problem = named(folder, name, depth)
    yield measure(f"{name} depth {depth}", "cpsat", problem, {"encoding": "cover"}, best, bar, limit)
    yield measure(f"{name} depth {depth}", "mip", problem, {"formulation": "cover"}, best, bar, limit)


FAIR = {  # (set, depth, tolerance, kind) -> errors proved optimal by another solver
    ("student-mat", 2, "0.01", "parity"): 48,
    ("student-mat", 2, "0.01", "opportunity"): 30,
    ("student-mat", 2, "0.05", "parity"): 32,
    ("student-mat", 2, "0.05", "opportunity"): 30,
    ("student-por", 2, "0.01", "parity"): 68,
    ("student-por", 2, "0.01", "opportunity"): 61,
    ("student-por", 2, "0.05", "parity"): 47,
    ("student-por", 2, "0.05", "opportunity"): 47,
    ("german-credit", 2, "0.01", "parity"): 277,
    ("german-credit", 2, "0.01", "opportunity"): 277,
    ("german-credit", 2, "0.05", "parity"): 270,
    ("german-credit", 2, "0.05", "opportunity"): 270,
    ("student-mat", 3, "0.01", "parity"): 33,
    ("student-mat", 3, "0.01", "opportunity"): 26,
    ("student-mat", 3, "0.05", "parity"): 26,
    ("student-mat", 3, "0.05", "opportunity"): 26,
    ("student-por", 3, "0.01", "parity"): 46,
    ("student-por", 3, "0.01", "opportunity"): 41,
    ("student-por", 3, "0.05", "parity"): 41,
    ("student-por", 3, "0.05", "opportunity"): 41,
    ("german-credit", 3, "0.01", "parity"): 253,
    ("german-credit", 3, "0.01", "opportunity"): None,
    ("german-credit", 3, "0.05", "parity"): None,
    ("german-credit", 3, "0.05", "opportunity"): None,
}


def fairness(folder: Path, limit: float) -> Iterator[Line]:
    for (name, depth, tolerance, kind), best in FAIR.items():
        problem = fair(folder, name, depth, Fraction(tolerance), kind)
        title = f"{name} depth {depth} {kind} {tolerance}"
        bar = 0.5 if depth == 2 else 60.0
        for who in ("cpsat", "mip"):
            yield measure(title, who, problem, {}, best, bar, limit)


def building(folder: Path, limit: float) -> Iterator[Line]:
    """Build every column of the cover from the problem, price it in every form, and build the program."""
    from treeml.backends.solvers.encodings.cover.coupling_rows import coupling_of
    from treeml.backends.solvers.encodings.cover.cover_program import all_columns, chosen_columns, write_program
    from treeml.backends.solvers.encodings.cover.cover_tables import build_cover
    from treeml.backends.task.read_problem import read_problem

    problem = fair(folder, "german-credit", 3, Fraction("0.01"), "parity")
    began, spent = perf_counter(), process_time()
    asked = read_problem(problem)
    cover, coupling = build_cover(problem, asked, Deadline.after(limit)), coupling_of(problem, asked)
    columns = chosen_columns(cover, all_columns(cover), coupling)
    program = write_program(cover, columns, coupling)
    answer = Answer(Status.FEASIBLE, _stop_of(Status.FEASIBLE), None, (Fraction(program.columns),))
    seconds, processor = perf_counter() - began, process_time() - spent
    said = "ok" if seconds <= 2 else "late"
    yield Line("german-credit depth 3 parity 0.01", "columns of the cover", answer, seconds, processor, None, 2.0, said)


LEAST_DEPTH = {"iris": (4, None), "wine": (3, None), "cryotherapy": (4, None), "banknote": (4, 5.82)}
ACCURACY = {  # (set, depth) -> errors and the seconds of Shati, Cohen and McIlraith (2021)
    ("iris", 2): (6, 0.6), ("iris", 3): (1, 0.77), ("iris", 4): (0, 0.82),
    ("wine", 2): (6, 1.25), ("wine", 3): (0, 1.62),
    ("cryotherapy", 2): (5, 0.57), ("cryotherapy", 3): (1, 0.73), ("cryotherapy", 4): (0, 0.75),
    ("banknote", 4): (0, 18.98), ("banknote", 2): (100, 16.83), ("banknote", 3): (23, 105.79),
}  # fmt: skip


def least_depth(folder: Path, limit: float) -> Iterator[Line]:
    """Ask for a perfect tree of depth 0, 1, 2, ... until there is one."""
    from treeml.backends.planning.plan import Plan, plan
    from treeml.backends.registry import get

    for name, (best, bar) in LEAST_DEPTH.items():
        problem = numeric(folder, name, 9)
        perfect = Bound(problem.goals[0].sum, "=", Fraction(0), "errors")
        asked = problem.asking((Goal(Sum(((ONE, Depth()),))),), (problem.bounds[0], perfect))
        planned = plan(asked, get("sat"))
        assert isinstance(planned, Plan)
        began, spent = perf_counter(), process_time()
        answer = planned.solve(Limits(Deadline.after(limit)))
        yield Line(name, "sat", answer, perf_counter() - began, process_time() - spent, best, bar)


def raw_accuracy(folder: Path, limit: float) -> Iterator[Line]:
    for (name, depth), (best, bar) in ACCURACY.items():
        problem = numeric(folder, name, depth)
        yield measure(f"{name} depth {depth}", "maxsat", problem, {}, best, bar, limit)
        yield measure(f"{name} depth {depth}", "maxsat", problem, {"encoding": "leaves"}, best, None, limit)


def formulations(folder: Path, limit: float) -> Iterator[Line]:
    """The other formulations, for comparison; their times are not judged."""
    for name, best in (("monk1", 22), ("hepatitis", 16)):
        problem = named(folder, name, 2)
        for who, options in (
            ("cpsat", {"encoding": "cover"}),
            ("mip", {"formulation": "cover"}),
            ("cpsat", {"encoding": "rows"}),
            ("cpsat", {"encoding": "order"}),
            ("mip", {"formulation": "flow"}),
            ("mip", {"formulation": "flow", "solver": "scip"}),
            ("mip", {"formulation": "binoct"}),
            ("mip", {"formulation": "aggregated"}),
            ("maxsat", {"encoding": "binary"}),
            ("maxsat", {"encoding": "leaves"}),
        ):
            yield measure(f"{name} depth 2", who, problem, options, best, None, min(limit, 60.0))


BESIDE_ODTLEARN = (*DEPTH_3, "lymph", "vote", "soybean", "anneal", "german-credit")


def against_odtlearn(
    folder: Path, limit: float, python: str = sys.executable, sets: Sequence[str] = BESIDE_ODTLEARN
) -> Iterator[Line]:
    """Our solver, with and without the presolve bound, then odtlearn; if a run fails, the reason is printed."""
    for name in sets:
        for depth in (2, 3):
            title, problem = f"{name} depth {depth}", named(folder, name, depth)
            best = DEPTH_3.get(name) if depth == 3 else None
            ours = [measure(title, "mip", problem, options, best, None, limit) for options in ({}, {"presolve": False})]
            yield from ours
            for kind in ("FlowOCT", "BendersOCT"):
                for solver in ("cbc", "gurobi"):
                    found = by_odtlearn(problem, kind, solver, depth, int(min(limit, 60)), python)
                    who = f"{kind} {solver}"
                    if isinstance(found, str):
                        sys.stdout.write(f"{title}: {who}: {found}\n")
                    else:
                        yield peer_line(title, who, found, ours)


def by_odtlearn(
    problem: Problem, kind: str, solver: str, depth: int, seconds: int, python: str
) -> dict[str, Any] | str:
    """The output of the odtlearn process, or the reason why it failed."""
    import subprocess
    import tempfile

    actual = problem.goals[0].sum.parts[0][1].cost.argmin(axis=1)  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory() as place:
        rows = Path(place) / "rows.csv"
        np.savetxt(rows, np.column_stack([actual, problem.bits.T.astype(int)]), fmt="%d", delimiter=",")
        child = Path(__file__).with_name("odtlearn_child.py")
        command = [python, str(child), str(rows), kind, solver, str(depth), str(seconds)]
        try:
            # Some combinations ignore the limit, so the process is killed after twice the limit.
            run = subprocess.run(command, capture_output=True, text=True, timeout=2 * seconds, check=False)
        except subprocess.TimeoutExpired:
            return f"did not end in {2 * seconds} s with a limit of {seconds} s"
    if run.returncode:
        return "does not run: " + (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1]
    said: dict[str, Any] = json.loads(run.stdout.strip().splitlines()[-1])
    return said


def peer_line(title: str, who: str, found: dict[str, Any], ours: list[Line]) -> Line:
    """A gap below one row is a claim of optimality; a better tree, which may be ours, refutes it."""
    proved = found["open"] < 1
    status = Status.OPTIMAL if proved else Status.FEASIBLE
    answer = Answer(status, _stop_of(status), None, (Fraction(found["errors"]),))
    slowest = max(line.seconds for line in ours)
    best = ours[0].answer.objective
    assert best is not None
    if found["errors"] < best[0]:
        verdict = "better"
    elif proved and found["errors"] > best[0]:
        verdict = "not best"
    else:
        verdict = "faster" if proved and found["seconds"] <= slowest else "slower"
    return Line(title, who, answer, found["seconds"], found["processor"], None, None, verdict)


def _stop_of(status: Status) -> Any:
    from treeml.backends.contract import Stop

    return Stop.PROVED if status is Status.OPTIMAL else Stop.TIME


def measure(
    title: str, who: str, problem: Problem, options: dict[str, Any], best: int | None, bar: float | None, limit: float
) -> Line:
    from treeml.backends.registry import get

    backend = get(who)
    said = " ".join(f"{key}={value}" if isinstance(value, bool) else str(value) for key, value in options.items())
    began, spent = perf_counter(), process_time()
    answer = backend.solve(problem, Limits(Deadline.after(limit), options=options))
    seconds, processor = perf_counter() - began, process_time() - spent
    return Line(title, f"{who} {said}".strip(), answer, seconds, processor, best, bar)


# -- data -------------------------------------------------------------------------------


def named(folder: Path, name: str, depth: int) -> Problem:
    if name.startswith("monk"):
        table = _read(folder / "mixed" / f"monks-{name[-1]}-train.csv")
        columns = list(zip(*table[1:], strict=True))
        bits = [
            np.array([value == level for value in column]) for column in columns[:-1] for level in sorted(set(column))
        ]
        return binary(np.array(bits), _numbers(columns[-1]), depth)
    if name == "balance-scale":
        rows = np.array(np.meshgrid(*[range(1, 6)] * 4, indexing="ij")).reshape(4, -1)
        moment = np.sign(rows[0] * rows[1] - rows[2] * rows[3])
        bits = np.array([column <= cut for column in rows for cut in range(1, 5)])
        return binary(bits, moment + 1, depth)
    values = np.array(_read(folder / "cp4im" / f"{name}.csv")[1:], dtype=int)
    return binary(values[:, 1:].T.astype(bool), values[:, 0], depth)


def binary(bits: Any, actual: Any, depth: int, bounds: tuple[Bound, ...] = ()) -> Problem:
    """Each distinct split once, as after the reduction."""
    seen, kept = set(), []
    for column in bits:
        if column.all() or not column.any():
            continue
        key = min(column.tobytes(), (~column).tobytes())
        if key not in seen:
            seen.add(key)
            kept.append(column)
    features = tuple(Feature(f"x{j}", "binary", 2, None, j, 1) for j in range(len(kept)))
    tests = tuple(Test(j, "true") for j in range(len(kept)))
    goal, deep = _errors(actual), _deep(depth)
    classes = int(max(actual)) + 1
    count = np.ones(len(actual), np.int64)
    return Problem(features, tests, count, classes, (Goal(goal),), (deep, *bounds), np.array(kept))


def fair(folder: Path, name: str, depth: int, tolerance: Fraction, kind: str) -> Problem:
    """The group is the first feature, which the tree may not split on."""
    values = np.array(_read(folder / "fair" / f"{name}.csv")[1:], dtype=int)
    actual, group, bits = values[:, 0], values[:, 1], values[:, 2:].T.astype(bool)
    among = np.ones(len(actual), bool) if kind == "parity" else actual == 1
    one, other = among & (group == 0), among & (group == 1)
    cost = np.zeros((len(actual), 2), np.int64)
    cost[one, 1], cost[other, 1] = int(other.sum()), -int(one.sum())
    gap = Sum(((ONE, Predicted(cost)),))
    most = tolerance * int(one.sum()) * int(other.sum())
    return binary(bits, actual, depth, (Bound(gap, "<=", most, kind), Bound(gap, ">=", -most, kind)))


def numeric(folder: Path, name: str, depth: int) -> Problem:
    table = _read(folder / "numeric" / f"{name}.csv")
    place = table[0].index("label")
    actual = _numbers([row[place] for row in table[1:]])
    features: list[Feature] = []
    tests: list[Test] = []
    for column, title in enumerate(table[0]):
        if column == place:
            continue
        levels, codes = np.unique([float(row[column]) for row in table[1:]], return_inverse=True)
        if len(levels) > 1:
            number = len(features)
            cuts = len(levels) - 1
            features.append(Feature(title, "ordered", len(levels), codes.astype(np.int32), len(tests), cuts))
            tests += [Test(number, "at most", (cut,)) for cut in range(cuts)]
    count = np.ones(len(actual), np.int64)
    classes = int(actual.max()) + 1
    return Problem(tuple(features), tuple(tests), count, classes, (Goal(_errors(actual)),), (_deep(depth),))


def _errors(actual: Any) -> Sum:
    classes = int(max(actual)) + 1
    return Sum(((ONE, Predicted((np.arange(classes)[None, :] != np.asarray(actual)[:, None]).astype(np.int64))),))


def _deep(depth: int) -> Bound:
    return Bound(Sum(((ONE, Depth()),)), "<=", Fraction(depth), "depth")


def _numbers(labels: Any) -> Any:
    names = sorted(set(labels))
    return np.array([names.index(label) for label in labels])


def _read(path: Path) -> list[list[str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


if __name__ == "__main__":
    sys.exit(main())
