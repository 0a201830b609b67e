"""Every form is run, and predicts what the tree predicts: on borders, missing values, unknown levels and odd names."""

from __future__ import annotations

import ctypes
import json
import math
import re
import sqlite3
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from treeml.cli.main import treeml
from treeml.lang.diagnostic import DataError
from treeml.lang.display import shown
from treeml.trees.export.registry import BUILT_IN as FORMS
from treeml.trees.export.registry import export, get
from treeml.trees.nodes import Branch, Field, Node, TreeLeaf
from treeml.trees.nodes import TreeTest as Question
from treeml.trees.tree import Tree

ODD = (
    'a "quoted" name',
    "it's",
    "ünï cödé",
    "int",
    "a b",
    "a_b",
    "1st",
    "x*/y",
    "semi;colon",
    "back\\slash",
    "tab\there",
    "two\nlines",
    "\r\n  indented",
    "\x1b]0;title\x07\x1b[2J",
    "\u202egnp.exe\u2066",
    "line\u2028end\x85",
    "",
    "</script><b>",
    "<html>&amp;",
    "INFINITY",
    "linux",
    "prediction",
    "leaf",
    "rows",
    "treeml/0",
    "column_1",
    "/*??/",
    "$a$ %s {0}",
)
LABELS = (
    "no", "yes", "it's", 'say "no"', "日本", "??/", "a\nb", "\x1b[31mred", "\u202e\u2069", "\u2028", "\r", "\\", "]]>"
)  # fmt: skip


@st.composite
def trees(draw: Any) -> Tree:
    names = draw(st.lists(st.sampled_from(ODD), min_size=1, max_size=4, unique=True))
    fields = [draw(_field(name)) for name in names]
    task = draw(st.sampled_from(["classes", "numbers"]))
    classes = tuple(draw(st.lists(st.sampled_from(LABELS), min_size=2, max_size=3, unique=True)))
    if task == "classes" and draw(st.booleans()):
        classes = (0, 1, 2)
    leaf = _class_leaf(classes) if task == "classes" else _number_leaf()
    root = draw(_node(fields, leaf, draw(st.integers(0, 4))))
    used = {node.test.column for node in Tree(root, task).nodes() if isinstance(node, Branch)}
    kept = tuple(field for field in fields if field.name in used)
    outputs = () if task == "classes" else ("goal",)
    return Tree(root, task, "goal", classes if task == "classes" else (), outputs, kept, tuple(names))


@st.composite
def _field(draw: Any, name: str) -> Field:
    missing = draw(st.booleans())
    kind = draw(st.sampled_from(["number", "integer", "category", "ordered", "binary", "truth"]))
    if kind in ("number", "integer"):
        fill = draw(st.sampled_from([None, 0.1, 3])) if missing else None
        return Field(name, kind, (), missing, fill)
    levels: tuple[Any, ...] = {
        "category": ("F", "M", "it's", "ä", "x\ny", "\x1b[0m\u202e", "\r\t\\"),
        "ordered": (1, 2, 3, 5),
        "binary": (0, 1),
        "truth": (False, True),
    }[kind]
    fill = draw(st.sampled_from([None, levels[0]])) if missing else None
    return Field(name, "binary" if kind == "truth" else kind, levels, missing, fill)


NUMBERS = st.sampled_from([0.1, 0.30000000000000004, 1 / 3, -2.5, 1e-300, 123456789.123, 3.0, 7])


@st.composite
def _node(draw: Any, fields: list[Field], leaf: Any, depth: int) -> Node:
    if depth == 0 or not draw(st.integers(0, 4)):
        return draw(leaf)
    field = draw(st.sampled_from(fields))
    flag = field.missing and draw(st.booleans())
    if field.missing and field.fill is None and not draw(st.integers(0, 3)):
        test = Question(field.name, "missing")
    elif not field.levels:
        test = Question(field.name, "at most", (draw(NUMBERS),), flag)
    elif field.type == "ordered":
        test = Question(field.name, "at most", (draw(st.sampled_from(field.levels[:-1])),), flag)
    elif field.type == "binary":
        test = Question(field.name, "is true", (field.levels[1],), flag)
    else:
        some = draw(st.lists(st.sampled_from(field.levels), min_size=1, max_size=2, unique=True))
        one = draw(st.sampled_from(["is", "branch"]))
        test = Question(field.name, one if len(some) == 1 else "among", tuple(some), flag)
    return Branch(test, draw(_node(fields, leaf, depth - 1)), draw(_node(fields, leaf, depth - 1)))


