"""Model, data -> the set of its trees: parse, check, load, bind, lower, count, verify."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from time import monotonic
from typing import Any

from treeml.backends.claims import Evidence
from treeml.backends.contract import Deadline
from treeml.backends.native.listing import Reached, Slack, TreeListing, listing_refusals
from treeml.data.table import Dataset
from treeml.lang.diagnostic import BackendError, Diagnostic, Label, RefusedError
from treeml.lang.measures import MEASURES
from treeml.lang.spec import ListingRequest, Spec
from treeml.lang.statements import Statements
from treeml.native import loader
from treeml.solving.choice import lower
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions
from treeml.solving.pipeline import prepare
from treeml.solving.request import Request
from treeml.solving.result import plain
from treeml.solving.verify import verify
from treeml.studies.tree_sets.listed import Listed
from treeml.studies.tree_sets.measures import Measures
from treeml.studies.tree_sets.sources import ListedTrees
from treeml.studies.tree_sets.tree_set import TreeSet

VERIFIED = 8  # trees, from the first to the last, whose values are computed again from the rows


def list_trees(model: Statements, data: Any = None, y: Any = None, options: RunOptions = DEFAULT_OPTIONS) -> TreeSet:
    """The trees that the model's `list` statement asks for."""
    begun = monotonic()
    dataset, request = prepare(model, data, y, options, keep_table=True)
    asked = request.spec.listing
    if asked is None:
        raise RefusedError(
            Diagnostic(
                "B560",
                "nothing says which trees to list",
                helps=(
                    "add `list 100 trees` or `list trees within 2% of best`",
                    "from Python: trees(data, slack='2%')",
                ),
            )
        )
    lowered = lower(dataset, request).form(numeric=True)
    refused = [*_unit_refusals(request.spec, asked), *_refusals(lowered.problem, request.spec)]
    if refused:
        raise RefusedError(refused)
    listing = TreeListing(lowered.problem, asked.style, request.memory)
    deadline = request.limits(begun, None).deadline
    reached = listing.extend(_slack(asked), asked.most, deadline)
    count = listing.total if asked.most is None else min(listing.total, asked.most)
    source = ListedTrees(listing, lowered, dataset, count)
    listed = _listed(request, asked, reached, source, monotonic() - begun)
    listed = replace(listed, notes=(*lowered.notes, *_notes(request.spec)))
    trees = TreeSet(source, listed, Measures(model, y is not None))
    _verify(trees, dataset, deadline)
    return trees


def _notes(spec: Spec) -> Iterator[str]:
    """What the specification says about solving and does not apply to lists."""
    other = [method.name for method in spec.backends if method.name != "native"]
    if other:
        yield f"trees are listed by native: `solve with {', '.join(other)}` does not apply"
    if spec.gap:
        yield "a list is exact: `gap` does not apply"
    if spec.validate is not None:
        yield "`validate` does not apply to a list: trees.unseen(data) measures all trees on other rows"


def _slack(asked: ListingRequest) -> Slack | None:
    return None if asked.slack is None else Slack(asked.slack, asked.unit == "%")


def _refusals(problem: Any, spec: Spec) -> Iterator[Diagnostic]:
    missing = loader.missing()
    if missing is not None:
        yield Diagnostic("B502", "trees are listed by the C library, which is missing", notes=(missing,))
        return
    span = spec.spans.get("list")
    for refusal in listing_refusals(problem):
        helps = (refusal.instead,) if refusal.instead else ()
        labels = () if span is None else (Label(span, "lists trees"),)
        yield Diagnostic("B501", refusal.because, labels, (), helps, place=refusal.feature)


def _unit_refusals(spec: Spec, asked: ListingRequest) -> Iterator[Diagnostic]:
    """`rows` is a distance if the goal counts rows."""
    if asked.unit != "rows" or not spec.goals:
        return
    goal = spec.goals[0]
    units = {MEASURES[use.measure].unit for _, use in goal.expression.parts}
    if units & {"rows", "weight"} and units <= {"rows", "weight", "count"}:
        return
    span = spec.spans.get("list")
    yield Diagnostic(
        "B560",
        f"`{goal.text}` is not in rows, but the distance from the best is",
        () if span is None else (Label(span, "in rows"),),
        helps=("write a share of the best value: `within 2% of best`", "or a number in the unit of the goal"),
    )


