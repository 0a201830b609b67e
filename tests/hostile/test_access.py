"""What a spec can read: pipes never hang, other people's files are not shown, untrusted specs stay in their folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from attacks import ROWS, SECRET, SPEC, asked, command, snapshot, world

import treeml as tml
from treeml.lang import trust
from treeml.lang.check import check_source
from treeml.lang.source import Source

READERS = {
    "include": 'include "{}"\n' + SPEC,
    "data": SPEC.replace("rows.csv", "{}"),
    "start": SPEC + 'start from "{}"\n',
    "validate": SPEC + 'validate on "{}"\n',
}
LEAKS = ("PRIVATE", "nobody is to see", "victim-name", "secret_column")
NO_TABLE = f"{SECRET}\nsecret_column,victim-name\n1,2,3\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = world(tmp_path)
    (tmp_path / "others" / "victim").write_text(NO_TABLE)
    (tmp_path / "others" / "victim-name.csv").write_text(NO_TABLE)
    (inside / "secret.env").write_text(NO_TABLE)
    return inside


def spec_of(folder: Path, reader: str, path: str) -> Path:
    spec = folder / "spec.tml"
    spec.write_text(READERS[reader].format(path))
    return spec


def leaks(text: str) -> list[str]:
    """The parts of the secret in a message, ignoring the quoted line of the spec, which names the file."""
    lines = [line for line in text.splitlines() if " | " not in line]
    return [word for word in LEAKS if any(word in line for line in lines)]


@pytest.mark.parametrize("path", ["pipe", "/dev/zero", "/dev/stdin", "/dev/tty"])
@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_or_a_device_is_a_message(reader: str, path: str, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    answer = asked("solve", spec_of(folder, reader, path), "-q")
    assert answer.code == 1
    assert "it is a pipe, and not a file" in answer.error or "it is a device, and not a file" in answer.error


@pytest.mark.parametrize("trust", [(), ("--untrusted",)])
@pytest.mark.parametrize(
    "path", ["a\\u{0}b", "a\\nb", "x" * 190 + "/" + "y", "//server/x", "C:\\\\x", "file:///etc/passwd"]
)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_path_is_a_message(reader: str, path: str, trust: tuple[str, ...], folder: Path) -> None:
    answer = asked("solve", *trust, spec_of(folder, reader, path))
    assert answer.code == 1
    assert answer.error.startswith("error[")


def test_no_pipe_is_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert command("compare", spec_of(folder, "data", "pipe"), "--with", "oracle").code in (1, 5)


@pytest.mark.parametrize("trust", [(), ("--untrusted",)])
def test_a_pipe_that_takes_the_place_of_the_rows_is_not_waited_for(
    trust: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at a file and its opening somebody exchanges it."""
    os.mkfifo(folder / "pipe.csv")
    plain, pipe, real = os.stat(folder / "rows.csv"), str(folder / "pipe.csv"), os.stat

    def look(path: object, *more: object, **others: object) -> os.stat_result:
        return plain if str(path) == pipe else real(path, *more, **others)  # type: ignore[arg-type]

    from treeml.studies.comparison.jobs import Case, fingerprint

    model = tml.load(spec_of(folder, "data", "pipe.csv"), untrusted=bool(trust))
    monkeypatch.setattr(os, "stat", look)
    assert len(fingerprint(Case(model))) == 16


@pytest.mark.parametrize("format", ["full", "concise", "json"])
@pytest.mark.parametrize("reader", READERS)
def test_lines_of_a_file_outside_the_folder_are_not_shown(reader: str, format: str, folder: Path) -> None:
    for path in (f"{folder.parent}/others/victim", "../others/victim"):
        spec = spec_of(folder, reader, path)
        for how in ("check", "solve"):
            answer = asked(how, spec, "--format", format)
            assert not leaks(answer.error), answer.error
        assert answer.code == 1


@pytest.mark.parametrize("reader", READERS)
def test_files_of_a_named_folder_are_not_listed(reader: str, folder: Path) -> None:
    for path in ("../others", "../others/victim-nam.csv", f"{folder.parent}/others/nothing.csv"):
        answer = asked("solve", spec_of(folder, reader, path))
        assert answer.code == 1
        assert "victim-name.csv" not in answer.error


def test_a_table_outside_the_folder_is_shown_unless_the_spec_is_not_trusted(folder: Path) -> None:
    rows = folder.parent / "others" / "rows.csv"
    rows.write_text("age,y\n,a\n40,b\n,a\n")
    spec = spec_of(folder, "data", str(rows))
    assert "age" in asked("solve", spec).error
    assert "age" not in asked("solve", "--untrusted", spec).error


