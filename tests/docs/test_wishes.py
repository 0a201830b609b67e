"""The page from a wish to a spec: at least thirty specs, each solved on the data of the examples."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import treeml as tml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "wishes.md").read_text(encoding="utf-8")
WISHES = dict(re.findall(r"^### (.+?)\n\n```tml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def test_there_are_thirty_wishes_and_each_has_a_spec() -> None:
    assert len(WISHES) >= 30
    assert len(WISHES) == PAGE.count("\n### ") == PAGE.count("```tml")


@pytest.mark.parametrize("wish", WISHES)
def test_the_wish_is_granted(wish: str, tmp_path: Path) -> None:
    spec = tmp_path / "wish.tml"
    spec.write_text(WISHES[wish], encoding="utf-8")
    model = tml.load(spec)
    assert model.check() == ()
    (data,) = re.findall(r'^data "(.+)"$', WISHES[wish], re.MULTILINE)
    (source, *_) = sorted((ROOT / "examples").glob(f"*/{data}"))
    assert f"| `{data}` | `{source.stem if source.parent.name == 'cases' else source.parent.name}` |" in PAGE or (
        data == "heart.csv" and "| `heart.csv` | `plain` |" in PAGE
    )
    shutil.copy(source, tmp_path)
    result = model.solve(within="2 min")
    assert result.verified
    assert result.is_optimal or "gap 1%" in WISHES[wish]
