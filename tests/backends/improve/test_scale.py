"""Many rows: nothing is made that is quadratic in them."""

from __future__ import annotations

import tracemalloc

import numpy as np

from treeml.backends import registry
from treeml.backends.contract import Limits, Status
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.problem.evaluate import Routed
from treeml.problem.problem import Feature, Problem, Test
from treeml.problem.terms import Depth
from treeml.testing.problems import bound, errors, minimize

ROWS, TESTS = 20_000, 30


def test_twenty_thousand_rows_are_mended_in_little_memory() -> None:
    """One number for every pair of rows would take 400 million; all that is made here stays far below."""
    random = np.random.default_rng(11)
    bits = random.random((TESTS, ROWS)) < 0.4
    actual = ((bits[0] & bits[1]) | (bits[2] & ~bits[3])).astype(int).tolist()
    problem = Problem(
        tuple(Feature(f"x{i}", "binary", 2, None, i, 1) for i in range(TESTS)),
        tuple(Test(i, "true") for i in range(TESTS)),
        np.ones(ROWS, dtype=np.int64),
        2,
        minimize(Depth()),
        (bound(errors(actual, 2), "<=", 0, "errors"),),
        bits,
    )
    made = plan(problem, registry.get("improve"), {"patience": 0.05})
    assert isinstance(made, Plan)
    tracemalloc.start()
    answer = run(made, Limits(options={"patience": 0.05}))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert answer.status is Status.LOCAL
    assert answer.objective == (4,)
    assert answer.tree is not None
    assert Routed(problem, answer.tree).labels.tolist() == actual
    assert peak < 40 * ROWS * TESTS
