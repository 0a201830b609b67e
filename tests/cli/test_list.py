"""`treeml list`: what it prints, writes and answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import treeml as tml
from treeml.cli.main import treeml

EXAMPLE = Path(__file__).parents[2] / "examples" / "list"


@pytest.fixture
def spec(tmp_path: Path) -> str:
    shutil.copytree(EXAMPLE, tmp_path / "list")
    return str(tmp_path / "list" / "list.tml")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(treeml, ["list", *arguments])


def test_it_counts_and_shows_the_first_tree(spec: str) -> None:
    done = run(spec)
    assert done.exit_code == 0
    assert done.stdout.startswith("5 trees, best value 0.235: every tree up to 0.24675 (trees of equal")
    assert "tree 0, value 0.235:" in done.stdout
    assert "tree 1" not in done.stdout


def test_json_has_the_counts_and_the_trees(spec: str) -> None:
    found = json.loads(run(spec, "--json", "--show", "3").stdout)
    assert (found["count"], found["complete"]) == (5, True)
    assert (found["written"], found["merged"]) == (8, True)
    assert sum(trees for _, trees in found["histogram"]) == 5
    assert len(found["trees"]) == 3
    assert tml.Tree.from_json(found["trees"][0]["tree"]).depth == 2


def test_options_replace_the_statement(spec: str) -> None:
    assert json.loads(run(spec, "--most", "3", "--json", "--show", "0").stdout)["count"] == 3
    wide = json.loads(run(spec, "--slack", "20%", "--json", "--show", "0").stdout)
    assert wide["count"] > 8
    like = json.loads(run(spec, "--like", "treefarms", "--json", "--show", "0").stdout)
    assert (like["style"], like["limit"]) == ("treefarms", 0.24675)
    wrong = run(spec, "--slack", "much")
    assert wrong.exit_code == 2
    assert "not a distance" in wrong.output


def test_conditions_choose_and_the_set_is_written(spec: str, tmp_path: Path) -> None:
    for name in ("kept.json", "kept.parquet"):
        path = tmp_path / name
        done = run(spec, "--where", "features_used <= 1", "--slack", "20%", "--by", "leaves", "-o", str(path))
        assert done.exit_code == 0
        kept = tml.TreeSet.read(path)
        assert f"{kept.count:,} of them meet features_used <= 1" in done.stdout
        assert all(len(tree.columns) <= 1 for tree in kept)
        assert "best by leaves:" in done.stdout
    assert run(spec, "-o", str(tmp_path / "no" / "folder.json")).exit_code != 0


def test_exit_codes_say_whether_trees_are_known(spec: str) -> None:
    late = run(spec, "--within", "0s")
    assert late.exit_code not in (0, 2)
    assert "ran out of time" in late.stdout
    refused = run(spec, "--where", "no_such_measure <= 1")
    assert refused.exit_code != 0
    assert "no_such_measure" in refused.stderr


def test_quiet_prints_one_line_unless_trees_are_asked_for(spec: str) -> None:
    assert run(spec, "-q").stdout.count("\n") == 1
    shown = run(spec, "-q", "--show", "1").stdout
    assert "tree 0, value 0.235:" in shown
    assert "further values" not in shown
    assert "value  trees" not in shown


def test_a_split_of_equal_leaves_may_be_the_only_tree_that_meets_a_requirement(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,class\n" + "0,n\n0,n\n0,y\n1,n\n1,n\n1,y\n", encoding="utf-8")
    spec = tmp_path / "leaves.tml"
    spec.write_text(
        'data "rows.csv"\npredict class\nminimize errors\nrequire depth <= 2\n'
        "require leaf_errors <= 1\nlist 10 trees\n",
        encoding="utf-8",
    )
    done = run(str(spec))
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("1 tree, best value 2: every tree that meets the requirements")
