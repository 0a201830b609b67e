"""Problem -> an optimal tree, by TreeML's own C solver.

Every additive goal reaches the solver in integers: it is multiplied by the common denominator of its factors. Several
goals become one sum, in which an earlier goal weighs more than the later ones can ever differ. With two classes,
arbitrary costs, a price per leaf and ties broken by size are then a single signed weight per row, the case in which
the solver is fastest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.backends.contract import (
    NO_LIMITS,
    NO_OPTIONS,
    Answer,
    BackendBase,
    Capabilities,
    Carries,
    Limits,
    OnProgress,
    Option,
    Refusal,
    Reprice,
)
from treeml.backends.native.kernel_choice import COUPLED_KERNELS, choose_kernel, option_tables, prefer_numeric
from treeml.lang.diagnostic import Diagnostic, RefusedError
from treeml.native import loader
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

if TYPE_CHECKING:  # numpy costs start-up time
    import numpy as np
    from numpy.typing import NDArray

# Options of the C library that follow from the problem and the limits, so users cannot set them.
_SET_ELSEWHERE = frozenset(
    {"depth", "support", "leaves", "leaf_price", "upper", "enough", "milliseconds", "memory", "threads", "seed"}
    | {"lower", "fail_allocation", "poll_milliseconds", "microseconds", "cell", "kernel"}
)
GOAL_VALUES = frozenset({"upper", "enough"})  # options that are values of the goal: the units are the user's
_LEAST_MEMORY = 2**16  # bytes; as in treeml/native/common/options.h
_MOST_BITS = 2**31  # tests times rows, at most, for the binary kernel
HAND_OVER = "1: if memory ends a search with coupled requirements, the next back-end goes on from its tree and bound"
_KERNELS = ("auto", "binary", "numeric")
RISING = {"climb": 1 << 20, "improve": 0}  # options of the numeric kernel, for a search that is to raise its bound


class _Options(Mapping[str, Option]):
    """The option tables of the C library, read on first use, plus the choice of the kernel."""

    def _table(self) -> dict[str, Option]:
        return {} if loader.missing() is not None else _known_options()

    def __getitem__(self, name: str) -> Option:
        return self._table()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table())

    def __len__(self) -> int:
        return len(self._table())


@cache
def _known_options() -> dict[str, Option]:
    """The table, made once: it is asked for each option of each solve."""
    tables = option_tables()
    own = {
        name: Option(int, initial, text, low=low, high=high)
        for table in tables.values()
        for name, (low, high, initial, text) in table.items()
        if name not in _SET_ELSEWHERE
    }
    low, high, initial, text = tables["binary"]["kernel"]
    return {
        "hand_over": Option(int, 1, HAND_OVER, low=0, high=1),
        "kernel": Option(str, "auto", "binary: on tests; numeric: on columns as they are; auto: by size", _KERNELS),
        "instructions": Option(int, initial, text, low=low, high=high),
        "upper": Option(Fraction, None, "only trees whose goal is better than this are wanted", of_goal=True),
        "enough": Option(Fraction, None, "stop at the first tree whose goal is better than this", of_goal=True),
        **own,
    }


class NativeBackend(BackendBase):
    name: ClassVar[str] = "native"
    summary: ClassVar[str] = "branch and bound with a cache, in C; for additive goals, also with coupled requirements"
    can: ClassVar[Capabilities] = Capabilities(
        goals=frozenset({"Predicted", "Leaves", "TestCost", "DiscountedTestCost", "Loss", "Custom"}),
        bounds=frozenset(
            {"Depth", "Leaves", "Support", "Purity", "LeafErrors", "Predicted", "Used"}
            | {"TestCost", "DiscountedTestCost"}
        ),
        needs_depth=False,
        lexicographic=True,
        merges_rows=True,
        merges_tests=True,
        numeric=True,
        starts=True,
        reports=True,
        threads=True,
        keeps_memory=True,
        carries=Carries(sums=2**58, goals=2**58, shares=2**120),
        quick=True,
        shallow_search=True,
        variants=("kernel = binary", "kernel = numeric", "threads = 2"),
        aliases=("dl85", "murtree", "gosdt", "streed"),
    )
    options: ClassVar[Mapping[str, Option]] = _Options()

    @staticmethod
    def missing() -> str | None:
        return loader.missing()

    @staticmethod
    def version() -> str:
        from treeml.native import solver

        return str(solver.library().treeml_version().decode())

    def refusals(self, problem: Problem, options: Mapping[str, Any] = NO_OPTIONS) -> Iterator[Refusal]:
        # imported here: start-up time
        from treeml.backends.native.refusals import refusals

        yield from _kernel_refusals(problem, options)
        yield from refusals(problem)
        if problem.goals and problem.goals[0].sum.kinds() == {"Leaves"}:
            for name in sorted(GOAL_VALUES & set(options)):
                yield Refusal(
                    f"the option `{name}`",
                    f"native tries one leaf, two, and so on, so there is nothing that `{name}` could prune",
                    "write `require leaves <= N`",
                )

    def remark(self, problem: Problem, options: Mapping[str, Any]) -> str:
        """Which kernel runs and why; one sentence per stage of the plan, if they differ."""
        # imported here: start-up time
        from treeml.backends.planning.plan import lowered_stages

        said = (choose_kernel(stage.problem, options)[1] for stage in lowered_stages(problem, self.can))
        return "; then ".join(dict.fromkeys(said))

    def repricing(self, problem: Problem, limits: Limits, rows: NDArray[np.intp]) -> Reprice | None:
        # imported here: start-up time
        from treeml.backends.native.repricing import repricing

        return repricing(problem, limits, rows)

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        # imported here: start-up time
        from treeml.backends.native.easier import with_easier
        from treeml.backends.native.easier_searches import search_of

        if limits.for_bound and not limits.options and choose_kernel(problem, NO_OPTIONS)[0] == "numeric":
            limits = replace(limits, options=RISING)
        search = search_of(problem, limits)
        if search is None:
            return self._solve(problem, limits, start, on_progress)
        return with_easier(problem, limits, start, on_progress, self._solve, self.bounding, search)

    def _solve(self, problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        """The problem's own search."""
        # imported here: start-up time
        from treeml.backends.native.coupled.requirements import is_coupled, without_idle
        from treeml.backends.native.coupled.solve import solve_coupled
        from treeml.backends.native.run import NativeRun
        from treeml.backends.native.then_leaves import is_real_then_leaves, solve_then_leaves

        try:
            kernel, _ = choose_kernel(problem, limits.options)
        except ValueError as error:
            raise RefusedError(
                Diagnostic("B501", "native cannot combine these options with this problem", notes=(str(error),))
            ) from error
        began = monotonic()
        if limits.memory is not None and limits.memory < _LEAST_MEMORY:
            return NativeRun(problem, limits, start, on_progress, began, kernel).without_memory()
        if kernel in COUPLED_KERNELS:
            on_columns = kernel == COUPLED_KERNELS[1] and prefer_numeric(problem)[0]
            plain = without_idle(problem)
            return solve_coupled(plain, limits, start, on_progress, self.solve, self.bounding, kernel, on_columns)
        if is_coupled(problem):
            problem = without_idle(problem)
        if is_real_then_leaves(problem):
            return solve_then_leaves(problem, limits, start, on_progress, self.solve)
        run = NativeRun(problem, limits, start, on_progress, began, kernel)
        try:
            return run.answer()
        except MemoryError:
            return run.without_memory()

    def bounding(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        """The same, but a search that takes long spends its time on its bound rather than on better trees."""
        return self.solve(problem, replace(limits, options=NO_OPTIONS, for_bound=True), start, on_progress)


def _kernel_refusals(problem: Problem, options: Mapping[str, Any]) -> Iterator[Refusal]:
    try:
        kernel, reason = choose_kernel(problem, options)
    except ValueError as error:
        yield Refusal("the kernel asked for", str(error))
        return
    if kernel in COUPLED_KERNELS:
        for name in sorted(GOAL_VALUES & set(options)):
            because = f"with requirements that couple the leaves, native has no use for `{name}`"
            yield Refusal(f"the option `{name}`", because, "bound the measure by a requirement instead")
    size = len(problem.tests) * problem.rows
    if not kernel.endswith("numeric") and problem.given_bits is None and size > _MOST_BITS:
        yield Refusal(
            f"{len(problem.tests):,} tests on {problem.rows:,} rows",
            f"{reason}, and their answers do not fit in memory",
            "take fewer cuts: `binarize all by quantiles(16)`",
        )
