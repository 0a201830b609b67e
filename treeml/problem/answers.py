"""Problem -> the answer of every row to every test, as bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from treeml.problem.problem import Feature, Problem

MOST_ANSWERS = 200_000_000  # tests times rows up to which every answer is made and kept
_ROWS_AT_ONCE = 1 << 20  # that are packed between two looks at the clock
_PACKED = f"{__name__}.packed"  # under which a problem keeps its packed answers
_AT_ONCE = 50_000_000  # answers that are written between two looks at the clock


def answer_bits(problem: Problem) -> NDArray[np.bool_]:
    """tests x rows: does the row answer yes?"""
    bits = np.empty((len(problem.tests), problem.rows), dtype=bool)
    for feature in problem.features:
        block = bits[feature.first_test : feature.first_test + feature.tests]
        _write_answers(problem, feature, block)
    return bits


def has_many_answers(problem: Problem) -> bool:
    """Are there too many tests to make the answers of every row, as with every cut of long columns of numbers?"""
    return problem.given_bits is None and len(problem.tests) * problem.rows > MOST_ANSWERS


def has_bits_in_time(problem: Problem, is_over: Callable[[], bool]) -> bool:
    """Makes the bits of a problem, which it then keeps; False if the time is over before all of them are there.

    With every cut of columns of numbers they may take many seconds.
    """
    if problem.given_bits is not None or "bits" in vars(problem):
        return True
    bits = np.empty((len(problem.tests), problem.rows), dtype=bool)
    cuts = max(1, _AT_ONCE // max(1, problem.rows))
    for feature in problem.features:
        block = bits[feature.first_test : feature.first_test + feature.tests]
        if not has_every_cut(feature):
            if is_over():
                return False
            _write_answers(problem, feature, block)
            continue
        for first in range(0, feature.tests, cuts):
            if is_over():
                return False
            _write_cuts(feature, first, block[first : first + cuts])
    vars(problem)["bits"] = bits
    return True


def packed_in_time(problem: Problem, is_over: Callable[[], bool]) -> NDArray[np.uint64] | None:
    """The answers in tests x words, the first row in the lowest bit of a word; None if the time is over before.

    They take an eighth of the memory of `bits`. The problem keeps them until `forget_packed`.
    """
    if _PACKED in vars(problem):
        kept: NDArray[np.uint64] = vars(problem)[_PACKED]
        return kept
    words = np.zeros((len(problem.tests), -(-problem.rows // 64)), dtype="<u8")
    for feature in problem.features:
        for first in range(0, problem.rows, _ROWS_AT_ONCE):
            if is_over():
                return None
            rows = slice(first, first + _ROWS_AT_ONCE)
            part = replace(feature, codes=None if feature.codes is None else feature.codes[rows])
            block = np.empty((feature.tests, min(_ROWS_AT_ONCE, problem.rows - first)), dtype=bool)
            _write_answers(problem, part, block)
            packed = np.packbits(block, axis=1, bitorder="little")
            begin = first // 8
            own = words[feature.first_test : feature.first_test + feature.tests].view(np.uint8)
            own[:, begin : begin + packed.shape[1]] = packed
    vars(problem)[_PACKED] = words.astype(np.uint64, copy=False)
    return words


def forget_packed(problem: Problem) -> None:
    """Frees the packed answers, which whoever asks for them again gets again."""
    vars(problem).pop(_PACKED, None)


def feature_keys(problem: Problem, feature: Feature) -> NDArray[Any]:
    """For every row a number or bytes: rows have the same if they answer every test of the feature alike."""
    codes = feature.codes
    if problem.given_bits is None and codes is not None and has_every_cut(feature):
        return codes
    if problem.given_bits is not None or codes is None:
        return _keys(problem.bits[feature.first_test : feature.first_test + feature.tests])
    present, place = np.unique(codes, return_inverse=True)
    bits = np.empty((feature.tests, len(present)), dtype=bool)
    _write_answers(problem, replace(feature, codes=present), bits)  # rows of one code answer alike
    return np.unique(_keys(bits), return_inverse=True)[1].reshape(-1)[place]


def _keys(bits: NDArray[np.bool_]) -> NDArray[Any]:
    """For every column of these answers, its bytes."""
    packed = np.ascontiguousarray(np.packbits(bits, axis=0).T)
    return packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)


def has_every_cut(feature: Feature) -> bool:
    """Are the tests of the feature all cuts of an ordered column, in order?"""
    return feature.kind == "ordered" and not feature.has_missing and feature.tests == feature.levels - 1


def _write_cuts(feature: Feature, first: int, block: NDArray[np.bool_]) -> None:
    """Writes the answers to the cuts of an ordered feature, from the first one on."""
    assert feature.codes is not None
    cuts = np.arange(first, first + len(block), dtype=np.int32)
    np.less_equal(feature.codes[None, :], cuts[:, None], out=block)


def _write_answers(problem: Problem, feature: Feature, block: NDArray[np.bool_]) -> None:
    """Writes the answers of the rows of a feature, all or some of them, to its tests, tests x rows."""
    codes = feature.codes
    assert codes is not None, "a feature without codes comes with its bits"
    if has_every_cut(feature):
        _write_cuts(feature, 0, block)
        return
    tests = problem.tests[feature.first_test : feature.first_test + feature.tests]
    missing = codes < 0 if feature.has_missing else None
    at_most = [j for j, test in enumerate(tests) if test.kind == "at most"]
    if at_most:
        bins = np.array([tests[j].values[0] for j in at_most], dtype=np.int32)
        np.less_equal(codes[None, :], bins[:, None], out=block[: len(at_most)])
    for j in range(len(at_most), len(tests)):
        test = tests[j]
        if test.kind == "true":
            np.equal(codes, 1, out=block[j])
        elif test.kind in ("level", "branch"):
            np.equal(codes, test.values[0], out=block[j])
        elif test.kind == "missing":
            np.less(codes, 0, out=block[j])
        else:
            chosen = np.zeros(feature.levels + 1, dtype=bool)  # the last place is that of missing values
            chosen[list(test.values)] = True
            block[j] = chosen[codes]
    if missing is not None:
        for j, test in enumerate(tests):
            block[j, missing] = test.missing_yes or test.kind == "missing"
