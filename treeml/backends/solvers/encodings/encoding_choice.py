"""Problem -> which encoding is used, by the estimated size of each, before anything is built."""

from __future__ import annotations

from collections.abc import Callable

from treeml.backends.solvers.encodings.cover.cover import cover_work, estimate_cells
from treeml.backends.task.integer_task import TOO_LARGE, IntegerTask, parts_of
from treeml.backends.task.unsupported import Unsupported
from treeml.problem.problem import Problem

MOST_CELLS = 150_000_000  # numbers in the tables of a cover: about one gigabyte
MOST_WORK = 30_000_000_000  # steps of counting: about ten seconds
LARGEST_ENTRY = 2**50  # in a row of a model: beyond 2^57 CP-SAT has called feasible models infeasible
MOST_LITERALS = 50_000_000  # occurrences of literals in a model over nodes


def cover_or_other(
    problem: Problem, task: IntegerTask, wanted: bool, other: Callable[[], str], whole: bool = False
) -> tuple[str, str]:
    """`cover` if it is wanted or its tables fit, otherwise the result of `other`; and the reason."""
    cells, work = estimate_cells(problem, task, whole), cover_work(problem, task, whole)
    size = f"its tables hold at most {_about(cells)} numbers, filled in about {_about(work)} steps"
    if wanted:
        return "cover", f"asked for; {size}"
    if cells <= MOST_CELLS and work <= MOST_WORK:
        return "cover", f"{size}, within {_about(MOST_CELLS)} and {_about(MOST_WORK)}"
    size = f"the tables of a cover would hold {_about(cells)} numbers, filled in {_about(work)} steps"
    try:
        check_node_model(task)
        kind = other()
    except Unsupported as unsupported:
        raise Unsupported(
            "a problem of this size",
            f"{size}; {unsupported.refusal.because}",
            smaller(task),
        ) from unsupported
    return kind, f"about {node_literals(problem, task):,} literals; {size}"


def smaller(task: IntegerTask) -> str:
    """What to do about a problem that is too large for a model."""
    lower = f"ask for less depth (`require depth <= {task.depth - 1}`), " if task.depth > 1 else ""
    return f"{lower}make fewer tests of numbers (`binarize all by quantiles(4)`), or leave out columns or rows"


def _about(number: int) -> str:
    return f"{number:,}" if number < 10**7 else f"{number:.1e}"


def check_node_model(task: IntegerTask) -> None:
    """Raises Unsupported for what models over the nodes of a complete tree cannot express."""
    for form in task.forms:
        for part in parts_of(form):
            if part.losses:
                raise Unsupported("a loss", "models over nodes support counts, not averages", "use the cover encoding")


def check_purity_size(task: IntegerTask) -> None:
    """Raises Unsupported if a purity limit needs larger numbers than a row of a model may hold."""
    if task.largest_share > LARGEST_ENTRY:
        raise Unsupported(
            "a purity limit with this many digits and such large weights", TOO_LARGE, "round the purity or the weights"
        )


def node_literals(problem: Problem, task: IntegerTask, binary: bool = False) -> int:
    """The approximate number of literals of a model over nodes; `binary`: with every test by itself."""
    leaves = 2 ** max(0, task.depth)
    kinds = sum(
        1 if feature.kind in ("ordered", "subsets") and not binary else feature.tests for feature in problem.features
    )
    return int(problem.rows * leaves * (kinds + max(0, task.depth)))


def checked_literals(problem: Problem, task: IntegerTask, binary: bool = False) -> int:
    """The same, but raises Unsupported if there are too many."""
    size = node_literals(problem, task, binary)
    if size > MOST_LITERALS:
        tests = f", {len(problem.tests):,} tests" if binary else ""
        raise Unsupported(
            "a problem of this size",
            f"a model of {problem.rows:,} rows{tests} and {2 ** max(0, task.depth):,} leaves would have about "
            f"{size:.0e} literals",
            smaller(task),
        )
    return size


def flow_columns(problem: Problem, task: IntegerTask) -> int:
    """The approximate number of columns of a flow program, if no two rows are identical."""
    leaves = 2 ** max(0, task.depth)
    return int((leaves - 1) * len(problem.tests) + leaves * max(1, problem.classes) + problem.rows * leaves)


def node_encoding(problem: Problem, task: IntegerTask) -> str:
    """`order` if there are ordered or categorical features, else `rows`; raises Unsupported if both are too large."""
    check_purity_size(task)
    checked_literals(problem, task)
    raw = any(feature.kind in ("ordered", "subsets") for feature in problem.features)
    return "order" if raw or node_literals(problem, task, binary=True) > MOST_LITERALS // 10 else "rows"


def flow_encoding(problem: Problem, task: IntegerTask) -> str:
    """`flow`, with every test by itself; raises Unsupported if it is too large."""
    check_purity_size(task)
    checked_literals(problem, task, binary=True)
    return "flow"
