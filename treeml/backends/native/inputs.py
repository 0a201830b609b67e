"""Problem, objective, limits -> the C solver with its rows and costs, and the settings of one search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Limits
from treeml.backends.native.coded_columns import CodedColumns
from treeml.backends.native.goals import MOST, NativeObjective, centred, floor, in_64_bits, kind, limit_of
from treeml.backends.native.leaf_sizes import leaf_sizes
from treeml.problem.answers import forget_packed, has_bits_in_time, has_many_answers, packed_in_time
from treeml.problem.hazard_cost import HazardCost
from treeml.problem.impurity_cost import ImpurityCost
from treeml.problem.linear_cost import LinearCost
from treeml.problem.magnitudes import added
from treeml.problem.neighbors import beside
from treeml.problem.problem import Goal, Problem
from treeml.problem.terms import LeafErrors, Loss, Purity, Used

if TYPE_CHECKING:
    from treeml.backends.native.numeric_kernel import ThresholdSolver
    from treeml.native.solver import Solver
    from treeml.native.solver_input import Conditions, LeafCosts

SAFE = Fraction(1, 2**30)  # of the value: how far above a limit lies if costs are rounded
ELSEWHERE = ("kernel", "hand_over", "upper", "enough")  # options that a search in C does not get as they are
LONG = 2**40  # denominators beyond this may be too long for the library, which takes 64 bits
SECOND_THREAD_POLL = 100  # milliseconds between two polls beside a thread of Python, which each poll has to wait for
DEEPEST = 1_000_000  # the depth limit of the solver where the problem has none


def make_solver(problem: Problem, objective: NativeObjective, kernel: str) -> Solver | ThresholdSolver:
    """The solver of this kernel; leaf costs that are cut off at `most` are supported by the binary kernel only."""
    if kernel == "numeric" and objective.most == inf:
        columns = CodedColumns(problem, forbidden_features(problem))
        sizes = leaf_sizes(problem)
        assert sizes is not None  # otherwise the numeric kernel does not take the problem
        return numeric_solver(problem, objective, sizes.size, columns)
    return _binary_solver(problem, objective)


def has_answers_in_time(problem: Problem, is_over: Callable[[], bool]) -> bool:
    """Makes the answers that the binary kernel needs; False if the time is over before all of them are there."""
    return packed_in_time(problem, is_over) is not None if _is_packed(problem) else has_bits_in_time(problem, is_over)


def _is_packed(problem: Problem) -> bool:
    """Are the answers so many that a byte for each would take too much memory?"""
    return has_many_answers(problem) and "bits" not in vars(problem)


def _binary_solver(problem: Problem, objective: NativeObjective) -> Solver:
    from treeml.native.solver import Solver  # imported here: start-up time
    from treeml.native.solver_input import CostRounding, PackedBits

    rounding = None if objective.beside is None else CostRounding(objective.beside, objective.most)
    words = packed_in_time(problem, lambda: False) if _is_packed(problem) else None
    bits = problem.bits if words is None else PackedBits(words, problem.rows)
    solver = Solver(bits, _leaf_costs(problem, objective), _conditions(problem, objective), rounding)
    forget_packed(problem)  # the solver has a copy
    return solver


def _leaf_costs(problem: Problem, objective: NativeObjective) -> LeafCosts:
    from treeml.native.solver_input import (
        ClassCosts,
        CostOfRows,
        Hazards,
        Impurity,
        Lines,
        Targets,
    )  # imported here: start-up time

    loss = objective.loss
    if loss is not None:
        levels = (loss.level,) if loss.kind == "quantile" else ()
        return Targets(centred(loss.targets), loss.kind, levels, loss.weight * objective.factor)
    if objective.custom is not None:
        function = objective.custom.function
        if isinstance(function, HazardCost) and function.fits(MOST):
            return Hazards(function.values >> 1, function.costs, function.values & 1)
        if isinstance(function, ImpurityCost):
            weight = None if function.has_unit_weights else function.weight
            return Impurity(function.kind, function.labels, function.classes, weight, float(function.scale))
        if isinstance(function, LinearCost) and function.columns.names:
            lines = function.columns
            return Lines(lines.values, lines.target, lines.weight, lines.ridge, lines.is_simple, lines.spread)
        return CostOfRows(lambda sets: [float(function(rows)) for rows in sets])
    return ClassCosts(_cost(problem, objective, problem.rows))


def _conditions(problem: Problem, objective: NativeObjective) -> Conditions:
    from treeml.native.solver_input import Conditions  # imported here: start-up time

    support, forbidden = problem.bound_on("Support", ">="), forbidden_features(problem)
    counts = (support is not None and support > 1) or objective.column_cost is not None
    return Conditions(
        columns=problem.feature_of_test,
        count=problem.count if counts else None,
        forbidden=np.isin(problem.feature_of_test, list(forbidden)).astype(np.uint8) if forbidden else None,
        column_cost=objective.column_cost,
        discounts=objective.discounts,
        leaf_limit=leaf_limit(problem),
        purity=purity_limit(problem),
    )


def leaf_limit(problem: Problem) -> tuple[NDArray[np.int64], int] | None:
    """The strictest limit on the errors of a leaf."""
    strictest: tuple[NDArray[np.int64], int] | None = None
    for bound in problem.bounds:
        term = bound.sum.parts[0][1]
        if isinstance(term, LeafErrors):
            most = in_64_bits(floor(limit_of(bound) / term.scale))
            strictest = (term.cost, most if strictest is None else min(most, strictest[1]))
    return strictest


def purity_limit(problem: Problem) -> tuple[NDArray[np.int64], Fraction] | None:
    """The strictest limit on the purity of a leaf."""
    strictest: tuple[NDArray[np.int64], Fraction] | None = None
    for bound in problem.bounds:
        term = bound.sum.parts[0][1]
        if isinstance(term, Purity):
            share = min(max(limit_of(bound), Fraction(0)), Fraction(2))
            if share < 1 and share.denominator > LONG:
                weight = added(term.weight.ravel())
                share = beside(share, ">=", weight, weight)  # allows the same leaves, in fewer digits
            strictest = (term.weight, share if strictest is None else max(share, strictest[1]))
    return strictest


def numeric_solver(
    problem: Problem, objective: NativeObjective, count: NDArray[np.int64], columns: CodedColumns
) -> ThresholdSolver:
    """The solver of the numeric kernel for rows with these columns and sizes, all of the problem's or some."""
    from treeml.backends.native.numeric_kernel import ThresholdSolver  # imported here: start-up time

    loss = objective.loss
    if loss is not None:
        return ThresholdSolver(
            problem,
            targets=centred(loss.targets),
            weight=loss.weight * objective.factor,
            beside=objective.beside,
            sides=_sides(loss),
            count=count,
            columns=columns,
            fees=objective.column_cost,
        )
    return ThresholdSolver(
        problem,
        cost=_cost(problem, objective, len(count)),
        count=count,
        columns=columns,
        fees=objective.column_cost,
    )


