"""Arrays of numbers and a plain specification -> a verified result, by the shortest way.

On a few thousand rows a tree of two or three levels is found and proved in less than a millisecond, and the stages of
`pipeline.py` would take most of the time: a table, a dataset, a problem and a plan, each with an object for every
column. So the commonest call of all, `model.solve(X, y)` for the best accuracy up to a depth, goes from the matrix to
the numeric kernel and back. The tree is verified by numpy from the matrix as it was given; what only a reader needs is
made when it is read (`express_result.py`). Anything else, and a search that takes longer, returns None here and takes
the general way. Both ways answer the same; tests compare them.
"""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.backends.native.kernel_choice import SHALLOW, is_numeric_better
from treeml.data.classes import MOST_CLASSES
from treeml.lang.diagnostic import BackendError, SpecError
from treeml.lang.spec import CheckedGoal, Spec, Use
from treeml.lang.statements import Statements
from treeml.lang.syntax import Include
from treeml.measures.cuts import cut_between
from treeml.native.loader import missing
from treeml.native.matrix import MatrixAnswer, MatrixSolver
from treeml.solving.checking import SameStatements, check, key_of
from treeml.solving.express_result import (
    BACKEND,
    CountedTree,
    ExpressAnswer,
    ExpressLeaf,
    ExpressNode,
    ExpressSplit,
    ExpressTask,
    late_result,
)
from treeml.solving.options import RunOptions
from treeml.solving.result import Result
from treeml.solving.verify_answer import not_verified

MOST_CELLS = 500_000  # rows times columns
MOST_SECONDS = 3.0  # for the search; afterwards it begins anew, with all that the general way can do
SHARE_OF_TIME = 0.1  # of a time limit
ASKED = ("goals", "requirements", "target", "within", "folder", "spans")  # parts of a spec that may be anything, or
# are looked at one by one; all others must be as if they were not written


def express(statements: Statements, data: Any, y: Any, options: RunOptions, begun: float) -> Result | None:
    """The verified result; None if this way is not for the model, the data or the options, or if it takes too long."""
    if not _are_arrays(data, y) or not _is_plain(options) or statements.bindings or statements.untrusted:
        return None
    if missing() is not None:
        return None
    task = _task(key_of(tuple(statements.statements)), statements.folder, options.within, type(options.within).__name__)
    if task is None:
        return None
    try:
        solver = MatrixSolver(np.ascontiguousarray(data), np.ascontiguousarray(y, dtype=np.int64), MOST_CLASSES)
    except (ValueError, MemoryError):  # missing values, infinities, many classes
        return None
    size = solver.size
    if len(size.labels) < 2 or size.truths == data.shape[1]:
        return None
    if not is_numeric_better(size.cuts, size.columns, len(data), task.depth):
        return None
    built = monotonic()
    left = MOST_SECONDS if task.within is None else min(MOST_SECONDS, SHARE_OF_TIME * task.within - (built - begun))
    if left <= 0:
        return None
    try:
        found = solver.solve(task.depth, left)
    except MemoryError:
        return None
    if not found.is_optimal and not found.is_interrupted:
        return None
    counted = _counted(_raised(data, found, 0), data, y, size.labels)
    _verify(counted, found, task.depth)
    return late_result(ExpressAnswer(task, counted, size, found, data.shape, begun, built))


def _are_arrays(data: Any, y: Any) -> bool:
    return (
        type(data) is np.ndarray
        and type(y) is np.ndarray
        and data.dtype == np.float64
        and y.dtype.kind in "iu"
        and y.dtype != np.uint64
        and data.ndim == 2
        and y.ndim == 1
        and 0 < data.size <= MOST_CELLS
        and len(data) == len(y)
    )


def _is_plain(options: RunOptions) -> bool:
    return (
        options.backend is None
        and options.gap is None
        and options.seed is None
        and options.threads is None
        and options.memory is None
        and not options.backend_options
        and not options.params
        and options.start is None
        and options.weight is None
        and not options.untrusted
        and options.write_model is None
        and options.proof is None
        and options.cluster is None
    )


