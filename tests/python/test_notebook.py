"""What notebooks show, and the cell magic: a real IPython shell runs it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell

import treeml as tml
from treeml.backends.contract import Progress
from treeml.notebook import _Bar, _closed, solve_cell

SPEC = "param deep = 0\npredict label\nmaximize accuracy\nrequire depth <= deep"


@pytest.fixture
def rows() -> pd.DataFrame:
    return pd.DataFrame({"a<b": [1, 2, 3, 4, 5, 6], "b": [0, 1, 0, 1, 0, 1], "label": list("xxyyzz")})


def _parsed(html: str) -> ElementTree.Element:
    """Notebooks take any HTML; ours is well-formed, so nothing in it escaped being escaped."""
    return ElementTree.fromstring(f"<div>{html}</div>")


def test_results_show_their_tree_and_numbers(rows: pd.DataFrame) -> None:
    result = tml.parse(SPEC, deep=2).solve(rows)
    page = _parsed(result._repr_html_())
    text = " ".join(page.itertext())
    for expected in ("optimal, and proved", "accuracy", "depth", "a<b <= 2"):
        assert expected in text
    assert page.find(".//{http://www.w3.org/2000/svg}svg") is not None


def test_models_are_colored(rows: pd.DataFrame) -> None:
    page = tml.parse(SPEC)._repr_html_()
    assert "<span" in page
    assert "".join(_parsed(page).itertext()).split() == str(tml.parse(SPEC)).split()


def test_forests_draw_their_heaviest_trees(rows: pd.DataFrame) -> None:
    spec = "predict label\nensemble by lpboost(nu = 0.5)\nmaximize margin\nrequire depth <= 1"
    result = tml.parse(spec).solve(rows[rows.label != "z"])
    assert result.forest is not None
    drawn = _parsed(result.forest._repr_html_()).findall(".//{http://www.w3.org/2000/svg}svg")
    assert len(drawn) == min(6, len(result.forest.trees))
    assert "margin" in result._repr_html_()


def test_distilled_trees_show_their_fidelity(rows: pd.DataFrame) -> None:
    found = tml.distill(lambda X: X["b"].to_numpy(), rows[["a<b", "b"]], max_depth=1, mimic="labels", unseen=rows)
    text = " ".join(_parsed(found._repr_html_()).itertext())
    assert "100.0%" in text
    assert "unseen" in text


@pytest.fixture
def shell() -> Any:
    made = InteractiveShell.instance()
    made.run_line_magic("load_ext", "treeml.notebook")
    yield made
    InteractiveShell.clear_instance()


def test_a_cell_is_solved_with_the_variables_of_the_notebook(shell: Any, rows: pd.DataFrame) -> None:
    shell.user_ns |= {"rows": rows, "deep": 1}
    first = shell.run_cell_magic("treeml", "found --data rows", SPEC)
    assert shell.user_ns["found"] is first
    assert first.measures["depth"] == 1
    assert (
        shell.run_cell_magic("treeml", "--data rows --set deep=2 --with native --within 60s --quiet", SPEC).objective
        == 1
    )


def test_mistakes_in_a_cell_are_messages(shell: Any, rows: pd.DataFrame) -> None:
    shell.user_ns["rows"] = rows
    shown = shell.run_cell_magic("treeml", "--data rows", "predict label\nmaximise accuracy\nrequire depth <= 1")
    assert "maximize" in repr(shown)
    assert "<pre>" in shown._repr_html_()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a b", "is not understood"),
        ("--data", "needs a value"),
        ("--set deep", "write --set name=value"),
        ("--data nothing", "no variable is called"),
    ],
)
def test_wrong_lines(line: str, message: str) -> None:
    with pytest.raises((ValueError, NameError), match=message):
        solve_cell(line, SPEC, {}, quiet=True)


def test_the_bar_tells_how_much_is_closed() -> None:
    assert _closed(Progress(1.0, None, None)) is None
    assert _closed(Progress(1.0, (Fraction(4),), Fraction(3))) == 0.75
    assert _closed(Progress(1.0, (Fraction(4),), Fraction(4))) == 1
    assert 'value="0.750"' in _Bar("3 s", 0.75)._repr_html_()
    assert "value" not in _Bar("building ...")._repr_html_()
