"""Random small problems with one to three coupled requirements -> disagreements with the oracle.

    python -m treeml.testing.coupled --cases 100000 --backend native --backend cpsat

Problems are those of `coupled_problems`. Every one is solved in a way that is drawn with it: plainly, on tests, on
columns of numbers, with two threads, from a tree, or with so little time or memory, or a listener that stops it, that
the answer may be without a proof; what it claims must hold all the same. Of infeasible problems a share is explained:
the conflict must be one, and the smallest.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from treeml.backends import registry
from treeml.backends.contract import Answer, Backend, Deadline, Limits, Progress, Status
from treeml.backends.infeasibility import filtered, planned_answer, with_names
from treeml.backends.native.kernel_choice import choose_kernel
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.lang.diagnostic import SpecError
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf
from treeml.testing.coupled_problems import coupled_problem
from treeml.testing.fuzz import BACKEND_SECONDS, ORACLE_SECONDS, Disagreement, differs, shrink, store

__all__ = ["coupled_problem", "disagreements", "main"]

WAYS = (
    *("plain",) * 6,
    *("tests", "columns") * 3,
    *(
        "threads",
        "threads on columns",
        "from a leaf",
        "no time",
        "little time",
        "little memory",
        "stopped",
        "explained",
    ),
)
REFUSED = "refused"
STOPPED = frozenset({"no time", "little time", "little memory", "stopped"})  # ways that may end without a proof


@dataclass(frozen=True, slots=True)
class Way:
    """How a problem is solved."""

    name: str
    amount: int  # of time, memory or calls, where the way has one

    def limits(self, problem: Problem, backend: Backend) -> Limits:
        options: dict[str, Any] = {}
        if backend.name == "native" and self.name.endswith(("columns", "tests")):
            options = {"kernel": "numeric" if self.name.endswith("columns") else "binary"}
            if not _is_possible(problem, options):
                options = {}
        if backend.name == "native" and self.name == "little memory" and self.amount % 8:
            options = {"hand_over": 0}
        seconds = {"no time": 0.0, "little time": self.amount / 10_000}.get(self.name, BACKEND_SECONDS)
        memory = 2 ** (16 + self.amount % 8) if self.name == "little memory" else None
        threads = 2 if self.name.startswith("threads") else 1
        return Limits(Deadline.after(seconds), memory=memory, threads=threads, options=options)


def _is_possible(problem: Problem, options: dict[str, Any]) -> bool:
    try:
        choose_kernel(problem, options)
    except ValueError:
        return False
    return isinstance(plan(problem, registry.get("native"), options), Plan)


def truth_of(problem: Problem) -> Answer:
    """The answer of the oracle. All requirements get one name: it would look for a conflict between several."""
    bounds = tuple(replace(bound, name="all") for bound in problem.bounds)
    return OracleBackend().solve(problem.asking(problem.goals, bounds), Limits(Deadline.after(ORACLE_SECONDS)))


def drawn_way(random: Random) -> Way:
    return Way(random.choice(WAYS), random.randint(1, 100))


def wrong(problem: Problem, backend: Backend, way: Way, truth: Answer | None = None) -> str | None:
    """What is wrong with the answer of a back-end, or None; a refusal is said only if `truth` is given, too."""
    given = truth is not None
    truth = truth or truth_of(problem)
    if truth.status not in (Status.OPTIMAL, Status.INFEASIBLE):
        return None
    limits = way.limits(problem, backend)
    planned = plan(problem, backend, limits.options)
    if not isinstance(planned, Plan):
        return REFUSED if given else None
    try:
        if way.name == "explained" and truth.status is Status.INFEASIBLE:
            return _wrong_conflict(problem, backend, limits)
        answer = run(planned, limits, *_beside(problem, way))
    except SpecError as error:
        return "; ".join(f"{mistake.title}: {' '.join(mistake.notes)}" for mistake in error.diagnostics)
    if way.name in STOPPED and answer.status is Status.UNKNOWN:
        answer = replace(answer, notes=(*answer.notes, "stopped"))
    return differs(answer, truth, backend)


def _beside(problem: Problem, way: Way) -> tuple[Any, Any]:
    """The tree to begin with and the listener of a run."""
    calls = 0

    def listen(moment: Progress) -> bool | None:
        nonlocal calls
        calls += 1
        return None if calls < way.amount % 4 else False

    return (
        Leaf(way.amount % max(1, problem.classes)) if way.name == "from a leaf" else None,
        listen if way.name == "stopped" else None,
    )


def _wrong_conflict(problem: Problem, backend: Backend, limits: Limits) -> str | None:
    """What is wrong with the smallest conflict that a back-end finds in an infeasible problem."""

    def verdict(part: Problem, deadline: Deadline) -> Status:
        answer = planned_answer(backend, part, replace(limits, deadline=deadline))
        return Status.UNKNOWN if answer is None else answer.status

    names, is_minimal = filtered(problem, list(dict.fromkeys(b.name for b in problem.bounds)), limits, verdict)
    if truth_of(with_names(problem, names)).status is not Status.INFEASIBLE:
        return f"{names} do not conflict"
    for name in names if is_minimal else ():
        rest = [other for other in names if other != name]
        if truth_of(with_names(problem, rest)).status is Status.INFEASIBLE:
            return f"{names} conflict without {name}, too"
    return None


def disagreements(backends: Sequence[Backend], seeds: Iterator[int], tally: Counter[str]) -> Iterator[Disagreement]:
    """All disagreements on the problems of these seeds, shrunk; `tally` counts problems, refusals and ways."""
    for seed in seeds:
        random = Random(seed)
        problem, way = coupled_problem(random), drawn_way(random)
        truth = truth_of(problem)
        tally[truth.status.value] += 1
        for backend in backends:
            found = wrong(problem, backend, way, truth)
            tally[f"{backend.name} {'refused' if found == REFUSED else 'taken'}"] += 1
            tally[way.name] += found != REFUSED
            if found not in (None, REFUSED):
                yield _shrunk(seed, problem, backend, way)


def _shrunk(seed: int, problem: Problem, backend: Backend, way: Way) -> Disagreement:
    small = shrink(problem, lambda part: wrong(part, backend, way) is not None)
    reason = wrong(small, backend, way) or "not a second time"
    return Disagreement(seed, backend.name, f"{way.name}: {reason}", small)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m treeml.testing.coupled", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--backend", action="append", help="a name; may be given several times; default: native")
    parser.add_argument("--cases", type=int, default=1000, help="number of problems")
    parser.add_argument("--seed", type=int, default=1, help="of the first problem; the next ones count up")
    parser.add_argument("--into", type=Path, default=Path("found"), help="folder for the shrunk cases")
    asked = parser.parse_args(arguments)
    found, tally = 0, Counter[str]()
    backends = [registry.get(name) for name in asked.backend or ["native"]]
    seeds = iter(range(asked.seed, asked.seed + asked.cases))
    try:
        for each in disagreements(backends, seeds, tally):
            found += 1
            sys.stdout.write(f"{each.backend}: seed {each.seed}: {each.reason}\n  {store(each, asked.into)}\n")
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stdout.write("stopped by Ctrl-C\n")
    for name, number in sorted(tally.items()):
        sys.stdout.write(f"{name}: {number}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
