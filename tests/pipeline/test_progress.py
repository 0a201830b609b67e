"""Progress in the user's terms: the sense of the goals, the clock of the call, and lines that fit a narrow terminal."""

from __future__ import annotations

from fractions import Fraction
from io import StringIO

import numpy as np
import pytest

import treeml as tml
from treeml.backends.claims import Evidence
from treeml.backends.contract import Progress
from treeml.lang.check import check_source
from treeml.lang.source import Source
from treeml.lang.spec import CheckedGoal
from treeml.solving.progress_text import CallProgress, Reporter, gap_text, progress_text

BELOW = (Evidence("search", "all trees"),)


def goals(text: str) -> tuple[CheckedGoal, ...]:
    spec, _ = check_source(Source("spec", f"predict y\n{text}\nrequire depth <= 2"))
    assert spec is not None
    return spec.goals


def moment(goal: str, value: str | None, bound: str | None, seconds: float = 7.9, within: float | None = 20.0) -> str:
    objective = None if value is None else tuple(map(Fraction, value.split()))
    least = None if bound is None else Fraction(bound)
    return CallProgress(
        seconds, objective, least, goals=goals(goal), within=within, evidence=() if bound is None else BELOW
    ).line


def test_a_goal_to_be_maximized_is_shown_as_the_user_means_it() -> None:
    line = moment("maximize accuracy", "-0.829", "-0.91")
    assert line == "accuracy 0.829, bound 0.91, gap 9.8 %, 7.9 of 20 s"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (moment("minimize errors", None, None), "no tree yet, 7.9 of 20 s"),
        (moment("minimize errors", None, "3"), "no tree yet, bound 3, 7.9 of 20 s"),
        (moment("minimize errors", "0", "0", within=None), "errors 0, bound 0, gap 0, 7.9 s"),
        (moment("minimize errors", "4", "-11"), "errors 4, bound -11, gap 15, 7.9 of 20 s"),
        (
            moment("maximize accuracy then minimize leaves", "-0.9 7", "5"),
            "accuracy 0.9, leaves 7, bound 5, gap 28.6 %, 7.9 of 20 s",
        ),
        (moment("minimize error_rate + 0.01 * leaves", "0.25", None), "objective 0.25, 7.9 of 20 s"),
    ],
)
def test_lines(line: str, text: str) -> None:
    assert line == text


def test_lines_fit_sixty_columns() -> None:
    for goal in ("maximize balanced_accuracy", "minimize mean_absolute_error", "maximize accuracy"):
        for value, bound in (("-0.12345678", "-123456.789"), ("-1/3", "-2/3"), ("-1234567/11", "-12345678/11")):
            assert len(moment(goal, value, bound, 1234.56, 3600.0)) <= 60


def test_a_gap_is_a_share_of_the_value_or_a_difference() -> None:
    assert gap_text(Fraction(8, 10), Fraction(9, 10)) == "12.5 %"
    assert gap_text(Fraction(1, 100), Fraction(4, 100)) == "0.03"
    assert gap_text(Fraction(0), Fraction(-3)) == "3"


def test_a_report_without_values_repeats_those_that_are_known() -> None:
    seen: list[str] = []
    report = Reporter(lambda moment: seen.append(progress_text(moment)), goals("minimize errors"), 0.0, None)
    report(Progress(1.0, (Fraction(4),), Fraction(3), evidence=BELOW))
    report(Progress(2.0))
    assert [line.rpartition(",")[0] for line in seen] == ["errors 4, bound 3, gap 25.0 %"] * 2


def test_callbacks_get_the_clock_of_the_call_and_values_in_the_users_sense() -> None:
    random = np.random.default_rng(7)
    X, y = random.integers(0, 2, (60, 6)), random.integers(0, 2, 60)
    seen: list[CallProgress] = []
    model = tml.parse("predict y maximize accuracy require depth <= 2")
    result = model.solve(X, y, backend="cpsat", within=60, on_progress=lambda moment: seen.append(moment))
    assert seen
    assert [moment.seconds for moment in seen] == sorted(moment.seconds for moment in seen)
    assert all(moment.within == 60 for moment in seen)
    name, value = seen[-1].values[0]
    assert name == "accuracy"
    assert float(value) <= result.objective
    assert seen[-1].seconds >= result.trace[-1].seconds  # building counts


def test_the_timeline_of_a_report_has_the_users_values() -> None:
    random = np.random.default_rng(7)
    X, y = random.integers(0, 2, (60, 6)), random.integers(0, 2, 60)
    result = tml.parse("predict y maximize accuracy require depth <= 2 report timeline").solve(X, y, backend="cpsat")
    assert "accuracy 0." in str(result)
    assert "-0." not in str(result)


def test_a_bound_far_away_is_told_by_its_distance() -> None:
    from dataclasses import replace

    from treeml.backends.contract import Status, Stop
    from treeml.solving.report import bound_words

    X, y = np.array([[0], [1], [0], [1]]), np.array([0, 1, 1, 0])
    found = tml.parse("predict y minimize errors require depth <= 1").solve(X, y)
    open_ended = replace(found, status=Status.FEASIBLE, stop=Stop.TIME, objective=8, bound=-22, gap=3.75)
    assert bound_words(open_ended) == "-22: no tree is better by more than 30"
    near = replace(open_ended, bound=6, gap=0.25)
    assert bound_words(near) == "6: no tree is better by more than 2 (25.0 % of the objective)"


def test_a_narrow_terminal_has_no_bar() -> None:
    from rich.console import Console

    from treeml.solving.progress import _bar

    for columns, has_bar in ((60, False), (100, True)):
        console = Console(file=StringIO(), width=columns)
        console.print(_bar("accuracy 0.829, bound 0.91, gap 9.8 %, 7.9 of 20 s and more", 0.5, columns))
        text = console.file.getvalue()  # type: ignore[attr-defined]
        assert ("━" in text) is has_bar
        assert text.count("\n") == 1
