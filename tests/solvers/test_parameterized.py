"""Support sets, branching sets, thresholds by bisection: lemmas of Ordyniak and Szeider (2021), and hard families."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner
from perfect_problems import GOALS, perfect_problem

from treeml.backends.contract import Deadline, Limits, Status, Stop
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.parameterized.backend import ParameterizedBackend, _labels
from treeml.backends.parameterized.instance import Instance, read_instance
from treeml.backends.parameterized.search import Trees, by_shapes, shapes
from treeml.backends.parameterized.support import (
    branching_set,
    greedy_support,
    is_support,
    least_support,
    minimal_supports,
    smallest_support,
)
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.registry import get
from treeml.backends.run import run
from treeml.cli.main import treeml
from treeml.problem.problem import Problem
from treeml.problem.tree import Node, Split
from treeml.testing.hitting import hitting_problem
from treeml.testing.problems import binary, bound, errors


def instance_of(problem: Problem) -> Instance:
    return read_instance(problem, _labels(problem))


def lemma_10(goals: str) -> Problem:
    """x chooses between the parity of a1, a2 and that of b1, b2, and follows from them up to the row without any."""
    pairs = ("00", "01", "10", "11")
    rows = [f"{pair}000" for pair in pairs] + [f"00{pair}1" for pair in pairs]
    parity = [0, 1, 1, 0]
    exact = bound(errors([*parity, *parity], 2), "<=", 0, "errors")
    return binary(rows, 2, GOALS[goals], (exact,))


def used(tree: Node) -> set[int]:
    return {tree.test} | used(tree.yes) | used(tree.no) if isinstance(tree, Split) else set()


def test_a_shallowest_tree_may_need_a_column_outside_every_minimal_support_set() -> None:
    problem = lemma_10("depth")
    instance = instance_of(problem)
    assert list(minimal_supports(instance, 5)) == [frozenset({0, 1, 2, 3})]
    within = Trees(instance, frozenset({0, 1, 2, 3}), lambda: None)
    assert within.find(instance.everything, 15, 3) is None
    assert within.find(instance.everything, 15, 4) is not None
    for options in ({"columns": "support"}, {"columns": "all"}):
        answer = ParameterizedBackend().solve(problem, Limits(options=options))
        assert (answer.status, answer.objective) == (Status.OPTIMAL, (3,))
        assert answer.tree is not None
        assert 4 in used(answer.tree)
    assert OracleBackend().solve(problem).objective == (3,)


def hitting(seed: int) -> tuple[list[set[int]], int]:
    make = Random(seed)
    universe = make.randint(3, 7)
    return [set(make.sample(range(universe), make.randint(1, 3))) for _ in range(make.randint(2, 7))], universe


def smallest_hitting(family: list[set[int]], universe: int) -> int:
    return next(
        size
        for size in range(universe + 1)
        if any(all(members & set(chosen) for members in family) for chosen in combinations(range(universe), size))
    )


@pytest.mark.parametrize("name", ["parameterized", "native", "sat"])
def test_hitting_sets_are_trees(name: str) -> None:
    for seed in range(8):
        family, universe = hitting(seed)
        least = smallest_hitting(family, universe)
        for goals, value in (("depth", least), ("leaves", least + 1)):
            planned = plan(hitting_problem(family, universe, GOALS[goals]), get(name))
            assert isinstance(planned, Plan)
            assert run(planned).objective == (value,), (seed, goals)


def random_instance(seed: int) -> Instance:
    return instance_of(perfect_problem(seed))


def test_support_sets_are_those_that_trying_all_finds() -> None:
    for seed in range(60):
        instance = random_instance(seed)
        every = [
            frozenset(chosen)
            for size in range(instance.columns + 1)
            for chosen in combinations(range(instance.columns), size)
            if is_support(instance, frozenset(chosen))
        ]
        minimal = {one for one in every if not any(other < one for other in every)}
        assert set(minimal_supports(instance, instance.columns)) == minimal
        least = min(map(len, every))
        assert len(smallest_support(instance)) == least
        assert least_support(instance) <= least
        assert greedy_support(instance) in minimal


def test_a_branching_set_meets_every_useful_set() -> None:
    """Useful: for every assignment of values there is a group that the assignment leaves empty."""
    checked = 0
    for seed in range(40):
        instance = random_instance(seed)
        for support in minimal_supports(instance, 3):
            branching = branching_set(instance, support)
            others = [column for column in range(instance.columns) if column not in support]
            for size in (1, 2):
                for chosen in combinations(others, size):
                    if is_useful(instance, support, chosen):
                        assert branching & set(chosen)
                        checked += 1
    assert checked > 50


def is_useful(instance: Instance, support: frozenset[int], chosen: tuple[int, ...]) -> bool:
    values = instance.values
    keys = {tuple(row) for row in values[:, sorted(support)].tolist()}
    together = {(tuple(row[c] for c in sorted(support)), tuple(row[c] for c in chosen)) for row in values.tolist()}
    assignments = {part for _, part in together}
    return not any(all((key, part) in together for key in keys) for part in assignments)


def test_shapes_are_counted_by_catalan() -> None:
    assert [len(shapes(tests)) for tests in range(6)] == [1, 1, 2, 5, 14, 42]


def test_shape_by_shape_finds_what_the_joined_search_finds() -> None:
    found = 0
    for seed in range(40):
        instance = random_instance(seed)
        columns = frozenset(range(min(3, instance.columns)))
        for tests in range(4):
            joined = Trees(instance, columns, lambda: None).find(instance.everything, tests, tests)
            single = by_shapes(instance, columns, tests, tests)
            assert (joined is None) == (single is None)
            found += joined is not None
    assert found > 10


def test_a_bound_that_allows_errors_is_refused() -> None:
    problem = perfect_problem(5, GOALS["leaves"])
    loose = problem.asking(problem.goals, (bound(problem.bounds[0].sum, "<=", 1, "errors"),))
    said = [refusal.because for refusal in ParameterizedBackend().refusals(loose)]
    assert any("leaves room" in because for because in said)


def test_without_time_there_is_a_greedy_tree() -> None:
    answer = ParameterizedBackend().solve(perfect_problem(5, GOALS["leaves"]), Limits(Deadline.after(0)))
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.TIME)


def test_a_listener_stops_it() -> None:
    answer = ParameterizedBackend().solve(perfect_problem(5, GOALS["leaves"]), on_progress=lambda moment: False)
    assert answer.stop is Stop.INTERRUPTED


def test_little_memory_forgets_and_still_proves() -> None:
    problem = perfect_problem(5, GOALS["leaves"])
    answer = ParameterizedBackend().solve(problem, Limits(memory=1))
    assert (answer.status, answer.objective) == (Status.OPTIMAL, OracleBackend().solve(problem).objective)


def test_differences_are_counted_pair_by_pair() -> None:
    for seed in range(30):
        instance = random_instance(seed)
        values, label = instance.values, instance.label
        pairs = combinations(range(instance.rows), 2)
        brute = max((int(np.sum(values[i] != values[j])) for i, j in pairs if label[i] != label[j]), default=0)
        assert instance.largest_difference() == brute


def ask(tmp_path: Path, rows: str, *more: str) -> tuple[int, str, str]:
    data, spec = tmp_path / "rows.csv", tmp_path / "spec.tml"
    data.write_text(rows)
    spec.write_text("predict label\nminimize leaves\nrequire errors = 0\n")
    result = CliRunner().invoke(treeml, ["explain", str(spec), "--data", str(data), "--parameters", *more])
    return result.exit_code, result.stdout, result.stderr


def test_parameters_are_reported(tmp_path: Path) -> None:
    """The example of Figure 2 of the paper: four features, one of which separates the classes."""
    walk = (
        "temp,rain,time,day,label\n37,1,10,3,no\n68,0,60,2,yes\n53,1,60,4,no\n53,0,15,2,no\n60,0,60,5,yes\n"
        "51,0,40,3,yes\n71,0,35,5,yes\n"
    )
    code, out, _ = ask(tmp_path, walk, "--json")
    assert code == 0
    told = {row["what"]: row["value"] for row in json.loads(out)}
    assert (told["rows"], told["features"], told["domain size"], told["maximum difference"]) == (7, 4, 6, 4)
    assert told["smallest support set"] == ["temp"]
    code, out, _ = ask(tmp_path, walk)
    assert code == 0
    assert "will finish" in out


def test_rows_that_contradict_each_other_are_named(tmp_path: Path) -> None:
    code, _, err = ask(tmp_path, "x,y,label\n1,0,a\n1,1,b\n1,0,b\n")
    assert code == 1
    assert "D498" in err
    assert "rows 1 and 3 agree on every feature" in err
    assert "at least 1 error" in err


@pytest.mark.slow
def test_many_hitting_sets() -> None:
    for seed in range(100, 400):
        family, universe = hitting(seed)
        least = smallest_hitting(family, universe)
        answer = ParameterizedBackend().solve(hitting_problem(family, universe, GOALS["leaves"]))
        assert answer.objective == (least + 1,)
