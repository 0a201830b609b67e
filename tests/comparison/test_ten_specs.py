"""Ten specs on all back-ends: no contradiction, every answer verified, the table complete."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from treeml.backends import registry
from treeml.model import load
from treeml.solving.options import RunOptions
from treeml.studies.compare import prepare, run
from treeml.studies.comparison.jobs import Case
from treeml.studies.comparison.record import has_failed, has_tree, is_proof, is_refused

SPECS = {
    "plain": "predict ill maximize accuracy require depth <= 2",
    "sparse": "predict ill minimize error_rate + 0.02 * leaves require depth <= 2",
    "fair": 'predict ill is "yes" maximize accuracy require depth <= 2 require parity_gap(sex) <= 10%',
    "weighted": 'predict ill is "yes" weight class "yes" = 2.5 minimize errors require depth <= 2',
    "costs": 'predict ill is "yes" cost predict "no" when "yes" = 5 minimize mistake_cost require depth <= 2',
    "perfect": "predict ward minimize depth then minimize leaves require errors = 0 require depth <= 3",
    "numeric": "predict days minimize squared_loss require depth <= 2",
    "recall": 'predict ill is "yes" maximize accuracy require recall("yes") >= 90% require depth <= 2',
    "multi": "predict ward maximize balanced_accuracy require depth <= 2 require support >= 2 rows",
    "budget": "predict ill minimize errors require leaves <= 3 require features_used <= 1 require depth <= 2",
    "impossible": "predict ill minimize leaves require perfect: errors = 0 require shallow: depth <= 1",
}


def write(folder: Path) -> None:
    chance = random.Random(3)
    lines = ["age,sex,pulse,ill,ward,days"]
    for _ in range(40):
        age, sex, pulse = chance.choice((20, 40, 60, 80)), chance.choice("FM"), chance.choice((60, 80, 100))
        ill = "yes" if (age > 50) != (chance.random() < 0.2) else "no"
        ward = "north" if age < 30 else "south" if sex == "F" else "west"
        lines.append(f"{age},{sex},{pulse},{ill},{ward},{age // 10 + chance.randint(0, 3)}")
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    for name, text in SPECS.items():
        (folder / f"{name}.tml").write_text(f'data "rows.csv" {text}')


@pytest.mark.slow
def test_ten_specs_on_all_back_ends(tmp_path: Path) -> None:
    write(tmp_path)
    cases = [Case(load(tmp_path / f"{name}.tml"), spec_name=name) for name in SPECS]
    comparison = run(prepare(cases, options=RunOptions(within=60), parallel=2), 2)
    assert comparison.contradictions == []
    names = list(registry.names_of_single())
    assert [(entry.record["spec"], entry.backend) for entry in comparison.entries] == [
        (spec, name) for spec in SPECS for name in names
    ]
    for record in comparison.records:
        assert not has_failed(record), record
        assert record["because"] if is_refused(record) else record["peak_memory"]
        assert not has_tree(record) or record["verified"]
    for spec in SPECS:
        proofs = [record for record in comparison.records if record["spec"] == spec and is_proof(record)]
        assert len(proofs) >= 2, spec
