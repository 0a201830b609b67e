"""Plans let back-ends with few capabilities solve every problem, and change no answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from treeml.backends.claims import Evidence
from treeml.backends.contract import (
    NO_LIMITS,
    NO_OPTIONS,
    Answer,
    BackendBase,
    Capabilities,
    Deadline,
    Limits,
    OnProgress,
    Progress,
    Refusal,
    Status,
    Stop,
)
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.capabilities import is_direct, lacks
from treeml.backends.planning.plan import Plan, plan, restating_steps
from treeml.backends.registry import get, names_of_single
from treeml.backends.run import run
from treeml.lang.diagnostic import BackendError, RefusedError
from treeml.problem import answers
from treeml.problem.problem import Problem
from treeml.problem.terms import Depth, Largest, Leaves, Sum
from treeml.problem.tree import Leaf, Node, Split
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare
from treeml.system import child
from treeml.testing.coupled import coupled_problem
from treeml.testing.fuzz import FuzzTally, fuzz
from treeml.testing.problems import binary, bound, errors, minimize, random_problem, single

SIMPLE = frozenset({"Predicted", "Leaves", "TestCost", "Loss", "Used"})


class Plain(BackendBase):
    """The oracle with the capabilities of a back-end for one goal and a fixed depth."""

    name = "plain"
    summary = "one goal, a fixed depth"
    can = Capabilities(
        goals=SIMPLE, bounds=SIMPLE | {"Depth", "Support", "Purity", "LeafErrors", "Monotone"}, starts=True
    )

    def __init__(self) -> None:
        self.asked: list[Problem] = []

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        self.asked.append(problem)
        assert len(problem.goals) <= 1
        assert problem.max_depth is not None
        for goal in problem.goals:
            assert goal.sum.kinds() <= self.can.goals
        for each in problem.bounds:
            assert each.sum.kinds() <= self.can.bounds
        return OracleBackend().solve(problem, limits, start, on_progress)


class Claims(Plain):
    """Returns a given answer."""

    name = "claims"

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer

    def solve(self, *arguments: object, **named: object) -> Answer:  # type: ignore[override]
        return self.answer


XOR = ("00", "01", "10", "11")


def xor(*bounds: object, goals: tuple = ()) -> Problem:
    return binary(XOR, 2, goals or minimize(errors([0, 1, 1, 0], 2)), bounds)


def test_plans_change_no_answer() -> None:
    tally = FuzzTally()
    assert list(fuzz(Plain(), iter(range(300)), tally=tally)) == []
    assert tally.taken > 60
    assert tally.refused > 60


def test_goals_are_solved_in_turn() -> None:
    problem = xor(bound(Depth(), "<=", 2), goals=minimize(errors([0, 1, 1, 0], 2), Leaves()))
    backend = Plain()
    planned = plan(problem, backend)
    assert isinstance(planned, Plan)
    assert any("2 goals" in sentence for sentence in planned.explain())
    answer = run(planned)
    assert (answer.status, answer.objective) == (Status.OPTIMAL, (0, 4))
    assert [len(asked.bounds) for asked in backend.asked] == [1, 2]


def test_depth_is_minimized_by_deepening() -> None:
    exact = bound(errors([0, 1, 1, 0], 2), "<=", 0, "no errors")
    backend = Plain()
    planned = plan(xor(exact, goals=minimize(Depth())), backend)
    assert isinstance(planned, Plan)
    answer = run(planned)
    assert (answer.status, answer.objective, answer.bound) == (Status.OPTIMAL, (2,), 2)
    # A greedy tree of depth 2 is known already, so depth 2 is not solved.
    assert [asked.max_depth for asked in backend.asked] == [0, 1]


def test_depth_with_a_price_beside_errors() -> None:
    for price, expected in ((Fraction(1, 10), Fraction(2, 10)), (Fraction(3), Fraction(2))):
        goal = Sum(((Fraction(1), errors([0, 1, 1, 0], 2)), (price, Depth())))
        planned = plan(xor(goals=minimize(goal)), Plain())
        assert isinstance(planned, Plan)
        assert run(planned).objective == (expected,)


def test_deepening_sees_that_no_depth_helps() -> None:
    rows = ("0", "0", "1")
    exact = bound(errors([0, 1, 1], 2), "<=", 0, "no errors")
    backend = Plain()
    planned = plan(binary(rows, 2, minimize(Depth()), (exact,)), backend)
    assert isinstance(planned, Plan)
    answer = run(planned)
    assert (answer.status, answer.conflict) == (Status.INFEASIBLE, ("no errors",))
    assert backend.asked == []


def test_an_unproved_stage_is_not_called_optimal() -> None:
    class Slow(Plain):
        def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):  # type: ignore[no-untyped-def]
            self.asked.append(problem)
            if len(self.asked) == 1:
                below = (Evidence("search bound"),)
                return Answer(Status.FEASIBLE, Stop.TIME, Leaf(0), (Fraction(2),), Fraction(1), evidence=below)
            return OracleBackend().solve(problem, limits, start, on_progress)

    problem = xor(bound(Depth(), "<=", 2), goals=minimize(errors([0, 1, 1, 0], 2), Leaves()))
    planned = plan(problem, Slow())
    assert isinstance(planned, Plan)
    answer = run(planned)
    assert (answer.status, answer.stop, answer.objective, answer.bound) == (Status.FEASIBLE, Stop.TIME, (2, 1), 1)


def test_a_gap_is_spread_over_its_parts() -> None:
    gap = Largest((single(errors([0, 1, 1, 0], 2)), single(Leaves())))
    problem = xor(bound(Depth(), "<=", 2), bound(gap, "<=", 3, "gap"))
    backend = Plain()
    planned = plan(problem, backend)
    assert isinstance(planned, Plan)
    assert run(planned).objective == (1,)
    assert len(backend.asked[0].bounds) == 3


def test_the_largest_is_minimized_by_asking_for_less() -> None:
    one, other = errors([0, 1, 1, 0], 2), errors([1, 1, 0, 0], 2)
    gap = Largest((single(one, Fraction(1, 3)), single(other, Fraction(1, 2), Fraction(-1, 7))))
    problem = xor(bound(Depth(), "<=", 2), goals=minimize(single(gap, 2, 1), Leaves()))
    backend = Plain()
    planned = plan(problem, backend)
    assert isinstance(planned, Plan)
    assert any("by halving" in sentence for sentence in planned.explain())
    truth = OracleBackend().solve(problem)
    answer = run(planned)
    assert (answer.status, answer.objective) == (Status.OPTIMAL, truth.objective)
    assert len(backend.asked) > 2


def test_a_depth_bound_follows_from_the_leaves() -> None:
    planned = plan(xor(bound(Leaves(), "<=", 3)), Plain())
    assert isinstance(planned, Plan)
    assert any("depth is bounded by 2" in sentence for sentence in planned.explain())


def test_refusals_are_sentences_that_name_who_can() -> None:
    gap = Largest((single(errors([0, 1, 1, 0], 2)), single(Leaves())))
    refusals = plan(xor(bound(gap, ">=", 3, "gap")), Plain())
    assert isinstance(refusals, list)
    assert refusals[0].feature == "the requirement gap"
    assert refusals[0].because == "plain cannot bound the largest of several sums"
    assert "oracle" in refusals[0].instead


def test_every_stage_is_shown_to_the_back_end_first() -> None:
    """The back-end itself refuses the bound that holds the first goal at its optimum."""

    class Choosy(Plain):
        def refusals(self, problem: Problem, options: Mapping[str, Any] = NO_OPTIONS) -> Iterator[Refusal]:
            if any("Predicted" in each.sum.kinds() for each in problem.bounds):
                yield Refusal("a bound on errors", "choosy only minimizes them", "minimize them")

    goal = errors([0, 1, 1, 0], 2)
    assert isinstance(plan(xor(bound(Depth(), "<=", 2), goals=minimize(goal)), Choosy()), Plan)
    refusals = plan(xor(bound(Depth(), "<=", 2), goals=minimize(goal, Leaves())), Choosy())
    assert isinstance(refusals, list)
    assert [refusal.because for refusal in refusals] == ["choosy only minimizes them"]


def test_a_problem_of_any_depth_is_refused_with_what_to_write() -> None:
    rows = [format(number, "05b") for number in range(32)]
    many = [row + "".join("1" if number == place else "0" for place in range(32)) for number, row in enumerate(rows)]
    refusals = plan(binary(many, 2, minimize(errors([0, 1] * 16, 2))), Plain())
    assert isinstance(refusals, list)
    assert refusals[0].instead.startswith("add `require depth <= 4`")


def test_a_start_reaches_a_reduced_problem() -> None:
    rows = ("000", "011", "101", "111", "000")
    problem = binary(rows, 2, minimize(errors([0, 1, 1, 0, 0], 2)), (bound(Depth(), "<=", 2),))
    start = Split(0, Split(1, Leaf(0), Leaf(1)), Split(2, Leaf(1), Leaf(0)))

    class Starts(Plain):
        def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):  # type: ignore[no-untyped-def]
            return OracleBackend().solve(problem, Limits(Deadline(0.0)), start, on_progress)

    planned = plan(problem, Starts())
    assert isinstance(planned, Plan)
    answer = run(planned, start=start)
    assert (answer.status, answer.objective) == (Status.FEASIBLE, (0,))


def test_progress_refers_to_the_original_problem() -> None:
    seen: list[Progress] = []
    problem = binary(("000", "011", "101", "111", "000"), 2, minimize(errors([0, 1, 1, 0, 0], 2), Leaves()))
    planned = plan(problem, Plain())
    assert isinstance(planned, Plan)
    run(planned, on_progress=seen.append)
    assert seen
    assert all(moment.objective is not None and len(moment.objective) <= 2 for moment in seen)


BEST = Split(0, Split(1, Leaf(0), Leaf(1)), Split(1, Leaf(1), Leaf(0)))
ZERO, ONE = Fraction(0), Fraction(1)
SEARCHED = (Evidence("search"),)
TWICE = Split(0, Split(0, Leaf(0), Leaf(1)), Leaf(0))


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("B510", Answer(Status.OPTIMAL, Stop.PROVED, Split(9, Leaf(0), Leaf(1)), (ZERO,), ZERO, evidence=SEARCHED)),
        ("B510", Answer(Status.OPTIMAL, Stop.PROVED, Leaf(7), (ZERO,), ZERO, evidence=SEARCHED)),
        (
            "B510",
            Answer(
                Status.OPTIMAL,
                Stop.PROVED,
                TWICE,
                (ZERO,),
                ZERO,
                evidence=SEARCHED,
            ),
        ),
        ("B511", Answer(Status.OPTIMAL, Stop.PROVED, evidence=SEARCHED)),
        ("B511", Answer(Status.OPTIMAL, Stop.TIME, BEST, (ZERO,), ZERO, evidence=SEARCHED)),
        ("B511", Answer(Status.UNKNOWN, Stop.TIME, BEST)),
        ("B512", Answer(Status.FEASIBLE, Stop.TIME, Leaf(0), (Fraction(2),))),
        ("B513", Answer(Status.FEASIBLE, Stop.TIME, BEST, (ONE,))),
        ("B514", Answer(Status.FEASIBLE, Stop.TIME, BEST, (ZERO,), ONE, evidence=SEARCHED)),
        ("B514", Answer(Status.OPTIMAL, Stop.PROVED, BEST, (ZERO,), -ONE, evidence=SEARCHED)),
    ],
)
def test_wrong_claims_are_failures(code: str, answer: Answer) -> None:
    problem = xor(bound(Depth(), "<=", 2), bound(Leaves(), ">=", 2, "leaves"))
    planned = Plan(problem, Claims(answer), ())
    with pytest.raises(BackendError) as failed:
        run(planned)
    assert failed.value.diagnostics[0].code == code
    assert failed.value.exit_code == 5


def test_a_crash_is_a_failure_of_the_back_end() -> None:
    class Crashes(Plain):
        def solve(self, *arguments: object, **named: object) -> Answer:  # type: ignore[override]
            raise ZeroDivisionError("by zero")

    with pytest.raises(BackendError) as failed:
        run(Plan(xor(), Crashes(), ()))
    assert failed.value.diagnostics[0].code == "B515"


def test_an_interrupt_that_escapes_leaves_the_start() -> None:
    class Interrupted(Plain):
        def solve(self, *arguments: object, **named: object) -> Answer:  # type: ignore[override]
            raise KeyboardInterrupt

    planned = Plan(xor(), Interrupted(), ())
    assert run(planned).status is Status.UNKNOWN
    answer = run(planned, start=BEST)
    assert (answer.status, answer.stop, answer.objective) == (Status.FEASIBLE, Stop.INTERRUPTED, (0,))


def test_an_interrupt_during_the_import_of_a_solver_is_not_a_failure() -> None:
    class Imports(Plain):
        def solve(self, *arguments: object, **named: object) -> Answer:  # type: ignore[override]
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt:
                raise ImportError("initialization failed")  # noqa: B904

    class Lacks(Plain):
        def solve(self, *arguments: object, **named: object) -> Answer:  # type: ignore[override]
            raise ImportError("initialization failed")

    answer = run(Plan(xor(), Imports(), ()), start=BEST)
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.INTERRUPTED)
    assert run(Plan(xor(), Lacks(), ()), Limits(deadline=Deadline.after(0))).status is Status.UNKNOWN
    with pytest.raises(BackendError):
        run(Plan(xor(), Lacks(), ()))


@pytest.mark.parametrize(
    ("options", "words"),
    [({"limt": 3}, "did you mean `limit`?"), ({"limit": "much"}, "a whole number"), ({"limit": 0}, "at least 1")],
)
def test_options_are_checked(options: dict[str, object], words: str) -> None:
    with pytest.raises(RefusedError) as refused:
        run(Plan(xor(), OracleBackend(), ()), Limits(options=options))
    mistake = refused.value.diagnostics[0]
    assert mistake.code == "B503"
    assert words in " ".join((*mistake.notes, *mistake.helps))


def test_same_problem_twice_from_one_seed() -> None:
    one, other = (OracleBackend().solve(random_problem(Random(11))) for _ in range(2))
    assert (one.status, one.objective, one.tree) == (other.status, other.objective, other.tree)


def test_what_is_direct_lacks_nothing_and_needs_no_step() -> None:
    seen = set()
    for seed in range(1500):
        make = coupled_problem if seed % 3 == 0 else random_problem
        problem = make(Random(seed))
        for name in names_of_single():
            backend = get(name)
            if is_direct(problem, backend.can):
                seen.add(name)
                assert not list(lacks(problem, backend))
                assert not list(restating_steps(problem, backend.can))
    assert len(seen) >= 5


def test_who_takes_a_problem_instead_is_not_found_out_by_making_all_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).random((200, 2))
    dataset, request = prepare("predict y minimize errors require depth <= 2", rows, np.arange(200) % 2)
    problem = lower(dataset, request).form(numeric=True).problem
    monkeypatch.setattr(answers, "MOST_ANSWERS", 0)
    refusals = plan(problem, get("sat"))
    assert isinstance(refusals, list)
    assert "native" in refusals[0].instead
    assert "bits" not in vars(problem)


def test_a_race_without_time_starts_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "Child", None)  # starting one would fail
    problem = binary(["0", "1"], 2, minimize(errors([0, 1], 2)), (bound(Depth(), "<=", 1),))
    answer = get("race").solve(problem, Limits(Deadline.after(-1), options={"backends": ("native", "cpsat")}))
    assert (answer.status, answer.stop) == (Status.UNKNOWN, Stop.TIME)
    assert answer.notes == ("the time was over before these were started: native, cpsat",)
