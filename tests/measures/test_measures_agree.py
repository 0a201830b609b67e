"""The two readings of every measure, and a slow third one row by row, agree on random data and random trees."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_worlds import CLASS_USES, CLUSTER_USES, NUMBER_USES, World, single, worlds

from treeml.data.table import Dataset, label_text
from treeml.lang.diagnostic import DataError
from treeml.lang.measures import MEASURES
from treeml.lang.spec import Condition, Linear, Requirement, Use
from treeml.measures.evaluators import TreeOutcome, evaluate, outcome_of
from treeml.measures.lower import lower_goal, lower_requirement
from treeml.measures.lowerings import lower_measure
from treeml.problem.evaluate import evaluate_sum, meets
from treeml.problem.terms import rounded_root
from treeml.trees import nodes as trees
from treeml.trees.raising import raise_tree
from treeml.trees.tree import Tree

ALL_USES = (*CLASS_USES, *NUMBER_USES, *CLUSTER_USES)


def task_of(use: Use) -> str:
    task = MEASURES[use.measure].task
    return "classes" if task == "any" else task


def names(use: Use) -> str:
    return f"{use.measure}{len(use.arguments) or ''}"


def test_every_measure_of_one_tree_is_tried() -> None:
    in_floating_point = {"survival_loss", "log_loss", "gini", "description_length"}  # test_survival, test_mixtures
    of_one_tree = {name for name, measure in MEASURES.items() if not measure.instead} - in_floating_point - {"margin"}
    assert {use.measure for use in ALL_USES} == of_one_tree


def is_reported_only(use: Use, dataset: Dataset) -> bool:
    return use.measure == "gmean" and len(dataset.classes) > 2


@pytest.mark.parametrize("use", ALL_USES, ids=names)
def test_definition_lowering_and_rows_agree(use: Use) -> None:
    @given(worlds(task_of(use)))
    @settings(max_examples=12, deadline=None)
    def agree(world: World) -> None:
        dataset, problem = world.dataset, world.lowered.problem
        tree = raise_tree(world.node, world.lowered.questions, dataset)
        outcome = outcome_of(tree, dataset)
        try:
            defined = evaluate(use, dataset, outcome)
        except DataError as refusal:
            code = "D467" if is_reported_only(use, dataset) else refusal.diagnostics[0].code
            with pytest.raises(DataError, match=code):
                lower_measure(use, dataset, problem.features)
            return
        assert defined == slowly(use, dataset, outcome)
        if is_reported_only(use, dataset):
            return
        lowered = lower_measure(use, dataset, problem.features)
        assert evaluate_sum(lowered, problem, world.node) == (defined or 0)

    agree()


@pytest.mark.parametrize("sense", ["minimize", "maximize"])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_goals_add_up(sense: str, data: Any) -> None:
    factors = st.fractions(-3, 3, max_denominator=12)
    parts = data.draw(st.lists(st.tuples(factors, st.sampled_from(CLASS_USES)), min_size=1, max_size=4))
    world = data.draw(worlds())
    goal = single(Use("errors"), sense)
    goal = type(goal)(sense, Linear(tuple(parts), data.draw(factors)), "")
    outcome = outcome_of(raise_tree(world.node, world.lowered.questions, world.dataset), world.dataset)
    problem = world.lowered.problem
    try:
        lowered = lower_goal(goal, world.dataset, problem.features)
    except DataError:
        return
    kinds = [type(term).__name__ for _, term in lowered.sum.parts]
    assert kinds.count("Predicted") <= 1
    assert kinds.count("Leaves") <= 1
    expected = goal.expression.constant
    for factor, use in parts:
        expected += factor * (evaluate(use, world.dataset, outcome) or 0)
    found = evaluate_sum(lowered.sum, problem, world.node)
    assert (-found if lowered.negated else found) == expected


@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_bounds_hold_exactly_where_the_requirement_does(data: Any) -> None:
    uses = st.sampled_from(CLASS_USES)
    factors = st.sampled_from([Fraction(1), Fraction(-1), Fraction(2), Fraction(1, 3)])
    parts = data.draw(st.lists(st.tuples(factors, uses), min_size=1, max_size=2))
    # Two of the same could cancel out, and what is undefined would with them.
    if len({use for _, use in parts}) < len(parts):
        parts = parts[:1]
    world = data.draw(worlds())
    outcome = outcome_of(raise_tree(world.node, world.lowered.questions, world.dataset), world.dataset)
    try:
        values = [evaluate(use, world.dataset, outcome) for _, use in parts]
    except DataError:
        return
    if any(is_reported_only(use, world.dataset) for _, use in parts):
        return
    value = sum((factor * (found or 0) for (factor, _), found in zip(parts, values, strict=True)), Fraction(0))
    # Limits on the value itself are where rounding would show.
    limit = data.draw(st.one_of(st.just(value), st.fractions(-3, 3, max_denominator=20)))
    sense = data.draw(st.sampled_from(["<=", ">=", "="]))
    requirement = Requirement(Linear(tuple(parts)), sense, limit, "asked")
    bounds = lower_requirement(requirement, world.dataset, world.lowered.problem.features)
    expected = {"<=": value <= limit, ">=": value >= limit, "=": value == limit}[sense] or None in values
    assert all(meets(bound, world.lowered.problem, world.node) for bound in bounds) == expected
    assert all(bound.name == "asked" for bound in bounds)


def slowly(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    """A measure by walking every row down the tree, one at a time."""
    walks = [walk(outcome.tree, dataset, row) for row in range(dataset.rows)]
    rows = [
        {
            "weight": int(dataset.weight[row]) * dataset.weight_scale,
            "actual": label_text(dataset.classes[dataset.actual[row]]) if dataset.classes else None,
            "predicted": label_text(walks[row][-1].prediction) if dataset.classes else None,
            "leaf": id(walks[row][-1]),
            "tested": {test.column for test in walks[row][:-1]},
            "row": row,
        }
        for row in range(dataset.rows)
    ]
    leaves = [[row for row in rows if row["leaf"] == id(leaf)] for leaf in outcome.tree.leaves]
    positive = None if dataset.positive is None else label_text(dataset.classes[dataset.positive])

    def weight(found: list[dict[str, Any]]) -> Fraction:
        return sum((row["weight"] for row in found), Fraction(0))

    def share(counted: Any, among: list[dict[str, Any]]) -> Fraction | None:
        total = weight(among)
        return weight([row for row in among if counted(row)]) / total if total else None

    def recall(label: str) -> Fraction:
        found = share(lambda row: row["predicted"] == label, [row for row in rows if row["actual"] == label])
        assert found is not None
        return found

    def gap(among: Any) -> Fraction:
        groups: dict[Any, list[dict[str, Any]]] = {}
        for row in rows:
            value = cell(dataset, use.arguments[0], row["row"])
            groups.setdefault(value, [])
            if among(row):
                groups[value].append(row)
        rates = [share(lambda row: row["predicted"] == positive, group) for group in groups.values()]
        assert None not in rates
        return max(rates) - min(rates)  # type: ignore[type-var,operator]

    wrong = [row for row in rows if row["predicted"] != row["actual"]]
    match use.measure:
        case "depth":
            return Fraction(max(len(path) for path, _ in outcome.tree.paths()))
        case "leaves":
            return Fraction(len({row["leaf"] for row in rows}))
        case "splits":
            return Fraction(len({row["leaf"] for row in rows}) - 1)
        case "support":
            return Fraction(min(len(leaf) for leaf in leaves))
        case "errors":
            return weight(wrong)
        case "error_rate":
            return weight(wrong) / weight(rows)
        case "accuracy":
            return 1 - weight(wrong) / weight(rows)
        case "balanced_accuracy":
            recalls = [recall(label_text(label)) for label in dataset.classes]
            return sum(recalls, Fraction(0)) / len(recalls)
        case "recall":
            return recall(use.arguments[0])
        case "precision":
            return share(
                lambda row: row["actual"] == use.arguments[0],
                [row for row in rows if row["predicted"] == use.arguments[0]],
            )
        case "specificity":
            return share(
                lambda row: row["predicted"] != use.arguments[0],
                [row for row in rows if row["actual"] != use.arguments[0]],
            )
        case "npv":
            return share(
                lambda row: row["actual"] != use.arguments[0],
                [row for row in rows if row["predicted"] != use.arguments[0]],
            )
        case "fbeta":
            label, square = use.arguments[0], use.arguments[1] ** 2
            both = (1 + square) * weight([row for row in rows if row["predicted"] == row["actual"] == label])
            missed = square * weight([row for row in rows if row["predicted"] != row["actual"] == label])
            extra = weight([row for row in rows if row["actual"] != row["predicted"] == label])
            return both / (both + missed + extra) if both + missed + extra else None
        case "f1" | "jaccard":
            label = use.arguments[0]
            both = weight([row for row in rows if row["predicted"] == row["actual"] == label])
            one = weight([row for row in rows if (row["predicted"] == label) != (row["actual"] == label)])
            times = 2 if use.measure == "f1" else 1
            return times * both / (times * both + one) if both + one else None
        case "mcc":
            label = use.arguments[0]
            cells = {
                (of_it, named): weight(
                    [row for row in rows if (row["actual"] == label, row["predicted"] == label) == (of_it, named)]
                )
                for of_it in (True, False)
                for named in (True, False)
            }
            sides = [
                sum(value for key, value in cells.items() if key[place] == side)
                for place in (0, 1)
                for side in (True, False)
            ]
            apart = cells[True, True] * cells[False, False] - cells[True, False] * cells[False, True]
            return rounded_root(Fraction(apart) ** 2 / prod(sides), apart < 0) if prod(sides) else Fraction(0)
        case "gmean":
            recalls = [recall(label_text(label)) for label in dataset.classes]
            return rounded_root(prod(recalls), root=len(recalls))
        case "ratio":
            above, below = (
                sum((factor * (slowly(part, dataset, outcome) or 0) for factor, part in side.parts), side.constant)
                for side in use.arguments
            )
            return above / below if below else None
        case "count":
            return weight([row for row in rows if all(holds(each, row, dataset) for each in use.arguments[0])])
        case "rate":
            counted, among = use.arguments
            return share(
                lambda row: all(holds(each, row, dataset) for each in counted),
                [row for row in rows if all(holds(each, row, dataset) for each in among)],
            )
        case "parity_gap":
            return gap(lambda row: True)
        case "opportunity_gap":
            return gap(lambda row: row["actual"] == positive)
        case "predictive_gap":
            return gap(lambda row: row["actual"] != positive)
        case "odds_gap":
            return max(gap(lambda row: row["actual"] == positive), gap(lambda row: row["actual"] != positive))
        case "mistake_cost" | "gain":
            costs = dataset.spec.mistake_costs
            total = sum(
                (row["weight"] * costs.get((row["predicted"], row["actual"]), Fraction(1)) for row in wrong),
                Fraction(0),
            )
            return total if use.measure == "mistake_cost" else -total
        case "test_cost":
            costs = dataset.spec.test_costs
            return sum((costs.get(name, Fraction(0)) for row in rows for name in row["tested"]), Fraction(0))
        case "purity":
            shares = []
            for leaf in leaves:
                totals = [
                    weight([row for row in leaf if row["actual"] == label_text(label)]) for label in dataset.classes
                ]
                if sum(totals):
                    shares.append(max(totals) / sum(totals))
            return min(shares)
        case "leaf_errors":
            return max(weight([row for row in leaf if row in wrong]) for leaf in leaves)
        case "leaf_weight":
            return min(weight(leaf) for leaf in leaves)
        case "features_used":
            return Fraction(len(set().union(*(row["tested"] for row in rows))))
        case "uses":
            return Fraction(int(any(use.arguments[0] in row["tested"] for row in rows)))
        case "monotone":
            return Fraction(int(monotone_by_inputs(outcome.tree, use.arguments[0], use.arguments[1], str(positive))))
        case "squared_loss" | "absolute_loss" | "quantile_loss" | "cluster_loss":
            return slow_loss(use, dataset, leaves)
        case "mse" | "r2":
            squared = Use("squared_loss")
            shared = slow_loss(squared, dataset, [rows]) if use.measure == "r2" else weight(rows)
            part = slow_loss(squared, dataset, leaves) / shared if shared else Fraction(0)
            return 1 - part if use.measure == "r2" else part
        case "mean_absolute_error":
            return slow_loss(Use("absolute_loss"), dataset, leaves) / weight(rows)
    raise AssertionError(use.measure)


def slow_loss(use: Use, dataset: Dataset, leaves: list[list[dict[str, Any]]]) -> Fraction:
    columns = use.arguments[0] if use.measure == "cluster_loss" else ("minutes",)
    kind = use.arguments[1] if use.measure == "cluster_loss" else use.measure.removesuffix("_loss")
    above, below = {"quantile": lambda q: (q, 1 - q)}.get(kind, lambda q: (1, 1))(
        use.arguments[0] if use.arguments else 0
    )
    total = Fraction(0)
    for leaf in leaves:
        for column in columns:
            pairs = [(Fraction(repr(cell(dataset, column, row["row"]))), row["weight"]) for row in leaf]
            mass = sum((weight for _, weight in pairs), Fraction(0))
            if not mass:
                continue
            if kind == "squared":
                mean = sum((value * weight for value, weight in pairs), Fraction(0)) / mass
                total += sum((weight * (value - mean) ** 2 for value, weight in pairs), Fraction(0))
            else:
                total += min(
                    sum(
                        (weight * max(above * (value - guess), below * (guess - value)) for value, weight in pairs),
                        Fraction(0),
                    )
                    for guess, _ in pairs
                )
    return total


def monotone_by_inputs(tree: Tree, name: str, direction: str, positive: str) -> bool:
    """Try every input over one value per interval of the tree's thresholds, and every level."""
    if name not in tree.columns:
        return True
    domains: dict[str, list[Any]] = {}
    for field in tree.fields:
        if field.levels:
            domains[field.name] = list(field.levels)
        else:
            cuts = sorted(
                {
                    test.values[0]
                    for path, _ in tree.paths()
                    for test, _ in path
                    if test.column == field.name and test.values
                }
            )
            domains[field.name] = [*(cuts or [0.0]), (cuts or [0.0])[-1] + 1]
        if field.missing:
            domains[field.name].append(None)
    inputs: list[dict[str, Any]] = [{}]
    for column, values in domains.items():
        inputs = [{**partial, column: value} for partial in inputs for value in values]
    predicted = [label_text(value) == positive for value in tree.predict(inputs)]
    known = [value for value in domains[name] if value is not None]
    for here, is_positive in zip(inputs, predicted, strict=True):
        for there, other_positive in zip(inputs, predicted, strict=True):
            if here[name] is None or there[name] is None or {**here, name: there[name]} != there:
                continue
            rises = known.index(here[name]) < known.index(there[name])
            breaks = is_positive and not other_positive
            if breaks and (rises if direction == "increasing" else known.index(here[name]) > known.index(there[name])):
                return False
    return True


