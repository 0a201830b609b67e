"""State of one solve: the best tree so far, evaluated exactly, the proved bound, and the reports so far -> Answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from treeml.backends.claims import Contradiction, Evidence, Proof, UnfoundedClaim
from treeml.backends.contract import Answer, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.solvers.engines.outcome import Proved
from treeml.backends.task.integer_task import Form, IntegerTask, goal_value
from treeml.problem.evaluate import answers, evaluate_goals, meets_all
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

STEP = 0.5  # seconds between two reports of a bound without a tree
ROW_BY_ROW = Evidence("row by row")


@dataclass
class SolveState:
    problem: Problem
    task: IntegerTask
    limits: Limits
    on_progress: OnProgress | None
    began: float = field(default_factory=monotonic)
    tree: Node | None = None
    objective: tuple[Fraction, ...] | None = None
    least: int | None = None  # the proved bound in integer units of the goal,
    least_by: Evidence | None = None  # and its evidence
    closed_by: Evidence | None = None  # the proof that the search is complete
    stopped: bool = False  # by on_progress or Ctrl-C
    trace: list[Progress] = field(default_factory=list)
    statistics: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    raw: str = ""
    tolerance: Fraction = Fraction(0)  # up to which a real-valued goal is proved
    accepts: Callable[[Node], bool] | None = None  # an option restricts the trees: then nothing is proved

    def offer(self, tree: Node | None) -> bool:
        """Keeps the tree if it meets every bound and is better than the best; False if it breaks a bound."""
        if tree is None:
            return False
        tree = trimmed(tree, self.problem, self.task.goal)
        if not meets_all(self.problem, tree) or not (self.accepts is None or self.accepts(tree)):
            return False
        objective = evaluate_goals(self.problem, tree)
        if self.objective is None or objective < self.objective:
            self.tree, self.objective = tree, objective
            self.tell(tree)
        return True

    def begin_with(self, trees: Iterable[Node]) -> None:
        """Offers trees until one is accepted; if there is a tree already, only the first is compared with it."""
        for tree in trees:
            self.offer(tree)
            if self.tree is not None:
                return

    def raise_bound(self, proved: Proved | None) -> None:
        if proved is not None and (self.least is None or proved.least > self.least):
            self.least, self.least_by = proved.least, proved.evidence
            last = self.trace[-1].seconds if self.trace else 0.0
            if monotonic() - self.began - last > STEP:
                self.tell(None)

    def close(self, evidence: Evidence) -> Stop:
        """Ends the search: by this evidence the best tree is optimal, or there is no tree."""
        self.closed_by = evidence
        return Stop.PROVED

    def no_tree(self, evidence: Evidence) -> Stop:
        """Ends the search: no tree meets the requirements. Raises Contradiction if a tree was found."""
        if self.tree is not None:
            raise Contradiction(f"it says that no tree meets the requirements ({evidence.text}), and has found one")
        return self.close(evidence)

    def stop(self) -> None:
        """Asks the search to end at the next opportunity."""
        self.stopped = True

    def tell(self, tree: Node | None) -> None:
        bound = self.bound
        evidence = self.bound_by if bound is not None else ()
        moment = Progress(monotonic() - self.began, self.objective, bound, tree, evidence=evidence)
        self.trace.append(moment)
        if self.on_progress is not None and self.on_progress(moment) is False:
            self.stopped = True

    @property
    def bound(self) -> Fraction | None:
        """The proved bound on the first goal: the solver's, or the bound row by row if that is better."""
        if not self.problem.goals or self.accepts is not None:
            return None
        told = None if self.least is None else goal_value(self.task.goal, self.least)
        values = [value for value in (told, self.at_best) if value is not None]
        if not values:
            return None
        return max(values) if self.objective is None else min(max(values), self.objective[0])

    @property
    def bound_by(self) -> Proof:
        """The evidence of the bound."""
        told = None if self.least is None else goal_value(self.task.goal, self.least)
        if told is None or (self.at_best is not None and self.at_best >= told):
            return (ROW_BY_ROW,)
        assert self.least_by is not None
        return (self.least_by,)

    @cached_property
    def at_best(self) -> Fraction | None:
        return self.problem.goals[0].sum.lower_bound(self.problem, row_by_row=True)

    @property
    def best(self) -> int | None:
        """The goal of the best tree in integer units, rounded up."""
        if self.objective is None:
            return None
        if not self.objective:
            return 0
        steps = (self.objective[0] - self.task.goal.constant) / self.task.goal.scale
        return -(-steps.numerator // steps.denominator)

    @property
    def proved(self) -> bool:
        """Does the bound meet the best tree?"""
        best = self.best
        return best is not None and (not self.problem.goals or (self.least is not None and self.least >= best))

    @property
    def within_gap(self) -> bool:
        if not self.objective or self.bound is None or not self.limits.gap:
            return False
        return self.objective[0] - self.bound <= self.limits.gap * abs(self.objective[0])

    @property
    def enough(self) -> bool:
        """Should the solver stop, because it was asked to or because the gap is small enough or closed?"""
        return self.stopped or self.within_gap or self.is_met

    @property
    def is_met(self) -> bool:
        """Is the best tree's value equal to the bound (perhaps to the bound row by row)?"""
        return len(self.problem.goals) == 1 and bool(self.objective) and self.bound == (self.objective or (None,))[0]

    @property
    def cut_short(self) -> Stop:
        """Why the solver was stopped early."""
        return Stop.GAP if self.within_gap and not self.stopped else Stop.INTERRUPTED

    def record_build(self, columns: int | None = None, rows: int | None = None) -> None:
        """Records how long building took and, if given, the size of the model."""
        self.statistics["build_seconds"] = monotonic() - self.began
        if columns is not None and rows is not None:
            self.statistics |= {"columns": float(columns), "rows": float(rows)}

    def add_statistics(self, statistics: Mapping[str, float]) -> None:
        """Adds the statistics of one call of a solver."""
        for name, value in statistics.items():
            self.statistics[name] = self.statistics.get(name, 0.0) + value

    def bound_meets_tree(self) -> Evidence:
        """The proof that the best tree is optimal: its value is the proved bound, wherever the tree came from."""
        assert self.least_by is not None
        return Evidence("bound meets tree", "", (self.least_by,))

    def answer(self, stop: Stop) -> Answer:
        """The answer. `stop` PROVED without a tree means infeasible; a proof needs the evidence given to `close`."""
        statistics = {**self.statistics, "seconds": monotonic() - self.began}
        if self.accepts is not None and stop is Stop.PROVED:
            stop = Stop.FINISHED
        self._object()
        bound = self.bound
        evidence: Proof = self.bound_by if bound is not None else ()
        if len(self.problem.goals) == 1 and self.objective and bound == self.objective[0]:
            # The solver may have been stopped before it noticed this.
            stop, self.closed_by = Stop.PROVED, Evidence("bound meets tree", "", evidence)
        if stop is Stop.PROVED:
            if self.closed_by is None:
                raise UnfoundedClaim("it says that its search is complete, and names no evidence")
            evidence = (self.closed_by,)
        if self.tree is None:
            status = Status.INFEASIBLE if stop is Stop.PROVED else Status.UNKNOWN
            bound = None if stop is Stop.PROVED else bound
        else:
            status = Status.OPTIMAL if stop is Stop.PROVED else Status.FEASIBLE
            if status is Status.OPTIMAL and self.objective and not self.tolerance:
                self._object_below()
                bound = self.objective[0]
        return Answer(
            status=status,
            stop=stop,
            tree=self.tree,
            objective=self.objective,
            bound=bound,
            trace=tuple(self.trace),
            statistics=statistics,
            raw_status=self.raw,
            notes=tuple(self.notes),
            tolerance=self.tolerance,
            evidence=evidence,
        )

    def _object_below(self) -> None:
        """Raises Contradiction if the best tree is called optimal though the known bound does not reach it."""
        assert self.objective
        if self.least is not None and self.bound != self.objective[0]:
            raise Contradiction(f"it says optimal with the value {self.objective[0]} and the bound {self.bound}")

    def _object(self) -> None:
        """Raises Contradiction if the bound lies above the best tree, since its proof must then be wrong."""
        best = self.best
        if not self.objective or self.accepts is not None or self.least is None or best is None or self.least <= best:
            return
        assert self.least_by is not None
        raise Contradiction(
            f"its bound {goal_value(self.task.goal, self.least)} ({self.least_by.text}) lies above its own tree with "
            f"{self.objective[0]}"
        )


def trimmed(tree: Node, problem: Problem, goal: Form) -> Node:
    """The tree without tests that separate no rows; leaves without a label get the cheapest one."""

    def trim(node: Node, rows: NDArray[np.intp]) -> Node:
        if isinstance(node, Leaf):
            if node.label >= 0 or not problem.classes:
                return node
            if goal.predicted is None:
                return Leaf(0)
            return Leaf(int(goal.predicted[rows].sum(axis=0).argmin()))
        says_yes = answers(problem, node.test, rows)
        yes, no = rows[says_yes], rows[~says_yes]
        if not len(yes):
            return trim(node.no, no)
        if not len(no):
            return trim(node.yes, yes)
        return Split(node.test, trim(node.yes, yes), trim(node.no, no))

    return trim(tree, np.arange(problem.rows))
