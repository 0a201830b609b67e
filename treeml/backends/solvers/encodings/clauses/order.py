"""Problem -> clauses over directions: the order encoding of Shati, Cohen and McIlraith (2021).

Nodes t and leaves l are those of the complete tree of the depth, u are groups of equal rows, j what a node can ask.

    a[t, j]   node t asks j                    s[u, t]   u goes to the yes side at t
    g[l, c]   leaf l predicts c (one literal if there are two classes)

    one of a[t, .]                                                             for every t
    ordered j, u before u' in its order:    a[t, j] and s[u', t] -> s[u, t];  equal codes: also s[u, t] -> s[u', t]
                                            a[t, j] -> s[first, t];  a[t, j] -> not s[last, t]
    subsets j, u and u' of one code:        a[t, j] -> (s[u, t] = s[u', t])
    single test j:                          a[t, j] -> s[u, t] as u answers
    one of g[l, .]                                                             for every l

To minimize a sum of costs over predictions, no literal per row and leaf is needed. The costs of the classes of u are
sorted into steps; e[u, k] pays for step k, and for every leaf

    u on the path to l  ->  e[u, k]  or  g[l, c] for some c cheaper than step k

With `leaf_literals` the clauses are those of the paper: z[u, l] says that u ends in l, by one clause for every step of
its path and one for all of them, g[l, c] is a literal for every class of which at most one holds, and in the clauses
above z[u, l] stands for "u on the path to l".

If several sums depend on the predictions, they share literals y[u, c] ("u is predicted c") instead:
u on the path to l and g[l, c] -> y[u, c], one of y[u, .].

If the shape counts, p[t] says that t is split (otherwise everything goes left), and z[u, l] that u ends in l. A leaf
exists if the last node at which its path goes right is split, and then it holds a group. Support, purity and errors of
leaves are sums over z. D[k] is the disjunction of p on a level, used[f] that of a over the nodes, and q[u, f] pays for
testing f on the path of u. Rows that do not reach a node have a direction there too, so the order clauses need no
literal for presence. With a margin m, either side of every test holds at least m of all rows; the clauses on the first
and last row then become clauses on the first and last m rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.encodings.clauses.order_leaves import (
    Presence,
    write_leaf_rule,
    write_shape,
    write_some_leaf,
)
from treeml.backends.solvers.encodings.clauses.order_model import AtMost, OrderModel
from treeml.backends.solvers.encodings.clauses.order_sums import write_forms
from treeml.backends.solvers.encodings.clauses.pseudo_boolean import Clauses
from treeml.backends.solvers.encodings.complete_tree import CompleteTree
from treeml.backends.task.deadline import NO_DEADLINE, in_time
from treeml.backends.task.integer_task import IntegerTask
from treeml.backends.task.node_questions import NodeQuestions
from treeml.problem.problem import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


def estimate_clauses(task: IntegerTask, questions: NodeQuestions) -> int:
    """The approximate number of clauses, before any is written."""
    nodes = CompleteTree(task.depth)
    per_node = sum(2 * questions.groups if question.kind != "test" else questions.groups for question in questions)
    leaves = nodes.leaves * questions.groups * (2 + sum(1 for _ in task.forms))
    shape = nodes.leaves * questions.groups * (task.depth + 1) if task.counts_shape else 0
    return nodes.branches * per_node + leaves + shape


def build_order(
    problem: Problem,
    task: IntegerTask,
    questions: NodeQuestions,
    deadline: Deadline = NO_DEADLINE,
    margin: int = 1,
    leaf_literals: bool = False,
) -> OrderModel:
    """The model; raises Unsupported if it cannot express the task, OutOfTime at the deadline."""
    depth = task.depth if questions else 0
    clauses = Clauses(deadline=deadline)
    model = OrderModel(problem, task, questions, CompleteTree(max(0, depth)), clauses, margin=margin)
    _write_nodes(model)
    if margin > 1:
        _write_margin(model)
    presence = Presence(model)
    if leaf_literals:
        model.ends = presence.get()
    _write_labels(model)
    write_shape(model, presence)
    for rule in task.leaf_rules:
        if rule.some:
            write_some_leaf(model, presence, rule)
        else:
            write_leaf_rule(model, presence, rule)
    write_forms(model)
    return model


def _write_nodes(model: OrderModel) -> None:
    """One block of variables per node: what it asks, where the groups go, and whether it is split."""
    questions, nodes, clauses = model.questions, model.nodes, model.clauses
    kinds, groups = len(questions), questions.groups
    # With a margin there may be no allowed test, so a node must be able to ask nothing.
    free = model.task.counts_shape or model.margin > 1
    block = kinds + groups + int(free)
    first = clauses.top + 1
    clauses.fresh(block * nodes.branches)
    base = first + block * np.arange(nodes.branches)[:, None]
    model.ask = base + np.arange(kinds)[None, :]
    model.side = base + kinds + np.arange(groups)[None, :]
    if free:
        model.split = base[:, 0] + kinds + groups
    template = _template(questions, kinds, clauses.deadline)
    for node in range(nodes.branches):
        for clause_array in template:
            shift = np.sign(clause_array) * (int(base[node, 0]) - 1)
            clauses.extend_rows(clause_array + shift)
        asks = model.ask[node].tolist()
        if model.split is None:
            clauses.add(*asks)
        else:
            split = int(model.split[node])
            clauses.add(-split, *asks)
            clauses.extend([-literal, split] for literal in asks)
            clauses.extend([split, literal] for literal in model.side[node].tolist())
            if node:
                clauses.add(-split, int(model.split[(node - 1) // 2]))
        clauses.at_most_one(asks)


def _template(questions: NodeQuestions, kinds: int, deadline: Deadline) -> list[Whole]:
    """The clauses of one node over variables 1 .. kinds (asks) and kinds + 1 .. kinds + groups (sides)."""
    twos: list[Whole] = []
    threes: list[Whole] = []

    def implied(ask: int, literals: Whole) -> None:
        twos.append(np.stack([np.full(len(literals), -ask), literals], axis=1))

    def chained(ask: int, before: Whole, after: Whole) -> None:
        """If the node asks this, `after` implies `before`."""
        threes.append(np.stack([np.full(len(before), -ask), before, -after], axis=1))

    for place, question in enumerate(questions):
        in_time(deadline)
        ask = place + 1
        sides = kinds + 1 + np.arange(questions.groups)
        if question.kind == "test":
            assert question.yes is not None
            implied(ask, np.where(question.yes, sides, -sides))
            continue
        assert question.codes is not None
        order = np.argsort(question.codes, kind="stable")
        codes = question.codes[order]
        known = codes >= 0
        lost, order, codes = order[~known], order[known], codes[known]
        if len(lost) > 1:
            chained(ask, sides[lost[:-1]], sides[lost[1:]])
            chained(ask, sides[lost[1:]], sides[lost[:-1]])
        same = codes[1:] == codes[:-1]
        ahead, behind = sides[order[:-1]], sides[order[1:]]
        if question.kind == "order":
            chained(ask, ahead, behind)
            chained(ask, behind[same], ahead[same])
            if not len(lost):
                implied(ask, np.array([sides[order[0]], -sides[order[-1]]]))
        else:
            chained(ask, ahead[same], behind[same])
            chained(ask, behind[same], ahead[same])
    return [np.concatenate(part).astype(np.int64) for part in (twos, threes) if part]


def _write_margin(model: OrderModel) -> None:
    """At every node at least `margin` of all rows, also of those that do not reach it, are on either side."""
    questions, clauses, margin = model.questions, model.clauses, model.margin
    count, total = questions.count, int(questions.count.sum())
    for node in range(model.nodes.branches):
        sides = model.side[node]
        for place, question in enumerate(questions):
            ask = int(model.ask[node, place])
            if question.kind == "test":
                held = int(count[question.yes].sum())
                if min(held, total - held) < margin:
                    clauses.add(-ask)
            elif question.kind == "order" and question.codes is not None and question.codes.min() >= 0:
                below = np.cumsum(np.bincount(question.codes, weights=count).astype(np.int64))
                cuts = np.flatnonzero((below >= margin) & (total - below >= margin))
                if not len(cuts):
                    clauses.add(-ask)
                    continue
                clauses.extend([-ask, int(side)] for side in sides[question.codes <= cuts[0]])
                clauses.extend([-ask, -int(side)] for side in sides[question.codes > cuts[-1]])
            else:
                weights = [(int(weight), int(side)) for weight, side in zip(count, sides, strict=True)]
                model.limits.append(AtMost(weights, total - margin, (ask,)))
                model.limits.append(AtMost([(-weight, side) for weight, side in weights], -margin, (ask,)))


def _write_labels(model: OrderModel) -> None:
    classes, leaves, clauses = model.problem.classes, model.nodes.leaves, model.clauses
    # In a single sum over predictions, a leaf without a class costs as much as one with the worst class. Everything
    # else that reads the classes of leaves needs a class in every leaf.
    some_class = model.ends is None or bool(model.task.leaf_rules or model.task.requirements or model.task.goal.largest)
    if classes == 2 and model.ends is None:
        model.label = np.array(list(clauses.fresh(leaves)), np.int64)
    elif classes >= 2:
        model.label = np.array(list(clauses.fresh(leaves * classes)), np.int64).reshape(leaves, classes)
        for row in model.label.tolist():
            if some_class:
                clauses.add(*row)
            clauses.at_most_one(row)
