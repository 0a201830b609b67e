"""Problem, options -> which kernel of the C solver runs, and the sentence that says why.

The binary kernel works on tests, the numeric kernel on ordered columns directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treeml.problem.problem import Problem
from treeml.problem.terms import Leaves, Loss, Predicted

FEW_TESTS = 300  # up to this many, a table of all pairs of tests is small
FEW_CUTS = 32  # per column: up to this many, counting all pairs measured faster than searching every column

_BOUNDS = frozenset({"Depth", "Leaves", "Support", "Used", "Predicted"})
MOST_COLUMNS = 4096  # of the numeric kernel; its work grows with their square


def choose_kernel(problem: Problem, options: Mapping[str, Any]) -> tuple[str, str]:
    """The kernel, and the sentence that says why; raises ValueError if the options contradict the problem."""
    if not options:
        numeric, reason = prefer_numeric(problem)
        return ("numeric" if numeric else "binary"), reason
    wanted = options.get("kernel", "auto")
    binary_table, numeric_table = option_tables().values()
    only = {
        "binary": sorted(set(options) & (set(binary_table) - set(numeric_table))),
        "numeric": sorted(set(options) & (set(numeric_table) - set(binary_table))),
    }
    for kernel, other in (("binary", "numeric"), ("numeric", "binary")):
        if wanted == kernel and only[other]:
            raise ValueError(f"`{only[other][0]}` is an option of the {other} kernel")
    if wanted == "binary":
        return "binary", "the binary kernel runs, as asked"
    obstacle = can_take(problem)
    if wanted == "numeric" or (only["numeric"] and not only["binary"]):
        if obstacle is not None:
            raise ValueError(f"the numeric kernel cannot take this problem: {obstacle}")
        return "numeric", "the numeric kernel runs, as asked"
    if only["binary"]:
        return "binary", f"the binary kernel runs: `{only['binary'][0]}` is an option of it"
    numeric, reason = prefer_numeric(problem)
    return ("numeric" if numeric else "binary"), reason


def can_take(problem: Problem) -> str | None:
    """None if the numeric kernel can solve the problem, otherwise why it cannot."""
    from treeml.backends.native.numeric_kernel import columns_of  # imported here: start-up time

    if not problem.rows:
        return "there are no rows"
    for goal in problem.goals:
        for _, term in goal.sum.parts:
            if isinstance(term, Loss) and term.kind != "squared":
                return f"it has no {term.kind} loss"
            if not isinstance(term, Predicted | Leaves | Loss):
                return f"it has no {type(term).__name__} in a goal"
    for bound in problem.bounds:
        others = bound.sum.kinds() - _BOUNDS
        if others:
            return f"it does not support a bound on {sorted(others)[0]}"
    columns = len(columns_of(problem))
    if columns > MOST_COLUMNS:
        return f"{columns:,} columns are more than its {MOST_COLUMNS:,}"
    return None


def prefer_numeric(problem: Problem) -> tuple[bool, str]:
    """Whether the numeric kernel is the better one, and the sentence that says why."""
    from treeml.backends.native.numeric_kernel import columns_of  # imported here: start-up time

    tests = len(problem.tests)
    if problem.given_bits is not None:
        return False, "the binary kernel runs: the columns are yes-or-no tests already"
    if tests <= FEW_TESTS:
        return False, f"the binary kernel runs: {tests:,} tests are few enough to count all their pairs"
    obstacle = can_take(problem)
    if obstacle is not None:
        return False, f"the binary kernel runs: the numeric one cannot, since {obstacle}"
    columns = len(columns_of(problem))
    if tests <= FEW_CUTS * columns:
        return False, f"the binary kernel runs: {columns:,} columns have no more than {FEW_CUTS} cuts each on average"
    return True, (
        f"the numeric kernel runs: it takes {columns:,} columns as they are, and their {tests:,} cuts need no tests"
    )


def option_tables() -> dict[str, dict[str, tuple[int, int, int, str]]]:
    from treeml.native import numeric, solver  # imported here: start-up time

    return {"binary": solver.options(), "numeric": numeric.options()}
