"""Problem, limits -> Answer: one run of the C solver, with its result in terms of the problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.claims import Contradiction, Evidence, Proof
from treeml.backends.contract import Answer, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.native.faultless import smallest_faultless
from treeml.backends.native.goals import (
    NativeObjective,
    at_most,
    centred,
    floor,
    in_64_bits,
    kind,
    limit_of,
    objective_of,
    scaled_cost,
)
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.precision import CLOSE, narrowed, smallest_difference
from treeml.problem.problem import Problem
from treeml.problem.shapes import leaves_without_answers
from treeml.problem.terms import LeafErrors, Predicted, Purity, Used
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from treeml.backends.native.thresholds import ThresholdSolver
    from treeml.native.solver import Found, Solver

STATUS = {
    "optimal": Status.OPTIMAL,
    "feasible": Status.FEASIBLE,
    "infeasible": Status.INFEASIBLE,
    "unknown": Status.UNKNOWN,
}
DEEPEST = 1_000_000  # depth limit of the solver if the problem has none
MOST_CASES = 20_000_000  # up to this size a slow, more exact search resolves rounding doubts in about a second
ROUNDING = Fraction(1, 2**40)  # largest relative rounding of amounts added to a loss, over all leaves of a tree
STOP = {"proved": Stop.PROVED, "time": Stop.TIME, "interrupted": Stop.INTERRUPTED, "memory": Stop.MEMORY}


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
    tells: bool = True  # whether the values of the search are those of the goal

    @property
    def ended(self) -> Proof:
        """The evidence when the C solver reports a proof."""
        return (Evidence("search", f"native, {self.kernel} kernel"),)

    @property
    def stopped_at(self) -> Proof:
        """The evidence for bounds of a search that is running or was stopped."""
        return (Evidence("search bound", f"native, {self.kernel} kernel"),)

    def answer(self) -> Answer:
        problem = self.problem
        objective = objective_of(problem)
        bounded = [bound for bound in problem.bounds if kind(bound) is Predicted]
        only_leaves = bool(problem.goals) and problem.goals[0].sum.kinds() == {"Leaves"} and len(problem.goals) == 1
        settings = self.settings(objective)
        if self.impossible(settings):
            return self.answered(None, objective)
        if only_leaves and len(bounded) == 1:
            answer = smallest_faultless(self, bounded[0])
            if answer is not None:
                return answer
        if bounded and (only_leaves or not problem.goals):
            factor, cost, _ = at_most(bounded[0])
            objective = NativeObjective(cost=np.asarray(cost) * (1 if factor > 0 else -1))
            limit = in_64_bits(min(floor(most / abs(factor)) for factor, _, most in map(at_most, bounded)))
            solver = self.solver(objective)
            settings |= {"upper": limit + 1, "enough": limit + 1, "leaf_price": 0}
            return self.fewest_leaves(solver, objective, settings) if only_leaves else self.any_tree(solver, settings)
        if bounded:
            most = min(limit / abs(factor) for factor, _, limit in map(at_most, bounded))
            mine = scaled_cost(problem.goals[0].sum)
            assert mine is not None
            settings["upper"] = in_64_bits(floor(most * abs(mine[0]) * objective.scale)) + 1
        found = self.run(self.solver(objective), objective, settings)
        if objective.loss is not None and objective.beside is not None:
            return self.refined(found, objective, settings)
        return self.answered(found, objective)

    def refined(self, found: Found | None, objective: NativeObjective, settings: dict[str, Any]) -> Answer:
        """If rounding leaves it uncertain whether a tree is best, searches again with smaller numbers, as far as trees
        that are no worse allow, until the uncertainty is small compared with the value."""
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
                # Numbers cannot become smaller, but leaves that cost more than the tree need not be distinguished.
                objective.most = float((answer.objective[0] - objective.constant) * objective.scale)
            found = self.run(self.solver(objective), objective, {**settings, "leaf_price": objective.price})
            if found is None or STATUS[found.status] is not Status.OPTIMAL:
                break
            answer = self.answered(found, objective)
        return answer

    def size(self) -> int:
        """About how many rows a search without pair tables visits."""
        depth = min(leaves_without_answers(self.problem), 2 ** min(62, self.problem.max_depth or 62)).bit_length() - 1
        return self.problem.rows * int(len(self.problem.tests) ** min(depth, 64))

    def solver(self, objective: NativeObjective) -> Solver | ThresholdSolver:
        from treeml.native.solver import Solver

        problem = self.problem
        if self.kernel == "numeric" and objective.most == inf:
            return self.threshold_solver(objective)
        given: dict[str, Any] = {"columns": np.array([test.feature for test in problem.tests], dtype=np.int32)}
        support = problem.bound_on("Support", ">=")
        if (support is not None and support > 1) or objective.column_cost is not None:
            given["count"] = problem.count
        if objective.column_cost is not None:
            given["column_cost"] = objective.column_cost
        forbidden = self.forbidden()
        if forbidden:
            given["forbidden"] = np.array([test.feature in forbidden for test in problem.tests], dtype=np.uint8)
        for bound in problem.bounds:
            term = bound.sum.parts[0][1]
            if isinstance(term, Purity):
                share = min(max(limit_of(bound), Fraction(0)), Fraction(2))
                given["purity"] = (term.weight, max(share, given["purity"][1] if "purity" in given else share))
            elif isinstance(term, LeafErrors):
                most = in_64_bits(floor(limit_of(bound) / term.scale))
                given["leaf_limit"] = (term.cost, min(most, given["leaf_limit"][1] if "leaf_limit" in given else most))
        if objective.beside is not None:
            given |= {"beside": objective.beside, "most": objective.most}
        if objective.loss is not None:
            loss = objective.loss
            levels = (loss.level,) if loss.kind == "quantile" else ()
            given["weight"] = loss.weight * objective.factor
            return Solver(problem.bits, targets=centred(loss.targets), loss=loss.kind, levels=levels, **given)
        if objective.custom is not None:
            function = objective.custom.function
            return Solver(problem.bits, custom=lambda sets: [float(function(rows)) for rows in sets], **given)
        cost = objective.cost
        if cost is None:
            cost = np.zeros((problem.rows, max(1, problem.classes)), dtype=np.int64)
        return Solver(problem.bits, cost=cost, **given)

    def threshold_solver(self, objective: NativeObjective) -> ThresholdSolver:
        from treeml.backends.native.thresholds import ThresholdSolver

        problem, loss, cost = self.problem, objective.loss, objective.cost
        if loss is not None:
            return ThresholdSolver(
                problem,
                targets=centred(loss.targets),
                weight=loss.weight,
                beside=objective.beside or 0.0,
                count=problem.count,
                forbidden=self.forbidden(),
            )
        if cost is None:
            cost = np.zeros((problem.rows, max(1, problem.classes)), dtype=np.int64)
        return ThresholdSolver(problem, cost=cost, count=problem.count, forbidden=self.forbidden())

    def forbidden(self) -> frozenset[int]:
        return frozenset().union(
            *(
                bound.sum.parts[0][1].features
                for bound in self.problem.bounds
                if isinstance(bound.sum.parts[0][1], Used) and limit_of(bound) < 1
            )
        )

    def settings(self, objective: NativeObjective) -> dict[str, Any]:
        problem, limits = self.problem, self.limits
        settings: dict[str, Any] = {"threads": limits.threads, "leaf_price": objective.price}
        depth, leaves = problem.max_depth, problem.bound_on("Leaves", "<=")
        if depth is not None and depth < problem.rows:  # a larger limit has no effect
            settings["depth"] = min(depth, DEEPEST)
        if leaves is not None and leaves < problem.rows:
            settings["leaves"] = floor(leaves)
        support = problem.bound_on("Support", ">=")
        if support is not None:
            settings["support"] = in_64_bits(max(1, -floor(-support)))
        if limits.memory is not None:
            settings["memory"] = limits.memory
        chosen = {name: int(value) for name, value in limits.options.items() if name != "kernel"}
        if "instructions" in chosen:
            chosen["kernel"] = chosen.pop("instructions")
        settings["options"] = chosen if self.kernel == "numeric" else {"seed": limits.seed, **chosen}
        return settings

    def impossible(self, settings: Mapping[str, Any]) -> bool:
        """Whether a bound cannot be met by any tree, whatever the rows."""
        used = [bound for bound in self.problem.bounds if kind(bound) is Used]
        pure = [bound for bound in self.problem.bounds if kind(bound) is Purity]
        return (
            settings.get("depth", 0) < 0
            or settings.get("leaves", 1) < 1
            or any(limit_of(bound) < 0 for bound in used)
            or any(limit_of(bound) > 1 for bound in pure)
        )

    def run(
        self, solver: Solver | ThresholdSolver, objective: NativeObjective, settings: Mapping[str, Any]
    ) -> Found | None:
        """None if the bounds contradict each other."""
        if self.impossible(settings):
            return None
        left = self.limits.deadline.left()
        start = None if self.start is None else _flat(self.start)
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
            # Amounts were rounded to units: what is reported on the way stays on the safe side of the exact value.
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
        """The value of the first goal, from the combined value of all goals and the value `later` of the later ones."""
        if objective.first_weighs == 1 and objective.scale == 1 and not objective.constant:
            return value
        share = (value - later) / objective.first_weighs if objective.first_weighs > 1 else value
        return share / objective.scale + objective.constant

    def fewest_leaves(
        self, solver: Solver | ThresholdSolver, objective: NativeObjective, settings: dict[str, Any]
    ) -> Answer:
        """The fewest leaves of a tree within the bounds: tries one leaf, two leaves, and so on."""
        factor, constant = self.problem.goals[0].sum.parts[0][0], self.problem.goals[0].sum.constant
        most = settings.get("leaves", self.problem.rows)
        self.tells = False  # the search minimizes the bounded sum, not the goal
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
            below = self.first_goal(objective, Fraction(found.bound), objective.later_most)
            # Of rounded amounts a bound may lie above the tree, by the rounding; of whole numbers none does.
            if below > goals[0] and not found.tolerance and objective.beside is None and objective.custom is None:
                raise Contradiction(f"its bound {below} lies above its own tree with {goals[0]}")
            below = min(goals[0], below)
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
        """How far the tree may be from the optimum. Losses are not negative, and values that differ by less than the
        smallest possible difference are equal."""
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
        """The value of the tree for each goal. A single goal in whole numbers is the value that the solver reports:
        the caller of the back-end recomputes it from the rows anyway."""
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
    """Corrects a report made from rounded values by the exact value of the tree: no bound is above it, and no earlier
    tree was better than the best."""
    reached, bound = moment.objective, moment.bound
    if is_best and reached is not None:
        reached = (max(reached[0], value), *reached[1:])
    return replace(moment, objective=reached, bound=None if bound is None else min(bound, value))


def _flat(tree: Node) -> tuple[list[int], list[int], list[int]]:
    """A tree as arrays, every child after its parent."""
    test: list[int] = []
    yes: list[int] = []
    no: list[int] = []
    waiting: list[tuple[Node, list[int] | None, int]] = [(tree, None, 0)]
    while waiting:
        node, side, parent = waiting.pop()
        if side is not None:
            side[parent] = len(test)
        test.append(node.test if isinstance(node, Split) else -1)
        yes.append(-1)
        no.append(-1)
        if isinstance(node, Split):
            waiting += [(node.yes, yes, len(test) - 1), (node.no, no, len(test) - 1)]
    return test, yes, no


def tree_of(found: Found, problem: Problem) -> Node:
    nodes: list[Node] = [Leaf(-1)] * len(found.test)
    for at in range(len(nodes) - 1, -1, -1):
        if found.test[at] >= 0:
            nodes[at] = Split(int(found.test[at]), nodes[found.left[at]], nodes[found.right[at]])
        else:
            nodes[at] = Leaf(max(0, int(found.label[at])) if problem.classes else -1)
    return nodes[0]
