"""Answer -> the same answer with a smaller tree: a test with the same subtree on both sides decides nothing.

If several trees are optimal, a back-end may return one that asks a needless question before it asks the same questions
on both sides. The question is removed if every goal keeps its value (or improves, where no proof says that it cannot)
and every requirement is still met. Two leaves of the same label stay apart, because the shares of the classes among
their rows differ, unless all rows of both cost nothing there and something with any other label: then they are all of
one class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from treeml.backends.contract import Answer, Status
from treeml.problem.evaluate import Routed, evaluate_sum, meets
from treeml.problem.fans import has_fans
from treeml.problem.problem import Problem
from treeml.problem.terms.predicted import Predicted
from treeml.problem.tree import Leaf, Node, Split

MOST_TRIED = 32  # single questions that are tried if not all of them can go


def without_equal_sides(problem: Problem, answer: Answer) -> Answer:
    """The answer with as few needless questions as its goals and requirements allow; its objective is known."""
    if answer.tree is None or answer.objective is None:
        return answer
    needless, alike = any(_needless(answer.tree)), any(_alike(answer.tree))
    if not (needless or alike) or has_fans(problem):  # a fan has all its branches, whatever they hold
        return answer
    if alike:
        joined = _joined(problem, answer.tree)
        answer = (None if joined == answer.tree else _kept(problem, answer, joined)) or answer
    assert answer.tree is not None
    if not any(_needless(answer.tree)):
        return answer
    all_gone = _kept(problem, answer, _without_any(answer.tree))
    if all_gone is not None:
        return all_gone
    tried = 0
    refused: set[Node] = set()
    while tried < MOST_TRIED:
        split = next((each for each in _needless(answer.tree) if each not in refused), None)
        if split is None:
            return answer
        tried += 1
        smaller = _kept(problem, answer, _without(answer.tree, split))
        if smaller is None:
            refused.add(split)
        else:
            answer = smaller
        assert answer.tree is not None
    return answer


def _kept(problem: Problem, answer: Answer, tree: Node) -> Answer | None:
    """The answer with this tree, if that is as good and allowed."""
    assert answer.objective is not None
    routed = Routed(problem, tree)
    objective = tuple(evaluate_sum(goal.sum, problem, tree, routed) for goal in problem.goals)
    # A tree that is better than a proved optimum would refute the proof, so an optimal one must keep its value.
    if objective > answer.objective or (answer.status is Status.OPTIMAL and objective != answer.objective):
        return None
    if not all(meets(bound, problem, tree, routed) for bound in problem.bounds):
        return None
    return replace(answer, tree=tree, objective=objective)


def _needless(tree: Node) -> Iterator[Split]:
    """The splits whose two sides are the same subtree, other than a leaf."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, Split):
            if node.yes == node.no and isinstance(node.yes, Split):
                yield node
            todo += [node.no, node.yes]


def _alike(tree: Node) -> Iterator[Split]:
    """The splits into two leaves of the same label."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, Split):
            if isinstance(node.yes, Leaf) and node.yes == node.no and node.yes.label >= 0:
                yield node
            todo += [node.no, node.yes]


def _joined(problem: Problem, tree: Node) -> Node:
    """The tree in which two leaves of the same label are one, and so on upwards, if their rows are all of the class."""
    costs = [part for _, part in problem.goals[0].sum.parts if isinstance(part, Predicted)] if problem.goals else []
    if len(costs) != 1:
        return tree
    cost = costs[0].cost
    # In a row of several classes, or where mistakes are free, the label is not the only one without a cost.
    right = (cost == 0) & ((cost > 0).sum(axis=1) == cost.shape[1] - 1)[:, None]
    pure = iter([bool(right[rows, leaf.label].all()) for leaf, _, rows in Routed(problem, tree).leaves])

    def joined(node: Node) -> tuple[Node, bool]:
        if isinstance(node, Leaf):
            return node, next(pure)
        (yes, yes_is_pure), (no, no_is_pure) = joined(node.yes), joined(node.no)
        if isinstance(yes, Leaf) and yes == no and yes_is_pure and no_is_pure:
            return yes, True
        return replace(node, yes=yes, no=no), False

    return joined(tree)[0]


def _without_any(tree: Node) -> Node:
    if isinstance(tree, Leaf):
        return tree
    yes, no = _without_any(tree.yes), _without_any(tree.no)
    return yes if yes == no and isinstance(yes, Split) else replace(tree, yes=yes, no=no)


def _without(tree: Node, split: Split) -> Node:
    """The tree with this split, wherever it occurs, replaced by one of its sides."""
    if isinstance(tree, Leaf):
        return tree
    if tree == split:
        return split.yes
    return replace(tree, yes=_without(tree.yes, split), no=_without(tree.no, split))