@pytest.mark.parametrize("reader", ["include", "data"])
def test_a_file_of_the_folder_that_is_no_table_and_no_spec_is_not_shown(reader: str, folder: Path) -> None:
    answer = asked("solve", spec_of(folder, reader, "secret.env"))
    assert answer.code == 1
    assert not leaks(answer.error)


def test_a_table_of_the_folder_is_shown_unless_the_spec_is_not_trusted(folder: Path) -> None:
    (folder / "rows.csv").write_text("secret_column,b\n1,2\n")
    spec = folder / "spec.tml"
    spec.write_text(SPEC)
    assert "secret_column" in asked("solve", spec).error
    answer = asked("solve", "--untrusted", spec)
    assert answer.code == 1
    assert answer.error == (
        "error[D402]: the data have no such column\n"
        f" --> {spec}:2:9\n"
        "  |\n"
        "2 | predict y\n"
        "  |         ^\n"
        "  |\n"
        "  = note: no more is shown: the specification is not trusted\n\n"
    )


@pytest.mark.parametrize(
    "path", ["{}/others/rows.csv", "../others/rows.csv", "link/rows.csv", "link.csv", "gone/../../x"]
)
@pytest.mark.parametrize("reader", READERS)
def test_an_untrusted_spec_reads_in_its_folder_only(reader: str, path: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "others" / "rows.csv").write_text(ROWS)
    (folder / "link").symlink_to("../others")
    (folder / "link.csv").symlink_to(tmp_path / "others" / "rows.csv")
    spec = spec_of(folder, reader, path.format(tmp_path))
    before = snapshot(tmp_path)
    answer = asked("solve", "--untrusted", spec)
    assert answer.code == 1
    assert "error[A801]" in answer.error
    assert snapshot(tmp_path) == before


def test_whether_a_file_outside_exists_is_not_told(folder: Path) -> None:
    said = {
        asked("check", "--untrusted", spec_of(folder, "include", f"../others/{name}")).error.replace(name, "X")
        for name in ("victim", "absent")
    }
    assert len({text.replace("^", "") for text in said}) == 1


def test_links_within_the_folder_and_data_of_the_caller_are_read(folder: Path, tmp_path: Path) -> None:
    (folder / "link.csv").symlink_to("rows.csv")
    assert asked("solve", "--untrusted", spec_of(folder, "data", "link.csv"), "-q").code == 0
    (tmp_path / "others" / "rows.csv").write_text(ROWS)
    spec = spec_of(folder, "data", "nothing.csv")
    assert asked("solve", "--untrusted", spec, "--data", tmp_path / "others" / "rows.csv", "-q").code == 0


def test_every_command_takes_it_and_so_does_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of(folder, "data", "../others/victim")
    proof = ["certify", "--infeasible", "-o", str(folder / "proof.cert")]
    alone = (["solve"], ["explain"], ["backends"], ["list"], ["tune"], proof)
    for words in (*alone, ["compare", "--with", "oracle"], ["sweep", "--with", "oracle"]):
        answer = asked(*words, "--untrusted", spec)
        assert answer.code in (1, 5), words
        assert "leads out of the folder" in answer.error + answer.out, words
    for words in (["check"], ["params"], ["fmt", "--check"]):
        assert asked(*words, "--untrusted", spec).code == 0
    monkeypatch.setenv("TREEML_UNTRUSTED", "1")
    assert "error[A801]" in asked("solve", spec).error
    with pytest.raises(tml.DataError, match="A801"):
        tml.load(spec).solve()
    monkeypatch.setenv("TREEML_UNTRUSTED", "0")
    assert "error[A801]" not in asked("solve", spec).error


def test_python_says_it_with_a_keyword(folder: Path) -> None:
    spec = spec_of(folder, "data", "../others/victim")
    with pytest.raises(tml.DataError, match="A801"):
        tml.load(spec, untrusted=True).solve()
    with pytest.raises(tml.DataError, match="A801"):
        tml.load(spec).solve(untrusted=True)
    with pytest.raises(tml.DataError, match="A801"):
        tml.parse(f'data "{folder}/rows.csv"\n' + SPEC.partition("\n")[2], untrusted=True).solve()


def test_an_untrusted_spec_that_is_a_pipe_is_not_read(folder: Path) -> None:
    os.mkfifo(folder / "pipe.tml")
    answer = command("check", "--untrusted", folder / "pipe.tml")
    assert answer.code == 1
    assert "it is a pipe, and not a file" in answer.error


