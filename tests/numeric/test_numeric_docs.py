"""The examples in the C header and in the documentation run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import treeml
from treeml.native import loader

ROOT = Path(__file__).resolve().parents[2]
HEADER = Path(treeml.__file__).parent / "native" / "numeric" / "numeric.h"


def test_python_example() -> None:
    text = (ROOT / "docs" / "numeric.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(example, "numeric.md", "exec"), {})


def test_header_example(tmp_path: Path) -> None:
    example = re.search(r"<example>(.*)</example>", HEADER.read_text(), re.DOTALL)
    assert example is not None
    source = tmp_path / "example.c"
    body = f'#include "numeric/numeric.h"\n#include <stdio.h>\nint main (void) {{\n{example[1]}\nreturn 0;\n}}\n'
    source.write_text(body)
    library = loader.path()
    assert library is not None
    program = tmp_path / "example"
    flags = ["-std=c11", f"-I{HEADER.parents[1]}", f"-Wl,-rpath,{library.parent}"]
    subprocess.run(["cc", *flags, str(source), str(library), "-o", str(program)], check=True)
    shown = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    assert shown == "0 errors, bound 0, 7 nodes\n"
