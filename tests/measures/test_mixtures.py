"""log_loss, gini and description_length as goals: against their definitions over all trees, also with weights."""

from __future__ import annotations

from itertools import product
from math import lgamma, log, log2
from random import Random
from typing import Any

import pytest

import treeml as tml
from treeml.lang.diagnostic import SpecError

ROWS, COLUMNS = 13, 3
Table = dict[str, list[Any]]


def table_of(seed: int) -> Table:
    random = Random(seed)
    table: Table = {f"x{number}": [random.randint(0, 1) for _ in range(ROWS)] for number in range(COLUMNS)}
    if seed % 4 == 1:
        table["x1"] = [1] * ROWS  # a constant column
    if seed % 4 == 2:
        table["x2"] = [1 - value for value in table["x0"]]  # a column that splits as another one
    labels = "abc"[: 2 + seed % 2]
    table["y"] = [random.choice(labels) if random.random() < 0.5 else labels[table["x0"][row]] for row in range(ROWS)]
    table["w"] = [random.choice((0.5, 1, 2, 3)) for _ in range(ROWS)]
    return table


def weights_of(table: Table, rows: list[int], weighted: bool) -> list[float]:
    classes = sorted(set(table["y"]))
    return [sum(table["w"][row] if weighted else 1 for row in rows if table["y"][row] == each) for each in classes]


def bits(weights: list[float], tests: int, leaves: int) -> float:
    """Row by row the chance of its class so far, in a closed form that weights allow."""
    half = len(weights) / 2
    joint = lgamma(sum(weights) + half) - lgamma(half)
    own = sum(lgamma(each + 0.5) - lgamma(0.5) for each in weights)
    return (joint - own) / log(2) + 1 + (1 + log2(tests)) * (leaves - 1) / leaves


def value_of(measure: str, table: Table, leaves: list[list[int]], weighted: bool) -> float:
    weights = [weights_of(table, rows, weighted) for rows in leaves]
    total = sum(map(sum, weights))
    if measure == "gini":
        return sum(sum(each) - sum(one * one for one in each) / sum(each) for each in weights) / total
    if measure == "log_loss":
        return sum(one * log(sum(each) / one) for each in weights for one in each if one) / total
    return sum(bits(each, COLUMNS, len(leaves)) for each in weights)


def partitions(table: Table, rows: list[int], depth: int) -> list[list[list[int]]]:
    """The rows of the leaves of every tree."""
    found = [[rows]]
    for name in (f"x{number}" for number in range(COLUMNS)) if depth else ():
        yes, no = ([row for row in rows if table[name][row] == value] for value in (1, 0))
        if yes and no:
            found += [a + b for a, b in product(partitions(table, yes, depth - 1), partitions(table, no, depth - 1))]
    return found


def spec(measure: str, depth: int, weighted: bool, more: str = "") -> str:
    features = ", ".join(f"x{number}" for number in range(COLUMNS))
    weight = "weight by w\n" if weighted else ""
    return f"predict y\nfeatures {features}\n{weight}minimize {measure}\nrequire depth <= {depth}\n{more}"


