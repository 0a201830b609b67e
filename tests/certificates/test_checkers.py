"""The two checkers: false statements are rejected, true ones accepted, and both always agree."""

import gzip
import random
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from certificate_attack import ROOT, Attack, reference, said_by_program, said_by_reference

from treeml.native.certify import Prover, TreeShape

SANITIZERS = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def compiled(folder: Path, *flags: str) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    program = folder / "checker"
    warnings = ["-Wall", "-Wextra", "-Werror"]
    done = subprocess.run([compiler, *flags, *warnings, ROOT / "checker" / "checker.c", "-o", program], check=False)
    if done.returncode and flags != ("-O2",):
        pytest.skip("the compiler has no sanitizers")
    assert done.returncode == 0
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("checker"), "-O2")


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("sanitized"), *SANITIZERS)


def test_no_false_statement_is_accepted(program: Path, tmp_path: Path) -> None:
    attack = Attack(41, program, tmp_path)
    while attack.attempts < 300:
        attack.one_problem(6)
    assert attack.true > 5


def test_damaged_files_have_the_same_verdict(program: Path, tmp_path: Path) -> None:
    attack = Attack(42, program, tmp_path)
    while attack.damaged < 300:
        attack.corrupt_files(20)


@pytest.mark.parametrize(("attempts", "damaged"), [(60, 120), pytest.param(1500, 3000, marks=pytest.mark.slow)])
def test_sanitizers_find_nothing(
    sanitized: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attempts: int, damaged: int
) -> None:
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")  # the program ends with its verdict, and its memory with it
    attack = Attack(43, sanitized, tmp_path)
    while attack.attempts < attempts:
        attack.one_problem(6)
    while attack.damaged < damaged:
        attack.corrupt_files(20)


def example() -> tuple[bytes, bytes]:
    """The data and the certificate of the worked example in the documentation."""
    page = (ROOT / "docs" / "certificates.md").read_text()
    data, text, *_ = re.findall("```text\n(.*?)```", page, re.S)
    return data.encode(), text.encode()


def verdicts(program: Path, folder: Path, data: bytes, text: bytes) -> str:
    return sayings(program, folder, data, text).partition(":")[0]


def sayings(program: Path, folder: Path, data: bytes, text: bytes) -> str:
    path = folder / "data.csv"
    path.write_bytes(data)
    said = said_by_reference(reference(), data, text)
    assert said_by_program(program, path, text) == said
    return said


def test_worked_example(program: Path, tmp_path: Path) -> None:
    data, text = example()
    assert verdicts(program, tmp_path, data, text) == "verified"


SCOPE = 'of "picnic", 11 rows; trees of depth 2 with up to 4 leaves of 1 rows or more, 3 tests on 3 of 4 columns)'


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (b"", b"", f"the tree is optimal: no tree has a smaller value than 2 (errors {SCOPE}"),
        # Another target, or costs that are not errors: the value is no longer called errors.
        (b'target "picnic"', b'target "wind"', f"smaller value than 2 (costs {SCOPE.replace('picnic', 'wind')}"),
        (b"claim optimal", b"claim bound 2", f"no tree has a value below 2; the tree has 2 (errors {SCOPE}"),
        (b"\ndepth 2", b"\ndepth 2\nleaves 3", "with up to 3 leaves of 1 rows or more"),
        (b"\ndepth 2", b"\ndepth 2\nsupport 2", "with up to 4 leaves of 2 rows or more"),
        (b"goal 1", b'test "rain" words "no"\ngoal 1', "4 tests on 3 of 4 columns)"),
        (b"claim optimal", b"require 11 1\ncost 1 1\nclaim optimal", "columns, requirement met)"),
    ],
)
def test_the_verdict_says_what_was_proved(
    program: Path, tmp_path: Path, before: bytes, after: bytes, said: str
) -> None:
    data, text = example()
    text = text.replace(before, after, 1)
    if b"leaves 3" in text:
        text = text.replace(b"\n2 0 1 0 0\n", b"\n2 3 1 0 0\n")
    assert said in sayings(program, tmp_path, data, text)


