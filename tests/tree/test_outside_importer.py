"""An installed package adds an importer in one file: `start from "file"` reads the trees of its format."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

MODULE = """
from treeml.trees.importing.contract import Importer, SketchLeaf, SketchSplit


def recognizes(source):
    return isinstance(source, str) and source.startswith("NESTED ")


def read(source, origin, dataset):
    words = source.split()[1:]

    def node():
        word = words.pop(0)
        if word != "?":
            return SketchLeaf(word)
        column, threshold = words.pop(0), words.pop(0)
        return SketchSplit(column, "<=", threshold, node(), node())

    return node()


IMPORTER = Importer("Nested", recognizes, read)
"""
DATA = "size,weight,label\n1,0.5,a\n2,1.5,b\n1,2.5,a\n3,3.5,c\n2,4.5,c\n3,5.5,c\n"
SPEC = 'data "data.csv"\npredict label\nminimize errors\nstart from "tree.nested"\nimprove by subtrees\n'


def install(folder: Path, module: str) -> dict[str, str]:
    """Put a package with one module and its entry point into a folder; the environment in which it is installed."""
    (folder / "nested.py").write_text(module, encoding="utf-8")
    described = folder / "nested-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: nested\nVersion: 1.0\n", encoding="utf-8")
    (described / "entry_points.txt").write_text("[treeml.importers]\nnested = nested:IMPORTER\n", encoding="utf-8")
    return {**os.environ, "PYTHONPATH": str(folder)}


def solve(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "treeml", "solve", str(folder / "spec.tml"), "--json"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def write_problem(folder: Path, tree: str) -> None:
    (folder / "data.csv").write_text(DATA, encoding="utf-8")
    (folder / "spec.tml").write_text(SPEC, encoding="utf-8")
    (folder / "tree.nested").write_text(tree, encoding="utf-8")


def test_a_tree_of_another_format_is_improved(tmp_path: Path) -> None:
    write_problem(tmp_path, "NESTED ? size 1 a ? weight 2 b c\n")
    solved = solve(tmp_path, install(tmp_path, MODULE))
    assert solved.returncode == 0, solved.stderr
    assert json.loads(solved.stdout)["objective"] == 0


def test_names_are_looked_up_in_the_data(tmp_path: Path) -> None:
    write_problem(tmp_path, "NESTED ? length 1 a b\n")
    solved = solve(tmp_path, install(tmp_path, MODULE))
    assert solved.returncode == 1
    assert "the starting tree asks about `length`" in solved.stderr


def test_without_the_package_the_file_is_refused(tmp_path: Path) -> None:
    write_problem(tmp_path, "NESTED ? size 1 a ? weight 2 b c\n")
    solved = solve(tmp_path, dict(os.environ))
    assert solved.returncode == 1
    assert "error[D481]" in solved.stderr


def test_an_importer_that_does_not_load_is_a_message_with_its_package(tmp_path: Path) -> None:
    write_problem(tmp_path, "NESTED a\n")
    solved = solve(tmp_path, install(tmp_path, "IMPORTER = 1\n"))
    assert solved.returncode == 1
    assert "error[D481]: the importer `nested` does not load" in solved.stderr
    assert "`nested:IMPORTER` of the package nested: it is of type int, not Importer" in solved.stderr
