"""A goal on the mixture of classes in leaves -> bounds and trees from costs of classes, which columns are fast for.

Chords of the concave cost of a mixture take its place (`treeml.problem.impurity_lines`): first those that count errors,
then a few more. If the best tree with some chords is found, its shares of classes become ends of chords, where they are
exact, and the search is repeated. So the bound rises towards the value of the best tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

from treeml.backends.contract import Deadline, Status
from treeml.backends.native.coupled.relabeling import labeled
from treeml.backends.native.easier import EasierProblem, Known
from treeml.backends.native.refusals import refusals
from treeml.problem.evaluate import Routed
from treeml.problem.impurity_cost import ImpurityCost
from treeml.problem.impurity_lines import HALF_TO_ONE, lines_below
from treeml.problem.magnitudes import added
from treeml.problem.problem import Goal, Problem
from treeml.problem.terms import Custom, Leaves, Predicted, Sum
from treeml.problem.tree import Node

KEPT = frozenset({"Depth", "Leaves", "Support", "Used"})  # bounds on these do not look at labels
MORE_ENDS = (Fraction(2, 3), Fraction(5, 6))  # after the chords that count errors
MOST_LINES = 32  # of all classes: the time of a search grows with their number


def takes(problem: Problem) -> bool:
    """Does the first goal measure the mixture of classes in the leaves, maybe beside other parts?"""
    return bool(problem.goals) and _mixture(problem.goals[0].sum) is not None


def search(known: Known, deadline: Deadline) -> None:
    problem = known.problem
    found = _mixture(problem.goals[0].sum)
    assert found is not None
    ends: Sequence[Fraction] = HALF_TO_ONE
    start = known.tree
    while (easier := with_chords(problem, ends)) is not None:
        answer = known.ask(easier, deadline, start)
        if answer.status is not Status.OPTIMAL or answer.tree is None or known.is_proved:
            return
        more = MORE_ENDS if ends is HALF_TO_ONE else _shares(problem, found[1], answer.tree)
        finer = tuple(sorted({*ends, *more}))
        lines = found[1].classes * (len(finer) - 1)
        if len(finer) == len(ends) or lines > MOST_LINES or known.is_interrupted or deadline.passed:
            return
        ends, start = finer, answer.tree


def with_chords(problem: Problem, ends: Sequence[Fraction]) -> EasierProblem | None:
    """The problem with chords in the place of the cost of mixtures; None if the search does not take it."""
    total = problem.goals[0].sum
    found = _mixture(total)
    if found is None:
        return None
    factor, impurity = found
    lines = lines_below(impurity, ends)
    others = tuple(part for part in total.parts if not isinstance(part[1], Custom | Leaves))
    least_of_others, least = Sum(others, total.constant).lower_bound(problem), total.lower_bound(problem)
    price = sum((each for each, term in total.parts if isinstance(term, Leaves)), Fraction(0))
    if lines is None or not lines.unit or least_of_others is None or least is None or price < 0:
        return None
    unit = factor * lines.unit
    parts = ((Fraction(1), Predicted(lines.cost)), (Fraction(floor(price / unit)), Leaves()))
    goal = Goal(Sum(parts if parts[1][0] else parts[:1]))
    kept = tuple(bound for bound in problem.bounds if bound.sum.kinds() <= KEPT)
    asked = problem.asking((goal,), kept, classes=lines.cost.shape[1])
    if next(refusals(asked), None) is not None:
        return None
    rounding = sum((abs(each) * term.rounding for each, term in total.parts if isinstance(term, Custom)), Fraction(0))

    def labels_of(tree: Node) -> Node:
        """Every leaf predicts its heaviest class."""
        errors = impurity.errors()
        heaviest = (errors[rows].sum(axis=0).argmin() for _, _, rows in Routed(problem, tree).leaves)
        return labeled(tree, iter(heaviest))

    def bounded(bound: Fraction) -> Fraction:
        return max(least, least_of_others + unit * bound - rounding)

    return EasierProblem(asked, "chords", bounded, labels_of)


def _mixture(total: Sum) -> tuple[Fraction, ImpurityCost] | None:
    """The factor and the cost of the only part that is a user's function, if it is one of mixtures."""
    parts = [(factor, term.function) for factor, term in total.parts if isinstance(term, Custom)]
    if len(parts) != 1 or parts[0][0] <= 0 or not isinstance(parts[0][1], ImpurityCost):
        return None
    return parts[0][0], parts[0][1]


def _shares(problem: Problem, impurity: ImpurityCost, tree: Node) -> list[Fraction]:
    """The shares of the heaviest classes of the leaves, where they are more than half."""
    errors, shares = impurity.errors(), []
    for _, _, rows in Routed(problem, tree).leaves:
        whole, wrong = added(impurity.weight[rows]), min(added(of_class) for of_class in errors[rows].T)
        if 2 * wrong < whole:
            shares.append(1 - Fraction(wrong, whole))
    return shares
