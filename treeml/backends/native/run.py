"""Problem, limits -> Answer: one or more searches of the C solver, and their outcome in terms of the problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from treeml.backends.claims import Contradiction, Evidence, Proof, combined
from treeml.backends.contract import Answer, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.native import priced_leaves
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
from treeml.backends.native.inputs import (
    has_answers_in_time,
    in_search_units,
    is_impossible,
    make_solver,
    search_settings,
)
from treeml.backends.native.perfect import smallest_perfect
from treeml.lang.quantities import decimal
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.precision import CLOSE, narrowed, smallest_difference
from treeml.problem.problem import Problem
from treeml.problem.shapes import leaves_without_answers
from treeml.problem.terms import Depth, Leaves, Predicted, Support
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from treeml.backends.native.numeric_kernel import FlatStart, ThresholdSolver
    from treeml.native.solver import Found, Solver

SHAPE = (Depth, Leaves, Support)
MOST_CASES = 20_000_000  # size up to which a slow exact search settles the rounding of a fast one, in about a second
ROUNDING = Fraction(1, 2**40)  # the largest relative rounding error of a price beside a loss, over all leaves


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
    raised_by: str = "search bound"  # the rule of the bound of a search that does not end
    floor: Fraction | None = None  # a bound on the first goal that was proved before the search
    floor_proof: Proof = ()
    tells: bool = True  # are the values of the search values of the goal, so that they can be reported?

    @property
    def ended(self) -> Proof:
        """The evidence of a status that the C solver has proved."""
        return _searched("search", self.kernel)

    @property
    def stopped_at(self) -> Proof:
        """The evidence of a bound of a search that was stopped or still runs."""
        return _searched(self.raised_by, self.kernel)

    def answer(self) -> Answer:
        problem = self.problem
        if self.kernel == "binary" and not has_answers_in_time(problem, lambda: self.limits.deadline.passed):
            note = "the time was over before the rows had answered all tests"
            return Answer(Status.UNKNOWN, Stop.TIME, notes=(note,))
        objective = objective_of(problem)
        bounded = [bound for bound in problem.bounds if kind(bound) is Predicted]
        only_leaves = bool(problem.goals) and problem.goals[0].sum.kinds() == {"Leaves"} and len(problem.goals) == 1
        settings = search_settings(problem, objective, self.limits, self.kernel)
        if is_impossible(self.problem, settings):
            return self.answered(None, objective)
        if only_leaves and len(bounded) == 1:
            answer = smallest_perfect(self, bounded[0])
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
        settings |= self.goal_values(objective, settings)
        if priced_leaves.takes(self, objective, settings):
            return priced_leaves.answer(self, objective, settings)
        found = self.run(make_solver(self.problem, objective, self.kernel), objective, settings)
        if objective.loss is not None and objective.beside is not None:
            answer = self.refined(found, objective, settings)
        else:
            answer = self.answered(found, objective)
        return self.below_upper(answer, Fraction(0) if found is None else found.tolerance / objective.scale)

    def goal_values(self, objective: NativeObjective, settings: Mapping[str, Any]) -> dict[str, int | Fraction]:
        """The options `upper` and `enough` in the units of the search; a requirement may bound it more tightly."""
        given = {
            name: in_search_units(self.limits.options[name], self.problem.goals[0], objective)
            for name in ("upper", "enough")
            if self.limits.options.get(name) is not None
        }
        if "upper" in given and "upper" in settings:
            given["upper"] = min(given["upper"], settings["upper"])
        return given

    def below_upper(self, answer: Answer, rounding: Fraction) -> Answer:
        """The answer if only trees better than the option `upper` are wanted.

        That none is better is a bound on the goal, up to the rounding of the search; whether any tree meets the
        requirements stays open.
        """
        upper, enough = self.limits.options.get("upper"), self.limits.options.get("enough")
        if enough is not None and answer.status is Status.FEASIBLE and answer.raw_status == "feasible, enough":
            answer = replace(answer, notes=(*answer.notes, f"stopped at a tree better than enough = {decimal(enough)}"))
        if upper is None:
            return answer
        limit = -upper if self.problem.goals[0].negated else upper
        note = f"there is no tree better than upper = {decimal(upper)}"
        unknown = Answer(
            Status.UNKNOWN, answer.stop, statistics=answer.statistics, raw_status=answer.raw_status, notes=(note,)
        )
        if answer.status is Status.INFEASIBLE and answer.raw_status != "infeasible":
            return replace(unknown, stop=Stop.FINISHED, bound=limit - rounding, evidence=self.stopped_at)
        if answer.objective is None or answer.objective[0] < limit:
            return answer
        # Rounding: the search was given a slightly larger limit, and found a tree between the two.
        note = f"the tree that was found is not better than upper = {decimal(upper)}"
        return replace(unknown, stop=Stop.FINISHED, notes=(note,))

    def refined(self, found: Found | None, objective: NativeObjective, settings: dict[str, Any]) -> Answer:
        """Repeats the search with finer rounding until the tolerance of the optimum is small relative to its value.

        The tree found so far bounds the numbers that matter, so each round can use smaller ones.
        """
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
                # The numbers cannot shrink further, but leaves that cost more than the tree need no exact cost.
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
        """Roughly how many rows a search without tables of pairs visits."""
        depth = min(leaves_without_answers(self.problem), 2 ** min(62, self.problem.max_depth or 62)).bit_length() - 1
        return self.problem.rows * int(len(self.problem.tests) ** min(depth, 64))

    def run(
        self,
        solver: Solver | ThresholdSolver,
        objective: NativeObjective,
        settings: Mapping[str, Any],
        seconds: float = inf,
    ) -> Found | None:
        """None if the bounds exclude every tree."""
        if is_impossible(self.problem, settings):
            return None
        left = min(seconds, self.limits.deadline.left())
        start = None if self.start is None else flat_tree(self.start)
        if self.kernel == "numeric":
            self.talk(cast("ThresholdSolver", solver))
        found = solver.solve(
            **settings,
            seconds=left,
            start=start,
            on_progress=lambda seconds, value, bound: self.progress(objective, value, bound),
        )
        self.raised_by = _raised_by(found.statistics)
        return found

    def talk(self, solver: ThresholdSolver) -> None:
        """Lets the search share its trees, and hear of those of another one, as far as the limits ask for it."""
        share, news, last = self.limits.share, self.limits.news, self.start

        def heard() -> FlatStart | None:
            nonlocal last
            tree = None if news is None else news()
            if tree is None or tree is last:
                return None
            last = tree
            return flat_tree(tree)

        if share is not None:
            solver.share = lambda tree: share(tree_of(tree, self.problem))
        # Other bounds, and values that are not those of the goal, are not checked by the kernel.
        if news is not None and self.tells and all(kind(bound) in SHAPE for bound in self.problem.bounds):
            solver.news = heard

    def progress(self, objective: NativeObjective, value: Any, bound: Any) -> bool:
        """Reports a value and a bound of the search; False stops it."""
        if self.limits.is_over is not None and self.limits.is_over():
            return False
        if value is None or not self.problem.goals or not self.tells:
            return not (self.on_progress is not None and self.on_progress(Progress(monotonic() - self.began)) is False)
        reached = objective.first_goal(Fraction(value))
        below = None if bound is None else objective.bound_of_first_goal(Fraction(bound))
        if objective.beside is not None:
            # Prices were rounded, so reports stay on the safe side of the exact value.
            largest = abs(reached - objective.constant) + Fraction(objective.beside) / abs(objective.scale)
            reached += largest * ROUNDING
            below = None if below is None else below - largest * ROUNDING
        below, proof = self.with_floor(below)
        last = self.trace[-1] if self.trace else None
        if last is None or last.objective != (reached,) or last.bound != below:
            moment = Progress(monotonic() - self.began, (reached,), below, evidence=proof)
            self.trace.append(moment)
            if self.on_progress is not None and self.on_progress(moment) is False:
                return False
        gap = self.limits.gap
        if gap and below is not None and reached - below <= gap * abs(reached):
            self.reached_gap = True
            return False
        return True

    def with_floor(self, below: Fraction | None) -> tuple[Fraction | None, Proof]:
        """The higher of a bound of the search and the one that was proved before, with its evidence."""
        if self.floor is not None and (below is None or below < self.floor):
            return self.floor, self.floor_proof
        return below, () if below is None else self.stopped_at

    def fewest_leaves(
        self, solver: Solver | ThresholdSolver, objective: NativeObjective, settings: dict[str, Any]
    ) -> Answer:
        """The fewest leaves of a tree that meets the bounds, by trying one leaf, two, and so on."""
        factor, constant = self.problem.goals[0].sum.parts[0][0], self.problem.goals[0].sum.constant
        most = settings.get("leaves", self.problem.rows)
        self.tells = False  # the search minimizes a bounded sum, not the goal
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
        """The outcome of a search as an answer; `found` is None if the bounds exclude every tree."""
        if found is None:
            evidence: Proof = (Evidence("counting", "a limit that no tree keeps"),)
            return Answer(Status.INFEASIBLE, Stop.PROVED, raw_status="infeasible", evidence=evidence)
        if not len(found.test):
            return self._without_tree(found, bound)
        tree = tree_of(found, self.problem)
        if self.problem.goals:
            return self._with_tree(found, objective, tree)
        return Answer(
            Status.OPTIMAL,
            Stop.PROVED,
            tree,
            (),
            statistics=self.statistics(found, None, None),
            raw_status=_raw_status(found),
            evidence=(Evidence("no goal"),),
        )

    def without_memory(self) -> Answer:
        return self.without_search(Stop.MEMORY)

    def without_search(self, stop: Stop) -> Answer:
        """The answer if the search does not even begin in the memory or time allowed: the start, if it is one."""
        if self.start is None or not meets_all(self.problem, self.start):
            return Answer(Status.UNKNOWN, stop)
        if not self.problem.goals:
            return Answer(Status.OPTIMAL, Stop.PROVED, self.start, (), evidence=(Evidence("no goal"),))
        return Answer(Status.FEASIBLE, stop, self.start, evaluate_goals(self.problem, self.start))

    def _without_tree(self, found: Found, bound: Fraction | None) -> Answer:
        status = STATUS[found.status]
        is_proved = status is Status.INFEASIBLE
        return Answer(
            status,
            Stop.PROVED if is_proved else STOP[found.stop],
            bound=bound,
            trace=tuple(self.trace),
            statistics=self.statistics(found, None, bound),
            raw_status=_raw_status(found),
            evidence=self.ended if is_proved else () if bound is None else self.stopped_at,
        )

    def _with_tree(self, found: Found, objective: NativeObjective, tree: Node) -> Answer:
        status = STATUS[found.status]
        goals = self.claimed(found, objective, tree)
        tolerance = self.doubt(found, objective, goals)
        if found.tolerance:
            self.trace = [_within(moment, goals[0], status is Status.OPTIMAL) for moment in self.trace]
        if status is Status.OPTIMAL:
            return Answer(
                status,
                Stop.PROVED,
                tree,
                goals,
                goals[-1],
                trace=tuple(self.trace),
                statistics=self.statistics(found, goals[-1], goals[-1]),
                raw_status=_raw_status(found),
                tolerance=tolerance,
                evidence=self.ended,
            )
        stop = Stop.GAP if self.reached_gap else STOP[found.stop]
        is_exact = not found.tolerance and objective.beside is None and objective.custom is None
        below = None
        if found.bound is not None:
            below = objective.bound_of_first_goal(Fraction(found.bound))
        below, proof = self.with_floor(below)
        if below is not None:
            # Rounding can put a bound above the value of the tree; without rounding that is a mistake of the search.
            if below > goals[0] and is_exact:
                raise Contradiction(f"its bound {below} lies above its own tree with {goals[0]}")
            below = min(goals[0], below)
        # Of several goals only the first is bounded: the others may still be better.
        if (self.floor is not None or is_exact) and len(goals) == 1 and below == goals[0]:
            status, proof = Status.OPTIMAL, combined("bound meets tree", proof)
        return Answer(
            status,
            Stop.PROVED if status is Status.OPTIMAL else stop,
            tree,
            goals,
            below,
            trace=tuple(self.trace),
            statistics=self.statistics(found, goals[0], below),
            raw_status=_raw_status(found),
            tolerance=tolerance,
            bounded_goal=None if status is Status.OPTIMAL else 0,
            evidence=proof,
        )

    def doubt(self, found: Found, objective: NativeObjective, goals: tuple[Fraction, ...]) -> Fraction:
        """How far from the optimum the tree may be.

        No value is negative, and two values that differ by less than the smallest possible difference are equal.
        """
        tolerance = found.tolerance / objective.scale
        if not tolerance or objective.loss is None:
            return tolerance
        value = goals[0] - objective.constant
        if not value or tolerance < smallest_difference(
            self.problem.goals[0].sum, leaves_without_answers(self.problem)
        ):
            return Fraction(0)
        return min(tolerance, value)

    def claimed(self, found: Found, objective: NativeObjective, tree: Node) -> tuple[Fraction, ...]:
        """The value of every goal for the tree; a single integer goal comes from the solver (`run` recomputes it)."""
        if len(self.problem.goals) > 1 or found.tolerance or found.value is None:
            return evaluate_goals(self.problem, tree)
        return (objective.first_goal(Fraction(found.value)),)

    def statistics(self, found: Found, objective: Fraction | None, bound: Fraction | None) -> dict[str, float]:
        own = {name: value for name, value in found.statistics.items() if not name.endswith("_microseconds")}
        own["build_seconds"] = found.statistics["build_microseconds"] / 1e6
        own["solve_seconds"] = found.statistics["solve_microseconds"] / 1e6
        if objective is not None:
            own["objective"] = float(objective)
        if bound is not None:
            own["objective_bound"] = float(bound)
        return own


def _raised_by(statistics: Mapping[str, float]) -> str:
    """The rule of a bound, by what raised it."""
    if statistics.get("climbs", 0) == 0:
        return "search bound"
    return "relaxed splits" if statistics.get("boxes", 0) > 0 else "target by target"


@cache
def _searched(rule: str, kernel: str) -> Proof:
    return (Evidence(rule, f"native, {kernel} kernel"),)


def _raw_status(found: Found) -> str:
    return f"{found.status}, {found.stop}"


def _within(moment: Progress, value: Fraction, is_best: bool) -> Progress:
    """A report of rounded values, corrected by the exact value of the tree.

    No bound may lie above that value, and if the tree is optimal no earlier tree was better.
    """
    reached, bound = moment.objective, moment.bound
    if is_best and reached is not None:
        reached = (max(reached[0], value), *reached[1:])
    return replace(moment, objective=reached, bound=None if bound is None else min(bound, value))
