"""A diagnostic -> text, a line, JSON: to the letter."""

from __future__ import annotations

import json

import pytest

from treeml.lang.diagnostic import Diagnostic, Fix, Label, Severity
from treeml.lang.render import WIDEST_LINE, apply_fixes, render
from treeml.lang.source import Source, Span


def span(source: Source, text: str, after: int = 0) -> Span:
    start = source.text.index(text, after)
    return Span(source, start, start + len(text))


def test_distant_lines_notes_and_helps():
    source = Source("fair.tml", "\n" * 5 + 'predict income is ">50K"\n' + "\n" * 12 + "predict sex\n")
    diagnostic = Diagnostic(
        "N205",
        "the target is given twice",
        (Label(span(source, "predict income"), "first here"), Label(span(source, "predict sex"), "and again here")),
        notes=("a specification predicts one column; order does not decide which",),
        helps=("keep one",),
    )
    assert (
        render(diagnostic)
        == """\
error[N205]: the target is given twice
  --> fair.tml:6:1
   |
 6 | predict income is ">50K"
   | ^^^^^^^^^^^^^^ first here
   ~
19 | predict sex
   | ^^^^^^^^^^^ and again here
   |
   = note: a specification predicts one column; order does not decide which
   = help: keep one"""
    )


def test_neighboring_lines_and_a_warning():
    source = Source("perfect.tml", "require errors = 0\nrequire depth <= 2")
    diagnostic = Diagnostic(
        "F601",
        "no tree meets these requirements together",
        (Label(span(source, "errors = 0"), "conflicts with"), Label(span(source, "depth <= 2"), "this")),
        severity=Severity.WARNING,
    )
    assert (
        render(diagnostic)
        == """\
warning[F601]: no tree meets these requirements together
 --> perfect.tml:1:9
  |
1 | require errors = 0
  |         ^^^^^^^^^^ conflicts with
2 | require depth <= 2
  |         ^^^^^^^^^^ this
  |"""
    )


def test_labels_out_of_order_are_shown_in_the_order_of_the_text():
    source = Source("x", "a\nb\nc")
    diagnostic = Diagnostic("B501", "t", (Label(span(source, "c"), "main"), Label(span(source, "a"), "other")))
    assert render(diagnostic).splitlines()[1:] == [
        " --> x:3:1",
        "  |",
        "1 | a",
        "  | ^ other",
        "  ~",
        "3 | c",
        "  | ^ main",
        "  |",
    ]


def test_two_files():
    mine, theirs = Source("a.tml", "predict x"), Source("b.tml", "\npredict y")
    diagnostic = Diagnostic(
        "N205", "twice", (Label(span(mine, "predict x"), "here"), Label(span(theirs, "predict y"), "and here"))
    )
    assert render(diagnostic).splitlines()[4:8] == ["  | ^^^^^^^^^ here", "  |", " ::: b.tml:2:1", "  |"]


def test_without_a_span():
    diagnostic = Diagnostic("D401", "x.csv is empty", notes=("it has no rows",), place="x.csv")
    assert render(diagnostic) == "error[D401]: x.csv is empty\n --> x.csv\n  = note: it has no rows"
    assert render(diagnostic, "concise") == "x.csv: error[D401]: x.csv is empty"
    assert render(Diagnostic("D401", "empty")) == "error[D401]: empty"


def test_tabs_and_wide_letters_keep_the_carets_in_place():
    source = Source("x", "\trequire 年齢 <= é <= 3")
    for text, column in (("年齢", 4 + 8), ("3", 4 + 8 + 4 + 4 + 1 + 4)):
        line, carets = render(Diagnostic("S102", "t", (Label(span(source, text), "!"),))).splitlines()[3:5]
        assert line == "1 |     require 年齢 <= é <= 3"
        assert carets.index("^") - len("  | ") == column


def test_long_lines_are_cut_around_the_caret():
    source = Source("x", "a" * 5000 + "!" + "b" * 5000)
    line, carets = render(Diagnostic("S103", "t", (Label(span(source, "!"), "here"),))).splitlines()[3:5]
    assert len(line) <= WIDEST_LINE + 12
    assert line[carets.index("^")] == "!"
    assert line.startswith("1 | ...a")
    assert line.endswith("b...")


def test_a_span_over_several_lines_shows_its_first():
    source = Source("x", "minimize a +\n  b")
    assert render(Diagnostic("S102", "t", (Label(Span(source, 0, len(source.text)), "all"),))).splitlines()[3:5] == [
        "1 | minimize a +",
        "  | ^^^^^^^^^^^^ all",
    ]


def test_control_characters_never_reach_a_terminal():
    source = Source("x", "predict \x1b[31mred")
    assert "\x1b" not in render(Diagnostic("S103", "t", (Label(Span(source, 8, 9), "here"),)))


def test_json_is_one_line_with_everything():
    source = Source("x", "\nrequires depth <= 3")
    where = span(source, "requires")
    diagnostic = Diagnostic("S101", "no “x”", (Label(where, "what"),), ("n",), ("h",), (Fix(where, "require"),))
    text = render(diagnostic, "json")
    place = {"file": "x", "line": 2, "column": 1, "end_line": 2, "end_column": 9}
    assert "\n" not in text
    assert json.loads(text) == {
        "code": "S101",
        "severity": "error",
        "title": "no “x”",
        "place": "x:2:1",
        "labels": [{**place, "text": "what"}],
        "notes": ["n"],
        "helps": ["h"],
        "fixes": [{**place, "replacement": "require"}],
    }


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="full, concise or json"):
        render(Diagnostic("S101", "t"), "xml")


def test_of_two_fixes_that_overlap_the_first_is_made():
    source = Source("x", "abcdef")
    fixes = (Fix(Span(source, 0, 3), "X"), Fix(Span(source, 2, 4), "Y"), Fix(Span(source, 5, 6), ""))
    assert apply_fixes(source, [Diagnostic("S101", "t", fix=fixes)]) == "Xde"
