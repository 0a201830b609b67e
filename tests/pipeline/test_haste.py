"""Large data and little time: trees from samples of the rows, verified on all of them, with nothing proved."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Status, Stop
from treeml.backends.planning.plan import Plan
from treeml.backends.portfolio.accompany import accompanied
from treeml.problem.tree import Leaf, Node, Split
from treeml.solving import choice, haste, pipeline
from treeml.solving.options import RunOptions
from treeml.system.clock import process_began


@pytest.fixture
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haste, "LARGE", 1000)
    monkeypatch.setattr(haste, "FIRST", 1000)
    monkeypatch.setattr(haste, "FEWEST", 250)
    monkeypatch.setattr(haste, "SHARE", -1.0)  # as if there were never time for all thresholds


def rows(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    values = random.normal(size=(count, 4))
    target = ((values[:, 0] > 0.3) ^ (values[:, 1] > -0.2) ^ (random.random(count) < 0.05)).astype(int)
    return values, target


def rows_of_plans(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of the data of every plan that is made from now on."""
    planned: list[int] = []

    def watched(problems: choice.Problems, request: Any) -> choice.Chosen:
        planned.append(problems.dataset.rows)
        return choice.plan(problems, request)

    monkeypatch.setattr(haste, "plan", watched)
    monkeypatch.setattr(pipeline, "plan", watched)
    return planned


@pytest.mark.usefixtures("small_samples")
def test_a_sample_gives_a_verified_tree_and_no_claim() -> None:
    values, target = rows(4000)
    result = tml.parse("minimize errors require depth <= 2 require support >= 200").solve(values, target, within=60)
    assert result.status is Status.FEASIBLE
    assert result.stop is Stop.TIME
    assert result.bound is None
    assert result.verified
    assert result.tree is not None
    assert sum(leaf.rows for leaf in result.tree.leaves) == 4000
    assert min(leaf.rows for leaf in result.tree.leaves) >= 200
    assert result.objective < 0.15 * 4000  # both splits are found; no tree of one split comes near
    assert any("a sample of" in note for note in result.notes)


@pytest.mark.usefixtures("small_samples")
def test_a_run_that_is_late_already_still_has_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haste, "_LEAST", 60.0)  # a small sample ends long before that
    values, target = rows(4000)
    model = tml.parse("minimize errors require depth <= 2")
    result = pipeline.solve(model, values, target, RunOptions(within=1.0, begun=time.monotonic() - 5))
    assert result.tree is not None
    assert result.tree.depth == 2


@pytest.mark.usefixtures("small_samples")
def test_requirements_that_fail_on_all_rows_lead_to_the_whole_search() -> None:
    values, target = rows(2000)
    best = tml.parse("minimize errors require depth <= 2").solve(values, target, backend="native").objective
    model = tml.parse(f"minimize leaves require errors <= {best} require depth <= 2")
    result = model.solve(values, target, within=60)
    assert result.status is Status.OPTIMAL
    assert not any("a sample of" in note for note in result.notes)


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("requirement", ["recall(1) >= 90%", "precision(1) >= 80%", "parity_gap(side) <= 5%"])
def test_a_tree_that_misses_a_requirement_on_all_rows_gets_other_labels(
    requirement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The labels of the sample's tree meet the requirement nowhere: its splits are worth keeping all the same."""

    def mislabeled(plan: Plan, limits: Any, start: Any = None, on_progress: Any = None) -> Answer:
        tree = accompanied(plan, limits, start, on_progress).tree
        assert isinstance(tree, Split)
        return Answer(Status.FEASIBLE, Stop.TIME, Split(tree.test, with_label(tree.yes, 0), with_label(tree.no, 1)))

    values, target = rows(4000)
    frame = {f"x{number}": values[:, number] for number in range(4)} | {"y": target}
    side = np.where(values[:, 0] + values[:, 1] > 0, "left", "right")
    monkeypatch.setattr(choice, "accompanied", mislabeled)
    monkeypatch.setattr(haste, "_greedy", lambda *_: None)
    text = f"predict y is 1 forbid split on side minimize errors require depth <= 2 require {requirement}"
    result = tml.parse(text).solve(frame | {"side": side}, within=600)
    assert result.tree is not None
    assert result.tree.depth == 2
    assert all(each.met for each in result.exact.requirements)
    assert any("a sample of" in note for note in result.notes)


def with_label(node: Node, label: int) -> Node:
    """The tree with one label in all of its leaves."""
    if isinstance(node, Leaf):
        return Leaf(label)
    return Split(node.test, with_label(node.yes, label), with_label(node.no, label))


@pytest.mark.usefixtures("small_samples")
def test_a_late_run_without_a_tree_ends_before_all_rows_are_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haste, "LATE", -3600.0)  # as if a plan on all rows took an hour
    planned = rows_of_plans(monkeypatch)
    values, target = rows(4000)
    text = "minimize leaves then minimize errors require accuracy >= 0.94 require depth <= 1"
    result = tml.parse(text).solve(values, target, within=600)
    assert result.status is Status.UNKNOWN
    assert result.stop is Stop.TIME
    assert result.tree is None
    assert max(planned) < 4000
    assert any("no tree of a sample met the requirements" in note for note in result.notes)


