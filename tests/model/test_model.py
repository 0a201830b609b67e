"""A model built in Python equals the model parsed from the text that it prints."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest

import treeml as tml
from treeml.lang import syntax as s
from treeml.lang.measures import MEASURES


def plain() -> tml.Model:
    model = tml.Model()
    model.data("heart.csv")
    model.predict("disease")
    model.maximize(tml.accuracy)
    model.require(tml.depth <= 3)
    return model


def perfect() -> tml.Model:
    model = tml.Model()
    model.data("monk1.csv")
    model.predict("class")
    model.minimize(tml.depth)
    model.then_minimize(tml.leaves)
    model.require(tml.errors == 0)
    model.solve_with("maxsat", "cpsat", within="5 min")
    return model


def sparse() -> tml.Model:
    model = tml.Model()
    price = model.param("price", 0.01, low=0, high=0.5)
    max_depth = model.param("max_depth", 6, low=1, high=12)
    model.data("compas.csv")
    model.predict("two_year_recid", positive="yes")
    model.features(excluding=["id", "name"])
    model.binarize(by=tml.method("quantiles", 8))
    model.minimize(tml.error_rate + price * tml.leaves)
    model.require(tml.depth <= max_depth)
    model.require(tml.support >= tml.percent(1))
    return model


def fair() -> tml.Model:
    model = tml.Model()
    tolerance = model.param("tolerance", tml.percent(5))
    model.data("adult.csv")
    model.predict("income", positive=">50K")
    model.column("sex", "category", sensitive=True)
    model.column("hours per week", "number")
    model.binarize("age", at=[25, 35, 45, 55, 65])
    model.binarize("hours per week", by=tml.method("quantiles", 4))
    model.maximize(tml.balanced_accuracy)
    model.require(tml.depth <= 3)
    model.require(tml.parity_gap("sex") <= tolerance, name="parity")
    model.require(tml.opportunity_gap("sex") <= 2 * tolerance, name="chance")
    model.require(tml.recall(">50K") >= tml.percent(40), name="caught")
    model.forbid("sex")
    return model


def costs() -> tml.Model:
    model = tml.Model()
    model.data("diabetes.csv")
    model.predict("outcome", positive="ill")
    model.weight_by("survey_weight")
    model.cost(predict="healthy", when="ill", cost=50)
    model.cost(predict="ill", when="healthy", cost=1)
    model.test_cost("insulin", 12)
    model.minimize(tml.mistake_cost + tml.test_cost)
    model.require(tml.depth <= 4)
    model.require(tml.support >= tml.rows(20))
    return model


def quantile() -> tml.Model:
    model = tml.Model()
    level = model.param("level", 0.9, low=0.01, high=0.99)
    model.data("deliveries.csv")
    model.predict("minutes")
    model.minimize(tml.quantile_loss(level))
    model.require(tml.depth <= 3)
    model.require(tml.support >= tml.rows(50))
    model.validate("folds", 5, seed=1)
    return model


def boost() -> tml.Model:
    model = tml.Model()
    model.data("spambase.csv")
    model.predict("spam", positive=1)
    model.ensemble("lpboost", penalty=0.05)
    model.maximize(tml.margin)
    model.require(tml.depth <= 2)
    model.solve_with("native", within=tml.minutes(10), seed=7)
    model.validate("holdout", tml.percent(20), seed=7)
    return model


def deep() -> tml.Model:
    model = tml.Model()
    model.include("columns.tml")
    model.set("price", 0.001)
    model.start_from("cart", depth=10)
    model.improve("subtrees", depth=3, rows=5_000, rounds=50, within=20)
    model.minimize(tml.error_rate + tml.column("price") * tml.leaves)
    model.require(tml.depth <= 10)
    model.solve_with(tml.method("native", cache=2_000_000), within="10 min", gap=tml.percent(1), threads=2)
    model.report("tree", "confusion", "timeline")
    return model


EXAMPLES = {
    plain: """
# plain.tml: the most accurate tree of depth three
data "heart.csv"
predict disease
maximize accuracy
require depth <= 3
""",
    perfect: """
# perfect.tml: the shallowest perfect tree, and the smallest of those
data "monk1.csv"
predict class
minimize depth
then minimize leaves
require errors = 0
solve with maxsat, cpsat within 5 min
""",
    sparse: """# sparse.tml: a leaf must pay for itself
treeml 1
param price     = 0.01 in 0 .. 0.5    # accuracy one leaf must earn
param max_depth = 6 in 1 .. 12
data "compas.csv"
predict two_year_recid is "yes"
features all except id, name
binarize all by quantiles(8)
minimize error_rate + price * leaves
require depth <= max_depth
require support >= 1%
""",
    fair: """
