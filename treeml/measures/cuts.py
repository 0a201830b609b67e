"""The distinct values of a column -> cuts between them.

A cut t between neighbors a < b satisfies a <= t < b exactly in float arithmetic, even where a and b differ in their
last bit, so `x <= t` splits the rows as the values do. Among such cuts the shortest decimal near the middle is chosen,
or a round date or time, because people read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, inf, log10
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from treeml.data.dates import calendar_cut

Numbers = NDArray[Any]  # float64, or int64 beyond 2**53
_FEW = 100  # values that are looked up one by one; for more, a table of all is made


def distinct(values: Numbers) -> Numbers:
    """The distinct values in order."""
    ordered = np.sort(values)
    if len(ordered) < 2:
        return ordered
    new = np.empty(len(ordered), dtype=bool)
    new[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


def ranks(values: Numbers) -> tuple[Numbers, NDArray[np.int32]]:
    """The distinct values in order, and for every value its number among them."""
    order = np.argsort(values)
    ordered = values[order]
    new = np.empty(len(ordered), dtype=bool)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    codes = np.empty(len(values), dtype=np.int32)
    codes[order] = np.cumsum(new, dtype=np.int32) - 1
    return ordered[new], codes


class LateValues:
    """The distinct values of a long column in order, which are looked up in its rows: a tree shows few of them."""

    __slots__ = ("_all", "_asked", "_codes", "_rows", "_size")

    def __init__(self, rows: Numbers, codes: NDArray[np.signedinteger[Any]], size: int) -> None:
        """`codes`: the rank of every row; -1 is missing."""
        self._rows, self._codes, self._size, self._asked = rows, codes, size, 0
        self._all: Numbers | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._rows.dtype

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int | slice) -> Any:
        self._asked += 1
        if self._all is None and isinstance(index, int) and self._asked <= _FEW:
            return self._rows[np.argmax(self._codes == range(self._size)[index])]
        if self._all is None:
            self._all = np.empty(self._size, dtype=self._rows.dtype)
            known = self._codes >= 0
            self._all[self._codes[known]] = self._rows[known]
        return self._all[index]


class EveryCut:
    """One cut between every two neighbors of distinct values, chosen when it is asked for: choosing all of them takes
    longer than many a search, and a tree shows a few."""

    __slots__ = ("calendar", "values", "whole")

    def __init__(self, values: Numbers | LateValues, whole: bool, calendar: str = "") -> None:
        self.values, self.whole, self.calendar = values, whole, calendar

    def __len__(self) -> int:
        return max(len(self.values) - 1, 0)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Numbers: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            lows, highs = self.values[:-1][index], self.values[1:][index]
            return round_cuts(lows, highs, self.calendar) if self.calendar else between(lows, highs, self.whole)
        place = range(len(self))[index]
        low, high = self.values[place], self.values[place + 1]
        if self.calendar:
            return self.values.dtype.type(calendar_cut(low.item(), high.item(), self.calendar))
        if self.values.dtype.kind == "i":
            return between(np.array([low]), np.array([high]), self.whole)[0]
        return self.values.dtype.type(cut_between(low.item(), high.item(), self.whole))


def round_cuts(low: Numbers, high: Numbers, calendar: str) -> Numbers:
    """Round dates or times: low <= cut < high, element by element."""
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return np.array([calendar_cut(below, above, calendar) for below, above in pairs], dtype=low.dtype)


def quantile_cuts(
    values: Numbers, pieces: int, whole: bool, count: NDArray[np.int64] | None = None, calendar: str = ""
) -> Numbers:
    """At most pieces - 1 cuts: the j-th follows the smallest value that at least j/pieces of the rows do not exceed.

    Equal values are never separated, so ties lead to fewer and unequal pieces; there is no cut after the largest value.
    `count`: how many rows have each of the values; one each if it is not given.
    """
    order = None if count is None else np.argsort(values, kind="stable")
    ordered = np.sort(values) if order is None else values[order]
    if not len(ordered):
        return ordered
    ends = None if count is None else np.cumsum(count[order])
    rows = len(ordered) if ends is None else int(ends[-1])
    places = np.array([-(-j * rows // pieces) - 1 for j in range(1, pieces)], dtype=np.int64)
    if ends is not None:
        places = np.searchsorted(ends, places, side="right")
    lows = distinct(ordered[places]) if len(places) else ordered[:0]
    lows = lows[lows < ordered[-1]]
    highs = ordered[np.searchsorted(ordered, lows, side="right")]
    return round_cuts(lows, highs, calendar) if calendar else between(lows, highs, whole)


def width_cuts(values: Numbers, pieces: int, whole: bool) -> Numbers:
    """At most pieces - 1 cuts at equal distances between the smallest and the largest value.

    A cut is moved within its gap between two neighboring values, by at most a hundredth of a piece, to a short decimal.
    If several cuts fall into one gap, the first is kept, since they split the rows alike.
    """
    known = distinct(values)
    if len(known) < 2:
        return known[:0]
    low, high = (Fraction(known[0].item()), Fraction(known[-1].item()))
    piece = (high - low) / pieces
    cuts = []
    last = -1
    for j in range(1, pieces):
        exact = low + j * piece
        place = int(np.searchsorted(known, _at_most(exact, known.dtype), side="right"))
        if 0 < place < len(known) and place != last:
            cuts.append(_shortened(exact, known[place - 1].item(), known[place].item(), piece / 100, whole))
            last = place
    return np.array(cuts, dtype=known.dtype)


def given_cuts(cuts: Iterable[Fraction], dtype: np.dtype[Any]) -> Numbers:
    """The cuts of a spec in order, as numbers of the column's type: 0.1 is the same float as 0.1 in the data."""
    if dtype.kind == "i":
        return np.array(sorted({_at_most(cut, dtype) for cut in cuts}), dtype=dtype)
    return np.array(sorted({float(cut) for cut in cuts}), dtype=np.float64)


