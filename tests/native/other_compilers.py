"""Every C file, with Clang on this machine and for macOS on Apple silicon: no warning.

Apple's compiler cannot be had outside macOS. Zig's is the same Clang with the headers of macOS, and is used if the
package `ziglang` is installed. Each also compiles the fallbacks of common/bits.h (TREEML_PLAIN_C).
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-D_POSIX_C_SOURCE=200809L")


def main() -> int:
    compilers: dict[str, list[str]] = {}
    if shutil.which("clang"):
        compilers["clang"] = ["clang"]
        compilers["clang without GNU extensions that have a fallback"] = ["clang", "-DTREEML_PLAIN_C"]
    if importlib.util.find_spec("ziglang"):
        compilers["clang for macOS on ARM"] = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-macos"]
    files = sorted(path for path in (ROOT / "treeml/native").glob("*/*.c") if not path.stem.endswith("amx"))
    with tempfile.TemporaryDirectory() as folder:
        for name, command in compilers.items():
            arguments = [*command, *WARNINGS, f"-I{ROOT / 'treeml/native'}", "-O0", "-c"]
            for path in files:
                subprocess.run([*arguments, path, "-o", f"{folder}/object"], check=True)
            print(f"{name}: {len(files)} files without a warning")
    if not compilers:
        print("neither clang nor ziglang is installed")
    return not compilers


if __name__ == "__main__":
    sys.exit(main())
