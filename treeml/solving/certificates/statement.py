"""What a certificate states -> the lines of its header: docs/certificates.md describes each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Amount:
    """A sum in whole numbers of `unit`, and how the header says it: lines of costs, a price, a column of weights."""

    matrix: Any  # rows x classes
    price: int
    unit: Fraction
    constant: Fraction
    lines: tuple[str, ...]
    weight: tuple[str, int] | None = None

    @property
    def size(self) -> int:
        """All costs and prices together, as the checkers bound them: no values of two trees differ by more."""
        return int(np.abs(self.matrix.astype(object)).sum()) + self.price * len(self.matrix)

    def value(self, total: Fraction) -> int:
        """A value of the problem in units; it is whole."""
        units = (total - self.constant) / self.unit
        assert units.denominator == 1
        return units.numerator


@dataclass(frozen=True, slots=True, eq=False)
class TestFamily:
    """A test by words, or the cuts of a column: where its tests are, and the line of the header."""

    line: str
    place: Any  # per row; cut j sends places <= j to the yes side
    cuts: int
    tests: tuple[int, ...]  # of the problem, in the order of the cuts
    is_swapped: bool = False  # is the yes side the no side of the problem's test?
    others: tuple[tuple[int, bool], ...] = ()  # tests that split every row as this one does, or the other way around
    cut_lines: tuple[str, ...] = ()  # of every cut alone

    def single(self) -> Iterator[TestFamily]:
        """Every cut as a family of its own."""
        if self.cuts == 1:
            yield self
            return
        for cut, (line, test) in enumerate(zip(self.cut_lines, self.tests, strict=True)):
            yield TestFamily(line, np.where(self.place <= cut, 0, 1), 1, (test,))


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    separator: str
    rows: int
    target: str
    classes: tuple[tuple[str, ...], ...]
    depth: int
    families: tuple[TestFamily, ...]
    goals: tuple[Amount, ...]
    leaves: int = 0
    support: int = 1
    missing: tuple[str, ...] = ()
    require: Amount | None = None
    limit: int = 0
    factors: tuple[int, ...] = ()  # of the goals; without them 1
    require_factor: int = 0  # 0: claims limit how much of the requirement a tree uses
    forest: tuple[str, ...] = ()  # lines about the trees of a forest and their dual prices
    scale: int = 0  # of the target of a squared loss
    claim: str = "optimal"
    tree: Node | None = None
    values: tuple[int, ...] = ()
    targets: Any = field(default=None, repr=False)  # of a squared loss: rows x 3

    def numbers(self) -> dict[int, tuple[int, bool]]:
        """Test of the problem -> test of the certificate, and whether its sides are swapped."""
        first, found = 0, {}
        for family in self.families:
            found.update({test: (first + cut, family.is_swapped) for cut, test in enumerate(family.tests)})
            found.update({test: (first, is_swapped) for test, is_swapped in family.others})
            first += family.cuts
        return found

    def nodes(self, tree: Node) -> str:
        """A tree in prefix order."""
        return " ".join(map(str, _prefix(tree, self.numbers())))

    def header(self) -> Iterator[str]:
        yield "treeml certificate 2"
        yield f"separator {quoted(self.separator)}"
        yield f"rows {self.rows}"
        if self.scale:
            yield f"squared {quoted(self.target)} {self.scale}"
        else:
            yield f"target {quoted(self.target)}"
            yield from (f"class {listed(words)}" for words in self.classes)
        yield f"depth {self.depth}"
        if self.leaves:
            yield f"leaves {self.leaves}"
        if self.support > 1:
            yield f"support {self.support}"
        if self.missing:
            yield f"missing {listed(self.missing)}"
        yield from (family.line for family in self.families)
        for goal, factor in zip(self.goals, self.factors or (1,) * len(self.goals), strict=True):
            yield from _amount(f"goal {factor}", goal)
        if self.require is not None:
            yield from _amount(f"require {self.limit} {self.require_factor}", self.require)
        yield f"claim {self.claim}"
        yield from self.forest
        if self.tree is not None:
            yield f"tree {self.nodes(self.tree)}"
            yield f"value {' '.join(map(str, self.values))}"


def _amount(key: str, amount: Amount) -> Iterator[str]:
    price = f" price {amount.price}" if amount.price else ""
    weight = f" weight {quoted(amount.weight[0])} {amount.weight[1]}" if amount.weight else ""
    yield f"{key}{price}{weight}"
    yield from amount.lines


def _prefix(node: Node, numbers: dict[int, tuple[int, bool]]) -> Iterator[int]:
    if isinstance(node, Leaf):
        yield -1 - max(node.label, 0)
    else:
        number, is_swapped = numbers[node.test]
        yield number
        yield from _prefix(node.no if is_swapped else node.yes, numbers)
        yield from _prefix(node.yes if is_swapped else node.no, numbers)


def tests_of(node: Node) -> set[int]:
    """The tests of a tree."""
    return {node.test} | tests_of(node.yes) | tests_of(node.no) if isinstance(node, Split) else set()


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def listed(texts: Any) -> str:
    return " ".join(map(quoted, texts))


def leaf_numbers(problem: Problem, node: Node) -> Any:
    """For every row the number of its leaf, and the labels of the leaves, the yes side first."""
    from treeml.problem.evaluate import Routed  # imported here: start-up time

    routed = Routed(problem, node)
    return routed.leaf_numbers, [leaf.label for leaf, _, _ in routed.leaves]