def _class_leaf(classes: tuple[Any, ...]) -> Any:
    return st.sampled_from(classes).map(lambda label: TreeLeaf(label, 3, tuple(1 for _ in classes), ()))


def _number_leaf() -> Any:
    return NUMBERS.map(lambda value: TreeLeaf(float(value), 2, exact=(Fraction(value),)))


def values_of(tree: Tree, field: Field) -> list[Any]:
    """The borders of every test on a column, both sides of them, missing and unknown values."""
    values: list[Any] = [None] if field.missing else []
    if field.levels:
        return values + list(field.levels) + ([] if field.type != "category" else ["unknown level"])
    for node in tree.nodes():
        if isinstance(node, Branch) and node.test.column == field.name and node.test.values:
            limit = float(node.test.values[0])
            values += [limit, math.nextafter(limit, math.inf), math.nextafter(limit, -math.inf)]
    return [*values, 0.0, -1e308]


@st.composite
def cases(draw: Any) -> tuple[Tree, list[dict[str, Any]]]:
    tree = draw(trees())
    rows = [
        {field.name: draw(st.sampled_from(values_of(tree, field))) for field in tree.fields}
        for _ in range(draw(st.integers(1, 6)))
    ]
    return tree, rows


SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def predicted(tree: Tree, rows: list[dict[str, Any]]) -> list[Any]:
    return tree.predict(rows).tolist() if tree.fields else [tree.leaves[0].prediction] * len(rows)


@SETTINGS
@given(cases())
def test_sql(case: tuple[Tree, list[dict[str, Any]]]) -> None:
    tree, rows = case
    database = sqlite3.connect(":memory:")
    names = [field.name for field in tree.fields]
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names) or "no_column"
    database.execute(f"CREATE TABLE t ({quoted})")
    marks = ", ".join("?" for _ in names) or "1"
    database.executemany(f"INSERT INTO t VALUES ({marks})", [[row[name] for name in names] for row in rows])
    found = [value for (value,) in database.execute(f"SELECT {export(tree, 'sql')} FROM t")]
    assert found == predicted(tree, rows)


@SETTINGS
@given(cases())
def test_python(case: tuple[Tree, list[dict[str, Any]]]) -> None:
    tree, rows = case
    module: dict[str, Any] = {}
    exec(compile(export(tree, "python"), "tree.py", "exec"), module)
    assert [module["predict"](row) for row in rows] == predicted(tree, rows)


@SETTINGS
@given(cases())
def test_rules(case: tuple[Tree, list[dict[str, Any]]]) -> None:
    tree, rows = case
    rules = [line.rsplit("  # ", 1)[0] for line in str(export(tree, "rules")).splitlines()]
    for row, expected in zip(rows, predicted(tree, rows), strict=True):
        held = [rule for rule in rules if _holds(tree, rule, row)]
        assert len(held) == 1
        assert (
            json.loads(held[0].rpartition(" = ")[2] if expected not in LABELS else held[0].split(" = ", 1)[1])
            == expected
        )


TEXT = r'"(?:[^"\\]|\\.)*"'
CONDITION = re.compile(
    rf"({TEXT}) (<=|>|in|not in|is missing|is not missing)(?: (\[[^\]]*\]|[-\d.e+]+))?( or missing)?"
)


