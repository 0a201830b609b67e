"""A forest that takes long says so, as a tree does; on columns with many cuts it does without the answers to them."""

from __future__ import annotations

import numpy as np
import pytest

import treeml as tml
from treeml.backends.anytime.local_kernel import LocalKernel
from treeml.backends.anytime.search import first_tree
from treeml.backends.contract import Deadline, Progress, Status
from treeml.problem import answers
from treeml.solving import long_run
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare


def test_a_forest_that_takes_long_says_so(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(long_run, "LONG", 0.0)
    random = np.random.default_rng(0)
    rows, classes = random.integers(0, 2, (60, 8)), random.integers(0, 2, 60)

    def listen(moment: Progress) -> bool:
        return not caplog.messages

    model = tml.parse("predict y ensemble by lpboost(penalty = 0.1) maximize margin require depth <= 2")
    model.solve(rows, classes, on_progress=listen)
    assert [message for message in caplog.messages if "Ctrl-C" in message] == [long_run.MESSAGE % (0.0, "forest")]


def test_forests_on_many_cuts_are_those_on_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the answers to all cuts are too many, trees are grown on the columns as they are; the proof is the same."""
    random = np.random.default_rng(5)
    x = random.normal(size=(40, 3)).round(1)
    y = np.where((x[:, 0] > 0) ^ (random.random(40) < 0.2), 1, 0)
    text = "predict y is 1 ensemble by lpboost(penalty = 0.1) maximize margin require depth <= 2"
    few = tml.parse(text).solve(x, y)
    monkeypatch.setattr(answers, "MOST_ANSWERS", 0)
    many = tml.parse(text).solve(x, y)
    assert many.status is few.status is Status.OPTIMAL
    assert many.objective == pytest.approx(few.objective, abs=1e-5)


def test_ctrl_c_while_a_tree_is_grown_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(kernel: LocalKernel, *anything: object) -> None:
        kernel.pressed.set()

    monkeypatch.setattr(LocalKernel, "best", interrupted)
    dataset, request = prepare("minimize errors require depth <= 2", np.array([[0.0], [1.0]]), np.array([0, 1]))
    with pytest.raises(KeyboardInterrupt):
        first_tree(lower(dataset, request).form(numeric=True).problem, Deadline())


@pytest.mark.parametrize("criterion", ["lpboost(penalty = 0.05)", "mdboost"])
@pytest.mark.parametrize("kind", ["tests", "numbers", "three classes"])
def test_a_forest_without_time_has_one_tree_that_meets_the_requirements(criterion: str, kind: str) -> None:
    random = np.random.default_rng(2)
    values = random.normal(size=(300, 4)) if kind == "numbers" else random.integers(0, 2, (300, 4))
    labels = (values[:, 0] > 0).astype(int) + (values[:, 1] > 0) * (kind == "three classes")
    if kind == "three classes" and criterion.startswith("mdboost"):
        pytest.skip("mdboost is for two classes")
    spec = f"predict y ensemble by {criterion} maximize margin require depth <= 2 require support >= 20 rows"
    result = tml.parse(spec).solve(values, labels, within=0)
    assert result.status.value == "feasible"
    assert result.stop.value == "time"
    assert len(result.forest.trees) == 1
    assert all(leaf.rows >= 20 for leaf in result.forest.trees[0].leaves)
    assert result.bound is None or result.bound >= result.objective


def test_a_forest_without_time_and_without_an_easy_tree_is_unknown() -> None:
    random = np.random.default_rng(3)
    values, labels = random.integers(0, 2, (100, 3)), random.integers(0, 2, 100)
    spec = "predict y ensemble by lpboost(penalty = 0.05) require depth <= 2 require accuracy >= 99% maximize margin"
    result = tml.parse(spec).solve(values, labels, within=0)
    assert result.status.value == "unknown"
