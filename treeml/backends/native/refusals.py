"""Problem -> reasons why the C solver cannot solve it, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treeml.backends.contract import Refusal
from treeml.backends.native.coupled.refusals import coupled_refusals
from treeml.backends.native.coupled.requirements import is_coupled, without_idle
from treeml.backends.native.coupled.solve import in_turn
from treeml.backends.native.goals import check_cost, kind, leaf_matrix, limit_of, objective_of, scaled_cost
from treeml.backends.native.then_leaves import is_real_then_leaves
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Custom, LeafErrors, Leaves, Loss, Predicted, Purity, Support, TestCost, Used


def refusals(problem: Problem) -> Iterator[Refusal]:
    """Reasons from single bounds, from single goals, and from their combination."""
    if is_coupled(problem):
        problem = without_idle(problem)
    coupled = is_coupled(problem)
    for bound in problem.bounds:
        yield from _bound_refusals(bound)
    for goal in problem.goals:
        yield from _goal_refusals(problem, goal)
    if coupled:
        found = list(coupled_refusals(problem))
        if found and len(problem.goals) > 1:
            found = [refusal for stage in in_turn(problem) for refusal in refusals(stage)]
        yield from found
    elif is_real_then_leaves(problem):
        yield from _size_refusals(problem.asking(problem.goals[:1], problem.bounds))
    elif len(problem.goals) > 1 and any({"Loss", "Custom"} & goal.sum.kinds() for goal in problem.goals):
        yield Refusal(
            "several goals",
            "after a loss of real numbers, native breaks ties by the number of leaves and by nothing else",
        )
    elif not list(_shape_refusals(problem)):
        yield from _size_refusals(problem)
    yield from _shape_refusals(problem)


def _goal_refusals(problem: Problem, goal: Goal) -> Iterator[Refusal]:
    feature = f"the goal {goal.text}" if goal.text else "the goal"
    main = [term for _, term in goal.sum.parts if isinstance(term, Predicted | Loss | Custom)]
    if len(main) > 1:
        yield Refusal(feature, "native minimizes one kind of leaf cost, and this goal adds several")
    for factor, term in goal.sum.parts:
        if factor < 0 and isinstance(term, Leaves | TestCost | Loss):
            yield Refusal(feature, "native cannot maximize this: its bounds need amounts that only grow")
        if isinstance(term, TestCost) and (term.scale < 0 or min(term.costs, default=0) < 0):
            yield Refusal(feature, "native does not support negative costs of tests")
        if isinstance(term, Loss) and (term.scale < 0 or (len(term.weight) and int(term.weight.min()) < 0)):
            yield Refusal(feature, "native does not support negative weights of losses")


def _bound_refusals(bound: Bound) -> Iterator[Refusal]:
    feature = f"the requirement {bound.name}" if bound.name else "a requirement"
    if len(bound.sum.parts) != 1:
        yield Refusal(feature, "native bounds one measure at a time", "bound each of them by itself")
        return
    factor, term = bound.sum.parts[0]
    sense = bound.sense if factor.numerator > 0 else {"<=": ">=", ">=": "<=", "=": "="}[bound.sense]
    wanted = ">=" if isinstance(term, Support | Purity) else "<="
    if isinstance(term, Predicted):
        sense = wanted  # the cost carries the sign, and the coupled search takes equations
    if sense != wanted:
        yield Refusal(feature, f"native supports only {'lower' if wanted == '>=' else 'upper'} limits on this measure")
    elif isinstance(term, Used) and limit_of(bound) >= 1 and limit_of(bound) < len(term.features):
        yield Refusal(feature, "native can forbid columns but not count them", "forbid each column by itself")


def _shape_refusals(problem: Problem) -> Iterator[Refusal]:
    """Reasons from combinations of bounds, or of bounds and goals."""
    labelled = any(kind(bound) in (Purity, LeafErrors) for bound in problem.bounds)
    if labelled and any({"Loss", "Custom"} & goal.sum.kinds() for goal in problem.goals):
        yield Refusal(
            "a requirement on classes", "native supports it only if the goal depends on the predicted classes"
        )
    for term, feature in ((Purity, "several requirements of purity"), (LeafErrors, "several requirements on leaves")):
        matrices = [leaf_matrix(bound) for bound in problem.bounds if kind(bound) is term]
        if any(not np.array_equal(matrices[0], other) for other in matrices[1:]):
            yield Refusal(
                feature, "native supports one matrix of weights or costs per leaf, and these requirements need several"
            )


def _size_refusals(problem: Problem) -> Iterator[Refusal]:
    try:
        objective_of(problem)
        for bound in problem.bounds:
            scaled = scaled_cost(bound.sum)
            if scaled is not None:
                check_cost(scaled[1])
            elif kind(bound) in (Purity, LeafErrors):
                check_cost(leaf_matrix(bound))
    except OverflowError as error:
        yield Refusal("the size of the numbers", str(error), "round the weights or costs to fewer digits")
