"""The data of a tree in the user's terms: tests on columns, leaves, branches and columns, and ways to walk over them.

Routing, drawing, JSON and the exports work on this data; `Tree` (`treeml.trees.tree`) is the same data with methods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from treeml.data.table import label_text
from treeml.lang.display import shown

KINDS = ("is true", "at most", "is", "among", "branch", "missing")
TASKS = ("classes", "numbers", "clusters")


@dataclass(frozen=True, slots=True)
class TreeTest:
    """A yes-or-no question about one column.

    `values` holds the threshold of "at most", the level of "is", "is true" and "branch", the levels of "among", and
    nothing for "missing". A "branch" is one of the branches of a node that has one for each level (`fan`). A row whose
    value is missing answers yes if `missing_yes` is set; a level that did not occur in the training data answers no.
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
        """What is true of a row that answers no; `has_gaps` says whether the column may have missing values."""
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

    def answer_text(self, answer: bool, has_gaps: bool = True) -> str:
        """What an answer says about the column, without its name: `<= 40`, `is not F`."""
        fact = str(self) if answer else self.negated(has_gaps)
        short = fact.removeprefix(f"{shown(self.column)} ")
        if self.kind == "among":
            named = [shown(label_text(value), 16) for value in self.values]
            few = named if len(named) <= 3 else [*named[:2], f"{len(named) - 2} more"]
            short = f"{'' if answer else 'not '}among {', '.join(few)}"
            return f"{short} or missing" if answer and self.missing_yes else short
        return f"{short.removesuffix(' or is missing')} or missing" if short.endswith(" or is missing") else short


def _labels_shown(values: Sequence[Any]) -> str:
    return ", ".join(shown(label_text(value)) for value in values)


@dataclass(frozen=True, slots=True)
class TreeLeaf:
    """The end of a path: its prediction, and the training rows that reached it."""

    prediction: Any  # the user's own label; a number; a tuple of numbers for clusters
    rows: int = 0
    counts: tuple[int, ...] = ()  # rows of every class
    weights: tuple[Fraction, ...] = ()  # weight of every class
    exact: tuple[Fraction, ...] = ()  # the prediction as exact numbers; () for classes
    slopes: tuple[tuple[str, float], ...] = ()  # of a linear leaf: add these multiples of columns to the prediction
    because: str = ""  # the requirement or goal that makes it predict against its majority, if one does
    curve: tuple[tuple[float, float], ...] = ()  # of survival: times, and the share of the rows that survives each
    centers: tuple[tuple[str, int | float], ...] = ()  # of linear leaves: where a column adds nothing, if not at 0

    def slopes_of(self, columns: Sequence[str]) -> tuple[float, ...]:
        """The slope of each of these columns, 0 for one that the leaf's model does not have."""
        known = dict(self.slopes)
        return tuple(known.get(name, 0.0) for name in columns)

    def centers_of(self, columns: Sequence[str]) -> tuple[int | float, ...]:
        """For each of these columns the number at which it adds nothing."""
        known = dict(self.centers)
        return tuple(known.get(name, 0) for name in columns)


@dataclass(frozen=True, slots=True)
class Branch:
    """A test with the two subtrees for its answers."""

    test: TreeTest
    yes: Node
    no: Node


Node = TreeLeaf | Branch


@dataclass(frozen=True, slots=True)
class BranchSide:
    """One way out of a branch, and what is true of the rows that take it."""

    node: Node
    fact: str  # `age > 40`
    short: str  # `> 40`


@dataclass(frozen=True, slots=True)
class Fan:
    """A node with one branch for each level of a column: the levels asked for, and the branch of all other values."""

    column: str
    branches: tuple[tuple[TreeTest, Node], ...]
    rest: Node


def fan(node: Branch) -> Fan | None:
    """The branches of a node that has one for each level; None for a yes-or-no question.

    Such a node is kept as a chain of questions down the no sides, one for each branch but the last, so that routing
    and exports need not know about it. The chain is one split, and one level of depth.
    """
    if node.test.kind != "branch":
        return None
    column, branches = node.test.column, [(node.test, node.yes)]
    rest = node.no
    while isinstance(rest, Branch) and rest.test.column == column and rest.test.kind in ("branch", "missing"):
        branches.append((rest.test, rest.yes))
        rest = rest.no
    return Fan(column, tuple(branches), rest)


def sides(node: Branch) -> tuple[Node, ...]:
    """The subtrees below a node: two for a question, and one for each branch of a fan."""
    found = fan(node)
    return (node.yes, node.no) if found is None else (*(side for _, side in found.branches), found.rest)


