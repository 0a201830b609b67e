"""The answer of the express way -> Result, whose parts are made when they are read.

A short search is over before the objects that describe its answer could be made, and most callers read few of them.
Nothing here refers to the rows: they were counted before, and may change after the call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from fractions import Fraction
from time import monotonic
from typing import Any, ClassVar, Protocol

from treeml.backends import registry
from treeml.backends.claims import Proof, require
from treeml.backends.contract import Progress, Status, Stop
from treeml.backends.planning.plan import closing
from treeml.lang.diagnostic import BackendError, Diagnostic
from treeml.lang.spec import Spec
from treeml.solving.choice import reason_for
from treeml.solving.express_task import BACKEND, ExpressTask
from treeml.solving.result import Number, Result, plain
from treeml.solving.verify import GoalCheck, RequirementCheck, Verification
from treeml.solving.verify_answer import not_verified
from treeml.trees.tree import Tree

MOST_SECONDS = 3.0  # for the search; afterwards it begins anew, with all that the general way can do
SHARE_OF_TIME = 0.1  # of a time limit


def time_for_search(task: ExpressTask, spent: float) -> float:
    """The seconds that the express way may search; not positive if there is no time for it."""
    return MOST_SECONDS if task.within is None else min(MOST_SECONDS, SHARE_OF_TIME * task.within - spent)


class LateAnswer(Protocol):
    """What an ExpressResult asks for its parts: a method `make_...` for every one that is not usual."""

    ended: float


class ExpressAnswer(ABC):
    """A verified tree and what is known about it: a method `make_...` for every part of a Result that is not usual."""

    __slots__ = ("begun", "built", "depth", "ended", "is_optimal", "task")
    proved: ClassVar[Proof]
    stopped: ClassVar[Proof]

    def __init__(self, task: ExpressTask, is_optimal: bool, depth: int, begun: float, built: float) -> None:
        self.task, self.is_optimal, self.depth = task, is_optimal, depth
        self.begun, self.built, self.ended = begun, built, built

    def __init_subclass__(cls) -> None:
        require("optimal", 0, cls.proved)
        require("feasible", 0, cls.stopped)

    @abstractmethod
    def value(self) -> Fraction:
        """The value of the goal, as the rows have it."""

    @abstractmethod
    def claim(self) -> Fraction:
        """The value that the kernel claims."""

    @abstractmethod
    def lower(self) -> Fraction:
        """The bound, in the user's sense."""

    @abstractmethod
    def rows_of_leaves(self) -> Sequence[int]: ...

    @abstractmethod
    def own_measures(self) -> Mapping[str, Fraction]:
        """The measures that the goal is about."""

    @abstractmethod
    def remark(self) -> str:
        """Which kernel ran, and why."""

    @abstractmethod
    def make_tree(self) -> Tree: ...

    @abstractmethod
    def all_statistics(self) -> dict[str, float]:
        """Those of the kernel."""

    def make_status(self) -> Status:
        return Status.OPTIMAL if self.is_optimal else Status.FEASIBLE

    def make_stop(self) -> Stop:
        return Stop.PROVED if self.is_optimal else Stop.INTERRUPTED

    def make_backend(self) -> str:
        return BACKEND

    def make_objective(self) -> Number:
        return plain(self.value())

    def make_bound(self) -> Number:
        return plain(self.lower())

    def make_gap(self) -> float | None:
        value = self.value()
        distance = abs(value - self.lower())
        return 0.0 if not distance else float(distance / abs(value)) if value else None

    def make_verified(self) -> bool:
        return True

    def make_seconds(self) -> float:
        return self.ended - self.begun

    def make_build_seconds(self) -> float:
        return self.built - self.begun

    def shape_measures(self) -> dict[str, Fraction]:
        sizes = self.rows_of_leaves()
        return {"depth": Fraction(self.depth), "leaves": Fraction(len(sizes)), "support": Fraction(min(sizes))}

    def make_exact(self) -> Verification:
        (goal,), (limit,) = self.task.spec.goals, self.task.spec.requirements
        depth = Fraction(self.depth)
        slack = limit.limit - depth
        return Verification(
            (GoalCheck(goal.text, goal.sense, self.value(), self.claim()),),
            (RequirementCheck(limit.name, limit.text or limit.name, limit.sense, limit.limit, depth, slack, True),),
            self.own_measures(),
            confusion=self.confusion(),
        )

    def confusion(self) -> tuple[tuple[str, ...], tuple[tuple[Fraction, ...], ...]] | None:
        return None

    def make_measures(self) -> dict[str, Number]:
        return {name: plain(value) for name, value in self.own_measures().items()}

    def make_trace(self) -> tuple[Progress, ...]:
        return (Progress(self.all_statistics()["seconds"], (self.claim(),), self.lower(), evidence=self.stopped),)

    @abstractmethod
    def make_statistics(self) -> dict[str, float]: ...

    def make_plan(self) -> tuple[str, ...]:
        backend = registry.get(BACKEND)
        opening = () if self.task.spec.backends else (reason_for(backend, [], None),)
        return (*opening, closing(backend), self.remark())

    def make_raw_status(self) -> str:
        return "optimal, proved" if self.is_optimal else "feasible, interrupted"

    def make_warnings(self) -> tuple[Diagnostic, ...]:
        return self.task.warnings

    def make_spec(self) -> Spec:
        return self.task.spec

    def make_evidence(self) -> Proof:
        return self.proved if self.is_optimal else self.stopped


def named_statistics(names: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    """The statistics of a kernel by name, with times in seconds."""
    own = dict(zip(names, values, strict=True))
    built, solved = own.pop("build_microseconds") / 1e6, own.pop("solve_microseconds") / 1e6
    return {"seconds": built + solved, **own, "build_seconds": built, "solve_seconds": solved}


class ExpressResult(Result):
    """A Result that makes its parts when they are read."""

    __slots__ = ("_answer",)
    _answer: LateAnswer


def _part(name: str, default: Any, factory: Any) -> property:
    held: Any = Result.__dict__[name]
    maker = f"make_{name}"

    def get(self: ExpressResult) -> Any:
        try:
            return held.__get__(self)
        except AttributeError:  # nobody has read it
            make = getattr(self._answer, maker, None)
            value = make() if make is not None else default if factory is MISSING else factory()
            held.__set__(self, value)
            return value

    return property(get, lambda self, value: held.__set__(self, value))


for _field in fields(Result):
    setattr(ExpressResult, _field.name, _part(_field.name, _field.default, _field.default_factory))


def late_result(answer: LateAnswer, wrong: Sequence[str]) -> Result:
    """The result of an answer; BackendError if something is wrong with it."""
    if wrong:
        raise BackendError(not_verified(BACKEND, tuple(wrong)))
    result = object.__new__(ExpressResult)
    object.__setattr__(result, "_answer", answer)
    answer.ended = monotonic()
    return result
