"""The back-end in the documentation runs, and passes the suite."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from treeml.backends.contract import Backend, Status
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.testing import Conformance
from treeml.testing.problems import binary, bound, errors, minimize

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-backend.md"


def written() -> Any:
    code = next(
        block for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S) if "class Stumps(" in block
    )
    namespace: dict[str, Any] = {}
    exec(compile(code, PAGE.name, "exec"), namespace)
    return namespace["Stumps"]()


class TestStumps(Conformance):
    backend = "stumps"

    def found(self) -> Backend:
        return written()  # type: ignore[no-any-return]


def test_it_solves_what_it_takes() -> None:
    from treeml.problem.terms import Depth

    problem = binary(["00", "01", "10"], 2, minimize(errors([0, 1, 0], 2)), (bound(Depth(), "<=", 1),))
    planned = plan(problem, written())
    assert isinstance(planned, Plan)
    answer = run(planned)
    assert (answer.status, answer.objective) == (Status.OPTIMAL, (0,))
