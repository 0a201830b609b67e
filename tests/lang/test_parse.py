"""Text -> statements: what each statement means as nodes, and what the lexer must not confuse."""

from __future__ import annotations

from fractions import Fraction

import pytest

from treeml.lang import syntax as s
from treeml.lang.parse import parse, parse_all
from treeml.lang.parser_table import grammar, new_parser, parser, ready_parser, write_table
from treeml.lang.source import Source
from treeml.lang.source_file import read
from treeml.lang.words import GROUPS, INNER_WORDS, PHRASES, VERBS, read_number, spell_number


def one(text: str) -> s.Statement:
    (statement,) = parse(Source("x", text))
    return statement


def number(text: str, unit: str = "") -> s.Number:
    return s.Number(Fraction(text), unit)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("treeml 1", s.Version(1)),
        ('include "columns.tml"', s.Include("columns.tml")),
        (
            "param price = 0.01 in 0 .. 0.5",
            s.Param("price", number("0.01"), s.Range(number("0"), number("0.5"))),
        ),
        ("param price in 0..0.5", s.Param("price", None, s.Range(number("0"), number("0.5")))),
        (
            "param low = -1 in -5..-1",
            s.Param("low", s.Negate(number("1")), s.Range(s.Negate(number("5")), s.Negate(number("1")))),
        ),
        (
            'param mode : category = fast in {fast, "very slow", 3}',
            s.Param(
                "mode", s.Name("fast"), s.Choices((s.Name("fast"), s.String("very slow"), number("3"))), "category"
            ),
        ),
        ("param tolerance = 5%", s.Param("tolerance", number("5", "%"))),
        ("set price = 1_000.5", s.Set("price", number("1000.5"))),
        ('data "a \\"b\\" \\\\ c.csv"', s.Data('a "b" \\ c.csv')),
        ("predict class", s.Predict(s.Name("class"))),
        ("predict spam is 1", s.Predict(s.Name("spam"), number("1"))),
        ("predict `a b` is yes", s.Predict(s.Name("a b"), s.Name("yes"))),
        ("predict months observed died", s.Predict(s.Name("months"), observed=s.Name("died"))),
        ("predict observed observed `is`", s.Predict(s.Name("observed"), observed=s.Name("is"))),
        ("leaves linear", s.LeafModels(s.Name("linear"))),
        (
            "leaves linear(age, `a b`, ridge = 0.5)",
            s.LeafModels(
                s.Call(
                    "linear",
                    (s.Argument(s.Name("age")), s.Argument(s.Name("a b")), s.Argument(number("0.5"), "ridge")),
                )
            ),
        ),
        ("features all except id, name", s.Features((), (s.Name("id"), s.Name("name")))),
        ("features `all`, depth", s.Features((s.Name("all"), s.Name("depth")))),
        (
            "column sex : category, sensitive, missing drop",
            s.ColumnRule((s.Name("sex"),), "category", (s.Modifier("sensitive"), s.Modifier("missing", "drop"))),
        ),
        (
            "column age, `net income` : number, missing median",
            s.ColumnRule((s.Name("age"), s.Name("net income")), "number", (s.Modifier("missing", "median"),)),
        ),
        ("weight by w", s.WeightBy(s.Name("w"))),
        ('weight class "ill" = 2 * price', s.WeightClass(s.String("ill"), s.Binary("*", number("2"), s.Name("price")))),
        ('cost predict "a" when b = 50', s.MistakeCost(s.String("a"), s.Name("b"), number("50"))),
        ("cost test insulin = 12.5", s.ColumnCost((s.Name("insulin"),), number("12.5"))),
        ("cost test a, b together = 20", s.ColumnCost((s.Name("a"), s.Name("b")), number("20"), True)),
        ("cost test b after a = 3", s.ColumnCost((s.Name("b"),), number("3"), after=s.Name("a"))),
        ('cost predict "A" by column loss_a', s.RowCost(s.String("A"), s.Name("loss_a"))),
        ('gain predict "A" by column score_a', s.RowCost(s.String("A"), s.Name("score_a"), True)),
        ("binarize all by thresholds", s.Binarize((), s.Name("thresholds"))),
        (
            "binarize age, min by quantiles(4)",
            s.Binarize((s.Name("age"), s.Name("min")), s.Call("quantiles", (s.Argument(number("4")),))),
        ),
        ("binarize age at -1, 25", s.Binarize((s.Name("age"),), None, (s.Negate(number("1")), number("25")))),
        ("satisfy", s.Satisfy()),
        ("require uses(age)", s.Require(s.Call("uses", (s.Argument(s.Name("age")),)))),
        (
            "require size: 2 <= leaves <= 8",
            s.Require(s.Relation((number("2"), s.Name("leaves"), number("8")), ("<=", "<=")), "size"),
        ),
        ("forbid split on sex, `a b`", s.Forbid((s.Name("sex"), s.Name("a b")))),
        (
            "ensemble up to 50 trees by lpboost(penalty = 0.05)",
            s.Ensemble(s.Call("lpboost", (s.Argument(number("0.05"), "penalty"),)), number("50")),
        ),
        ("ensemble 50 trees by lpboost", s.Ensemble(s.Name("lpboost"), number("50"))),
        ("ensemble by lpboost", s.Ensemble(s.Name("lpboost"))),
        ('start from "tree.json"', s.Start(s.String("tree.json"))),
        ("start from cart", s.Start(s.Name("cart"))),
        ("improve by subtrees within 20 s", s.Improve(s.Name("subtrees"), number("20", "s"))),
        ('validate on "test.csv"', s.Validate(s.String("test.csv"))),
        (
            "validate by folds(5, seed = 1)",
            s.Validate(s.Call("folds", (s.Argument(number("5")), s.Argument(number("1"), "seed")))),
        ),
        (
            "solve with maxsat, cpsat threads 2 seed 7 gap 1% within 1.5h",
            s.Solve(
                (s.Name("maxsat"), s.Name("cpsat")), number("1.5", "h"), number("1", "%"), number("7"), number("2")
            ),
        ),
        ("solve within 5 min", s.Solve((), number("5", "min"))),
        ("report tree, timeline", s.Report((s.Name("tree"), s.Name("timeline")))),
    ],
)
def test_statement(text, statement):
    assert one(text) == statement


