"""Answer -> the same answer with a smaller tree: a test with the same subtree on both sides decides nothing.

If several trees are optimal, a back-end may return one that asks a needless question before it asks the same questions,
or predicts the same class, on both sides. The question is removed if every goal keeps its value (or improves, where no
proof says that it cannot) and every requirement is still met. Two leaves stay apart where their shares of the classes
matter: if a goal or requirement is about them, if none is about predictions, and in the trees of heuristics, which
split for the sake of these shares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from treeml.backends.contract import Answer, Status
from treeml.problem.evaluate import Routed, evaluate_sum, meets
from treeml.problem.fans import has_fans
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

MOST_TRIED = 32  # single questions that are tried if not all of them can go
_OF_SHARES = frozenset({"Loss", "Custom"})  # terms that depend on how the rows of a class are shared out among leaves


def without_equal_sides(problem: Problem, answer: Answer, *, joins_leaves: bool = True) -> Answer:
    """The answer with as few needless questions as its goals and requirements allow; its objective is known.

    `joins_leaves`: may two leaves of one class become one?
    """
    if answer.tree is None or answer.objective is None or not any(_needless(answer.tree, joins_leaves)):
        return answer
    joins_leaves = joins_leaves and only_classes_matter(problem)
    if has_fans(problem):  # a fan has all its branches, whatever they hold
        return answer
    all_gone = _kept(problem, answer, with_questions_that_matter(answer.tree, joins_leaves=joins_leaves))
    if all_gone is not None:
        return all_gone
    tried = 0
    refused: set[Node] = set()
    while tried < MOST_TRIED:
        split = next((each for each in _needless(answer.tree, joins_leaves) if each not in refused), None)
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


def with_questions_that_matter(tree: Node, *, joins_leaves: bool = True) -> Node:
    """The tree without any split whose two sides are the same."""
    if isinstance(tree, Leaf):
        return tree
    yes = with_questions_that_matter(tree.yes, joins_leaves=joins_leaves)
    no = with_questions_that_matter(tree.no, joins_leaves=joins_leaves)
    return yes if yes == no and (joins_leaves or isinstance(yes, Split)) else replace(tree, yes=yes, no=no)


def without_idle_questions(problem: Problem, tree: Node) -> Node:
    """The tree without splits whose two sides are the same for the problem: leaves stay apart where shares matter."""
    return with_questions_that_matter(tree, joins_leaves=only_classes_matter(problem))


def _kept(problem: Problem, answer: Answer, tree: Node) -> Answer | None:
    """The answer with this tree, if that is as good and allowed."""
    assert answer.objective is not None
    if tree == answer.tree:  # only leaves are equal, and they stay apart
        return answer
    routed = Routed(problem, tree)
    objective = tuple(evaluate_sum(goal.sum, problem, tree, routed) for goal in problem.goals)
    # A tree that is better than a proved optimum would refute the proof, so an optimal one must keep its value.
    if objective > answer.objective or (answer.status is Status.OPTIMAL and objective != answer.objective):
        return None
    if not all(meets(bound, problem, tree, routed) for bound in problem.bounds):
        return None
    return replace(answer, tree=tree, objective=objective)


def only_classes_matter(problem: Problem) -> bool:
    """Do goals and requirements ask which class a leaf predicts, and not for the shares of classes among its rows?"""
    sums = [*(goal.sum for goal in problem.goals), *(bound.sum for bound in problem.bounds)]
    kinds = frozenset().union(*(each.all_kinds() for each in sums))
    return problem.classes > 0 and "Predicted" in kinds and not kinds & _OF_SHARES


def _needless(tree: Node, joins_leaves: bool) -> Iterator[Split]:
    """The splits whose two sides are the same."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, Split):
            if node.yes == node.no and (joins_leaves or isinstance(node.yes, Split)):
                yield node
            todo += [node.no, node.yes]


def _without(tree: Node, split: Split) -> Node:
    """The tree with this split, wherever it occurs, replaced by one of its sides."""
    if isinstance(tree, Leaf):
        return tree
    if tree == split:
        return split.yes
    return replace(tree, yes=_without(tree.yes, split), no=_without(tree.no, split))
