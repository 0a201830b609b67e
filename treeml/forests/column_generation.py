"""A master problem and a way to price -> the best weighted choice of columns, with a bound that proves it.

The columns are too many to list, so the master knows a few of them. Its prices say what a column would have to be to
help; pricing looks for such a column, and when there is none the master's choice is best among all (Gilmore and Gomory
1961). Prices are smoothed: pricing happens between the master's own prices and those that gave the best bound so far,
which keeps them from swinging about (Wentges 1997), and the closer the bound comes to the value, the less of that is
needed. The loop maximizes; turn the sign of what is to be least.
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

Prices = NDArray[np.float64]
Column = TypeVar("Column")
Taken = TypeVar("Taken", contravariant=True)


@dataclass(frozen=True, eq=False, slots=True)
class Restricted:
    """The optimum over the columns known so far."""

    value: float  # -inf where there are no columns yet
    weights: NDArray[np.float64]  # one per column
    prices: Prices


@dataclass(frozen=True, eq=False, slots=True)
class PricedTrees(Generic[Column]):
    """Columns worth adding, the best first; and, where a proof was made, what no choice of columns can exceed."""

    columns: Sequence[Column]
    bound: Fraction | None = None
    confirmed: bool = True  # False: the bound is right if a quick method is, and is to be asked for again at the end
    stop: Stop | None = None  # why pricing ended early, if it did
    evidence: Proof = ()  # what the bound rests on


class Master(Protocol[Taken]):
    """The problem over the columns known so far."""

    def solve(self, seconds: float) -> Restricted | None:
        """Its optimum, found in about so much time; None where the time was too short."""

    def reduced_cost(self, column: Taken, restricted: Restricted) -> float:
        """How much a unit of the column would add to the value: above 0, it helps."""

    def add(self, columns: Sequence[Taken]) -> None: ...

    def forget(self, columns: NDArray[np.bool_]) -> None:
        """Drop the columns marked: they have been idle for long, and can be found again."""


Pricing = Callable[[Prices, float, Deadline], PricedTrees[Column]]
"""Prices, the bound below which a claim must be proved, and the moment to end -> columns."""


@dataclass(frozen=True, slots=True)
class Round:
    """One turn of the loop, for a progress line and for plots."""

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
    patience: int = 4  # rounds without weight after which a column may be forgotten
    deadline: Deadline = field(default_factory=Deadline)


@dataclass(frozen=True, eq=False, slots=True)
class Generated(Generic[Column]):
    """How it ended. `columns` and `weights` belong together; those without weight are left out."""

    stop: Stop
    columns: tuple[Column, ...]
    weights: NDArray[np.float64]
    value: float
    bound: Fraction | None
    rounds: tuple[Round, ...]
    failure: SpecError | None = None  # of the pricing, where that is why it stopped
    confirmed: bool = True  # False: the bound is that of a quick method, and nobody else was asked
    evidence: Proof = ()  # of the bound


LIES = frozenset({"B510", "B511", "B512", "B513", "B514"})  # answers that do not hold: nothing else is believed then
FEWEST_FORGOTTEN = 20  # the master is rebuilt in part when columns go, so they go together
NOISE = 1e-9  # a smaller reduced cost, relative to the value, is a solver's noise
GROWTH = 1.05  # of the patience, each time: what is forgotten and found again and again has to end
STEADY = 3.0  # times the root of the relative gap: more smoothing than that costs rounds at the end
TINY = 1e-11  # smaller weights are a solver's noise


def generate(
    master: Master[Column],
    pricing: Pricing[Column],
    settings: GenerationSettings,
    columns: Sequence[Column] = (),
    on_round: Callable[[Round, Sequence[Column], Restricted], bool | None] | None = None,
) -> Generated[Column]:
    """Solve the master, price, add what helps; until the bound meets the value, or a limit is reached."""
    return _Loop(master, pricing, settings, list(columns), on_round).run()


def _key(column: object) -> Hashable:
    """What tells columns apart: what they say, else that they are another object."""
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
        self.standing: tuple[Restricted, list[Column]] | None = None  # what holds if Ctrl-C comes now
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
            stop = self.loop()
        except KeyboardInterrupt:
            stop = Stop.INTERRUPTED
        except SpecError as error:
            lied = any(diagnostic.code in LIES for diagnostic in error.diagnostics)
            if lied or self.restricted is None or not self.columns:
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
            if self.told(iteration, found, self.restricted) is False:
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
        # Last of all a proof is asked for, whatever the bound: quick trees that the master knows already are no answer.
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
        # At the master's own prices nothing helps. If pricing proves, the value is the optimum up to the noise of the
        # arithmetic, which the bound measures; a heuristic has merely come to its end.
        return [], Stop.FINISHED

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
        # The float of the value is off by less than a tenth of any tolerance that makes sense.
        return self.near(0.9 * self.allowed(self.restricted.value))

    def near(self, distance: float) -> bool:
        """Is the bound so close to the value? A claim that would end the search is confirmed first."""
        assert self.restricted is not None
        value = self.restricted.value
        if not self.confirmed and self.bound is not None and float(self.bound) - value <= distance:
            assert self.center is not None
            priced = self.pricing(self.center, inf, self.settings.deadline)
            # From here on the best bound is one that was confirmed, though it may lie above the claim.
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
        """Does the master have it already? What it still seems to add is then what the master's arithmetic leaves."""
        return _key(column) in self.known

    def allowed(self, value: float) -> float:
        return -inf if value == -inf else self.settings.tolerance * max(1.0, abs(value))

    def clean(self) -> None:
        """Forget columns that have been idle for long."""
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

    def told(self, iteration: int, found: Sequence[Column], restricted: Restricted) -> bool | None:
        best = max((self.master.reduced_cost(column, restricted) for column in found), default=0.0)
        bound = inf if self.bound is None else float(self.bound)
        seconds = monotonic() - self.began
        self.rounds.append(Round(iteration, len(self.columns), restricted.value, bound, best, seconds, self.evidence))
        return None if self.on_round is None else self.on_round(self.rounds[-1], self.columns, restricted)

    def generated(self, stop: Stop, failure: SpecError | None) -> Generated[Column]:
        # A search that was cut short may end with the bound of a quick method. It is a bound, but no proof rests on it.
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
        )
