"""Problem -> how large each encoding of it would be, before anything is built."""

from __future__ import annotations

from treeml.backends.contract import Problem
from treeml.backends.encodings.asked import Asked, Unsupported, parts_of
from treeml.backends.encodings.cover import estimate_cells, estimate_states, takes_pairs

MOST_CELLS = 150_000_000  # numbers in the tables of a cover: about a gigabyte
MOST_WORK = 30_000_000_000  # steps of counting: about ten seconds
MOST_LITERALS = 50_000_000  # occurrences of literals in a model over nodes


def cover_cells(problem: Problem, asked: Asked) -> int:
    """Numbers in the tables; where counting takes longer than filling them, as many as would take as long."""
    return max(estimate_cells(problem, asked), cover_work(problem, asked) * MOST_CELLS // MOST_WORK)


def cover_work(problem: Problem, asked: Asked) -> int:
    """Steps of counting: pairs of tests by words of rows, or rows by tests, for every state."""
    tests = len(problem.tests)
    if takes_pairs(asked):
        each = 1 + problem.rows // 64 + 8 * max(1, problem.classes)
        return estimate_states(tests, asked.depth - 1) * tests * tests * each // 2
    forms = 1 + len(asked.requirements)
    return estimate_states(tests, asked.depth) * tests * problem.rows * max(1, problem.classes) * forms // 16


def takes_nodes(asked: Asked) -> None:
    """Raises Unsupported for what models over the nodes of a complete tree cannot express."""
    for form in asked.forms:
        for part in parts_of(form):
            if part.losses:
                raise Unsupported("a loss", "models of nodes count, they do not average", "use the cover encoding")


def node_literals(problem: Problem, asked: Asked) -> str:
    """`order` where features are taken as they are, `rows` for tests; raises Unsupported where both are too large."""
    leaves = 2 ** max(0, asked.depth)
    raw = [feature for feature in problem.features if feature.kind in ("ordered", "subsets")]
    kinds = sum(1 if feature.kind in ("ordered", "subsets") else feature.tests for feature in problem.features)
    size = problem.rows * leaves * (kinds + asked.depth)
    if size > MOST_LITERALS:
        raise Unsupported(
            "a problem of this size",
            f"a model of {problem.rows:,} rows and {leaves:,} leaves would have about {size:.0e} literals",
            "bound depth lower, use fewer rows, or binarize columns more coarsely",
        )
    tests = len(problem.tests)
    return "order" if raw or problem.rows * leaves * tests > MOST_LITERALS // 10 else "rows"
