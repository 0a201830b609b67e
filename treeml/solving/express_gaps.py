"""A table of 0 and 1, a request for the fewest errors within limits on gaps -> the verified result, by a shorter way.

A tree of two levels that treats two groups alike is found and proved in a fraction of a millisecond. The stages `bind`,
`lower`, `plan`, `raise` and `verify` would take several times as long, so this way goes from the bits to the coupled
search and back, and verifies the tree by counting rows. All else that a result shows is made by those stages when
somebody reads it. Another specification, other columns, a search that finds no optimum in a moment: None, and the
general way decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from math import lcm
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Answer, Limits, Progress, Status, Stop
from treeml.backends.equal_sides import without_equal_sides
from treeml.backends.native.coupled.cases import cases_of
from treeml.backends.native.coupled.run import CoupledRun, as_found
from treeml.backends.native.coupled.task import CoupledTask, LimitedSum, normal_form, read_coupled, restrictions
from treeml.backends.native.goals import NativeObjective
from treeml.backends.run import checked
from treeml.data.bind import roles_of_bits
from treeml.data.table import BitColumns, Dataset, Table, label_text
from treeml.lang.identity import Same
from treeml.lang.measures import MEASURES
from treeml.lang.spec import Spec
from treeml.native.coupled import Coupled, CoupledFound
from treeml.native.loader import missing
from treeml.solving.choice import Chosen, lower, plan
from treeml.solving.express_result import late_result
from treeml.solving.express_task import BACKEND, ERRORS, depth_limit, goal_kind, is_plain
from treeml.solving.request import Request
from treeml.solving.result import Clock, Result
from treeml.solving.rows import bind

DEEPEST = 3
MOST_CELLS = 1_000_000  # rows times columns
MOST_SECONDS, SHARE_OF_TIME = 0.02, 0.1  # for the search; one that takes longer begins anew by the general way
ALLOWED = ("forbidden", "excluded", "positive")  # parts of a spec that may be given

Bits = NDArray[np.bool_]
Describe = Callable[[Answer, Chosen, Dataset, Request, Clock], Result]


@dataclass(frozen=True, slots=True)
class Gap:
    """A limit on the difference between two groups of their rates of positive predictions."""

    group: str
    compared: str  # all rows, or the actual positives or negatives
    limit: Fraction


@dataclass(frozen=True, slots=True)
class Compared:
    """The rows of two groups, how many they are, and the largest difference of their rates."""

    rows: tuple[Bits, Bits]
    totals: tuple[int, int]
    limit: Fraction


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
    search = _Search(bits, actual, positive, compared, min(depth, len(bits)))
    built = monotonic()
    found = search.found(seconds) if seconds > 0 else None
    if found is None or found.status != "optimal":
        return None
    answer = GapsAnswer(table, request, found, Clock(begun, built), describe)
    return late_result(answer, search.wrong(found))


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
        gaps += [Gap(use.arguments[0], each, requirement.limit) for each in rows]
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
        found.append(Compared((other, one), totals, gap.limit))
    return found


class _Search:
    """The search, and what the rows say about its tree."""

    def __init__(self, bits: Bits, actual: Bits, positive: int, compared: list[Compared], depth: int) -> None:
        self.bits, self.actual, self.positive, self.compared, self.depth = bits, actual, positive, compared, depth

    def found(self, seconds: float) -> CoupledFound | None:
        """The outcome in `seconds`; None if the general way would not search like this."""
        kept, excluded = restrictions(map(self._limited, self.compared))
        if excluded is not None or not kept or _has_equals([limited.cost for limited in kept]):
            return None
        values = np.empty((1 + len(kept), len(self.actual), 2), np.int64)
        values[0, :, 0], values[0, :, 1] = self.actual, ~self.actual
        for place, limited in enumerate(kept, 1):
            values[place] = limited.cost
        lows, highs = tuple(limited.low for limited in kept), tuple(limited.high for limited in kept)
        if cases_of(CoupledTask(NativeObjective(), values, lows, highs, None, None)) is not None:
            return None
        try:
            return Coupled(self.bits, values).solve(lows, highs, depth=self.depth, seconds=seconds, is_brief=True)
        except MemoryError:
            return None

    def _limited(self, compared: Compared) -> LimitedSum:
        """The difference of two rates as a sum over the predictions, with its limits in whole numbers."""
        (one, other), totals = compared.rows, compared.totals
        common = lcm(*totals)
        cost = np.zeros((len(one), 2), np.int64)
        cost[:, self.positive] = one * np.int64(common // totals[0]) - other * np.int64(common // totals[1])
        plain, steps, shift = normal_form(cost)  # the difference is steps * the sum of `plain` + shift
        most, shift = compared.limit * common, shift if steps > 0 else -shift
        low, high = -((most + shift) // abs(steps)), (most - shift) // abs(steps)
        return LimitedSum(plain, low, high, ["a gap"])

    def wrong(self, found: CoupledFound) -> list[str]:
        """Where the rows contradict the claims of the search."""
        predicted = np.empty(len(self.actual), dtype=np.bool_)
        wrong, todo = [], [(0, 0, np.arange(len(self.actual)))]
        while todo:
            node, depth, rows = todo.pop()
            test = int(found.test[node])
            if test < 0:
                predicted[rows] = found.label[node]
                if not len(rows) or depth > self.depth:
                    wrong.append("a leaf has no rows, or lies too deep")
                continue
            yes = self.bits[test].take(rows)
            todo.append((int(found.left[node]), depth + 1, rows.compress(yes)))
            todo.append((int(found.right[node]), depth + 1, rows.compress(~yes)))
        errors = int(np.count_nonzero(predicted != self.actual))
        if found.value != errors or found.bound != errors:
            wrong.append(f"`errors` is {errors}, but {found.value} with the bound {found.bound} was claimed")
        is_positive = predicted if self.positive else ~predicted
        for each in self.compared:
            rates = [
                Fraction(int(np.count_nonzero(is_positive & rows)), total)
                for rows, total in zip(each.rows, each.totals, strict=True)
            ]
            if abs(rates[0] - rates[1]) > each.limit:
                wrong.append(f"a gap is {abs(rates[0] - rates[1])}, and must be at most {each.limit}")
        return wrong


def _has_equals(sums: list[NDArray[np.int64]]) -> bool:
    return any(np.array_equal(one, other) for one, other in combinations(sums, 2))


class GapsAnswer:
    """A verified tree: a method `make_...` for every part of a Result, most of which the general stages make."""

    def __init__(self, table: Table, request: Request, found: CoupledFound, clock: Clock, describe: Describe) -> None:
        self.request, self.found, self.clock, self.describe = request, found, clock, describe
        columns = table.columns
        assert isinstance(columns, BitColumns)
        # A copy, because the bits may lie in an array of the caller, who may change it.
        copied = BitColumns(tuple(columns.index), columns.bits.copy(), columns.bit_levels, {}, columns.order)
        self.table, self.ended = replace(table, columns=copied, again=None), clock.built

    def make_status(self) -> Status:
        return Status.OPTIMAL

    def make_stop(self) -> Stop:
        return Stop.PROVED

    def make_backend(self) -> str:
        return BACKEND

    def make_verified(self) -> bool:
        return True

    def make_gap(self) -> float:
        return 0.0

    def make_seconds(self) -> float:
        return self.ended - self.clock.begun

    @cached_property
    def described(self) -> Result:
        """The answer as the general stages show it."""
        dataset = bind(self.table, self.request)
        chosen = plan(lower(dataset, self.request), self.request)
        problem = chosen.lowered.problem
        run = CoupledRun(problem, Limits(), None, None, self.clock.built)
        answer = run.answered(as_found(self.found), read_coupled(problem).objective)
        assert answer.objective is not None
        seconds = self.ended - self.clock.built
        moment = Progress(seconds, answer.objective, answer.objective[0], evidence=run.stopped_at)
        statistics = {"seconds": seconds, **answer.statistics}
        answer = checked(chosen.plan, replace(answer, trace=(moment,), statistics=statistics))
        return self.describe(without_equal_sides(problem, answer), chosen, dataset, self.request, self.clock)


def _described_part(name: str) -> Callable[[GapsAnswer], Any]:
    return lambda answer: getattr(answer.described, name)


for _field in fields(Result):
    if not hasattr(GapsAnswer, f"make_{_field.name}"):
        setattr(GapsAnswer, f"make_{_field.name}", _described_part(_field.name))
