"""Problem -> clauses over directions: the order encoding of Shati, Cohen and McIlraith (2021), without leaf literals.

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

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.encodings.clauses.pseudo_boolean import Clauses
from treeml.backends.solvers.encodings.complete_tree import CompleteTree
from treeml.backends.task.deadline import NO_DEADLINE
from treeml.backends.task.integer_task import Form, IntegerTask, LeafRule, parts_of
from treeml.backends.task.node_questions import NodeQuestions
from treeml.backends.task.unsupported import Unsupported
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]

Terms = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class AtMost:
    """sum of weight * literal <= limit if all literals of `condition` are true."""

    terms: Terms
    limit: int
    condition: tuple[int, ...] = ()
    name: str = ""


@dataclass
class OrderModel:
    """Clauses, bounded sums, and a sum to minimize."""

    problem: Problem
    task: IntegerTask
    questions: NodeQuestions
    nodes: CompleteTree
    clauses: Clauses = field(default_factory=Clauses)
    limits: list[AtMost] = field(default_factory=list)
    goal: Terms = field(default_factory=list)
    goal_constant: int = 0
    margin: int = 1

    # literals
    ask: NDArray[np.int64] = field(init=False)  # nodes x questions
    side: NDArray[np.int64] = field(init=False)  # nodes x groups
    split: NDArray[np.int64] | None = None  # nodes
    label: NDArray[np.int64] | None = None  # leaves x classes, or leaves if there are two classes

    def label_is(self, leaf: int, label: int) -> tuple[int, ...]:
        """The literals that say "the leaf predicts the class": one, or none if there is only one class."""
        if self.problem.classes <= 1 or self.label is None:
            return ()
        if self.problem.classes == 2:
            return (int(self.label[leaf]) if label else -int(self.label[leaf]),)
        return (int(self.label[leaf, label]),)

    def decode(self, true: Bits) -> Node:
        """The tree of an assignment; `true[v]` is the value of variable v."""

        def grow(node: int) -> Node:
            if node >= self.nodes.branches:
                return Leaf(self._label_of(node - self.nodes.branches, true))
            if self.split is not None and not true[self.split[node]]:
                return grow(2 * node + 1)
            asks = np.flatnonzero(true[self.ask[node]])
            if not len(asks):
                return grow(2 * node + 1)
            yes = true[self.side[node]]
            found = self.questions.decode(self.questions[int(asks[0])], yes)
            if found is None:
                return grow(2 * node + 1 if yes.any() else 2 * node + 2)
            test, swapped = found
            left, right = grow(2 * node + 1), grow(2 * node + 2)
            return Split(test, right, left) if swapped else Split(test, left, right)

        return grow(0)

    def _label_of(self, leaf: int, true: Bits) -> int:
        if not self.problem.classes:
            return -1
        if self.problem.classes == 1 or self.label is None:
            return 0
        if self.problem.classes == 2:
            return int(true[self.label[leaf]])
        return int(np.flatnonzero(true[self.label[leaf]])[0])


def estimate_clauses(task: IntegerTask, questions: NodeQuestions) -> int:
    """The approximate number of clauses, before any is written."""
    nodes = CompleteTree(task.depth)
    per_node = sum(2 * questions.groups if question.kind != "test" else questions.groups for question in questions)
    leaves = nodes.leaves * questions.groups * (2 + sum(1 for _ in task.forms))
    shape = nodes.leaves * questions.groups * (task.depth + 1) if task.counts_shape else 0
    return nodes.branches * per_node + leaves + shape


def build_order(
    problem: Problem, task: IntegerTask, questions: NodeQuestions, deadline: Deadline = NO_DEADLINE, margin: int = 1
) -> OrderModel:
    """The model; raises Unsupported if it cannot express the task, OutOfTime at the deadline."""
    depth = task.depth if questions else 0
    clauses = Clauses(deadline=deadline)
    model = OrderModel(problem, task, questions, CompleteTree(max(0, depth)), clauses, margin=margin)
    _write_nodes(model)
    if margin > 1:
        _write_margin(model)
    _write_labels(model)
    presence = _Presence(model)
    _write_shape(model, presence)
    for rule in task.leaf_rules:
        if rule.some:
            _write_some_leaf(model, presence, rule)
        else:
            _write_leaf_rule(model, presence, rule)
    _write_forms(model)
    return model


# -- nodes --------------------------------------------------------------------------


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
    template = _template(questions, kinds)
    for node in range(nodes.branches):
        for clause_array in template:
            shift = np.sign(clause_array) * (int(base[node, 0]) - 1)
            clauses.extend((clause_array + shift).tolist())
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


def _template(questions: NodeQuestions, kinds: int) -> list[Whole]:
    """The clauses of one node over variables 1 .. kinds (asks) and kinds + 1 .. kinds + groups (sides)."""
    twos: list[Whole] = []
    threes: list[Whole] = []

    def implied(ask: int, literals: Whole) -> None:
        twos.append(np.stack([np.full(len(literals), -ask), literals], axis=1))

    def chained(ask: int, before: Whole, after: Whole) -> None:
        """If the node asks this, `after` implies `before`."""
        threes.append(np.stack([np.full(len(before), -ask), before, -after], axis=1))

    for place, question in enumerate(questions):
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
    if classes == 2:
        model.label = np.array(list(clauses.fresh(leaves)), np.int64)
    elif classes > 2:
        model.label = np.array(list(clauses.fresh(leaves * classes)), np.int64).reshape(leaves, classes)
        for row in model.label.tolist():
            clauses.add(*row)
            clauses.at_most_one(row)


def _away(model: OrderModel, path: Sequence[tuple[int, bool]]) -> Whole:
    """groups x steps: literals, one of which holds if the group is not on the path."""
    columns = [-model.side[node] if yes else model.side[node] for node, yes in path]
    return np.stack(columns, axis=1) if columns else np.zeros((model.questions.groups, 0), np.int64)


# -- shape ----------------------------------------------------------------------------


class _Presence:
    """z[u, l], created on first use."""

    def __init__(self, model: OrderModel) -> None:
        self.model = model
        self.literals: Whole | None = None

    def get(self) -> Whole:
        if self.literals is None:
            model = self.model
            groups, leaves = model.questions.groups, model.nodes.leaves
            made = np.array(list(model.clauses.fresh(groups * leaves)), np.int64).reshape(leaves, groups)
            for leaf, path in enumerate(model.nodes.paths):
                away = _away(model, path)
                model.clauses.extend(np.concatenate([made[leaf][:, None], away], axis=1).tolist())
                for column in away.T:
                    model.clauses.extend(np.stack([-made[leaf], -column], axis=1).tolist())
            self.literals = made
        return self.literals


def _exists(model: OrderModel, leaf: int) -> tuple[int, ...]:
    node = model.nodes.active_node(leaf)
    return () if node is None or model.split is None else (int(model.split[node]),)


def _write_shape(model: OrderModel, presence: _Presence) -> None:
    """Leaves that exist hold a group, and enough rows."""
    if model.split is None or not model.nodes.branches:
        return
    support = max(1, model.task.support)
    count = model.questions.count
    for leaf in range(model.nodes.leaves):
        here = presence.get()[leaf]
        exists = _exists(model, leaf)
        model.clauses.add(*(-literal for literal in exists), *here.tolist())
        if support > 1:
            terms = [(-int(weight), int(literal)) for weight, literal in zip(count, here, strict=True)]
            model.limits.append(AtMost(terms, -support, exists))


def _write_leaf_rule(model: OrderModel, presence: _Presence, rule: LeafRule) -> None:
    if rule.kind == "support":
        if int(model.questions.count.sum()) < rule.limit:
            model.clauses.never()
        return
    assert rule.cost is not None
    if rule.kind == "purity" and rule.limit > 1:
        model.clauses.never()
        return
    sums = model.questions.summed(rule.cost)
    for leaf in range(model.nodes.leaves):
        here = presence.get()[leaf].tolist()
        exists = _exists(model, leaf)
        if rule.kind == "errors":
            for label in range(model.problem.classes):
                terms = [(int(cost), literal) for cost, literal in zip(sums[:, label], here, strict=True) if cost]
                model.limits.append(AtMost(terms, int(rule.limit), (*model.label_is(leaf, label), *exists)))
            continue
        heaviest = list(model.clauses.fresh(model.problem.classes))
        model.clauses.add(*heaviest)
        for label, literal in enumerate(heaviest):
            lead = _lead(sums, label, rule)
            terms = [(-weight, group) for weight, group in zip(lead, here, strict=True) if weight]
            model.limits.append(AtMost(terms, 0, (literal,)))


def _lead(sums: Whole, label: int, rule: LeafRule) -> list[int]:
    """By how much the weight of a class exceeds the required share, per group, in integers of any size."""
    top, bottom = rule.limit.numerator, rule.limit.denominator
    pairs = zip(sums[:, label].tolist(), sums.sum(axis=1).tolist(), strict=True)
    return [weight * bottom - total * top for weight, total in pairs]


def _write_some_leaf(model: OrderModel, presence: _Presence, rule: LeafRule) -> None:
    """Some existing leaf meets the condition; extra literals say which."""
    chosen = list(model.clauses.fresh(model.nodes.leaves))
    model.clauses.add(*chosen)
    for leaf, literal in enumerate(chosen):
        here = presence.get()[leaf].tolist()
        model.clauses.extend([-literal, exists] for exists in _exists(model, leaf))
        if rule.kind == "support":
            counts = model.questions.count.tolist()
            model.limits.append(AtMost(list(zip(counts, here, strict=True)), int(rule.limit), (literal,)))
            continue
        assert rule.cost is not None
        sums = model.questions.summed(rule.cost)
        total = sums.sum(axis=1)
        for label in range(model.problem.classes):
            if rule.kind == "errors":
                terms = [(-int(cost), group) for cost, group in zip(sums[:, label], here, strict=True)]
                model.limits.append(AtMost(terms, -int(rule.limit), (literal, *model.label_is(leaf, label))))
            else:
                terms = list(zip(_lead(sums, label, rule), here, strict=True))
                model.limits.append(AtMost(terms, 0, (literal,)))
        if rule.kind == "purity" and rule.limit < 1:
            # A leaf without weight counts as pure.
            model.clauses.add(-literal, *(group for weight, group in zip(total, here, strict=True) if weight))


# -- goals and requirements --------------------------------------------------------------


class _Quantities:
    """Literals for the quantities of forms, each created on first use."""

    def __init__(self, model: OrderModel, shared: bool) -> None:
        self.model = model
        self.shared = shared
        self.predicted: Whole | None = None
        self.used: dict[int, int] = {}
        self.asks: dict[tuple[int, int], int | None] = {}
        self.depths: list[int] | None = None
        self.paid: dict[int, Whole] = {}

    def small(self, form: Form, sign: int) -> tuple[Terms, int]:
        """sign * form as a sum of literals and a constant; exact if the sum is minimized or bounded above."""
        terms: Terms = []
        constant = sign * form.offset
        if form.losses:
            raise Unsupported("a loss", "clauses support counts, not averages", "the cover encoding takes it")
        if form.predicted is not None:
            more, fixed = self._predicted(sign * self.model.questions.summed(form.predicted))
            terms += more
            constant += fixed
        if form.leaves:
            constant += sign * form.leaves
            if self.model.split is not None:
                terms += [(sign * form.leaves, int(literal)) for literal in self.model.split]
        if form.depth:
            terms += [(sign * form.depth, literal) for literal in self._depths()]
        terms += [(sign * factor, self._used(feature)) for feature, factor in form.used.items()]
        for feature, cost in form.test_costs.items():
            counts = self.model.questions.count
            paid = self._paid(feature, sign * cost < 0)
            terms += [(sign * cost * int(n), int(q)) for n, q in zip(counts, paid, strict=True)]
        for factor, parts in form.largest:
            more, fixed = self._largest(parts, sign * factor < 0)
            terms += [(sign * factor * weight, literal) for weight, literal in more]
            constant += sign * factor * fixed
        return terms, constant

    def _predicted(self, cost: Whole) -> tuple[Terms, int]:
        least = cost.min(axis=1)
        if self.model.problem.classes <= 1:
            return [], int(cost.sum())
        if self.shared:
            return self._from_labels(cost, least)
        return self._from_steps(cost - least[:, None]), int(least.sum())

    def _from_labels(self, cost: Whole, least: Whole) -> tuple[Terms, int]:
        literals = self._labels_of_groups()
        if self.model.problem.classes == 2:
            difference = cost[:, 1] - cost[:, 0]
            pairs = zip(difference.tolist(), literals.tolist(), strict=True)
            return [(weight, literal) for weight, literal in pairs if weight], int(cost[:, 0].sum())
        extra = cost - least[:, None]
        where = np.nonzero(extra)
        return list(zip(extra[where].tolist(), literals[where].tolist(), strict=True)), int(least.sum())

    def _labels_of_groups(self) -> Whole:
        """y[u, c], or y[u] if there are two classes."""
        if self.predicted is not None:
            return self.predicted
        model, classes = self.model, self.model.problem.classes
        groups, clauses = model.questions.groups, model.clauses
        if classes == 2:
            made = np.array(list(clauses.fresh(groups)), np.int64)
        else:
            made = np.array(list(clauses.fresh(groups * classes)), np.int64).reshape(groups, classes)
            for row in made.tolist():
                clauses.add(*row)
                clauses.at_most_one(row)
        for leaf, path in enumerate(model.nodes.paths):
            away = _away(model, path)
            for label in range(classes):
                negated = np.array([[-literal for literal in model.label_is(leaf, label)]] * groups, np.int64)
                wanted = (made if label else -made) if classes == 2 else made[:, label]
                clauses.extend(np.concatenate([away, negated, wanted[:, None]], axis=1).tolist())
        self.predicted = made
        return made

    def _from_steps(self, extra: Whole) -> Terms:
        """Literals e[u, k] for costs above the least; groups with the same cheap classes are handled together."""
        model, clauses = self.model, self.model.clauses
        classes = extra.shape[1]
        terms: Terms = []
        by_cheap: dict[tuple[int, ...], tuple[list[int], list[int]]] = {}
        for group in range(len(extra)):
            steps = sorted({int(value) for value in extra[group] if value > 0})
            before = 0
            for step in steps:
                cheap = tuple(c for c in range(classes) if extra[group, c] < step)
                literal = clauses.new()
                terms.append((step - before, literal))
                before = step
                members, literals = by_cheap.setdefault(cheap, ([], []))
                members.append(group)
                literals.append(literal)
        for leaf, path in enumerate(model.nodes.paths):
            away = _away(model, path)
            for cheap, (members, literals) in by_cheap.items():
                allowed = [literal for label in cheap for literal in model.label_is(leaf, label)]
                block = np.concatenate(
                    [
                        away[members],
                        np.tile(np.array(allowed, np.int64), (len(members), 1)),
                        np.array(literals, np.int64)[:, None],
                    ],
                    axis=1,
                )
                clauses.extend(block.tolist())
        return terms

    def _asks_feature(self, node: int, feature: int) -> int | None:
        """A literal that holds if the node tests the feature."""
        key = (node, feature)
        if key not in self.asks:
            model = self.model
            places = [k for k, question in enumerate(model.questions) if question.feature == feature]
            literals = [int(model.ask[node, place]) for place in places]
            if len(literals) > 1:
                one = model.clauses.new()
                model.clauses.extend([-literal, one] for literal in literals)
                model.clauses.add(-one, *literals)
                literals = [one]
            self.asks[key] = literals[0] if literals else None
        return self.asks[key]

    def _used(self, feature: int) -> int:
        if feature not in self.used:
            model = self.model
            literal = model.clauses.new()
            asks = [self._asks_feature(node, feature) for node in range(model.nodes.branches)]
            present = [one for one in asks if one is not None]
            model.clauses.extend([-one, literal] for one in present)
            model.clauses.add(-literal, *present)
            self.used[feature] = literal
        return self.used[feature]

    def _depths(self) -> list[int]:
        if self.depths is None:
            model = self.model
            self.depths = list(model.clauses.fresh(model.nodes.depth))
            assert model.split is not None or not self.depths
            for level, literal in enumerate(self.depths):
                assert model.split is not None
                here = [int(model.split[node]) for node in range(2**level - 1, 2 ** (level + 1) - 1)]
                model.clauses.extend([-one, literal] for one in here)
                model.clauses.add(-literal, *here)
        return self.depths

    def _paid(self, feature: int, from_below: bool) -> Whole:
        """q[u, f]: implied by the nodes on the path of u that test f, or implying them if a larger value would help."""
        if from_below:
            return self._paid_at_most(feature)
        if feature not in self.paid:
            model = self.model
            made = np.array(list(model.clauses.fresh(model.questions.groups)), np.int64)
            for node in range(model.nodes.branches):
                asks = self._asks_feature(node, feature)
                if asks is None:
                    continue
                away = _away(model, model.nodes.path(node))
                block = np.concatenate([away, np.full((len(made), 1), -asks), made[:, None]], axis=1)
                model.clauses.extend(block.tolist())
            self.paid[feature] = made
        return self.paid[feature]

    def _paid_at_most(self, feature: int) -> Whole:
        """q[u, f] that holds only if a node on the path of u tests f."""
        model, clauses = self.model, self.model.clauses
        made = np.array(list(clauses.fresh(model.questions.groups)), np.int64)
        reasons: list[list[int]] = [[-int(literal)] for literal in made]
        for node in range(model.nodes.branches):
            asks = self._asks_feature(node, feature)
            if asks is None:
                continue
            away = _away(model, model.nodes.path(node))
            for group, reason in enumerate(reasons):
                here = clauses.new()
                reason.append(here)
                clauses.add(-here, asks)
                clauses.extend([-here, -int(literal)] for literal in away[group])
        clauses.extend(reasons)
        return made

    def _largest(self, parts: tuple[Form, ...], from_below: bool) -> tuple[Terms, int]:
        """A binary number that is at least every part or, if a larger value would help, at most one of them."""
        if from_below:
            return self._largest_at_most(parts)
        sums = [self.small(part, 1) for part in parts]
        least = max(constant + sum(min(0, weight) for weight, _ in terms) for terms, constant in sums)
        most = max(constant + sum(max(0, weight) for weight, _ in terms) for terms, constant in sums)
        bits = [(1 << place, self.model.clauses.new()) for place in range(max(0, most - least).bit_length())]
        for terms, constant in sums:
            top = [(-weight, literal) for weight, literal in bits]
            self.model.limits.append(AtMost([*terms, *top], least - constant))
        return bits, least

    def _largest_at_most(self, parts: tuple[Form, ...]) -> tuple[Terms, int]:
        sums = [self.small(part, -1) for part in parts]
        least = min(-constant - sum(max(0, weight) for weight, _ in terms) for terms, constant in sums)
        most = max(-constant - sum(min(0, weight) for weight, _ in terms) for terms, constant in sums)
        bits = [(1 << place, self.model.clauses.new()) for place in range(max(0, most - least).bit_length())]
        chosen = list(self.model.clauses.fresh(len(sums)))
        self.model.clauses.add(*chosen)
        for (terms, constant), literal in zip(sums, chosen, strict=True):
            self.model.limits.append(AtMost([*bits, *terms], -least - constant, (literal,)))
        return bits, least


def _write_forms(model: OrderModel) -> None:
    task = model.task
    sums = [part for form in task.forms for part in parts_of(form) if part.predicted is not None]
    two_sided = any(item.low is not None and item.high is not None for item in task.requirements)
    quantities = _Quantities(model, shared=len(sums) > 1 or two_sided)
    model.goal, model.goal_constant = quantities.small(task.goal, 1)
    for item in task.requirements:
        for sign, limit in ((1, item.high), (-1, item.low)):
            if limit is not None:
                terms, constant = quantities.small(item.form, sign)
                model.limits.append(AtMost(terms, sign * limit - constant, (), item.name))
