"""The words of the language: verbs, units, types, how values are spelled, and what messages call each terminal."""

from __future__ import annotations

import re
from fractions import Fraction

from treeml.lang.display import visible

VERBS = (
    "treeml",
    "include",
    "param",
    "set",
    "data",
    "predict",
    "features",
    "column",
    "weight",
    "cost",
    "gain",
    "binarize",
    "minimize",
    "maximize",
    "satisfy",
    "require",
    "forbid",
    "leaves",
    "ensemble",
    "start",
    "improve",
    "list",
    "validate",
    "solve",
    "report",
)
INNER_WORDS = (
    *(
        "after",
        "all",
        "as",
        "at",
        "best",
        "by",
        "class",
        "except",
        "from",
        "gap",
        "given",
        "in",
        "is",
        "observed",
        "of",
        "on",
        "seed",
    ),
    *("split", "test"),
    *("then", "threads", "to", "together", "trees", "up", "when", "with", "within"),
)
UNITS = ("%", "rows", "ms", "s", "min", "h")

TYPES = ("binary", "number", "integer", "category", "ordered", "text", "date", "time")
MODIFIERS = ("sensitive", "missing")  # of a column

MAXIMUM_DIGITS = 500  # of a number written out; longer ones are mistakes or attacks

# What each statement looks like, for the help of a message.
USAGE: dict[str, str] = {
    "treeml": "treeml 1",
    "include": 'include "columns.tml"',
    "param": "param price = 0.01 in 0 .. 0.5",
    "set": "set price = 0.02",
    "data": 'data "heart.csv"',
    "predict": 'predict income is ">50K"',
    "features": "features all except id, name",
    "column": "column sex : category, sensitive",
    "weight": 'weight by survey_weight` or `weight class "ill" = 5',
    "cost": 'cost predict "healthy" when "ill" = 50` or `cost test insulin = 12',
    "gain": 'gain predict "treat" by column score_treat',
    "binarize": "binarize age by quantiles(4)` or `binarize age at 25, 35",
    "minimize": "minimize error_rate + 0.01 * leaves",
    "maximize": "maximize accuracy",
    "satisfy": "satisfy",
    "require": "require depth <= 3",
    "forbid": "forbid split on sex",
    "ensemble": "ensemble by lpboost(penalty = 0.05)",
    "start": "start from cart(depth = 10)",
    "leaves": "leaves linear(age, ridge = 0.1)",
    "improve": "improve by subtrees(depth = 3) within 20 s",
    "list": "list 100 trees` or `list trees within 2% of best",
    "validate": 'validate by folds(5)` or `validate on "test.csv"',
    "solve": "solve with cpsat within 5 min",
    "report": "report tree, confusion",
}

# What messages call each terminal. A test compares the keys with the grammar.
PHRASES: dict[str, str] = {
    **{verb.upper(): f"`{verb}`" for verb in VERBS},
    **{word.upper(): f"`{word}`" for word in INNER_WORDS},
    "COLON": "`:`",
    "COMMA": "`,`",
    "COMPARE": "a comparison such as `<=`",
    "EQUAL": "`=`",
    "LEFT_BRACE": "`{`",
    "LEFT_PARENTHESIS": "`(`",
    "MINUS": "`-`",
    "PLUS": "`+`",
    "RANGE": "`..`",
    "RIGHT_BRACE": "`}`",
    "RIGHT_PARENTHESIS": "`)`",
    "SLASH": "`/`",
    "STAR": "`*`",
    "UNIT": "a unit such as `%`",
    "NUMBER": "a number",
    "NAME": "a name",
    "QUOTED": "a name in backquotes",
    "STRING": 'a text in "quotes"',
    "COMMENT": "a comment",
    "SPACE": "a space",
    "$END": "the end of the file",
}

# Whole sets of terminals that have a name of their own, widest first.
GROUPS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset(verb.upper() for verb in VERBS), "a new statement"),
    (frozenset({"NUMBER", "NAME", "QUOTED", "STRING", "LEFT_PARENTHESIS", "MINUS"}), "a number or a measure"),
    (frozenset({"NUMBER", "NAME", "STRING", "MINUS"}), 'a number, a word or a text in "quotes"'),
    (frozenset({"WITHIN", "GAP", "SEED", "THREADS"}), "a limit such as `within 5 min`"),
    (frozenset({"PLUS", "MINUS", "STAR", "SLASH"}), "an operator such as `+`"),
    (frozenset({"COMPARE", "EQUAL"}), "a comparison such as `<=`"),
    (frozenset({"NAME", "QUOTED"}), "a column name"),
)

_BARE = re.compile(r"[^\W\d]\w*")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "`": "`"}
_ESCAPE = re.compile(r"\\(u\{([0-9A-Fa-f]{1,6})\}|.)", re.DOTALL)


def is_bare(text: str) -> bool:
    """Whether the text is a name that needs no backquotes."""
    return _BARE.fullmatch(text) is not None


def spell_string(text: str) -> str:
    return f'"{_escape(text, chr(34))}"'


def spell_name(text: str, reserved: tuple[str, ...] = ()) -> str:
    """The name, in backquotes if it needs them; `reserved` words have another meaning in this place."""
    return text if is_bare(text) and text not in reserved else f"`{_escape(text, '`')}`"


def read_unit(text: str) -> str:
    """The unit that a text stands for: `1 row` and `2 rows` have the same one."""
    return "rows" if text == "row" else text


def spell_unit(number: Fraction, unit: str) -> str:
    """The unit as one writes it after this number: `1 row`."""
    return "row" if unit == "rows" and number == 1 else unit


def spell_number(value: Fraction) -> str:
    """A number as a decimal; ValueError if it has no finite decimal form."""
    numerator, denominator = value.numerator, value.denominator
    places = 0
    while denominator % 10 == 0:
        denominator //= 10
        places += 1
    while denominator != 1:
        factor = 5 if denominator % 2 == 0 else 2
        if denominator % (10 // factor):
            raise ValueError(f"{value} has no finite decimal writing")
        denominator //= 10 // factor
        numerator *= factor
        places += 1
    sign, digits = ("-" if numerator < 0 else ""), str(abs(numerator)).rjust(places + 1, "0")
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def read_number(text: str) -> Fraction | None:
    """The exact value of a number as written, or None if it has too many digits."""
    mantissa, _, exponent = text.replace("_", "").lower().partition("e")
    whole, _, decimals = mantissa.partition(".")
    if len(exponent) > 5 or len(mantissa) > MAXIMUM_DIGITS:
        return None
    shift = int(exponent or "0")
    if max(len(whole) + shift, 1) + max(len(decimals) - shift, 0) > MAXIMUM_DIGITS:
        return None
    return Fraction(int(whole + decimals)) * Fraction(10) ** (shift - len(decimals))


def read_quoted(text: str) -> str:
    """The text between quotes or backquotes with escapes replaced; an unknown escape stays as it is."""
    return _ESCAPE.sub(_unescape, text[1:-1]) if "\\" in text else text[1:-1]


def bad_escapes(text: str) -> list[re.Match[str]]:
    """The unknown escapes between quotes."""
    return [match for match in _ESCAPE.finditer(text) if _unescape(match) == match[0]] if "\\" in text else []


def _unescape(match: re.Match[str]) -> str:
    if match[2]:
        return chr(int(match[2], 16)) if int(match[2], 16) <= 0x10FFFF else match[0]
    return _ESCAPES.get(match[1], match[0])


def _escape(text: str, quote: str) -> str:
    return visible(text.replace("\\", "\\\\").replace(quote, "\\" + quote))
