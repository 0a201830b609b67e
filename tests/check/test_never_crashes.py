"""Whatever is written, `check` answers with diagnostics: it never raises, and every label lies inside the text."""

from hypothesis import given, settings
from hypothesis import strategies as st

from treeml.lang.check import check_source
from treeml.lang.codes import CATALOGUE
from treeml.lang.display import visible
from treeml.lang.measures import MEASURES
from treeml.lang.render import render
from treeml.lang.source import Source

NUMBERS = st.sampled_from(["0", "1", "3", "3.5", "-1", "0.01", "5%", "120%", "20 rows", "5 min", "1e-9", "2_000"])
VALUES = st.one_of(NUMBERS, st.sampled_from(['"ill"', '""', "yes", "price", "`a b`", "limit"]))
COLUMNS = st.sampled_from(["age", "sex", "disease", "`hours per week`", "depth", "class"])
OPERATORS = st.sampled_from(["<=", ">=", "=", "<", ">"])
WORDS = st.sampled_from(
    ["quantiles", "cart", "folds", "native", "race", "tree", "lpboost", "subtrees", "width", "wombat"]
)


def calls(names: st.SearchStrategy[str], arguments: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    listed = st.lists(arguments, max_size=3).map(", ".join)
    return st.one_of(names, st.builds("{}({})".format, names, listed))


def conditions() -> st.SearchStrategy[str]:
    subjects = st.one_of(st.sampled_from(["predicted", "actual"]), COLUMNS)
    return st.builds("{} {} {}".format, subjects, OPERATORS, VALUES)


MEASURE = st.one_of(
    calls(st.sampled_from([*MEASURES, "leafs", "alpha", "price"]), st.one_of(COLUMNS, VALUES)),
    st.builds("rate({} given {})".format, conditions(), conditions()),
    st.builds("count({})".format, conditions()),
)
EXPRESSION = st.recursive(
    st.one_of(NUMBERS, MEASURE, VALUES),
    lambda inner: st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from("+-*/"), inner),
        inner.map("({})".format),
        inner.map("-{}".format),
    ),
    max_leaves=6,
)
NAMED = st.builds("{} = {}".format, st.sampled_from(["depth", "seed", "penalty", "rows", "cache", "x"]), VALUES)
METHOD = calls(WORDS, st.one_of(NUMBERS, NAMED, WORDS))
STATEMENT = st.one_of(
    st.builds("predict {}".format, COLUMNS),
    st.builds("predict {} is {}".format, COLUMNS, VALUES),
    st.builds("minimize {}".format, EXPRESSION),
    st.builds("maximize {} then minimize {}".format, EXPRESSION, EXPRESSION),
    st.builds("require {}".format, EXPRESSION),
    st.builds("require {} {} {}".format, EXPRESSION, OPERATORS, EXPRESSION),
    st.builds("require size: {} {} {} {} {}".format, EXPRESSION, OPERATORS, EXPRESSION, OPERATORS, EXPRESSION),
    st.builds("param price = {} in {} .. {}".format, VALUES, VALUES, VALUES),
    st.builds(
        "param {} : {}".format, st.sampled_from(["limit", "depth"]), st.sampled_from(["integer", "text", "ordered"])
    ),
    st.builds("param limit in {{{}, {}}}".format, VALUES, VALUES),
    st.builds("set {} = {}".format, st.sampled_from(["price", "prise"]), VALUES),
    st.builds("features {}, {}".format, COLUMNS, COLUMNS),
    st.builds("features all except {}".format, COLUMNS),
    st.builds("column {} : {}, missing {}".format, COLUMNS, st.sampled_from(["number", "category"]), WORDS),
    st.builds("weight by {}".format, COLUMNS),
    st.builds("weight class {} = {}".format, VALUES, EXPRESSION),
    st.builds("cost predict {} when {} = {}".format, VALUES, VALUES, EXPRESSION),
    st.builds("cost test {} = {}".format, COLUMNS, EXPRESSION),
    st.builds("binarize {} by {}".format, st.one_of(COLUMNS, st.just("all")), METHOD),
    st.builds("binarize {} at {}, {}".format, COLUMNS, VALUES, VALUES),
    st.builds("forbid split on {}".format, COLUMNS),
    st.builds("ensemble up to {} trees by {}".format, EXPRESSION, METHOD),
    st.builds("start from {}".format, METHOD),
    st.builds("improve by {} within {}".format, METHOD, EXPRESSION),
    st.builds("validate by {}".format, METHOD),
    st.builds("solve with {}, {} within {} gap {}".format, METHOD, METHOD, EXPRESSION, EXPRESSION),
    st.builds("solve seed {} threads {}".format, EXPRESSION, EXPRESSION),
    st.builds("report {}".format, METHOD),
    st.just("satisfy"),
    st.builds('include "{}"'.format, st.sampled_from(["nowhere.tml", "", ".", "\\u{0}", "a" * 300])),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(STATEMENT, max_size=8), st.dictionaries(st.sampled_from(["price", "limit", "other"]), VALUES, max_size=2)
)
def test_well_formed_nonsense(statements: list[str], bindings: dict[str, str]) -> None:
    text = "\n".join(statements)
    spec, diagnostics = check_source(Source("nonsense.tml", text), bindings)
    assert (spec is None) == any(diagnostic.is_error for diagnostic in diagnostics)
    for diagnostic in diagnostics:
        assert diagnostic.code in CATALOGUE
        assert render(diagnostic).startswith(
            f"{diagnostic.severity.value}[{diagnostic.code}]: {visible(diagnostic.title)}"
        )
        for label in diagnostic.labels:
            assert 0 <= label.span.start <= label.span.end <= len(text)
            assert label.text


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    spec, diagnostics = check_source(Source("any.tml", text))
    assert spec is None
    assert diagnostics
