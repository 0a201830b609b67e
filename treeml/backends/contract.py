"""Problem -> Answer: the whole contract between TreeML and a back-end.

It has three parts: what a back-end is given (`Limits`), what it returns (`Answer`, `Progress`), and what it declares
about itself (`Capabilities`, `Option`, and the methods of `Backend`). A back-end usually derives from `BackendBase`,
which supplies every method but `solve`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from treeml.backends.claims import Proof, require
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

if TYPE_CHECKING:  # numpy costs start-up time
    import numpy as np
    from numpy.typing import NDArray

# -- what a back-end is given ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Deadline:
    """The time by which an answer is due; the time to build a model counts."""

    at: float = float("inf")

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(monotonic() + seconds)

    def left(self) -> float:
        return max(0.0, self.at - monotonic())

    @property
    def passed(self) -> bool:
        return monotonic() >= self.at


@dataclass(frozen=True, slots=True)
class Limits:
    deadline: Deadline = Deadline()
    gap: Fraction = Fraction(0)  # stop when (objective - bound) <= gap * |objective|
    memory: int | None = None  # bytes
    threads: int = 1
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)  # the back-end's own; checked against Backend.options
    is_over: Callable[[], bool] | None = None  # asked now and then by back-ends that can: should the search end?
    share: Callable[[Node], None] | None = None  # some back-ends call it with each better tree they find
    news: Callable[[], Node | None] | None = None  # the best tree of a search beside, asked now and then likewise
    for_bound: bool = False  # is a better bound worth more than a better tree? Some back-ends then search differently


NO_LIMITS = Limits()
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


# -- what a back-end returns ----------------------------------------------------------


class Status(Enum):
    """What is known about the problem.

    >>> tml.parse("predict disease minimize errors require depth <= 1").solve("heart.csv").status
    <Status.OPTIMAL: 'optimal'>
    """

    OPTIMAL = "optimal"  # the tree is proved to be optimal
    LOCAL = "local"  # a local optimum: no subtree that was tried can be improved
    FEASIBLE = "feasible"  # a tree that meets every bound, without a proof of optimality
    INFEASIBLE = "infeasible"  # proved: no tree meets the bounds
    UNKNOWN = "unknown"  # neither a tree nor a proof


class Stop(Enum):
    """Why the search ended.

    >>> tml.parse("predict disease minimize errors require depth <= 1").solve("heart.csv").stop
    <Stop.PROVED: 'proved'>
    """

    PROVED = "proved"
    GAP = "gap"
    TIME = "time"
    MEMORY = "memory"
    INTERRUPTED = "interrupted"
    FINISHED = "finished"  # a heuristic ran to completion
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Progress:
    """A report during a search; objective and bound refer to the goal that is being minimized."""

    seconds: float
    objective: tuple[Fraction, ...] | None = None
    bound: Fraction | None = None  # a proved lower bound, supported by `evidence`
    tree: Node | None = None
    evidence: Proof = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        require("", self.bound, self.evidence)


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a back-end. All values are those of the goals' sums, which are minimized.

    A claim (optimal, infeasible, a bound) needs evidence that supports it; without it UnfoundedClaim is raised.
    """

    status: Status
    stop: Stop
    tree: Node | None = None
    objective: tuple[Fraction, ...] | None = None  # one value per goal; () if there are no goals: any tree is optimal
    bound: Fraction | None = None  # on the first goal not proved optimal, or on the last goal if all are
    conflict: tuple[str, ...] = ()  # names of bounds that cannot hold together
    trace: tuple[Progress, ...] = ()
    statistics: Mapping[str, float] = field(default_factory=dict)
    raw_status: str = ""  # the status as the solver reports it
    notes: tuple[str, ...] = ()
    tolerance: Fraction = Fraction(0)  # a real-valued objective is proved optimal up to this much
    bounded_goal: int | None = None  # the goal that `bound` refers to; None: the last if all are proved, else the first
    evidence: Proof = ()  # supports the status and the bound

    def __post_init__(self) -> None:
        require(self.status.value, self.bound, self.evidence)


# -- what a back-end declares about itself ----------------------------------------------


@dataclass(frozen=True, slots=True)
class Carries:
    """The largest integers that a back-end handles exactly; a plan rescales larger ones."""

    sums: int = 2**62  # the value of a goal or of a bounded sum, in its own units
    goals: int = 2**62  # goals beyond this are rescaled if possible, though values up to `sums` are accepted
    shares: int = 2**62  # total weight of the rows times the numerator or denominator of a purity limit


