"""Every wrong spec is answered with exactly the text beside it."""

import json
from pathlib import Path

import pytest
from bad_specs import diagnostics, rendered, specs

SPECS = specs()


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_message(spec: Path) -> None:
    assert rendered(spec) == spec.with_suffix(".txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_every_spec_here_is_wrong_and_every_text_has_its_spec(spec: Path) -> None:
    assert diagnostics(spec)
    assert {path.stem for path in spec.parent.glob("*.txt")} == {path.stem for path in SPECS}


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_concise_is_one_line_with_place_code_and_title(spec: Path) -> None:
    for line, diagnostic in zip(rendered(spec, "concise").split("\n\n"), diagnostics(spec), strict=True):
        place = str(diagnostic.labels[0].span) if diagnostic.labels else spec.name
        level = diagnostic.severity.value
        assert line.strip() == f"{place}: {level}[{diagnostic.code}]: {diagnostic.title}"


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_json_holds_all_that_is_shown(spec: Path) -> None:
    for line, diagnostic in zip(rendered(spec, "json").strip().split("\n\n"), diagnostics(spec), strict=True):
        found = json.loads(line)
        assert (found["code"], found["title"]) == (diagnostic.code, diagnostic.title)
        assert [label["text"] for label in found["labels"]] == [label.text for label in diagnostic.labels]
        assert (found["notes"], found["helps"]) == (list(diagnostic.notes), list(diagnostic.helps))


def test_concise_and_json_of_one_message_to_the_letter() -> None:
    spec = Path(__file__).with_name("strict_depth.tml")
    assert rendered(spec, "concise") == (
        "strict_depth.tml:4:15: error[T303]: `depth` is a whole number, so `< 3.5` is never met exactly\n"
    )
    assert json.loads(rendered(spec, "json")) == {
        "code": "T303",
        "severity": "error",
        "title": "`depth` is a whole number, so `< 3.5` is never met exactly",
        "place": "strict_depth.tml:4:15",
        "labels": [
            {
                "file": "strict_depth.tml",
                "line": 4,
                "column": 15,
                "end_line": 4,
                "end_column": 20,
                "text": "depth is a whole number",
            }
        ],
        "notes": [],
        "helps": ["write `depth <= 3`"],
        "fixes": [],
    }


@pytest.mark.parametrize("letter", ["S", "N", "T", "L"])
def test_every_code_of_a_specification_has_a_wrong_spec(letter: str) -> None:
    from treeml.lang.codes import CATALOGUE

    # A file that is gone or too long cannot stand here (tests/check/test_unreadable.py makes them), nor can options of
    # the command line, nor what other packages bring.
    elsewhere = {"S109", "S119", "S150", "S151", "T330", "T331", "T332", "N213", "N214", "N215", "N216"}
    covered = {diagnostic.code for spec in SPECS for diagnostic in diagnostics(spec)} | elsewhere
    assert {code for code in CATALOGUE if code.startswith(letter)} - covered == set()
