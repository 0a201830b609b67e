"""A forest that takes long says so, as a tree does."""

from __future__ import annotations

import numpy as np
import pytest

import treeml as tml
from treeml.backends.contract import Progress
from treeml.solving import long_run


def test_a_forest_that_takes_long_says_so(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(long_run, "LONG", 0.0)
    random = np.random.default_rng(0)
    rows, classes = random.integers(0, 2, (60, 8)), random.integers(0, 2, 60)

    def listen(moment: Progress) -> bool:
        return not caplog.messages

    model = tml.parse("predict y ensemble by lpboost(penalty = 0.1) maximize margin require depth <= 2")
    model.solve(rows, classes, on_progress=listen)
    assert [message for message in caplog.messages if "Ctrl-C" in message] == [long_run.MESSAGE % (0.0, "forest")]