@dataclass(frozen=True, slots=True, eq=False)
class Capabilities:
    """What a back-end can do by itself, stated without importing its solver. Terms are given by class name.

    Capabilities are compared by identity: a back-end states them once, and what follows from them for a problem is kept
    with the problem.
    """

    goals: Set[str]  # terms it can minimize, alone or in a sum
    bounds: Set[str]  # terms it can bound
    sums: bool = False  # can a bound mix several kinds of terms?
    proves: bool = True  # can it return OPTIMAL?
    needs_depth: bool = True  # must depth be bounded?
    lexicographic: bool = False  # several goals in one solve? (otherwise the plan solves them one after the other)
    minimizes_depth: bool = False  # Depth as a goal? (otherwise the plan deepens iteratively)
    merges_rows: bool = False  # merges identical rows itself? (otherwise the plan does)
    merges_tests: bool = False  # drops and merges redundant tests itself? (otherwise the plan does)
    branches: bool = False  # splits a node into more than two branches?
    numeric: bool = False  # works on ordered features directly, without binary tests?
    starts: bool = False  # uses a starting tree?
    reports: bool = False  # calls on_progress?
    explains: bool = False  # fills Answer.conflict?
    threads: bool = False
    repeats: bool = True  # does the same seed give the same tree? (in a race, the fastest member decides)
    keeps_memory: bool = False  # respects Limits.memory? (otherwise a note in the answer says that it does not)
    writes: tuple[str, ...] = ()  # file name endings of the models that it can write: (".lp", ".mps")
    carries: Carries | None = Carries()  # None: integers of any size
    automatic: bool = True  # may it be chosen for a problem that names no back-end?
    runs_others: bool = False  # does it run other back-ends? (a comparison of all back-ends leaves it out)
    quick: bool = False  # as fast as a greedy heuristic on small trees? (then boosting calls it in every round)
    many_tests: bool = False  # for the fewest leaves: does its time grow with the leaves rather than with the tests?
    shallow_search: bool = False  # may `improve` run treeml/native/shallow in its place, to make subtrees shallower?
    variants: tuple[str, ...] = ()  # options to test besides the defaults, as a spec writes them: ("presolve = false",)
    aliases: tuple[str, ...] = ()  # names of other tools that users try; the message then suggests this back-end


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a back-end, set by `solve with name(option = value)`."""

    type: type  # int, float, Fraction, bool or str
    default: Any
    summary: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    writes: bool = False  # names a file to write; a path given in the text of a spec is confined to the spec's folder
    of_goal: bool = False  # a value of the goal as the user wrote it; refused where a plan changes that goal
    restricts: bool = False  # leaves out trees that the specification allows


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason why a back-end cannot solve a problem, worded for the user."""

    feature: str
    because: str
    instead: str = ""


OnProgress = Callable[[Progress], bool | None]  # False stops the search
Reprice = Callable[["NDArray[np.int64]", Deadline, Node | None], Answer]  # costs, rows x classes -> the best tree
Solve = Callable[[Problem, Limits, Node | None, OnProgress | None], Answer]  # what the steps of a plan wrap


@runtime_checkable
class Backend(Protocol):
    """All that `plan` and `run` ask of a back-end. `BackendBase` supplies every method but `solve`."""

    name: ClassVar[str]
    summary: ClassVar[str]
    can: ClassVar[Capabilities]
    options: ClassVar[Mapping[str, Option]]

    @staticmethod
    def missing() -> str | None:
        """None if it can run here, otherwise how to install what it needs."""

    @staticmethod
    def version() -> str:
        """The version of the solver that it uses."""

    def refusals(self, problem: Problem, options: Mapping[str, Any] = NO_OPTIONS) -> Iterator[Refusal]:
        """Reasons beyond `can` why it cannot solve this problem with these options, before anything is built."""

    def remark(self, problem: Problem, options: Mapping[str, Any]) -> str:
        """How it will solve the problem (which encoding, which kernel), in a sentence for the plan; "" for nothing."""

    def unsat_core(self, problem: Problem, limits: Limits) -> list[str] | None:
        """Names of some of the problem's bounds that already exclude every tree; None if it cannot tell."""

    def repricing(self, problem: Problem, limits: Limits, rows: NDArray[np.intp]) -> Reprice | None:
        """A solver that keeps the rows and bounds of the problem and takes new costs of predictions in every call.

        Only `rows` have costs other than 0. None if it has no such solver; then `solve` is called each time.
        """

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer: ...


class BackendBase(ABC):
    """The contract with its defaults: a back-end that derives from it defines `name`, `summary`, `can` and `solve`."""

    name: ClassVar[str]
    summary: ClassVar[str]
    can: ClassVar[Capabilities]
    options: ClassVar[Mapping[str, Option]] = MappingProxyType({})

    @staticmethod
    def missing() -> str | None:
        return None

    @staticmethod
    def version() -> str:
        return "1"

    def refusals(self, problem: Problem, options: Mapping[str, Any] = NO_OPTIONS) -> Iterator[Refusal]:
        return iter(())

    def remark(self, problem: Problem, options: Mapping[str, Any]) -> str:
        return ""

    def unsat_core(self, problem: Problem, limits: Limits) -> list[str] | None:
        return None

    def repricing(self, problem: Problem, limits: Limits, rows: NDArray[np.intp]) -> Reprice | None:
        return None

    @abstractmethod
    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer: ...
