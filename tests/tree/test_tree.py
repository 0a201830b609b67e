"""Trees: predictions on every kind of rows, paths in words, counts, drawings, and the way to and from back-ends."""

from __future__ import annotations

import xml.etree.ElementTree
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_worlds import CLUSTER_USES, NUMBER_USES, World, single, worlds

import treeml as tml
from treeml.data.bind import bind
from treeml.data.table import Column, Dataset, Table
from treeml.lang.diagnostic import DataError
from treeml.lang.spec import ColumnSpec, Spec, Use
from treeml.measures.binarize import Question
from treeml.measures.evaluators import outcome_of
from treeml.problem import tree as nodes
from treeml.trees import nodes as trees
from treeml.trees import routing
from treeml.trees.nodes import Branch, Field, TreeLeaf
from treeml.trees.raising import lower_tree, raise_tree
from treeml.trees.tree import Tree


def flower() -> Tree:
    """Length <= 2.5: short. Else color among red, blue, or missing: long; else short."""
    color = trees.TreeTest("color", "among", ("red", "blue"), missing_yes=True)
    short = TreeLeaf("short", 3, (0, 3), (Fraction(0), Fraction(9, 2)))
    long = TreeLeaf("long", 2, (2, 0), (Fraction(2), Fraction(0)))
    mixed = TreeLeaf("short", 3, (1, 2), (Fraction(1), Fraction(3)))
    return Tree(
        Branch(trees.TreeTest("length", "at most", (2.5,)), short, Branch(color, long, mixed)),
        "classes",
        "size",
        ("long", "short"),
        (),
        (Field("length", "number"), Field("color", "category", ("blue", "green", "red"), missing=True)),
        ("color", "length"),
    )


ROWS = [
    {"color": "red", "length": 1.0},
    {"color": "red", "length": 3},
    {"color": None, "length": 3.5},
    {"color": "green", "length": 2.6},
    {"color": "violet", "length": 9.0},
    {"color": "violet", "length": 2.5},
]
EXPECTED = ["short", "long", "long", "short", "short", "short"]


def by_columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        by_columns(ROWS),
        pandas.DataFrame(ROWS),
        pandas.DataFrame(ROWS).astype({"color": "category"}),
        polars.DataFrame(ROWS, strict=False),
        pyarrow.Table.from_pylist([{**row, "length": float(row["length"])} for row in ROWS]),
        np.array([[row["color"], row["length"]] for row in ROWS], dtype=object),
        [[row["color"], row["length"]] for row in ROWS],
    ],
    ids=["records", "columns", "pandas", "pandas categories", "polars", "arrow", "array", "lists"],
)
def test_every_kind_of_rows(data: Any) -> None:
    predicted = flower().predict(data)
    assert predicted.tolist() == EXPECTED
    assert flower().apply(data).tolist() == [0, 1, 1, 2, 2, 0]


@pytest.mark.parametrize("few", [0, 2, 10**9])
def test_masks_and_numbers_of_rows_lead_to_the_same_leaves(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routing, "FEW", few)
    assert flower().apply(ROWS).tolist() == [0, 1, 1, 2, 2, 0]


def test_one_row() -> None:
    assert flower().predict({"color": "red", "length": 3}).tolist() == ["long"]
    assert flower().decision_path({"color": "red", "length": "3"}) == (
        "length > 2.5",
        "color is among red, blue or is missing",
        "predict long",
    )
    gaps = replace(flower(), fields=(Field("length", "number", missing=True), flower().fields[1]))
    assert gaps.decision_path({"color": "red", "length": 3})[0] == "length > 2.5 or is missing"
    assert flower().decision_path({"color": "green", "length": 3})[1] == "color is not among red, blue"


def test_shares_are_by_weight() -> None:
    shares = flower().predict_proba(ROWS)
    assert shares.tolist() == [[0, 1], [1, 0], [1, 0], [0.25, 0.75], [0.25, 0.75], [0, 1]]


def test_shape() -> None:
    tree = flower()
    assert (tree.depth, tree.splits, len(tree.leaves), tree.columns) == (2, 2, 3, ("length", "color"))
    assert hash(tree) == hash(flower())
    assert tree == flower()
    assert tree != Tree(tree.leaves[0], "classes", "size", ("long", "short"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([{"color": "red", "length": None}], "`length` is missing in row 1"),
        ([{"color": "red", "length": 1.0}, {"color": "red", "length": float("nan")}], "`length` is missing in row 2"),
        ([{"color": "red", "length": "long"}], "`length` is not a number in row 1: 'long'"),
        ([{"color": "red"}], "row 1 has no `length`"),
        (pandas.DataFrame({"size": [1], "height": [2]}), "the data have no column `length`, `color`"),
        ({"length": [1, 2], "color": ["red"]}, "the columns of the dict are not equally long"),
        (np.zeros((4, 3)), "the array has 3 columns, but the tree was trained on 2 columns"),
        (object(), "a tree cannot read rows from a object"),
    ],
)
def test_rows_that_a_tree_cannot_use(data: Any, message: str) -> None:
    with pytest.raises(DataError) as refusal:
        flower().predict(data)
    assert refusal.value.diagnostics[0].title == message


