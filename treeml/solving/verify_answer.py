"""Answer of a back-end, its tree in the user's columns -> the tree verified against every claim of the answer."""

from __future__ import annotations

from fractions import Fraction

from treeml.backends.contract import Answer, Status
from treeml.backends.run import bounded_goal
from treeml.data.table import Dataset
from treeml.lang.diagnostic import BackendError, DataError, Diagnostic
from treeml.measures.evaluators import TreeOutcome
from treeml.problem.problem import Goal
from treeml.solving.choice import Chosen
from treeml.solving.verify import GoalClaim, Verification, verify_outcome
from treeml.trees.raising import raise_tree
from treeml.trees.tree import Tree


def verify_answer(outcome: TreeOutcome, answer: Answer, chosen: Chosen, dataset: Dataset) -> Verification:
    """What the rows say about the tree; BackendError if that differs from what the back-end claims."""
    goals = chosen.plan.problem.goals
    claimed = None
    if answer.objective is not None:
        claimed = [_in_user_sense(goal, value) for goal, value in zip(goals, answer.objective, strict=True)]
    before = _improved_tree(answer, chosen, dataset)
    exact = verify_outcome(outcome, dataset, claimed, answer.tolerance, before, _goal_claim(answer, goals))
    if dataset.rounding.weights and any(not each.met for each in exact.requirements):
        missed = next(each for each in exact.requirements if not each.met)
        raise DataError(too_close(missed.shown))
    if not exact.verified:
        raise BackendError(not_verified(chosen.plan.backend.name, exact.mismatches))
    return exact


def too_close(requirement: str) -> Diagnostic:
    """D463: rounded weights, and a requirement that only their last digits decide."""
    return Diagnostic(
        "D463",
        f"the last digits of the weights decide whether `{requirement}` can be met",
        notes=("the weights have more digits than 64 bits hold, and were rounded for the search",),
        helps=("round them to a few digits", "or move the limit a little"),
    )


def _improved_tree(answer: Answer, chosen: Chosen, dataset: Dataset) -> Tree | None:
    """The tree that an improvement started from: the first of the trace."""
    if dataset.spec.improve is None or not answer.trace or answer.trace[0].tree is None:
        return None
    return raise_tree(answer.trace[0].tree, chosen.lowered.questions, dataset)


def _goal_claim(answer: Answer, goals: tuple[Goal, ...]) -> GoalClaim:
    is_optimal = answer.status is Status.OPTIMAL
    if answer.bound is None or not goals:
        return GoalClaim(is_optimal)
    number = bounded_goal(answer)
    return GoalClaim(is_optimal, _in_user_sense(goals[number], answer.bound), number)


def _in_user_sense(goal: Goal, value: Fraction) -> Fraction:
    """Problems only minimize: the value of a goal to be maximized is negated."""
    return -value if goal.negated else value


def not_verified(backend: str, mismatches: tuple[str, ...]) -> Diagnostic:
    """B516: the rows contradict what the back-end claims."""
    return Diagnostic(
        "B516",
        f"the tree of {backend} does not verify against the rows",
        notes=mismatches,
        helps=("this is a mistake of the back-end, not of the specification; please report it with the data",),
    )