def cell(dataset: Dataset, name: str, row: int) -> Any:
    column = dataset.column(name)
    if column.missing is not None and column.missing[row]:
        return None
    value = column.values[row]
    return column.levels[int(value)] if column.levels else value.item()


def holds(condition: Condition, row: dict[str, Any], dataset: Dataset) -> bool:
    if not condition.is_column:
        return bool(row[condition.subject] == condition.value)
    value = cell(dataset, condition.subject, row["row"])
    if value is None:
        return False
    wanted: Any = float(condition.value) if isinstance(condition.value, Fraction) else condition.value
    return bool(
        {
            "=": lambda: value == wanted,
            "<=": lambda: value <= wanted,
            ">=": lambda: value >= wanted,
            "<": lambda: value < wanted,
            ">": lambda: value > wanted,
        }[condition.comparison]()
    )


def walk(tree: Tree, dataset: Dataset, row: int) -> list[Any]:
    """The tests that a row meets, and at the end its leaf."""
    steps: list[Any] = []
    node = tree.root
    while isinstance(node, trees.Branch):
        steps.append(node.test)
        node = node.yes if answers_yes(node.test, dataset, row) else node.no
    return [*steps, node]


def answers_yes(test: trees.TreeTest, dataset: Dataset, row: int) -> bool:
    value = cell(dataset, test.column, row)
    if value is None:
        return test.kind == "missing" or test.missing_yes
    match test.kind:
        case "missing":
            return False
        case "at most":
            levels = dataset.column(test.column).levels
            return bool(levels.index(value) <= levels.index(test.values[0]) if levels else value <= test.values[0])
    return value in test.values