def test_labels_come_back_as_they_went_in() -> None:
    for classes in [(0, 1), (False, True), ("a", "b"), (0.5, 2.0)]:
        tree = Tree(TreeLeaf(classes[1], 1, (0, 1)), "classes", "y", classes)
        (label,) = tree.predict([{}]).tolist()
        assert label == classes[1]
        assert type(label) is type(classes[1])
    mixed = Tree(TreeLeaf(1, 1, (1, 0)), "classes", "y", (1, "one"))
    assert mixed.predict([{}])[0] == 1


@pytest.mark.parametrize("levels", [(0, 1), (False, True), ("0", "1"), ("false", "true")])
@pytest.mark.parametrize("values", [[0, 1], [False, True], [0.0, 1.0], ["0", "1"]])
def test_truth_values_are_equal_in_every_notation(levels: tuple[Any, Any], values: list[Any]) -> None:
    test = trees.TreeTest("x", "is true", (levels[1],))
    tree = Tree(
        Branch(test, TreeLeaf("b"), TreeLeaf("a")),
        "classes",
        "y",
        ("a", "b"),
        (),
        (Field("x", "binary", levels),),
        ("x",),
    )
    assert tree.predict({"x": values}).tolist() == ["a", "b"]
    assert tree.predict(np.array(values)[:, None]).tolist() == ["a", "b"]


def test_missing_values_are_replaced_by_medians() -> None:
    age = np.array([1.0, 2.0, np.nan, 7.0])
    columns = {
        "age": Column("age", "number", age, (), np.isnan(age)),
        "y": Column("y", "category", np.array([0, 0, 1, 1], dtype=np.int32), ("n", "y")),
    }
    spec = Spec(target="y", goals=(single(Use("errors")),), columns={"age": ColumnSpec("number", missing="median")})
    dataset = bind(spec, Table(columns, 4))
    tree = raise_tree(nodes.Split(0, nodes.Leaf(0), nodes.Leaf(1)), [Question("age", "at most", 1.5)], dataset)
    assert tree.fields[0].fill == 2.0
    assert tree.predict([{"age": None}, {"age": 1}]).tolist() == ["y", "n"]
    assert Tree.from_json(tree.to_json()) == tree


@given(st.sampled_from(["classes", "numbers", "clusters"]).flatmap(lambda task: worlds(task)))
@settings(max_examples=60, deadline=None)
def test_a_raised_tree_does_what_the_back_end_did(world: World) -> None:
    dataset, lowered = world.dataset, world.lowered
    tree = raise_tree(world.node, lowered.questions, dataset)
    frame = user_values(dataset)
    outcome = outcome_of(tree, dataset)
    assert tree.apply(frame).tolist() == outcome.leaf.tolist()
    assert [leaf.rows for leaf in tree.leaves] == np.bincount(outcome.leaf, minlength=len(tree.leaves)).tolist()
    assert lower_tree(tree, lowered.questions, dataset.classes) == world.node or same_rows(tree, world)
    assert Tree.from_json(tree.to_json()) == tree
    xml.etree.ElementTree.fromstring(tree.to_svg())
    assert str(tree).count("\n") == 2 * tree.splits
    if dataset.classes:
        shares = tree.predict_proba(frame)
        assert np.allclose(shares.sum(axis=1), 1)
        labels = [dataset.classes[number] for number in outcome.predicted]
        assert tree.predict(frame).tolist() == labels


def same_rows(tree: Tree, world: World) -> bool:
    """Two tests can ask the same; the tree that comes back then tells the rows apart just so."""
    node = lower_tree(tree, world.lowered.questions, world.dataset.classes)
    assert node is not None
    again = raise_tree(node, world.lowered.questions, world.dataset)
    return outcome_of(again, world.dataset).leaf.tolist() == outcome_of(tree, world.dataset).leaf.tolist()


def user_values(dataset: Dataset) -> dict[str, list[Any]]:
    columns = {}
    for name, column in dataset.table.columns.items():
        values = [column.levels[int(v)] if column.levels and v >= 0 else v for v in column.values.tolist()]
        gaps = np.zeros(len(values), dtype=bool) if column.missing is None else column.missing
        columns[name] = [None if gap else value for value, gap in zip(values, gaps.tolist(), strict=True)]
    return columns


