"""The reference of measures says what the registry says, and every measure has its parts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from treeml.lang.measures import BUILT_IN
from treeml.lang.plugins import resolve
from treeml.measures.reference import GROUPS, TASKS, UNITS, reference

PAGE = Path(__file__).parents[2] / "docs" / "measures.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), "run `python -m treeml.measures.reference`"


def test_every_measure_has_a_definition_and_a_lowering() -> None:
    for measure in BUILT_IN.values():
        assert callable(resolve(measure.lowering)), measure.name
        assert callable(resolve(measure.evaluator)), measure.name


def test_every_measure_is_on_the_page_once() -> None:
    rows = [line for line in reference().splitlines() if line.startswith("| `")]
    assert sorted(row.split("`")[1].split("(")[0] for row in rows) == sorted(BUILT_IN)
    assert {measure.group for measure in BUILT_IN.values()} == set(GROUPS)
    assert {measure.unit for measure in BUILT_IN.values()} <= set(UNITS)
    assert {measure.task for measure in BUILT_IN.values()} <= set(TASKS)


def test_the_checker_can_read_measures_without_data_libraries() -> None:
    heavy = "{'numpy', 'polars', 'narwhals'} & set(sys.modules)"
    code = f"import sys, treeml.measures; sys.exit(bool({heavy}))"
    assert subprocess.run([sys.executable, "-c", code], cwd=PAGE.parents[1], check=False).returncode == 0
