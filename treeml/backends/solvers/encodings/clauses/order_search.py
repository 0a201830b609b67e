"""OrderModel -> an optimal assignment, by SAT solvers.

`descend` first asks for a goal without penalties (the cheapest question if a perfect tree exists), then for less than
the best value so far until that is unsatisfiable, with a totalizer up to the value of the best tree over a few cuts.
`core` instead raises a lower bound, one unsatisfiable core at a time (OLL, as in RC2 of Ignatiev, Morgado and
Marques-Silva 2019). By default `core` is used if weights differ and the starting value is small, or if the totalizer
would be too large; `descend` otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import gcd
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.claims import Contradiction, Evidence
from treeml.backends.contract import Stop
from treeml.backends.solvers.encodings.clauses.coarse_start import coarse_tree
from treeml.backends.solvers.encodings.clauses.order_model import OrderModel
from treeml.backends.solvers.encodings.clauses.pseudo_boolean import (
    MOST_TOTALIZER,
    Clauses,
    at_most,
    estimate_at_most,
    estimate_totalizer,
    normalized,
    totalizer,
)
from treeml.backends.solvers.encodings.monotone import Path, broken_pairs
from treeml.backends.solvers.engines.outcome import Proved
from treeml.backends.solvers.engines.sat import Sat, Stopped
from treeml.backends.solvers.solve_state import SolveState
from treeml.backends.task.improved_start import improved_tree
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

STRATEGIES = {  # for the notes of the answer
    "descend": "it asked for better and better trees until there was none, or no time (strategy = descend)",
    "core": "it raised a lower bound until a tree met it, or no time was left (strategy = core)",
}
SMALL = 10  # the largest starting value for which `core` is used if weights differ
MOST_CLAUSES = 20_000_000
BYTES_PER_CLAUSE = 200

LOOP: Mapping[str, str] = MappingProxyType(
    {
        "no penalty": "row by row",  # no penalty is negative, whatever the clauses say
        "no model": "refutation",  # the clauses of all trees, without assumptions
        "no model without penalties": "refutation below",  # the clauses of all trees, with every penalty forbidden
        "no model below the best tree": "refutation below",  # the clauses of all trees better than the best so far
        "cores": "cores",  # one after the other, each under assumptions on the remaining penalties
    }
)
"""What can happen in the loops -> the rule that says what it is worth. A solver that was stopped is worth nothing."""

NO_NAMES: Mapping[str, int] = MappingProxyType({})

Make = Callable[[str, Iterable[list[int]]], Sat]


class EncodingTooLarge(Exception):
    """The clauses would not fit in memory."""


def estimate_limits(model: OrderModel) -> int:
    """The number of clauses that the bounded sums need."""
    return sum(estimate_at_most(item.terms, item.limit) for item in model.limits)


def encode_limits(model: OrderModel, memory: int | None, chosen: Mapping[str, int] = NO_NAMES) -> None:
    """Adds the clauses of every bounded sum; for names in `chosen` they apply only if the literal holds."""
    size = len(model.clauses.clauses) + estimate_limits(model)
    if size > MOST_CLAUSES or (memory is not None and size * BYTES_PER_CLAUSE > memory):
        raise EncodingTooLarge(f"about {size:,} clauses")
    for item in model.limits:
        more = (chosen[item.name],) if item.name in chosen else ()
        at_most(model.clauses, item.terms, item.limit, (*item.condition, *more))


def minimize(search: SolveState, model: OrderModel, make: Make, strategy: str, solver: str) -> Stop:
    """Runs the search; the best tree and the bound are recorded in `search`."""
    items, _ = normalized(model.goal, 0)
    runner = _Runner(search, model, make, solver, items)
    try:
        if model.clauses.contradiction:
            return search.no_tree(Evidence("refutation", "while the clauses were written"))
        if not items:
            return runner.satisfy()
        if strategy == "auto":
            strategy = runner.strategy()
        search.notes.append(STRATEGIES[strategy])
        if search.is_met:
            return search.close(Evidence("bound meets tree", "", search.bound_by))
        return runner.core() if strategy == "core" else runner.descend()
    except Stopped as stopped:
        return stopped.stop
    finally:
        runner.close()


def decide(search: SolveState, model: OrderModel, sat: Sat, assumptions: Sequence[int] = ()) -> bool:
    """Is there a tree? It is recorded in `search`; clauses for monotonicity are added to the model as needed."""
    while sat.solve(assumptions):
        clauses = _offer(search, model, sat)
        if not clauses:
            return True
        for clause in clauses:
            sat.add(clause)
            model.clauses.clauses.append(clause)
    return False


def _offer(search: SolveState, model: OrderModel, sat: Sat) -> list[list[int]]:
    """Offers the tree of the solver's model; returns clauses that exclude its violations of monotonicity."""
    literals = sat.model()
    # Variables that occur in no clause may be missing from the model.
    true = np.zeros(max(model.clauses.top, len(literals)) + 1, bool)
    true[np.array([literal for literal in literals if literal > 0], np.int64)] = True
    tree = model.decode(true)
    if search.offer(tree):
        return []
    terms = tuple(term for term, _ in search.task.monotone)
    clauses = [excluding(model, true, one, other) for one, other in broken_pairs(tree, model.problem, terms)]
    if not clauses:
        raise AssertionError("a tree of the clauses does not meet the requirements")
    return clauses


