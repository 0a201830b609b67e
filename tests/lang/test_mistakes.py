"""Wrong text -> what the user reads: every mistake at once, in words, at the right place."""

# ruff: noqa: E501 - a message stands on one line
from __future__ import annotations

import pytest

from treeml.lang.diagnostic import SpecError
from treeml.lang.parse import MAXIMUM_MISTAKES, parse, parse_all
from treeml.lang.render import apply_fixes, render
from treeml.lang.source import Source
from treeml.lang.source_file import read


def mistakes(text: str) -> list[str]:
    """Code, place, title and label of each."""
    return [
        f"{found.code} {found.labels[0].span} {found.title} | {found.labels[0].text}"
        if found.labels
        else f"{found.code} {found.title}"
        for found in parse_all(Source("x", text)).diagnostics
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("requires depth <= 3", "S101 x:1:1 no statement is called `requires` | did you mean `require`?"),
        ("Predict y", "S101 x:1:1 no statement is called `Predict` | did you mean `predict`?"),
        ("minimise errors", "S101 x:1:1 no statement is called `minimise` | did you mean `minimize`?"),
        ("target y", "S101 x:1:1 no statement is called `target` | did you mean `predict`?"),
        ("xyzzy 3", "S101 x:1:1 no statement is called `xyzzy` | a statement opens with a verb such as `require`"),
        ('data "x" maximise accuracy', "S101 x:1:10 no statement is called `maximise` | did you mean `maximize`?"),
        ("predict", "S102 x:1:8 expected a column name after `predict` | the statement breaks off here"),
        ("predict <= 3", "S102 x:1:9 expected a column name after `predict` | found `<=`"),
        ("predict y is", 'S102 x:1:13 expected a number, a word or a text in "quotes" after `is` | the statement breaks off here'),
        ("data heart.csv", 'S105 x:1:6 the name of a file stands in "quotes" | write "heart.csv"'),
        ("require depth <= 3 4", "S102 x:1:20 `4` cannot follow `3` | the statement is complete before this"),
        ("require depth <=", "S102 x:1:17 expected a number or a measure after `<=` | the statement breaks off here"),
        ("forbid sex", "S102 x:1:8 expected `split` after `forbid` | found `sex`"),
        ("binarize all", "S102 x:1:13 expected `at` or `by` after `all` | the statement breaks off here"),
        ("solve native", "S102 x:1:7 `native` cannot follow `solve` | the statement is complete before this"),
        ("cost x = 3", "S120 x:1:1 the cost of testing a column is `cost test` | write `cost test x = 3`"),
        ("((", "S102 x:1:1 `(` is not a statement | a statement opens with a verb such as `require`"),
        ("@", "S103 x:1:1 the character `@` has no meaning here | not part of the language"),
        ("require depth <= 3 \x07", "S103 x:1:20 the character `U+0007` has no meaning here | not part of the language"),
        ("satisfy\n\0", "S103 x:2:1 this is not a text file | a NUL byte"),
        ("require errors == 0", "S104 x:1:16 a comparison is written `=`, not `==` | write `=`"),
        ("param x := 3", "S104 x:1:9 a value is given with `=`, not `:=` | write `=`"),
        ('data "heart.csv', 'S105 x:1:6 a text in "quotes" is not closed | opens here, and no `"` follows on this line'),
        ("predict `a b", "S105 x:1:9 a name in backquotes is not closed | opens here, and no closing backquote follows on this line"),
        ("predict ``", "S105 x:1:9 a name in backquotes is empty | holds no name"),
        ("data 'x.csv'", "S105 x:1:6 a text stands in double quotes, not in `'` | write \"x.csv\""),
        ("set x = .5", "S107 x:1:9 a number starts with a digit, not with `.` | write `0.5`"),
        ("set x = 5.", "S107 x:1:10 a number ends with a digit, not with `.` | no digits follow"),
        ("set x = 1.2.3", "S107 x:1:12 a number has one decimal point | a second one"),
        ("set x = 1,000", "S107 x:1:9 thousands are set apart with `_`, not with `,` | write `1_000`"),
        ("set x = 1e999", "S107 x:1:9 this number has too many digits | more than 500 digits when written out"),
        ("set x = 1e99999999999999", "S107 x:1:9 this number has too many digits | more than 500 digits when written out"),
        (f"set x = {'9' * 5000}", "S107 x:1:9 this number has too many digits | more than 500 digits when written out"),
        ("require errors = 0\nthen minimize leaves", "S110 x:2:1 `then` does not follow a goal | continues nothing"),
        ("require leaves => 3", "S111 x:1:16 at least is written `>=`, not `=>` | write `>=`"),
        ("require leaves ≤ 3", "S111 x:1:16 at most is written `<=`, not `≤` | write `<=`"),
        ("require leaves != 3", "S111 x:1:16 `!=` is not a comparison | a bound is `<=`, `>=` or `=`"),
        ("require leaves <= 3 and depth <= 2", "S120 x:1:1 every requirement is a statement of its own | write `require leaves <= 3` and `require depth <= 2`"),
        ("require depth <= 3;", "S111 x:1:19 a statement ends without `;` | write nothing here"),
        ("satisfy // any", "S111 x:1:9 a comment starts with `#`, not `//` | write `#`"),
        ("minimize leaves <= 2", "S111 x:1:17 a goal has no bound | compares, where the goal is complete"),
        ("require depth at  most 3", "S111 x:1:15 at most is written `<=` | write `<=`"),
        ("minimize leaves ** 2", "S111 x:1:17 a formula has no powers | not an operator here"),
        ("param x in [0, 1]", "S111 x:1:12 `[` is not used in this language | not a bracket here"),
        ('data "C:\\data.csv"', "S112 x:1:9 `\\d` means nothing inside quotes | write `\\\\d` for a backslash"),
        ("solve within 5 sec", "S113 x:1:16 no unit is called `sec` | did you mean `5 s`?"),
        ("solve within 5 minutes", "S113 x:1:16 no unit is called `minutes` | did you mean `5 min`?"),
        ("minimize 5 leaves", "S113 x:1:12 no unit is called `leaves` | not a unit"),
        ("set x = 5 percent", "S113 x:1:11 no unit is called `percent` | write `5%`"),
        ("require depth % <= 3", "S113 x:1:15 `%` follows a number | no number stands before it"),
        ("minimize (a + b", "S114 x:1:10 a parenthesis is not closed | opens here"),
        ("require depth <= 3)", "S114 x:1:19 a parenthesis is closed that was not opened | nothing to close"),
        ("solve using cpsat", "S102 x:1:7 `using` cannot follow `solve` | the statement is complete before this"),
        ("treeml 2", "S115 x:1:8 there is no version 2 of the language | the only version is 1"),
        ("satisfy\ntreeml 1", "S116 x:2:1 the version is not the first statement | belongs at the top of the file"),
        ("treeml 1\ntreeml 1", "S116 x:2:1 the version is not the first statement | belongs at the top of the file"),
        ("column x : float", "S117 x:1:12 no type is called `float` | did you mean `number`?"),
        ("column x : sensitve", "S117 x:1:12 no type is called `sensitve` | did you mean `sensitive`?"),
        ("param x : thing", "S117 x:1:11 no type is called `thing` | not a type"),
        ("solve within 5 s seed 1 within 6 s", "S118 x:1:7 `within` is given twice | first here"),
        ("minimize " + "(" * 10_000 + "1" + ")" * 10_000, "S106 x:1:210 this expression is nested more than 200 levels deep | too deep here"),
        ("minimize " + "f(" * 250 + "1" + ")" * 250, "S106 x:1:411 this expression is nested more than 200 levels deep | too deep here"),
    ],
)  # fmt: skip
def test_one_mistake(text, message):
    assert mistakes(text) == [message]


