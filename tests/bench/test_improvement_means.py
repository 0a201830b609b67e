"""The table of means per set of limits, from runs that are made up."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.improvement_means import VARIANTS, lines


def test_only_what_every_variant_finished_counts() -> None:
    runs = []
    for place, variant in enumerate(VARIANTS):
        for name, before in (("one", 20), ("two", 10)):
            if (variant, name) != ("d800", "two"):
                figures = {"before": before, "depth": before - place, "accuracy": 0.5, "accuracy before": 0.25}
                runs.append({"variant": variant, "set": name, "fold": 0, **figures})
    start, *rows = lines(runs, "weka")
    assert (start["depth"], start["test"]) == ("20.00", "0.25")
    assert [row["depth"] for row in rows] == ["20.00", "19.00", "18.00", "17.00", "16.00"]
    assert [row["improved"] for row in rows] == ["0 of 1"] + ["1 of 1"] * 4
    assert [row["best"] for row in rows] == [0, 0, 0, 0, 1]
    assert lines(runs[:1], "weka") == []
