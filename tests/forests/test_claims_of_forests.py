"""Claims of forests against every forest of every tree: random small data, odd weights and penalties, short limits.

What is best over all trees is bracketed exactly, so that a claim is wrong or right whatever the arithmetic: the weights
of a linear program over every tree, made fractions, have an exact value that no bound may lie below and that no optimum
may miss by more than its tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from boosting_worlds import all_votes

import treeml as tml
from treeml.backends.contract import Status
from treeml.forests.quadratic import Simplex
from treeml.solving.pipeline import prepare

BACKENDS = ("native", "oracle", "cpsat", "maxsat", "mip", "mip(formulation = flow)", "mip(presolve = false)")
PENALTIES = ("0.5", "1", "0.125", "2", "0.3333333333333333", "12", "1e3", "0.07")
SHARES = ("0.1", "0.5", "0.9", "0.01", "0.3333333333333333")


@dataclass(frozen=True, eq=False, slots=True)
class Case:
    data: dict[str, Any]
    x: Any
    y: Any
    classes: int
    depth: int
    kind: str
    option: str  # of the criterion
    number: Fraction

    def text(self, rounds: int | None) -> str:
        options = [f"{self.option} = {self.number.numerator}/{self.number.denominator}"] if self.option else []
        options += [] if rounds is None else [f"iterations = {rounds}"]
        criterion = f"{self.kind}({', '.join(options)})" if options else self.kind
        return f"predict y weight by w require depth <= {self.depth} ensemble by {criterion} maximize margin "


def case(seed: int) -> Case:
    chance, numbers = Random(seed), np.random.default_rng(seed)
    rows, columns, classes = chance.randint(3, 9), chance.randint(1, 3), chance.choice([2, 2, 3])
    x, y = numbers.integers(0, 2, (rows, columns)), numbers.integers(0, classes, rows)
    y[:classes] = np.arange(classes)
    kind = chance.choice(["lpboost", "lpboost", "hardmargin"] + ["mdboost"] * 2 * (classes == 2))
    weight = {
        "alike": lambda: 1.0,
        "small": lambda: float(chance.randint(0, 3)),
        "sixteen digits": lambda: chance.random() * 3,
        "of any size": lambda: 10 ** chance.uniform(-9, 15),
        "tiny": lambda: chance.choice([1e-9, 1e-3, 1.0, 2 / 3, 1 / 3]),
    }[chance.choice(["alike", "small", "sixteen digits", "of any size", "tiny"])]
    option, number = "", Fraction(1)
    if kind == "lpboost" and chance.random() < 0.5:
        option, number = "nu", Fraction(chance.choice(SHARES))
    elif kind != "hardmargin":
        option, number = "penalty", Fraction(chance.choice(PENALTIES))
    data = {f"a{column}": x[:, column] for column in range(columns)}
    data |= {"w": np.array([weight() for _ in range(rows)]), "y": np.array([f"c{label}" for label in y])}
    return Case(data, x, y, classes, chance.choice([1, 1, 2]), kind, option, number)


def fractions(weights: Any, total: Fraction) -> list[Fraction]:
    found = [Fraction(max(0.0, float(weight))).limit_denominator(10**9) for weight in weights]
    return [weight * total / sum(found) for weight in found]


def best_value(asked: Case, weight: list[Fraction]) -> Fraction:
    """The exact value of the best weights over every tree, up to the tolerance of a solver."""
    votes = all_votes(asked.x, asked.classes, asked.depth)
    heavy = [row for row, each in enumerate(weight) if each > 0]
    mass = sum(weight)
    if asked.kind == "mdboost":
        signs = np.where(votes[:, heavy] == asked.y[heavy], 1, -1)
        margins = _margins(
            fractions(_by_variance(signs, [float(weight[row]) for row in heavy], asked), asked.number), signs
        )
        first = sum(weight[row] * margin for row, margin in zip(heavy, margins, strict=True))
        second = sum(weight[row] * margin**2 for row, margin in zip(heavy, margins, strict=True))
        return first - mass / (mass - 1) / 2 * (second - first**2 / mass)
    price = None if asked.kind == "hardmargin" else asked.number
    if asked.option == "nu":
        price = 1 / (asked.number * mass)
    pairs = [(row, rival) for row in heavy for rival in range(asked.classes) if rival != asked.y[row]]
    signs = np.array([(votes[:, row] == asked.y[row]) * 1 - (votes[:, row] == rival) * 1 for row, rival in pairs]).T
    margins = _margins(fractions(_by_lowest(signs, pairs, heavy, weight, price), Fraction(1)), signs)
    worst = [min(m for m, (own, _) in zip(margins, pairs, strict=True) if own == row) for row in heavy]
    if price is None:
        return min(worst)
    return max(
        r - price * sum(weight[row] * max(r - m, Fraction(0)) for row, m in zip(heavy, worst, strict=True))
        for r in worst
    )


def _margins(shares: list[Fraction], signs: Any) -> list[Fraction]:
    used = [(share, signs[tree].tolist()) for tree, share in enumerate(shares) if share]
    return [sum((share * sign[place] for share, sign in used), Fraction(0)) for place in range(signs.shape[1])]


def _by_variance(signs: Any, weight: list[float], asked: Case) -> Any:
    each, mass = np.array(weight), sum(weight)
    linear = signs @ each
    centered = signs - linear[:, None] / mass
    program = Simplex(float(asked.number))
    program.add(linear.astype(float), mass / (mass - 1) * ((centered * each) @ centered.T))
    assert program.solve(60.0)
    return program.weights


def _by_lowest(signs: Any, pairs: Any, heavy: list[int], weight: list[Fraction], price: Fraction | None) -> Any:
    from scipy.optimize import linprog

    trees, slacks = len(signs), 0 if price is None else len(heavy)
    cost = np.concatenate([np.zeros(trees), [-1.0], [float((price or 0) * weight[row]) for row in heavy[:slacks]]])
    lines = np.zeros((len(pairs), len(cost)))
    lines[:, :trees], lines[:, trees] = -signs.T, 1.0
    for place, (row, _) in enumerate(pairs):
        if slacks:
            lines[place, trees + 1 + heavy.index(row)] = -1.0
    once = np.concatenate([np.ones(trees), np.zeros(1 + slacks)])[None, :]
    limits = [(0, None)] * trees + [(-1, 1)] + [(0, 2)] * slacks
    solved = linprog(cost, A_ub=lines, b_ub=np.zeros(len(lines)), A_eq=once, b_eq=[1.0], bounds=limits)
    assert solved.status == 0
    return solved.x[:trees]


def hold(asked: Case, backend: str, rounds: int | None = None, **limits: Any) -> Status | None:
    """Assert that every claim is true; None if the criterion refuses the data."""
    spec = tml.Model.parse(f"{asked.text(rounds)} solve with {backend}")
    try:
        result = spec.solve(asked.data, **limits)
    except tml.DataError:
        return None
    assert result.status is not Status.INFEASIBLE
    dataset, _ = prepare(spec, asked.data)
    best = best_value(asked, [int(each) * dataset.weight_scale for each in dataset.weight.tolist()])
    noise = Fraction(1, 10**12) * max(Fraction(1), abs(best))
    if result.bound is not None:
        assert Fraction(result.bound) >= best - noise
    if result.status is Status.OPTIMAL:
        assert result.exact is not None
        (value,) = result.exact.objective
        # Weights of too many digits are rounded, and the tolerance then says by how much that moves the margin.
        assert result.tolerance == pytest.approx(1e-6 + 16 * float(dataset.rounding.weights), rel=1e-12)
        assert dataset.rounding.weights < Fraction(1, 10**9)
        assert value >= best - Fraction(result.tolerance) * max(Fraction(1), abs(value)) - noise
    return result.status


@pytest.mark.parametrize("seed", range(40))
def test_claims_of_native_and_the_oracle_hold(seed: int) -> None:
    asked = case(seed)
    for backend in ("native", "oracle"):
        assert hold(asked, backend) in (Status.OPTIMAL, None)


@pytest.mark.parametrize("backend", BACKENDS[2:])
@pytest.mark.parametrize("seed", range(100, 104))
def test_claims_of_solvers_hold(seed: int, backend: str) -> None:
    assert hold(case(seed), backend) in (Status.OPTIMAL, None)


@pytest.mark.parametrize("backend", ["mip", "mip(formulation = flow)"])
def test_a_large_penalty_takes_prices_of_many_digits(backend: str) -> None:
    """Prices that add up to 2^28 leave a gap of 10^-5 here: rounding them is multiplied by the penalty of 1000."""
    asked = case(1010)
    assert (asked.kind, asked.number) == ("mdboost", 1000)
    assert hold(asked, backend) is Status.OPTIMAL


@pytest.mark.parametrize("seed", range(200, 230))
def test_claims_at_the_time_limit_hold(seed: int) -> None:
    """Every claim is true, however early the search ends."""
    chance = Random(seed)
    hold(case(seed), chance.choice(BACKENDS[:4]), within=chance.choice([0, 0.001, 0.003, 0.01, 0.03]))


@pytest.mark.parametrize("seed", range(300, 310))
def test_claims_after_few_rounds_hold(seed: int) -> None:
    for rounds in (1, 2, 3):
        hold(case(seed), "native", rounds)


def test_rounded_weights_widen_the_tolerance() -> None:
    """The weights differ by five orders of magnitude, and the smallest keeps six decimals."""
    assert hold(case(1267), "native") is Status.OPTIMAL


def test_the_second_solver_ends_where_its_method_cycles() -> None:
    """With these weights the quadratic solver that checks the forest steps back and forth at the optimum forever."""
    assert hold(case(1223), "native") is Status.OPTIMAL


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_claims_of_every_back_end_hold(seed: int) -> None:
    chance = Random(seed)
    for backend in chance.sample(BACKENDS, 3):
        assert hold(case(seed), backend) in (Status.OPTIMAL, None)
    hold(case(seed), chance.choice(BACKENDS), within=chance.choice([0.0, 0.01, 0.1, 1.0]))
