"""A measure that another package brings in one file works like those of this project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ACCURACY_GAP = '''
"""A fifth measure of fairness: the largest difference between two groups in the share of rows predicted right."""

from fractions import Fraction
from itertools import permutations
from math import lcm

from treeml.lang.measures import Measure, Parameter


def lower(use, dataset, features):
    import numpy as np
    from treeml.data.conditions import groups_of
    from treeml.problem.terms import Largest, Predicted, Sum

    rows = np.arange(dataset.rows)
    parts = []
    for (_, above), (_, below) in permutations(groups_of(dataset, use.arguments[0]), 2):
        totals = [int(dataset.weight[group].sum()) for group in (above, below)]
        common = lcm(*totals)
        cost = np.zeros((dataset.rows, len(dataset.classes)), dtype=np.int64)
        for group, total, sign in ((above, totals[0], 1), (below, totals[1], -1)):
            cost[rows[group], dataset.actual[group]] += sign * dataset.weight[group] * (common // total)
        parts.append(Sum(((Fraction(1), Predicted(cost, Fraction(1, common))),)))
    return Sum(((Fraction(1), Largest(tuple(parts))),))


def evaluate(use, dataset, outcome):
    from treeml.data.conditions import groups_of

    right = outcome.predicted == dataset.actual
    shares = []
    for _, group in groups_of(dataset, use.arguments[0]):
        weight = dataset.weight[group]
        shares.append(Fraction(int(weight[right[group]].sum()), int(weight.sum())))
    return max(shares) - min(shares)


MEASURE = Measure(
    "accuracy_gap",
    "largest minus smallest accuracy over the groups of a column",
    "classes",
    "share",
    "fairness",
    (Parameter("column", "column"),),
    goal="minimize",
    fairness=("all",),
    lowering="accuracy_gap:lower",
    evaluator="accuracy_gap:evaluate",
)
'''

MEAN_PINBALL = '''
"""A loss of leaves under another name: the mean pinball loss of a row, at 90%."""

from fractions import Fraction

from treeml.lang.measures import LeafLoss, Measure

LEVEL = Fraction(9, 10)


def lower(use, dataset, features):
    from treeml.problem.terms import Loss, Sum

    scale = dataset.target_scale / int(dataset.weight.sum())
    return Sum(((Fraction(1), Loss("quantile", dataset.targets, dataset.weight, scale, LEVEL)),))


def evaluate(use, dataset, outcome):
    total = Fraction(0)
    for leaf in range(len(outcome.tree.leaves)):
        rows = [row for row in range(dataset.rows) if outcome.leaf[row] == leaf]
        values = [int(dataset.targets[row, 0]) for row in rows]
        weights = [int(dataset.weight[row]) for row in rows]
        total += min(
            sum((w * (LEVEL if v >= c else LEVEL - 1) * (v - c) for v, w in zip(values, weights)), Fraction(0))
            for c in values
        )
    return total * dataset.target_scale / int(dataset.weight.sum())


MEASURE = Measure(
    "mean_pinball",
    "mean over the rows of the pinball loss at 90%",
    "numbers",
    "loss",
    "losses",
    goal="minimize",
    leaf_loss=LeafLoss("quantile", LEVEL),
    lowering=lower,
    evaluator=evaluate,
)
'''

ROWS = """\
g,a,b,c,y,price
f,0,1,0,no,3
f,1,0,0,yes,8
f,1,1,1,yes,9.5
f,0,0,1,no,1
m,0,1,1,yes,4
m,1,0,1,no,7
m,1,1,0,yes,12
m,0,0,0,no,2.5
m,1,0,0,no,6
f,0,1,1,yes,5
"""

FAIR = """\
data "rows.csv"
predict y is "yes"
features a, b, c
minimize errors
require accuracy_gap(g) <= 10%
require depth <= 2
"""

PRICES = """\
data "rows.csv"
predict price
features a, b, c
minimize mean_pinball + 0.1 * leaves
require depth <= 2
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like an installed package with both measures, one file each."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "accuracy_gap.py").write_text(ACCURACY_GAP, encoding="utf-8")
    (folder / "mean_pinball.py").write_text(MEAN_PINBALL, encoding="utf-8")
    (folder / "broken_measure.py").write_text("raise RuntimeError('no')", encoding="utf-8")
    about = folder / "more_measures-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: more-measures\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(
        "[treeml.measures]\naccuracy_gap = accuracy_gap:MEASURE\nmean_pinball = mean_pinball:MEASURE\n"
        "broken = broken_measure:MEASURE\n",
        encoding="utf-8",
    )
    (folder / "rows.csv").write_text(ROWS, encoding="utf-8")
    (folder / "fair.tml").write_text(FAIR, encoding="utf-8")
    (folder / "prices.tml").write_text(PRICES, encoding="utf-8")
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join((str(folder), root, os.environ.get("PYTHONPATH", "")))
    command = [sys.executable, *arguments]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("spec", ["fair.tml", "prices.tml"])
