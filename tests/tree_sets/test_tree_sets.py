"""Sets of trees as users hold them: every measure, choice and comparison against one tree at a time."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import treeml as tml
from treeml.measures.evaluators import evaluate, outcome_of
from treeml.studies.tree_sets.tree_set import TreeSet

ROWS = 60


def frame(seed: int = 1, rows: int = ROWS) -> dict[str, list]:
    random = np.random.default_rng(seed)
    sex = random.choice(["F", "M"], rows)
    age = random.integers(18, 30, rows)
    kind = random.choice(["a", "b", "c"], rows)
    score = age + 5 * (sex == "F") + random.integers(-6, 7, rows)
    return {
        "sex": sex.tolist(),
        "age": age.tolist(),
        "kind": kind.tolist(),
        "flag": random.integers(0, 2, rows).tolist(),
        "weight": random.integers(1, 4, rows).tolist(),
        "ill": ["yes" if value > 25 else "no" for value in score],
        "score": score.tolist(),
    }


def class_model() -> tml.Model:
    model = tml.Model().predict("ill", positive="yes").features(excluding=["score", "weight"])
    return model.minimize(tml.errors + tml.leaves).require(tml.depth <= 2)


@pytest.fixture(scope="module")
def data() -> dict[str, list]:
    return frame()


@pytest.fixture(scope="module")
def trees(data: dict[str, list]) -> TreeSet:
    return class_model().trees(data, slack="60%")


def test_a_list_counts_orders_and_states_what_it_holds(trees: TreeSet) -> None:
    assert trees.complete
    assert trees.count == len(trees) == sum(number for _, number in trees.histogram) > 50
    values = [trees.value(rank) for rank in range(trees.count)]
    assert values == sorted(values)
    assert values[0] == trees.best
    assert values[-1] <= 1.6 * values[0]
    assert values == trees.measure("errors + leaves")
    assert len({str(tree) for tree in trees}) == trees.count
    assert f"{trees.count:,} trees" in trees.statement
    assert repr(trees) == f"<TreeSet of {trees.count:,} trees>"
    assert trees[-1] == trees[trees.count - 1]
    with pytest.raises(IndexError):
        trees[trees.count]


def test_the_first_tree_is_that_of_solve(trees: TreeSet, data: dict[str, list]) -> None:
    result = class_model().solve(data)
    assert result.objective == trees.best


MEASURES = [
    "errors",
    "accuracy",
    "balanced_accuracy",
    'recall("yes")',
    'precision("yes")',
    "parity_gap(sex)",
    "odds_gap(sex)",
    "opportunity_gap(kind)",
    "leaves",
    "splits",
    "depth",
    "support",
    "purity",
    "leaf_errors",
    "leaf_weight",
    "features_used",
    "uses(age)",
    'rate(predicted = "yes" given sex = "F")',
    "test_cost",
    "error_rate + 0.01 * leaves",
]


@pytest.mark.parametrize("text", MEASURES)
def test_every_measure_is_that_of_each_tree(text: str, trees: TreeSet) -> None:
    found = trees.measure(text)
    asked = trees._measures.measure(text).goal.expression
    dataset = trees.source.dataset
    for rank in range(0, trees.count, 7):
        outcome = outcome_of(trees[rank], dataset)
        parts = [(factor, evaluate(use, dataset, outcome)) for factor, use in asked.parts]
        if any(value is None for _, value in parts):
            assert found[rank] is None
            continue
        exact = asked.constant + sum((factor * value for factor, value in parts), Fraction(0))
        assert found[rank] == pytest.approx(float(exact), abs=0) or found[rank] == exact


@pytest.mark.parametrize(
    "text", ["parity_gap(sex) <= 20%", "2 <= leaves <= 3", "uses(age)", 'precision("yes") >= 0.8', "support >= 10%"]
)
def test_where_keeps_the_trees_that_meet_the_condition(text: str, trees: TreeSet) -> None:
    from treeml.solving.verify import is_met

    kept = trees.where(text)
    requirements = trees._measures.condition(text)
    dataset = trees.source.dataset
    expected = [
        rank
        for rank in range(trees.count)
        if all(is_met(each, dataset, outcome_of(trees[rank], dataset)) for each in requirements)
    ]
    assert list(kept.ranks) == expected
    assert 0 < kept.count < trees.count
    assert kept.where(text).count == kept.count
    assert kept.statement.startswith(f"{kept.count:,} of ")


def test_the_best_by_another_measure(trees: TreeSet) -> None:
    gaps = trees.measure("parity_gap(sex)")
    assert trees.best_by("parity_gap(sex)") == trees[gaps.index(min(gaps))]
    right = trees.measure("accuracy")
    assert trees.best_by("accuracy") == trees[right.index(max(right))]


def test_the_front_is_what_no_tree_beats(trees: TreeSet) -> None:
    names = ("errors", "parity_gap(sex)", "features_used")
    front = trees.pareto(*names)
    every = list(zip(*(trees.measure(name) for name in names), strict=True))
    points = list(zip(*(front.measure(name) for name in names), strict=True))
    assert len(set(points)) == len(points)
    best = {p for p in every if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in every)}
    assert set(points) == best
    with pytest.raises(TypeError):
        trees.pareto()


def test_parts_and_samples(trees: TreeSet) -> None:
    part = trees[10:20]
    assert part.count == 10
    assert part[0] == trees[10]
    assert [str(tree) for tree in part] == [str(trees[rank]) for rank in range(10, 20)]
    drawn = trees.sample(12, seed=3)
    assert drawn.count == 12 == len(set(drawn.ranks.tolist()))
    assert drawn.ranks.tolist() == trees.sample(12, seed=3).ranks.tolist() != trees.sample(12, seed=4).ranks.tolist()
    seen = np.zeros(trees.count)
    for seed in range(300):
        seen[trees.sample(1, seed=seed).ranks] += 1
    assert seen.max() < 30  # no tree is drawn all the time
    assert (seen > 0).sum() > trees.count // 4


def test_agreement_counts_the_predictions_of_every_tree(trees: TreeSet, data: dict[str, list]) -> None:
    for each in (trees, trees.where("leaves <= 3")):
        found = each.agreement()
        votes = np.zeros((ROWS, 2), dtype=int)
        for tree in each:
            for row, label in enumerate(tree.predict(data)):
                votes[row, found.predictions.index(label)] += 1
        assert (found.votes == votes).all()
        assert found.disputed.tolist() == np.flatnonzero((votes > 0).sum(axis=1) > 1).tolist()
        assert found.share == pytest.approx(1 - len(found.disputed) / ROWS)


def test_importance_is_share_and_reliance_of_every_tree(trees: TreeSet, data: dict[str, list]) -> None:
    labels = np.array(data["ill"])
    for each in (trees[:40], trees.where("leaves <= 2")):
        found = {column.name: column for column in each.importance()}
        assert set(found) == {"sex", "age", "kind", "flag"}
        for name in ("sex", "age", "flag"):
            uses = sum(name in tree.columns for tree in each)
            assert found[name].share == pytest.approx(uses / each.count)
            reliance = []
            for tree in each:
                before = int((tree.predict(data) != labels).sum())
                after = sum(
                    number * int((tree.predict({**data, name: [value] * ROWS}) != labels).sum())
                    for value, number in Counter(data[name]).items()
                )
                reliance.append(Fraction(after, ROWS) - before)
            assert found[name].least == pytest.approx(float(min(reliance)))
            assert found[name].most == pytest.approx(float(max(reliance)))
    whole = trees.importance()
    assert all(one.share >= other.share for one, other in pairwise(whole))
    for column in whole:
        assert column.share == pytest.approx(sum(map(bool, trees.measure(f"uses({column.name})"))) / trees.count)


def test_unseen_rows(trees: TreeSet) -> None:
    other = frame(seed=9, rows=80)
    labels = np.array(other["ill"])
    spread = trees.unseen(other, "accuracy")
    expected = [float((tree.predict(other) == labels).mean()) for tree in trees]
    assert spread.values == pytest.approx(expected)
    assert spread.least == min(spread.values) <= spread.median <= spread.most == max(spread.values)
    goal = trees.unseen(other)
    assert goal.measure == "errors + leaves"
    assert goal.values[0] == (trees[0].predict(other) != labels).sum() + len(trees[0].leaves)
    gaps = trees[:5].unseen(other, "parity_gap(sex)")
    assert len(gaps.values) == 5


def _with_a_leaf(data: dict[str, list]) -> TreeSet:
    """A set with the tree that has no split."""
    return class_model().trees(data, slack="300%").where("leaves <= 2")


@pytest.mark.parametrize("name", ["trees.json", "trees.parquet"])
def test_a_set_is_saved_and_read(name: str, trees: TreeSet, data: dict[str, list], tmp_path: Path) -> None:
    for number, each in enumerate((trees, trees.where("leaves <= 3"), _with_a_leaf(data))):
        path = tmp_path / f"{number}{name}"
        each.save(path)
        read = TreeSet.read(path)
        assert list(read) == list(each) != []
        assert [read.value(rank) for rank in range(read.count)] == [each.value(rank) for rank in range(each.count)]
        assert read.complete == each.complete
        with pytest.raises(ValueError, match="rows of the data"):
            read.measure("errors")
        known = TreeSet.read(path, data)
        for text in ("errors", "parity_gap(sex)", "purity", "features_used"):
            assert known.measure(text) == each.measure(text)
        assert (known.agreement().votes == each.agreement().votes).all()
        assert known.unseen(frame(3)).values == each.unseen(frame(3)).values
        again = tmp_path / f"again{name}"
        known.where("leaves <= 2").save(again)
        assert TreeSet.read(again).count == each.where("leaves <= 2").count
        with pytest.raises(tml.DataError, match="no set of trees"):
            TreeSet.read(path, frame(2))


@pytest.mark.parametrize(
    ("part", "value"),
    [("nodes", {"test": [0], "yes": [0], "no": [0]}), ("values", [["1", 3]]), ("tests", []), ("treeml_trees", 7)],
)
def test_a_damaged_file_is_refused(part: str, value: object, trees: TreeSet, tmp_path: Path) -> None:
    import json

    path = tmp_path / "trees.json"
    trees.save(path)
    content = json.loads(path.read_text())
    content[part] = value
    path.write_text(json.dumps(content))
    with pytest.raises(tml.DataError, match="no set of trees"):
        TreeSet.read(path)
    (tmp_path / "no.parquet").write_bytes(b"not a table")
    with pytest.raises(tml.DataError, match="no set of trees"):
        TreeSet.read(tmp_path / "no.parquet")


def test_lists_by_number(data: dict[str, list]) -> None:
    model = class_model()
    ten = model.trees(data, most=10)
    whole = model.trees(data, slack="60%")
    assert ten.count == 10
    assert ten.complete
    assert [ten.value(rank) for rank in range(10)] == [whole.value(rank) for rank in range(10)]
    both = model.trees(data, most=7, slack="60%")
    assert (both.count, both.complete, both.listed.total, both.listed.stop) == (7, False, whole.count, "count")
    assert "every tree better than" in both.statement
    every = model.trees(data, most=10**9)
    assert every.complete
    assert "every tree that meets the requirements" in every.statement
    assert sum(both.histogram[place][1] for place in range(len(both.histogram))) == 7


def test_units_of_the_slack(data: dict[str, list]) -> None:
    model = tml.Model().predict("ill").features(excluding=["score", "weight"])
    model.minimize(tml.errors).require(tml.depth <= 2)
    best = model.solve(data).objective
    for slack, limit in (("3 rows", best + 3), ("10%", best * 1.1), (2, best + 2), ("0%", best)):
        listed = model.trees(data, slack=slack)
        assert listed.count
        assert listed.value(listed.count - 1) <= limit
        assert model.trees(data, slack=ROWS).where(f"errors <= {int(limit)}").count == listed.count
    model = tml.Model().predict("ill").features(excluding=["score", "weight"])
    model.maximize(tml.accuracy).require(tml.depth <= 2)
    listed = model.trees(data, slack="10%")
    assert listed.best == model.solve(data).objective
    values = [listed.value(rank) for rank in range(listed.count)]
    assert values == sorted(values, reverse=True)
    assert values[-1] >= 0.9 * values[0]
    assert listed.where("accuracy >= 0.5").count == listed.count
    with pytest.raises(tml.RefusedError, match="not in rows"):
        model.trees(data, slack="3 rows")


@pytest.mark.parametrize("loss", ["squared_loss", "absolute_loss"])
def test_numbers(loss: str, data: dict[str, list]) -> None:
    model = tml.Model().predict("score").features("sex", "kind", "flag").require(tml.depth <= 2)
    model.minimize(getattr(tml, loss))
    listed = model.trees(data, slack="20%")
    assert listed.complete
    assert listed.count > 3
    assert listed.best == model.solve(data).objective
    assert [listed.value(rank) for rank in range(listed.count)] == pytest.approx(listed.measure(loss))
    found = listed.agreement()
    predicted = np.array([tree.predict(data) for tree in listed])
    assert found.votes == pytest.approx(np.stack([predicted.min(axis=0), predicted.max(axis=0)], axis=1))
    shares = {column.name: column.share for column in listed.importance()}
    assert shares["sex"] == pytest.approx(sum("sex" in tree.columns for tree in listed) / listed.count)


def test_weights_costs_and_prices(data: dict[str, list]) -> None:
    text = """
        predict ill is "yes" features all except score weight by weight
        cost predict "no" when "yes" = 3 cost test age = 0.1
        minimize mistake_cost + test_cost + 0.5 * leaves
        require depth <= 2 require support >= 5
        list trees within 30% of best
    """
    listed = tml.parse(text).trees(data)
    assert listed.count > 1
    assert listed.best == pytest.approx(tml.parse(text).solve(data).objective)
    assert listed.measure("mistake_cost + test_cost + 0.5 * leaves") == pytest.approx(
        [listed.value(rank) for rank in range(listed.count)]
    )
    assert min(listed.measure("support")) >= 5


def test_a_deadline_is_stated_and_nothing_is_claimed(data: dict[str, list]) -> None:
    listed = class_model().trees(data, slack="60%", within=0)
    assert not listed.complete
    assert listed.listed.stop == "time"
    assert "time" in listed.statement


def test_too_little_memory_is_stated_and_nothing_is_claimed(data: dict[str, list]) -> None:
    for memory in (1_000, 20_000, 40_000):
        listed = class_model().trees(data, slack="60%", memory=memory)
        assert (listed.count, listed.complete, listed.listed.stop) == (0, False, "memory")
        assert "memory" in listed.statement
        assert listed.histogram == []
        assert listed.to_json()["trees"] == []


def test_no_tree_and_no_goal(data: dict[str, list]) -> None:
    none = tml.parse("predict ill features sex, flag minimize errors require depth <= 1 require errors <= 0").trees(
        data, most=3
    )
    assert (none.count, none.complete) == (0, True)
    assert none.statement == "no tree meets the requirements"
    assert not none
    with pytest.raises(tml.SpecError, match="asks for any tree"):
        tml.parse("predict ill features sex satisfy require depth <= 1 list 100 trees").trees(data)
    with pytest.raises(tml.RefusedError, match="depends on predictions"):
        tml.parse("predict ill features sex minimize leaves list 100 trees").trees(data)


def test_what_cannot_be_listed_is_refused(data: dict[str, list]) -> None:
    with pytest.raises(tml.RefusedError, match="which trees to list"):
        class_model().trees(data)
    with pytest.raises(tml.RefusedError, match="native can forbid columns"):
        tml.parse("predict ill minimize errors require features_used <= 1 list 3 trees").trees(data)
    recall = tml.parse('predict ill is "yes" minimize errors require recall("yes") >= 0.9 list 3 trees as treefarms')
    with pytest.raises(tml.RefusedError, match="knows no requirement"):
        recall.trees(data)
    with pytest.raises(tml.RefusedError, match="add up over leaves"):
        tml.parse("predict ill minimize depth list 3 trees").trees(data)


def test_lists_of_losses_that_cannot_be_exact_are_refused() -> None:
    columns = {"x": [1, 1, 2, 2, 3, 3], "y": [0.30000000000000004, 0.1, 0.2, 0.5, 0.8, 0.1], "w": [0.1, 0.25, 1.7] * 2}
    text = "predict y column y : number require depth <= 1 list 5 trees minimize "
    for goal in ("mse then minimize leaves", "absolute_loss then minimize leaves", "leaves then minimize squared_loss"):
        with pytest.raises(tml.RefusedError, match="by a loss of numbers alone"):
            tml.parse(text + goal).trees(columns)
    for goal in ("squared_loss", "absolute_loss"):
        with pytest.raises(tml.RefusedError, match="do not fit in 64 bits"):
            tml.parse(f"weight by w {text} {goal}").trees(columns)


def test_a_list_says_what_of_solve_does_not_apply(data: dict[str, list]) -> None:
    text = "predict ill features sex minimize errors require depth <= 1 solve with cpsat gap 1% list 2 trees"
    notes = " ".join(tml.parse(text).trees(data).listed.notes)
    assert "cpsat" in notes
    assert "gap" in notes


def test_more_trees_than_64_bits_can_be_drawn() -> None:
    random = np.random.default_rng(1)
    rows, answers = random.integers(0, 2, (60, 12)), random.integers(0, 2, 60)
    listed = tml.parse("predict y minimize errors require depth <= 6 list trees within 1000 of best").trees(
        rows, answers
    )
    assert listed.count > 2**64
    assert listed.complete
    assert listed.sample(3, seed=1).count == 3
    assert listed[listed.count - 1].depth >= 0
    with pytest.raises(ValueError, match="too many"):
        listed.where("leaves <= 3")
    assert sum(listed.agreement().votes[0].tolist()) == listed.count


def test_a_purity_of_many_digits_is_compared_exactly() -> None:
    """Its digits do not fit in 64 bits, but the shares that leaves can have do."""
    data = {"x": [0, 0, 0, 1, 1, 1], "y": ["a", "a", "b", "b", "b", "a"]}
    text = "predict y\nminimize errors\nrequire depth <= 1\nrequire purity >= "
    below = tml.Model.parse(text + "0.66666666666666666666666666").trees(data, slack="0%")
    assert (below.count, below.complete) == (1, True)
    above = tml.Model.parse(text + "0.66666666666666666666666667").trees(data, slack="0%")
    assert (above.count, above.complete) == (0, True)


def test_weights_of_a_list_are_exact_or_refused() -> None:
    """Rounded weights would decide wrongly which trees are at the distance asked for."""
    model = tml.Model.parse("predict y\nweight by w\nminimize errors\nrequire depth <= 1")
    data = {
        "x": [0, 0, 1, 1],
        "z": [0, 1, 1, 1],
        "y": ["a", "a", "b", "b"],
        "w": [0.1234567890123456, 0.2345678901234567, 0.9876543210987654, 0.8765432109876543],
    }
    # The trees err on no row; on the second, by `z`; on the first two, as a leaf.
    assert model.trees(data, slack=0.2345678901234567).count == 2
    assert model.trees(data, slack=0.2345678901234566).count == 1
    assert model.trees(data, slack=0.3580246791358023).count == 3
    data["w"] = [0.01234567890123456, 0.2345678901234567, 98765.43210987654, 0.8765432109876543]
    with pytest.raises(tml.DataError, match="D463"):
        model.trees(data, slack=0.2345678901234567)
    assert model.solve(data).tree is not None  # the best tree alone may be found with rounded weights


def test_parts_of_huge_sets_are_measured_on_their_own(
    trees: TreeSet, data: dict[str, list], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [trees[5:25], trees[25:5:-1], trees[::7], trees.sample(12, seed=3)]
    expected = [[str(tree) for tree in part] for part in parts]
    values = [[part.measure(measure) for measure in ("errors", "leaves", "parity_gap(sex)")] for part in parts]
    importance = [part.importance() for part in parts]
    monkeypatch.setattr("treeml.studies.tree_sets.tree_set.MOST_TREES", 40)  # now the whole set is too large
    again = class_model().trees(data, slack="60%")
    others = [again[5:25], again[25:5:-1], again[::7], again.sample(12, seed=3)]
    small = [(place, other) for place, other in enumerate(others) if other.count <= 40]
    assert len(small) >= 3
    for place, other in small:
        assert other.source is not again.source
        assert other.statement == parts[place].statement
        assert [str(tree) for tree in other] == expected[place]
        assert [other.measure(measure) for measure in ("errors", "leaves", "parity_gap(sex)")] == values[place]
        assert other.importance() == importance[place]
        assert other.histogram == parts[place].histogram
        assert [other.value(rank) for rank in range(other.count)] == other.measure("errors + leaves")
        assert other[2:9].measure("errors") == other.measure("errors")[2:9]
        assert other.where("leaves <= 3").count == parts[place].where("leaves <= 3").count


def test_a_part_of_a_huge_set_is_saved(data: dict[str, list], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeml.studies.tree_sets.tree_set.MOST_TREES", 40)
    part = class_model().trees(data, slack="60%").sample(20, seed=1)
    part.save(tmp_path / "part.json")
    again = TreeSet.read(tmp_path / "part.json", data)
    assert [str(tree) for tree in again] == [str(tree) for tree in part]
    assert again.measure("errors") == part.measure("errors")


def test_uses_are_counted_without_the_rows(trees: TreeSet, tmp_path: Path) -> None:
    trees.save(tmp_path / "set.json")
    shares = {column.name: column.share for column in TreeSet.read(tmp_path / "set.json").importance()}
    for name, share in shares.items():
        assert share == pytest.approx(sum(name in tree.columns for tree in trees) / trees.count)
    assert {column.name: column.share for column in trees.importance() if column.share} == {
        name: share for name, share in shares.items() if share
    }