_COARSER = (6, 5, 4, 3, 2, 1, 0, -1)  # digits left out, from the most on; the first number that fits is chosen
_POWERS_OF_TEN: tuple[float, ...] = (*(10.0 ** np.arange(0.0, 309.0)).tolist(), *(inf,) * 32)  # as numpy rounds them
_DOUBT = 1e-9  # far above the difference of two logarithms, of numpy and of `math`
_WHOLE = 2.0**52  # from here on every float is a whole number


def cut_between(low: float, high: float, whole: bool = False) -> float:
    """One cut, the same as `between` chooses: for a single pair, arrays take ten times as long."""
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    if not 0 < half < inf:
        return low + 0.0
    near, size = half / 2, -log10(half)
    finest = ceil(size)
    if finest - size < _DOUBT or size - floor(size) < _DOUBT:  # where numpy may round to the other side
        finest = ceil(-np.log10(half))
    for coarser in _COARSER:
        digits = finest - coarser
        if whole and digits > 0:
            digits = 0
        power = _POWERS_OF_TEN[digits] if digits >= 0 else _POWERS_OF_TEN[-digits]
        candidate = middle * power if digits >= 0 else middle / power
        if -_WHOLE < candidate < _WHOLE:
            candidate = float(round(candidate))
        candidate = candidate / power if digits >= 0 else candidate * power
        if -near <= candidate - middle <= near and low <= candidate < high:
            return candidate + 0.0
    below = float(floor(middle)) if whole else low
    return (below if low <= below < high else low) + 0.0


def between(low: Numbers, high: Numbers, whole: bool) -> Numbers:
    """The shortest decimals near the middles: low <= cut < high, element by element."""
    if low.dtype.kind == "i":
        middle_whole: Numbers = low // 2 + high // 2 + ((low & 1) + (high & 1)) // 2
        return middle_whole
    middle = low / 2 + high / 2
    half = high / 2 - low / 2
    chosen = np.floor(middle) if whole else low.copy()
    chosen[~((low <= chosen) & (chosen < high))] = low[~((low <= chosen) & (chosen < high))]
    with np.errstate(all="ignore"):
        finest = np.ceil(-np.log10(half))
        open_ = np.isfinite(finest)
        for coarser in _COARSER:
            digits = np.where(open_, finest - coarser, 0)
            if whole:
                digits = np.minimum(digits, 0)
            power = 10.0 ** np.abs(digits)
            candidate = np.where(digits >= 0, np.rint(middle * power) / power, np.rint(middle / power) * power)
            fits = open_ & (np.abs(candidate - middle) <= half / 2) & (low <= candidate) & (candidate < high)
            chosen[fits] = candidate[fits]
            open_ &= ~fits
    return chosen + 0.0


def codes_of(values: Numbers, cuts: Numbers) -> NDArray[np.int32]:
    """For every value the number of cuts below it: code <= j if and only if value <= cuts[j]."""
    if len(cuts) <= 16:  # a few passes over the rows are faster than a search per row
        codes = np.zeros(len(values), dtype=np.int8)
        for cut in cuts:
            codes += values > cut
        return codes.astype(np.int32)
    return np.searchsorted(cuts, values, side="left").astype(np.int32)


def _at_most(exact: Fraction, dtype: np.dtype[Any]) -> Any:
    """The largest number of this dtype that does not exceed a fraction."""
    if dtype.kind == "i":
        return max(-(2**63), min(2**63 - 1, exact.numerator // exact.denominator))
    near = float(exact)
    return near if Fraction(near) <= exact else float(np.nextafter(near, -np.inf))


def _shortened(exact: Fraction, low: Any, high: Any, slack: Fraction, whole: bool) -> Any:
    if isinstance(low, int):
        return min(max(exact.numerator // exact.denominator, low), high - 1)
    if whole:
        return float(max(exact.numerator // exact.denominator, int(low)))
    near = float(exact)
    for digits in range(1, 17):
        short = _rounded_near(near, digits, low, high)
        if short is not None and abs(Fraction(short) - exact) <= slack:
            return short
    return near if low <= near < high else low


def _rounded_near(near: float, digits: int, low: float, high: float) -> float | None:
    """A decimal with this many digits in low <= x < high: the nearest, else the next lower or higher one."""
    middle = Decimal(f"{near:.{digits - 1}e}")
    step = Decimal(1).scaleb(middle.adjusted() - digits + 1)
    fitting = (float(decimal) for decimal in (middle, middle - step, middle + step))
    return next((short for short in fitting if low <= short < high), None)
