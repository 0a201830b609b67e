"""Every form of a forest is run, and votes as the forest does: ties, borders, missing values and odd names too."""

from __future__ import annotations

import ctypes
import json
import math
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from test_exports import (
    LABELS,
    ODD,
    SETTINGS,
    _c_text,
    _class_leaf,
    _compiled,
    _field,
    _holds,
    _node,
    _score,
    values_of,
)

from treeml.cli.main import treeml
from treeml.lang.diagnostic import DataError
from treeml.trees.export.onnx import input_names
from treeml.trees.export.registry import BUILT_IN as FORMS
from treeml.trees.export.registry import export as export_forest
from treeml.trees.export.votes import all_columns, whole_weights
from treeml.trees.forest import Forest
from treeml.trees.nodes import Branch, Field, TreeLeaf
from treeml.trees.nodes import TreeTest as Question
from treeml.trees.tree import Tree

Rows = list[dict[str, Any]]
WEIGHTS = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(3, 7), Fraction(5, 2**40)])


@st.composite
def forests(draw: Any) -> tuple[Forest, Rows]:
    names = draw(st.lists(st.sampled_from(ODD), min_size=1, max_size=4, unique=True))
    fields = [draw(_field(name)) for name in names]
    classes: tuple[Any, ...] = tuple(draw(st.lists(st.sampled_from(LABELS), min_size=2, max_size=3, unique=True)))
    if draw(st.booleans()):
        classes = (0, 1, 2)[: len(classes)]
    trees = []
    for _ in range(draw(st.integers(1, 4))):
        root = draw(_node(fields, _class_leaf(classes), draw(st.integers(0, 3))))
        used = {node.test.column for node in Tree(root, "classes").nodes() if isinstance(node, Branch)}
        kept = tuple(field for field in fields if field.name in used)
        trees.append(Tree(root, "classes", "goal", classes, (), kept, tuple(names)))
    weights = tuple(draw(WEIGHTS) for _ in trees)
    forest = Forest(tuple(trees), weights, "lpboost")
    rows = []
    for _ in range(draw(st.integers(1, 5))):
        row = {}
        for field in all_columns(forest).fields:
            values = [value for tree in trees if field in tree.fields for value in values_of(tree, field)]
            row[field.name] = draw(st.sampled_from(values))
        rows.append(row)
    return forest, rows


def predicted(forest: Forest, rows: Rows) -> list[Any]:
    """By the votes of each tree, counted here; a tree without columns votes the same for every row."""
    found = []
    for row in rows:
        votes = [Fraction(0)] * len(forest.classes)
        for tree, weight in zip(forest.trees, forest.weights, strict=True):
            label = tree.predict([row]).tolist()[0] if tree.fields else tree.leaves[0].prediction
            votes[forest.classes.index(label)] += weight
        found.append(forest.classes[votes.index(max(votes))])
    return found


@SETTINGS
@given(forests())
def test_sql(case: tuple[Forest, Rows]) -> None:
    forest, rows = case
    database = sqlite3.connect(":memory:")
    names = [field.name for field in all_columns(forest).fields]
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names) or "no_column"
    database.execute(f"CREATE TABLE t ({quoted})")
    marks = ", ".join("?" for _ in names) or "1"
    database.executemany(f"INSERT INTO t VALUES ({marks})", [[row[name] for name in names] for row in rows])
    found = [value for (value,) in database.execute(f"SELECT {export_forest(forest, 'sql')} FROM t")]
    assert found == predicted(forest, rows)


@SETTINGS
@given(forests())
def test_python(case: tuple[Forest, Rows]) -> None:
    forest, rows = case
    module: dict[str, Any] = {}
    exec(compile(export_forest(forest, "python"), "forest.py", "exec"), module)
    assert [module["predict"](row) for row in rows] == predicted(forest, rows)
    for row in rows:
        assert sum(module["votes"](row)) == sum(whole_weights(forest))


@SETTINGS
@given(forests())
def test_rules(case: tuple[Forest, Rows]) -> None:
    forest, rows = case
    opening, *blocks = str(export_forest(forest, "rules")).split("# tree ")
    assert json.loads(opening[opening.index("[") :]) == [str(label) for label in forest.classes]
    for row, expected in zip(rows, predicted(forest, rows), strict=True):
        votes = dict.fromkeys(forest.classes, Fraction(0))
        for block, tree in zip(blocks, forest.trees, strict=True):
            head, *lines = block.splitlines()
            held = [line.rsplit("  # ", 1)[0] for line in lines if _holds(tree, line, row)]
            assert len(held) == 1
            label = json.loads(held[0].partition(' "goal" = ')[2])
            votes[label] += Fraction(head.rpartition(" ")[2])
        assert max(votes, key=lambda label: votes[label]) == expected


@SETTINGS
@given(forests())
def test_pmml(case: tuple[Forest, Rows]) -> None:
    forest, rows = case
    whole = all_columns(forest)
    if any("\x1b" in str(text) for text in (*whole.classes, *(x for f in whole.fields for x in (f.name, *f.levels)))):
        with pytest.raises(DataError, match="has a character that XML cannot hold"):
            export_forest(forest, "pmml")
        return
    root = ElementTree.fromstring(export_forest(forest, "pmml"))
    space = {"p": "http://www.dmg.org/PMML-4_4"}
    model = root.find("p:MiningModel", space)
    assert model is not None
    segmentation = model.find("p:Segmentation", space)
    assert segmentation is not None
    assert segmentation.attrib["multipleModelMethod"] == "weightedMajorityVote"
    dictionary = root.find("p:DataDictionary", space)
    assert dictionary is not None
    for row, expected in zip(rows, predicted(forest, rows), strict=True):
        votes = {str(label): 0.0 for label in forest.classes}
        for segment in segmentation:
            tree_model = segment.find("p:TreeModel", space)
            assert tree_model is not None
            alone = ElementTree.Element("PMML")
            alone.extend([dictionary, tree_model])
            votes[_score(alone, row)] += float(segment.attrib["weight"])
        assert max(votes, key=lambda label: votes[label]) == str(expected)


