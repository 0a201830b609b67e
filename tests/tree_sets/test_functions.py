"""Trees of equal function are listed once: against the predictions of every tree on every combination of values."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import treeml as tml
from treeml.backends.contract import Deadline
from treeml.backends.native.listing import Slack, TreeListing
from treeml.studies.tree_sets.tree_set import TreeSet

COLUMNS = {"flag": [0, 1], "other": [0, 1], "age": [20, 30, 40, 50], "kind": ["a", "b", "c"], "gap": [1, 2, None]}


def data(seed: int, rows: int = 24) -> dict[str, list]:
    random = np.random.default_rng(seed)
    made = {name: [values[int(k)] for k in random.integers(0, len(values), rows)] for name, values in COLUMNS.items()}
    both = np.array(made["flag"]) * np.array(made["other"])  # which columns are asked first does not matter
    made["y"] = np.where((both + (random.random(rows) < 0.15)) % 2, "yes", "no").tolist()
    made["z"] = (3 * both + random.integers(0, 2, rows)).tolist()
    return made


def model(kind: str) -> tml.Model:
    text = {
        "classes": 'predict y is "yes" minimize errors + 0.4 * leaves',
        "errors": 'predict y is "yes" minimize errors',
        "numbers": "predict z minimize squared_loss + leaves",
        "coupled": 'predict y is "yes" minimize errors + 0.4 * leaves require recall("yes") >= 0.6',
    }[kind]
    columns = ", ".join(COLUMNS)
    return tml.parse(f"{text} features {columns} column gap : number, missing separate require depth <= 2")


def grid() -> dict[str, list]:
    rows = list(product(*COLUMNS.values()))
    return {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}


def functions(trees: TreeSet) -> list[tuple]:
    everything = grid()
    return [tuple(np.asarray(tree.predict(everything)).tolist()) for tree in trees]


def as_written(trees: TreeSet) -> TreeSet:
    """The same list with trees of equal function counted separately."""
    from treeml.studies.tree_sets.sources import ListedTrees

    source = trees.source
    assert isinstance(source, ListedTrees)
    every = ListedTrees(source.listing, source.lowered, source.dataset, source.listing.total)
    return TreeSet(every, trees.listed, trees._measures)


@pytest.mark.parametrize("kind", ["classes", "errors", "numbers", "coupled"])
def test_of_trees_of_equal_function_the_best_and_smallest_is_listed(kind: str) -> None:
    merged = 0
    for seed in range(3):
        trees = model(kind).trees(data(seed), slack=2)
        written = as_written(trees)
        assert trees.listed.merged
        assert trees.listed.written == written.count >= trees.count == trees.listed.total
        found = functions(written)
        best: dict[tuple, tuple] = {}
        for rank, each in enumerate(found):
            key = (written.value(rank), len(written[rank].leaves), rank)
            best[each] = min(best.get(each, key), key)
        ranks = sorted(rank for _, _, rank in best.values())
        assert [str(tree) for tree in trees] == [str(written[rank]) for rank in ranks]
        assert [trees.value(rank) for rank in range(trees.count)] == [written.value(rank) for rank in ranks]
        assert sum(number for _, number in trees.histogram) == trees.count
        merged += written.count - trees.count
    assert merged


def test_a_list_of_so_many_trees_has_so_many_functions() -> None:
    rows = data(2)
    for most in (1, 5, 40):
        trees = model("classes").trees(rows, most=most)
        assert trees.count == most
        assert trees.complete
        assert len(set(functions(trees))) == most
    every = model("classes").trees(rows, most=40)
    whole = model("classes").trees(rows, slack=10)
    assert functions(every) == functions(whole)[:40]
    both = model("classes").trees(rows, most=7, slack=2)
    assert functions(both) == functions(whole)[:7]
    assert not both.complete


def test_long_lists_are_not_merged_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = data(2)
    merged = model("classes").trees(rows, slack=2)
    for place in ("treeml.studies.tree_sets.counting", "treeml.backends.native.distinct"):
        monkeypatch.setattr(f"{place}.MOST_MERGED", 10)
    long = model("classes").trees(rows, slack=2)
    assert not long.listed.merged
    assert long.count == long.listed.written == merged.listed.written
    assert "counted separately" in long.statement
    few = model("classes").trees(rows, most=5, slack=2)
    assert functions(few) == functions(merged)[:5]
    assert "as written" in few.statement


def test_as_treefarms_nothing_is_merged() -> None:
    trees = model("classes").trees(data(2), slack=2, like="treefarms")
    assert not trees.listed.merged
    assert len(set(functions(trees))) < trees.count
    assert "as treefarms" in trees.statement


def test_too_little_memory_for_merging_leaves_the_list_as_written() -> None:
    rows = data(2)
    whole = model("classes").trees(rows, slack=2)
    problem = whole.source.listing.asked
    listing = TreeListing(problem)
    listing.extend(Slack(Fraction(2), relative=False), None, Deadline())
    needed = listing.sets.statistics()["peak_memory"]
    tight = model("classes").trees(rows, slack=2, memory=needed + 1000)
    assert (tight.count, tight.listed.merged) == (whole.listed.written, False)
    assert tight.complete
    assert "counted separately" in tight.statement
