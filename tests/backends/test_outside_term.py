"""A term can be added from outside in one file: evaluated, solved, refused in a sentence, reduced and stored."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from treeml.backends import registry
from treeml.backends.contract import Answer, Status
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.problem.evaluate import Routed
from treeml.problem.problem import Problem
from treeml.problem.reduce import reduce
from treeml.problem.terms import EVERY_TERM, KINDS, Leaves
from treeml.problem.tree import Leaf, Node, Split
from treeml.testing.problems import binary, bound, errors, minimize
from treeml.testing.stored import from_json, to_json

TERM = '''
"""The number of splits on one feature."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from treeml.problem.terms import Locality, Recurrence, Term
from treeml.problem.tree import Split


@dataclass(frozen=True, eq=False, slots=True)
class SplitsOn(Term):
    """How many splits test this feature."""

    feature: int

    phrase: ClassVar[str] = "the number of splits on one column"
    locality: ClassVar[Locality] = Locality.SUM
    merges_rows: ClassVar[bool] = True
    merges_tests: ClassVar[bool] = True
    is_count: ClassVar[bool] = True

    def value(self, routed: Any) -> Fraction:
        splits, todo = 0, [routed.tree]
        while todo:
            node = todo.pop()
            if isinstance(node, Split):
                splits += routed.problem.tests[node.test].feature == self.feature
                todo += [node.yes, node.no]
        return Fraction(splits)

    def recurrence(self) -> type[Recurrence]:
        return SplitsOnRecurrence

    def distinguished_features(self) -> frozenset[int]:
        return frozenset({self.feature})

    def to_json(self) -> dict[str, Any]:
        return {"feature": self.feature}


class SplitsOnRecurrence(Recurrence):
    def at_leaf(self, mask: int, label: int) -> int:
        return 0

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return yes + no + (self.problem.tests[test].feature == self.term.feature)
'''

ROWS = ("000", "011", "101", "110")  # the third column is the exclusive or of the first two
ACTUAL = (0, 1, 1, 0)
BY_THIRD = Split(2, Leaf(1), Leaf(0))
BY_OTHERS = Split(0, Split(1, Leaf(0), Leaf(1)), Split(1, Leaf(1), Leaf(0)))


@pytest.fixture
def splits_on(tmp_path: Path) -> Iterator[Any]:
    """The class, from a module that the package does not know; forgotten again after the test."""
    path = tmp_path / "outside_term.py"
    path.write_text(TERM, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("outside_term", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["outside_term"] = module
    spec.loader.exec_module(module)
    yield module.SplitsOn
    del KINDS["SplitsOn"], sys.modules["outside_term"]


def test_it_is_evaluated(splits_on: Any) -> None:
    problem = binary(ROWS, 2, ())
    trees: list[Node] = [BY_THIRD, BY_OTHERS]
    assert [[splits_on(column).value(Routed(problem, tree)) for column in range(3)] for tree in trees] == [
        [0, 0, 1],
        [1, 2, 0],
    ]


def test_the_oracle_minimizes_it(splits_on: Any) -> None:
    perfect = bound(errors(ACTUAL, 2), "<=", 0, "errors")
    for column, least in ((0, 0), (2, 0)):
        answer = solved(binary(ROWS, 2, minimize(splits_on(column)), (perfect,)), "oracle")
        assert (answer.status, answer.objective) == (Status.OPTIMAL, (least,))
    both = minimize(splits_on(2), splits_on(1), Leaves())
    answer = solved(binary(ROWS, 2, both, (perfect,)), "oracle")
    assert (answer.status, answer.objective) == (Status.OPTIMAL, (0, 1, 4))


def test_the_oracle_keeps_a_bound_on_it(splits_on: Any) -> None:
    bounds = (bound(errors(ACTUAL, 2), "<=", 0, "errors"), bound(splits_on(2), "<=", 0, "splits"))
    answer = solved(binary(ROWS, 2, minimize(Leaves()), bounds), "oracle")
    assert (answer.status, answer.objective) == (Status.OPTIMAL, (4,))
    bounds += (bound(Leaves(), "<=", 3, "leaves"),)
    assert solved(binary(ROWS, 2, (), bounds), "oracle").status is Status.INFEASIBLE


def test_back_ends_that_take_every_term_take_it(splits_on: Any) -> None:
    assert "SplitsOn" in EVERY_TERM
    problem = binary(ROWS, 2, minimize(errors(ACTUAL, 2)), (bound(splits_on(2), "<=", 1, "splits"),))
    tree = solved(problem, "cart").tree
    assert tree is not None
    assert splits_on(2).value(Routed(problem, tree)) == 1


def test_a_back_end_that_lacks_it_says_so(splits_on: Any) -> None:
    as_goal = binary(ROWS, 2, minimize(splits_on(2)))
    as_bound = binary(ROWS, 2, minimize(errors(ACTUAL, 2)), (bound(splits_on(2), "<=", 0, "splits"),))
    for problem, verb in ((as_goal, "minimize"), (as_bound, "bound")):
        refusals = plan(problem, registry.get("native"))
        assert not isinstance(refusals, Plan)
        assert refusals[0].because == f"native cannot {verb} the number of splits on one column"


def test_merging_tests_keeps_its_feature(splits_on: Any) -> None:
    rows = ("00", "11")  # two columns that split the rows alike
    plain, _ = reduce(binary(rows, 2, minimize(Leaves())))
    watched, _ = reduce(binary(rows, 2, minimize(splits_on(1))))
    assert (len(plain.tests), len(watched.tests)) == (1, 2)


def test_it_is_written_and_read_back(splits_on: Any) -> None:
    perfect = bound(errors(ACTUAL, 2), "<=", 0, "errors")
    problem = binary(ROWS, 2, minimize(splits_on(2), Leaves()), (perfect,))
    again = from_json(json.loads(json.dumps(to_json(problem))))
    term = again.goals[0].sum.parts[0][1]
    assert isinstance(term, splits_on)
    assert term.feature == 2  # type: ignore[attr-defined]
    assert solved(again, "oracle").objective == solved(problem, "oracle").objective == (0, 4)


def solved(problem: Problem, backend: str) -> Answer:
    planned = plan(problem, registry.get(backend))
    assert isinstance(planned, Plan)
    return run(planned)
