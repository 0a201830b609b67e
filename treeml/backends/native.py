"""Problem -> the best tree, by the package's own C solver.

Everything additive goes to the solver as whole numbers: a goal is multiplied by the common denominator of its factors,
and later goals are added to the first one, which weighs more than they can ever differ. So two classes with any costs,
a price per leaf and ties broken by size are all one signed weight a row, which is what the solver is fastest at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeml.backends.contract import (
    NO_LIMITS,
    Answer,
    Bound,
    Capabilities,
    Custom,
    Goal,
    Leaf,
    LeafErrors,
    Leaves,
    Limits,
    Loss,
    Node,
    OnProgress,
    Option,
    Predicted,
    Problem,
    Progress,
    Purity,
    Refusal,
    Split,
    Status,
    Stop,
    Sum,
    Support,
    TestCost,
    Used,
)
from treeml.backends.evaluate import evaluate_goals
from treeml.lang.diagnostic import Diagnostic, RefusedError
from treeml.native import load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treeml.native.solver import Found, Solver
    from treeml.native.thresholds import ThresholdSolver

MOST = 2**58  # sums of whole numbers that the solver takes without overflow

_STATUS = {
    "optimal": Status.OPTIMAL,
    "feasible": Status.FEASIBLE,
    "infeasible": Status.INFEASIBLE,
    "unknown": Status.UNKNOWN,
}
_STOP = {"proved": Stop.PROVED, "time": Stop.TIME, "interrupted": Stop.INTERRUPTED, "memory": Stop.MEMORY}

# What the problem and the limits say is no option.
_SET_ELSEWHERE = frozenset(
    {"depth", "support", "leaves", "leaf_price", "upper", "enough", "milliseconds", "memory", "threads", "seed"}
    | {"fail_allocation", "poll_milliseconds", "microseconds", "cell", "kernel"}
)
_MOST_BITS = 2**31  # tests times rows that the binary kernel is given
_KERNELS = ("auto", "binary", "numeric")


class _Options(Mapping[str, Option]):
    """The C library's own tables, read when somebody looks, and which of the two kernels is meant."""

    def _table(self) -> dict[str, Option]:
        if load.missing() is not None:
            return {}
        tables = _tables()
        own = {
            name: Option(int, initial, text, low=low, high=high)
            for table in tables.values()
            for name, (low, high, initial, text) in table.items()
            if name not in _SET_ELSEWHERE
        }
        low, high, initial, text = tables["binary"]["kernel"]
        return {
            "kernel": Option(str, "auto", "binary: on tests; numeric: on columns as they are; auto: by size", _KERNELS),
            "instructions": Option(int, initial, text, low=low, high=high),
            **own,
        }

    def __getitem__(self, name: str) -> Option:
        return self._table()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table())

    def __len__(self) -> int:
        return len(self._table())


def _tables() -> dict[str, dict[str, tuple[int, int, int, str]]]:
    from treeml.native import numeric

    return {"binary": load.options(), "numeric": numeric.options()}


def choose_kernel(problem: Problem, options: Mapping[str, Any]) -> tuple[str, str]:
    """Which kernel runs, and the sentence that says why; a Refusal's text is raised as ValueError."""
    from treeml.native.thresholds import can_take, prefer_numeric

    if not options:
        numeric, reason = prefer_numeric(problem)
        return ("numeric" if numeric else "binary"), reason
    asked = options.get("kernel", "auto")
    binary_table, numeric_table = _tables().values()
    only = {
        "binary": sorted(set(options) & (set(binary_table) - set(numeric_table))),
        "numeric": sorted(set(options) & (set(numeric_table) - set(binary_table))),
    }
    for kernel, other in (("binary", "numeric"), ("numeric", "binary")):
        if asked == kernel and only[other]:
            raise ValueError(f"`{only[other][0]}` is an option of the {other} kernel")
    if asked == "binary":
        return "binary", "the binary kernel runs, as asked"
    obstacle = can_take(problem)
    if asked == "numeric" or (only["numeric"] and not only["binary"]):
        if obstacle is not None:
            raise ValueError(f"the numeric kernel cannot take this problem: {obstacle}")
        return "numeric", "the numeric kernel runs, as asked"
    if only["binary"]:
        return "binary", f"the binary kernel runs: `{only['binary'][0]}` is an option of it"
    numeric, reason = prefer_numeric(problem)
    return ("numeric" if numeric else "binary"), reason


