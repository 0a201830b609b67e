"""Model in the order encoding -> literals for the quantities of goals and requirements, and sums over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.solvers.encodings.clauses.order_model import AtMost, OrderModel, Terms, not_in_leaf, off_path
from treeml.backends.task.integer_task import Form, parts_of
from treeml.backends.task.unsupported import Unsupported

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


class Quantities:
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
            away = not_in_leaf(model, leaf, path)
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
            away = not_in_leaf(model, leaf, path)
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
                away = off_path(model, model.nodes.path(node))
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
            away = off_path(model, model.nodes.path(node))
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


def write_forms(model: OrderModel) -> None:
    task = model.task
    sums = [part for form in task.forms for part in parts_of(form) if part.predicted is not None]
    two_sided = any(item.low is not None and item.high is not None for item in task.requirements)
    quantities = Quantities(model, shared=len(sums) > 1 or two_sided)
    model.goal, model.goal_constant = quantities.small(task.goal, 1)
    for item in task.requirements:
        for sign, limit in ((1, item.high), (-1, item.low)):
            if limit is not None:
                terms, constant = quantities.small(item.form, sign)
                model.limits.append(AtMost(terms, sign * limit - constant, (), item.name))