def _holds(tree: Tree, rule: str, row: dict[str, Any]) -> bool:
    if rule.startswith("ALWAYS"):
        return True
    body = rule[3 : re.search(rf" THEN {TEXT} = ", rule).start()]  # type: ignore[union-attr]
    place, results = 0, []
    while place < len(body):
        match = CONDITION.match(body, place)
        assert match, body[place:]
        place = match.end() + (5 if body[match.end() :].startswith(" AND ") else 0)
        name, operator, text, tail = match.groups()
        field = next(field for field in tree.fields if field.name == json.loads(name))
        value = row[field.name]
        value = field.fill if value is None else value
        if operator.startswith("is"):
            results.append((value is None) == (operator == "is missing"))
        elif value is None:
            results.append(bool(tail))
        elif operator in ("<=", ">"):
            results.append((value <= float(text)) == (operator == "<="))
        else:
            results.append((value in json.loads(text)) == (operator == "in"))
    return all(results)


@SETTINGS
@given(cases())
def test_pmml(case: tuple[Tree, list[dict[str, Any]]]) -> None:
    tree, rows = case
    if refused_by_xml(tree):
        return
    root = ElementTree.fromstring(export(tree, "pmml"))
    found = [_score(root, row) for row in rows]
    expected = predicted(tree, rows)
    assert [str(value) if isinstance(value, int) else value for value in expected] == [
        float(value) if tree.task == "numbers" else value for value in found
    ]


def refused_by_xml(tree: Tree) -> bool:
    """XML has no way at all to hold most control characters; a tree that needs them is refused in a sentence."""
    texts = [tree.target, *map(str, tree.classes), *(field.name for field in tree.fields)]
    texts += [str(level) for field in tree.fields for level in field.levels]
    if not any("\x1b" in text for text in texts):
        return False
    with pytest.raises(DataError, match=r"D492.*u\{1b\}.*has a character that XML cannot hold"):
        export(tree, "pmml")
    return True


def _score(root: ElementTree.Element, row: dict[str, Any]) -> str:
    """What PMML 4.4 says of a TreeModel with missingValueStrategy `none`."""
    space = {"p": "http://www.dmg.org/PMML-4_4"}
    model = root.find("p:TreeModel", space)
    assert model is not None
    values: dict[str, Any] = {}
    for field in root.iterfind("p:DataDictionary/p:DataField", space):
        value = row.get(field.attrib["name"])
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            value = float(value) if field.attrib["dataType"] == "double" else text
        values[field.attrib["name"]] = value
    for field in model.iterfind("p:MiningSchema/p:MiningField", space):
        name = field.attrib["name"]
        if values[name] is None and "missingValueReplacement" in field.attrib:
            text = field.attrib["missingValueReplacement"]
            numeric = any(
                each.attrib["name"] == name and each.attrib["dataType"] == "double"
                for each in root.iterfind("p:DataDictionary/p:DataField", space)
            )
            values[name] = float(text) if numeric else text
    node = model.find("p:Node", space)
    while node is not None:
        children = node.findall("p:Node", space)
        if not children:
            return node.attrib["score"]
        node = next(child for child in children if _is_true(child[0], values))
    raise AssertionError("no node")


def _is_true(predicate: ElementTree.Element, values: dict[str, Any]) -> bool:
    kind = predicate.tag.partition("}")[2]
    if kind == "True":
        return True
    if kind == "CompoundPredicate":
        return any(_is_true(part, values) for part in predicate)
    value = values[predicate.attrib["field"]]
    if kind == "SimpleSetPredicate":
        texts = [re.sub(r"\\(.)", r"\1", text) for text in re.findall(r'"((?:[^"\\]|\\.)*)"', predicate[0].text or "")]
        return value in texts
    if predicate.attrib["operator"] == "isMissing":
        return value is None
    return value is not None and value <= float(predicate.attrib["value"])


