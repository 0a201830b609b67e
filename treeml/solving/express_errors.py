"""A matrix of numbers, labels -> the verified tree with the fewest errors up to a depth, by the numeric kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from time import monotonic
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeml.backends.claims import Evidence, Proof
from treeml.backends.native.kernel_choice import SHALLOW, is_numeric_better, prefer_numeric_for
from treeml.data.classes import MOST_CLASSES
from treeml.data.read import array_names
from treeml.data.table import label_text
from treeml.measures.cuts import cut_between
from treeml.native.matrix import MatrixAnswer, MatrixSize, MatrixSolver, statistic_names
from treeml.solving.express_result import ExpressAnswer, late_result, named_statistics, time_for_search
from treeml.solving.express_task import ExpressTask
from treeml.solving.result import Result
from treeml.trees.nodes import Branch, Field, Node, TreeLeaf, TreeTest
from treeml.trees.tree import Tree

MOST_CELLS = 500_000  # rows times columns
_KERNEL = "native, numeric kernel"


class ExpressLeaf(NamedTuple):
    """A leaf with the number of its class."""

    label: int


class ExpressSplit(NamedTuple):
    """Rows with numbers up to the cut go to the yes side; without a cut, those whose number is 1."""

    column: int
    cut: float | None
    yes: Any  # ExpressNode
    no: Any


ExpressNode = ExpressLeaf | ExpressSplit


class CountedTree(NamedTuple):
    """A tree with how many rows of every class reach each of its leaves, the yes side first."""

    root: ExpressNode
    cells: list[list[int]]
    errors: int
    depth: int


def express_errors(task: ExpressTask, data: NDArray[Any], y: NDArray[Any], begun: float) -> Result | None:
    """The verified result; None if the general way is better for these rows."""
    if data.dtype != np.float64 or y.dtype.kind not in "iu" or y.dtype == np.uint64:
        return None
    if task.depth > SHALLOW or data.size > MOST_CELLS:
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
    left = time_for_search(task, built - begun)
    if left <= 0:
        return None
    try:
        found = solver.solve(task.depth, left)
    except MemoryError:
        return None
    if not found.is_optimal and not found.is_interrupted:
        return None
    counted = _counted(_raised(data, found, 0), data, y, size.labels)
    return late_result(ErrorsAnswer(task, counted, size, found, data.shape, begun, built), _wrong(counted, found, task))


def _raised(data: NDArray[np.float64], found: MatrixAnswer, number: int) -> ExpressNode:
    """A node of the kernel's tree with the cut that people will read; a question whose sides are equal is left out."""
    column, levels, below, above, left, right, label = found.nodes[number]
    if column < 0:
        return ExpressLeaf(label)
    yes, no = _raised(data, found, left), _raised(data, found, right)
    if yes == no:
        return yes
    low, high = data.item(below, column), data.item(above, column)
    if levels == 2 and low == 0.0 and high == 1.0:
        return ExpressSplit(column, None, no, yes)  # the question is whether it is 1
    return ExpressSplit(column, cut_between(low + 0.0, high + 0.0), yes, no)


def _counted(root: ExpressNode, data: NDArray[np.float64], y: NDArray[Any], labels: list[int]) -> CountedTree:
    """How many rows of every class reach each leaf: counted in the matrix as it was given, not taken from C."""
    ends: list[int] = []  # the class of every leaf
    classes = len(labels)
    actual = y if labels[0] == 0 and labels[-1] == classes - 1 else np.searchsorted(np.array(labels), y)
    leaf, depth = _reached(root, data, ends)
    counts = np.bincount(leaf * classes + actual, minlength=len(ends) * classes).tolist()
    cells = [counts[place : place + classes] for place in range(0, len(counts), classes)]
    right = sum([row[label] for row, label in zip(cells, ends, strict=True)])
    return CountedTree(root, cells, len(y) - right, depth)


def _reached(node: ExpressNode, data: NDArray[np.float64], ends: list[int]) -> tuple[Any, int]:
    """The leaf that each row would reach from here, and the depth; the classes of the leaves are added to `ends`."""
    if isinstance(node, ExpressLeaf):
        ends.append(node.label)
        return len(ends) - 1, 0
    yes, left = _reached(node.yes, data, ends)
    no, right = _reached(node.no, data, ends)
    numbers = data[:, node.column]
    return np.where(numbers == 1.0 if node.cut is None else numbers <= node.cut, yes, no), 1 + max(left, right)


