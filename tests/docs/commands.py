"""A command on a page -> it is run, or at least its program, module, target and options exist.

`treeml` runs in this process, everything else in a shell in the folder of the page. A command that is not run, and one
that stands in a sentence, is compared with what the project has, so that no page names what is gone.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import click
from click.testing import CliRunner

from treeml.cli.main import treeml as command

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))
VARIABLES = set(re.findall(r"^(\w+) \??=", MAKEFILE, re.MULTILINE)) | set(re.findall(r"\$\(if \$\((\w+)\)", MAKEFILE))
FOREIGN = {"cc", "cmake", "code", "cd", "conda", "dask", "docker", "mkdocs", "npm", "pytest"}  # programs of others
PROGRAMS = {"treeml", "python", "make", "pip"} | FOREIGN


def words_of(line: str) -> list[str]:
    words = shlex.split(line, comments=True)
    return words[1:] if words[:1] == ["$"] else words


def run(line: str, where: str, code: int, folder: Path) -> str:
    """What the command prints, messages last."""
    words = words_of(line)
    if not words:
        return ""
    assert all("..." not in word for word in words), f"{where}: `{line}` contains an ellipsis"
    if words[0] == "pip":  # it would change this environment
        return check(line, where)
    if words[0] != "treeml":
        return _in_a_shell(line, where, code, folder)
    result = CliRunner().invoke(command, words[1:])
    # No limit is added: commands on these pages end when they are done. Within a limit that a page itself gives,
    # a busy machine may find nothing, which is a valid result.
    allowed = (code, 4) if "--within" in words else (code,)
    assert result.exit_code in allowed, f"{where}: `{line}` exits with {result.exit_code}\n{result.output}"
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return f"{result.stdout}\n{result.stderr}"


def _in_a_shell(line: str, where: str, code: int, folder: Path) -> str:
    """In a folder with a link to the checkers, as in a checkout; Windows has neither this shell nor gzip."""
    check(line, where)
    program = words_of(line)[0]
    shell = shutil.which("bash")
    if sys.platform == "win32" or shell is None or (program != "python" and shutil.which(program) is None):
        return ""
    if "checker/" in line and not (folder / "checker").exists():
        (folder / "checker").symlink_to(ROOT / "checker")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [shell, "-o", "pipefail", "-c", line],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == code, f"{where}: `{line}` exits with {done.returncode}\n{done.stdout}{done.stderr}"
    return f"{done.stdout}\n{done.stderr}"


def check(line: str, where: str) -> str:
    """Nothing; an error if the command names something that does not exist."""
    words = words_of(line)
    match words:
        case ["treeml", name, *rest]:
            named = command.get_command(click.Context(command), name)
            assert named is not None, f"{where}: `{line}` names no command"
            known = {option for parameter in named.params for option in (*parameter.opts, *parameter.secondary_opts)}
            _check_options(rest, known | {"--help"}, where, line)
        case ["make", *rest]:
            for word in rest:
                name, given, _ = word.partition("=")
                assert name in (VARIABLES if given else TARGETS), f"{where}: `{line}`: the Makefile has no {name}"
        case ["pip", "install", *rest]:
            for extras in re.findall(r"^(?:treeml|\.)\[(.*)\]$", "\n".join(rest), re.MULTILINE):
                unknown = set(extras.split(",")) - set(PROJECT["optional-dependencies"])
                assert not unknown, f"{where}: `{line}`: there is no extra {unknown}"
        case ["python", "-m", module, *rest]:
            assert find_spec(module) or (ROOT / module.replace(".", "/")).with_suffix(".py").exists(), (
                f"{where}: {line}"
            )
            if module.startswith(("treeml.", "benchmarks")):
                _check_options(rest, _written_options(module), where, line)
        case ["python", script, *_]:
            assert (ROOT / script).exists(), f"{where}: `{line}`: there is no {script}"
        case [program, *_]:
            assert program in PROGRAMS, f"{where}: `{line}` begins with a program that tests/docs/commands.py lacks"
    return ""


def _check_options(words: list[str], known: set[str], where: str, line: str) -> None:
    given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert given <= known, f"{where}: `{line}`: there is no option {', '.join(sorted(given - known))}"


def _written_options(module: str) -> set[str]:
    """The options in the text of a module and of its package, whose modules share some."""
    path = ROOT / module.replace(".", "/")
    path = path / "__main__.py" if path.is_dir() else path.with_suffix(".py")
    texts = [each.read_text(encoding="utf-8") for each in path.parent.glob("*.py")] if path.exists() else []
    return {"--help"}.union(*(re.findall(r'"(--?[a-z][\w-]*)"', text) for text in texts))
