"""An answer, verified -> what a user gets: status, values in the user's sense, the tree, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.backends.claims import Evidence, Proof, require
from treeml.backends.contract import Answer, Progress, Status, Stop
from treeml.lang.diagnostic import BackendError, Diagnostic
from treeml.problem.problem import Goal

if TYPE_CHECKING:
    from treeml.data.table import Dataset
    from treeml.lang.spec import Spec
    from treeml.solving.feasibility import Impossible
    from treeml.solving.request import Chosen, Request
    from treeml.solving.validation import Validation
    from treeml.solving.verify import Said, Verification
    from treeml.trees.forest import Forest
    from treeml.trees.tree import Tree

Number = int | float


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The answer to one spec. Values are in the user's sense: an accuracy is an accuracy, not a negated error.

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
    reports: tuple[Any, ...] = ()  # what the spec's `report` statement asks for
    spec: Spec | None = field(default=None, repr=False)  # what was asked
    forest: Forest | None = None  # where the spec asks for an ensemble; `tree` is then None
    tolerance: float = 0.0  # of a proof about real numbers, relative to the larger of 1 and the objective
    because: Diagnostic | None = None  # why there is no tree, where the data alone show it
    evidence: Proof = ()  # what "optimal", "infeasible" and the bound rest on

    def __post_init__(self) -> None:
        require(self.status.value, self.bound, self.evidence)

    @property
    def is_optimal(self) -> bool:
        return self.status is Status.OPTIMAL

    def to_json(self) -> dict[str, Any]:
        """One object for machines; its keys are those of docs/backends.md, and only ever grow."""
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
        if self.forest is not None:
            value["forest"] = self.forest.to_json()
        if self.tolerance:
            value["tolerance"] = self.tolerance
        if self.validation is not None:
            value["validation"] = self.validation.to_json()
        return value

    def _repr_html_(self) -> str:
        from treeml.notebook import result_html

        return result_html(self)

    def __str__(self) -> str:
        from treeml.solving.report import summary

        return summary(self)


def plain(value: Fraction | float | int) -> Number:
    """A number to read: whole numbers as int, all else as the nearest float."""
    if isinstance(value, float):
        return value
    return value.numerator if value.denominator == 1 else value.numerator / value.denominator


def assemble(answer: Answer, chosen: Chosen, dataset: Dataset, request: Request, begun: float, built: float) -> Result:
    """An answer over the tests of a problem -> a Result in the user's terms, its tree verified from the rows."""
    from treeml.solving.verify import verify
    from treeml.trees.raising import raise_tree

    goals = chosen.plan.problem.goals
    backend = chosen.plan.backend.name
    found: dict[str, Any] = {}
    if answer.tree is not None:
        tree = raise_tree(answer.tree, chosen.lowered.questions, dataset)
        claimed = None
        if answer.objective is not None:
            claimed = [-value if goal.negated else value for goal, value in zip(goals, answer.objective, strict=True)]
        begun_with = answer.trace[0].tree if request.spec.improve is not None and answer.trace else None
        before = None if begun_with is None else raise_tree(begun_with, chosen.lowered.questions, dataset)
        exact = verify(tree, dataset, claimed, answer.tolerance, before, _said(answer, goals))
        if not exact.verified:
            raise BackendError(_not_verified(backend, exact.mismatches))
        values = tuple(plain(goal.value) for goal in exact.goals)
        found = {
            "tree": tree,
            "exact": exact,
            "verified": True,
            "objective": None if not values else values[0] if len(values) == 1 else values,
            "measures": {name: plain(value) for name, value in exact.measures.items()},
        }
    bound, gap = _bound(answer, goals)
    return Result(
        status=answer.status,
        stop=answer.stop,
        backend=backend,
        bound=bound,
        gap=gap,
        build_seconds=built - begun + answer.statistics.get("build_seconds", 0.0),
        conflict=answer.conflict,
        trace=answer.trace,
        statistics=answer.statistics,
        notes=(*chosen.lowered.notes, *answer.notes),
        warnings=request.warnings,
        plan=tuple(chosen.plan.explain()),
        raw_status=answer.raw_status,
        reports=request.spec.report,
        spec=request.spec,
        seconds=monotonic() - begun,
        evidence=answer.evidence if bound is not None or answer.status in (Status.OPTIMAL, Status.INFEASIBLE) else (),
        tolerance=_relative(answer),
        **found,
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


def _said(answer: Answer, goals: tuple[Goal, ...]) -> Said:
    """What the answer says of its goals, in the user's sense."""
    from treeml.backends.run import bounded_goal
    from treeml.solving.verify import Said

    is_optimal = answer.status is Status.OPTIMAL
    if answer.bound is None or not goals:
        return Said(is_optimal)
    number = bounded_goal(answer)
    return Said(is_optimal, -answer.bound if goals[number].negated else answer.bound, number)


def _bound(answer: Answer, goals: tuple[Goal, ...]) -> tuple[Number | None, float | None]:
    """The bound in the user's sense, and the relative gap, on the goal that the answer's bound speaks of."""
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


def _not_verified(backend: str, mismatches: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(
        "B516",
        f"the tree of {backend} does not verify against the rows",
        notes=mismatches,
        helps=("this is a mistake of the back-end, not of the specification; please report it with the data",),
    )
