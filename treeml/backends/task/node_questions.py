"""Problem -> the questions that a node can ask, over groups of rows that no question separates.

An ordered feature is one question for all its cuts, and a feature split by subsets is one question for all its subsets:
the directions in which the groups go determine the cut or the subset. Every other test is a question of its own. So
numeric columns need not be binarized.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.problem.evaluate import answers
from treeml.problem.problem import Feature, Problem, Test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class NodeQuestion:
    """One question of a node, by kind.

    order: the groups with the smallest codes answer yes; equal: groups with equal codes answer alike; test: `yes` holds
    the answers.
    """

    feature: int
    kind: str
    test: int = -1
    yes: Bits | None = None  # per group; for kind test
    codes: NDArray[np.int32] | None = None  # per group; for kinds order and equal


@dataclass(frozen=True, eq=False, slots=True)
class NodeQuestions:
    problem: Problem
    group: Whole  # per row
    groups: int
    count: Whole  # per group
    questions: tuple[NodeQuestion, ...]

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[NodeQuestion]:
        return iter(self.questions)

    def __getitem__(self, place: int) -> NodeQuestion:
        return self.questions[place]

    def summed(self, matrix: Whole) -> Whole:
        """Sums the rows of a matrix by group."""
        result = np.zeros((self.groups, *matrix.shape[1:]), np.int64)
        np.add.at(result, self.group, matrix)
        return result

    def decode(self, question: NodeQuestion, yes: Bits) -> tuple[int, bool] | None:
        """The test that sends exactly these groups to yes, and whether its sides are swapped; None if no test does."""
        if yes.all() or not yes.any():
            return None
        if question.kind == "test":
            return question.test, False
        assert question.codes is not None
        feature = self.problem.features[question.feature]
        known = question.codes >= 0
        missing_yes = bool(yes[~known].any())
        levels = sorted({int(code) for code in question.codes[known & yes]})
        others = sorted({int(code) for code in question.codes[known & ~yes]})
        if not levels or not others:
            if not known.all():
                return _find(self.problem, feature, question.feature, "missing", (), True), not missing_yes
            return None
        if question.kind == "order":
            test = _find(self.problem, feature, question.feature, "at most", (levels[-1],), missing_yes)
            return test, False
        last = feature.levels - 1
        if last in levels:
            return _find(self.problem, feature, question.feature, "among", tuple(others), not missing_yes), True
        return _find(self.problem, feature, question.feature, "among", tuple(levels), missing_yes), False


def read_questions(problem: Problem, *, binary: bool = False) -> NodeQuestions:
    """The questions of the problem; `binary` makes every test a question of its own."""
    keys: list[NDArray[Any]] = []
    native: list[int] = []
    for number, feature in enumerate(problem.features):
        if not binary and feature.kind in ("ordered", "subsets") and _is_complete(problem, number):
            native.append(number)
            assert feature.codes is not None
            keys.append(feature.codes)
    taken = set(native)
    own = [] if len(taken) == len(problem.features) else _own_tests(problem, taken)
    # The answers to all tests of a problem would include every cut of long columns of numbers.
    everybody = np.arange(problem.rows)
    said = np.array([answers(problem, test, everybody) for test in own], dtype=np.bool_)
    if own:
        keys += _words(said)
    first, group = _grouped(keys, problem.rows)
    count = np.zeros(len(first), np.int64)
    np.add.at(count, group, problem.count)
    questions: list[NodeQuestion] = []
    for number in native:
        feature = problem.features[number]
        assert feature.codes is not None
        codes = feature.codes[first].astype(np.int32)
        if len(codes) and codes.min() != codes.max():
            questions.append(NodeQuestion(number, "order" if feature.kind == "ordered" else "equal", codes=codes))
    for test, given in zip(own, said, strict=True):
        yes = given[first]
        if yes.any() and not yes.all():
            questions.append(NodeQuestion(problem.tests[test].feature, "test", test, yes=yes))
    return NodeQuestions(problem, group, len(first), count, tuple(questions))


def _grouped(keys: list[NDArray[Any]], rows: int) -> tuple[Whole, Whole]:
    """Rows with equal keys are a group: the first row of each, in the order of the keys, and the group of every row.

    Sorting by one key after the other is several times as fast on many rows as `numpy.unique` of their vectors.
    """
    order = np.lexsort(keys[::-1]) if keys else np.arange(rows)
    begins = np.zeros(rows, dtype=np.bool_)
    begins[:1] = True
    for key in keys:
        ordered = key[order]
        begins[1:] |= ordered[1:] != ordered[:-1]
    group = np.empty(rows, np.int64)
    group[order] = np.cumsum(begins) - 1
    return order[begins], group


def _words(bits: Bits) -> list[NDArray[np.uint64]]:
    """Tests x rows -> keys of 64 tests each, which order the rows as the tests do, one after the other."""
    padded = np.zeros((-(-len(bits) // 64) * 64, bits.shape[1]), np.bool_)
    padded[: len(bits)] = bits
    packed = np.ascontiguousarray(np.packbits(padded, axis=0).T)  # rows x bytes; the first test is the highest bit
    return list(packed.view(">u8").astype(np.uint64).T)


def _own_tests(problem: Problem, taken: set[int]) -> list[int]:
    return [
        test
        for number, feature in enumerate(problem.features)
        if number not in taken
        for test in range(feature.first_test, feature.first_test + feature.tests)
        if problem.tests[test].feature == number
    ]


def _is_complete(problem: Problem, number: int) -> bool:
    """Does the problem have every test of the feature, in the standard order, so that their numbers can be computed?"""
    feature = problem.features[number]
    if feature.codes is None:
        return False
    plain = feature.levels - 1 if feature.kind == "ordered" else 2 ** (feature.levels - 1) - 1
    expected = 2 * plain + 1 if feature.has_missing else plain
    if feature.tests != expected or feature.first_test + feature.tests > len(problem.tests) or plain < 1:
        return False
    return all(
        problem.tests[feature.first_test + place] == _expected(feature, number, place)
        for place in range(min(plain, 64))
    )


def _expected(feature: Feature, number: int, place: int) -> Test:
    if feature.kind == "ordered":
        return Test(number, "at most", (place,))
    return Test(number, "among", tuple(v for v in range(feature.levels) if (place + 1) >> v & 1))


def _find(
    problem: Problem, feature: Feature, number: int, kind: str, values: tuple[int, ...], missing_yes: bool
) -> int:
    """The number of a test of a complete feature."""
    if kind == "missing":
        return feature.first_test + feature.tests - 1
    plain = (feature.tests - 1) // 2 if feature.has_missing else feature.tests
    place = values[0] if kind == "at most" else sum(1 << v for v in values) - 1
    test = feature.first_test + place + (plain if feature.has_missing and missing_yes else 0)
    found = problem.tests[test]
    assert (found.feature, found.kind, found.values) == (number, kind, values), "tests are not in their order"
    return test
