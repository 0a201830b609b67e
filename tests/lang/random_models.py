"""Random statements, as nodes that the parser could have made."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from treeml.lang import syntax as s
from treeml.lang.words import INNER_WORDS, TYPES, UNITS, VERBS

identifiers = st.one_of(
    st.sampled_from([*VERBS, *INNER_WORDS, *TYPES, "rows", "min", "s", "h", "ms", "depth", "e5"]),
    st.from_regex(r"\A[a-z_][a-z0-9_]{0,8}\Z"),
    st.sampled_from(["ñandú", "年齢", "Größe"]),
)
texts = st.text(max_size=12)
names = st.builds(s.Name, st.one_of(identifiers, st.text(min_size=1, max_size=10), st.just("a`b\\c\n")))
columns = st.lists(names, min_size=1, max_size=3).map(tuple)
decimals = st.builds(lambda digits, places: Fraction(digits, 10**places), st.integers(0, 10**9), st.integers(0, 12))
numbers = st.builds(s.Number, decimals, st.sampled_from(["", *UNITS]))
strings = st.builds(s.String, texts)
words = st.builds(s.Name, identifiers)
values = st.one_of(numbers, strings, words, st.builds(s.Negate, numbers))


def comparisons(sides: st.SearchStrategy[s.Expression]) -> st.SearchStrategy[s.Relation]:
    @st.composite
    def build(draw: st.DrawFn) -> s.Relation:
        operators = draw(st.lists(st.sampled_from(["<=", ">=", "=", "<", ">"]), min_size=1, max_size=3))
        return s.Relation(tuple(draw(sides) for _ in range(len(operators) + 1)), tuple(operators))

    return build()


def _is_condition(node: s.Relation) -> bool:
    return not (node.operators == ("=",) and isinstance(node.operands[0], s.Name))


def calls(inner: st.SearchStrategy[s.Expression]) -> st.SearchStrategy[s.Call]:
    arguments = st.lists(
        st.one_of(
            st.builds(s.Argument, inner),
            st.builds(s.Argument, inner, name=st.one_of(identifiers, st.text(min_size=1, max_size=5))),
            st.builds(s.Argument, comparisons(inner).filter(_is_condition)),
        ),
        max_size=3,
    ).map(tuple)
    return st.one_of(
        st.builds(s.Call, identifiers, arguments),
        st.builds(s.Call, identifiers, arguments.filter(bool), arguments),
    )


expressions: st.SearchStrategy[s.Expression] = st.recursive(
    st.one_of(numbers, strings, names),
    lambda inner: st.one_of(
        st.builds(s.Binary, st.sampled_from(["+", "-", "*", "/"]), inner, inner),
        st.builds(s.Negate, inner),
        calls(inner),
    ),
    max_leaves=6,
)
methods = st.one_of(words, calls(st.one_of(numbers, strings, names)))
maybe = lambda strategy: st.one_of(st.none(), strategy)  # noqa: E731
domains = st.one_of(st.builds(s.Range, values, values), st.builds(s.Choices, st.lists(values, min_size=1).map(tuple)))
goals = st.builds(s.GoalPart, st.sampled_from(["minimize", "maximize"]), expressions)

statements = st.one_of(
    st.builds(s.Include, texts),
    st.builds(s.Param, identifiers, maybe(values), maybe(domains), st.sampled_from(["", *TYPES])),
    st.builds(s.Set, identifiers, values),
    st.builds(s.Data, texts),
    st.builds(s.Predict, names, maybe(values)),
    st.builds(s.Features, st.one_of(st.just(()), columns), st.one_of(st.just(()), columns)),
    st.builds(
        s.ColumnRule,
        columns,
        st.sampled_from(TYPES),
        st.lists(st.sampled_from([s.Modifier("sensitive"), s.Modifier("missing", "drop")]), max_size=2).map(tuple),
    ),
    st.builds(s.ColumnRule, columns, st.just(""), st.sampled_from([(s.Modifier("missing", "median"),)])),
    st.builds(s.WeightBy, names),
    st.builds(s.WeightClass, values, expressions),
    st.builds(s.MistakeCost, values, values, expressions),
    st.builds(s.RowCost, values, names, st.booleans()),
    st.builds(s.ColumnCost, columns, expressions, st.booleans()),
    st.builds(s.ColumnCost, columns, expressions, st.just(False), names),
    st.builds(s.Binarize, st.one_of(st.just(()), columns), methods),
    st.builds(s.Binarize, columns, st.none(), st.lists(values, min_size=1, max_size=4).map(tuple)),
    st.builds(s.Objective, st.lists(goals, min_size=1, max_size=3).map(tuple)),
    st.builds(s.Satisfy),
    st.builds(s.Require, st.one_of(expressions, comparisons(expressions)), st.one_of(st.just(""), identifiers)),
    st.builds(s.Forbid, columns),
    st.builds(s.Ensemble, methods, maybe(expressions)),
    st.builds(s.Start, st.one_of(methods, strings)),
    st.builds(s.Improve, methods, maybe(expressions)),
    st.builds(s.ListTrees, maybe(expressions), maybe(expressions), st.one_of(st.just(""), identifiers)),
    st.builds(s.Validate, st.one_of(methods, strings)),
    st.builds(
        s.Solve,
        st.lists(methods, max_size=3).map(tuple),
        *(maybe(expressions),) * 4,
    ),
    st.builds(s.Report, st.lists(methods, min_size=1, max_size=3).map(tuple)),
)
models = st.lists(statements, max_size=6)