@SETTINGS
@given(cases())
def test_onnx(case: tuple[Tree, list[dict[str, Any]]]) -> None:
    import onnxruntime as runtime

    tree, rows = case
    session = runtime.InferenceSession(export(tree, "onnx"), providers=["CPUExecutionProvider"])
    renamed = session.get_modelmeta().custom_metadata_map
    names = {field.name: field.name for field in tree.fields}
    names |= {json.loads(name): given for given, name in renamed.items()}
    assert {put.name for put in session.get_inputs()} == (set(names.values()) or {"rows"})
    inputs: dict[str, Any] = {}
    for field in tree.fields:
        column = [row[field.name] for row in rows]
        if field.levels:
            texts = ["" if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in column]
            inputs[names[field.name]] = np.array(texts, dtype=object)
        else:
            inputs[names[field.name]] = np.array([math.nan if v is None else v for v in column], dtype=np.float64)
    found, leaf, *shares = session.run(None, inputs or {"rows": np.zeros(len(rows))})
    assert found.tolist() == predicted(tree, rows)
    if tree.fields:
        assert leaf.tolist() == tree.apply(rows).tolist()
        if shares:
            assert np.array_equal(shares[0], tree.predict_proba(rows))


@settings(SETTINGS, max_examples=12)
@given(case=cases())
def test_c(case: tuple[Tree, list[dict[str, Any]]], tmp_path_factory: pytest.TempPathFactory) -> None:
    tree, rows = case
    library = _compiled(str(export(tree, "c")), tmp_path_factory.mktemp("c"))
    kinds = [ctypes.c_char_p if field.levels else ctypes.c_double for field in tree.fields]

    class Row(ctypes.Structure):
        _fields_ = [(f"field{n}", kind) for n, kind in enumerate(kinds)] or [("unused", ctypes.c_int)]

    library.treeml_predict.restype = ctypes.c_char_p if tree.task == "classes" else ctypes.c_double
    found = []
    for row in rows:
        cells: list[Any] = []
        for field in tree.fields:
            value = row[field.name]
            if field.levels:
                cells.append(None if value is None else _c_text(value))
            else:
                cells.append(math.nan if value is None else float(value))
        answer = library.treeml_predict(ctypes.byref(Row(*cells)))
        found.append(answer.decode() if isinstance(answer, bytes) else answer)
    assert found == [str(each) if tree.task == "classes" else each for each in predicted(tree, rows)]


def _c_text(value: Any) -> bytes:
    return (str(value).lower() if isinstance(value, bool) else str(value)).encode()


def test_c_has_no_function_that_is_not_called(tmp_path: Path) -> None:
    """A question whether levels are missing needs none of them."""
    field = Field("x", "category", ("a", "b"), missing=True)
    root = Branch(Question("x", "missing"), TreeLeaf("y", 1, (1, 0)), TreeLeaf("n", 1, (0, 1)))
    _compiled(str(export(Tree(root, "classes", "t", ("y", "n"), fields=(field,), inputs=("x",)), "c")), tmp_path)


