"""Weights of sixteen digits and limits exactly at, just below and just above values that trees reach.

The expected answers come from all trees of depth two, computed in fractions from the decimals themselves.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from treeml import DataError, Model, RefusedError

LESS = Fraction(1, 10**19)
BACKENDS = ("native", "cpsat", "mip", "maxsat", "sat", "oracle")
REQUIRED = {
    "errors": "<=",
    "error_rate": "<=",
    "accuracy": ">=",
    "leaf_weight": ">=",
    "leaf_errors": "<=",
    "purity": ">=",
    "recall(1)": ">=",
    "precision(1)": ">=",
    "count(predicted = 1)": "<=",
    "mistake_cost": "<=",
}
SHARES = ("error_rate", "accuracy", "purity", "recall(1)", "precision(1)")
GOALS = (
    "minimize leaves",
    "minimize errors",
    "maximize accuracy",
    "minimize mistake_cost",
    "minimize errors then minimize leaves",
)
COSTS = {(1, 0): Fraction(2), (0, 1): Fraction(1)}  # predicted, actual
COST_TEXT = "".join(f"cost predict {said} when {true} = {float(cost)!r}\n" for (said, true), cost in COSTS.items())

Outcome = dict[str, Fraction | None]


@dataclass(frozen=True)
class Rows:
    bits: np.ndarray  # rows x columns
    actual: list[int]
    weight: list[Fraction]


def test_the_edges_of_requirements_on_weights() -> None:
    solved = attack(seed=1, cases=20)
    assert all(solved[name] > 0 for name in BACKENDS), solved
    assert solved["oracle"] >= 50, solved
    assert solved["native"] > 25, solved


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_many_edges_of_requirements_on_weights(seed: int) -> None:
    assert attack(seed, cases=40)["oracle"] >= 100


@pytest.mark.parametrize("seed", range(3))
def test_weights_beyond_64_bits(seed: int) -> None:
    """They are rounded for the search: every claim is still about the given weights, or the digits decide (D463)."""
    draw = random.Random(seed)
    solved = refused = 0
    for case in range(8):
        rows = _rows(draw)
        floats = [draw.uniform(0.001, 0.002), *(draw.uniform(1, 90) for _ in rows.actual[1:])]
        rows = Rows(rows.bits, rows.actual, [Fraction(repr(each)) for each in floats])
        outcomes = list(_outcomes(rows))
        measure, sense = list(REQUIRED.items())[(case + 5 * seed) % len(REQUIRED)]
        edge = draw.choice(sorted({value for each in outcomes if (value := each[measure]) is not None}))
        for beside in (edge, edge - LESS, edge + LESS, edge * Fraction(99, 100), edge * Fraction(101, 100)):
            limit = _decimal(beside, sense, 1 if measure in SHARES else None)
            spec = f"minimize leaves\nrequire depth <= 2\n{COST_TEXT}require {measure} {sense} {limit}\n"
            allowed = [each for each in outcomes if _meets(each[measure], sense, Fraction(limit))]
            best = min((_goal("minimize leaves", each) for each in allowed), default=None)
            is_close = abs(beside - edge) <= LESS
            for name in ("native", "cpsat", "oracle"):
                claim = _claim(spec, rows, name)
                solved += claim != "refused"
                refused += claim == "refused" and is_close
                assert claim == best or claim == "refused", (name, spec, rows)
                # Away from the edge nothing is refused for its digits; only a quotient of such sums is beyond 64 bits.
                is_taken = name == "oracle" and not measure.startswith("precision")
                assert claim != "refused" or is_close or not is_taken, (name, spec)
    assert solved > refused > 0


def attack(seed: int, cases: int) -> dict[str, int]:
    """The number of problems that every back-end solved; fails at the first wrong claim."""
    draw = random.Random(seed)
    solved = dict.fromkeys(BACKENDS, 0)
    for case in range(cases):
        rows = _rows(draw)
        outcomes = list(_outcomes(rows))
        measure, sense = list(REQUIRED.items())[case % len(REQUIRED)]
        edge = draw.choice(sorted({value for each in outcomes if (value := each[measure]) is not None}))
        for beside in (edge, edge - LESS, edge + LESS):
            goal = draw.choice(GOALS)
            limit = _decimal(beside, sense, 1 if measure in SHARES else None)
            spec = f"{goal}\nrequire depth <= 2\n{COST_TEXT}require {measure} {sense} {limit}\n"
            allowed = [each for each in outcomes if _meets(each[measure], sense, Fraction(limit))]
            best = min((_goal(goal, each) for each in allowed), default=None)
            for name in BACKENDS:
                claim = _claim(spec, rows, name)
                if claim != "refused":
                    solved[name] += 1
                    assert claim == best, (name, spec, rows)
    return solved


def _rows(draw: random.Random) -> Rows:
    count, columns = draw.randint(6, 9), draw.randint(2, 3)
    bits = np.array([[draw.random() < 0.5 for _ in range(columns)] for _ in range(count)])
    actual = [draw.randint(0, 1) for _ in range(count - 2)] + [0, 1]
    digits = draw.choice((14, 15, 16))
    floats = [draw.randrange(10 ** (digits - 2), 10**digits) / 10**digits for _ in range(count)]
    if draw.random() < 0.3:  # equal weights make ties, which rounded sums would break
        floats = [draw.choice(floats[:2]) for _ in range(count)]
    return Rows(bits, actual, [Fraction(repr(each)) for each in floats])


def _decimal(value: Fraction, sense: str, most: int | None = None) -> Decimal:
    """Thirty digits of the value, rounded so that the value itself meets the limit; shares are at most 1."""
    with localcontext(prec=30, rounding=ROUND_CEILING if sense == "<=" else ROUND_FLOOR):
        exact = max(Decimal(0), Decimal(value.numerator) / Decimal(value.denominator))
        return exact if most is None else min(Decimal(most), exact)


def _meets(value: Fraction | None, sense: str, limit: Fraction) -> bool:
    return value is None or (value <= limit if sense == "<=" else value >= limit)


def _goal(goal: str, outcome: Outcome) -> tuple[Fraction, ...]:
    """The values of the goals, all to be minimized."""
    sense, first, *later = goal.replace("then minimize ", "").split()
    values = [outcome[name] for name in (first, *later)]
    return tuple((value or Fraction(0)) * (1 if sense == "minimize" else -1) for value in values)


def _claim(spec: str, rows: Rows, backend: str) -> tuple[Fraction, ...] | str | None:
    """The exact goals that a back-end calls optimal, to be minimized; None if it says that there is no tree."""
    weights = [float(each) for each in rows.weight]
    try:
        result = Model.parse(spec).solve(rows.bits, rows.actual, weight=weights, backend=backend)
    except (RefusedError, DataError):
        return "refused"
    assert result.status.value in ("optimal", "infeasible"), (backend, spec, result.status)
    assert not result.tolerance
    if result.exact is None:
        return None
    return tuple(goal.value * (1 if goal.sense == "minimize" else -1) for goal in result.exact.goals)


def _outcomes(rows: Rows) -> Iterator[Outcome]:
    """Every measure of every tree of depth two without empty leaves."""
    everything = np.arange(len(rows.actual))
    for leaves in _partitions(rows.bits, everything, 2):
        for labels in product((0, 1), repeat=len(leaves)):
            yield _measures(rows, list(zip(leaves, labels, strict=True)))


def _partitions(bits: np.ndarray, here: np.ndarray, depth: int) -> Iterator[list[np.ndarray]]:
    yield [here]
    for column in range(bits.shape[1]) if depth else ():
        yes, no = here[bits[here, column]], here[~bits[here, column]]
        if len(yes) and len(no):
            for left, right in product(*(list(_partitions(bits, side, depth - 1)) for side in (yes, no))):
                yield left + right


def _measures(rows: Rows, leaves: list[tuple[np.ndarray, int]]) -> Outcome:
    cells: dict[tuple[int, int], Fraction] = {(said, true): Fraction(0) for said in (0, 1) for true in (0, 1)}
    of_leaves = []
    for numbers, said in leaves:
        by_class = [sum((rows.weight[i] for i in numbers if rows.actual[i] == k), Fraction(0)) for k in (0, 1)]
        of_leaves.append((sum(by_class), by_class[1 - said], max(by_class) / sum(by_class)))
        for true in (0, 1):
            cells[said, true] += by_class[true]
    errors, total = cells[0, 1] + cells[1, 0], sum(rows.weight)
    positive = cells[1, 0] + cells[1, 1]
    return {
        "leaves": Fraction(len(leaves)),
        "errors": errors,
        "error_rate": errors / total,
        "accuracy": 1 - errors / total,
        "leaf_weight": min(weight for weight, _, _ in of_leaves),
        "leaf_errors": max(wrong for _, wrong, _ in of_leaves),
        "purity": min(share for _, _, share in of_leaves),
        "recall(1)": cells[1, 1] / (cells[0, 1] + cells[1, 1]),
        "precision(1)": cells[1, 1] / positive if positive else None,
        "count(predicted = 1)": positive,
        "mistake_cost": sum((cost * cells[pair] for pair, cost in COSTS.items()), Fraction(0)),
    }


@pytest.mark.parametrize("backend", ["sat", "maxsat", "cpsat", "mip", "native", "oracle"])
@pytest.mark.parametrize("goal", ["leaves", "depth"])
def test_large_weights_are_solved_or_refused_in_a_sentence(goal: str, backend: str) -> None:
    """A greedy start cannot count such weights; that is no reason to fail."""
    bits = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 2, dtype=bool)
    weight = [Fraction(repr(0.1234567890123457 + place / 10)) for place in range(8)]
    rows = Rows(bits, [int(row[0] & row[1]) for row in bits], weight)
    spec = f"minimize {goal}\nrequire depth <= 3\nrequire errors <= 0.0000000000000001\n"
    assert _claim(spec, rows, backend) in ((Fraction(3 if goal == "leaves" else 2),), "refused")
