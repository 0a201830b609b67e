"""A master problem and a way to price -> the best weighted choice of columns, with a bound that proves it.

The columns are too many to list, so the master knows only some of them. Its prices tell which columns would improve the
value; pricing looks for one, and if none exists, the master's choice is best among all columns (Gilmore and Gomory
1961). Prices are smoothed: pricing takes a point between the master's own prices and those that gave the best bound so
far, which keeps prices from oscillating (Wentges 1997). The closer the bound is to the value, the less smoothing is
needed. The loop maximizes; negate what is to be minimized.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, sqrt
from time import monotonic
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from treeml.backends.claims import Proof
from treeml.backends.contract import Deadline, Stop
from treeml.lang.diagnostic import SpecError
from treeml.system.interrupt import passing_on

Prices = NDArray[np.float64]
Column = TypeVar("Column")
Taken = TypeVar("Taken", contravariant=True)


@dataclass(frozen=True, eq=False, slots=True)
class Restricted:
    """The optimum over the columns known so far."""

    value: float  # -inf while there are no columns
    weights: NDArray[np.float64]  # one per column
    prices: Prices


@dataclass(frozen=True, eq=False, slots=True)
class PricedTrees(Generic[Column]):
    """Columns worth adding, the best first, and, if it was proved, a bound on the value of every choice of columns."""

    columns: Sequence[Column]
    bound: Fraction | None = None
    confirmed: bool = True  # False: a quick method computed the bound, which has to be confirmed before a proof uses it
    stop: Stop | None = None  # why pricing ended early, if it did
    evidence: Proof = ()  # of the bound


class Master(Protocol[Taken]):
    """The problem over the columns known so far."""

    def solve(self, seconds: float) -> Restricted | None:
        """Its optimum, or None if about this many seconds were not enough."""

    def reduced_cost(self, column: Taken, restricted: Restricted) -> float:
        """How much a unit of the column would add to the value: above 0, it helps."""

    def add(self, columns: Sequence[Taken]) -> None: ...

    def forget(self, columns: NDArray[np.bool_]) -> None:
        """Drop the marked columns: they have had no weight for long, and pricing can find them again."""


Pricing = Callable[[Prices, float, Deadline], PricedTrees[Column]]
"""Prices, the bound below which a claim has to be proved, the deadline -> columns."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of the loop, for progress lines and plots."""

    iteration: int
    columns: int  # known to the master
    value: float
    bound: float
    reduced_cost: float  # of the best column found
    seconds: float
    evidence: Proof = ()  # of the bound


@dataclass(frozen=True, eq=False, slots=True)
class GenerationSettings:
    tolerance: float = 1e-6  # the proof is complete at this gap, relative to max(1, |value|)
    gap: float = 0.0  # stop at this relative gap, without claiming a proof
    smoothing: float = 0.7  # the share of the prices that gave the best bound, at most
    iterations: int | None = None
    patience: int = 4  # rounds without weight after which a column may be dropped
    deadline: Deadline = field(default_factory=Deadline)


@dataclass(frozen=True, eq=False, slots=True)
class Generated(Generic[Column]):
    """The outcome: the columns that have weight, and their weights."""

    stop: Stop
    columns: tuple[Column, ...]
    weights: NDArray[np.float64]
    value: float
    bound: Fraction | None
    rounds: tuple[Round, ...]
    failure: SpecError | None = None  # of the pricing, if that ended the search
    confirmed: bool = True  # False: the bound is that of a quick method and was not confirmed
    evidence: Proof = ()  # of the bound
    prices: Prices | None = None  # those of the best bound


WRONG_ANSWERS = frozenset({"B510", "B511", "B512", "B513", "B514"})  # after one of these, no result is kept
FEWEST_FORGOTTEN = 20  # dropping columns rebuilds part of the master, so a good number are dropped together
NOISE = 1e-9  # reduced costs below this, relative to the value, are treated as zero
GROWTH = 1.05  # the patience grows each time, so that dropping and finding the same columns comes to an end
STEADY = 3.0  # smoothing is at most this times the root of the relative gap; more costs rounds at the end
TINY = 1e-11  # weights below this are treated as zero