def test_names_in_the_verdict_are_printable(program: Path, tmp_path: Path) -> None:
    data, text = (each.replace(b"picnic", b"p\x1b[2J\xc3\xbc") for each in example())
    assert 'errors of "p?[2J??"' in sayings(program, tmp_path, data, text)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (b"\n2 0 1 0 0\n", b"\n2 0 2 0 0\n", "rejected"),  # a bound that does not hold
        (b"\n2 0 1 0 0\n", b"\n2 0 0 0 0\n", "rejected"),  # a bound that is not enough
        (b"\n2 0 1 0 0\n", b"\n1 0 1 0 0\n", "rejected"),  # about smaller trees
        (b"\n2 0 1 0 0\n", b"\n2 0 0 1 5 0\n", "rejected"),  # about some rows only
        (b"value 2", b"value 1", "rejected"),
        (b"tree 2 -2 -1", b"tree 2 -1 -2", "rejected"),
        (b"tree 2 -2 -1", b"tree 2 -2", "rejected"),
        (b"depth 2", b"depth 3", "rejected"),
        (b"rows 11", b"rows 12", "rejected"),
        (b"claims 1", b"claims 2", "rejected"),
        (b"end\n", b"", "rejected"),
        (b'"weekend" words', b'"weekday" words', "unsupported"),
        (b'target "picnic"', b'target "wind"', "verified"),  # costs name the column, not the target: nothing changes
        (b'class "no"', b'class "never"', "unsupported"),
        (b"goal 1\n", b"goal 1 price -1\n", "unsupported"),
        (b"claim optimal", b'cost 0 1e9\nwhen "picnic" "never"\nclaim optimal', "unsupported"),  # of no row, but read
        (b"claim optimal", b'cost 0 9\nwhen "picnic" "never"\nclaim optimal', "verified"),
        (b"certificate 2", b"certificate 1", "unsupported"),
        (b"separator", b"seperator", "unsupported"),
        (b"claim optimal", b"claim bound 3", "rejected"),
        (b"claim optimal", b"claim bound 1", "verified"),
    ],
)
def test_changes_of_the_example(program: Path, tmp_path: Path, before: bytes, after: bytes, verdict: str) -> None:
    data, text = example()
    assert before in text
    assert verdicts(program, tmp_path, data, text.replace(before, after)) == verdict


