"""The companion's work: trees for any problem, by every method that takes it, until the run is over.

Goals that add up over the leaves have a search of their own. Requirements that couple the leaves get trees by
multipliers, whose parts are then replaced by exact ones under what the rest of the tree leaves over. For any other
problem, greedy trees of several kinds are the starts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from treeml.backends import registry
from treeml.backends.anytime import local_kernel, multipliers
from treeml.backends.anytime.coarse import FEW_TESTS, on_few_tests
from treeml.backends.anytime.grown import on_tests
from treeml.backends.anytime.leaf_rules import LeafMending, without_rules
from treeml.backends.anytime.multipliers import Multipliers
from treeml.backends.anytime.search import Anytime
from treeml.backends.claims import BOUND, supporting
from treeml.backends.contract import Deadline, Progress, Status
from treeml.backends.heuristics.cart import CartBackend
from treeml.backends.improve.backend import ImproveBackend
from treeml.backends.improve.rounds import ImproveSettings, improve
from treeml.backends.planning.lowerings import bounded
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.portfolio import second_search, simpler
from treeml.backends.portfolio.companion import Companion
from treeml.backends.portfolio.growing import offers_grown_trees
from treeml.backends.portfolio.relaxed import fitted, relaxed_plan
from treeml.backends.portfolio.smallest import offers_smaller_trees
from treeml.backends.run import bounded_goal, run
from treeml.problem.answers import has_many_answers
from treeml.problem.evaluate import is_answer
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node

PATIENCE = 1.0  # seconds for one part
SMALL = 1_000_000  # cells, rows times columns: up to here, a search of branches has its first trees in a moment
CRITERIA = ("gini", "entropy", "gain_ratio", "twoing")
LEVELS = (5, 3, 8, None)  # of greedy trees, if nothing limits the depth: parts of a small tree are soon replaced
SECONDS_TO_MEND = 0.3  # for a search without the requirements on single leaves, at each depth;
ROUNDS_TO_MEND = 5  # each takes twice as long as the one before
SHARE_FOR_BOUND, MOST_FOR_BOUND = 0.3, 30.0  # of the time, and seconds, for a bound from an easier problem
DEEPEST_OF_FEW = 3  # levels of such a search, if nothing limits the depth


def improve_while(company: Companion) -> None:
    """Offers better and better trees until the run is over or nothing is left to try."""
    problem, limits = company.problem, company.limits
    if company.start is not None:
        company.offer(company.start)
    if local_kernel.takes(problem):
        _offer_mended_trees(company)
        asked, tests = _within_reach(problem)
        offer = company.offer if tests is None else _OfFewTests(company, tests).offer
        heard = (lambda: company.heard) if tests is None else None
        if problem.rows * len(problem.features) > SMALL:
            offers_grown_trees(company, problem, company.offer)
        search = Anytime(asked, offer, company.is_over, limits.seed, heard)
        company.interrupts.append(search.interrupt)
        if second_search.takes(problem):
            if search.kernel.kernel == "numeric":
                search.begin(limits.deadline)
            if company.is_over() or second_search.search_again(company):
                return
        search.run(limits.deadline)
    elif offers_smaller_trees(company):
        return
    elif multipliers.takes(problem):
        offers_grown_trees(company, problem, company.offer)
        asked, tests = _within_reach(problem, multipliers.priced(problem))
        offer = company.offer if tests is None else _OfFewTests(company, tests).offer
        found = Multipliers(asked, offer, company.is_over, company.interrupts, limits.seed)
        for is_better in found.rounds(limits.deadline):
            for criterion in CRITERIA if company.tree is None else ():
                _offer_greedy_trees(company, criterion)
            if is_better and company.tree is not None:
                _replace_parts(company, company.tree)
    elif simpler.takes(problem):
        simpler.offers_simpler_trees(company, rounds=1)
        _improve_greedy_trees(company)
        simpler.offers_simpler_trees(company)
    else:
        _improve_greedy_trees(company)


def _offer_mended_trees(company: Companion) -> None:
    """Offers trees of quick searches that ignore the requirements on single leaves, changed so that they keep them.

    Searches take longer in every round. The last round is the first that leads to no better tree.
    """
    free = without_rules(company.problem)
    if free is None:
        return
    asked, tests = _within_reach(free)
    rules = LeafMending(company.problem)

    def offer(tree: Node) -> bool:
        other = rules.mended(tree if tests is None else on_tests(tree, tests))
        return other is not None and company.offer(other)

    for number in range(ROUNDS_TO_MEND):
        before, is_settled = company.tree, True
        for depth in range(2, rules.levels + 1):
            until = Deadline.after(SECONDS_TO_MEND * 2**number)
            status = simpler.solve_while(bounded(asked, depth), offer, company, until)
            is_settled = is_settled and status in (Status.OPTIMAL, Status.INFEASIBLE)
        if is_settled or company.is_over() or (company.tree is before and before is not None):
            return


def _within_reach(problem: Problem, searched: Problem | None = None) -> tuple[Problem, list[int] | None]:
    """The problem on few tests, and which they are, if its search would need the answers to too many tests.

    `searched`: the problem that is searched in its place, if it is another one.
    """
    if not has_many_answers(problem) or not local_kernel.needs_answers(searched or problem):
        return problem, None
    return on_few_tests(problem) or (problem, None)


@dataclass(frozen=True)
class _OfFewTests:
    """Takes trees on few tests in the place of the companion."""

    company: Companion
    tests: list[int]

    def offer(self, tree: Node) -> bool:
        return self.company.offer(on_tests(tree, self.tests))


def _bound_by_easier(company: Companion) -> None:
    """A bound, and maybe the best tree, from an easier problem that a quick search takes, if it is not searched yet."""
    planned = None if company.has_bounds else relaxed_plan(company.problem, registry.get(registry.default_name()))
    if planned is None or company.is_over():
        return

    def heard(moment: Progress) -> bool:
        if moment.bound is not None:
            company.bounded(moment.bound, moment.evidence)
        return not company.is_over()

    seconds = min(MOST_FOR_BOUND, SHARE_FOR_BOUND * company.limits.deadline.left())
    limits = replace(company.limits, options={}, threads=1, is_over=company.is_over, deadline=Deadline.after(seconds))
    answer = run(planned, limits, None, heard)
    if answer.tree is not None:
        company.offer(answer.tree)
    if answer.status is Status.OPTIMAL and answer.objective:
        company.bounded(answer.objective[0] - answer.tolerance, supporting(answer.evidence, BOUND))
    elif answer.bound is not None and bounded_goal(answer) == 0:
        company.bounded(answer.bound, supporting(answer.evidence, BOUND))


def _improve_greedy_trees(company: Companion) -> None:
    """Greedy trees of several kinds are the starts: on few tests first, which takes a moment, then on all of them."""
    problem, replaced = company.problem, None
    offers_grown_trees(company, problem, company.offer)
    coarse = on_few_tests(problem) if len(problem.tests) > FEW_TESTS else None
    if coarse is not None or not company.has_bounds:
        _offer_greedy_trees(company, CRITERIA[0], *(coarse or ()))
    _bound_by_easier(company)
    if coarse is not None and has_many_answers(problem):
        _search_few_tests(company, *coarse)
    for criterion in CRITERIA if problem.classes else CRITERIA[:1]:
        _offer_greedy_trees(company, criterion)
        if company.tree is not None and company.tree is not replaced:
            _replace_parts(company, company.tree)
            replaced = company.tree


def _replace_parts(company: Companion, start: Node) -> None:
    """Replaces subtrees by exact ones, as long as that helps."""
    problem = company.problem
    if not problem.goals or next(ImproveBackend().refusals(problem), None) is not None:
        return

    def heard(moment: Progress) -> bool:
        if moment.tree is not None:
            company.offer(moment.tree)
        return not company.is_over()

    limits = replace(company.limits, options={}, threads=1, is_over=company.is_over)
    improve(
        problem,
        start,
        ((registry.get(registry.default_name()), {}),),
        limits,
        ImproveSettings(patience=PATIENCE),
        heard,
    )


def _search_few_tests(company: Companion, few: Problem, tests: list[int]) -> None:
    """Offers the trees that exact searches find on few tests of every column, with one level, then with more."""

    def heard(moment: Progress) -> bool:
        if moment.tree is not None:
            offer_fitted(company, on_tests(moment.tree, tests))
        return not company.is_over()

    deepest = company.problem.max_depth
    limits = replace(company.limits, options={}, threads=1, is_over=company.is_over, share=None, news=None)
    for depth in range(1, DEEPEST_OF_FEW + 1 if deepest is None else deepest + 1):
        planned = plan(bounded(few, depth), registry.get(registry.default_name()))
        if not isinstance(planned, Plan) or company.is_over():
            return
        answer = run(planned, limits, None, heard)
        if answer.tree is not None:
            offer_fitted(company, on_tests(answer.tree, tests))


def _offer_greedy_trees(
    company: Companion, criterion: str, few: Problem | None = None, tests: list[int] | None = None
) -> None:
    """Offers single leaves, then greedy trees of several depths, on all tests or on `few` of them, namely `tests`."""
    problem = company.problem
    if company.tree is None:
        for label in range(problem.classes) if problem.classes else (-1,):
            company.offer(Leaf(label))
    if few is None and has_many_answers(problem):
        return
    options = {"criterion": criterion} if problem.classes else {}
    for depth in LEVELS if problem.max_depth is None else (None,):
        if company.is_over():
            return
        limits = replace(company.limits, options={**options, "depth": depth})
        grown = CartBackend().solve(few or problem, limits).tree
        if grown is not None:
            offer_fitted(company, grown if tests is None else on_tests(grown, tests))


def offer_fitted(company: Companion, tree: Node) -> None:
    """Offers a tree; one that misses a requirement on predictions gets labels that meet it, if there are such."""
    if company.offer(tree) or is_answer(company.problem, tree):
        return
    other = fitted(company.problem, tree)
    if other is not None:
        company.offer(other)