def _compiled(text: str, folder: Path) -> ctypes.CDLL:
    source, library = folder / "tree.c", folder / "tree.so"
    source.write_text(text, encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", str(library), str(source), "-lm"], check=True)
    return ctypes.CDLL(str(library))


@SETTINGS
@given(cases())
def test_dot_has_the_same_paths(case: tuple[Tree, list[dict[str, Any]]]) -> None:
    tree, rows = case
    assume(not any(isinstance(node, Branch) and node.test.kind == "branch" for node in tree.nodes()))
    text = str(export(tree, "dot"))
    labels = dict(re.findall(r'^  (n\d+) \[label="((?:[^"\\]|\\.)*)"', text, re.M))
    edges = {(a, said): b for a, b, said in re.findall(r'(n\d+) -> (n\d+) \[label="((?:[^"\\]|\\.)*)"', text)}
    for path, leaf in tree.paths():
        place = "n0"
        for test, answer in path:
            column, condition = shown(test.column), test.answer_text(answer, tree.may_miss(test.column))
            assert labels[place].replace("\\\\", "\\").replace('\\"', '"') == column
            place = edges[place, condition.replace("\\", "\\\\").replace('"', '\\"')]
        assert labels[place].startswith(tree.prediction_text(leaf).replace("\\", "\\\\").replace('"', '\\"'))
    assert rows


def test_a_row_that_the_tree_refuses_has_no_prediction(tmp_path: Path) -> None:
    field = Field("age", "number")
    tree = Tree(
        Branch(Question("age", "at most", (3.5,)), TreeLeaf("a"), TreeLeaf("b")),
        "classes",
        "t",
        ("a", "b"),
        (),
        (field,),
        ("age",),
    )
    assert sqlite3.connect(":memory:").execute(
        f"SELECT {export(tree, 'sql')} FROM (SELECT NULL AS age)"
    ).fetchone() == (None,)
    module: dict[str, Any] = {}
    exec(str(export(tree, "python")), module)
    with pytest.raises(ValueError, match="age is missing"):
        module["predict"]({"age": None})
    library = _compiled(str(export(tree, "c")), tmp_path)
    assert library.treeml_leaf(ctypes.byref(ctypes.c_double(math.nan))) == -1
    import onnxruntime as runtime

    session = runtime.InferenceSession(export(tree, "onnx"), providers=["CPUExecutionProvider"])
    found, leaf, _ = session.run(None, {"age": np.array([math.nan, 3.5])})
    assert (found.tolist(), leaf.tolist()) == (["", "a"], [-1, 0])
    assert 'missingValueTreatment="returnInvalid"' in str(export(tree, "pmml"))


def test_deep_trees() -> None:
    node: Node = TreeLeaf("b")
    for number in range(300):
        node = (
            Branch(Question("x", "at most", (float(number),)), node, TreeLeaf("a"))
            if number % 2
            else Branch(Question("x", "at most", (float(number),)), TreeLeaf("a"), node)
        )
    tree = Tree(node, "classes", "t", ("a", "b"), (), (Field("x", "number"),), ("x",))
    module: dict[str, Any] = {}
    exec(str(export(tree, "python")), module)
    rows = [{"x": value} for value in (-1.0, 0.5, 77.2, 299.0, 1000.0)]
    assert [module["predict"](row) for row in rows] == tree.predict(rows).tolist()
    assert str(export(tree, "rules")).count("\n") == len(tree.leaves)


def test_clusters() -> None:
    leaves = (
        TreeLeaf((1.5, 2.0), 1, exact=(Fraction(3, 2), Fraction(2))),
        TreeLeaf((0.1, -4.0), 1, exact=(Fraction(1, 10), Fraction(-4))),
    )
    tree = Tree(
        Branch(Question("x", "at most", (1.0,)), *leaves),
        "clusters",
        "",
        (),
        ("p", "q"),
        (Field("x", "number"),),
        ("x",),
    )
    found = (
        sqlite3.connect(":memory:")
        .execute(f"SELECT {export(tree, 'sql')} FROM (SELECT 1.0 AS x UNION SELECT 2.0)")
        .fetchall()
    )
    assert sorted(found) == [(0.1, -4.0), (1.5, 2.0)]
    with pytest.raises(DataError):
        export(tree, "pmml")


def test_forms_are_known_by_name() -> None:
    tree = Tree(TreeLeaf("a", 3), "classes", "t", ("a", "b"))
    assert all(export(tree, form) for form in FORMS)
    with pytest.raises(ValueError, match="no form is called"):
        export(tree, "excel")


def test_the_command_line_knows_every_form() -> None:
    shown = CliRunner().invoke(treeml, ["show", "--help"]).output
    assert f"[{'|'.join(FORMS)}]" in "".join(shown.split())
    refused = CliRunner().invoke(treeml, ["show", "tree.json", "--as", "excel"])
    assert refused.exit_code == 2
    assert "'excel' is not one of 'text', 'dot'" in refused.output


def test_every_export_is_registered_by_its_own_name_with_endings_of_files() -> None:
    for name in FORMS:
        found = get(name)
        assert found.name == name
        assert found.endings
        assert all(ending.startswith(".") for ending in found.endings)


def test_the_public_module_exports_trees_and_forests() -> None:
    from treeml.export import export as public

    tree = Tree(TreeLeaf("a", 3), "classes", "t", ("a", "b"))
    assert public(tree, "rules") == export(tree, "rules")
