"""Problem -> Answer by the cover hyperflow and any solver of integer programs.

If nothing couples the subtrees, a flow of moderate size goes to the solver as a whole. Otherwise the relaxation bounds
every column, and the solver gets only the columns that a tree below a threshold can use. A tree found there is optimal;
if there is none, the threshold rises. Each round uses four times as many columns, so the last one dominates the time.
If the bound of the relaxation already equals the value of a tree, no solver is called, and a note says so. With
`presolve = false` the solver gets all columns at once and has to prove everything by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.claims import Contradiction, Evidence
from treeml.backends.contract import Stop
from treeml.backends.solvers.encodings.cover.coupling_rows import Coupling, coupling_of
from treeml.backends.solvers.encodings.cover.cover import NEVER, Cover, couples, cover_work, is_whole
from treeml.backends.solvers.encodings.cover.cover_program import (
    BOTTOM,
    LEAF,
    ColumnChoice,
    CoverColumns,
    all_columns,
    best_columns,
    chosen_columns,
    columns_of,
    read_tree,
    write_program,
)
from treeml.backends.solvers.encodings.cover.cover_tables import build_cover
from treeml.backends.solvers.encodings.cover.relaxation import PricedCover, Relaxation, ascend
from treeml.backends.solvers.encodings.monotone import broken_pairs
from treeml.backends.solvers.engines.outcome import OnIncumbent, Proved, SolverEnd, SolverOutcome
from treeml.backends.solvers.engines.program import FREE, Program, gather_rows
from treeml.backends.solvers.solve_state import SolveState
from treeml.backends.task.deadline import in_time
from treeml.backends.task.greedy_start import first_trees
from treeml.backends.task.integer_task import IntegerTask, form_range
from treeml.backends.task.node_questions import read_questions
from treeml.native.cover import MEMORY, CoverStopped
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

FIRST_ROUND = 2_000  # columns
LONG_WORK = 300_000_000  # steps of counting beyond which a greedy tree is grown first, in case time runs out
LARGEST_GOAL = 10**9  # beyond this, the exact bounds of the relaxation are better than what floats can prove
SHORT = 0.2  # seconds; with less time left no solver is called
PRICED = Evidence("relaxation", "prices on the rows of the cover")
WHOLE_FLOW = 5_000  # the most columns of a flow that a solver gets as a whole


Solver = Callable[[Program, "Whole | None", OnIncumbent], SolverOutcome]
Excluded = tuple[tuple[int, int, int, int], ...]  # columns that no answer may use together, by their identity


def solve_cover(
    search: SolveState, start: Node | None, solver: Solver, write: Callable[[Program], None] | None
) -> Stop:
    problem, task, limits = search.problem, search.task, search.limits
    whole = is_whole(limits.options)
    search.offer(start)
    if task.depth < 0 or int(problem.count.sum()) < task.support:
        return search.no_tree(Evidence("counting", "the depth limit is negative, or no leaf can have that many rows"))
    if search.tree is None and cover_work(problem, task, whole) > LONG_WORK:
        search.begin_with(first_trees(read_questions(problem), task, limits.deadline))
    try:
        cover = build_cover(problem, task, limits.deadline, limits.memory or 0, limits.threads, whole)
    except CoverStopped as stopped:
        search.record_build()
        if stopped.code == MEMORY:
            search.notes.append("the states of the cover do not fit in the memory allowed")
        return Stop.MEMORY if stopped.code == MEMORY else Stop.TIME
    coupling = coupling_of(problem, task)
    search.statistics["states"] = float(cover.states.size)
    if any(loss.kind == "squared" for _, loss in task.goal.losses):
        # Rounding takes less than one unit off every leaf, and floats less than one more off all of them together.
        leaves = min(2**task.depth, problem.rows)
        prices = leaves + (int(problem.count.sum()) + 2) * task.depth + len(task.goal.used) if task.goal.rough else 0
        search.tolerance = task.goal.scale * (leaves + 1 + prices)
    if write is not None:
        write(write_program(cover, _every_column(cover, coupling, task), coupling))
    calls = _SolverCalls(search, cover, coupling, solver)
    if not limits.options.get("presolve", True):
        return _everything(calls)
    stop = _by_thresholds(calls) if couples(task) else _whole_flow(calls)
    if stop is Stop.PROVED and not calls.count:
        search.notes.append("proved by counting and an exact relaxation of the cover: no solver was called")
    return stop


class _SolverCalls:
    """The calls of the solver for one cover: their number, and what they have excluded so far."""

    def __init__(self, search: SolveState, cover: Cover, coupling: Coupling, solver: Solver) -> None:
        self.search, self.cover, self.coupling, self.solver = search, cover, coupling, solver
        self.count = 0
        self.excluded: list[Excluded] = []

    def ask(self, columns: CoverColumns, program: Program, is_whole: bool) -> tuple[SolverOutcome, bool]:
        """The outcome, and whether its solution was invalid; what makes it invalid is excluded from then on.

        `is_whole`: the columns include all that any tree can use, so that the solver's bound holds for all trees.
        """
        search, cover = self.search, self.cover
        program = _without(program, columns, self.excluded)

        def told(values: Whole | None, bound: Proved | None) -> bool:
            if values is not None:
                search.offer(read_tree(cover, columns, values))
            if is_whole:
                search.raise_bound(bound)
            return not search.enough

        start = None
        if search.tree is not None:
            flow = columns_of(cover, columns, search.tree, search.problem.bits)
            if flow is not None and program.columns == columns.size:
                start = flow
        self.count += 1
        outcome = self.solver(program, start, told)
        if outcome.values is not None:
            search.offer(read_tree(cover, columns, outcome.values))
        search.raw = outcome.raw
        search.add_statistics(outcome.statistics)
        if is_whole:
            search.raise_bound(outcome.bound)
        return outcome, outcome.end is SolverEnd.OPTIMAL and _exclude(search, cover, columns, outcome, self.excluded)


def _everything(calls: _SolverCalls) -> Stop:
    """Solves the program with every column."""
    return _flow_of(calls, _every_column(calls.cover, calls.coupling, calls.search.task))


def _every_column(cover: Cover, coupling: Coupling, task: IntegerTask) -> CoverColumns:
    """Every column; among labels of a leaf and last splits that differ in price alone, only the cheapest."""
    return chosen_columns(cover, all_columns(cover) if couples(task) else best_columns(cover), coupling)


def _flow_of(calls: _SolverCalls, columns: CoverColumns, complete: bool = True) -> Stop:
    """Finds the best tree of columns that include those of an optimal tree; `complete`: those of every tree."""
    search = calls.search
    if not columns.size:
        return search.no_tree(Evidence("no column"))
    program = write_program(calls.cover, columns, calls.coupling)
    search.record_build(program.columns, program.rows)
    while True:
        outcome, broken = calls.ask(columns, program, True)
        if not complete and (broken or outcome.end is SolverEnd.INFEASIBLE):
            raise Contradiction("the solver has no tree of the columns of which a best one is made")
        if broken:
            continue
        if outcome.end is SolverEnd.INFEASIBLE:
            return search.no_tree(outcome.proof)
        if outcome.end is not SolverEnd.OPTIMAL:
            return _cut_short(search, outcome)
        proof = outcome.proof
        return search.close(proof if complete else Evidence("columns below", "of best trees", (proof,)))


def _whole_flow(calls: _SolverCalls) -> Stop:
    cover, coupling = calls.cover, calls.coupling
    columns = chosen_columns(cover, best_columns(cover), coupling)
    if int(np.abs(columns.value[0]).max(initial=0)) > LARGEST_GOAL:
        return _by_thresholds(calls)
    if columns.size > WHOLE_FLOW:
        # By the exact bounds of the relaxation, only these columns can occur in an optimal tree.
        relaxation = Relaxation(cover, coupling, calls.search.limits.deadline)
        priced = relaxation.price(np.zeros(0, np.int64))
        if _is_met(calls.search, relaxation, priced):
            return calls.search.close(_met(calls.search, PRICED))
        totals = _Totals(relaxation, priced)
        best = chosen_columns(cover, totals.keep(totals.least), coupling)
        if best.size:
            return _flow_of(calls, best, complete=False)
    return _flow_of(calls, columns)


def _by_thresholds(calls: _SolverCalls) -> Stop:
    """Bounds the columns by the relaxation, then solves programs of columns below a rising threshold."""
    search = calls.search
    relaxation = Relaxation(calls.cover, calls.coupling, search.limits.deadline)

    def offer(tree: Node) -> int | None:
        search.offer(tree)
        return search.best

    priced = ascend(relaxation, search.limits.deadline, offer)
    if priced.inside[0] >= NEVER:
        return search.no_tree(Evidence("no column"))
    bound = Proved(-(-priced.value // relaxation.unit), PRICED)
    search.raise_bound(bound)
    if search.proved:
        search.record_build()
        return search.close(_met(search, PRICED))
    totals = _Totals(relaxation, priced)
    search.statistics["columns"] = float(totals.size)
    search.record_build()
    return _raise_threshold(calls, totals, bound)


def _raise_threshold(calls: _SolverCalls, totals: _Totals, bound: Proved) -> Stop:
    search, goal = calls.search, calls.search.task.goal
    ceiling = None if goal.losses else form_range(goal, search.problem, search.task)[1]
    wanted = FIRST_ROUND
    while True:
        search.raise_bound(bound)
        if search.stopped:
            return Stop.INTERRUPTED
        if search.proved:
            return search.close(_met(search, bound.evidence))
        if search.within_gap:
            return Stop.GAP
        if search.limits.deadline.passed:
            return Stop.TIME
        if totals.least > totals.most:
            return search.no_tree(Evidence("no column"))
        if ceiling is not None and bound.least > ceiling:
            # No tree has a goal above the ceiling, and none has one below the bound.
            return search.no_tree(Evidence("bound beyond", f"{ceiling:,} steps of the goal", (bound.evidence,)))
        threshold, last = totals.threshold(wanted, bound.least, search.best)
        outcome, program = _solve_below(calls, totals, threshold)
        if outcome is None or outcome.end is SolverEnd.INFEASIBLE:
            refuted = Evidence("no column") if outcome is None else outcome.proof
            why = Evidence("threshold", f"{threshold:,} steps of the goal", (refuted,))
            bound = Proved(max(bound.least, threshold + 1), why)
            if last and search.tree is None:
                return search.no_tree(why)
            if last:
                search.raise_bound(bound)
                return search.close(why)
        elif outcome.end is SolverEnd.OPTIMAL:
            # All columns of any better tree were below the threshold, so they were present.
            assert outcome.values is not None
            assert program is not None
            optimal = Evidence("columns below", f"{threshold:,} steps of the goal", (outcome.proof,))
            search.raise_bound(Proved(int(program.cost @ outcome.values) + program.offset, optimal))
            return search.close(optimal)
        else:
            return _cut_short(search, outcome)
        wanted *= 4


def _solve_below(calls: _SolverCalls, totals: _Totals, threshold: int) -> tuple[SolverOutcome | None, Program | None]:
    """The outcome for the columns below the threshold, and the program; None if there are no such columns."""
    columns = chosen_columns(calls.cover, totals.keep(threshold), calls.coupling)
    outcome, program, broken = None, None, True
    while broken and columns.size:
        program = write_program(calls.cover, columns, calls.coupling, threshold)
        calls.search.statistics["rows"] = float(program.rows)
        calls.search.statistics["columns_solved"] = float(program.columns)
        outcome, broken = calls.ask(columns, program, False)
    return outcome, program


def _is_met(search: SolveState, relaxation: Relaxation, priced: PricedCover) -> bool:
    """If time is short: is the tree of the relaxation, in which nothing is coupled here, already proved optimal?"""
    if search.limits.deadline.left() > SHORT:
        return False
    found = relaxation.tree(priced)
    if found is not None:
        search.offer(found[0])
        search.raise_bound(Proved(-(-priced.value // relaxation.unit), PRICED))
    return search.proved


class _Totals:
    """For every column a lower bound, in integer units, on the goal of the trees that use it."""

    def __init__(self, relaxation: Relaxation, priced: PricedCover) -> None:
        cover, unit = relaxation.cover, relaxation.unit
        states = cover.states
        outside = relaxation.outside(priced)
        self.cover = cover
        self.leaf = _steps(outside[:, None] + priced.leaf, unit)
        price = sum(
            (int(w) * table for w, table in zip(priced.weights, cover.arc_price, strict=True) if w),
            np.zeros(len(states.parent), np.int64),
        )
        through = outside[states.parent] + price + priced.inside[states.yes] + priced.inside[states.no]
        self.arc = _steps(through, unit)
        self.bottom: Whole | None = None
        everything = [self.leaf.ravel(), self.arc]
        if cover.splits_last and len(cover.tests):
            yes, no, _ = relaxation._bottoms(priced.weights)
            extra = sum(
                (int(w) * table for w, table in zip(priced.weights, cover.bottom_price, strict=True) if w),
                np.zeros(yes.shape[:2], np.int64),
            )
            in_time(relaxation.deadline)
            base = outside[cover.last :, None] + extra
            whole = np.minimum(base[:, :, None, None] + yes[:, :, :, None], NEVER)
            self.bottom = _steps(whole + no[:, :, None, :], unit)
            everything.append(self.bottom.ravel())
        self.pair: Whole | None = None
        if cover.pairs is not None:
            self.pair = _steps(outside[cover.last :] + cover.pairs[0] * unit, unit)
            everything.append(self.pair)
        in_time(relaxation.deadline)
        flat = np.concatenate(everything)
        in_time(relaxation.deadline)
        self.sorted = np.sort(flat[flat < _steps(np.array([NEVER // 2]), unit)[0]])
        self.size = len(self.sorted)
        self.least = int(self.sorted[0]) if self.size else 0
        self.most = int(self.sorted[-1]) if self.size else -1

    def threshold(self, wanted: int, bound: int, best: int | None) -> tuple[int, bool]:
        """A value >= `bound` with about `wanted` columns at or below it; True if no better tree can exceed it."""
        limit = self.most if best is None else best - 1
        place = int(self.sorted[min(wanted, self.size) - 1])
        value = max(bound, place)
        if value >= limit or wanted >= self.size:
            # Trees may exceed the largest bound of any column: a column's bound is not the goal of its trees.
            return (limit, True) if best is not None else (FREE // 4, True)
        return value, False

    def keep(self, threshold: int) -> ColumnChoice:
        none = np.zeros(0, np.int64)
        bottom = (none, none, none, none)
        if self.bottom is not None:
            cover = self.cover
            allowed = cover.yes_allowed[:, :, :, None] & cover.no_allowed[:, :, None, :]
            state, test, one, zero = np.nonzero((self.bottom <= threshold) & allowed)
            bottom = (state + cover.last, test, one, zero)
        leaf = (self.leaf <= threshold) & self.cover.leaf_allowed
        pair = np.zeros(len(leaf), bool)
        if self.pair is not None:
            pair[self.cover.last :] = self.pair <= threshold
        return ColumnChoice(leaf, self.arc <= threshold, bottom, pair)


def _steps(values: Whole, unit: int) -> Whole:
    return -(-values // unit)


def _met(search: SolveState, why: Evidence) -> Evidence:
    return Evidence("bound meets tree", "", (why,)) if search.problem.goals else Evidence("no goal")


def _cut_short(search: SolveState, outcome: SolverOutcome) -> Stop:
    """Why a solver ended without a proof."""
    if search.enough or outcome.end is SolverEnd.INTERRUPTED:
        return search.cut_short
    return {SolverEnd.TIME: Stop.TIME, SolverEnd.MEMORY: Stop.MEMORY}.get(outcome.end, Stop.FAILED)


def _exclude(
    search: SolveState,
    cover: Cover,
    columns: CoverColumns,
    outcome: SolverOutcome,
    excluded: list[Excluded],
) -> bool:
    """Records what makes the solution invalid (violated monotonicity, a rounded real number); False if it is valid."""
    assert outcome.values is not None
    tree = read_tree(cover, columns, outcome.values)
    if search.offer(tree):
        return False
    chosen = [int(c) for c in np.flatnonzero(outcome.values[: columns.size])]
    terms = tuple(term for term, _ in search.task.monotone)
    paths = _paths(cover, columns, chosen)
    found = False
    for one, other in broken_pairs(tree, search.problem, terms):
        pair = {paths[one], paths[other]}
        excluded.append(tuple(_identity(columns, c) for c in pair))
        found = True
    if not found:
        excluded.append(tuple(_identity(columns, c) for c in chosen))
    return True


def _paths(cover: Cover, columns: CoverColumns, chosen: list[int]) -> dict[tuple[tuple[int, bool], ...], int]:
    """The column of every leaf of the solution, by the path to the leaf."""
    by_state = {int(columns.state[c]): c for c in chosen}
    states, tests = cover.states, cover.tests
    found: dict[tuple[tuple[int, bool], ...], int] = {}

    def walk(state: int, path: tuple[tuple[int, bool], ...]) -> None:
        column = by_state[state]
        item = int(columns.item[column])
        if columns.kind[column] == LEAF:
            found[path] = column
        elif columns.kind[column] == BOTTOM:
            found[(*path, (int(tests[item]), True))] = column
            found[(*path, (int(tests[item]), False))] = column
        else:
            test = int(tests[states.test[item]])
            walk(int(states.yes[item]), (*path, (test, True)))
            walk(int(states.no[item]), (*path, (test, False)))

    walk(0, ())
    return found


def _identity(columns: CoverColumns, column: int) -> tuple[int, int, int, int]:
    return (
        int(columns.state[column]) * 4 + int(columns.kind[column]),
        int(columns.item[column]),
        int(columns.one[column]),
        int(columns.zero[column]),
    )


def _without(program: Program, columns: CoverColumns, excluded: list[Excluded]) -> Program:
    """The program with a row for every excluded set of columns, which may not all be used together."""
    if not excluded:
        return program
    number = {_identity(columns, c): c for c in range(columns.size)}
    rows = []
    for group in excluded:
        ids = [number[key] for key in group if key in number]
        if len(ids) == len(group):
            rows.append((np.array(ids), np.ones(len(ids), np.int64), -FREE, len(ids) - 1))
    start, index, value, low, high = gather_rows(rows)
    return replace(
        program,
        start=np.concatenate([program.start, program.start[-1] + start[1:]]),
        index=np.concatenate([program.index, index]),
        value=np.concatenate([program.value, value]),
        low=np.concatenate([program.low, low]),
        high=np.concatenate([program.high, high]),
    )
