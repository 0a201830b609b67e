"""A problem with ordered columns, beside an exact search of it -> better trees, by a second search of the same columns.

The exact search spends most of its time on replaced parts and on bounds. This one raises no bounds, replaces parts that
are drawn by other random numbers, and spends half of its effort on the splits of the whole tree. Where the exact search
works on tests, because the columns have few cuts, replaced parts are the better part of a short run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from treeml.backends.native.coded_columns import columns_of
from treeml.backends.native.flat_tree import flat_tree, tree_of
from treeml.backends.native.goals import joinable, objective_of
from treeml.backends.native.inputs import make_solver, search_settings
from treeml.backends.native.kernel_choice import can_take
from treeml.backends.portfolio.companion import Companion
from treeml.problem.problem import Problem

if TYPE_CHECKING:
    from treeml.backends.native.numeric_kernel import FlatStart, FlatTestTree, ThresholdSolver

SHALLOW = 3  # levels that are soon searched completely
DEEPEST = 24  # levels up to which the kernel replaces parts
FEW_CELLS = 10_000  # rows times columns up to which the best tree with a given first split is often found in a second
FIRST_EFFORT = 8192  # of the kernel, for the first split on so few cells: a few seconds


def takes(problem: Problem) -> bool:
    """Can the numeric kernel search the problem, and do its columns have more cuts than yes-or-no tests?"""
    depth = problem.max_depth
    if problem.given_bits is not None or depth is None or not SHALLOW < depth <= DEEPEST:
        return False
    return can_take(problem) is None and len(problem.tests) > 2 * len(columns_of(problem))


def search_again(company: Companion) -> bool:
    """Offers better trees until the run is over. Returns whether nothing is left to find."""
    problem, limits = joinable(company.problem), replace(company.limits, options={}, threads=1)
    objective = objective_of(problem)
    solver = cast("ThresholdSolver", make_solver(problem, objective, "numeric"))
    last = company.heard

    def heard() -> FlatStart | None:
        nonlocal last
        if company.heard is None or company.heard is last:
            return None
        last = company.heard
        return flat_tree(last)

    def share(tree: FlatTestTree) -> None:
        company.offer(tree_of(tree, problem))

    solver.share, solver.news = share, heard
    company.interrupts.append(solver.interrupt)
    settings = search_settings(problem, objective, limits, "numeric")
    settings["options"] |= {"seed": limits.seed ^ 1, "climb": 0}
    start = company.tree or company.heard
    if problem.rows * len(columns_of(problem)) <= FEW_CELLS:
        settings["options"]["first"] = FIRST_EFFORT
        start = None  # the exact search knows it, and goes on from there
    try:
        found = solver.solve(
            **settings,
            seconds=limits.deadline.left(),
            start=None if start is None else flat_tree(start),
            on_progress=lambda *_: not company.is_over(),
        )
    except MemoryError:
        return False
    if len(found.test):
        company.offer(tree_of(found, problem))
    return found.status == "optimal" and len(company.problem.goals) == 1