@pytest.mark.parametrize("measure", ["log_loss", "gini", "description_length"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_best_tree_is_that_of_the_definition(measure: str, weighted: bool, seed: int) -> None:
    table = table_of(seed)
    depth = 1 + seed % 3
    best = min(value_of(measure, table, leaves, weighted) for leaves in partitions(table, list(range(ROWS)), depth))
    for backend in ("native", "oracle"):
        result = tml.parse(spec(measure, depth, weighted)).solve(table, backend=backend)
        assert result.is_optimal
        assert result.verified
        assert float(result.objective) == pytest.approx(best, abs=1e-9)
        reached = result.tree.apply(table)
        leaves = [[row for row in range(ROWS) if reached[row] == leaf] for leaf in range(len(result.tree.leaves))]
        assert value_of(measure, table, leaves, weighted) == pytest.approx(best, abs=1e-9)
        for rows, leaf in zip(leaves, result.tree.leaves, strict=True):
            weights = weights_of(table, rows, weighted)
            assert weights[sorted(set(table["y"])).index(leaf.prediction)] == max(weights)


@pytest.mark.parametrize("measure", ["log_loss", "gini", "description_length"])
def test_a_price_on_leaves_and_limits_on_leaves_and_support(measure: str) -> None:
    table = table_of(5)
    for more, allowed in (
        ("require leaves <= 3\n", lambda leaves: len(leaves) <= 3),
        ("require support >= 3\n", lambda leaves: min(map(len, leaves)) >= 3),
    ):
        trees = [leaves for leaves in partitions(table, list(range(ROWS)), 3) if allowed(leaves)]
        best = min(value_of(measure, table, leaves, False) for leaves in trees)
        for backend in ("native", "oracle"):
            result = tml.parse(spec(measure, 3, False, more)).solve(table, backend=backend)
            assert float(result.objective) == pytest.approx(best, abs=1e-9)
    priced = tml.parse(spec(f"{measure} + 0.05 * leaves", 3, False))
    best = min(
        value_of(measure, table, leaves, False) + 0.05 * len(leaves)
        for leaves in partitions(table, list(range(ROWS)), 3)
    )
    for backend in ("native", "oracle"):
        assert float(priced.solve(table, backend=backend).objective) == pytest.approx(best, abs=1e-9)


def test_the_goal_and_the_pruning_of_greedy_trees_have_one_meaning() -> None:
    table = table_of(6)
    text = spec("errors", 3, False) + "report tree, measures, description_length\n"
    pruned = tml.parse(text).solve(table, backend="cart(prune = description)")
    grown = tml.parse(text).solve(table, backend="cart(prune = none)")
    best = tml.parse(spec("description_length", 3, False)).solve(table)
    lengths = [float(each.measures["description_length"]) for each in (best, pruned, grown)]
    assert lengths == sorted(lengths)
    reached = pruned.tree.apply(table)
    leaves = [[row for row in range(ROWS) if reached[row] == leaf] for leaf in range(len(pruned.tree.leaves))]
    assert lengths[1] == pytest.approx(value_of("description_length", table, leaves, False), abs=1e-9)


def test_a_leaf_that_may_predict_anything_predicts_its_majority() -> None:
    table = {"x": [0, 1, 1, 0, 1], "y": ["no", "yes", "yes", "yes", "yes"]}
    for backend in ("native", "oracle"):
        result = tml.parse("predict y\nminimize leaves\nrequire depth <= 2").solve(table, backend=backend)
        assert result.tree.leaves[0].prediction == "yes"
    kept = tml.parse('predict y is "no"\nminimize leaves\nrequire recall("no") >= 1').solve(table)
    assert kept.tree.leaves[0].prediction == "no"


def test_a_certificate_of_such_a_goal_is_refused_in_a_sentence(tmp_path: Any) -> None:
    lines = ["x,y", *(f"{row % 2},{'ab'[row % 3 == 0]}" for row in range(9))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "spec.tml").write_text('data "rows.csv"\npredict y\nminimize gini\nrequire depth <= 1\n')
    result = tml.load(tmp_path / "spec.tml").solve()
    with pytest.raises(tml.RefusedError, match="not covered in a goal"):
        result.certify()


def test_they_are_measures_of_classes() -> None:
    with pytest.raises(SpecError, match="gini"):
        tml.parse("predict y\nminimize gini + squared_loss\nrequire depth <= 1").solve(table_of(0))


@pytest.mark.parametrize(
    ("written", "meant"),
    [("mdl", "description_length"), ("r_squared", "r2"), ("impurity", "gini"), ("perplexity", "log_loss")],
)
def test_the_words_of_others_are_answered_with_ours(written: str, meant: str) -> None:
    with pytest.raises(SpecError, match=f"did you mean `{meant}`"):
        tml.parse(f"predict y\nminimize {written}\n").solve(table_of(0))


def test_weights_of_sixteen_digits_beside_a_limit_on_costs() -> None:
    table = {"x": [1, 0], "y": ["p", "q"], "w": [999999999999999, 1000000000000001]}
    text = (
        'predict y\nfeatures x\nweight by w\ncost predict "p" when "q" = 0.7\n'
        "minimize gini + 0.1 * leaves\nrequire mistake_cost <= 999999999999999000000\n"
    )
    for backend in ("native", "oracle"):
        result = tml.parse(text).solve(table, backend=backend)
        assert result.verified
        assert len(result.tree.leaves) == 2
