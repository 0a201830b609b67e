"""No claim without evidence, no evidence without a rule, and no claim that a tree contradicts."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import pytest

import treeml as tml
from treeml.backends.claims import (
    BOUND,
    INFEASIBLE,
    OPTIMAL,
    RULES,
    Claim,
    Evidence,
    UnfoundedClaim,
    combined,
    is_sharp,
)
from treeml.backends.contract import NO_LIMITS, Answer, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan
from treeml.backends.run import run
from treeml.backends.solvers.engines.outcome import Proved
from treeml.backends.solvers.solve_state import SolveState
from treeml.backends.task.read_problem import read_problem
from treeml.lang.diagnostic import BackendError
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Leaves, Loss, Sum
from treeml.problem.tree import Leaf, Node, Split
from treeml.testing.problems import binary, bound, errors, minimize

ZERO, ONE, TWO = Fraction(0), Fraction(1), Fraction(2)
SEARCHED = (Evidence("search"),)
BELOW = (Evidence("search bound"),)
BEST = Split(0, Split(1, Leaf(0), Leaf(1)), Split(1, Leaf(1), Leaf(0)))


def xor(*bounds: Bound, goals: tuple[Goal, ...] | None = None) -> Problem:
    problem = binary(("00", "01", "10", "11"), 2, minimize(errors([0, 1, 1, 0], 2)))
    return problem.asking(problem.goals if goals is None else goals, bounds)


class Says(OracleBackend):
    """A back-end that returns a given answer."""

    options = {}  # noqa: RUF012

    def __init__(self, answer: Answer) -> None:
        self.said = answer

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        return self.said


def failure(answer: Answer, problem: Problem | None = None, start: Node | None = None) -> tuple[str, str]:
    with pytest.raises(BackendError) as failed:
        run(Plan(xor() if problem is None else problem, Says(answer), ()), start=start)
    diagnostic = failed.value.diagnostics[0]
    return diagnostic.code, diagnostic.notes[0]


# -- rules -------------------------------------------------------------------------


def test_every_rule_says_why_and_supports_something() -> None:
    for name, rule in RULES.items():
        assert rule.because, name
        assert rule.supports, name


def test_there_is_no_evidence_without_a_rule() -> None:
    with pytest.raises(UnfoundedClaim, match="there is no rule 'trust me'"):
        Evidence("trust me")


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if all(rule.supports.values())])
def test_combining_evidence_needs_parts(name: str) -> None:
    with pytest.raises(UnfoundedClaim):
        Evidence(name)


def test_a_bound_that_meets_the_tree_is_a_proof_only_if_it_was_proved() -> None:
    met = Evidence("bound meets tree", "", (Evidence("solver bound"),))
    assert met.supports(OPTIMAL)
    assert not met.supports(INFEASIBLE)
    with pytest.raises(UnfoundedClaim):
        Evidence("bound meets tree", "", (Evidence("solver infeasible"),))
    assert combined("bound meets tree", ()) == ()


def test_goals_in_turn_are_proved_where_each_is() -> None:
    whole = Evidence("goals in turn", "", (*SEARCHED, *SEARCHED))
    partly = Evidence("goals in turn", "", (*SEARCHED, *BELOW))
    assert whole.supports(OPTIMAL)
    assert not partly.supports(OPTIMAL)
    assert partly.supports(BOUND)


def test_evidence_survives_a_round_trip_through_json() -> None:
    made = Evidence("bound meets tree", "", (Evidence("restated", "", (Evidence("solver bound", "HiGHS: kOptimal"),)),))
    assert Evidence.from_json(made.to_json()) == made
    assert pickle.loads(pickle.dumps(made)) == made
    assert made.text.startswith("bound meets tree, by solver bound (HiGHS: kOptimal): the solver reported")


# -- claims that cannot be made ----------------------------------------------------


@pytest.mark.parametrize("evidence", [(), (Evidence("no goal"),)])
def test_a_bound_needs_evidence(evidence: tuple[Evidence, ...]) -> None:
    with pytest.raises(UnfoundedClaim, match="it states a bound"):
        Answer(Status.FEASIBLE, Stop.TIME, BEST, (ZERO,), ZERO, evidence=evidence)
    with pytest.raises(UnfoundedClaim, match="it states a bound"):
        Progress(1.0, None, ONE, evidence=evidence)


def test_optimal_and_infeasible_need_evidence() -> None:
    with pytest.raises(UnfoundedClaim, match="it says optimal and names no evidence"):
        Answer(Status.OPTIMAL, Stop.PROVED, BEST, (ZERO,))
    with pytest.raises(UnfoundedClaim, match="it says optimal, and `search bound` does not support it"):
        Answer(Status.OPTIMAL, Stop.PROVED, BEST, (ZERO,), evidence=BELOW)
    with pytest.raises(UnfoundedClaim, match="it says infeasible and names no evidence"):
        Answer(Status.INFEASIBLE, Stop.PROVED)
    with pytest.raises(UnfoundedClaim, match="it says infeasible"):
        Answer(Status.INFEASIBLE, Stop.PROVED, evidence=(Evidence("solver optimal"),))
    with pytest.raises(UnfoundedClaim):
        replace(Answer(Status.FEASIBLE, Stop.PROVED, BEST, (ZERO,)), status=Status.OPTIMAL)
    with pytest.raises(UnfoundedClaim):
        tml.Result(Status.OPTIMAL, Stop.PROVED, "mine")


def test_a_back_end_that_names_no_evidence_fails() -> None:
    class Boasts(OracleBackend):
        def solve(self, *arguments: object, **named: object) -> Answer:  # type: ignore[override]
            return Answer(Status.OPTIMAL, Stop.PROVED, BEST, (ZERO,), ZERO)

    with pytest.raises(BackendError) as failed:
        run(Plan(xor(), Boasts(), ()))
    diagnostic = failed.value.diagnostics[0]
    assert diagnostic.code == "B520"
    assert diagnostic.title == "the answer of oracle does not hold"
    assert diagnostic.notes == ("it says optimal and names no evidence",)


# -- claims that a tree contradicts ------------------------------------------------


def test_infeasible_is_contradicted_by_the_start() -> None:
    answer = Answer(Status.INFEASIBLE, Stop.PROVED, evidence=SEARCHED)
    code, note = failure(answer, start=BEST)
    assert code == "B514"
    assert note == "it says infeasible, and the tree that it was given to start from meets every requirement"


def test_infeasible_is_contradicted_by_a_reported_tree() -> None:
    trace = (Progress(0.1, (TWO,), None, Leaf(0)),)
    code, note = failure(Answer(Status.INFEASIBLE, Stop.PROVED, trace=trace, evidence=SEARCHED))
    assert (code, note) == ("B514", "it says infeasible, and a tree that it reported meets every requirement")
    # A tree that breaks a requirement contradicts nothing.
    wanted = xor(bound(Leaves(), ">=", 5))
    answer = Answer(Status.INFEASIBLE, Stop.PROVED, trace=trace, evidence=SEARCHED)
    assert run(Plan(wanted, Says(answer), ()), start=BEST).status is Status.INFEASIBLE


def test_optimal_is_contradicted_by_the_start_and_on_the_way() -> None:
    worst = Answer(Status.OPTIMAL, Stop.PROVED, Leaf(0), (TWO,), TWO, evidence=SEARCHED)
    assert failure(worst, start=BEST) == ("B514", "it says optimal with 2, and was given a tree with 0")
    told = replace(worst, trace=(Progress(0.1, (ONE,)),))
    assert failure(told) == ("B514", "it says optimal with the value 2, and reported a tree with 1")


def test_a_reported_bound_must_not_exceed_the_value_of_a_tree() -> None:
    trace = (Progress(0.1, None, ONE, evidence=BELOW),)
    answer = Answer(Status.FEASIBLE, Stop.TIME, BEST, (ZERO,), ZERO, trace=trace, evidence=BELOW)
    assert failure(answer) == ("B514", "the bound 1 that it reported lies above the value 0 of its tree")


def test_a_bound_on_a_later_goal_rests_on_the_earlier_ones() -> None:
    problem = xor(goals=minimize(errors([0, 1, 1, 0], 2), Leaves()))
    answer = Answer(Status.FEASIBLE, Stop.TIME, BEST, (ZERO, Fraction(4)), ONE, evidence=BELOW, bounded_goal=1)
    code, note = failure(answer, problem)
    assert code == "B511"
    assert note == "it states a bound on goal 2, and does not say that the earlier goals are proved"
    held = replace(answer, evidence=(Evidence("goals in turn", "", (*SEARCHED, *BELOW)),))
    assert run(Plan(problem, Says(held), ())).bound == 1


def test_without_a_goal_there_is_no_bound() -> None:
    answer = Answer(Status.OPTIMAL, Stop.PROVED, BEST, (), ONE, evidence=SEARCHED)
    assert failure(answer, xor(goals=())) == ("B511", "it states a bound, and nothing is minimized")


def test_a_tolerance_is_not_negative() -> None:
    answer = Answer(Status.FEASIBLE, Stop.TIME, BEST, (ZERO,), tolerance=-ONE)
    assert failure(answer) == ("B511", "it states a tolerance of -1")


# -- tolerances --------------------------------------------------------------------


def test_a_coarse_tolerance_does_not_prove_optimality() -> None:
    import numpy as np

    assert is_sharp(Fraction(1, 10**7), ONE)
    assert not is_sharp(Fraction(1, 10), ONE)
    targets = np.array([[0], [1], [4], [9]])
    loss = Goal(Sum(((ONE, Loss("squared", targets, np.ones(4, np.int64))),)))
    problem = replace(xor(goals=(loss,)), classes=0)
    tree = Split(0, Leaf(), Leaf())
    value = Fraction(13)
    sharp = Answer(Status.OPTIMAL, Stop.PROVED, tree, (value,), value, evidence=SEARCHED, tolerance=Fraction(1, 10**6))
    assert run(Plan(problem, Says(sharp), ())).status is Status.OPTIMAL
    coarse = replace(sharp, bound=ZERO, tolerance=value)
    answer = run(Plan(problem, Says(coarse), ()))
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.FINISHED)
    (note,) = answer.notes
    assert note == "no tree is better by more than 13, which is too large relative to 13 to call this tree optimal"
    exact = Split(0, Split(1, Leaf(), Leaf()), Split(1, Leaf(), Leaf()))
    none = replace(sharp, tree=exact, objective=(ZERO,), bound=ZERO, tolerance=Fraction(1, 10**6))
    # A loss of 0 is minimal, whatever the tolerance.
    assert run(Plan(problem, Says(none), ())).status is Status.OPTIMAL


# -- the state of a search ---------------------------------------------------------


def searching() -> SolveState:
    problem = xor(bound(Leaves(), "<=", 4))
    return SolveState(problem, read_problem(problem.asking(problem.goals, problem.bounds)), Limits(), None)


def test_a_search_that_is_complete_says_why() -> None:
    search = searching()
    search.offer(Leaf(0))
    with pytest.raises(UnfoundedClaim, match="it says that its search is complete, and names no evidence"):
        search.answer(Stop.PROVED)


def test_infeasible_is_wrong_if_a_tree_is_known() -> None:
    from treeml.backends.claims import Contradiction

    search = searching()
    assert search.no_tree(Evidence("solver infeasible")) is Stop.PROVED
    search.offer(Leaf(0))
    with pytest.raises(Contradiction, match="it says that no tree meets the requirements"):
        search.no_tree(Evidence("solver infeasible"))


def test_a_bound_above_the_value_of_a_known_tree_is_wrong() -> None:
    from treeml.backends.claims import Contradiction

    search = searching()
    search.offer(Leaf(0))
    search.raise_bound(Proved(3, Evidence("solver bound")))
    with pytest.raises(Contradiction, match=r"its bound 3 .* lies above its own tree with 2"):
        search.answer(Stop.TIME)


def test_optimal_below_its_own_tree_is_wrong() -> None:
    from treeml.backends.claims import Contradiction

    search = searching()
    search.offer(Leaf(0))
    search.raise_bound(Proved(1, Evidence("solver bound")))
    search.close(Evidence("solver optimal"))
    with pytest.raises(Contradiction, match="it says optimal with the value 2 and the bound 1"):
        search.answer(Stop.PROVED)


def test_a_bound_met_by_counting_rows_needs_no_solver() -> None:
    search = searching()
    search.offer(BEST)
    answer = search.answer(Stop.TIME)
    assert (answer.status, answer.bound) == (Status.OPTIMAL, 0)
    assert answer.evidence == (Evidence("bound meets tree", "", (Evidence("row by row"),)),)


# -- what a user sees --------------------------------------------------------------


@pytest.mark.parametrize("backend", ["native", "cpsat", "mip", "maxsat", "oracle"])
def test_a_result_says_what_it_rests_on(backend: str) -> None:
    data = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 1, 1, 1]}
    result = tml.Model.parse("predict y\nminimize errors\nrequire depth <= 1\n").solve(data, backend=backend)
    assert result.status is Status.OPTIMAL
    assert any(each.supports(Claim.OPTIMAL) for each in result.evidence)
    assert result.to_json()["evidence"] == [each.to_json() for each in result.evidence]
    assert f"proved by  {result.evidence[0].name}" in str(result)


def test_a_result_without_a_proof_shows_no_evidence_of_one() -> None:
    data = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 1, 1, 1]}
    result = tml.Model.parse("predict y\nminimize errors\nrequire depth <= 1\n").solve(data, backend="cart")
    assert result.evidence == ()
    assert "proved by" not in str(result)
