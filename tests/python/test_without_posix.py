"""What Windows lacks is taken away, and specs are still read, solved and written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# Modules and names of POSIX that Windows has not. Other packages are imported before, since theirs is another concern.
BARE = """
import os, sys
import numpy, polars, narwhals, lark, click, rich.console, subprocess, tempfile
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "readline", "syslog"):
    sys.modules[name] = None
for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_DIRECTORY", "sysconf", "killpg", "getuid", "fork", "setsid",
             "sched_getaffinity", "getpgid"):
    if hasattr(os, name):
        delattr(os, name)
os.supports_dir_fd = set()
import signal
for name in ("SIGKILL", "SIGALRM", "SIGHUP", "SIGPIPE", "SIGXCPU", "pthread_kill"):
    if hasattr(signal, name):
        delattr(signal, name)
"""
USED = """
import treeml as tml
model = tml.load("spec.tml")
result = model.solve()
assert result.is_optimal and result.verified, result
assert result.backend == "native", result.backend
result.tree.write("tree.json")
assert tml.Tree.read("tree.json") == result.tree
assert tml.load("spec.tml", untrusted=True).solve(untrusted=True).is_optimal
from treeml.system.confinement import confine, replacing_confined
with replacing_confined(confine("proof.cnf", ".")) as file:
    file.write(b"c written by TreeML\\n")
assert open("proof.cnf", "rb").read() == b"c written by TreeML\\n"
sys.argv = ["treeml", "solve", "spec.tml", "-q", "--untrusted", "-o", "result.json"]
from treeml.__main__ import main
main()
"""


def test_a_spec_is_solved_without_what_windows_lacks(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b,y\n0,1,n\n1,0,y\n1,1,y\n0,0,n\n", encoding="utf-8")
    spec = 'data "rows.csv"\npredict y\nmaximize accuracy\nrequire depth <= 1\n'
    (tmp_path / "spec.tml").write_text(spec, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", BARE + USED], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "result.json").exists()
    assert not list(tmp_path.glob(".*")), "no temporary file stays"
