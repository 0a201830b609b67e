"""The folder of cases -> problems with the oracle's answers.

A case is a specification with small data, or a problem that the fuzzer found. The answers were computed once by the
oracle and are stored in `answers.json`; the project's own tests compare them with the oracle again:

    python -m treeml.testing.cases          # rewrites answers.json
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Status, Stop
from treeml.problem.problem import Problem

FOLDER = Path(__file__).parent / "suite"
ANSWERS = FOLDER / "answers.json"


@dataclass(frozen=True, slots=True)
class Expected:
    """The oracle's answer without its tree, since the best tree is rarely unique."""

    status: Status
    objective: tuple[Fraction, ...] | None = None


@dataclass(frozen=True, slots=True)
class SuiteCase:
    name: str
    path: Path
    expected: Expected

    def problem(self) -> Problem:
        return load_problem(self.path)

    def truth(self) -> Answer:
        known = (Evidence("enumeration", "by the oracle"),)
        return Answer(self.expected.status, Stop.PROVED, None, self.expected.objective, evidence=known)


@cache
def cases() -> tuple[SuiteCase, ...]:
    """Every case, by name."""
    answers = json.loads(ANSWERS.read_text(encoding="utf-8"))
    specs = [SuiteCase(path.stem, path, _expected(answers[path.stem])) for path in FOLDER.glob("*.tml")]
    found = [
        SuiteCase(path.stem, path, _expected(json.loads(path.read_text(encoding="utf-8"))["answer"]))
        for path in (FOLDER / "found").glob("*.json")
    ]
    return tuple(sorted([*specs, *found], key=lambda case: case.name))


def load_problem(path: Path) -> Problem:
    """The problem of a specification with its data, or of a file that the fuzzer wrote."""
    if path.suffix == ".json":
        from treeml.testing.stored import from_json  # imported here: start-up time

        return from_json(json.loads(path.read_text(encoding="utf-8"))["problem"])
    # imported here: start-up time
    from treeml.data.bind import bind
    from treeml.data.read import load
    from treeml.lang.check import check
    from treeml.lang.parse import parse
    from treeml.lang.source_file import read
    from treeml.measures.lower_dataset import lower

    spec, _ = check(parse(read(path)), folder=path.parent)
    assert spec.data is not None
    return lower(bind(spec, load(path.parent / spec.data, spec.columns))).problem


def oracle_answer(problem: Problem) -> Answer:
    from treeml.backends.oracle.backend import OracleBackend  # imported here: start-up time

    return OracleBackend().solve(problem)


def as_json(answer: Answer) -> dict[str, Any]:
    objective = None if answer.objective is None else [str(value) for value in answer.objective]
    return {"status": answer.status.value, "objective": objective}


def _expected(value: dict[str, Any]) -> Expected:
    objective = value["objective"]
    exact = None if objective is None else tuple(Fraction(number) for number in objective)
    return Expected(Status(value["status"]), exact)


def _write_answers() -> None:
    answers = {path.stem: as_json(oracle_answer(load_problem(path))) for path in sorted(FOLDER.glob("*.tml"))}
    lines = [f" {json.dumps(name)}: {json.dumps(answer)}" for name, answer in answers.items()]
    ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    _write_answers()
