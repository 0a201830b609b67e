"""Neighbors of fractions equal those found by enumeration."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from treeml.problem.neighbors import alike, greatest_to, least_from, neighbors, simplest_between


def fractions(top: int, bottom: int) -> list[Fraction]:
    return sorted({Fraction(a, b) for a in range(top + 1) for b in range(1, bottom + 1)} | {Fraction(0)})


def values(seed: int) -> list[Fraction]:
    random = Random(seed)
    found = [Fraction(random.randrange(60), random.randrange(1, 40)) for _ in range(20)]
    found += [Fraction(str(random.random() * 10 ** random.randrange(-9, 4))) for _ in range(20)]
    return [*found, Fraction(0), Fraction(1), Fraction("0.6666666666666666"), Fraction("0.6666666666666667")]


@pytest.mark.parametrize(("top", "bottom"), [(0, 0), (0, 5), (1, 1), (3, 7), (7, 3), (12, 12), (30, 1)])
def test_neighbors_are_the_closest_there_are(top: int, bottom: int) -> None:
    known = fractions(top, bottom)
    for value in values(top * 100 + bottom):
        (a, b), (c, d) = neighbors(value, top, bottom)
        assert Fraction(a, b) == max(each for each in known if each <= value)
        above = [each for each in known if each >= value]
        assert (Fraction(c, d) if d else None) == min(above, default=None)
        assert greatest_to(value, top, bottom) == Fraction(a, b)
        assert least_from(value, top, bottom) == min(above, default=None)


@pytest.mark.parametrize(("top", "bottom"), [(0, 0), (4, 0), (0, 4), (5, 9), (9, 5)])
def test_a_similar_fraction_compares_the_same_way(top: int, bottom: int) -> None:
    known = fractions(top, bottom)
    for value in values(top + 7 * bottom):
        other = alike(value, top, bottom)
        assert [(each > value) - (each < value) for each in known] == [
            (each > other) - (each < other) for each in known
        ]
        if other != value:
            assert other.numerator <= top + max(1, top)
            assert other.denominator <= bottom + max(1, bottom)


def test_the_simplest_fraction_between_two() -> None:
    random = Random(5)
    known = sorted(fractions(60, 40), key=lambda each: (each.denominator, each.numerator))
    for _ in range(300):
        low, high = sorted(Fraction(random.randrange(40), random.randrange(1, 12)) for _ in range(2))
        if low == high:
            continue
        found = simplest_between(low, high)
        assert found == next(each for each in known if low < each < high)
    assert simplest_between(Fraction(7, 2), None) == 4


def test_long_fractions_take_few_steps() -> None:
    huge = Fraction(10**30 + 1, 10**30)
    assert neighbors(huge, 10**18, 10**18) == ((1, 1), (10**18, 10**18 - 1))
    assert alike(Fraction(10**30), 100, 9) == 101
    assert alike(Fraction(1, 10**30), 100, 9) == Fraction(1, 10)


def test_a_negative_value_has_no_neighbors() -> None:
    with pytest.raises(ValueError, match="not negative"):
        neighbors(Fraction(-1, 2), 3, 3)
