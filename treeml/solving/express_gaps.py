"""A table of 0 and 1, a request for the fewest errors within limits on gaps -> the verified result, by a shorter way.

A tree of two levels that treats two groups alike is found and proved in a fraction of a millisecond. The stages `bind`,
`lower`, `plan`, `raise` and `verify` would take several times as long, so this way goes from the bits to the coupled
search and back, and verifies the tree by counting rows. The value and the tree follow from these counts; those stages
make all else that a result shows when somebody reads it. Another specification, other columns, a search that finds no
optimum in a moment: None, and the general way decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from time import monotonic

import numpy as np

from treeml.data.bind import roles_of_bits
from treeml.data.table import BitColumns, Table, label_text
from treeml.lang.identity import Same
from treeml.lang.measures import MEASURES
from treeml.lang.spec import Spec
from treeml.native.loader import missing
from treeml.solving.express_gaps_result import Describe, GapsAnswer
from treeml.solving.express_gaps_search import Bits, Compared, GapsSearch
from treeml.solving.express_result import late_result
from treeml.solving.express_task import ERRORS, depth_limit, goal_kind, is_plain
from treeml.solving.request import Request
from treeml.solving.result import Clock, Result

DEEPEST = 3
MOST_CELLS = 1_000_000  # rows times columns
MOST_SECONDS, SHARE_OF_TIME = 0.02, 0.1  # for the search; one that takes longer begins anew by the general way
ALLOWED = ("forbidden", "excluded", "positive")  # parts of a spec that may be given


@dataclass(frozen=True, slots=True)
class Gap:
    """A limit on the difference between two groups of their rates of positive predictions."""

    group: str
    compared: str  # all rows, or the actual positives or negatives
    limit: Fraction
    text: str  # of its requirement


def express_gaps(table: Table, request: Request, begun: float, describe: Describe) -> Result | None:
    """The verified result; None if the general way has to decide. `describe` makes a result of a verified answer."""
    asked, columns = _asked(Same(request.spec)), table.columns
    if asked is None or not isinstance(columns, BitColumns) or columns.others or table.merged or table.notes:
        return None
    if columns.bits.size > MOST_CELLS or not _is_usual(request) or missing() is not None:
        return None
    roles, (depth, gaps) = roles_of_bits(request.spec, table), asked
    if roles is None or roles.target is None or roles.weight is not None or not roles.features:
        return None
    positive = _positive(request.spec, columns)
    actual = columns.bits[columns.index[roles.target]]
    compared = None if positive is None else _compared(gaps, columns, actual, positive)
    if positive is None or compared is None:
        return None
    within = request.spec.within
    seconds = MOST_SECONDS if within is None else min(MOST_SECONDS, SHARE_OF_TIME * within + begun - monotonic())
    bits = columns.bits_of(roles.features)
    search = GapsSearch(bits, actual, positive, compared, min(depth, len(bits)), roles.features)
    built = monotonic()
    found = search.found(seconds) if seconds > 0 else None
    if found is None or found.status != "optimal":
        return None
    counted = search.counted(found)
    answer = GapsAnswer(table, request, found, counted, Clock(begun, built), describe)
    return late_result(answer, counted.wrong)


@lru_cache(maxsize=32)
def _asked(same: Same[Spec]) -> tuple[int, tuple[Gap, ...]] | None:
    """The depth and the limits on gaps; None if the spec asks for anything else."""
    spec = same.kept
    if not is_plain(spec, ALLOWED) or goal_kind(spec.goals[0]) != ERRORS:
        return None
    depths, gaps = [], list[Gap]()
    for requirement in spec.requirements:
        depth, expression = depth_limit(requirement), requirement.expression
        if depth is not None:
            depths.append(depth)
            continue
        if expression.constant or len(expression.parts) != 1 or requirement.sense != "<=" or requirement.limit < 0:
            return None
        factor, use = expression.parts[0]
        rows = MEASURES[use.measure].fairness
        if factor != 1 or not rows or requirement.share_of_rows:
            return None
        text = requirement.text or requirement.name
        gaps += [Gap(use.arguments[0], each, requirement.limit, text) for each in rows]
    distinct = {(gap.group, gap.compared) for gap in gaps}
    if len(depths) != 1 or not 1 <= depths[0] <= DEEPEST or not gaps or len(distinct) != len(gaps):
        return None
    return depths[0], tuple(gaps)


def _is_usual(request: Request) -> bool:
    """Does the run have no options, files or limits of its own, besides those of time?"""
    given = (request.backend_options, request.start, request.write_model, request.proof, request.cluster)
    return not any(given) and request.memory is None and not request.races


def _positive(spec: Spec, columns: BitColumns) -> int | None:
    texts = [label_text(level) for level in columns.bit_levels]
    if spec.positive is None:
        return 1
    return texts.index(spec.positive) if spec.positive in texts else None


def _compared(gaps: tuple[Gap, ...], columns: BitColumns, actual: Bits, positive: int) -> list[Compared] | None:
    """None if a class or a group has no rows, or if a group is the class itself."""
    if actual.all() or not actual.any():
        return None
    found = []
    for gap in gaps:
        place = columns.index.get(gap.group)
        if place is None:
            return None
        one = columns.bits[place]
        other = ~one
        if np.array_equal(one, actual) or np.array_equal(other, actual):
            return None
        if gap.compared != "all":
            among = actual if (gap.compared == "positives") == (positive == 1) else ~actual
            one, other = one & among, other & among
        totals = int(np.count_nonzero(other)), int(np.count_nonzero(one))
        if not all(totals):
            return None
        found.append(Compared((other, one), totals, gap.limit, gap.text))
    return found