@SETTINGS
@given(forests())
def test_onnx(case: tuple[Forest, Rows]) -> None:
    import onnxruntime as runtime

    forest, rows = case
    session = runtime.InferenceSession(export_forest(forest, "onnx"), providers=["CPUExecutionProvider"])
    inputs: dict[str, Any] = {}
    names = input_names(all_columns(forest))
    for field in all_columns(forest).fields:
        column = [row[field.name] for row in rows]
        if field.levels:
            texts = ["" if value is None else _c_text(value).decode() for value in column]
            inputs[names[field.name]] = np.array(texts, dtype=object)
        else:
            numbers = [math.nan if value is None else value for value in column]
            inputs[names[field.name]] = np.array(numbers, dtype=np.float64)
    found, votes, shares = session.run(None, inputs or {"rows": np.zeros(len(rows))})
    assert found.tolist() == predicted(forest, rows)
    assert (votes.sum(axis=1) == sum(whole_weights(forest))).all()
    assert np.allclose(shares.sum(axis=1), 1)


@settings(SETTINGS, max_examples=10)
@given(case=forests())
def test_c(case: tuple[Forest, Rows], tmp_path_factory: pytest.TempPathFactory) -> None:
    forest, rows = case
    library = _compiled(str(export_forest(forest, "c")), tmp_path_factory.mktemp("c"))
    fields = all_columns(forest).fields

    class Row(ctypes.Structure):
        _fields_ = [
            (f"field{n}", ctypes.c_char_p if field.levels else ctypes.c_double) for n, field in enumerate(fields)
        ] or [("unused", ctypes.c_int)]

    library.treeml_predict.restype = ctypes.c_char_p
    found = []
    for row in rows:
        cells: list[Any] = []
        for field in fields:
            value = row[field.name]
            if field.levels:
                cells.append(None if value is None else _c_text(value))
            else:
                cells.append(math.nan if value is None else float(value))
        found.append(library.treeml_predict(ctypes.byref(Row(*cells))).decode())
    assert found == [str(label) for label in predicted(forest, rows)]


def stumps(*weights: Fraction) -> Forest:
    tree = Tree(
        Branch(Question("age", "at most", (3.5,)), TreeLeaf("a"), TreeLeaf("b")),
        "classes",
        "t",
        ("a", "b"),
        (),
        (Field("age", "number"),),
        ("age",),
    )
    return Forest((tree,) * len(weights), weights, "lpboost")


def test_a_row_that_a_tree_refuses_has_no_prediction(tmp_path: Path) -> None:
    import onnxruntime as runtime

    forest = stumps(Fraction(1, 2), Fraction(1, 2))
    row = sqlite3.connect(":memory:").execute(f"SELECT {export_forest(forest, 'sql')} FROM (SELECT NULL AS age)")
    assert row.fetchone() == (None,)
    module: dict[str, Any] = {}
    exec(str(export_forest(forest, "python")), module)
    with pytest.raises(ValueError, match="age is missing"):
        module["predict"]({"age": None})
    library = _compiled(str(export_forest(forest, "c")), tmp_path)
    library.treeml_predict.restype = ctypes.c_char_p
    assert library.treeml_predict(ctypes.byref(ctypes.c_double(math.nan))) is None
    session = runtime.InferenceSession(export_forest(forest, "onnx"), providers=["CPUExecutionProvider"])
    found, _, shares = session.run(None, {"age": np.array([math.nan, 3.5])})
    assert found.tolist() == ["", "a"]
    assert np.isnan(shares[0]).all()


def test_weights_that_a_form_cannot_count_are_refused() -> None:
    forest = stumps(Fraction(1), Fraction(1, 2**70))
    for form in ("sql", "c", "pmml", "onnx"):
        with pytest.raises(DataError, match="D492"):
            export_forest(forest, form)
    module: dict[str, Any] = {}
    exec(str(export_forest(forest, "python")), module)
    assert module["predict"]({"age": 3.5}) == "a"


def test_the_drawing_of_a_forest_is_one_document() -> None:
    text = str(export_forest(stumps(Fraction(1), Fraction(1, 2)), "svg"))
    root = ElementTree.fromstring(text)
    drawings = [part for part in root if part.tag.endswith("}svg")]
    assert [float(part.attrib.get("y", 0)) for part in drawings] == [0, float(drawings[0].attrib["height"])]
    assert float(root.attrib["height"]) == sum(float(part.attrib["height"]) for part in drawings)


def test_the_command_line_writes_every_form(tmp_path: Path) -> None:
    path = tmp_path / "forest.json"
    stumps(Fraction(1)).write(path)
    for form in FORMS:
        written = tmp_path / f"shown.{form}"  # a file is not shown into itself
        result = CliRunner().invoke(treeml, ["show", str(path), "--as", form, "-o", str(written)])
        assert result.exit_code == 0, result.output
        assert written.stat().st_size > 10
