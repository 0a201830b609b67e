"""An installed package adds an export in one file: the command line writes trees with it, and refuses broken ones."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

from treeml.trees.forest import Forest
from treeml.trees.nodes import Branch, Field, TreeLeaf, TreeTest
from treeml.trees.tree import Tree

MODULE = """
from treeml.export import Export


def write(tree):
    return "".join(f"{leaf.prediction};{leaf.rows}\\n" for leaf in tree.leaves)


EXPORT = Export("leaf-table", (".csv",), write)
"""


def install(folder: Path, module: str) -> dict[str, str]:
    """Put a package with one module and its entry point into a folder; the environment in which it is installed."""
    (folder / "leaf_table.py").write_text(module, encoding="utf-8")
    described = folder / "leaf_table-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: leaf-table\nVersion: 1.0\n", encoding="utf-8")
    (described / "entry_points.txt").write_text("[treeml.exports]\nleaf-table = leaf_table:EXPORT\n", encoding="utf-8")
    return {**os.environ, "PYTHONPATH": str(folder)}


def show(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "treeml", "show", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def small_tree() -> Tree:
    root = Branch(TreeTest("age", "at most", (40.0,)), TreeLeaf("no", 5, (5, 0)), TreeLeaf("yes", 3, (1, 2)))
    return Tree(root, "classes", "disease", ("no", "yes"), (), (Field("age", "number"),), ("age",))


def test_an_export_of_another_package_is_used_by_name(tmp_path: Path) -> None:
    environment = install(tmp_path, MODULE)
    small_tree().write(tmp_path / "tree.json")
    shown = show(environment, str(tmp_path / "tree.json"), "--as", "leaf-table")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == "no;5\nyes;3\n"
    written = show(environment, str(tmp_path / "tree.json"), "--as", "leaf-table", "-o", str(tmp_path / "out.csv"))
    assert written.returncode == 0, written.stderr
    assert (tmp_path / "out.csv").read_text() == "no;5\nyes;3\n"
    assert "leaf-table" in "".join(show(environment, "--help").stdout.split())


def test_an_export_for_trees_alone_refuses_forests(tmp_path: Path) -> None:
    environment = install(tmp_path, MODULE)
    Forest((small_tree(),), (Fraction(1),)).write(tmp_path / "forest.json")
    shown = show(environment, str(tmp_path / "forest.json"), "--as", "leaf-table")
    assert shown.returncode == 1
    assert "error[D492]: the form `leaf-table` is for single trees, and this is a forest" in shown.stderr


def test_an_export_that_does_not_load_is_a_message_with_its_package(tmp_path: Path) -> None:
    environment = install(tmp_path, "import a_module_that_is_not_there\n")
    small_tree().write(tmp_path / "tree.json")
    shown = show(environment, str(tmp_path / "tree.json"), "--as", "leaf-table")
    assert shown.returncode == 1
    assert "error[D492]: the form `leaf-table` does not load" in shown.stderr
    assert "`leaf_table:EXPORT` of the package leaf-table: ModuleNotFoundError" in shown.stderr
    assert show(environment, str(tmp_path / "tree.json"), "--as", "text").returncode == 0
