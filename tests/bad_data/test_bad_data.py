"""Every wrong data file, and every spec that its data contradict, has one exact message.

`name.tml` is the spec, beside it lie its data, and `name.expected` is all that the user sees.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from treeml.data.bind import bind
from treeml.data.read import load
from treeml.lang.check import check_source
from treeml.lang.diagnostic import DataError
from treeml.lang.source import Source
from treeml.measures.lower_dataset import lower

HERE = Path(__file__).parent
CASES = sorted(path.stem for path in HERE.glob("*.tml"))


@pytest.mark.parametrize("name", CASES)
def test_message(name: str) -> None:
    assert message(name) + "\n" == (HERE / f"{name}.expected").read_text(encoding="utf-8")


def test_there_are_enough_wrong_specs() -> None:
    assert len(CASES) >= 60
    codes = {line for name in CASES for line in message(name).splitlines() if line.startswith("error[")}
    assert len({line[6:10] for line in codes}) >= 20


def message(name: str) -> str:
    path = HERE / f"{name}.tml"
    spec, diagnostics = check_source(Source(path.name, path.read_text(encoding="utf-8")), folder=HERE)
    assert spec is not None, diagnostics
    assert spec.data is not None
    with pytest.raises(DataError) as caught:
        lower(bind(spec, load(HERE / spec.data, spec.columns, span=spec.spans.get("data"))))
    return str(caught.value)