@pytest.mark.parametrize("use", [*NUMBER_USES, *CLUSTER_USES], ids=lambda use: use.measure)
def test_leaves_hold_the_best_numbers(use: Use) -> None:
    task = "clusters" if use.measure == "cluster_loss" else "numbers"

    @given(worlds(task, use))
    @settings(max_examples=10, deadline=None)
    def hold(world: World) -> None:
        tree = raise_tree(world.node, world.lowered.questions, world.dataset)
        outcome = outcome_of(tree, world.dataset)
        weight = world.dataset.weight.tolist()
        names = use.arguments[0] if task == "clusters" else ("minutes",)
        for number, leaf in enumerate(tree.leaves):
            rows = np.flatnonzero(outcome.leaf == number).tolist()
            if not any(weight[row] for row in rows):
                continue
            for name, value in zip(names, leaf.exact, strict=True):
                numbers = [Fraction(repr(world.dataset.column(name).values[row].item())) for row in rows]
                pairs = list(zip(numbers, [weight[row] for row in rows], strict=True))
                kind = use.arguments[1] if task == "clusters" else use.measure.removesuffix("_loss")
                total = sum(share for _, share in pairs)
                if kind in ("squared", "mse", "r2"):
                    assert value * total == sum(number * share for number, share in pairs)
                else:
                    level = use.arguments[0] if kind == "quantile" else Fraction(1, 2)
                    below = sum(share for number, share in pairs if number < value)
                    up_to = sum(share for number, share in pairs if number <= value)
                    assert value in numbers
                    assert below < level * total <= up_to

    hold()


def small_dataset() -> tuple[Dataset, list[Question]]:
    columns = {
        "a": Column("a", "binary", np.array([0, 0, 1, 1], dtype=np.int32), ("no", "yes")),
        "b": Column("b", "category", np.array([0, 1, 0, 1], dtype=np.int32), ("x", "z")),
        "y": Column("y", "category", np.array([0, 1, 1, 1], dtype=np.int32), ("bad", "good")),
    }
    dataset = bind(Spec(target="y", goals=(single(Use("errors")),)), Table(columns, 4))
    return dataset, [Question("a", "true", "yes"), Question("b", "level", "z"), Question("a", "true", "yes")]


def test_only_splits_with_an_empty_side_are_contracted() -> None:
    dataset, questions = small_dataset()
    good, bad = nodes.Leaf(1), nodes.Leaf(0)
    same = nodes.Split(1, good, good)
    node = nodes.Split(0, nodes.Split(2, same, bad), bad)
    tree = raise_tree(node, questions, dataset)
    assert str(tree) == (
        "predict y\n"
        "├─ a is yes\n"
        "│  ├─ b is z: y = good  [1 row (25% of all): good 100%]\n"
        "│  └─ b is not z: y = good  [1 row (25% of all): good 100%]\n"
        "└─ a is not yes: y = bad  [2 rows (50% of all): bad 50%, good 50%]"
    )


def test_a_start_tree_may_put_its_questions_differently() -> None:
    dataset, questions = small_dataset()
    tree = raise_tree(nodes.Split(1, nodes.Leaf(1), nodes.Leaf(0)), questions, dataset)
    assert isinstance(tree.root, Branch)
    turned = Tree(
        Branch(trees.TreeTest("b", "is", ("x",)), tree.root.no, tree.root.yes), *(getattr(tree, name) for name in SAME)
    )
    assert lower_tree(turned, questions, dataset.classes) == nodes.Split(1, nodes.Leaf(1), nodes.Leaf(0))
    among = Tree(
        Branch(trees.TreeTest("b", "among", ("z",)), tree.root.yes, tree.root.no),
        *(getattr(tree, name) for name in SAME),
    )
    assert lower_tree(among, questions, dataset.classes) == nodes.Split(1, nodes.Leaf(1), nodes.Leaf(0))


SAME = ("task", "target", "classes", "outputs", "fields", "inputs")


def test_a_start_tree_with_unknown_tests_is_not_used() -> None:
    tree = flower()
    questions = [Question("length", "at most", 2.4), Question("color", "level", "red")]
    assert lower_tree(tree, questions, ("long", "short")) is None
    asked = [Question("length", "at most", 2.5), Question("color", "among", None, ("blue", "red"), True)]
    assert lower_tree(tree, asked, ("long", "short")) is not None
    assert lower_tree(tree, asked, ("long", "tall")) is None


def test_text_is_read_in_new_rows_as_in_training() -> None:
    """Blanks around a text do not count, and words such as NA are missing values, in frames too."""
    columns = {
        "color": [" red", "blue", "NA", "red ", "blue", "?"],
        "size": ["1", " 2", "", "4", "N/A", "3"],
        "seen": ["2024-01-01", "null", " 2024-03-01 ", "2024-01-05", "", "2024-04-01"],
        "y": ["a", "b", "c", "d", "e", "f"],
    }
    text = "predict y\nmaximize accuracy\nrequire depth <= 5\ncolumn color, seen : missing separate\n"
    result = tml.Model.parse(text + "column size : number, missing separate").solve(columns)
    assert result.measures["accuracy"] == 1
    assert result.tree is not None
    assert list(result.tree.predict(columns)) == columns["y"]
    for row, label in enumerate(columns["y"]):
        assert list(result.tree.predict({name: values[row] for name, values in columns.items()})) == [label]


def test_mixed_values_with_the_same_text_are_one_level() -> None:
    columns = {"code": [1, "1", 1.0, True, "a", " a", 2.5, None], "y": [0, 0, 0, 1, 0, 0, 1, 1]}
    text = "predict y\nmaximize accuracy\nrequire depth <= 3\ncolumn code : missing separate"
    result = tml.Model.parse(text).solve(columns)
    assert result.tree is not None
    assert list(result.tree.predict(columns)) == columns["y"]
