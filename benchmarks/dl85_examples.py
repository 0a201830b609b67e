"""The examples of pydl8.5, as published -> do they print the same with `treeml.dl85`?

`python -m benchmarks.dl85_examples --examples DIR --peer-python PYTHON`, where DIR is the folder `examples` of a copy
of the repository of pydl8.5, with its `datasets` beside it. Every `plot_*.py` runs twice, with the import as it is and
with `treeml.dl85` in its place; nothing else of it changes. What recent releases of numpy and scikit-learn took away
from the examples and from the library (`numpy.in1d`, `base_estimator`, `float` of an array) is given back to both
sides, and Graphviz draws nothing. Lines with times are not compared; numbers are, to four digits.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

OURS = ("from pydl85 import", "from treeml.dl85 import")
STALE = {
    "AdaBoostClassifier(base_estimator=": "AdaBoostClassifier(estimator=",
    "float(sum(distances))": "float(sum(distances)[0])",
}
RUN = """
import sys, types, warnings
import numpy
numpy.in1d = numpy.isin
warnings.simplefilter("ignore")
class Source(str):
    def __new__(cls, text, **_): return str.__new__(cls, "")
    def render(self, *_): pass
sys.modules["graphviz"] = types.SimpleNamespace(Source=Source)
sys.modules["examples"] = types.ModuleType("examples")
sys.modules["examples.utils"] = types.SimpleNamespace(PlotGraphviz=print)
space = {"__name__": "__main__"}
exec(compile(sys.stdin.read(), "example", "exec"), space)
for name in ("error_", "depth_", "accuracy_"):
    if hasattr(space["clf"], name) and getattr(space["clf"], name) != -1:
        print(name, getattr(space["clf"], name))
"""
TIMES = re.compile(r"duration|seconds|json tree|number of trees", re.IGNORECASE)  # of trees: a matter of the rounds
NUMBER = re.compile(r"-?\d+\.\d+")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--examples", type=Path, required=True, help="a folder with plot_*.py")
    parser.add_argument("--peer-python", default=sys.executable, help="an interpreter that can import pydl85")
    parser.add_argument("--only", nargs="*", help="names of examples without .py; all by default")
    parser.add_argument("--within", type=float, default=600, help="seconds for each run")
    options = parser.parse_args()
    for path in sorted(options.examples.glob("plot_*.py")):
        if options.only and path.stem not in options.only:
            continue
        text = path.read_text(encoding="utf-8")
        for stale, now in STALE.items():
            text = text.replace(stale, now)
        theirs = printed(options.peer_python, text, path.parent, options.within)
        ours = printed(sys.executable, text.replace(*OURS), path.parent, options.within)
        compare(path.stem, theirs, ours)


def printed(python: str, text: str, folder: Path, seconds: float) -> list[str] | str:
    """The lines that an example prints, or why it does not run."""
    command = [python, "-c", RUN]
    try:
        run = subprocess.run(command, input=text, cwd=folder, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"not finished in {seconds:g} s"
    if run.returncode:
        return run.stderr.strip().splitlines()[-1]
    lines = [" ".join(line.split()) for line in run.stdout.splitlines()]
    return [
        NUMBER.sub(lambda found: f"{float(found[0]):.4g}", line) for line in lines if line and not TIMES.search(line)
    ]


def compare(name: str, theirs: list[str] | str, ours: list[str] | str) -> None:
    if isinstance(theirs, str) or isinstance(ours, str):
        for whose, lines in (("pydl8.5", theirs), ("TreeML", ours)):
            print(f"{name:40}{whose}: {lines if isinstance(lines, str) else 'runs'}", flush=True)
        return
    different = [(one, other) for one, other in zip(theirs, ours, strict=False) if one != other]
    same = len(theirs) == len(ours) and not different
    print(
        f"{name:40}{'equal' if same else 'different'}: {len(ours) - len(different)} of {len(theirs)} lines", flush=True
    )
    for one, other in different:
        print(f"    pydl8.5  {one}\n    TreeML   {other}")


if __name__ == "__main__":
    main()
