"""A formula and its normal form say the same, exactly, for every value of its measures."""

from fractions import Fraction
from operator import eq, ge, gt, le, lt

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from treeml.lang.check import check_source
from treeml.lang.params import given_value
from treeml.lang.quantities import Quantity, decimal
from treeml.lang.source import Source
from treeml.lang.spec import Linear

MEASURES = ("errors", "leaves", "depth", "splits")
COMPARE = {"<=": le, ">=": ge, "=": eq, "<": lt, ">": gt}

numbers = st.decimals(min_value=-50, max_value=50, places=2).map(lambda number: f"{number:f}")
factors = st.one_of(numbers, st.builds("({} + {})".format, numbers, numbers), st.builds("({} / 4)".format, numbers))
parts = st.one_of(
    numbers,
    st.sampled_from(MEASURES),
    st.builds("{} * {}".format, factors, st.sampled_from(MEASURES)),
    st.builds("{} / 8".format, st.sampled_from(MEASURES)),
    st.builds("-({} - {})".format, st.sampled_from(MEASURES), numbers),
)
formulas = st.lists(parts, min_size=1, max_size=5).map(" + ".join)
values = st.fixed_dictionaries({name: st.integers(0, 30) for name in MEASURES})


def exact(formula: str, at: dict[str, int]) -> Fraction:
    """Python's own arithmetic on Fractions, as a second opinion."""
    import re

    text = re.sub(r"\d+(?:\.\d+)?", lambda match: f"Fraction('{match[0]}')", formula)
    return Fraction(eval(text, {"Fraction": Fraction, **{name: Fraction(value) for name, value in at.items()}}))


def value_of(linear: Linear, at: dict[str, int]) -> Fraction:
    return linear.constant + sum((factor * at[use.measure] for factor, use in linear.parts), Fraction(0))


@settings(max_examples=150, deadline=None)
@given(formulas, values)
def test_goals_are_folded_exactly(formula: str, at: dict[str, int]) -> None:
    spec, _ = check_source(Source("goal.tml", f"predict y\nminimize {formula}"))
    assume(spec is not None)  # all measures may cancel out, which is a mistake of its own
    assert spec is not None
    assert value_of(spec.goals[0].expression, at) == exact(formula, at)


@settings(max_examples=300, deadline=None)
@given(formulas, st.sampled_from(sorted(COMPARE)), formulas, values)
def test_normalized_requirements_hold_exactly_when_the_originals_do(
    left: str, operator: str, right: str, at: dict[str, int]
) -> None:
    spec, _ = check_source(Source("bound.tml", f"predict y\nsatisfy\nrequire {left} {operator} {right}"))
    assume(spec is not None)
    assert spec is not None
    (found,) = spec.requirements
    holds = COMPARE[found.sense](value_of(found.expression, at), found.limit)
    assert holds == COMPARE[operator](exact(left, at), exact(right, at))


@given(st.fractions(max_denominator=10_000))
def test_numbers_are_shown_exactly_or_not_as_decimals(number: Fraction) -> None:
    text = decimal(number)
    if "e" not in text:
        assert Fraction(text) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_mean_what_their_author_wrote(number: float) -> None:
    found = given_value(number)
    assert isinstance(found, Quantity)
    assert found.value == Fraction(repr(number))
