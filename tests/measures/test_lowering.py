"""Lowering: what becomes of each kind of requirement, and what cannot be asked of the data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.data.bind import bind
from treeml.data.table import Column, Dataset, Table
from treeml.lang.diagnostic import DataError, RefusedError
from treeml.lang.spec import CheckedGoal, Condition, Linear, Requirement, Spec, Use
from treeml.measures.lower import lower_goal, lower_requirement
from treeml.measures.lower_dataset import lower
from treeml.measures.lowerings import lower_measure
from treeml.problem import terms
from treeml.problem.terms import Depth, Largest, Leaves, Loss, Predicted, Ratio, Support, Used

ONE = Fraction(1)


def column(name: str, levels: tuple[Any, ...], codes: list[int], kind: str = "category") -> Column:
    return Column(name, kind, np.array(codes, dtype=np.int32), levels)


def data(weights: list[float] | None = None, **spec: Any) -> Dataset:
    """Six rows: women are three, of whom two are `yes`; men are three, of whom one is; a group Z is empty."""
    columns = [
        column("sex", ("F", "M", "Z"), [0, 0, 0, 1, 1, 1]),
        column("y", ("no", "yes"), [1, 1, 0, 1, 0, 0]),
        Column("age", "number", np.array([20.0, 30.0, 40.0, 50.0, 60.0, 70.0])),
    ]
    if weights is not None:
        columns.append(Column("w", "number", np.array(weights)))
        spec["weight_column"] = "w"
    spec.setdefault("goals", (CheckedGoal("minimize", Linear(((ONE, Use("errors")),))),))
    return bind(Spec(target="y", positive="yes", **spec), Table({each.name: each for each in columns}, 6, "six.csv"))


def bounds(expression: Linear | Use, sense: str, limit: str, dataset: Dataset | None = None, **more: Any) -> Any:
    linear = expression if isinstance(expression, Linear) else Linear(((ONE, expression),))
    bound_data = dataset or data()
    requirement = Requirement(linear, sense, Fraction(limit), "r", **more)
    return lower_requirement(requirement, bound_data, lower(bound_data).problem.features)


def test_errors_are_weights_off_the_diagonal() -> None:
    (factor, term), *rest = lower_measure(Use("errors"), data([1, 1, 2.5, 1, 1, 1]), ()).parts
    assert not rest
    assert isinstance(term, Predicted)
    assert (factor * term.scale * term.cost).tolist() == [[1, 0], [1, 0], [0, Fraction("2.5")], [1, 0], [0, 1], [0, 1]]
    assert term.cost.dtype == np.int64


def test_maximizing_accuracy_is_minimizing_errors() -> None:
    goal = lower_goal(CheckedGoal("maximize", Linear(((ONE, Use("accuracy")),)), "accuracy"), data(), ())
    ((factor, term),) = goal.sum.parts
    assert goal.negated
    assert isinstance(term, Predicted)
    assert (goal.sum.constant, factor, term.scale) == (-1, 1, Fraction(1, 6))
    assert term.cost.min() == 0


def test_like_terms_are_added_up() -> None:
    parts = (
        (ONE, Use("errors")),
        (Fraction(-1, 3), Use("recall", ("yes",))),
        (Fraction("0.01"), Use("leaves")),
        (Fraction("0.02"), Use("splits")),
        (Fraction(1), Use("depth")),
        (Fraction(-1), Use("depth")),
    )
    lowered = lower_goal(CheckedGoal("minimize", Linear(parts)), data(), ()).sum
    assert [type(term) for _, term in lowered.parts] == [Predicted, Leaves]
    assert lowered.constant == Fraction("-0.02")
    predicted = lowered.parts[0][1]
    assert isinstance(predicted, Predicted)
    assert predicted.scale == Fraction(1, 9)
    assert predicted.cost[:, 0].tolist() == [9, 9, 0, 9, 0, 0]
    assert predicted.cost[:, 1].tolist() == [-1, -1, 9, -1, 9, 9]


def test_a_gap_is_one_bound_per_ordered_pair_in_whole_numbers() -> None:
    found = bounds(Use("parity_gap", ("sex",)), "<=", "0.05")
    assert len(found) == 2
    assert {bound.limit for bound in found} == {Fraction("0.05")}
    term = found[0].sum.parts[0][1]
    assert term.cost[:, 1].tolist() == [1, 1, 1, -1, -1, -1]
    assert term.scale == Fraction(1, 3)
    assert not term.cost[:, 0].any()


def test_odds_compare_both_sides() -> None:
    assert len(bounds(Use("odds_gap", ("sex",)), "<=", "0.05")) == 4


def test_a_lower_bound_on_a_gap_is_not_rewritten() -> None:
    (bound,) = bounds(Use("parity_gap", ("sex",)), ">=", "0.05")
    assert bound.sum.kinds() == {"Largest"}
    assert bounds(Use("parity_gap", ("sex",)), ">=", "0") == []


def test_an_exact_gap_becomes_two_bounds() -> None:
    found = bounds(Use("parity_gap", ("sex",)), "=", "0.05")
    assert [bound.sense for bound in found] == ["<=", "<=", ">="]
    assert [bound.sense for bound in bounds(Use("parity_gap", ("sex",)), "=", "0")] == ["<=", "<="]


def test_gaps_in_a_sum_are_bounded_for_every_choice() -> None:
    gap = Use("parity_gap", ("sex",))
    found = bounds(Linear(((ONE, gap), (Fraction(2), Use("odds_gap", ("sex",))), (ONE, Use("error_rate")))), "<=", "1")
    assert len(found) == 2 * 4
    assert all(bound.sum.kinds() == {"Predicted"} for bound in found)
    (kept,) = bounds(Linear(((ONE, gap), (ONE, Use("error_rate")))), ">=", "1")
    assert kept.sum.kinds() == {"Predicted", "Largest"}


def test_gap_as_a_goal_is_the_largest_difference() -> None:
    ((_, term),) = lower_measure(Use("parity_gap", ("sex",)), data(), ()).parts
    assert isinstance(term, Largest)
    assert len(term.parts) == 2


def test_precision_is_a_ratio_and_its_bound_is_linear() -> None:
    use = Use("precision", ("yes",))
    ((_, term),) = lower_measure(use, data(), ()).parts
    assert isinstance(term, Ratio)
    (bound,) = bounds(use, ">=", "0.75")
    ((_, predicted),) = bound.sum.parts
    assert (bound.sense, bound.limit) == (">=", 0)
    assert (predicted.scale * predicted.cost[:, 1]).tolist() == [
        Fraction(1, 4), Fraction(1, 4), Fraction(-3, 4), Fraction(1, 4), Fraction(-3, 4), Fraction(-3, 4),
    ]  # fmt: skip
    (turned,) = bounds(Linear(((Fraction(-2), use),), ONE), "<=", "-0.5")
    assert (turned.sense, turned.sum.parts[0][1].cost.tolist()) == (">=", predicted.cost.tolist())


def test_a_share_of_the_rows_is_rounded_up() -> None:
    (bound,) = bounds(Use("support"), ">=", "0.2", share_of_rows=True)
    assert (bound.limit, type(bound.sum.parts[0][1])) == (2, Support)


def test_constants_move_to_the_limit() -> None:
    (bound,) = bounds(Use("splits"), "<=", "3")
    assert (bound.limit, bound.sum.constant, type(bound.sum.parts[0][1])) == (4, 0, Leaves)
    (depth,) = bounds(Use("depth"), "<=", "3")
    assert isinstance(depth.sum.parts[0][1], Depth)


def test_columns_become_features() -> None:
    dataset = data(test_costs={"age": Fraction("1.5"), "sex": Fraction(1, 3)})
    features = lower(dataset).problem.features
    assert [feature.name for feature in features] == ["sex", "age"]
    ((_, used),) = lower_measure(Use("uses", ("age",)), dataset, features).parts
    assert isinstance(used, Used)
    assert used.features == {1}
    ((_, every),) = lower_measure(Use("features_used"), dataset, features).parts
    assert isinstance(every, Used)
    assert every.features == {0, 1}
    ((_, cost),) = lower_measure(Use("test_cost"), dataset, features).parts
    assert isinstance(cost, terms.TestCost)
    assert [cost.scale * each for each in cost.costs] == [Fraction(1, 3), Fraction("1.5")]


def test_a_forbidden_column_counts_as_unused_and_monotone() -> None:
    dataset = data(forbidden=("age",))
    features = lower(dataset).problem.features
    ((_, used),) = lower_measure(Use("uses", ("age",)), dataset, features).parts
    assert isinstance(used, Used)
    assert used.features == frozenset()
    monotone = lower_measure(Use("monotone", ("age", "increasing")), dataset, features)
    assert (monotone.parts, monotone.constant) == ((), 1)
    assert bounds(Use("monotone", ("age", "increasing")), ">=", "1", dataset) == []


def test_losses_keep_their_scale() -> None:
    columns = {
        "y": Column("y", "number", np.array([0.5, 1.25])),
        "w": Column("w", "number", np.array([0.1, 0.2])),
        "x": Column("x", "integer", np.array([0.0, 1.0])),
    }
    goal = CheckedGoal("minimize", Linear(((ONE, Use("squared_loss")),)))
    dataset = bind(Spec(target="y", weight_column="w", goals=(goal,)), Table(columns, 2))
    ((_, squared),) = lower_measure(Use("squared_loss"), dataset, ()).parts
    ((_, absolute),) = lower_measure(Use("absolute_loss"), dataset, ()).parts
    assert isinstance(squared, Loss)
    assert isinstance(absolute, Loss)
    unit = Fraction(dataset.target_scale)
    assert [unit * value for value in squared.targets[:, 0].tolist()] == [Fraction("0.5"), Fraction("1.25")]
    assert squared.scale == unit**2 * dataset.weight_scale
    assert absolute.scale == unit * dataset.weight_scale


CONDITION = Condition("predicted", "=", "yes", False)


@pytest.mark.parametrize(
    ("use", "code", "title"),
    [
        (Use("recall", ("maybe",)), "D450", "no row has the class `maybe`"),
        (
            Use("rate", ((CONDITION,), (Condition("age", ">", Fraction(99)),)), "rate(... given age > 99)"),
            "D462",
            "`rate(... given age > 99)` is a share of nothing",
        ),
        (Use("count", ((CONDITION, Condition("sex", "=", "Q")), ())), "D458", "`sex` is never `Q`"),
        (Use("count", ((CONDITION, Condition("sex", "<=", "F")), ())), "D459", "the levels of `sex` have no order"),
        (Use("count", ((CONDITION, Condition("age", "=", "old")), ())), "D454", "`age` is a number, but `old` is not"),
        (Use("count", ((CONDITION, Condition("town", "=", "x")), ())), "D402", "six.csv has no column `town`"),
        (
            Use("count", ((Condition("predicted", "<=", "yes", False),), ())),
            "D452",
            "classes cannot be compared with `<=`",
        ),
        (
            Use("monotone", ("sex", "increasing")),
            "D460",
            "`sex` has no order along which a prediction could rise",
        ),
    ],
)
def test_what_the_data_cannot_answer(use: Use, code: str, title: str) -> None:
    dataset = data()
    features = lower(dataset).problem.features
    with pytest.raises(DataError) as refusal:
        lower_measure(use, dataset, features)
    (found,) = refusal.value.diagnostics
    assert (found.code, found.title) == (code, title)


def test_an_empty_group_is_named() -> None:
    dataset = data(weights=[0, 0, 1, 1, 1, 1])
    with pytest.raises(DataError) as refusal:
        lower_measure(Use("opportunity_gap", ("sex",)), dataset, ())
    assert refusal.value.diagnostics[0].notes[0] == "there is no weight in group `F` of `sex` among actual positives"


def test_margin_is_for_ensembles() -> None:
    with pytest.raises(RefusedError) as refusal:
        lower_measure(Use("margin"), data(), ())
    assert refusal.value.diagnostics[0].code == "B550"


def test_no_sum_overflows() -> None:
    dataset = data()
    primes = [1_000_003, 1_000_033, 1_000_037, 1_000_039, 1_000_081]
    parts = tuple((Fraction(1, prime), Use("errors")) for prime in primes)
    with pytest.raises(DataError) as refusal:
        lower_goal(CheckedGoal("minimize", Linear(parts)), dataset, ())
    assert refusal.value.diagnostics[0].code == "D463"
    exact = lower_goal(CheckedGoal("minimize", Linear(parts[:3])), dataset, ()).sum
    term = exact.parts[0][1]
    assert isinstance(term, Predicted)
    assert term.scale * int(term.cost[0, 0]) == sum(Fraction(1, prime) for prime in primes[:3])


def test_many_classes_of_different_sizes_cannot_be_balanced_exactly() -> None:
    sizes = [97, 101, 103, 107, 109, 113, 127, 131, 137, 139]
    codes = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    target = Column("y", "category", codes, tuple("abcdefghij"))
    goal = CheckedGoal("maximize", Linear(((ONE, Use("balanced_accuracy")),)))
    table = Table({"y": target, "x": Column("x", "integer", codes.astype(np.float64))}, len(codes))
    with pytest.raises(DataError, match="with so many classes of different sizes"):
        lower(bind(Spec(target="y", goals=(goal,)), table))


def test_a_single_group_has_no_gap() -> None:
    columns = [column("g", ("only",), [0, 0]), column("y", ("no", "yes"), [0, 1])]
    goal = CheckedGoal("minimize", Linear(((ONE, Use("errors")),)))
    dataset = bind(Spec(target="y", goals=(goal,)), Table({each.name: each for each in columns}, 2))
    ((_, term),) = lower_measure(Use("parity_gap", ("g",)), dataset, ()).parts
    assert isinstance(term, Predicted)
    assert not term.cost.any()


@pytest.mark.parametrize("sense", [">=", "="])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5, 1.0, 3.0, 1.0]])
@pytest.mark.parametrize("use", [Use("accuracy"), Use("recall", ("yes",))])
def test_a_lower_limit_at_the_largest_value_is_an_upper_limit_on_what_is_missing(
    use: Use, weights: list[float] | None, sense: str
) -> None:
    """`accuracy >= 100%` is `errors <= 0`, which solvers of perfect trees take."""
    dataset = data(weights)
    features = lower(dataset).problem.features
    expression = Linear(((ONE, use),))
    (bound,) = lower_requirement(Requirement(expression, sense, ONE), dataset, features)
    ((factor, term),) = bound.sum.parts
    assert isinstance(term, Predicted)
    assert (bound.sense, bound.limit) == ("<=", 0)
    assert factor * term.scale > 0
    wrong = np.array([[1, 0], [1, 0], [0, 1], [1, 0], [0, 1], [0, 1]])
    counted = wrong if use.measure == "accuracy" else wrong * [1, 0]
    assert ((term.cost > 0) == (counted > 0)).all()
    (other,) = lower_requirement(Requirement(expression, ">=", Fraction(9, 10)), dataset, features)
    assert other.sense == ">="


@pytest.mark.parametrize("limit", ["accuracy >= 100%", "accuracy = 100%", "errors = 0"])
@pytest.mark.parametrize("solver", ["parameterized", "sat(encoding = partition)", "native", "oracle"])
def test_solvers_of_perfect_trees_take_every_way_to_ask_for_one(limit: str, solver: str) -> None:
    rows = {"a": [0, 0, 1, 1, 0], "b": [0, 1, 0, 1, 1], "y": ["n", "p", "p", "n", "p"]}
    result = tml.parse(f"predict y\nminimize depth\nrequire {limit}\nsolve with {solver}").solve(rows)
    assert result.is_optimal
    assert result.objective == 2
    assert result.tree.predict(rows).tolist() == rows["y"]
