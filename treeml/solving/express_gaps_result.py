"""A tree that was verified by counting rows -> its Result, most of which the general stages make when it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from treeml.backends.contract import Answer, Limits, Progress, Status, Stop
from treeml.backends.equal_sides import without_equal_sides
from treeml.backends.native.coupled.run import CoupledRun
from treeml.backends.native.coupled.task import read_coupled
from treeml.backends.run import checked
from treeml.data.table import BitColumns, Dataset, Table
from treeml.native.coupled import CoupledFound
from treeml.solving.choice import Chosen, lower, plan
from treeml.solving.express_gaps_search import CountedRows
from treeml.solving.express_task import BACKEND
from treeml.solving.request import Request
from treeml.solving.result import Clock, Number, Result, plain
from treeml.solving.rows import bind
from treeml.trees.nodes import Branch, Field, Node, TreeLeaf, TreeTest
from treeml.trees.tree import Tree

Describe = Callable[[Answer, Chosen, Dataset, Request, Clock], Result]


class GapsAnswer:
    """A verified tree: a method `make_...` for every part of a Result, most of which the general stages make."""

    def __init__(
        self,
        table: Table,
        request: Request,
        found: CoupledFound,
        counted: CountedRows,
        clock: Clock,
        describe: Describe,
    ) -> None:
        self.request, self.found, self.counted, self.clock, self.describe = request, found, counted, clock, describe
        columns = table.columns
        assert isinstance(columns, BitColumns)
        # A copy, because the bits may lie in an array of the caller, who may change it.
        copied = BitColumns(tuple(columns.index), columns.bits.copy(), columns.bit_levels, {}, columns.order)
        self.table, self.ended = replace(table, columns=copied, again=None), clock.built

    def make_status(self) -> Status:
        return Status.OPTIMAL

    def make_stop(self) -> Stop:
        return Stop.PROVED

    def make_backend(self) -> str:
        return BACKEND

    def make_verified(self) -> bool:
        return True

    def make_objective(self) -> Number:
        errors, rows = self.counted.errors, self.table.rows
        return errors if self.request.spec.goals[0].sense == "minimize" else plain(Fraction(rows - errors, rows))

    def make_bound(self) -> Number:
        return self.make_objective()

    def make_tree(self) -> Tree | None:
        root = self._node(0)
        if _repeats(root):  # perhaps with fewer questions
            return self.described.tree
        columns, target = self.table.columns, self.request.spec.target or self.table.target
        assert isinstance(columns, BitColumns)
        assert target is not None
        fields = [Field(name, "binary", columns.bit_levels) for name in dict.fromkeys(_tested(root))]
        inputs = tuple(name for name in columns if name != target)
        return Tree(root, "classes", target, columns.bit_levels, (), tuple(fields), inputs)

    def _node(self, number: int) -> Node:
        columns = self.table.columns
        assert isinstance(columns, BitColumns)
        test = int(self.found.test[number])
        if test < 0:
            leaf, label = self.counted.leaves[number], columns.bit_levels[int(self.found.label[number])]
            return TreeLeaf(label, sum(leaf.rows), leaf.rows, tuple(map(Fraction, leaf.rows)), because=leaf.because)
        question = TreeTest(self.counted.columns[test], "is true", columns.bit_levels[1:])
        sides = (self._node(int(side[number])) for side in (self.found.left, self.found.right))
        return Branch(question, *sides)

    def make_gap(self) -> float:
        return 0.0

    def make_seconds(self) -> float:
        return self.ended - self.clock.begun

    @cached_property
    def described(self) -> Result:
        """The answer as the general stages show it."""
        dataset = bind(self.table, self.request)
        chosen = plan(lower(dataset, self.request), self.request)
        problem = chosen.lowered.problem
        run = CoupledRun(problem, Limits(), None, None, self.clock.built)
        answer = run.answered(self.found, read_coupled(problem).objective)
        assert answer.objective is not None
        seconds = self.ended - self.clock.built
        moment = Progress(seconds, answer.objective, answer.objective[0], evidence=run.stopped_at)
        statistics = {"seconds": seconds, **answer.statistics}
        answer = checked(chosen.plan, replace(answer, trace=(moment,), statistics=statistics))
        return self.describe(without_equal_sides(problem, answer), chosen, dataset, self.request, self.clock)


def _tested(node: Node) -> Iterator[str]:
    """The columns of the tests, the yes side first."""
    if isinstance(node, Branch):
        yield node.test.column
        yield from _tested(node.yes)
        yield from _tested(node.no)


def _repeats(node: Node) -> bool:
    """Does a question have the same questions and predictions on both of its sides?"""
    if not isinstance(node, Branch):
        return False
    return _repeats(node.yes) or _repeats(node.no) or _asked_below(node.yes) == _asked_below(node.no)


def _asked_below(node: Node) -> Any:
    """The questions and predictions of a part, without its rows."""
    if isinstance(node, Branch):
        return node.test, _asked_below(node.yes), _asked_below(node.no)
    return node.prediction


def _described_part(name: str) -> Callable[[GapsAnswer], Any]:
    return lambda answer: getattr(answer.described, name)


for _field in fields(Result):
    if not hasattr(GapsAnswer, f"make_{_field.name}"):
        setattr(GapsAnswer, f"make_{_field.name}", _described_part(_field.name))