@lru_cache(maxsize=64)
def _task(statements: SameStatements, folder: Any, within: Any, _type: str) -> ExpressTask | None:
    """What a specification asks for; None if that is more than the fewest errors up to a small depth.

    The type of `within` is part of the key: 1 and True are equal, and are read differently.
    """
    if any(isinstance(statement, Include) for statement in statements.statements):  # an included file may change
        return None
    try:
        model = Statements(statements.statements, folder=folder)
        spec, warnings = check(model, RunOptions(within=within), data=(), has_target=True)
    except SpecError:
        return None
    usual = Spec()
    others = [each.name for each in fields(Spec) if each.name not in ASKED]
    if any(getattr(spec, name) != getattr(usual, name) for name in others) or spec.target != "y":
        return None
    if len(spec.goals) != 1 or len(spec.requirements) != 1:
        return None
    (goal,), (requirement,) = spec.goals, spec.requirements
    depth = int(requirement.limit)
    if not _asks_for_fewest_errors(goal):
        return None
    if requirement.sense != "<=" or requirement.share_of_rows or not _is_measure(requirement.expression, "depth"):
        return None
    if requirement.limit != depth or not 1 <= depth <= SHALLOW:
        return None
    return ExpressTask(spec, warnings, depth, spec.within)


def _asks_for_fewest_errors(goal: CheckedGoal) -> bool:
    """Is the goal the fewest errors, in one of its two usual forms?"""
    return _is_measure(goal.expression, "errors" if goal.sense == "minimize" else "accuracy")


def _is_measure(expression: Any, name: str) -> bool:
    """Is it one measure, and nothing else?"""
    if expression.constant or len(expression.parts) != 1:
        return False
    factor, use = expression.parts[0]
    return bool(factor == 1 and isinstance(use, Use) and use.measure == name and not use.arguments)


def _raised(data: NDArray[np.float64], found: MatrixAnswer, number: int) -> ExpressNode:
    """A node of the kernel's tree with the cut that people will read; a question with equal answers is left out."""
    node = found.nodes[number]
    if node.column < 0:
        return ExpressLeaf(node.label)
    yes, no = _raised(data, found, node.yes), _raised(data, found, node.no)
    if isinstance(yes, ExpressSplit) and yes == no:
        return yes
    low, high = data.item(node.low, node.column), data.item(node.high, node.column)
    if node.levels == 2 and low == 0.0 and high == 1.0:
        return ExpressSplit(node.column, None, no, yes)  # the question is whether it is 1
    return ExpressSplit(node.column, cut_between(low + 0.0, high + 0.0), yes, no)


def _counted(root: ExpressNode, data: NDArray[np.float64], y: NDArray[Any], labels: list[int]) -> CountedTree:
    """How many rows of every class reach each leaf: counted in the matrix as it was given, not taken from C."""
    ends: list[int] = []  # the class of every leaf

    def reached(node: ExpressNode) -> tuple[Any, int]:
        """The leaf that each row would reach from here, and the depth."""
        if isinstance(node, ExpressLeaf):
            ends.append(node.label)
            return len(ends) - 1, 0
        numbers = data[:, node.column]
        yes, left = reached(node.yes)
        no, right = reached(node.no)
        return np.where(numbers == 1.0 if node.cut is None else numbers <= node.cut, yes, no), 1 + max(left, right)

    classes = len(labels)
    actual = y if labels[0] == 0 and labels[-1] == classes - 1 else np.searchsorted(np.array(labels), y)
    leaf, depth = reached(root)
    counts = np.bincount(leaf * classes + actual, minlength=len(ends) * classes).tolist()
    cells = [counts[place : place + classes] for place in range(0, len(counts), classes)]
    right = sum([row[label] for row, label in zip(cells, ends, strict=True)])
    return CountedTree(root, cells, len(y) - right, depth)


def _verify(counted: CountedTree, found: MatrixAnswer, most_depth: int) -> None:
    """BackendError if the rows contradict the claims of the kernel."""
    errors, bound, wrong = counted.errors, found.bound, []
    if errors != found.value:
        wrong.append(f"`errors` is {errors}, but {found.value} was claimed")
    if counted.depth > most_depth:
        wrong.append(f"`depth <= {most_depth}` is not met: it is {counted.depth}")
    if bound > errors or (found.is_optimal and bound != errors):
        wrong.append(f"`errors` is {errors}, and the bound is {bound}")
    if not all(map(any, counted.cells)):
        wrong.append("a leaf has no rows")
    if wrong:
        raise BackendError(not_verified(BACKEND, tuple(wrong)))
