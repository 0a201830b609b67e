"""Dataset, request -> a Result with a forest: choose who prices, generate trees, raise them, verify.

The requirements of the spec hold for every tree. The goal `margin` is that of the criterion; it is reached when the
bound of the pricing meets it, within a tolerance that the result states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isfinite, lcm
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeml.backends.claims import Proof, combined
from treeml.backends.contract import Limits, OnProgress, Progress, Status, Stop
from treeml.backends.options import threaded
from treeml.forests.column_generation import Generated, GenerationSettings, Restricted, Round, generate
from treeml.forests.criterion import Criterion, Grown, criterion
from treeml.forests.examples import Examples, examples_of, votes_of
from treeml.forests.pricing import NoTree, TreePricing
from treeml.lang.diagnostic import BackendError, DataError, Diagnostic, Label, SpecError
from treeml.lang.spec import Method
from treeml.problem.problem import Goal
from treeml.problem.terms import Predicted, Sum
from treeml.problem.tree import Node
from treeml.trees.forest import Forest

if TYPE_CHECKING:
    from treeml.data.table import Dataset
    from treeml.measures.lower_dataset import Lowered
    from treeml.model import Model
    from treeml.solving.request import Chosen, Request
    from treeml.solving.result import Result

TOLERANCE = Fraction(1, 10**6)
COLUMNS = 10  # new trees a round
FEW, COLUMNS_OF_FEW = 400, 20  # margins that make a master so small that more trees a round pay
SMOOTHING = Fraction(7, 10)
UNIT = 2**40  # weights are whole multiples of one part in so many
SIMPLEST = 1000  # or fractions with denominators up to this, where these do as well
OWN_OPTIONS = ("columns", "smoothing", "tolerance", "iterations")


@dataclass(frozen=True, slots=True)
class ForestProgress(Progress):
    """A round of the column generation. As in every progress, values are those of what is minimized."""

    iteration: int = 0
    trees: int = 0
    reduced_cost: float = 0.0
    error_rate: float = 0.0
    # The forest so far, over the tests of the problem; a trace does not keep it.
    weighted: tuple[tuple[Node, float], ...] = field(default=(), compare=False, repr=False)

    @property
    def line(self) -> str:
        """What a progress line shows."""
        value = "no forest yet" if self.objective is None else f"margin {-float(self.objective[0]):.6g}"
        bound = "" if self.bound is None else f"   bound {-float(self.bound):.6g}"
        return (
            f"{self.seconds:.1f} s   round {self.iteration}   trees {self.trees}   {value}{bound}   "
            f"reduced cost {self.reduced_cost:.3g}   training error {100 * self.error_rate:.2f} %"
        )


@dataclass(frozen=True, eq=False, slots=True)
class Weighed:
    """Trees, the heaviest first, with their weights and what the criterion says of them, exactly."""

    columns: Sequence[Grown]
    weights: Sequence[Fraction]
    value: Fraction


def boost_with(
    kind: type[Criterion],
    model: Model,
    data: Any = None,
    y: Any = None,
    *,
    on_progress: OnProgress | None = None,
    options: Mapping[str, Any] | None = None,
    **asked: Any,
) -> Result:
    """The best forest by a criterion that is given as its class, with `options` for it.

    The model has no `ensemble` and no objective (`satisfy`); `asked` is what `solve` takes.
    """
    from treeml.solving.request import prepare

    begun = monotonic()
    dataset, request = prepare(model, data, y, **asked)
    spec = replace(request.spec, ensemble=Method(kind.name, dict(options or {})), goals=())
    return boost(replace(dataset, spec=spec), replace(request, spec=spec), begun, on_progress, kind)


def boost(
    dataset: Dataset,
    request: Request,
    begun: float,
    on_progress: OnProgress | None = None,
    kind: type[Criterion] | None = None,
) -> Result:
    """The best forest that the spec's `ensemble` asks for, by the criterion of its name unless one is given."""
    from treeml.solving.request import choose

    method = request.spec.ensemble
    assert method is not None
    _refuse_one_class(dataset)
    chosen = choose(dataset, request)
    return _Boost(dataset, request, chosen, kind or criterion(method.name), begun, on_progress).result()


