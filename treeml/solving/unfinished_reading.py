"""A file that takes too long to read -> the best tree or forest for the part of it that can be read in time.

It is verified on these rows, and its values are theirs; nothing is claimed about the others. A small file is read
as a whole, and its answer is that of any other run. Without a tree, the run ends as before: with the message that
reading took all of the time (D412).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Answer, Deadline, Status, Stop
from treeml.data.limits import ReadingLimits
from treeml.data.table import Dataset
from treeml.lang.diagnostic import DataError, InfeasibleError
from treeml.solving.choice import Chosen, lower, plan
from treeml.solving.request import Request
from treeml.solving.result import Clock, Result
from treeml.solving.rows import bind, discreet

if TYPE_CHECKING:
    from treeml.data.part import FilePart

SHARE_OF_READING = 0.6  # of the time that is left when reading begins; the rest is for the search
LEAST = 0.5  # seconds for the search, even if the time is over: a late tree is better than none
TOO_LATE = "D412"

Verified = Callable[[Answer, Chosen, Dataset, Request, Clock], Result]


def sooner(request: Request) -> ReadingLimits:
    """The limits of reading, so that there is time left for a part of the file if all of it takes too long."""
    limits = request.reading
    left = limits.deadline - monotonic()
    if left <= 0 or left == float("inf") or not _is_plain(request):
        return limits
    return replace(limits, deadline=monotonic() + SHARE_OF_READING * left)


def result_of_part(
    error: DataError, request: Request, data: Any, options_given: bool, begun: float, verified: Verified
) -> Result:
    """The result for a part of the file; raises the error if there is none."""
    if error.diagnostics[0].code != TOO_LATE or options_given or not _is_plain(request):
        raise error
    spec = request.spec
    path = Path(data) if data is not None else spec.folder / str(spec.data)
    try:
        part = _part(path, request)
        result = None if part is None else _solved(part, request, path.name, begun, verified)
    except (DataError, InfeasibleError, OSError):  # what is wrong with a part of the file says nothing about the file
        raise error from None
    if result is None:
        raise error
    return result


def _is_plain(request: Request) -> bool:
    """Is the tree or the forest for the rows of the file all that is asked for?"""
    spec = request.spec
    others = (spec.improve, spec.start, spec.validate, request.start, request.cluster)
    return not spec.untrusted and not request.files() and all(other is None for other in others)


def _part(path: Path, request: Request) -> FilePart | None:
    from treeml.data.part import load_part  # imported here: start-up time

    with discreet(request), TemporaryDirectory() as scratch:
        return load_part(path, request.spec.columns, request.spec.spans.get("data"), request.reading, Path(scratch))


def _solved(part: FilePart, request: Request, name: str, begun: float, verified: Verified) -> Result | None:
    dataset = bind(part.table, request)
    if request.spec.ensemble is not None:
        return _solved_forest(part, dataset, request, _note(name, "forest", dataset), begun)
    chosen = plan(lower(dataset, request), request)
    built = monotonic()
    limits = request.limits(begun, chosen.method)
    limits = replace(limits, deadline=Deadline(max(limits.deadline.at, built + LEAST)))
    answer = chosen.run(limits)
    if part.is_whole and (answer.tree is not None or answer.status is Status.INFEASIBLE):
        return verified(answer, chosen, dataset, request, Clock(begun, built))
    if answer.tree is None:
        return None
    notes = (*answer.notes, _note(name, "tree", dataset))
    unproved = Answer(Status.FEASIBLE, Stop.TIME, answer.tree, statistics=answer.statistics, notes=notes)
    return verified(unproved, chosen, dataset, request, Clock(begun, built))


def _note(name: str, what: str, dataset: Dataset) -> str:
    return (
        f"reading {name} takes more time than there is: the {what} was found and verified on {dataset.rows:,} rows of "
        "it, and the values are those of these rows"
    )


def _solved_forest(part: FilePart, dataset: Dataset, request: Request, note: str, begun: float) -> Result | None:
    from treeml.solving.forest_result import solve_forest  # imported here: start-up time

    spec = request.spec
    least = monotonic() - begun + LEAST
    longer = replace(spec, within=least if spec.within is None else max(spec.within, least))
    result = solve_forest(dataset, replace(request, spec=longer), begun)
    if result.forest is None:
        return None
    if part.is_whole:
        return result
    return replace(
        result, status=Status.FEASIBLE, stop=Stop.TIME, bound=None, gap=None, evidence=(), notes=(*result.notes, note)
    )
