"""Files that earlier versions wrote: every later version reads them and finds the same answers.

The folders are named after versions and are never changed, only added to: a release adds its own. docs/stability.md
promises this, and docs/upgrading.md has a note for every change.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars
import pytest
from click.testing import CliRunner

import treeml as tml
from treeml.cli.main import treeml as command
from treeml.solving.certificates.check import Verdict, check_file
from treeml.studies.comparison.journal import read_records
from treeml.version import __version__

HERE = Path(__file__).parent
VERSIONS = sorted(path.name for path in HERE.iterdir() if path.is_dir() and path.name[0].isdecimal())


def files(pattern: str) -> list[Path]:
    return [path for version in VERSIONS for path in sorted((HERE / version).glob(pattern))]


def name(path: Path) -> str:
    return path.relative_to(HERE).as_posix()


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(command, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_there_are_files_of_every_version() -> None:
    assert VERSIONS[:2] == ["0.1", "0.2"]
    for version in VERSIONS:
        kinds = {path.suffixes[-1] for path in (HERE / version).iterdir()}
        assert {".tml", ".json", ".jsonl", ".csv"} <= kinds


def test_what_this_version_writes_is_kept() -> None:
    """Every kind of file and every form of a node; a release copies them into a folder of its own."""
    newest = HERE / VERSIONS[-1]
    assert VERSIONS[-1] == ".".join(__version__.split(".")[:2])
    assert {"trees.json", "trees.parquet", "certified.cert.gz"} <= {path.name for path in newest.iterdir()}
    stored = "".join(path.read_text(encoding="utf-8") for path in newest.glob("*.result.json"))
    for key in ("forest", "branch", "slopes", "curve", "because"):
        assert f'"{key}"' in stored, key


@pytest.mark.parametrize("certificate", files("*.cert.gz"), ids=name)
@pytest.mark.parametrize("reference", [False, True])
def test_a_certificate_is_verified(certificate: Path, reference: bool) -> None:
    assert check_file(certificate.parent / "rows.csv", certificate, reference).verdict is Verdict.VERIFIED


@pytest.mark.parametrize("spec", files("*.tml"), ids=name)
def test_a_spec_means_the_same(spec: Path) -> None:
    model = tml.load(spec)
    assert model.check() == ()
    assert tml.parse(str(model)) == model
    stored = spec.with_suffix(".result.json")
    if stored.exists():
        result = model.solve()
        before = json.loads(stored.read_text(encoding="utf-8"))
        assert result.is_optimal
        assert result.verified
        assert result.objective == pytest.approx(before["objective"], abs=1e-9)


@pytest.mark.parametrize("stored", files("*.result.json"), ids=name)
def test_a_result_shows_its_tree_or_forest(stored: Path, tmp_path: Path) -> None:
    content = json.loads(stored.read_text(encoding="utf-8"))
    spec = stored.with_name(stored.name.replace(".result.json", ".tml")).read_text(encoding="utf-8")
    rows = polars.read_csv(stored.parent / re.findall(r'^data "(.+)"$', spec, re.MULTILINE)[0])
    if "forest" in content:
        forest = tml.Forest.read(stored)
        assert tml.Forest.from_json(forest.to_json()) == forest
        assert tml.Forest.from_json(content["forest"]) == forest
        assert len(forest.predict(rows)) == 14
    else:
        tree = tml.Tree.read(stored)
        assert tml.Tree.from_json(tree.to_json()) == tree
        assert tml.Tree.from_json(content["tree"]) == tree
        assert len(tree.predict(rows)) == 14
    assert run("show", stored)
    run("report", stored, "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 1000


@pytest.mark.parametrize("journal", files("*.jsonl"), ids=name)
def test_a_journal_is_read_and_reported(journal: Path, tmp_path: Path) -> None:
    records = read_records(journal)
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert len(records) == len(lines) == 2
    run("report", journal, "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 1000


@pytest.mark.parametrize("stored", files("trees.parquet"), ids=name)
def test_a_set_of_trees_in_parquet_is_read(stored: Path) -> None:
    trees = tml.TreeSet.read(stored, data=stored.parent / "rows.csv")
    assert list(trees) == list(tml.load(stored.with_name("list.tml")).trees())
    assert len(trees.measure("errors")) == len(trees) == 2


@pytest.mark.parametrize("stored", files("trees.json"), ids=name)
def test_a_set_of_trees_is_read(stored: Path) -> None:
    trees = tml.TreeSet.read(stored, data=stored.parent / "rows.csv")
    content = json.loads(stored.read_text(encoding="utf-8"))
    assert content["treeml_trees"] == 1
    assert len(trees) == 3
    # The file is older than the rule that trees of equal function are listed once: two of its three trees are alike.
    again = tml.load(stored.with_name("list.tml")).trees()
    assert (len(again), again.listed.written) == (2, 3)
    assert all(any(tree == before for before in trees) for tree in again)
