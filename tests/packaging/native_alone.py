"""Two examples -> solved by `native` in an environment with its own packages and no solver.

That is what musl and free-threaded Pythons have, for which some solvers have no wheels.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import treeml as tml

EXPECTED = {"plain": 0.855, "fair": None}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, objective in EXPECTED.items():
            command("example", name, folder=folder)
            result = tml.load(Path(folder, f"{name}.tml")).solve(backend="native")
            assert result.is_optimal, result.status
            assert result.verified
            assert objective is None or abs(float(result.objective) - objective) < 1e-9
        command("solve", "plain.tml", "-q", "-o", "tree.json", folder=folder)
        command("show", "tree.json", folder=folder)
        command("backends", folder=folder)
    print(f"`native` solved {', '.join(EXPECTED)} with {tml.__file__}")


def command(*words: str, folder: str) -> None:
    subprocess.run([sys.executable, "-m", "treeml", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
