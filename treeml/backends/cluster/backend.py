"""Problem -> Answer, on a Dask cluster: one task for every test, or group of cuts, with which the tree may begin.

Tasks are sent a few at a time, so that each starts with the best tree known by then, and each asks for a better one and
for the time that is left while it searches (`news`). A task ends a moment before the time limit, so that its tree is
not lost. If a worker dies, Dask gives its tasks to others; a task that kills every worker is solved here. The proof is
that of one machine: the single leaf and every first test were solved, or bounded by the value of the best tree.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from threading import Thread
from time import monotonic
from typing import Any, ClassVar
from uuid import uuid4

from treeml.backends.claims import BOUND, INFEASIBLE, Proof, combined, supporting
from treeml.backends.cluster.beginnings import GroupTask, groups_of, promising, solve_group
from treeml.backends.cluster.connection import connected
from treeml.backends.cluster.root_task import ROW_BY_ROW, RootAnswer, depth_bound, lower_bound
from treeml.backends.contract import (
    NO_LIMITS,
    NO_OPTIONS,
    Answer,
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
from treeml.backends.native.backend import NativeBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.lang.diagnostic import BackendError
from treeml.problem.evaluate import evaluate_goals, is_answer
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

AT_ONCE = 2  # tasks per thread of the cluster that are sent ahead
POLL = 0.5  # seconds between two looks at the clock
BETWEEN_NEWS = 1.0  # seconds between two questions of a task for the best value
MOMENT, SHARE_OF_MOMENT = 1.0, 0.1  # seconds before the time limit at which tasks end, and their share of what is left
SHARE = 0.2  # of the time, for a first tree of depth two
TO_CONNECT = 0.3  # seconds: with less time left, the cluster is not asked for help
TO_LEAVE = 0.3  # the most seconds to wait until the cluster knows that the run is over


class ClusterBackend(BackendBase):
    name: ClassVar[str] = "cluster"
    summary: ClassVar[str] = "the native solver on a Dask cluster, tasks for the first tests"
    can: ClassVar[Capabilities] = Capabilities(
        goals=frozenset({"Predicted", "Leaves"}),
        bounds=frozenset({"Depth", "Support", "Purity", "LeafErrors"}),
        carries=NativeBackend.can.carries,
        numeric=True,
        starts=True,
        reports=True,
        keeps_memory=True,
        automatic=False,
        runs_others=True,
    )
    options: ClassVar[Mapping[str, Option]] = {}

    def __init__(self, address: str) -> None:
        self.address = address

    @staticmethod
    def missing() -> str | None:
        return NativeBackend.missing()

    @staticmethod
    def version() -> str:
        return NativeBackend.version()

    def refusals(self, problem: Problem, options: Mapping[str, Any] = NO_OPTIONS) -> Iterator[Refusal]:
        if not problem.goals:
            yield Refusal("no goal", "a cluster shares the work of finding a best tree, and nothing is minimized")
        yield from NativeBackend().refusals(problem, options)

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        search = _Search(problem, limits, on_progress)
        try:
            search.begin(start)
            if search.groups and search.stop is None and not limits.deadline.passed:
                self._spread(search)
        except KeyboardInterrupt:
            search.stop = Stop.INTERRUPTED
        return search.answer()

    def _spread(self, search: _Search) -> None:
        client, left = None, search.limits.deadline.left()
        try:
            client = connected(self.address, left) if left >= TO_CONNECT else None
        except BackendError:
            if not search.limits.deadline.passed:
                raise
        if client is None:
            search.notes.append(f"the cluster at {self.address} did not answer in the time that was left")
            return
        tasks = None
        try:
            tasks = _Tasks(client, search)
            tasks.run()
        finally:
            _leave(client, tasks)


def _leave(client: Any, tasks: _Tasks | None) -> None:
    """Closes the connection, and waits only a moment for it: a busy cluster may take long to answer."""

    def tidy_up() -> None:
        with suppress(Exception):  # a cluster that was lost has nothing to tidy up
            if tasks is not None:
                tasks.cancel()
        with suppress(Exception):
            client.close()

    leaving = Thread(target=tidy_up, name="treeml leaves the cluster", daemon=True)
    leaving.start()
    leaving.join(TO_LEAVE)


@dataclass(eq=False)
class _Search:
    """What is known so far: the best tree, and a bound for every group of first tests."""

    problem: Problem
    limits: Limits
    on_progress: OnProgress | None
    began: float = field(default_factory=monotonic)
    tree: Node | None = None
    value: Fraction | None = None
    bounds: dict[int, Fraction] = field(default_factory=dict)  # by group of first tests; -1 is the single leaf
    proofs: dict[int, Proof] = field(default_factory=dict)
    infeasible: set[int] = field(default_factory=set)
    stop: Stop | None = None
    trace: list[Progress] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    statistics: dict[str, float] = field(default_factory=lambda: {"tasks": 0, "tasks_again": 0})

    def __post_init__(self) -> None:
        self.groups = groups_of(self.problem) if self.problem.max_depth else []
        self.roots = (-1, *range(len(self.groups)))

    def begin(self, start: Node | None) -> None:
        """The single leaf, proved; then a first tree, so that every task has something to be better than."""
        if start is not None and is_answer(self.problem, start):
            self.offer(start)
        leaf = self._native(0, self.limits.deadline)
        if leaf.status is Status.INFEASIBLE:
            self.infeasible.add(-1)
            self.proofs[-1] = supporting(leaf.evidence, INFEASIBLE)
        elif leaf.bound is not None:
            self.bounds[-1], self.proofs[-1] = leaf.bound, supporting(leaf.evidence, BOUND)
        self.offer(leaf.tree)
        depth = self.problem.max_depth or 0
        if depth > 2 and self.stop is None:
            left = self.limits.deadline.left()
            self.offer(self._native(2, Deadline.after(SHARE * left)).tree)

    def _native(self, depth: int, deadline: Deadline) -> Answer:
        shallow = replace(self.problem, bounds=(*self.problem.bounds, depth_bound(depth)))
        planned = plan(shallow, NativeBackend())
        assert isinstance(planned, Plan), "the cluster takes only what native takes"
        answer = run(planned, replace(self.limits, deadline=deadline, options={}))
        if answer.stop is Stop.INTERRUPTED:
            self.stop = Stop.INTERRUPTED
        return answer

    def offer(self, tree: Node | None) -> None:
        if tree is None:
            return
        value = evaluate_goals(self.problem, tree)[0]
        if self.value is None or value < self.value:
            self.tree, self.value = tree, value
            self.tell()

    def take(self, found: RootAnswer) -> None:
        """A finished task. Its tree is evaluated here; its bound holds, whatever the best tree was by then."""
        self.proofs[found.root] = found.evidence
        if found.is_infeasible:
            self.infeasible.add(found.root)
        else:
            self.bounds[found.root] = found.bound
        self.offer(found.tree)

    def tell(self) -> None:
        bound, proof = self.bound()
        moment = Progress(monotonic() - self.began, _as_objective(self.value), bound, self.tree, evidence=proof)
        self.trace.append(replace(moment, tree=None))
        if self.on_progress is not None and self.on_progress(moment) is False:
            self.stop = Stop.INTERRUPTED

    def bound(self) -> tuple[Fraction, Proof]:
        """A number that no tree is below. A group that was not solved has the bound of single rows."""
        least = lower_bound(self.problem)
        open_ = [root for root in self.roots if root not in self.infeasible]
        if any(root not in self.bounds for root in open_) or not open_:
            return least, (ROW_BY_ROW,)
        lowest = max(least, min(self.bounds[root] for root in open_))
        if self.value is not None:
            lowest = min(lowest, self.value)
        pieces = (ROW_BY_ROW, *(each for root in self.roots for each in self.proofs[root]))
        return lowest, combined("root by root", pieces, f"{len(self.roots)} beginnings")

    def is_settled(self, root: int) -> bool:
        """Can this beginning lead to nothing better?"""
        if root in self.infeasible:
            return True
        return root in self.bounds and self.value is not None and self.bounds[root] >= self.value

    @property
    def is_within_gap(self) -> bool:
        if self.value is None or not self.limits.gap:
            return False
        return self.value - self.bound()[0] <= self.limits.gap * abs(self.value)

    def answer(self) -> Answer:
        bound, proof = self.bound()
        parts: dict[str, Any] = {
            "trace": tuple(self.trace),
            "statistics": self.statistics,
            "notes": tuple(dict.fromkeys(self.notes)),
        }
        if all(root in self.infeasible for root in self.roots):
            pieces = [each for root in self.roots for each in self.proofs[root]]
            proof = combined("root by root", pieces, f"{len(self.roots)} beginnings")
            return Answer(Status.INFEASIBLE, Stop.PROVED, evidence=proof, **parts)
        if self.tree is not None and all(map(self.is_settled, self.roots)):
            value = _as_objective(self.value)
            return Answer(Status.OPTIMAL, Stop.PROVED, self.tree, value, self.value, evidence=proof, **parts)
        status = Status.UNKNOWN if self.tree is None else Status.FEASIBLE
        stop = self.stop or (Stop.GAP if self.is_within_gap else Stop.TIME)
        return Answer(status, stop, self.tree, _as_objective(self.value), bound, evidence=proof, **parts)


class _Tasks:
    """Sends the tasks of a search to the cluster, the most promising groups of first tests first."""

    def __init__(self, client: Any, search: _Search) -> None:
        from distributed import Variable  # imported here: an extra, and start-up time

        self.client, self.search = client, search
        name = f"treeml-{uuid4().hex}"
        self.news: Any = Variable(name, client=client)  # type: ignore[no-untyped-call]
        self.name = name
        self.waiting = [root for root in promising(search.problem, search.groups) if not search.is_settled(root)]
        # The problem is the result of a task and not data on one worker: if that worker dies, it is made again.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # the rows have to be sent
            self.problem = client.submit(_itself, search.problem, pure=False)
        self.running: dict[Any, int] = {}
        self.heard: Node | None = None  # the last tree that was found here meanwhile
        self.shared: tuple[str | None, float | None] | None = None

    def run(self) -> None:
        from distributed import wait

        try:
            self._share()
            while self._send() and not self._is_over():
                self._listen()
                try:
                    seconds = min(POLL, max(0.01, self.search.limits.deadline.left()))
                    done, _ = wait(list(self.running), seconds, "FIRST_COMPLETED")  # type: ignore[no-untyped-call]
                except TimeoutError:
                    continue
                for future in done:
                    self._receive(future)
        except KeyboardInterrupt:
            self.search.stop = Stop.INTERRUPTED
        except OSError as error:  # the scheduler is gone
            self.search.stop = Stop.FAILED
            self.search.notes.append(f"the cluster was lost before the end: {error}")

    def cancel(self) -> None:
        self.client.cancel([*self.running, self.problem], force=True)
        self.news.delete()

    def _send(self) -> bool:
        """Sends as many tasks as the workers can use; False if there is nothing left."""
        most = AT_ONCE * max(1, sum(self.client.nthreads().values()))
        while self.waiting and len(self.running) < most:
            root = self.waiting.pop(0)
            future = self.client.submit(task, self.problem, self._task(root), self.name, pure=False, retries=2)
            self.running[future] = root
            self.search.statistics["tasks"] += 1
        return bool(self.running)

    def _receive(self, future: Any) -> None:
        root = self.running.pop(future)
        if future.status == "finished":
            found: RootAnswer = future.result()
        else:
            self.search.statistics["tasks_again"] += 1
            self.search.notes.append(_given_up(future))
            found = solve_group(self.search.problem, self._task(root))
        before = self.search.value
        self.search.take(found)
        if self.search.value != before:
            self._share()

    def _task(self, root: int) -> GroupTask:
        search = self.search
        return GroupTask(root, search.groups[root], search.value, self._seconds(), search.limits.memory)

    def _listen(self) -> None:
        """Takes a better tree that was found here meanwhile, and tells the workers how things are."""
        heard = self.search.limits.news
        tree = None if heard is None else heard()
        if tree is not None and tree is not self.heard:
            self.heard = tree
            self.search.offer(tree)
        self._share()

    def _share(self) -> None:
        """The best value and the seconds for tasks. Clocks of other machines may differ, so no time of day is sent."""
        value, seconds = self.search.value, self._seconds()
        now = (None if value is None else str(value), None if seconds == inf else seconds)  # what Dask sends as it is
        if now != self.shared:
            self.shared = now
            self.news.set(now)

    def _seconds(self) -> float:
        """The seconds that a task has, so that its answer is here in time."""
        left = self.search.limits.deadline.left()
        return max(0.0, left - min(MOMENT, SHARE_OF_MOMENT * left))

    def _is_over(self) -> bool:
        search = self.search
        return search.stop is not None or search.limits.deadline.passed or search.is_within_gap


def task(problem: Problem, sent: GroupTask, news: str) -> RootAnswer:
    """What a worker does: it looks for a better tree that begins with one of these tests."""
    told = _told(news)
    if told is not None:
        best = min((value for value in (sent.upper, told[0]) if value is not None), default=None)
        sent = replace(sent, upper=best, seconds=min(sent.seconds, told[1]))
    return solve_group(problem, sent, _Latest(news))


@dataclass(eq=False)
class _Latest:
    """The value of the best tree by now, asked for once in a while."""

    news: str
    asked: float = field(default_factory=monotonic)

    def __call__(self) -> Fraction | None:
        if monotonic() - self.asked < BETWEEN_NEWS:
            return None
        self.asked = monotonic()
        told = _told(self.news)
        return None if told is None else told[0]


def _told(name: str) -> tuple[Fraction | None, float] | None:
    """The best value and the seconds left; None if they cannot be learned, which only makes the search longer."""
    from distributed import Variable

    try:
        value, seconds = Variable(name).get(timeout=5)  # type: ignore[no-untyped-call]
    except Exception:
        return None
    return None if value is None else Fraction(value), inf if seconds is None else seconds


def _given_up(future: Any) -> str:
    reason = type(future.exception()).__name__ if future.status == "error" else future.status
    return f"the cluster gave up on a task, which was solved here: {reason}"


def _itself(problem: Problem) -> Problem:
    return problem


def _as_objective(value: Fraction | None) -> tuple[Fraction, ...] | None:
    return None if value is None else (value,)
