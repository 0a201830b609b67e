"""`treeml fmt`: one layout, nothing lost."""

from __future__ import annotations

import pytest

from treeml.lang.diagnostic import SpecError
from treeml.lang.format import format_source, format_statements
from treeml.lang.parse import parse
from treeml.lang.source import Source


def test_everything_at_once():
    text = """

# top
treeml 1
param price     = 0.01 in 0..0.5    # accuracy one leaf must earn


# about data
data "x" predict class is - 5
features a,   # years
  # inside

   b
# the end of features
minimize a+b*-(c-1) /2
# between
then maximize f( x,seed=2_000 given sex="F" )
require p : 2<=leaves<=8   # t
column `x`:number , missing   drop
solve with native(cache=2_000)
   within 5min gap 1 %


# last"""
    assert (
        format_source(Source("x", text))
        == """\
# top
treeml 1
param price = 0.01 in 0 .. 0.5  # accuracy one leaf must earn

# about data
data "x"
predict class is -5
features a,  # years
    # inside
    b
# the end of features
minimize a + b * -(c - 1) / 2
# between
then maximize f(x, seed = 2_000 given sex = "F")
require p: 2 <= leaves <= 8  # t
column `x` : number, missing drop
solve with native(cache = 2_000)
    within 5 min gap 1%

# last
"""
    )


@pytest.mark.parametrize(
    ("text", "laid_out"),
    [
        ("", ""),
        ("\n\n\n", ""),
        ("#a", "#a\n"),
        ("satisfy\r\n", "satisfy\n"),
        ("satisfy # a # b", "satisfy  # a # b\n"),
        ("\ufeffsatisfy", "satisfy\n"),
        ("param m in{a,b,-1}", "param m in {a, b, -1}\n"),
        ("minimize((a))", "minimize ((a))\n"),
        ("minimize a-b- -c", "minimize a - b - -c\n"),
        ("minimize a\nthen\nminimize b", "minimize a\nthen\n    minimize b\n"),
        ('data "a # b"', 'data "a # b"\n'),
        ("predict `a # b`", "predict `a # b`\n"),
    ],
)
def test_layout(text, laid_out):
    assert format_source(Source("x", text)) == laid_out


def test_text_that_does_not_parse_is_not_changed():
    with pytest.raises(SpecError):
        format_source(Source("x", "requires depth <= 3"))


def test_statements_print_in_a_fixed_order():
    text = 'solve within 5 s\nrequire depth <= 3\nmaximize accuracy\npredict y\ndata "x"\nparam a = 1\n'
    assert format_statements(parse(Source("x", text))) == "".join(reversed(text.splitlines(keepends=True)))
