"""The soft minimum margin: max r - D * sum of slacks, every margin at least r minus its slack (Demiriz et al. 2002).

The master is solved in its dual form: min r such that no known tree's signs times the prices exceed r, with prices that
add up to 1 and are at most D for each example. A tree is a row of the dual, so HiGHS continues with its dual simplex
from the last basis. Most examples have margins far above r and a price of 0: they are left out until their margin is
low enough to matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf, isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeml.forests.column_generation import Prices, Restricted
from treeml.forests.criterion import CriterionBase, Grown
from treeml.forests.examples import Examples, Signs, Whole, in_whole_numbers
from treeml.lang.diagnostic import BackendError, DataError, Diagnostic
from treeml.problem.constants import exact_sum

DEFAULT_NU = Fraction(1, 10)
FEW = 400  # with at most this many margins, all are in the linear program from the start
CHUNK = 50  # margins that are added to the linear program at a time
NOISE = 1e-9


class LPBoost(CriterionBase):
    """Options: `penalty` (D, for a row of weight 1) or `nu` (the share of the weight that may be given up)."""

    name: ClassVar[str] = "lpboost"
    many_classes: ClassVar[bool] = True
    total = Fraction(1)

    def __init__(self, examples: Examples, options: Mapping[str, Any]) -> None:
        self.examples = examples
        self.penalty = self._penalty(options)
        if self.penalty is not None and self.penalty * examples.total < 1:
            raise DataError(_too_cheap(self.penalty, examples.total))
        self.program = _Program(examples, self.penalty)

    def _penalty(self, options: Mapping[str, Any]) -> Fraction | None:
        """D; None if no margin may fall short."""
        if "penalty" in options and "nu" in options:
            raise DataError(_both_given())
        if "penalty" in options:
            return Fraction(options["penalty"])
        return 1 / (Fraction(options.get("nu", DEFAULT_NU)) * self.examples.total)

    def solve(self, seconds: float) -> Restricted | None:
        return self.program.solve(seconds)

    def reduced_cost(self, column: Grown, restricted: Restricted) -> float:
        return float(column.signs @ restricted.prices) - max(restricted.value, -1.0)

    def add(self, columns: Sequence[Grown]) -> None:
        self.program.add(np.array([column.signs for column in columns], dtype=np.float64))

    def forget(self, columns: NDArray[np.bool_]) -> None:
        self.program.forget(columns)

    def value(self, margins: Whole, unit: Fraction) -> Fraction:
        """The best r is the lowest margin up to which the penalties add up to at least 1."""
        examples = self.examples
        worst = np.full(len(examples.row), np.iinfo(np.int64).max)
        np.minimum.at(worst, examples.example, margins)
        if self.penalty is None:
            return int(worst.min()) * unit
        price = self.penalty * examples.unit
        order = np.argsort(worst, kind="stable")
        counts = examples.count[order]
        ends = np.cumsum(counts)
        last = int(np.searchsorted(ends, -(-price.denominator // price.numerator)))
        if last == len(ends):
            raise AssertionError("the penalties add up to less than 1")
        margin, before = int(worst[order[last]]), int(ends[last] - counts[last])
        shortfall = exact_sum(worst[order[:last]], counts[:last])
        return (margin - price * (before * margin - shortfall)) * unit

    def in_whole_numbers(self, prices: Prices, scale: int) -> Whole:
        """The prices in whole numbers, none above its limit: the excess from rounding goes to prices below theirs.

        A solver's prices exceed limits by its tolerance, and rounding adds half a unit. With thousands of examples at
        their limits, the bound would become too weak for a proof.
        """
        whole = in_whole_numbers(np.maximum(prices, 0.0), scale)
        if self.penalty is None:
            return whole
        total = int(whole.sum())
        paid, most = self._paid(whole), self._limits(total)
        excess = int(np.maximum(paid - most, 0).sum())
        if not excess:
            return whole
        if len(whole) == len(paid):
            whole = np.minimum(whole, most)
        else:
            self._lower(whole, paid - most)
        # Examples that have a price come first: their margins determine the value.
        room = np.maximum(most - self._paid(whole), 0)
        order = np.argsort(paid == 0, kind="stable")
        given = np.diff(np.minimum(np.cumsum(room[order]), excess), prepend=0)
        for number in np.flatnonzero(given).tolist():
            own = whole[self._margins(int(order[number]))]
            own[np.argmax(own)] += given[number]
        return whole

    def _paid(self, whole: Whole) -> Whole:
        """What the margins of every example pay together."""
        paid = np.zeros(len(self.examples.row), dtype=np.int64)
        np.add.at(paid, self.examples.example, whole)
        return paid

    def _limits(self, total: int) -> Whole:
        """The most that every example may pay, of prices that add up to `total`, rounded down."""
        assert self.penalty is not None
        counts, which = np.unique(self.examples.count, return_inverse=True)
        price = self.penalty * self.examples.unit * total
        most = [min(total, price.numerator * count // price.denominator) for count in counts.tolist()]
        return np.array(most, dtype=np.int64)[which]

    def _margins(self, number: int) -> slice:
        """The margins of an example, one for every rival."""
        rivals = self.examples.classes - 1
        return slice(number * rivals, (number + 1) * rivals)

    def _lower(self, whole: Whole, excess: Whole) -> None:
        """Take the excess of every example from its margins, the largest first."""
        for number in np.flatnonzero(excess > 0).tolist():
            own = whole[self._margins(number)]
            left = int(excess[number])
            for place in np.argsort(-own, kind="stable").tolist():
                taken = min(left, int(own[place]))
                own[place] -= taken
                left -= taken

    def bound(self, prices: Whole, edge: int) -> Fraction | None:
        """edge / sum, for prices scaled to add up to 1, plus twice what examples pay above their limits.

        By duality, any such prices bound the value. A slack is at most 2, since margins lie between -1 and 1, so a
        price that rounding raised above its limit weakens the bound by at most twice the excess.
        """
        total = int(prices.sum())
        if total <= 0 or (prices < 0).any():
            return None
        result = Fraction(edge, total)
        if self.penalty is not None:
            limit = self.penalty * self.examples.unit * total
            paid = self._paid(prices)
            likely = np.flatnonzero(paid > (1 - 1e-9) * float(limit) * self.examples.count)
            excess = sum(
                (
                    max(Fraction(0), int(paid[number]) - limit * int(self.examples.count[number]))
                    for number in likely.tolist()
                ),
                Fraction(0),
            )
            result += 2 * excess / total
        return result

    def again(self, signs: Signs) -> float | None:
        """The primal form, max r - sum D * slack, as one linear program that is built and solved from scratch."""
        import highspy

        examples, trees = self.examples, len(signs)
        slacks = 0 if self.penalty is None else len(examples.row)
        costs = np.zeros(trees + 1 + slacks)
        costs[trees] = 1.0
        lower, upper = np.zeros(len(costs)), np.full(len(costs), np.inf)
        lower[trees] = -np.inf
        if self.penalty is not None:
            costs[trees + 1 :] = -float(self.penalty) * examples.weight
        tree, margin = np.nonzero(signs < 1)
        every = np.arange(examples.margins)
        entries = [
            (np.zeros(trees, np.intp), np.arange(trees), np.ones(trees)),
            (1 + margin, tree, signs[tree, margin] - 1.0),  # since weights add up to 1, the 1 goes to the other side
            (1 + every, np.full(len(every), trees), np.full(len(every), -1.0)),
        ]
        if slacks:
            entries.append((1 + every, trees + 1 + examples.example, np.ones(len(every))))
        least, most = np.full(1 + len(every), -1.0), np.full(1 + len(every), np.inf)
        least[0] = most[0] = 1.0
        highs = highspy.Highs()
        highs.silent()
        highs.setOptionValue("threads", 1)
        highs.setOptionValue("presolve", "off")
        highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        highs.addVars(len(costs), lower, upper)
        highs.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)
        highs.addRows(len(least), least, most, *_packed(len(least), entries))
        highs.run()
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        return float(highs.getObjectiveValue())


class _Program:
    """min r over r and the prices u: for each tree signs @ u <= r, sum u = 1, 0 <= u, at most D for an example.

    Since prices add up to 1, a tree's row can be written as (signs - 1) @ u <= r - 1, which has entries only where the
    tree is wrong: the matrix is mostly zeros, and much faster to solve.
    """

    def __init__(self, examples: Examples, penalty: Fraction | None) -> None:
        import highspy

        self.examples = examples
        self.limit = np.full(len(examples.row), np.inf) if penalty is None else float(penalty) * examples.weight
        self.several = examples.classes > 2  # margins of one example then share its limit
        self.signs = np.zeros((0, examples.margins))
        self.inside: list[int] = []  # the margins that are columns of the program, in its order
        self.is_inside = np.zeros(examples.margins, dtype=np.bool_)
        self.limit_row: dict[int, int] = {}  # example -> its row of the program
        self.tree_rows: list[int] = []  # tree -> its row of the program
        self.highs = highspy.Highs()
        self.highs.silent()
        for option, value in (
            ("solver", "simplex"),
            ("simplex_strategy", 0),  # dual after adding trees, primal after adding margins
            ("presolve", "off"),
            ("threads", 1),
            ("simplex_scale_strategy", 0),  # all coefficients are 1, 0 and -1
        ):
            self.highs.setOptionValue(option, value)
        self.highs.addCol(1.0, -np.inf, np.inf, 0, np.zeros(0, np.int32), np.zeros(0))
        self.highs.addRow(1.0, 1.0, 0, np.zeros(0, np.int32), np.zeros(0))

    def solve(self, seconds: float) -> Restricted | None:
        examples = self.examples
        if not len(self.signs):
            return Restricted(-inf, np.zeros(0), self._even())
        if not self.inside:
            self._begin()
        while True:
            solution = self._run(seconds)
            if solution is None:
                return None
            values, duals = solution
            weights = np.maximum(-duals[self.tree_rows], 0.0)
            margins = weights @ self.signs
            missing = np.flatnonzero(~self.is_inside & (margins < duals[0] + 1.0 - NOISE))
            if not len(missing):
                break
            self._join(missing[np.argsort(margins[missing], kind="stable")][:CHUNK])
        prices = np.zeros(examples.margins)
        prices[self.inside] = np.maximum(values[1:], 0.0)
        return Restricted(float(values[0]), weights, prices)

    def add(self, signs: NDArray[np.float64]) -> None:
        first, rows = self.highs.getNumRow(), len(signs)
        less = signs[:, self.inside] - 1.0
        tree, place = np.nonzero(less)
        entries = [
            (np.arange(rows), np.zeros(rows, np.intp), np.full(rows, -1.0)),
            (tree, 1 + place, less[tree, place]),
        ]
        self.highs.addRows(rows, np.full(rows, -np.inf), np.full(rows, -1.0), *_packed(rows, entries))
        self.tree_rows += range(first, first + rows)
        self.signs = np.vstack([self.signs, signs])

    def forget(self, trees: NDArray[np.bool_]) -> None:
        gone = np.array(self.tree_rows, dtype=np.int32)[trees]
        self.highs.deleteRows(len(gone), np.sort(gone))
        before = np.sort(gone)
        self.signs = self.signs[~trees]
        kept = [row for row, out in zip(self.tree_rows, trees, strict=True) if not out]
        self.tree_rows = [row - int(np.searchsorted(before, row)) for row in kept]
        self.limit_row = {e: row - int(np.searchsorted(before, row)) for e, row in self.limit_row.items()}

    def _even(self) -> NDArray[np.float64]:
        """Prices before there is a tree: the same for every row."""
        share = self.examples.weight / self.examples.weight.sum() / (self.examples.classes - 1)
        return np.asarray(share[self.examples.example])

    def _begin(self) -> None:
        """Start with the lowest margins of the first trees, enough of them for prices that add up to 1."""
        if self.examples.margins <= FEW:
            self._join(np.arange(self.examples.margins))
            return
        order = np.argsort(self.signs.sum(axis=0), kind="stable")
        room = np.cumsum(np.minimum(self.limit, 1.0)[self.examples.example[order]])
        needed = int(np.searchsorted(room, 2.0)) + 1
        self._join(order[: max(needed, self.examples.margins // 6)])
        shares = np.zeros(len(self.limit))
        np.maximum.at(shares, self.examples.example[self.inside], self.limit[self.examples.example[self.inside]])
        if shares.sum() < 1:
            self._join(np.flatnonzero(~self.is_inside))

    def _join(self, margins: NDArray[np.intp]) -> None:
        """Make these margins columns of the program."""
        examples, every = self.examples.example[margins], np.arange(len(margins))
        upper, less = self.limit[examples], self.signs[:, margins] - 1.0
        tree, place = np.nonzero(less)
        entries = [
            (every, np.zeros(len(every), np.intp), np.ones(len(every))),
            (place, np.array(self.tree_rows, np.intp)[tree], less[tree, place]),
        ]
        if self.several and np.isfinite(upper).all():
            entries.append((every, self._limit_rows(examples), np.ones(len(every))))
            upper = np.full(len(every), np.inf)
        none = np.zeros(len(every))
        self.highs.addCols(len(every), none, none, upper, *_packed(len(every), entries))
        self.is_inside[margins] = True
        self.inside += margins.tolist()

    def _limit_rows(self, examples: NDArray[np.intp]) -> NDArray[np.intp]:
        """The rows that limit the sum of the prices of an example's margins."""
        for example in examples.tolist():
            if example not in self.limit_row:
                self.limit_row[example] = self.highs.getNumRow()
                self.highs.addRow(-np.inf, float(self.limit[example]), 0, np.zeros(0, np.int32), np.zeros(0))
        return np.array([self.limit_row[example] for example in examples.tolist()], np.intp)

    def _run(self, seconds: float) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        import highspy

        if isfinite(seconds):
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + seconds)
        self.highs.run()
        status = self.highs.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise BackendError(_failed(self.highs.modelStatusToString(status)))
        solution = self.highs.getSolution()
        return np.array(solution.col_value), np.array(solution.row_dual)