def _wrong(counted: CountedTree, found: MatrixAnswer, task: ExpressTask) -> list[str]:
    """Where the rows contradict the claims of the kernel."""
    errors, bound, wrong = counted.errors, found.bound, []
    if errors != found.value:
        wrong.append(f"`errors` is {errors}, but {found.value} was claimed")
    if counted.depth > task.depth:
        wrong.append(f"`depth <= {task.depth}` is not met: it is {counted.depth}")
    if bound > errors or (found.is_optimal and bound != errors):
        wrong.append(f"`errors` is {errors}, and the bound is {bound}")
    if not all(map(any, counted.cells)):
        wrong.append("a leaf has no rows")
    return wrong


class ErrorsAnswer(ExpressAnswer):
    """A tree with the fewest errors, or the best accuracy."""

    __slots__ = ("counted", "found", "shape", "size")
    proved: ClassVar[Proof] = (Evidence("search", _KERNEL),)
    stopped: ClassVar[Proof] = (Evidence("search bound", _KERNEL),)

    def __init__(
        self,
        task: ExpressTask,
        counted: CountedTree,
        size: MatrixSize,
        found: MatrixAnswer,
        shape: tuple[int, ...],
        begun: float,
        built: float,
    ) -> None:
        super().__init__(task, found.is_optimal, counted.depth, begun, built)
        self.counted, self.size, self.found, self.shape = counted, size, found, shape

    def value(self) -> Fraction:
        return self._in_goal(self.counted.errors)

    def claim(self) -> Fraction:
        return self._in_goal(self.found.value)

    def lower(self) -> Fraction:
        return self._in_goal(self.found.bound)

    def _in_goal(self, errors: int) -> Fraction:
        """The value of the goal: these errors, or the accuracy that they leave."""
        (goal,) = self.task.spec.goals
        return Fraction(errors) if goal.sense == "minimize" else 1 - Fraction(errors, self.shape[0])

    def rows_of_leaves(self) -> Sequence[int]:
        return [sum(counts) for counts in self.counted.cells]

    def own_measures(self) -> Mapping[str, Fraction]:
        errors = Fraction(self.counted.errors)
        rate = errors / self.shape[0]
        return {"errors": errors, "error_rate": rate, "accuracy": 1 - rate, **self.shape_measures()}

    def make_tree(self) -> Tree:
        names, leaves = array_names(self.shape[1]), iter(self.counted.cells)
        fields: dict[int, Field] = {}

        def made(node: ExpressNode) -> Node:
            if isinstance(node, ExpressLeaf):
                counts = tuple(next(leaves))
                return TreeLeaf(self.size.labels[node.label], sum(counts), counts, tuple(map(Fraction, counts)))
            name, is_truth = names[node.column], node.cut is None
            test = TreeTest(name, "is true" if is_truth else "at most", (1.0 if is_truth else node.cut,))
            if node.column not in fields:
                fields[node.column] = Field(name, "binary", (0.0, 1.0)) if is_truth else Field(name, "number")
            return Branch(test, made(node.yes), made(node.no))

        root = made(self.counted.root)
        return Tree(root, "classes", "y", tuple(self.size.labels), (), tuple(fields.values()), names)

    def confusion(self) -> tuple[tuple[str, ...], tuple[tuple[Fraction, ...], ...]]:
        """For every actual class, the rows of each predicted class."""
        places = range(len(self.size.labels))
        ends = list(zip(_leaves(self.counted.root), self.counted.cells, strict=True))
        rows = tuple(
            tuple(Fraction(sum(counts[actual] for leaf, counts in ends if leaf.label == place)) for place in places)
            for actual in places
        )
        return tuple(map(label_text, self.size.labels)), rows

    def all_statistics(self) -> dict[str, float]:
        return named_statistics(statistic_names(), self.found.statistics)

    def make_statistics(self) -> dict[str, float]:
        found = self.found
        return {**self.all_statistics(), "objective": float(found.value), "objective_bound": float(found.bound)}

    def remark(self) -> str:
        size = self.size
        return prefer_numeric_for(size.cuts, size.columns, self.shape[0], self.task.depth)[1]


def _leaves(node: ExpressNode) -> list[ExpressLeaf]:
    return [node] if isinstance(node, ExpressLeaf) else _leaves(node.yes) + _leaves(node.no)