def _flat(model: OrderModel) -> list[tuple[int, int]]:
    """The goal as (weight, variable), with every variable once."""
    weights: dict[int, int] = {}
    for weight, literal in model.goal:
        sign = 1 if literal > 0 else -1
        weights[abs(literal)] = weights.get(abs(literal), 0) + sign * weight
    return [(weight, variable) for variable, weight in weights.items()]


class _Runner:
    def __init__(
        self, search: SolveState, model: OrderModel, make: Make, solver: str, items: list[tuple[int, int]]
    ) -> None:
        self.search, self.model, self.make, self.solver_name = search, model, make, solver
        self.items = items  # penalties, in steps of `divisor` above `floor`
        weights = [weight for weight, _ in _flat(model)]
        self.divisor = gcd(*weights) or 1
        # The value of the goal without any penalty.
        negated = sum(weight for weight, literal in model.goal if literal < 0)
        self.floor = model.goal_constant + negated + sum(min(0, weight) for weight in weights)
        self.sats: list[Sat] = []

    def close(self) -> None:
        for sat in self.sats:
            self.search.add_statistics(sat.statistics())
            sat.close()

    def strategy(self) -> str:
        weights = {weight for weight, _ in self.items}
        upper = self.upper()
        if len(weights) > 1 and upper is not None and upper <= SMALL:
            return "core"
        if len(weights) > 1:
            cap = min(upper if upper is not None else 2**62, sum(w for w, _ in self.items))
            if estimate_totalizer(self.items, cap) > MOST_TOTALIZER:
                return "core"
        return "descend"

    def upper(self) -> int | None:
        """The penalty of the best tree so far, in steps above the value without penalties."""
        best = self.search.best
        return None if best is None else max(0, -(-(best - self.floor) // self.divisor))

    def prove(self, penalty: int, happened: str) -> None:
        """Raises the bound; the row of LOOP for what happened gives the evidence."""
        self.search.raise_bound(Proved(self.floor + self.divisor * penalty, self.evidence(happened)))

    def evidence(self, happened: str) -> Evidence:
        return Evidence(LOOP[happened], happened)

    def finish(self, happened: str) -> Stop:
        """Ends the search: the bound equals the value of the best tree. Raises Contradiction if it does not."""
        if not self.search.proved:
            raise Contradiction(f"the loop of the solver ended ({happened}), and its bound does not meet its tree")
        return self.search.close(Evidence("bound meets tree", "", (self.evidence(happened),)))

    def open(self, name: str, clauses: Iterable[list[int]]) -> Sat:
        sat = self.make(name, clauses)
        self.sats.append(sat)
        return sat

    def take(self, sat: Sat) -> bool:
        """Offers the tree of the solver's model; False if it violates monotonicity, which is then excluded."""
        clauses = _offer(self.search, self.model, sat)
        for clause in clauses:
            for known in self.sats:
                known.add(clause)
            self.model.clauses.clauses.append(clause)
        return not clauses

    def satisfy(self) -> Stop:
        if self.search.tree is None or self.search.problem.goals:
            decide(self.search, self.model, self.open(self.solver_name or "g4", self.model.clauses.clauses))
        if self.search.tree is None:
            return self.search.no_tree(self.evidence("no model"))
        self.prove(0, "no penalty")
        return self.search.close(Evidence("no goal")) if not self.search.problem.goals else self.finish("no penalty")

    def descend(self) -> Stop:
        if self.upper() == 0:
            self.prove(0, "no penalty")
            return self.finish("no penalty")
        if self._without_penalty():
            return self.finish("no penalty")
        self.prove(1, "no model without penalties")
        questions, task = self.model.questions, self.search.task
        deadline = self.search.limits.deadline
        self.search.offer(coarse_tree(questions, task, deadline))
        self.search.offer(improved_tree(questions, task, self.search.tree, deadline))
        upper, total = self.upper(), sum(weight for weight, _ in self.items)
        cap = total if upper is None else min(upper, total)
        outputs, extra = _count(self.items, cap, Clauses(self.model.clauses.top, deadline))
        sat = self.open(self.solver_name or "g4", [*self.model.clauses.clauses, *extra])
        self._hint(sat)
        while True:
            upper = self.upper()
            for value, literal in sorted(outputs.items()):
                if upper is not None and value >= upper:
                    sat.add([-literal])
            if self.search.is_met:
                return self.search.close(Evidence("bound meets tree", "", self.search.bound_by))
            if self.search.within_gap:
                return Stop.GAP
            if self.search.stopped:
                raise Stopped(Stop.INTERRUPTED)
            if not sat.solve():
                break
            if self.take(sat) and upper is not None and self.upper() == upper:
                raise Contradiction("the clauses ask for a better tree, and their tree is not better")
        upper = self.upper()
        if upper is None:
            return self.search.no_tree(self.evidence("no model"))
        self.prove(upper, "no model below the best tree")
        return self.finish("no model below the best tree")

    def _without_penalty(self) -> bool:
        """Is there a tree without penalties? Unit clauses, not assumptions, say so: then the solver can simplify."""
        units = [[-literal] for _, literal in self.items]
        sat = self.open(self.solver_name or "g4", [*self.model.clauses.clauses, *units])
        while sat.solve():
            if self.take(sat):
                self.prove(0, "no penalty")
                return True
        return False

    def core(self) -> Stop:
        """Each core raises the bound by its least weight and is replaced by a counter of its literals."""
        from pysat.card import ITotalizer

        sat = self.open(self.solver_name or "g4", self.model.clauses.clauses)
        self._hint(sat)
        top = self.model.clauses.top
        weight = {-literal: value for value, literal in self.items}
        counters: dict[int, tuple[Any, int]] = {}
        lower = 0
        while True:
            if self.search.within_gap:
                return Stop.GAP
            if sat.solve(sorted(weight, key=lambda literal: (-weight[literal], abs(literal)))):
                if self.take(sat):
                    self.prove(lower, "cores")
                    return self.finish("cores")
                continue
            core = sat.core()
            if not core:
                return self.search.no_tree(self.evidence("no model"))
            least = min(weight[literal] for literal in core)
            lower += least
            self.prove(lower, "cores")
            if self.search.proved:
                return self.finish("cores")
            for literal in core:
                weight[literal] -= least
                if not weight[literal]:
                    del weight[literal]
                if literal in counters:
                    counter, bound = counters[literal]
                    if bound + 1 < len(counter.lits):
                        counter.increase(ubound=bound + 1, top_id=top)
                        top = max(top, counter.top_id)
                        for clause in counter.cnf.clauses[-counter.nof_new :] if counter.nof_new else ():
                            sat.add(clause)
                        output = -counter.rhs[bound + 1]
                        weight[output] = weight.get(output, 0) + least
                        counters[output] = (counter, bound + 1)
            if len(core) > 1:
                counter = ITotalizer(lits=[-literal for literal in core], ubound=1, top_id=top)
                top = max(top, counter.top_id)
                for clause in counter.cnf.clauses:
                    sat.add(clause)
                output = -counter.rhs[1]
                weight[output] = weight.get(output, 0) + least
                counters[output] = (counter, 1)
            else:
                sat.add([-core[0]])

    def _hint(self, sat: Sat) -> None:
        if self.search.tree is not None:
            sat.phases(start_literals(self.model, self.search.tree))


def _count(items: list[tuple[int, int]], cap: int, clauses: Clauses) -> tuple[dict[int, int], list[list[int]]]:
    """For every sum up to the cap, a literal that holds if the penalties reach it; and the clauses."""
    if all(weight == 1 for weight, _ in items):
        from pysat.card import ITotalizer

        most = max(1, min(cap, len(items)))
        counter = ITotalizer(lits=[literal for _, literal in items], ubound=most, top_id=clauses.top)
        outputs = {place + 1: literal for place, literal in enumerate(counter.rhs)}
        return outputs, counter.cnf.clauses
    outputs = totalizer(clauses, items, max(1, cap))
    return outputs, clauses.clauses


def start_literals(model: OrderModel, tree: Node) -> list[int]:
    """The directions, questions and labels of a tree as literals, to start a solver from."""
    # imported here: start-up time
    from treeml.problem.evaluate import answers

    literals: list[int] = []
    rows = np.zeros(model.questions.groups, np.int64)
    rows[model.questions.group] = np.arange(model.problem.rows)
    known: dict[int, NDArray[np.bool_]] = {}

    def mark(node: Node, place: int) -> None:
        if place >= model.nodes.branches:
            if isinstance(node, Leaf):
                for label in range(model.problem.classes):
                    for literal in model.label_is(place - model.nodes.branches, label):
                        literals.append(literal if label == node.label else -literal)
            return
        if isinstance(node, Split):
            if node.test not in known:
                known[node.test] = answers(model.problem, node.test, rows)
            yes = known[node.test]
            feature = model.problem.tests[node.test].feature
            literals.extend(np.where(yes, model.side[place], -model.side[place]).tolist())
            for number, question in enumerate(model.questions):
                same = question.test == node.test if question.kind == "test" else question.feature == feature
                literals.append(int(model.ask[place, number]) * (1 if same else -1))
            mark(node.yes, 2 * place + 1)
            mark(node.no, 2 * place + 2)
        else:
            literals.extend(model.side[place].tolist())
            mark(node, 2 * place + 1)
            mark(node, 2 * place + 2)

    mark(tree, 0)
    return literals


def excluding(model: OrderModel, true: NDArray[np.bool_], one: Path, other: Path) -> list[int]:
    """A clause that excludes the two leaves at the ends of these paths, with the questions on the paths."""
    clause: set[int] = set()
    for path in (one, other):
        node = 0
        for _, answer in path:
            place = int(np.flatnonzero(true[model.ask[node]])[0])
            question = model.questions[place]
            clause.add(-int(model.ask[node, place]))
            if question.kind != "test":
                assert question.codes is not None
                sides = model.side[node]
                for code in np.unique(question.codes):
                    group = int(np.flatnonzero(question.codes == code)[0])
                    clause.add(-int(sides[group]) if true[sides[group]] else int(sides[group]))
            swapped = _is_swapped(model, true, node, place)
            node = 2 * node + (1 if answer != swapped else 2)
        while node < model.nodes.branches:
            assert model.split is not None
            clause.add(int(model.split[node]))
            node = 2 * node + 1
        leaf = node - model.nodes.branches
        for literal in model.label_is(leaf, model._label_of(leaf, true)):
            clause.add(-literal)
    return sorted(clause)


def _is_swapped(model: OrderModel, true: NDArray[np.bool_], node: int, place: int) -> bool:
    found = model.questions.decode(model.questions[place], true[model.side[node]])
    return found is not None and found[1]