def _sides(loss: Loss) -> tuple[Fraction, Fraction] | None:
    """The costs per unit of a target above and below what a leaf predicts; None for the squared loss."""
    if loss.kind == "squared":
        return None
    return (loss.level, 1 - loss.level) if loss.kind == "quantile" else (Fraction(1), Fraction(1))


def _cost(problem: Problem, objective: NativeObjective, rows: int) -> NDArray[np.int64]:
    """What each class costs at these rows: nothing, if only the shape of the tree has a price."""
    if objective.cost is not None:
        return objective.cost
    return np.zeros((rows, max(1, problem.classes)), dtype=np.int64)


def forbidden_features(problem: Problem) -> frozenset[int]:
    """The features that a bound forbids to use."""
    return frozenset().union(
        *(
            bound.sum.parts[0][1].features
            for bound in problem.bounds
            if isinstance(bound.sum.parts[0][1], Used) and limit_of(bound) < 1
        )
    )


def search_settings(problem: Problem, objective: NativeObjective, limits: Limits, kernel: str) -> dict[str, Any]:
    """The keyword arguments of `solve` that follow from the bounds, the limits and the options."""
    settings: dict[str, Any] = {"threads": limits.threads, "leaf_price": objective.price}
    depth, leaves = problem.max_depth, problem.bound_on("Leaves", "<=")
    if depth is not None and depth < problem.rows:  # no tree is deeper than its number of rows
        settings["depth"] = min(depth, DEEPEST)
    if leaves is not None and leaves < problem.rows:
        settings["leaves"] = floor(leaves)
    support, sizes = problem.bound_on("Support", ">="), leaf_sizes(problem) if kernel == "numeric" else None
    if sizes is not None:
        settings["support"] = sizes.least
    elif support is not None:
        settings["support"] = in_64_bits(max(1, -floor(-support)))
    if limits.memory is not None:
        settings["memory"] = limits.memory
    chosen = {name: int(value) for name, value in limits.options.items() if name not in ELSEWHERE}
    if "instructions" in chosen:
        chosen["kernel"] = chosen.pop("instructions")
    if limits.is_over is not None:
        chosen["poll_milliseconds"] = SECOND_THREAD_POLL
    settings["options"] = {"seed": limits.seed, **chosen} if kernel in ("binary", "numeric") else chosen
    return settings


def in_search_units(value: Fraction, goal: Goal, objective: NativeObjective) -> int | Fraction:
    """A value of the goal as the user wrote it -> a limit of the search: smaller values are better than it.

    Whole numbers are below a fraction if they are below the next whole number. A search that rounds its costs gets a
    limit slightly above, so that it keeps a tree that is better by less than the rounding.
    """
    exact = ((-value if goal.negated else value) - objective.constant) * objective.scale
    if objective.beside is None:
        return in_64_bits(-floor(-exact))
    return exact + max(abs(exact), Fraction(objective.beside)) * SAFE


def is_impossible(problem: Problem, settings: Mapping[str, Any]) -> bool:
    """Does a bound exclude every tree, whatever the rows?"""
    used = [bound for bound in problem.bounds if kind(bound) is Used]
    pure = [bound for bound in problem.bounds if kind(bound) is Purity]
    return (
        settings.get("depth", 0) < 0
        or settings.get("leaves", 1) < 1
        or any(limit_of(bound) < 0 for bound in used)
        or any(limit_of(bound) > 1 for bound in pure)
    )