def test_goals_in_one_line_and_on_a_later_one_are_the_same():
    expected = s.Objective((s.GoalPart("minimize", s.Name("depth")), s.GoalPart("maximize", s.Name("accuracy"))))
    assert one("minimize depth then maximize accuracy") == expected
    assert one("minimize depth\n\n# and\nthen maximize\naccuracy") == expected


def test_a_general_rate():
    statement = one('require rate(predicted = "yes" given sex = "F", age >= 40, `a b` = 1) <= 5%')
    call = s.Call(
        "rate",
        (s.Argument(s.String("yes"), "predicted"),),
        (
            s.Argument(s.String("F"), "sex"),
            s.Argument(s.Relation((s.Name("age"), number("40")), (">=",))),
            s.Argument(number("1"), "a b"),
        ),
    )
    assert statement == s.Require(s.Relation((call, number("5", "%")), ("<=",)))


def test_operators_group_as_in_arithmetic():
    (goal,) = one("minimize a - b - c * -d / (e + 2)").goals
    a, b, c, d, e = (s.Name(letter) for letter in "abcde")
    product = s.Binary("/", s.Binary("*", c, s.Negate(d)), s.Binary("+", e, number("2")))
    assert goal.expression == s.Binary("-", s.Binary("-", a, b), product)


@pytest.mark.parametrize("word", [*VERBS, *INNER_WORDS, "rows", "min", "s", "number"])
def test_every_keyword_can_name_a_column_a_param_and_a_measure(word):
    text = (
        f"predict {word}\nforbid split on {word}, {word}\nparam {word} = 3\nrequire {word} + uses({word}) <= 2 * {word}"
    )
    target, forbid, param, require = parse(Source("x", text))
    assert target == s.Predict(s.Name(word))
    assert forbid == s.Forbid((s.Name(word), s.Name(word)))
    assert param.name == word
    assert require.condition.operands[1] == s.Binary("*", number("2"), s.Name(word))


def test_newlines_never_matter():
    text = 'data "x" predict y is "a" maximize accuracy require depth <= 3 solve within 5 min seed 1'
    spread = text.replace(" ", "\r\n\t")
    assert parse(Source("x", text)) == parse(Source("x", spread))
    assert len(parse(Source("x", text))) == 5


def test_spans_are_the_users_own_words():
    source = Source("x", 'param p = 1\n  require fair: (1 + `a b`) * recall("x") <= 5 %  # note')
    require = parse(source)[1]
    assert require.span.text == 'require fair: (1 + `a b`) * recall("x") <= 5 %'
    assert require.condition.span.text == '(1 + `a b`) * recall("x") <= 5 %'
    left, right = require.condition.operands
    assert (left.left.span.text, left.right.span.text, left.right.name_span.text) == (
        "(1 + `a b`)",
        'recall("x")',
        "recall",
    )
    assert right.span.text == "5 %"
    assert str(require.condition.span) == "x:2:17"


