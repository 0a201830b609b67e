"""The name of a set of limits -> how large a local instance for a SAT solver may be.

Schidler and Szeider (2021, section 6) give the greatest depth and the most rows for three times per call: 60 s: depth
12, 70 rows for the shallowest subtrees to 15 for the deepest; 300 s: 15, 300 to 90; 800 s: 39, 500 to 105. Between the
two ends the number of rows falls linearly with depth, starting at the smallest depth they tried, 3.
"""

from __future__ import annotations

from collections.abc import Callable

from treeml.backends.improve.instance import Reach

SHALLOWEST = 3
SETS = {"d60": (12, 70, 15), "d300": (15, 300, 90), "d800": (39, 500, 105)}


def reach_of(name: str, depth: int | None = None, rows: int | None = None) -> Reach:
    """The reach of a named set; `depth` and `rows` override its limits."""
    deepest, most, least = SETS[name]

    def allowed(levels: int) -> int:
        place = min(max(levels, SHALLOWEST), deepest) - SHALLOWEST
        return most - (most - least) * place // (deepest - SHALLOWEST)

    limit: Callable[[int], int] = allowed if rows is None else lambda _: rows
    return Reach(deepest if depth is None else depth, limit)
