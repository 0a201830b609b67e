"""Model in the order encoding -> clauses about its leaves: which exist, and what all or some of them must meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.solvers.encodings.clauses.order_model import AtMost, OrderModel, off_path
from treeml.backends.task.integer_task import LeafRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


class Presence:
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
                away = off_path(model, path)
                model.clauses.extend(np.concatenate([made[leaf][:, None], away], axis=1).tolist())
                for column in away.T:
                    model.clauses.extend(np.stack([-made[leaf], -column], axis=1).tolist())
            self.literals = made
        return self.literals


def _exists(model: OrderModel, leaf: int) -> tuple[int, ...]:
    node = model.nodes.active_node(leaf)
    return () if node is None or model.split is None else (int(model.split[node]),)


def write_shape(model: OrderModel, presence: Presence) -> None:
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


def write_leaf_rule(model: OrderModel, presence: Presence, rule: LeafRule) -> None:
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


def write_some_leaf(model: OrderModel, presence: Presence, rule: LeafRule) -> None:
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
