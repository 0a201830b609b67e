"""max linear @ w - w @ quadratic @ w / 2 over weights w >= 0 with a given sum -> w, by an active-set method.

The weights above 0 are active. Without their signs, they would solve a linear system. A step goes from the current
weights towards the solution of that system until a weight becomes 0; that weight leaves the active set. The value never
falls, and the weights are optimal when no inactive weight has a slope above that of the active ones. Each call starts
from the weights of the last one. Rounding can cause cycles, so the search also ends when the value stops growing.
"""

from __future__ import annotations

from math import inf
from time import monotonic

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

JOINING = 10  # weights that may join the active set at a time
NOISE = 1e-10  # slopes below this, relative to those of the active weights, are treated as zero
STILL = 1e-12  # steps below this size are treated as zero
PATIENCE = 10  # steps without a higher value, after which the search ends
ENDLESS = 1e-9  # residuals below this, relative to the slopes, are rounding
LARGEST = 1e9  # solutions above this times the sum mean that the system is singular


class Simplex:
    """The program; columns can be added and dropped between calls of `solve`."""

    def __init__(self, total: float) -> None:
        self.total = total
        self.linear: Numbers = np.zeros(0)
        self.quadratic: Numbers = np.zeros((0, 0))
        self.weights: Numbers = np.zeros(0)

    def add(self, linear: Numbers, rows: Numbers) -> None:
        """New columns: their linear terms, and their rows of the quadratic term over old and new columns."""
        old, new = len(self.linear), len(linear)
        grown = np.empty((old + new, old + new))
        grown[:old, :old] = self.quadratic
        grown[old:, :] = rows
        grown[:, old:] = rows.T
        self.quadratic = grown
        self.linear = np.append(self.linear, linear)
        self.weights = np.append(self.weights, np.zeros(new))

    def drop(self, columns: NDArray[np.bool_]) -> None:
        kept = ~columns
        self.linear, self.weights = self.linear[kept], self.weights[kept]
        self.quadratic = self.quadratic[np.ix_(kept, kept)]

    def solve(self, seconds: float) -> bool:
        """Find the best weights; False if the time was too short."""
        until = monotonic() + seconds
        if not self.weights.any():
            alone = self.linear * self.total - np.diagonal(self.quadratic) * self.total**2 / 2
            self.weights[int(np.argmax(alone))] = self.total
        best, best_weights, idle = -inf, self.weights, 0
        while monotonic() < until:
            active = np.flatnonzero(self.weights > 0)
            joining = self._joining(active)
            if not self._settle(np.union1d(active, joining)) and not len(joining):
                return True
            value = self._value()
            idle = 0 if value > best + STILL * abs(value) else idle + 1
            if value > best:
                best, best_weights = value, self.weights.copy()
            if idle > PATIENCE:
                self.weights = best_weights
                return True
        return False

    def _value(self) -> float:
        return float(self.linear @ self.weights - self.weights @ self.quadratic @ self.weights / 2)

    def _joining(self, active: NDArray[np.intp]) -> NDArray[np.intp]:
        """The inactive weights with the steepest slopes."""
        weights = self.weights[active]
        gradient = self.linear - self.quadratic[:, active] @ weights
        level = float(gradient[active] @ weights) / self.total
        slope = gradient - level
        slope[active] = -inf
        steepest = np.argsort(-slope, kind="stable")[:JOINING]
        return np.asarray(steepest[slope[steepest] > NOISE * max(1.0, abs(level))])

    def _settle(self, active: NDArray[np.intp]) -> bool:
        """Move to the optimum of these weights, dropping those that become 0 on the way; False if nothing moved."""
        moved = False
        while len(active):
            wanted = self._stationary(active)
            here = self.weights[active]
            falling = np.flatnonzero(wanted <= 0)
            if not len(falling):
                moved = moved or bool(np.abs(wanted - here).max() > STILL * self.total)
                self.weights[active] = wanted
                break
            share = here[falling] / np.maximum(here[falling] - wanted[falling], 1e-300)
            step = float(share.min())
            self.weights[active] = here + step * (wanted - here)
            moved = moved or step > STILL
            out = falling[share <= step]
            self.weights[active[out]] = 0.0
            active = np.delete(active, out)
        return moved

    def _stationary(self, active: NDArray[np.intp]) -> Numbers:
        """The optimum without signs: quadratic @ w + level = linear, sum w = total."""
        size = len(active)
        system = np.ones((size + 1, size + 1))
        system[:size, :size] = self.quadratic[np.ix_(active, active)]
        system[size, size] = 0.0
        wanted = np.append(self.linear[active], self.total)
        try:
            solved = np.linalg.solve(system, wanted)
            if float(np.abs(solved[:size]).max()) > LARGEST * self.total:
                raise np.linalg.LinAlgError
        except np.linalg.LinAlgError:  # dependent columns: take the shortest solution
            solved = np.linalg.lstsq(system, wanted, rcond=None)[0]
            # If there is no solution, the residual is a direction in which the value grows without limit.
            upward = (wanted - system @ solved)[:size]
            size_of_slopes = float(np.abs(self.linear[active]).max()) + float(np.abs(system).max()) * self.total
            if float(np.abs(upward).max()) > ENDLESS * size_of_slopes:
                return np.asarray(self.weights[active] + 2 * self.total / float(-upward.min()) * upward)
        return np.asarray(solved[:size])
