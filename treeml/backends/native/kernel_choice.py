"""Problem, options -> which kernel of the C solver runs, and the sentence that says why.

The binary kernel works on tests, the numeric kernel on ordered columns directly. Requirements that couple the leaves
need one of two coupled kernels, which work on tests and on columns as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treeml.backends.native.coupled.requirements import couples, is_coupled, limits_predictions, without_idle
from treeml.backends.native.coupled.task import has_small_sums
from treeml.backends.native.goals import fits_rounded
from treeml.problem.problem import Problem, once
from treeml.problem.terms import Leaves, Loss, Predicted, TestCost

FEW_TESTS = 300  # up to this many, a table of all pairs of tests is small
FEW_CUTS = 32  # per column: up to this many, counting all pairs measured faster than searching every column
FEW_CELLS = 2048  # rows times columns: up to this many, sorting columns measured faster than making tests of them,
SHALLOW = 3  # for trees of at most this depth,
TINY_CUTS = 12  # and columns with more cuts than this
MOST_PAIRED = 8192  # tests of the binary kernel with pair counts, as in treeml/native/pair/run.c
LEAST_DIVIDED, DIVIDED_CUTS = 4, 12  # leaves and cuts per column: from these on, few leaves are bounded sooner by it
UNPAIRED_CUTS = 2  # per column: from this many, the numeric kernel measured faster than the binary one without them

_BOUNDS = frozenset({"Depth", "Leaves", "Support", "Used", "Predicted"})
OF_COUPLED = frozenset({"hand_over"})  # options that concern the coupled search, whatever the kernel
MOST_COLUMNS = 4096  # of the numeric kernel; its work grows with their square
FEW_COUPLED_CUTS = 12  # per column: up to this many, the coupled kernel on tests measured faster
_OF_COLUMNS = frozenset(  # terms of the coupled kernel on columns
    {"Predicted", "Leaves", "Depth", "Support", "Used", "TestCost", "DiscountedTestCost", "Purity", "LeafErrors"}
)
COUPLED_KERNELS = ("coupled", "coupled numeric")
RULED = "the coupled numeric kernel runs, on columns as they are: it keeps what is required of every leaf"
MOST_COUPLED_CLASSES = 12  # of the coupled kernel on columns, as in treeml/native/coupled_numeric/solver.h


def choose_kernel(problem: Problem, options: Mapping[str, Any]) -> tuple[str, str]:
    """The kernel, and the sentence that says why; raises ValueError if the options contradict the problem."""
    if is_coupled(problem) and is_coupled(without_idle(problem)):
        return _coupled_kernel(problem, options) if options else _default_coupled_kernel(problem)
    if not options and has_ruled_leaves(problem):
        return COUPLED_KERNELS[1], RULED
    return choose_additive_kernel(problem, options)


def choose_additive_kernel(problem: Problem, options: Mapping[str, Any]) -> tuple[str, str]:
    """The same among the kernels for problems without coupled requirements."""
    options = {name: value for name, value in options.items() if name not in OF_COUPLED}
    if not options:
        numeric, reason = prefer_numeric(problem)
        return ("numeric" if numeric else "binary"), reason
    wanted = options.get("kernel", "auto")
    tables = option_tables()
    binary_table, numeric_table = tables["binary"], tables["numeric"]
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


@once
def has_ruled_leaves(problem: Problem) -> bool:
    """Do requirements on every leaf keep the numeric kernel from taking columns that the coupled one on columns takes?

    That kernel also runs without a limited sum. The binary one has a test for each of the many cuts.
    """
    kinds = frozenset().union(*(bound.sum.kinds() for bound in problem.bounds))
    if not kinds & {"Purity", "LeafErrors"} or problem.given_bits is not None:
        return False
    from treeml.backends.native.coded_columns import number_of_columns  # imported here: start-up time
    from treeml.backends.native.coupled.refusals import coupled_refusals

    size = len(problem.tests), number_of_columns(problem), problem.rows, problem.max_depth
    if not is_numeric_better(*size) or can_take(problem) is None:
        return False
    return not any(True for _ in coupled_refusals(problem)) and coupled_obstacle(problem) is None


@once
def _default_coupled_kernel(problem: Problem) -> tuple[str, str]:
    return _coupled_kernel(problem, {})


def _coupled_kernel(problem: Problem, options: Mapping[str, Any]) -> tuple[str, str]:
    """One of the coupled kernels; options that only other kernels have are refused."""
    own = OF_COUPLED | {"kernel", "instructions"}
    wanted = options.get("kernel", "auto")
    foreign: dict[str, list[str]] = {kernel: [] for kernel in COUPLED_KERNELS}
    if options:
        tables = option_tables()
        foreign = {kernel: sorted(set(options) - set(tables[kernel]) - own) for kernel in COUPLED_KERNELS}
    numeric = wanted == "numeric" or (wanted == "auto" and not foreign["coupled numeric"] and _has_many_cuts(problem))
    obstacle = coupled_obstacle(problem) if numeric else None
    if obstacle is not None:
        if wanted == "numeric":
            raise ValueError(f"the numeric kernel cannot take this problem: {obstacle}")
        numeric = False
    kernel = COUPLED_KERNELS[numeric]
    if foreign[kernel]:
        raise ValueError(f"`{foreign[kernel][0]}` is not an option of the {kernel} kernel, which this problem needs")
    names = dict.fromkeys(bound.name for bound in problem.bounds if couples(bound) and bound.name)
    which = f" ({', '.join(names)})" if names else ""
    what = "predictions" if any(limits_predictions(bound) for bound in problem.bounds) else "tests"
    because = f"requirements on the {what} of all rows couple the leaves{which}"
    if numeric:
        return kernel, f"the coupled numeric kernel runs, on columns as they are: {because}"
    return kernel, f"the coupled kernel runs: {because}"


def _has_many_cuts(problem: Problem) -> bool:
    """Do the columns have enough cuts for the coupled kernel on columns to be the better one?"""
    from treeml.backends.native.coded_columns import number_of_columns  # imported here: start-up time

    if problem.given_bits is not None or not problem.tests:
        return False
    features = sum(feature.tests > 0 for feature in problem.features)  # each makes one column or more
    few = FEW_COUPLED_CUTS * features
    return len(problem.tests) > few and len(problem.tests) > FEW_COUPLED_CUTS * number_of_columns(problem)


def coupled_obstacle(problem: Problem) -> str | None:
    """None if the coupled kernel on columns can solve the problem, otherwise why it cannot."""
    from treeml.backends.native.coded_columns import number_of_columns  # imported here: start-up time

    if not problem.rows:
        return "there are no rows"
    sums = [*(goal.sum for goal in problem.goals), *(bound.sum for bound in problem.bounds)]
    others = set().union(*(each.kinds() for each in sums)) - _OF_COLUMNS
    if others:
        return f"it has no {min(others)}"
    if problem.classes > MOST_COUPLED_CLASSES:
        return f"{problem.classes} classes are more than its {MOST_COUPLED_CLASSES}"
    columns = number_of_columns(problem)
    if columns > MOST_COLUMNS:
        return f"{columns:,} columns are more than its {MOST_COLUMNS:,}"
    if not has_small_sums(problem):
        return "its sums are too large for doubles that hold whole numbers"
    return None


def can_take(problem: Problem) -> str | None:
    """None if the numeric kernel can solve the problem, otherwise why it cannot."""
    from treeml.backends.native.coded_columns import number_of_columns  # imported here: start-up time
    from treeml.backends.native.leaf_sizes import leaf_sizes

    if not problem.rows:
        return "there are no rows"
    for goal in problem.goals:
        for _, term in goal.sum.parts:
            if isinstance(term, Loss) and term.kind != "squared" and not fits_rounded(problem, goal.sum):
                return f"the sums of its {term.kind} loss do not fit in 64 bits"
            if isinstance(term, TestCost) and (type(term) is not TestCost or min(term.costs, default=0) < 0):
                return f"it does not take {term.phrase}" if type(term) is not TestCost else "a test has a negative cost"
            if not isinstance(term, Predicted | Leaves | Loss | TestCost):
                return f"it has no {type(term).__name__} in a goal"
    for bound in problem.bounds:
        others = bound.sum.kinds() - _BOUNDS
        if others and (others != {"LeafErrors"} or leaf_sizes(problem) is None):
            return f"it does not support a bound on {sorted(others)[0]}"
    columns = number_of_columns(problem)
    if columns > MOST_COLUMNS:
        return f"{columns:,} columns are more than its {MOST_COLUMNS:,}"
    return None


def prefer_numeric(problem: Problem) -> tuple[bool, str]:
    """Whether the numeric kernel is the better one, and the sentence that says why."""
    from treeml.backends.native.coded_columns import number_of_columns  # imported here: start-up time

    if problem.given_bits is not None:
        return False, "the binary kernel runs: the columns are yes-or-no tests already"
    columns, tests = number_of_columns(problem), len(problem.tests)
    numeric, reason = prefer_numeric_for(tests, columns, problem.rows, problem.max_depth)
    if not numeric and tests >= UNPAIRED_CUTS * columns and lacks_pair_counts(problem):
        numeric, reason = True, "the numeric kernel runs: the binary one could not count pairs of tests for this goal"
    if not numeric and tests > DIVIDED_CUTS * columns and has_few_leaves(problem):
        numeric, reason = True, "the numeric kernel runs: it divides few leaves between the sides of every split"
    obstacle = can_take(problem) if numeric else None
    if obstacle is not None:
        return False, f"the binary kernel runs: the numeric one cannot, since {obstacle}"
    return numeric, reason


def has_few_leaves(problem: Problem) -> bool:
    """Does a low limit on leaves matter beside costs of classes, which the numeric kernel bounds by itself?"""
    from treeml.backends.native.priced_leaves import FEW_LEAVES  # imported here: start-up time

    leaves, depth = problem.bound_on("Leaves", "<="), problem.max_depth
    if any(goal.sum.kinds() - {"Predicted", "Leaves"} for goal in problem.goals):
        return False
    if leaves is None or not LEAST_DIVIDED <= leaves < FEW_LEAVES + 1:
        return False
    return depth is None or leaves < 2 ** max(0, min(depth, FEW_LEAVES))


def lacks_pair_counts(problem: Problem) -> bool:
    """Does the binary kernel search this problem test by test, without counting pairs of tests?"""
    if any(bound.sum.kinds() & {"Purity", "LeafErrors"} for bound in problem.bounds):
        return True
    terms = [term for goal in problem.goals for _, term in goal.sum.parts]
    if any(isinstance(term, TestCost) or (isinstance(term, Loss) and term.kind != "squared") for term in terms):
        return True
    return problem.classes != 2 and problem.bound_on("Leaves", "<=") is not None


def prefer_numeric_for(tests: int, columns: int, rows: int, depth: int | None) -> tuple[bool, str]:
    """The same by size alone, if both kernels can take the problem."""
    if is_numeric_better(tests, columns, rows, depth):
        taken = f"it takes {columns:,} columns as they are, and their {tests:,} cuts need no tests"
        return True, f"the numeric kernel runs: {taken}"
    if tests <= FEW_TESTS:
        return False, f"the binary kernel runs: {tests:,} tests are few enough to count all their pairs"
    return False, f"the binary kernel runs: {columns:,} columns have no more than {FEW_CUTS} cuts each on average"


def is_numeric_better(tests: int, columns: int, rows: int, depth: int | None) -> bool:
    """Is the numeric kernel faster on problems of this size?"""
    if (tests > FEW_TESTS and tests > FEW_CUTS * columns) or tests > MOST_PAIRED:
        return True
    is_small = depth is not None and depth <= SHALLOW and rows * columns <= FEW_CELLS
    return is_small and tests > TINY_CUTS * columns


def option_tables() -> dict[str, dict[str, tuple[int, int, int, str]]]:
    from treeml.native import coupled, coupled_numeric, numeric, solver  # imported here: start-up time

    return {
        "binary": solver.options(),
        "numeric": numeric.options(),
        "coupled": coupled.options_of_coupled(),
        "coupled numeric": coupled_numeric.options_of_coupled_numeric(),
    }
