"""Model, data -> the set of its trees: parse, check, load, bind, lower, count, verify."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from time import monotonic
from typing import Any

from treeml.backends.claims import Evidence
from treeml.backends.contract import Deadline
from treeml.backends.native.listing import TreeListing
from treeml.backends.native.listing_refusals import listing_refusals
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
from treeml.studies.tree_sets.choice import validated_choice
from treeml.studies.tree_sets.counting import Counted, counted_trees
from treeml.studies.tree_sets.listed import Listed
from treeml.studies.tree_sets.measures import Measures
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
    list_part = partial(_listed_trees, model=model, has_target=y is not None, begun=begun)
    trees = list_part(dataset, request)
    trees.choice = validated_choice(trees, dataset, request, list_part)
    if request.spec.validate is not None and trees.count and trees.choice is None:
        note = "`validate` chose no tree: a part of the rows has no tree of the sizes in the list; list more trees"
        trees.listed = replace(trees.listed, notes=(*trees.listed.notes, note))
    return trees


def _listed_trees(dataset: Dataset, request: Request, *, model: Statements, has_target: bool, begun: float) -> TreeSet:
    """Lower, count and verify."""
    asked = request.spec.listing
    assert asked is not None
    lowered = lower(dataset, request).form(numeric=True)
    refused = [*_unit_refusals(request.spec, asked), *_refusals(lowered.problem, request.spec, asked.style)]
    if refused:
        raise RefusedError(refused)
    listing = TreeListing(lowered.problem, asked.style, request.memory)
    deadline = request.limits(begun, None).deadline
    counted = counted_trees(listing, asked, deadline, lowered, dataset)
    listed = _listed(request, asked, counted, monotonic() - begun)
    listed = replace(listed, notes=(*lowered.notes, *_notes(request.spec)))
    trees = TreeSet(counted.source, listed, Measures(model, has_target))
    _verify(trees, dataset, deadline)
    return trees


def _notes(spec: Spec) -> Iterator[str]:
    """What the specification says about solving and does not apply to lists."""
    other = [method.name for method in spec.backends if method.name != "native"]
    if other:
        yield f"trees are listed by native: `solve with {', '.join(other)}` does not apply"
    if spec.gap:
        yield "a list is exact: `gap` does not apply"


def _refusals(problem: Any, spec: Spec, style: str) -> Iterator[Diagnostic]:
    missing = loader.missing()
    if missing is not None:
        yield Diagnostic("B502", "trees are listed by the C library, which is missing", notes=(missing,))
        return
    span = spec.spans.get("list")
    for refusal in listing_refusals(problem, style):
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


def _listed(request: Request, asked: ListingRequest, counted: Counted, seconds: float) -> Listed:
    spec, reached = request.spec, counted.reached
    goal = spec.goals[0] if spec.goals else None
    sign = -1 if goal is not None and goal.sense == "maximize" else 1
    complete = not reached.stop and not counted.cut
    if asked.slack is not None:
        complete = complete and counted.following is None
    else:
        complete = complete and (reached.exhausted or counted.count == asked.most)
    best = None if reached.best is None else sign * reached.best
    limit = None if reached.limit is None or reached.exhausted else sign * reached.limit
    known = Listed(
        goal="satisfy" if goal is None else goal.text,
        sense="minimize" if goal is None else goal.sense,
        best=best,
        limit=limit,
        total=counted.total,
        count=counted.count,
        written=counted.written,
        merged=counted.merged,
        complete=complete,
        stop=reached.stop or ("" if complete else "count"),
        style=asked.style,
        seconds=seconds,
        statistics=counted.source.listing.statistics(),
        warnings=request.warnings,
        evidence=(Evidence("enumeration", "every tree up to the limit was counted"),) if counted.total else (),
    )
    return replace(known, statement=_statement(known, asked, counted))


def _statement(known: Listed, asked: ListingRequest, counted: Counted) -> str:
    """What the list holds, where it stops, and how it was counted."""
    reached, goal = counted.reached, known.goal
    if reached.exhausted and not known.total:
        return "no tree meets the requirements"
    if known.best is None:
        return f"nothing is known: the search for the best tree ran out of {reached.stop}"
    if not known.total:
        return f"the best value of `{goal}` is {_text(known.best)}; listing trees ran out of {reached.stop}"
    trees = f"{counted.count:,} tree" + ("" if counted.count == 1 else "s")
    return f"{trees}, best value {_text(known.best)}{_extent(known, asked, counted)}{_way_of_counting(known, counted)}"


def _extent(known: Listed, asked: ListingRequest, counted: Counted) -> str:
    reached = counted.reached
    if reached.exhausted and counted.count == known.total:
        return ": every tree that meets the requirements"
    if reached.stop:
        wanted = "" if asked.slack is None else f" of the {_wanted(asked)} asked for"
        upto = f"holds every tree up to {_text(known.limit)}, not all{wanted}"
        return f"; the list ran out of {reached.stop} and {upto}"
    if counted.count == known.total:
        return f": every tree up to {_text(known.limit)}"
    sign = -1 if known.sense == "maximize" else 1
    last = counted.source.value(counted.count - 1)
    many = f"{known.total:,} trees" + (" as written" if counted.merged and counted.total == counted.written else "")
    among = f"the first of {many}" + ("" if known.limit is None else f" up to {_text(known.limit)}")
    if counted.following is not None and counted.following != last:
        return f": {among}; every tree up to {_text(sign * last)} is there"
    return f": {among}; every tree better than {_text(sign * last)} is there, and some of that value"


def _way_of_counting(known: Listed, counted: Counted) -> str:
    """Where it makes a difference: whether trees of equal function are counted once."""
    if known.style:
        return f"; counted as {known.style} does"
    if not known.merged:
        return "; trees of equal function are counted separately: there are too many trees to compare them"
    if known.written == known.total:
        return ""
    return f" (trees of equal function count once: {known.written:,} as written)"


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
