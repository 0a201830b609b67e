"""Foreign text -> text that a terminal shows and does not obey."""

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeml.lang.display import OBEYED, json_text, readable_json, shortened, shown, shown_lines, visible, width
from treeml.lang.words import read_quoted, spell_name

EVERY_LETTER = " ".join(map(chr, range(sys.maxunicode + 1)))  # apart, or JSON would join halves


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age", "age"),
        ("a b, c", "a b, c"),
        ("größe 漢字 \xa0\u3000", "größe 漢字 \xa0\u3000"),
        ("\x1b]0;title\x07\x1b[2J", "\\u{1b}]0;title\\u{7}\\u{1b}[2J"),
        ("\x9b31m\x7f", "\\u{9b}31m\\u{7f}"),
        ("two\nlines\tand\r", "two\\nlines\\tand\\r"),
        ("\u2028\u2029\x85", "\\u{2028}\\u{2029}\\u{85}"),
        ("\u202eright\u2066to\u200eleft\u061c", "\\u{202e}right\\u{2066}to\\u{200e}left\\u{61c}"),
        ("zero\u200bwidth\u200d\ufeff", "zero\\u{200b}width\\u{200d}\\u{feff}"),
        ("half \ud800", "half \\u{d800}"),
        ("\U000e0041", "\\u{e0041}"),
        ("C:\\data", "C:\\data"),
    ],
)
def test_shown(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_no_letter_of_unicode_is_obeyed() -> None:
    left = {unicodedata.category(letter) for letter in visible(EVERY_LETTER)}
    assert not left & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert OBEYED.search(visible(EVERY_LETTER)) is None
    assert json.loads(json_text(EVERY_LETTER)) == EVERY_LETTER
    assert json_text(EVERY_LETTER).isascii()
    assert OBEYED.search(json_text(EVERY_LETTER)) is None
    assert OBEYED.search(readable_json(EVERY_LETTER)) is None
    assert json.loads(readable_json([EVERY_LETTER], indent=1).replace("\n", "")) == [EVERY_LETTER]


def test_lines_stay_lines() -> None:
    assert shown_lines("a\x1b\n\tb\r\n") == "a\\u{1b}\n\tb\\r\n"
    assert shown_lines("a\nb") == "a\nb"


def test_long_text_keeps_both_ends() -> None:
    assert shortened("abcdefghij", 10) == "abcdefghij"
    assert shortened("abcdefghijk", 10) == "abcdef…ijk"
    assert len(shown("\x1b" * 1000)) == 80
    assert shown("x" * 100_000_000 + "end").endswith("xend")


def test_width_counts_columns() -> None:
    assert [width(text) for text in ("abc", "漢字", "e\u0301", "")] == [3, 4, 1, 0]


@given(st.text())
def test_a_shown_name_can_be_typed_back(text: str) -> None:
    if "\\" not in text and "`" not in text:
        assert read_quoted(f"`{shown(text, 10**6)}`") == text
    spelled = spell_name(text, (text,))
    assert read_quoted(spelled) == text
    assert spelled == visible(spelled)
