"""Problem with coupled requirements -> the coupled search over columns of numbers, with trees over tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treeml.backends.native.coded_columns import CodedColumns
from treeml.backends.native.coupled.task import CoupledTask
from treeml.native.coupled import CoupledFound
from treeml.native.coupled_numeric import CoupledNumeric, CoupledNumericFound
from treeml.native.numeric import FlatThresholdTree
from treeml.problem.problem import Problem

Limits = Sequence[int | None]


class CoupledThresholds:
    """The counterpart of `treeml.native.coupled.Coupled` that takes the columns of a problem as they are."""

    def __init__(self, problem: Problem, task: CoupledTask, forbidden: frozenset[int]) -> None:
        self._columns = CodedColumns(problem, forbidden)
        self._solver = CoupledNumeric(self._columns.codes(), task.values, count=problem.count)
        if task.fees:
            features = [column.feature for column in self._columns.columns]
            self._solver.set_fees(features, task.fees.in_goal, task.fees.limited, task.fees.most)
        if task.rules:
            self._solver.set_rules(task.rules.purity, task.rules.cost, task.rules.most)

    def close(self) -> None:
        self._solver.close()

    def solve(
        self, low: Limits, high: Limits, *, start: tuple[Any, Any, Any, Any] | None = None, **settings: Any
    ) -> CoupledFound:
        """As `Coupled.solve`; `start` is a tree over tests (test, yes, no, label)."""
        return self._found(self._solver.solve(low, high, start=self._lowered(start), **settings))

    def _lowered(self, start: tuple[Any, Any, Any, Any] | None) -> tuple[Any, Any, Any, Any, Any] | None:
        if start is None:
            return None
        flat = self._columns.to_columns(*start[:3])
        return None if flat is None else (flat.column, flat.cut, flat.yes, flat.no, start[3])

    def _found(self, found: CoupledNumericFound) -> CoupledFound:
        parts = (found.feature, found.cut, found.left, found.right, found.label)
        flat = FlatThresholdTree(*(part.tolist() for part in parts))
        test, left, right, label = (np.array(part, dtype=np.int32) for part in self._columns.to_tests(flat))
        return CoupledFound(
            status=found.status,
            stop=found.stop,
            value=found.value,
            bound=found.bound,
            sums=found.sums,
            test=test,
            left=left,
            right=right,
            label=label,
            statistics=found.statistics,
            kernel=found.kernel,
        )
