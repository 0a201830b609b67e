"""The criterion in the documentation runs, and reaches the optimum over all trees."""

from __future__ import annotations

import re
from fractions import Fraction
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boosting_worlds import all_votes, signs_of, world

import treeml as tml
from treeml.forests.criterion import Criterion
from treeml.solving.boosting import boost_with

PAGE = Path(__file__).parents[2] / "docs" / "boosting.md"


def written() -> type[Criterion]:
    code = next(block for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S) if "class Mixed" in block)
    namespace: dict[str, Any] = {}
    exec(compile(code, PAGE.name, "exec"), namespace)
    found: type[Criterion] = namespace["Mixed"]
    return found


@pytest.mark.parametrize("share", ["1/4", "3/4"])
def test_it_reaches_the_optimum_over_all_trees(share: str) -> None:
    from scipy.optimize import linprog

    x, y = world(31, rows=16)
    model = tml.Model()
    model.satisfy()
    model.require(tml.depth <= 2)
    result = boost_with(written(), model, x, y, options={"share": Fraction(share)})
    signs = signs_of(all_votes(x, 2, 2), y)
    part = float(Fraction(share))
    cost = -np.append((1 - part) * signs.mean(axis=1), part)
    rows = np.column_stack([-signs.T, np.ones(len(y))])
    once = np.append(np.ones(len(signs)), 0.0)[None, :]
    limits = [(0, None)] * len(signs) + [(None, None)]
    solved = linprog(cost, A_ub=rows, b_ub=np.zeros(len(y)), A_eq=once, b_eq=[1.0], bounds=limits)
    assert result.is_optimal
    assert result.verified
    assert result.objective == pytest.approx(-solved.fun, abs=2e-6)
    assert result.forest is not None
    assert result.forest.criterion == "mixed"


def test_a_package_can_give_it_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = next(block for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S) if "class Mixed" in block)
    (tmp_path / "mixed_margins.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = EntryPoint("mixed", "mixed_margins:Mixed", "treeml.criteria")

    def found(*, group: str) -> list[EntryPoint]:
        return [entry] if group == "treeml.criteria" else []

    monkeypatch.setattr("importlib.metadata.entry_points", found)
    x, y = world(31, rows=16)
    text = "ensemble by mixed(share = 0.75, columns = 5)\nmaximize margin\nrequire depth <= 2\n"
    result = tml.Model.parse(text).solve(x, y, backend="oracle")
    assert result.is_optimal
    assert result.objective == pytest.approx(
        boost_with(written(), _satisfy(), x, y, options={"share": Fraction(3, 4)}).objective, abs=2e-6
    )
    for wrong, code in (
        ("mixed(0.75)", "N206"),
        ("mixed(columns = 0)", "T309"),
        ("mixed(share = 1, share = 2)", "N205"),
    ):
        with pytest.raises(tml.SpecError, match=code):
            tml.Model.parse(text.replace("mixed(share = 0.75, columns = 5)", wrong)).solve(x, y)


def _satisfy() -> tml.Model:
    model = tml.Model()
    model.satisfy()
    model.require(tml.depth <= 2)
    return model
