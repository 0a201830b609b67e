"""The express way for limits on gaps over a frame of 0 and 1 answers what the general way answers."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import treeml as tml
from treeml.lang.diagnostic import BackendError
from treeml.native.coupled import Coupled, CoupledFound
from treeml.solving.express_result import ExpressResult
from treeml.solving.result import Result

TIMES = {"seconds", "build_seconds", "statistics", "trace"}
GAPS = ("parity_gap(g)", "opportunity_gap(g)", "odds_gap(h)", "parity_gap(h)", "odds_gap(g)", "opportunity_gap(h)")


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, the moment that a search has may pass before it begins."""
    monkeypatch.setattr("treeml.solving.express_gaps.MOST_SECONDS", 60.0)


def random_frame(seed: int) -> Any:
    """Groups g and h, other columns, and a label that depends on some of them."""
    random = np.random.default_rng(seed)
    rows, columns = int(random.integers(60, 500)), int(random.integers(1, 9))
    cells = random.integers(0, 2, (rows, columns + 2))
    if columns > 2:
        cells[:, 3], cells[:, 4] = cells[:, 2], 1 - cells[:, 1]
    label = (cells[:, 0] + cells[:, -1] + random.integers(0, 3, rows)) > 1
    names = ["g", "h", *(f"x{number}" for number in range(columns))]
    content = {**dict(zip(names, cells.T, strict=True)), "y": label.astype(np.int64)}
    if seed % 3 == 1:
        content = {name: values.astype(bool) for name, values in content.items()}
    return (pandas.DataFrame if seed % 5 == 2 else polars.DataFrame)(content)


def random_text(seed: int) -> str:
    random = np.random.default_rng(seed + 1000)
    yes, no = ("true", "false") if seed % 3 == 1 else ("1", "0")
    predicted = random.choice(["y", f"y is {yes}", f"y is {no}"])
    goal = random.choice(["minimize errors", "maximize accuracy"])
    gaps = random.choice(GAPS, size=1 + int(random.integers(0, 6)) // 3 + seed % 2, replace=False)
    limits = [random.choice(["0", "0.01", "1/30", "0.05", "0.1", "0.15", "0.2", "1"]) for _ in gaps]
    lines = [f"predict {predicted}", goal, f"require depth <= {random.integers(1, 4)}"]
    lines += [f"require {gap} <= {limit}" for gap, limit in zip(gaps, limits, strict=True)]
    lines += random.choice(["", "forbid split on g", "forbid split on g, h", "features all except x0"], size=1).tolist()
    return "\n".join(lines)


def general(asked: tml.Model, frame: Any) -> Result:
    """The result by the general way: a caller who listens takes it."""
    result = asked.solve(frame, on_progress=lambda _: None)
    assert type(result) is Result
    return result


@pytest.mark.parametrize("seed", range(150))
def test_both_ways_agree(seed: int) -> None:
    frame, asked = random_frame(seed), tml.parse(random_text(seed))
    ours, theirs = asked.solve(frame), general(asked, frame)
    for each in fields(Result):
        if each.name not in TIMES:
            assert getattr(ours, each.name) == getattr(theirs, each.name), each.name
    assert set(ours.statistics) == set(theirs.statistics)
    assert ours.to_json().keys() == theirs.to_json().keys()
    assert pickle.loads(pickle.dumps(ours)).tree == ours.tree
    if isinstance(ours, ExpressResult):
        assert ours.trace[-1].objective == theirs.trace[-1].objective


def test_most_random_cases_take_the_express_way() -> None:
    results = [tml.parse(random_text(seed)).solve(random_frame(seed)) for seed in range(60)]
    assert sum(isinstance(result, ExpressResult) for result in results) > 15


def plain_case(positive: str = "1") -> tuple[tml.Model, Any]:
    text = f"predict y is {positive}\nminimize errors\nrequire depth <= 2\nrequire parity_gap(g) <= 0.1"
    return tml.parse(text), random_frame(0)


def test_a_caller_may_change_the_frame_afterwards() -> None:
    asked, rows = plain_case("true")
    frame = pandas.DataFrame(rows.to_dict(as_series=False)).astype(bool)
    ours, theirs = asked.solve(frame), general(asked, frame)
    assert isinstance(ours, ExpressResult)
    frame.iloc[:, :] = True
    assert ours.tree == theirs.tree
    assert ours.exact == theirs.exact


@pytest.mark.parametrize("change", [{"value": 3}, {"bound": 3}, {"label": "turned"}, {"left": "turned"}], ids=str)
def test_a_wrong_claim_of_the_search_is_found(change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked, frame = plain_case()
    assert isinstance(asked.solve(frame), ExpressResult)
    found_before = Coupled._found

    def found(self: Coupled) -> CoupledFound:
        right = found_before(self)
        turned = {
            "label": np.where(right.label >= 0, 1 - right.label, -1).astype(np.int32),
            "left": right.right,
        }
        return replace(right, **{name: turned[name] if value == "turned" else value for name, value in change.items()})

    monkeypatch.setattr(Coupled, "_found", found)
    with pytest.raises(BackendError, match="does not verify"):
        asked.solve(frame)


def test_a_search_that_ends_too_early_goes_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, frame = plain_case()
    monkeypatch.setattr("treeml.solving.express_gaps.MOST_SECONDS", 0.0)
    assert type(asked.solve(frame)) is Result


def test_options_and_files_go_the_general_way(tmp_path: Any) -> None:
    asked, frame = plain_case()
    frame.write_csv(tmp_path / "rows.csv")
    assert type(asked.solve(frame, memory="100MB")) is Result
    assert asked.solve(tmp_path / "rows.csv").origin is not None
