"""A problem that a fast back-end does not take as a whole -> its plan for an easier one, which bounds the problem.

Requirements that the back-end does not take, or not beside the goal, are left out; parts of the goal that it does not
take count as the least that they can be. No tree of the problem costs less than the best one of the easier problem. If
that tree meets the requirements, maybe with other labels of its leaves, and nothing of the goal was left out, it is the
answer itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from treeml.backends.claims import BOUND, OPTIMAL, Proof, combined, supporting
from treeml.backends.contract import Answer, Backend, Deadline, Limits, OnProgress, Progress, Solve, Status, Stop
from treeml.backends.planning.lowerings import Step
from treeml.backends.planning.plan import Plan, plan
from treeml.problem.evaluate import evaluate_goals, is_answer
from treeml.problem.impurity_cost import ImpurityCost
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.quotient import quotient_of
from treeml.problem.terms import Custom, Leaves, Monotone, Predicted, Sum, TestCost, Used
from treeml.problem.tree import Node

OF_COLUMNS = {Used.__name__, Monotone.__name__}
OF_THE_WHOLE = {Predicted.__name__, TestCost.__name__, "DiscountedTestCost"}  # limits on these couple the leaves
OF_SHAPE = {"Depth", Leaves.__name__, "Support"}
REPAIR = 0.2  # seconds, at most, for other labels of one tree


def relaxed_plan(problem: Problem, backend: Backend, reason: str = "") -> Plan | None:
    """The plan for the first easier problem that the back-end takes; None if it takes none, or nothing is minimized."""
    if not problem.goals or not problem.rows:
        return None
    for easier in _easier(problem):
        planned = plan(easier.problem, backend, names_others=False)
        if isinstance(planned, Plan):
            steps = (Step(easier.sentence(backend.name), easier.around), *planned.steps)
            return Plan(problem, backend, steps, reason, planned.remark, is_relaxed=True)
    return None


@dataclass(frozen=True, eq=False, slots=True)
class Easier:
    """The easier problem, and how its answers are read."""

    problem: Problem
    whole: Problem
    left_out: Fraction  # the least of the parts of the first goal that are left out

    @property
    def has_all_goals(self) -> bool:
        goals, whole = self.problem.goals, self.whole.goals
        return len(goals) == len(whole) and all(one is other for one, other in zip(goals, whole, strict=True))

    def sentence(self, name: str) -> str:
        kept = set(map(id, self.problem.bounds))
        without = [bound.name or "a requirement" for bound in self.whole.bounds if id(bound) not in kept]
        said = list(dict.fromkeys(without)) + ([] if self.has_all_goals else ["a part of the goal"])
        return f"{name} solves the problem without {', '.join(said)}, which bounds it and may answer it"

    def around(self, inner: Solve) -> Solve:
        def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
            told = None if on_progress is None else lambda moment: on_progress(self.moment(moment))
            # What is shared with a search beside it are trees of the whole problem.
            plain = replace(limits, gap=Fraction(0), share=None, news=None)
            return self.answer(inner(self.problem, plain, start, told))

        return solve

    def moment(self, moment: Progress) -> Progress:
        """A report about the whole problem; that of one of several goals does not say which."""
        if len(self.problem.goals) != 1 or moment.bound is None:
            return Progress(moment.seconds)
        return Progress(moment.seconds, bound=moment.bound + self.left_out, evidence=self.proof(moment.evidence))

    def proof(self, evidence: Proof) -> Proof:
        rule = "fewer requirements" if self.has_all_goals else "parts of the goal"
        return combined(rule, supporting(evidence, BOUND))

    def answer(self, found: Answer) -> Answer:
        """The answer to the whole problem."""
        if found.status is Status.INFEASIBLE:
            return replace(found, trace=(), evidence=combined("fewer requirements", found.evidence))
        tree = None if found.tree is None else fitted(self.whole, found.tree)
        value = None if tree is None else evaluate_goals(self.whole, tree)
        proof = combined("fewer requirements", supporting(found.evidence, OPTIMAL))
        if found.status is Status.OPTIMAL and self.has_all_goals and proof and _is_same(value, found):
            return replace(found, tree=tree, trace=(), evidence=proof)
        bound, evidence = self.bound(found)
        if value is not None and bound is not None and value[0] < bound <= value[0] + found.tolerance:
            bound = value[0]  # rounding alone tells them apart; a larger difference is a contradiction, which is found
        return replace(
            found,
            status=Status.UNKNOWN if tree is None else Status.FEASIBLE,
            stop=Stop.FINISHED if found.stop is Stop.PROVED else found.stop,
            tree=tree,
            objective=value,
            bound=bound,
            bounded_goal=0,
            tolerance=Fraction(0),
            trace=(),
            evidence=evidence,
        )

    def bound(self, found: Answer) -> tuple[Fraction | None, Proof]:
        """A bound on the first goal."""
        evidence = self.proof(found.evidence)
        if found.status is Status.OPTIMAL and found.objective:
            least: Fraction | None = found.objective[0]
        else:
            is_first = found.bounded_goal in (None, 0) or len(self.problem.goals) == 1
            least = found.bound if is_first else found.objective[0] if found.objective else None
        if least is None or not evidence:
            return None, ()
        return least - found.tolerance + self.left_out, evidence


def _is_same(value: tuple[Fraction, ...] | None, found: Answer) -> bool:
    """Is the value that of the answer, up to its tolerance? Other labels may have changed it."""
    if value is None or found.objective is None:
        return False
    return all(abs(one - other) <= found.tolerance for one, other in zip(value, found.objective, strict=True))


def fitted(problem: Problem, tree: Node) -> Node | None:
    """The tree if it meets every requirement, or the same with other labels; None if neither does."""
    from treeml.backends.anytime.multipliers import relabeled  # imported here: start-up time

    if is_answer(problem, tree):
        return tree
    if not any(Predicted.__name__ in bound.sum.kinds() for bound in problem.bounds):
        return None
    limits = tuple(each for each in problem.bounds if {"Predicted"} == each.sum.kinds())
    deadline = Deadline.after(REPAIR)
    goals_of_labels = _goals_of_labels(problem)
    for goals in dict.fromkeys((goals_of_labels, goals_of_labels[:1], ())):
        other = relabeled(problem.asking(goals, limits), tree, deadline)
        if other is not None and is_answer(problem, other):
            return other
    return None


def _goals_of_labels(problem: Problem) -> tuple[Goal, ...]:
    """What the goals ask of the labels of a tree: their sums over predictions, and quotients of these.

    A measure of mixture is the same for all labels, so fewer errors are better.
    """
    goals = []
    for goal in problem.goals:
        if quotient_of(goal) is not None:
            goals.append(goal)
            continue
        parts = tuple(part for part in goal.sum.parts if isinstance(part[1], Predicted))
        errors = (
            (Fraction(1), Predicted(term.function.errors()))
            for _, term in goal.sum.parts
            if isinstance(term, Custom) and isinstance(term.function, ImpurityCost)
        )
        parts = parts or tuple(errors)[:1]
        goals += [Goal(Sum(parts))] if parts else []
    return tuple(goals)


def _easier(problem: Problem) -> Iterator[Easier]:
    """Easier problems, the most alike first."""
    for bounds in _fewer(problem.bounds):
        for goals in (problem.goals, problem.goals[:1]):
            if len(bounds) < len(problem.bounds) or len(goals) < len(problem.goals):
                yield Easier(problem.asking(goals, bounds), problem, Fraction(0))
        first, left_out = _without_columns(problem, problem.goals[0])
        if first is not None:
            yield Easier(problem.asking((first,), bounds), problem, left_out)


def _fewer(bounds: tuple[Bound, ...]) -> Iterator[tuple[Bound, ...]]:
    """The bounds, with fewer and fewer of those that a fast search might not take."""
    plain = tuple(bound for bound in bounds if not OF_COLUMNS & bound.sum.kinds())
    alone = tuple(bound for bound in plain if len(bound.sum.parts) == 1)
    local = tuple(bound for bound in alone if not OF_THE_WHOLE & bound.sum.kinds())
    shape = tuple(bound for bound in local if bound.sum.kinds() <= OF_SHAPE)
    fewest = len(bounds) + 1
    for kept in (bounds, plain, alone, local, shape):
        if len(kept) < fewest:
            fewest = len(kept)
            yield kept


def _without_columns(problem: Problem, goal: Goal) -> tuple[Goal | None, Fraction]:
    """The goal without its prices on columns, and the least that these can be; None if it has none, or nothing else."""
    kept = tuple(part for part in goal.sum.parts if type(part[1]).__name__ not in OF_COLUMNS)
    left = tuple(part for part in goal.sum.parts if type(part[1]).__name__ in OF_COLUMNS)
    least = Sum(left).lower_bound(problem) if left and kept else None
    return (None, Fraction(0)) if least is None else (replace(goal, sum=replace(goal.sum, parts=kept)), least)
