"""Answer -> Tree: what a user keeps. It speaks of the user's own columns and labels, and needs no solver and no data.

A back-end's tree is kept as it is, except that a split one of whose sides no row reaches is replaced by its other
side, because every leaf has rows. A split both of whose sides predict the same stays: it may be there for a
requirement, and hiding it would make the counts disagree with what was solved.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.table import Dataset, label_text
from treeml.lang.display import readable_json, shown
from treeml.problem import tree as nodes
from treeml.system.writing import replace_file

if TYPE_CHECKING:
    from treeml.measures.binarize import Question

KINDS = ("is true", "at most", "is", "among", "missing")
TASKS = ("classes", "numbers", "clusters")


@dataclass(frozen=True, slots=True)
class TreeTest:
    """A yes-or-no question about one column.

    `values` holds the threshold of "at most", the level of "is" and of "is true", the levels of "among", and nothing
    for "missing". A row whose value is missing answers yes where `missing_yes` says so; a level that the training data
    did not have answers no.
    """

    column: str
    kind: str  # one of KINDS
    values: tuple[Any, ...] = ()
    missing_yes: bool = False

    def __str__(self) -> str:
        column, missing = shown(self.column), " or is missing" if self.missing_yes and self.kind != "missing" else ""
        match self.kind:
            case "at most":
                return f"{column} <= {shown(number_text(self.values[0]))}{missing}"
            case "among":
                return f"{column} is among {_labels_shown(self.values)}{missing}"
            case "missing":
                return f"{column} is missing"
        return f"{column} is {_labels_shown(self.values[:1])}{missing}"

    def negated(self, has_gaps: bool = True) -> str:
        """The question as a fact about a row that answers no; without gaps in the column, nothing is missing."""
        column = shown(self.column)
        match self.kind:
            case "at most":
                missing = "" if self.missing_yes or not has_gaps else " or is missing"
                return f"{column} > {shown(number_text(self.values[0]))}{missing}"
            case "among":
                return f"{column} is not among {_labels_shown(self.values)}"
            case "missing":
                return f"{column} is not missing"
        return f"{column} is not {_labels_shown(self.values[:1])}"


def _labels_shown(values: Sequence[Any]) -> str:
    return ", ".join(shown(label_text(value)) for value in values)


@dataclass(frozen=True, slots=True)
class TreeLeaf:
    """Where a path ends: what it predicts, and which of the training rows came here."""

    prediction: Any  # the user's own label; a number; a tuple of numbers for clusters
    rows: int = 0
    counts: tuple[int, ...] = ()  # rows of every class
    weights: tuple[Fraction, ...] = ()  # the same by weight
    exact: tuple[Fraction, ...] = ()  # the prediction as exact numbers; () for classes


@dataclass(frozen=True, slots=True)
class Branch:
    test: TreeTest
    yes: Node
    no: Node


Node = TreeLeaf | Branch


@dataclass(frozen=True, slots=True)
class Field:
    """A column that the tree asks about, as it was in training."""

    name: str
    type: str
    levels: tuple[Any, ...] = ()  # () for numbers
    missing: bool = False  # may be missing
    fill: Any = None  # the number or level that takes the place of what is missing


@dataclass(frozen=True)
class Tree:
    """A decision tree over the user's columns."""

    root: Node
    task: str  # one of TASKS
    target: str = ""
    classes: tuple[Any, ...] = ()  # the user's own labels
    outputs: tuple[str, ...] = ()  # what the numbers of a leaf are: the target, or the columns of a clustering
    fields: tuple[Field, ...] = ()  # the columns that are asked about
    inputs: tuple[str, ...] = ()  # all columns of the training data but the target, in order: those of an array

    @cached_property
    def leaves(self) -> tuple[TreeLeaf, ...]:
        """All leaves; those on the yes side come first. Their places are the numbers that `apply` gives."""
        return tuple(node for node in self.nodes() if isinstance(node, TreeLeaf))

    @cached_property
    def depth(self) -> int:
        """The number of splits on the longest path."""
        deepest, todo = 0, [(self.root, 0)]
        while todo:
            node, depth = todo.pop()
            deepest = max(deepest, depth)
            if isinstance(node, Branch):
                todo += [(node.no, depth + 1), (node.yes, depth + 1)]
        return deepest

    @property
    def splits(self) -> int:
        return len(self.leaves) - 1

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that are tested, each once, from the root down."""
        return tuple(dict.fromkeys(node.test.column for node in self.nodes() if isinstance(node, Branch)))

    def nodes(self) -> Iterator[Node]:
        """Every node, parents before children, the yes side before the no side."""
        todo: list[Node] = [self.root]
        while todo:
            node = todo.pop()
            yield node
            if isinstance(node, Branch):
                todo += [node.no, node.yes]

    def paths(self) -> Iterator[tuple[tuple[tuple[TreeTest, bool], ...], TreeLeaf]]:
        """Every leaf with the tests above it and their answers, in the order of `leaves`."""
        todo: list[tuple[Node, tuple[tuple[TreeTest, bool], ...]]] = [(self.root, ())]
        while todo:
            node, path = todo.pop()
            if isinstance(node, TreeLeaf):
                yield path, node
            else:
                todo += [(node.no, (*path, (node.test, False))), (node.yes, (*path, (node.test, True)))]

    def apply(self, data: Any) -> NDArray[np.intp]:
        """The number of the leaf that each row comes to. `data` is a frame, a dict, a list of dicts or an array."""
        from treeml.trees.routing import read_inputs, route

        return route(self, read_inputs(self, data))

    def predict(self, data: Any) -> NDArray[Any]:
        """The prediction for each row: labels as they were in training, or numbers."""
        predictions = [leaf.prediction for leaf in self.leaves]
        return np.array(predictions, dtype=_type_of(self.classes))[self.apply(data)]

    def predict_proba(self, data: Any) -> NDArray[np.float64]:
        """For each row the share, by weight, of every class in its leaf; columns are in the order of `classes`."""
        if self.task != "classes":
            raise ValueError(f"a tree that predicts {self.task} has no shares of classes")
        shares = [class_shares(leaf, self.classes) for leaf in self.leaves]
        return np.array([[float(share) for share in row] for row in shares], dtype=np.float64)[self.apply(data)]

    def decision_path(self, row: Any) -> tuple[str, ...]:
        """Why one row is predicted as it is, in words: every test on its path, then the prediction."""
        reached = self.apply(row)
        if len(reached) != 1:
            raise ValueError(f"a decision path is that of one row, not of {len(reached)}")
        path, leaf = list(self.paths())[int(reached[0])]
        gaps = {field.name for field in self.fields if field.missing}
        facts = [str(test) if answer else test.negated(test.column in gaps) for test, answer in path]
        return (*facts, f"predict {self.prediction_text(leaf)}")

    def prediction_text(self, leaf: TreeLeaf) -> str:
        """What a leaf predicts, for people: labels and names are shown, which may not be all of them."""
        if self.task == "classes":
            return shown(label_text(leaf.prediction))
        if self.task == "numbers":
            return rounded_text(leaf.prediction)
        return ", ".join(
            f"{shown(name)} {rounded_text(value)}" for name, value in zip(self.outputs, leaf.prediction, strict=True)
        )

    def to_json(self) -> dict[str, Any]:
        """The tree as plain JSON values; docs/tree-json.md describes them."""
        from treeml.trees.json_form import write_tree

        return write_tree(self)

    @classmethod
    def from_json(cls, value: str | bytes | Mapping[str, Any]) -> Tree:
        """The tree that `to_json` wrote, from its values or their text. What is not such a tree raises DataError."""
        from treeml.trees.json_form import read_tree

        return read_tree(value)

    @classmethod
    def read(cls, path: str | Path) -> Tree:
        """A tree from a file: what `write` wrote, or what `treeml solve --json` printed."""
        from treeml.trees.json_form import read_tree_file

        return read_tree_file(Path(path))

    def write(self, path: str | Path) -> None:
        """Write the tree as JSON."""
        replace_file(path, readable_json(self.to_json(), indent=1) + "\n")

    def __str__(self) -> str:
        from treeml.trees.drawing import draw_text

        return draw_text(self)

    def to_dot(self) -> str:
        """The tree for Graphviz."""
        from treeml.trees.drawing import draw_dot

        return draw_dot(self)

    def to_svg(self) -> str:
        """The tree as a drawing of its own."""
        from treeml.trees.drawing import draw_svg

        return draw_svg(self)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.to_svg()}</div>'


def class_shares(leaf: TreeLeaf, classes: Sequence[Any]) -> tuple[Fraction, ...]:
    """The share of every class in a leaf: by weight, by rows where nothing weighs, else all to what it predicts."""
    for amounts in (leaf.weights, leaf.counts):
        total = sum(amounts)
        if total:
            return tuple(Fraction(amount) / total for amount in amounts)
    return tuple(Fraction(int(label == leaf.prediction)) for label in classes)


def number_text(value: Any) -> str:
    """The shortest text that reads back as the very number, so that it parts rows as the tree does.

    Cuts are chosen to have short ones. A level is its label.
    """
    if not isinstance(value, (float, Fraction)):
        return label_text(value)
    number = float(value)
    if number.is_integer() and abs(number) < 1e16:
        return str(int(number))
    return repr(number)


def rounded_text(value: float) -> str:
    """A predicted number to read; its exact value is in the leaf."""
    if float(value).is_integer():
        return number_text(value)
    return f"{value:.6g}" if abs(value) < 1e5 else f"{value:.1f}"


def _type_of(classes: Sequence[Any]) -> Any:
    """Labels of several kinds, or of none that numpy knows, stay the objects they are."""
    kinds = {type(label) for label in classes}
    return None if not kinds or (len(kinds) == 1 and kinds <= {str, int, float, bool}) else object


def raise_tree(node: nodes.Node, questions: Sequence[Question], dataset: Dataset) -> Tree:
    """A back-end's tree over test numbers -> a Tree over columns, its leaves filled from the rows of the data.

    `questions` says what each test asks in the user's terms. The numbers of leaves are those of the first loss in the
    goals, else in the requirements, else means.
    """
    from treeml.trees.routing import answers, dataset_inputs

    asked = {number: question_test(questions[number]) for number in dict.fromkeys(_tests_in(node))}
    task = "classes" if dataset.classes else "clusters" if dataset.target is None else "numbers"
    target = dataset.target.name if dataset.target is not None else ""
    apart = {target, dataset.spec.weight_column or dataset.table.weight}
    outputs = leaf_outputs(dataset) if task != "classes" else ()
    fields = {name: field_of(dataset, name) for name in dict.fromkeys(test.column for test in asked.values())}
    inputs = dataset_inputs(tuple(fields.values()), dataset).columns
    ends: list[tuple[nodes.Leaf, NDArray[np.intp]]] = []  # the leaves with their rows, the yes side first
    used: set[str] = set()

    def told_apart(part: nodes.Node, rows: NDArray[np.intp]) -> _Told:
        """The splits that have rows on both sides; for a leaf its number."""
        while isinstance(part, nodes.Split):
            test = asked[part.test]
            yes = answers(test, inputs[test.column], rows)
            count = np.count_nonzero(yes)
            if count == len(rows):
                part = part.yes
            elif not count:
                part = part.no
            else:
                used.add(test.column)
                return test, told_apart(part.yes, rows[yes]), told_apart(part.no, rows[~yes])
        ends.append((part, rows))
        return len(ends) - 1

    told = told_apart(node, np.arange(dataset.rows))
    classes = tuple(map(plain_value, dataset.classes))
    if task == "classes":
        leaves = _class_leaves(dataset, [(classes[leaf.label], rows) for leaf, rows in ends])
    else:
        leaves = _number_leaves(dataset, [rows for _, rows in ends], outputs, task)
    return Tree(
        _joined(told, leaves),
        task,
        target,
        classes,
        tuple(output.name for output in outputs),
        # A question that was left out, since all rows answer it alike, needs no column.
        tuple(field for name, field in fields.items() if name in used),
        tuple(name for name in dataset.table.columns if name not in apart),
    )


_Told = int | tuple[TreeTest, "_Told", "_Told"]


def _joined(told: _Told, leaves: Sequence[TreeLeaf]) -> Node:
    if isinstance(told, int):
        return leaves[told]
    test, yes, no = told
    return Branch(test, _joined(yes, leaves), _joined(no, leaves))


@dataclass(frozen=True, eq=False, slots=True)
class Output:
    """One number that a leaf holds, with the loss that it makes least."""

    name: str
    values: NDArray[np.int64]
    scale: Fraction
    kind: str
    level: Fraction = Fraction(1, 2)

    def constants(self, weight: NDArray[np.int64], leaf: NDArray[np.intp], leaves: int) -> list[Fraction]:
        """The number of every leaf; `leaf` holds the number of each row's."""
        from treeml.problem.constants import group_constants

        found = group_constants(self.kind, self.values, weight, leaf, leaves, self.level)
        return found if self.scale == 1 else [self.scale * constant for constant in found]


