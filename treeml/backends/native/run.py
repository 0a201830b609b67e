"""Problem, limits -> Answer: one run of the C solver, and its findings in the terms of the problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.claims import Evidence, Proof
from treeml.backends.contract import Answer, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.native.faultless import smallest_faultless
from treeml.backends.native.flat_tree import STATUS, STOP, flat_tree, tree_of
from treeml.backends.native.goals import (
    NativeObjective,
    at_most,
    floor,
    in_64_bits,
    kind,
    objective_of,
    scaled_cost,
)
from treeml.backends.native.inputs import is_impossible, make_solver, search_settings
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.precision import CLOSE, most_leaves, narrowed, smallest_difference
from treeml.problem.problem import Problem
from treeml.problem.terms import Predicted
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from treeml.backends.native.numeric_kernel import ThresholdSolver
    from treeml.native.solver import Found, Solver

MOST_CASES = 20_000_000  # up to here doubts of a fast search are settled by a slow one, in about a second
ROUNDING = Fraction(1, 2**40)  # of an amount beside a loss, at most, over all leaves of a tree


@dataclass
class NativeRun:
    problem: Problem
    limits: Limits
    start: Node | None
    on_progress: OnProgress | None
    began: float
    kernel: str = "binary"
    trace: list[Progress] = field(default_factory=list)
    reached_gap: bool = False
    tells: bool = True  # are the values of the search those of the goal?

    @property
    def ended(self) -> Proof:
        """What a status of the C solver that is a proof rests on."""
        return (Evidence("search", f"native, {self.kernel} kernel"),)

    @property
    def stopped_at(self) -> Proof:
        """What its bound rests on when it is stopped, and on the way."""
        return (Evidence("search bound", f"native, {self.kernel} kernel"),)

    def answer(self) -> Answer:
        problem = self.problem
        objective = objective_of(problem)
        bounded = [bound for bound in problem.bounds if kind(bound) is Predicted]
        only_leaves = bool(problem.goals) and problem.goals[0].sum.kinds() == {"Leaves"} and len(problem.goals) == 1
        settings = search_settings(problem, objective, self.limits, self.kernel)
        if is_impossible(self.problem, settings):
            return self.answered(None, objective)
        if only_leaves and len(bounded) == 1:
            answer = smallest_faultless(self, bounded[0])
            if answer is not None:
                return answer
        if bounded and (only_leaves or not problem.goals):
            factor, cost, _ = at_most(bounded[0])
            objective = NativeObjective(cost=np.asarray(cost) * (1 if factor > 0 else -1))
            limit = in_64_bits(min(floor(most / abs(factor)) for factor, _, most in map(at_most, bounded)))
            solver = make_solver(self.problem, objective, self.kernel)
            settings |= {"upper": limit + 1, "enough": limit + 1, "leaf_price": 0}
            return self.fewest_leaves(solver, objective, settings) if only_leaves else self.any_tree(solver, settings)
        if bounded:
            most = min(limit / abs(factor) for factor, _, limit in map(at_most, bounded))
            mine = scaled_cost(problem.goals[0].sum)
            assert mine is not None
            settings["upper"] = in_64_bits(floor(most * abs(mine[0]) * objective.scale)) + 1
        found = self.run(make_solver(self.problem, objective, self.kernel), objective, settings)
        if objective.loss is not None and objective.beside is not None:
            return self.refined(found, objective, settings)
        return self.answered(found, objective)

    def refined(self, found: Found | None, objective: NativeObjective, settings: dict[str, Any]) -> Answer:
        """A best tree that rounding leaves in doubt is sought again, with numbers as small as the trees that are no
        worse allow, until the doubt is small beside its value."""
        answer, goal = self.answered(found, objective), self.problem.goals[0]
        while answer.status is Status.OPTIMAL and answer.tolerance and self.limits.deadline.left() > 0:
            assert answer.objective is not None
            if answer.tolerance <= CLOSE * (answer.objective[0] - objective.constant):
                break
            smaller = narrowed(goal.sum, answer.objective[0])
            if smaller is None and (objective.most < inf or self.size() > MOST_CASES):
                break
            self.start, goal = answer.tree, goal if smaller is None else replace(goal, sum=smaller)
            objective = objective_of(replace(self.problem, goals=(goal,)))
            if smaller is None:
                # Numbers cannot be smaller: leaves that cost more than the tree need not be told apart.
                objective.most = float((answer.objective[0] - objective.constant) * objective.scale)
            found = self.run(
                make_solver(self.problem, objective, self.kernel),
                objective,
                {**settings, "leaf_price": objective.price},
            )
            if found is None or STATUS[found.status] is not Status.OPTIMAL:
                break
            answer = self.answered(found, objective)
        return answer

    def size(self) -> int:
        """About how many rows a search without tables of pairs looks at."""
        depth = min(most_leaves(self.problem), 2 ** min(62, self.problem.max_depth or 62)).bit_length() - 1
        return self.problem.rows * int(len(self.problem.tests) ** min(depth, 64))

    def run(
        self, solver: Solver | ThresholdSolver, objective: NativeObjective, settings: Mapping[str, Any]
    ) -> Found | None:
        """None where the bounds contradict themselves."""
        if is_impossible(self.problem, settings):
            return None
        left = self.limits.deadline.left()
        start = None if self.start is None else flat_tree(self.start)
        return solver.solve(
            **settings,
            seconds=left,
            start=start,
            on_progress=lambda seconds, value, bound: self.progress(objective, value, bound),
        )

    def progress(self, objective: NativeObjective, value: Any, bound: Any) -> bool:
        """False stops the search."""
        if value is None or not self.problem.goals or not self.tells:
            return not (self.on_progress is not None and self.on_progress(Progress(monotonic() - self.began)) is False)
        reached = self.first_goal(objective, Fraction(value), objective.later_least)
        below = None if bound is None else self.first_goal(objective, Fraction(bound), objective.later_most)
        if objective.beside is not None:
            # Amounts were rounded to units: what is told on the way stays on the safe side of what the tree has.
            largest = abs(reached - objective.constant) + Fraction(objective.beside) / abs(objective.scale)
            reached += largest * ROUNDING
            below = None if below is None else below - largest * ROUNDING
        last = self.trace[-1] if self.trace else None
        if last is None or last.objective != (reached,) or last.bound != below:
            moment = Progress(monotonic() - self.began, (reached,), below, evidence=self.stopped_at)
            self.trace.append(moment)
            if self.on_progress is not None and self.on_progress(moment) is False:
                return False
        gap = self.limits.gap
        if gap and below is not None and reached - below <= gap * abs(reached):
            self.reached_gap = True
            return False
        return True

    def first_goal(self, objective: NativeObjective, value: Fraction, later: int) -> Fraction:
        """The first goal's value behind a value of all goals together, later goals being worth `later`."""
        if objective.first_weighs == 1 and objective.scale == 1 and not objective.constant:
            return value
        share = (value - later) / objective.first_weighs if objective.first_weighs > 1 else value
        return share / objective.scale + objective.constant

    def fewest_leaves(
        self, solver: Solver | ThresholdSolver, objective: NativeObjective, settings: dict[str, Any]
    ) -> Answer:
        """The fewest leaves of a tree within the bounds: one leaf, two, and so on."""
        factor, constant = self.problem.goals[0].sum.parts[0][0], self.problem.goals[0].sum.constant
        most = settings.get("leaves", self.problem.rows)
        self.tells = False  # what it minimizes is the sum of a bound
        for leaves in range(1, most + 1):
            found = self.run(solver, NativeObjective(), {**settings, "leaves": leaves})
            if found is None or found.status == "unknown":
                bound = factor * leaves + constant
                return self.answered(found, objective, bound=bound)
            if found.status != "infeasible":
                tree = tree_of(found, self.problem)
                goals = evaluate_goals(self.problem, tree)
                return Answer(
                    Status.OPTIMAL,
                    Stop.PROVED,
                    tree,
                    goals,
                    goals[0],
                    (),
                    tuple(self.trace),
                    self.statistics(found, goals[0], goals[0]),
                    found.status,
                    evidence=(Evidence("level by level", "leaves", self.ended),),
                )
        return Answer(Status.INFEASIBLE, Stop.PROVED, raw_status="infeasible", evidence=self.ended)

    def any_tree(self, solver: Solver | ThresholdSolver, settings: dict[str, Any]) -> Answer:
        found = self.run(solver, NativeObjective(), settings)
        return self.answered(found, NativeObjective())

    def answered(self, found: Found | None, objective: NativeObjective, bound: Fraction | None = None) -> Answer:
        if found is None:
            evidence: Proof = (Evidence("counting", "a limit that no tree keeps"),)
            return Answer(Status.INFEASIBLE, Stop.PROVED, raw_status="infeasible", evidence=evidence)
        status = STATUS[found.status]
        raw = f"{found.status}, {found.stop}"
        if not len(found.test):
            stop = Stop.PROVED if status is Status.INFEASIBLE else STOP[found.stop]
            return Answer(
                status,
                stop,
                bound=bound,
                trace=tuple(self.trace),
                statistics=self.statistics(found, None, bound),
                raw_status=raw,
                evidence=self.ended if status is Status.INFEASIBLE else () if bound is None else self.stopped_at,
            )
        tree = tree_of(found, self.problem)
        if not self.problem.goals:
            statistics = self.statistics(found, None, None)
            evidence = (Evidence("no goal"),)
            return Answer(
                Status.OPTIMAL, Stop.PROVED, tree, (), statistics=statistics, raw_status=raw, evidence=evidence
            )
        goals = self.claimed(found, objective, tree)
        tolerance = self.doubt(found, objective, goals)
        if found.tolerance:
            self.trace = [_within(moment, goals[0], status is Status.OPTIMAL) for moment in self.trace]
        if status is Status.OPTIMAL:
            statistics = self.statistics(found, goals[-1], goals[-1])
            return Answer(
                status,
                Stop.PROVED,
                tree,
                goals,
                goals[-1],
                (),
                tuple(self.trace),
                statistics,
                raw,
                tolerance=tolerance,
                evidence=self.ended,
            )
        below = None
        if found.bound is not None:
            below = min(goals[0], self.first_goal(objective, Fraction(found.bound), objective.later_most))
        stop = Stop.GAP if self.reached_gap else STOP[found.stop]
        statistics = self.statistics(found, goals[0], below)
        return Answer(
            status,
            stop,
            tree,
            goals,
            below,
            (),
            tuple(self.trace),
            statistics,
            raw,
            tolerance=tolerance,
            bounded_goal=0,
            evidence=() if below is None else self.stopped_at,
        )

    def doubt(self, found: Found, objective: NativeObjective, goals: tuple[Fraction, ...]) -> Fraction:
        """How far from the best the tree may be. Nothing costs less than nothing, and values that differ by less than
        any two can are equal."""
        tolerance = found.tolerance / objective.scale
        if not tolerance or objective.loss is None:
            return tolerance
        value = goals[0] - objective.constant
        if not value or tolerance < smallest_difference(self.problem.goals[0].sum, most_leaves(self.problem)):
            return Fraction(0)
        return min(tolerance, value)

    def claimed(self, found: Found, objective: NativeObjective, tree: Node) -> tuple[Fraction, ...]:
        """What the tree is worth by each goal. One goal in whole numbers is the solver's own value: whoever runs the
        back-end recomputes it from the rows anyway."""
        if len(self.problem.goals) > 1 or found.tolerance or found.value is None:
            return evaluate_goals(self.problem, tree)
        return (self.first_goal(objective, Fraction(found.value), 0),)

    def statistics(self, found: Found, objective: Fraction | None, bound: Fraction | None) -> dict[str, float]:
        own = {name: value for name, value in found.statistics.items() if not name.endswith("_microseconds")}
        own["build_seconds"] = found.statistics["build_microseconds"] / 1e6
        own["solve_seconds"] = found.statistics["solve_microseconds"] / 1e6
        if objective is not None:
            own["objective"] = float(objective)
        if bound is not None:
            own["objective_bound"] = float(bound)
        return own


def _within(moment: Progress, value: Fraction, is_best: bool) -> Progress:
    """What was told of rounded values, in the light of the exact value of the tree: no bound is above it, and no tree
    on the way to the best was better."""
    reached, bound = moment.objective, moment.bound
    if is_best and reached is not None:
        reached = (max(reached[0], value), *reached[1:])
    return replace(moment, objective=reached, bound=None if bound is None else min(bound, value))
