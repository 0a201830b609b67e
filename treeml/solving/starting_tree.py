"""Dataset, request, problem -> the tree to start from, over the tests of the problem.

`start from native` is a search of its own: besides a tree it gives a bound, and the back-end goes on from both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from treeml.backends import registry
from treeml.backends.contract import Answer, Deadline, Limits, Stop
from treeml.backends.heuristics.cart import CartBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.data.table import Dataset
from treeml.lang.diagnostic import Diagnostic, Label, RefusedError
from treeml.lang.redaction import redacted_start
from treeml.lang.spec import Method
from treeml.measures.lower_dataset import Lowered
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Depth, Leaves, Sum, Support, Term
from treeml.problem.tree import Node
from treeml.solving.request import Request

SHARE = 0.5  # of the time that is left, for the starting tree, unless `start from native` names a time of its own


class StartInterrupted(Exception):
    """Ctrl-C came while the starting tree was grown; what there was of it is kept."""

    def __init__(self, tree: Node | None) -> None:
        super().__init__()
        self.tree = tree


def starting_answer(request: Request, lowered: Lowered, limits: Limits) -> Answer | None:
    """The answer of the back-end that the spec starts from; None if it starts from something else."""
    source = request.spec.start
    if request.start is not None or not isinstance(source, Method) or source.name == CartBackend.name:
        return None
    planned = plan(lowered.problem, registry.get(source.name))
    if not isinstance(planned, Plan):
        span = request.spec.spans.get("start")
        labels = () if span is None else (Label(span, "asked for here"),)
        helps = tuple(dict.fromkeys(refusal.instead for refusal in planned if refusal.instead))
        raise RefusedError(Diagnostic("B501", planned[0].because, labels, (), helps, place=planned[0].feature))
    seconds = SHARE * limits.deadline.left()
    if "seconds" in source.options:
        seconds = min(limits.deadline.left(), float(source.options["seconds"]))
    return run(planned, replace(limits, deadline=Deadline.after(seconds), options={}))


def starting_tree(dataset: Dataset, request: Request, lowered: Lowered, begun: float) -> Node | None:
    """The tree that the caller gives, that the spec names in a file, or that is grown greedily.

    A tree to improve has to meet the requirements; a search ignores a start that does not.
    """
    from treeml.trees.importing.read import lower_start, read_start, refuse_broken  # imported here: start-up time

    source = request.start if request.start is not None else request.spec.start
    span = request.spec.spans.get("start")
    if source is None:
        return None
    if isinstance(source, Method) and source.name != CartBackend.name:
        return None
    if isinstance(source, Method):
        deadline = Deadline.after(SHARE * Deadline(request.deadline(begun)).left())
        node = _greedy(lowered.problem, source.options, deadline)
        if node is None and request.spec.improve is not None:
            node = _greedy(lowered.problem.asking(lowered.problem.goals, ()), source.options, deadline)
    else:
        named = isinstance(source, str) and request.start is None
        path = request.spec.folder / source if named else source
        confined = request.spec.folder if named and request.spec.untrusted else None
        with redacted_start(request.spec, request.start):
            node = lower_start(read_start(path, dataset, confined, span), lowered, span)
    if node is not None and request.spec.improve is not None:
        refuse_broken(node, lowered.problem, span)
    return node


def _greedy(problem: Problem, options: Mapping[str, Any], deadline: Deadline) -> Node | None:
    """A greedy tree within the bounds of the problem and of `start from cart(...)`; None if it misses one.

    What is not grown when the time is up stays a leaf.
    """
    kinds: dict[str, tuple[Term, str]] = {
        "depth": (Depth(), "<="),
        "leaves": (Leaves(), "<="),
        "support": (Support(), ">="),
    }
    extra = tuple(
        Bound(Sum(((Fraction(1), kinds[name][0]),)), kinds[name][1], Fraction(value))
        for name, value in options.items()
        if name in kinds
    )
    other = {name: value for name, value in options.items() if name not in kinds}
    grown = CartBackend().solve(problem.asking(problem.goals, problem.bounds + extra), Limits(deadline, options=other))
    if grown.stop is Stop.INTERRUPTED:
        raise StartInterrupted(grown.tree)
    return grown.tree
