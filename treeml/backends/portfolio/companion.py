"""The best tree and bound of an exact search with company, and the thread that improves the tree.

A tree of the companion is an incumbent and no more: it is evaluated and checked against every requirement here before
it counts. A bound comes from the exact search alone, with its evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from threading import Event, Lock, Thread, current_thread
from time import monotonic, thread_time

from treeml.backends.claims import Evidence, Proof
from treeml.backends.contract import Answer, Deadline, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.equal_sides import without_equal_sides
from treeml.backends.least_values import proved_by_least_values
from treeml.backends.planning.plan import Plan
from treeml.backends.portfolio.courtesy import Courtesy
from treeml.backends.run import bounded_goal
from treeml.lang.diagnostic import BackendError, Diagnostic
from treeml.problem.evaluate import Routed, evaluate_sum, meets
from treeml.problem.fans import has_whole_fans
from treeml.problem.problem import Problem
from treeml.problem.tree import Node, Split

HEAD_START = 0.2  # processor seconds that the exact search has for itself
PATIENCE = 1.0  # seconds after which it has company even if the processor was busy with other work
SHARE_OF_LIMIT = 0.05  # of a time limit: the head start is no longer
SHORT = 10.0  # seconds: with a limit up to this, a timer starts the companion, for the search seldom looks around
RESCUE = 0.4  # seconds after the time limit for a first tree
MOMENT = 0.3  # seconds: a run that is over by then had no time for a tree worth the name
ENDING = (
    0.4  # the most seconds to wait for the companion at the end; both together are less than a limit may be exceeded
)
LOOK = 0.05  # seconds between two looks of a thread that waits for the companion
NOTE = "the tree was found by replacing parts of trees while the exact search ran"
NOTE_ON_FIRST = "the run was stopped before its search had found a tree: this one was grown in a moment"

Work = Callable[["Companion"], None]


class Companion:
    """The best tree and bound of a run with company, and the thread that improves the tree."""

    def __init__(
        self, problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None, work: Work
    ) -> None:
        self.problem, self.limits, self.start, self.on_progress = problem, limits, start, on_progress
        self.began, self.worked = monotonic(), thread_time()
        self.tree: Node | None = None  # the best of the companion
        self.heard: Node | None = None  # the last tree that the exact search shared
        self.value: tuple[Fraction, ...] | None = None
        self.reached: tuple[Fraction, ...] | None = None  # the best value of both
        self.bound: Fraction | None = None
        self.proof: Proof = ()
        self.least: tuple[Fraction, Proof] | None = None  # a bound on the first goal that the companion found
        self.trace: list[Progress] = []
        self.is_stopped = False  # by the caller's on_progress
        self.has_bounds = True  # does the exact search look for bounds that no quick search of an easier problem has?
        self.had_no_time = False  # was the run over before any search could be expected to have a good tree?
        self.failure: BaseException | None = None
        self.is_enough: Callable[[], bool] = lambda: False  # is any tree with a split enough by now?
        self.note = NOTE  # on where its tree comes from
        self.over = Event()
        self.interrupts: list[Callable[[], None]] = []  # what ends a part of the companion's work at once
        self._work = work
        self._lock = Lock()
        self._thread: Thread | None = None
        self._courtesy: Courtesy | None = None  # of the companion's thread, while it works
        self.head_start = min(HEAD_START, SHARE_OF_LIMIT * limits.deadline.left())

    @property
    def is_urgent(self) -> bool:
        """Is the time so short that the companion should not wait until the search looks around?"""
        return self.limits.deadline.left() <= SHORT

    def begin(self) -> None:
        self._thread = Thread(target=self._run, name="treeml companion", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        left = self.head_start - (monotonic() - self.began)
        if left > 0 and self.over.wait(left):
            return
        self._courtesy = Courtesy()
        try:
            self._work(self)
        except BaseException as error:  # reported by the thread that waits for the answer
            self.failure = error

    def look(self) -> bool:
        """Called by the exact search now and then: starts the companion when it is time; should the search end?"""
        if self._thread is None and self._has_worked():
            self.begin()
        if self.limits.is_over is not None and self.limits.is_over():
            return True
        return self.is_stopped or self.is_met() or isinstance(self.failure, KeyboardInterrupt)

    def _has_worked(self) -> bool:
        elapsed = monotonic() - self.began
        return elapsed > HEAD_START and (elapsed > PATIENCE or thread_time() - self.worked > HEAD_START)

    def is_over(self) -> bool:
        """Asked by the companion: is its work over? It pauses here if the exact search needs the processor."""
        if self._courtesy is not None and self.reached is not None and current_thread() is self._thread:
            self._courtesy.give_way(self.over)
        if self.over.is_set() or self.is_stopped or self.is_enough():
            return True
        return self.is_met() or self.limits.deadline.passed

    def is_met(self) -> bool:
        """Is the companion's tree all that is asked for: without a goal any, else one whose value is the bound?"""
        if self.value is None or not self.problem.goals:
            return self.value is not None
        return self.bound is not None and self.value[0] <= self.bound

    def listen(self, tree: Node) -> None:
        """A better tree of the exact search, to go on from."""
        self.heard = tree

    def hear(self, moment: Progress) -> bool:
        """A report of the exact search; False ends it."""
        if len(self.problem.goals) != 1:  # a report does not say which of several goals it refers to
            return self._told(moment) and not self.look()
        with self._lock:
            better = False
            if moment.bound is not None and (self.bound is None or moment.bound > self.bound):
                self.bound, self.proof, better = moment.bound, moment.evidence, True
            if moment.objective is not None and (self.reached is None or moment.objective < self.reached):
                self.reached, better = moment.objective, True
                if self._courtesy is not None:
                    self._courtesy.search_succeeded()
        told = (
            self._tell(moment.tree) if better else self._told(replace(moment, objective=None, bound=None, evidence=()))
        )
        return told and not self.look()

    def bounded(self, bound: Fraction, proof: Proof) -> None:
        """A bound on the first goal from a search of the companion: of an easier problem, with its own proof."""
        if self.least is None or bound > self.least[0]:
            self.least = bound, proof
            if len(self.problem.goals) == 1:
                self.hear(Progress(monotonic() - self.began, bound=bound, evidence=proof))

    def offer(self, tree: Node) -> bool:
        """A tree of the companion: kept if it meets every requirement and is better than all before."""
        routed = Routed(self.problem, tree)
        if any(not len(rows) for _, _, rows in routed.leaves) or not has_whole_fans(self.problem, tree):
            return False
        value = tuple(evaluate_sum(goal.sum, self.problem, tree, routed) for goal in self.problem.goals)
        if self.value is not None and value >= self.value:
            return False
        if not all(meets(bound, self.problem, tree, routed) for bound in self.problem.bounds):
            return False
        with self._lock:
            self.tree, self.value = tree, value
            is_first = self.reached is None
            better = self.reached is None or value < self.reached
            if better:
                self.reached = value
        if better:
            if self._courtesy is not None and not is_first:
                self._courtesy.succeeded()
            self._tell(tree)
        return True

    def _tell(self, tree: Node | None) -> bool:
        moment = Progress(monotonic() - self.began, self.reached, self.bound, tree, evidence=self.proof)
        self.trace.append(moment)
        return self._told(moment)

    def _told(self, moment: Progress) -> bool:
        with self._lock:  # one report at a time, from either thread
            if self.on_progress is not None and self.on_progress(moment) is False:
                self.is_stopped = True
        return not self.is_stopped

    def go_on(self, unhurried: float = 0.0) -> None:
        """The exact search ended early: the companion has the rest of the time, or `unhurried` if there is no limit."""
        is_limited = self.limits.deadline.at < float("inf")
        until = self.limits.deadline if is_limited else Deadline.after(unhurried)
        if self._thread is None and unhurried:
            self.begin()
        try:
            while self._thread is not None and self._thread.is_alive() and not until.passed and not self.look():
                self._thread.join(min(LOOK, until.left()))
        except KeyboardInterrupt:
            self.is_stopped = True

    def end(self) -> None:
        self.had_no_time = self._thread is not None and monotonic() - self.began < MOMENT
        self.over.set()
        for interrupt in self.interrupts:
            interrupt()
        if self._thread is not None:
            self._thread.join(ENDING)
        if self.failure is not None and not isinstance(self.failure, MemoryError):
            raise self.failure

    def first_tree(self) -> None:
        """Looks for a tree with a split in the moment that a time limit leaves for ending, unless there was time."""
        if isinstance(self.tree, Split) and not self.had_no_time:
            return
        before = self.tree
        try:
            if self._thread is not None:
                self._thread.join(ENDING)  # it may be about to find one
            if not isinstance(self.tree, Split) or self.had_no_time:
                self._search_again()
        finally:
            self.note = self.note if self.tree is before else NOTE_ON_FIRST

    def _search_again(self) -> None:
        self.limits = replace(self.limits, options={}, deadline=Deadline.after(RESCUE))
        soon = Deadline.after(RESCUE / 2)  # small tables have a better tree than the very first by then
        self.is_enough = lambda: isinstance(self.tree, Split) and soon.passed
        self.over.clear()
        self._work(self)
        self.over.set()

    def joined(self, answer: Answer, plan: Plan) -> Answer:
        """The better of the two results, with the bound of the exact search."""
        if answer.status in (Status.OPTIMAL, Status.INFEASIBLE):
            self._object(answer, plan)
            return answer
        if self.trace:
            answer = replace(answer, trace=tuple(self.trace))
        answer = self._with_own_bound(answer, plan)
        if self.value is None or (answer.objective is not None and answer.objective <= self.value):
            return answer if answer.tree is None else self._proved(answer)
        number, bound = bounded_goal(answer), answer.bound
        if bound is not None:  # goals before that of the bound are proved
            proved = (answer.objective or ())[:number]
            if self.value[:number] < proved or bound > self.value[number] + answer.tolerance:
                raise _contradiction(plan, f"its bound is {bound}, and a tree with {self.value[number]} was found")
            bound = min(bound, self.value[number])
        better = replace(
            answer,
            status=Status.FEASIBLE,
            tree=self.tree,
            objective=self.value,
            bound=bound,
            bounded_goal=None if bound is None else number,
            notes=(*answer.notes, self.note),
        )
        return without_equal_sides(self.problem, self._proved(better))

    def _with_own_bound(self, answer: Answer, plan: Plan) -> Answer:
        """The answer with the companion's bound on the first goal, if that is better than its own."""
        if self.least is None or not self.problem.goals:
            return answer
        bound, proof = self.least
        reached = min((value[0] for value in (answer.objective, self.value) if value), default=None)
        if reached is not None and bound > reached + answer.tolerance:
            raise _contradiction(plan, f"no tree is below {bound}, and a tree with {reached} was found")
        if answer.bound is not None and (bounded_goal(answer) != 0 or answer.bound >= bound):
            return answer
        bounded = None if answer.tree is None and answer.bound is None else 0
        return replace(answer, bound=bound, bounded_goal=bounded, evidence=proof)

    def _proved(self, answer: Answer) -> Answer:
        """The answer as a proof if no value of its tree can be less."""
        if not self.problem.goals:
            return replace(answer, status=Status.OPTIMAL, stop=Stop.PROVED, evidence=(Evidence("no goal"),))
        is_met = answer.bound is not None and answer.objective == (answer.bound,)
        if is_met or len(self.problem.goals) > 1:
            proved = proved_by_least_values(self.problem, answer)
            if proved.status is Status.OPTIMAL:
                return proved
        return replace(answer, stop=Stop.INTERRUPTED if self.is_stopped else answer.stop)

    def _object(self, answer: Answer, plan: Plan) -> None:
        """Raises an error if the proof disagrees with a tree of the companion."""
        if self.value is None:
            return
        if answer.status is Status.INFEASIBLE:
            raise _contradiction(plan, "it says infeasible, and a tree that meets every requirement was found")
        reached = answer.objective or ()
        is_better = self.value < reached if not answer.tolerance else self.value[0] < reached[0] - answer.tolerance
        if reached and is_better:
            raise _contradiction(plan, f"it says optimal with {reached[0]}, and a tree with {self.value[0]} was found")


def _contradiction(plan: Plan, reason: str) -> BackendError:
    return BackendError(Diagnostic("B514", f"the answer of {plan.backend.name} does not hold", notes=(reason,)))
