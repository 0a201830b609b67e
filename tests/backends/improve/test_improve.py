"""Improvement end to end: never worse, local optima, every goal, every kind of inner solver, limits and checkpoints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep_worlds import chain, labels_of, model, perfect, random_rows, write_csv

import treeml as tml
from treeml.backends import registry
from treeml.backends.contract import Answer, Deadline, Limits, Progress, Status, Stop
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.lang.diagnostic import BackendError, Diagnostic
from treeml.lang.spec import Method
from treeml.problem.evaluate import Routed, evaluate_goals
from treeml.problem.problem import Problem
from treeml.problem.terms import Depth, Leaves
from treeml.problem.tree import Leaf, Node
from treeml.solving.pipeline import prepare
from treeml.solving.verify import verify
from treeml.system.interrupt import press
from treeml.testing.problems import binary, bound, errors, minimize, single

SEEDS = range(8)


def improved(problem: Problem, start: Node | None = None, limits: Limits | None = None, **options: Any) -> Answer:
    made = plan(problem, registry.get("improve"), options)
    assert isinstance(made, Plan), made
    base = limits or Limits()
    return run(made, Limits(base.deadline, threads=base.threads, options=options), start)


def optimum(problem: Problem) -> int:
    made = plan(problem, OracleBackend())
    assert isinstance(made, Plan)
    answer = run(made)
    assert answer.objective is not None
    return int(answer.objective[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_depth_falls_to_the_optimum_of_small_problems_and_rows_keep_their_classes(seed: int) -> None:
    problem = perfect(seed, rows=16, tests=5)
    start = chain(problem, labels_of(problem))
    answer = improved(problem, start)
    assert answer.status is Status.LOCAL
    assert answer.stop is Stop.FINISHED
    assert answer.tree is not None
    assert answer.objective == (optimum(problem),)  # the whole tree is one of its own subtrees, and in reach
    assert Routed(problem, answer.tree).labels.tolist() == labels_of(problem)
    assert answer.statistics["local_instances"] >= answer.statistics["rounds"]


@pytest.mark.parametrize("options", [
    {"depth": 2}, {"depth": 3, "rows": 20}, {"features": "tree", "rows": 10}, {"features": "support", "rows": 12},
    {"features": "all", "rows": 8}, {"features": "tree"}, {"features": "support"}, {"patience": 0.001},
])  # fmt: skip
@pytest.mark.parametrize("seed", SEEDS)
def test_a_smaller_reach_never_makes_it_worse(seed: int, options: dict[str, Any]) -> None:
    problem = perfect(seed)
    start = chain(problem, labels_of(problem))
    answer = improved(problem, start, **options)
    assert answer.status is Status.LOCAL
    assert answer.objective is not None
    assert answer.objective <= evaluate_goals(problem, start)
    assert answer.tree is not None
    assert Routed(problem, answer.tree).labels.tolist() == labels_of(problem)


@pytest.mark.parametrize("inner", ["sat", "cpsat", "maxsat", "mip", "oracle"])
def test_other_solvers_do_the_subtrees(inner: str) -> None:
    problem = perfect(1, rows=18, tests=5)
    start = chain(problem, labels_of(problem))
    answer = improved(problem, start, backends=(Method(inner),), depth=4, rows=12, patience=20.0)
    assert answer.status is Status.LOCAL
    assert answer.objective is not None
    assert answer.objective < evaluate_goals(problem, start)
    assert answer.tree is not None
    assert Routed(problem, answer.tree).labels.tolist() == labels_of(problem)


def goal_worlds() -> dict[str, Problem]:
    texts, actual = random_rows(4, rows=30, tests=6)
    wrong = errors(actual, 2)
    limit = (bound(Depth(), "<=", 5, "depth"),)
    both = single(wrong)
    priced = type(both)((*both.parts, *single(Leaves(), 2).parts))
    return {
        "errors": binary(texts, 2, minimize(wrong), limit),
        "errors then leaves": binary(texts, 2, minimize(wrong, Leaves()), limit),
        "errors and leaves": binary(texts, 2, minimize(priced), limit),
        "leaves": binary(texts, 2, minimize(Leaves()), (*limit, bound(wrong, "<=", 0, "errors"))),
        "depth then leaves": binary(texts, 2, minimize(Depth(), Leaves()), (bound(wrong, "<=", 0, "errors"),)),
    }


@pytest.mark.parametrize("name", goal_worlds())
def test_every_goal_improves_and_ends_where_no_subtree_does(name: str) -> None:
    problem = goal_worlds()[name]
    actual = random_rows(4, rows=30, tests=6)[1]
    start = chain(problem, actual) if "errors" not in name or name.startswith("depth") else Leaf(0)
    if name == "leaves":
        problem = problem.asking(problem.goals, problem.bounds[1:])
    answer = improved(problem, start, depth=3)
    assert answer.status is Status.LOCAL
    assert answer.objective is not None
    assert answer.objective < evaluate_goals(problem, start)
    assert answer.tree is not None
    again = improved(problem, answer.tree, depth=3)
    assert again.objective == answer.objective
    assert again.statistics["rounds"] == 0


def test_a_goal_on_the_shape_keeps_all_predictions() -> None:
    texts, actual = random_rows(6, rows=30, tests=6)
    problem = binary(texts, 2, minimize(Leaves()))
    start = chain(problem, actual)
    answer = improved(problem, start)
    assert answer.tree is not None
    assert Routed(problem, answer.tree).labels.tolist() == actual
    assert Leaves().value(Routed(problem, answer.tree)) <= Leaves().value(Routed(problem, start))


def test_support_is_kept_while_depth_falls() -> None:
    problem = perfect(3)
    start = chain(problem, labels_of(problem))
    leaves = int(Leaves().value(Routed(problem, start)))
    tight = problem.asking(problem.goals, (*problem.bounds, bound(Leaves(), "<=", leaves, "leaves")))
    answer = improved(tight, start)
    assert answer.tree is not None
    assert Leaves().value(Routed(problem, answer.tree)) <= leaves


def test_rounds_end_it() -> None:
    problem = perfect(2)
    start = chain(problem, labels_of(problem))
    answer = improved(problem, start, rounds=1)
    assert answer.status is Status.FEASIBLE
    assert answer.stop is Stop.FINISHED
    assert answer.statistics["rounds"] == 1
    assert any("1 rounds" in note for note in answer.notes)


def test_no_time_returns_the_start() -> None:
    problem = perfect(2)
    start = chain(problem, labels_of(problem))
    answer = improved(problem, start, Limits(Deadline(0.0)))
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.TIME)
    assert answer.objective == evaluate_goals(problem, start)


def test_the_caller_can_stop_it() -> None:
    problem = perfect(2)
    seen: list[Progress] = []

    def stop(moment: Progress) -> bool:
        seen.append(moment)
        return len(seen) < 2

    made = plan(problem, registry.get("improve"))
    assert isinstance(made, Plan)
    answer = run(made, start=chain(problem, labels_of(problem)), on_progress=stop)
    assert answer.stop is Stop.INTERRUPTED
    assert answer.objective == seen[-1].objective
    assert len(seen) == 2


def test_an_interrupt_keeps_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    from treeml.backends.improve.inner import NativeInner

    problem = perfect(2)
    start = chain(problem, labels_of(problem))
    calls = []
    whole = NativeInner.shallower

    def twice(self: NativeInner, *arguments: Any) -> Any:
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return whole(self, *arguments)

    monkeypatch.setattr(NativeInner, "shallower", twice)
    answer = improved(problem, start)
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.INTERRUPTED)
    assert answer.objective is not None
    assert answer.objective <= evaluate_goals(problem, start)


@pytest.mark.parametrize("step", ["put", "node_of", "evaluate_sum", "checkpoint.write"])
def test_ctrl_c_in_the_middle_of_a_replacement_loses_nothing(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer and the checkpoint are the same sound tree, wherever Ctrl-C comes."""
    from treeml.backends.improve import checkpoint, rounds
    from treeml.backends.improve.depth import Shallower

    monkeypatch.setattr(rounds, "SAVE_EVERY", 0.0)
    problem = perfect(2)
    start = chain(problem, labels_of(problem))
    owner, _, name = step.rpartition(".")
    place: Any = checkpoint if owner else rounds
    whole = getattr(place, name)
    begun = [False]

    def pressed(*arguments: Any) -> Any:
        done = whole(*arguments)
        if begun[0]:
            begun[0] = False
            press()
        return done

    def next_tree(self: Any, *arguments: Any) -> Any:
        found = search(self, *arguments)
        begun[0] = found is not None
        return found

    search = Shallower.next
    monkeypatch.setattr(place, name, pressed)
    monkeypatch.setattr(Shallower, "next", next_tree)
    path = tmp_path / "saved.json"
    answer = improved(problem, start, checkpoint=str(path))
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.INTERRUPTED)
    assert answer.tree is not None
    assert answer.objective == evaluate_goals(problem, answer.tree)
    assert answer.objective < evaluate_goals(problem, start)
    assert json.loads(path.read_text())["depth"] == answer.objective[0]


