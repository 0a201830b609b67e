"""Commands in separate virtual environments, and what a wheel holds."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def check_content(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "treeml/lang/treeml.lark" in names
    assert "treeml/py.typed" in names
    assert any(name.startswith("treeml/native/libtreeml_native.") for name in names)
    assert any(name.startswith("treeml/examples/") for name in names)
    assert not [name for name in names if name.endswith((".c", ".h", "CMakeLists.txt"))]
    assert not [name for name in names if name.startswith(("tests/", "examples/", "benchmarks/"))]
