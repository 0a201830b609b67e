"""The threat model of SECURITY.md: its tests exist, nothing in the package runs what it reads, and a spec opens the
files that it names and no others."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import treeml
from treeml.lang import trust

ROOT = Path(__file__).parents[2]
PACKAGE = Path(treeml.__file__).parent
# Modules that turn bytes into code or into calls, and those that open connections.
CODE = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml", "code", "codeop"}
NETWORK = {"socket", "urllib", "http", "ftplib", "smtplib", "requests", "ssl", "socketserver", "xmlrpc"}
# Messages between a process and the children that it started, through their pipes; never a file.
PIPES = {("studies/comparison/jobs.py", "pickle"), ("backends/race.py", "pickle"), ("system/child.py", "pickle")}
CALLS = {"eval", "exec", "compile", "__import__", "breakpoint"}

WATCHED = """
import json, os, sys
opened, forbidden = [], []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        opened.append(os.fsdecode(arguments[0]))
    elif event.startswith(("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn")):
        forbidden.append(event)
import treeml as tml
tml.load("warm.tml").solve("rows.csv")  # whatever is imported or read once is known now
sys.addaudithook(watch)
result = tml.load("spec.tml", untrusted=True).solve(untrusted=True)
print(json.dumps([[path for path in opened if not path.startswith("/proc/")], forbidden, result.status.value]))
"""


def test_every_test_of_the_threat_model_exists() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8").split("## Threat model")[1].split("\n## ")[0]
    named = re.findall(r"`(tests/[\w/]+\.py)`", text)
    assert len(set(named)) >= 9
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_page_states_the_limits_that_apply() -> None:
    """tests/hostile/test_access.py checks that each of them does."""
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8").split("These limits apply:")[1].split("\n\n")[1]
    stated = [line.split(" | ")[-1].rstrip(" |") for line in text.splitlines()[2:]]
    numbers = [trust.CHARACTERS, trust.STATEMENTS, (trust.FILES, trust.NESTING), trust.NAME, trust.DIGITS]
    numbers += [(trust.ROWS, trust.COLUMNS, trust.CELLS), trust.THREADS]
    expected = [
        "; ".join(f"{each:,}" for each in (number if isinstance(number, tuple) else (number,))) for number in numbers
    ]
    assert stated == [*expected, f"{trust.SECONDS:g} s", f"{trust.MEMORY // 10**9} GB"]


def test_nothing_in_the_package_runs_or_fetches_what_it_reads() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            found += [
                (path.relative_to(PACKAGE).as_posix(), name) for name in names if name.split(".")[0] in CODE | NETWORK
            ]
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
                found.append((path.relative_to(PACKAGE).as_posix(), node.func.id))
    assert set(found) <= PIPES


def test_a_spec_opens_the_files_that_it_names_and_no_others(tmp_path: Path) -> None:
    rows = "a,b,y\n0,1,n\n1,0,y\n1,1,y\n0,0,n\n"
    (tmp_path / "rows.csv").write_text(rows, encoding="utf-8")
    (tmp_path / "other.csv").write_text(rows, encoding="utf-8")
    (tmp_path / "part.tml").write_text("maximize accuracy\n", encoding="utf-8")
    spec = 'include "part.tml"\ndata "rows.csv"\npredict y\nrequire depth <= 1\n'
    (tmp_path / "spec.tml").write_text(spec, encoding="utf-8")
    (tmp_path / "warm.tml").write_text("predict y\nmaximize accuracy\nrequire depth <= 1\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", WATCHED], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    opened, forbidden, status = json.loads(done.stdout)
    assert status == "optimal"
    assert forbidden == []
    ours = {Path(path).name for path in opened if Path(tmp_path, path).is_relative_to(tmp_path)}
    assert ours - {tmp_path.name} <= {"spec.tml", "part.tml", "rows.csv"}  # and the folder itself
    foreign = [path for path in opened if not Path(tmp_path, path).is_relative_to(tmp_path)]
    assert [path for path in foreign if not path.startswith((str(PACKAGE), sys.prefix, sys.base_prefix))] == []
    assert {"spec.tml", "part.tml"} <= ours