def test_a_sum_may_be_long_but_not_endless():
    assert mistakes("minimize " + " + ".join(["leaves"] * 150)) == []
    (found,) = mistakes("minimize " + " + ".join(["leaves"] * 500))
    assert found == "S106 x:1:19 this expression is nested more than 200 levels deep | too deep here"
    (found,) = mistakes("minimize " + "+".join(["a"] * 100_000))
    assert found == "S106 x:1:4011 this expression has more than 2,000 operators | one too many"


def test_every_mistake_of_a_file_at_once():
    text = """\
data heart.csv
predict
maximize accuracy
requires depth <= 3
require errors == 0
features a, b,
minimize (a +
    b
solve with cpsat within 5 sec
    threads 2
report tree
"""
    assert [message.split(" ", 2)[:2] for message in mistakes(text)] == [
        ["S105", "x:1:6"],
        ["S102", "x:2:8"],
        ["S101", "x:4:1"],
        ["S104", "x:5:16"],
        ["S102", "x:6:15"],
        ["S114", "x:7:10"],
        ["S113", "x:9:27"],
    ]


def test_a_statement_that_spans_lines_is_one_mistake():
    assert (
        len(mistakes('cost\n  predict "a" when "b" == 5\nminimize a then\nminimize b ++ c\nrequire\ndepth <= <= 3'))
        == 3
    )


