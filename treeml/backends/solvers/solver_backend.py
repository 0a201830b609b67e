"""Problem -> Answer: the procedure that all back-ends on general solvers share.

A problem becomes an IntegerTask; the back-end chooses an encoding for it (`choose_encoding`) and runs a search, which
returns a Stop (`run`). Refusals, running out of time or memory, Ctrl-C, refinement of rounded losses, and the
explanation of a conflict are the same for all of them, and are handled here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.backends.contract import (
    NO_LIMITS,
    NO_OPTIONS,
    Answer,
    BackendBase,
    Limits,
    OnProgress,
    Option,
    Refusal,
    Status,
    Stop,
)
from treeml.backends.infeasibility import explained
from treeml.backends.task.deadline import OutOfTime
from treeml.backends.task.integer_task import IntegerTask
from treeml.backends.task.read_problem import only_costs, read_problem
from treeml.backends.task.unsupported import Unsupported
from treeml.lang.diagnostic import Diagnostic, RefusedError
from treeml.problem.precision import narrowed, smallest_difference
from treeml.problem.problem import Problem
from treeml.problem.shapes import leaves_without_answers
from treeml.problem.tree import Leaf, Node
from treeml.system.interrupt import noting

if TYPE_CHECKING:
    from treeml.backends.solvers.engines.running import RunLimits
    from treeml.backends.solvers.solve_state import SolveState

GOALS = frozenset(["Predicted", "Leaves", "Depth", "TestCost", "Used", "Largest"])
BOUNDS = GOALS | {"Support", "Purity", "LeafErrors", "Monotone", "Ratio"}
EXPLAIN = Option(bool, True, "name the conflicting requirements if there is no tree")
PRESOLVE = Option(
    bool, True, "bound and reduce a cover by an exact relaxation first; false: the solver gets and proves everything"
)
FEW_STEPS = 10**6  # of a squared loss, for solvers with floats that cannot handle more


@dataclass(frozen=True, slots=True)
class EncodingChoice:
    """The encoding that a problem gets, and why."""

    encoding: str
    because: str


class SolverBackend(BackendBase):
    module: ClassVar[str]  # the module to import,
    package: ClassVar[str]  # the name of its package,
    install: ClassVar[str]  # and how to install it
    word: ClassVar[str] = "encoding"  # the back-end's own word for an encoding

    @classmethod
    def missing(cls) -> str | None:
        """None if the module is installed, otherwise how to install it; nothing is imported."""
        from importlib.util import find_spec

        return None if find_spec(cls.module) is not None else cls.install

    @classmethod
    def version(cls) -> str:
        from importlib.metadata import PackageNotFoundError, version

        try:
            return f"{cls.package} {version(cls.package)}"
        except PackageNotFoundError:
            return f"{cls.package} is not installed"

    @abstractmethod
    def choose_encoding(self, problem: Problem, task: IntegerTask, options: Mapping[str, Any]) -> EncodingChoice:
        """The encoding given by the options, or the best by estimated size; raises Unsupported if none works."""

    @abstractmethod
    def run(self, search: SolveState, encoding: str, start: Node | None) -> Stop:
        """Runs the search; PROVED without a tree means that there is none."""

    def memory_note(self, options: Mapping[str, Any]) -> str:
        """How the limit on memory is enforced, for the notes of the answer."""
        return "the memory of the process is checked ten times a second, and the search is stopped beyond the limit"

    def refusals(self, problem: Problem, options: Mapping[str, Any] = NO_OPTIONS) -> Iterator[Refusal]:
        try:
            self.choose_encoding(problem, read_problem(problem), options)
        except Unsupported as unsupported:
            yield replace(unsupported.refusal, because=f"{self.name} cannot take {unsupported}")

    def remark(self, problem: Problem, options: Mapping[str, Any]) -> str:
        """Which encoding is used and why; one sentence per stage of the plan, if they differ."""
        # imported here: start-up time
        from treeml.backends.planning.capabilities import needs_deepening, needs_growing
        from treeml.backends.planning.plan import lowered_stages

        deepens = any(needs_deepening(goal, self.can) or needs_growing(goal, self.can) for goal in problem.goals)
        said = []
        for stage in lowered_stages(problem, self.can):
            choice = self.choose_encoding(stage.problem, read_problem(stage.problem), options)
            said.append(f"{self.word} {choice.encoding}: {choice.because}")
        return ("at depth 1: " if deepens else "") + "; then ".join(dict.fromkeys(said))

    def encoding_note(self, encoding: str) -> str:
        """Which of its models the back-end has built, for the notes of the answer."""
        return f"{self.name} solved the model that its documentation calls `{encoding}` ({self.word} = {encoding})"

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        # imported here: start-up time
        from treeml.backends.solvers.solve_state import SolveState

        began = monotonic()

        def once(task: IntegerTask, begin: Node | None) -> Answer:
            choice = self.choose_encoding(problem, task, limits.options)
            search = SolveState(problem, task, limits, on_progress, began)
            search.notes.append(self.encoding_note(choice.encoding))
            if limits.memory is not None:
                search.notes.append(f"memory: {self.memory_note(limits.options)}")
            return search.answer(self._run(search, choice.encoding, begin))

        try:
            answer = once(read_problem(problem), start)
        except Unsupported as unsupported:
            raise refuse(self.name, unsupported) from unsupported
        return explained(self, problem, limits, refined(problem, limits, answer, once))

    def _run(self, search: SolveState, encoding: str, start: Node | None) -> Stop:
        try:
            with noting(search.stop):
                return self.run(search, encoding, start)
        except KeyboardInterrupt:
            return Stop.INTERRUPTED
        except OutOfTime:
            search.notes.append("the time was over before the model was built")
            for label in range(max(1, search.problem.classes)) if search.tree is None else ():
                search.offer(Leaf(label if search.problem.classes else -1))
            return Stop.TIME
        except MemoryError:
            search.notes.append("the model does not fit in memory")
            return Stop.MEMORY


def refined(
    problem: Problem, limits: Limits, answer: Answer, once: Callable[[IntegerTask, Node | None], Answer]
) -> Answer:
    """Repeats the search with finer rounding until the tolerance is 0 or small relative to the value."""
    steps: Fraction | None = None
    while answer.status is Status.OPTIMAL and answer.tolerance and answer.objective:
        goal, value = problem.goals[0], answer.objective[0]
        worth = value - goal.sum.constant
        if (not worth and only_costs(goal.sum)) or answer.tolerance < smallest_difference(
            goal.sum, leaves_without_answers(problem)
        ):
            return replace(answer, tolerance=Fraction(0), bound=value)
        if (steps is not None and worth * 2 > steps) or limits.deadline.left() <= 0:
            break
        steps = worth
        smaller = narrowed(goal.sum, value)
        closer = problem if smaller is None else replace(problem, goals=(replace(goal, sum=smaller),))
        try:
            again = once(read_problem(closer, value), answer.tree)
        except Unsupported:
            try:
                again = once(read_problem(closer, value, FEW_STEPS), answer.tree)
            except Unsupported:
                break
        if again.status is not Status.OPTIMAL:
            break
        answer = replace(again, trace=(*answer.trace, *again.trace))
    return answer


def refuse(name: str, unsupported: Unsupported) -> RefusedError:
    """The error for options that this problem does not allow."""
    instead = unsupported.refusal.instead
    return RefusedError(Diagnostic("B501", f"{name} cannot take {unsupported}", helps=(instead,) if instead else ()))


def run_limits_of(limits: Limits, work: float | None = None) -> RunLimits:
    """The limits in the form that engines take; `work` is in the solver's own unit, with 0 and None for no limit."""
    # imported here: start-up time
    from treeml.backends.solvers.engines.running import RunLimits
    from treeml.system.memory import resident

    most = None if limits.memory is None else resident() + limits.memory
    return RunLimits(limits.deadline, limits.threads, limits.seed, work or None, most)