Entries = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]  # rows, columns and values, or transposed


def _packed(
    count: int, entries: Sequence[Entries]
) -> tuple[int, NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Entries as HiGHS takes rows: their number, the start of every row, their columns and their values."""
    row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    order = np.lexsort((column, row))
    starts = np.searchsorted(row[order], np.arange(count))
    return len(order), starts.astype(np.int32), column[order].astype(np.int32), value[order]


def _too_cheap(penalty: Fraction, total: Fraction) -> Diagnostic:
    least = 1 / total
    return Diagnostic(
        "D431",
        f"a penalty of {float(penalty):.6g} is too small for rows of weight {float(total):.6g}",
        notes=(
            "giving up every row would then cost less than it gains, and the margin would have no upper limit",
            f"the smallest penalty for these rows is 1/{float(total):.6g} = {float(least):.6g}",
        ),
        helps=("write `lpboost(nu = 0.1)`: the share of the rows that may be given up, whatever their number",),
    )


def _both_given() -> Diagnostic:
    return Diagnostic(
        "D432",
        "`penalty` and `nu` say the same thing twice",
        notes=("for rows of weight W, nu is 1 / (penalty * W)",),
        helps=("give one of the two",),
    )


def _failed(status: str) -> Diagnostic:
    return Diagnostic(
        "B515",
        "the linear program of the forest failed",
        notes=(f"HiGHS says: {status}",),
        helps=("please report it with the specification and the data",),
    )