def without_other_branches(path: Sequence[tuple[TreeTest, bool]]) -> list[tuple[TreeTest, bool]]:
    """A path without the branches of a node that were not taken, if the one that was taken has a name."""
    return [
        (test, answer)
        for place, (test, answer) in enumerate(path)
        if answer
        or test.kind not in ("branch", "missing")
        or not any(said and _excludes(other, test) for other, said in path[place + 1 :])
    ]


def _excludes(branch: TreeTest, other: TreeTest) -> bool:
    """Does a row that takes this branch answer no to the other test?"""
    if branch.column != other.column or branch.missing_yes:
        return False
    if branch.kind == "missing":
        return other.kind == "branch" and not other.missing_yes
    if branch.kind != "branch":
        return False
    return not {label_text(value) for value in branch.values} & {label_text(value) for value in other.values}


@dataclass(frozen=True, slots=True)
class Field:
    """A column that the tree tests, as it was in the training data."""

    name: str
    type: str
    levels: tuple[Any, ...] = ()  # () for numbers
    missing: bool = False  # whether values may be missing
    fill: Any = None  # the number or level that replaces missing values


@dataclass(frozen=True)
class TreeData:
    """A decision tree over the user's columns, as plain data."""

    root: Node
    task: str  # one of TASKS
    target: str = ""
    classes: tuple[Any, ...] = ()  # the user's own labels
    outputs: tuple[str, ...] = ()  # names of the numbers in a leaf: the target, or the columns of a clustering
    fields: tuple[Field, ...] = ()  # the columns that are tested
    inputs: tuple[str, ...] = ()  # all columns of the training data except the target, in the order of an array

    @cached_property
    def leaves(self) -> tuple[TreeLeaf, ...]:
        """All leaves; the yes side comes first. `apply` returns positions in this tuple.

        >>> [leaf.prediction for leaf in tree.leaves]
        ['no', 'no', 'yes']
        """
        return tuple([node for node in self.nodes() if isinstance(node, TreeLeaf)])

    @cached_property
    def depth(self) -> int:
        """The number of splits on the longest path.

        >>> tree.depth
        2
        """
        deepest, todo = 0, [(self.root, 0)]
        while todo:
            node, depth = todo.pop()
            if isinstance(node, Branch):
                todo += [(side, depth + 1) for side in sides(node)]
            elif depth > deepest:
                deepest = depth
        return deepest

    @property
    def splits(self) -> int:
        """The number of splits: one less than the number of leaves. A node with k branches counts k - 1.

        >>> tree.splits
        2
        """
        return len(self.leaves) - 1

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that are tested, each once, from the root down.

        >>> tree.columns
        ('age', 'sex')
        """
        return tuple(dict.fromkeys([node.test.column for node in self.nodes() if isinstance(node, Branch)]))

    def nodes(self) -> Iterator[Node]:
        """Every node, parents before children, the yes side before the no side.

        >>> [type(node).__name__ for node in tree.nodes()]
        ['Branch', 'TreeLeaf', 'Branch', 'TreeLeaf', 'TreeLeaf']
        """
        return iter(self._nodes)

    @cached_property
    def _nodes(self) -> list[Node]:
        todo: list[Node] = [self.root]
        found: list[Node] = []
        while todo:
            node = todo.pop()
            found.append(node)
            if isinstance(node, Branch):
                todo += [node.no, node.yes]
        return found

    def paths(self) -> Iterator[tuple[tuple[tuple[TreeTest, bool], ...], TreeLeaf]]:
        """Every leaf with the tests above it and their answers, in the order of `leaves`.

        >>> for path, leaf in tree.paths():
        ...     print([(str(test), answer) for test, answer in path], leaf.prediction)
        [('age <= 40', True)] no
        [('age <= 40', False), ('sex is F', True)] no
        [('age <= 40', False), ('sex is F', False)] yes
        """
        todo: list[tuple[Node, tuple[tuple[TreeTest, bool], ...]]] = [(self.root, ())]
        while todo:
            node, path = todo.pop()
            if isinstance(node, TreeLeaf):
                yield path, node
            else:
                todo += [(node.no, (*path, (node.test, False))), (node.yes, (*path, (node.test, True)))]

    def sides(self, node: Node) -> tuple[BranchSide, ...]:
        """The ways out of a node, in the order in which they are drawn; none for a leaf.

        >>> [side.fact for side in tree.sides(tree.root)]
        ['age <= 40', 'age > 40']
        """
        if isinstance(node, TreeLeaf):
            return ()
        found = fan(node)
        if found is not None:
            named = (BranchSide(side, str(test), test.answer_text(True)) for test, side in found.branches)
            rest = self._rest_text(found)
            short = rest if rest == "other" else f"is {rest}"
            return (*named, BranchSide(found.rest, f"{shown(found.column)} is {rest}", short))
        test, gaps = node.test, self.may_miss(node.test.column)
        return (
            BranchSide(node.yes, str(test), test.answer_text(True, gaps)),
            BranchSide(node.no, test.negated(gaps), test.answer_text(False, gaps)),
        )

    def with_leaves(self, leaves: Mapping[int, TreeLeaf]) -> Self:
        """The same tree with other leaves at some places of `leaves`.

        >>> tree.with_leaves({0: tree.leaves[1]}).leaves[0] == tree.leaves[1]
        True
        """
        places = iter(range(len(self.leaves)))

        def copied(node: Node) -> Node:
            if isinstance(node, TreeLeaf):
                return leaves.get(next(places), node)
            yes = copied(node.yes)
            return Branch(node.test, yes, copied(node.no))

        return replace(self, root=copied(self.root))

    def may_miss(self, column: str) -> bool:
        """Can a value of this column be missing when it is tested? A column whose gaps are filled has none.

        >>> tree.may_miss("age")
        False
        """
        return any(field.name == column and field.missing and field.fill is None for field in self.fields)

    def _rest_text(self, found: Fan) -> str:
        """The levels without a branch of their own; "other" if there are many."""
        asked = {label_text(value) for test, _ in found.branches for value in test.values}
        field = next((field for field in self.fields if field.name == found.column), None)
        levels = [level for level in field.levels if label_text(level) not in asked] if field is not None else []
        return _labels_shown(levels) if 0 < len(levels) < 3 else "other"

    @property
    def predicted(self) -> str:
        """The name of what a leaf predicts: the target, or another number about it; empty for clusters.

        >>> tree.predicted
        'disease'
        """
        return self.outputs[0] if self.task == "numbers" and len(self.outputs) == 1 else self.target

    def prediction_text(self, leaf: TreeLeaf) -> str:
        """The prediction of a leaf as text for people: long labels and names are shortened.

        >>> tree.prediction_text(tree.leaves[2])
        'yes'
        """
        if self.task == "classes":
            return shown(label_text(leaf.prediction))
        if self.task == "numbers":
            text = rounded_text(leaf.prediction)
            for name, slope in leaf.slopes:
                (center,) = leaf.centers_of((name,))
                column = f"({shown(name)} {'-' if center > 0 else '+'} {abs(center)})" if center else shown(name)
                text += f" {'-' if slope < 0 else '+'} {rounded_text(abs(slope))} * {column}"
            return text
        return ", ".join(
            f"{shown(name)} {rounded_text(value)}" for name, value in zip(self.outputs, leaf.prediction, strict=True)
        )


def class_shares(leaf: TreeLeaf, classes: Sequence[Any]) -> tuple[Fraction, ...]:
    """The share of every class in a leaf: by weight, else by rows; a leaf without rows has only its prediction."""
    for amounts in (leaf.weights, leaf.counts):
        total = sum(amounts)
        if total:
            return tuple(Fraction(amount) / total for amount in amounts)
    return tuple(Fraction(int(label == leaf.prediction)) for label in classes)


def overruled_class(leaf: TreeLeaf, classes: Sequence[Any]) -> int | None:
    """The number of the class with the largest share in a leaf, if the leaf predicts a class with a smaller share."""
    amounts = leaf.weights if any(leaf.weights) else leaf.counts
    if not leaf.rows or not amounts or leaf.prediction not in classes:
        return None
    largest, predicted = max(amounts), amounts[classes.index(leaf.prediction)]
    return None if predicted is largest or predicted == largest or not largest else amounts.index(largest)


def number_text(value: Any) -> str:
    """The shortest text that reads back as exactly this number, so that it separates rows as the tree does.

    Thresholds are chosen to have short texts. A level is written as its label.
    """
    if not isinstance(value, (float, Fraction)):
        return label_text(value)
    number = float(value)
    if number.is_integer() and abs(number) < 1e16:
        return str(int(number))
    return repr(number)


def rounded_text(value: float) -> str:
    """A predicted number, rounded for people; the leaf holds the exact value."""
    if float(value).is_integer():
        return number_text(value)
    return f"{value:.6g}" if abs(value) < 1e5 else f"{value:.1f}"
