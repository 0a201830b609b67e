"""What is learned from data is learned from the rows that a fold trains on: the others may hold anything."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import treeml
from treeml.data.subset import held_out, take
from treeml.data.table import Dataset
from treeml.lang.diagnostic import DataError
from treeml.measures.lower_dataset import lower
from treeml.solving.options import RunOptions
from treeml.solving.pipeline import prepare, solve_part
from treeml.solving.validation import cross_validated, scores, splits
from treeml.studies.comparison.fold import prepare_fold

ROWS = 24
TRAIN = np.array([i for i in range(ROWS) if i % 3])
OTHER = [i for i in range(ROWS) if i % 3 == 0]
ASK = "\nminimize errors\nrequire depth <= 2\nvalidate by folds(3)"


def table(seed: int) -> dict[str, list[Any]]:
    chance = random.Random(seed)
    return {
        "a": [chance.randint(0, 9) for _ in range(ROWS)],
        "b": [chance.choice(["red", "green", "blue"]) for _ in range(ROWS)],
        "c": [chance.choice([0, 1]) for _ in range(ROWS)],
        "d": [round(chance.uniform(0, 5), 1) for _ in range(ROWS)],
        "w": [chance.choice([1, 2]) for _ in range(ROWS)],
        "y": [chance.choice(["p", "q"]) for _ in range(ROWS)],
    }


def changed(columns: dict[str, list[Any]], name: str, values: list[Any]) -> dict[str, list[Any]]:
    """The same table, with other values in the rows held out."""
    other = {each: list(held) for each, held in columns.items()}
    for place, row in enumerate(OTHER):
        other[name][row] = values[place % len(values)]
    return other


def fingerprint(part: Dataset) -> Any:
    """All that a fold learns, and the tree that it makes of it."""
    lowered = lower(part)
    columns = {
        name: (
            column.type,
            column.values.dtype,
            column.values.tobytes(),
            column.levels,
            column.missing is not None and column.missing.tobytes(),
        )
        for name, column in part.table.columns.items()
    }
    return (
        columns,
        part.features,
        part.classes,
        part.positive,
        part.actual.tobytes(),
        (part.weight.tobytes(), part.weight_scale),
        (part.targets.tobytes(), part.target_scale),
        (part.mistake_cost.tobytes(), part.mistake_scale),
        tuple(lowered.questions),
        [feature.codes.tobytes() for feature in lowered.problem.features if feature.codes is not None],
    )


def learned(spec: str, data: Any) -> Any:
    dataset, _ = prepare(treeml.Model.parse(spec), data)
    return fingerprint(take(dataset, TRAIN))


def gaps(columns: dict[str, list[Any]], name: str) -> dict[str, list[Any]]:
    return {**columns, name: [None if i % 5 == 1 else value for i, value in enumerate(columns[name])]}


CASES = {
    "medians": ("predict y\ncolumn a : integer, missing median", "a", [1000, 2000, -7]),
    "medians with gaps": ("predict y\ncolumn a : integer, missing median", "a", [None, 2000]),
    "medians of decimals": ("predict y\ncolumn d : number, missing median", "d", [0.123456789, 1e9]),
    "thresholds": ("predict y", "d", [17.25, -1e6]),
    "quantiles": ("predict y\nbinarize d by quantiles(4)", "d", [17.25, -1e6]),
    "widths": ("predict y\nbinarize d by width(4)", "d", [17.25, -1e6]),
    "levels": ("predict y", "b", ["purple", "black"]),
    "subsets": ("predict y\nbinarize b by subsets", "b", ["purple", "black", "white"]),
    "ordered levels": ("predict y\ncolumn b : ordered", "b", ["black", "zebra"]),
    "whole numbers or decimals": ("predict y", "a", [0.5]),
    "numbers or text": ("predict y", "a", ["unknown", 3]),
    "two values or more": ("predict y", "c", [2, 3]),
    "wide numbers": ("predict y", "a", [2**60, 2**60 + 1]),
    "separate gaps": ("predict y\ncolumn d : number, missing separate", "d", [None]),
    "weights": ("predict y\nweight by w", "w", [0.125, 1000]),
    "classes": ("predict y", "y", ["third"]),
    "class weights": ('predict y\nweight class "p" = 2\nweight class "third" = 5', "y", ["third"]),
    "mistake costs": (
        'predict y\ncost predict "p" when "q" = 3\ncost predict "p" when "third" = 9',
        "y",
        ["third"],
    ),
}


SOURCES = [
    (name, source)
    for name in CASES
    for source in ("dict", "csv", "frame", "parquet")
    # A frame's column has one type, whatever its rows hold.
    if source in ("dict", "csv") or name not in ("whole numbers or decimals", "numbers or text", "weights")
]


@pytest.mark.parametrize(("name", "source"), SOURCES)
def test_the_rows_held_out_do_not_matter(name: str, source: str, tmp_path: Path) -> None:
    spec, column, values = CASES[name]
    columns = table(len(name))
    if "missing" in spec:
        columns = gaps(columns, column)
        columns[column][4] = None  # trained on
    if "third" in spec:
        columns["y"][0] = "third"
    found = []
    for number, each in enumerate((columns, changed(columns, column, values), changed(columns, column, values[::-1]))):
        found.append(learned(spec + ASK, given(each, source, tmp_path / f"{number}")))
    assert found[0] == found[1]
    assert found[0] == found[2]


def given(columns: dict[str, list[Any]], source: str, stem: Path) -> Any:
    if source == "dict":
        return columns
    if source == "csv":
        path = stem.with_suffix(".csv")
        lines = [
            ",".join("" if value is None else str(value) for value in row)
            for row in zip(*columns.values(), strict=True)
        ]
        path.write_text("\n".join([",".join(columns), *lines]) + "\n", encoding="utf-8")
        return path
    frame = pl.DataFrame(columns)
    if source == "frame":
        return frame
    frame.write_parquet(stem.with_suffix(".parquet"))
    return stem.with_suffix(".parquet")


@pytest.mark.parametrize("values", [[2.0], [0.5], [1e300]])
def test_arrays(values: list[float]) -> None:
    chance = np.random.default_rng(1)
    X = chance.integers(0, 2, (ROWS, 3)).astype(float)
    y = chance.integers(0, 2, ROWS)
    spec = treeml.Model.parse("maximize accuracy\nrequire depth <= 2\nvalidate by folds(3)")
    other = X.copy()
    other[OTHER] = values[0]
    found = [
        fingerprint(take(prepare(spec, each, y, RunOptions(weight=np.ones(ROWS)))[0], TRAIN)) for each in (X, other)
    ]
    assert found[0] == found[1]


def test_libsvm(tmp_path: Path) -> None:
    chance = random.Random(3)
    lines = [f"{chance.choice('+-')}1 1:{chance.randint(0, 1)} 2:{chance.randint(0, 9)}" for _ in range(ROWS)]
    other = ["0.5 1:7 2:0.25" if i in OTHER else line for i, line in enumerate(lines)]
    found = []
    for number, each in enumerate((lines, other)):
        path = tmp_path / f"{number}.libsvm"
        path.write_text("\n".join(each), encoding="utf-8")
        spec = f"predict label{ASK}".replace("minimize errors", "minimize squared_loss")
        dataset, _ = prepare(treeml.Model.parse(spec), path)
        found.append(fingerprint(take(dataset, TRAIN)))
    assert found[0] == found[1]


def test_numbers_to_predict() -> None:
    columns = table(5) | {"y": [round(random.Random(i).uniform(0, 3), 1) for i in range(ROWS)]}
    spec = f"predict y\n{ASK}".replace("minimize errors", "minimize squared_loss")
    assert learned(spec, columns) == learned(spec, changed(columns, "y", [0.001, 1e6]))


def test_text_and_category_are_told_by_the_training_rows() -> None:
    columns = table(2) | {"t": [f"name {i % 4}" for i in range(ROWS)]}
    many = {name: values * 10 for name, values in columns.items()}
    rows = np.array([i for i in range(10 * ROWS) if i % 3])
    other = {**many, "t": [f"name {i}" if i % 3 == 0 else value for i, value in enumerate(many["t"])]}
    found = [fingerprint(take(prepare(treeml.Model.parse("predict y" + ASK), each)[0], rows)) for each in (many, other)]
    assert found[0] == found[1]


def test_a_whole_validation_fills_with_what_was_learned() -> None:
    """In the one row held out `a` is missing; its fill decides the side, and comes from the rows trained on."""
    columns = {"a": [1, 1, 1, 9, 9, None], "y": ["p", "p", "p", "q", "q", "p"]}
    spec = "predict y\ncolumn a : integer, missing median\nminimize errors\nrequire depth <= 1\nvalidate by folds(6)"
    result = treeml.Model.parse(spec).solve(columns, backend="native")
    assert result.validation is not None
    dataset, request = prepare(treeml.Model.parse(spec), columns)
    for (train, test), part in zip(
        splits(dataset, request.spec.validate, request), result.validation.parts, strict=True
    ):  # type: ignore[arg-type]
        if test.tolist() == [5]:
            fold = take(dataset, train)
            assert fold.table.columns["a"].missing is None
            assert part.test["accuracy"] == 1.0
            assert held_out(dataset, test).table.columns["a"].missing is not None


def test_what_training_did_not_have_answers_no() -> None:
    columns = {"a": ["u", "u", "v", "v", "w"], "b": [1, 2, 3, 4, "x"], "y": ["p", "p", "q", "q", "q"]}
    spec = treeml.Model.parse("predict y\nminimize errors\nrequire depth <= 1\nvalidate by folds(5)")
    train, test = np.arange(4), np.array([4])
    for feature in ("a", "b"):
        only = {feature: columns[feature], "y": columns["y"]}
        dataset, _ = prepare(spec, only, None, RunOptions(backend="native"))
        part = take(dataset, train)
        assert part.column(feature).type == ("category" if feature == "a" else "integer")
        tree = (
            treeml.Model.parse("predict y\nminimize errors\nrequire depth <= 1")
            .solve({name: values[:4] for name, values in only.items()}, backend="native")
            .tree
        )
        assert tree is not None
        # `a is v?` is asked as the second of two levels, `b <= 2?` of numbers: no is p for the one, q for the other.
        assert scores(tree, held_out(dataset, test))["accuracy"] == (0.0 if feature == "a" else 1.0)


def test_another_file_is_filled_with_what_was_learned(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("a,y\n1,p\n1,p\n1,p\n9,q\n,p\n", encoding="utf-8")
    (tmp_path / "test.csv").write_text("a,y\n,p\n9,q\n9,q\n", encoding="utf-8")
    (tmp_path / "spec.tml").write_text(
        'data "train.csv"\npredict y\ncolumn a : integer, missing median\nminimize errors\nrequire depth <= 1\n'
        'validate on "test.csv"\n',
        encoding="utf-8",
    )
    result = treeml.load(tmp_path / "spec.tml").solve(backend="native")
    assert result.validation is not None
    assert result.validation.parts[0].test["accuracy"] == 1.0


def test_folds_of_comparisons_learn_alone() -> None:
    columns = gaps(table(4), "a")
    spec = treeml.Model.parse("predict y\ncolumn a : integer, missing median\nminimize errors\nrequire depth <= 2")
    fold = prepare_fold(spec, columns, (1, 3, 1), RunOptions())
    known = sorted(columns["a"][i] for i in fold.train.row_numbers if columns["a"][i] is not None)
    filled = {
        value
        for i, value in zip(fold.train.row_numbers, fold.train.column("a").values, strict=True)
        if columns["a"][i] is None
    }
    assert filled == {known[(len(known) - 1) // 2]}
    assert (fold.test.column("a").missing is not None) == any(columns["a"][i] is None for i in fold.test.row_numbers)


def test_a_class_that_a_measure_needs_and_training_lacks() -> None:
    columns = {"a": [1, 2, 3, 4, 5, 6], "y": ["rare", "p", "p", "q", "q", "q"]}
    spec = treeml.Model.parse('predict y\nmaximize recall("rare")\nrequire depth <= 1\nvalidate by folds(3)')
    dataset, request = prepare(spec, columns)
    with pytest.raises(DataError) as caught:
        cross_validated(dataset, request.spec.validate, request, solve_part)  # type: ignore[arg-type]
    assert str(caught.value) == (
        "error[D450]: no row has the class `rare`\n"
        " --> model:2:17\n"
        "  |\n"
        '2 | maximize recall("rare")\n'
        "  |                 ^^^^^^ not a class of the data\n"
        "  |\n"
        "  = note: its classes are p, q\n"
        "  = note: among the 4 rows that a part of `validate` is trained on"
    )


def test_a_dataset_that_was_not_kept_is_not_taken_apart() -> None:
    dataset, _ = prepare(treeml.Model.parse("predict y\nminimize errors\nrequire depth <= 1"), table(1))
    with pytest.raises(ValueError, match="bound without `keep`"):
        take(dataset, TRAIN)
