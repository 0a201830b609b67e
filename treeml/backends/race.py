"""race(a, b): several back-ends run at once, each in its own process; the first proof wins and the others are stopped.

Every tree that a member reports is checked here and the best is kept, so a race that runs out of time returns the best
incumbent of all members. If a member crashes or fails, the race adds a note and goes on without it.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from time import monotonic, time
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.backends import registry
from treeml.backends.claims import BOUND, Contradiction, Evidence, Proof, supporting
from treeml.backends.contract import (
    NO_LIMITS,
    NO_OPTIONS,
    Answer,
    Backend,
    BackendBase,
    Capabilities,
    Deadline,
    Limits,
    OnProgress,
    Option,
    Progress,
    Refusal,
    Status,
    Stop,
)
from treeml.problem.evaluate import Routed, evaluate_sum, meets
from treeml.problem.problem import Problem
from treeml.problem.terms import EVERY_TERM
from treeml.problem.tree import Node, Split
from treeml.system.interrupt import listening

if TYPE_CHECKING:
    from treeml.system.child import Child, Send

TASK = "treeml.backends.race:member"
POLL = 0.1  # seconds between two checks of the clock
GRACE = 0.5  # seconds after the deadline in which members may still return what they have,
SHARE_OF_GRACE = 0.1  # or this share of the time that they had, if that is less


class RaceBackend(BackendBase):
    name: ClassVar[str] = "race"
    summary: ClassVar[str] = "several back-ends at once; the first proof wins"
    can: ClassVar[Capabilities] = Capabilities(
        goals=EVERY_TERM,
        bounds=EVERY_TERM,
        sums=True,
        needs_depth=False,
        lexicographic=True,
        minimizes_depth=True,
        merges_rows=True,
        merges_tests=True,
        starts=True,
        reports=True,
        threads=True,
        repeats=False,
        keeps_memory=True,
        carries=None,
        automatic=False,
        runs_others=True,
    )
    options: ClassVar[Mapping[str, Option]] = {
        "backends": Option(tuple, (), "the members: race(native, cpsat); by default all that can solve the problem")
    }

    def refusals(self, problem: Problem, options: Mapping[str, Any] = NO_OPTIONS) -> Iterator[Refusal]:
        able, refused = _members(problem, options)
        if not able:
            yield from refused
        elif _payload((problem.goals, problem.bounds)) is None:
            yield Refusal(
                "a function as a leaf cost",
                "race copies the problem to other processes, and this function cannot be copied",
                f"define it in a module, or solve with {able[0].backend.name}",
            )

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        able, _ = _members(problem, limits.options)
        if not able:
            raise ValueError("no back-end of this race takes the problem")
        return _Running(problem, able, limits, start, on_progress).answer()


@dataclass(frozen=True, slots=True, eq=False)
class _Member:
    backend: Backend
    options: Mapping[str, Any] = field(default_factory=dict)


def _members(problem: Problem, options: Mapping[str, Any]) -> tuple[list[_Member], list[Refusal]]:
    """The members that can solve the problem, and why the others cannot."""
    from treeml.backends.planning.plan import Plan, plans  # imported here: start-up time

    given = options.get("backends") or ()
    if given:
        named = [(each, {}) if isinstance(each, str) else (each.name, dict(each.options)) for each in given]
    else:
        known = registry.names()
        named = [(name, {}) for name in registry.PREFERENCE if name in known]
    able: list[_Member] = []
    refused: list[Refusal] = []
    for backend, own, outcome in plans(problem, [(registry.get(name), own) for name, own in named]):
        if isinstance(outcome, Plan):
            able.append(_Member(backend, own))
        else:
            refused += outcome
    return able, refused


def _payload(value: Any) -> bytes | None:
    try:
        return pickle.dumps(value)
    except Exception:  # a user's object may raise anything when it is pickled
        return None


class _Running:
    """One race: its processes, and the best tree and bound so far."""

    def __init__(
        self,
        problem: Problem,
        members: Sequence[_Member],
        limits: Limits,
        start: Node | None,
        on_progress: OnProgress | None,
    ) -> None:
        self.problem, self.members, self.limits = problem, members, limits
        self.start, self.on_progress = start, on_progress
        self.begun = monotonic()
        self.end = limits.deadline.at + min(GRACE, SHARE_OF_GRACE * limits.deadline.left())
        self.arrived = threading.Event()  # set when a member has sent something
        self.tree: Node | None = None
        self.value: tuple[Fraction, ...] | None = None
        self.bound: Fraction | None = None  # the best reported so far
        self.evidence: Proof = ()  # supports the bound
        self.trace: list[Progress] = []
        self.notes: list[str] = []
        self.answers: list[Answer] = []
        self.heard: list[Child] = []  # members that have sent their answer or failed
        self.is_stopped = False  # by the caller's on_progress

    def answer(self) -> Answer:
        children: list[tuple[str, Child]] = []
        with listening() as is_pressed:
            try:
                self.offer(self.start)
                self.begin(children)
                return self.watch(children, is_pressed)
            finally:
                for _, child in children:
                    child.close()

    def begin(self, children: list[tuple[str, Child]]) -> None:
        # imported here: start-up time
        from treeml.system.child import Child

        threads = max(1, self.limits.threads // len(self.members))
        memory = None if self.limits.memory is None else self.limits.memory // len(self.members)
        for number, member in enumerate(self.members):
            if self.limits.deadline.passed:
                late = ", ".join(each.backend.name for each in self.members[number:])
                self.notes.append(f"the time was over before these were started: {late}")
                return
            limits = replace(self.limits, threads=threads, memory=memory, options=member.options, deadline=Deadline())
            # Starting a process takes time, which counts: the member gets the time of day at which it has to end.
            end = time() + self.limits.deadline.left()
            given = (self.problem, member.backend.name, limits, end, self.start)
            children.append((member.backend.name, Child(TASK, pickle.dumps(given), memory, self.arrived)))

    def watch(self, children: Sequence[tuple[str, Child]], is_pressed: Callable[[], bool]) -> Answer:
        """Waits until a member has won, all have ended, or the time is up."""
        running = list(children)
        if len(running) < len(self.members):  # there was no time to start all of them
            return self.ended(Stop.TIME)
        while running:
            self.arrived.wait(POLL)
            self.arrived.clear()
            for name, child in list(running):
                won = self.read(name, child)
                if won is not None:
                    return won
                if child.has_ended:
                    running.remove((name, child))
                    if child not in self.heard:
                        self.notes.append(f"{name} dropped out: {child.end()}")
            if self.is_stopped or is_pressed():
                return self.ended(Stop.INTERRUPTED)
            if monotonic() > self.end:
                return self.ended(Stop.TIME)
        return self.ended(Stop.FINISHED)

    def read(self, name: str, child: Child) -> Answer | None:
        """Handles the messages of a member; returns the answer of the race if the member has won."""
        for kind, value in child.messages():
            if kind == "progress":
                self.hear(value)
            elif kind == "failed":
                self.heard.append(child)
                self.notes.append(f"{name} dropped out: {value}")
            elif kind == "answer":
                self.heard.append(child)
                answer: Answer = value
                self.answers.append(answer)
                self.offer(answer.tree)
                if answer.stop in (Stop.PROVED, Stop.GAP):
                    self.object_to(name, answer)
                    notes = (f"{name} was the first", *self.notes, *answer.notes)
                    return replace(answer, trace=tuple(self.trace), notes=notes, evidence=_won(name, answer.evidence))
        return None

    def object_to(self, name: str, answer: Answer) -> None:
        """Raises Contradiction if a proof disagrees with a tree or a bound that another member reported."""
        if answer.status is Status.INFEASIBLE and self.tree is not None:
            raise Contradiction(f"{name} says infeasible, and another member of the race found a tree")
        if answer.status is not Status.OPTIMAL or not answer.objective or self.value is None:
            return
        reached = answer.objective
        if any(best < own - answer.tolerance for best, own in zip(self.value[:1], reached, strict=False)) or (
            not answer.tolerance and self.value < reached
        ):
            found = ", ".join(map(str, self.value))
            raise Contradiction(f"{name} says optimal, and another member of the race found a tree with {found}")
        if self.bound is not None and self.bound > reached[0] + answer.tolerance:
            raise Contradiction(f"{name} found a tree below the bound {self.bound} of another member of the race")

    def hear(self, moment: Progress) -> None:
        """Passes a member's progress on if it improves the best tree or bound."""
        better = self.offer(moment.tree)
        # With several goals a report does not say which of them its bound refers to.
        bound = moment.bound if len(self.problem.goals) == 1 else None
        if bound is not None and (self.bound is None or bound > self.bound):
            self.bound, self.evidence, better = bound, moment.evidence, True
        if better:
            told = Progress(monotonic() - self.begun, self.value, self.bound, self.tree, evidence=self.evidence)
            self.trace.append(told)
            if self.on_progress is not None and self.on_progress(told) is False:
                self.is_stopped = True

    def offer(self, tree: Node | None) -> bool:
        """Keeps a tree if it fits the problem, meets every bound, and is better than the best so far."""
        if tree is None or not _fits(tree, self.problem):
            return False
        routed = Routed(self.problem, tree)
        if self.problem.rows and any(not len(rows) for _, _, rows in routed.leaves):
            return False
        if not all(meets(bound, self.problem, tree, routed) for bound in self.problem.bounds):
            return False
        value = tuple(evaluate_sum(goal.sum, self.problem, tree, routed) for goal in self.problem.goals)
        if self.value is not None and value >= self.value:
            return False
        self.tree, self.value = tree, value
        return True

    def ended(self, stop: Stop) -> Answer:
        """The answer if nobody has won: the best incumbent, with the best bound that a member answered or reported."""
        if stop is Stop.FINISHED:
            if not self.answers:
                raise RuntimeError("every back-end of the race failed: " + "; ".join(self.notes))
            order = (Stop.TIME, Stop.MEMORY, Stop.INTERRUPTED, Stop.FINISHED, Stop.FAILED)
            stop = min((answer.stop for answer in self.answers), key=order.index)
        bounds = [
            (answer.bound, answer.evidence)
            for answer in self.answers
            if answer.bound is not None and len(self.problem.goals) == 1 and answer.bounded_goal in (None, 0)
        ]
        if self.bound is not None and self.evidence:  # of a member that was stopped before it answered
            bounds.append((self.bound, self.evidence))
        status = Status.UNKNOWN if self.tree is None else Status.FEASIBLE
        common = Answer(status, stop, self.tree, self.value, trace=tuple(self.trace), notes=tuple(self.notes))
        if not bounds:
            return common
        bound, evidence = max(bounds, key=lambda each: each[0])
        if self.value and bound > self.value[0]:
            raise Contradiction(f"the bound {bound} of a member of the race lies above a tree with {self.value[0]}")
        return replace(common, bound=bound, evidence=_won("", supporting(evidence, BOUND)))


