"""What notebooks show, and the cell magic: a real IPython shell runs it."""

from __future__ import annotations

import sys
from fractions import Fraction
from io import StringIO
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell

import treeml as tml
from treeml.backends.claims import Evidence
from treeml.backends.contract import Progress
from treeml.notebook import CellError, solve_cell
from treeml.solving.cell_progress import CellBar
from treeml.solving.progress import progress_shown
from treeml.solving.progress_text import closed_share

BELOW = (Evidence("search bound"),)

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


def test_a_spec_that_no_tree_meets_says_why(shell: Any, rows: pd.DataFrame) -> None:
    shell.user_ns |= {"rows": rows}
    cell = "predict label\nmaximize accuracy\nrequire depth <= 1\nrequire accuracy >= 0.9"
    result = shell.run_cell_magic("treeml", "found --data rows --quiet", cell)
    assert repr(result).startswith("<Result infeasible: depth <= 1 and accuracy >= 0.9 conflict; native, ")
    text = "".join(_parsed(result._repr_html_()).itertext())
    assert "cell:3:9" in text
    assert "4 | require accuracy >= 0.9" in text
    assert "help: relax one of these lines" in text


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


def test_a_mistake_stops_the_notebook_and_shows_the_repaired_cell(shell: Any, rows: pd.DataFrame) -> None:
    from IPython.utils.capture import capture_output

    shell.user_ns["rows"] = rows
    cell = "%%treeml --data rows\npredict label\nmaximise accuracy\nrequire depth <= 1"
    with capture_output() as shown:
        ran = shell.run_cell(cell)
    assert isinstance(ran.error_in_exec, CellError)  # "Run All" stops here
    assert "maximize accuracy" in shown.stdout + shown.stderr
    assert "Traceback" not in shown.stdout + shown.stderr
    text = str(ran.error_in_exec)
    assert "check --fix" not in text
    assert text.endswith("the cell, repaired:\n\npredict label\nmaximize accuracy\nrequire depth <= 1")
    with capture_output() as shown:
        ran = shell.run_cell("%%treeml --data rows\npredict label\nmaximize accuracy\nrequire uses(nothing)")
    assert isinstance(ran.error_in_exec, CellError)
    assert "D402" in str(ran.error_in_exec)
    assert "repaired" not in str(ran.error_in_exec)


def test_one_line_says_what_a_result_a_tree_and_a_forest_are(rows: pd.DataFrame) -> None:
    result = tml.parse(SPEC, deep=2).solve(rows)
    assert repr(result).startswith("<Result optimal: accuracy 1; tree with 3 leaves, depth 2; native, ")
    assert repr(result.tree) == "<Tree for label: 3 leaves, depth 2, tests a<b>"
    voted = tml.parse("predict label ensemble by lpboost(nu = 0.5) maximize margin require depth <= 1")
    found = voted.solve(rows[rows.label != "z"])
    assert "forest of" in repr(found)
    assert repr(found.forest).startswith("<Forest for label: ")
    assert all("\n" not in repr(each) for each in (result, result.tree, found, found.forest))
    none = tml.parse("predict label minimize errors require errors <= 0 require depth <= 1").solve(rows)
    assert repr(none).startswith("<Result infeasible: ")


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


def test_the_progress_bar_shows_the_closed_gap() -> None:
    assert closed_share(Progress(1.0, None, None)) is None
    assert closed_share(Progress(1.0, (Fraction(4),), Fraction(3), evidence=BELOW)) == 0.75
    assert closed_share(Progress(1.0, (Fraction(4),), Fraction(4), evidence=BELOW)) == 1
    assert 'value="0.750"' in CellBar("3 s", 0.75)._repr_html_()
    assert "value" not in CellBar("building ...")._repr_html_()


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


MOMENTS = (
    Progress(0.5, None, None),
    Progress(1.0, (Fraction(4),), Fraction(3), evidence=BELOW),
    Progress(9.0, (Fraction(3),), Fraction(3), evidence=BELOW),
)


def test_bars_are_shown_under_a_cell_without_the_magic(shell: Any, rows: pd.DataFrame) -> None:
    from IPython.utils.capture import capture_output

    shell.user_ns |= {"rows": rows, "model": tml.parse(SPEC, deep=2)}
    with capture_output() as shown:
        ran = shell.run_cell("found = model.solve(rows, progress=True)")
    ran.raise_error()
    assert shell.user_ns["found"].objective == 1
    bars = [output.data["text/html"] for output in shown.outputs]
    assert "building" in bars[0]
    assert "done" in bars[-1]
    assert not shown.stderr
    with capture_output() as shown:
        ran = shell.run_cell("from treeml.sklearn import OptimalTreeClassifier as Tree\n" + VERBOSE_FIT)
    ran.raise_error()
    assert "done" in shown.outputs[-1].data["text/html"]
    with capture_output() as shown:
        ran = shell.run_cell("model.solve(rows, progress=True, backend='nobody')", silent=True)
    assert isinstance(ran.error_in_exec, tml.SpecError)
    assert "stopped" in shown.outputs[-1].data["text/html"]


VERBOSE_FIT = "Tree(max_depth=1, verbose=True).fit(rows.drop(columns='label'), rows.label)"


def test_a_bar_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("treeml.solving.progress.SECONDS_BETWEEN_LINES", 0.0)
    with progress_shown() as show:
        for moment in MOMENTS:
            show(moment)
    for text in ("no tree yet", "objective 4, bound 3, gap 25.0 %", "gap 0.0 %, 9.0 s", "━"):
        assert text in screen.getvalue()


def test_lines_in_a_log(monkeypatch: pytest.MonkeyPatch, rows: pd.DataFrame) -> None:
    log = StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    monkeypatch.setattr("treeml.solving.progress.SECONDS_BETWEEN_LOGGED_LINES", 0.0)
    with progress_shown() as show:
        for moment in MOMENTS:
            show(moment)
    assert log.getvalue().splitlines() == [
        "treeml: no tree yet, 0.5 s",
        "treeml: objective 4, bound 3, gap 25.0 %, 1.0 s",
        "treeml: objective 3, bound 3, gap 0.0 %, 9.0 s",
        "treeml: done, objective 3, bound 3, gap 0.0 %, 9.0 s",
    ]
    model = tml.parse(SPEC)
    model.solve(rows)
    assert log.getvalue().count("done") == 1
    model.solve(rows, progress=True)
    assert log.getvalue().count("done") == 2
    with pytest.raises(ValueError, match="give one of them"):
        model.solve(rows, progress=True, on_progress=lambda moment: None)
