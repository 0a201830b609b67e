"""Problem -> a mixed-integer program in which every group of rows flows from the root to a leaf and its label.

Nodes t and leaves l are those of the complete tree of the depth, u are groups of equal rows, j tests, k labels.

    b[t, j]      node t asks test j                 w[l, k]    leaf l predicts k          (whole numbers)
    zeta[u, k, l]   u flows to leaf l and is predicted k                                  (between 0 and 1)

    sum_j b[t, j] = 1,  sum_k w[l, k] = 1,  zeta[u, k, l] <= w[l, k]
    sum over k and l under the yes side of t of zeta[u, k, l]  <=  sum over tests j that u answers yes of b[t, j]
    sum over k and l under the no side of t                    <=  sum over tests j that u answers no

This is the projection onto the leaves of a flow on edges (Aghaei, Gomez and Vayanos 2021). If only the goal depends on
predictions, zeta exists only for labels that gain something, sum zeta <= 1, and the goal collects the gains. Otherwise
flow is conserved, sum over k and l of zeta[u, k, l] = 1, and every sum of costs is a row over zeta.
If the shape counts, sum_j b[t, j] <= 1, and at a node without a split everything goes left. Otherwise splits are free,
so no test occurs twice on a path, and of the equivalent trees "f above g, g" and "g above f, f" one is excluded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.encodings.complete_tree import CompleteTree
from treeml.backends.solvers.encodings.mip.program_builder import ProgramBuilder, Terms
from treeml.backends.task.deadline import NO_DEADLINE
from treeml.backends.task.integer_task import (
    Form,
    IntegerTask,
    LeafRule,
    form_range,
    lead_over_share,
    parts_of,
)
from treeml.backends.task.node_questions import NodeQuestions
from treeml.backends.task.unsupported import Unsupported
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


@dataclass
class NodeProgram:
    """A program over nodes, with methods that read a tree from a solution and exclude pairs of leaves."""

    problem: Problem
    task: IntegerTask
    questions: NodeQuestions
    nodes: CompleteTree
    draft: ProgramBuilder = field(default_factory=ProgramBuilder)
    ask: list[list[int]] = field(default_factory=list)
    label: list[list[int]] = field(default_factory=list)
    free: bool = False

    def decode(self, values: Whole) -> Node:
        def grow(node: int) -> Node:
            if node >= self.nodes.branches:
                labels = self.label[node - self.nodes.branches]
                return Leaf(int(np.argmax(values[labels])) if labels else -1)
            chosen = np.flatnonzero(values[self.ask[node]])
            if not len(chosen):
                return grow(2 * node + 1)
            test = self.questions[int(chosen[0])].test
            return Split(test, grow(2 * node + 1), grow(2 * node + 2))

        return grow(0)

    def exists(self, leaf: int) -> tuple[Terms, int]:
        """The condition for the leaf to exist: columns, and the value that their sum must have."""
        node = self.nodes.active_node(leaf)
        return ([(1, column) for column in self.ask[node]], 1) if self.free and node is not None else ([], 0)

    def exclude(self, values: Whole, path: tuple[tuple[int, bool], ...], other: tuple[tuple[int, bool], ...]) -> None:
        """Adds a row that excludes the two leaves at the ends of these paths, with the questions on the paths."""
        facts: set[int] = set()
        idle: set[int] = set()
        for steps in (path, other):
            node = 0
            for _, answer in steps:
                facts.add(self.ask[node][int(np.flatnonzero(values[self.ask[node]])[0])])
                node = 2 * node + (1 if answer else 2)
            if node < self.nodes.branches:
                idle.update(self.ask[node])
            while node < self.nodes.branches:
                node = 2 * node + 1
            labels = self.label[node - self.nodes.branches]
            facts.add(labels[int(np.argmax(values[labels]))])
        self.draft.row([*((1, f) for f in facts), *((-1, i) for i in idle)], None, len(facts) - 1)


def build_flow(
    problem: Problem, task: IntegerTask, questions: NodeQuestions, deadline: Deadline = NO_DEADLINE
) -> NodeProgram:
    depth = task.depth if questions else 0
    model = NodeProgram(
        problem, task, questions, CompleteTree(max(0, depth)), ProgramBuilder(deadline), free=task.counts_shape
    )
    sums = [part for form in task.forms for part in parts_of(form) if part.predicted is not None]
    projected = not task.requirements and len(sums) <= 1 and (not sums or sums[0] is task.goal) and not model.free
    write_nodes(model)
    if not model.free and len(questions) >= model.nodes.depth:
        _write_symmetries(model)
    if projected:
        _write_projected(model)
        return model
    flow = _write_flow(model)
    for rule in task.leaf_rules:
        _write_leaf_rule(model, flow, rule)
    _write_forms(model, flow)
    return model


def write_nodes(model: NodeProgram) -> None:
    draft, nodes = model.draft, model.nodes
    for node in range(nodes.branches):
        asks = draft.columns(len(model.questions))
        model.ask.append(asks)
        draft.row([(1, column) for column in asks], 0 if model.free else 1, 1)
        if model.free and node:
            above = model.ask[(node - 1) // 2]
            draft.row([*((1, c) for c in asks), *((-1, c) for c in above)], None, 0)
    write_labels(model)


def write_labels(model: NodeProgram) -> None:
    draft = model.draft
    for _ in range(model.nodes.leaves):
        labels = draft.columns(model.problem.classes)
        model.label.append(labels)
        if labels:
            draft.row([(1, column) for column in labels], 1, 1)


def _write_symmetries(model: NodeProgram) -> None:
    draft, nodes = model.draft, model.nodes
    tests = range(len(model.questions))
    for path in nodes.paths:
        for test in tests:
            draft.row([(1, model.ask[node][test]) for node, _ in path], None, 1)
    for node in range(nodes.branches):
        if nodes.level(node) + 2 != nodes.depth:
            continue
        for test in tests:
            for other in range(test):
                below = (model.ask[2 * node + 1][other], model.ask[2 * node + 2][other])
                draft.row([(1, model.ask[node][test]), *((1, column) for column in below)], None, 2)


def _answers(model: NodeProgram, node: int, group: int, yes: bool) -> Terms:
    """The columns of the tests that send the group to this side."""
    found: Terms = []
    for column, question in zip(model.ask[node], model.questions, strict=True):
        assert question.yes is not None
        if bool(question.yes[group]) == yes:
            found.append((1, column))
    return found


def _write_routes(model: NodeProgram, group: int, at_leaf: list[Terms]) -> None:
    """Rows: the flow below a side of a node is at most what the node sends there."""
    draft, nodes = model.draft, model.nodes
    for node in range(nodes.branches):
        for yes, child in ((True, 2 * node + 1), (False, 2 * node + 2)):
            below = nodes.under(child) if child < nodes.branches else [child - nodes.branches]
            flow = [term for leaf in below for term in at_leaf[leaf]]
            if not flow:
                continue
            sent = [(-factor, column) for factor, column in _answers(model, node, group, yes)]
            if yes and model.free:
                # Without a split, 1 - sum of b goes left.
                sent += [(1, column) for column in model.ask[node]]
                draft.row([*flow, *sent], None, 1)
            else:
                draft.row([*flow, *sent], None, 0)


def _write_projected(model: NodeProgram) -> None:
    draft = model.draft
    form = model.task.goal
    if form.predicted is None:
        return
    cost = model.questions.summed(form.predicted)
    worst = cost.max(axis=1)
    draft.offset += int(worst.sum()) + form.offset
    for group in range(model.questions.groups):
        worth = [(label, int(worst[group] - value)) for label, value in enumerate(cost[group]) if value < worst[group]]
        at_leaf: list[Terms] = [[] for _ in range(model.nodes.leaves)]
        everything: Terms = []
        for label, gain in worth:
            for leaf in range(model.nodes.leaves):
                column = draft.column(whole=False)
                at_leaf[leaf].append((1, column))
                everything.append((1, column))
                draft.goal[column] = -gain
                draft.row([(1, column), (-1, model.label[leaf][label])], None, 0)
        if everything:
            draft.row(everything, None, 1)
            _write_routes(model, group, at_leaf)


def _write_flow(model: NodeProgram) -> list[list[list[int]]]:
    """The columns of conserved flow: groups x leaves x labels."""
    draft = model.draft
    flow: list[list[list[int]]] = []
    for group in range(model.questions.groups):
        labels = max(1, model.problem.classes)
        here = [draft.columns(labels, whole=False) for _ in range(model.nodes.leaves)]
        flow.append(here)
        draft.row([(1, column) for row in here for column in row], 1, 1)
        for leaf, row in enumerate(here):
            for label, column in enumerate(row):
                if model.label[leaf]:
                    draft.row([(1, column), (-1, model.label[leaf][label])], None, 0)
        _write_routes(model, group, [[(1, column) for column in row] for row in here])
    if model.free or not model.nodes.depth:
        _write_support(model, flow)
    return flow


def _write_support(model: NodeProgram, flow: list[list[list[int]]]) -> None:
    """Rows: leaves that exist hold enough rows, and at least one."""
    support = max(1, model.task.support)
    for leaf in range(model.nodes.leaves):
        condition, needed = model.exists(leaf)
        terms = [
            (-int(count), column)
            for count, here in zip(model.questions.count, flow, strict=True)
            for column in here[leaf]
        ]
        if condition or needed == 0:
            room = support if needed else 0
            model.draft.row([*terms, *((room * f, c) for f, c in condition)], None, -support + room * needed)


def _write_leaf_rule(model: NodeProgram, flow: list[list[list[int]]], rule: LeafRule) -> None:
    draft = model.draft
    if rule.kind == "support" and not rule.some:
        return
    if rule.kind == "purity" and not rule.some and rule.limit > 1:
        draft.row([], 1, None)
        return
    sums = model.questions.summed(model.problem.count[:, None] if rule.cost is None else rule.cost)
    total = sums.sum(axis=1)
    chosen = draft.columns(model.nodes.leaves) if rule.some else []
    if rule.some:
        draft.row([(1, column) for column in chosen], 1, None)
    for leaf in range(model.nodes.leaves):
        exists, needed = model.exists(leaf)
        if rule.some and exists:
            draft.row([(1, chosen[leaf]), *((-f, c) for f, c in exists)], None, 0)

        def here(weights: Whole, leaf: int = leaf) -> Terms:
            return [(int(w), c) for w, row in zip(weights, flow, strict=True) if w for c in row[leaf]]

        if rule.kind == "support":
            draft.at_most_if(here(sums[:, 0]), int(rule.limit), [(1, chosen[leaf])], 1)
            continue
        heaviest = [] if rule.some or rule.kind == "errors" else draft.columns(model.problem.classes)
        if heaviest:
            draft.row([(1, column) for column in heaviest], 1, None)
        for label in range(model.problem.classes):
            predicted = (1, model.label[leaf][label])
            if rule.kind == "errors" and not rule.some:
                draft.at_most_if(here(sums[:, label]), int(rule.limit), [predicted, *exists], 1 + needed)
            elif rule.kind == "errors":
                draft.at_most_if(here(-sums[:, label]), -int(rule.limit), [predicted, (1, chosen[leaf])], 2)
            elif rule.some:
                draft.at_most_if(here(lead_over_share(sums, label, rule)), 0, [(1, chosen[leaf])], 1)
            else:
                draft.at_most_if(here(-lead_over_share(sums, label, rule)), 0, [(1, heaviest[label])], 1)
        if rule.kind == "purity" and rule.some and rule.limit < 1:
            present = [(-1, c) for w, row in zip(total, flow, strict=True) if w for c in row[leaf]]
            draft.row([*present, (1, chosen[leaf])], None, 0)


class _FlowQuantities:
    def __init__(self, model: NodeProgram, flow: list[list[list[int]]]) -> None:
        self.model, self.flow = model, flow
        self.used: dict[int, int] = {}
        self.depths: list[int] | None = None
        self.paid: dict[int, list[int]] = {}

    def value(self, form: Form, small: bool, large: bool) -> tuple[Terms, int]:
        if form.losses:
            raise Unsupported("a loss", "flows support counts, not averages", "the cover formulation takes it")
        model, terms, constant = self.model, [], form.offset
        if form.predicted is not None:
            cost = model.questions.summed(form.predicted)
            for group, here in enumerate(self.flow):
                for row in here:
                    terms += [(int(cost[group, k]), column) for k, column in enumerate(row) if cost[group, k]]
        if form.leaves:
            constant += form.leaves
            terms += [(form.leaves, column) for asks in model.ask for column in asks]
        if form.depth:
            terms += [(form.depth, column) for column in self._depths()]
        terms += [(factor, self._used(feature)) for feature, factor in form.used.items()]
        for feature, cost_of_test in form.test_costs.items():
            paid = self._paid(feature)
            terms += [(cost_of_test * int(n), q) for n, q in zip(model.questions.count, paid, strict=True)]
        for factor, parts in form.largest:
            up, down = (small, large) if factor > 0 else (large, small)
            terms.append((factor, self._largest(parts, up, down)))
        return terms, constant

    def _asks_feature(self, node: int, feature: int) -> Terms:
        questions = self.model.questions
        return [(1, self.model.ask[node][k]) for k, question in enumerate(questions) if question.feature == feature]

    def _used(self, feature: int) -> int:
        if feature not in self.used:
            draft = self.model.draft
            column = draft.column()
            everywhere: Terms = []
            for node in range(self.model.nodes.branches):
                asks = self._asks_feature(node, feature)
                everywhere += asks
                draft.row([*asks, (-1, column)], None, 0)
            draft.row([(1, column), *((-f, c) for f, c in everywhere)], None, 0)
            self.used[feature] = column
        return self.used[feature]

    def _depths(self) -> list[int]:
        if self.depths is None:
            self.depths = []
            draft = self.model.draft
            for level in range(self.model.nodes.depth):
                column = draft.column()
                everywhere: Terms = []
                for node in range(2**level - 1, 2 ** (level + 1) - 1):
                    split = [(1, c) for c in self.model.ask[node]]
                    everywhere += split
                    draft.row([*split, (-1, column)], None, 0)
                draft.row([(1, column), *((-f, c) for f, c in everywhere)], None, 0)
                self.depths.append(column)
        return self.depths

    def _paid(self, feature: int) -> list[int]:
        """q[u, f]: 1 exactly if a node on the path of u tests f."""
        if feature not in self.paid:
            model, draft = self.model, self.model.draft
            self.paid[feature] = draft.columns(model.questions.groups)
            for group, column in enumerate(self.paid[feature]):
                for node in range(model.nodes.branches):
                    asks = self._asks_feature(node, feature)
                    here = [(1, c) for leaf in model.nodes.under(node) for c in self.flow[group][leaf]]
                    if asks:
                        draft.row([*asks, *here, (-1, column)], None, 1)
                for leaf, path in enumerate(model.nodes.paths):
                    above = [(-f, c) for node, _ in path for f, c in self._asks_feature(node, feature)]
                    flow = [(1, c) for c in self.flow[group][leaf]]
                    draft.row([(1, column), *flow, *above], None, 1)
        return self.paid[feature]

    def _largest(self, parts: tuple[Form, ...], small: bool, large: bool) -> int:
        model, draft = self.model, self.model.draft
        ranges = [form_range(part, model.problem, model.task) for part in parts]
        low, high = max(low for low, _ in ranges), max(high for _, high in ranges)
        top = draft.column(low, high)
        values = [self.value(part, True, True) for part in parts]
        for terms, constant in values:
            draft.row([*terms, (-1, top)], None, -constant)
        if large:
            chosen = draft.columns(len(parts))
            draft.row([(1, column) for column in chosen], 1, None)
            for (terms, constant), (least, _), column in zip(values, ranges, chosen, strict=True):
                room = max(0, high - least)
                negated = [(-f, c) for f, c in terms]
                draft.row([(1, top), *negated, (room, column)], None, constant + room)
        return top


def _write_forms(model: NodeProgram, flow: list[list[list[int]]]) -> None:
    quantities = _FlowQuantities(model, flow)
    terms, constant = quantities.value(model.task.goal, True, False)
    model.draft.minimize(terms, constant)
    for item in model.task.requirements:
        terms, constant = quantities.value(item.form, item.high is not None, item.low is not None)
        low = None if item.low is None else item.low - constant
        high = None if item.high is None else item.high - constant
        model.draft.row(terms, low, high)
