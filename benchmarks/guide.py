"""The guide for users of other libraries -> a comparison of both sides of every example, fitted to the same rows.

python -m benchmarks.guide

Every comment of `docs/migrating.md` that holds a line of another library is run with that library, if it is installed
(pip install pydl8.5 pystreed gosdt pycontree odtlearn), and so is the TreeML line below it. The table shows the
training accuracy of each, or the remaining squared error. If columns are binary and the problem is the same, the two
agree, up to ties between trees of equal objective.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from treeml import dl85, sklearn

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "migrating.md"
OURS = (dl85.DL85Classifier, dl85.DL85Predictor, dl85.DL85Cluster, dl85.DL85Booster)
LINE = re.compile(r"# ([\w.]+): ((\w+)\(.*\))$")


def main() -> None:
    os.chdir(ROOT / "examples" / "plain")
    names: dict[str, Any] = {"__name__": "guide"}
    print(f"{'library':18} {'theirs':>8} {'ours':>8}  line")
    for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S):
        for theirs, ours in _pairs(block):
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                fitted, given = _run_ours(ours, names)
                if theirs is None:
                    continue
                other = _run_theirs(theirs, names, given)
            library, line, _ = theirs
            print(f"{library:18} {other:>8} {_score(fitted, given):>8}  {line}", flush=True)


def _pairs(block: str) -> list[tuple[tuple[str, str, str] | None, str]]:
    """Lines of another library with the TreeML code below them; None with code that has no such line."""
    found: list[tuple[tuple[str, str, str] | None, str]] = []
    for line in block.splitlines():
        match = LINE.match(line)
        if match:
            found.append(((match[1], match[2], match[3]), ""))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
        else:
            found.append((None, f"{line}\n"))
    return found


def _run_ours(code: str, names: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """The last estimator that the code fits, and the data that it was fitted to."""
    kept: list[Any] = [None, ()]

    def watching(fit: Any) -> Any:
        def watched(self: Any, *given: Any) -> Any:
            kept[:] = [self, given]
            return fit(self, *given)

        return watched

    with contextlib.ExitStack() as patches:
        for each in (sklearn.OptimalTreeClassifier, sklearn.OptimalTreeRegressor, *OURS):
            patches.enter_context(patch.object(each, "fit", watching(each.fit)))
        exec(compile(code, "guide", "exec"), names)
    return kept[0], kept[1]


def _run_theirs(line: tuple[str, str, str], names: dict[str, Any], given: tuple[Any, ...]) -> str:
    library, call, name = line
    try:
        module = import_module(library)
    except ImportError:
        return "not here"
    try:
        fitted = eval(call, {name: getattr(module, name), **names})
        rows = given[0]
        if library.startswith("odtlearn.fair"):
            fitted.fit(rows, given[1], rows[["sex_F"]].to_numpy(), rows["sex_F"].to_numpy())
        elif name.startswith("DL85"):
            fitted.fit(*(np.asarray(each, dtype=np.int32) for each in given))
        elif name == "STreeDCostSensitiveClassifier":
            return "own data"  # it reads costs from its own data structure
        else:
            fitted.fit(*given)
        return _score(fitted, given)
    except Exception as error:  # show errors of the other library in the table
        return type(error).__name__[:8]


def _score(fitted: Any, given: tuple[Any, ...]) -> str:
    if fitted is None:
        return ""
    if len(given) < 2 or type(fitted).__name__ == "DL85Cluster":
        return f"{fitted.error_:.1f}"
    rows, y = given[0], np.asarray(given[1])
    if type(fitted).__name__ == "GOSDTClassifier":
        predicted = np.asarray(fitted.trees_[0].predict(np.asarray(rows)))
    else:
        predicted = np.asarray(
            fitted.predict(np.asarray(rows) if type(fitted).__module__.startswith("pydl85") else rows)
        )
    if y.dtype.kind in "iu" and len(np.unique(y)) == 2:
        return f"{np.mean(predicted == y):.4f}"
    return f"{np.sum((predicted - y) ** 2.0):.0f}"


if __name__ == "__main__":
    main()
