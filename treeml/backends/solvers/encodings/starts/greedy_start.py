"""Choices -> a first tree, grown greedily on codes as they are and then mended node by node: a bound to start from.

Above the last level a split is chosen by the Gini impurity of the goal's costs, on the last level by the goal itself.
Subsets are taken as first parts of the codes sorted by the share of a class, which is where the best one lies if there
are two classes (Breiman and others 1984). Mending follows Carreira-Perpinan and Tavallali (2018): with everything else
fixed, each row at a node costs something on either side, and the best cut for these costs is found by sorting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.deadline import NO_DEADLINE
from treeml.backends.solvers.encodings.integer_task import IntegerTask, LeafRule
from treeml.backends.solvers.encodings.node_questions import NodeQuestions, Question, read_questions
from treeml.backends.solvers.encodings.read_problem import form_of
from treeml.problem.evaluate import answers
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]

MOST_CELLS = 5_000_000  # groups times choices of a tree that is grown in passing: about a second
LARGEST_DEPTH = 200  # a greedy tree is grown by calls within calls


def greedy_tree(questions: NodeQuestions, task: IntegerTask, deadline: Deadline = NO_DEADLINE) -> Node | None:
    """None where the goal says nothing about predictions; at the deadline nothing is split any more."""
    if task.goal.predicted is None or task.depth < 0:
        return None
    cost = questions.summed(task.goal.predicted)
    gain = cost.max(axis=1, keepdims=True) - cost
    support = max(1, task.support)

    def grow(rows: Whole, depth: int) -> Node:
        here = cost[rows].sum(axis=0)
        leaf = Leaf(int(here.argmin()))
        if depth == 0 or deadline.passed or here.min() == cost[rows].min(axis=1).sum():
            return leaf
        best: tuple[float, Question, Bits] | None = None
        for question in questions:
            if deadline.passed:
                return leaf
            found = _best_cut(question, rows, cost if depth == 1 else gain, questions.count, support, depth == 1)
            if found is not None and (best is None or found[0] < best[0]):
                best = (found[0], question, found[1])
        if best is None or (depth == 1 and best[0] >= here.min()):
            return leaf
        decoded = questions.decode(best[1], best[2])
        if decoded is None:
            return leaf
        test, swapped = decoded
        yes, no = grow(rows[best[2][rows]], depth - 1), grow(rows[~best[2][rows]], depth - 1)
        return Split(test, no, yes) if swapped else Split(test, yes, no)

    return grow(np.arange(questions.groups), task.depth)


def first_trees(questions: NodeQuestions, task: IntegerTask, deadline: Deadline = NO_DEADLINE) -> Iterator[Node]:
    """The greedy tree, then smaller and smaller ones: a requirement that a tree breaks may hold for one with less."""
    depth = task.depth
    while depth > 0 and not deadline.passed:
        tree = greedy_tree(questions, replace(task, depth=depth), deadline)
        if tree is None:
            break
        yield tree
        depth //= 2
    yield from map(Leaf, range(questions.problem.classes) if questions.problem.classes else (-1,))


def greedy_for_bound(problem: Problem) -> Node | None:
    """A tree grown for the first bound on predictions alone, as deep as the bounds allow; it may break the others."""
    for bound in problem.bounds:
        if bound.sense == ">=" or bound.sum.kinds() != {"Predicted"}:
            continue
        deep = LARGEST_DEPTH if problem.max_depth is None else min(problem.max_depth, LARGEST_DEPTH)
        support = problem.bound_on("Support", ">=")
        rule = () if support is None else (LeafRule("support", ">=", support, False, ""),)
        task = IntegerTask(deep, form_of(bound.sum, "a requirement"), (), rule, ())
        questions = read_questions(problem)
        return greedy_tree(questions, task) if questions.groups * len(questions) <= MOST_CELLS else None
    return None


def mended_tree(
    questions: NodeQuestions, task: IntegerTask, tree: Node | None, deadline: Deadline = NO_DEADLINE, rounds: int = 20
) -> Node | None:
    """The tree, or a better one after choosing its cuts anew in turn; from a few disturbed trees as well.

    Only the goal's costs of predictions are looked at; whether the rest is met is for the caller to see.
    """
    if tree is None or task.goal.predicted is None or isinstance(tree, Leaf) or not questions:
        return tree
    cost = questions.summed(task.goal.predicted)
    rows = np.zeros(questions.groups, np.int64)
    rows[questions.group] = np.arange(questions.problem.rows)
    known: dict[int, Bits] = {}

    def says_yes(test: int) -> Bits:
        if test not in known:
            known[test] = answers(questions.problem, test, rows)
        return known[test]

    def total(node: Node, here: Whole) -> int:
        if isinstance(node, Leaf):
            return int(cost[here].sum(axis=0).min())
        yes = says_yes(node.test)[here]
        return total(node.yes, here[yes]) + total(node.no, here[~yes])

    def outcome(node: Node, here: Whole, asked_of: Whole) -> Whole:
        """The cost of every one of `asked_of` below the node, whose leaves are labeled by `here`."""
        if isinstance(node, Leaf):
            label = int(cost[here].sum(axis=0).argmin()) if len(here) else 0
            return np.asarray(cost[asked_of, label])
        yes = says_yes(node.test)
        result = np.zeros(len(asked_of), np.int64)
        goes = yes[asked_of]
        result[goes] = outcome(node.yes, here[yes[here]], asked_of[goes])
        result[~goes] = outcome(node.no, here[~yes[here]], asked_of[~goes])
        return result

    def mend(node: Node, here: Whole) -> Node:
        if isinstance(node, Leaf) or not len(here):
            return node
        yes = says_yes(node.test)[here]
        sides = np.stack([outcome(node.no, here[~yes], here), outcome(node.yes, here[yes], here)], axis=1)
        best: tuple[float, Split] | None = None
        values = np.zeros((questions.groups, 2), np.int64)
        values[here] = sides
        for question in questions:
            found = _best_route(question, here, values)
            decoded = None if found is None else questions.decode(question, found[1])
            if found is None or decoded is None or (best is not None and found[0] >= best[0]):
                continue
            test, swapped = decoded
            pair = (node.no, node.yes) if swapped else (node.yes, node.no)
            best = (found[0], Split(test, *pair))
        chosen = node if best is None else best[1]
        yes = says_yes(chosen.test)[here]
        return Split(chosen.test, mend(chosen.yes, here[yes]), mend(chosen.no, here[~yes]))

    def disturbed(node: Node, make: np.random.Generator) -> Node:
        if isinstance(node, Leaf):
            return node
        test = node.test
        if make.random() < 0.5:
            test = int(make.integers(0, len(questions.problem.tests)))
        return Split(test, disturbed(node.yes, make), disturbed(node.no, make))

    restarts = 10
    everything = np.arange(questions.groups)
    make = np.random.default_rng(0)
    full = _filled(tree, task.depth)
    best: Node = tree
    least = total(tree, everything)
    for restart in range(restarts + 1):
        if deadline.passed:
            break
        here: Node = full if restart == 0 else disturbed(_filled(best, task.depth), make)
        value = total(here, everything)
        for _ in range(rounds):
            if deadline.passed:
                break
            here = mend(here, everything)
            mended = total(here, everything)
            if mended >= value:
                break
            value = mended
        if value < least:
            best, least = here, value
    return _labeled(best, everything, cost, says_yes)


def _filled(node: Node, depth: int) -> Node:
    """Leaves above the last level become splits, so that mending can use them; both sides start alike."""
    if depth == 0:
        return node
    if isinstance(node, Leaf):
        return Split(0, _filled(node, depth - 1), _filled(node, depth - 1))
    return Split(node.test, _filled(node.yes, depth - 1), _filled(node.no, depth - 1))


def _labeled(node: Node, here: Whole, cost: Whole, says_yes: Callable[[int], Bits]) -> Node:
    """Without splits that part nothing, or whose leaves agree."""
    if isinstance(node, Leaf):
        return Leaf(int(cost[here].sum(axis=0).argmin()))
    yes = says_yes(node.test)[here]
    if yes.all() or not yes.any():
        return _labeled(node.yes if yes.any() else node.no, here, cost, says_yes)
    one, other = _labeled(node.yes, here[yes], cost, says_yes), _labeled(node.no, here[~yes], cost, says_yes)
    return one if isinstance(one, Leaf) and one == other else Split(node.test, one, other)


def _best_route(question: Question, here: Whole, values: Whole) -> tuple[float, Bits] | None:
    """The cut for which the rows here cost least, values[:, 0] being what they cost on the no side, [:, 1] on yes."""
    if question.kind == "test":
        assert question.yes is not None
        yes = question.yes[here]
        return float(values[here[yes], 1].sum() + values[here[~yes], 0].sum()), question.yes
    assert question.codes is not None
    present, inverse = np.unique(question.codes[here], return_inverse=True)
    gain = np.zeros(len(present))
    np.add.at(gain, inverse, values[here, 1] - values[here, 0])
    base = float(values[here, 0].sum())
    if question.kind == "equal":
        chosen = present[gain < 0]
        return base + float(gain[gain < 0].sum()), np.isin(question.codes, chosen)
    if present[0] < 0:
        present, gain = present[1:], gain[1:]
    if not len(present):
        return None
    sums = np.cumsum(gain)
    place = int(sums.argmin())
    return base + float(sums[place]), (question.codes >= 0) & (question.codes <= present[place])


def _best_cut(
    question: Question, rows: Whole, values: Whole, count: Whole, support: int, last: bool
) -> tuple[float, Bits] | None:
    """The least score of a cut, and which groups, here and elsewhere, it sends to the yes side."""
    if question.kind == "test":
        assert question.yes is not None
        yes = question.yes[rows]
        if not yes.any() or yes.all() or min(count[rows][yes].sum(), count[rows][~yes].sum()) < support:
            return None
        above, below = values[rows][yes].sum(axis=0), values[rows][~yes].sum(axis=0)
        return float(_score(above[None], last)[0] + _score(below[None], last)[0]), question.yes
    assert question.codes is not None
    codes = question.codes[rows]
    present, inverse = np.unique(codes, return_inverse=True)
    if len(present) < 2:
        return None
    sums = np.zeros((len(present), values.shape[1]))
    counts = np.zeros(len(present))
    np.add.at(sums, inverse, values[rows])
    np.add.at(counts, inverse, count[rows])
    order = np.arange(len(present))
    if question.kind == "equal":
        order = np.argsort(sums[:, 0] / np.maximum(1, sums.sum(axis=1)))
    elif present[0] < 0:
        order = order[1:]  # a missing value stays on the no side
    above = np.cumsum(sums[order], axis=0)
    held = np.cumsum(counts[order])
    total, everything = sums.sum(axis=0), counts.sum()
    ends = len(order) - 1 if len(order) == len(present) else len(order)
    score = _score(above[:ends], last) + _score(total - above[:ends], last)
    score[(held[:ends] < support) | (everything - held[:ends] < support)] = np.inf
    place = int(score.argmin()) if len(score) else 0
    if not len(score) or not np.isfinite(score[place]):
        return None
    chosen = present[order[: place + 1]]
    if question.kind == "order":
        return float(score[place]), (question.codes >= 0) & (question.codes <= chosen.max())
    return float(score[place]), np.isin(question.codes, chosen)


def _score(sums: NDArray[np.float64] | Whole, last: bool) -> NDArray[np.float64]:
    if last:
        return np.asarray(sums.min(axis=1), float)
    total = sums.sum(axis=1)
    squares = (sums.astype(float) ** 2).sum(axis=1)
    return np.asarray(total - np.divide(squares, total, out=np.zeros_like(squares), where=total > 0), float)
