"""Terminal control characters in names of columns, classes, levels and files: no command and no export prints them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from treeml.cli import main as cli
from treeml.lang.diagnostic import DataError, Diagnostic, Label, SpecError
from treeml.lang.display import OBEYED_IN_LINES
from treeml.lang.render import render
from treeml.lang.source import Source, Span
from treeml.trees.export.registry import BUILT_IN as FORMS
from treeml.trees.export.registry import export
from treeml.trees.export.registry import export as export_forest
from treeml.trees.forest import Forest
from treeml.trees.nodes import Branch, Field, TreeLeaf
from treeml.trees.nodes import TreeTest as Question
from treeml.trees.tree import Tree

ATTACK = "\x1b]0;PWN\x07\x1b[2J\x9b31m\u202egnp.\u2066\u2028forged\x7f"
COLUMN, LEVEL, CLASS, TARGET = f"col{ATTACK}", f"lvl{ATTACK}", f"cls{ATTACK}", f"y{ATTACK}"
LINES = "a\nerror[X]: forged\r\n\t[bold red]markup[/] [link=http://x]"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [("q", 0, "n"), (LEVEL, 0, CLASS), ("q", 1, CLASS), (LEVEL, 1, "n"), ("q", 2, "n"), (LEVEL, 2, CLASS)] * 3
    quoted = [",".join(f'"{cell}"' if isinstance(cell, str) else str(cell) for cell in row) for row in rows]
    text = "\n".join([f'"{COLUMN}","b\u202e","{TARGET}"', *quoted]) + "\n"
    (tmp_path / f"d{ATTACK[:5]}.csv").write_text(text, encoding="utf-8", newline="")
    spec = [f'data "d{ATTACK[:5]}.csv"', f"predict `{TARGET}`", "minimize errors", "require depth <= 2"]
    (tmp_path / "spec.tml").write_text("\n".join(spec) + "\n", encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli.treeml, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result.exit_code, result.output


def is_safe(text: str) -> bool:
    return OBEYED_IN_LINES.search(text) is None


COMMANDS: Sequence[tuple[str, ...]] = (
    ("check", "spec.tml"),
    ("solve", "spec.tml", "-q"),
    ("solve", "spec.tml", "--json"),
    ("solve", "spec.tml", "--with", "oracle"),
    ("compare", "spec.tml", "--with", "native,oracle", "--within", "20s"),
    ("compare", "spec.tml", "--with", "native", "--within", "20s", "--json"),
    ("explain", "spec.tml"),
    ("explain", "spec.tml", "--json"),
    ("explain", "spec.tml", "--why"),
    ("explain", "spec.tml", "--parameters"),
    ("backends", "spec.tml"),
    ("backends", "spec.tml", "--json"),
    ("params", "spec.tml"),
    ("fmt", "--check", "spec.tml"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands(folder: Path, command: tuple[str, ...]) -> None:
    code, output = run(*command)
    assert code in (0, 1), output
    assert is_safe(output), ascii(output)


@pytest.mark.parametrize("style", ["full", "concise", "json"])
@pytest.mark.parametrize(
    "lines",
    [
        ["minimize errors", f"require depth <= 2 {ATTACK}"],
        ["minimize errors", f"forbid split on `{COLUMN}x`"],
        ["minimize errors", f'include "x{ATTACK}.tml"'],
        [f'maximize recall("{CLASS}x")'],
        [f"minimize err{ATTACK}"],
        [f"minimize errors + `{ATTACK}` * leaves"],
        ["minimize errors", f"binarize `{COLUMN}` by levels({ATTACK})"],
        ["minimize errors", f"column `{COLUMN}` : number"],
        ["minimize errors", f'solve with "{ATTACK}"'],
    ],
    ids=range(9),
)
def test_messages(folder: Path, lines: list[str], style: str) -> None:
    begin = [f'data "d{ATTACK[:5]}.csv"', f"predict `{TARGET}`"]
    Path("wrong.tml").write_text("\n".join([*begin, *lines]) + "\n", encoding="utf-8")
    code, output = run("solve", "wrong.tml", "--format", style, "-q")
    assert code, output
    assert is_safe(output), ascii(output)
    if style == "json":
        assert output.isascii()


def test_paths_and_arguments(folder: Path) -> None:
    for arguments in (
        ("check", f"no{ATTACK}.tml"),
        ("solve", "spec.tml", "--data", f"no{ATTACK}.csv"),
        ("show", f"no{ATTACK}.json"),
        ("report", f"no{ATTACK}.json", "-o", "x.html"),
        ("solve", "spec.tml", "--set", f"{ATTACK}=1"),
        ("solve", "spec.tml", "--with", f"b{ATTACK}"),
        ("solve", "spec.tml", "--within", ATTACK),
    ):
        code, output = run(*arguments)
        assert code, output
        assert is_safe(output), ascii(output)


def test_arguments_that_the_command_line_refuses_itself(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import sys

    for arguments in ((f"no{ATTACK}",), ("solve", f"--no{ATTACK}"), ("solve", "spec.tml", "--set", ATTACK)):
        found = subprocess.run([sys.executable, "-m", "treeml", *arguments], capture_output=True, check=False)
        assert found.returncode == 2
        assert is_safe(found.stderr.decode()), ascii(found.stderr.decode())


def tree(names: Sequence[str] = (COLUMN,), level: str = LEVEL, label: str = CLASS, target: str = TARGET) -> Tree:
    fields = tuple(Field(name, "category", (level, "other")) for name in names)
    root: Any = TreeLeaf(label, 2, (2, 0))
    for field in fields:
        root = Branch(Question(field.name, "is", (level,)), root, TreeLeaf("n", 1, (0, 1)))
    return Tree(root, "classes", target, (label, "n"), (), fields, tuple(names))


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("onnx", "sql", "pmml", "png", "pdf")])
def test_forms_hold_nothing_that_a_terminal_obeys(form: str, tmp_path: Path) -> None:
    forest = Forest((tree(), tree(("other",))), (Fraction(1), Fraction(1, 2)), "x")
    for text in (str(export(tree(), form)), str(export_forest(forest, form))):
        assert is_safe(text), ascii(text)
        assert OBEYED_IN_LINES.search(text) is None
    tree().write(tmp_path / "tree.json")
    code, output = run("show", str(tmp_path / "tree.json"), "--as", form)
    assert code == 0
    assert is_safe(output)


def test_sql_is_not_printed_where_it_would_be_obeyed(tmp_path: Path) -> None:
    tree().write(tmp_path / "tree.json")
    code, output = run("show", str(tmp_path / "tree.json"), "--as", "sql")
    assert code == 1
    assert output.splitlines()[0] == r"error[D492]: a name in this tree holds `\u{1b}`, which a terminal would obey"
    assert is_safe(output)
    code, _ = run("show", str(tmp_path / "tree.json"), "--as", "sql", "-o", str(tmp_path / "tree.sql"))
    assert code == 0
    assert COLUMN in (tmp_path / "tree.sql").read_text(encoding="utf-8")


def test_xml_holds_what_it_can_as_references() -> None:
    odd = tree(("b\u202e\u2028\x85\r",), "l\r\u2066", "c\u202e", "t\u200f")
    text = str(export(odd, "pmml"))
    assert is_safe(text)
    names = [element.attrib["name"] for element in ElementTree.fromstring(text).iter() if "name" in element.attrib]
    assert "b\u202e\u2028\x85\r" in names
    with pytest.raises(DataError, match=r"cls.*has a character that XML cannot hold"):
        export(tree(("x",), "l", target="t"), "pmml")


def test_halves_of_characters() -> None:
    half = tree(("a\ud800",), "l\udc00", "c\udfff", "t")
    for form in FORMS:
        if form in ("sql", "pmml"):
            with pytest.raises(DataError, match=r"\\u\{d800\}|\\u\{dfff\}|\\u\{dc00\}"):
                export(half, form)
        else:
            export(half, form)


def test_onnx_says_how_columns_were_renamed() -> None:
    import onnx

    model = onnx.load_from_string(export(tree(("", "a\ud800", "leaf", "column_1", "good")), "onnx"))
    assert [value.name for value in model.graph.input] == ["column_1_", "column_2", "column_3", "column_1", "good"]
    assert {prop.key: json.loads(prop.value) for prop in model.metadata_props} == {
        "column_1_": "", "column_2": "a\ud800", "column_3": "leaf"
    }  # fmt: skip


C_NAMES = (
    *("INFINITY", "HUGE_VAL", "M_PI", "FP_NAN", "math_errhandling", "linux", "unix", "asm", "typeof", "treeml_among"),
    *("treeml_leaf", "bool", "true", "false", "nullptr", "memcpy", "size_t", "isinf", "_Bool", "_Complex", "EOF"),
    *("NAN", "i386", "__LINE__", "signgam", "levels", "value", "count", "row", "leaf", "and", "or", "int", "while"),
)


@pytest.mark.parametrize("standard", ["c99", "gnu17", "c2x"])
def test_c_compiles_whatever_columns_are_called(standard: str, tmp_path: Path) -> None:
    odd = ("*/ int x; /*", "??/", "trailing\\", "größe", "größe?", COLUMN, "")
    (tmp_path / "tree.c").write_text(str(export(tree((*C_NAMES, *odd)), "c")), encoding="utf-8")
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    subprocess.run(["cc", *flags, str(tmp_path / "tree.c")], check=True)


def test_c_says_what_a_column_was_called() -> None:
    text = str(export(tree(("größe", "a*/b", "x??/y", "z\n\x1b")), "c"))
    for member in (
        "const char *column_gr__e; /* größe */",
        "const char *column_a__b; /* a*\\/b */",
        "const char *column_x___y; /* x?\\?/y */",
        "const char *column_z__; /* z\\n\\u{1b} */",
    ):
        assert member in text


def test_names_with_line_breaks_do_not_forge_lines() -> None:
    odd = tree((LINES,), LINES, LINES, LINES)
    assert len(str(odd).splitlines()) == 3
    assert len(str(export(odd, "rules")).splitlines()) == 2
    for text in (str(export(odd, form)) for form in ("dot", "python", "c")):
        assert "\nerror[X]" not in text


def test_labels_are_shortened() -> None:
    long = tree(("c" * 100_000,), "l" * 100_000, "p" * 100_000, "t" * 100_000)
    assert len(str(long)) < 2000
    assert len(str(export(long, "dot"))) < 2000
    assert len(str(export(long, "svg"))) < 6000


def test_no_command_prints_a_long_name_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    long = "n" * 50_000
    Path("rows.csv").write_text(f"{long},b,{long}y\n" + "1,0,p\n0,1,q\n1,1,p\n")
    spec = f'data "rows.csv"\npredict `{long}y`\nminimize errors\nrequire depth <= 2\n'
    Path("spec.tml").write_text(spec)
    for command in COMMANDS:
        if "--json" not in command:  # which is for programs
            code, output = run(*command)
            assert code == 0, output
            assert len(output) < 5000, command


def test_carets_stand_below_what_they_mark() -> None:
    source = Source(f"s{ATTACK}.tml", "minimize \x1b漢\u202e wrong\n")
    start = source.text.index("wrong")
    diagnostic = Diagnostic("S100", f"t{LINES}", (Label(Span(source, start, start + 5), LINES),), (LINES,), (LINES,))
    text = render(diagnostic)
    assert is_safe(text)
    assert "\r" not in text
    assert "\t" not in text
    line = next(line for line in text.splitlines() if "wrong" in line)
    carets = next(line for line in text.splitlines() if "^^^^^" in line)
    assert line.index("wrong") + 1 == carets.index("^")  # the Chinese character is two columns wide
    assert not any(line.startswith("error[X]") for line in text.splitlines())
    assert is_safe(str(SpecError(diagnostic)))


def test_tables_take_markup_for_text() -> None:
    from io import StringIO

    from rich.console import Console

    from treeml.solving.report import rich_table, table_text

    rows = [{"name [bold]": "[red]x[/red]", "b\x1b[2J": LINES}, {"name [bold]": "[link=http://x]y", "b\x1b[2J": ATTACK}]
    screen = StringIO()
    Console(file=screen, force_terminal=False, width=400).print(rich_table(rows))
    for text in (screen.getvalue(), table_text(rows)):
        assert is_safe(text)
        for part in ("name [bold]", "[red]x[/red]", "[link=http://x]y"):
            assert part in text


def test_plots_take_formulas_for_text(tmp_path: Path) -> None:
    from treeml.studies.plots import Plot, Series, draw

    odd = r"$\frac{broken$ $"
    series = (Series(odd, ((1, 2), (2, 3)), (odd, odd)), Series("_hidden", ((1, 1), (2, 2)), (ATTACK, LINES)))
    draw(Plot(odd, odd, ATTACK, series, "line"), tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert "_hidden" in text
    assert is_safe(text)
