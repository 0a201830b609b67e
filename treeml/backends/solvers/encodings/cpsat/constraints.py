"""Problem -> a CP-SAT model with one literal per group of rows and leaf.

Nodes t and leaves l are those of the complete tree of the depth, u are groups of equal rows, j tests.

    a[t, j]   node t asks test j               z[u, l]   u ends in leaf l
    g[l, c]   leaf l predicts c                e[l]      what leaf l adds to a sum of costs over predictions

    exactly one of a[t, .], of z[u, .] and of g[l, .]
    a[t, j]  ->  not z[u, l]      for u that answers no and l under the yes side of t, and the other way round
    g[l, c]  ->  e[l] >= sum over u of cost[u, c] z[u, l]      (<= to maximize, = for both)
    minimize the sum of e

If the shape counts, a node may stay unsplit, and then nothing goes right. Otherwise splits are free, so no test occurs
twice on a path, and of the equivalent trees "f above g, g" and "g above f, f" one is excluded. The search decides the
tests from the root down, which measured fastest with a single worker; with several it is one strategy among others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.encodings.complete_tree import CompleteTree
from treeml.backends.task.deadline import NO_DEADLINE, in_time
from treeml.backends.task.integer_task import Form, IntegerTask, LeafRule, form_range, lead_over_share, parts_of
from treeml.backends.task.node_questions import NodeQuestions
from treeml.backends.task.unsupported import Unsupported
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


SMALL = 10**4  # up to this sum over all rows, labels follow from the tests by propagation


@dataclass
class RowsModel:
    problem: Problem
    task: IntegerTask
    questions: NodeQuestions
    nodes: CompleteTree
    model: Any
    ask: list[list[Any]] = field(default_factory=list)  # nodes x tests
    leave: list[Any] = field(default_factory=list)  # nodes: the node is not split; empty if the shape does not count
    place: list[list[Any]] = field(default_factory=list)  # groups x leaves
    label: list[list[Any]] = field(default_factory=list)  # leaves x classes
    goal: Any = 0

    @property
    def variables(self) -> list[Any]:
        """The variables that determine the tree, in the order in which `decode` reads them."""
        return [v for row in self.ask for v in row] + self.leave + [v for row in self.label for v in row]

    def decode(self, values: Whole) -> Node:
        tests, classes = len(self.questions), len(self.label[0]) if self.label else 0
        branches = self.nodes.branches
        ask = values[: branches * tests].reshape(branches, tests)
        leave = values[branches * tests : branches * tests + len(self.leave)]
        label = values[branches * tests + len(self.leave) :].reshape(self.nodes.leaves, classes)

        def grow(node: int) -> Node:
            if node >= branches:
                return Leaf(int(label[node - branches].argmax()) if classes else -1)
            if len(leave) and leave[node]:
                return grow(2 * node + 1)
            question = self.questions[int(ask[node].argmax())]
            return Split(question.test, grow(2 * node + 1), grow(2 * node + 2))

        return grow(0)

    def exists(self, leaf: int) -> list[Any]:
        node = self.nodes.active_node(leaf)
        return [] if node is None or not self.leave else [self.leave[node].negated()]


def build_rows(
    problem: Problem, task: IntegerTask, questions: NodeQuestions, deadline: Deadline = NO_DEADLINE
) -> RowsModel:
    """The model; `questions` are single tests. Raises Unsupported if it cannot express the task, or OutOfTime."""
    from ortools.sat.python import cp_model

    depth = task.depth if questions else 0
    model = RowsModel(problem, task, questions, CompleteTree(max(0, depth)), cp_model.CpModel())
    _write_tree(model, deadline)
    _write_leaf_rules(model)
    for rule in task.leaf_rules:
        if rule.some:
            _write_some_leaf(model, rule)
    in_time(deadline)
    quantities = _LiteralQuantities(model)
    model.goal = quantities.value(task.goal, True, False)
    for item in task.requirements:
        in_time(deadline)
        value = quantities.value(item.form, item.high is not None, item.low is not None)
        if item.high is not None:
            model.model.add(value <= item.high)
        if item.low is not None:
            model.model.add(value >= item.low)
    if not isinstance(model.goal, int):
        model.model.minimize(model.goal)
    # With small sums labels follow by propagation; with large ones the search would enumerate values.
    is_small = all(_is_small(part) for form in task.forms for part in parts_of(form))
    decided = model.ask if is_small else [*model.ask, *model.label]
    strategy = [literal for row in decided for literal in row]
    if strategy:
        model.model.add_decision_strategy(strategy, cp_model.CHOOSE_FIRST, cp_model.SELECT_MAX_VALUE)
    return model


def _is_small(form: Form) -> bool:
    return form.predicted is None or int(np.abs(form.predicted).sum()) < SMALL


def _write_tree(rows: RowsModel, deadline: Deadline) -> None:
    model, nodes, questions = rows.model, rows.nodes, rows.questions
    groups, tests = questions.groups, questions
    free = rows.task.counts_shape
    rows.place = [[model.new_bool_var("") for _ in range(nodes.leaves)] for _ in range(groups)]
    for place in rows.place:
        model.add_exactly_one(place)
    for node in range(nodes.branches):
        asks = [model.new_bool_var("") for _ in tests]
        rows.ask.append(asks)
        options = list(asks)
        if free:
            rows.leave.append(model.new_bool_var(""))
            options.append(rows.leave[node])
        model.add_exactly_one(options)
        left, right = nodes.under(2 * node + 1), nodes.under(2 * node + 2)
        if nodes.level(node) + 1 == nodes.depth:
            left, right = range(left.start, left.start + 1), range(right.start, right.start + 1)
        for literal, question in zip(asks, tests, strict=True):
            assert question.yes is not None
            in_time(deadline)
            wrong = [
                rows.place[u][leaf].negated() for u in range(groups) for leaf in (right if question.yes[u] else left)
            ]
            model.add_bool_and(wrong).only_enforce_if(literal)
        if free:
            nobody = [rows.place[u][leaf].negated() for u in range(groups) for leaf in right]
            model.add_bool_and(nobody).only_enforce_if(rows.leave[node])
            if node:
                model.add_implication(rows.leave[(node - 1) // 2], rows.leave[node])
    classes = rows.problem.classes
    if classes:
        for _ in range(nodes.leaves):
            labels = [model.new_bool_var("") for _ in range(classes)]
            model.add_exactly_one(labels)
            rows.label.append(labels)
    else:
        rows.label = [[] for _ in range(nodes.leaves)]
    if not free and len(tests) >= nodes.depth:
        _write_symmetries(rows)


def _write_symmetries(rows: RowsModel) -> None:
    nodes, model = rows.nodes, rows.model
    for path in nodes.paths:
        for test in range(len(rows.questions)):
            model.add_at_most_one(rows.ask[node][test] for node, _ in path)
    for node in range(nodes.branches):
        if nodes.level(node) + 2 != nodes.depth:
            continue
        for test in range(len(rows.questions)):
            for other in range(test):
                below = (rows.ask[2 * node + 1][other], rows.ask[2 * node + 2][other])
                model.add_bool_or([rows.ask[node][test].negated(), *(literal.negated() for literal in below)])


def _write_leaf_rules(rows: RowsModel) -> None:
    if not rows.leave:
        if int(rows.questions.count.sum()) < rows.task.support:
            rows.model.add_bool_or([])
            return
        if rows.nodes.depth:
            return
    model, groups = rows.model, range(rows.questions.groups)
    support = max(1, rows.task.support)
    for leaf in range(rows.nodes.leaves):
        here = [rows.place[u][leaf] for u in groups]
        exists = rows.exists(leaf)
        total = sum(int(n) * literal for n, literal in zip(rows.questions.count, here, strict=True))
        model.add(total >= support).only_enforce_if(exists)
        model.add_bool_or([*here, *(literal.negated() for literal in exists)])
        for rule in rows.task.leaf_rules:
            if rule.kind == "support" or rule.some:
                continue
            assert rule.cost is not None
            sums = rows.questions.summed(rule.cost)
            if rule.kind == "errors":
                for label, literal in enumerate(rows.label[leaf]):
                    wrong = sum(int(cost) * one for cost, one in zip(sums[:, label], here, strict=True))
                    model.add(wrong <= int(rule.limit)).only_enforce_if([literal, *exists])
                continue
            if rule.limit > 1:
                model.add_bool_or([])
                continue
            heaviest = [model.new_bool_var("") for _ in range(rows.problem.classes)]
            model.add_bool_or(heaviest)
            for label, literal in enumerate(heaviest):
                lead = lead_over_share(sums, label, rule)
                model.add(sum(int(w) * one for w, one in zip(lead, here, strict=True)) >= 0).only_enforce_if(literal)


def _write_some_leaf(rows: RowsModel, rule: LeafRule) -> None:
    """Some existing leaf meets the condition; extra literals say which."""
    model, groups = rows.model, range(rows.questions.groups)
    chosen = [model.new_bool_var("") for _ in range(rows.nodes.leaves)]
    model.add_bool_or(chosen)
    for leaf, literal in enumerate(chosen):
        here = [rows.place[u][leaf] for u in groups]
        for exists in rows.exists(leaf):
            model.add_implication(literal, exists)
        if rule.kind == "support":
            total = sum(int(n) * one for n, one in zip(rows.questions.count, here, strict=True))
            model.add(total <= int(rule.limit)).only_enforce_if(literal)
            continue
        assert rule.cost is not None
        sums = rows.questions.summed(rule.cost)
        weight = sums.sum(axis=1)
        for label, predicted in enumerate(rows.label[leaf]):
            if rule.kind == "errors":
                wrong = sum(int(cost) * one for cost, one in zip(sums[:, label], here, strict=True))
                model.add(wrong >= int(rule.limit)).only_enforce_if([literal, predicted])
            else:
                lead = lead_over_share(sums, label, rule)
                model.add(sum(int(w) * one for w, one in zip(lead, here, strict=True)) <= 0).only_enforce_if(literal)
        if rule.kind == "purity" and rule.limit < 1:
            # A leaf without weight counts as pure.
            model.add_bool_or([literal.negated(), *(one for w, one in zip(weight, here, strict=True) if w)])


class _LiteralQuantities:
    """CP-SAT expressions for the quantities of forms, created on first use."""

    def __init__(self, rows: RowsModel) -> None:
        self.rows = rows
        self.asks: dict[tuple[int, int], Any] = {}
        self.used: dict[int, Any] = {}
        self.depths: list[Any] | None = None
        self.paid: dict[int, list[Any]] = {}

    def value(self, form: Form, small: bool, large: bool) -> Any:
        """The form as an expression; `small` and `large` say in which directions it must be exact."""
        if form.losses:
            raise Unsupported("a loss", "models over rows support counts, not averages", "the cover encoding takes it")
        rows = self.rows
        total: Any = form.offset
        if form.predicted is not None:
            total += self._predicted(rows.questions.summed(form.predicted), small, large)
        if form.leaves:
            total += form.leaves
            for literal in rows.leave:
                total += form.leaves * literal.negated()
        if form.depth:
            for literal in self._depths():
                total += form.depth * literal
        for feature, factor in form.used.items():
            total += factor * self._used(feature)
        for feature, cost in form.test_costs.items():
            for count, literal in zip(rows.questions.count, self._paid(feature), strict=True):
                total += cost * int(count) * literal
        for factor, parts in form.largest:
            up, down = (small, large) if factor > 0 else (large, small)
            values = [self.value(part, True, down or up) for part in parts]
            low, high = self._range(parts)
            top = rows.model.new_int_var(low, high, "")
            rows.model.add_max_equality(top, values)
            total += factor * top
        return total

    def _range(self, parts: tuple[Form, ...]) -> tuple[int, int]:
        ranges = [form_range(part, self.rows.problem, self.rows.task) for part in parts]
        return min(low for low, _ in ranges), max(high for _, high in ranges)

    def _predicted(self, cost: Whole, small: bool, large: bool) -> Any:
        rows, model = self.rows, self.rows.model
        low = int(np.minimum(0, cost.min(axis=1)).sum())
        high = int(np.maximum(0, cost.max(axis=1)).sum())
        total: Any = 0
        for leaf, labels in enumerate(rows.label):
            amount = model.new_int_var(low, high, "")
            total += amount
            for label, literal in enumerate(labels):
                here = sum(int(c) * rows.place[u][leaf] for u, c in enumerate(cost[:, label]) if c)
                if small and large:
                    model.add(amount == here).only_enforce_if(literal)
                elif small:
                    model.add(amount >= here).only_enforce_if(literal)
                else:
                    model.add(amount <= here).only_enforce_if(literal)
        if small and not large:
            model.add(total >= int(cost.min(axis=1).sum()))
        return total

    def _asks_feature(self, node: int, feature: int) -> Any | None:
        key = (node, feature)
        if key not in self.asks:
            questions = self.rows.questions
            literals = [self.rows.ask[node][k] for k, question in enumerate(questions) if question.feature == feature]
            if len(literals) > 1:
                one = self.rows.model.new_bool_var("")
                self.rows.model.add_bool_or(literals).only_enforce_if(one)
                for literal in literals:
                    self.rows.model.add_implication(literal, one)
                literals = [one]
            self.asks[key] = literals[0] if literals else None
        return self.asks[key]

    def _used(self, feature: int) -> Any:
        if feature not in self.used:
            model = self.rows.model
            literal = model.new_bool_var("")
            asks = [self._asks_feature(node, feature) for node in range(self.rows.nodes.branches)]
            present = [one for one in asks if one is not None]
            model.add_bool_or([*present, literal.negated()])
            for one in present:
                model.add_implication(one, literal)
            self.used[feature] = literal
        return self.used[feature]

    def _depths(self) -> list[Any]:
        if self.depths is None:
            rows = self.rows
            self.depths = []
            for level in range(rows.nodes.depth):
                literal = rows.model.new_bool_var("")
                here = [rows.leave[node].negated() for node in range(2**level - 1, 2 ** (level + 1) - 1)]
                rows.model.add_bool_or([*here, literal.negated()])
                for one in here:
                    rows.model.add_implication(one, literal)
                self.depths.append(literal)
        return self.depths

    def _paid(self, feature: int) -> list[Any]:
        if feature not in self.paid:
            rows = self.rows
            made = [rows.model.new_bool_var("") for _ in range(rows.questions.groups)]
            for node in range(rows.nodes.branches):
                asks = self._asks_feature(node, feature)
                if asks is None:
                    continue
                for u, literal in enumerate(made):
                    for leaf in rows.nodes.under(node):
                        rows.model.add_bool_or([asks.negated(), rows.place[u][leaf].negated(), literal])
            # And only then: if it is paid, one of the nodes above the leaf of u asks.
            for leaf, path in enumerate(rows.nodes.paths):
                above = [one for one in (self._asks_feature(node, feature) for node, _ in path) if one is not None]
                for u, literal in enumerate(made):
                    rows.model.add_bool_or([literal.negated(), rows.place[u][leaf].negated(), *above])
            self.paid[feature] = made
        return self.paid[feature]
