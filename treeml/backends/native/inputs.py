"""Problem, objective, limits -> the C solver with its rows and costs, and the settings of one search."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Limits
from treeml.backends.native.goals import NativeObjective, centred, floor, in_64_bits, kind, limit_of
from treeml.problem.problem import Problem
from treeml.problem.terms import LeafErrors, Purity, Used

if TYPE_CHECKING:
    from treeml.backends.native.numeric_kernel import ThresholdSolver
    from treeml.native.solver import Solver

DEEPEST = 1_000_000  # the depth limit of the solver where the problem has none


def make_solver(problem: Problem, objective: NativeObjective, kernel: str) -> Solver | ThresholdSolver:
    """The solver of this kernel; leaf costs that are cut off at `most` are supported by the binary kernel only."""
    if kernel == "numeric" and objective.most == inf:
        return _numeric_solver(problem, objective)
    return _binary_solver(problem, objective)


def _binary_solver(problem: Problem, objective: NativeObjective) -> Solver:
    from treeml.native.solver import Solver  # imported here: start-up time

    given: dict[str, Any] = {"columns": np.array([test.feature for test in problem.tests], dtype=np.int32)}
    support = problem.bound_on("Support", ">=")
    if (support is not None and support > 1) or objective.column_cost is not None:
        given["count"] = problem.count
    if objective.column_cost is not None:
        given["column_cost"] = objective.column_cost
    forbidden = forbidden_features(problem)
    if forbidden:
        given["forbidden"] = np.array([test.feature in forbidden for test in problem.tests], dtype=np.uint8)
    given |= leaf_conditions(problem)
    if objective.beside is not None:
        given |= {"beside": objective.beside, "most": objective.most}
    if objective.loss is not None:
        loss = objective.loss
        levels = (loss.level,) if loss.kind == "quantile" else ()
        given["weight"] = loss.weight * objective.factor
        return Solver(problem.bits, targets=centred(loss.targets), loss=loss.kind, levels=levels, **given)
    if objective.custom is not None:
        function = objective.custom.function
        return Solver(problem.bits, custom=lambda sets: [float(function(rows)) for rows in sets], **given)
    return Solver(problem.bits, cost=_cost(problem, objective), **given)


def leaf_conditions(problem: Problem) -> dict[str, Any]:
    """The strictest limits on the purity and on the errors of a leaf."""
    given: dict[str, Any] = {}
    for bound in problem.bounds:
        term = bound.sum.parts[0][1]
        if isinstance(term, Purity):
            share = min(max(limit_of(bound), Fraction(0)), Fraction(2))
            given["purity"] = (term.weight, max(share, given["purity"][1] if "purity" in given else share))
        elif isinstance(term, LeafErrors):
            most = in_64_bits(floor(limit_of(bound) / term.scale))
            given["leaf_limit"] = (term.cost, min(most, given["leaf_limit"][1] if "leaf_limit" in given else most))
    return given


def _numeric_solver(problem: Problem, objective: NativeObjective) -> ThresholdSolver:
    from treeml.backends.native.numeric_kernel import ThresholdSolver  # imported here: start-up time

    loss, forbidden = objective.loss, forbidden_features(problem)
    if loss is not None:
        return ThresholdSolver(
            problem,
            targets=centred(loss.targets),
            weight=loss.weight,
            beside=objective.beside or 0.0,
            count=problem.count,
            forbidden=forbidden,
        )
    return ThresholdSolver(problem, cost=_cost(problem, objective), count=problem.count, forbidden=forbidden)


def _cost(problem: Problem, objective: NativeObjective) -> NDArray[np.int64]:
    if objective.cost is not None:
        return objective.cost
    return np.zeros((problem.rows, max(1, problem.classes)), dtype=np.int64)


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
    support = problem.bound_on("Support", ">=")
    if support is not None:
        settings["support"] = in_64_bits(max(1, -floor(-support)))
    if limits.memory is not None:
        settings["memory"] = limits.memory
    chosen = {name: int(value) for name, value in limits.options.items() if name != "kernel"}
    if "instructions" in chosen:
        chosen["kernel"] = chosen.pop("instructions")
    settings["options"] = chosen if kernel == "numeric" else {"seed": limits.seed, **chosen}
    return settings


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
