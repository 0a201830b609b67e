"""Text of a measure or a condition, a model -> checked goals and requirements, evaluated on every tree of a set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from treeml.data.table import Dataset
from treeml.lang.diagnostic import DataError
from treeml.lang.findings import Findings
from treeml.lang.include import resolve_includes
from treeml.lang.measures import MEASURES
from treeml.lang.spec import CheckedGoal, Requirement, Spec
from treeml.lang.statements import Statements
from treeml.lang.syntax import ListTrees, Objective, Report, Require, Satisfy, Solve, Validate
from treeml.measures.evaluators import TreeOutcome, outcome_of
from treeml.measures.lower import lower_goal, lower_requirement
from treeml.problem.problem import Feature
from treeml.solving.checking import check
from treeml.solving.verify import evaluate_expression, is_met
from treeml.studies.tree_sets.node_values import Measured, NodeValues, NotVectorized
from treeml.studies.tree_sets.sources import TooManyTrees, TreeSource
from treeml.trees.tree import Tree

MOST_ONE_BY_ONE = 200_000  # trees
_REPLACED = (ListTrees, Objective, Report, Require, Satisfy, Solve, Validate)


@dataclass(frozen=True, slots=True)
class Asked:
    """A measure to evaluate, and whether more of it is better."""

    goal: CheckedGoal
    maximize: bool


def _without_includes(model: Statements) -> Statements:
    """The model with included statements in their places: some of them are replaced, and a stored set stands alone."""
    statements = resolve_includes(model.statements, model.folder, Findings(), model.untrusted).statements
    return Statements(statements, folder=model.folder, bindings=model.bindings, untrusted=model.untrusted)


class Measures:
    """Measures and conditions of one model."""

    def __init__(self, model: Statements, has_target: bool) -> None:
        self.model, self.has_target = _without_includes(model), has_target

    def measure(self, text: str) -> Asked:
        """`errors`, `parity_gap(sex)`, `error_rate + 0.01 * leaves`."""
        goal = self._spec(f"minimize {text}").goals[0]
        senses = {MEASURES[use.measure].goal for _, use in goal.expression.parts}
        return Asked(goal, senses == {"maximize"} and all(factor > 0 for factor, _ in goal.expression.parts))

    def condition(self, text: str) -> tuple[Requirement, ...]:
        """`parity_gap(sex) <= 2%`, `2 <= leaves <= 8`, `uses(age)`."""
        return self._spec(f"satisfy require {text}").requirements

    def _spec(self, text: str) -> Spec:
        kept = [statement for statement in self.model.statements if not isinstance(statement, _REPLACED)]
        asked = Statements(
            [*kept, *Statements.parse(text).statements],
            folder=self.model.folder,
            bindings=self.model.bindings,
            untrusted=self.model.untrusted,
        )
        return check(asked, has_target=self.has_target)[0]


class SetEvaluator:
    """Evaluates measures on all trees of a source: all at once, or tree by tree if a term needs that."""

    def __init__(self, source: TreeSource) -> None:
        if source.dataset is None:
            raise ValueError("measures need the rows of the data: TreeSet.read(path, data=...)")
        self.source, self.dataset = source, source.dataset
        columns = list(dict.fromkeys([*self.dataset.features, *(test.column for test in source.tests)]))
        place = {name: number for number, name in enumerate(columns)}
        # Terms name columns by their numbers, so these features need nothing but their names.
        self.features = tuple(Feature(name, "binary", 2, None, 0, 0) for name in columns)
        self.feature_of_test = np.array([place[test.column] for test in source.tests], dtype=np.int64)
        self._values: NodeValues | None = None

    @property
    def values(self) -> NodeValues:
        if self._values is None:
            self._values = NodeValues(self.source, self.feature_of_test)
        return self._values

    def measure(self, asked: Asked) -> Measured:
        try:
            goal = lower_goal(asked.goal, self.dataset, self.features)
            return self.values.value(goal.sum, goal.negated)
        except (NotVectorized, DataError, NotImplementedError):
            return self._one_by_one(lambda outcome: evaluate_expression(asked.goal.expression, self.dataset, outcome))

    def condition(self, requirements: tuple[Requirement, ...]) -> Measured:
        try:
            bounds = [bound for each in requirements for bound in lower_requirement(each, self.dataset, self.features)]
            return self.values.meets(bounds)
        except (NotVectorized, DataError, NotImplementedError):
            return self._one_by_one(
                lambda outcome: Fraction(int(all(is_met(each, self.dataset, outcome) for each in requirements)))
            )

    def _one_by_one(self, value: Callable[[TreeOutcome], Fraction | None]) -> Measured:
        if self.source.count > MOST_ONE_BY_ONE:
            raise TooManyTrees(
                f"this measure is evaluated tree by tree, and {self.source.count:,} trees are too many for that: "
                "take the best of them, trees[:10_000]"
            )
        known: dict[Fraction | None, int] = {}
        codes = [known.setdefault(value(self._outcome(number)), len(known)) for number in range(self.source.count)]
        return Measured(np.array(codes, dtype=np.int64), list(known))

    def _outcome(self, number: int) -> TreeOutcome:
        return outcome_of(self.source.tree(number), self.dataset)


class Evaluations:
    """Measures of all trees of a source by their texts, each evaluated once."""

    def __init__(self, source: TreeSource, measures: Measures) -> None:
        self._source, self._measures = source, measures
        self._measured: dict[str, tuple[Asked, Measured]] = {}

    @cached_property
    def _evaluator(self) -> SetEvaluator:
        return SetEvaluator(self._source)

    def measure(self, text: str) -> tuple[Asked, Measured]:
        if text not in self._measured:
            asked = self._measures.measure(text)
            self._measured[text] = asked, self._evaluator.measure(asked)
        return self._measured[text]

    def condition(self, text: str) -> Measured:
        return self._evaluator.condition(self._measures.condition(text))


def value_on(asked: Asked, tree: Tree, dataset: Dataset) -> Fraction | None:
    """A measure of one tree on any rows."""
    return evaluate_expression(asked.goal.expression, dataset, outcome_of(tree, dataset))
