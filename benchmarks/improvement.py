"""Data folder -> deep trees of Weka and ITI made shallower, compared with Tables 3 and 4 of Schidler and Szeider 2021.

python -m benchmarks.improvement --data-dir DIR [--set hungarian] [--start weka] [--long] [-o FILE [--resume]]

A data set is a folder with `fold0-train.csv`, `fold0-test.csv`, `fold0-weka.txt`, `fold0-iti.txt` and so on; the target
is `label`. Folds 0 and 1 are run; with --long, all five. Every fold stops by itself or at the time limit; the paper
ran each for 12 hours. With -o every finished fold becomes a line of a file. --resume skips the folds in the file and
continues an interrupted fold from its checkpoint, which is next to the file. Exit code 1: a mean is above the paper's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import mean
from typing import Any

import click
import numpy as np

import treeml as tml
from benchmarks.data_folder import folder_of_folders
from treeml.backends.contract import Deadline
from treeml.backends.improve.instance import Reach
from treeml.backends.improve.rebuild import THOROUGH, Rebuild
from treeml.backends.improve.vertices import grow, node_of, replace
from treeml.data.table import Dataset
from treeml.problem.evaluate import Routed
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare
from treeml.solving.report import table_text
from treeml.solving.request import Request
from treeml.solving.validation import scores
from treeml.trees.importing.read import read_start
from treeml.trees.raising import raise_tree

# Depth and test accuracy of the starting tree and of DT-SLIM with d800, c800: means over five folds.
PUBLISHED = {
    ("weka", "australian"): (53.0, 0.14, 22.0, 0.14),
    ("weka", "haberman"): (71.2, 0.66, 63.8, 0.62),
    ("weka", "hiv_schilling"): (18.8, 0.81, 11.8, 0.79),
    ("weka", "hungarian"): (27.0, 0.19, 9.4, 0.59),
    ("weka", "objectivity"): (36.6, 0.55, 10.6, 0.78),
    ("iti", "australian"): (14.0, 0.42, 12.6, 0.48),
    ("iti", "hiv_1625"): (13.2, 0.85, 10.0, 0.83),
    ("iti", "hungarian"): (14.0, 0.38, 9.6, 0.59),
    ("iti", "kr-vs-kp"): (14.0, 0.98, 10.2, 0.97),
}
AT_DEPTH = "accuracy at the paper's depth"
ROUTINE, LONG = (0, 1), (0, 1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class Means:
    """How subtrees are improved: by which back-end, for how long, and within which limits of the paper."""

    backend: str
    within: float  # seconds for a fold
    patience: float  # seconds for a subtree
    limits: str | None = None


@click.command()
@click.option("--data-dir", type=click.Path(path_type=Path, exists=True), required=True, help="A folder of folders.")
@click.option("--set", "sets", multiple=True, help="Only this set; can be given several times.")
@click.option("--start", "starts", multiple=True, type=click.Choice(["weka", "iti"]), help="Only these start trees.")
@click.option("--fold", "folds", multiple=True, type=click.IntRange(0, 4), help="Only this fold.")
@click.option("--long", "is_long", is_flag=True, help="All five folds.")
@click.option("--within", default=60.0, show_default=True, help="Seconds for a fold.")
@click.option("--with", "backend", default="native", show_default=True, help="The back-end for the subtrees.")
@click.option("--patience", default=10.0, show_default=True, help="Seconds for one subtree.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Append every fold to this file, one line each.")
@click.option("--resume", is_flag=True, help="Skip the folds that are already in the file.")
def main(
    data_dir: Path,
    sets: tuple[str, ...],
    starts: tuple[str, ...],
    folds: tuple[int, ...],
    is_long: bool,
    within: float,
    backend: str,
    patience: float,
    output: Path | None,
    resume: bool,
) -> None:
    """Run the folds, and print one line for each start and set."""
    data_dir = folder_of_folders(data_dir, "slim", sets)
    chosen = folds or (LONG if is_long else ROUTINE)
    known = list(_known(output)) if resume else []
    lines = []
    for start, name in PUBLISHED:
        if (sets and name not in sets) or (starts and start not in starts):
            continue
        done = {(each["start"], each["set"], each["fold"]): each for each in known}
        runs = []
        for fold in chosen:
            found = done.get((start, name, fold))
            if found is None:
                checkpoint = None if output is None else output.with_name(f"{output.stem}-{start}-{name}-{fold}.json")
                found = measure(data_dir / name, start, fold, Means(backend, within, patience), checkpoint)
                if output is not None:
                    with output.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(found) + "\n")
            click.echo(json.dumps(found), err=True)
            runs.append(found)
        lines.append(_line(start, name, runs))
    click.echo(table_text(lines))
    raise SystemExit(1 if any(line["verdict"] == "ABOVE" for line in lines) else 0)


def measure(folder: Path, start: str, fold: int, means: Means, checkpoint: Path | None = None) -> dict[str, Any]:
    """One fold: the starting tree and the result."""
    model = tml.Model()
    model.predict("label")
    model.minimize(tml.depth)
    model.require(tml.errors == 0)
    model.start_from(folder / f"fold{fold}-{start}.txt")
    options: dict[str, Any] = {"patience": means.patience}
    if means.limits is not None:
        options["limits"] = means.limits
    if checkpoint is not None:
        options["checkpoint"] = str(checkpoint.resolve())
    model.improve("subtrees", within=tml.seconds(means.within), **options)
    model.validate(on=folder / f"fold{fold}-test.csv")
    train = folder / f"fold{fold}-train.csv"
    result = model.solve(train, backend=means.backend)
    assert result.tree is not None
    assert result.validation is not None
    assert result.verified
    dataset, request = prepare(model, train)
    unseen, _ = prepare(model, folder / f"fold{fold}-test.csv")
    before = read_start(folder / f"fold{fold}-{start}.txt", dataset)
    published = PUBLISHED.get((start, folder.name))
    wanted = result.tree.depth if published is None else published[2]
    return {
        "start": start,
        "set": folder.name,
        "fold": fold,
        "before": before.depth,
        "depth": result.tree.depth,
        "leaves before": len(before.leaves),
        "leaves": len(result.tree.leaves),
        "errors": result.measures["errors"],
        "accuracy before": round(scores(before, unseen)["accuracy"], 4),
        "accuracy": round(result.validation.parts[0].test["accuracy"], 4),
        AT_DEPTH: round(_at_depth(result, dataset, request, unseen, wanted), 4),
        "status": result.status.value,
        "seconds": round(result.seconds, 1),
        "reached at": round(result.trace[-1].seconds, 1),
        "rounds": result.statistics["rounds"],
    }


def _at_depth(result: tml.Result, dataset: Dataset, request: Request, unseen: Dataset, depth: float) -> float:
    """The test accuracy of the first tree on the way that is as shallow as the paper's; of the last if none is.

    Levels cost accuracy, so only trees of about the same depth can be compared. The tree is built again with fewer
    leaves, as `improve` does with the last one.
    """
    lowered = lower(dataset, request).form(numeric=True)
    everybody = np.arange(lowered.problem.rows)
    trees = [grow(moment.tree, lowered.problem, everybody) for moment in result.trace if moment.tree is not None]
    root = next((tree for tree in trees if tree.height <= ceil(depth)), trees[-1])
    classes = Routed(lowered.problem, node_of(root)).labels.astype(np.int32)
    search = Rebuild(lowered.problem, classes, Reach(root.height, lambda _: len(everybody)), 10.0, THOROUGH)
    while (found := search.next(root, Deadline())) is not None:
        root = replace(*found)
    return scores(raise_tree(node_of(root), lowered.questions, dataset), unseen)["accuracy"]


def _known(output: Path | None) -> Iterator[dict[str, Any]]:
    if output is not None and output.exists():
        for line in output.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def _line(start: str, name: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    their_before, their_old, their_depth, their_accuracy = PUBLISHED[start, name]
    depth = mean(run["depth"] for run in runs)
    return {
        "start": start,
        "set": name,
        "folds": len(runs),
        "depth before": f"{mean(run['before'] for run in runs):.1f}",
        "depth": f"{depth:.1f}",
        "paper before": f"{their_before:.1f}",
        "paper": f"{their_depth:.1f}",
        "verdict": "at or below" if depth <= their_depth else "ABOVE",
        "test": f"{mean(run['accuracy before'] for run in runs):.2f} -> {mean(run['accuracy'] for run in runs):.2f}",
        "at paper's depth": f"{mean(run[AT_DEPTH] for run in runs):.2f}",
        "paper's test": f"{their_old:.2f} -> {their_accuracy:.2f}",
        "errors": sum(run["errors"] for run in runs),
        "seconds": f"{mean(run['seconds'] for run in runs):.0f}",
        "reached at": f"{mean(run['reached at'] for run in runs):.0f}",
    }


if __name__ == "__main__":
    main()
