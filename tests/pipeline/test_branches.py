"""`binarize c by branches` from the text to predictions, files and pictures."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import treeml as tml
from treeml.cli.main import treeml
from treeml.data.bind import bind
from treeml.data.read import load
from treeml.lang.diagnostic import SpecError
from treeml.solving.verify import verify
from treeml.trees.export.registry import export
from treeml.trees.nodes import Branch, fan
from treeml.trees.tree import Tree

ROWS = {
    "color": ["red", "red", "green", "green", "blue", "blue", "white", "white", "red", None],
    "size": [1, 2, 1, 2, 1, 2, 1, 3, 3, 3],
    "y": ["a", "a", "b", "b", "c", "a", "b", "b", "a", "c"],
}
SPEC = """predict y
column color : category, missing separate
binarize color by branches
minimize errors
require depth <= {depth}
solve with {backend}
"""


def solved(depth: int = 2, backend: str = "oracle") -> tml.Result:
    return tml.parse(SPEC.format(depth=depth, backend=backend)).solve(pl.DataFrame(ROWS))


@pytest.mark.parametrize("backend", ["oracle", "cart"])
def test_one_split_has_a_branch_per_level_and_one_for_missing_values(backend: str) -> None:
    result = solved(1, backend)
    tree = result.tree
    assert result.verified
    assert tree is not None
    assert isinstance(tree.root, Branch)
    found = fan(tree.root)
    assert found is not None
    assert [test.values for test, _ in found.branches] == [("blue",), ("green",), ("white",), ()]
    assert (tree.depth, len(tree.leaves), tree.columns) == (1, 5, ("color",))
    assert str(tree).splitlines()[0] == "predict y"
    assert [line.split(":")[0] for line in str(tree).splitlines()[1:]] == [
        "├─ color is blue",
        "├─ color is green",
        "├─ color is white",
        "├─ color is missing",
        "└─ color is red",
    ]


def test_depth_two_is_proved_and_predicts_its_rows() -> None:
    result = solved()
    assert result.status is tml.Status.OPTIMAL
    assert result.tree is not None
    assert result.tree.predict(pl.DataFrame(ROWS).drop("y")).tolist() == ROWS["y"]


def test_an_unknown_level_takes_the_largest_branch() -> None:
    tree = solved(1).tree
    assert tree is not None
    rows = [{"color": color, "size": 1} for color in ("purple", "red", None, "green")]
    assert tree.predict(rows).tolist() == ["a", "a", "c", "b"]


def test_a_tree_survives_its_file() -> None:
    tree = solved().tree
    assert tree is not None
    again = Tree.from_json(json.loads(json.dumps(tree.to_json())))
    assert again == tree
    assert again.depth == 2


def test_pictures_have_one_box_with_all_branches() -> None:
    tree = solved(1).tree
    assert tree is not None
    dot, svg = tree.to_dot(), tree.to_svg()
    assert dot.count("n0 -> ") == 5
    for level in ("blue", "green", "white", "red", "missing"):
        assert f'[label="is {level}"]' in dot
        assert f">is {level}</text>" in svg
    spread = tree.to_svg(data=pl.DataFrame(ROWS), row={"color": "white"})
    assert spread.count('stroke-dasharray="3 2"') == 4  # between the five branches
    assert tree.to_text({"color": None}).count("▶ color is missing") == 1


def test_rules_name_only_the_branch_that_is_taken(tmp_path: Path) -> None:
    tree = solved(1).tree
    assert tree is not None
    rules = export(tree, "rules")
    assert 'IF "color" in ["green"] THEN "y" = "b"  # 2 rows' in str(rules).splitlines()
    assert 'IF "color" is missing THEN "y" = "c"  # 1 row' in str(rules).splitlines()
    file = tmp_path / "tree.json"
    file.write_text(json.dumps(tree.to_json()))
    shown = CliRunner().invoke(treeml, ["show", str(file)])
    assert "├─ color is green: y = b" in shown.output


def test_verify_rejects_a_branch_that_holds_several_levels() -> None:
    model = tml.parse(SPEC.format(depth=1, backend="oracle"))
    result = model.solve(pl.DataFrame(ROWS))
    tree = result.tree
    assert tree is not None
    assert isinstance(tree.root, Branch)
    dataset = bind(result.spec, load(pl.DataFrame(ROWS), types=result.spec.columns))
    assert verify(tree, dataset).verified
    part = Tree(Branch(tree.root.test, tree.root.yes, tree.leaves[-1]), *[getattr(tree, n) for n in NAMES])
    wrong = verify(part, dataset).mismatches
    assert any("holds several levels" in sentence for sentence in wrong)


NAMES = ("task", "target", "classes", "outputs", "fields", "inputs")


def test_two_levels_are_a_question() -> None:
    rows = pl.DataFrame({"sex": ["F", "M", "F"], "y": ["a", "b", "a"]})
    result = tml.parse("predict y\nbinarize sex by branches\nminimize errors\nrequire depth <= 1").solve(rows)
    assert result.tree is not None
    assert str(result.tree).startswith("predict y\n├─ sex is M: y = b")


def test_other_back_ends_say_why_not() -> None:
    with pytest.raises(SpecError, match="splits a node in two"):
        solved(2, "native")


def test_lists_and_certificates_say_why_not(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    pl.DataFrame(ROWS).drop_nulls().write_csv(rows)
    text = "predict y\nbinarize color by branches\nminimize errors\nrequire depth <= 1\n"
    spec = tmp_path / "spec.tml"
    spec.write_text(f'data "rows.csv"\n{text}list 5 trees\n')
    listed = CliRunner().invoke(treeml, ["list", str(spec)])
    assert "trees are listed over yes-or-no tests" in listed.output
    spec.write_text(f'data "rows.csv"\n{text}')
    certified = CliRunner().invoke(treeml, ["solve", str(spec), "--certificate", str(tmp_path / "proof")])
    assert "`color` is split by branches, and certificates cover yes-or-no tests" in certified.output


def test_a_forest_of_trees_with_branches_is_proved() -> None:
    rows = pl.DataFrame(ROWS).drop_nulls().with_columns(y=pl.Series(list("ababbaabb")))
    text = "predict y\nbinarize color by branches\nmaximize margin\nrequire depth <= 2\nensemble by hardmargin"
    result = tml.parse(text).solve(rows)
    assert result.verified
    assert result.status is tml.Status.OPTIMAL


def test_numbers_have_no_branches() -> None:
    text = "predict y\ncolumn size : number\nbinarize size by branches\nminimize errors\nrequire depth <= 1"
    with pytest.raises(SpecError, match="T317"):
        tml.parse(text).solve(pl.DataFrame(ROWS))


def test_names_of_other_tools_lead_to_branches() -> None:
    with pytest.raises(SpecError, match="branches"):
        tml.parse("predict y\nbinarize color by multiway\nminimize errors").solve(pl.DataFrame(ROWS))


def test_branches_that_predict_the_same_stay_apart() -> None:
    """All orders of two classes over the levels, so that the last two branches are alike in some of them."""
    for number in range(1, 2**4 - 1):
        labels = ["yes" if number >> level & 1 else "no" for level in range(4)]
        rows = pl.DataFrame({"c": list("pqrs") * 2, "y": labels * 2})
        result = tml.parse("predict y binarize c by branches minimize errors require depth <= 1").solve(rows)
        assert result.objective == 0
        assert result.tree is not None
        assert len(result.tree.leaves) == 4


def test_trees_of_forests_keep_all_branches_beside_equal_tests() -> None:
    columns = {"same": list("xyzzzxx"), "color": list("xyzzzxx"), "y": list("babbaba")}
    text = "predict y\nbinarize color by branches\nensemble by lpboost(nu = 0.9)\nmaximize margin\nrequire depth <= 1"
    result = tml.parse(text).solve(columns)
    assert result.is_optimal
    alone = tml.parse(text).solve({name: columns[name] for name in ("color", "y")})
    assert alone.objective == result.objective
