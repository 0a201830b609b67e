"""Generated CSV file -> the time to read, type and binarize it, compared with the time polars needs to read it.

python -m benchmarks.reading [--rows 200000] [--columns 60] [--pieces 8] [--repeat 3]
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np
import polars as pl

from treeml.data.bind import bind
from treeml.data.read import load
from treeml.lang.spec import Binarization, CheckedGoal, Linear, Spec, Use
from treeml.measures.binarize import binarize


@click.command()
@click.option("--rows", default=200_000, show_default=True)
@click.option("--columns", default=60, show_default=True)
@click.option("--pieces", default=8, show_default=True, help="Number of quantiles for every numeric column.")
@click.option("--repeat", default=3, show_default=True, help="Number of runs; the fastest counts.")
def main(rows: int, columns: int, pieces: int, repeat: int) -> None:
    """Measure, and print both times and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        mixed_table(rows, columns).write_csv(path)
        click.echo(f"{rows:,} rows x {columns} columns, {path.stat().st_size / 1e6:.0f} MB")
        alone = _fastest(lambda: pl.read_csv(path), repeat)
        ours = _fastest(lambda: read_and_binarize(path, pieces), repeat)
    click.echo(f"polars reads it in            {alone:7.3f} s")
    click.echo(f"read, typed and binarized in  {ours:7.3f} s")
    click.echo(f"ratio                         {ours / alone:7.2f}   (the target is at most 5)")


def mixed_table(rows: int, columns: int) -> pl.DataFrame:
    """Half decimals, a quarter whole numbers, the rest binary columns and short strings; the target is `class`."""
    draw = np.random.default_rng(1)
    words = np.array(["red", "green", "blue", "dark violet", "none of these"])
    table: dict[str, Any] = {"class": draw.integers(0, 2, rows)}
    for i in range(columns - 1):
        kind = i % 8
        if kind < 4:
            table[f"c{i}"] = draw.normal(size=rows).round(4)
        elif kind < 6:
            table[f"c{i}"] = draw.integers(0, 1000, rows)
        elif kind == 6:
            table[f"c{i}"] = draw.integers(0, 2, rows)
        else:
            table[f"c{i}"] = words[draw.integers(0, len(words), rows)]
    return pl.DataFrame(table)


def read_and_binarize(path: Path, pieces: int) -> int:
    """The number of tests from the columns of a file."""
    errors = CheckedGoal("minimize", Linear(((Fraction(1), Use("errors")),)))
    rule = Binarization("", "quantiles", pieces)
    dataset = bind(Spec(target="class", goals=(errors,), binarizations=(rule,)), load(path))
    return len(binarize(dataset).tests)


def _fastest(work: Callable[[], object], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        begun = perf_counter()
        work()
        times.append(perf_counter() - begun)
    return min(times)


if __name__ == "__main__":
    main()
