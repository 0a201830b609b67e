"""docs/tutorial.md -> its code, run block by block with the installed package, as a reader would.

It needs the package, scikit-learn and pandas, and nothing else of the checkout: specs are saved under the names that
they begin with, Python blocks share one session, and `treeml` is the command beside the interpreter. The search path
holds nothing else, so that a compiler cannot be found.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    os.environ["PATH"] = str(Path(sys.executable).parent)
    found = [name for name in ("cc", "gcc", "clang", "cl", "cmake") if shutil.which(name)]
    assert not found, f"a compiler is on the search path: {found}"
    session: dict[str, Any] = {"__name__": "tutorial"}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        blocks = re.findall(r"^(?:<!-- exits with (\d) -->\n)?```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        for exit_code, language, code in blocks:
            run(language, code, session, int(exit_code or 0))
        os.chdir(PAGE.parent)
    print(f"{len(blocks)} blocks of the tutorial ran with {session['tml'].__file__}")


def run(language: str, code: str, session: dict[str, Any], exit_code: int = 0) -> None:
    if language == "python":
        exec(compile(code, PAGE.name, "exec"), session)
    elif language == "tml":
        Path(code.split()[1]).write_text(code, encoding="utf-8")
    elif language == "sh":
        for line in code.splitlines():
            print("$", line, flush=True)
            done = subprocess.run([sys.executable, "-m", *shlex.split(line)], check=False)
            assert done.returncode == exit_code, f"it exits with {done.returncode}, not with {exit_code}"


if __name__ == "__main__":
    main()
