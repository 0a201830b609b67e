"""A folder with a wheel and a source distribution -> both work in empty environments, and what they weigh.

1. The wheel with `native`'s own packages, without any solver and without a compiler: solves an example.
2. The wheel with its dependencies, scikit-learn and pandas, without a compiler: runs the tutorial.
3. The source distribution builds a wheel without a network, from build requirements that are already there.

It prints bytes to download, seconds to import, and seconds from an empty environment to a solved spec. Nothing of it is
asserted: machines differ.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from environments import check_content

ROOT = Path(__file__).parents[2]
LIGHT = ("numpy", "lark", "polars", "narwhals", "click", "rich")  # all that `native` imports
SOLVED = "import treeml as tml; found = tml.load('plain.tml').solve(); assert found.is_optimal and found.verified"


def main(folder: Path) -> None:
    (wheel,), (source,) = folder.glob("treeml-*.whl"), folder.glob("treeml-*.tar.gz")
    assert "-py3-none-manylinux" in wheel.name, wheel.name
    check_content(wheel)
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB; {source.name}: {source.stat().st_size / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory() as work:
        light(wheel, Path(work) / "light")
        complete(wheel, Path(work) / "complete")
        offline(source, Path(work) / "offline")


def light(wheel: Path, folder: Path) -> None:
    started, used = time.monotonic(), processor_seconds()
    python = environment(folder)
    install(python, "--no-deps", str(wheel))
    install(python, *LIGHT)
    solve(python, folder)
    solved = after(started, used)
    run(python, str(ROOT / "tests/packaging/native_alone.py"), folder=folder)
    print(f"native alone: {megabytes(folder, wheel, *LIGHT):.0f} MB to download, {solved}")


def complete(wheel: Path, folder: Path) -> None:
    started, used = time.monotonic(), processor_seconds()
    python = environment(folder)
    install(python, str(wheel))
    solve(python, folder)
    solved = after(started, used)
    print(f"everything: {megabytes(folder, wheel):.0f} MB to download, {solved}")
    for code in ("import treeml", "import treeml; treeml.Model", SOLVED):
        run(python, "-c", code, folder=folder)  # once before, so that Python has compiled its modules
        before = processor_seconds()
        run(python, "-c", code, folder=folder)
        print(f"  {processor_seconds() - before:.2f} s of a processor: python -c {code!r}")
    install(python, "scikit-learn", "pandas")
    run(python, str(ROOT / "tests/packaging/tutorial.py"), folder=folder)


def offline(source: Path, folder: Path) -> None:
    python = environment(folder)
    install(python, "scikit-build-core", "cmake", "ninja")
    here = {"PATH": f"{python.parent}:{os.environ['PATH']}"}
    command = ["-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "-w", "built"]
    run(python, *command, str(source), folder=folder, **here)
    assert list((folder / "built").glob("treeml-*-py3-none-*.whl"))
    print("the source distribution builds without a network")


def after(started: float, used: float) -> str:
    return f"solved after {time.monotonic() - started:.0f} s, {processor_seconds() - used:.0f} s of a processor"


def processor_seconds() -> float:
    """What all processes that were waited for have used: unlike the clock, nearly the same on a busy machine."""
    times = os.times()
    return times.children_user + times.children_system


def environment(folder: Path) -> Path:
    venv.create(folder / "environment", with_pip=True)
    for name in ("plain.tml", "heart.csv"):
        (folder / name).write_bytes((ROOT / "examples/plain" / name).read_bytes())
    return folder / "environment" / "bin" / "python"


def install(python: Path, *what: str) -> None:
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", *what)


def solve(python: Path, folder: Path) -> None:
    run(python, "-c", SOLVED, folder=folder)


def megabytes(folder: Path, wheel: Path, *light: str) -> float:
    """The size of all files that pip downloads."""
    to = folder / "downloads"
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "-d", to]
    subprocess.run([*download, *(["--no-deps", wheel] if light else [wheel])], check=True)
    if light:
        subprocess.run([*download, *light], check=True)
    return sum(path.stat().st_size for path in to.iterdir()) / 1e6


def run(python: Path, *arguments: str, folder: Path | None = None, **variables: str) -> None:
    """Runs Python with a search path that has no compiler, unless another one is given."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "TREEML_LIBRARY")}
    surroundings = {**inherited, "PATH": str(python.parent), **variables}
    subprocess.run([python, *arguments], check=True, cwd=folder, env=surroundings)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
