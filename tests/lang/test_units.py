"""Units of numbers in the language and in Python."""

from __future__ import annotations

import pytest

import treeml as tml


@pytest.mark.parametrize("statement", ["list trees within 1 row of best", "require support >= 1 row"])
def test_one_row_is_written_in_the_singular(statement: str) -> None:
    text = f"predict y minimize errors {statement}"
    model = tml.parse(text)
    assert model == tml.parse(text.replace("1 row", "1 rows"))
    assert "1 row " in f"{model} ".replace("\n", " ")
    assert "1 rows" not in str(model)
    assert tml.parse(str(model)) == model


def test_two_rows_stay_plural_and_may_be_written_either_way() -> None:
    assert tml.parse("predict y minimize errors require support >= 2 row") == tml.parse(
        "predict y minimize errors require support >= 2 rows"
    )
    assert "2 rows" in str(tml.parse("predict y minimize errors require support >= 2 row"))


def test_python_takes_the_singular() -> None:
    assert str(tml.quantity(1, "row")) == str(tml.rows(1)) == "1 row"
    model = tml.Model().predict("y").minimize(tml.errors)
    assert model.list_trees(within="1 row") == tml.parse("predict y minimize errors list trees within 1 rows of best")
    chosen = tml.parse("param least = 2 rows predict y minimize errors require support >= least", least="1 row")
    assert chosen.bindings


@pytest.mark.parametrize("requirement", ["gain <= -4", "gain >= -4", "mistake_cost <= -1", "mistake_cost >= -1"])
def test_costs_that_columns_give_may_be_negative(requirement: str) -> None:
    text = f'predict y cost predict "a" by column loss minimize errors require {requirement}'
    assert not tml.parse(text).check()
