"""Random small problems -> disagreements between a back-end and the oracle, each shrunk to a new case.

    python -m treeml.testing.fuzz --backend native --seconds 60 --seed 1

A disagreement is an optimum that differs from the oracle's, a tree better than the best, infeasibility on one side
only, a lower bound above the optimum, a tree that fails verification, or a crash.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from random import Random
from time import monotonic

import numpy as np

from treeml.backends import registry
from treeml.backends.contract import Answer, Backend, Deadline, Limits, Status
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import bounded_goal, run
from treeml.lang.diagnostic import SpecError
from treeml.problem.problem import Feature, Goal, Problem
from treeml.problem.terms import Part, Sum
from treeml.testing.problems import Sizes, random_problem
from treeml.testing.stored import to_json

ORACLE_SECONDS = 10.0
BACKEND_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Disagreement:
    seed: int
    backend: str
    reason: str
    problem: Problem


@dataclass
class FuzzTally:
    """The numbers of problems that a back-end was given, took and refused."""

    tried: int = 0
    taken: int = 0
    refused: int = 0


def fuzz(
    backend: Backend,
    seeds: Iterator[int],
    sizes: Sizes | None = None,
    kinds: Sequence[str] | None = None,
    tally: FuzzTally | None = None,
    make: Callable[[Random], Problem] | None = None,
) -> Iterator[Disagreement]:
    """All disagreements on the problems of these seeds, shrunk; `make` replaces the usual random problem."""
    for seed in seeds:
        problem = random_problem(Random(seed), sizes, kinds) if make is None else make(Random(seed))
        if tally is not None:
            tally.tried += 1
        planned = plan(problem, backend)
        if not isinstance(planned, Plan):
            if tally is not None:
                tally.refused += 1
            continue
        if tally is not None:
            tally.taken += 1
        if disagreement(problem, backend) is not None:
            small = shrink(problem, lambda smaller: disagreement(smaller, backend) is not None)
            yield Disagreement(seed, backend.name, disagreement(small, backend) or "", small)


def disagreement(problem: Problem, backend: Backend) -> str | None:
    """What is wrong with the back-end's answer, or None; a refusal is not wrong."""
    truth = OracleBackend().solve(problem, Limits(Deadline.after(ORACLE_SECONDS)))
    if truth.status not in (Status.OPTIMAL, Status.INFEASIBLE):
        return None
    planned = plan(problem, backend)
    if not isinstance(planned, Plan):
        return None
    try:
        answer = run(planned, Limits(Deadline.after(BACKEND_SECONDS)))
    except SpecError as error:
        return "; ".join(f"{mistake.title}: {' '.join(mistake.notes)}" for mistake in error.diagnostics)
    return differs(answer, truth, backend)


def differs(answer: Answer, truth: Answer, backend: Backend) -> str | None:
    """How a verified answer contradicts the truth."""
    if truth.status is Status.INFEASIBLE:
        return f"{answer.status.value}, but no tree exists" if answer.tree is not None else None
    if answer.status is Status.INFEASIBLE:
        return f"infeasible, but there is a tree with {_text(truth)}"
    best = truth.objective or ()
    if answer.objective is not None:
        slack = answer.tolerance
        if answer.objective < best:
            return f"{_text(answer)} is better than the best, {_text(truth)}"
        worse = any(ours - theirs > slack for ours, theirs in zip(answer.objective, best, strict=True))
        if answer.status is Status.OPTIMAL and worse:
            return f"optimal at {_text(answer)}, but the best is {_text(truth)}"
    if answer.bound is not None and best and answer.bound > best[bounded_goal(answer)] + answer.tolerance:
        return f"its bound {answer.bound} is above the optimum {_text(truth)}"
    if answer.status is Status.UNKNOWN and backend.can.proves and not answer.notes:
        return f"unknown after {BACKEND_SECONDS:g} s, but the best is {_text(truth)}"
    return None


def shrink(problem: Problem, fails: Callable[[Problem], bool]) -> Problem:
    """A smaller problem that still fails: bounds, goals, rows and tests are removed while possible."""
    shrunk = True
    while shrunk:
        shrunk = False
        for smaller in _smaller(problem):
            if fails(smaller):
                problem, shrunk = smaller, True
                break
    return problem


