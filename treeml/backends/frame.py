"""What the solver back-ends share beside their models: what is installed, refusals, conflicts, and deadlines."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from treeml.backends.contract import Answer, Backend, Bound, Leaf, Limits, Problem, Status, Stop
from treeml.lang.diagnostic import Diagnostic, RefusedError

if TYPE_CHECKING:
    from treeml.backends.encodings.asked import Unsupported
    from treeml.backends.encodings.search import Search


def importable(module: str, how: str) -> str | None:
    """None if the module is there, or how to install it; nothing is imported."""
    from importlib.util import find_spec

    return None if find_spec(module) is not None else how


def version_of(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} is not installed"


def refuse(name: str, unsupported: Unsupported) -> RefusedError:
    """For what an option asks of a problem that cannot be had."""
    refusal = unsupported.refusal
    helps = (refusal.instead,) if refusal.instead else ()
    return RefusedError(
        Diagnostic("B501", f"{name} cannot take {refusal.feature} so", notes=(refusal.because,), helps=helps)
    )


def report_size(search: Search, columns: int, rows: int) -> None:
    search.statistics |= {"columns": float(columns), "rows": float(rows)}


def explained(backend: Backend, problem: Problem, limits: Limits, answer: Answer) -> Answer:
    """An infeasible answer with the names of bounds that conflict.

    A deletion filter: each name is left out in turn, and stays out where there is still no tree. A depth bound cannot
    be left out of a model with a node for every place; it is left out only where the others conflict on the rows
    alone, whatever the tree.
    """
    if answer.status is not Status.INFEASIBLE or not limits.options.get("explain", True):
        return answer
    names = list(dict.fromkeys(bound.name for bound in problem.bounds))
    inner = replace(limits, options={**limits.options, "explain": False, "write": ""})
    for name in names.copy():
        kept = [other for other in names if other != name]
        without = problem.asking((), tuple(bound for bound in problem.bounds if bound.name in kept))
        if limits.deadline.passed:
            break
        if _infeasible(backend, without, inner):
            names.remove(name)
    return replace(answer, conflict=tuple(name for name in names if name))


def nearest(backend: Backend, problem: Problem, name: str, limits: Limits) -> Fraction | None:
    """The limit closest to the one asked for that the bound of this name could have, the other bounds kept."""
    from treeml.backends.contract import Goal, Sum

    mine = [bound for bound in problem.bounds if bound.name == name]
    if len(mine) != 1 or mine[0].sense == "=":
        return None
    bound = mine[0]
    sign = 1 if bound.sense == "<=" else -1
    goal = Goal(Sum(tuple((sign * factor, term) for factor, term in bound.sum.parts), sign * bound.sum.constant))
    others = tuple(other for other in problem.bounds if other is not bound)
    answer = backend.solve(problem.asking((goal,), others), limits)
    if answer.status is not Status.OPTIMAL or not answer.objective:
        return None
    return sign * answer.objective[0]


def _infeasible(backend: Backend, problem: Problem, limits: Limits) -> bool:
    """Is it proved that there is no tree? False where that is not known."""
    from treeml.backends.encodings.asked import Unsupported
    from treeml.backends.evaluate import meets_all
    from treeml.backends.shapes import deepest, impossible

    if any(meets_all(problem, Leaf(label)) for label in range(problem.classes) or (-1,)):
        return False
    if problem.max_depth is None:
        if problem.rows * len(problem.tests) > MOST_BITS:
            return False
        if impossible(problem) is not None:
            return True
        if deepest(problem) > DEEPEST_TRIED:
            return False
        problem = _bounded(problem, deepest(problem))
    try:
        if any(True for _ in backend.refusals(problem)):
            return False
        answer = backend.solve(problem, limits)
    except (RefusedError, Unsupported):
        return False
    return answer.status is Status.INFEASIBLE and answer.stop is Stop.PROVED


DEEPEST_TRIED = 5
MOST_BITS = 2_000_000  # what may be looked at without a depth bound, only to leave its name out


def _bounded(problem: Problem, depth: int) -> Problem:
    from treeml.backends.contract import Depth, Sum

    limit = Bound(Sum(((Fraction(1), Depth()),)), "<=", Fraction(depth))
    return problem.asking(problem.goals, (*problem.bounds, limit))
