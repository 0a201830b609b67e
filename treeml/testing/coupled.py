"""Random small problems with one to three coupled requirements -> disagreements with the oracle.

    python -m treeml.testing.coupled --cases 100000 --backend native --backend 'mip(solver = scip)'

Problems are those of `coupled_problems`. Every one is solved in a way that is drawn with it: plainly, on tests, on
columns of numbers, with two threads, from a tree, or with so little time or memory, or a listener that stops it, that
the answer may be without a proof; what it claims must hold all the same. Of infeasible problems a share is explained:
the conflict must be one, and the smallest.
One case in four has odd magnitudes, and one in three goes to one of the
other back-ends, too, in one of its variants: `--others no` leaves them out.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from random import Random
from time import monotonic
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
from treeml.testing.coupled_contenders import Contender, contender, other_for, others
from treeml.testing.coupled_problems import coupled_problem, odd_problem
from treeml.testing.fuzz import BACKEND_SECONDS, ORACLE_SECONDS, Disagreement, differs, shrink, store
from treeml.testing.planted_requirements import REACHES, planted_problem, refuted

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
REFUSED, UNFINISHED = "refused", "not finished"
ODD = 4  # one case in every four has odd magnitudes
PLANTED = 5  # one case in every five is followed by a problem with a planted tree
STOPPED = frozenset({"no time", "little time", "little memory", "stopped"})  # ways that may end without a proof


@dataclass(frozen=True, slots=True)
class Way:
    """How a problem is solved."""

    name: str
    amount: int  # of time, memory or calls, where the way has one

    def limits(self, problem: Problem, solver: Contender) -> Limits:
        options, backend = dict(solver.options), solver.backend
        if backend.name == "native" and self.name.endswith(("columns", "tests")):
            options = {"kernel": "numeric" if self.name.endswith("columns") else "binary"}
            if not _is_possible(problem, options):
                options = dict(solver.options)
        if backend.name == "native" and self.name == "little memory" and self.amount % 8:
            options = {"hand_over": 0}
        seconds = {"no time": 0.0, "little time": self.amount / 10_000}.get(self.name, BACKEND_SECONDS)
        memory = 2 ** (16 + self.amount % 8) if self.name == "little memory" else None
        threads = 2 if self.name.startswith("threads") else solver.threads
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


def wrong(problem: Problem, solver: Contender, way: Way, truth: Answer | None = None) -> str | None:
    """What is wrong with the answer of a back-end, or None.

    A refusal or the lack of a proof that there was time for is told only if `truth` is given, too."""
    known = truth or truth_of(problem)
    if known.status not in (Status.OPTIMAL, Status.INFEASIBLE):
        return None
    limits = way.limits(problem, solver)
    planned = plan(problem, solver.backend, limits.options)
    if not isinstance(planned, Plan):
        return REFUSED if truth else None
    try:
        if way.name == "explained" and known.status is Status.INFEASIBLE:
            return _wrong_conflict(problem, solver.backend, limits)
        answer = run(planned, limits, *_beside(problem, way))
    except SpecError as error:
        return _told(error)
    if way.name in STOPPED and answer.status is Status.UNKNOWN:
        answer = replace(answer, notes=(*answer.notes, "stopped"))
    is_open = answer.status not in (Status.OPTIMAL, Status.INFEASIBLE) and way.name not in STOPPED
    return differs(answer, known, solver.backend) or (UNFINISHED if truth and is_open else None)


def _told(error: SpecError) -> str:
    return "; ".join(f"{mistake.title}: {' '.join(mistake.notes)}" for mistake in error.diagnostics)


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


def disagreements(
    solvers: Sequence[Contender], seeds: Iterator[int], tally: Counter[str], among: Sequence[Contender] = ()
) -> Iterator[Disagreement]:
    """All disagreements on the problems of these seeds, shrunk; `tally` counts problems, refusals and ways.

    `solvers` solve every problem, and one of `among` solves some."""
    for seed in seeds:
        random = Random(seed)
        problem = (coupled_problem if seed % ODD else odd_problem)(random)
        way = drawn_way(random)
        truth = truth_of(problem)
        tally[truth.status.value] += 1
        for solver in (*solvers, *other_for(seed, among)):
            found = wrong(problem, solver, way, truth)
            tally[f"{solver.name} {found if found in (REFUSED, UNFINISHED) else 'taken'}"] += 1
            tally[way.name] += found != REFUSED
            if found not in (None, REFUSED, UNFINISHED):
                yield _shrunk(seed, problem, solver, way)
        if seed % PLANTED == 0:
            yield from _refutations(seed, (*solvers, *other_for(seed, among)), tally)


def _refutations(seed: int, solvers: Sequence[Contender], tally: Counter[str]) -> Iterator[Disagreement]:
    """Claims about a problem with a planted tree that the tree refutes."""
    random = Random(seed)
    problem, tree = planted_problem(random, random.choice(REACHES))
    for solver in solvers:
        limits = Limits(Deadline.after(BACKEND_SECONDS), threads=solver.threads, options=solver.options)
        planned = plan(problem, solver.backend, limits.options)
        tally[f"planted, {solver.name} {'taken' if isinstance(planned, Plan) else 'refused'}"] += 1
        if isinstance(planned, Plan):
            try:
                found = refuted(problem, tree, run(planned, limits))
            except SpecError as error:
                found = _told(error)
            if found is not None:
                yield Disagreement(seed, solver.backend.name, f"{solver.name}, planted: {found}", problem)


def _shrunk(seed: int, problem: Problem, solver: Contender, way: Way) -> Disagreement:
    small = shrink(problem, lambda part: wrong(part, solver, way) is not None)
    reason = wrong(small, solver, way) or "not a second time"
    return Disagreement(seed, solver.backend.name, f"{solver.name}, {way.name}: {reason}", small)


def cases(first: int, number: int | None, minutes: float | None) -> Iterator[int]:
    """The numbers of the cases: as many as asked for, or as there is time for."""
    ends = None if minutes is None else monotonic() + 60 * minutes
    for seed in count(first):
        if (number is not None and seed >= first + number) or (ends is not None and monotonic() > ends):
            return
        yield seed


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m treeml.testing.coupled", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--backend", action="append", help="solves every case; repeatable; default: native")
    parser.add_argument("--others", choices=("yes", "no"), default="yes", help="may others solve a share of the cases?")
    parser.add_argument("--cases", type=int, help="number of problems; default: 1000, unless minutes are given")
    parser.add_argument("--minutes", type=float, help="for as long as this")
    parser.add_argument("--seed", type=int, help="of the first problem, then counting up; unless given, one is printed")
    parser.add_argument("--into", type=Path, default=Path("found"), help="folder for the shrunk cases")
    asked = parser.parse_args(arguments)
    seed = Random().randrange(2**32) if asked.seed is None else asked.seed
    sys.stdout.write(f"seed {seed}\n")
    found, tally = 0, Counter[str]()
    solvers = [contender(name) for name in asked.backend or [registry.default_name()]]
    among = others() if asked.others == "yes" else ()
    number = 1000 if asked.cases is None and asked.minutes is None else asked.cases
    try:
        for each in disagreements(solvers, cases(seed, number, asked.minutes), tally, among):
            found += 1
            sys.stdout.write(f"{each.backend}: seed {each.seed}: {each.reason}\n  {store(each, asked.into)}\n")
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stdout.write("stopped by Ctrl-C\n")
    for name, times in sorted(tally.items()):
        sys.stdout.write(f"{name}: {times}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
