"""Problem -> Result: all that a back-end sees, all that it answers, and what it says of itself.

A back-end never sees text, column names as such, or floats. It sees features as small whole numbers, the yes-or-no
tests on them as bits, and goals and bounds that are exact linear combinations of a few terms. Every classification
measure is one matrix of row x class costs (`Predicted`), so a measure added to the language reaches every back-end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, get_args, runtime_checkable

from treeml.backends.claims import Proof, require

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]

# -- terms: what can be summed in a goal or a bound -----------------------------
#
# Compared by identity (eq=False): they hold arrays. `rows` below means rows of the Problem.


@dataclass(frozen=True, eq=False, slots=True)
class Predicted:
    """scale * sum over rows of cost[row, class predicted for the row]."""

    cost: Whole  # rows x classes
    scale: Fraction = Fraction(1)


@dataclass(frozen=True, eq=False, slots=True)
class Leaves:
    """The number of leaves."""


@dataclass(frozen=True, eq=False, slots=True)
class Depth:
    """The number of splits on the longest path."""


@dataclass(frozen=True, eq=False, slots=True)
class TestCost:
    """scale * sum over rows of count[row] * the costs of the distinct features tested on the row's path."""

    costs: tuple[int, ...]  # one per feature
    scale: Fraction = Fraction(1)


@dataclass(frozen=True, eq=False, slots=True)
class Used:
    """How many of these features the tree tests."""

    features: frozenset[int]


@dataclass(frozen=True, eq=False, slots=True)
class Loss:
    """scale * the loss of every leaf's best constant, summed over leaves.

    squared: sum of weight * |target - mean|^2; absolute: to the median; quantile: the pinball loss at `level`, to the
    quantile. With several outputs (clustering) the losses of the outputs add up, each with its own constant.
    """

    kind: str  # squared, absolute or quantile
    targets: Whole  # rows x outputs
    weight: Whole  # rows
    scale: Fraction = Fraction(1)
    level: Fraction = Fraction(1, 2)


@dataclass(frozen=True, eq=False, slots=True)
class Support:
    """The fewest of the user's rows (sum of count) in a leaf."""


@dataclass(frozen=True, eq=False, slots=True)
class Purity:
    """The smallest share, over leaves with weight, of the leaf's heaviest class."""

    weight: Whole  # rows x classes: the weight of each class at the row


@dataclass(frozen=True, eq=False, slots=True)
class LeafErrors:
    """The largest, over leaves, of scale * sum over its rows of cost[row, label of the leaf]."""

    cost: Whole
    scale: Fraction = Fraction(1)


@dataclass(frozen=True, eq=False, slots=True)
class Monotone:
    """1 if raising the feature alone (if not increasing: lowering it) never turns `positive` to another class, else 0.

    Judged on the leaves as regions: of two leaves that some two inputs reach which agree on every other feature, the
    one with the higher value of the feature must be positive if the other is.
    """

    feature: int
    increasing: bool
    positive: int


