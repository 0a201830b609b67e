"""Problem -> a smallest or shallowest perfect tree, by the fixed-parameter algorithm of Ordyniak and Szeider (2021).

For every minimal support set up to a size, and for every set of columns that grows from it by branching sets, all trees
over these columns are examined. The time grows with the number of tests in the tree, with the columns in which two rows
of different classes differ, and with the size of domains, but hardly with the number of rows and columns. So this is
for small trees over data in which rows differ little. Depths and sizes are tried from below, so the proof comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.backends.claims import Evidence
from treeml.backends.contract import (
    NO_LIMITS,
    NO_OPTIONS,
    Answer,
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
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.problem import Bound, Problem
from treeml.problem.shapes import groups
from treeml.problem.tree import Node
from treeml.version import __version__

if TYPE_CHECKING:
    from treeml.backends.parameterized.instance import Instance

UNLIMITED = 10**6
SLOW_TICKS = 64
SEARCHED = Evidence("support sets")


class _Halt(Exception):
    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.value)
        self.stop = stop


class ParameterizedBackend(BackendBase):
    name: ClassVar[str] = "parameterized"
    summary: ClassVar[str] = "small perfect trees by support sets; fast where rows of different classes differ little"
    can: ClassVar[Capabilities] = Capabilities(
        goals=frozenset({"Leaves", "Depth"}),
        bounds=frozenset({"Predicted", "Leaves", "Depth"}),
        needs_depth=False,
        minimizes_depth=True,
        merges_rows=True,
        merges_tests=True,
        numeric=True,
        starts=True,
        reports=True,
        keeps_memory=True,
        carries=None,
        automatic=False,
    )
    options: ClassVar[Mapping[str, Option]] = {
        "columns": Option(
            str,
            "auto",
            "support: sets of columns by support and branching sets; all: every column at once; auto: by estimate",
            ("auto", "support", "all"),
        ),
        "search": Option(
            str,
            "joined",
            "joined: shapes, columns and thresholds together; shapes: one shape and assignment after the other",
            ("joined", "shapes"),
        ),
    }

    @staticmethod
    def version() -> str:
        return __version__

    def refusals(self, problem: Problem, options: Mapping[str, Any] = NO_OPTIONS) -> Iterator[Refusal]:
        if not problem.classes:
            yield Refusal("leaves with numbers", "parameterized finds trees that get every class right")
            return
        if len(problem.goals) > 1:
            yield Refusal("several goals", "parameterized minimizes one at a time")
        for goal in problem.goals:
            if len(goal.sum.kinds()) > 1 or any(factor < 0 for factor, _ in goal.sum.parts):
                yield Refusal(
                    f"the goal {goal.text}".strip(), "parameterized minimizes depth or leaves alone", "minimize one"
                )
        for bound in problem.bounds:
            yield from _bound_refusals(bound)
        if not list(_bound_refusals_of(problem)) and isinstance(_labels(problem), str):
            yield Refusal(
                "a tree with errors",
                f"parameterized needs a requirement that determines the class of every row: {_labels(problem)}",
                "add `require errors = 0`, or as many errors as identical rows make unavoidable",
            )

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        return _Solve(problem, limits, start, on_progress).answer()


def _bound_refusals_of(problem: Problem) -> Iterator[Refusal]:
    for bound in problem.bounds:
        yield from _bound_refusals(bound)


def _bound_refusals(bound: Bound) -> Iterator[Refusal]:
    feature = f"the requirement {bound.name}" if bound.name else "a requirement"
    kinds = bound.sum.kinds()
    if len(kinds) > 1:
        yield Refusal(feature, "parameterized bounds one measure at a time", "bound each of them by itself")
    elif kinds <= {"Leaves", "Depth"}:
        factor = sum((part for part, _ in bound.sum.parts), Fraction(0))
        if bound.sense == "=" or (bound.sense == "<=") != (factor > 0):
            yield Refusal(feature, "parameterized supports only upper limits on depth and leaves")
    elif bound.sense == ">=":
        yield Refusal(feature, "parameterized supports only upper limits on errors")


def _labels(problem: Problem) -> Any:
    """The class of every row, or the reason why the requirements do not determine it."""
    # imported here: start-up time
    import numpy as np

    from treeml.backends.solvers.encodings.perfect.question import FREE, merged_labels

    numbers = groups(problem)
    label = np.full(int(numbers.max(initial=-1)) + 1, FREE)
    for bound in problem.bounds:
        if bound.sum.kinds() != {"Predicted"}:
            continue
        least = bound.sum.lower_bound(problem)
        assert least is not None
        if least > bound.limit:
            return "no tree has so few errors"
        found = None if least < bound.limit else merged_labels(bound.sum, numbers, label)
        if found is None:
            return "it leaves room for different classes of a row"
        label = found
    return label[numbers]


class _Solve:
    def __init__(self, problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> None:
        self.problem, self.limits, self.on_progress = problem, limits, on_progress
        self.began = monotonic()
        self.ticks = 0
        self.sets = 0
        self.trace: list[Progress] = []
        self.notes: list[str] = []
        self.best: Node | None = None
        self.least: Fraction | None = None
        self.start = start

    def answer(self) -> Answer:
        problem = self.problem
        labels = _labels(problem)
        if isinstance(labels, str):
            status = Status.INFEASIBLE if labels.startswith("no tree") else Status.UNKNOWN
            stop = Stop.PROVED if status is Status.INFEASIBLE else Stop.FAILED
            names = tuple(b.name for b in problem.bounds if "Predicted" in b.sum.kinds() and b.name)
            evidence = (Evidence("counting", labels),) if status is Status.INFEASIBLE else ()
            return Answer(status, stop, conflict=names, raw_status=labels, evidence=evidence)
        try:
            self.look_for_start()
            stop = self.run(labels)
        except _Halt as halt:
            stop = halt.stop
        except (MemoryError, RecursionError):
            stop = Stop.MEMORY
        except KeyboardInterrupt:
            stop = Stop.INTERRUPTED
        return self.told(stop)

    def look_for_start(self) -> None:
        # imported here: start-up time
        from treeml.backends.task.greedy_start import greedy_for_bound

        for tree in (self.start, greedy_for_bound(self.problem)):
            if tree is not None and meets_all(self.problem, tree):
                self.offer(tree)

    def offer(self, tree: Node) -> None:
        if self.best is not None and evaluate_goals(self.problem, tree) >= evaluate_goals(self.problem, self.best):
            return
        self.best = tree
        self.tell()

    def tell(self) -> None:
        value = None if self.best is None else evaluate_goals(self.problem, self.best)
        moment = Progress(monotonic() - self.began, value, self.least, self.best, evidence=(SEARCHED,))
        self.trace.append(moment)
        if self.on_progress is not None and self.on_progress(moment) is False:
            raise _Halt(Stop.INTERRUPTED)

    def tick(self) -> None:
        self.ticks += 1
        if self.ticks % SLOW_TICKS == 1 and self.limits.deadline.passed:
            raise _Halt(Stop.TIME)

    def run(self, labels: Any) -> Stop:
        """Tries depths or sizes from below or, without a goal, asks once whether there is a tree within the bounds."""
        # imported here: start-up time
        from treeml.backends.parameterized.instance import read_instance
        from treeml.backends.parameterized.support import least_support

        problem = self.problem
        self.tick()
        instance = read_instance(problem, labels)
        depth = UNLIMITED if problem.max_depth is None else problem.max_depth
        leaves = problem.bound_on("Leaves", "<=")
        tests = max(0, instance.rows - 1)
        if leaves is not None:
            tests = min(tests, leaves.numerator // leaves.denominator - 1)
        if depth < 0 or tests < 0:
            return Stop.PROVED
        goal = problem.goals[0].sum if problem.goals else None
        if goal is None:
            if self.best is None:
                self.found(self.decide(instance, tests, depth), labels)
            return Stop.PROVED
        price = sum((factor for factor, _ in goal.parts), Fraction(0))
        is_depth = goal.kinds() == {"Depth"}
        kinds = max(1, len(instance.classes))
        level = max(kinds - 1, least_support(instance))
        if is_depth:
            level = level.bit_length()  # this many tests need at least this many levels
        most = min(depth, tests) if is_depth else tests
        while True:
            self.least = price * (level if is_depth else level + 1) + goal.constant
            if self.best is not None and evaluate_goals(problem, self.best)[0] <= self.least:
                return Stop.PROVED
            if level > most:
                return Stop.PROVED
            self.tell()
            tree = self.decide(instance, tests, level) if is_depth else self.decide(instance, level, depth)
            if self.found(tree, labels):
                return Stop.PROVED
            what = f"depth {level}" if is_depth else f"leaves {level + 1}"
            self.notes = [f"{what}: there is no tree"]
            level += 1

    def found(self, tree: Node | None, labels: Any) -> bool:
        if tree is None:
            return False
        # imported here: start-up time
        from treeml.backends.solvers.solve_state import trimmed
        from treeml.backends.task.integer_task import Form

        self.best = None  # the next tree found is optimal
        self.offer(trimmed(tree, self.problem, Form()))
        assert self.best is not None
        assert meets_all(self.problem, self.best), "a tree that does not meet the bounds"
        return True

    def decide(self, instance: Instance, tests: int, depth: int) -> Node | None:
        """A tree within this number of tests and levels, if there is one (MINDT, Algorithm 3)."""
        # imported here: start-up time
        from treeml.backends.parameterized.support import minimal_supports

        if depth < 40:
            tests = min(tests, (1 << depth) - 1)
        if self.takes_all(instance, tests):
            return self.over(instance, frozenset(range(instance.columns)), tests, depth)
        seen: set[frozenset[int]] = set()
        for support in minimal_supports(instance, tests, self.tick):
            tree = self.grown(instance, support, tests, depth, seen)
            if tree is not None:
                return tree
        return None

    def grown(
        self, instance: Instance, columns: frozenset[int], tests: int, depth: int, seen: set[frozenset[int]]
    ) -> Node | None:
        """A tree over these columns and possibly more (MINDTS, Algorithm 4); each set of columns is tried once."""
        # imported here: start-up time
        from treeml.backends.parameterized.support import branching_set

        if columns in seen:
            return None
        seen.add(columns)
        self.tick()
        more = branching_set(instance, columns) if len(columns) < tests else frozenset()
        if not more:  # a tree over some of the columns is also a tree over all of them
            return self.over(instance, columns, tests, depth)
        for column in sorted(more):
            tree = self.grown(instance, columns | {column}, tests, depth, seen)
            if tree is not None:
                return tree
        return None

    def over(self, instance: Instance, columns: frozenset[int], tests: int, depth: int) -> Node | None:
        """A tree over these columns, if there is one (Theorem 4)."""
        # imported here: start-up time
        from treeml.backends.parameterized.search import BYTES_PER_ENTRY, Trees, by_shapes

        self.sets += 1
        self.tick()
        if self.limits.options.get("search", "joined") == "shapes":
            return by_shapes(instance, columns, tests, depth, self.tick)
        most = None if self.limits.memory is None else max(1000, self.limits.memory // BYTES_PER_ENTRY)
        return Trees(instance, columns, self.tick, most).find(instance.everything, tests, depth)

    def takes_all(self, instance: Instance, tests: int) -> bool:
        """Is searching all columns at once expected to be faster than one set of columns after the other?"""
        asked = self.limits.options.get("columns", "auto")
        if asked != "auto":
            return bool(asked == "all")
        return instance.columns <= 2 * tests

    def told(self, stop: Stop) -> Answer:
        problem = self.problem
        statistics = {"nodes": float(self.ticks), "column_sets": float(self.sets), "seconds": monotonic() - self.began}
        common = Answer(Status.UNKNOWN, stop, trace=tuple(self.trace), statistics=statistics, notes=tuple(self.notes))
        if self.best is None:
            status = Status.INFEASIBLE if stop is Stop.PROVED else Status.UNKNOWN
            names = tuple(dict.fromkeys(bound.name for bound in problem.bounds if bound.name))
            if status is Status.UNKNOWN:
                return common
            return replace(common, status=status, conflict=names, evidence=(SEARCHED,))
        objective = evaluate_goals(problem, self.best)
        if stop is Stop.PROVED:
            bound = objective[0] if objective else None
            proof = (SEARCHED if objective else Evidence("no goal"),)
            return replace(
                common, status=Status.OPTIMAL, tree=self.best, objective=objective, bound=bound, evidence=proof
            )
        below = None if self.least is None or not objective else min(self.least, objective[0])
        evidence = () if below is None else (SEARCHED,)
        return replace(
            common, status=Status.FEASIBLE, tree=self.best, objective=objective, bound=below, evidence=evidence
        )
