"""Problem -> Answer: how a back-end is asked, what it answers, and what it says about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from time import monotonic
from typing import Any, ClassVar, Protocol, runtime_checkable

from treeml.backends.claims import Proof, require
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

# -- how it is asked ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment by which to answer; building the model counts."""

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
    options: Mapping[str, Any] = field(default_factory=dict)  # of the back-end; checked against Backend.options


NO_LIMITS = Limits()


# -- what is answered -----------------------------------------------------------------


class Status(Enum):
    """What is known about the problem.

    >>> tml.parse("predict disease minimize errors require depth <= 1").solve("heart.csv").status
    <Status.OPTIMAL: 'optimal'>
    """

    OPTIMAL = "optimal"  # the tree is best, and that is proved
    LOCAL = "local"  # no subtree in reach can be improved
    FEASIBLE = "feasible"  # a tree, not proved best
    INFEASIBLE = "infeasible"  # proved: there is none
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
    FINISHED = "finished"  # a heuristic that came to its own end
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a search; objective and bound are those of the goal being minimized."""

    seconds: float
    objective: tuple[Fraction, ...] | None = None
    bound: Fraction | None = None  # proved: it comes with its evidence
    tree: Node | None = None
    evidence: Proof = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        require("", self.bound, self.evidence)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a back-end returns. All values are those of the minimized sums of the goals.

    A claim (optimal, infeasible, a bound) cannot be made without evidence that supports it: UnfoundedClaim is raised.
    """

    status: Status
    stop: Stop
    tree: Node | None = None
    objective: tuple[Fraction, ...] | None = None  # one per goal; () where there is none, and any tree is optimal
    bound: Fraction | None = None  # on the first goal that is not proved; on the last goal when all are
    conflict: tuple[str, ...] = ()  # names of bounds that cannot hold together
    trace: tuple[Progress, ...] = ()
    statistics: Mapping[str, float] = field(default_factory=dict)
    raw_status: str = ""  # the solver's own word
    notes: tuple[str, ...] = ()
    tolerance: Fraction = Fraction(0)  # optimality holds to this much, where the objective is real-valued
    bounded_goal: int | None = None  # the goal that `bound` is on; None: the last if all are proved, else the first
    evidence: Proof = ()  # what the status and the bound rest on

    def __post_init__(self) -> None:
        require(self.status.value, self.bound, self.evidence)


# -- who answers ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Carries:
    """How large the whole numbers of a problem may be for a back-end to stay exact; a plan rescales larger ones."""

    sums: int = 2**62  # what a goal or a bound may come to, in its own units
    goals: int = 2**62  # the same, from where smaller numbers for a goal are looked for though larger ones are taken
    shares: int = 2**62  # the weight of all rows times a term of the fraction that a purity is compared with


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a back-end can do, stated without importing its solver. Kinds are names of term classes."""

    goals: Set[str]  # terms it can minimize, alone or added up
    bounds: Set[str]  # terms it can bound
    sums: bool = False  # bounds that mix several kinds of terms?
    proves: bool = True  # can it return OPTIMAL?
    needs_depth: bool = True  # must depth be bounded?
    lexicographic: bool = False  # several goals at once? (otherwise successive solves are planned)
    minimizes_depth: bool = False  # Depth as a goal? (otherwise deepening is planned)
    merges_rows: bool = False  # takes every row as it is and merges equal rows itself?
    merges_tests: bool = False  # drops and merges tests itself?
    numeric: bool = False  # takes ordered features as they are, without their bits?
    starts: bool = False  # uses a starting tree?
    reports: bool = False  # calls on_progress?
    explains: bool = False  # fills Answer.conflict?
    threads: bool = False
    repeats: bool = True  # the same tree for the same seed? (of a race, whoever is first decides between equal ones)
    keeps_memory: bool = False  # minds Limits.memory? (otherwise the answer says that it did not)
    writes: tuple[str, ...] = ()  # file name endings of native models it can write: (".lp", ".mps")
    carries: Carries | None = Carries()  # None: whole numbers of any size


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a back-end, as `solve with name(option = value)` sets it."""

    type: type  # int, float, bool or str
    default: Any
    summary: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    writes: bool = False  # it names a file to be written: one that the text of a spec gives is confined to its folder


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason why a back-end cannot take a problem, in a user's words."""

    feature: str
    because: str
    instead: str = ""


OnProgress = Callable[[Progress], bool | None]  # False stops the search
Solve = Callable[[Problem, Limits, Node | None, OnProgress | None], Answer]  # what the steps of a plan wrap


@runtime_checkable
class Backend(Protocol):
    name: ClassVar[str]
    summary: ClassVar[str]
    can: ClassVar[Capabilities]
    options: ClassVar[Mapping[str, Option]]

    @staticmethod
    def missing() -> str | None:
        """None if it can run here, or how to install what it lacks."""

    @staticmethod
    def version() -> str:
        """The version of the solver behind it."""

    def refusals(self, problem: Problem) -> Iterator[Refusal]:
        """Reasons beyond `can` why it cannot take this problem, before anything is built.

        A back-end whose options change what it takes has a second parameter with a default: the options given.
        """

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer: ...