def store(found: Disagreement, folder: Path) -> Path:
    """Store the problem with the oracle's answer, as a new case of the conformance suite."""
    truth = OracleBackend().solve(found.problem)
    value = {
        "found": f"{found.backend}, seed {found.seed}: {found.reason}",
        "problem": to_json(found.problem),
        "answer": {
            "status": truth.status.value,
            "objective": None if truth.objective is None else [str(number) for number in truth.objective],
        },
    }
    text = json.dumps(value, indent=1, sort_keys=True) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{found.backend}-{sha256(text.encode()).hexdigest()[:8]}.json"
    path.write_text(text, encoding="utf-8")
    return path


def _smaller(problem: Problem) -> Iterator[Problem]:
    for number in range(len(problem.bounds)):
        yield problem.asking(problem.goals, problem.bounds[:number] + problem.bounds[number + 1 :])
    for number in range(len(problem.goals)):
        yield problem.asking(problem.goals[:number] + problem.goals[number + 1 :], problem.bounds)
    for number, goal in enumerate(problem.goals):
        for part in range(len(goal.sum.parts)) if len(goal.sum.parts) > 1 else ():
            fewer = Sum(goal.sum.parts[:part] + goal.sum.parts[part + 1 :], goal.sum.constant)
            goals = (*problem.goals[:number], Goal(fewer), *problem.goals[number + 1 :])
            yield problem.asking(goals, problem.bounds)
    for row in range(problem.rows) if problem.rows > 1 else ():
        yield without_row(problem, row)
    for test in range(len(problem.tests)):
        yield without_test(problem, test)
    if (problem.count > 1).any():
        yield replace(problem, count=np.ones_like(problem.count), given_bits=problem.bits)


def without_row(problem: Problem, row: int) -> Problem:
    """The same problem without one row, also in its terms."""

    rows = np.delete(np.arange(problem.rows), row)

    def of_sum(total: Sum) -> Sum:
        return total.changed(lambda term: term.restricted(Part(rows)))

    def of_feature(feature: Feature) -> Feature:
        return feature if feature.codes is None else replace(feature, codes=np.delete(feature.codes, row))

    return Problem(
        tuple(map(of_feature, problem.features)),
        problem.tests,
        np.delete(problem.count, row),
        problem.classes,
        tuple(replace(goal, sum=of_sum(goal.sum)) for goal in problem.goals),
        tuple(replace(bound, sum=of_sum(bound.sum)) for bound in problem.bounds),
        np.delete(problem.bits, row, axis=1),
    )


def without_test(problem: Problem, test: int) -> Problem:
    """The same problem without one test; all features are kept."""
    owner = problem.tests[test].feature
    features = tuple(
        replace(
            feature,
            first_test=feature.first_test - (feature.first_test > test),
            tests=feature.tests - (number == owner),
        )
        for number, feature in enumerate(problem.features)
    )
    tests = problem.tests[:test] + problem.tests[test + 1 :]
    return replace(problem, features=features, tests=tests, given_bits=np.delete(problem.bits, test, axis=0))


def _text(answer: Answer) -> str:
    return "nothing to minimize" if not answer.objective else ", ".join(str(value) for value in answer.objective)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m treeml.testing.fuzz", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--backend", action="append", help="a name; may be given several times; default: every one")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each back-end")
    parser.add_argument("--seed", type=int, default=1, help="of the first problem; the next ones count up")
    parser.add_argument("--rows", type=int, default=Sizes().rows, help="at most, in a problem")
    parser.add_argument("--columns", type=int, default=Sizes().columns, help="at most, in a problem")
    parser.add_argument("--extreme", action="store_true", help="magnitudes at which words of a machine end")
    parser.add_argument("--into", type=Path, default=Path("found"), help="folder for the shrunk cases")
    asked = parser.parse_args(arguments)
    sizes = Sizes(rows=asked.rows, columns=asked.columns, is_extreme=asked.extreme)
    wrong = 0
    for name in asked.backend or [name for name in registry.names() if name != OracleBackend.name]:
        tally, ends = FuzzTally(), monotonic() + asked.seconds
        for found in fuzz(registry.get(name), _until(asked.seed, ends), sizes, tally=tally):
            wrong += 1
            sys.stdout.write(f"{name}: seed {found.seed}: {found.reason}\n  {store(found, asked.into)}\n")
        sys.stdout.write(f"{name}: {tally.tried} problems, {tally.taken} taken, {tally.refused} refused\n")
    return 1 if wrong else 0


def _until(seed: int, ends: float) -> Iterator[int]:
    while monotonic() < ends:
        yield seed
        seed += 1


if __name__ == "__main__":
    sys.exit(main())
