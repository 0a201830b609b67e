"""Problem -> BinOCT as published (Verwer and Zhang 2019): thresholds are found by binary search over ranges.

Nodes n and leaves l are those of the complete tree of the depth, u are groups of equal rows. Tests of one column whose
yes sides contain each other are the thresholds 0 .. K-1 of that column i; every other test is a column of its own with
one threshold. Group u has rank v: threshold k answers yes if v <= k.

    f[n, i]  node n tests column i        b[n, j]  bit j of the threshold of n        z[u, l]  u ends in l
    p[l, c]  leaf l predicts c            e[l, c] >= 0

    sum_i f[n, i] = 1,  sum_l z[u, l] = 1,  sum_c p[l, c] = 1
    for each node n and column i, and each range [s, e) of thresholds that the binary search visits, with middle m:
      the groups with s < v <= m are not below the no side of n   if f[n, i] = 1, the bits lead to [s, e), the next is 1
      the groups with m <= v < e are not below the yes side       if f[n, i] = 1, the bits lead to [s, e), the next is 0
      both as one row each: the sum of their z on the wrong side  <=  M (number of conditions that do not hold)
    sum_u w[u, c] z[u, l] - W_c p[l, c]  <=  e[l, c],  minimize the sum of e

So a column with K thresholds needs about log2 K bits and 2 K rows per node, where one variable per test needs K. As in
the paper, only errors under a depth bound are supported.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.encodings.complete_tree import CompleteTree
from treeml.backends.solvers.encodings.mip.aggregated import class_weights, leaves_of_sides, write_errors, write_places
from treeml.backends.solvers.encodings.mip.flow import NodeProgram, write_labels
from treeml.backends.solvers.encodings.mip.program_builder import ProgramBuilder, Terms
from treeml.backends.task.deadline import NO_DEADLINE
from treeml.backends.task.integer_task import IntegerTask
from treeml.backends.task.node_questions import NodeQuestions
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class ThresholdColumn:
    """Tests whose yes sides grow, and for every group of rows the first of them that it answers yes."""

    tests: tuple[int, ...]
    rank: Whole  # per group; the number of tests if it answers no to all


@dataclass
class BinoctProgram(NodeProgram):
    columns: tuple[ThresholdColumn, ...] = ()
    chosen: list[list[int]] = field(default_factory=list)  # per node: the variables of columns
    bits: list[list[int]] = field(default_factory=list)  # per node: the bits of its threshold, the highest first

    def decode(self, values: Whole) -> Node:
        def grow(node: int) -> Node:
            if node >= self.nodes.branches:
                labels = self.label[node - self.nodes.branches]
                return Leaf(int(np.argmax(values[labels])) if labels else -1)
            column = self.columns[int(np.argmax(values[self.chosen[node]]))]
            low, high = 0, len(column.tests)
            for bit in self.bits[node]:
                if high - low > 1:
                    middle = (low + high) // 2
                    low, high = (middle, high) if values[bit] else (low, middle)
            return Split(column.tests[low], grow(2 * node + 1), grow(2 * node + 2))

        return grow(0)


def build_binoct(
    problem: Problem, task: IntegerTask, questions: NodeQuestions, deadline: Deadline = NO_DEADLINE
) -> NodeProgram:
    weight, fixed = class_weights(problem, task, questions)
    columns = threshold_columns(questions)
    depth = max(0, task.depth) if columns else 0
    model = BinoctProgram(problem, task, questions, CompleteTree(depth), ProgramBuilder(deadline), columns=columns)
    draft = model.draft
    most = max((len(column.tests) for column in columns), default=1)
    for _ in range(model.nodes.branches):
        model.chosen.append(draft.columns(len(columns)))
        model.bits.append(draft.columns((most - 1).bit_length()))
        draft.row([(1, variable) for variable in model.chosen[-1]], 1, 1)
    write_labels(model)
    place = write_places(model)
    for node in range(model.nodes.branches):
        for number, column in enumerate(columns):
            _write_column(model, place, node, number, column)
    write_errors(model, place, weight, fixed)
    return model


def threshold_columns(questions: NodeQuestions) -> tuple[ThresholdColumn, ...]:
    """The tests of each feature as chains of growing yes sides."""
    by_feature: dict[int, list[int]] = {}
    for place, question in enumerate(questions):
        by_feature.setdefault(question.feature, []).append(place)
    found: list[ThresholdColumn] = []
    for places in by_feature.values():
        answers = {place: np.asarray(questions[place].yes, dtype=np.bool_) for place in places}
        chains: list[list[int]] = []
        for place in sorted(places, key=lambda each: int(answers[each].sum())):
            for chain in chains:
                last, here = answers[chain[-1]], answers[place]
                if not np.any(last & ~here) and np.any(here & ~last):
                    chain.append(place)
                    break
            else:
                chains.append([place])
        for chain in chains:
            yes = np.array([answers[place] for place in chain], dtype=np.bool_)
            rank = np.where(yes.any(axis=0), yes.argmax(axis=0), len(chain)).astype(np.int64)
            found.append(ThresholdColumn(tuple(questions[place].test for place in chain), rank))
    return tuple(found)


def _write_column(
    model: BinoctProgram, place: list[list[int]], node: int, number: int, column: ThresholdColumn
) -> None:
    yes_side, no_side = leaves_of_sides(model.nodes, node)
    count = len(column.tests)
    chosen: Terms = [(1, model.chosen[node][number])]

    def keep_out(groups: NDArray[np.bool_], leaves: list[int], condition: Terms) -> None:
        """The groups are not in these leaves if every condition holds; a negative one holds if its variable is 0."""
        members = np.flatnonzero(groups).tolist()
        if members:
            most = len(members)
            terms = [(1, place[group][leaf]) for group in members for leaf in leaves]
            positive = sum(factor > 0 for factor, _ in condition)
            model.draft.row([*terms, *((most * factor, each) for factor, each in condition)], None, most * positive)

    keep_out(column.rank <= 0, no_side, chosen)
    keep_out(column.rank >= count, yes_side, chosen)
    ranges: list[tuple[int, int, int, Terms]] = [(0, count, 0, chosen)]
    while ranges:
        low, high, level, condition = ranges.pop()
        if high - low < 2:
            continue
        middle, bit = (low + high) // 2, model.bits[node][level]
        above, below = [*condition, (1, bit)], [*condition, (-1, bit)]
        keep_out((column.rank > low) & (column.rank <= middle), no_side, above)
        keep_out((column.rank >= middle) & (column.rank < high), yes_side, below)
        ranges += [(middle, high, level + 1, above), (low, middle, level + 1, below)]
