"""A cross-build for ARM and the arguments of pytest -> kernels compared and counted, and pytest run on ARM in parts.

Everything runs under qemu-user. Python and its C library come from Debian's packages for arm64, unpacked into the build
folder, and numpy and pytest from their wheels for aarch64: neither the system nor the environment of this Python is
changed. NEON must execute at most 1 / 2.5 of the instructions of the portable kernel on the depth-two pass.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

LEAST_RATIO = 2.5
PROCESSES = 2
PORTABLE, NEON = 1, 5  # numbers of simd/select.h
ROOT = Path(__file__).parents[2]
PACKAGES = ("python3.11-minimal", "libpython3.11-stdlib", "libstdc++6", "libgcc-s1")
UNUSED = ("ortools", "pyscipopt")  # large solvers that no native test runs
TEST_WHEELS = ("pytest", "pytest-timeout", "hypothesis")


def main(folder: Path, arguments: list[str]) -> int:
    system = debian_system(folder / "system")
    emulator = ("qemu-aarch64", "-L", str(system))
    subprocess.run([*emulator, folder / "compare_kernels"], check=True)
    enough = count_instructions(folder, emulator)
    packages = python_packages(folder / "packages")
    environment = {**os.environ, "PYTHONPATH": f"{packages}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    environment["TREEML_LIBRARY"] = str(folder / "libtreeml_native.so")
    # The search path has nothing but a compiler for ARM, so that no program of this machine is run instead.
    environment["PATH"] = str(compiler_of(folder / "compiler", system, emulator))
    python = [python_of(system, emulator), "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    parts = [f"--part={part}/{PROCESSES}" for part in range(1, PROCESSES + 1)]
    running = [subprocess.Popen([*python, part], cwd=ROOT, env=environment) for part in parts]
    codes = [process.wait() for process in running]
    return max(map(abs, codes)) or not enough


def debian_system(system: Path) -> Path:
    """Debian's Python for ARM and what it needs, unpacked; apt works on folders of its own."""
    if (system / "usr/bin/python3.11").exists():
        return system
    state = system.with_name("apt")
    for inner in ("lists/partial", "archives/partial"):
        (state / inner).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = [f"APT::Architecture{plural}=arm64" for plural in ("", "s")]
    options += [f"Dir::State={state}", f"Dir::State::status={state / 'status'}", f"Dir::Cache={state}"]
    options += ["APT::Install-Recommends=0", "Debug::NoLocking=1"]
    apt = ["apt-get", "-qq", *(part for option in options for part in ("-o", option))]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "-y", "--download-only", "install", *PACKAGES], check=True, stdout=subprocess.DEVNULL)
    for package in sorted((state / "archives").glob("*.deb")):
        subprocess.run(["dpkg", "-x", package, system], check=True)
    return system


def python_of(system: Path, emulator: tuple[str, ...]) -> Path:
    """A program that tests can start as `sys.executable`: Python under the emulator, which tells it that name."""
    program, found = system / "usr/bin/python-emulated", shutil.which(emulator[0])
    inner = " ".join(map(shlex.quote, [found or emulator[0], *emulator[1:], "-0", str(program)]))
    program.write_text(f'#!/bin/sh\nexec {inner} {shlex.quote(str(system / "usr/bin/python3.11"))} "$@"\n')
    program.chmod(0o755)
    return program


COMPILER = """#!/bin/sh
# For ARM. A program that is linked becomes a script, which starts it under the emulator. Sanitizers do not run there.
PATH=/usr/local/bin:/usr/bin:/bin
case " $* " in *" -fsanitize"*) exit 1 ;; esac
aarch64-linux-gnu-gcc "$@" || exit
case " $* " in *" -shared "* | *" -c "* | *" -fsyntax-only "*) exit ;; esac
for each; do
  [ "$before" = -o ] && program=$each
  before=$each
done
mv "$program" "$program.arm"
printf '#!/bin/sh\\nexec EMULATOR "%s" "$@"\\n' "$program.arm" >"$program"
chmod +x "$program"
"""


def compiler_of(folder: Path, system: Path, emulator: tuple[str, ...]) -> Path:
    """A folder with `cc`, for the tests that compile a program or a library."""
    folder.mkdir(exist_ok=True)
    started = " ".join([shutil.which(emulator[0]) or emulator[0], "-L", str(system)])
    (folder / "cc").write_text(COMPILER.replace("EMULATOR", started))
    (folder / "cc").chmod(0o755)
    return folder


def python_packages(packages: Path) -> Path:
    if (packages / "pytest").exists():
        return packages
    platforms = [f"--platform=manylinux_2_{minor}_aarch64" for minor in (28, 17)] + ["--platform=manylinux2014_aarch64"]
    python = ["--python-version=3.11", "--implementation=cp", "--abi=cp311", "--abi=abi3", "--abi=none"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [each for each in project["dependencies"] if not each.startswith(UNUSED)]
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
    subprocess.run([*install, f"--target={packages}", *platforms, *python, *wanted, *TEST_WHEELS], check=True)
    return packages


def count_instructions(folder: Path, emulator: tuple[str, ...]) -> bool:
    """Prints the instructions of one depth-two pass for every width of lanes; False if NEON saves too few."""
    plugin = folder / "count_instructions.so"
    source = ROOT / "tests/native/count_instructions.c"
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-fPIC", "-shared", source, "-o", plugin], check=True)

    def executed(*command: object) -> int:
        """How many a program needs for one more time, which is its last argument."""

        def counted(times: int) -> int:
            whole = [*emulator, "-plugin", str(plugin), *map(str, command), str(times)]
            return int(subprocess.run(whole, check=True, capture_output=True, text=True).stderr)

        return (counted(6) - counted(1)) // 5

    enough = True
    print("instructions of one depth-two pass over 2,000 rows and 128 tests")
    for bits in (16, 32, 64):
        portable, neon = (executed(folder / "compare_kernels", kernel, bits) for kernel in (PORTABLE, NEON))
        print(f"  lanes of {bits} bits: portable {portable:,}, NEON {neon:,}, {portable / neon:.2f} times fewer")
        enough &= portable >= LEAST_RATIO * neon
    program = folder / "count_sve2"
    compiler = ("aarch64-linux-gnu-gcc", "-O3", "-march=armv9-a", "-Wall", "-Wextra", "-Werror")
    subprocess.run([*compiler, ROOT / "tests/native/count_sve2.c", "-o", program], check=True)
    # The wider registers exist in no processor with SVE2 that can be bought; docs/installing.md has the figures.
    for cpu in ("max,sve128=on,sve256=off,sve512=off", "max,sve256=on,sve512=off"):
        neon, sve2 = (executed("-cpu", cpu, program, kind) for kind in ("neon", "sve2"))
        print(f"  its inner loop with {cpu}: NEON {neon:,}, SVE2 {sve2:,}, {neon / sve2:.2f} times fewer")
    return enough


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
