"""Tree, Dataset -> every goal, requirement and measure, recomputed exactly from the original rows.

This module knows the measures and the data, but no Problem, no term and no solver. Every claim of a back-end is
compared with the values computed here, and a difference is a failure of the back-end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from treeml.data.linear import LinearColumns, fitted
from treeml.data.table import Dataset, label_text
from treeml.lang.spec import Linear, Requirement, Use
from treeml.measures.evaluators import TreeOutcome, confusion, evaluate, outcome_of
from treeml.measures.policy import is_policy, policy_values
from treeml.measures.reported import reported_value
from treeml.problem.constants import exact_sum, in_units
from treeml.trees.nodes import Branch, Node, fan, sides
from treeml.trees.raising import leaf_outputs
from treeml.trees.tree import Tree

STANDARD = {
    "classes": ("errors", "error_rate", "accuracy"),
    "numbers": (),
    "clusters": (),
}
# The mean that is shown beside a sum over rows, under the name of the measure that it is.
MEANS = {
    "squared_loss": "mse",
    "absolute_loss": "mean_absolute_error",
    "quantile_loss": "mean quantile_loss",
    "cluster_loss": "mean cluster_loss",
}
SHAPE = ("depth", "leaves", "support")
USES = {name: Use(name) for name in (*SHAPE, *STANDARD["classes"])}
SHAPE_GOALS = frozenset({*SHAPE, "splits", "test_cost", "features_used"})  # goals that do not depend on predictions


@dataclass(frozen=True, slots=True)
class GoalClaim:
    """What a back-end claims besides the values of the goals: a bound on one, in the user's sense, or optimality."""

    is_optimal: bool
    bound: Fraction | None = None
    goal: int = 0  # the goal of the bound


@dataclass(frozen=True, slots=True)
class GoalCheck:
    """A goal in the user's sense: an accuracy is an accuracy, not a negated error."""

    text: str
    sense: str  # "minimize" or "maximize"
    value: Fraction
    claimed: Fraction | None = None

    @property
    def agrees(self) -> bool:
        return self.claimed is None or self.claimed == self.value


@dataclass(frozen=True, slots=True)
class RequirementCheck:
    """A requirement with its value. `slack` is how far the value can move before the requirement is violated."""

    name: str
    text: str
    sense: str
    limit: Fraction
    value: Fraction | None  # None: undefined, because no row is predicted positive
    slack: Fraction | None
    met: bool

    @property
    def shown(self) -> str:
        """The requirement as the user wrote it, with its name in front, if it has one."""
        return self.text if self.name == self.text else f"{self.name}: {self.text}"

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "text": self.text,
            "sense": self.sense,
            "limit": _plain(self.limit),
            "value": None if self.value is None else _plain(self.value),
            "slack": None if self.slack is None else _plain(self.slack),
            "met": self.met,
        }


@dataclass(frozen=True, slots=True)
class Verification:
    """The recomputed values, and every difference from the requirements and the claims."""

    goals: tuple[GoalCheck, ...]
    requirements: tuple[RequirementCheck, ...]
    measures: Mapping[str, Fraction]  # the standard ones, and every measure in the spec, under its text
    mismatches: tuple[str, ...] = ()  # one sentence each
    confusion: tuple[tuple[str, ...], tuple[tuple[Fraction, ...], ...]] | None = field(default=None)
    notes: tuple[str, ...] = ()  # on further checks, and on what could not be checked
    is_rounded: bool = False  # were weights, costs or numbers to predict rounded before?

    @property
    def verified(self) -> bool:
        """Are all requirements met, and is every claim true?"""
        return not self.mismatches

    @property
    def objective(self) -> tuple[Fraction, ...]:
        return tuple(goal.value for goal in self.goals)


def verify(
    tree: Tree,
    dataset: Dataset,
    claimed: Sequence[Fraction] | None = None,
    tolerance: Fraction = Fraction(0),
    before: Tree | None = None,
    claim: GoalClaim | None = None,
) -> Verification:
    """Recompute everything from the rows.

    `claimed` holds one value per goal in the user's sense, within `tolerance`; `claim` is what else is claimed. The
    tree must not be worse than `before`, the tree that it improves.
    """
    return verify_outcome(outcome_of(tree, dataset), dataset, claimed, tolerance, before, claim)


