"""Tree -> the pairs of its leaves that violate monotonicity, so that a model can forbid them.

Monotonicity is a property of pairs of leaves as regions of the input space, not of rows. There are too many possible
pairs to write them all down. So models are first solved without them, and every violated pair in a solution is added
as a clause. This is exact: a clause excludes only trees that violate the requirement.
"""

from __future__ import annotations

from collections.abc import Iterator

from treeml.problem.problem import Problem
from treeml.problem.terms import Monotone
from treeml.problem.tree import Leaf, Node

Path = tuple[tuple[int, bool], ...]
Region = dict[int, frozenset[int]]  # for every tested feature, the codes that lead to a leaf; -1 means missing


def broken_pairs(tree: Node, problem: Problem, terms: tuple[Monotone, ...]) -> Iterator[tuple[Path, Path]]:
    """Pairs of paths, to a positive leaf and to another leaf, that together violate one of the terms."""
    leaves = [(path, leaf, region(path, problem)) for path, leaf in _leaves(tree, ())]
    for term in terms:
        for path, leaf, here in leaves:
            for other_path, other, there in leaves:
                if leaf.label == term.positive != other.label and breaks(here, there, problem, term):
                    yield path, other_path


def breaks(positive: Region, other: Region, problem: Problem, term: Monotone) -> bool:
    """Can an input leave the positive region for the other by changing this feature alone, in the wrong direction?"""
    low, high = (positive, other) if term.increasing else (other, positive)
    for number in low.keys() | high.keys():
        here = low.get(number, _codes(problem, number))
        there = high.get(number, _codes(problem, number))
        if number == term.feature:
            known, above = here - {-1}, there - {-1}
            if not known or not above or min(known) >= max(above):
                return False
        elif not here & there:
            return False
    everything = _codes(problem, term.feature) - {-1}
    return term.feature in low or term.feature in high or len(everything) > 1


def region(path: Path, problem: Problem) -> Region:
    found: Region = {}
    for number, answer in path:
        test = problem.tests[number]
        here = found.get(test.feature, _codes(problem, test.feature))
        found[test.feature] = frozenset(code for code in here if test.answers_yes(code) == answer)
    return found


def _leaves(node: Node, path: Path) -> Iterator[tuple[Path, Leaf]]:
    if isinstance(node, Leaf):
        yield path, node
        return
    yield from _leaves(node.yes, (*path, (node.test, True)))
    yield from _leaves(node.no, (*path, (node.test, False)))


def _codes(problem: Problem, number: int) -> frozenset[int]:
    return frozenset(problem.features[number].possible_codes)
