"""Names that Windows does not have are used in treeml/system only, and the package works without their modules."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import treeml

PACKAGE = Path(treeml.__file__).parent
MODULES = {"fcntl", "grp", "pwd", "resource", "select", "selectors", "termios", "tty"}
NAMES = {
    "os": {"fork", "forkpty", "getuid", "geteuid", "killpg", "pipe2", "set_blocking", "setsid", "wait", "waitpid"},
    "signal": {"SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "alarm", "pthread_kill", "setitimer", "sigwait"},
}


def posix_only(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names if each.name in MODULES)
            case ast.ImportFrom(module=str(module), names=names):
                yield from ([module] if module in MODULES else [])
                yield from (f"{module}.{each.name}" for each in names if each.name in NAMES.get(module, ()))
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name in NAMES.get(module, ()):
                yield f"{module}.{name}"


def test_posix_names_stay_in_one_folder() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] != "system"
        for name in posix_only(ast.parse(path.read_text()))
    }
    assert not found


@pytest.mark.parametrize("text", ["import fcntl", "from select import poll", "import os; os.killpg(1, 9)"])
def test_the_search_finds_them(text: str) -> None:
    assert list(posix_only(ast.parse(text)))


def test_a_race_without_the_modules_of_posix() -> None:
    """In a process that cannot import them, as on Windows: a solve, and processes that report to it."""
    program = """
import sys
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
import treeml as tml
from treeml.system.memory import resident
from treeml.system.processor import limit_processor
assert limit_processor(5) is None
model = tml.parse("predict y minimize errors require depth <= 1")
data = {"x": [0, 0, 1, 1], "y": ["a", "a", "b", "b"]}
result = model.solve(data, backend="race(native, oracle)")
assert result.objective == 0, result
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
