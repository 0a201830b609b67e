"""Lowered problem -> a requirement that no tree of any depth can meet on these rows, if there is one.

Rows that agree on every feature reach the same leaf of every tree. Counting gives the least cost of that, so a spec
that asks for less is refused before any solver runs, and the message shows two such rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeml.lang.diagnostic import Diagnostic, Label
from treeml.lang.numerals import readable
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Predicted

if TYPE_CHECKING:
    from treeml.data.table import Dataset
    from treeml.lang.spec import Requirement
    from treeml.measures.lower_dataset import Lowered


@dataclass(frozen=True, slots=True)
class Impossible:
    """A bound that the rows alone rule out, and the message about it."""

    name: str
    diagnostic: Diagnostic


def impossible(lowered: Lowered) -> Impossible | None:
    """The first bound on predictions that rows with equal features make impossible."""
    bounds = [bound for bound in lowered.problem.bounds if _is_on_predictions(bound) and not _a_leaf_meets(bound)]
    if not bounds:
        return None
    groups = alike(lowered.problem)
    for bound in bounds:
        least, most = _reach(bound, groups)
        if bound.sense != ">=" and least > bound.limit:
            return Impossible(bound.name, _message(bound, least, groups, lowered))
        if bound.sense != "<=" and most < bound.limit:
            return Impossible(bound.name, _message(bound, most, groups, lowered))
    return None


def _is_on_predictions(bound: Bound) -> bool:
    return len(bound.sum.parts) == 1 and isinstance(bound.sum.parts[0][1], Predicted)


def _a_leaf_meets(bound: Bound) -> bool:
    """Does one class for all rows meet the bound? That is seen without comparing rows."""
    factor, term = bound.sum.parts[0]
    assert isinstance(term, Predicted)
    share = term.scale if factor == 1 else factor * term.scale
    limit = bound.limit - bound.sum.constant if bound.sum.constant else bound.limit
    most = limit.numerator * share.denominator
    values = (total * share.numerator * limit.denominator for total in term.totals)
    return any((bound.sense == ">=" or value <= most) and (bound.sense == "<=" or value >= most) for value in values)


def _reach(bound: Bound, groups: NDArray[np.intp]) -> tuple[Fraction, Fraction]:
    """The least and the greatest value of a sum of predictions if every group gets one class."""
    factor, term = bound.sum.parts[0]
    assert isinstance(term, Predicted)
    totals = np.zeros((int(groups.max()) + 1, term.cost.shape[1]), dtype=np.int64)
    np.add.at(totals, groups, term.cost)
    ends = [factor * term.scale * int(end.sum()) for end in (totals.min(axis=1), totals.max(axis=1))]
    return bound.sum.constant + min(ends), bound.sum.constant + max(ends)


def alike(problem: Problem) -> NDArray[np.intp]:
    """The number of every row's group; no test distinguishes the rows of a group."""
    codes = [feature.codes for feature in problem.features]
    if problem.given_bits is not None or any(code is None for code in codes):
        matrix: NDArray[Any] = np.packbits(problem.bits, axis=0).T
    else:
        matrix = (
            np.stack([code for code in codes if code is not None], axis=1) if codes else np.zeros((problem.rows, 1))
        )
    keys = np.ascontiguousarray(matrix).view(np.dtype((np.void, matrix.dtype.itemsize * matrix.shape[1]))).ravel()
    return np.unique(keys, return_inverse=True)[1].ravel()


def _message(bound: Bound, best: Fraction, groups: NDArray[np.intp], lowered: Lowered) -> Diagnostic:
    dataset = lowered.dataset
    requirement = next(each for each in dataset.spec.requirements if (each.name or each.text) == bound.name)
    value = _in_user_terms(requirement, best, lowered)
    at_best = "" if value is None else f"at best it is {readable(value)}"
    fact, notes = f"{at_best or 'it is out of reach'}, whatever is predicted", []
    clash = clashing(groups, dataset)
    if clash is not None:
        first, second, alike = clash
        target = dataset.target.name if dataset.target is not None else "the target"
        fact = f"rows {first} and {second} agree on every feature, not on `{target}`"
        notes.append("; ".join(filter(None, (f"{alike} rows cannot be told from rows of another class", at_best))))
    labels = () if requirement.span is None else (Label(requirement.span, fact),)
    if not labels:
        notes.insert(0, fact)
    helps = ["relax this line, or clean the rows"]
    if [(str(factor), use.measure) for factor, use in requirement.expression.parts] == [("1", "errors")]:
        sense = ">=" if requirement.sense == ">=" else "<="
        helps = [f"`require errors {sense} {readable(best)}`, or clean the rows"]
    if dataset.spec.binarizations:
        helps.append("finer cuts may tell them apart: `binarize all by thresholds`")
    helps.append(how_far(requirement, dataset.spec.file))
    title = f"no tree of any depth can meet `{requirement.text or requirement.name}` on this data"
    return Diagnostic("F602", title, labels, tuple(notes), tuple(helps), place=dataset.table.source)


def how_far(requirement: Requirement, file: str) -> str:
    """The command that finds out how far a requirement would have to give.

    `file` holds the whole spec: the requirement itself may stand in a file that it includes.
    """
    name = requirement.name or requirement.text
    asks = (
        f"`treeml explain {quote(file)} --why --nearest {quote(name)}`" if file else f"`model.why(nearest=[{name!r}])`"
    )
    return f"{asks} says how far it would have to give"


def _in_user_terms(requirement: Requirement, best: Fraction, problem: Lowered) -> Fraction | None:
    """The value of the requirement's expression if its bound is at `best`; None if that does not follow simply."""
    from treeml.measures.lower import lower_linear

    lowered = lower_linear(requirement.expression, problem.dataset, problem.problem.features)
    kinds = lowered.kinds()
    if kinds <= {"Predicted"}:
        return best + lowered.constant
    if kinds == {"Largest"} and len(lowered.parts) == 1:
        return lowered.parts[0][0] * best + lowered.constant
    return None


def clashing(groups: NDArray[np.intp], dataset: Dataset) -> tuple[int, int, int] | None:
    """Two rows (numbered from 1) that differ only in their class, and the number of rows with such a partner."""
    classes = max(len(dataset.classes), 1)
    seen = np.zeros((int(groups.max()) + 1, classes), dtype=np.int64)
    np.add.at(seen, (groups, dataset.actual), 1)
    mixed = (seen > 0).sum(axis=1) > 1
    if not mixed.any():
        return None
    group = int(groups[mixed[groups]][0])
    rows = np.flatnonzero(groups == group)
    other = rows[dataset.actual[rows] != dataset.actual[rows[0]]][0]
    numbers = dataset.row_numbers[[rows[0], other]] + 1
    return int(numbers[0]), int(numbers[1]), int(seen[mixed].sum())
