"""The 1-SE rule over a list of trees, its committee, and searches that start from its trees."""

from __future__ import annotations

import json
from collections import Counter
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from test_tree_sets import class_model, frame

import treeml as tml
from treeml.cli.main import treeml
from treeml.studies.tree_sets.tree_set import TreeSet


@pytest.fixture(scope="module")
def trees() -> TreeSet:
    return class_model().trees(frame(), slack="60%")


def losses(tree: tml.Tree, rows: dict[str, list]) -> np.ndarray:
    return (np.asarray(tree.predict(rows)) != np.asarray(rows["ill"])).astype(float)


def test_the_smallest_tree_within_one_standard_error_is_chosen(trees: TreeSet) -> None:
    for seed in range(5, 9):
        other = frame(seed, 90)
        found = trees.choose(other)
        means = [losses(tree, other).mean() for tree in trees]
        best = int(np.argmin(means))
        error = losses(trees[best], other).std(ddof=1) / sqrt(90)
        near = [place for place in range(trees.count) if means[place] <= means[best] + error]
        expected = min(near, key=lambda place: (len(trees[place].leaves), place))
        assert (found.rank, found.rows) == (expected, 90)
        assert found.tree == trees[expected]
        assert (found.loss, found.least, found.error) == pytest.approx((means[expected], means[best], error))
        assert "1-SE rule" in found.text()
        assert json.loads(json.dumps(found.to_json()))["rank"] == expected


def test_validate_on_a_file_chooses_among_the_listed_trees(tmp_path: Path) -> None:
    import polars as pl

    pl.DataFrame(frame()).write_csv(tmp_path / "train.csv")
    pl.DataFrame(frame(7, 90)).write_csv(tmp_path / "test.csv")
    spec = tmp_path / "spec.tml"
    spec.write_text(
        'data "train.csv" predict ill is "yes" features all except score, weight minimize errors + leaves '
        'require depth <= 2 list trees within 60% of best validate on "test.csv"'
    )
    found = tml.load(spec).trees()
    chosen = found.choice
    assert chosen is not None
    assert chosen.rank == found.choose(tmp_path / "test.csv").rank
    done = CliRunner().invoke(treeml, ["list", str(spec)])
    assert chosen.text() in done.stdout
    shown = json.loads(CliRunner().invoke(treeml, ["list", str(spec), "--json"]).stdout)
    assert shown["choice"]["rank"] == chosen.rank


@pytest.mark.parametrize("method", ["folds(4, seed = 3)", "holdout(30%)"])
def test_folds_choose_a_size_by_trees_that_have_not_seen_the_rows(method: str) -> None:
    """Written out again: the first tree of every part with at most that many leaves, measured on the rows held out."""
    from treeml.data.subset import held_out, take
    from treeml.solving.pipeline import prepare
    from treeml.solving.validation import splits

    model = class_model()
    text = str(model) + "list trees within 300% of best "
    found = tml.parse(text + f"validate by {method}").trees(frame())
    chosen = found.choice
    assert chosen is not None
    dataset, request = prepare(tml.parse(text + f"validate by {method}"), frame(), keep_table=True)
    pooled: dict[int, list[float]] = {size: [] for size in range(1, 5)}
    for train, test in splits(dataset, request.spec.validate, request):
        part = {name: [values[row] for row in train] for name, values in frame().items()}
        rest = {name: [values[row] for row in test] for name, values in frame().items()}
        assert take(dataset, train).rows + held_out(dataset, test).rows == dataset.rows
        listed = class_model().trees(part, slack="300%")
        for size in pooled:
            first = next((tree for tree in listed if len(tree.leaves) <= size), None)
            pooled[size] += [np.inf] if first is None else losses(first, rest).tolist()
    sizes = [size for size in pooled if any(len(tree.leaves) <= size for tree in found)]
    best = min(sizes, key=lambda size: np.mean(pooled[size]))
    error = np.std(pooled[best], ddof=1) / sqrt(len(pooled[best]))
    size = min(size for size in sizes if np.mean(pooled[size]) <= np.mean(pooled[best]) + error)
    expected = next(rank for rank, tree in enumerate(found) if len(tree.leaves) <= size)
    assert chosen.rank == expected
    assert (chosen.loss, chosen.error) == pytest.approx((np.mean(pooled[size]), error))
    assert chosen.method == method.replace("4, seed = 3", "4").replace("30%", "0.3")


