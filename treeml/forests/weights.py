"""Trees with weights in floating point -> exact weights, and the exact value of the forest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.forests.criterion import Criterion, Grown

UNIT = 2**40  # binary weights are whole multiples of one part in UNIT
LARGEST_DENOMINATOR = 1000  # of the simple fractions that are tried instead of binary ones


@dataclass(frozen=True, eq=False, slots=True)
class WeightedTrees:
    """Trees with their exact weights, the heaviest first, and the value of the criterion."""

    columns: Sequence[Grown]
    weights: Sequence[Fraction]
    value: Fraction


def exact_weights(criterion: Criterion, columns: Sequence[Grown], weights: NDArray[np.float64]) -> WeightedTrees:
    """The weights as fractions.

    The best weights of small forests are often simple fractions such as 1/3. If the simple fractions nearby add up to 1
    and are at least as good, they are taken.
    """
    shares = weights / weights.sum()
    parts = np.floor(shares * UNIT).astype(np.int64)
    parts[np.argmax(parts)] += UNIT - parts.sum()
    binary = _weighted(criterion, columns, parts, UNIT)
    near = [Fraction(share).limit_denominator(LARGEST_DENOMINATOR) for share in shares.tolist()]
    unit = lcm(*(share.denominator for share in near))
    if sum(near) != 1 or unit > UNIT:
        return binary
    simple = _weighted(criterion, columns, np.array([int(share * unit) for share in near]), unit)
    return simple if simple.value >= binary.value else binary


def _weighted(criterion: Criterion, columns: Sequence[Grown], parts: NDArray[np.int64], unit: int) -> WeightedTrees:
    order = [place for place in np.argsort(-parts, kind="stable").tolist() if parts[place] > 0]
    kept, whole = [columns[place] for place in order], parts[order]
    margins = whole @ np.array([column.signs for column in kept], dtype=np.int64)
    share = criterion.total / unit
    return WeightedTrees(kept, [part * share for part in whole.tolist()], criterion.value(margins, share))


def fewer_trees(criterion: Criterion, options: Mapping[str, Any], forest: WeightedTrees, most: int) -> WeightedTrees:
    """At most `most` trees: the lightest are dropped, a few at a time, and the others are weighted again."""
    kept, shares = list(forest.columns), np.array(forest.weights, dtype=np.float64)
    while True:
        size = max(most, len(kept) - max(1, (len(kept) - most) // 4)) if len(kept) > most else most
        order = np.argsort(-shares, kind="stable")[:size]
        kept = [kept[place] for place in order]
        master = type(criterion)(criterion.examples, options)
        master.add(kept)
        solved = master.solve(float("inf"))
        assert solved is not None
        shares = solved.weights
        used = np.flatnonzero(shares > 0)
        kept, shares = [kept[place] for place in used], shares[used]
        if len(kept) <= most:
            return exact_weights(criterion, kept, shares)