class Native:
    name: ClassVar[str] = "native"
    summary: ClassVar[str] = "branch and bound with a cache, in C; for every additive goal"
    can: ClassVar[Capabilities] = Capabilities(
        goals=frozenset({"Predicted", "Leaves", "TestCost", "Loss", "Custom"}),
        bounds=frozenset({"Depth", "Leaves", "Support", "Purity", "LeafErrors", "Predicted", "Used"}),
        needs_depth=False,
        lexicographic=True,
        merges_rows=True,
        merges_tests=True,
        numeric=True,
        starts=True,
        reports=True,
        threads=True,
        keeps_memory=True,
    )
    options: ClassVar[Mapping[str, Option]] = _Options()

    @staticmethod
    def missing() -> str | None:
        return load.missing()

    @staticmethod
    def version() -> str:
        return str(load.library().treeml_version().decode())

    def refusals(self, problem: Problem, options: Mapping[str, Any] = MappingProxyType({})) -> Iterator[Refusal]:
        yield from _kernel_refusals(problem, options)
        for bound in problem.bounds:
            yield from _bound_refusals(problem, bound)
        for goal in problem.goals:
            yield from _goal_refusals(problem, goal)
        if len(problem.goals) > 1 and any({"Loss", "Custom"} & goal.sum.kinds() for goal in problem.goals):
            yield Refusal("several goals", "native takes goals in turn only where all are whole numbers")
        elif not list(_shape_refusals(problem)):
            yield from _size_refusals(problem)
        yield from _shape_refusals(problem)

    def remark(self, problem: Problem, options: Mapping[str, Any]) -> str:
        """Which kernel runs and why, for the plan."""
        return choose_kernel(problem, options)[1]

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        try:
            kernel, _ = choose_kernel(problem, limits.options)
        except ValueError as error:
            raise RefusedError(Diagnostic("B501", "native cannot take its options so", notes=(str(error),))) from error
        return _Solve(problem, limits, start, on_progress, monotonic(), kernel).answer()


def _kernel_refusals(problem: Problem, options: Mapping[str, Any]) -> Iterator[Refusal]:
    try:
        kernel, reason = choose_kernel(problem, options)
    except ValueError as error:
        yield Refusal("the kernel asked for", str(error))
        return
    size = len(problem.tests) * problem.rows
    if kernel == "binary" and problem.given_bits is None and size > _MOST_BITS:
        yield Refusal(
            f"{len(problem.tests):,} tests on {problem.rows:,} rows",
            f"{reason}, and their answers do not fit in memory",
            "take fewer cuts: `binarize all by quantiles(16)`",
        )


def _goal_refusals(problem: Problem, goal: Goal) -> Iterator[Refusal]:
    feature = f"the goal {goal.text}" if goal.text else "the goal"
    main = [term for _, term in goal.sum.parts if isinstance(term, Predicted | Loss | Custom)]
    if len(main) > 1:
        yield Refusal(feature, "native minimizes one cost of the leaves, and this goal adds up several kinds")
    for factor, term in goal.sum.parts:
        if factor < 0 and isinstance(term, Leaves | TestCost | Loss):
            yield Refusal(feature, "native can make this no larger on purpose: it bounds from below by what only grows")
        if isinstance(term, TestCost) and (term.scale < 0 or min(term.costs, default=0) < 0):
            yield Refusal(feature, "native takes no negative costs of tests")
        if isinstance(term, Loss) and (term.scale < 0 or (len(term.weight) and int(term.weight.min()) < 0)):
            yield Refusal(feature, "native takes no negative weights of losses")


