"""Problem, limits -> the search of easier problems that bounds it sooner than its own search, if there is one."""

from __future__ import annotations

from fractions import Fraction

from treeml.backends.contract import Deadline, Limits
from treeml.backends.native import chords
from treeml.backends.native.easier import EasierProblem, Known, Search
from treeml.backends.native.goals import kind
from treeml.backends.native.kernel_choice import COUPLED_KERNELS, choose_kernel
from treeml.backends.native.then_leaves import is_real_then_leaves
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import LeafErrors, Purity


def search_of(problem: Problem, limits: Limits) -> Search | None:
    """None if its own search has a bound as soon as others, or if options ask for this search.

    Neither has a search that begins with the first goal alone: easier problems are asked there.
    """
    if limits.options or not problem.goals or not problem.rows or is_real_then_leaves(problem):
        return None
    if chords.takes(problem):
        return chords.search
    if any(map(_is_rule, problem.bounds)) and choose_kernel(problem, {})[0] != COUPLED_KERNELS[1]:
        return without_rules  # the kernel that is left out here has such bounds of its own
    return None


def without_rules(known: Known, deadline: Deadline) -> None:
    """Asks for the best tree without what single leaves have to keep."""
    problem = known.problem
    kept = tuple(bound for bound in problem.bounds if not _is_rule(bound))
    asked = problem.asking(problem.goals[:1], kept)
    known.ask(EasierProblem(asked, "fewer requirements", _as_it_is, lambda tree: tree), deadline)


def _as_it_is(bound: Fraction) -> Fraction:
    return bound


def _is_rule(bound: Bound) -> bool:
    return kind(bound) in (Purity, LeafErrors)
