"""The short way from a matrix to a tree: labels at the ends of their type."""

import numpy as np
import pytest

from treeml.native.matrix import MatrixSolver

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@pytest.mark.parametrize("labels", [(MOST - 1, MOST), (LEAST, LEAST + 4095), (MOST, MOST), (-1, 0)])
def test_extreme_labels(labels: tuple[int, int]) -> None:
    low, high = labels
    solver = MatrixSolver(np.array([[0.0], [1.0], [0.0]]), np.array([low, high, low]), 5)
    assert list(solver.size.labels) == sorted({low, high})
    assert solver.solve(1, 1.0).nodes


@pytest.mark.parametrize("labels", [(LEAST, MOST), (LEAST, LEAST + 4096), (0, MOST)])
def test_labels_too_far_apart(labels: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="too far apart"):
        MatrixSolver(np.array([[0.0], [1.0]]), np.array(labels), 5)