def test_numbers_are_chosen_by_their_loss() -> None:
    model = tml.parse("predict score features sex, age, flag minimize squared_loss + leaves require depth <= 2")
    listed = model.trees(frame(), slack="30%")
    other = frame(8, 70)
    found = listed.choose(other)
    squares = [(np.asarray(tree.predict(other)) - np.array(other["score"])) ** 2 for tree in listed]
    assert found.least == pytest.approx(min(each.mean() for each in squares))
    assert found.loss == pytest.approx(squares[found.rank].mean())
    assert found.loss <= found.least + found.error


def test_a_committee_votes_and_is_kept(trees: TreeSet, tmp_path: Path) -> None:
    committee = trees.committee()
    other = frame(3, 40)
    votes = [Counter(row) for row in zip(*(tree.predict(other).tolist() for tree in trees), strict=True)]
    shares = [[count[label] / trees.count for label in committee.classes] for count in votes]
    assert committee.predict_proba(other) == pytest.approx(np.array(shares))
    assert committee.predict(other).tolist() == [committee.classes[int(np.argmax(row))] for row in shares]
    committee.write(tmp_path / "forest.json")
    assert tml.Forest.read(tmp_path / "forest.json") == committee
    agreed = trees.agreement().votes / trees.count
    assert committee.predict_proba(frame()) == pytest.approx(agreed)
    numbers = tml.parse("predict score features flag minimize squared_loss require depth <= 1").trees(frame(), most=2)
    with pytest.raises(ValueError, match="votes for classes"):
        numbers.committee()
    with pytest.raises(ValueError, match="no trees"):
        trees[:0].committee()


def test_the_committee_of_a_command_is_written(tmp_path: Path) -> None:
    import polars as pl

    pl.DataFrame(frame()).write_csv(tmp_path / "train.csv")
    spec = tmp_path / "spec.tml"
    spec.write_text('data "train.csv" predict ill features sex, age minimize errors require depth <= 1 list 5 trees')
    done = CliRunner().invoke(treeml, ["list", str(spec), "-q", "--committee", str(tmp_path / "forest.json")])
    assert done.exit_code == 0, done.output
    assert len(tml.Forest.read(tmp_path / "forest.json").trees) == 5
    spec.write_text('data "train.csv" predict score features age minimize squared_loss require depth <= 1 list 5 trees')
    refused = CliRunner().invoke(treeml, ["list", str(spec), "-q", "--committee", str(tmp_path / "no.json")])
    assert refused.exit_code != 0
    assert "votes for classes" in refused.output


def test_a_search_starts_from_a_tree_of_a_set(trees: TreeSet, tmp_path: Path) -> None:
    trees.save(tmp_path / "trees.json")
    text = 'predict ill is "yes" features all except score, weight minimize errors + leaves require depth <= 3 '
    for start in (trees, trees[0], tmp_path / "trees.json"):
        result = tml.parse(text + "start from cart improve by subtrees(depth = 2)").solve(frame(), start=start)
        assert result.objective <= trees.best
    spec = tml.parse(text + 'start from "trees.json" improve by subtrees(depth = 2)')
    spec.folder = tmp_path
    assert spec.solve(frame()).objective <= trees.best
    (tmp_path / "broken.json").write_text('{"treeml_trees": 1, "trees": {}}')
    with pytest.raises(tml.DataError, match="no set of trees"):
        class_model().solve(frame(), start=tmp_path / "broken.json")
