"""A verified answer -> Result: status, values in the user's sense, the tree, and how it was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.backends.claims import Evidence, Proof, require
from treeml.backends.contract import Answer, Progress, Status, Stop
from treeml.lang.diagnostic import Diagnostic
from treeml.problem.problem import Goal

if TYPE_CHECKING:
    from pathlib import Path

    from treeml.data.table import Dataset
    from treeml.lang.spec import Spec
    from treeml.solving.certificates.certify import Certificate
    from treeml.solving.choice import Chosen
    from treeml.solving.feasibility import Impossible
    from treeml.solving.request import Request
    from treeml.solving.validation import Validation
    from treeml.solving.verify import Verification
    from treeml.trees.forest import Forest
    from treeml.trees.tree import Tree

Number = int | float


@dataclass(frozen=True, slots=True, eq=False)
class ProblemSource:
    """How to read and bind once more what was solved, and the file that was read; None: the one that the spec names."""

    prepare: Callable[[], tuple[Dataset, Request]]
    data: str | Path | None


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The answer to one model. Values are in the user's sense: an accuracy is an accuracy, not a negated error.

    >>> result = model.solve("heart.csv")
    >>> print(result)
    >>> result.tree.predict(frame)

    `objective`, `bound` and `measures` are plain numbers for reading; `exact` holds them as fractions, together with
    every requirement's value and slack, as `verify` recomputed them from the rows.
    """

    status: Status
    stop: Stop
    backend: str
    tree: Tree | None = None
    objective: Number | tuple[Number, ...] | None = None
    bound: Number | None = None
    gap: float | None = None
    verified: bool = False
    seconds: float = 0.0
    build_seconds: float = 0.0
    measures: Mapping[str, Number] = field(default_factory=dict)
    exact: Verification | None = None
    conflict: tuple[str, ...] = ()
    trace: tuple[Progress, ...] = ()
    statistics: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    plan: tuple[str, ...] = ()
    raw_status: str = ""
    validation: Validation | None = None
    reports: tuple[Any, ...] = ()  # the items of the spec's `report` statement
    spec: Spec | None = field(default=None, repr=False)  # the checked specification
    forest: Forest | None = None  # if the spec asks for an ensemble; `tree` is then None
    tolerance: float = 0.0  # of a proof about real numbers, relative to the larger of 1 and the objective
    because: Diagnostic | None = None  # why no tree exists, if the data alone show it
    evidence: Proof = ()  # the proof of "optimal", of "infeasible", or of the bound
    certificate: Certificate | None = None  # if one was asked for
    origin: ProblemSource | None = field(default=None, repr=False)  # what was solved, if its rows came from a file

    def __post_init__(self) -> None:
        require(self.status.value, self.bound, self.evidence)

    @property
    def is_optimal(self) -> bool:
        """Is the tree or forest proved to be best?

        >>> assert model.solve("heart.csv").is_optimal
        """
        return self.status is Status.OPTIMAL

    def certify(self, seconds: float = inf) -> Certificate:
        """A certificate of the answer that anybody can check without TreeML: docs/certificates.md.

        The rows must come from a CSV file. The search for the proof is a second pass; after `seconds` the gap that was
        reached is certified.

        >>> model.solve("heart.csv").certify().write("heart.cert.gz")
        """
        # imported here: start-up time
        from treeml.solving.certificates.cells import refuse
        from treeml.solving.certificates.certify import certify

        if self.tree is None and self.forest is None and self.status is not Status.INFEASIBLE:
            raise refuse("there is neither a tree nor a proof that there is none")
        if self.origin is None:
            raise refuse("the rows were not read from a file", "write them as CSV and solve that file")
        dataset, request = self.origin.prepare()
        return certify(dataset, request, self.origin.data, self.forest or self.tree, seconds)

    def to_json(self) -> dict[str, Any]:
        """The result as one object for JSON. docs/backends.md lists the keys; later versions only add keys.

        >>> json.dumps(result.to_json())
        """
        objective = list(self.objective) if isinstance(self.objective, tuple) else self.objective
        value: dict[str, Any] = {
            "status": self.status.value,
            "stop": self.stop.value,
            "backend": self.backend,
            "objective": objective,
            "bound": self.bound,
            "gap": self.gap,
            "verified": self.verified,
            "seconds": round(self.seconds, 6),
            "build_seconds": round(self.build_seconds, 6),
            "measures": dict(self.measures),
            "requirements": [] if self.exact is None else [r.to_json() for r in self.exact.requirements],
            "tree": None if self.tree is None else self.tree.to_json(),
            "conflict": list(self.conflict),
            "notes": list(self.notes),
            "plan": list(self.plan),
            "statistics": {name: plain(number) for name, number in self.statistics.items()},
            "trace": [
                {
                    "seconds": round(moment.seconds, 6),
                    "objective": None if moment.objective is None else [plain(v) for v in moment.objective],
                    "bound": None if moment.bound is None else plain(moment.bound),
                }
                for moment in self.trace
            ],
            "raw_status": self.raw_status,
            "evidence": [each.to_json() for each in self.evidence],
        }
        if self.certificate is not None:
            value["certificate"] = self.certificate.to_json()
        if self.forest is not None:
            value["forest"] = self.forest.to_json()
        if self.tolerance:
            value["tolerance"] = self.tolerance
        if self.validation is not None:
            value["validation"] = self.validation.to_json()
        return value

    def __repr__(self) -> str:
        from treeml.solving.report import short_summary  # imported here: start-up time

        return f"<Result {short_summary(self)}>"

    def _repr_html_(self) -> str:
        from treeml.solving.html import result_html  # imported here: start-up time

        return result_html(self)

    def __str__(self) -> str:
        from treeml.solving.report import summary  # imported here: start-up time

        return summary(self)


