"""Questions -> the best tree over a few cuts of every column, as a starting tree.

If a column has hundreds of cuts, a few quantiles already give trees close to the optimum, and with few tests the
dynamic program over cover states takes a fraction of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.encodings.cover.coupling_rows import Coupling
from treeml.backends.solvers.encodings.cover.cover_tables import build_cover
from treeml.backends.solvers.encodings.cover.relaxation import Relaxation
from treeml.backends.task.deadline import NO_DEADLINE
from treeml.backends.task.integer_task import Form, IntegerTask
from treeml.backends.task.node_questions import NodeQuestion, NodeQuestions
from treeml.native.cover import CoverStopped
from treeml.problem.problem import Problem, Test
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bits = NDArray[np.bool_]

MOST_TESTS = {1: 2_000, 2: 600, 3: 240, 4: 70}  # by depth


def coarse_tree(questions: NodeQuestions, task: IntegerTask, deadline: Deadline = NO_DEADLINE) -> Node | None:
    """The tree; None if the goal does not depend on predictions, or if the depth is too large for counting."""
    depth = min(task.depth, max(MOST_TESTS))
    if task.goal.predicted is None or depth < 1 or not questions or questions.problem.classes > 64:
        return None
    each = max(1, MOST_TESTS[depth] // len(questions))
    cuts = [(question, yes) for question in questions for yes in _cuts(question, each)][: MOST_TESTS[depth]]
    if not cuts:
        return None
    problem = questions.problem
    bits = np.array([yes for _, yes in cuts])
    cost = questions.summed(task.goal.predicted)
    small = Problem((), (Test(0, "true"),) * len(cuts), questions.count, problem.classes, (), (), bits)
    goal = Form(predicted=cost, leaves=max(0, task.goal.leaves))
    plain = IntegerTask(depth, goal, (), tuple(rule for rule in task.leaf_rules if rule.kind == "support"), ())
    try:
        relaxation = Relaxation(build_cover(small, plain, deadline), Coupling())
    except CoverStopped:
        return None
    found = relaxation.tree(relaxation.price(np.zeros(0, np.int64)))
    if found is None:
        return None

    def lifted(node: Node) -> Node:
        if isinstance(node, Leaf):
            return node
        decoded = questions.decode(*cuts[node.test])
        if decoded is None:
            return lifted(node.yes)
        yes, no = lifted(node.yes), lifted(node.no)
        return Split(decoded[0], no, yes) if decoded[1] else Split(decoded[0], yes, no)

    return lifted(found[0])


def _cuts(question: NodeQuestion, most: int) -> list[Bits]:
    """At most `most` ways in which a question can split the groups, evenly spread over its cuts."""
    if question.kind == "test":
        assert question.yes is not None
        return [question.yes]
    assert question.codes is not None
    present = np.unique(question.codes[question.codes >= 0])
    if question.kind == "equal":
        return [question.codes == code for code in present[:most]]
    ordered = np.sort(question.codes[question.codes >= 0])
    places = np.linspace(0, len(ordered) - 1, min(most, len(present)) + 2)[1:-1].astype(int)
    chosen = np.unique(ordered[places]) if len(present) > most else present
    return [(question.codes >= 0) & (question.codes <= code) for code in chosen[chosen < present[-1]]]
