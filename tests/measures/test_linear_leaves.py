"""Linear leaves: the least squares over all trees, predictions, files, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.data import linear
from treeml.export import export
from treeml.lang.diagnostic import SpecError
from treeml.problem.linear_cost import LinearCost
from treeml.trees.leaf_lines import along_lines
from treeml.trees.nodes import TreeLeaf
from treeml.trees.tree import Tree

TEXT = "predict y\nminimize squared_loss\nforbid split on u, v\nrequire depth <= {}\n"


def rows_of(seed: int, rows: int = 24) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    table: dict[str, Any] = {f"b{number}": random.integers(0, 2, rows) for number in range(3)}
    table["u"], table["v"] = random.normal(size=rows).round(2), (10 * random.normal(size=rows)).round(1)
    slope = np.where(table["b0"] == 1, 2.0, -1.0)
    table["y"] = (slope * table["u"] + 0.3 * table["v"] * table["b1"] + 0.2 * random.normal(size=rows) + 7).round(3)
    table["w"] = random.integers(1, 4, rows)
    return table


def loss_of(table: dict[str, Any], rows: list[int], ridge: float, weight: Any) -> float:
    """Normal equations with an intercept that is free, over columns with mean 0 and variance 1."""
    every = np.column_stack([table["u"], table["v"]]).astype(float)
    middle = np.average(every, axis=0, weights=weight)
    every = (every - middle) / np.sqrt(np.average((every - middle) ** 2, axis=0, weights=weight))
    own, target, share = every[rows], table["y"][rows], np.asarray(weight, dtype=float)[rows]
    with_one = np.column_stack([np.ones(len(rows)), own])
    price = ridge * share.sum() * np.diag([0.0, 1.0, 1.0])
    line = np.linalg.pinv(with_one.T @ (share[:, None] * with_one) + price) @ with_one.T @ (share * target)
    return float(share @ (target - with_one @ line) ** 2 + line @ price @ line)


def divisions(table: dict[str, Any], rows: list[int], depth: int) -> list[list[list[int]]]:
    found = [[rows]]
    for name in ("b0", "b1", "b2") if depth else ():
        yes, no = ([row for row in rows if table[name][row] == value] for value in (1, 0))
        if len(yes) >= 4 and len(no) >= 4:
            found += [a + b for a, b in product(divisions(table, yes, depth - 1), divisions(table, no, depth - 1))]
    return found


def simple_loss_of(table: dict[str, Any], rows: list[int], ridge: float, weight: Any) -> float:
    """The same with one column, the better of the two."""
    losses = []
    for name in ("u", "v"):
        own, target, share = table[name].astype(float), table["y"][rows], np.asarray(weight, dtype=float)[rows]
        middle = np.average(own, weights=weight)
        scaled = ((own - middle) / np.sqrt(np.average((own - middle) ** 2, weights=weight)))[rows]
        scaled, rest = scaled - np.average(scaled, weights=share), target - np.average(target, weights=share)
        both, price = share @ (scaled * rest), ridge * share.sum()
        losses.append(share @ rest**2 - both**2 / (share @ scaled**2 + price))
    return float(min(losses))


@dataclass(frozen=True, slots=True)
class Asked:
    """A table with or without weights, a ridge and a spec, and the least loss by the definition."""

    table: dict[str, Any]
    weight: Any
    ridge: float
    text: str
    best: float


def asked(seed: int, leaves: str, loss: Callable[[dict[str, Any], list[int], float, Any], float]) -> Asked:
    table, depth, ridge = rows_of(seed), seed % 3, (0.0, 0.1)[seed % 2]
    weighted = seed >= 3
    weight = table["w"] if weighted else np.ones(24)
    every = divisions(table, list(range(24)), depth)
    best = min(sum(loss(table, rows, ridge, weight) for rows in parts) for parts in every)
    text = TEXT.format(depth) + f"require support >= 4\nleaves {leaves}(u, v, ridge = {ridge})\n"
    return Asked(table, weight, ridge, text + ("weight by w" if weighted else "features all except w"), best)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("backend", ["native", "oracle"])
def test_simple_models_have_one_column_per_leaf(backend: str, seed: int) -> None:
    case = asked(seed, "simple_linear", simple_loss_of)
    result = tml.parse(case.text).solve(case.table, backend=backend)
    assert result.status is tml.Status.OPTIMAL
    assert result.verified
    assert float(result.objective) == pytest.approx(case.best, rel=1e-9)
    assert all(len(leaf.slopes) == 1 for leaf in result.tree.leaves)
    again = Tree.from_json(result.tree.to_json())
    assert (again.predict(case.table) == result.tree.predict(case.table)).all()
    assert "mse" in tml.parse(case.text + "\nreport measures, mse").solve(case.table, backend=backend).measures


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("backend", ["native", "oracle"])
def test_the_best_tree_is_that_of_the_definition(backend: str, seed: int) -> None:
    case = asked(seed, "linear", loss_of)
    result = tml.parse(case.text).solve(case.table, backend=backend)
    assert result.status is tml.Status.OPTIMAL
    assert result.verified
    assert float(result.objective) == pytest.approx(case.best, rel=1e-7)
    if not case.ridge:
        squares = case.weight @ (result.tree.predict(case.table) - case.table["y"]) ** 2
        assert squares == pytest.approx(case.best, rel=1e-7)


def test_reported_measures_are_those_of_the_predictions() -> None:
    table = rows_of(1)
    text = TEXT.format(1) + "leaves linear(u, ridge = 0.5)\nreport measures, mse, rmse, r2, mean_absolute_error"
    result = tml.parse(text + "\nvalidate by folds(3, seed = 1)").solve(table)
    over = table["y"] - result.tree.predict(table)
    assert float(result.measures["mse"]) == pytest.approx(np.mean(over**2))
    assert float(result.measures["rmse"]) == pytest.approx(np.mean(over**2) ** 0.5)
    assert float(result.measures["mean_absolute_error"]) == pytest.approx(np.mean(np.abs(over)))
    assert float(result.measures["r2"]) == pytest.approx(1 - np.mean(over**2) / np.var(table["y"]))
    assert result.validation is not None
    assert result.validation.mean("mse") > 0


def test_the_tree_predicts_and_is_kept() -> None:
    table = rows_of(2)
    tree = tml.parse(TEXT.format(1) + "features all except w\nleaves linear").solve(table).tree
    assert {name for leaf in tree.leaves for name, _ in leaf.slopes} == {"u", "v"}
    again = Tree.from_json(tree.to_json())
    assert again == tree
    row = {name: values[0] for name, values in table.items()}
    leaf = tree.leaves[int(tree.apply(row)[0])]
    by_hand = leaf.prediction + sum(slope * row[name] for name, slope in leaf.slopes)
    assert again.predict(row)[0] == pytest.approx(by_hand)
    assert " * u" in str(tree)
    for form in ("text", "dot", "svg", "json"):
        assert export(tree, form)
    for form in ("sql", "c", "python", "pmml", "rules"):
        with pytest.raises(SpecError, match="linear models"):
            export(tree, form)


def test_a_file_with_a_wrong_slope_is_refused() -> None:
    table = rows_of(2)
    value = tml.parse(TEXT.format(0) + "leaves linear(u)").solve(table).tree.to_json()
    for slopes in ({"b0": 1.0}, {"u": "steep"}, [1.0]):
        value["root"]["slopes"] = slopes
        with pytest.raises(SpecError, match="slopes"):
            Tree.from_json(value)


def test_text_and_python_say_the_same() -> None:
    model = tml.Model().predict("y").minimize(tml.squared_loss).require(tml.depth <= 2)
    model.leaves("linear", "u", "net income", ridge=0.1)
    text = "predict y minimize squared_loss require depth <= 2 leaves linear(u, `net income`, ridge = 0.1)"
    assert model == tml.parse(text)
    assert tml.parse(str(model)) == model


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("minimize absolute_loss leaves linear(u)", "does not go with linear leaves"),
        ("minimize leaves leaves linear(u)", "need `squared_loss`"),
        ("minimize squared_loss leaves cubic(u)", "cannot follow"),
        ("minimize squared_loss leaves linear(u, u)", "each once"),
        ("minimize squared_loss leaves linear(u, lasso = 1)", "each once"),
        ("minimize squared_loss leaves linear(u, ridge = -1)", "not below 0"),
        ("minimize squared_loss leaves linear(y)", "not known for new rows"),
        ("minimize squared_loss column b0 : binary leaves linear(b0)", "does not hold numbers"),
        ("minimize squared_loss leaves linear(city)", "does not hold numbers"),
        ("minimize squared_loss leaves linear(nowhere)", "nowhere"),
        ("minimize squared_loss leaves linear(u) list 3 trees", "constant"),
        ("minimize squared_loss leaves linear(u) leaves linear(v)", "given twice"),
        ("minimize squared_loss features b0 leaves linear", "no column of numbers"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        tml.parse(f"predict y {text} require depth <= 1").solve({**rows_of(0), "city": ["Rome", "Oslo"] * 12})


@pytest.mark.parametrize("kind", [int, float, bool])
@pytest.mark.parametrize("named", ["b0", "b0, u"])
def test_columns_of_0_and_1_are_numbers(kind: type, named: str) -> None:
    """As in weights, clusters and targets; the answer is that of the column declared a number."""
    table = rows_of(5)
    text = f"predict y minimize squared_loss leaves linear({named}) require depth <= 1 require support >= 4 rows"
    truths = table["b0"].astype(kind)
    tree = tml.parse(text).solve({**table, "b0": truths}).tree
    assert tree == tml.parse(f"{text} column b0 : number").solve(table).tree
    assert any(dict(leaf.slopes).get("b0") for leaf in tree.leaves)
    again = Tree.from_json(tree.to_json())
    rows = {name: values for name, values in table.items() if name != "y"}
    expected = [
        leaf.prediction + sum(slope * rows[name][row] for name, slope in leaf.slopes)
        for row, leaf in enumerate(tree.leaves[place] for place in tree.apply(rows))
    ]
    assert again.predict({**rows, "b0": truths}) == pytest.approx(expected)


def test_rows_without_a_named_0_or_1_are_left_out_if_asked() -> None:
    table = rows_of(6)
    gaps = [None if row % 5 == 0 else int(value) for row, value in enumerate(table["b0"])]
    text = "predict y minimize squared_loss leaves linear(b0) require depth <= 1"
    with pytest.raises(SpecError, match="missing in `b0`"):
        tml.parse(text).solve({**table, "b0": gaps})
    kept = np.array([gap is not None for gap in gaps])
    found = tml.parse(f"{text} column b0 : missing drop").solve({**table, "b0": gaps})
    rest = tml.parse(text).solve({name: values[kept] for name, values in table.items()})
    assert found.objective == pytest.approx(rest.objective)


def test_python_refuses_other_models() -> None:
    model = tml.Model().predict("y").minimize(tml.squared_loss).require(tml.depth <= 1).leaves("cubic", "u")
    with pytest.raises(SpecError, match="leaves cannot be `cubic`"):
        model.solve(rows_of(0))


def test_solvers_of_models_refuse_it() -> None:
    with pytest.raises(SpecError, match="computes from the rows"):
        tml.parse(TEXT.format(1) + "leaves linear(u)").solve(rows_of(0), backend="cpsat")


def test_a_proof_states_the_rounding_of_floating_point() -> None:
    for backend in ("native", "oracle"):
        result = tml.parse(TEXT.format(1) + "leaves linear(u)").solve(rows_of(0), backend=backend)
        assert result.is_optimal
        assert 0 < result.tolerance < 1e-8
        assert "recomputed from the rows in floating point" in str(result)


EXACT = {"a": [0, 0, 0, 1, 1, 1], "u": [1.0, 2.0, 3.0, 1.0, 2.0, 3.5], "y": [0.3, 0.5, 0.7, 5.0, 3.0, 0.0]}


@pytest.mark.parametrize("backend", ["native", "oracle"])
@pytest.mark.parametrize("factor", ["", "1000 * ", "0.001 * "])
def test_lines_through_all_rows_are_the_best(factor: str, backend: str) -> None:
    """The squares are 0, of which rounding leaves 1e-30: no tree can be better, and the tolerance has their unit."""
    text = f"predict y leaves linear(u) minimize {factor}squared_loss require depth <= 1 features a"
    result = tml.parse(text).solve(EXACT, backend=backend)
    assert result.objective < 1e-20
    assert result.status is tml.Status.OPTIMAL
    weight = {"": 1, "1000 * ": 1000, "0.001 * ": 0.001}[factor]
    assert 1e-9 * weight < result.tolerance < 1e-7 * weight


@pytest.mark.parametrize("backend", ["native", "oracle"])
def test_what_an_outlier_hides_is_no_rounding(backend: str) -> None:
    """Alone in its leaf, the outlier adds nothing: the squares of the others are more than rounding leaves there."""
    table = {"a": [0, 0, 0, 0, 1], "u": [1.0, 2.0, 3.0, 4.0, 1.0], "y": [1.0, 7.0, 2.0, 8.0, 1e9]}
    text = "predict y column a : number leaves linear(u) minimize squared_loss require depth <= 1 features a"
    result = tml.parse(text).solve(table, backend=backend)
    assert 10 < result.objective < 40 < result.tolerance * result.objective
    assert result.status is tml.Status.FEASIBLE
    assert result.bound is None or result.bound == 0


@pytest.mark.parametrize("backend", ["native", "oracle"])
@pytest.mark.parametrize("leaves", ["linear(u)", "linear(u, ridge = 0.5)", "simple_linear(u, v)"])
def test_numbers_far_from_0_keep_the_digits_in_which_they_differ(leaves: str, backend: str) -> None:
    """Dates in milliseconds, say: the loss is that of the same numbers counted from another day."""
    random = np.random.default_rng(7)
    u, v, y = (random.integers(0, most, 24).astype(float) for most in (9, 9, 6))
    near = {"u": u, "v": v / 8, "y": y}
    far = {"u": near["u"] + 2.0**50, "v": near["v"] + 2.0**45, "y": near["y"] + 1e15}
    text = f"predict y leaves {leaves} minimize squared_loss require depth <= 1 require support >= 5 rows features a"
    tests = {"a": np.arange(24) % 6}
    here, there = (tml.parse(text).solve({**tests, **numbers}, backend=backend) for numbers in (near, far))
    assert there.objective == pytest.approx(here.objective, rel=1e-10)
    assert there.is_optimal
    for one, other in zip(here.tree.leaves, there.tree.leaves, strict=True):
        assert dict(other.slopes) == pytest.approx(dict(one.slopes))


def test_targets_of_many_digits_keep_them_in_linear_models() -> None:
    """In units of their last digit the targets are beyond 2^53, so that floats of them lose digits."""
    table = {"u": [1.0, 2.0, 4.0, 7.0, 3.0], "y": [1e6 + part * 1e-10 for part in (8641, 2603, 8137, 993, 5001)]}
    result = tml.parse("predict y leaves linear(u) minimize squared_loss require depth <= 0 features u").solve(table)
    exact = np.array([float(Fraction(repr(y)) - 1_000_000) for y in table["y"]])
    left = np.column_stack([np.ones(5), table["u"]])
    rest = exact - left @ np.linalg.lstsq(left, exact, rcond=None)[0]
    assert result.objective == pytest.approx(float(rest @ rest), rel=1e-9, abs=0)


def test_the_model_of_a_leaf_is_fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fits, fitted = [], linear._fitted

    def counted(columns: linear.LinearColumns, rows: np.ndarray) -> linear.LeafLine:
        fits.append(rows.tobytes())
        return fitted(columns, rows)

    monkeypatch.setattr(linear, "_fitted", counted)
    random = np.random.default_rng(2)
    side, x = random.integers(0, 2, 40), random.normal(size=40).round(2)
    model = tml.parse("predict y minimize squared_loss require depth <= 1 forbid split on x leaves linear(x)")
    result = model.solve({"side": side, "x": x, "y": np.where(side == 1, x, -x)})
    assert result.is_optimal
    assert len(fits) == len(set(fits)) == 2


FAR = {
    "floats": (1e15, 0.125),
    "dates of one minute": (1e9, 1e-6),
    "whole numbers that are no floats": (10**18, 1),
    "whole numbers below 0": (-(10**18), 1),
}


@pytest.mark.parametrize("leaves", ["linear(u)", "linear(u, v)", "simple_linear(u, v)"])
@pytest.mark.parametrize(("offset", "step"), FAR.values(), ids=FAR)
def test_predictions_over_numbers_far_from_0_are_those_that_are_measured(offset: Any, step: Any, leaves: str) -> None:
    """The intercept of a line is as far from 0 as the column: rounded, it would be worth no digit of a prediction."""
    random = np.random.default_rng(3)
    u, v, y = (random.integers(0, most, 24) for most in (9, 9, 6))
    near = {"a": np.arange(24) % 6, "u": u * step, "v": v * 1.0, "y": y * 1.0}
    far = {**near, "u": offset + u * step}
    near["u"] = np.array([float(Fraction(each.item()) - Fraction(offset)) for each in far["u"]])
    text = f"predict y leaves {leaves} minimize squared_loss require depth <= 1 require support >= 5 rows features a"
    here, there = (tml.parse(text + "\nreport measures, mse").solve(rows) for rows in (near, far))
    assert there.verified
    assert there.objective == pytest.approx(here.objective, rel=1e-9)
    rows = {"a": far["a"], "u": far["u"], "v": far["v"]}
    for tree in (there.tree, Tree.from_json(there.tree.to_json())):
        assert ((tree.predict(rows) - far["y"]) ** 2).sum() == pytest.approx(float(here.objective), rel=1e-9)
    assert float(there.measures["mse"]) == pytest.approx(float(here.measures["mse"]), rel=1e-9)
    assert "(u " in there.tree.to_text()
    assert "(u " not in here.tree.to_text()


def test_a_tree_without_centers_predicts_as_before_and_wrong_centers_are_refused() -> None:
    table = {"u": 10**15 + np.arange(6), "y": np.array([0.0, 2.0, 4.0, 6.0, 8.0, 11.0])}
    model = tml.parse("predict y leaves linear(u) minimize squared_loss require depth <= 0 features u")
    written = model.solve(table).tree.to_json()
    assert set(written["root"]["centers"]) == {"u"}
    moved = {**written, "root": {**written["root"], "slopes": {"u": 2.0}, "predict": 1.0, "exact": [1]}}
    del moved["root"]["centers"]
    assert Tree.from_json(moved).predict({"u": [3]}) == [7.0]
    for centers, said in (({"v": 1}, "names `v`, which has no slope"), ({"u": "1"}, "not a number")):
        wrong = {**written, "root": {**written["root"], "centers": centers}}
        with pytest.raises(SpecError, match=said):
            Tree.from_json(wrong)


def test_distances_of_whole_numbers_and_floats_from_centers_are_exact() -> None:
    leaves = [TreeLeaf(0.0, slopes=(("u", 1.0),), centers=(("u", center),)) for center in (10**18 + 3, 0.5, -(2**60))]
    reached = np.array([0, 0, 1, 2, 0])
    whole = np.array([10**18 + 5, 10**18 - 4, 7, -(2**60) + 1, -(2**63)])
    assert along_lines(leaves, reached, lambda _: whole).tolist() == [2, -7, 6.5, 1, float(-(2**63) - 10**18 - 3)]
    floats = np.array([1e18, 2e18, 0.75, 0.0, np.nan])
    added = along_lines(leaves, reached, lambda _: floats)
    assert added[:4].tolist() == [-3, float(10**18 - 3), 0.25, 2.0**60]
    assert np.isnan(added[4])


@pytest.mark.parametrize("backend", ["native", "oracle"])
@pytest.mark.parametrize("leaves", ["linear(u)", "linear(u, ridge = 0.5)", "simple_linear(u)"])
def test_rows_that_weigh_nothing_cost_nothing(leaves: str, backend: str) -> None:
    """Also in a leaf of their own, beside leaves whose loss is nothing but rounding."""
    table = {
        "a": [2, 2, 0, 1, 1, 2],
        "b": [1, 1, 2, 1, 1, 2],
        "w": [1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        "u": [2, 4, 1, 6, 0, 6],
        "y": [-3.0, 9.0, 19.0, -1.0, 19.0, 2.0],
    }
    text = f"predict y weight by w leaves {leaves} forbid split on u minimize squared_loss require depth <= 2"
    one = tml.parse(text).solve(table, backend=backend)
    several = tml.parse(text + " require leaves >= 3").solve(table, backend="oracle")
    assert several.objective == pytest.approx(one.objective, abs=1e-20)
    assert len(several.tree.leaves) >= 3
    if not leaves.endswith("0.5)"):
        assert one.objective < 1e-20


@pytest.mark.parametrize("offset", [0, 1_700_000_000_000])
def test_residuals_of_the_model_of_all_rows_are_what_its_loss_adds_up(offset: int) -> None:
    random = np.random.default_rng(3)
    x = random.integers(0, 1000, 60)
    y = 0.5 * x + random.normal(size=60)
    values, base = linear.without_base(x + offset)
    columns = linear.LinearColumns.of(("x",), values[:, None], y, np.ones(60), ridge=0.0, base=(base,))
    residuals = LinearCost(columns).residuals()
    assert (residuals**2).sum() == pytest.approx(linear.fitted(columns, np.arange(60)).loss)
    assert abs(residuals.mean()) < 1e-6