def verify_outcome(
    outcome: TreeOutcome,
    dataset: Dataset,
    claimed: Sequence[Fraction] | None = None,
    tolerance: Fraction = Fraction(0),
    before: Tree | None = None,
    claim: GoalClaim | None = None,
) -> Verification:
    """The same, if the rows have been routed through the tree already."""
    tree = outcome.tree
    values: dict[Use, Fraction | None] = {}
    goals = _goals(dataset, outcome, values, claimed)
    given = dataset.with_given_weights()
    given_values = values if given is dataset else {}
    requirements = tuple(_requirement(each, given, outcome, given_values) for each in dataset.spec.requirements)
    values = {**given_values, **values}
    measures = _measures(tree, dataset, outcome, values)
    mismatches = (
        *_wrong_claims(goals, claimed, tolerance),
        *(_missed(requirement) for requirement in requirements if not requirement.met),
        *_wrong_columns(tree, dataset),
        *_wrong_branches(tree, dataset, outcome),
        *_wrong_leaves(tree, dataset, outcome),
        *(_worse(goals, measures, before, dataset) if before is not None else ()),
        *(_wrong_proof(goals, claim, tolerance) if claim is not None else ()),
    )
    confusion = _confusion(tree, dataset, outcome)
    return Verification(goals, requirements, measures, tuple(mismatches), confusion, is_rounded=bool(dataset.rounding))


def _goals(
    dataset: Dataset,
    outcome: TreeOutcome,
    values: dict[Use, Fraction | None],
    claimed: Sequence[Fraction] | None,
) -> tuple[GoalCheck, ...]:
    checks = []
    for place, goal in enumerate(dataset.spec.goals):
        # In a goal, an undefined share counts as 0.
        value = _linear(goal.expression, dataset, outcome, values, Fraction(0))
        assert value is not None
        claim = claimed[place] if claimed is not None and place < len(claimed) else None
        checks.append(GoalCheck(goal.text, goal.sense, value, claim))
    return tuple(checks)


def _requirement(
    requirement: Requirement, dataset: Dataset, outcome: TreeOutcome, values: dict[Use, Fraction | None]
) -> RequirementCheck:
    limit = requirement.limit
    if requirement.share_of_rows:
        limit = Fraction(ceil(limit * dataset.given_rows))
    value = _linear(requirement.expression, dataset, outcome, values, None)
    text = requirement.text or requirement.name
    if value is None:
        return RequirementCheck(requirement.name, text, requirement.sense, limit, None, None, True)
    above = value - limit
    room = above if requirement.sense == ">=" else -above if requirement.sense == "<=" else -abs(above)
    return RequirementCheck(requirement.name, text, requirement.sense, limit, value, room, room >= 0)


def _linear(
    expression: Linear,
    dataset: Dataset,
    outcome: TreeOutcome,
    values: dict[Use, Fraction | None],
    undefined: Fraction | None,
) -> Fraction | None:
    total = expression.constant
    for factor, use in expression.parts:
        if use not in values:
            values[use] = evaluate(use, dataset, outcome)
        value = values[use]
        if value is None:
            if undefined is None:
                return None
            value = undefined
        part = value if factor == 1 else factor * value
        total = total + part if total else part
    return total


