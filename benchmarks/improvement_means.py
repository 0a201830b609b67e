"""Data folder -> mean depths and test accuracies per set of limits, as in Tables 1 and 2 of Schidler and Szeider 2021.

python -m benchmarks.improvement_means --data-dir DIR [--fold 0] [--within 30] [-o FILE [--resume]]

The paper ran 37 data sets, each fold for 12 hours. This is a short version: the sets of the folder, with the starting
trees that are there, and seconds instead of hours. Its rows are the starting trees, the SAT solver inside with the
limits d60, d300 and d800, DT-SLIM* (`complete`: without the encoding by pairs of rows and levels, d300), and the native
search. Folds are run one after the other over all sets, so that an interrupted run has whole folds; with -o every run
becomes a line of a file, and --resume skips the runs in the file. benchmarks.improvement_folds makes such a folder for
other sets, with the trees of Weka.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, pvariance
from typing import Any

import click

from benchmarks.data_folder import folder_of_folders
from benchmarks.improvement import Means, measure
from treeml.solving.report import table_text

VARIANTS = {
    "d60": ("sat", "d60"),
    "d300": ("sat", "d300"),
    "d800": ("sat", "d800"),
    "DT-SLIM*, d300": ("sat(encoding = complete)", "d300"),
    "native": ("native", None),
}
PAPER = {  # mean and variance of the depth, mean test accuracy, number of improved trees; 37 sets, 12 hours a fold
    ("weka", "start"): (22.63, 436.76, 0.67, None),
    ("weka", "d60"): (13.64, 244.42, 0.75, 36),
    ("weka", "d300"): (13.45, 261.29, 0.76, 36),
    ("weka", "d800"): (14.33, 318.01, 0.76, 35),
    ("iti", "start"): (10.75, 28.80, 0.77, None),
    ("iti", "d60"): (8.55, 22.99, 0.77, 36),
    ("iti", "d300"): (8.35, 22.35, 0.78, 36),
    ("iti", "d800"): (8.59, 29.60, 0.77, 35),
}
Runs = list[dict[str, Any]]


@click.command()
@click.option("--data-dir", type=click.Path(path_type=Path, exists=True), required=True, help="A folder of folders.")
@click.option("--fold", "folds", multiple=True, type=click.IntRange(0, 4), default=(0,), show_default=True)
@click.option("--within", default=30.0, show_default=True, help="Seconds for a fold.")
@click.option("--patience", default=10.0, show_default=True, help="Seconds for one subtree.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Append every run to this file, one line each.")
@click.option("--resume", is_flag=True, help="Skip the runs that are already in the file.")
def main(
    data_dir: Path, folds: tuple[int, ...], within: float, patience: float, output: Path | None, resume: bool
) -> None:
    """Run every variant on every set, and print a table for each kind of start."""
    data_dir = folder_of_folders(data_dir, "slim")
    runs: Runs = []
    if resume and output is not None and output.exists():
        runs = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    done = {(run["start"], run["set"], run["fold"], run["variant"]) for run in runs}
    for fold in folds:
        for folder in sorted(path for path in data_dir.iterdir() if path.is_dir()):
            for start in ("weka", "iti"):
                if not (folder / f"fold{fold}-{start}.txt").is_file():
                    continue
                for variant, (backend, limits) in VARIANTS.items():
                    if (start, folder.name, fold, variant) in done:
                        continue
                    found = measure(folder, start, fold, Means(backend, within, patience, limits))
                    found["variant"] = variant
                    runs.append(found)
                    if output is not None:
                        with output.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(found) + "\n")
    for start in ("weka", "iti"):
        click.echo(f"{start}\n{table_text(lines([run for run in runs if run['start'] == start], start))}\n")


def lines(runs: Runs, start: str) -> list[dict[str, Any]]:
    """The rows of a table: means over the runs that every variant has finished."""
    per_variant = {name: {place(run): run for run in runs if run["variant"] == name} for name in VARIANTS}
    shared = sorted(set.intersection(*(set(found) for found in per_variant.values())))
    if not shared:
        return []
    first = [per_variant["native"][key] for key in shared]
    table = [line("start", start, [run["before"] for run in first], [run["accuracy before"] for run in first])]
    lowest = {key: min(found[key]["depth"] for found in per_variant.values()) for key in shared}
    for name, found in per_variant.items():
        chosen = [found[key] for key in shared]
        row = line(name, start, [run["depth"] for run in chosen], [run["accuracy"] for run in chosen])
        row["improved"] = f"{sum(run['depth'] < run['before'] for run in chosen)} of {len(chosen)}"
        row["best"] = sum(run["depth"] == lowest[place(run)] for run in chosen)
        table.append(row)
    return table


def place(run: dict[str, Any]) -> tuple[str, int]:
    return run["set"], run["fold"]


def line(name: str, start: str, depths: list[int], accuracies: list[float]) -> dict[str, Any]:
    depth, variance, accuracy, improved = PAPER.get((start, name), (None, None, None, None))
    return {
        "limits": name,
        "depth": f"{mean(depths):.2f}",
        "variance": f"{pvariance(depths):.2f}",
        "test": f"{mean(accuracies):.2f}",
        "improved": "",
        "best": "",
        "paper's depth": "" if depth is None else f"{depth:.2f}",
        "variance there": "" if variance is None else f"{variance:.2f}",
        "test there": "" if accuracy is None else f"{accuracy:.2f}",
        "improved there": "" if improved is None else f"{improved} of 37",
    }


if __name__ == "__main__":
    main()
