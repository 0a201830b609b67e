"""What the command line writes: links are followed, pipes and devices are written to, files are replaced atomically."""

from __future__ import annotations

import json
import os
import pickle
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from attacks import SPEC, command, world
from click.testing import CliRunner

from treeml.cli.main import treeml
from treeml.system.confinement import Confined
from treeml.system.writing import replace_file, replacing


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = world(tmp_path) / "spec.tml"
    path.write_text(SPEC)
    return path


def run(*arguments: object) -> int:
    return CliRunner().invoke(treeml, [str(argument) for argument in arguments]).exit_code


def listened(pipe: Path) -> tuple[threading.Thread, list[bytes]]:
    """A thread that reads a pipe to its end."""
    heard: list[bytes] = []
    thread = threading.Thread(target=lambda: heard.append(pipe.read_bytes()), daemon=True)
    thread.start()
    return thread, heard


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("before")
    target.chmod(0o640)
    link.symlink_to(target)
    replace_file(link, "after")
    assert link.is_symlink()
    assert target.read_text() == "after"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "target.json"]


def test_a_link_that_leads_nowhere_yet_makes_the_file_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("made")
    replace_file(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "made").read_bytes() == b"new"


def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread, heard = listened(pipe)
    replace_file(pipe, "all of it")
    thread.join()
    assert heard == [b"all of it"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_written_into_and_stays_a_device(tmp_path: Path) -> None:
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    replace_file(link, "gone")
    assert stat.S_ISCHR(link.stat().st_mode)
    assert os.readlink(link) == "/dev/null"


def test_what_fails_half_way_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("before")
    with suppress(ZeroDivisionError), replacing(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path / "folder", "x")
    assert (tmp_path / "folder").is_dir()


def test_a_confined_path_keeps_its_folder_on_its_way_to_another_process() -> None:
    sent = pickle.loads(pickle.dumps(Confined("/a/b", "/a")))
    assert (sent, sent.folder) == ("/a/b", "/a")


def test_solve_writes_its_result_into_a_pipe(spec: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread, heard = listened(pipe)
    assert run("solve", spec, "-o", pipe, "-q") == 0
    thread.join()
    assert json.loads(heard[0])["status"] == "optimal"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_every_output_follows_a_link(spec: Path, tmp_path: Path) -> None:
    def through(name: str, *arguments: object) -> Path:
        target = tmp_path / f"target-{name}"
        link = tmp_path / name
        link.symlink_to(target)
        assert run(*arguments, link) in (0, 3)
        assert link.is_symlink()
        return target

    result = through("result.json", "solve", spec, "-q", "-o")
    assert json.loads(result.read_text())["status"] == "optimal"
    assert "<svg" in through("tree.svg", "show", result, "--as", "svg", "-o").read_text()
    assert "<html" in through("page.html", "report", result, "-o").read_text()
    assert "\nBOUNDS" in through("model.mps", "solve", spec, "-q", "--with", "mip", "--write").read_text()
    (tmp_path / "spec" / "other.tml").symlink_to(tmp_path / "real.tml")
    (tmp_path / "real.tml").write_text("predict   y\nsatisfy\n")
    assert run("fmt", tmp_path / "spec" / "other.tml") == 0
    assert (tmp_path / "spec" / "other.tml").is_symlink()
    assert (tmp_path / "real.tml").read_text() == "predict y\nsatisfy\n"


def test_a_comparison_is_told_to_a_pipe_line_by_line(spec: Path) -> None:
    answer = command("compare", spec, "--with", "oracle", "-q", "-o", "/dev/stderr")
    assert answer.code == 0
    assert json.loads(answer.error.splitlines()[0])["backend"] == "oracle"


def test_a_picture_that_cannot_be_written_is_a_message(spec: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    assert run("compare", spec, "--with", "oracle", "-q", "-o", results) == 0
    answer = CliRunner().invoke(treeml, ["plot", "timeline", str(results), "-o", str(tmp_path / "no" / "x.json")])
    assert answer.exit_code == 1
    assert answer.stderr == (
        f"error[D495]: {tmp_path}/no/x.json cannot be written: No such file or directory\n --> {tmp_path}/no/x.json\n\n"
    )


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no names for what is open")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_a_log_that_standard_output_is_added_to_is_kept(name: str, spec: Path, tmp_path: Path) -> None:
    if name == "link":
        (tmp_path / "link").symlink_to("/dev/stdout")
        name = str(tmp_path / "link")
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("ab") as opened:
        words = [sys.executable, "-m", "treeml", "solve", str(spec), "-o", name]
        assert subprocess.run(words, stdout=opened, check=False).returncode == 0
    assert log.read_text().startswith('before\n{\n "status": "optimal"')
    assert "status     optimal" in log.read_text()


def test_links_that_lead_to_each_other_stay(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        replace_file(tmp_path / "a", "x")
    assert sorted((path.name, os.readlink(path)) for path in tmp_path.iterdir()) == [("a", "b"), ("b", "a")]