def leaf_outputs(dataset: Dataset) -> tuple[Output, ...]:
    """What the numbers of a leaf are, and how they follow from its rows."""
    from treeml.data.conditions import cluster_targets
    from treeml.lang.measures import ChosenLoss, chosen_loss

    expressions = [goal.expression for goal in dataset.spec.goals]
    expressions += [requirement.expression for requirement in dataset.spec.requirements]
    uses = [use for expression in expressions for _, use in expression.parts]
    chosen = ((use, loss) for use in uses if (loss := chosen_loss(use)) is not None)
    first, loss = next(chosen, (None, ChosenLoss()))
    if first is not None and loss.columns:
        targets, scale = cluster_targets(dataset, first)
        named = zip(loss.columns, targets.T, strict=True)
        return tuple(Output(name, values, scale, loss.kind, loss.level) for name, values in named)
    name = dataset.target.name if dataset.target is not None else ""
    return tuple(Output(name, values, dataset.target_scale, loss.kind, loss.level) for values in dataset.targets.T)


def lower_tree(tree: Tree, questions: Sequence[Question], classes: Sequence[Any]) -> nodes.Node | None:
    """A Tree as a tree over test numbers, for a start; None if it asks what no question of the problem does.

    The same levels count as the same question however it is put, also with yes and no exchanged. A threshold has to be
    the very one of a question.
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
    """What a test asks, apart from how: a threshold, or the levels (and the missing value) that pass."""
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
    """What a test of the problem asks, as a test of a Tree."""
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
    """A value as Python has it: no numpy scalars."""
    return value.item() if isinstance(value, np.generic) else value


def _tests_in(node: nodes.Node) -> Iterator[int]:
    todo = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, nodes.Split):
            yield part.test
            todo += [part.no, part.yes]


def field_of(dataset: Dataset, name: str) -> Field:
    """A column of the data as a tree keeps it."""
    column = dataset.column(name)
    levels = tuple(map(plain_value, column.levels))
    fill = None
    declared = dataset.spec.columns.get(name)
    if declared is not None and declared.missing == "median":
        # Medians that were filled in leave the lower median as it was.
        middle = np.sort(column.values)[(len(column.values) - 1) // 2]
        fill = levels[int(middle)] if levels else plain_value(middle)
    return Field(name, column.type, levels, column.missing is not None, fill)


@lru_cache(maxsize=1024)
def _whole(number: int) -> Fraction:
    """The counts of leaves are mostly small, and making fractions takes longer than counting."""
    return Fraction(number)


def _class_leaves(dataset: Dataset, ends: Sequence[tuple[Any, NDArray[np.intp]]]) -> list[TreeLeaf]:
    """Labels with the rows of their leaves -> leaves."""
    from treeml.problem.constants import exact_sum

    size = len(dataset.classes)
    reached = np.empty(dataset.rows, dtype=np.intp)
    for number, (_, rows) in enumerate(ends):
        reached[rows] = number * size
    cells = np.bincount(reached + dataset.actual, minlength=len(ends) * size).reshape(-1, size).tolist()
    weights: list[tuple[Fraction, ...]]
    if dataset.rows and (dataset.weight == dataset.weight[0]).all():
        each = int(dataset.weight[0]) * dataset.weight_scale
        weights = [tuple([_whole(count) if each == 1 else each * count for count in counts]) for counts in cells]
    else:
        weights = [
            tuple(
                [exact_sum(dataset.weight[rows[dataset.actual[rows] == k]]) * dataset.weight_scale for k in range(size)]
            )
            for _, rows in ends
        ]
    return [
        TreeLeaf(label, len(rows), tuple(counts), weight)
        for (label, rows), counts, weight in zip(ends, cells, weights, strict=True)
    ]


def _number_leaves(
    dataset: Dataset, ends: Sequence[NDArray[np.intp]], outputs: Sequence[Output], task: str
) -> list[TreeLeaf]:
    """The rows of leaves -> leaves."""
    reached = np.empty(dataset.rows, dtype=np.intp)
    for number, rows in enumerate(ends):
        reached[rows] = number
    leaves = []
    columns = [output.constants(dataset.weight, reached, len(ends)) for output in outputs]
    for rows, *exact in zip(ends, *columns, strict=True):
        numbers = tuple(map(float, exact))
        leaves.append(TreeLeaf(numbers if task == "clusters" else numbers[0], len(rows), exact=tuple(exact)))
    return leaves