def test_check_knows_it_without_numpy(installed: Path, spec: str) -> None:
    code = (
        "import sys\nfrom treeml.lang.check import check_source\nfrom treeml.lang.source_file import read\n"
        f"spec, found = check_source(read({spec!r}))\nassert spec is not None and not found, found\n"
        "assert 'numpy' not in sys.modules\n"
    )
    found = run(installed, "-c", code)
    assert found.returncode == 0, found.stderr
    assert run(installed, "-m", "treeml", "check", spec).returncode == 0


@pytest.mark.parametrize(("spec", "backend"), [("fair.tml", "cpsat"), ("fair.tml", "mip"), ("prices.tml", "native")])
def test_the_best_value_is_that_of_the_oracle_and_verified(installed: Path, spec: str, backend: str) -> None:
    code = (
        "import json, treeml as tml\n"
        f"found = [tml.load({spec!r}).solve(backend=name) for name in ({backend!r}, 'oracle')]\n"
        "print(json.dumps([[str(each.status), each.verified, str(each.objective)] for each in found]))\n"
    )
    found = run(installed, "-c", code)
    assert found.returncode == 0, found.stderr
    own, oracle = json.loads(found.stdout)
    assert own == oracle
    assert own[:2] == ["Status.OPTIMAL", True]


def test_it_is_listed_and_explained(installed: Path) -> None:
    listed = run(installed, "-m", "treeml", "explain", "measures").stdout
    assert "accuracy_gap(age)" in listed
    assert "mean_pinball" in listed
    assert "largest minus smallest accuracy" in run(installed, "-m", "treeml", "explain", "accuracy_gap").stdout


def test_python_has_it_by_name(installed: Path) -> None:
    code = (
        "import treeml as tml\n"
        "assert str(tml.accuracy_gap('g') <= 0.1) == 'accuracy_gap(g) <= 0.1', tml.accuracy_gap('g')\n"
        "assert str(tml.mean_pinball) == 'mean_pinball'\n"
        "assert 'mean_pinball' in dir(tml)\n"
    )
    found = run(installed, "-c", code)
    assert found.returncode == 0, found.stderr


def test_a_group_without_rows_is_refused_as_for_every_measure_of_fairness(installed: Path) -> None:
    (installed / "weighted.csv").write_text("g,a,y,w\nf,0,no,1\nf,1,yes,1\nm,0,yes,0\nm,1,no,0\n", encoding="utf-8")
    (installed / "weighted.tml").write_text(
        'data "weighted.csv"\npredict y is "yes"\nweight by w\nminimize errors\nrequire accuracy_gap(g) <= 10%\n',
        encoding="utf-8",
    )
    found = run(installed, "-m", "treeml", "solve", "weighted.tml")
    assert "error[D414]: `accuracy_gap` cannot compare the group `m` of `g`" in found.stderr + found.stdout


def test_a_measure_that_does_not_load_is_named(installed: Path) -> None:
    (installed / "broken.tml").write_text("predict y\nminimize broken\n", encoding="utf-8")
    found = run(installed, "-m", "treeml", "check", "broken.tml")
    assert "error[N216]: the measure `broken` of another package cannot be used" in found.stderr + found.stdout
    assert "RuntimeError: no" in found.stderr + found.stdout


def test_a_param_may_have_its_name(installed: Path) -> None:
    """Installing a package breaks no specification."""
    (installed / "param.tml").write_text(
        "param mean_pinball = 0.1\npredict y\nminimize error_rate + mean_pinball * leaves\n", encoding="utf-8"
    )
    found = run(installed, "-m", "treeml", "check", "param.tml")
    assert found.returncode == 0, found.stdout + found.stderr
