"""A tree over test numbers <-> a Tree over the user's columns.

A back-end's tree is kept unchanged, except that a split with an empty side is replaced by its other side, because every
leaf has rows. A split whose two sides predict the same is kept: a requirement may need it, and removing it would make
the counts differ from those of the solved problem. `backends/equal_sides.py` removes those that nothing needs before.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.conditions import cluster_targets
from treeml.data.hazards import survival_times, surviving
from treeml.data.linear import LinearColumns, fitted
from treeml.data.table import Dataset, label_text
from treeml.lang.measures import MEASURES, ChosenLoss, chosen_loss
from treeml.lang.spec import Spec
from treeml.problem import tree as nodes
from treeml.problem.arrays import all_rows
from treeml.problem.constants import exact_sum, group_constants, in_units
from treeml.trees.nodes import Branch, Field, Node, TreeLeaf, TreeTest, overruled_class
from treeml.trees.routing import Values, answers, dataset_inputs
from treeml.trees.tree import Tree

if TYPE_CHECKING:
    from treeml.measures.binarize import Question


def raise_tree(node: nodes.Node, questions: Sequence[Question], dataset: Dataset) -> Tree:
    """A back-end's tree over test numbers -> a Tree over columns, with leaves filled from the rows of the data.

    `questions` describes each test in the user's terms. Leaves of numbers hold the constants of the first loss in the
    goals, else in the requirements, else means.
    """
    asked = {number: question_test(questions[number]) for number in dict.fromkeys(_tests_in(node))}
    task = "classes" if dataset.classes else "clusters" if dataset.target is None else "numbers"
    target = dataset.target.name if dataset.target is not None else ""
    apart = {target, dataset.spec.weight_column or dataset.table.weight}
    outputs = leaf_outputs(dataset) if task != "classes" else ()
    models = () if dataset.linear is None else dataset.linear.names
    tested = (test.column for test in asked.values())
    fields = {name: field_of(dataset, name) for name in dict.fromkeys((*tested, *models))}
    inputs = dataset_inputs(tuple(fields.values()), dataset).columns
    pruning = _Pruning(asked, inputs, set(models))
    shape, ends = pruning.of(node, all_rows(dataset.rows)), pruning.ends
    classes = tuple(map(plain_value, dataset.classes))
    if task == "classes":
        leaves = _class_leaves(dataset, [(classes[leaf.label], rows) for leaf, rows in ends])
        if _predictions_are_free(dataset.spec):
            leaves = [_with_majority(leaf, classes) for leaf in leaves]
    else:
        leaves = _number_leaves(dataset, [rows for _, rows in ends], outputs, task)
    return Tree(
        _with_leaves(shape, leaves),
        task,
        target,
        classes,
        tuple(output.name for output in outputs),
        # A test that was removed, because all rows give the same answer, needs no column.
        tuple([field for name, field in fields.items() if name in pruning.used]),
        tuple([name for name in dataset.table.columns if name not in apart]),
    )


def _predictions_are_free(spec: Spec) -> bool:
    """Whether no goal and no requirement depends on what the leaves predict, so that a back-end chose any class.

    A tree that is improved keeps the predictions of its start, and those of the trees of a forest are votes.
    """
    if spec.improve is not None or spec.ensemble is not None:
        return False
    expressions = [goal.expression for goal in spec.goals] + [each.expression for each in spec.requirements]
    return all(MEASURES[use.measure].ignores_predictions for each in expressions for _, use in each.parts)


def _with_majority(leaf: TreeLeaf, classes: tuple[Any, ...]) -> TreeLeaf:
    heaviest = overruled_class(leaf, classes)
    return leaf if heaviest is None else replace(leaf, prediction=classes[heaviest])


_Pruned = int | tuple[TreeTest, "_Pruned", "_Pruned"]


class _Pruning:
    """Removes splits that have an empty side. A function that calls itself from inside another one would be a cycle,
    which keeps the rows alive until Python looks for such cycles."""

    __slots__ = ("asked", "ends", "inputs", "used")

    def __init__(self, asked: Mapping[int, TreeTest], inputs: Mapping[str, Values], used: set[str]) -> None:
        self.asked, self.inputs, self.used = asked, inputs, used
        self.ends: list[tuple[nodes.Leaf, NDArray[np.intp]]] = []  # leaves with their rows, the yes side first

    def of(self, part: nodes.Node, rows: NDArray[np.intp]) -> _Pruned:
        """The subtree without these splits; a leaf is its number in `ends`."""
        while isinstance(part, nodes.Split):
            test = self.asked[part.test]
            yes = answers(test, self.inputs[test.column], rows)
            count = np.count_nonzero(yes)
            if count == len(rows):
                part = part.yes
            elif not count:
                part = part.no
            else:
                self.used.add(test.column)
                return test, self.of(part.yes, rows.compress(yes)), self.of(part.no, rows.compress(~yes))
        self.ends.append((part, rows))
        return len(self.ends) - 1


def _with_leaves(shape: _Pruned, leaves: Sequence[TreeLeaf]) -> Node:
    if isinstance(shape, int):
        return leaves[shape]
    test, yes, no = shape
    return Branch(test, _with_leaves(yes, leaves), _with_leaves(no, leaves))


@dataclass(frozen=True, eq=False, slots=True)
class LeafOutput:
    """One number that a leaf holds, and the loss that this number minimizes."""

    name: str
    values: NDArray[np.int64]
    scale: Fraction
    kind: str
    level: Fraction = Fraction(1, 2)

    def constants(self, weight: NDArray[np.int64], leaf: NDArray[np.intp], leaves: int) -> list[Fraction]:
        """The constant of every leaf; `leaf` holds the leaf number of each row."""
        found = group_constants(self.kind, self.values, weight, leaf, leaves, self.level)
        return found if self.scale == 1 else [self.scale * constant for constant in found]


def leaf_outputs(dataset: Dataset) -> tuple[LeafOutput, ...]:
    """The numbers that a leaf holds, and how they are computed from its rows."""
    expressions = [goal.expression for goal in dataset.spec.goals]
    expressions += [requirement.expression for requirement in dataset.spec.requirements]
    uses = [use for expression in expressions for _, use in expression.parts]
    chosen = ((use, loss) for use in uses if (loss := chosen_loss(use)) is not None)
    first, loss = next(chosen, (None, ChosenLoss()))
    if first is not None and loss.columns:
        targets, scale = cluster_targets(dataset, first)
        named = zip(loss.columns, targets.T, strict=True)
        return tuple(LeafOutput(name, values, scale, loss.kind, loss.level) for name, values in named)
    name = dataset.target.name if dataset.target is not None else ""
    if loss.kind == "hazard":
        name = "relative hazard"
    return tuple(LeafOutput(name, values, dataset.target_scale, loss.kind, loss.level) for values in dataset.targets.T)


def lower_tree(tree: Tree, questions: Sequence[Question], classes: Sequence[Any]) -> nodes.Node | None:
    """A Tree as a tree over test numbers, to start a search from; None if the problem lacks one of its tests.

    Two tests on levels are the same if they separate the same levels, also with yes and no exchanged. A threshold must
    equal the threshold of a test of the problem.
    """
    fields = {field.name: field for field in tree.fields}
    numbers: dict[Hashable, int] = {}
    for number, question in enumerate(questions):
        if question.column in fields:
            numbers.setdefault(_asked(question_test(question), fields[question.column]), number)
    labels = {label_text(label): number for number, label in enumerate(classes)}

    def lowered(node: Node) -> nodes.Node | None:
        if isinstance(node, TreeLeaf):
            if not classes:
                return nodes.Leaf()
            label = labels.get(label_text(node.prediction))
            return None if label is None else nodes.Leaf(label)
        field = fields[node.test.column]
        yes, no = lowered(node.yes), lowered(node.no)
        number = numbers.get(_asked(node.test, field))
        if number is None and field.levels:
            number = numbers.get(_asked(node.test, field, exchanged=True))
            yes, no = no, yes
        return None if number is None or yes is None or no is None else nodes.Split(number, yes, no)

    return lowered(tree.root)


def _asked(test: TreeTest, field: Field, exchanged: bool = False) -> Hashable:
    """The content of a test, independent of its form: a threshold, or the levels (and the missing value) that pass."""
    if not field.levels:
        return test.column, test.kind, tuple(map(plain_value, test.values)), test.missing_yes
    texts = [label_text(level) for level in field.levels]
    wanted = [label_text(value) for value in test.values]
    if test.kind == "at most" and wanted[0] in texts:
        wanted = texts[: texts.index(wanted[0]) + 1]
    elif test.kind == "at most":
        wanted = [text for text, level in zip(texts, field.levels, strict=True) if float(level) <= test.values[0]]
    passing = frozenset(wanted)
    missing = field.missing and (test.missing_yes or test.kind == "missing")
    if exchanged:
        passing, missing = frozenset(texts) - passing, field.missing and not missing
    return test.column, passing, missing


def question_test(question: Question) -> TreeTest:
    """A test of the problem as a test of a Tree."""
    kind = {"true": "is true", "level": "is"}.get(question.kind, question.kind)
    match kind:
        case "missing":
            values: tuple[Any, ...] = ()
        case "among":
            values = question.values
        case _:
            values = (question.value,)
    missing_yes = question.missing_yes and kind != "missing"
    return TreeTest(question.column, kind, tuple(map(plain_value, values)), missing_yes)


def plain_value(value: Any) -> Any:
    """The value as a plain Python object instead of a numpy scalar."""
    return value.item() if isinstance(value, np.generic) else value


def _tests_in(node: nodes.Node) -> Iterator[int]:
    todo = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, nodes.Split):
            yield part.test
            todo += [part.no, part.yes]


def field_of(dataset: Dataset, name: str) -> Field:
    """A column of the data as a field of a tree."""
    column = dataset.column(name)
    levels = tuple(map(plain_value, column.levels))
    fill = None
    declared = dataset.spec.columns.get(name)
    if declared is not None and declared.missing == "median":
        # Filling in medians does not change the lower median.
        middle = np.sort(column.values)[(len(column.values) - 1) // 2]
        fill = levels[int(middle)] if levels else plain_value(middle)
    # Rows to come may lack a value that no training row lacks, if the spec says what to do then.
    may_miss = column.missing is not None or (declared is not None and declared.missing == "separate")
    return Field(name, column.type, levels, may_miss, fill)


def _class_leaves(dataset: Dataset, ends: Sequence[tuple[Any, NDArray[np.intp]]]) -> list[TreeLeaf]:
    """Labels and rows of leaves -> leaves with counts and weights."""
    size = len(dataset.classes)
    reached = dataset.actual.copy()
    for number, (_, rows) in enumerate(ends):
        reached[rows] += number * size
    cells = dataset.rows_in(reached, len(ends) * size).reshape(-1, size).tolist()
    weights: list[tuple[Fraction, ...]]
    if dataset.rows and dataset.count is None and dataset.has_equal_weights:
        each, scale = int(dataset.weight[0]), dataset.weight_scale
        weights = [tuple([in_units(each * count, scale) for count in counts]) for counts in cells]
    else:
        weights = [
            tuple(
                [exact_sum(dataset.weight[rows[dataset.actual[rows] == k]]) * dataset.weight_scale for k in range(size)]
            )
            for _, rows in ends
        ]
    return [
        TreeLeaf(label, sum(counts), tuple(counts), weight)
        for (label, _), counts, weight in zip(ends, cells, weights, strict=True)
    ]


def _number_leaves(
    dataset: Dataset, ends: Sequence[NDArray[np.intp]], outputs: Sequence[LeafOutput], task: str
) -> list[TreeLeaf]:
    """Rows of leaves -> leaves with constants."""
    reached = np.empty(dataset.rows, dtype=np.intp)
    for number, rows in enumerate(ends):
        reached[rows] = number
    leaves = []
    columns = [output.constants(dataset.weight, reached, len(ends)) for output in outputs]
    counts = dataset.rows_in(reached, len(ends)).tolist()
    if dataset.linear is not None:
        return _linear_leaves(dataset.linear, ends, counts)
    for count, *exact in zip(counts, *columns, strict=True):
        numbers = tuple(map(float, exact))
        leaves.append(TreeLeaf(numbers if task == "clusters" else numbers[0], count, exact=tuple(exact)))
    if dataset.spec.observed is not None:
        times, observed = survival_times(dataset)
        return [
            replace(leaf, curve=surviving(times[rows], observed[rows])) for leaf, rows in zip(leaves, ends, strict=True)
        ]
    return leaves


def _linear_leaves(columns: LinearColumns, ends: Sequence[NDArray[np.intp]], counts: Sequence[int]) -> list[TreeLeaf]:
    """Rows of leaves -> leaves with linear models."""
    leaves = []
    for rows, count in zip(ends, counts, strict=True):
        line = fitted(columns, rows)
        slopes = tuple(zip(columns.names, line.slopes, strict=True))
        if columns.is_simple:
            slopes = tuple((name, slope) for name, slope in slopes if slope)
        used = dict(slopes)
        middle = zip(columns.names, line.centers, strict=True)
        centers = tuple((name, center) for name, center in middle if center and name in used)
        exact = (Fraction(line.value),)
        leaves.append(TreeLeaf(line.value, count, exact=exact, slopes=slopes, centers=centers))
    return leaves