@pytest.mark.parametrize(
    ("cost", "verdict"),
    [
        (2**53 // 11 - 1, "verified"),  # the sum over 11 rows stays below 2^53
        (2**53 // 11 + 1, "unsupported"),
        (2**53, "unsupported"),
        (10**16, "unsupported"),
        (10**17, "unsupported"),  # too many digits
        (2**63, "unsupported"),
        (2**64 + 1, "unsupported"),  # a narrowing would make it 1
    ],
)
def test_magnitudes(program: Path, tmp_path: Path, cost: int, verdict: str) -> None:
    data, text = example()
    text = text.replace(b"cost 0 1\n", b"cost 0 %d\n" % cost).replace(b"cost 1 0\n", b"cost %d 0\n" % cost)
    text = text.replace(b"value 2", b"value %d" % (2 * cost)).replace(b"\n2 0 1 0 0\n", b"\n2 0 %d 0 0\n" % cost)
    assert verdicts(program, tmp_path, data, text) == verdict


@pytest.mark.parametrize("price", [2**53 // 11 - 12, 2**53 // 11 + 1])
def test_prices_of_leaves_are_bounded(program: Path, tmp_path: Path, price: int) -> None:
    data, text = example()
    leaf = text.replace(b"goal 1\n", b"goal 1 price %d\n" % price).replace(b"tree 2 -2 -1", b"tree -1")
    leaf = leaf.replace(b"value 2", b"value %d" % (5 + price)).replace(
        b"\n2 0 1 0 0\n", b"\n2 0 %d 0 0\n" % (4 + price)
    )
    expected = "verified" if 11 * price + 11 < 2**53 else "unsupported"
    assert verdicts(program, tmp_path, data, leaf) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"no,no,yes,yes\n", b"no,no,yes,yes,\n"),
        (b"no,no,yes,yes\n", b'no,"no"x,yes,yes\n'),
        (b"no,no,yes,yes\n", b'no,"no,yes,yes\n'),
        (b"no,no,yes,yes\n", b"no,no,yes,\0yes\n"),
        (b"no,no,yes,yes\n", b"no,no\r,yes,yes\n"),
        (b"rain,wind", b"wind,wind"),
        (b"rain,", b"\xef\xbb\xbfrain,"),
        (b"no,no,yes,yes\n", b"\nno,no,yes,yes\n"),
    ],
)
def test_odd_data_are_unsupported(program: Path, tmp_path: Path, before: bytes, after: bytes) -> None:
    data, text = example()
    assert verdicts(program, tmp_path, data.replace(before, after, 1), text) == "unsupported"


def test_plain_variations_of_the_data_are_read(program: Path, tmp_path: Path) -> None:
    data, text = example()
    for made in (
        data.replace(b"\n", b"\r\n"),
        data + b"\n\n",
        data.replace(b"no,", b' "no" ,').replace(b' "', b'"').replace(b'" ', b'"'),
    ):
        assert verdicts(program, tmp_path, made, text) == "verified"


def test_checkers_stand_alone() -> None:
    python = (ROOT / "checker" / "checker.py").read_text()
    imported = set(re.findall(r"^(?:import|from) (\w+)", python, re.M))
    assert imported <= {"gzip", "io", "re", "sys", "zlib", "bisect", "itertools", "math", "pathlib", "types", "numpy"}
    included = set(re.findall(r"^#include (.+)$", (ROOT / "checker" / "checker.c").read_text(), re.M))
    assert included <= {f"<{name}.h>" for name in ("stdint", "stdio", "stdlib", "string")}


def squared_case(rng: random.Random) -> tuple[bytes, list[str], list[list[int]], list[int], list[int]]:
    """Data, header up to the claim, places of three tests, targets in tenths, and weights."""
    rows = rng.randint(4, 9)
    bits = [[rng.randint(0, 1) for _ in range(rows)] for _ in range(3)]
    targets = [rng.randint(-30, 90) for _ in range(rows)]
    weights = [rng.randint(0, 3) for _ in range(rows)]
    lines = ["a,b,c,y,w"] + [f"{a},{b},{c},{y / 10},{w}" for a, b, c, y, w in zip(*bits, targets, weights, strict=True)]
    header = ["treeml certificate 2", 'separator ","', f"rows {rows}", 'squared "y" 10', "depth 3"]
    header += [f'test "{name}" words "1"' for name in "abc"] + ['goal 1 price 7 weight "w" 1']
    places = [[1 - bit for bit in column] for column in bits]
    return ("\n".join(lines) + "\n").encode(), header, places, targets, weights


def least_squares(places: list[list[int]], vector: list[tuple[int, int, int]], rows: frozenset[int], depth: int) -> int:
    """The least sum over leaves of the loss, rounded down in every leaf, plus 7 per leaf: by trying all trees."""
    weight, total, square = (sum(vector[row][i] for row in rows) for i in range(3))
    best = square - -(-total * total // max(weight, 1)) + 7
    for place in places if depth else ():
        yes = frozenset(row for row in rows if not place[row])
        if yes and yes != rows:
            sides = [least_squares(places, vector, side, depth - 1) for side in (yes, rows - yes)]
            best = min(best, sum(sides))
    return best


def test_squared_losses_have_sharp_bounds(program: Path, tmp_path: Path) -> None:
    rng = random.Random(5)
    for _ in range(25):
        data, header, places, targets, weights = squared_case(rng)
        middle = sum(targets) // len(targets)
        vector = [(w, w * (y - middle), w * (y - middle) ** 2) for w, y in zip(weights, targets, strict=True)]
        truth = least_squares(places, vector, frozenset(range(len(targets))), 3)
        prover = Prover(np.array(places), [1] * 3, np.array(vector), TreeShape(3, price=7), squared=True)
        claims = prover.prove(10**9)
        assert claims.bound == truth
        for bound, verdict in ((truth, "verified"), (truth + 1, "rejected")):
            lines = [*header, f"claim bound {bound}", f"claims {claims.count}"]
            text = ("\n".join(lines) + "\n").encode() + claims.text + b"end\n"
            assert verdicts(program, tmp_path, data, text) == verdict
            raised = text.replace(b"\n3 0 %d 0 " % truth, b"\n3 0 %d 0 " % bound)
            assert verdicts(program, tmp_path, data, raised) == verdict


FOREST = b"""treeml certificate 2
separator ","
rows 2
target "y"
class "a"
class "b"
depth 1
test "x" words "1"
claim margin 1 1 1
forest 1 0 weight "w" 1
prices 1 0
tree 1 0 -1 -2
claims 1
1 0 0 0 0
end
"""


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (b"prices", b"prices", "verified"),
        (b"prices 1 0", b"prices 1 1", "rejected"),  # a price of a row without weight
        (b"prices 1 0", b"prices 0 0", "rejected"),
        (b"prices 1 0", b"prices 1", "unsupported"),
        (b"prices 1 0", b"prices 1 -1", "unsupported"),
        (b"forest 1 0", b"forest 1 2", "rejected"),  # the price is above its limit
        (b"margin 1 1 1", b"margin 2 2 2", "rejected"),  # more than all votes
        (b"margin 1 1 1", b"margin 1 0 1", "rejected"),
        (b"tree 1 0 -1 -2", b"tree 1 -2", "rejected"),  # the forest has another margin
        (b"tree 1 0 -1 -2", b"tree 0 0 -1 -2", "unsupported"),
        (b"margin 1 1 1", b"margin 0 0 0", "rejected"),
        (
            b'margin 1 1 1\nforest 1 0 weight "w" 1\nprices 1 0\ntree 1 0 -1 -2\n',
            b'margin 0 0 0\nforest 1 0 weight "w" 1\nprices 1 0\n',
            "rejected",
        ),  # no tree: 0 / 0 says nothing
        (b"tree 1 0 -1 -2", b"tree 2199023255553 0 -1 -2", "unsupported"),  # votes beyond 2^41
        (b'weight "w" 1', b'weight "w" 2147483648', "unsupported"),  # weights beyond 2^31
        (b"forest 1 0", b"forest 2147483649 0", "unsupported"),
        (b"forest 1 0", b"forest 0 0", "unsupported"),  # no price for any shortfall would prove any margin
        (b"prices 1 0", b"prices 4503599627370496 0", "unsupported"),  # costs are twice the price: 2^53
        (b"prices 1 0", b"prices 4503599627370495 0", "verified"),
    ],
)
def test_forests(program: Path, tmp_path: Path, before: bytes, after: bytes, verdict: str) -> None:
    assert before in FOREST
    text = FOREST.replace(before, after)
    assert verdicts(program, tmp_path, b"x,y,w\n1,a,1\n0,b,0\n", text) == verdict


