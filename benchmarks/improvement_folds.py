"""CSV files -> folders of five folds with the trees of Weka, as benchmarks.improvement_means reads them.

    python -m benchmarks.improvement_folds --data-dir DIR --weka FOLDER --into NEW [--set car ...]

For sets of Schidler and Szeider (2021) whose folds and trees are not at hand: the folds are stratified and shuffled
with a fixed seed, the tree of a fold is that of J48, unpruned (`-U -O -M 0`), and every value of a column that is not
one of 0 and 1 becomes a column of its own. On the paper's own folds, these options give the paper's own trees. FOLDER
holds the JAR files of Weka; the source archive of python-weka-wrapper3 on PyPI has them, and Java runs them. The last
column of a file, or the one named `label`, is the class. Of rows that differ in the class alone, only those of the
first one's class stay.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import click
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from benchmarks.data_folder import data_folder, sets_in

FOLDS = 5
PERFECT = re.compile(r"^Correctly Classified Instances +\d+ +100 +%", re.MULTILINE)


@click.command()
@click.option("--data-dir", type=click.Path(path_type=Path, exists=True), required=True, help="A folder of CSV files.")
@click.option("--weka", type=click.Path(path_type=Path, exists=True), required=True, help="The folder of weka.jar.")
@click.option("--into", type=click.Path(path_type=Path), required=True, help="The folder to write to.")
@click.option("--set", "sets", multiple=True, help="Only this set; can be given several times.")
@click.option("--seed", default=0, show_default=True, help="Of the division into folds.")
def main(data_dir: Path, weka: Path, into: Path, sets: tuple[str, ...], seed: int) -> None:
    """Write a folder for every set."""
    folder = data_folder(data_dir, "boolean", sets)
    for name in sets_in(folder, sets):
        table = binary(pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False))
        target = into / name
        target.mkdir(parents=True, exist_ok=True)
        division = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        for fold, (train, test) in enumerate(division.split(table, table["label"])):
            table.iloc[train].to_csv(target / f"fold{fold}-train.csv", index=False)
            table.iloc[test].to_csv(target / f"fold{fold}-test.csv", index=False)
            tree = j48(table.iloc[train], target / f"fold{fold}.arff", weka)
            if tree is None:
                click.echo(f"{name}, fold {fold}: the tree of J48 makes errors on its rows, and is left out")
            else:
                (target / f"fold{fold}-weka.txt").write_text(tree, encoding="utf-8")
        click.echo(f"{name}: {len(table)} rows, {table.shape[1] - 1} columns")


def binary(table: pd.DataFrame) -> pd.DataFrame:
    """Columns of 0 and 1, and the class as `label`; no two rows that differ in the class alone."""
    target = "label" if "label" in table else str(table.columns[-1])
    columns = {}
    for name, column in table.drop(columns=target).items():
        levels = sorted(column.unique())
        if set(levels) <= {"0", "1"}:
            columns[str(name)] = column.astype(int)
        else:
            columns |= {f"{name}_{number}": (column == level).astype(int) for number, level in enumerate(levels)}
    frame = pd.DataFrame(columns)
    first = table[target].groupby([frame[name] for name in frame]).transform("first")
    frame["label"] = table[target]
    return frame[first == table[target]].reset_index(drop=True)


def j48(train: pd.DataFrame, path: Path, weka: Path) -> str | None:
    """The printed tree, or None if it makes errors on these rows; the file for Weka is removed again.

    J48 makes no split without a gain, so that it may end before all rows are told apart.
    """
    levels = dict.fromkeys(train, "0,1") | {"label": ",".join(sorted(train["label"].unique()))}
    heading = ["@relation rows", *(f"@attribute {name} {{{levels[name]}}}" for name in train), "@data"]
    path.write_text("\n".join(heading) + "\n" + train.to_csv(index=False, header=False), encoding="utf-8")
    call = ["java", "-cp", f"{weka}/weka.jar:{weka}/*", "weka.classifiers.trees.J48"]
    printed = subprocess.run(
        [*call, "-U", "-O", "-M", "0", "-no-cv", "-t", str(path)], capture_output=True, text=True, check=True
    ).stdout
    path.unlink()
    return tree_of(printed) if PERFECT.search(printed) else None


def tree_of(printed: str) -> str:
    """The lines between the heading and the number of leaves."""
    lines = printed.splitlines()
    begin = next(place for place, line in enumerate(lines) if line.startswith("------"))
    end = next(place for place, line in enumerate(lines) if line.startswith("Number of Leaves"))
    return "\n".join(lines[begin + 1 : end]).strip() + "\n"


if __name__ == "__main__":
    main()
