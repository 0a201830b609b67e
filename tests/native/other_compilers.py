"""Every C file, with Clang on this machine and for macOS on Apple silicon: no warning.

Apple's compiler cannot be had outside macOS. Zig's is the same Clang with the headers of macOS, and is used if the
package `ziglang` is installed. The fallbacks for what is beyond ISO C (TREEML_PLAIN_C) are built into a library that
`make native-compilers` runs native tests with; here its integers of 128 bits are compared with those of the compiler.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-D_POSIX_C_SOURCE=200809L")


def main() -> int:
    compilers: dict[str, list[str]] = {}
    if shutil.which("clang"):
        compilers["clang"] = ["clang"]
    if importlib.util.find_spec("ziglang"):
        compilers["clang for macOS on ARM"] = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-macos"]
    files = sorted(path for path in (ROOT / "treeml/native").glob("*/*.c") if not path.stem.endswith("amx"))
    with tempfile.TemporaryDirectory() as folder:
        for name, command in compilers.items():
            arguments = [*command, "-std=c11", *WARNINGS, f"-I{ROOT / 'treeml/native'}", "-O0", "-c"]
            for path in files:
                subprocess.run([*arguments, path, "-o", f"{folder}/object"], check=True)
            print(f"{name}: {len(files)} files without a warning")
        if "clang" in compilers:
            # An optimizer would see that both kinds of integers are one to Clang, and compare nothing.
            plain = ["clang", "-std=c2x", *WARNINGS, "-O0", "-o", f"{folder}/program"]
            subprocess.run([*plain, ROOT / "tests/native/compare_wide.c"], check=True)
            subprocess.run([f"{folder}/program"], check=True)
            subprocess.run([*plain, "-U__SIZEOF_INT128__", ROOT / "checker/checker.c"], check=True)
    if not compilers:
        print("neither clang nor ziglang is installed")
    return not compilers


if __name__ == "__main__":
    sys.exit(main())