def evaluate_expression(expression: Linear, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    """The exact value of a sum of measures on a tree; None if one of them is undefined there."""
    return _linear(expression, dataset, outcome, {}, None)


def goal_values(outcome: TreeOutcome, dataset: Dataset) -> tuple[GoalCheck, ...]:
    """The goals of the specification with their values on a tree."""
    return _goals(dataset, outcome, {}, None)


def is_met(requirement: Requirement, dataset: Dataset, outcome: TreeOutcome) -> bool:
    """Does a tree meet a requirement?"""
    return _requirement(requirement, dataset, outcome, {}).met


def _measures(
    tree: Tree, dataset: Dataset, outcome: TreeOutcome, values: dict[Use, Fraction | None]
) -> dict[str, Fraction]:
    measures: dict[str, Fraction] = {}
    decides = is_policy(dataset.spec)
    for name in (*(() if decides else STANDARD[tree.task]), *SHAPE):
        use = USES[name]
        if use not in values:
            if name == "error_rate":
                values[use] = measures["errors"] / _total_weight(dataset)
            elif name == "accuracy":
                values[use] = 1 - measures["error_rate"]
            else:
                values[use] = evaluate(use, dataset, outcome)
        found = values[use]
        assert found is not None
        measures[name] = found
    for use in dataset.spec.reported:
        if use not in values:
            values[use] = reported_value(use, dataset, outcome)
    for use, value in values.items():
        if value is not None:
            measures.setdefault(use.text or written(use), value)
    if decides:
        measures.update(policy_values(dataset, outcome.predicted))
    if dataset.linear is None:  # the loss of linear leaves includes their ridge
        for use, value in values.items():
            if value is not None and use.measure in MEANS:
                mean = f"mean {use.text or written(use)}" if use.arguments else MEANS[use.measure]
                measures.setdefault(mean, value / _total_weight(dataset))
    return measures


def written(use: Use) -> str:
    """A measure as a spec would write it, if its text is not known."""
    if not use.arguments:
        return use.measure
    if use.measure in ("count", "rate"):
        parts = [
            ", ".join(f"{each.subject} {each.comparison} {label_text(_short(each.value))}" for each in conditions)
            for conditions in use.arguments
        ]
        return f"{use.measure}({' given '.join(part for part in parts if part)})"
    arguments: list[str] = []
    for argument in use.arguments:
        each = argument if isinstance(argument, tuple) else (argument,)
        arguments += [label_text(_short(item)) for item in each if item is not None]
    return f"{use.measure}({', '.join(arguments)})"


def _short(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value


def _total_weight(dataset: Dataset) -> Fraction:
    units = dataset.rows if dataset.has_unit_weights else exact_sum(dataset.weight)
    return in_units(units, dataset.weight_scale)


def _confusion(
    tree: Tree, dataset: Dataset, outcome: TreeOutcome
) -> tuple[tuple[str, ...], tuple[tuple[Fraction, ...], ...]] | None:
    """The names of the classes and, for every actual class, the weight of each predicted class."""
    if tree.task != "classes":
        return None
    cells = confusion(dataset, outcome.predicted)
    weights = tuple([tuple([in_units(cell, dataset.weight_scale) for cell in row]) for row in cells])
    return tuple([label_text(label) for label in dataset.classes]), weights


def _wrong_claims(goals: tuple[GoalCheck, ...], claimed: Sequence[Fraction] | None, tolerance: Fraction) -> list[str]:
    if claimed is None:
        return []
    wrong = [
        f"`{goal.text or goal.sense}` is {_shown(goal.value)}, but {_shown(goal.claimed)} was claimed"
        for goal in goals
        if goal.claimed is not None and goal.claimed != goal.value and abs(goal.claimed - goal.value) > tolerance
    ]
    if len(claimed) != len(goals):
        wrong.append(f"{len(claimed)} values were claimed for {len(goals)} goals")
    return wrong


def _wrong_proof(goals: tuple[GoalCheck, ...], claim: GoalClaim, tolerance: Fraction) -> list[str]:
    """A bound on the wrong side of the value, or a gap although the tree is called optimal."""
    if claim.bound is None or not goals:
        return []
    if not -len(goals) <= claim.goal < len(goals):
        return [f"a bound on goal {claim.goal + 1} is stated, and there are {len(goals)}"]
    goal = goals[claim.goal]
    if goal.value == claim.bound:
        return []
    sign = 1 if goal.sense == "minimize" else -1
    distance = sign * (goal.value - claim.bound)
    text, value, bound = goal.text or goal.sense, _shown(goal.value), _shown(claim.bound)
    if distance < -tolerance:
        return [f"`{text}` is {value}, which the bound {bound} excludes"]
    if claim.is_optimal and distance > tolerance:
        return [f"`{text}` is {value} and called optimal, but the bound {bound} leaves a gap"]
    return []


def _missed(requirement: RequirementCheck) -> str:
    assert requirement.value is not None
    return f"`{requirement.text or requirement.name}` is not met: it is {_shown(requirement.value)}"


def _worse(goals: tuple[GoalCheck, ...], measures: Mapping[str, Fraction], before: Tree, dataset: Dataset) -> list[str]:
    """Where an improved tree is worse than its start: in the goals or, if these are about its shape, in errors."""
    outcome = outcome_of(before, dataset)
    values: dict[Use, Fraction | None] = {}
    old = _goals(dataset, outcome, values, None)
    signs = [1 if goal.sense == "minimize" else -1 for goal in goals]
    now_values = [sign * goal.value for sign, goal in zip(signs, goals, strict=True)]
    old_values = [sign * goal.value for sign, goal in zip(signs, old, strict=True)]
    if now_values > old_values:
        first = next(i for i, (now, then) in enumerate(zip(now_values, old_values, strict=True)) if now != then)
        return [f"`{goals[first].text}` is {_shown(goals[first].value)}, and was {_shown(old[first].value)} before"]
    uses = {use.measure for goal in dataset.spec.goals for _, use in goal.expression.parts}
    if "errors" not in measures or not uses <= SHAPE_GOALS:
        return []
    errors = evaluate(Use("errors"), dataset, outcome)
    assert errors is not None
    if measures["errors"] <= errors:
        return []
    return [f"it makes {_shown(measures['errors'])} errors, and its start made {_shown(errors)}"]


def _wrong_columns(tree: Tree, dataset: Dataset) -> list[str]:
    allowed = set(dataset.features)
    return [f"the tree tests `{name}`, which may not be split on" for name in tree.columns if name not in allowed]


def _wrong_branches(tree: Tree, dataset: Dataset, outcome: TreeOutcome) -> list[str]:
    """Nodes with one branch for each level whose last branch holds rows of several levels."""
    if "branch" not in [node.test.kind for node in tree.nodes() if isinstance(node, Branch)]:
        return []
    wrong: list[str] = []
    _leaves_below(tree.root, 0, dataset, outcome, wrong)
    return wrong


def _leaves_below(node: Node, first: int, dataset: Dataset, outcome: TreeOutcome, wrong: list[str]) -> int:
    """The number of the leaf behind those of a subtree, which begin with `first`; adds what is wrong with it."""
    if not isinstance(node, Branch):
        return first + 1
    *branches, rest = sides(node)
    for side in branches:
        first = _leaves_below(side, first, dataset, outcome, wrong)
    end = _leaves_below(rest, first, dataset, outcome, wrong)
    found = fan(node)
    if found is not None:
        values = dataset.column(found.column).values[(outcome.leaf >= first) & (outcome.leaf < end)]
        if (values != values[:1]).any():
            wrong.append(f"the tree splits `{found.column}` by branches, and one of them holds several levels")
    return end


def _wrong_leaves(tree: Tree, dataset: Dataset, outcome: TreeOutcome) -> list[str]:
    """Leaves whose number of rows or whose values differ from those of the data."""
    rows = dataset.rows_in(outcome.leaf, len(tree.leaves)).tolist()
    wrong = [
        f"leaf {number + 1} says {leaf.rows} rows, but {count} reach it"
        for number, (leaf, count) in enumerate(zip(tree.leaves, rows, strict=True))
        if leaf.rows != count
    ]
    if wrong or tree.task == "classes":
        return wrong or _wrong_counts(tree, dataset, outcome)
    if dataset.linear is not None:
        return _wrong_lines(tree, dataset.linear, outcome)
    columns = [output.constants(dataset.weight, outcome.leaf, len(tree.leaves)) for output in leaf_outputs(dataset)]
    for number, (leaf, count, *constants) in enumerate(zip(tree.leaves, rows, *columns, strict=True)):
        exact = tuple(constants)
        if count and exact != leaf.exact:
            wrong.append(f"leaf {number + 1} holds {_listed(leaf.exact)}, but its rows give {_listed(exact)}")
    return wrong


def _wrong_lines(tree: Tree, columns: LinearColumns, outcome: TreeOutcome) -> list[str]:
    """Leaves whose linear models differ from those of their rows by more than rounding."""
    wrong = []
    for number, leaf in enumerate(tree.leaves):
        line = fitted(columns, np.flatnonzero(outcome.leaf == number))
        slopes, centers = leaf.slopes_of(columns.names), leaf.centers_of(columns.names)
        moved = sum(
            Fraction(slope) * (Fraction(there) - Fraction(here))
            for slope, there, here in zip(slopes, line.centers, centers, strict=True)
        )
        found = (leaf.prediction + float(moved), *slopes)
        if not np.allclose(found, (line.value, *line.slopes), rtol=1e-9, atol=1e-9):
            wrong.append(f"leaf {number + 1} holds a linear model that is not that of its rows")
    return wrong


def _wrong_counts(tree: Tree, dataset: Dataset, outcome: TreeOutcome) -> list[str]:
    """Leaves whose counts of classes, if they have any, differ from those of the data."""
    size = len(dataset.classes)
    cells = dataset.rows_in(outcome.leaf * size + dataset.actual, len(tree.leaves) * size)
    return [
        f"leaf {number + 1} says {leaf.counts} rows of the classes, but {tuple(counts)} reach it"
        for number, (leaf, counts) in enumerate(zip(tree.leaves, cells.reshape(-1, size).tolist(), strict=True))
        if leaf.counts and leaf.counts != tuple(counts)
    ]


def _plain(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)


def _shown(value: Fraction | None) -> str:
    """A number in a message; different numbers have different texts."""
    if value is None:
        return "nothing"
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.6g} ({value})" if value.denominator < 10**9 else repr(float(value))


def _listed(values: Sequence[Fraction]) -> str:
    return ", ".join(_shown(value) for value in values)