# fair.tml: an accurate tree that favors neither group
param tolerance = 5%
data "adult.csv"
predict income is ">50K"
column sex : category, sensitive
column `hours per week` : number
binarize age at 25, 35, 45, 55, 65
binarize `hours per week` by quantiles(4)
maximize balanced_accuracy
require depth <= 3
require parity: parity_gap(sex) <= tolerance
require chance: opportunity_gap(sex) <= 2 * tolerance
require caught: recall(">50K") >= 40%
forbid split on sex
""",
    costs: """
# costs.tml: missing an illness costs fifty false alarms; tests are not free
data "diabetes.csv"
predict outcome is "ill"
weight by survey_weight
cost predict "healthy" when "ill" = 50
cost predict "ill" when "healthy" = 1
cost test insulin = 12
minimize mistake_cost + test_cost
require depth <= 4
require support >= 20 rows
""",
    quantile: """
# quantile.tml: the 90th percentile of delivery time
param level = 0.9 in 0.01 .. 0.99
data "deliveries.csv"
predict minutes
minimize quantile_loss(level)
require depth <= 3
require support >= 50 rows
validate by folds(5, seed = 1)
""",
    boost: """
# boost.tml: a forest whose margin is provably the best
data "spambase.csv"
predict spam is 1
ensemble by lpboost(penalty = 0.05)
maximize margin
require depth <= 2
solve with native within 10 min seed 7
validate by holdout(20%, seed = 7)
""",
    deep: """
