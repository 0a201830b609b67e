"""A back-end with one goal -> one with several: each goal in turn, with the earlier ones kept at their best values.

The value that a goal reaches becomes a bound on it in later stages. If a stage is not proved optimal, neither is the
answer, and the bound of the answer is that of this stage. Later stages still run: their tree is no worse in earlier
goals.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from treeml.backends.claims import BOUND, OPTIMAL, Evidence, combined, supporting
from treeml.backends.contract import Answer, Limits, OnProgress, Progress, Solve, Status, Stop
from treeml.backends.least_values import proved_by_least_values
from treeml.lang.diagnostic import BackendError, Diagnostic
from treeml.problem.evaluate import evaluate_sum
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.quotient import quotient_of
from treeml.problem.tree import Node


def lexicographic(inner: Solve) -> Solve:
    def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        if len(problem.goals) < 2:
            return inner(problem, limits, start, on_progress)
        stages: list[Answer] = []
        held: tuple[Bound, ...] = ()
        values: tuple[Fraction, ...] = ()
        best = start
        for number, goal in enumerate(problem.goals):
            asked = problem.asking((goal,), problem.bounds + held)
            answer = proved_by_least_values(asked, inner(asked, limits, best, _told(on_progress, values)))
            if number == 0 and answer.tree is None:
                return answer
            if answer.status is Status.INFEASIBLE:
                raise BackendError(_contradiction(number))
            stages.append(answer)
            if answer.tree is None or answer.objective is None:
                break
            _object(problem, stages)
            best = answer.tree
            held += (kept(goal, answer.objective[0] + answer.tolerance),)
            values += (answer.objective[0] + answer.tolerance,)
            if answer.stop is Stop.INTERRUPTED or limits.deadline.passed:
                break
        return combined_stages(problem, stages)

    return solve


def _object(problem: Problem, stages: list[Answer]) -> None:
    """Raises where the tree of the last stage is better by an earlier goal than what was called best of it."""
    tree = stages[-1].tree
    assert tree is not None
    for number, (goal, answer) in enumerate(zip(problem.goals, stages[:-1], strict=False), start=1):
        if answer.bound is None:
            continue
        value = evaluate_sum(goal.sum, problem, tree)
        if value < answer.bound - answer.tolerance:
            word = "optimal with" if answer.status is Status.OPTIMAL else "a bound of"
            note = f"it says {word} {answer.bound} by goal {number}, and has a tree with {value}"
            raise BackendError(Diagnostic("B514", "the back-end contradicts itself", notes=(note,)))


def combined_stages(problem: Problem, stages: list[Answer]) -> Answer:
    """The answer to all goals from those to each of them; fewer stages than goals mean that the time was up."""
    found = [answer for answer in stages if answer.tree is not None]
    tree = found[-1].tree
    assert tree is not None
    objective = tuple(evaluate_sum(goal.sum, problem, tree) for goal in problem.goals)
    statistics: dict[str, float] = {}
    for answer in stages:
        for name, value in answer.statistics.items():
            statistics[name] = statistics.get(name, 0) + value
    common = replace(
        found[-1],
        objective=objective,
        conflict=(),
        trace=tuple(moment for answer in stages for moment in answer.trace),
        statistics=statistics,
        notes=tuple(dict.fromkeys(note for answer in stages for note in answer.notes)),
        tolerance=max(answer.tolerance for answer in stages),
    )
    unproved = next((answer for answer in stages if answer.status is not Status.OPTIMAL), None)
    if unproved is not None:
        number = stages.index(unproved)
        basis = [*_proofs(stages[:number]), *supporting(unproved.evidence, BOUND)]
        return replace(
            common,
            status=Status.FEASIBLE,
            stop=unproved.stop,
            bound=unproved.bound,
            bounded_goal=number,
            evidence=() if unproved.bound is None else combined("goals in turn", basis),
        )
    if len(stages) < len(problem.goals):
        # Later goals may be at the least that they can be.
        last, evidence = len(stages) - 1, combined("goals in turn", _proofs(stages))
        bound = objective[last] - common.tolerance if evidence else None
        stopped = replace(common, status=Status.FEASIBLE, stop=_why_short(stages), bound=bound, evidence=evidence)
        return replace(stopped, bounded_goal=None if bound is None else last)
    evidence = combined("goals in turn", _proofs(stages))
    return replace(common, status=Status.OPTIMAL, stop=Stop.PROVED, bounded_goal=len(stages) - 1, evidence=evidence)


def _proofs(stages: list[Answer]) -> list[Evidence]:
    return [each for answer in stages for each in supporting(answer.evidence, OPTIMAL)]


def _why_short(stages: list[Answer]) -> Stop:
    return Stop.INTERRUPTED if stages[-1].stop is Stop.INTERRUPTED else Stop.TIME


def kept(goal: Goal, value: Fraction) -> Bound:
    """The bound that keeps a goal at its value. In a goal, unlike in a bound, a quotient by zero counts as 0."""
    quotient = quotient_of(goal)
    return Bound(goal.sum, "<=", value) if quotient is None else quotient.bound(quotient.quotient(value))


def _told(on_progress: OnProgress | None, earlier: tuple[Fraction, ...]) -> OnProgress | None:
    if on_progress is None:
        return None

    def tell(moment: Progress) -> bool | None:
        objective = None if moment.objective is None else earlier + moment.objective
        return on_progress(replace(moment, objective=objective))

    return tell


def _contradiction(number: int) -> Diagnostic:
    return Diagnostic(
        "B514",
        "the back-end contradicts itself",
        notes=(
            f"it found a tree for goal {number}, and then says that there is none with the same value of that goal",
        ),
        helps=("try another back-end: `treeml backends` lists them",),
    )