def _bound_refusals(problem: Problem, bound: Bound) -> Iterator[Refusal]:
    feature = f"the requirement {bound.name}" if bound.name else "a requirement"
    if len(bound.sum.parts) != 1:
        yield Refusal(feature, "native bounds one measure at a time", "bound each of them by itself")
        return
    factor, term = bound.sum.parts[0]
    sense = bound.sense if factor > 0 else {"<=": ">=", ">=": "<=", "=": "="}[bound.sense]
    wanted = ">=" if isinstance(term, Support | Purity) else "<="
    if isinstance(term, Predicted) and bound.sense != "=":
        sense = wanted  # the cost carries the sign
    if sense != wanted:
        yield Refusal(
            feature, f"native keeps this measure {'at least' if wanted == '>=' else 'at most'} at a limit only"
        )
    elif isinstance(term, Used) and _limit(bound) >= 1 and _limit(bound) < len(term.features):
        yield Refusal(feature, "native forbids columns, and does not count them", "forbid each column by itself")
    elif isinstance(term, Predicted) and not _same_cost(problem, bound) and problem.goals:
        yield Refusal(feature, "native bounds a sum over the predictions only where the same sum is the goal")


def _shape_refusals(problem: Problem) -> Iterator[Refusal]:
    """What several bounds, or bounds and goals, make together."""
    labelled = any(_kind(bound) in (Purity, LeafErrors) for bound in problem.bounds)
    if labelled and any({"Loss", "Custom"} & goal.sum.kinds() for goal in problem.goals):
        yield Refusal("a requirement on classes", "native keeps it only where the goal is about the classes predicted")
    predicted = [bound for bound in problem.bounds if _kind(bound) is Predicted]
    if len(predicted) > 1 and not _alike(predicted):
        yield Refusal("several requirements on predictions", "native bounds one sum over the predictions")
    if sum(_kind(bound) is Purity for bound in problem.bounds) > 1:
        yield Refusal("several requirements of purity", "native keeps one of them")
    if sum(_kind(bound) is LeafErrors for bound in problem.bounds) > 1:
        yield Refusal("several requirements on the errors of a leaf", "native keeps one of them")


def _size_refusals(problem: Problem) -> Iterator[Refusal]:
    try:
        _objective(problem)
    except OverflowError as error:
        yield Refusal("the size of the numbers", str(error), "round the weights or costs to fewer digits")


def _kind(bound: Bound) -> type:
    return type(bound.sum.parts[0][1]) if len(bound.sum.parts) == 1 else object


def _limit(bound: Bound) -> Fraction:
    factor = bound.sum.parts[0][0]
    return (bound.limit - bound.sum.constant) / factor


def _scaled_cost(total: Sum) -> tuple[Fraction, NDArray[np.int64]] | None:
    for factor, term in total.parts:
        if isinstance(term, Predicted):
            return factor * term.scale, term.cost
    return None


def _at_most(bound: Bound) -> tuple[Fraction, NDArray[np.int64], Fraction]:
    """A bound on a Predicted as factor, cost and limit: factor * the sum of the costs <= limit."""
    scaled = _scaled_cost(bound.sum)
    assert scaled is not None
    sign = 1 if bound.sense == "<=" else -1
    return sign * scaled[0], scaled[1], sign * (bound.limit - bound.sum.constant)


def _alike(bounds: list[Bound]) -> bool:
    first = _at_most(bounds[0])
    others = [_at_most(bound) for bound in bounds[1:]]
    return all(first[0] * other[0] > 0 and np.array_equal(first[1], other[1]) for other in others)


def _same_cost(problem: Problem, bound: Bound) -> bool:
    """Is the bounded sum the first goal, up to a positive factor? Or is the goal the number of leaves alone?"""
    if len(problem.goals) != 1:
        return False
    goal = problem.goals[0].sum
    if goal.kinds() == {"Leaves"}:
        return True
    theirs = _scaled_cost(goal)
    if theirs is None or goal.kinds() != {"Predicted"} or bound.sense == "=":
        return False
    mine = _at_most(bound)
    return mine[0] * theirs[0] > 0 and (mine[1] is theirs[1] or np.array_equal(mine[1], theirs[1]))


@dataclass
class _Objective:
    """The goals as one: minimized in whole numbers, `scale` times the user's sum."""

    scale: Fraction = Fraction(1)
    cost: NDArray[np.int64] | None = None
    loss: Loss | None = None
    custom: Custom | None = None
    factor: int = 1  # of the loss or the user's function
    price: int = 0
    column_cost: NDArray[np.int64] | None = None
    constant: Fraction = Fraction(0)
    first_weighs: int = 1  # the first goal's multiple where later goals break ties
    later_most: int = 0  # what later goals add at most
    later_least: int = 0