def _listed(request: Request, asked: ListingRequest, reached: Reached, source: ListedTrees, seconds: float) -> Listed:
    spec = request.spec
    goal = spec.goals[0] if spec.goals else None
    sign = -1 if goal is not None and goal.sense == "maximize" else 1
    total, count = source.listing.total, source.count
    complete = not reached.stop and (asked.slack is not None or reached.exhausted or count == asked.most)
    if asked.slack is not None and count < total:
        complete = False
    best = None if reached.best is None else sign * reached.best
    limit = None if reached.limit is None or reached.exhausted else sign * reached.limit
    known = Listed(
        goal="satisfy" if goal is None else goal.text,
        sense="minimize" if goal is None else goal.sense,
        best=best,
        limit=limit,
        total=total,
        complete=complete,
        stop=reached.stop or ("" if complete else "count"),
        style=asked.style,
        seconds=seconds,
        statistics=source.listing.statistics(),
        warnings=request.warnings,
        evidence=(Evidence("enumeration", "every tree up to the limit was counted"),) if total else (),
    )
    return replace(known, statement=_statement(known, asked, reached, source))


def _statement(known: Listed, asked: ListingRequest, reached: Reached, source: ListedTrees) -> str:
    """What the list holds, and where it stops."""
    count, goal = source.count, known.goal
    if reached.exhausted and not known.total:
        return "no tree meets the requirements"
    if known.best is None:
        return f"nothing is known: the search for the best tree ran out of {reached.stop}"
    if not known.total:
        return f"the best value of `{goal}` is {_text(known.best)}; listing trees ran out of {reached.stop}"
    trees = f"{count:,} tree" + ("" if count == 1 else "s")
    first = f"{trees}, best value {_text(known.best)}"
    if reached.exhausted:
        return f"{first}: every tree that meets the requirements"
    if reached.stop:
        wanted = "" if asked.slack is None else f" of the {_wanted(asked)} asked for"
        return (
            f"{first}; the list ran out of {reached.stop} and holds every tree up to {_text(known.limit)}, not all"
            f"{wanted}"
        )
    if count == known.total:
        return f"{first}: every tree up to {_text(known.limit)}"
    sign = -1 if known.sense == "maximize" else 1
    last = sign * source.value(count - 1)
    among = f"the first of {known.total:,} trees up to {_text(known.limit)}"
    if sign * source.value(count) != last:
        return f"{first}: {among}; every tree up to {_text(last)} is there"
    return f"{first}: {among}; every tree better than {_text(last)} is there, and some of that value"


def _wanted(asked: ListingRequest) -> str:
    assert asked.slack is not None
    if asked.unit == "%":
        return f"{_text(asked.slack * 100)}%"
    return f"{_text(asked.slack)} {asked.unit}".strip()


def _text(value: Fraction | None) -> str:
    number = plain(value or Fraction(0))
    return str(number) if isinstance(number, int) else f"{number:.6g}"


def _verify(trees: TreeSet, dataset: Dataset, deadline: Deadline) -> None:
    """Compute the values and requirements of some trees again, from the rows; BackendError if they differ."""
    if not trees.count:
        return
    for place in sorted({(trees.count - 1) * step // max(1, VERIFIED - 1) for step in range(VERIFIED)}):
        if deadline.passed and place:
            return
        claimed = None
        if dataset.spec.goals:
            claimed = [trees._shown(trees.source.value(int(trees.ranks[place])))]
        exact = verify(trees[place], dataset, claimed and [*claimed, *_others(trees[place], dataset)])
        if not exact.verified:
            raise BackendError(
                Diagnostic(
                    "B516",
                    f"tree {place} of the list does not verify against the rows",
                    notes=exact.mismatches,
                    helps=("this is a mistake of TreeML, not of the specification; please report it with the data",),
                )
            )


def _others(tree: Any, dataset: Dataset) -> list[Fraction]:
    """Later goals are not claimed, so their values are what they are."""
    return [goal.value for goal in verify(tree, dataset).goals[1:]] if len(dataset.spec.goals) > 1 else []