def weighed_before(
    dataset: Dataset, request: Request, trees: Sequence[Node], weights: Sequence[float], begun: float
) -> Result:
    """The forest that a run which was lost had told of, verified; without a bound, and so without a proof."""
    from treeml.solving.request import choose

    method = request.spec.ensemble
    assert method is not None
    made = _Boost(dataset, request, choose(dataset, request), criterion(method.name), begun, None)
    grown = tuple(Grown(tree, made.examples.signs(votes_of(tree, made.pricing.bits))) for tree in trees)
    return made.assembled(Generated(Stop.FAILED, grown, np.array(weights), 0.0, None, ()), monotonic())


@contextmanager
def one_thread() -> Iterator[None]:
    """Matrices here are small: a second thread of the linear algebra costs more than it brings, many times so when
    the cores are busy."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


def lower_one_tree(dataset: Dataset, numeric: bool) -> Lowered:
    """The problem of pricing: the requirements of the spec, and a goal such as prices will make."""
    from treeml.backends.planning.rescale import rescaled
    from treeml.measures.lower_dataset import lower

    spec = replace(dataset.spec, goals=(), ensemble=None, ensemble_trees=None, start=None)
    lowered = lower(replace(dataset, spec=spec), numeric=numeric)
    problem = lowered.problem
    # Any costs stand for those of a round, as long as they are not those of a requirement.
    cost = (np.arange(problem.rows)[:, None] * 3 + np.arange(problem.classes) * 5) % 7
    goal = Goal(Sum(((Fraction(1), Predicted(cost.astype(np.int64))),)), text="margin")
    # Limits beyond reach are cut down here, since a pricing that keeps its data asks native without a plan.
    return replace(lowered, problem=rescaled(problem.asking((goal,), problem.bounds), None).problem)


class _Boost:
    def __init__(
        self,
        dataset: Dataset,
        request: Request,
        chosen: Chosen,
        kind: type[Criterion],
        begun: float,
        on_progress: OnProgress | None,
    ) -> None:
        from treeml.problem.reduce import reduce

        self.dataset, self.request, self.chosen, self.begun = dataset, request, chosen, begun
        self.on_progress = on_progress
        self.spec = request.spec
        self.limits: Limits = threaded(chosen.plan.backend, request.limits(begun, chosen.method))
        assert self.spec.ensemble is not None
        options = self.spec.ensemble.options
        self.own = {name: options[name] for name in OWN_OPTIONS if name in options}
        self.options = {name: value for name, value in options.items() if name not in self.own}
        self.lowered: Lowered = chosen.lowered
        problem, self.lift = reduce(chosen.plan.problem, False, True)
        self.examples: Examples = examples_of(problem, dataset.actual, dataset.weight, dataset.weight_scale)
        if self.examples.classes > 2 and not kind.many_classes:
            raise DataError(_two_classes_only(kind.name, self.examples.classes, self.spec.spans.get("ensemble")))
        with _said_where(self.spec.spans.get("ensemble")):
            self.criterion: Criterion = kind(self.examples, self.options)
        self.pricing = TreePricing(
            problem,
            self.examples,
            self.criterion,
            chosen.plan.backend,
            self.limits,
            int(self.own.get("columns", COLUMNS_OF_FEW if self.examples.margins <= FEW else COLUMNS)),
        )
        self.tolerance = Fraction(self.own.get("tolerance", TOLERANCE))
        self.trace: list[Progress] = []

    def result(self) -> Result:
        built = monotonic()
        settings = GenerationSettings(
            tolerance=float(self.tolerance),
            gap=float(self.spec.gap),
            smoothing=float(self.own.get("smoothing", SMOOTHING)),
            iterations=self.own.get("iterations"),
            deadline=self.limits.deadline,
        )
        try:
            with one_thread():
                found = generate(self.criterion, self.pricing, settings, on_round=self.told)
        except NoTree as none:
            evidence = combined("pricing", none.evidence)
            return self.empty(Status.INFEASIBLE, Stop.PROVED, built, conflict=none.conflict, evidence=evidence)
        if not found.columns:
            return self.empty(Status.UNKNOWN, found.stop, built)
        return self.assembled(found, built)

    def told(self, moment: Round, columns: Sequence[Grown], restricted: Restricted) -> bool | None:
        weights = restricted.weights
        margins = weights @ np.array([column.signs for column in columns[: len(weights)]]) if len(weights) else None
        progress = ForestProgress(
            monotonic() - self.begun,
            (Fraction(-moment.value),) if isfinite(moment.value) else None,
            Fraction(-moment.bound) if isfinite(moment.bound) else None,
            None,
            moment.iteration,
            int(np.count_nonzero(weights > 0)),
            moment.reduced_cost,
            1.0 if margins is None else self.error_rate(margins),
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

    def assembled(self, found: Generated[Grown], built: float) -> Result:
        from treeml.forests.verify_forest import verify_forest
        from treeml.solving.result import plain

        weighed = self.exact(found.columns, found.weights)
        limited = self.spec.ensemble_trees
        status, stop, notes = Status.FEASIBLE, found.stop, []
        if limited is not None and len(weighed.columns) > limited:
            needed = len(weighed.columns)
            weighed = self.fewer(weighed, limited)
            stop = Stop.FINISHED
            notes.append(
                f"the best forest has {needed} trees; of these, {len(weighed.columns)} were kept and weighted anew, "
                "and no claim is made that no other forest of this size is better"
            )
        bound, value = found.bound, weighed.value
        allowed = self.tolerance * max(Fraction(1), abs(value))
        if bound is not None and bound < value:
            raise BackendError(_below(self.chosen.plan.backend.name, bound, value))
        gap = None if bound is None else bound - value
        if gap is not None and gap <= allowed and found.confirmed:
            status, stop = Status.OPTIMAL, Stop.PROVED
        elif stop is Stop.PROVED:
            stop = Stop.FINISHED
        forest = self.forest(weighed)
        exact = verify_forest(
            forest,
            self.dataset,
            self.options,
            value,
            allowed,
            type(self.criterion),
            resolve=status is Status.OPTIMAL or not self.limits.deadline.passed,
        )
        if not exact.verified:
            raise BackendError(_not_verified(self.chosen.plan.backend.name, exact.mismatches))
        return replace(
            self.base(status, stop, built, found, combined("pricing", found.evidence)),
            forest=forest,
            exact=exact,
            verified=True,
            objective=plain(value),
            bound=None if bound is None else plain(bound),
            gap=None if gap is None else _relative(gap, value, allowed),
            measures={name: plain(number) for name, number in exact.measures.items()},
            notes=(*self.lowered.notes, *self.remarks(status, value, found), *exact.notes, *notes),
            seconds=monotonic() - self.begun,
        )

    def exact(self, columns: Sequence[Grown], weights: NDArray[np.float64]) -> Weighed:
        """The heaviest first, with weights that are fractions and their exact value.

        Weights of small forests are often fractions such as 1/3: where those nearby add up and do at least as well,
        they are what is meant.
        """
        shares = weights / weights.sum()
        parts = np.floor(shares * UNIT).astype(np.int64)
        parts[np.argmax(parts)] += UNIT - parts.sum()
        binary = self.weighed(columns, parts, UNIT)
        near = [Fraction(share).limit_denominator(SIMPLEST) for share in shares.tolist()]
        unit = lcm(*(share.denominator for share in near))
        if sum(near) != 1 or unit > UNIT:
            return binary
        simple = self.weighed(columns, np.array([int(share * unit) for share in near]), unit)
        return simple if simple.value >= binary.value else binary

    def weighed(self, columns: Sequence[Grown], parts: NDArray[np.int64], unit: int) -> Weighed:
        order = [place for place in np.argsort(-parts, kind="stable").tolist() if parts[place] > 0]
        kept, whole = [columns[place] for place in order], parts[order]
        margins = whole @ np.array([column.signs for column in kept], dtype=np.int64)
        share = self.criterion.total / unit
        return Weighed(kept, [part * share for part in whole.tolist()], self.criterion.value(margins, share))

    def fewer(self, forest: Weighed, most: int) -> Weighed:
        """At most so many trees: the lightest go, a few at a time, and the others are weighted anew."""
        kept, shares = list(forest.columns), np.array(forest.weights, dtype=np.float64)
        while True:
            size = max(most, len(kept) - max(1, (len(kept) - most) // 4)) if len(kept) > most else most
            order = np.argsort(-shares, kind="stable")[:size]
            kept = [kept[place] for place in order]
            master = type(self.criterion)(self.examples, self.options)
            master.add(kept)
            solved = master.solve(float("inf"))
            assert solved is not None
            shares = solved.weights
            used = np.flatnonzero(shares > 0)
            kept, shares = [kept[place] for place in used], shares[used]
            if len(kept) <= most:
                return self.exact(kept, shares)

    def forest(self, weighed: Weighed) -> Forest:
        from treeml.trees.raising import raise_tree

        trees = tuple(
            raise_tree(self.lift(column.tree), self.lowered.questions, self.dataset) for column in weighed.columns
        )
        return Forest(trees, tuple(weighed.weights), self.criterion.name)

    def remarks(self, status: Status, value: Fraction, found: Generated[Grown]) -> list[str]:
        notes = []
        if status is Status.OPTIMAL:
            notes.append(
                f"proved: no forest of such trees has a margin above the bound, which is within "
                f"{float(self.tolerance):g} of the margin, relative to the larger of 1 and the margin; the bound is "
                f"exact, for prices in whole numbers that add up to about {self.pricing.scale:.1g}"
            )
        elif not self.chosen.plan.backend.can.proves:
            notes.append(f"{self.chosen.plan.backend.name} proves nothing, so a better forest may exist")
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

    def base(
        self, status: Status, stop: Stop, built: float, found: Generated[Grown] | None, evidence: Proof = ()
    ) -> Result:
        from treeml.solving.result import Result

        statistics: dict[str, float] = {
            "rounds": 0 if found is None else len(found.rounds),
            "pricing_calls": self.pricing.calls,
            "examples": len(self.examples.row),
            "build_seconds": built - self.begun,
            "solve_seconds": monotonic() - built,
        }
        return Result(
            status=status,
            stop=stop,
            backend=self.chosen.plan.backend.name,
            build_seconds=built - self.begun,
            trace=tuple(self.trace),
            statistics=statistics,
            warnings=self.request.warnings,
            plan=tuple(self.plan()),
            raw_status="" if found is None else found.stop.value,
            reports=self.spec.report,
            spec=self.spec,
            tolerance=float(self.tolerance),
            evidence=evidence,
        )

    def empty(
        self, status: Status, stop: Stop, built: float, conflict: tuple[str, ...] = (), evidence: Proof = ()
    ) -> Result:
        base = self.base(status, stop, built, None, evidence)
        return replace(base, conflict=conflict, notes=self.lowered.notes, seconds=monotonic() - self.begun)

    def plan(self) -> list[str]:
        assert self.spec.ensemble is not None
        return [
            f"{self.spec.ensemble.name} weights trees by column generation, "
            f"up to {self.pricing.columns} new trees a round",
            f"{self.examples.row.size:,} examples stand for the rows that the tests tell apart",
            *self.chosen.plan.explain(),
        ]


def _refuse_one_class(dataset: Dataset) -> None:
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
def _said_where(span: Any) -> Iterator[None]:
    """What a criterion refuses, it refuses without knowing the text that asked for it."""
    try:
        yield
    except SpecError as error:
        label = () if span is None else (Label(span, "asks for a forest"),)
        raise type(error)([replace(each, labels=each.labels or label) for each in error.diagnostics]) from None


def _relative(gap: Fraction, value: Fraction, allowed: Fraction) -> float | None:
    """The gap as a share of the value; of a value that cannot be told from 0 there are no shares."""
    if abs(value) > allowed:
        return float(gap / abs(value))
    return float(gap) if gap <= allowed else None


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
        notes=(f"no forest was to have a margin above {float(bound)!r}, but this one has {float(value)!r}",),
        helps=("this is a mistake of the program, not of the specification; please report it with the data",),
    )


def _not_verified(backend: str, mismatches: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(
        "B516",
        f"the forest of {backend} does not verify against the rows",
        notes=mismatches[:5],
        helps=("this is a mistake of the program, not of the specification; please report it with the data",),
    )
