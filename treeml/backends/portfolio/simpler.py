"""Requirements and prices on columns -> trees for the problem without them, made to fit.

How many columns a tree uses, what they cost, whether it uses one, and whether it is monotone along one are questions
about the tree as a whole, or about its paths, which the fast searches do not take. Without them the problem often is
one that they do take. A tree that uses a column not at all is monotone along it; with few columns allowed, few are used
and paid for, and shallow trees show which are worth it; and a leaf can be split by a column that has to be used. Where
no fast search takes the problem without them, trees are grown greedily. Every tree is checked against the whole problem
before it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from treeml.backends import registry
from treeml.backends.anytime import local_kernel, multipliers
from treeml.backends.anytime.multipliers import Multipliers
from treeml.backends.anytime.search import Anytime
from treeml.backends.contract import Deadline, Progress, Status
from treeml.backends.heuristics.guides import guided
from treeml.backends.planning.lowerings import bounded
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.portfolio.companion import Companion
from treeml.backends.portfolio.growing import offers_grown_trees
from treeml.backends.run import run
from treeml.problem.evaluate import Routed, answers
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Depth, Leaves, Monotone, Sum, Used
from treeml.problem.tree import Leaf, Node, Split

FIRST_SECONDS = 0.3  # for one simpler problem; longer in every round
LONGER = 2.0
FEW = (1, 2, 3, 5, 8)  # columns that are tried if each has a price
PRICED = frozenset({"Used", "TestCost", "DiscountedTestCost"})  # terms with a price for columns
OF_COLUMNS = PRICED | {"Monotone"}
SHALLOW = (2, 3)  # levels of trees that use few columns, or show which of them are worth it
SHARE_OF_SHALLOW, MOST_OF_SHALLOW = 0.2, 5.0  # of the time that is left, and seconds, for each of these at first


def takes(problem: Problem) -> bool:
    """Do columns as a whole matter, and is the problem without that one for the fast searches, or about classes?"""
    return _about_columns(problem) and (bool(problem.classes) or is_searched(_plain(problem)))


def offers_simpler_trees(company: Companion, rounds: int | None = None) -> None:
    """Offers trees until the run is over, or for some rounds over the simpler problems."""
    seconds, number, offers = FIRST_SECONDS, 0, _Offers(company)
    searches = is_searched(_plain(company.problem))
    while not company.is_over() and (rounds is None or number < rounds):
        before = company.tree
        for asked in _simpler(company, offers, seconds):
            if number == 0 and asked.classes:
                offers_grown_trees(company, asked, offers.offer)
            if searches:
                search_while(asked, offers.offer, company, Deadline.after(seconds), number)
            if company.is_over():
                return
        if not searches:
            return
        seconds, number = seconds if company.tree is not before else LONGER * seconds, number + 1


def is_searched(problem: Problem) -> bool:
    """Is there a fast search for trees of this problem?"""
    return local_kernel.takes(problem) or multipliers.takes(problem)


def search_while(
    asked: Problem,
    offer: Callable[[Node], bool],
    company: Companion,
    until: Deadline,
    seed: int = 0,
    is_enough: Callable[[], bool] = lambda: False,
    heard: Callable[[], Node | None] | None = None,
) -> None:
    """Offers trees of a problem for the fast searches until the run is over, the time is up, or one is enough."""
    deadline = Deadline(min(company.limits.deadline.at, until.at))
    seed += company.limits.seed

    def is_over() -> bool:
        return is_enough() or deadline.passed or company.is_over()

    if local_kernel.takes(asked):
        search = Anytime(asked, offer, is_over, seed, heard)
        company.interrupts.append(search.interrupt)
        search.run(deadline)
        company.interrupts.pop()
    elif multipliers.takes(asked):
        for _ in Multipliers(asked, offer, is_over, company.interrupts, seed).rounds(deadline):
            pass


def solve_while(asked: Problem, offer: Callable[[Node], object], company: Companion, until: Deadline) -> Status:
    """Offers the trees of the exact search of a problem until the run is over or the time is up; how that ended."""
    planned = plan(asked, registry.get(registry.default_name()), names_others=False)
    if not isinstance(planned, Plan) or company.is_over():
        return Status.UNKNOWN

    def heard(moment: Progress) -> bool:
        if moment.tree is not None:
            offer(moment.tree)
        return not company.is_over()

    deadline = Deadline(min(company.limits.deadline.at, until.at))
    own = replace(
        company.limits, options={}, threads=1, is_over=company.is_over, share=None, news=None, deadline=deadline
    )
    answer = run(planned, own, None, heard)
    if answer.tree is not None:
        offer(answer.tree)
    return answer.status


def _about_columns(problem: Problem) -> bool:
    sums = [goal.sum for goal in problem.goals] + [bound.sum for bound in problem.bounds]
    return any(OF_COLUMNS & each.kinds() for each in sums)


def _is_about_columns(bound: Bound) -> bool:
    return bool(OF_COLUMNS & bound.sum.kinds()) and _forbidden(bound) is None


def _forbidden(bound: Bound) -> frozenset[int] | None:
    """The columns that a bound rules out; the fast searches take that."""
    if bound.sense != "<=" or bound.limit != 0 or len(bound.sum.parts) != 1 or bound.sum.constant:
        return None
    factor, term = bound.sum.parts[0]
    return term.features if factor > 0 and isinstance(term, Used) else None


def _plain(problem: Problem) -> Problem:
    """The problem without what is asked of whole columns."""
    goals = tuple(Goal(_without_columns(goal.sum), goal.negated, goal.text) for goal in problem.goals)
    kept = tuple(bound for bound in problem.bounds if not _is_about_columns(bound))
    return problem.asking(tuple(goal for goal in goals if goal.sum.parts), kept)


def _without_columns(total: Sum) -> Sum:
    return Sum(tuple(part for part in total.parts if type(part[1]).__name__ not in OF_COLUMNS), total.constant)


@dataclass
class _Offers:
    """Takes trees in the place of the companion, and keeps the last one, whether it meets the requirements or not."""

    company: Companion
    last: Node | None = None
    settled: set[int] = field(default_factory=set)  # depths whose best tree was offered

    def offer(self, tree: Node) -> bool:
        self.last = tree
        return _offer_fitted(self.company, tree)

    def solve(self, plain: Problem, depth: int, seconds: float) -> None:
        """Offers the trees of an exact search, which is fast at a small depth."""
        status = solve_while(bounded(plain, depth), self.offer, self.company, Deadline.after(seconds))
        if status in (Status.OPTIMAL, Status.INFEASIBLE):
            self.settled.add(depth)


def _simpler(company: Companion, offers: _Offers, seconds: float) -> Iterator[Problem]:
    """Simpler problems: on all columns, then on those that the requirements and the best trees suggest."""
    problem = company.problem
    needed = _needed(problem)
    plain = _with_room(_plain(problem), len(needed))
    limits = _column_limits(problem)
    first = min(MOST_OF_SHALLOW, SHARE_OF_SHALLOW * company.limits.deadline.left())
    for depth in SHALLOW if limits else ():
        if depth not in offers.settled and (plain.max_depth is None or depth < plain.max_depth):
            offers.solve(plain, depth, max(seconds, first))
            yield from _on_few(plain, needed, limits, offers.last)
    yield plain
    monotone = frozenset(
        term.feature for bound in problem.bounds for _, term in bound.sum.parts if isinstance(term, Monotone)
    )
    if monotone:
        yield _on(plain, frozenset(range(len(problem.features))) - monotone)
    yield from _on_few(plain, needed, limits, company.tree, monotone)


def _on_few(
    plain: Problem,
    needed: frozenset[int],
    limits: tuple[int, ...],
    tree: Node | None,
    without: frozenset[int] = frozenset(),
) -> Iterator[Problem]:
    """The problem on the columns that have to be used and those that the tree suggests, up to each of these numbers."""
    ranked = [column for column in _ranked(plain, tree) if column not in needed | without] if limits else []
    for most in limits:
        if len(needed) < most < len(ranked) + len(needed):
            yield _on(plain, needed | frozenset(ranked[: most - len(needed)]))


def _needed(problem: Problem) -> frozenset[int]:
    """The columns that have to be used."""
    return frozenset(
        column
        for bound in problem.bounds
        if bound.sense in (">=", "=") and len(bound.sum.parts) == 1 and bound.limit > 0
        for _, term in bound.sum.parts
        if isinstance(term, Used) and len(term.features) == 1
        for column in term.features
    )


def _with_room(problem: Problem, splits: int) -> Problem:
    """The problem with lower limits on depth and leaves, which leave room for this number of splits."""
    if not splits:
        return problem
    bounds = tuple(
        Bound(bound.sum, bound.sense, max(least, bound.limit - splits), bound.name)
        if bound.sense == "<=" and (least := _least(bound)) is not None
        else bound
        for bound in problem.bounds
    )
    return problem.asking(problem.goals, bounds)


def _least(bound: Bound) -> Fraction | None:
    """The least that a limit on depth or leaves can be; None for other bounds."""
    if len(bound.sum.parts) != 1 or bound.sum.constant or bound.sum.parts[0][0] != 1:
        return None
    term = bound.sum.parts[0][1]
    return Fraction(0) if isinstance(term, Depth) else Fraction(1) if isinstance(term, Leaves) else None


def _column_limits(problem: Problem) -> tuple[int, ...]:
    """The numbers of columns that are worth trying."""
    limits = [
        int(bound.limit)
        for bound in problem.bounds
        if bound.sense == "<=" and bound.limit >= 1 and {"Used"} == bound.sum.kinds()
    ]
    if limits:
        return (min(limits),)
    return FEW if any(PRICED & goal.sum.kinds() for goal in problem.goals) else ()


def _ranked(problem: Problem, tree: Node | None) -> list[int]:
    """The columns by the rows that the best tree tests with them, then by their own best splits."""
    tested: Counter[int] = Counter()
    if tree is not None:
        _count(problem, tree, np.arange(problem.rows), tested)
    others = [column for column in _promising(problem) if column not in tested]
    return [column for column, _ in tested.most_common()] + others


def _count(problem: Problem, node: Node, rows: local_kernel.Rows, tested: Counter[int]) -> None:
    if isinstance(node, Leaf):
        return
    tested[problem.tests[node.test].feature] += len(rows)
    goes = answers(problem, node.test, rows)
    _count(problem, node.yes, rows[goes], tested)
    _count(problem, node.no, rows[~goes], tested)


def _promising(problem: Problem) -> list[int]:
    from treeml.backends.anytime.proposals import Splits
    from treeml.backends.native.goals import objective_of

    additive = guided(problem)
    additive = additive.asking(additive.goals[:1], ())
    if not local_kernel.takes(additive):
        return list(range(len(problem.features)))
    proposals = Splits(problem, objective_of(additive)).propose(np.arange(problem.rows))
    return list(dict.fromkeys(problem.tests[each.test].feature for each in proposals))


def _on(problem: Problem, columns: frozenset[int]) -> Problem:
    """The problem on these columns alone."""
    others = frozenset(range(len(problem.features))) - columns
    limit = Bound(Sum(((Fraction(1), Used(others)),)), "<=", Fraction(0))
    return problem.asking(problem.goals, (*problem.bounds, limit))


def _offer_fitted(company: Companion, tree: Node) -> bool:
    """Offers a tree, with splits by the columns that have to be used added to its leaves."""
    problem = company.problem
    for column in sorted(_needed(problem) - Routed(problem, tree).features):
        wider = _with_split(problem, tree, column)
        if wider is None:
            return False
        tree = wider
    return company.offer(tree)


def _with_split(problem: Problem, tree: Node, column: int) -> Node | None:
    """The tree with its largest leaf split by a column, in two leaves that predict the same; None if none can be."""
    routed = Routed(problem, tree)
    depth = problem.max_depth
    leaves = sorted(routed.leaves, key=lambda each: -len(each[2]))
    feature = problem.features[column]
    for leaf, path, rows in leaves:
        if depth is not None and len(path) >= depth:
            continue
        best, test = 0, -1
        for number in range(feature.first_test, feature.first_test + feature.tests):
            yes = int(problem.count[rows[answers(problem, number, rows)]].sum())
            smaller = min(yes, int(problem.count[rows].sum()) - yes)
            if smaller > best:
                best, test = smaller, number
        if best:
            return _replaced(tree, path, Split(test, leaf, leaf))
    return None


def _replaced(tree: Node, path: tuple[tuple[int, bool], ...], new: Node) -> Node:
    if not path:
        return new
    assert isinstance(tree, Split)
    (_, is_yes), rest = path[0], path[1:]
    yes = _replaced(tree.yes, rest, new) if is_yes else tree.yes
    no = tree.no if is_yes else _replaced(tree.no, rest, new)
    return Split(tree.test, yes, no)
