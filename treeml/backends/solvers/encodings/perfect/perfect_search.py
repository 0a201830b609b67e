"""Question for a perfect tree -> the encoding to use, and an answer from as few rows as possible.

The complete tree doubles with every level, while pairs of rows grow quadratically. So shallow trees are encoded by the
former and deep ones by the latter (Schidler and Szeider 2021 switch at depth 10). Rows are added as needed: a tree for
some of the rows is tried on all rows, and the rows that it gets wrong are added (Avellaneda 2020). If there is no tree
for some of the rows there is none for all, and the proof needs only these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from treeml.backends.contract import Deadline, Limits
from treeml.backends.solvers.encodings.clauses.order import build_order
from treeml.backends.solvers.encodings.clauses.order_search import encode_limits
from treeml.backends.solvers.encodings.clauses.pseudo_boolean import Clauses
from treeml.backends.solvers.encodings.perfect.complete import CompleteModel, estimate_complete
from treeml.backends.solvers.encodings.perfect.partition import PartitionModel, estimate_partition
from treeml.backends.solvers.encodings.perfect.question import PerfectTreeTask
from treeml.backends.task.node_questions import read_questions
from treeml.backends.task.read_problem import read_problem
from treeml.problem.tree import Leaf, Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]

MUCH_LARGER = 5  # if the complete tree has more than 5 times the literals, partition finds trees faster
MOST_TESTS_PER_COLUMN = 4  # with more tests per column, columns are encoded directly
FIRST_ROWS = 24
MOST_LITERALS = 150_000_000  # occurrences of literals; about six gigabytes with the solver
BYTES_PER_LITERAL = 40


class PerfectTreeModel(Protocol):
    clauses: Clauses

    def decode(self, true: Bits) -> Node: ...


def choose(perfect: PerfectTreeTask, encoding: str, switch: int) -> tuple[str, str]:
    """The encoding, and why."""
    if encoding != "auto":
        return encoding, "as asked"
    depth, questions = perfect.depth, perfect.questions
    if perfect.levels is not None:
        return "partition", "classes have weights"
    if depth >= switch:
        return "partition", f"depth {depth} is not below the switch at {switch}"
    rows, all_tests = len(perfect.bound_groups), len(questions.problem.tests)
    by_pairs = estimate_partition(rows, len(questions), depth)
    if estimate_complete(rows, all_tests, depth, questions.problem.classes) > MUCH_LARGER * by_pairs:
        return "partition", f"a complete tree of depth {depth} is much larger than the pairs of {rows:,} rows"
    tests, native = len(questions.problem.tests), any(question.kind != "test" for question in questions)
    if native and tests > MOST_TESTS_PER_COLUMN * len(questions):
        return "order", f"{tests:,} tests on {len(questions):,} columns, which are taken as they are"
    return "complete", f"{tests:,} tests, and depth {depth} is below the switch at {switch}"


def build(perfect: PerfectTreeTask, encoding: str, groups: Sequence[int], deadline: Deadline) -> PerfectTreeModel:
    if encoding == "complete":
        return CompleteModel(perfect, groups, deadline)
    if encoding == "partition":
        return PartitionModel(perfect, groups, deadline)
    part = perfect.restricted(groups)
    questions = read_questions(part, binary=encoding == "binary")
    model = build_order(part, read_problem(part), questions, deadline, leaf_literals=encoding == "leaves")
    encode_limits(model, None)
    return model


def estimate(perfect: PerfectTreeTask, encoding: str, rows: int) -> int:
    """The number of occurrences of literals for this many rows."""
    kinds, depth = len(perfect.questions), perfect.depth
    if encoding == "partition":
        return estimate_partition(rows, kinds, depth)
    if encoding == "complete":
        return estimate_complete(rows, kinds, depth, perfect.questions.problem.classes)
    return (rows * (3 * kinds + 2 * depth)) << depth


def first_rows(perfect: PerfectTreeTask, everything: bool, seed: int) -> list[int]:
    """All rows, or a random few of every class."""
    groups = perfect.bound_groups
    if everything or len(groups) <= FIRST_ROWS:
        return [int(group) for group in groups]
    chosen: list[int] = []
    make = np.random.default_rng(seed)
    labels = np.unique(perfect.label[groups])
    for label in labels:
        mine = make.permutation(groups[perfect.label[groups] == label])
        chosen += [int(group) for group in mine[: max(2, FIRST_ROWS // len(labels))]]
    return chosen


def more_rows(wrong: Whole, known: int, seed: int) -> list[int]:
    """Wrong rows to add: enough to make the next round half as large again."""
    wanted = max(FIRST_ROWS // 2, known // 2)
    if len(wrong) <= wanted:
        return [int(group) for group in wrong]
    return [int(group) for group in np.random.default_rng(seed + known).permutation(wrong)[:wanted]]


def answer(
    perfect: PerfectTreeTask,
    encoding: str,
    groups: list[int],
    limits: Limits,
    ask: Callable[[PerfectTreeModel], Node | None],
    room: Callable[[int, int], None],
) -> Node | None:
    """A tree for all rows, starting with these groups of rows; None if it is proved that there is none.

    `room` is called with the numbers of rows and literals before a model is built, and raises if it is too large.
    """
    if not groups:
        return Leaf(0)  # no row needs a particular class
    while True:
        room(len(groups), estimate(perfect, encoding, len(groups)))
        tree = ask(build(perfect, encoding, groups, limits.deadline))
        if tree is None:
            return None
        wrong = perfect.wrong(tree)
        if not len(wrong):
            return tree
        groups = groups + more_rows(wrong, len(groups), limits.seed)
