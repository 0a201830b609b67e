"""Instance -> its parameters, and a prediction of how far a fixed-parameter search gets with them."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, log2, log10

from treeml.backends.contract import Deadline
from treeml.backends.parameterized.instance import Instance
from treeml.backends.parameterized.support import greedy_support, least_support, smallest_support

MOST_STEPS = 10**7  # about a minute
MOST_TESTS = 64


class _Late(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of Table 1 of Ordyniak and Szeider (2021), without the class, which they count as a feature."""

    rows: int
    columns: int
    largest_domain: int
    largest_difference: int
    support: tuple[int, ...]  # columns
    is_smallest: bool
    least_support: int

    def feature_sets(self, tests: int) -> float:
        """Roughly how many sets of columns a search for this many tests tries: the smaller of two bounds."""
        every = sum(comb(self.columns, size) for size in range(min(tests, self.columns) + 1))
        branching = float(max(1, self.largest_difference)) ** min(tests, 300)
        return min(float(every), branching)

    def steps(self, tests: int) -> float:
        """Roughly how many sets of rows are examined: sets of columns, times columns and bisections for every test."""
        used = max(1, min(tests, self.columns))
        halvings = max(1.0, log2(max(2, self.largest_domain)))
        by_sets = self.feature_sets(tests) * (used * halvings) ** min(tests, 100)
        at_once = (max(1, self.columns) * halvings) ** min(tests, 100)
        return min(by_sets, at_once)

    def reach(self) -> int:
        """The largest number of tests for which the search is expected to finish soon."""
        return max(tests for tests in range(MOST_TESTS) if tests == 0 or self.steps(tests) <= MOST_STEPS)

    def prediction(self, greedy_tests: int | None) -> str:
        """Whether `parameterized` will finish, judged by the tests needed at least and by those of a greedy tree."""
        least, reach = self.least_support, self.reach()
        if least > reach:
            return f"will not finish: at least {least} tests are needed, and {reach} are within reach"
        if greedy_tests is not None and greedy_tests <= reach:
            return f"will finish: a greedy tree has {greedy_tests} tests, and {reach} are within reach"
        known = "" if greedy_tests is None else f"; a greedy tree has {greedy_tests}"
        return f"finishes if the smallest tree has at most {reach} tests, and it has at least {least}{known}"

    def power(self, tests: int) -> str:
        return f"10^{log10(max(1.0, self.steps(tests))):.1f}"


def measure(instance: Instance, deadline: Deadline) -> Parameters:
    """The parameters; if the smallest support set is not found by the deadline, a minimal one takes its place."""

    def tick() -> None:
        if deadline.passed:
            raise _Late

    try:
        support, is_smallest = smallest_support(instance, tick), True
    except _Late:
        support, is_smallest = greedy_support(instance), False
    least = len(support) if is_smallest else least_support(instance)
    return Parameters(
        instance.rows, instance.columns, instance.largest_domain, instance.largest_difference(),
        tuple(sorted(support)), is_smallest, least,
    )  # fmt: skip