def test_without_a_limit_all_rows_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haste, "LARGE", 1000)
    monkeypatch.setattr(haste, "SHARE", -1.0)
    values, target = rows(2000)
    assert tml.parse("minimize errors require depth <= 1").solve(values, target).status is Status.OPTIMAL


def test_rows_of_a_sample_stand_for_all(tmp_path: Path) -> None:
    values, target = rows(1000)
    dataset, _ = pipeline.prepare(tml.parse("minimize errors require depth <= 1"), values, target)
    part = haste.sampled(dataset, 100)
    assert part.rows == 100
    assert part.given_rows == 1000
    assert int(part.weight.sum()) == 1000
    assert len(np.unique(part.row_numbers)) == 100
    assert (dataset.actual[part.row_numbers] == part.actual).all()


def test_the_time_counts_from_when_the_run_began() -> None:
    values, target = rows(300)
    model = tml.parse("minimize errors require depth <= 6")
    late = RunOptions(within=1.0, begun=time.monotonic() - 5.0)
    result = pipeline.solve(model, values, target, late)
    assert result.status is not Status.OPTIMAL
    assert result.tree is not None


def test_the_process_began_before_now() -> None:
    assert process_began() < time.monotonic()


def test_a_search_that_ends_early_answers_with_the_better_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haste, "LARGE", 1000)
    monkeypatch.setattr(haste, "FIRST", 1000)
    monkeypatch.setattr(haste, "FEWEST", 250)
    values, target = rows(4000)

    def single_leaf(plan: Plan, limits: Any, start: Any = None, on_progress: Any = None) -> Answer:
        if plan.problem.rows < 4000:
            return accompanied(plan, limits, start, on_progress)
        proof = (Evidence("row by row"),)
        return Answer(Status.FEASIBLE, Stop.TIME, Leaf(0), bound=Fraction(0), evidence=proof)

    monkeypatch.setattr(choice, "accompanied", single_leaf)
    monkeypatch.setattr(haste, "is_pressed", lambda *_: False)
    result = tml.parse("minimize errors require depth <= 2").solve(values, target, within=600)
    assert result.tree is not None
    assert len(result.tree.leaves) == 4
    assert result.bound == 0
    assert result.gap == 1
    assert result.status is Status.FEASIBLE
    assert [each.rule for each in result.evidence] == ["row by row"]


def test_the_search_on_all_rows_goes_on_from_the_tree_of_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haste, "LARGE", 1000)
    monkeypatch.setattr(haste, "FIRST", 1000)
    monkeypatch.setattr(haste, "FEWEST", 250)
    starts = []

    def watched(plan: Plan, limits: Any, start: Any, on_progress: Any) -> Answer:
        if plan.problem.rows == 4000:
            starts.append(start)
        return accompanied(plan, limits, start, on_progress)

    monkeypatch.setattr(choice, "accompanied", watched)
    values, target = rows(4000)
    result = tml.parse("minimize errors require depth <= 2 require support >= 5").solve(values, target, within=60)
    assert result.status is Status.OPTIMAL
    assert isinstance(starts[0], Split)


