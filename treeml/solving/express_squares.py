"""A matrix of 0 and 1, a number for every row -> the verified tree of least squares up to a depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from time import monotonic
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeml.backends.claims import Evidence, Proof
from treeml.data.read import array_names, truth_levels
from treeml.data.scaling import shortest_decimals
from treeml.native.bit_matrix import MOST_DEPTH, BitMatrixAnswer, BitMatrixSolver, statistic_names
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
MOST_SQUARES = 2.0**52  # sums of squares below this are exact in floating point, and so are those of the numbers
_KERNEL = "native, binary kernel"
_REMARK = "the binary kernel runs: the columns are yes-or-no tests already"


class Numbers(NamedTuple):
    """The numbers to predict, as whole multiples of a scale that add up exactly in floating point."""

    whole: NDArray[np.int64]
    floats: NDArray[np.float64]
    squares: int  # their sum
    scale: Fraction


class SummedTree(NamedTuple):
    """The rows of each leaf of a tree, the yes side first, and the sum of their numbers."""

    rows: list[int]
    sums: list[int]
    depth: int
    loss: tuple[int, int]  # a quotient of whole numbers: fractions take longer than the search
    repeats: bool  # does a question have the same questions on both of its sides?


def express_squares(task: ExpressTask, data: NDArray[Any], y: NDArray[Any], begun: float) -> Result | None:
    """The verified result; None if the general way is better for these rows."""
    if task.depth > min(MOST_DEPTH, data.shape[1], len(data) - 1) or data.size > MOST_CELLS:
        return None
    numbers = _numbers(y)
    cells = None if numbers is None else _cells(data)
    if numbers is None or cells is None:
        return None
    try:
        solver = BitMatrixSolver(cells, numbers.whole)
    except (ValueError, MemoryError):  # other numbers than 0 and 1
        return None
    built = monotonic()
    left = time_for_search(task, built - begun)
    if left <= 0:
        return None
    try:
        found = solver.solve(task.depth, left)
    except MemoryError:
        return None
    if not found.is_optimal:
        return None
    summed = _summed(found, cells, numbers)
    # The general way repeats the search with finer rounding, and looks for a tree without needless questions.
    if summed.repeats or not _is_close(summed, found):
        return None
    answer = SquaresAnswer(task, summed, found, data, numbers.scale, begun, built)
    return late_result(answer, _wrong(summed, found, task))


def _numbers(y: NDArray[Any]) -> Numbers | None:
    """None if the numbers are not known exactly, or too large."""
    if y.dtype != np.float64 and (y.dtype.kind not in "iu" or y.dtype == np.uint64):
        return None
    if y.dtype == np.float64:
        with np.errstate(over="ignore", invalid="ignore"):
            squares = float(y @ y)
        if squares < MOST_SQUARES:  # so that every number fits in 64 bits
            whole = y.astype(np.int64)
            if (whole == y).all():  # the usual case
                return Numbers(whole, y, int(squares), ONE)
    exact = shortest_decimals(y)
    if exact is None:
        return None
    whole, digits = exact
    common = common_divisor(whole) if digits else 1
    whole = whole // common if common > 1 else whole
    floats = whole.astype(np.float64)
    squares = float(floats @ floats)
    return Numbers(whole, floats, int(squares), Fraction(common, 10**digits)) if squares < MOST_SQUARES else None


def _cells(data: NDArray[Any]) -> NDArray[np.uint8] | None:
    """The matrix as bytes, row after row; None if it has numbers other than 0 and 1, as far as that is seen here."""
    kind = data.dtype.kind
    if kind == "b" or data.dtype == np.uint8:  # C refuses other bytes
        return np.ascontiguousarray(data).view(np.uint8)
    if kind not in "iuf" or not ((data[0] == 0) | (data[0] == 1)).all():
        return None
    cells = (data == 1).astype(np.uint8, order="C")
    return cells if np.count_nonzero(data) == np.count_nonzero(cells) else None


def _summed(found: BitMatrixAnswer, cells: NDArray[np.uint8], numbers: Numbers) -> SummedTree:
    """The rows and sums of each leaf: counted in the matrix as it was given, not taken from C."""
    routing = _Routing(found, cells.view(np.bool_))
    leaf, _, depth = routing.reached(0)
    if not depth:
        leaf = np.zeros(len(cells), dtype=np.intp)
    rows = np.bincount(leaf, minlength=routing.ends).tolist()
    sums = list(map(int, np.bincount(leaf, weights=numbers.floats, minlength=routing.ends).tolist()))
    saved, below = 0, 1  # what the means of the leaves save of the squares, as a quotient
    for total, count in zip(sums, rows, strict=True):
        if count:
            saved, below = saved * count + total * total * below, below * count
    return SummedTree(rows, sums, depth, (numbers.squares * below - saved, below), routing.repeats)


class _Routing:
    """Sends all rows down a tree, and counts its leaves."""

    __slots__ = ("ends", "found", "is_yes", "repeats")

    def __init__(self, found: BitMatrixAnswer, is_yes: NDArray[np.bool_]) -> None:
        self.found, self.is_yes = found, is_yes
        self.ends, self.repeats = 0, False

    def reached(self, number: int) -> tuple[Any, Any, int]:
        """The leaf that each row would reach from here, the questions from here on, and the depth."""
        column = self.found.column[number]
        if column < 0:
            self.ends += 1
            return self.ends - 1, None, 0
        yes, asked, left = self.reached(self.found.yes[number])
        no, others, right = self.reached(self.found.no[number])
        if asked is not None and asked == others:
            self.repeats = True
        return np.where(self.is_yes[:, column], yes, no), (column, asked, others), 1 + max(left, right)


def _is_close(summed: SummedTree, found: BitMatrixAnswer) -> bool:
    """Is the loss 0, or the rounding of the search very small beside it?"""
    (above, below), (unit, units) = summed.loss, found.unit.as_integer_ratio()
    return not above or found.slack * units * below * CLOSE.denominator <= above * unit * CLOSE.numerator


def _wrong(summed: SummedTree, found: BitMatrixAnswer, task: ExpressTask) -> list[str]:
    """Where the rows contradict the claims of the kernel, beyond its rounding."""
    (above, below), (unit, units) = summed.loss, found.unit.as_integer_ratio()
    wrong = []
    for what, number in (("claimed", found.value), ("its bound", found.bound)):
        if abs(number * units * below - above * unit) > found.slack * units * below:
            wrong.append(f"`squared_loss` is {above / below} and called optimal, and {number / found.unit} is {what}")
    if summed.depth > task.depth:
        wrong.append(f"`depth <= {task.depth}` is not met: it is {summed.depth}")
    if not all(summed.rows):
        wrong.append("a leaf has no rows")
    return wrong


class SquaresAnswer(ExpressAnswer):
    """A tree of least squares."""

    __slots__ = ("found", "levels", "scale", "shape", "summed")
    proved: ClassVar[Proof] = (Evidence("search", _KERNEL),)
    stopped: ClassVar[Proof] = (Evidence("search bound", _KERNEL),)

    def __init__(
        self,
        task: ExpressTask,
        summed: SummedTree,
        found: BitMatrixAnswer,
        data: NDArray[Any],
        scale: Fraction,
        begun: float,
        built: float,
    ) -> None:
        super().__init__(task, True, summed.depth, begun, built)
        self.summed, self.found, self.scale = summed, found, scale
        self.shape, self.levels = data.shape, truth_levels(data.dtype)

    def value(self) -> Fraction:
        return Fraction(*self.summed.loss) * self.scale**2

    def claim(self) -> Fraction:
        return self.value()  # the kernel rounds, so only its proof is a claim

    def lower(self) -> Fraction:
        return self.value()

    def rows_of_leaves(self) -> Sequence[int]:
        return self.summed.rows

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
        leaves = iter(zip(self.summed.rows, self.summed.sums, strict=True))

        def made(number: int) -> Node:
            column = self.found.column[number]
            if column < 0:
                rows, total = next(leaves)
                mean = self.scale * total / rows
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