def test_squares_at_the_limits(program: Path, sanitized: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No product passes 128 bits before its factors are bounded; UBSan would tell."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    huge = 2**53
    text = "\n".join(
        ["treeml certificate 2", 'separator ","', "rows 2", 'squared "z" 1', "depth 1", 'test "x" words "1"',
         'goal 1 weight "w" 1', "claim bound 0", "claims 1", "1 0 0 0 0", "end", ""]
    )  # fmt: skip
    for rows, verdict in (
        (((1, huge, huge - 1), (0, -huge, 1)), "unsupported"),
        (((1, huge, 0), (0, -huge, 0)), "verified"),  # rows without weight cost nothing
        (((1, huge, -huge), (0, -huge, 1)), "unsupported"),
        (((1, 2**25, 1), (0, -(2**25), 1)), "verified"),
        (((1, 2**26, 1), (0, -(2**26), 1)), "unsupported"),  # the squares add up to 2^53
    ):
        data = "x,z,w\n" + "".join(f"{x},{z},{w}\n" for x, z, w in rows)
        for each in (program, sanitized):
            assert verdicts(each, tmp_path, data.encode(), text.encode()) == verdict


def test_an_unpacked_certificate_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checker = reference()
    data, text = example()
    (tmp_path / "data.csv").write_bytes(data)
    (tmp_path / "proof.cert.gz").write_bytes(gzip.compress(text))
    arguments = [str(tmp_path / "data.csv"), str(tmp_path / "proof.cert.gz")]
    assert checker.main(arguments) == 0
    monkeypatch.setattr(checker, "MANY", len(text) - 1)
    assert checker.main(arguments) == 2