def generate(
    master: Master[Column],
    pricing: Pricing[Column],
    settings: GenerationSettings,
    columns: Sequence[Column] = (),
    on_round: Callable[[Round, Sequence[Column], Restricted], bool | None] | None = None,
) -> Generated[Column]:
    """Solve the master, price, and add columns that help, until the bound meets the value or a limit is reached."""
    return _Loop(master, pricing, settings, list(columns), on_round).run()


def _key(column: object) -> Hashable:
    """Columns with the same key are the same column; without a key, every object is a column of its own."""
    key: Hashable = getattr(column, "key", id(column))
    return key


class _Loop(Generic[Column]):
    def __init__(
        self,
        master: Master[Column],
        pricing: Pricing[Column],
        settings: GenerationSettings,
        columns: list[Column],
        on_round: Callable[[Round, Sequence[Column], Restricted], bool | None] | None,
    ) -> None:
        self.master, self.pricing, self.settings, self.on_round = master, pricing, settings, on_round
        self.columns = columns
        self.known = {_key(column) for column in columns}
        self.idle = np.zeros(len(columns), dtype=np.int64)
        self.restricted: Restricted | None = None
        self.standing: tuple[Restricted, list[Column]] | None = None  # the result if Ctrl-C comes now
        self.center: Prices | None = None  # where the best bound was found
        self.bound: Fraction | None = None
        self.evidence: Proof = ()  # of the bound
        self.confirmed = True
        self.sure: Fraction | None = None  # the best bound that needs no confirmation
        self.sure_by: Proof = ()
        self.patience: float = settings.patience
        self.rounds: list[Round] = []
        self.began = monotonic()
        if columns:
            master.add(columns)

    def run(self) -> Generated[Column]:
        failure = None
        try:
            with passing_on():
                stop = self.loop()
        except KeyboardInterrupt:
            stop = Stop.INTERRUPTED
        except SpecError as error:
            is_wrong = any(diagnostic.code in WRONG_ANSWERS for diagnostic in error.diagnostics)
            if is_wrong or self.restricted is None or not self.columns:
                raise
            stop, failure = Stop.FAILED, error
        return self.generated(stop, failure)

    def loop(self) -> Stop:
        settings = self.settings
        iteration = 0
        while True:
            restricted = self.master.solve(settings.deadline.left())
            if restricted is None:
                return Stop.TIME
            self.restricted = restricted
            self.standing = restricted, self.columns[: len(restricted.weights)]
            if self.proved():
                return Stop.PROVED
            if self.near(settings.gap * abs(restricted.value)):
                return Stop.GAP
            if settings.deadline.passed:
                return Stop.TIME
            if settings.iterations is not None and iteration >= settings.iterations:
                return Stop.FINISHED
            self.clean()
            iteration += 1
            found, stop = self.priced(self.restricted)
            if self.report(iteration, found, self.restricted) is False:
                return Stop.INTERRUPTED
            if found:
                self.columns += found
                self.known.update(map(_key, found))
                self.idle = np.append(self.idle, np.zeros(len(found), dtype=np.int64))
                self.master.add(found)
            if stop is not None and (not found or stop is not Stop.FINISHED):
                return stop

    def priced(self, restricted: Restricted) -> tuple[list[Column], Stop | None]:
        """Columns that help at the master's own prices, looked for at smoothed prices first."""
        enough = restricted.value + self.allowed(restricted.value)
        # The last pricing has to prove its bound: quick trees that the master knows already do not help.
        for prices, proof in (*((point, enough) for point in self.points(restricted)), (restricted.prices, inf)):
            priced = self.pricing(prices, proof, self.settings.deadline)
            self.take(priced, prices)
            helpful = [column for column in priced.columns if self.helps(column, restricted) and not self.knows(column)]
            if helpful or priced.stop is not None:
                return helpful, priced.stop
            if self.proved():
                return [], Stop.PROVED
            if prices is restricted.prices and priced.confirmed and priced.bound is not None:
                break
        # Nothing helps at the master's own prices. If the pricing proves its bounds, the value is optimal up to
        # rounding, which the bound measures; a heuristic pricing has only come to its end.
        finer = getattr(self.pricing, "finer", None)  # a pricing may be able to round less
        return [], None if finer is not None and finer() else Stop.FINISHED

    def take(self, priced: PricedTrees[Column], prices: Prices) -> None:
        """Keep the bound if it is the best so far."""
        if priced.bound is None:
            return
        if priced.confirmed and (self.sure is None or priced.bound < self.sure):
            self.sure, self.sure_by = priced.bound, priced.evidence
        if self.bound is None or priced.bound < self.bound:
            self.bound, self.center, self.confirmed = priced.bound, prices, priced.confirmed
            self.evidence = priced.evidence

    def proved(self) -> bool:
        assert self.restricted is not None
        # The rounding error of the value is less than a tenth of any sensible tolerance.
        return self.near(0.9 * self.allowed(self.restricted.value))

    def near(self, distance: float) -> bool:
        """Is the bound within this distance of the value? A bound that would end the search is confirmed first."""
        assert self.restricted is not None
        value = self.restricted.value
        if not self.confirmed and self.bound is not None and float(self.bound) - value <= distance:
            assert self.center is not None
            priced = self.pricing(self.center, inf, self.settings.deadline)
            # From here on the bound is a confirmed one, even if it is weaker.
            self.bound, self.evidence, self.confirmed = self.sure, self.sure_by, True
            self.take(priced, self.center)
        return self.bound is not None and distance > 0 and float(self.bound) - value <= distance

    def points(self, restricted: Restricted) -> list[Prices]:
        if self.center is None or self.bound is None or self.settings.smoothing == 0:
            return [restricted.prices]
        gap = max(float(self.bound) - restricted.value, 0.0) / max(1.0, abs(restricted.value))
        share = min(self.settings.smoothing, STEADY * sqrt(gap))
        return [share * self.center + (1 - share) * restricted.prices, restricted.prices]

    def helps(self, column: Column, restricted: Restricted) -> bool:
        if restricted.value == -inf:
            return True
        return self.master.reduced_cost(column, restricted) > NOISE * max(1.0, abs(restricted.value))

    def knows(self, column: Column) -> bool:
        """Does the master have this column already? Then it seems to help only because of rounding in the master."""
        return _key(column) in self.known

    def allowed(self, value: float) -> float:
        return -inf if value == -inf else self.settings.tolerance * max(1.0, abs(value))

    def clean(self) -> None:
        """Drop columns that have had no weight for long."""
        assert self.restricted is not None
        if not self.columns:
            return
        self.idle = np.where(self.restricted.weights > TINY, 0, self.idle + 1)
        old = self.idle > self.patience
        if np.count_nonzero(old) < FEWEST_FORGOTTEN:
            return
        self.master.forget(old)
        self.patience *= GROWTH
        self.columns = [column for column, gone in zip(self.columns, old, strict=True) if not gone]
        self.known = {_key(column) for column in self.columns}
        self.idle = self.idle[~old]
        self.restricted = Restricted(self.restricted.value, self.restricted.weights[~old], self.restricted.prices)

    def report(self, iteration: int, found: Sequence[Column], restricted: Restricted) -> bool | None:
        best = max((self.master.reduced_cost(column, restricted) for column in found), default=0.0)
        bound = inf if self.bound is None else float(self.bound)
        seconds = monotonic() - self.began
        self.rounds.append(Round(iteration, len(self.columns), restricted.value, bound, best, seconds, self.evidence))
        return None if self.on_round is None else self.on_round(self.rounds[-1], self.columns, restricted)

    def generated(self, stop: Stop, failure: SpecError | None) -> Generated[Column]:
        # A search that was cut short may end with an unconfirmed bound, which proves nothing.
        bound, confirmed = self.bound, self.confirmed
        if self.standing is None:
            return Generated(stop, (), np.zeros(0), -inf, bound, tuple(self.rounds), failure, confirmed, self.evidence)
        restricted, columns = self.standing
        weights = restricted.weights
        used = [number for number in range(len(weights)) if weights[number] > TINY]
        return Generated(
            stop,
            tuple(columns[number] for number in used),
            weights[used],
            restricted.value,
            bound,
            tuple(self.rounds),
            failure,
            confirmed,
            self.evidence,
            self.center,
        )