def test_a_spec_without_end_is_not_read_to_its_end() -> None:
    answer = command("check", "/dev/zero")
    assert answer.code == 1
    assert answer.error == (
        "error[S109]: /dev/zero cannot be read\n --> /dev/zero\n  = note: it holds more than 4,000,000 bytes\n\n"
    )


TOO_LARGE = {
    "text": "# " + "x" * trust.CHARACTERS + "\n" + SPEC,
    "statements": SPEC + "require depth <= 2\n" * trust.STATEMENTS,
    "name": SPEC + f"forbid split on {'x' * (trust.NAME + 1)}\n",
    "quoted": SPEC + f"forbid split on `{'x y' * trust.NAME}`\n",
    "number": SPEC + f"require leaves <= {'9' * (trust.DIGITS + 1)}\n",
}


@pytest.mark.parametrize("kind", TOO_LARGE)
def test_limits_of_the_text(kind: str, folder: Path) -> None:
    spec = folder / "spec.tml"
    spec.write_text(TOO_LARGE[kind])
    answer = asked("check", "--untrusted", spec)
    assert answer.code == 1
    assert "error[A805]" in answer.error
    assert len(answer.error) < 2000


def test_limits_of_includes(folder: Path) -> None:
    for number in range(30):
        (folder / f"deep{number}.tml").write_text(f'include "deep{number + 1}.tml"\n')
        (folder / f"flat{number}.tml").write_text(f"# {number}\n")
    (folder / "deep30.tml").write_text("satisfy\n")
    deep = str(tml.SpecError(check_source(Source("s", 'include "deep0.tml"'), folder=folder, untrusted=True)[1]))
    assert "files that are not trusted include each other more than 5 deep" in deep
    flat = "".join(f'include "flat{number}.tml"\n' for number in range(30))
    many = str(tml.SpecError(check_source(Source("s", flat), folder=folder, untrusted=True)[1]))
    assert "more than 20 files are included" in many


def test_limits_of_the_table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = folder / "spec.tml"
    spec.write_text(SPEC)
    (folder / "rows.csv").write_text(f"a,{'b' * (trust.NAME + 1)},y\n0,1,0\n1,1,1\n")
    answer = asked("solve", "--untrusted", spec)
    assert answer.code == 1
    assert "error[D413]" in answer.error
    (folder / "rows.csv").write_text(ROWS)
    for name, most in (("ROWS", 5), ("COLUMNS", 2), ("CELLS", 10)):
        with monkeypatch.context() as patched:
            patched.setattr(trust, name, most)
            assert "error[D413]" in asked("solve", "--untrusted", spec).error


def test_time_and_threads_are_capped_unless_the_caller_asks(folder: Path) -> None:
    from treeml.solving.checking import check
    from treeml.solving.options import RunOptions

    spec = folder / "spec.tml"
    spec.write_text(SPEC + "solve within 10 h threads 1000\n")
    model = tml.load(spec, untrusted=True)
    assert (check(model)[0].within, check(model)[0].threads) == (trust.SECONDS, trust.THREADS)
    asked_for = check(model, RunOptions(within="2 h", threads=8))[0]
    assert (asked_for.within, asked_for.threads) == (7200.0, 8)
    spec.write_text(SPEC)
    assert check(tml.load(spec, untrusted=True))[0].within == trust.SECONDS
    assert check(tml.load(spec))[0].within is None


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of the processor's time")
@pytest.mark.parametrize(("what", "code"), [("seconds", 4), ("memory", 4)])
def test_a_process_that_takes_too_much_ends_itself(what: str, code: int) -> None:
    import subprocess

    limits = "0, 10**12" if what == "seconds" else "1000, -treeml.cli.watchdog.SPARE"
    program = (
        "import treeml.cli.watchdog, threading\n"
        "treeml.cli.watchdog.GRACE = 0\n"
        f"with treeml.cli.watchdog.watched({limits}, lambda message: print(message.code, message.notes[0])):\n"
        "    threading.Event().wait(100)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith("A807 it took more than")


def test_repeated_findings_are_counted(folder: Path) -> None:
    spec = folder / "spec.tml"
    spec.write_text(SPEC + "require depth <= 2\n" * 1000)
    answer = asked("check", spec)
    assert answer.code == 0
    assert len(answer.error) < 5000
    assert "  = note: and 990 more like this\n" in answer.error
    solved = asked("solve", spec, "-q")
    assert solved.code == 0
    assert solved.out.count("depth <= 2") == 1