def test_wide_tables_are_large_too() -> None:
    spec = "minimize errors"
    few, many = np.zeros((5000, 2)), np.zeros((5000, 500))
    for values, is_large in ((few, False), (many, True)):
        values[0] = 1.0
        dataset, request = pipeline.prepare(spec, values, np.arange(5000) % 2, RunOptions(within=60.0))
        assert haste.may_sample(dataset, request) is is_large


def test_texts_of_many_levels_make_a_table_large() -> None:
    """Every level is a test, so a text of 200 levels is as wide as 50 numbers."""
    random = np.random.default_rng(1)
    spec = "predict y minimize errors require depth <= 2"
    for levels, is_large in ((4, False), (200, True)):
        text = [f"level {code}" for code in random.integers(0, levels, 40_000)]
        frame = {"x0": random.normal(size=40_000), "x1": text, "y": random.integers(0, 2, 40_000)}
        dataset, request = pipeline.prepare(spec, frame, options=RunOptions(within=60.0))
        assert haste.may_sample(dataset, request) is is_large


def test_a_plan_that_takes_too_long_on_all_rows_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haste, "LARGE", 1000)
    monkeypatch.setattr(haste, "FIRST", 1000)
    monkeypatch.setattr(haste, "FEWEST", 250)
    monkeypatch.setattr(haste, "is_pressed", lambda *_: False)
    monkeypatch.setattr(haste, "SHARE", 0.0)  # no time for the plan
    planned = rows_of_plans(monkeypatch)
    values, target = rows(4000)
    result = tml.parse("minimize errors require depth <= 2 solve with mip").solve(values, target, within=600)
    assert result.status is Status.FEASIBLE
    assert result.tree is not None
    assert len(result.tree.leaves) > 1
    assert max(planned) < 4000
    assert any("sample" in note for note in result.notes)


def test_a_refusal_of_a_sample_says_that_it_counts_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haste, "LARGE", 1000)
    monkeypatch.setattr(haste, "FIRST", 1000)
    monkeypatch.setattr(haste, "FEWEST", 250)
    values, target = rows(4000)
    with pytest.raises(tml.RefusedError) as refused:
        tml.parse("minimize errors require depth <= 20 solve with mip(formulation = flow)").solve(
            values, target, within=600
        )
    [mistake] = refused.value.diagnostics
    assert "rows" in mistake.title
    assert "these are a sample of the 4,000 rows, which is searched first; all of them need more" in mistake.notes
    assert any("`require depth <= 19`" in each for each in mistake.helps)


def test_ctrl_c_while_tests_of_all_rows_are_made_keeps_the_tree_of_a_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(haste, "LARGE", 1000)
    monkeypatch.setattr(haste, "FIRST", 1000)
    monkeypatch.setattr(haste, "FEWEST", 250)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "lower", interrupted)
    values, target = rows(4000)
    result = tml.parse("minimize errors require depth <= 2").solve(values, target, within=600)
    assert result.stop is Stop.INTERRUPTED
    assert result.status is Status.FEASIBLE
    assert result.verified


@pytest.mark.usefixtures("small_samples")
def test_a_greedy_tree_of_the_sample_is_the_answer_if_it_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    def single_leaf(plan: Plan, limits: Any, start: Any = None, on_progress: Any = None) -> Answer:
        return Answer(Status.FEASIBLE, Stop.TIME, Leaf(0))

    monkeypatch.setattr(choice, "accompanied", single_leaf)
    random = np.random.default_rng(0)
    values = random.normal(size=(4000, 4))
    target = (values[:, 0] > 0.3).astype(int)
    result = tml.parse("minimize errors require depth <= 2").solve(values, target, within=600)
    assert result.tree is not None
    assert result.tree.depth >= 1
    assert result.objective < 200
    assert any("a sample of" in note for note in result.notes)
