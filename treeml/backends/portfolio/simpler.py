"""Requirements and prices on columns -> trees for the problem without them, made to fit.

How many columns a tree uses, whether it uses one, and whether it is monotone along one are questions about the tree as
a whole, which the fast searches do not take. Without them the problem often is one that they do take. A tree that uses
a column not at all is monotone along it; with few columns allowed, few are used; and a leaf can be split by a column
that has to be used. Every tree is checked against the whole problem before it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from treeml.backends.anytime import local_kernel, multipliers
from treeml.backends.anytime.multipliers import Multipliers
from treeml.backends.anytime.search import Anytime
from treeml.backends.contract import Deadline
from treeml.backends.portfolio.companion import Companion
from treeml.backends.portfolio.growing import offers_grown_trees
from treeml.problem.evaluate import Routed, answers
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Depth, Leaves, Monotone, Sum, Used
from treeml.problem.tree import Leaf, Node, Split

FIRST_SECONDS = 0.3  # for one simpler problem; longer in every round
LONGER = 2.0
FEW = (1, 2, 3, 5, 8)  # columns that are tried if each has a price


def takes(problem: Problem) -> bool:
    """Do columns as a whole matter, and is the problem without that one for the fast searches?"""
    return _about_columns(problem) and is_searched(_plain(problem))


def offers_simpler_trees(company: Companion, rounds: int | None = None) -> None:
    """Offers trees until the run is over, or for some rounds over the simpler problems."""
    seconds, number, offer = FIRST_SECONDS, 0, partial(_offer_fitted, company)
    while not company.is_over() and (rounds is None or number < rounds):
        before = company.tree
        for asked in list(_simpler(company)):
            if number == 0 and asked.classes:
                offers_grown_trees(company, asked, offer)
            search_while(asked, offer, company, Deadline.after(seconds), number)
            if company.is_over():
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


def _about_columns(problem: Problem) -> bool:
    sums = [goal.sum for goal in problem.goals] + [bound.sum for bound in problem.bounds]
    return any({"Used", "Monotone"} & each.kinds() for each in sums)


def _is_about_columns(bound: Bound) -> bool:
    return bool({"Used", "Monotone"} & bound.sum.kinds()) and _forbidden(bound) is None


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
    return Sum(tuple(part for part in total.parts if not isinstance(part[1], Used | Monotone)), total.constant)


def _simpler(company: Companion) -> Iterator[Problem]:
    """Simpler problems: on all columns, then on those that the requirements and the best tree suggest."""
    problem = company.problem
    plain = _with_room(_plain(problem), len(_needed(problem)))
    yield plain
    monotone = frozenset(
        term.feature for bound in problem.bounds for _, term in bound.sum.parts if isinstance(term, Monotone)
    )
    if monotone:
        yield _on(plain, frozenset(range(len(problem.features))) - monotone)
    ranked = [column for column in _ranked(plain, company.tree) if column not in monotone]
    for most in _column_limits(problem):
        if most < len(ranked):
            yield _on(plain, frozenset(ranked[:most]) | _needed(problem))


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
    return FEW if any("Used" in goal.sum.kinds() for goal in problem.goals) else ()


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
    from treeml.backends.native.goals import joinable, objective_of

    if not local_kernel.takes(problem):
        return list(range(len(problem.features)))
    proposals = Splits(problem, objective_of(joinable(problem))).propose(np.arange(problem.rows))
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
