"""The portfolio: trees of the companion are checked, proofs stay those of the exact search, and both end together."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from threading import Event

import numpy as np
import pytest

import treeml as tml
from treeml.backends import registry
from treeml.backends.anytime import local_kernel, multipliers
from treeml.backends.anytime.multipliers import Multipliers
from treeml.backends.anytime.search import Anytime
from treeml.backends.claims import Evidence
from treeml.backends.contract import NO_LIMITS, Answer, Deadline, Limits, Progress, Status, Stop
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.portfolio import companion as companions
from treeml.backends.portfolio.accompany import accompanied
from treeml.backends.portfolio.companion import Companion
from treeml.backends.portfolio.improving import improve_while
from treeml.backends.run import run
from treeml.lang.diagnostic import BackendError
from treeml.problem.evaluate import Routed, evaluate_goals, is_answer
from treeml.problem.problem import Goal, Problem
from treeml.problem.quotient import Quotient, quotient_of
from treeml.problem.terms import Depth, Leaves, Purity, Sum
from treeml.problem.tree import Leaf, Node, Split
from treeml.solving import long_run
from treeml.solving.choice import lower
from treeml.solving.options import RunOptions
from treeml.solving.pipeline import prepare
from treeml.testing.problems import binary, bound, errors, minimize, random_problem

SEEDS = range(150)
ROWS = ["00", "01", "10", "11"]
ACTUAL = [0, 1, 1, 0]
BEST = Split(0, Split(1, Leaf(0), Leaf(1)), Split(1, Leaf(1), Leaf(0)))


def exact(problem: Problem) -> Answer | None:
    """The answer of the oracle; None if it does not take the problem."""
    planned = plan(problem, registry.get("oracle"))
    return run(planned) if isinstance(planned, Plan) else None


def native(problem: Problem) -> Plan | None:
    planned = plan(problem, registry.get("native"))
    return planned if isinstance(planned, Plan) else None


def test_leaves_that_pay_are_left_to_the_exact_search() -> None:
    """A search for trees takes no negative price of a leaf, whatever the back-end beside it takes."""
    cost = errors(ACTUAL, 2)
    for price, takes in ((Fraction(1, 2), True), (Fraction(-1, 2), False)):
        goal = Goal(Sum(((Fraction(1), cost), (price, Leaves()))))
        assert multipliers.takes(binary(ROWS, 2, (goal,), (bound(Depth(), "<=", 2),))) is takes


def worked(problem: Problem) -> Companion:
    """A companion that has done all its work, without an exact search beside it."""
    company = Companion(problem, Limits(deadline=Deadline.after(0.3)), None, None, improve_while)
    improve_while(company)
    return company


@pytest.mark.parametrize("seed", SEEDS)
def test_trees_of_the_companion_are_valid_and_never_below_the_optimum(seed: int) -> None:
    problem = random_problem(Random(seed))
    best = exact(problem)
    if best is None or best.status not in (Status.OPTIMAL, Status.INFEASIBLE):
        pytest.skip("the oracle does not decide this problem")
    if not local_kernel.takes(problem):
        return
    trees: list[Node] = []
    Anytime(problem, trees.append, lambda: False, seed).run(Deadline(), most=3)
    for tree in trees:
        assert is_answer(problem, tree)
        assert best.objective is not None
        assert evaluate_goals(problem, tree) >= best.objective
    if best.status is Status.INFEASIBLE:
        assert not trees


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_every_kind_of_problem_has_company(seed: int) -> None:
    problem = random_problem(Random(1000 + seed))
    best = exact(problem)
    if best is None or best.status not in (Status.OPTIMAL, Status.INFEASIBLE):
        pytest.skip("the oracle does not decide this problem")
    company = worked(problem)
    if company.tree is not None:
        assert best.status is Status.OPTIMAL
        assert is_answer(problem, company.tree)
        assert company.value is not None
        assert best.objective is not None
        assert company.value >= best.objective


@pytest.mark.parametrize("seed", range(80))
def test_company_changes_no_proved_answer(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companions, "HEAD_START", 0.0)
    problem = random_problem(Random(seed))
    planned = native(problem)
    if planned is None:
        pytest.skip("native does not take this problem")
    alone, together = run(planned), accompanied(planned, NO_LIMITS)
    assert (together.status, together.objective) == (alone.status, alone.objective)


def xor() -> Problem:
    return binary(ROWS, 2, minimize(errors(ACTUAL, 2)))


class Exact:
    """A plan whose search waits for the companion and then returns what it is given."""

    def __init__(self, answer: Answer, bound: int | None = None) -> None:
        self.answer, self.bound = answer, bound
        self.offered, self.is_told = Event(), Event()

    def plan(self) -> Plan:
        planned = native(xor())
        assert planned is not None

        def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: object) -> Answer:
            assert limits.is_over is not None
            assert callable(on_progress)
            if self.bound is not None:
                evidence = (Evidence("search bound", "test"),)
                on_progress(Progress(0.0, None, Fraction(self.bound), evidence=evidence))
            limits.is_over()
            assert self.offered.wait(60)
            self.is_over = limits.is_over()
            return self.answer

        return replace(planned, steps=(), backend=_Waiting(planned.backend, solve))

    def work(self, company: Companion) -> None:
        company.offer(Split(0, Leaf(0), Leaf(1)))
        company.offer(BEST)
        company.offer(Split(1, Leaf(0), Leaf(1)))  # worse, so it is not kept
        self.offered.set()


class _Waiting:
    def __init__(self, backend: object, solve: object) -> None:
        self._backend, self.solve = backend, solve

    def __getattr__(self, name: str) -> object:
        return getattr(self._backend, name)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companions, "HEAD_START", -1.0)


STOPPED = Answer(Status.FEASIBLE, Stop.TIME, Leaf(0), (Fraction(2),))


def test_the_better_tree_is_the_answer() -> None:
    answer = accompanied((search := Exact(STOPPED)).plan(), NO_LIMITS, work=search.work)
    assert (answer.status, answer.stop, answer.objective) == (Status.FEASIBLE, Stop.TIME, (Fraction(0),))
    assert answer.bound is None
    assert companions.NOTE in answer.notes
    assert [moment.objective for moment in answer.trace] == [(2,), (0,)]


def test_a_tree_that_meets_the_bound_is_proved_by_the_evidence_of_the_bound() -> None:
    evidence = (Evidence("search bound", "test"),)
    search = Exact(replace(STOPPED, bound=Fraction(0), bounded_goal=0, evidence=evidence), bound=0)
    answer = accompanied(search.plan(), NO_LIMITS, work=search.work)
    assert search.is_over
    assert (answer.status, answer.stop, answer.bound) == (Status.OPTIMAL, Stop.PROVED, Fraction(0))
    assert [(each.rule, each.rests_on) for each in answer.evidence] == [("bound meets tree", evidence)]


def test_a_search_that_ends_with_the_tree_of_the_companion_is_a_proof_too() -> None:
    """The search heard of the tree, and was ended because it meets the bound."""
    evidence = (Evidence("search bound", "test"),)
    heard = Answer(Status.FEASIBLE, Stop.INTERRUPTED, BEST, (Fraction(0),), Fraction(0), evidence=evidence)
    answer = accompanied((search := Exact(heard, bound=0)).plan(), NO_LIMITS, work=search.work)
    assert (answer.status, answer.stop, answer.bound) == (Status.OPTIMAL, Stop.PROVED, Fraction(0))
    assert [(each.rule, each.rests_on) for each in answer.evidence] == [("bound meets tree", evidence)]


@pytest.mark.parametrize(
    "claim",
    [
        replace(STOPPED, bound=Fraction(1), bounded_goal=0, evidence=(Evidence("search bound", "test"),)),
        Answer(Status.INFEASIBLE, Stop.PROVED, evidence=(Evidence("search", "test"),)),
        Answer(
            Status.OPTIMAL, Stop.PROVED, Leaf(0), (Fraction(2),), Fraction(2), evidence=(Evidence("search", "test"),)
        ),
    ],
)
def test_a_claim_that_a_tree_refutes_is_an_error(claim: Answer) -> None:
    search = Exact(claim)
    with pytest.raises(BackendError, match="B514"):
        accompanied(search.plan(), NO_LIMITS, work=search.work)


def test_a_bound_on_a_later_goal_stays_one() -> None:
    """The first goal is proved, and the companion has a tree that is as good by it, with fewer leaves."""
    two = binary(ROWS, 2, minimize(errors(ACTUAL, 2), Leaves()))
    planned, evidence = native(two), (Evidence("goals in turn", "", (Evidence("search", "test"),)),)
    assert planned is not None
    company = Companion(two, NO_LIMITS, None, None, lambda company: None)
    assert company.offer(BEST)
    values = (Fraction(0), Fraction(5))
    stopped = Answer(Status.FEASIBLE, Stop.TIME, BEST, values, Fraction(3), bounded_goal=1, evidence=evidence)
    answer = company.joined(stopped, planned)
    assert (answer.objective, answer.bound, answer.bounded_goal) == ((0, 4), 3, 1)
    with pytest.raises(BackendError, match="B514"):
        company.joined(replace(stopped, bound=Fraction(5)), planned)
    with pytest.raises(BackendError, match="B514"):
        company.joined(replace(stopped, objective=(Fraction(1), Fraction(2)), bound=Fraction(2)), planned)


def test_a_failure_of_the_companion_is_not_lost() -> None:
    search = Exact(STOPPED)

    def work(company: Companion) -> None:
        search.offered.set()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        accompanied(search.plan(), NO_LIMITS, work=work)


def test_a_listener_stops_both() -> None:
    search = Exact(STOPPED)
    answer = accompanied(search.plan(), NO_LIMITS, None, lambda moment: False, search.work)
    assert search.is_over
    assert answer.stop is Stop.INTERRUPTED


@pytest.mark.parametrize("seed", range(40))
def test_multipliers_find_trees_that_meet_coupled_requirements(seed: int) -> None:
    problem = random_problem(Random(seed), kinds=("Predicted", "Depth"))
    best = exact(problem)
    if best is None or best.status is not Status.OPTIMAL or not multipliers.takes(problem):
        pytest.skip("no problem of this kind")
    found: list[Node] = []

    def offer(tree: Node) -> bool:
        if not is_answer(problem, tree):
            return False
        found.append(tree)
        return True

    search = Multipliers(problem, offer, lambda: bool(found), [], seed)
    next(search.rounds(Deadline.after(20)), None)
    for tree in found:
        assert evaluate_goals(problem, tree) >= (best.objective or ())


def highest_npv() -> Problem:
    """At the best quotient that rows allow, the goal is what the requirement limits; at others it is not."""
    text = "predict y is 1 maximize npv(1) require recall(1) >= 0.5 require depth <= 1"
    dataset, request = prepare(text, np.array([[0], [0], [0], [1], [1], [1]]), np.array([1, 1, 0, 0, 0, 1]))
    return lower(dataset, request).form(numeric=False).problem


def test_multipliers_begin_anew_where_another_quotient_has_other_limited_sums() -> None:
    problem, found = highest_npv(), list[Node]()

    def offer(tree: Node) -> bool:
        is_better = is_answer(problem, tree) and not found
        found.extend([tree] if is_better else [])
        return is_better

    search = Multipliers(problem, offer, lambda: False, [])
    rounds = search.rounds(Deadline.after(60))
    assert next(rounds)
    quotient = quotient_of(problem.goals[0])
    assert quotient is not None
    assert search.best is not None
    assert quotient.of(Routed(problem, search.best)) != -1
    assert next(rounds) is False


def test_multipliers_end_at_a_quotient_of_too_many_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Quotient, "of", lambda quotient, routed: Fraction(-1, 2**63))
    search = Multipliers(highest_npv(), lambda tree: True, lambda: False, [], best=Leaf(1))
    assert list(search.rounds(Deadline.after(60))) == []


def test_a_spec_without_a_back_end_has_company_and_a_named_one_has_none() -> None:
    from treeml.solving.choice import plan

    rows, classes = np.array([[0], [1]] * 3), np.array([0, 1] * 3)
    texts = {"": True, "solve with native": False, "solve threads 1": False}
    for text, has_company in texts.items():
        dataset, request = prepare(f"predict y minimize errors {text}", rows, classes)
        assert plan(lower(dataset, request), request).has_company is has_company


def test_company_ends_with_the_search_of_a_whole_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    rows, classes = random.random((400, 6)), random.integers(0, 3, 400)
    offered = Event()
    offer = Companion.offer

    def watched(company: Companion, tree: Node) -> bool:
        is_kept = offer(company, tree)
        offered.set()
        return is_kept

    monkeypatch.setattr(Companion, "offer", watched)
    model = tml.parse("predict y minimize errors require depth <= 6")
    result = model.solve(rows, classes, on_progress=lambda _: not offered.is_set())
    assert result.stop is Stop.INTERRUPTED
    assert result.tree is not None
    assert len(result.tree.leaves) > 1


@pytest.mark.parametrize("text", ["<= 9", "<= 9 solve with native", "<= 2 solve with cpsat"])
def test_a_run_that_takes_long_says_so_once(
    text: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(long_run, "LONG", 0.0)
    random = np.random.default_rng(0)
    rows, classes = random.integers(0, 2, (300, 15)), random.integers(0, 2, 300)

    def listen(moment: Progress) -> bool:
        return not caplog.messages

    model = tml.parse(f"predict y minimize errors require depth {text}")
    model.solve(rows, classes, on_progress=listen)
    assert [message for message in caplog.messages if "Ctrl-C" in message] == [long_run.MESSAGE % (0.0, "tree")]
    caplog.clear()
    model.solve(rows, classes, within=0.5)
    assert not caplog.messages


def test_an_improvement_with_its_own_limit_is_not_called_unlimited(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(long_run, "LONG", 0.0)
    random = np.random.default_rng(0)
    rows, classes = random.integers(0, 2, (100, 8)), random.integers(0, 2, 100)
    model = tml.parse("predict y minimize errors require depth <= 4 improve by subtrees(depth = 2) within 1 s")
    model.solve(rows, classes)
    assert not caplog.messages


def test_the_plan_of_maxsat_says_who_is_for_coupled_requirements() -> None:
    from treeml.backends.solvers.maxsat import NOT_FOR_COUPLED

    coupled = binary(
        ROWS, 2, minimize(errors(ACTUAL, 2)), (bound(errors([0] * 4, 2), "<=", 1), bound(Depth(), "<=", 2))
    )
    plain = coupled.asking(coupled.goals, coupled.bounds[1:])
    backend = registry.get("maxsat")
    assert NOT_FOR_COUPLED in backend.remark(coupled, {})
    assert NOT_FOR_COUPLED not in backend.remark(plain, {})


def test_a_run_that_is_out_of_time_at_once_still_has_a_tree_with_a_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companions, "RESCUE", 60.0)  # it ends with the first tree
    problem = binary(["000", "001", "010", "100", "111"] * 3, 2, minimize(errors([0, 0, 1, 1, 1] * 3, 2)))
    planned = native(problem)
    assert planned is not None
    out_of_time = Answer(Status.UNKNOWN, Stop.TIME)
    waiting = _Waiting(planned.backend, lambda *_: out_of_time)
    answer = accompanied(replace(planned, steps=(), backend=waiting), NO_LIMITS)
    assert isinstance(answer.tree, Split)
    assert answer.status is Status.FEASIBLE


def test_a_single_leaf_of_the_companion_is_no_first_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companions, "RESCUE", 60.0)  # it ends with the first tree that splits
    problem = binary(["000", "001", "010", "100", "111"] * 3, 2, minimize(errors([0, 0, 1, 1, 1] * 3, 2)))
    company = Companion(problem, NO_LIMITS, None, None, improve_while)
    assert company.offer(Leaf(1))
    company.first_tree()
    assert isinstance(company.tree, Split)


def test_leaves_that_need_three_levels_to_be_pure_are_found() -> None:
    rows = [format(number, "03b") for number in range(8)] * 4
    actual = [row.count("1") % 2 for row in rows]
    purity = Purity(np.eye(2, dtype=np.int64)[actual])
    problem = binary(rows, 2, minimize(errors(actual, 2)), (bound(purity, ">=", 1), bound(Depth(), "<=", 4)))
    trees = list[Node]()
    Anytime(problem, trees.append, lambda: bool(trees)).run(Deadline.after(60))
    assert evaluate_goals(problem, trees[-1]) == (0,)


def test_the_fewest_leaves_with_a_limit_on_errors_have_a_tree() -> None:
    random = np.random.default_rng(4)
    rows, classes = random.integers(0, 2, (200, 9)), random.integers(0, 2, 200)
    dataset, request = prepare("predict y minimize leaves require accuracy >= 0.85", rows, classes)
    problem = lower(dataset, request).form(numeric=True).problem
    company = Companion(problem, Limits(deadline=Deadline.after(60)), None, None, improve_while)
    company.is_enough = lambda: company.tree is not None
    improve_while(company)
    assert company.tree is not None
    assert is_answer(problem, company.tree)


def test_proposals_do_not_make_the_answers_to_all_cuts() -> None:
    random = np.random.default_rng(5)
    rows = np.column_stack([random.normal(size=(300, 2)), random.integers(0, 2, 300)])
    dataset, request = prepare("predict y minimize errors", rows, random.integers(0, 2, 300))
    problem = lower(dataset, request).form(numeric=True).problem
    proposals = Anytime(problem, lambda tree: None, lambda: False).splits.propose(np.arange(300))
    assert {problem.tests[each.test].feature for each in proposals} == {0, 1, 2}
    assert "bits" not in vars(problem)


def test_the_companion_starts_sooner_if_there_is_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companions, "HEAD_START", 0.2)
    hurried = Companion(xor(), Limits(deadline=Deadline.after(1)), None, None, improve_while)
    patient = Companion(xor(), NO_LIMITS, None, None, improve_while)
    assert hurried.is_urgent
    assert not patient.is_urgent
    assert hurried.head_start < patient.head_start


def test_the_companion_goes_on_from_a_tree_of_the_exact_search() -> None:
    problem, trees = xor(), list[Node]()
    search = Anytime(problem, trees.append, lambda: False, 0, lambda: BEST)
    grown = search.borrowed()
    assert grown is not None
    assert evaluate_goals(problem, grown.node()) == (0,)
    assert search.borrowed() is None  # it is not new


def _chain(tests: list[int]) -> Node:
    """A tree with a leaf on the yes side of every test."""
    tree: Node = Leaf(0)
    for number, test in enumerate(reversed(tests)):
        tree = Split(test, Leaf(number % 2), tree)
    return tree


def test_a_borrowed_tree_keeps_its_leaves_within_the_limit() -> None:
    """A chain uses up its leaves at the bottom, where half of them on either side of every split are not enough."""
    random = np.random.default_rng(7)
    values, labels = random.normal(size=(300, 4)), random.integers(0, 2, 300)
    dataset, request = prepare("predict y minimize errors require leaves <= 6", values, labels)
    problem = lower(dataset, request).form(numeric=True).problem
    tests = sorted(random.choice(299, 5, replace=False).tolist())  # cuts of the first column
    chain = _chain(tests)
    assert is_answer(problem, chain)
    for tree in (chain, _chain(tests[:3])):
        search = Anytime(problem, lambda tree: None, lambda: False, 0, lambda tree=tree: tree)
        grown = search.borrowed()
        assert grown is not None
        assert grown.leaves <= 6
        assert is_answer(problem, grown.node())
        assert evaluate_goals(problem, grown.node()) <= evaluate_goals(problem, tree)
        assert search.split(grown.rows, 5, 1, tests[0], search.anew()) is None  # one leaf is no room for a split


def test_every_tree_of_the_search_keeps_the_limit_on_leaves() -> None:
    random = np.random.default_rng(8)
    values, labels = random.normal(size=(200, 3)), random.integers(0, 2, 200)
    dataset, request = prepare("predict y minimize errors require leaves <= 6", values, labels)
    problem = lower(dataset, request).form(numeric=True).problem
    chain = _chain(sorted(random.choice(199, 5, replace=False).tolist()))
    kept: list[int] = []
    search = Anytime(problem, lambda tree: None, lambda: len(kept) > 60, 0, lambda: chain)
    keep = search.keep
    search.keep = lambda root: (kept.append(root.leaves), keep(root))[1]  # type: ignore[method-assign]
    search.run(Deadline())
    assert max(kept) <= 6


def test_the_numeric_kernel_shares_its_trees() -> None:
    random = np.random.default_rng(3)
    values, labels = random.normal(size=(1500, 6)), random.integers(0, 2, 1500)
    model = tml.Model().predict("y").minimize(tml.errors).require(tml.depth <= 5)
    dataset, request = prepare(model, values, labels, RunOptions())
    planned = native(lower(dataset, request).form(numeric=True).problem)
    assert planned is not None
    shared: list[Node] = []
    answer = run(planned, Limits(share=shared.append), on_progress=lambda _: len(shared) < 2)
    reached = [evaluate_goals(planned.problem, tree) for tree in shared]
    assert reached
    assert reached == sorted(reached, reverse=True)
    assert answer.objective is not None
    assert answer.objective <= reached[-1]


def test_a_tree_from_beside_changes_no_proof() -> None:
    random = np.random.default_rng(4)
    values = random.normal(size=(700, 5))
    labels = ((values[:, 0] > 0) ^ (values[:, 1] * values[:, 2] > 0.1) ^ (random.random(700) < 0.1)).astype(int)
    model = tml.Model().predict("y").minimize(tml.errors).require(tml.depth <= 3)
    planned = native(lower(*prepare(model, values, labels, RunOptions())).form(numeric=True).problem)
    assert planned is not None
    alone = run(planned)
    for tree in (alone.tree, Split(5, Leaf(1), Leaf(0)), Leaf(0)):
        beside = run(planned, Limits(news=lambda tree=tree: tree))
        assert (beside.status, beside.objective, beside.bound) == (Status.OPTIMAL, alone.objective, alone.bound)