@dataclass(frozen=True, eq=False, slots=True)
class Largest:
    """The largest of several sums of terms: a gap over groups is the largest difference between two of them."""

    parts: tuple[Sum, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Ratio:
    """A quotient of two sums (precision); undefined, and no obstacle to any bound, where the denominator is 0."""

    numerator: Sum
    denominator: Sum


@dataclass(frozen=True, eq=False, slots=True)
class Custom:
    """A user's additive cost of a leaf, a function of the numbers of the user's rows in it."""

    function: Callable[[Any], float]


Term = (
    Predicted
    | Leaves
    | Depth
    | TestCost
    | Used
    | Loss
    | Support
    | Purity
    | LeafErrors
    | Monotone
    | Largest
    | Ratio
    | Custom
)
"""A term's kind, as capabilities name it, is the name of its class."""
EVERY_TERM = frozenset(kind.__name__ for kind in get_args(Term))


@dataclass(frozen=True, slots=True)
class Sum:
    """An exact weighted sum of terms plus a constant. At most one part is a Predicted: `lower` adds them up."""

    parts: tuple[tuple[Fraction, Term], ...]
    constant: Fraction = Fraction(0)

    def kinds(self) -> frozenset[str]:
        return frozenset(type(term).__name__ for _, term in self.parts)


@dataclass(frozen=True, slots=True)
class Goal:
    """Minimize `sum`. `negated` says that the user maximizes: the user's value is then minus the sum."""

    sum: Sum
    negated: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Bound:
    """A sum kept at or below, at or above, or exactly on a limit."""

    sum: Sum
    sense: str  # "<=", ">=" or "="
    limit: Fraction
    name: str = ""  # as the user wrote it, for explanations; one requirement may make several bounds of one name


# -- the problem ------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Feature:
    """A column as back-ends see it: for every row the number of its bin or level, -1 where it is missing.

    kind `ordered`: the tests are codes <= j for j = 0 .. levels - 2 (and, where values are missing and the column
    keeps them apart, each of these twice: with the missing rows on the no side and on the yes side, and one test that
    only they pass). kind `levels`: codes == j. kind `subsets`: codes in any proper subset of the levels.
    kind `binary`: a single test, codes == 1.
    """

    name: str
    kind: str  # binary, ordered, levels or subsets
    levels: int
    codes: NDArray[np.int32] | None  # None for a binary feature whose bits are given
    first_test: int  # its tests are first_test .. first_test + tests - 1
    tests: int
    has_missing: bool = False


@dataclass(frozen=True, slots=True)
class Test:
    """One yes-or-no question on a feature; a row for which the answer is yes goes to the yes side."""

    feature: int
    kind: str  # "true", "at most", "level", "among" or "missing"
    values: tuple[int, ...] = ()  # the bin of "at most", the level, or the levels
    missing_yes: bool = False  # rows where the feature is missing answer yes


@dataclass(frozen=True, eq=False)
class Problem:
    """All that a back-end sees."""

    features: tuple[Feature, ...]
    tests: tuple[Test, ...]
    count: Whole  # how many of the user's rows each row stands for
    classes: int  # 0 where the leaves hold numbers
    goals: tuple[Goal, ...]  # the first decides, later ones break ties; none: any tree that meets the bounds
    bounds: tuple[Bound, ...]
    given_bits: Bits | None = field(default=None, repr=False)

    @property
    def rows(self) -> int:
        return len(self.count)

    def asking(self, goals: tuple[Goal, ...], bounds: tuple[Bound, ...]) -> Problem:
        """The same rows and tests with other goals and bounds; bits that were made are kept."""
        other = replace(self, goals=goals, bounds=bounds)
        if "bits" in vars(self):
            vars(other)["bits"] = self.bits
        return other

    @cached_property
    def bits(self) -> Bits:
        """tests x rows: does the row answer yes? Made only when somebody asks."""
        if self.given_bits is not None:
            return self.given_bits
        from treeml.data.binarize import answer_bits

        return answer_bits(self)

    def bound_on(self, kind: str, sense: str) -> Fraction | None:
        """The tightest limit that a bound on this term alone sets in this sense ("<=" or ">="), if there is one."""
        limits = []
        for bound in self.bounds:
            if len(bound.sum.parts) != 1 or type(bound.sum.parts[0][1]).__name__ != kind:
                continue
            factor = bound.sum.parts[0][0]
            limit = (bound.limit - bound.sum.constant) / factor
            senses = {"=": ("<=", ">="), "<=": ("<=",), ">=": (">=",)}[bound.sense]
            if factor < 0:
                senses = tuple({"<=": ">=", ">=": "<="}[s] for s in senses)
            if sense in senses:
                limits.append(limit)
        if not limits:
            return None
        return min(limits) if sense == "<=" else max(limits)

    @property
    def max_depth(self) -> int | None:
        """The depth bound in whole levels, if there is one."""
        limit = self.bound_on("Depth", "<=")
        return None if limit is None else limit.numerator // limit.denominator


# -- trees over the tests of a problem ----------------------------------------------


@dataclass(frozen=True, slots=True)
class Leaf:
    """`label` is the class predicted; -1 where the leaf holds a number, which follows from its rows.

    Every leaf of an answer holds at least one row: a test that sends all rows one way splits nothing.
    """

    label: int = -1


@dataclass(frozen=True, slots=True)
class Split:
    test: int
    yes: Node
    no: Node


Node = Leaf | Split


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
    """What is known about the problem."""

    OPTIMAL = "optimal"  # the tree is best, and that is proved
    LOCAL = "local"  # no subtree in reach can be improved
    FEASIBLE = "feasible"  # a tree, not proved best
    INFEASIBLE = "infeasible"  # proved: there is none
    UNKNOWN = "unknown"  # neither a tree nor a proof


class Stop(Enum):
    """Why the search ended."""

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

    goals: frozenset[str]  # terms it can minimize, alone or added up
    bounds: frozenset[str]  # terms it can bound
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