def _whole_goal(problem: Problem, total: Sum) -> _Objective:
    """One goal in whole numbers."""
    one = _Objective(constant=total.constant)
    factors = [factor * getattr(term, "scale", Fraction(1)) for factor, term in total.parts]
    one.scale = Fraction(lcm(*(factor.denominator for factor in factors)) if factors else 1)
    for factor, (_, term) in zip(factors, total.parts, strict=True):
        multiple = int(factor * one.scale)
        if isinstance(term, Predicted):
            _check_size(abs(multiple) * _largest(term.cost), problem.rows)
            one.cost = np.asarray(term.cost) if multiple == 1 else np.asarray(term.cost) * multiple
        elif isinstance(term, Leaves):
            one.price += multiple
        elif isinstance(term, TestCost):
            _check_size(multiple * max(term.costs, default=0), int(problem.count.sum()) * max(1, len(term.costs)))
            one.column_cost = np.asarray(term.costs, dtype=np.int64) * multiple
        elif isinstance(term, Loss):
            one.loss, one.factor = term, multiple
            _check_size(multiple * _largest(term.weight), problem.rows)
            if term.kind != "squared":
                size = 2 * _largest(term.targets) + 1
                _check_size(
                    multiple * _largest(term.weight) * size * term.level.denominator,
                    problem.rows * term.targets.shape[1],
                )
        elif isinstance(term, Custom):
            one.custom, one.factor = term, multiple
    _check_size(one.price, problem.rows)
    return one


def _largest(array: NDArray[np.int64]) -> int:
    return max(int(array.max()), -int(array.min())) if array.size else 0


def _check_size(each: int, times: int) -> None:
    if each * max(1, times) > MOST:
        raise OverflowError("its whole numbers do not fit in 64 bits")


def _spread(problem: Problem, goal: _Objective) -> tuple[int, int]:
    """The least and the most that a goal of whole numbers can come to."""
    low, high = goal.price, goal.price * problem.rows
    if goal.cost is not None:
        low += int(goal.cost.min(axis=1).astype(object).sum())
        high += int(goal.cost.max(axis=1).astype(object).sum())
    if goal.column_cost is not None:
        high += int(goal.column_cost.astype(object).sum()) * int(problem.count.sum())
    return low, high


def _objective(problem: Problem) -> _Objective:
    """All goals as one: each weighs more than the later ones can differ."""
    goals = [_whole_goal(problem, goal.sum) for goal in problem.goals]
    if not goals:
        return _Objective()
    total = goals[-1]
    for goal in reversed(goals[:-1]):
        low, high = _spread(problem, total)
        weight = high - low + 1
        _check_size(weight * goal.price, problem.rows)
        joined = _Objective(
            scale=goal.scale, constant=goal.constant, first_weighs=weight, later_most=high, later_least=low
        )
        joined.price = weight * goal.price + total.price
        for part in ("cost", "column_cost"):
            mine, theirs = getattr(goal, part), getattr(total, part)
            if mine is not None:
                times = problem.rows if part == "cost" else int(problem.count.sum()) * max(1, len(mine))
                _check_size(weight * _largest(mine) + (_largest(theirs) if theirs is not None else 0), times)
                setattr(joined, part, mine * weight if theirs is None else mine * weight + theirs)
            else:
                setattr(joined, part, theirs)
        total = joined
    return total


