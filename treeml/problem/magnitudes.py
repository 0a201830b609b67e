"""Arrays of whole numbers -> their exact sums, products and sizes, also beyond 64 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treeml.problem.arrays import Bits, Whole

FEW_COLUMNS = 16
FEW_VALUES = 64
SAFE = 2**62  # sums below this size cannot overflow in numpy


def row_ends(cost: Whole, most: int | None = None) -> tuple[int, int]:
    """The least and the greatest sum of one entry of every row; `most`: their largest absolute value, if known."""
    if not cost.size:
        return 0, 0
    least, greatest = _ends_of_rows(cost)
    if (max(int(greatest.max()), -int(least.min())) if most is None else most) * len(cost) < SAFE:
        return int(least.sum()), int(greatest.sum())
    return added(least), added(greatest)


def row_reach(cost: Whole) -> int:
    """The greatest sum of one absolute entry of every row."""
    if not cost.size:
        return 0
    import numpy as np

    least, greatest = _ends_of_rows(cost)
    return added(np.maximum(greatest, -least))


def _ends_of_rows(cost: Whole) -> tuple[Whole, Whole]:
    """The least and the greatest entry of every row, column by column: numpy is slow along short rows."""
    import numpy as np

    if cost.shape[1] > FEW_COLUMNS:
        return cost.min(axis=1), cost.max(axis=1)
    least = greatest = cost[:, 0]
    for column in range(1, cost.shape[1]):
        least, greatest = np.minimum(least, cost[:, column]), np.maximum(greatest, cost[:, column])
    return least, greatest


def added(values: Whole) -> int:
    """The exact sum."""
    if not values.size:
        return 0
    if largest(values) * values.size < SAFE:
        return int(values.sum())
    # High and low halves separately: neither sum can leave 64 bits.
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def largest(values: Whole) -> int:
    """The largest absolute value."""
    if not values.size:
        return 0
    import numpy as np

    # The functions behind `max` and `min`, without what numpy does in Python around them.
    return max(int(np.maximum.reduce(values, axis=None)), -int(np.minimum.reduce(values, axis=None)))


def common_divisor(values: Whole) -> int:
    """The greatest whole number that divides all values; 1 if all are zero."""
    import numpy as np

    some = int(np.gcd.reduce(values.ravel()[:FEW_VALUES]))  # mostly 1, and then so is that of all
    return some if some == 1 else int(np.gcd.reduce(values, axis=None)) or 1


def product_at_least(left: Whole, factor: int, right: Whole, other: int) -> Bits:
    """left * factor >= right * other, exactly; no number is negative or above 2^62."""
    import numpy as np

    if max(largest(left) * factor, largest(right) * other) < 2**63:
        return np.asarray(left * factor >= right * other)
    (high, low), (other_high, other_low) = _wide_product(left, factor), _wide_product(right, other)
    return np.asarray((high > other_high) | ((high == other_high) & (low >= other_low)))


def _wide_product(values: Whole, factor: int) -> tuple[Whole, Whole]:
    """values * factor as high * 2^62 + low, by halves of 31 bits."""
    half = 2**31 - 1
    above, below = values >> 31, values & half
    factor_above, factor_below = factor >> 31, factor & half
    lowest = below * factor_below
    middle = above * factor_below + below * factor_above + (lowest >> 31)
    return above * factor_above + (middle >> 31), (middle & half) << 31 | lowest & half


def checked_product(values: Whole, factor: int) -> Whole:
    """values * factor in 64 bits; OverflowError if that is not exact."""
    reach = largest(values) * abs(factor)
    if reach >= 2**63:
        raise OverflowError("a product of whole numbers does not fit in 64 bits")
    product: Whole = values * (factor if reach else 0)
    return product
