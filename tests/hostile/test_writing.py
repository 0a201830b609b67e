"""A spec writes only in its own folder and replaces only files that TreeML wrote; its caller can write anywhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attacks import QUESTION, SECRET, SPEC, asked, snapshot, world

import treeml as tml
from treeml.lang.check import check_source
from treeml.lang.source import Source
from treeml.system.confinement import MARK, Confined, Foreign, Outside, confine, replacing_confined

# Options that write files: the rest of the spec, the statement with the option, and the extension of the file.
WRITERS = {
    "sat proof": (QUESTION, 'solve with sat(proof = "{}")', ".drup"),
    "sat write": (QUESTION, 'solve with sat(write = "{}")', ".cnf"),
    "maxsat": (SPEC, 'solve with maxsat(write = "{}")', ".wcnf"),
    "cpsat text": (SPEC, 'solve with cpsat(write = "{}")', ".txt"),
    "cpsat binary": (SPEC, 'solve with cpsat(write = "{}")', ".pb"),
    "mip lp": (SPEC, 'solve with mip(write = "{}")', ".lp"),
    "mip mps": (SPEC, 'solve with mip(write = "{}")', ".mps"),
    "a racer": (SPEC, 'solve with race(native, cpsat(write = "{}"))', ".txt"),
    "checkpoint": (SPEC, 'start from cart\nimprove by subtrees(checkpoint = "{}")', ".json"),
}


def spec_with(folder: Path, writer: str, path: str) -> Path:
    before, statement, _ = WRITERS[writer]
    spec = folder / "spec.tml"
    spec.write_text(before + statement.format(path) + "\n")
    return spec


@pytest.mark.parametrize("command", ["check", "solve"])
@pytest.mark.parametrize("writer", WRITERS)
def test_no_file_outside_the_folder_is_written(writer: str, command: str, tmp_path: Path) -> None:
    folder, ending = world(tmp_path), WRITERS[writer][2]
    (folder / "link").symlink_to(tmp_path / "others")
    (folder / f"file{ending}").symlink_to(tmp_path / "others" / "new")
    for path in (
        f"{tmp_path}/others/new{ending}",
        f"../others/new{ending}",
        f"link/new{ending}",
        f"link/../../others/new{ending}",
        f"file{ending}",
        f"../spec-too{ending}",
    ):
        spec = spec_with(folder, writer, path)
        before = snapshot(tmp_path)
        answer = asked(command, spec)
        assert answer.code == 1, path
        assert "error[A802]" in answer.error
        assert snapshot(tmp_path) == before


@pytest.mark.parametrize("writer", WRITERS)
def test_no_foreign_file_is_replaced(writer: str, tmp_path: Path) -> None:
    folder, ending = world(tmp_path), WRITERS[writer][2]
    (folder / f"victim{ending}").write_text(SECRET)
    spec = spec_with(folder, writer, f"victim{ending}")
    before = snapshot(tmp_path)
    answer = asked("solve", spec)
    assert answer.code == 1
    assert "error[A803]" in answer.error
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("how", ["check", "solve"])
def test_the_clauses_beside_a_proof_replace_no_foreign_file_either(how: str, tmp_path: Path) -> None:
    folder = world(tmp_path)
    for name in ("file.drup", "link.drup"):
        if name == "file.drup":
            (folder / f"{name}.cnf").write_text(SECRET)
        else:
            (folder / f"{name}.cnf").symlink_to(tmp_path / "others" / "victim")
        spec = spec_with(folder, "sat proof", name)
        before = snapshot(tmp_path)
        answer = asked(how, spec)
        assert answer.code == 1
        assert "error[A80" in answer.error
        assert snapshot(tmp_path) == before


@pytest.mark.parametrize("writer", [name for name in WRITERS if name != "a racer"])
def test_what_treeml_wrote_is_replaced_by_the_same_spec(writer: str, tmp_path: Path) -> None:
    folder, ending = world(tmp_path), WRITERS[writer][2]
    spec = spec_with(folder, writer, f"own{ending}")
    for _ in range(2):
        assert asked("solve", spec, "-q").code in (0, 3)
        head = (folder / f"own{ending}").read_bytes()[:64]
        assert MARK.encode() in head or head.startswith(b'{"treeml_checkpoint"')
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_spec_that_is_not_trusted_writes_nothing(writer: str, tmp_path: Path) -> None:
    folder, ending = world(tmp_path), WRITERS[writer][2]
    spec = spec_with(folder, writer, f"new{ending}")
    before = snapshot(tmp_path)
    answer = asked("solve", "--untrusted", spec)
    assert answer.code == 1
    assert "error[A804]" in answer.error
    assert snapshot(tmp_path) == before


def test_the_exact_messages(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(SECRET)

    def said(path: str, untrusted: bool = False) -> str:
        text = f'{SPEC}solve with cpsat(write = "{path}")\n'
        source = Source("spec.tml", text, tmp_path / "spec.tml")
        return str(tml.SpecError(check_source(source, untrusted=untrusted)[1]))

    assert said("../x.txt") == (
        "error[A802]: `write` leads out of the folder of the specification\n"
        " --> spec.tml:5:12\n"
        "  |\n"
        '5 | solve with cpsat(write = "../x.txt")\n'
        '  |            ^^^^^^^^^^^^^^^^^^^^^^^^^ "../x.txt"\n'
        "  |\n"
        "  = note: what the text of a specification writes stays in its own folder, after all links are followed\n"
        "  = help: name a file in this folder\n"
        "  = help: or ask from the command line, which may write anywhere"
    )
    assert said("notes.txt") == (
        "error[A803]: `write` would replace a file that TreeML did not write\n"
        " --> spec.tml:5:12\n"
        "  |\n"
        '5 | solve with cpsat(write = "notes.txt")\n'
        '  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^ "notes.txt"\n'
        "  |\n"
        "  = help: name a file that does not exist yet\n"
        "  = help: or remove the one that is there"
    )
    assert said("x.txt", untrusted=True) == (
        "error[A804]: a specification that is not trusted writes no files, and `write` would write one\n"
        " --> spec.tml:5:12\n"
        "  |\n"
        '5 | solve with cpsat(write = "x.txt")\n'
        '  |            ^^^^^^^^^^^^^^^^^^^^^^ "x.txt"\n'
        "  |\n"
        "  = help: remove the option"
    )


def test_the_caller_writes_anywhere(tmp_path: Path) -> None:
    folder = world(tmp_path)
    spec = folder / "spec.tml"
    spec.write_text(SPEC)
    outside = tmp_path / "others" / "model.txt"
    outside.write_text("mine to replace")
    assert asked("solve", spec, "-q", "--with", f'cpsat(write = "{outside}")').code == 0
    assert MARK in outside.read_text()
    outside.write_text("mine to replace")
    assert asked("solve", "--untrusted", spec, "-q", "--with", "cpsat", "--write", outside).code == 0
    assert MARK in outside.read_text()


def test_python_is_a_caller_and_the_text_it_parses_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = world(tmp_path)
    monkeypatch.chdir(folder)
    outside = str(tmp_path / "others" / "model.txt")
    built = tml.Model().predict("y").minimize(tml.errors).require(tml.depth <= 2)
    built.solve_with(tml.method("cpsat", write=outside)).solve("rows.csv")
    assert MARK in Path(outside).read_text()
    text = tml.parse(SPEC + f'solve with cpsat(write = "{outside}")')
    with pytest.raises(tml.SpecError, match="A802"):
        text.solve()
    with pytest.raises(tml.SpecError, match="A802"):
        text.require(tml.leaves <= 4).solve()  # a statement added in Python does not make the parsed text trusted
    Path(outside).write_text("again")
    assert text.solve(backend=f'cpsat(write = "{outside}")').verified
    assert MARK in Path(outside).read_text()


def test_an_included_file_writes_in_the_folder_of_the_spec(tmp_path: Path) -> None:
    folder = world(tmp_path)
    (folder / "parts").mkdir()
    (tmp_path / "others" / "how.tml").write_text('solve with cpsat(write = "model.txt")\n')
    (folder / "parts" / "how.tml").write_text('solve with cpsat(write = "model.txt")\n')
    spec = folder / "spec.tml"
    spec.write_text(SPEC + 'include "parts/how.tml"\n')
    assert asked("solve", spec, "-q").code == 0
    assert (folder / "parts" / "model.txt").exists()
    spec.write_text(SPEC + 'include "../others/how.tml"\n')
    answer = asked("solve", spec)
    assert answer.code == 1
    assert "error[A802]" in answer.error
    assert not (tmp_path / "others" / "model.txt").exists()


def test_a_link_that_comes_after_the_check_is_not_followed(tmp_path: Path) -> None:
    folder = world(tmp_path)
    (folder / "out").mkdir()
    path = confine(folder / "out" / "model.lp", folder)
    (folder / "out").rmdir()
    (folder / "out").symlink_to(tmp_path / "others")
    with pytest.raises(Outside), replacing_confined(path) as file:
        file.write(b"x")
    (folder / "out").unlink()
    (folder / "out").mkdir()
    (folder / "out" / "model.lp").symlink_to(tmp_path / "others" / "victim")
    with pytest.raises(Outside), replacing_confined(path) as file:
        file.write(b"x")
    assert (tmp_path / "others" / "victim").read_text() == SECRET


def test_a_file_that_comes_while_it_is_written_is_kept(tmp_path: Path) -> None:
    path = confine(tmp_path / "model.lp", tmp_path)

    def write() -> None:
        with replacing_confined(path) as file:
            file.write(b"x")
            (tmp_path / "model.lp").write_text(SECRET)

    with pytest.raises(Foreign):
        write()
    assert (tmp_path / "model.lp").read_text() == SECRET
    assert os.listdir(tmp_path) == ["model.lp"]


def test_pipes_and_folders_are_foreign_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with (
            pytest.raises((Foreign, IsADirectoryError)),
            replacing_confined(Confined(f"{tmp_path}/{name}", str(tmp_path))),
        ):
            pass
