"""The cost of a leaf by the mixture of its classes, as C computes it, against its definition for few and many rows."""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma, log

import numpy as np
import pytest

from treeml.native.solver import Solver
from treeml.native.solver_input import Impurity


def code_length(counts: list[int]) -> float:
    def bits(count: float, start: float) -> float:
        return (lgamma(count + start) - lgamma(start)) / log(2)

    return bits(sum(counts), len(counts) / 2) - sum(bits(count, 0.5) for count in counts)


def entropy(counts: list[int]) -> float:
    return sum(counts) * log(sum(counts)) - sum(count * log(count) for count in counts if count)


def gini(counts: list[int]) -> float:
    return sum(counts) - sum(count**2 for count in counts) / sum(counts)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("counts", [[1, 0], [1, 1], [5, 3], [11, 2, 0], [13, 12], [200, 77, 1], [40, 30, 20, 10]])
@pytest.mark.parametrize("kind", [code_length, entropy, gini])
def test_a_leaf_costs_what_its_definition_says(
    kind: Callable[[list[int]], float], counts: list[int], weighted: bool
) -> None:
    labels = np.repeat(np.arange(len(counts)), counts)
    weight = None
    if weighted:  # one row per class that stands for all of them
        present = [number for number, count in enumerate(counts) if count]
        labels, weight = np.array(present), np.array([counts[number] for number in present])
    costs = Impurity(kind.__name__.replace("_", " "), labels, len(counts), weight)
    found = Solver(np.zeros((1, len(labels)), dtype=np.uint8), costs).solve(depth=0)
    assert float(found.value) == pytest.approx(kind(counts), rel=1e-9, abs=1e-9)
