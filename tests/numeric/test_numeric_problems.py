"""Problems solved by the native back-end: both kernels, the oracle, missing values, and the text of the plan."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

import treeml as tml
from treeml.backends.contract import NO_LIMITS, Limits, Status
from treeml.backends.native.backend import NativeBackend
from treeml.backends.native.coded_columns import columns_of
from treeml.backends.native.kernel_choice import can_take, choose_kernel, prefer_numeric
from treeml.backends.native.numeric_kernel import ThresholdSolver
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.lang.diagnostic import RefusedError
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.problem import Feature, Goal, Problem
from treeml.problem.problem import Test as Asked
from treeml.problem.terms import Depth, Loss
from treeml.problem.tree import Leaf, Split
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare
from treeml.testing.problems import Sizes, bound, errors, from_columns, random_problem, single

KERNELS = ("binary", "numeric")
KINDS = ("Predicted", "Leaves", "Support", "Loss", "TestCost")


def asked(kernel: str, **options: object) -> Limits:
    return replace(NO_LIMITS, options={"kernel": kernel, **options})


def random_problems(first: int, count: int) -> list[Problem]:
    problems = []
    for seed in range(first, first + count):
        problem = random_problem(Random(seed), Sizes(rows=9, columns=3, classes=3, depth=3, bounds=2), KINDS)
        if can_take(problem) is None and not list(NativeBackend().refusals(problem, {"kernel": "numeric"})):
            problems.append(problem)
    return problems


@pytest.mark.parametrize("part", range(4))
def test_equal_to_the_oracle(part: int) -> None:
    problems = random_problems(part * 200, 200)
    assert len(problems) > 50
    for problem in problems:
        wanted = OracleBackend().solve(problem)
        found = NativeBackend().solve(problem, asked("numeric"))
        assert found.status is wanted.status
        if found.tree is None:
            continue
        assert evaluate_goals(problem, found.tree) == found.objective
        assert found.objective is not None
        assert wanted.objective is not None
        for one, other in zip(found.objective, wanted.objective, strict=True):
            assert abs(one - other) <= found.tolerance


def ordered(seed: int, rows: int = 60, missing: float = 0.2) -> Problem:
    random = Random(seed)
    columns = [
        ("ordered", [-1 if random.random() < missing else random.randint(0, 25) for _ in range(rows)]),
        ("ordered", [random.randint(0, 40) for _ in range(rows)]),
        ("levels", [random.randint(-1, 3) for _ in range(rows)]),
        ("binary", [random.randint(0, 1) for _ in range(rows)]),
    ]
    actual = [random.randrange(3) for _ in range(rows)]
    return from_columns(columns, 3, (Goal(single(errors(actual, 3))),), (bound(Depth(), "<=", 2, "depth"),))


@pytest.mark.parametrize("seed", range(8))
def test_both_kernels_agree_on_missing_values(seed: int) -> None:
    problem = ordered(seed)
    numeric = NativeBackend().solve(problem, asked("numeric"))
    binary = NativeBackend().solve(problem, asked("binary"))
    assert numeric.status is binary.status is Status.OPTIMAL
    assert numeric.objective == binary.objective
    assert numeric.tree is not None
    assert evaluate_goals(problem, numeric.tree) == numeric.objective


def test_missing_rows_follow_the_better_side() -> None:
    """Thresholds with the missing rows on either side, and the test for missing values."""
    for actual, wanted in (
        ((0, 0, 1, 1, 0), Asked(0, "at most", (1,), True)),
        ((0, 0, 1, 1, 1), Asked(0, "at most", (1,), False)),
        ((1, 1, 1, 1, 0), Asked(0, "missing")),
    ):
        problem = from_columns(
            [("ordered", [0, 1, 2, 3, -1])], 2, (Goal(single(errors(actual, 2))),), (bound(Depth(), "<=", 1, "depth"),)
        )
        answer = NativeBackend().solve(problem, asked("numeric"))
        assert isinstance(answer.tree, Split)
        test = problem.tests[answer.tree.test]
        assert (test.kind, test.values, test.missing_yes) == (wanted.kind, wanted.values, wanted.missing_yes)
        assert answer.objective == (0,)


def test_start_over_tests() -> None:
    problem = ordered(3)
    cuts = [number for number, test in enumerate(problem.tests) if test.kind in ("at most", "missing", "level")]
    for number in cuts[::7]:
        start = Split(number, Leaf(0), Leaf(1))
        value = evaluate_goals(problem, start)[0]
        solver = ThresholdSolver(problem, cost=problem.goals[0].sum.parts[0][1].cost)
        found = solver.solve(
            depth=2, seconds=0, start=([number, -1, -1], [1, -1, -1], [2, -1, -1]), options={"greedy": 0}
        )
        assert found.value is not None
        assert found.value <= value


def test_squared_error_keeps_its_tolerance() -> None:
    random = Random(5)
    codes = np.array([random.randint(0, 500) for _ in range(300)], dtype=np.int32)
    targets = np.array([[3 * code + random.randint(-200, 200)] for code in codes.tolist()], dtype=np.int64)
    feature = Feature("x", "ordered", 501, codes, 0, 500)
    tests = tuple(Asked(0, "at most", (cut,)) for cut in range(500))
    loss = Loss("squared", targets, np.ones(300, dtype=np.int64))
    problem = Problem(
        (feature,), tests, np.ones(300, dtype=np.int64), 0, (Goal(single(loss)),), (bound(Depth(), "<=", 2, "depth"),)
    )
    numeric = NativeBackend().solve(problem, asked("numeric"))
    binary = NativeBackend().solve(problem, asked("binary"))
    assert numeric.objective is not None
    assert binary.objective is not None
    assert abs(numeric.objective[0] - binary.objective[0]) <= numeric.tolerance + binary.tolerance
    assert numeric.tolerance < numeric.objective[0] / 10**9


def wide(rows: int = 400) -> Problem:
    """Two columns with many distinct values, without bits."""
    random = Random(1)
    features, tests = [], []
    for number in range(2):
        codes = np.array(random.sample(range(rows), rows), dtype=np.int32)
        features.append(Feature(f"x{number}", "ordered", rows, codes, len(tests), rows - 1))
        tests += [Asked(number, "at most", (cut,)) for cut in range(rows - 1)]
    actual = [int(code > 150) for code in features[0].codes.tolist()]
    goal = Goal(single(errors(actual, 2)))
    count = np.ones(rows, dtype=np.int64)
    return Problem(tuple(features), tuple(tests), count, 2, (goal,), (bound(Depth(), "<=", 2, "depth"),))


def test_thresholds_are_not_materialized() -> None:
    problem = wide()
    answer = NativeBackend().solve(problem)
    assert answer.objective == (0,)
    assert "bits" not in vars(problem)


def test_the_plan_says_which_kernel_and_why() -> None:
    outcome = plan(wide(), NativeBackend())
    assert isinstance(outcome, Plan)
    assert outcome.explain()[-1] == (
        "the numeric kernel runs: it takes 2 columns as they are, and their 798 cuts need no tests"
    )
    forced = plan(wide(), NativeBackend(), {"kernel": "binary"})
    assert isinstance(forced, Plan)
    assert forced.explain()[-1] == "the binary kernel runs, as asked"
    assert choose_kernel(ordered(0), {})[0] == "binary"
    assert prefer_numeric(ordered(0))[1].startswith("the binary kernel runs")


def test_options_of_the_other_kernel() -> None:
    assert choose_kernel(wide(), {"cache": 1}) == ("binary", "the binary kernel runs: `cache` is an option of it")
    assert choose_kernel(wide(), {"slack": 10})[0] == "numeric"
    refusals = list(NativeBackend().refusals(wide(), {"kernel": "numeric", "cache": 1}))
    assert any("`cache` is an option of the binary kernel" in refusal.because for refusal in refusals)
    with pytest.raises(RefusedError):
        NativeBackend().solve(wide(), asked("numeric", cache=1))


def test_what_the_numeric_kernel_cannot_take() -> None:
    far = np.zeros((400, 1), dtype=np.int64)
    far[0] = 2**50
    problem = wide().asking((Goal(single(Loss("absolute", far, np.full(400, 2**40)))),), ())
    assert can_take(problem) == "the sums of its absolute loss do not fit in 64 bits"
    assert choose_kernel(problem, {})[0] == "binary"
    with pytest.raises(RefusedError):
        NativeBackend().solve(problem, asked("numeric"))


def test_columns_of_mixed_features() -> None:
    problem = ordered(0)
    # Two for the column with missing values, one for the other, one for each level and its missing rows, one binary.
    assert len(columns_of(problem)) == 2 + 1 + problem.features[2].tests + 1


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("minimize absolute_loss", "numeric"),
        ("minimize quantile_loss(0.8)", "numeric"),
        ("minimize squared_loss", "binary"),
        ("column y : category minimize errors require leaves <= 3", "numeric"),
        ("column y : category minimize errors", "binary"),
        ("column y : category cost test x0 = 1 minimize errors + test_cost", "numeric"),
    ],
)
def test_columns_with_few_cuts_go_to_the_kernel_that_counts_pairs_if_it_can(text: str, kernel: str) -> None:
    random = np.random.default_rng(1)
    rows = random.integers(0, 6, (60, 3))
    target = rows[:, 0] // 2 + random.integers(0, 2, 60)
    data = {f"x{place}": rows[:, place].tolist() for place in range(3)} | {"y": target.tolist()}
    model = tml.parse(f"predict y {text} require depth <= 2")
    dataset, request = prepare(model, data)
    problem = lower(dataset, request).form(numeric=True).problem
    assert choose_kernel(problem, {})[0] == kernel
    kernels = (f"{model} solve with native(kernel = {each})" for each in ("binary", "numeric"))
    assert [tml.parse(each).solve(data).objective for each in kernels] == [model.solve(data).objective] * 2


@pytest.mark.parametrize(
    ("limits", "levels", "kernel"),
    [
        ("leaves <= 4", 16, "numeric"),
        ("leaves <= 8", 16, "numeric"),
        ("leaves <= 3", 16, "binary"),
        ("leaves <= 9", 16, "binary"),
        ("leaves <= 4 require depth <= 2", 16, "binary"),  # the limit does not matter
        ("leaves <= 4 require depth <= 3", 16, "numeric"),
        ("leaves <= 4", 8, "binary"),
    ],
)
def test_few_leaves_over_columns_with_many_cuts_go_to_the_kernel_that_divides_them(
    limits: str, levels: int, kernel: str
) -> None:
    random = np.random.default_rng(3)
    data = {f"x{place}": random.integers(0, levels, 1000).tolist() for place in range(3)}
    data["y"] = ((np.array(data["x0"]) > 4) ^ (random.random(1000) < 0.2)).astype(int).tolist()
    dataset, request = prepare(f"predict y minimize errors require {limits}", data)
    assert choose_kernel(lower(dataset, request).form(numeric=True).problem, {})[0] == kernel
    if "3" in limits:
        texts = [f"predict y minimize errors require {limits} solve with native(kernel = {each})" for each in KERNELS]
        first, second = (tml.parse(text).solve(data) for text in texts)
        assert first.objective == second.objective == tml.parse(texts[0].split(" solve")[0]).solve(data).objective


def test_more_tests_than_pairs_are_counted_of_go_to_the_numeric_kernel() -> None:
    random = np.random.default_rng(1)
    ordered_columns = {f"x{place}": random.permutation(1000).tolist() for place in range(8)}
    bits = {f"b{place}": random.integers(0, 2, 1000).tolist() for place in range(300)}
    data = {**ordered_columns, **bits, "y": random.integers(0, 2, 1000).tolist()}
    for columns, kernel in ((data, "numeric"), ({name: each for name, each in data.items() if name != "x7"}, "binary")):
        dataset, request = prepare("predict y minimize errors require depth <= 2", columns)
        assert choose_kernel(lower(dataset, request).form(numeric=True).problem, {})[0] == kernel
