"""Problem -> an equivalent problem that more back-ends take: the small steps of a plan.

A step wraps a solve function: it passes an easier problem on and translates the answer back. Its sentence says what it
does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from treeml.backends.claims import Evidence, Proof
from treeml.backends.contract import Answer, Limits, OnProgress, Progress, Solve
from treeml.problem.choices import choices, chosen, largest_terms
from treeml.problem.like_terms import CostsTooLarge
from treeml.problem.problem import Bound, Problem, once
from treeml.problem.terms import Depth, Largest, Sum
from treeml.problem.tree import Leaf, Node, Split

Lift = Callable[[Node], Node]


@dataclass(frozen=True, slots=True)
class Step:
    sentence: str
    around: Callable[[Solve], Solve]


@once
def reduction(problem: Problem, rows: bool, tests: bool) -> tuple[Problem, Step]:
    """Merge equal rows and tests and drop constant tests; trees are translated back to the tests of `problem`."""
    from treeml.problem.reduce import reduce  # imported here: start-up time

    smaller, lift = reduce(problem, rows, tests)

    def around(inner: Solve) -> Solve:
        def solve(asked: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
            begin = start if start is None or not tests else _translated(start, problem, smaller, lift)
            return _lifted(inner(smaller, limits, begin, _told(on_progress, lift)), lift)

        return solve

    said = []
    if rows:
        said.append(f"{problem.rows:,} rows become {smaller.rows:,} that the tests tell apart or that differ in target")
    if tests:
        said.append(f"{len(problem.tests):,} tests become {len(smaller.tests):,} that split the rows differently")
    return smaller, Step("; ".join(said), around)


@once
def spread(problem: Problem) -> Problem:
    """Replace `largest(a, b) <= limit` by `a <= limit` and `b <= limit`, also within a longer sum."""
    if not any(map(_spreads, problem.bounds)):
        return problem
    return problem.asking(problem.goals, tuple(part for bound in problem.bounds for part in spread_bound(bound)))


def spread_bound(bound: Bound) -> tuple[Bound, ...]:
    if not _spreads(bound):
        return (bound,)
    if len(bound.sum.parts) == 1:
        factor, term = bound.sum.parts[0]
        assert isinstance(term, Largest)
        limit = (bound.limit - bound.sum.constant) / factor
        return tuple(Bound(part, "<=", limit, bound.name) for part in term.parts)
    try:
        return tuple(replace(bound, sum=chosen(bound.sum, choice)) for choice in choices(bound.sum))
    except CostsTooLarge:
        return (bound,)


def bounded(problem: Problem, depth: int) -> Problem:
    limit = Bound(Sum(((Fraction(1), Depth()),)), "<=", Fraction(depth))
    return problem.asking(problem.goals, (*problem.bounds, limit))


def rewriting(sentence: str, rewrite: Callable[[Problem], Problem]) -> Step:
    """A step that restates the problem over the same rows and tests, so that its trees need no translation."""

    def around(inner: Solve) -> Solve:
        def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
            answer = inner(rewrite(problem), limits, start, on_progress)
            return replace(answer, evidence=_restated(answer.evidence))

        return solve

    return Step(sentence, around)


def _restated(evidence: Proof) -> Proof:
    """Evidence about the solved problem as evidence about the problem that was asked."""
    return tuple(Evidence("restated", "", (each,)) for each in evidence)


def _spreads(bound: Bound) -> bool:
    upper = {"<=": 1, ">=": -1}.get(bound.sense, 0)
    gaps = largest_terms(bound.sum)
    return bool(gaps) and bool(upper) and all(factor * upper > 0 for factor, _ in gaps)


def _lifted(answer: Answer, lift: Lift) -> Answer:
    return replace(
        answer,
        tree=None if answer.tree is None else lift(answer.tree),
        trace=tuple(_lifted_moment(moment, lift) for moment in answer.trace),
        evidence=_restated(answer.evidence),
    )


def _lifted_moment(moment: Progress, lift: Lift) -> Progress:
    return moment if moment.tree is None else replace(moment, tree=lift(moment.tree))


def _told(on_progress: OnProgress | None, lift: Lift) -> OnProgress | None:
    return None if on_progress is None else lambda moment: on_progress(_lifted_moment(moment, lift))


def _translated(start: Node, problem: Problem, smaller: Problem, lift: Lift) -> Node | None:
    """The start over the kept tests: each of its tests splits the rows as a kept test does, perhaps with sides swapped.

    A test that splits nothing is replaced by its side with rows. None if the start needs a test that the smaller
    problem no longer has.
    """
    alike: dict[bytes, tuple[int, bool]] = {}
    for number in range(len(smaller.tests)):
        lifted = lift(Split(number, Leaf(0), Leaf(1)))
        if isinstance(lifted, Split):
            answers = problem.bits[lifted.test]
            swapped = lifted.yes == Leaf(1)
            alike[answers.tobytes()] = (number, swapped)
            alike[(~answers).tobytes()] = (number, not swapped)

    def translate(node: Node) -> Node | None:
        if isinstance(node, Leaf):
            return node
        answers = problem.bits[node.test]
        if answers.all() or not answers.any():
            return translate(node.yes if answers.any() else node.no)
        found = alike.get(answers.tobytes())
        yes, no = translate(node.yes), translate(node.no)
        if found is None or yes is None or no is None:
            return None
        return Split(found[0], no, yes) if found[1] else Split(found[0], yes, no)

    return translate(start)
