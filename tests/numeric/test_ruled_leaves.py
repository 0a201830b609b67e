"""What is required of every leaf, purity and errors, over columns of numbers: the answers of the oracle."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from treeml.backends.contract import Deadline, Limits, Status
from treeml.backends.native.backend import NativeBackend
from treeml.backends.native.kernel_choice import RULED, choose_kernel
from treeml.backends.oracle.backend import OracleBackend
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Depth, LeafErrors, Leaves, Loss, Purity, Support
from treeml.testing.problems import Sizes, bound, errors, from_columns, random_problem, single


def ruled(seed: int) -> Problem:
    random = Random(seed)
    sizes = Sizes(rows=9, columns=3, classes=3, depth=3, bounds=1)
    problem = random_problem(random, sizes, ("Predicted", "Leaves"))
    weight = np.array([random.choice((1, 1, 2, 3, 2**40)) for _ in range(problem.rows)])
    actual = np.array([random.randrange(problem.classes) for _ in range(problem.rows)])
    right = np.zeros((problem.rows, problem.classes), dtype=np.int64)
    right[np.arange(problem.rows), actual] = weight
    share = Fraction(random.randint(1, 9), 10)
    rules = [Bound(single(Purity(right)), ">=", share, "purity")]
    wrong = weight[:, None] - right
    limited = Bound(single(LeafErrors(wrong)), "<=", Fraction(random.choice((0, 1, 2, 3, 2**40))), "leaf_errors")
    chosen = random.choice((rules, [limited], [*rules, limited]))
    return replace(problem, bounds=(*problem.bounds, *chosen))


@pytest.mark.parametrize("part", range(4))
def test_equal_to_the_oracle(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeml.backends.native.kernel_choice.is_numeric_better", lambda *_: True)
    statuses: list[Status] = []
    for seed in range(150 * part, 150 * part + 150):
        problem = replace(ruled(seed), given_bits=None)
        if list(NativeBackend().refusals(problem, {})) or choose_kernel(problem, {})[1] != RULED:
            continue
        wanted, found = OracleBackend().solve(problem), NativeBackend().solve(problem)
        assert found.status is wanted.status, seed
        assert found.objective == wanted.objective, seed
        assert found.tree is None or meets_all(problem, found.tree)
        assert found.tree is None or evaluate_goals(problem, found.tree) == found.objective
        statuses.append(found.status)
    assert statuses.count(Status.OPTIMAL) > 20
    assert Status.INFEASIBLE in statuses


def many_cuts(rows: int, seed: int = 1) -> Problem:
    random = Random(seed)
    columns = [("ordered", [random.randrange(rows) for _ in range(rows)]) for _ in range(3)]
    actual = [random.randrange(2) for _ in range(rows)]
    pure = np.zeros((rows, 2), dtype=np.int64)
    pure[np.arange(rows), actual] = 1
    limits = (bound(Depth(), "<=", 3, "depth"), Bound(single(Purity(pure)), ">=", Fraction(1, 2), "purity"))
    return replace(from_columns(columns, 2, (Goal(single(errors(actual, 2))),), limits), given_bits=None)


def test_many_cuts_take_the_kernel_on_columns_and_few_take_tests() -> None:
    assert choose_kernel(many_cuts(400), {}) == ("coupled numeric", RULED)
    assert choose_kernel(many_cuts(400), {"kernel": "binary"})[0] == "binary"
    few = from_columns([("ordered", [0, 1, 2, 0])], 2, many_cuts(4).goals, many_cuts(4).bounds)
    assert choose_kernel(replace(few, given_bits=None), {})[0] == "binary"


def test_losses_and_other_requirements_keep_their_kernels() -> None:
    problem = many_cuts(400)
    loss = Loss("squared", np.arange(400)[:, None], np.ones(400, dtype=np.int64))
    assert choose_kernel(problem.asking((Goal(single(loss)),), problem.bounds), {})[0] == "binary"
    plain = (bound(Depth(), "<=", 3, "depth"), bound(Support(), ">=", 3, "support"))
    assert choose_kernel(problem.asking(problem.goals, plain), {})[0] == "numeric"


def test_a_search_without_time_has_no_wrong_claim() -> None:
    problem = many_cuts(60)
    best = NativeBackend().solve(problem)
    assert best.status is Status.OPTIMAL
    assert best.objective is not None
    for seconds in (0.0, 1e-4, 1e-3, 1e-2):
        stopped = NativeBackend().solve(problem, Limits(deadline=Deadline.after(seconds)))
        assert stopped.bound is None or stopped.bound <= best.objective[0]
        assert stopped.objective is None or stopped.objective[0] >= best.objective[0]


def test_leaves_alone_are_minimized_within_the_rules() -> None:
    problem = many_cuts(60)
    tight = tuple(replace(each, limit=Fraction(2, 3)) if each.name == "purity" else each for each in problem.bounds)
    asked = problem.asking((Goal(single(Leaves())),), tight)
    binary = Limits(options={"kernel": "binary"})
    assert NativeBackend().solve(asked).objective == NativeBackend().solve(asked, binary).objective
