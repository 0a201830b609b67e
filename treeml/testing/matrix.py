"""Back-ends x cases -> which back-end solves or refuses which case, compared with the committed matrix.

A back-end that refuses everything gives no wrong answer, so the absence of wrong answers is not enough. `matrix.json`
states the result for every back-end of this project and every case of the suite, and any change is a failure until the
file is changed on purpose:

    python -m treeml.testing.matrix           # shows what differs; exit code 1 if anything does
    python -m treeml.testing.matrix --write   # accepts the current results, except wrong answers
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from treeml.backends import registry
from treeml.backends.contract import Answer, Backend, Deadline, Limits, Refusal, Status
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.lang.diagnostic import RefusedError, SpecError
from treeml.problem.problem import Problem
from treeml.testing.cases import FOLDER, SuiteCase, cases
from treeml.testing.fuzz import differs

MATRIX = FOLDER / "matrix.json"
SECONDS = 60.0  # time limit for a case, also on a busy machine
WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Cell:
    """The result on a case: `optimal 3`, `infeasible`, `a tree`, `refused: ...`, `open`, or `wrong: ...`."""

    backend: str
    case: str
    text: str

    @property
    def is_wrong(self) -> bool:
        return self.text.startswith(WRONG)


def cell(case: SuiteCase, backend: Backend, options: Mapping[str, Any] | None = None, seconds: float = SECONDS) -> Cell:
    """Solve the case and compare the result with the oracle's answer."""
    return Cell(backend.name, case.name, _text(case, case.problem(), backend, options or {}, seconds))


def _text(case: SuiteCase, problem: Problem, backend: Backend, options: Mapping[str, Any], seconds: float) -> str:
    planned = plan(problem, backend, options)
    if not isinstance(planned, Plan):
        return refused(planned)
    try:
        answer = run(planned, Limits(Deadline.after(seconds), options=options))
    except RefusedError as error:
        return f"refused: {error.diagnostics[0].title}"
    except SpecError as error:
        return f"{WRONG}: {error.diagnostics[0].title}; {' '.join(error.diagnostics[0].notes)}"
    reason = differs(answer, case.truth(), backend)
    return f"{WRONG}: {reason}" if reason else solved(answer)


def refused(refusals: Sequence[Refusal]) -> str:
    return "refused: " + ", ".join(dict.fromkeys(refusal.feature for refusal in refusals))


def solved(answer: Answer) -> str:
    if answer.status is Status.OPTIMAL:
        values = answer.objective or ()
        # Up to a tolerance several values are equally good, so the matrix does not state the value.
        return " ".join(["optimal", *(_number(value) for value in values)]) if not answer.tolerance else "optimal"
    if answer.status is Status.INFEASIBLE:
        return "infeasible"
    return "open" if answer.tree is None else "a tree"


def _number(value: Fraction) -> str:
    return str(value) if len(str(value)) < 40 else f"{float(value):.12g}"


@cache
def expected() -> Mapping[str, Mapping[str, str]]:
    """The committed matrix: back-end -> case -> text of the result."""
    found: dict[str, dict[str, str]] = json.loads(MATRIX.read_text(encoding="utf-8")) if MATRIX.exists() else {}
    return found


def deviation(found: Cell) -> str | None:
    """How a cell differs from the committed matrix; None if it does not, or the back-end is not in the matrix."""
    row = expected().get(found.backend)
    if row is None:
        return None
    before = row.get(found.case)
    from treeml.backends import registry

    # Where a run does not repeat, a real value is proved exactly at one time and up to a tolerance at another.
    by_chance = not registry.get(found.backend).can.repeats
    if before == found.text or (by_chance and _is_proof(before) and _is_proof(found.text)):
        return None
    return f"{found.backend}, {found.case}: {found.text}, and {MATRIX.name} has {before or 'nothing'}"


def _is_proof(text: str | None) -> bool:
    return text is not None and text.split()[0] == "optimal"


def is_unproved(backend: str, case: str) -> bool:
    """Does the matrix say that the back-end finds a tree for this case without a proof?"""
    return expected().get(backend, {}).get(case) == "a tree"


def cells(backends: Sequence[Backend], only: Sequence[str] = ()) -> Iterator[Cell]:
    for backend in backends:
        for case in cases():
            if not only or case.name in only:
                yield cell(case, backend)


def write(found: Sequence[Cell], path: Path = MATRIX) -> None:
    """Write the cells to the file; cells of other back-ends are kept, and a wrong answer replaces nothing."""
    kept = {backend: dict(row) for backend, row in expected().items()}
    for each in found:
        if not each.is_wrong:
            kept.setdefault(each.backend, {})[each.case] = each.text
    known = {case.name for case in cases()}
    lines = []
    for backend, row in kept.items():
        rows = [f"  {json.dumps(case)}: {json.dumps(row[case])}" for case in sorted(row) if case in known]
        lines.append(f" {json.dumps(backend)}: {{\n" + ",\n".join(rows) + "\n }")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m treeml.testing.matrix", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {MATRIX.name} anew")
    parser.add_argument("--backend", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--case", action="append", default=[], help="only this one; repeatable")
    asked = parser.parse_args(arguments)
    found, failed = [], False
    for each in cells([registry.get(name) for name in asked.backend or registry.BUILT_IN], asked.case):
        found.append(each)
        said = f"{each.backend}, {each.case}: {each.text}" if each.is_wrong else deviation(each)
        if said is not None:
            failed |= each.is_wrong or not asked.write
            sys.stdout.write(said + "\n")
            sys.stdout.flush()
    if asked.write:
        write(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