# deep.tml: grown greedily, mended one exact subtree at a time
include "columns.tml"
set price = 0.001
start from cart(depth = 10)
improve by subtrees(depth = 3, rows = 5_000, rounds = 50) within 20 s
minimize error_rate + price * leaves
require depth <= 10
solve with native(cache = 2_000_000) within 10 min gap 1% threads 2
report tree, confusion, timeline
""",
}


@pytest.mark.parametrize("build", EXAMPLES, ids=lambda build: build.__name__)
def test_the_example_in_text_and_in_python_are_one_model(build):
    model, text = build(), EXAMPLES[build]
    assert model == tml.parse(text)
    assert tml.parse(str(model)) == model
    assert str(tml.parse(text)) == str(model)
    assert model.statements != tml.Model().statements


def test_a_model_prints_as_canonical_text():
    assert str(plain()) == 'data "heart.csv"\npredict disease\nmaximize accuracy\nrequire depth <= 3'
    assert str(perfect()).splitlines()[2:4] == ["minimize depth", "then minimize leaves"]


def test_order_and_version_do_not_change_a_model():
    assert tml.parse("treeml 1 satisfy require depth <= 3") == tml.parse("require depth <= 3\nsatisfy")


def test_a_repeated_statement_differs_from_a_single_one():
    once, twice = tml.Model().predict("y"), tml.Model().predict("y").predict("y")
    assert once != twice
    assert once != "predict y"


def test_units_are_part_of_a_statement():
    assert tml.Model().set("x", 0.05) != tml.Model().set("x", tml.percent(5))
    assert tml.parse("set x = 0.050") == tml.Model().set("x", 0.05)


def test_bindings_are_kept_apart(tmp_path):
    path = tmp_path / "fair.tml"
    path.write_text(EXAMPLES[fair])
    model = tml.load(path, tolerance=0.02)
    assert model.bindings == {"tolerance": 0.02}
    assert model.folder == tmp_path
    assert model == fair()
    assert fair().bind(tolerance=0.1).bindings == {"tolerance": 0.1}


def test_loading_what_is_wrong_names_every_mistake(tmp_path):
    path = tmp_path / "wrong.tml"
    path.write_text("predict y\nrequires depth <= 3\nmaximize acuracy\n")
    with pytest.raises(tml.SpecError) as raised:
        tml.load(path)
    assert [found.code for found in raised.value.diagnostics] == ["S101", "N203"]


@pytest.mark.parametrize(
    ("requirement", "text"),
    [
        (tml.depth <= 3, "depth <= 3"),
        (2 <= tml.leaves, "leaves >= 2"),  # noqa: SIM300 - Python turns it around
        (tml.leaves < 8, "leaves < 8"),
        (tml.leaves > tml.depth, "leaves > depth"),
        (tml.between(2, tml.leaves, 8), "2 <= leaves <= 8"),
        (tml.uses("age"), "uses(age)"),
        (tml.monotone("income", "increasing"), "monotone(income, increasing)"),
        (tml.monotone(column="a b", direction="decreasing"), "monotone(`a b`, decreasing)"),
        (tml.recall(1) >= 0.4, "recall(1) >= 0.4"),
        (tml.recall(-1) >= 0.4, "recall(-1) >= 0.4"),
        (tml.precision('a"b') >= tml.percent(40), 'precision("a\\"b") >= 40%'),
        (tml.cluster_loss("a", "b") <= 5, "cluster_loss(a, b) <= 5"),
        (
            tml.cluster_loss(columns=["a", "b"], distance="absolute") <= 5,
            "cluster_loss(a, b, distance = absolute) <= 5",
        ),
        (
            tml.rate(predicted="yes", given={"sex": "F", "actual": "yes"}) <= tml.percent(5),
            'rate(predicted = "yes" given sex = "F", actual = "yes") <= 5%',
        ),
        (
            tml.rate(predicted="yes", given={"sex": "F"}) - tml.rate(predicted="yes", given={"sex": "M"}) <= 0.05,
            'rate(predicted = "yes" given sex = "F") - rate(predicted = "yes" given sex = "M") <= 0.05',
        ),
        (
            tml.count(tml.column("age") >= 40, predicted=1, given=[tml.column("a b") == "x", {"c": 2}]) <= 5,
            'count(age >= 40, predicted = 1 given `a b` = "x", c = 2) <= 5',
        ),
        (tml.errors / 2 - (tml.leaves - 1) * -3 <= +tml.depth, "errors / 2 - (leaves - 1) * -3 <= depth"),
        (1 - tml.accuracy <= 1 / (2 * tml.depth), "1 - accuracy <= 1 / (2 * depth)"),
        (-(tml.depth + 1) >= -5, "-(depth + 1) >= -5"),
        (tml.error_rate <= Fraction(1, 3), "error_rate <= 1 / 3"),
        (tml.error_rate <= 1e-7, "error_rate <= 0.0000001"),
    ],
)
def test_requirements_read_like_the_language(requirement, text):
    model = tml.Model().require(requirement, name="it")
    assert str(model) == f"require it: {text}"
    assert tml.parse(str(model)) == model


def test_the_remaining_statements():
    model = tml.Model()
    mode = model.param("mode", "fast", domain=["fast", "slow", -1], type="category")
    assert str(mode) == "mode"
    model.param("free", type="number", low=-1, high=1)
    model.features("a", "b c", "all")
    model.column("c", "integer", missing="median")
    model.weight_class("ill", 2.5)
    model.weight_class(0, 3)
    model.binarize("a", by="thresholds")
    model.satisfy()
    model.forbid("a", "b c")
    model.ensemble(tml.method("mdboost", penalty=0.1), trees=50)
    model.start_from("best/tree.json")
    model.validate(on="test.csv")
    model.improve("subtrees", within=tml.hours(1))
    model.maximize(tml.accuracy).then_maximize(tml.support)
    model.solve_with(gap=0.01, threads=2, within=90)
    assert str(model).splitlines() == [
        "param free : number in -1 .. 1",
        'param mode : category = "fast" in {"fast", "slow", -1}',
        "features a, `b c`, `all`",
        "column c : integer, missing median",
        'weight class "ill" = 2.5',
        "weight class 0 = 3",
        "binarize a by thresholds",
        "maximize accuracy",
        "then maximize support",
        "satisfy",
        "forbid split on a, `b c`",
        "ensemble up to 50 trees by mdboost(penalty = 0.1)",
        'start from "best/tree.json"',
        "improve by subtrees within 1 h",
        'validate on "test.csv"',
        "solve within 90 s gap 0.01 threads 2",
    ]
    assert tml.parse(str(model)) == model


@pytest.mark.parametrize("kind", ["int64", "float64", "float32"])
def test_numbers_of_numpy_are_read_as_they_print(kind):
    import numpy

    model = (
        tml.Model()
        .require(tml.depth <= getattr(numpy, kind)(3))
        .set("x", getattr(numpy, kind)(0.1 if "f" in kind else 1))
    )
    assert tml.parse(str(model)) == model
    assert str(model) in ("set x = 0.1\nrequire depth <= 3", "set x = 1\nrequire depth <= 3")


def test_numbers_of_numpy_may_stand_on_the_left():
    import numpy

    two = numpy.float64(2)
    model = (
        tml.Model().minimize(two * tml.leaves + numpy.int64(1)).require(two <= tml.depth).require(two - tml.depth <= 1)
    )
    assert str(model).splitlines() == ["minimize 2 * leaves + 1", "require 2 - depth <= 1", "require depth >= 2"]


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        (lambda: 2 <= tml.leaves <= 8, TypeError, "tml.between"),
        (lambda: bool(tml.leaves), TypeError, "no value before the model is solved"),
        (lambda: tml.leaves != 8, TypeError, "no `!=`"),
        (lambda: tml.leaves + "8", TypeError, "is text"),
        (lambda: tml.leaves + (tml.depth <= 3), TypeError, "is a comparison"),
        (lambda: tml.leaves + tml.recall, TypeError, r"recall needs arguments: recall\(class\)"),
        (lambda: tml.recall(), TypeError, r"needs 'class': recall\(class\)"),
        (lambda: tml.recall("a", "b"), TypeError, "takes fewer arguments"),
        (lambda: tml.recall(klass="a"), TypeError, "no argument 'klass'"),
        (lambda: tml.recall("a", given={"b": 1}), TypeError, "only count and rate"),
        (lambda: tml.rate(), TypeError, "needs a condition"),
        (lambda: tml.rate("yes"), TypeError, "is not a condition"),
        (lambda: tml.uses(3), TypeError, "is text, not 3"),
        (lambda: tml.uses(""), ValueError, "is empty"),
        (lambda: tml.monotone("a", "up"), ValueError, "increasing, decreasing"),
        (lambda: tml.leaves * float("nan"), ValueError, "not a finite number"),
        (lambda: tml.leaves * float("inf"), ValueError, "not a finite number"),
        (lambda: tml.leaves * True, TypeError, "not a number"),
        (lambda: tml.leaves * None, TypeError, "not a number"),
        (lambda: tml.quantity(3, "miles"), ValueError, "no unit"),
        (lambda: tml.Model().require(True), TypeError, "not a requirement"),
        (lambda: tml.Model().require(tml.depth <= 3, name="a b"), ValueError, "cannot name a requirement"),
        (lambda: tml.Model().param("a b"), ValueError, "cannot name a param"),
        (lambda: tml.Model().param("a", low=1), ValueError, "both low and high"),
        (lambda: tml.Model().param("a", domain=[]), ValueError, "is empty"),
        (lambda: tml.Model().param("a", tml.leaves + 1), TypeError, "plain value"),
        (lambda: tml.Model().set("a", Fraction(1, 3)), TypeError, "plain value"),
        (lambda: tml.Model().column("a", "float"), ValueError, "no type is called 'float'"),
        (lambda: tml.Model().binarize("a"), TypeError, "either by=... such|either by="),
        (lambda: tml.Model().binarize("a", at=[]), ValueError, "at least one cut"),
        (lambda: tml.Model().forbid(), TypeError, "at least one column"),
        (lambda: tml.Model().report(), TypeError, "at least one thing"),
        (lambda: tml.Model().validate(), TypeError, "either a method"),
        (lambda: tml.Model().then_minimize(tml.depth), ValueError, "call minimize or maximize first"),
        (lambda: tml.Model().solve_with("c p"), ValueError, "cannot name a method"),
        (lambda: tml.Model().solve_with(within="soon"), ValueError, "is not a time"),
        (lambda: tml.Model().minimize(sum([tml.leaves] * 500)), ValueError, "nested more than 200"),
        (lambda: tml.Model().minimize(tml.leaves * 10**600), ValueError, "at most 500 digits"),
        (lambda: tml.leaves * 10**5000, ValueError, "at most 500 digits"),
        (lambda: tml.leaves * Fraction(1, 10**5000), ValueError, "at most 500 digits"),
        (lambda: tml.leafs, AttributeError, "did you mean leaves"),
        (lambda: hash(tml.leaves), TypeError, "unhashable"),
    ],
)
def test_mistakes_in_python_get_a_message(wrong, kind, message):
    with pytest.raises(kind, match=message):
        wrong()


def test_every_measure_is_a_name_of_the_package():
    for name in MEASURES:
        assert name in dir(tml)
        assert getattr(tml, name) is not None
    assert repr(tml.leaves) == "<leaves>"
    assert repr(tml.recall).startswith("<recall(...): share of the class")
    assert repr(tml.depth <= 3) == "<depth <= 3>"
    assert repr(plain()) == "<Model of 4 statements>"


def test_measures_written_in_python_are_the_nodes_of_the_parser():
    (require,) = tml.parse("require parity_gap(sex) <= 2 * tolerance").statements
    built = tml.parity_gap("sex") <= 2 * tml.column("tolerance")
    assert built.node == require.condition
    assert isinstance(built.node, s.Relation)


def test_importing_and_parsing_loads_nothing_heavy():
    program = (
        "import sys, treeml; few = len(sys.modules); model = treeml.parse('maximize accuracy require depth <= 3');"
        "heavy = {'numpy', 'polars', 'narwhals', 'ortools', 'pyscipopt', 'pysat', 'highspy', 'sklearn', 'pandas'};"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_cached_check_of_1_is_not_used_for_true() -> None:
    model = tml.Model()
    deepest = model.param("deepest", 1)
    model.predict("label").minimize(tml.errors).require(tml.depth <= deepest)
    model.check(params={"deepest": 1})
    with pytest.raises(tml.SpecError, match='`deepest` is a number, but the call gives "true"'):
        model.check(params={"deepest": True})
    model.check(params={"deepest": 1.0})
