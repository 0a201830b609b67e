"""Plan, limits -> Answer: an exact search, and a second thread that looks for better trees while it runs.

The exact search is what it is without company, and its proofs are its own. If it takes longer than a moment, the
companion starts. Both report to one place: the best tree and the best bound are kept there, a tree whose value is the
bound ends the run as a proof, and the caller hears of every improvement.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from treeml.backends.contract import Answer, Limits, OnProgress, Stop
from treeml.backends.planning.plan import Plan
from treeml.backends.portfolio.companion import Companion, Work
from treeml.backends.run import run
from treeml.problem.tree import Leaf, Node

UNHURRIED = 10.0  # seconds for better trees after a bound was found, if nothing limits the time


def accompanied(
    plan: Plan,
    limits: Limits,
    start: Node | None = None,
    on_progress: OnProgress | None = None,
    work: Work | None = None,
) -> Answer:
    """The answer of the plan, or a better tree that was found beside it. `work` is what the companion does."""
    company = Companion(plan.problem, limits, start, on_progress, work or _improve)
    company.has_bounds = plan.backend.can.quick
    if company.is_urgent or not plan.backend.can.quick:
        company.begin()  # a back-end that is not quick may not look around while it runs
    try:
        answer = run(
            plan,
            replace(limits, is_over=company.look, share=company.listen, news=lambda: company.tree),
            start,
            company.hear,
        )
        if answer.stop is Stop.MEMORY:
            company.go_on()
        elif _is_unproved(plan, answer):
            company.go_on(UNHURRIED)
            answer = replace(answer, stop=Stop.TIME) if limits.deadline.passed else answer
    finally:
        company.end()
    return _with_first_tree(company, answer, plan)


def alone(plan: Plan, limits: Limits, start: Node | None = None, on_progress: OnProgress | None = None) -> Answer:
    """The answer of the plan; one that was stopped before there was a tree with a split gets a first one."""
    answer = run(plan, limits, start, on_progress)
    if any(option.of_goal or option.restricts for option in map(plan.backend.options.get, limits.options) if option):
        return answer  # the first tree might be one that an option leaves out
    company = Companion(plan.problem, limits, start, None, _improve)
    return _with_first_tree(company, answer, plan)


def _with_first_tree(company: Companion, answer: Answer, plan: Plan) -> Answer:
    """The better of both answers, after a moment to find a tree with a split if the run was stopped before it had one.

    A run that had hardly begun has that moment, too: its first tree may be the first split that it looked at.

    Pressing Ctrl-C again ends that moment.
    """
    is_stopped = answer.stop in (Stop.TIME, Stop.INTERRUPTED) or (plan.is_relaxed and answer.stop is Stop.FINISHED)
    if is_stopped and (answer.tree is None or isinstance(answer.tree, Leaf) or company.had_no_time):
        with suppress(KeyboardInterrupt):
            company.first_tree()
    return company.joined(answer, plan)


def _is_unproved(plan: Plan, answer: Answer) -> bool:
    """Did the search end of itself, though its plan can prove nothing about the whole problem?"""
    return (plan.is_relaxed or not plan.backend.can.proves) and answer.stop is Stop.FINISHED


def _improve(company: Companion) -> None:
    from treeml.backends.portfolio.improving import improve_while  # imported here: start-up time

    improve_while(company)
