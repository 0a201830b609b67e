"""Problem -> a program with one aggregated row per node and test, for comparison.

It has the rows and errors of BinOCT (Verwer and Zhang 2019), but a variable for every test where BinOCT encodes
thresholds by bits (binoct.py). Nodes t and leaves l are those of the complete tree of the depth, u are groups of equal
rows, j tests.

    a[t, j]  node t asks test j        z[u, l]  u ends in l        p[l, c]  leaf l predicts c        e[l, c] >= 0

    sum_j a[t, j] = 1,  sum_l z[u, l] = 1,  sum_c p[l, c] = 1
    sum over u that answer no, l under the yes side of t, of z[u, l]
      + sum over u that answer yes, l under the no side of t, of z[u, l]  <=  M (1 - a[t, j])        M: all groups
    sum_u w[u, c] z[u, l] - W_c p[l, c]  <=  e[l, c]                      W_c: the weight of class c
    minimize the sum of e

One aggregated row per node and test makes the model small but its relaxation weak: with open-source solvers the bound
stays near zero. Only errors under a depth bound are supported.
"""

from __future__ import annotations

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.encodings.complete_tree import CompleteTree
from treeml.backends.solvers.encodings.mip.flow import NodeProgram, write_nodes
from treeml.backends.solvers.encodings.mip.program_builder import ProgramBuilder, Terms
from treeml.backends.task.deadline import NO_DEADLINE
from treeml.backends.task.integer_task import IntegerTask
from treeml.backends.task.node_questions import NodeQuestions
from treeml.backends.task.unsupported import Unsupported
from treeml.problem.problem import Problem


def build_aggregated(
    problem: Problem, task: IntegerTask, questions: NodeQuestions, deadline: Deadline = NO_DEADLINE
) -> NodeProgram:
    weight, fixed = class_weights(problem, task, questions)
    depth = task.depth if questions else 0
    model = NodeProgram(problem, task, questions, CompleteTree(max(0, depth)), ProgramBuilder(deadline))
    draft, nodes = model.draft, model.nodes
    write_nodes(model)
    place = write_places(model)
    for node in range(nodes.branches):
        sides = leaves_of_sides(nodes, node)
        for column, question in zip(model.ask[node], questions, strict=True):
            assert question.yes is not None
            terms: Terms = [
                (1, place[u][leaf]) for u in range(questions.groups) for leaf in sides[1 if question.yes[u] else 0]
            ]
            draft.row([*terms, (questions.groups, column)], None, questions.groups)
    write_errors(model, place, weight, fixed)
    return model


def write_places(model: NodeProgram) -> list[list[int]]:
    """For every group of rows and every leaf a column: does the group end there?"""
    place = [model.draft.columns(model.nodes.leaves) for _ in range(model.questions.groups)]
    for row in place:
        model.draft.row([(1, column) for column in row], 1, 1)
    return place


def leaves_of_sides(nodes: CompleteTree, node: int) -> list[list[int]]:
    """The leaves under the yes side of a node, and those under its no side."""
    children = (2 * node + 1, 2 * node + 2)
    return [list(nodes.under(child)) if child < nodes.branches else [child - nodes.branches] for child in children]


def write_errors(model: NodeProgram, place: list[list[int]], weight: np.ndarray, fixed: int) -> None:
    """The goal: for each leaf, the weight of every class that it does not predict."""
    draft = model.draft
    errors: Terms = []
    for leaf in range(model.nodes.leaves):
        for label in range(model.problem.classes):
            total = int(weight[:, label].sum())
            error = draft.column(0, max(0, total), whole=False)
            errors.append((1, error))
            here = [(int(w), place[u][leaf]) for u, w in enumerate(weight[:, label]) if w]
            draft.row([*here, (-total, model.label[leaf][label]), (-1, error)], None, 0)
    draft.minimize(errors, fixed)


def class_weights(problem: Problem, task: IntegerTask, questions: NodeQuestions) -> tuple[np.ndarray, int]:
    """Weights, groups x classes, such that predicting c costs the weight of all other classes; and a constant.

    Raises Unsupported unless the goal is a sum of errors under a depth bound.
    """
    goal = task.goal
    if task.requirements or task.counts_shape or not goal.additive or goal.predicted is None or not problem.classes:
        raise Unsupported("this problem", "BinOCT minimizes errors under a depth bound, no more", "formulation = flow")
    cost = questions.summed(goal.predicted)
    if problem.classes == 1:
        return np.zeros_like(cost), int(cost.sum()) + goal.offset
    # cost[u, c] = total[u] - weight[u, c], so total = sum of cost / (classes - 1).
    total = cost.sum(axis=1)
    if np.any(total % (problem.classes - 1)):
        raise Unsupported(
            "this goal", "BinOCT counts weights of classes, not costs of predictions", "formulation = flow"
        )
    weight = (total // (problem.classes - 1))[:, None] - cost
    if np.any(weight < 0):
        raise Unsupported(
            "this goal", "BinOCT counts weights of classes, not costs of predictions", "formulation = flow"
        )
    return weight, goal.offset
