"""A result without a tree -> why: requirements that conflict, or a limit that was reached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from treeml.backends.contract import Status, Stop
from treeml.lang.diagnostic import BackendError, Diagnostic, InfeasibleError, Label, SpecError
from treeml.solving.feasibility import how_far
from treeml.solving.report import STOP_WORDS

if TYPE_CHECKING:
    from treeml.solving.result import Result


def as_error(result: Result) -> SpecError:
    """Why there is no tree, as an exception."""
    kind = InfeasibleError if result.status is Status.INFEASIBLE else BackendError
    return kind(list(of_failure(result)))


def of_failure(result: Result) -> Iterator[Diagnostic]:
    """Why there is no tree: requirements that conflict, or a limit that was reached."""
    if result.because is not None:
        yield result.because
    elif result.status is Status.INFEASIBLE:
        yield _conflict(result)
    elif result.status is Status.UNKNOWN:
        yield _no_tree(result)


def _conflict(result: Result) -> Diagnostic:
    spec = result.spec
    assert spec is not None
    names = set(result.conflict)
    blamed = [r for r in spec.requirements if r.name in names or not names]
    labels = tuple(
        Label(r.span, "conflicts with" if number + 1 < len(blamed) else f"this, proved by {result.backend}")
        for number, r in enumerate(blamed)
        if r.span is not None
    )
    if len(blamed) == 1:
        labels = tuple(Label(r.span, f"no tree can, proved by {result.backend}") for r in blamed if r.span is not None)
    others = len(spec.requirements) - len(blamed)
    helps = ["relax one of these lines" if len(blamed) > 1 else "relax this line"]
    if names and others:
        helps[0] += "; the other requirements play no part"
    helps += [how_far(requirement, spec.file) for requirement in blamed[:1]]
    title = "no tree meets these requirements together" if len(blamed) != 1 else "no tree meets this requirement"
    return Diagnostic("F601", title, labels, (), tuple(helps))


def _no_tree(result: Result) -> Diagnostic:
    helps = {
        Stop.TIME: "give it more time (--within), or loosen or remove a requirement",
        Stop.MEMORY: "give it more memory (--memory), or ask for a shallower tree",
        Stop.INTERRUPTED: "let it run longer, or start from a tree: `start from cart`",
    }
    otherwise = "try another back-end: `treeml backends spec.tml`"
    if result.spec is not None and any("upper" in method.options for method in result.spec.backends):
        otherwise = "raise `upper`, or leave it out: trees that are not better than it are not looked for"
    return Diagnostic(
        "F610",
        f"{result.backend} found no tree: {STOP_WORDS[result.stop]}",
        notes=result.notes,
        helps=(helps.get(result.stop, otherwise),),
        place=result.backend,
    )
