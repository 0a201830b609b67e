"""A matrix of 0 and 1, a number for every row -> the verified tree of least squares up to a depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from time import monotonic
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeml.backends.claims import Evidence, Proof
from treeml.data.read import array_names, truth_levels
from treeml.data.scaling import shortest_decimals
from treeml.native.bit_matrix import MOST_DEPTH, BitMatrixAnswer, NotWhole, least_squares
from treeml.native.solver import statistic_names
from treeml.problem.magnitudes import common_divisor
from treeml.problem.precision import CLOSE, smallest_difference
from treeml.problem.terms import Loss, Sum
from treeml.solving.express_result import ExpressAnswer, late_result, named_statistics, time_for_search
from treeml.solving.express_task import ExpressTask
from treeml.solving.result import Result
from treeml.trees.nodes import Branch, Field, Node, TreeLeaf, TreeTest
from treeml.trees.tree import Tree

MOST_CELLS = 5_000_000  # rows times columns
ONE = Fraction(1)
_KERNEL = "native, binary kernel"
Quotient = tuple[int, int]  # of whole numbers: fractions take longer than the search
_REMARK = "the binary kernel runs: the columns are yes-or-no tests already"


def express_squares(task: ExpressTask, data: NDArray[Any], y: NDArray[Any], begun: float) -> Result | None:
    """The verified result; None if the general way is better for these rows."""
    if task.depth > min(MOST_DEPTH, data.shape[1], len(data) - 1) or data.size > MOST_CELLS:
        return None
    cells = _cells(data)
    if cells is None:
        return None
    built = monotonic()
    left = time_for_search(task, built - begun)
    if left <= 0:
        return None
    try:
        answered = _search(cells, y, task.depth, left)
    except (ValueError, MemoryError):  # cells other than 0 and 1, numbers that are too large
        return None
    if answered is None:
        return None
    found, scale = answered
    # The general way repeats the search with finer rounding, and looks for a tree without needless questions.
    if not found.is_optimal or found.has_needless:
        return None
    loss = _loss(found)
    if not _is_close(loss, found):
        return None
    answer = SquaresAnswer(task, loss, found, data, scale, begun, built)
    return late_result(answer, _wrong(loss, found, task))


def _search(
    cells: NDArray[np.uint8], y: NDArray[Any], depth: int, seconds: float
) -> tuple[BitMatrixAnswer, Fraction] | None:
    """The tree for numbers that are whole multiples of a scale, and the scale; None if they are not known exactly."""
    kind = y.dtype
    if kind == np.float64:
        try:
            return least_squares(cells, np.ascontiguousarray(y), depth, seconds), ONE
        except NotWhole:
            pass
    elif kind.kind not in "iu" or kind == np.uint64:
        return None
    exact = shortest_decimals(y)
    if exact is None:
        return None
    whole, digits = exact
    common = common_divisor(whole) if digits else 1
    whole = whole // common if common > 1 else whole
    return least_squares(cells, whole, depth, seconds), Fraction(common, 10**digits)


def _cells(data: NDArray[Any]) -> NDArray[np.uint8] | None:
    """The matrix as bytes, row after row; None if it has numbers other than 0 and 1, as far as that is seen here."""
    kind = data.dtype.kind
    if kind == "b" or data.dtype == np.uint8:  # C refuses other bytes
        return np.ascontiguousarray(data).view(np.uint8)
    if kind not in "iuf" or not ((data[0] == 0) | (data[0] == 1)).all():
        return None
    cells = (data == 1).astype(np.uint8, order="C")
    return cells if np.count_nonzero(data) == np.count_nonzero(cells) else None


def _loss(found: BitMatrixAnswer) -> Quotient:
    """The squared loss, from the rows and the sum of each leaf."""
    saved, below = 0, 1  # what the means of the leaves save of the squares, as a quotient
    for count, total in zip(found.rows, found.sums, strict=True):
        if count:
            saved, below = saved * count + total * total * below, below * count
    return found.squares * below - saved, below


def _is_close(loss: Quotient, found: BitMatrixAnswer) -> bool:
    """Is the loss 0, or the rounding of the search very small beside it?"""
    (above, below), (unit, units) = loss, found.unit.as_integer_ratio()
    return not above or found.slack * units * below * CLOSE.denominator <= above * unit * CLOSE.numerator


def _wrong(loss: Quotient, found: BitMatrixAnswer, task: ExpressTask) -> list[str]:
    """Where the rows contradict the claims of the kernel, beyond its rounding."""
    (above, below), (unit, units) = loss, found.unit.as_integer_ratio()
    wrong = []
    for what, number in (("claimed", found.value), ("its bound", found.bound)):
        if abs(number * units * below - above * unit) > found.slack * units * below:
            wrong.append(f"`squared_loss` is {above / below} and called optimal, and {number / found.unit} is {what}")
    if found.depth > task.depth:
        wrong.append(f"`depth <= {task.depth}` is not met: it is {found.depth}")
    if any(column < 0 and not rows for column, rows in zip(found.column, found.rows, strict=True)):
        wrong.append("a leaf has no rows")
    return wrong


class SquaresAnswer(ExpressAnswer):
    """A tree of least squares."""

    __slots__ = ("found", "levels", "loss", "scale", "shape")
    proved: ClassVar[Proof] = (Evidence("search", _KERNEL),)
    stopped: ClassVar[Proof] = (Evidence("search bound", _KERNEL),)

    def __init__(
        self,
        task: ExpressTask,
        loss: Quotient,
        found: BitMatrixAnswer,
        data: NDArray[Any],
        scale: Fraction,
        begun: float,
        built: float,
    ) -> None:
        super().__init__(task, True, found.depth, begun, built)
        self.loss, self.found, self.scale = loss, found, scale
        self.shape, self.levels = data.shape, truth_levels(data.dtype)

    def value(self) -> Fraction:
        return Fraction(*self.loss) * self.scale**2

    def claim(self) -> Fraction:
        return self.value()  # the kernel rounds, so only its proof is a claim

    def lower(self) -> Fraction:
        return self.value()

    def rows_of_leaves(self) -> Sequence[int]:
        return [rows for rows in self.found.rows if rows]

    def own_measures(self) -> Mapping[str, Fraction]:
        value = self.value()
        return {**self.shape_measures(), "squared_loss": value, "mse": value / self.shape[0]}

    def make_tolerance(self) -> float:
        """How far from the optimum the tree may be, relative to the larger of 1 and its loss."""
        value = self.value()
        tolerance = min(Fraction(self.found.slack) / Fraction(self.found.unit) * self.scale**2, value)
        rows = self.shape[0]
        loss = Loss("squared", np.zeros((rows, 1), dtype=np.int64), np.ones(rows, dtype=np.int64), self.scale**2)
        least = smallest_difference(Sum(((Fraction(1), loss),)), min(rows, 2**self.task.depth))
        return 0.0 if tolerance < least else float(tolerance / max(Fraction(1), value))

    def make_tree(self) -> Tree:
        names, fields = array_names(self.shape[1]), dict[int, Field]()

        def made(number: int) -> Node:
            column = self.found.column[number]
            if column < 0:
                rows = self.found.rows[number]
                mean = self.scale * self.found.sums[number] / rows
                return TreeLeaf(float(mean), rows, exact=(mean,))
            name = names[column]
            fields.setdefault(column, Field(name, "binary", self.levels))
            sides = made(self.found.yes[number]), made(self.found.no[number])
            return Branch(TreeTest(name, "is true", (1,)), *sides)

        root = made(0)
        return Tree(root, "numbers", "y", (), ("y",), tuple(fields.values()), names)

    def all_statistics(self) -> dict[str, float]:
        return named_statistics(statistic_names(), self.found.statistics)

    def make_statistics(self) -> dict[str, float]:
        value = float(self.value())
        return {**self.all_statistics(), "objective": value, "objective_bound": value}

    def remark(self) -> str:
        return _REMARK
