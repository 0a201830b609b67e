"""Small inputs that would take hours or gigabytes: numbers with huge exponents, deep nesting, endless lines."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from attacks import SPEC, asked, world

import treeml as tml
from treeml.lang.numerals import MOST_DIGITS, exact_number
from treeml.studies.comparison.journal import read_records
from treeml.studies.comparison.record import flaw_of
from treeml.trees.json_form import DEEPEST

BOMBS = ["1e99999999", "1e-99999999", "-1e999999999999999999", "1e5000", "9" * 5000, f"1/{'9' * 5000}", "1e400", "7/0"]
NO_NUMBERS = ["", "abc", "1e", "0x10", "nan", "inf", None, [], {}, True, float("inf"), float("nan"), 10**400]
LEAF = {"predict": "a", "rows": 1, "counts": [1, 0], "weights": [1, 0]}
RECORD: dict[str, Any] = {
    "key": "k",
    "backend": "native",
    "fingerprint": "f",
    "params": {"p": 1},
    "status": "optimal",
    "objective": 0.5,
    "bound": 0.5,
    "goals": [{"text": "minimize errors", "sense": "minimize", "value": "1/2"}],
    "trace": [{"seconds": 0.1, "objective": [0.5], "bound": None}],
}


def tree(root: Any = LEAF, **others: Any) -> dict[str, Any]:
    column = {"name": "x", "type": "number"}
    whole = {"treeml_tree": 1, "task": "classes", "target": "y", "classes": ["a", "b"], "outputs": [], "inputs": ["x"]}
    return {**whole, "columns": [column], "root": root, **others}


@pytest.mark.parametrize("text", BOMBS)
def test_a_number_that_is_too_large_is_refused_before_it_is_computed(text: str) -> None:
    with pytest.raises(ValueError, match=r"digits|too large|divided by 0"):
        exact_number(text)


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        exact_number(value)


def test_numbers_that_people_write_are_exact() -> None:
    texts = ["7/2", "0.1", "-1e-3", "1e300", "3", " 12 ", "0." + "0" * 200 + "1"]
    assert [exact_number(text) for text in texts] == [Fraction(text) for text in texts]
    assert exact_number(0.1) == Fraction(0.1)
    assert exact_number("9" * 300) == 10**300 - 1
    assert len(str(exact_number("1/" + "3" * MOST_DIGITS).denominator)) == MOST_DIGITS


@pytest.mark.parametrize("bomb", [*BOMBS, 10**400])
def test_weights_and_exact_values_of_a_tree(bomb: Any) -> None:
    with pytest.raises(tml.DataError, match=r"D480.*`root.weights` of the tree holds"):
        tml.Tree.from_json(tree({**LEAF, "weights": [bomb, 1]}))
    numbers = tree({"predict": 1.0, "rows": 1, "exact": [bomb]}, task="numbers", classes=[], outputs=["y"])
    with pytest.raises(tml.DataError, match=r"D480.*`root.exact` of the tree holds"):
        tml.Tree.from_json(numbers)


@pytest.mark.parametrize("value", ["1e400", "-1e999999999", "9" * 400, "9" * 5000])
def test_thresholds_beyond_every_float(value: str) -> None:
    split = {"test": {"column": "x", "kind": "at most", "values": [0]}, "yes": LEAF, "no": LEAF}
    with pytest.raises(tml.DataError, match="D480"):
        tml.Tree.from_json(json.dumps(tree(split)).replace('"values": [0]', f'"values": [{value}]'))


def test_more_rows_than_can_be_counted() -> None:
    with pytest.raises(tml.DataError) as caught:
        tml.Tree.from_json(tree({**LEAF, "rows": 10**300}))
    assert caught.value.diagnostics[0].title == (
        "`root.rows` of the tree is a whole number of more than 40 digits, not a number of rows"
    )


@pytest.mark.parametrize("bomb", BOMBS)
def test_weights_of_a_forest(bomb: str) -> None:
    with pytest.raises(tml.DataError, match=r"D437.*not a weight"):
        tml.Forest.from_json({"treeml_forest": 1, "trees": [tree()], "weights": [bomb]})


@pytest.mark.parametrize("bomb", [*BOMBS, None, "x", [1]])
def test_goals_of_a_kept_comparison(bomb: Any, tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    goal = {"text": "minimize errors", "sense": "minimize", "value": bomb}
    path.write_text(json.dumps({**RECORD, "goals": [goal]}) + "\n")
    with pytest.raises(tml.DataError) as caught:
        read_records(path)
    assert caught.value.diagnostics[0].title == (
        f"{path} cannot be read as results of `treeml compare`: line 1 is not a record of a comparison: "
        "the value of a goal is not an exact number"
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("params", [1]),
        ("params", {"p": [1]}),
        ("goals", {"text": 1}),
        ("trace", [{"seconds": "soon"}]),
        ("trace", [1]),
        ("bound", "1e99999999"),
        ("seconds", 10**400),
        ("backend", 7),
        ("measures", 7),
        ("fingerprint", [1]),
        ("data", []),
        ("objective", [[]]),
        ("objective", "\ud800"),
        ("trace", [{"seconds": None, "objective": [0.5], "bound": None}]),
    ],
)
def test_records_that_are_none(name: str, value: Any) -> None:
    assert flaw_of(RECORD) == ""
    assert flaw_of({**RECORD, name: value})


def test_a_tree_as_deep_as_can_be_read_and_one_level_more() -> None:
    def nested(levels: int) -> dict[str, Any]:
        root: dict[str, Any] = LEAF
        for _ in range(levels):
            test = {"column": "x", "kind": "at most", "values": [1]}
            root = {"test": test, "yes": LEAF, "no": root}
        return tree(root)

    assert tml.Tree.from_json(nested(DEEPEST)).depth == DEEPEST
    with pytest.raises(tml.DataError, match=f"D480.*nested too deeply: at most {DEEPEST} levels"):
        tml.Tree.from_json(nested(DEEPEST + 1))


def test_a_tree_that_holds_itself() -> None:
    root: dict[str, Any] = {"test": {"column": "x", "kind": "at most", "values": [1]}, "yes": LEAF}
    root["no"] = root
    with pytest.raises(tml.DataError, match=r"D480.*nested too deeply"):
        tml.Tree.from_json(tree(root))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
@pytest.mark.parametrize("arguments", [("show",), ("report", "-o", "/dev/null"), ("plot", "cactus", "-o", "x.json")])
def test_json_that_is_nested_without_end(text: str, arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text(text + "\n1\n")
    answer = asked(*_with_file(arguments, tmp_path / "deep.json"))
    assert answer.code == 1
    assert len(answer.error) < 2000


def _with_file(arguments: tuple[str, ...], file: Path) -> tuple[object, ...]:
    at = 2 if arguments[0] == "plot" else 1
    return (*arguments[:at], file, *arguments[at:])


def test_the_command_line_takes_no_number_of_a_hundred_thousand_digits(tmp_path: Path) -> None:
    spec = world(tmp_path) / "spec.tml"
    spec.write_text("param p = 1\n" + SPEC.replace("<= 2", "<= p"))
    answer = asked("check", spec, "--set", f"p={'9' * 100_000}", "--format", "concise")
    assert answer.code == 1
    assert answer.error == f"{spec}:1:7: error[T312]: --set gives `p` a number of more than 500 digits\n"
    answer = asked("check", spec, "--set", "p=1e99999999", "--format", "concise")
    assert answer.error == f"{spec}:1:7: error[T312]: --set gives `p` a number of more than 500 digits\n"
    answer = asked("solve", spec, "--memory", "9" * 100_000, "--format", "concise")
    assert answer.code == 1
    assert "error[T330]" in answer.error


@pytest.mark.parametrize(
    "given",
    [Decimal("1e99999999"), 10**100_000, Fraction(1, 10**100_000), "1e-99999999"],
    ids=["decimal", "whole", "fraction", "text"],
)
def test_params_given_from_python(given: Any) -> None:
    with pytest.raises(tml.SpecError, match=r"T312.*a number of more than 500 digits"):
        tml.parse("param p = 1\npredict y\nminimize errors\nrequire depth <= p", p=given).check()


@pytest.mark.parametrize("number", ["1e99999999", "1e-99999999", "9" * 100_000, "0." + "3" * 100_000])
def test_a_number_in_a_spec(number: str) -> None:
    with pytest.raises(tml.SpecError, match="S107"):
        tml.parse(f"predict y\nminimize errors\nrequire depth <= {number}")


@pytest.mark.parametrize("cell", ["1e99999999", "-1e99999999", "9" * 5000, "x" + "9" * 5000])
def test_cells_with_endless_numbers(cell: str, tmp_path: Path) -> None:
    spec = world(tmp_path) / "spec.tml"
    (spec.parent / "rows.csv").write_text(f"a,b,y\n{cell},u,0\nv,1,1\nw,0,1\n{cell},0,0\n")
    spec.write_text(SPEC + "require count(a = 3 given predicted = 1) <= 9\n")
    answer = asked("solve", spec, "-q", "--within", "60s")
    assert answer.code in (0, 1)
    assert len(answer.error) < 4000


def test_deep_expressions_are_refused() -> None:
    deep = "(" * 50_000 + "depth" + ")" * 50_000
    with pytest.raises(tml.SpecError, match="S1"):
        tml.parse(f"predict y\nminimize errors\nrequire {deep} <= 3")
    with pytest.raises(tml.SpecError, match="S1"):
        tml.parse(f"predict y\nminimize errors\nrequire {'-' * 50_000}depth <= 3")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"about": "x"}, "its `about` is not of the kind that it has to be"),
        ({"about": {"spec": []}}, "its `about` is not of the kind that it has to be"),
        ({"about": {"spec": {"text": 1.5}}}, "the name or the text of its spec is no text"),
        ({"measures": {"errors": float("inf")}}, "it holds a number that is not finite"),
    ],
)
def test_a_result_that_no_page_can_show(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps({"status": "optimal", "tree": tree(), **change}))
    answer = asked("report", tmp_path / "result.json", "-o", tmp_path / "page.html", "--format", "concise")
    assert answer.code == 1
    assert f"error[D493]: a page cannot be made of this result: {said}\n" in answer.error
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("absent", ["key", "objective", "spec", "fingerprint", "trace", "goals", "status"])
@pytest.mark.parametrize("words", [("report",), ("plot", "tradeoff"), ("plot", "timeline")])
def test_records_that_lack_something(absent: str, words: tuple[str, ...], tmp_path: Path) -> None:
    record = {name: value for name, value in {**RECORD, "tree": tree(), "spec": "s"}.items() if name != absent}
    (tmp_path / "records.jsonl").write_text(json.dumps(record) + "\n" + json.dumps({**record, "status": "x"}) + "\n")
    answer = asked(*words, tmp_path / "records.jsonl", "-o", tmp_path / "made.json")
    assert answer.code in (0, 1)
