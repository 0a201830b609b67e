"""`python -m benchmarks.editor`: processor time of every answer of the language server on a specification of 50 lines.

Each answer is computed for a text that was just changed, so that nothing of it is known from before; the data file is
known, as it is while somebody types. The table shows the median and the largest of all places in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import click

from treeml.editor.actions import actions
from treeml.editor.analysis import Analysis
from treeml.editor.completion import complete, warm_up
from treeml.editor.data_facts import DataFiles
from treeml.editor.hover import hover
from treeml.editor.names import symbol_at
from treeml.lang.format import format_source
from treeml.lang.source import Source

LIMIT = 100.0  # milliseconds of processor time


def spec_text() -> str:
    """A specification of 50 lines that uses most statements."""
    lines = ["# fifty lines", "param price = 0.01 in 0 .. 0.5", "param deepest = 4 in 1 .. 6", 'data "rows.csv"']
    lines += ['predict y is "yes"', "features all except id"]
    lines += [f"column c{number} : number, missing separate" for number in range(14)]
    lines += [f"binarize c{number} by quantiles({number + 2})" for number in range(8)]
    lines += [f"cost test c{number} = {number}" for number in range(8)]
    lines += ['weight class "yes" = 3', 'cost predict "no" when "yes" = 5', "minimize mistake_cost + price * leaves"]
    lines += ["require small: depth <= deepest", 'require recall("yes") >= 50%', "require parity_gap(sex) <= 20%"]
    lines += ["require support >= 5", "require leaves <= 12", "forbid split on sex", "validate by folds(5, seed = 1)"]
    lines += ["solve with native, cpsat within 5 min gap 1% seed 3", "report tree, confusion, measures"]
    return "\n".join([*lines, *(f"# line {number}" for number in range(len(lines) + 1, 51))]) + "\n"


def write_rows(path: Path, rows: int) -> None:
    header = ",".join(["id", *(f"c{number}" for number in range(14)), "sex", "y"])
    body = (
        ",".join(
            [
                str(row),
                *(str((row * (number + 3)) % 97) for number in range(14)),
                "FM"[row % 2],
                ("no", "yes")[row % 3 == 0],
            ]
        )
        for row in range(rows)
    )
    path.write_text("\n".join([header, *body]) + "\n")


def milliseconds(answer: Callable[[int], Any], argument: int) -> float:
    begun = process_time()
    answer(argument)
    return 1000 * (process_time() - begun)


@click.command()
@click.option("--rows", default=2000, show_default=True, help="Rows of the data file.")
def main(rows: int) -> None:
    """Measure every answer at every place of the text."""
    with TemporaryDirectory() as folder:
        write_rows(Path(folder) / "rows.csv", rows)
        path, text, files = Path(folder) / "spec.tml", spec_text(), DataFiles()

        def fresh(change: int = 0) -> Analysis:
            return Analysis(Source("spec.tml", f"{text}# {change}\n", path), files)

        warm = fresh()
        assert warm.data is not None
        assert not [each for each in warm.checked[1] if each.is_error], warm.checked[1]
        warm_up()  # the server does it when it starts
        places = range(0, len(text), 7)
        wrong = Source("spec.tml", text.replace("mistake_cost", "mistake_cots").replace("require", "requre", 1), path)
        answers: dict[str, tuple[Callable[[int], Any], range]] = {
            "mistakes of the text": (lambda number: fresh(number).checked, range(20)),
            "completion": (lambda place: complete(fresh(place), place), places),
            "hover": (lambda place: hover(fresh(place), place), places),
            "definition and rename": (lambda place: symbol_at(fresh(place), place), places),
            "formatting": (lambda number: format_source(fresh(number).source), range(20)),
            "repairs": (lambda _: [list(actions(each)) for each in Analysis(wrong, files).checked[1]], range(20)),
            "mistakes with the data": (lambda number: fresh(number).data_mistakes(), range(5)),
        }
        measured = {name: [milliseconds(answer, each) for each in over] for name, (answer, over) in answers.items()}
    width = max(map(len, measured))
    click.echo(f"{'answer':<{width}}  median ms  largest ms")
    for name, times in measured.items():
        mark = "" if max(times) <= LIMIT else f"  above {LIMIT:g} ms"
        click.echo(f"{name:<{width}}  {median(times):9.1f}  {max(times):10.1f}{mark}")


if __name__ == "__main__":
    main()