def _won(name: str, evidence: Proof) -> Proof:
    return tuple(Evidence("race", name, (each,)) for each in evidence)


def _fits(tree: Node, problem: Problem) -> bool:
    """Does the tree use only tests and classes of the problem?"""
    if isinstance(tree, Split):
        inside = 0 <= tree.test < len(problem.tests)
        return inside and _fits(tree.yes, problem) and _fits(tree.no, problem)
    return 0 <= tree.label < problem.classes if problem.classes else True


def member(given: tuple[Problem, str, Limits, float, Node | None], send: Send) -> None:
    """Runs one member in its own process: planned, run and checked exactly as without a race."""
    # imported here: start-up time
    from treeml.backends.planning.plan import Plan, plan
    from treeml.backends.run import run

    problem, name, limits, end, start = given
    limits = replace(limits, deadline=Deadline.after(end - time()))

    def on_progress(moment: Progress) -> None:
        send("progress", moment)

    try:
        planned = plan(problem, registry.get(name), limits.options)
        assert isinstance(planned, Plan)
        answer = run(planned, limits, start, on_progress)
        send("answer", replace(answer, trace=()))
    except MemoryError:
        send("failed", "it ran out of memory")
    except Exception as error:  # reported to the race, which goes on
        send("failed", " ".join(str(error).split()))
