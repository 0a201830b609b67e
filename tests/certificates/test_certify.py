"""Specifications -> certificates that both checkers accept, or a sentence that says what is not covered."""

import gzip
import json
import random
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from certificate_attack import by_reference, reference
from click.testing import CliRunner

import treeml as tml
from treeml.cli.main import treeml as command
from treeml.lang.diagnostic import RefusedError
from treeml.solving.certificates.certify import Certificate, certify
from treeml.solving.certificates.check import Verdict, check_text
from treeml.solving.pipeline import prepare

DATA = Path(__file__).resolve().parents[2] / "examples" / "plain" / "heart.csv"
SMALL = """a,b,color,age,w,y,z
1,0,red,20,1.5,yes,1.5
1,1,blue,30,2,no,2.5
0,1,green,41,0.5,yes,0.25
0,0,red,35,1,maybe,3
1,0,blue,52,1,no,1
0,1,green,?,2.5,yes,4.75
1,1,red,28,1,no,2
0,0,blue,61,1,maybe,3.5
1,0,green,47,3,yes,0.5
0,1,red,33,1,no,6
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.csv"
    path.write_text(SMALL)
    return path


def certified(text: str, path: Path, **options: object) -> tuple[tml.Result, Certificate]:
    result = tml.parse(text).solve(path, **options)
    made = result.certify()
    assert made.checked.verdict is Verdict.VERIFIED
    assert by_reference(reference(), path.read_bytes(), made.text) == "verified"
    return result, made


MISSING = "column age : number, missing separate\n"


@pytest.mark.parametrize(
    "text",
    [
        "predict y\nminimize errors\nrequire depth <= 2",
        "predict y\nmaximize accuracy\nrequire depth <= 3",
        "predict y\nminimize errors + 0.5 * leaves\nrequire depth <= 3",
        "predict y\nminimize errors then minimize leaves\nrequire depth <= 3",
        "predict y\nminimize errors\nrequire depth <= 3\nrequire leaves <= 3",
        "predict y\nminimize errors\nrequire leaves <= 4",
        "predict y\nminimize errors\nrequire depth <= 3\nrequire support >= 2",
        "predict y\nweight by w\nminimize errors\nrequire depth <= 2",
        'predict y\ncost predict "no" when "yes" = 3\nminimize mistake_cost\nrequire depth <= 2',
        "predict y\nbinarize color by subsets\nminimize errors\nrequire depth <= 2",
        "predict y\nbinarize age at 30, 45\nminimize errors\nrequire depth <= 2",
        'predict y\nminimize errors\nrequire depth <= 2\nrequire recall("yes") >= 75%',
    ],
)
def test_optimal(text: str, small: Path) -> None:
    _, made = certified(MISSING + text, small)
    if "recall" not in text:  # a multiplier may leave a gap
        assert made.claim == "optimal"


def test_a_requirement_without_any_test(tmp_path: Path) -> None:
    path = tmp_path / "constant.csv"
    path.write_text("x,y\n3,yes\n3,no\n3,yes\n")
    with pytest.raises(RefusedError, match="there is no test"):
        certified('predict y\nminimize errors\nrequire depth <= 2\nrequire recall("yes") >= 50%', path)


def test_result_and_certificate_agree(small: Path) -> None:
    result, made = certified(MISSING + "predict y\nminimize errors\nrequire depth <= 2", small)
    assert made.objective == made.bound == Fraction(result.objective)


def test_squared_loss_is_bounded_up_to_rounding(small: Path) -> None:
    result, made = certified(MISSING + "predict z\nforbid split on w\nminimize squared_loss\nrequire depth <= 3", small)
    assert made.claim == "bound"
    assert made.bound is not None
    assert made.bound <= result.exact.goals[0].value < made.bound + Fraction(8, 10**4)


def test_a_tree_of_another_program_needs_only_tests_and_predictions(small: Path, tmp_path: Path) -> None:
    """The least form that the documentation promises: no counts, and any threshold between the same two values."""
    leaf = {"predict": "no"}
    root = {"test": {"column": "age", "kind": "at most", "values": [29.123]}, "yes": {"predict": "yes"}, "no": leaf}
    tree = {"treeml_tree": 1, "task": "classes", "target": "y", "classes": ["maybe", "no", "yes"], "outputs": []}
    tree |= {"inputs": ["age"], "columns": [{"name": "age", "type": "number", "missing": True}], "root": root}
    path, spec, proof = tmp_path / "tree.json", tmp_path / "spec.tml", tmp_path / "proof.cert"
    path.write_text(json.dumps(tree))
    spec.write_text(f'data "{small}"\n{MISSING}predict y\nminimize errors\nrequire depth <= 1\n')
    done = CliRunner().invoke(command, ["certify", str(spec), "--tree", str(path), "-o", str(proof)])
    assert done.exit_code == 0, done.output
    assert "the tree has" in done.output


def test_nothing_is_feasible(small: Path) -> None:
    text = MISSING + "predict y\nminimize leaves\nrequire depth <= 1\nrequire errors <= 1"
    result, made = certified(text, small)
    assert result.status.value == "infeasible"
    assert made.claim == "infeasible"


def test_a_worse_tree_gets_a_bound(small: Path) -> None:
    model = tml.parse(MISSING + "predict y\nminimize errors\nrequire depth <= 2")
    worse = tml.parse(MISSING + "predict y\nminimize errors\nrequire depth <= 1").solve(small).tree
    best = model.solve(small)
    dataset, request = prepare(model, small)
    made = certify(dataset, request, small, worse)
    assert made.claim == "bound"
    assert made.bound == best.objective < made.objective


def test_a_stopped_search_gives_a_gap() -> None:
    result = tml.parse("predict disease minimize errors require depth <= 4").solve(DATA)
    made = result.certify(seconds=0.0)
    assert made.claim == "bound"
    assert made.bound <= made.objective == result.objective


def test_other_back_ends_are_certified_natively() -> None:
    pytest.importorskip("ortools")  # not installed for ARM under the emulator
    result = tml.parse("predict disease minimize errors require depth <= 2").solve(DATA, backend="cpsat")
    assert result.certify().claim == "optimal"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("predict disease minimize errors", "neither depth nor leaves are limited"),
        ("predict disease minimize errors then minimize depth require depth <= 2", "depth is not covered"),
        ("predict disease satisfy require depth <= 2 require errors <= 90", "nothing to prove"),
        ("predict disease minimize errors require depth <= 2 require purity >= 60%", "is not covered"),
        ("predict cholesterol minimize absolute_loss require depth <= 1", "the squared one"),
    ],
)
def test_refusals_say_why(text: str, reason: str) -> None:
    result = tml.parse(text).solve(DATA, within=20)
    with pytest.raises(RefusedError) as refused:
        result.certify()
    assert any(reason in note for each in refused.value.diagnostics for note in each.notes)


def test_rows_of_a_frame_are_refused() -> None:
    import polars as pl

    result = tml.parse("predict disease minimize errors require depth <= 1").solve(pl.read_csv(DATA))
    with pytest.raises(RefusedError, match="no certificate"):
        result.certify()


def test_columns_that_split_nothing_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "constant.csv"
    path.write_text("a,b,c,y\n0,1,x,0\n0,0,x,1\n0,1,x,0\n0,0,x,0\n0,1,x,1\n")
    _, made = certified("predict y\nminimize errors\nrequire depth <= 3", path)
    assert b'test "b"' in made.text
    assert b'test "a"' not in made.text


def test_a_changed_row_is_noticed(tmp_path: Path) -> None:
    made = tml.parse("predict disease minimize errors require depth <= 2").solve(DATA).certify()
    lines = DATA.read_text().splitlines(keepends=True)
    other = tmp_path / "heart.csv"
    other.write_text("".join([lines[0], *(line.replace(",no\n", ",yes\n") for line in lines[1:])]))
    assert check_text(other, made.text).verdict is Verdict.REJECTED


def test_commands(tmp_path: Path) -> None:
    spec, proof, kept = tmp_path / "spec.tml", tmp_path / "proof.cert.gz", tmp_path / "result.json"
    spec.write_text(f'data "{DATA}"\npredict disease\nminimize errors\nrequire depth <= 2\n')
    run = CliRunner()
    done = run.invoke(command, ["solve", str(spec), "--certificate", str(proof), "-o", str(kept)])
    assert done.exit_code == 0, done.output
    assert "certified  by" in done.output
    assert json.loads(kept.read_text())["certificate"]["checked"]["verdict"] == "verified"
    for extra in ([], ["--reference"]):
        assert run.invoke(command, ["check-certificate", str(DATA), str(proof), *extra]).exit_code == 0
    swapped = run.invoke(command, ["check-certificate", str(proof), str(DATA)])
    assert swapped.exit_code == 2
    assert f"the data come first: treeml check-certificate {DATA} {proof}" in swapped.output
    text = gzip.decompress(proof.read_bytes())
    (tmp_path / "false.cert").write_bytes(text.replace(b"\ndepth 2\n", b"\ndepth 3\n"))
    assert run.invoke(command, ["check-certificate", str(DATA), str(tmp_path / "false.cert")]).exit_code == 5
    (tmp_path / "odd.cert").write_bytes(b"treeml certificate 9\n")
    assert run.invoke(command, ["check-certificate", str(DATA), str(tmp_path / "odd.cert")]).exit_code == 6
    again = tmp_path / "again.cert"
    call = ["certify", str(spec), "--tree", str(kept), "-o", str(again), "--json"]
    done = run.invoke(command, call)
    assert done.exit_code == 0, done.output
    assert again.read_bytes() == text
    assert run.invoke(command, [*call, "--within", "5min"]).exit_code == 0
    assert run.invoke(command, ["check-certificate", str(DATA), str(again)]).exit_code == 0
    assert "T305" in run.invoke(command, [*call, "--within", "5"]).output  # a time needs a unit


def test_proofs_of_sat_under_the_same_command(tmp_path: Path) -> None:
    clauses, proof = tmp_path / "x.cnf", tmp_path / "x.drup"
    clauses.write_text("p cnf 1 2\n1 0\n-1 0\n")
    proof.write_text("0\n")
    run = CliRunner()
    assert run.invoke(command, ["check-certificate", str(clauses), str(proof)]).exit_code == 0
    packed = tmp_path / "x.drup.gz"
    packed.write_bytes(gzip.compress(proof.read_bytes()))
    assert run.invoke(command, ["check-certificate", str(clauses), str(packed)]).exit_code == 0
    packed.write_bytes(b"\x1f\x8b odd")
    assert run.invoke(command, ["check-certificate", str(clauses), str(packed)]).exit_code == 6
    packed.write_bytes(b"not a proof\n")
    assert run.invoke(command, ["check-certificate", str(clauses), str(packed)]).exit_code == 6
    clauses.write_text("p cnf 2 2\n1 0\n-2 0\n")
    assert run.invoke(command, ["check-certificate", str(clauses), str(proof)]).exit_code == 5


@pytest.mark.parametrize(
    "text",
    [
        "predict y\nforbid split on w\nensemble by lpboost(nu = 0.3)\nmaximize margin\nrequire depth <= 2",
        "predict y\nweight by w\nensemble by lpboost(nu = 0.5)\nmaximize margin\nrequire leaves <= 3",
        "predict y\nforbid split on w\nensemble by hardmargin\nmaximize margin\nrequire depth <= 3",
    ],
)
def test_forests(text: str, small: Path) -> None:
    result, made = certified(MISSING + text, small)
    assert made.claim == "margin"
    assert made.objective is not None
    assert made.bound is not None
    assert abs(made.objective - Fraction(result.objective)) < Fraction(1, 10**9)
    assert made.objective <= made.bound <= made.objective + Fraction(1, 10**5)


def test_a_forest_from_a_file(small: Path, tmp_path: Path) -> None:
    spec, kept, proof = tmp_path / "forest.tml", tmp_path / "forest.json", tmp_path / "forest.cert.gz"
    spec.write_text(
        f'data "{DATA}"\npredict disease\nensemble by lpboost(nu = 0.2)\nmaximize margin\nrequire depth <= 1\n'
    )
    tml.parse(spec.read_text()).solve(DATA).forest.write(kept)
    run = CliRunner()
    done = run.invoke(command, ["certify", str(spec), "--tree", str(kept), "-o", str(proof)])
    assert done.exit_code == 0, done.output
    assert "the forest has a margin of at least" in done.output
    assert run.invoke(command, ["check-certificate", str(DATA), str(proof)]).exit_code == 0


def test_other_forests_are_refused() -> None:
    text = "predict disease\nensemble by mdboost(penalty = 2)\nmaximize margin\nrequire depth <= 1"
    with pytest.raises(RefusedError) as refused:
        tml.parse(text).solve(DATA).certify()
    assert "forests of `mdboost` are not covered" in refused.value.diagnostics[0].notes[0]


@pytest.mark.parametrize("depth", [2, 3])
def test_points_close_the_gap_of_a_multiplier(depth: int, tmp_path: Path) -> None:
    rng = random.Random(depth)
    closed = 0
    for number in range(8):
        path = tmp_path / f"{number}.csv"
        rows = [[rng.choice("01") for _ in range(6)] for _ in range(60)]
        path.write_text("\n".join(["a,b,c,d,e,y", *map(",".join, rows)]) + "\n")
        text = f'predict y\nminimize errors\nrequire depth <= {depth}\nrequire recall("1") >= {rng.randint(60, 95)}%'
        result, made = certified(text, path)
        assert result.is_optimal
        assert made.claim == "optimal"
        closed += any(re.fullmatch(rb"require -?\d+ 0", line) is not None for line in made.text.splitlines())
    assert closed


@pytest.mark.parametrize(
    "text",
    [
        'minimize errors\nrequire depth <= 2\nrequire recall("yes") >= 90%',
        "binarize age at 40, 50, 60\nbinarize cholesterol at 200, 250, 300\nbinarize pressure at 120, 140\n"
        'minimize errors\nrequire depth <= 3\nrequire recall("yes") >= 93%',
    ],
)
def test_points_close_the_gap_on_raw_numbers(text: str) -> None:
    result, made = certified(f"predict disease\n{text}", DATA)
    assert result.is_optimal
    assert made.claim == "optimal"
    assert made.objective == Fraction(result.objective)
    lines = made.text.splitlines()
    assert any(re.fullmatch(rb"require -?\d+ 0", line) is not None for line in lines)
    assert sum(line.startswith(b'test "age" cuts') for line in lines) > 2  # a line for every cut


def test_an_answer_without_a_certificate_is_not_lost(tmp_path: Path) -> None:
    spec, proof, kept = tmp_path / "a.tml", tmp_path / "a.cert.gz", tmp_path / "a.json"
    spec.write_text(f'data "{DATA}"\npredict disease\nminimize errors\nthen minimize depth\nrequire depth <= 2\n')
    done = CliRunner().invoke(command, ["solve", str(spec), "--certificate", str(proof), "-o", str(kept)])
    assert done.exit_code == 1
    assert "B540" in done.output
    assert "optimal, and proved" in done.output
    assert json.loads(kept.read_text())["status"] == "optimal"
    assert not proof.exists()


def test_files_of_version_1_are_unsupported(tmp_path: Path) -> None:
    old = tmp_path / "old.cert"
    old.write_text('treeml certificate 1\nseparator ","\n')
    done = CliRunner().invoke(command, ["check-certificate", str(DATA), str(old)])
    assert done.exit_code == 6
    assert "not a certificate of version 2" in done.output


def test_a_solve_that_asks_for_none_loads_nothing_of_it() -> None:
    program = (
        "import sys; import treeml as tml;"
        f"tml.parse('predict disease minimize errors require depth <= 2').solve({str(DATA)!r});"
        "sys.exit(any('certif' in name for name in list(sys.modules)))"  # a copy: a thread may still import
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
