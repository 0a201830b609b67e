"""Dataset, the plan of a back-end -> ForestAnswer: trees by column generation, their exact weights, and the proof.

The requirements of the spec hold for every tree. The goal `margin` is the value of the criterion; the forest is optimal
if the bound of the pricing meets that value, within a tolerance that the answer states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isfinite, isinf
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.backends.claims import Proof, combined
from treeml.backends.contract import Deadline, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.options import threaded
from treeml.backends.planning.plan import Plan
from treeml.data.table import Dataset
from treeml.forests.column_generation import Generated, GenerationSettings, Restricted, Round, generate
from treeml.forests.criterion import Criterion, Grown, criterion
from treeml.forests.examples import Examples, examples_of
from treeml.forests.pricing import NoTree, TreePricing
from treeml.forests.progress import ForestProgress
from treeml.forests.weights import WeightedTrees, exact_weights, fewer_trees
from treeml.lang.diagnostic import BackendError, DataError, Diagnostic, Label, SpecError
from treeml.lang.spec import Spec
from treeml.measures.lower_dataset import Lowered
from treeml.problem.answers import has_many_answers
from treeml.problem.reduce import reduce
from treeml.problem.shapes import groups
from treeml.problem.tree import Node
from treeml.trees.forest import Forest
from treeml.trees.nodes import overruled_class
from treeml.trees.raising import raise_tree
from treeml.trees.tree import Tree

TOLERANCE = Fraction(1, 10**6)
RESCUE = 0.4  # seconds for the one tree of a forest, if the time was over before there was any
COLUMNS = 10  # new trees in each round
FEW, COLUMNS_OF_FEW = 400, 20  # with so few margins the master is small, and more trees in each round pay off
SMOOTHING = Fraction(7, 10)
OWN_OPTIONS = ("columns", "smoothing", "tolerance", "iterations")


@dataclass(frozen=True, eq=False, slots=True)
class ForestTask:
    """What is to be boosted: the rows, and the back-end that grows the trees."""

    dataset: Dataset
    spec: Spec
    lowered: Lowered
    plan: Plan
    limits: Limits
    begun: float  # on the monotonic clock


@dataclass(frozen=True, eq=False, slots=True)
class ForestAnswer:
    """The forest with its value, bound and proof, not yet verified; `forest` is None if there is none."""

    status: Status
    stop: Stop
    criterion: type[Criterion]
    options: dict[str, Any]  # of the criterion
    built: float  # when the search began, on the monotonic clock
    tolerance: Fraction  # of the proof, relative to the larger of 1 and the value
    forest: Forest | None = None
    value: Fraction | None = None
    bound: Fraction | None = None
    allowed: Fraction = Fraction(0)  # the tolerance in units of the value
    conflict: tuple[str, ...] = ()
    evidence: Proof = ()
    raw_status: str = ""
    statistics: dict[str, float] = field(default_factory=dict)
    plan: tuple[str, ...] = ()
    trace: tuple[Progress, ...] = ()
    remarks: tuple[str, ...] = ()  # on the proof and the rows
    limit_notes: tuple[str, ...] = ()  # on the limit on trees

    @property
    def gap(self) -> float | None:
        """The gap as a share of the value; None if there is no bound, or if the value cannot be told from 0."""
        if self.bound is None or self.value is None:
            return None
        gap = self.bound - self.value
        if abs(self.value) > self.allowed:
            return float(gap / abs(self.value))
        return float(gap) if gap <= self.allowed else None


def boost(task: ForestTask, on_progress: OnProgress | None = None, kind: type[Criterion] | None = None) -> ForestAnswer:
    """The best forest by the criterion that the spec names, or by `kind`."""
    return _Boost(task, on_progress, kind).run()


def dual_prices(task: ForestTask) -> tuple[Criterion, NDArray[np.float64]]:
    """The criterion, and the prices of the best bound: for every row with weight and every rival class.

    Equal rows share the price of their example according to their weights.
    """
    made = _Boost(task, None, None)
    with one_thread():
        found = generate(made.criterion, made.pricing, made.settings())
    examples, problem = made.examples, made.pricing.problem
    prices = np.zeros(examples.margins) if found.prices is None else found.prices
    keys = groups(problem) * examples.classes + task.dataset.actual
    heavy = np.flatnonzero(task.dataset.weight > 0)
    order = np.argsort(keys[examples.row])
    example = order[np.searchsorted(keys[examples.row][order], keys[heavy])]
    shares = task.dataset.weight[heavy] / examples.count[example]
    return made.criterion, (prices.reshape(len(examples.row), -1)[example] * shares[:, None]).ravel()


def weigh(task: ForestTask, trees: Sequence[Node], weights: Sequence[float]) -> ForestAnswer:
    """The forest of given trees and weights, as a run that was lost reported it: without a bound or a proof."""
    made = _Boost(task, None, None)
    grown = tuple(Grown(tree, made.examples.signs(made.pricing.votes(tree))) for tree in trees)
    return made.answered(Generated(Stop.FAILED, grown, np.array(weights), 0.0, None, ()), monotonic())


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep linear algebra on one thread: the matrices are small, and more threads cost more than they gain."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


class _Boost:
    def __init__(self, task: ForestTask, on_progress: OnProgress | None, kind: type[Criterion] | None) -> None:
        self.task, self.spec, self.on_progress = task, task.spec, on_progress
        dataset, method, span = task.dataset, task.spec.ensemble, task.spec.spans.get("ensemble")
        assert method is not None
        kind = kind or criterion(method.name)
        self.backend = task.plan.backend
        self.limits = threaded(self.backend, task.limits)
        self.own = {name: method.options[name] for name in OWN_OPTIONS if name in method.options}
        self.options = {name: value for name, value in method.options.items() if name not in self.own}
        merges_tests = not has_many_answers(task.plan.problem)  # comparing the answers to all of them takes memory
        problem, self.lift = reduce(task.plan.problem, rows=False, tests=merges_tests)
        self.examples: Examples = examples_of(problem, dataset.actual, dataset.weight, dataset.weight_scale)
        if self.examples.classes > 2 and not kind.many_classes:
            raise DataError(_two_classes_only(kind.name, self.examples.classes, span))
        with _labelled(span):
            self.criterion: Criterion = kind(self.examples, self.options)
        columns = int(self.own.get("columns", COLUMNS_OF_FEW if self.examples.margins <= FEW else COLUMNS))
        self.pricing = TreePricing(problem, self.examples, self.criterion, self.backend, self.limits, columns)
        self.tolerance = Fraction(self.own.get("tolerance", TOLERANCE))
        self.trace: list[Progress] = []

    def settings(self) -> GenerationSettings:
        return GenerationSettings(
            tolerance=float(self.tolerance),
            gap=float(self.spec.gap),
            smoothing=float(self.own.get("smoothing", SMOOTHING)),
            iterations=self.own.get("iterations"),
            deadline=self.limits.deadline,
        )

    def run(self) -> ForestAnswer:
        built = monotonic()
        try:
            with one_thread():
                found = generate(self.criterion, self.pricing, self.settings(), on_round=self.report)
        except NoTree as none:
            evidence = combined("pricing", none.evidence)
            return self.answer(Status.INFEASIBLE, Stop.PROVED, built, conflict=none.conflict, evidence=evidence)
        if not found.columns:
            first = self.pricing.first_tree(Deadline.after(RESCUE))
            if first is None:
                return self.answer(Status.UNKNOWN, found.stop, built)
            found = replace(found, columns=(first,), weights=np.ones(1))
        return self.answered(found, built)

    def report(self, moment: Round, columns: Sequence[Grown], restricted: Restricted) -> bool | None:
        """Keep the progress of a round, and pass it on."""
        weights = restricted.weights
        margins = weights @ np.array([column.signs for column in columns[: len(weights)]]) if len(weights) else None
        progress = ForestProgress(
            monotonic() - self.task.begun,
            (Fraction(-moment.value),) if isfinite(moment.value) else None,
            Fraction(-moment.bound) if isfinite(moment.bound) else None,
            None,
            moment.iteration,
            int(np.count_nonzero(weights > 0)),
            moment.reduced_cost,
            1.0 if margins is None else self.error_rate(margins),
            None if isinf(self.limits.deadline.at) else round(self.limits.deadline.at - self.task.begun, 3),
            evidence=combined("pricing", moment.evidence),
        )
        self.trace.append(progress)
        if self.on_progress is None:
            return None
        weighted = tuple((columns[place].tree, float(weights[place])) for place in np.flatnonzero(weights > 0).tolist())
        return self.on_progress(replace(progress, weighted=weighted))

    def error_rate(self, margins: NDArray[np.float64]) -> float:
        examples = self.examples
        right = np.ones(len(examples.row), dtype=np.bool_)
        np.logical_and.at(right, examples.example, margins > 0)
        return float(examples.weight[~right].sum() / examples.weight.sum())

    def answered(self, found: Generated[Grown], built: float) -> ForestAnswer:
        """The answer of a search that found trees."""
        weighted = exact_weights(self.criterion, found.columns, found.weights)
        status, stop, notes = Status.FEASIBLE, found.stop, []
        needed, limited = len(weighted.columns), self.spec.ensemble_trees
        if limited is not None and needed > limited:
            weighted = fewer_trees(self.criterion, self.options, weighted, limited)
            stop = Stop.FINISHED
            notes.append(
                f"the best forest has {needed} trees; of these, {len(weighted.columns)} were kept and weighted anew, "
                "and no claim is made that no other forest of this size is better"
            )
        bound, value = found.bound, weighted.value
        allowed = self.tolerance * max(Fraction(1), abs(value))
        if bound is not None and bound < value:
            raise BackendError(_below(self.backend.name, bound, value))
        if bound is not None and bound - value <= allowed and found.confirmed:
            status, stop = Status.OPTIMAL, Stop.PROVED
        elif stop is Stop.PROVED:
            stop = Stop.FINISHED
        base = self.answer(status, stop, built, found, evidence=combined("pricing", found.evidence))
        return replace(
            base,
            forest=self.forest(weighted),
            value=value,
            bound=bound,
            allowed=allowed,
            remarks=tuple(self.remarks(status, value, found)),
            limit_notes=tuple(notes),
        )

    def answer(
        self,
        status: Status,
        stop: Stop,
        built: float,
        found: Generated[Grown] | None = None,
        *,
        conflict: tuple[str, ...] = (),
        evidence: Proof = (),
    ) -> ForestAnswer:
        statistics: dict[str, float] = {
            "rounds": 0 if found is None else len(found.rounds),
            "pricing_calls": self.pricing.calls,
            "examples": len(self.examples.row),
            "build_seconds": built - self.task.begun,
            "solve_seconds": monotonic() - built,
        }
        return ForestAnswer(
            status,
            stop,
            type(self.criterion),
            self.options,
            built,
            self.tolerance,
            conflict=conflict,
            evidence=evidence,
            raw_status="" if found is None else found.stop.value,
            statistics=statistics,
            plan=tuple(self.plan()),
            trace=tuple(self.trace),
        )

    def forest(self, weighted: WeightedTrees) -> Forest:
        trees = tuple(
            _outvoted(raise_tree(self.lift(column.tree), self.task.lowered.questions, self.task.dataset))
            for column in weighted.columns
        )
        return Forest(trees, tuple(weighted.weights), self.criterion.name)

    def remarks(self, status: Status, value: Fraction, found: Generated[Grown]) -> list[str]:
        notes = []
        if status is Status.OPTIMAL:
            notes.append(
                f"proved: no forest of such trees has a margin above the bound, which is within "
                f"{float(self.tolerance):g} of the margin, relative to the larger of 1 and the margin; the bound is "
                f"exact, for prices in whole numbers that add up to about {self.pricing.scale:.1g}"
            )
        elif not self.backend.can.proves:
            notes.append(f"{self.backend.name} proves nothing, so a better forest may exist")
        if found.failure is not None:
            said = "; ".join(diagnostic.title for diagnostic in found.failure.diagnostics)
            notes.append(f"the pricing failed in round {len(found.rounds) + 1}, and the forest so far is kept: {said}")
        if self.examples.contradictory:
            notes.append(
                f"{self.examples.contradictory} rows have the same answers to every test and different classes: "
                "no forest gets all of them right"
            )
        if value <= self.tolerance and self.criterion.name == "lpboost":
            notes.append("the margin is not above 0: a smaller `penalty`, or a larger `nu`, lets more rows fall short")
        if self.examples.classes > 2:
            notes.append("a margin is that of a row's own class against the strongest of the others")
        return notes

    def plan(self) -> list[str]:
        assert self.spec.ensemble is not None
        return [
            f"{self.spec.ensemble.name} weights trees by column generation, "
            f"up to {self.pricing.columns} new trees a round",
            f"{self.examples.row.size:,} examples stand for the rows that the tests tell apart",
            *self.task.plan.explain(),
        ]


def _outvoted(tree: Tree) -> Tree:
    """The tree whose leaves say why they predict against their majority: what counts is the vote of all trees."""
    against = [place for place, leaf in enumerate(tree.leaves) if overruled_class(leaf, tree.classes) is not None]
    reason = "the vote of the whole forest"
    return tree.with_leaves({place: replace(tree.leaves[place], because=reason) for place in against})


def refuse_one_class(dataset: Dataset) -> None:
    """DataError if the rows with weight are all of one class."""
    present = np.unique(dataset.actual[dataset.weight > 0]) if dataset.rows else np.zeros(0)
    if len(dataset.classes) >= 2 and len(present) >= 2:
        return
    span = dataset.spec.spans.get("ensemble")
    raise DataError(
        Diagnostic(
            "D430",
            "a forest needs rows of two classes, and here all are of one",
            (Label(span, "asks for a forest"),) if span is not None else (),
            ("a margin compares the votes for a row's class with the votes for another",),
            ("add rows of another class, or rows with weight",),
        )
    )


@contextmanager
def _labelled(span: Any) -> Iterator[None]:
    """Point the messages of a criterion, which does not know the text of the spec, at its `ensemble` statement."""
    try:
        yield
    except SpecError as error:
        label = () if span is None else (Label(span, "asks for a forest"),)
        raise type(error)([replace(each, labels=each.labels or label) for each in error.diagnostics]) from None


def _two_classes_only(name: str, classes: int, span: Any) -> Diagnostic:
    return Diagnostic(
        "D436",
        f"`{name}` is for two classes, and here there are {classes}",
        (Label(span, "asks for this criterion"),) if span is not None else (),
        ("the variance of margins is defined for one margin a row",),
        ("write `ensemble by lpboost(nu = 0.1)`, which takes any number of classes",),
    )


def _below(backend: str, bound: Fraction, value: Fraction) -> Diagnostic:
    return Diagnostic(
        "B514",
        f"the answer of {backend} does not hold",
        notes=(f"it claims that no forest has a margin above {float(bound)!r}, but this one has {float(value)!r}",),
        helps=("this is a mistake of the program, not of the specification; please report it with the data",),
    )
