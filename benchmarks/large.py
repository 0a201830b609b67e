"""Generated CSV and Parquet files -> time, processor seconds and peak memory of a whole `treeml solve`, by size.

python -m benchmarks.large [--rows 1000000] [--rows 10000000] [--columns 10] [--within 20s] [--pieces 4] [--keep DIR]

Every row of the table is a process of its own, measured by the operating system (wait4): nothing is left out, neither
loading Python nor reading nor verifying. `raw` takes numbers as they are, `pieces` cuts them by quantiles, which lets
equal rows be merged while reading.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

import click
import numpy as np
import polars as pl

from treeml.solving.report import table_text

SPECS = {
    "raw": "predict y minimize errors require depth <= {depth}",
    "pieces": "predict y binarize all by quantiles({pieces}) minimize errors require depth <= {depth}",
}
KINDS = ("decimals", "integers", "categories", "binary")


@click.command()
@click.option("--rows", "sizes", multiple=True, default=[1_000_000], show_default=True, type=int)
@click.option("--columns", default=10, show_default=True)
@click.option("--kinds", default=",".join(KINDS), show_default=True)
@click.option("--endings", default="parquet,csv", show_default=True)
@click.option("--depth", default=2, show_default=True)
@click.option("--pieces", default=4, show_default=True)
@click.option("--within", default="20s", show_default=True, help="The limit of every run; `no` for none.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the files in this folder, and use those there.")
def main(sizes: tuple[int, ...], columns: int, kinds: str, endings: str, depth: int, pieces: int, **more: Any) -> None:
    """Solve every file with every spec, and print what it took."""
    rows_of_table = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = more["keep"] or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for size in sizes:
            for kind in kinds.split(","):
                for ending in endings.split(","):
                    path = _file(folder, kind, size, columns, ending)
                    for name, text in SPECS.items():
                        spec = Path(scratch) / f"{name}.tml"
                        spec.write_text(text.format(depth=depth, pieces=pieces) + "\n")
                        measured = _measure(spec, path, more["within"])
                        about = {"rows": f"{size:,}", "columns": columns, "file": f"{kind}.{ending}", "tests": name}
                        rows_of_table.append({**about, **measured})
                        click.echo(table_text(rows_of_table[-1:]), err=True)
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    click.echo(f"within {more['within']}; load of the machine {load} on {os.cpu_count()} processors")
    click.echo(table_text(rows_of_table))


def _file(folder: Path, kind: str, rows: int, columns: int, ending: str) -> Path:
    path = folder / f"{kind}-{rows}-{columns}.{ending}"
    if not path.exists():
        frame = generated(kind, rows, columns)
        frame.write_parquet(path) if ending == "parquet" else frame.write_csv(path)
    return path


def generated(kind: str, rows: int, columns: int) -> pl.DataFrame:
    """Rows whose class follows two of the columns together, up to a tenth of noise."""
    draw = np.random.default_rng(1)
    values: dict[str, Any] = {}
    sides = []
    for number in range(columns):
        levels = {"decimals": 0, "integers": 100, "categories": 6, "binary": 2}[kind]
        column = draw.integers(0, levels, rows) if levels else draw.normal(size=rows)
        if number < 2:
            sides.append(column > np.quantile(column, 0.4 + 0.2 * number))
        values[f"x{number}"] = np.array(list("abcdef"))[column] if kind == "categories" else column
    noise = draw.random(rows) < 0.1
    return pl.DataFrame({**values, "y": (np.logical_xor.reduce(sides) ^ noise).astype(np.int64)})


def _measure(spec: Path, data: Path, within: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "treeml", "solve", str(spec), "--data", str(data), "-q", "--json"]
    command += [] if within == "no" else ["--within", within]
    begun = monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    said = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)  # it has been waited for
    found = _json(said)
    return {
        "status": found.get("status", f"exit code {child.returncode}"),
        "objective": found.get("objective"),
        "seconds": f"{monotonic() - begun:.1f}",
        "processor": f"{used.ru_utime + used.ru_stime:.1f}",
        "memory (MB)": round(used.ru_maxrss / 1024),
    }


def _json(text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError:
        return {}
    return found


if __name__ == "__main__":
    main()