def test_names_on_lines_of_their_own_are_no_statements():
    text = "features a, b,,\nc, d\nmaximize accuracy"
    assert len(mistakes(text)) == 1


def test_garbage_is_reported_quickly_and_briefly():
    garbage = "".join(chr(33 + (i * i * 7919 + i) % 90) + ("\n" if i % 37 == 0 else "") for i in range(300_000))
    found = parse_all(Source("x", garbage)).diagnostics
    assert 1 <= len(found) <= MAXIMUM_MISTAKES + 1
    many = parse_all(Source("x", "requires depth <= 3\n" * 5_000)).diagnostics
    assert len(many) == MAXIMUM_MISTAKES + 1
    assert (many[-1].code, many[-1].place) == ("S100", "x")


def test_ten_megabytes_are_not_a_specification():
    (found,) = parse_all(Source("x", "a,b,c\n" * 1_700_000)).diagnostics
    assert found.code == "S119"
    assert 'data "rows.csv"' in found.helps[0]


def test_parse_raises_all_of_them():
    with pytest.raises(SpecError) as raised:
        parse(Source("x", "predict\nrequire depth == 3"))
    assert [found.code for found in raised.value.diagnostics] == ["S102", "S104"]
    assert "error[S104]: a comparison is written `=`, not `==`" in str(raised.value)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("requires depth <= 3", "require depth <= 3"),
        ("require errors == 0", "require errors = 0"),
        ("require leaves => 3\nrequire depth =< 2;", "require leaves >= 3\nrequire depth =< 2;"),
        ("data 'x.csv'", 'data "x.csv"'),
        ("set x = .5", "set x = 0.5"),
        ("set x = 1,000,000", "set x = 1_000_000"),
        ("data heart.csv  # x", 'data "heart.csv"  # x'),
        ("require depth at most 3", "require depth <= 3"),
        ("solve within 5 seconds", "solve within 5 s"),
        ("set x = 5 percent", "set x = 5 %"),
        ("column x : categorical", "column x : category"),
        ("target y", "target y"),
    ],
)
def test_safe_fixes(wrong, right):
    source = Source("x", wrong)
    mended = apply_fixes(source, parse_all(source).diagnostics)
    assert mended.split("\n")[0] == right.split("\n")[0]


def test_fixes_of_other_files_are_left_alone():
    mine, other = Source("x", "requires depth <= 3"), Source("y", "requires depth <= 2")
    assert apply_fixes(mine, parse_all(other).diagnostics) == mine.text


@pytest.mark.parametrize(
    ("content", "code", "title"),
    [
        ("satisfy".encode("utf-16"), "S108", "is not text in UTF-8"),
        (b"predict \xff", "S108", "is not text in UTF-8"),
        (None, "S109", "there is no file"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, content, code, title):
    path = tmp_path / "spec.tml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SpecError) as raised:
        read(path)
    (found,) = raised.value.diagnostics
    assert found.code == code
    assert title in found.title
    assert found.place == str(path)


def test_a_folder_is_refused_as_a_file(tmp_path):
    with pytest.raises(SpecError, match="is a folder"):
        read(tmp_path)


def test_a_path_with_a_null_byte():
    with pytest.raises(SpecError, match="cannot be read"):
        read("a\0b")


def test_the_forms_of_the_standard():
    text = '# one\ndata "x"\npredict y\n\n\nmaximize accuracy\nrequires depth <= 3\nrequire errors == 0\n'
    unknown, equals = parse_all(Source("plain.tml", text)).diagnostics
    assert (
        render(unknown)
        == """\
error[S101]: no statement is called `requires`
 --> plain.tml:7:1
  |
7 | requires depth <= 3
  | ^^^^^^^^ did you mean `require`?
  |
  = fix: treeml check --fix plain.tml"""
    )
    assert (
        render(equals)
        == """\
error[S104]: a comparison is written `=`, not `==`
 --> plain.tml:8:16
  |
8 | require errors == 0
  |                ^^ write `=`
  |"""
    )


def test_signs_and_blanks_without_end_are_answered():
    """A pattern that backtracks would never come to an end."""
    from treeml.lang.borrowed_words import spaced_names, translated

    for line in ("predict a" + "=" * 50 + "!", "column a" + ":" * 50 + " !", "features a" + "<>" * 25 + "!"):
        assert translated(line) is None
        assert not list(spaced_names(line))
    assert translated("minimize " + " " * 280) is None
