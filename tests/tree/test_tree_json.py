"""Trees as JSON: what is written comes back, and what is wrong is refused with its place."""

from __future__ import annotations

import copy
import json
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from treeml.lang.diagnostic import DataError
from treeml.trees import nodes as trees
from treeml.trees.nodes import KINDS, Branch, Field, TreeLeaf
from treeml.trees.tree import Tree


def tree() -> Tree:
    color = trees.TreeTest("color", "among", ("red", "blue"), missing_yes=True)
    return Tree(
        Branch(
            trees.TreeTest("length", "at most", (0.1,)),
            TreeLeaf(1, 3, (0, 3), (Fraction(0), Fraction(9, 2))),
            Branch(
                color,
                TreeLeaf(0, 2, (2, 0), (Fraction(2), Fraction(0))),
                TreeLeaf(1, 1, (0, 1), (Fraction(0), Fraction(1))),
            ),
        ),
        "classes",
        "size",
        (0, 1),
        (),
        (Field("length", "number"), Field("color", "category", ("blue", "red", None), missing=True)),
        ("length", "color"),
    )


def test_round_trip_through_text_and_files(tmp_path: Path) -> None:
    assert Tree.from_json(json.dumps(tree().to_json())) == tree()
    tree().write(tmp_path / "tree.json")
    assert Tree.read(tmp_path / "tree.json") == tree()
    (tmp_path / "result.json").write_text(json.dumps({"status": "optimal", "tree": tree().to_json()}))
    assert Tree.read(tmp_path / "result.json") == tree()


def test_numbers_stay_exact() -> None:
    third = Tree(TreeLeaf(1 / 3, 3, exact=(Fraction(1, 3),)), "numbers", "y", (), ("y",))
    assert third.to_json()["root"]["exact"] == ["1/3"]
    assert Tree.from_json(json.dumps(third.to_json())) == third


@pytest.mark.parametrize(
    "classes", [(True, False), (date(2020, 1, 2), date(2021, 1, 2)), (datetime(2020, 1, 2, 3), "x"), (1.5, None)]
)
def test_labels_of_many_kinds(classes: tuple[Any, ...]) -> None:
    written = Tree(TreeLeaf(classes[0], 1, (1, 0)), "classes", "y", classes)
    again = Tree.from_json(json.dumps(written.to_json()))
    assert again == written
    assert [type(label) for label in again.classes] == [type(label) for label in classes]


def changed(path: str, value: Any) -> dict[str, Any]:
    found = copy.deepcopy(tree().to_json())
    *above, last = path.split(".")
    part: Any = found
    for step in above:
        part = part[int(step) if step.isdigit() else step]
    if value is None:
        del part[last]
    else:
        part[last] = value
    return found


@pytest.mark.parametrize(
    ("path", "value", "place", "what"),
    [
        ("treeml_tree", None, "", "is not a tree: it has no `treeml_tree`"),
        ("treeml_tree", 2, "treeml_tree", "is 2, but this program reads version 1"),
        ("task", "guess", "task", "is `guess`, not one of classes, numbers, clusters"),
        ("task", "numbers", "classes", "must be there for a tree that predicts classes, and for no other"),
        ("target", 3, "target", "is not a text"),
        ("classes", None, "classes", "is not there"),
        ("inputs", [1], "inputs", "holds something that is not a text"),
        ("root.yes.more", 1, "root.yes.more", "is not known; known are because, counts, predict, rows, weights"),
        ("root", 7, "root", "is not an object"),
        ("root.yes", None, "root.yes", "is not an object"),
        ("root.yes.predict", None, "root.yes", "has neither a `test` nor a `predict`"),
        ("root.yes.predict", "1", "root.yes.predict", "is '1', which is not one of the classes"),
        ("root.yes.predict", True, "root.yes.predict", "is True, which is not one of the classes"),
        ("root.yes.rows", -1, "root.yes.rows", "is -1, not a number of rows"),
        ("root.yes.counts", [1], "root.yes.counts", "has 1 values for 2 classes"),
        ("root.yes.weights", [1, "x"], "root.yes.weights", "holds 'x', not an exact number such as 3 or \"7/2\""),
        ("root.yes.weights", [1, "1/0"], "root.yes.weights", "holds '1/0', not an exact number such as 3 or \"7/2\""),
        ("root.test.column", "w", "root.test.column", "is `w`, which is not among the columns of the tree"),
        (
            "root.test.kind",
            "below",
            "root.test.kind",
            f"is `below`, not one of {', '.join(KINDS)}",
        ),
        ("root.test.values", ["a"], "root.test.values", "compares a column of numbers with something else"),
        ("root.test.values", [1, 2], "root.test.values", "has 2 values, which does not fit `at most`"),
        ("root.test.missing_yes", 1, "root.test.missing_yes", "is neither true nor false"),
        ("columns.1.name", 3, "columns[1].name", "is not a text"),
        ("columns.0.fill", "x", "columns[0].fill", "is not a value of the column"),
    ],
)
def test_invalid_json_is_refused_with_its_place(path: str, value: Any, place: str, what: str) -> None:
    with pytest.raises(DataError) as refusal:
        Tree.from_json(changed(path, value))
    where = f"`{place}` of the tree" if place else "the tree"
    assert refusal.value.diagnostics[0].title == f"{where} {what}"
    assert refusal.value.diagnostics[0].code == "D480"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"treeml_tree": NaN}', "[" * 100_000, '{"root":' * 5_000 + "1" + "}" * 5_000]
)
def test_garbage_is_refused(text: str) -> None:
    with pytest.raises(DataError):
        Tree.from_json(text)


def test_deep_nesting_is_refused_not_crashed() -> None:
    found = tree().to_json()
    leaf = found["root"]["yes"]
    for _ in range(3_000):
        leaf = {"test": {"column": "length", "kind": "at most", "values": [1]}, "yes": leaf, "no": leaf}
    found["root"] = leaf
    with pytest.raises(DataError, match="nested too deeply"):
        Tree.from_json(found)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        Tree.read(tmp_path / "none.json")
    with pytest.raises(DataError, match="cannot be read"):
        Tree.read(tmp_path)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="not UTF-8"):
        Tree.read(tmp_path / "bytes.json")


def test_a_label_that_json_cannot_hold() -> None:
    with pytest.raises(DataError, match="cannot be written as JSON"):
        Tree(TreeLeaf(3j, 1, (1,)), "classes", "y", (3j,)).to_json()


def test_the_example_of_the_documentation_is_a_tree() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tree-json.md").read_text(encoding="utf-8")
    example = json.loads(page.split("```json")[1].split("```")[0])
    assert Tree.from_json(example).to_json() == example
