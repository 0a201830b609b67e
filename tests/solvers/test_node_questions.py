"""Rows that no question separates are one group, in the order of their answers."""

from __future__ import annotations

import numpy as np
import pytest

from treeml.backends.task.node_questions import _grouped, _words, read_questions
from treeml.testing.problems import binary, errors, minimize


@pytest.mark.parametrize("seed", range(60))
def test_groups_are_those_of_the_vectors_of_keys(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, tests = int(random.integers(1, 50)), int(random.integers(0, 150))
    codes = [random.integers(-1, random.integers(1, 5), rows).astype(np.int32) for _ in range(random.integers(0, 4))]
    bits = random.random((tests, rows)) < random.choice([0.02, 0.5, 0.98])
    keys = [*codes, *(_words(bits) if tests else [])]
    vectors = np.array([*codes, *bits], dtype=np.int64).reshape(len(codes) + tests, rows).T
    if not vectors.shape[1]:
        vectors = np.zeros((rows, 1), np.int64)
    _, first, group = np.unique(vectors, axis=0, return_index=True, return_inverse=True)
    found = _grouped(keys, rows)
    assert found[0].tolist() == first.tolist()
    assert found[1].tolist() == group.ravel().tolist()


def test_no_question_separates_equal_rows_and_constant_tests_ask_nothing() -> None:
    rows, actual = ["010", "110", "010", "110", "010"], [0, 1, 0, 0, 1]
    questions = read_questions(binary(rows, 2, minimize(errors(actual, 2)), ()))
    assert questions.group.tolist() == [0, 1, 0, 1, 0]
    assert questions.count.tolist() == [3, 2]
    assert [question.feature for question in questions] == [0]
