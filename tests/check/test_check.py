"""Text -> Spec: what every statement becomes."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from treeml.lang.check import check, check_source
from treeml.lang.diagnostic import Diagnostic, InfeasibleError, SpecError
from treeml.lang.parse import parse
from treeml.lang.source import Source
from treeml.lang.source_file import read
from treeml.lang.spec import Binarization, ColumnSpec, Condition, Linear, Method, Requirement, Spec, Use
from treeml.lang.syntax import GoalPart as GoalNode
from treeml.lang.syntax import Name, Number, Objective, Predict, Relation, Require

ROOT = Path(__file__).resolve().parents[2]
HEAD = 'data "heart.csv"\npredict disease is "ill"\n'
GOAL = "maximize accuracy\n"


def checked(text: str, bindings: Mapping[str, Any] | None = None, **options: Any) -> tuple[Spec, list[Diagnostic]]:
    return check(parse(Source("test.tml", text)), bindings or {}, **options)


def spec_of(text: str, **params: Any) -> Spec:
    return checked(text, params)[0]


def codes(text: str, bindings: Mapping[str, Any] | None = None) -> list[str]:
    return [diagnostic.code for diagnostic in check_source(Source("test.tml", text), bindings or {})[1]]


def requirement(text: str, extra: str = "") -> Requirement:
    (found,) = spec_of(HEAD + GOAL + extra + f"require {text}\n").requirements
    return found


def use(measure: str, *arguments: Any, factor: int | str = 1) -> tuple[Fraction, Use]:
    return Fraction(factor), Use(measure, arguments)


@pytest.mark.parametrize("spec", sorted((ROOT / "examples").glob("*/*.tml")), ids=lambda path: path.stem)
def test_examples_check_without_a_word(spec: Path) -> None:
    source = read(spec)
    if spec.stem == "columns":  # to be included, not to be solved
        return
    found, diagnostics = check_source(source)
    assert diagnostics == []
    assert found is not None
    assert found.folder == spec.parent


def test_plain_example_to_the_letter() -> None:
    found = spec_of('data "heart.csv"\npredict disease\nmaximize accuracy\nrequire depth <= 3')
    assert found.data == "heart.csv"
    assert found.target == "disease"
    assert found.positive is None
    assert [(goal.sense, goal.expression, goal.text) for goal in found.goals] == [
        ("maximize", Linear((use("accuracy"),)), "maximize accuracy")
    ]
    assert found.requirements == (Requirement(Linear((use("depth"),)), "<=", Fraction(3), "depth <= 3"),)
    assert found == Spec(
        data="heart.csv",
        target="disease",
        goals=found.goals,
        requirements=found.requirements,
    )


def test_fair_example() -> None:
    found, _ = check_source(read(ROOT / "examples/fair/fair.tml"))
    assert found is not None
    assert found.positive == ">50K"
    assert found.columns == {"sex": ColumnSpec("category", sensitive=True), "hours per week": ColumnSpec("number")}
    assert found.binarizations == (
        Binarization("age", "cuts", cuts=tuple(map(Fraction, (25, 35, 45, 55, 65)))),
        Binarization("hours per week", "quantiles", 4),
    )
    bounds = {bound.name: (bound.expression.parts[0][1], bound.sense, bound.limit) for bound in found.requirements}
    assert bounds == {
        "depth <= 3": (Use("depth"), "<=", 3),
        "parity": (Use("parity_gap", ("sex",)), "<=", Fraction(1, 20)),
        "chance": (Use("opportunity_gap", ("sex",)), "<=", Fraction(1, 10)),
        "caught": (Use("recall", (">50K",)), ">=", Fraction(2, 5)),
    }
    assert found.forbidden == ("sex",)
    assert found.params == {"tolerance": Fraction(1, 20)}


def test_sparse_example() -> None:
    found, _ = check_source(read(ROOT / "examples/sparse/sparse.tml"), {"price": "2%"})
    assert found is not None
    assert found.goals[0].expression == Linear((use("error_rate"), use("leaves", factor="0.02")))
    assert found.excluded == ("id", "name")
    assert found.features is None
    support = found.requirements[1]
    assert (support.limit, support.share_of_rows) == (Fraction(1, 100), True)


def test_costs_example() -> None:
    found, _ = check_source(read(ROOT / "examples/costs/costs.tml"))
    assert found is not None
    assert found.weight_column == "survey_weight"
    assert found.mistake_costs == {("healthy", "ill"): 50, ("ill", "healthy"): 1}
    assert found.test_costs == {"insulin": 12}
    assert not found.requirements[1].share_of_rows
    assert found.requirements[1].limit == 20


def test_deep_example() -> None:
    found, _ = check_source(read(ROOT / "examples/deep/deep.tml"))
    assert found is not None
    assert found.data == "loans.csv"
    assert found.params == {"price": Fraction("0.001")}
    assert found.start == Method("cart", {"depth": 10})
    assert found.improve == Method("subtrees", {"depth": 3, "rows": 5000, "rounds": 50, "starts": 1})
    assert found.improve_within == 20.0
    assert [backend.name for backend in found.backends] == ["native"]
    assert (found.within, found.gap, found.threads) == (600.0, Fraction(1, 100), 2)
    assert [item.name for item in found.report] == ["tree", "confusion", "timeline"]


def test_boost_and_quantile_examples() -> None:
    boost, _ = check_source(read(ROOT / "examples/boost/boost.tml"))
    quantile, _ = check_source(read(ROOT / "examples/quantile/quantile.tml"), {"level": 0.25})
    assert boost is not None
    assert quantile is not None
    assert boost.positive == "1"
    assert boost.ensemble == Method("lpboost", {"penalty": Fraction("0.05")})
    assert boost.validate == Method("holdout", {"share": Fraction(1, 5), "seed": 7})
    assert quantile.goals[0].expression.parts == (use("quantile_loss", Fraction(1, 4)),)
    assert quantile.validate == Method("folds", {"folds": 5, "seed": 1})


@pytest.mark.parametrize(
    ("text", "sense", "limit"),
    [
        ("depth < 4", "<=", 3),
        ("4 > depth", "<=", 3),
        ("leaves > 4", ">=", 5),
        ("2 * leaves <= 9", "<=", Fraction(9, 2)),
        ("-leaves >= -8", "<=", 8),
        ("3 <= leaves", ">=", 3),
        ("leaves + 1 <= 9", "<=", 8),
        ("leaves <= 2 * (1 + 3)", "<=", 8),
        ("accuracy >= 1 - 5%", ">=", Fraction(19, 20)),
        ("errors <= 20 rows", "<=", 20),
        ("errors < 5", "<=", 4),
        ("error_rate <= 1/3", "<=", Fraction(1, 3)),
        ("leaves - leaves + leaves <= 8", "<=", 8),
        ("uses(age)", ">=", 1),
        ("uses(age) = 0", "=", 0),
        ("monotone(age, decreasing)", ">=", 1),
    ],
)
def test_bounds_are_closed_and_normal(text: str, sense: str, limit: Any) -> None:
    found = requirement(text)
    assert (found.sense, found.limit, found.expression.constant) == (sense, limit, 0)
    assert len(found.expression.parts) == 1
    assert found.expression.parts[0][0] == 1


def test_measures_on_both_sides_move_to_the_left() -> None:
    found = requirement('recall("a") >= recall("b") - 5%')
    assert found.expression.parts == (use("recall", "a"), use("recall", "b", factor=-1))
    assert (found.sense, found.limit) == (">=", Fraction(-1, 20))


def test_chain_makes_two_bounds_of_one_name() -> None:
    found = spec_of(HEAD + GOAL + "require size: 2 <= leaves < 8").requirements
    assert [(bound.name, bound.sense, bound.limit) for bound in found] == [("size", ">=", 2), ("size", "<=", 7)]
    assert {bound.text for bound in found} == {"2 <= leaves < 8"}


def test_text_of_a_requirement_has_no_comments() -> None:
    assert requirement('recall("a # b")  # not a comment above\n  >= # but here\n 40%').name == 'recall("a # b") >= 40%'


def test_conditions_of_rate_and_count() -> None:
    found = requirement('rate(predicted = "yes" given sex = "F", age >= 40, actual = 1) <= 5%')
    assert found.expression.parts[0][1].arguments == (
        (Condition("predicted", "=", "yes", False),),
        (Condition("sex", "=", "F"), Condition("age", ">=", Fraction(40)), Condition("actual", "=", "1", False)),
    )


def test_labels_are_texts_however_they_are_written() -> None:
    for written in ('"1"', "1", "1.0"):
        assert requirement(f"recall({written}) >= 40%").expression.parts[0][1].arguments == ("1",)
    assert requirement("recall(yes) >= 40%").expression.parts[0][1].arguments == ("yes",)
    assert requirement("recall(-1) >= 40%").expression.parts[0][1].arguments == ("-1",)
    assert requirement("recall(0.10) >= 40%").expression.parts[0][1].arguments == ("0.1",)


def test_cluster_loss_takes_many_columns_and_a_distance() -> None:
    found = spec_of('data "x.csv"\nminimize cluster_loss(age, income, absolute)\nrequire depth <= 3')
    assert found.goals[0].expression.parts == (use("cluster_loss", ("age", "income"), "absolute"),)
    assert spec_of("minimize cluster_loss(age)").goals[0].expression.parts == (
        use("cluster_loss", ("age",), "squared"),
    )


def test_arguments_know_their_places() -> None:
    found = requirement("parity_gap(sex) <= 5%").expression.parts[0][1]
    assert [span.text for span in found.argument_spans if span] == ["sex"]


def test_a_long_sum_is_not_deeply_nested() -> None:
    node: Any = Name("errors")
    from treeml.lang.expressions import Scope, evaluate
    from treeml.lang.findings import Findings
    from treeml.lang.params import Params
    from treeml.lang.syntax import Binary

    for _ in range(20_000):
        node = Binary("+", node, Number(Fraction(1)))
    value = evaluate(node, Scope(Params({}, {}), Findings()))
    assert value is not None
    assert (value.parts, value.constant.value) == ((use("errors"),), 20_000)


def test_lexicographic_goals_and_constants() -> None:
    found = spec_of(HEAD + "minimize depth + 1\nthen maximize accuracy - 0.01 * leaves")
    assert [goal.sense for goal in found.goals] == ["minimize", "maximize"]
    assert found.goals[0].expression == Linear((use("depth"),), Fraction(1))
    assert found.goals[1].expression == Linear((use("accuracy"), use("leaves", factor="-0.01")))


def test_satisfy_has_no_goals() -> None:
    assert spec_of(HEAD + "satisfy\nrequire depth <= 2").goals == ()


PARAM = HEAD + "param price = 0.01 in 0 .. 0.5\nminimize error_rate + price * leaves\n"


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("0.02", "0.02"),
        ("2%", "0.02"),
        (" 2 % ", "0.02"),
        ("1e-3", "0.001"),
        (0.1, "0.1"),
        (Fraction(1, 3), "1/3"),
        (Decimal("0.25"), "0.25"),
        (0, "0"),
    ],
)
def test_given_values_beat_set_and_default(given: Any, value: str) -> None:
    assert spec_of(PARAM + "set price = 0.3", price=given).params == {"price": Fraction(value)}


def test_set_beats_default() -> None:
    assert spec_of(PARAM + "set price = 5%").params == {"price": Fraction(1, 20)}
    assert spec_of(PARAM).params == {"price": Fraction(1, 100)}


@pytest.mark.parametrize(
    ("given", "code"),
    [("5", "T306"), (-1, "T306"), ("cheap", "T312"), (float("nan"), "T312"), (float("inf"), "T312"), ([1], "T312")],
)
def test_given_values_are_held_to_the_declaration(given: Any, code: str) -> None:
    assert codes(PARAM, {"price": given}) == [code]


def test_a_wrong_default_is_found_behind_a_good_value() -> None:
    assert codes(PARAM.replace("0.01", "7"), {"price": 0.1}) == ["T306"]


def test_numpy_numbers_are_numbers() -> None:
    import numpy

    assert spec_of(PARAM, price=numpy.float64(0.1)).params == {"price": Fraction(1, 10)}
    assert spec_of(PARAM, price=numpy.int64(0)).params == {"price": 0}


def test_the_message_names_where_the_value_comes_from() -> None:
    with pytest.raises(SpecError) as caught:
        spec_of(PARAM, price=5)
    (found,) = caught.value.diagnostics
    assert found.title == "`price` must lie in 0 .. 0.5, but the call gives 5"
    assert found.helps == ("for five per cent give 0.05",)


def test_param_of_words_and_of_time() -> None:
    text = "param group = sex in {sex, race}\nparam limit = 90 s\nrequire parity_gap(group) <= 5%\nsolve within limit\n"
    found = spec_of(HEAD + GOAL + text, group="race")
    assert found.requirements[0].expression.parts[0][1].arguments == ("race",)
    assert found.within == 90.0


def test_text_param_keeps_digits_as_text() -> None:
    found = spec_of(HEAD + 'param label = "1"\nmaximize recall(label)', label="2.0")
    assert found.goals[0].expression.parts[0][1].arguments == ("2.0",)


def test_solve_in_all_its_parts() -> None:
    found = spec_of(HEAD + GOAL + "solve with race(native, cpsat), oracle within 1.5 h gap 0.5% seed 7 threads 2")
    race, oracle = found.backends
    assert race == Method("race", {"backends": (Method("native"), Method("cpsat"))})
    assert oracle.name == "oracle"
    assert (found.within, found.gap, found.seed, found.threads) == (5400.0, Fraction(1, 200), 7, 2)


def test_options_of_an_installed_back_end_are_checked() -> None:
    (found,) = spec_of(HEAD + GOAL + "solve with cart(criterion = entropy, depth = 3, confidence = 0.1)").backends
    assert found.options == {"criterion": "entropy", "depth": 3, "confidence": 0.1}
    assert codes(HEAD + GOAL + "solve with cart(criterion = entropie)") == ["T309"]
    assert codes(HEAD + GOAL + "solve with cart(depth = 2.5)") == ["T309"]
    assert codes(HEAD + GOAL + "solve with cart(depth = -1)") == ["T309"]
    assert codes(HEAD + GOAL + "solve with cart(dept = 2)") == ["N206"]
    assert codes(HEAD + GOAL + "solve with cart(depth = 2, depth = 3)") == ["N205"]


def test_start_takes_the_options_of_the_greedy_back_end() -> None:
    from treeml.backends.heuristics.cart import CartBackend
    from treeml.lang.methods import FAMILIES

    rules = {rule.name: rule for rule in FAMILIES["start"].methods["cart"]}
    assert set(rules) == {*CartBackend.options, "leaves"}
    for name, option in CartBackend.options.items():
        assert tuple(rules[name].choices) == tuple(option.choices)


def test_the_table_of_options_is_what_the_back_ends_say() -> None:
    from treeml.backends.options import taken
    from treeml.backends.options_table import options_json
    from treeml.backends.registry import BUILT_IN, get
    from treeml.lang.backend_options import TABLE, options_of

    assert TABLE.read_text(encoding="utf-8") == options_json(), (
        "write the table again: python -m treeml.backends.options_table"
    )
    for name in BUILT_IN:
        known = options_of(name)
        if known is not None:
            stated = {
                key: (option.type.__name__, option.low, option.writes) for key, option in taken(get(name)).items()
            }
            assert {key: (option.type, option.low, option.writes) for key, option in known.items()} == stated


def test_every_reported_item_can_be_reported() -> None:
    from treeml.lang.methods import FAMILIES

    items = ", ".join(FAMILIES["report"].methods)
    assert len(spec_of(HEAD + GOAL + f"report {items}").report) == len(FAMILIES["report"].methods)


def test_start_and_validate_from_files() -> None:
    found = spec_of(HEAD + GOAL + 'start from "tree.json"\nvalidate on "test.csv"')
    assert (found.start, found.validate) == ("tree.json", "test.csv")


def test_ensemble_of_many_trees() -> None:
    found = spec_of(HEAD + "ensemble up to 50 trees by mdboost\nmaximize margin")
    assert (found.ensemble, found.ensemble_trees) == (Method("mdboost"), 50)


def test_columns_weights_and_tests() -> None:
    text = (
        "features age, sex, `hours per week`\ncolumn age : integer, missing median\n"
        'weight class "ill" = 2.5\nweight by survey\nbinarize all by thresholds\nbinarize sex by subsets\n'
    )
    found = spec_of(HEAD + GOAL + text)
    assert found.features == ("age", "sex", "hours per week")
    assert found.columns == {"age": ColumnSpec("integer", missing="median")}
    assert (found.weight_column, found.class_weights) == ("survey", {"ill": Fraction(5, 2)})
    assert found.binarizations == (Binarization("", "thresholds"), Binarization("sex", "subsets"))


def test_places_of_names_are_kept() -> None:
    spans = spec_of(HEAD + GOAL + "forbid split on a, b\ncost test c = 1\nrequire test_cost <= 5").spans
    assert {key: spans[key].text for key in ("data", "predict", "positive", "forbid:b", "test cost:c")} == {
        "data": 'data "heart.csv"',
        "predict": "disease",
        "positive": '"ill"',
        "forbid:b": "b",
        "test cost:c": "c",
    }


def test_include_makes_paths_relative_to_the_including_file(tmp_path: Path) -> None:
    (tmp_path / "shared" / "deep").mkdir(parents=True)
    (tmp_path / "main.tml").write_text('include "shared/columns.tml"\nmaximize accuracy\n')
    (tmp_path / "shared" / "columns.tml").write_text('treeml 1\ninclude "deep/data.tml"\npredict y\n')
    (tmp_path / "shared" / "deep" / "data.tml").write_text('data "rows.csv"\nvalidate on "../test.csv"\n')
    found, diagnostics = check_source(read(tmp_path / "main.tml"))
    assert diagnostics == []
    assert found is not None
    assert (found.folder / (found.data or "")) == tmp_path / "shared" / "deep" / "rows.csv"
    assert found.validate == "shared/deep/../test.csv"


def test_a_file_included_twice_gives_a_duplicate(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.tml").write_text('include "c.tml"\n')
    (tmp_path / "c.tml").write_text("column age : number\n")
    (tmp_path / "main.tml").write_text(f'{HEAD}{GOAL}include "a.tml"\ninclude "b.tml"\n')
    diagnostics = check_source(read(tmp_path / "main.tml"))[1]
    assert [diagnostic.code for diagnostic in diagnostics] == ["N209"]


def test_all_mistakes_are_raised_at_once_in_the_order_of_the_text() -> None:
    with pytest.raises(SpecError) as caught:
        checked(HEAD + "minimize leafs\nrequire depht <= 3\nsolve within 5\nreport trees")
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["N203", "N203", "T305", "N207"]
    assert caught.value.exit_code == 1


def test_contradictions_alone_are_infeasible() -> None:
    with pytest.raises(InfeasibleError) as caught:
        checked(HEAD + GOAL + "require depth <= 2\nrequire depth >= 3")
    assert caught.value.exit_code == 3
    with pytest.raises(SpecError) as caught_both:
        checked(HEAD + GOAL + "require depth <= 2\nrequire depth >= 3\nreport trees")
    assert not isinstance(caught_both.value, InfeasibleError)


def test_a_node_of_many_branches_has_many_leaves() -> None:
    text = HEAD + GOAL + "binarize sex by branches\nrequire leaves >= 3\nrequire depth <= "
    checked(text + "1")
    with pytest.raises(InfeasibleError):
        checked(text + "0")


@pytest.mark.parametrize(
    "share",
    [
        'precision("ill")',
        'npv("ill")',
        'f1("ill")',
        'jaccard("ill")',
        'rate(actual = "ill" given predicted = "ill")',
    ],
)
def test_a_share_of_predictions_never_contradicts_itself(share: str) -> None:
    """A tree without such predictions leaves it undefined, and meets every bound on it."""
    checked(HEAD + GOAL + f"require {share} >= 60%\nrequire {share} <= 40%")
    checked(HEAD + GOAL + f"require 60% <= {share} <= 40%")


def test_a_share_of_given_rows_contradicts_itself() -> None:
    share = 'rate(predicted = "ill" given actual = "ill")'
    with pytest.raises(InfeasibleError):
        checked(HEAD + GOAL + f"require {share} >= 60%\nrequire {share} <= 40%")


def test_warnings_come_back() -> None:
    spec, warnings = checked(HEAD + GOAL + "param unused = 3")
    assert spec.params == {"unused": 3}
    assert [(warning.code, warning.is_error) for warning in warnings] == [("L702", False)]


def test_target_may_come_with_the_data() -> None:
    assert checked(GOAL, has_target=True)[0].target is None
    with pytest.raises(SpecError):
        checked(GOAL)


def test_statements_without_places_are_quoted_as_they_print() -> None:
    statements = [
        Predict(Name("y")),
        Objective((GoalNode("maximize", Name("accuracy")),)),
        Require(Relation((Name("depth"), Number(Fraction("3.5"))), ("<",))),
    ]
    with pytest.raises(SpecError) as caught:
        check(statements)
    (found,) = caught.value.diagnostics
    assert found.code == "T303"
    assert found.labels[0].span.text == "< 3.5"


def test_checking_imports_no_data_library_and_no_solver() -> None:
    import subprocess
    import sys

    program = (
        "import sys\nfrom treeml.lang.check import check_source\nfrom treeml.lang.source_file import read\n"
        "for name in ('fair', 'deep', 'perfect'):\n    check_source(read(f'examples/{name}/{name}.tml'))\n"
        "heavy = {'numpy', 'polars', 'narwhals', 'ortools', 'pyscipopt', 'pysat', 'highspy', 'pandas', 'sklearn'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_a_param_of_an_included_file_may_serve_others(tmp_path: Path) -> None:
    (tmp_path / "shared.tml").write_text("param price = 0.01\n")
    (tmp_path / "main.tml").write_text(f'{HEAD}{GOAL}include "shared.tml"\n')
    assert check_source(read(tmp_path / "main.tml"))[1] == []


def test_a_sensitive_column_is_guarded_by_not_being_a_feature() -> None:
    text = HEAD + GOAL + "require depth <= 3\ncolumn sex : category, sensitive\n"
    assert codes(text) == ["L712"]
    assert codes(text + "features age, sex\n") == ["L712"]
    assert codes(text + "features age, bmi\n") == []
    assert codes(text + "features all except sex\n") == []


@pytest.mark.parametrize("limit", ["1.0000000000000001", "1.00000000000000000001"])
def test_a_limit_of_many_digits_is_shown_as_it_is(limit: str) -> None:
    """Rounded to six digits the message would say that no purity is 1."""
    from treeml.lang.quantities import decimal

    assert decimal(Fraction(limit)) == limit