@pytest.mark.parametrize("error", [MemoryError("no room"), BackendError(Diagnostic("B515", "sat failed"))])
def test_a_failing_inner_solver_is_skipped_and_reported(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = perfect(1, rows=18, tests=5)
    start = chain(problem, labels_of(problem))

    def fails(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr("treeml.backends.solvers.sat.SatBackend.solve", fails)
    answer = improved(problem, start, backends=(Method("sat"),), depth=4, rows=12)
    assert answer.tree is not None
    assert answer.objective == evaluate_goals(problem, start)
    assert any("failed" in note for note in answer.notes)


def test_too_little_memory_for_the_native_search_is_survived() -> None:
    problem = perfect(1)
    start = chain(problem, labels_of(problem))
    made = plan(problem, registry.get("improve"))
    assert isinstance(made, Plan)
    answer = run(made, Limits(memory=1000), start)
    assert answer.objective == evaluate_goals(problem, start)


def test_a_run_resumes_from_its_checkpoint_and_says_so(tmp_path: Path) -> None:
    problem = perfect(5)
    start = chain(problem, labels_of(problem))
    path = tmp_path / "deep.json"
    first = improved(problem, start, rounds=2, checkpoint=str(path))
    saved = json.loads(path.read_text())
    assert saved["rounds"] == 2
    second = improved(problem, start, rounds=2, checkpoint=str(path))
    assert second.objective == first.objective
    third = improved(problem, start, checkpoint=str(path))
    assert third.status is Status.LOCAL
    assert third.objective == improved(problem, start).objective
    assert any("after 2 rounds" in note for note in third.notes)
    # All is settled: nothing is tried again.
    fourth = improved(problem, start, checkpoint=str(path))
    assert fourth.statistics["local_instances"] < third.statistics["local_instances"]
    assert fourth.objective == third.objective


@pytest.mark.parametrize("text", [
    "", "[]", "{}", '{"treeml_checkpoint": 2}', '{"treeml_checkpoint": 1, "problem": "other"}',
])  # fmt: skip
def test_a_checkpoint_of_another_problem_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text(text)
    with pytest.raises(tml.DataError, match="D482"):
        improved(perfect(5), None, checkpoint=str(path))
    assert path.read_text() == text


def test_a_checkpoint_with_a_damaged_tree_is_refused(tmp_path: Path) -> None:
    problem = perfect(5)
    path = tmp_path / "deep.json"
    improved(problem, chain(problem, labels_of(problem)), rounds=1, checkpoint=str(path))
    saved = json.loads(path.read_text())
    saved["tree"]["yes"][0] = 0
    path.write_text(json.dumps(saved))
    with pytest.raises(tml.DataError, match=r"D482.*damaged"):
        improved(problem, None, checkpoint=str(path))


def test_a_checkpoint_in_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tml.RefusedError, match=r"B503.*\n.*in a folder that exists"):
        improved(perfect(5), None, checkpoint=str(tmp_path / "nowhere" / "deep.json"))


def test_the_statement_is_the_back_end_around_those_of_solve_with(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "bits.csv", 7)
    spec = ("minimize depth", "require errors = 0", "start from cart(criterion = entropy, prune = none)")
    result = model(*spec, "improve by subtrees(depth = 6, rows = 100) within 600 s", "solve with native").solve(path)
    assert result.backend == "improve"
    assert result.status is tml.Status.LOCAL
    assert result.verified
    assert result.measures["errors"] == 0
    assert any("made shallower by native" in sentence for sentence in result.plan)
    grown = model(*spec).solve(path, backend="cart")
    assert result.measures["depth"] <= grown.measures["depth"]
    assert "made shallower" in model(*spec, "improve by subtrees").explain(path)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio", "twoing"])
@pytest.mark.parametrize("prune", ["none", "goal", "complexity", "pessimistic"])
def test_starts_of_every_kind_are_never_made_worse(criterion: str, prune: str, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "bits.csv", 9, rows=60)
    start = f"start from cart(criterion = {criterion}, prune = {prune})"
    before = model("minimize errors", start).solve(
        path, backend="cart", options={"criterion": criterion, "prune": prune}
    )
    after = model("minimize errors", start, "improve by subtrees(depth = 2) within 600 s").solve(path)
    assert after.objective <= before.objective


def test_folds_grow_their_own_starts(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "bits.csv", 9, rows=60)
    spec = model(
        "minimize errors", "require depth <= 4", "start from cart(depth = 2)", "improve by subtrees(depth = 2)"
    )
    result = spec.validate("folds", 3, seed=1).solve(path)
    assert result.validation is not None
    assert [part.status for part in result.validation.parts] == ["local"] * 3


def test_a_regression_tree_is_mended(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    values = random.integers(0, 10, (60, 3))
    lines = ["a,b,c,label", *(f"{a},{b},{c},{a * b - c + 0.5}" for a, b, c in values)]
    path = tmp_path / "numbers.csv"
    path.write_text("\n".join(lines) + "\n")
    spec = ("minimize squared_loss", "require depth <= 3", "start from cart(depth = 2)")
    start = model(*spec).solve(path, backend="cart", options={"depth": 2})
    result = model(*spec, "improve by subtrees(depth = 2) within 600 s").solve(path)
    assert result.verified
    assert result.objective < start.objective


def test_contradictory_rows_are_reported_before_the_search(tmp_path: Path) -> None:
    path = tmp_path / "same.csv"
    path.write_text("x,y,label\n0,1,a\n0,1,b\n1,0,a\n")
    result = model("minimize depth", "require errors = 0", "improve by subtrees").solve(path)
    assert result.status is tml.Status.INFEASIBLE
    assert result.because is not None


def test_an_option_without_effect_is_refused() -> None:
    depth, other = perfect(1), goal_worlds()["errors"]
    for problem, options in ((depth, {"limits": "d60"}), (other, {"limits": "d60"}), (other, {"features": "tree"})):
        outcome = plan(problem, registry.get("improve"), options)
        assert not isinstance(outcome, Plan)
        assert [refusal.feature for refusal in outcome] == [f"the option {next(iter(options))}"]
    assert isinstance(plan(depth, registry.get("improve"), {"limits": "d60", "backends": (Method("sat"),)}), Plan)


def test_the_first_solver_named_does_the_subtrees(monkeypatch: pytest.MonkeyPatch) -> None:
    """`sat, native`: what sat does not find, native may; the native search for shallow trees is not asked."""
    from treeml.backends.improve.inner import NativeInner

    monkeypatch.delattr(NativeInner, "shallower")
    problem = perfect(1, rows=18, tests=5)
    start = chain(problem, labels_of(problem))
    answer = improved(problem, start, backends=(Method("sat"), Method("native")), depth=4, rows=12)
    assert answer.objective is not None
    assert answer.objective < evaluate_goals(problem, start)


def test_a_goal_that_is_not_a_sum_over_leaves_is_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "bits.csv", 9)
    with pytest.raises(tml.RefusedError, match=r"subtrees can be improved separately only if"):
        model("maximize purity", "improve by subtrees").solve(path)


def test_verify_refuses_a_tree_that_is_worse_than_its_start(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "bits.csv", 9)
    spec = model("minimize depth", "require errors <= 20")
    dataset, _ = prepare(spec, path)
    good = model("minimize errors", "require depth <= 5").solve(path, backend="cart").tree
    bad = model("minimize errors", "require depth <= 1").solve(path, backend="cart").tree
    assert good is not None
    assert bad is not None
    assert verify(good, dataset, before=good).verified
    (errors_rose,) = verify(bad, dataset, before=good).mismatches
    assert "its start made" in errors_rose
    (depth_rose,) = verify(good, dataset, before=bad).mismatches
    assert "`minimize depth` is 5, and was 1 before" in depth_rose
