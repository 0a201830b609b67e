"""A text is parsed once, and models made of it stay apart."""

from __future__ import annotations

import pytest

import treeml as tml

TEXT = "predict y\nminimize errors\nrequire depth <= 2\n"


def test_a_model_that_grows_leaves_others_alone() -> None:
    first, second = tml.parse(TEXT), tml.parse(TEXT)
    assert first == second
    first.require(tml.leaves <= 3)
    assert len(second.statements) == len(tml.parse(TEXT).statements) == 3
    assert "leaves" not in str(tml.parse(TEXT))


def test_names_and_mistakes_are_those_of_each_text() -> None:
    with pytest.raises(tml.SpecError):
        tml.parse("predict y\nminimise errors\n")
    with pytest.raises(tml.SpecError):
        tml.parse("predict y\nminimise errors\n")
    assert str(tml.parse(TEXT.replace("2", "3"))) != str(tml.parse(TEXT))


def test_params_are_those_of_each_model() -> None:
    text = "param most = 3\npredict y\nminimize errors\nrequire depth <= most\n"
    data = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 1, 1, 0]}
    shallow, deep = tml.parse(text, most=1).solve(data), tml.parse(text, most=2).solve(data)
    assert (shallow.objective, deep.objective) == (2, 0)