def plain(value: Fraction | float | int) -> Number:
    """A number to read: a whole number as int, any other as the nearest float."""
    if isinstance(value, float):
        return value
    return value.numerator if value.denominator == 1 else value.numerator / value.denominator


@dataclass(frozen=True, slots=True)
class Clock:
    """Times of one run on the monotonic clock."""

    begun: float
    built: float  # when the search began


def assemble(
    answer: Answer, chosen: Chosen, request: Request, tree: Tree | None, exact: Verification | None, clock: Clock
) -> Result:
    """The result of a run, in the user's terms; `tree` and `exact` are the answer's tree, raised and verified."""
    bound, gap = _bound(answer, chosen.plan.problem.goals)
    values: tuple[Number, ...] = ()
    measures: dict[str, Number] = {}
    if exact is not None:
        values = tuple(plain(goal.value) for goal in exact.goals)
        measures = {name: plain(value) for name, value in exact.measures.items()}
    return Result(
        status=answer.status,
        stop=answer.stop,
        backend=chosen.plan.backend.name,
        tree=tree,
        objective=None if not values else values[0] if len(values) == 1 else values,
        bound=bound,
        gap=gap,
        verified=exact is not None,
        seconds=monotonic() - clock.begun,
        build_seconds=clock.built - clock.begun + answer.statistics.get("build_seconds", 0.0),
        measures=measures,
        exact=exact,
        conflict=answer.conflict,
        trace=answer.trace,
        statistics=answer.statistics,
        notes=(*chosen.lowered.notes, *answer.notes),
        warnings=request.warnings,
        plan=tuple(chosen.plan.explain()),
        raw_status=answer.raw_status,
        reports=request.spec.report,
        spec=request.spec,
        tolerance=_relative(answer),
        evidence=answer.evidence if bound is not None or answer.status in (Status.OPTIMAL, Status.INFEASIBLE) else (),
    )


def _relative(answer: Answer) -> float:
    """The tolerance of a proof, relative to the larger of 1 and the objective."""
    if not answer.tolerance or not answer.objective:
        return 0.0
    return float(answer.tolerance / max(Fraction(1), abs(answer.objective[-1])))


def refuted(ruled_out: Impossible, chosen: Chosen, request: Request, begun: float) -> Result:
    """A result without a search: the rows alone show that a requirement cannot be met."""
    return Result(
        status=Status.INFEASIBLE,
        stop=Stop.PROVED,
        backend=chosen.plan.backend.name,
        conflict=(ruled_out.name,),
        notes=chosen.lowered.notes,
        warnings=request.warnings,
        raw_status="refuted by counting rows that agree on every feature",
        reports=request.spec.report,
        spec=request.spec,
        because=ruled_out.diagnostic,
        evidence=(Evidence("counting", "rows that agree on every feature"),),
        seconds=monotonic() - begun,
    )


def _bound(answer: Answer, goals: tuple[Goal, ...]) -> tuple[Number | None, float | None]:
    """The bound in the user's sense and the relative gap, both of the goal that the answer's bound is about."""
    from treeml.backends.run import bounded_goal

    if answer.bound is None or not goals:
        return None, 0.0 if answer.status is Status.OPTIMAL else None
    number = bounded_goal(answer)
    goal, value = goals[number], answer.objective[number] if answer.objective else None
    gap = None
    if value is not None:
        distance = max(value - answer.bound, Fraction(0))
        gap = 0.0 if distance == 0 else float(distance / abs(value)) if value else None
    return plain(-answer.bound if goal.negated else answer.bound), gap
