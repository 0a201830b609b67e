"""improve(a, b): a tree improved one exact subtree at a time, by other back-ends (Schidler and Szeider 2021).

`improve by subtrees(...)` in a specification is this back-end, wrapped around those of `solve with`. It starts with the
tree of `start from`, or with a greedy one, and never returns a worse tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from time import monotonic
from typing import Any, ClassVar

import numpy as np

from treeml.backends import registry
from treeml.backends.contract import (
    NO_LIMITS,
    NO_OPTIONS,
    Answer,
    Backend,
    BackendBase,
    Capabilities,
    Limits,
    OnProgress,
    Option,
    Progress,
    Refusal,
    Status,
    Stop,
)
from treeml.problem.problem import Problem
from treeml.problem.terms import EVERY_TERM, Locality
from treeml.problem.tree import Node

FEATURES = ("auto", "all", "tree", "support")
LIMITS = ("d60", "d300", "d800")


class ImproveBackend(BackendBase):
    name: ClassVar[str] = "improve"
    summary: ClassVar[str] = "improves a tree one exact subtree at a time; not optimal as a whole"
    can: ClassVar[Capabilities] = Capabilities(
        goals=EVERY_TERM,
        bounds=EVERY_TERM,
        sums=True,
        proves=False,
        needs_depth=False,
        lexicographic=True,
        minimizes_depth=True,
        merges_rows=True,
        merges_tests=True,
        starts=True,
        reports=True,
        carries=None,
        automatic=False,
        runs_others=True,
    )
    options: ClassVar[Mapping[str, Option]] = {
        "backends": Option(tuple, (), "back-ends for the subtrees: improve(sat, native); native if none is named"),
        "depth": Option(int, None, "levels of a local tree; 3 if the goal is not depth", low=1),
        "rows": Option(int, None, "the most rows of a local instance; 5,000 if the goal is not depth", low=1),
        "rounds": Option(int, None, "the most replacements", low=1),
        "starts": Option(int, None, "the most starting trees; any while there is time, 1 with a checkpoint", low=1),
        "features": Option(str, "auto", "tests of a local instance: all, the subtree's, a support set", FEATURES),
        "limits": Option(str, "d300", "rows per depth of a local instance for back-ends other than native", LIMITS),
        "patience": Option(float, 10.0, "seconds for one local instance", low=0.001),
        "seconds": Option(float, None, "for all of it", low=0),
        "checkpoint": Option(str, "", "a file to save to and to resume from", writes=True),
    }

    def refusals(self, problem: Problem, options: Mapping[str, Any] = NO_OPTIONS) -> Iterator[Refusal]:
        from treeml.backends.improve.rounds import minimizes_depth  # imported here: start-up time

        for name, _ in _named(options):
            missing = registry.get(name).missing()
            if missing is not None:
                yield Refusal(f"the back-end {name}", f"what it needs is not installed: {missing}", missing)
        first = registry.get(_named(options)[0][0])
        if "limits" in options and (first.can.shallow_search or not minimizes_depth(problem)):
            because = f"`limits` are for the goal depth and solvers other than {registry.default_name()}"
            yield Refusal("the option limits", because, "give `rows` and `depth`")
        if "features" in options and not minimizes_depth(problem):
            yield Refusal("the option features", "`features` are reduced for the goal depth only", "remove `features`")
        if not problem.goals or minimizes_depth(problem):
            return
        goal = problem.goals[0]
        if not any(term.locality is Locality.SUM for _, term in goal.sum.parts):
            feature = f"the goal {goal.text}" if goal.text else "the goal"
            because = "subtrees can be improved separately only if the goal is depth or adds up over the leaves"
            yield Refusal(feature, because, "remove `improve`")

    def remark(self, problem: Problem, options: Mapping[str, Any]) -> str:
        from treeml.backends.improve.rounds import minimizes_depth  # imported here: start-up time

        names = " and ".join(name for name, _ in _named(options))
        if minimizes_depth(problem):
            return f"subtrees on the deepest path are made shallower by {names}; rows keep what is predicted for them"
        return f"subtrees are replaced by the best trees of a few levels, found by {names}"

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        # imported here: start-up time
        from treeml.backends.anytime.search import first_tree
        from treeml.backends.heuristics.cart import CartBackend
        from treeml.backends.improve.rounds import ImproveSettings, improve, is_about_shape
        from treeml.backends.improve.starts import from_other_starts, replaces_parts
        from treeml.backends.improve.vertices import grow, node_of
        from treeml.problem.evaluate import evaluate_goals, meets_all

        began = monotonic()
        options = dict(limits.options)
        inners = tuple((registry.get(name), own) for name, own in _named(options))
        options.pop("backends", None)
        starts = options.pop("starts", None)
        settings = ImproveSettings(**options)
        if start is not None:
            start = node_of(grow(start, problem, np.arange(problem.rows)))  # without branches that no row reaches
        if start is None or not meets_all(problem, start):
            start = first_tree(problem, limits.deadline) if grows_on_numbers(problem) else None
        if start is None:
            grown = CartBackend().solve(problem, replace(limits, options={}))
            if grown.tree is None or grown.stop is Stop.INTERRUPTED:
                return grown
            start = grown.tree
        plain = replace(limits, options={})
        if starts != 1 and replaces_parts(problem, inners, settings):
            value = evaluate_goals(problem, start)
            answer = Answer(Status.LOCAL, Stop.FINISHED, start, value, raw_status="no subtree in reach can be improved")
            if on_progress is not None and on_progress(Progress(monotonic() - began, value, None, start)) is False:
                answer = replace(answer, status=Status.FEASIBLE, stop=Stop.INTERRUPTED, raw_status="")
        else:
            answer = improve(problem, start, inners, plain, settings, on_progress)
        goes_on = starts != 1 and not settings.checkpoint and not is_about_shape(problem)
        if answer.status is Status.LOCAL and goes_on:
            answer = from_other_starts(problem, answer, inners, plain, settings, starts, on_progress)
        return replace(answer, statistics={**answer.statistics, "solve_seconds": monotonic() - began})


def _named(options: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The inner back-ends with their own options."""
    asked = options.get("backends") or (registry.default_name(),)
    return [(each, {}) if isinstance(each, str) else (each.name, dict(each.options)) for each in asked]


def grows_on_numbers(problem: Problem) -> bool:
    """Is a starting tree grown on columns as they are, without a test for every cut?"""
    from treeml.backends.anytime import local_kernel  # imported here: start-up time

    return local_kernel.takes(problem) and local_kernel.LocalKernel(problem).kernel == "numeric"


def inner_backends(options: Mapping[str, Any]) -> list[Backend]:
    return [registry.get(name) for name, _ in _named(options)]
