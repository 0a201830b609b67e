"""How many rows a local instance may have at each depth, for a solver and a time: the limits of `improve`, calibrated.

python -m benchmarks.improvement_limits --data-dir DIR --with sat --seconds 60 [--set hungarian] [--depth 3 --depth 6]

This is the procedure of Schidler and Szeider 2021, section 6: subtrees with more and more levels and rows are cut out
of starting trees, and the solver has to find a tree that is one level shallower. A limit is acceptable if most of its
instances are decided, either way, within the time. The result is printed next to the limits d60, d300 and d800 that
TreeML uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from time import monotonic

import click
import numpy as np

import treeml as tml
from benchmarks.data_folder import folder_of_folders
from treeml.backends import registry
from treeml.backends.contract import Deadline, Limits
from treeml.backends.improve.inner import ByBackend
from treeml.backends.improve.instance import LocalInstance, Reach, cut_instance
from treeml.backends.improve.limits import SETS, reach_of
from treeml.backends.improve.vertices import Vertex, grow
from treeml.measures.lower_dataset import lower
from treeml.problem.problem import Problem
from treeml.solving.pipeline import prepare
from treeml.solving.report import table_text
from treeml.trees.importing.read import lower_start, read_start

ROWS = (10, 15, 20, 30, 45, 70, 100, 150, 225, 350, 500, 1000)


@click.command()
@click.option("--data-dir", type=click.Path(path_type=Path, exists=True), required=True, help="A folder of folders.")
@click.option("--set", "sets", multiple=True, help="Only this set; can be given several times.")
@click.option("--depth", "depths", multiple=True, type=int, help="Only this depth; can be given several times.")
@click.option("--with", "backend", default="sat", show_default=True, help="The solver.")
@click.option("--seconds", default=60.0, show_default=True, help="For one instance.")
@click.option("--instances", default=3, show_default=True, help="For each depth and number of rows.")
def main(
    data_dir: Path, sets: tuple[str, ...], depths: tuple[int, ...], backend: str, seconds: float, instances: int
) -> None:
    """Measure, and print the most rows for every depth."""
    data_dir = folder_of_folders(data_dir, "slim", sets)
    folders = [folder for folder in sorted(data_dir.iterdir()) if not sets or folder.name in sets]
    worlds = [world for folder in folders for world in _worlds(folder)]
    inner = ByBackend(((registry.get(backend), {}),), Limits(), seconds)
    lines = []
    for depth in depths or (3, 4, 5, 6, 8, 10, 12, 15):
        most, slowest = 0, 0.0
        for rows in ROWS:
            times = [_decided(instance, inner, seconds) for instance in islice(_cut(worlds, depth, rows), instances)]
            decided = [time for time in times if time is not None]
            if times and 2 * len(decided) <= len(times):
                break
            if not times:
                continue  # no subtree of this depth has that many distinct rows
            most, slowest = rows, max(decided)
        kept = {name: reach_of(name).rows(depth) if depth <= SETS[name][0] else 0 for name in SETS}
        lines.append({"depth": depth, "rows": most, "slowest": f"{slowest:.1f} s", **kept})
    click.echo(table_text(lines))


World = tuple[Problem, Vertex, "np.ndarray[tuple[int], np.dtype[np.int32]]"]


def _worlds(folder: Path) -> Iterator[World]:
    """The starting trees of the first fold, with their predictions."""
    for start in ("weka", "iti"):
        path = folder / f"fold0-{start}.txt"
        if path.exists():
            model = tml.Model.parse("predict label minimize depth require errors = 0")
            dataset, _ = prepare(model, folder / "fold0-train.csv")
            lowered = lower(dataset)
            tree = lower_start(read_start(path, dataset), lowered)
            root = grow(tree, lowered.problem, np.arange(lowered.problem.rows))
            yield lowered.problem, root, dataset.actual


def _cut(worlds: list[World], depth: int, rows: int) -> Iterator[LocalInstance]:
    """Instances of this depth with nearly this many rows, taking one from each tree in turn."""
    for problem, root, classes in worlds:
        for vertex in root.below():
            if vertex.height < depth:
                continue
            found = cut_instance(vertex, problem, classes, Reach(depth, lambda _: rows), "tree", False)
            if found is not None and found.depth == depth and len(found.rows) >= rows // 2:
                yield found
                break


def _decided(instance: LocalInstance, inner: ByBackend, seconds: float) -> float | None:
    """The seconds until a shallower tree was found or excluded; None if neither happened in time."""
    began = monotonic()
    tried = inner.shallower(instance, 0, Deadline.after(seconds))
    return monotonic() - began if tried.tree is not None or tried.is_proof else None


if __name__ == "__main__":
    main()
