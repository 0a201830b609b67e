"""A back-end's name -> one test per case, and one per promise of the contract.

    from treeml.testing import Conformance

    class TestMine(Conformance):
        backend = "mine"

Nothing is skipped: if there is no plan for a case, the test checks that the refusal gives a reason. A back-end of this
project must also solve and refuse exactly what `matrix.json` says, so that it cannot pass by refusing.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import pytest

from treeml.backends import registry
from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Backend, Deadline, Limits, OnProgress, Option, Progress, Status, Stop
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.lang.diagnostic import RefusedError
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.problem import Problem
from treeml.problem.terms import Depth, Leaves, Support
from treeml.problem.tree import Leaf, Node, Split
from treeml.system.interrupt import press
from treeml.testing.cases import SuiteCase, cases
from treeml.testing.fuzz import differs
from treeml.testing.matrix import Cell, deviation, is_unproved, refused, solved
from treeml.testing.problems import binary, bound, errors, minimize, single

ROWS = [format(number, "04b") for number in range(16)]
ACTUAL = [int(row in ("0011", "0101", "0110", "1000", "1011", "1110", "1111")) for row in ROWS]
DEPTH_2 = bound(Depth(), "<=", 2, "depth")
DEPTH_3 = bound(Depth(), "<=", 3, "depth")


class Conformance:
    """Subclass it with the name of a registered back-end; `options`, `seconds` and `unproved` may be set as well."""

    backend: ClassVar[str]
    options: ClassVar[Mapping[str, Any]] = {}
    seconds: ClassVar[float] = 60.0  # time limit for every case, also on a busy machine
    unproved: ClassVar[frozenset[str]] = frozenset()  # cases that these options answer without a proof

    @pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
    def test_case(self, case: SuiteCase) -> None:
        problem, backend = case.problem(), self.found()
        planned = plan(problem, backend, self.options)
        if not isinstance(planned, Plan):
            self.check_refusals(planned)
            self.check_expected(case, refused(planned))
            return
        try:
            answer = self.solve(problem)
        except RefusedError as error:  # found only when the model is built
            self.check_expected(case, f"refused: {error.diagnostics[0].title}")
            return
        assert answer is not None
        assert differs(answer, case.truth(), backend) is None
        self.check_expected(case, solved(answer))
        known = case.name in self.unproved if self.options else is_unproved(backend.name, case.name)
        if not known:
            self.check_is_settled(answer, case.expected.status)
        if answer.status is Status.INFEASIBLE and self.found().can.explains:
            self.check_conflict(problem, answer)

    def test_is_registered_as_itself(self) -> None:
        backend = self.found()
        assert backend.name == self.backend
        assert backend.summary
        assert backend.version()
        assert backend.missing() is None
        assert all(isinstance(option, Option) and option.summary for option in backend.options.values())

    def test_no_time(self) -> None:
        """With a deadline in the past, the back-end checks it and claims nothing that it has not proved."""
        deadline = _Watched(0.0)
        answer = self.solve(_plain(DEPTH_3), deadline=deadline)
        if answer is None:
            return
        if answer.status not in (Status.OPTIMAL, Status.INFEASIBLE):
            assert answer.stop in (Stop.TIME, Stop.FINISHED)
        if self.found().can.proves:
            assert deadline.asked or answer.stop is Stop.TIME

    def test_one_row(self) -> None:
        self.check_optimum(binary(["01"], 2, minimize(errors([1], 2)), (DEPTH_2,)), 0)

    def test_one_class(self) -> None:
        self.check_optimum(binary(ROWS, 1, minimize(errors([0] * 16, 1)), (DEPTH_2,)), 0)

    def test_no_features(self) -> None:
        self.check_optimum(binary(["", "", ""], 2, minimize(errors([0, 1, 1], 2)), (DEPTH_2,)), 1)

    def test_features_that_tell_nothing(self) -> None:
        self.check_optimum(binary(["01", "01", "01"], 2, minimize(errors([0, 1, 1], 2)), (DEPTH_2,)), 1)

    def test_equal_rows(self) -> None:
        """Rows with a count above one: support counts all of them."""
        problem = binary(
            ["0", "1"], 2, minimize(errors([0, 1], 2, [5, 3])), (DEPTH_2, bound(Support(), ">=", 4)), [5, 3]
        )
        self.check_optimum(problem, 3)

    def test_contradictory_rows(self) -> None:
        rows = ["00", "00", "01", "10", "10", "10"]
        self.check_optimum(binary(rows, 2, minimize(errors([0, 1, 1, 0, 1, 0], 2)), (DEPTH_2,)), 2)

    def test_huge_weights(self) -> None:
        weight = [2**40 + 1, 1, 2**40, 2, 3, 2**39]
        problem = binary(["00", "00", "01", "10", "10", "11"], 2, minimize(errors([0, 1, 1, 0, 1, 0], 2, weight)))
        self.check_optimum(problem.asking(problem.goals, (DEPTH_2,)), 3)

    def test_more_rows_than_a_word_has_bits(self) -> None:
        rows = [format(number, "08b") for number in range(0, 256, 3)]
        actual = [int(row[0] != row[5]) for row in rows]
        self.check_optimum(binary(rows, 2, minimize(errors(actual, 2)), (DEPTH_2,)), 0)

    def test_bound_is_never_above_objective(self) -> None:
        answer = self.solve(_plain(DEPTH_3))
        if answer is not None and answer.bound is not None and answer.objective:
            assert answer.bound <= answer.objective[0] + answer.tolerance

    def test_progress_never_contradicts_the_answer(self) -> None:
        moments: list[Progress] = []

        def note(moment: Progress) -> None:
            moments.append(moment)

        problem = _plain(DEPTH_3)
        answer = self.solve(problem, on_progress=note)
        if answer is None or answer.objective is None:
            return
        for moment in (*moments, *answer.trace):
            if moment.objective is not None:
                assert moment.objective[0] >= answer.objective[0] - answer.tolerance
            if moment.bound is not None:
                assert moment.bound <= answer.objective[0] + answer.tolerance
            if moment.tree is not None:
                assert meets_all(problem, moment.tree)
        if self.found().can.reports:
            assert moments

    def test_progress_that_returns_false_stops(self) -> None:
        answer = self.solve(_plain(DEPTH_3), on_progress=lambda moment: False)
        if answer is not None and self.found().can.reports and answer.status is Status.FEASIBLE:
            assert answer.stop in (Stop.INTERRUPTED, Stop.FINISHED)
            assert answer.tree is not None

    def test_start_is_respected(self) -> None:
        """Even without time, the answer is no worse than a feasible start."""
        problem = _plain(DEPTH_3)
        start = OracleBackend().solve(problem).tree
        answer = self.solve(problem, start=start, deadline=Deadline(0.0))
        if answer is None or not self.found().can.starts:
            return
        assert start is not None
        assert answer.objective is not None
        assert answer.objective <= evaluate_goals(problem, start)

    @pytest.mark.parametrize(
        "start",
        [Leaf(0), Leaf(1), Split(0, Split(0, Leaf(0), Leaf(1)), Leaf(1)), Split(1, Leaf(1), Leaf(0))],
        ids=["leaf", "other leaf", "empty side", "stump"],
    )
    def test_any_start_leads_to_the_same_optimum(self, start: Node) -> None:
        problem = _plain(DEPTH_3, bound(Leaves(), ">=", 3, "leaves"))
        answer = self.solve(problem, start=start)
        if answer is not None:
            assert differs(answer, OracleBackend().solve(problem), self.found()) is None

    def test_seed_repeats(self) -> None:
        one, other = (self.solve(_plain(DEPTH_3), seed=7) for _ in range(2))
        if one is not None and other is not None:
            assert (one.status, one.objective) == (other.status, other.objective)
            assert one.tree == other.tree or not self.found().can.repeats

    def test_two_solves_on_one_object(self) -> None:
        backend = self.found()
        first, second = _plain(DEPTH_3), _plain(DEPTH_2, actual=[1 - truth for truth in ACTUAL])
        before = self.solve(first, backend=backend)
        between = self.solve(second, backend=backend)
        after = self.solve(first, backend=backend)
        if before is not None and between is not None and after is not None:
            assert (before.status, before.objective) == (after.status, after.objective)
            assert differs(between, OracleBackend().solve(second), backend) is None

    def test_two_solves_in_threads(self) -> None:
        backend = self.found()
        problems = [_plain(DEPTH_3), _plain(DEPTH_2), _plain(DEPTH_3, actual=[1 - truth for truth in ACTUAL])]
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda problem: self.solve(problem, backend=backend), problems))
        for problem, answer in zip(problems, answers, strict=True):
            if answer is not None:
                assert differs(answer, OracleBackend().solve(problem), backend) is None

    def test_interrupt(self) -> None:
        """Ctrl-C in the middle of a solve gives an answer, not a traceback."""
        rows = [format(number, "09b") for number in range(0, 512, 5)]
        actual = [int(row.count("1") % 3 == 0) for row in rows]
        problem = binary(rows, 2, minimize(errors(actual, 2)), (bound(Depth(), "<=", 5),))
        planned = plan(problem, self.found(), self.options)
        if not isinstance(planned, Plan):
            self.check_refusals(planned)
            return
        timer = threading.Timer(0.1, press)
        answer: Answer | None = None
        try:
            timer.start()
            try:
                answer = run(planned, Limits(Deadline.after(self.seconds), options=self.options))
            finally:
                timer.cancel()
                timer.join()
        except RefusedError:
            return  # too large for the solver's licence, found only when the model is built
        except KeyboardInterrupt:
            # The signal came between the answer and the end of the timer: the answer was already there.
            assert answer is not None
        assert answer is not None
        if answer.stop is not Stop.INTERRUPTED:
            assert answer.stop in (Stop.PROVED, Stop.FINISHED, Stop.TIME)

    def test_infeasible_names_the_conflict(self) -> None:
        impossible = bound(errors(ACTUAL, 2), "<=", 0, "no errors")
        harmless = bound(Leaves(), "<=", 16, "leaves")
        problem = _plain(bound(Depth(), "<=", 1, "shallow"), impossible, harmless)
        answer = self.solve(problem)
        if answer is None:
            return
        assert answer.tree is None
        if self.found().can.proves:
            assert answer.status is Status.INFEASIBLE
        if self.found().can.explains and answer.status is Status.INFEASIBLE:
            assert set(answer.conflict) == {"shallow", "no errors"}

    def test_satisfy_is_any_tree(self) -> None:
        problem = _plain(bound(Leaves(), "=", 3, "leaves"), DEPTH_3).asking((), (bound(Leaves(), "=", 3), DEPTH_3))
        answer = self.solve(problem)
        if answer is not None and self.found().can.proves:
            assert (answer.status, answer.objective) == (Status.OPTIMAL, ())

    def test_goal_with_a_constant_and_a_factor(self) -> None:
        goal = single(errors(ACTUAL, 2), Fraction(1, 3), Fraction(-7, 2))
        plain = OracleBackend().solve(_plain(DEPTH_2)).objective
        assert plain is not None
        self.check_optimum(binary(ROWS, 2, minimize(goal), (DEPTH_2,)), plain[0] / 3 - Fraction(7, 2))

    def test_unknown_option_is_refused(self) -> None:
        planned = plan(_plain(DEPTH_2), self.found())
        if not isinstance(planned, Plan):
            self.check_refusals(planned)
            return
        with pytest.raises(RefusedError):
            run(planned, Limits(options={"no_such_option": 1}))

    # -- helpers

    def found(self) -> Backend:
        return registry.get(self.backend)

    def solve(
        self,
        problem: Problem,
        *,
        backend: Backend | None = None,
        deadline: Deadline | None = None,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
        seed: int = 0,
    ) -> Answer | None:
        """The verified answer; None if there is no plan, and then the refusals give reasons."""
        planned = plan(problem, backend or self.found(), self.options)
        if not isinstance(planned, Plan):
            self.check_refusals(planned)
            return None
        assert all(planned.explain())
        limits = Limits(deadline or Deadline.after(self.seconds), seed=seed, options=self.options)
        return run(planned, limits, start, on_progress)

    def check_refusals(self, refusals: list[Any]) -> None:
        assert refusals
        for refusal in refusals:
            assert refusal.feature
            assert refusal.because
            assert refusal.instead

    def check_expected(self, case: SuiteCase, text: str) -> None:
        """With default options, a back-end of this project does exactly what the matrix says."""
        if not self.options:
            assert deviation(Cell(self.found().name, case.name, text)) is None

    def check_optimum(self, problem: Problem, best: Fraction | int) -> None:
        answer = self.solve(problem)
        if answer is None:
            return
        known = (Evidence("enumeration", "by the oracle"),)
        truth = Answer(Status.OPTIMAL, Stop.PROVED, None, (Fraction(best),), evidence=known)
        assert differs(answer, truth, self.found()) is None
        self.check_is_settled(answer, Status.OPTIMAL)

    def check_is_settled(self, answer: Answer, status: Status) -> None:
        """A back-end that proves optimality must do so on cases this small; others must not claim it."""
        if self.found().can.proves:
            assert answer.status is status, answer
        else:
            assert answer.status in (Status.FEASIBLE, Status.LOCAL, Status.UNKNOWN)

    def check_conflict(self, problem: Problem, answer: Answer) -> None:
        """The requirements that it names cannot be met together, even without all others."""
        assert answer.conflict
        named = tuple(each for each in problem.bounds if each.name in answer.conflict)
        assert {each.name for each in named} == set(answer.conflict)
        assert OracleBackend().solve(problem.asking((), named)).status is Status.INFEASIBLE


@dataclass(frozen=True, slots=True)
class _Watched(Deadline):
    """A deadline that counts how often it is checked."""

    asked: list[None] = field(default_factory=list)

    def left(self) -> float:
        self.asked.append(None)
        return 0.0

    @property
    def passed(self) -> bool:
        self.asked.append(None)
        return True


def _plain(*bounds: Any, actual: list[int] = ACTUAL) -> Problem:
    return binary(ROWS, 2, minimize(errors(actual, 2)), bounds)