@dataclass
class _Solve:
    problem: Problem
    limits: Limits
    start: Node | None
    on_progress: OnProgress | None
    began: float
    kernel: str = "binary"
    trace: list[Progress] = field(default_factory=list)
    reached_gap: bool = False

    def answer(self) -> Answer:
        problem = self.problem
        objective = _objective(problem)
        bounded = [bound for bound in problem.bounds if _kind(bound) is Predicted]
        only_leaves = bool(problem.goals) and problem.goals[0].sum.kinds() == {"Leaves"} and len(problem.goals) == 1
        settings = self.settings(objective)
        if bounded and (only_leaves or not problem.goals):
            factor, cost, _ = _at_most(bounded[0])
            objective = _Objective(cost=np.asarray(cost) * (1 if factor > 0 else -1))
            limit = min(_floor(most / abs(factor)) for factor, _, most in map(_at_most, bounded))
            solver = self.solver(objective)
            settings |= {"upper": limit + 1, "enough": limit + 1, "leaf_price": 0}
            return self.fewest_leaves(solver, objective, settings) if only_leaves else self.any_tree(solver, settings)
        if bounded:
            most = min(limit / abs(factor) for factor, _, limit in map(_at_most, bounded))
            mine = _scaled_cost(problem.goals[0].sum)
            assert mine is not None
            settings["upper"] = _floor(most * abs(mine[0]) * objective.scale) + 1
        found = self.run(self.solver(objective), objective, settings)
        return self.answered(found, objective)

    def solver(self, objective: _Objective) -> Solver | ThresholdSolver:
        from treeml.native.solver import Solver

        problem = self.problem
        if self.kernel == "numeric":
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
                given["purity"] = (term.weight, min(max(_limit(bound), Fraction(0)), Fraction(2)))
            elif isinstance(term, LeafErrors):
                given["leaf_limit"] = (term.cost, _floor(_limit(bound) / term.scale))
        if objective.loss is not None:
            loss = objective.loss
            levels = (loss.level,) if loss.kind == "quantile" else ()
            weight = loss.weight * objective.factor
            return Solver(problem.bits, targets=loss.targets, loss=loss.kind, levels=levels, weight=weight, **given)
        if objective.custom is not None:
            function, factor = objective.custom.function, objective.factor
            return Solver(problem.bits, custom=lambda sets: [factor * float(function(rows)) for rows in sets], **given)
        cost = objective.cost
        if cost is None:
            cost = np.zeros((problem.rows, max(1, problem.classes)), dtype=np.int64)
        return Solver(problem.bits, cost=cost, **given)

    def threshold_solver(self, objective: _Objective) -> ThresholdSolver:
        from treeml.native.thresholds import ThresholdSolver

        problem, loss, cost = self.problem, objective.loss, objective.cost
        if loss is not None:
            weight = loss.weight * objective.factor
            return ThresholdSolver(
                problem, targets=loss.targets, weight=weight, count=problem.count, forbidden=self.forbidden()
            )
        if cost is None:
            cost = np.zeros((problem.rows, max(1, problem.classes)), dtype=np.int64)
        return ThresholdSolver(problem, cost=cost, count=problem.count, forbidden=self.forbidden())

    def forbidden(self) -> frozenset[int]:
        return frozenset().union(
            *(
                bound.sum.parts[0][1].features
                for bound in self.problem.bounds
                if isinstance(bound.sum.parts[0][1], Used) and _limit(bound) < 1
            )
        )

    def settings(self, objective: _Objective) -> dict[str, Any]:
        problem, limits = self.problem, self.limits
        settings: dict[str, Any] = {"threads": limits.threads, "leaf_price": objective.price}
        depth, leaves = problem.max_depth, problem.bound_on("Leaves", "<=")
        if depth is not None:
            settings["depth"] = depth
        if leaves is not None:
            settings["leaves"] = _floor(leaves)
        support = problem.bound_on("Support", ">=")
        if support is not None:
            settings["support"] = max(1, -_floor(-support))
        if limits.memory is not None:
            settings["memory"] = limits.memory
        chosen = {name: int(value) for name, value in limits.options.items() if name != "kernel"}
        if "instructions" in chosen:
            chosen["kernel"] = chosen.pop("instructions")
        settings["options"] = chosen if self.kernel == "numeric" else {"seed": limits.seed, **chosen}
        return settings

    def impossible(self, settings: Mapping[str, Any]) -> bool:
        """A bound that no tree meets, whatever the rows."""
        used = [bound for bound in self.problem.bounds if _kind(bound) is Used]
        pure = [bound for bound in self.problem.bounds if _kind(bound) is Purity]
        return (
            settings.get("depth", 0) < 0
            or settings.get("leaves", 1) < 1
            or any(_limit(bound) < 0 for bound in used)
            or any(_limit(bound) > 1 for bound in pure)
        )

    def run(self, solver: Solver | ThresholdSolver, objective: _Objective, settings: Mapping[str, Any]) -> Found | None:
        """None where the bounds contradict themselves."""
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

    def progress(self, objective: _Objective, value: Any, bound: Any) -> bool:
        """False stops the search."""
        if value is None or not self.problem.goals:
            return not (self.on_progress is not None and self.on_progress(Progress(monotonic() - self.began)) is False)
        reached = self.first_goal(objective, Fraction(value), objective.later_least)
        below = None if bound is None else self.first_goal(objective, Fraction(bound), objective.later_most)
        last = self.trace[-1] if self.trace else None
        if last is None or last.objective != (reached,) or last.bound != below:
            moment = Progress(monotonic() - self.began, (reached,), below)
            self.trace.append(moment)
            if self.on_progress is not None and self.on_progress(moment) is False:
                return False
        gap = self.limits.gap
        if gap and below is not None and reached - below <= gap * abs(reached):
            self.reached_gap = True
            return False
        return True

    def first_goal(self, objective: _Objective, value: Fraction, later: int) -> Fraction:
        """The first goal's value behind a value of all goals together, later goals being worth `later`."""
        share = (value - later) / objective.first_weighs if objective.first_weighs > 1 else value
        return share / objective.scale + objective.constant

    def fewest_leaves(
        self, solver: Solver | ThresholdSolver, objective: _Objective, settings: dict[str, Any]
    ) -> Answer:
        """The fewest leaves of a tree within the bounds: one leaf, two, and so on."""
        factor, constant = self.problem.goals[0].sum.parts[0][0], self.problem.goals[0].sum.constant
        most = settings.get("leaves", self.problem.rows)
        for leaves in range(1, most + 1):
            found = self.run(solver, _Objective(), {**settings, "leaves": leaves})
            if found is None or found.status == "unknown":
                bound = factor * leaves + constant
                return self.answered(found, objective, bound=bound)
            if found.status != "infeasible":
                tree = _tree(found, self.problem)
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
                )
        return Answer(Status.INFEASIBLE, Stop.PROVED, raw_status="infeasible")

    def any_tree(self, solver: Solver | ThresholdSolver, settings: dict[str, Any]) -> Answer:
        found = self.run(solver, _Objective(), settings)
        return self.answered(found, _Objective())

    def answered(self, found: Found | None, objective: _Objective, bound: Fraction | None = None) -> Answer:
        if found is None:
            return Answer(Status.INFEASIBLE, Stop.PROVED, raw_status="infeasible")
        status = _STATUS[found.status]
        raw = f"{found.status}, {found.stop}"
        if not len(found.test):
            stop = Stop.PROVED if status is Status.INFEASIBLE else _STOP[found.stop]
            return Answer(
                status,
                stop,
                bound=bound,
                trace=tuple(self.trace),
                statistics=self.statistics(found, None, bound),
                raw_status=raw,
            )
        tree = _tree(found, self.problem)
        if not self.problem.goals:
            return Answer(
                Status.OPTIMAL, Stop.PROVED, tree, (), statistics=self.statistics(found, None, None), raw_status=raw
            )
        goals = self.claimed(found, objective, tree)
        tolerance = found.tolerance / objective.scale
        if status is Status.OPTIMAL:
            statistics = self.statistics(found, goals[-1], goals[-1])
            return Answer(
                status, Stop.PROVED, tree, goals, goals[-1], (), tuple(self.trace), statistics, raw, tolerance=tolerance
            )
        below = None
        if found.bound is not None:
            below = min(goals[0], self.first_goal(objective, Fraction(found.bound), objective.later_most))
        stop = Stop.GAP if self.reached_gap else _STOP[found.stop]
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
        )

    def claimed(self, found: Found, objective: _Objective, tree: Node) -> tuple[Fraction, ...]:
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


def _floor(value: Fraction | int) -> int:
    return Fraction(value).numerator // Fraction(value).denominator


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


def _tree(found: Found, problem: Problem) -> Node:
    nodes: list[Node] = [Leaf(-1)] * len(found.test)
    for at in range(len(nodes) - 1, -1, -1):
        if found.test[at] >= 0:
            nodes[at] = Split(int(found.test[at]), nodes[found.left[at]], nodes[found.right[at]])
        else:
            nodes[at] = Leaf(max(0, int(found.label[at])) if problem.classes else -1)
    return nodes[0]