@pytest.mark.parametrize("text", ["", "\n\n", "# only this", "\ufeff", "\ufeff# a\r\n# b\r\n", " \t\f\n"])
def test_a_file_may_be_empty(text):
    assert parse(Source("x", text)) == []


def test_byte_order_mark_and_other_line_ends():
    assert parse(Source("x", "\ufeffpredict y\r\nsatisfy\r\n")) == [s.Predict(s.Name("y")), s.Satisfy()]


def test_escapes():
    text = '"\\n\\t\\r\\u{41}\\u{1F333}\\"\\\\"'
    assert one(f"data {text}") == s.Data('\n\t\rA🌳"\\')
    assert one("predict `a\\`b`") == s.Predict(s.Name("a`b"))


def test_statements_that_can_be_read_are_read_beside_those_that_cannot():
    parsed = parse_all(Source("x", "predict y\nrequires depth <= 3\nrequire depth <= 3\nminimize +\nsatisfy"))
    assert parsed.statements == [s.Predict(s.Name("y")), one("require depth <= 3"), s.Satisfy()]
    assert [diagnostic.code for diagnostic in parsed.diagnostics] == ["S101", "S102"]


def test_every_terminal_of_the_grammar_has_a_description():
    terminals = {terminal.name for terminal in parser().terminals}
    assert terminals | {"$END"} == set(PHRASES)
    assert all(group <= terminals for group, _ in GROUPS)
    assert {verb.upper() for verb in VERBS} | {word.upper() for word in INNER_WORDS} <= terminals


def test_the_grammar_names_no_measure():
    from treeml.lang.measures import MEASURES

    # `gain predict ...` states what the measure `gain` adds up.
    assert [name for name in MEASURES if f'"{name}"' in grammar()] == ["gain"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", "0"),
        ("007", "7"),
        ("1_000", "1000"),
        ("0.10", "0.1"),
        ("1e3", "1000"),
        ("2.5E-3", "0.0025"),
        ("1e+2", "100"),
    ],
)
def test_numbers_are_exact(text, value):
    assert read_number(text) == Fraction(value)
    assert spell_number(Fraction(value)) == value


def test_a_third_has_no_decimal_writing():
    with pytest.raises(ValueError, match="no finite decimal"):
        spell_number(Fraction(1, 3))


def test_reading_a_file(tmp_path):
    path = tmp_path / "a.tml"
    path.write_bytes(b"\xef\xbb\xbfsatisfy\r\n")
    source = read(path)
    assert (source.text, source.path, source.name) == ("satisfy\r\n", path, str(path))


def test_the_table_beside_the_parser_is_that_of_the_grammar():
    """After a change of the grammar: python -m treeml.lang.parser_table."""
    import json

    import lark

    from treeml.lang.parser_table import TABLE

    table = json.loads(TABLE.read_text(encoding="utf-8"))
    assert table["grammar"] == grammar()
    assert (ready_parser() is not None) == (table["lark"] == lark.__version__)


def test_the_table_is_the_same_whenever_it_is_written(tmp_path):
    """So that it changes with the grammar alone: byte for byte what is in the repository."""
    import json

    import lark

    from treeml.lang.parser_table import TABLE

    path = tmp_path / "table.json"
    write_table(path)
    if json.loads(TABLE.read_text(encoding="utf-8"))["lark"] != lark.__version__:
        pytest.skip("another version of Lark wrote it")
    assert path.read_text(encoding="utf-8") == TABLE.read_text(encoding="utf-8")


def test_a_table_written_or_worked_out_gives_the_same_parser(tmp_path, monkeypatch):
    from treeml.lang import parser_table as table

    path = tmp_path / "table.json"
    write_table(path)
    monkeypatch.setattr(table, "TABLE", path)
    text = 'param p : number = 5% in {1, 2} cost predict "a" when b = p solve with n(x = 3 given y <= 2) gap 1 seed 2'
    source = Source("x", text)
    ready, new = ready_parser(), new_parser()
    assert ready is not None
    monkeypatch.setattr("treeml.lang.parse.parser", lambda: ready)
    from_ready = parse(source)
    monkeypatch.setattr("treeml.lang.parse.parser", lambda: new)
    assert from_ready == parse(source)
    assert len(from_ready) == 3


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"lark": "0", "grammar": ""}', None])
def test_a_parser_table_that_does_not_match_is_not_used(tmp_path, monkeypatch, content):
    from treeml.lang import parser_table as table

    path = tmp_path / "table.json"
    if content is not None:
        path.write_text(content)
    monkeypatch.setattr(table, "TABLE", path)
    assert ready_parser() is None
