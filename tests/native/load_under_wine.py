"""A folder with a cross-build for Windows -> whether Wine can load it, solve with it, and finds all kernels equal.

Without Wine the build alone is checked, and a line says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXPECTED = ["0 errors, bound 0", "13 errors, bound 13", "memory and processes known"]


def main(folder: Path) -> int:
    wine = shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine") or shutil.which("wine")
    if wine is None:
        print("built for Windows; Wine is not installed, so nothing was loaded")
        return 0
    with tempfile.TemporaryDirectory() as prefix:
        environment = {**os.environ, "WINEPREFIX": prefix, "WINEDEBUG": "-all"}

        def run(*command: str) -> list[str]:
            done = subprocess.run([wine, *command], env=environment, capture_output=True, text=True, cwd=folder)
            if done.returncode:
                raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr}")
            return done.stdout.split("\n")[:-1]

        solved = [line.strip() for line in run("load_library.exe", "libtreeml_native.dll")]
        if solved != EXPECTED:
            raise SystemExit(f"the library found {solved} instead of {EXPECTED}")
        print("under Wine:", *solved, "| equal kernels:", *(line.strip() for line in run("compare_kernels.exe")))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
