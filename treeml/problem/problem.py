"""A problem: features, yes-or-no tests on them, goals and bounds. This is all that a back-end sees.

A back-end never sees text, column names as such, or floats. It sees features as small whole numbers, the yes-or-no
tests on them as bits, and goals and bounds that are exact linear combinations of a few terms. Every classification
measure is one matrix of row x class costs (`Predicted`), so a measure added to the language reaches every back-end.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from treeml.problem.terms import Sum

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]

Fact = TypeVar("Fact")
Rest = ParamSpec("Rest")


@dataclass(frozen=True, slots=True)
class Goal:
    """Minimize `sum`. `negated` says that the user maximizes: the user's value is then minus the sum."""

    sum: Sum
    negated: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Bound:
    """A requirement: the sum is at most, at least or exactly the limit."""

    sum: Sum
    sense: str  # "<=", ">=" or "="
    limit: Fraction
    name: str = ""  # as the user wrote it, for explanations; several bounds of one requirement share its name

    def holds(self, value: Fraction | None) -> bool:
        """Does a tree with this value of the sum meet it? None, a quotient by zero, does."""
        if value is None:
            return True
        match self.sense:
            case "<=":
                return value <= self.limit
            case ">=":
                return value >= self.limit
        return value == self.limit


@dataclass(frozen=True, eq=False, slots=True)
class Feature:
    """A column as back-ends see it: for every row the number of its bin or level, -1 if it is missing.

    kind `ordered`: the tests are codes <= j for j = 0 .. levels - 2 (if values are missing and the column
    keeps them separate, each of these twice, with the missing rows on the no side and on the yes side, and one test
    that only missing rows pass). kind `levels`: codes == j. kind `subsets`: codes in any proper subset of the levels.
    kind `binary`: a single test, codes == 1. kind `branches`: codes == j, and a node splits by all of them at once
    (`treeml.problem.fans`).
    """

    name: str
    kind: str  # binary, ordered, levels, subsets or branches
    levels: int
    codes: NDArray[np.signedinteger[Any]] | None  # None for a binary feature whose bits are given
    first_test: int  # its tests are first_test .. first_test + tests - 1
    tests: int
    has_missing: bool = False

    @property
    def possible_codes(self) -> range:
        """Every code that an input can have, also one that no row has; -1 is missing."""
        return range(-1 if self.has_missing else 0, 2 if self.kind == "binary" else self.levels)


@dataclass(frozen=True, slots=True)
class Test:
    """One yes-or-no question on a feature; a row for which the answer is yes goes to the yes side."""

    feature: int
    kind: str  # "true", "at most", "level", "among", "branch" or "missing"
    values: tuple[int, ...] = ()  # the bin of "at most", the level, or the levels
    missing_yes: bool = False  # rows where the feature is missing answer yes

    def answers_yes(self, code: int) -> bool:
        """The answer for a row with this code of the feature; -1 is missing."""
        if code == -1:
            return self.kind == "missing" or self.missing_yes
        if self.kind == "at most":
            return code <= self.values[0]
        if self.kind == "true":
            return code == 1
        return code in self.values


@dataclass(frozen=True, eq=False)
class Problem:
    """All that a back-end sees."""

    features: tuple[Feature, ...]
    tests: tuple[Test, ...]
    count: Whole  # how many of the user's rows each row stands for
    classes: int  # 0 if the leaves hold numbers
    goals: tuple[Goal, ...]  # the first decides, later ones break ties; without goals, any tree that meets the bounds
    bounds: tuple[Bound, ...]
    given_bits: Bits | None = field(default=None, repr=False)

    @property
    def rows(self) -> int:
        return len(self.count)

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets: the problem and its bits, without the facts that `once` keeps with it."""
        kept = {*(each.name for each in fields(self)), "bits"}
        return {name: value for name, value in vars(self).items() if name in kept}

    def asking(self, goals: tuple[Goal, ...], bounds: tuple[Bound, ...], classes: int | None = None) -> Problem:
        """The same rows and tests with other goals, bounds and maybe labels; bits are kept if they were computed."""
        other = replace(self, goals=goals, bounds=bounds, classes=self.classes if classes is None else classes)
        vars(other)["facts_about_tests"] = self.facts_about_tests
        if "bits" in vars(self):
            vars(other)["bits"] = self.bits
        return other

    @cached_property
    def facts_about_tests(self) -> dict[Hashable, Any]:
        """What was found out about the tests; problems that ask for something else about them share it."""
        return {}

    @cached_property
    def bits(self) -> Bits:
        """tests x rows: does the row answer yes? Computed at first use."""
        if self.given_bits is not None:
            return self.given_bits
        from treeml.problem.answers import answer_bits  # imported here: start-up time

        return answer_bits(self)

    @property
    def feature_of_test(self) -> NDArray[np.int32]:
        """For every test the number of its feature."""
        import numpy as np  # imported here: start-up time

        tests = [feature.tests for feature in self.features]
        return np.repeat(np.arange(len(tests), dtype=np.int32), tests)

    def bound_on(self, kind: str, sense: str) -> Fraction | None:
        """The tightest limit in this sense ("<=" or ">=") that a bound on one such term alone sets, if there is one."""
        limits = []
        for bound in self.bounds:
            if len(bound.sum.parts) != 1 or type(bound.sum.parts[0][1]).__name__ != kind:
                continue
            factor = bound.sum.parts[0][0]
            limit = bound.limit - bound.sum.constant if bound.sum.constant else bound.limit
            if factor != 1:
                limit /= factor
            senses = {"=": ("<=", ">="), "<=": ("<=",), ">=": (">=",)}[bound.sense]
            if factor < 0:
                senses = tuple({"<=": ">=", ">=": "<="}[s] for s in senses)
            if sense in senses:
                limits.append(limit)
        if not limits:
            return None
        return min(limits) if sense == "<=" else max(limits)

    @cached_property
    def max_depth(self) -> int | None:
        """The depth bound in whole levels, if there is one."""
        limit = self.bound_on("Depth", "<=")
        return None if limit is None else limit.numerator // limit.denominator


def once(function: Callable[Concatenate[Problem, Rest], Fact]) -> Callable[Concatenate[Problem, Rest], Fact]:
    """Computes a fact about a problem once; it is kept with the problem, which never changes."""
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def kept(problem: Problem, /, *rest: Rest.args, **named: Rest.kwargs) -> Fact:
        facts: dict[Any, Fact] = vars(problem)
        key = (name, rest, *named.items()) if rest or named else name
        if key not in facts:
            facts[key] = function(problem, *rest, **named)
        return facts[key]

    return kept
