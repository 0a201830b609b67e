"""Checked answer of a back-end at some prices -> BestTree: the tree, and the most that any tree is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor

from treeml.backends.claims import Claim, Proof, supporting
from treeml.backends.contract import Answer, Deadline, Status, Stop
from treeml.forests.examples import Whole
from treeml.problem.tree import Node


@dataclass(frozen=True, eq=False, slots=True)
class BestTree:
    """The best tree at some prices, as a back-end answered."""

    tree: Node | None
    edge: int | None  # no tree's signs times the prices exceed it; None if nothing was proved
    stop: Stop | None = None  # why the search ended early, if it did
    conflict: tuple[str, ...] = ()
    infeasible: bool = False
    evidence: Proof = ()  # that the edge holds, or that there is no tree


BestTreeSolver = Callable[[Whole, Deadline, Node | None], BestTree]
"""Prices of the margins, the deadline, a tree to start from -> the best tree."""


def best_tree(answer: Answer) -> BestTree:
    """No tree costs less than the answer's bound, so no tree is worth more than minus that bound."""
    proved = answer.status in (Status.OPTIMAL, Status.INFEASIBLE)
    stop = None if proved or answer.stop is Stop.FINISHED else answer.stop
    edge = None if answer.bound is None else floor(answer.tolerance - answer.bound)
    infeasible = answer.status is Status.INFEASIBLE
    evidence = supporting(answer.evidence, Claim.INFEASIBLE if infeasible else Claim.BOUND)
    return BestTree(answer.tree, edge, stop, answer.conflict, infeasible, evidence)
