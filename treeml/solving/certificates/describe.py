"""Problem, cells of the file -> the statement of a certificate: tests, costs and limits in the words of the file.

Every test and every cost is expressed by words and compared with the bits and costs of the problem, row by row. So the
header says what was solved, or the certificate is refused with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np

from treeml.data.dates import CALENDAR
from treeml.data.missing_words import MISSING_WORDS
from treeml.data.table import Dataset
from treeml.measures.lower_dataset import Lowered
from treeml.problem.evaluate import answers
from treeml.problem.fans import BRANCHES
from treeml.problem.problem import Bound, Feature, Problem
from treeml.problem.terms import Leaves, Loss, Predicted, Sum
from treeml.solving.certificates.cells import Cells, refuse
from treeml.solving.certificates.statement import Amount, Statement, TestFamily, listed, quoted

LIMIT = 2**53
MOST_LEAVES = 62
MOST_DEPTH = 60
_DECIMAL = re.compile(r"[+-]?\d{1,18}(?:\.(\d{1,18}))?")
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?")


def describe(dataset: Dataset, lowered: Lowered, cells: Cells) -> tuple[Statement, tuple[Bound, ...]]:
    """The statement without tree, claim and requirement, and the requirements that couple the leaves."""
    problem = lowered.problem
    _check_rows(dataset, cells)
    shape, coupled = _limits(problem)
    families = _without_doubles(_families(lowered, cells))
    missing = tuple(MISSING_WORDS) if any(feature.has_missing for feature in problem.features) else ()
    assert dataset.target is not None
    target = dataset.target.name
    losses = [term for goal in problem.goals for term in goal.sum.terms() if isinstance(term, Loss)]
    if losses:
        if coupled:
            raise refuse("a squared loss with a requirement that couples the leaves is not covered")
        return _squared(dataset, problem, cells, families, missing, shape), ()
    if not dataset.classes:
        raise refuse("certificates cover classes and squared losses")
    is_forest = dataset.spec.ensemble is not None  # its goal is the margin
    goals = () if is_forest else tuple(amount_of(goal.sum, dataset, cells) for goal in problem.goals)
    if len(goals) > 8:
        raise refuse("certificates cover up to 8 goals")
    statement = Statement(
        cells.separator, cells.rows, target, _classes(dataset, cells), shape["depth"], families, goals,
        shape["leaves"], shape["support"], missing,
    )  # fmt: skip
    return statement, coupled


def _check_rows(dataset: Dataset, cells: Cells) -> None:
    if dataset.target is None:
        raise refuse("clusterings are not covered")
    if dataset.rows != cells.rows:
        raise refuse(
            f"the file has {cells.rows} rows and {dataset.rows} of them are used, and leaving rows out is not covered"
        )
    for name in dataset.features:
        if dataset.column(name).type in CALENDAR:
            raise refuse(f"`{name}` holds dates or times, and checkers read numbers and words")
    if not dataset.features:
        raise refuse("there is no column to split on")
    filled = [
        name for name in dataset.features if (spec := dataset.spec.columns.get(name)) and spec.missing == "median"
    ]
    if filled:
        raise refuse(f"`{filled[0]}` is filled with its median, and checkers fill nothing in")


def _limits(problem: Problem) -> tuple[dict[str, int], tuple[Bound, ...]]:
    """Depth, leaves and rows per leaf, and the bounds that couple the leaves."""
    shape = {"depth": -1, "leaves": 0, "support": 1}
    coupled = []
    for bound in problem.bounds:
        kinds = bound.sum.all_kinds()
        if kinds <= {"Predicted", "Leaves"} and "Predicted" in kinds:
            coupled.append(bound)
        elif kinds not in ({"Depth"}, {"Leaves"}, {"Support"}) or len(bound.sum.parts) != 1:
            raise refuse(f"the requirement {bound.name} is not covered")
        elif bound.sense == "=" or (bound.sense == ">=") != (kinds == {"Support"}) or bound.sum.parts[0][0] < 0:
            raise refuse(f"the requirement {bound.name} is not covered: only limits from above of depth and leaves are")
    depth, leaves = problem.bound_on("Depth", "<="), problem.bound_on("Leaves", "<=")
    support = problem.bound_on("Support", ">=")
    if leaves is not None:
        shape["leaves"] = leaves.numerator // leaves.denominator
    if depth is None and leaves is None:
        raise refuse("neither depth nor leaves are limited", "add `require depth <= 4`")
    shape["depth"] = shape["leaves"] - 1 if depth is None else depth.numerator // depth.denominator
    if shape["leaves"] >= 2 ** min(shape["depth"], 40):
        shape["leaves"] = 0  # the depth says it already
    if support is not None:
        shape["support"] = max(1, -(-support.numerator // support.denominator))
    if min(shape["depth"], shape["leaves"]) < 0 or shape["leaves"] > MOST_LEAVES or shape["depth"] > MOST_DEPTH:
        raise refuse(f"certificates cover up to {MOST_LEAVES} leaves and depth {MOST_DEPTH}")
    return shape, tuple(coupled)


# Tests.


def _families(lowered: Lowered, cells: Cells) -> Iterator[TestFamily]:
    problem = lowered.problem
    for feature in problem.features:
        if feature.name not in cells.columns:
            raise refuse(f"the column `{feature.name}` is not in the file by this name, or twice")
        if feature.kind == BRANCHES:
            raise refuse(f"`{feature.name}` is split by branches, and certificates cover yes-or-no tests")
        column = cells.columns[feature.name]
        numbers = range(feature.first_test, feature.first_test + feature.tests)
        is_number = feature.kind == "ordered" and not any(lowered.questions[test].values for test in numbers[:1])
        if is_number and feature.tests:
            yield from _number_families(lowered, feature, column)
        else:
            for test in numbers:
                yield from _word_family(problem, feature, test, column)


def _word_family(problem: Problem, feature: Feature, test: int, column: list[str]) -> Iterator[TestFamily]:
    """The test by the words of its rarer side; nothing if all rows give the same answer, since no tree needs it."""
    yes = answers(problem, test, np.arange(problem.rows))
    is_swapped = 2 * int(yes.sum()) > problem.rows
    rarer = ~yes if is_swapped else yes
    words = {cell for cell, answer in zip(column, rarer.tolist(), strict=True) if answer}
    if words & {cell for cell, answer in zip(column, rarer.tolist(), strict=True) if not answer}:
        raise refuse(f"a test on `{feature.name}` does not follow from the words in the file")
    line = f"test {quoted(feature.name)} words {listed(sorted(words))}"
    if rarer.any():
        yield TestFamily(line, np.where(rarer, 0, 1), 1, (test,), is_swapped)


def _without_doubles(families: Iterator[TestFamily]) -> tuple[TestFamily, ...]:
    """Tests by words that split the rows alike, or the other way around, as one: no tree needs the others."""
    found: dict[bytes, TestFamily] = {}
    for number, family in enumerate(families):
        key = (
            (family.place ^ family.place[0]).astype(bool).tobytes()
            if family.line and family.cuts == 1
            else b"%d" % number
        )
        if key not in found:
            found[key] = family
            continue
        kept = found[key]
        is_turned = bool(kept.place[0] != family.place[0])
        others = tuple((test, family.is_swapped != is_turned) for test in family.tests)
        found[key] = replace(kept, others=kept.others + others)
    return tuple(found.values())


def _number_families(lowered: Lowered, feature: Feature, column: list[str]) -> Iterator[TestFamily]:
    """The cuts of a number column: missing values on the no side, on the yes side, and by themselves."""
    numbers = range(feature.first_test, feature.first_test + feature.tests)
    known = {cell: float(cell) for cell in set(column) if _NUMBER.fullmatch(cell)}
    if any(cell not in known and (cell not in MISSING_WORDS or not feature.has_missing) for cell in set(column)):
        raise refuse(f"`{feature.name}` holds numbers in a form that the checkers do not read")
    for missing_yes in (False, True):
        tests = [
            test
            for test in numbers
            if lowered.questions[test].kind == "at most" and lowered.questions[test].missing_yes == missing_yes
        ]
        if tests:
            yield _cut_family(lowered, feature, column, known, tests)
    for test in numbers:
        if lowered.questions[test].kind == "missing":
            yield from _word_family(lowered.problem, feature, test, column)


def _cut_family(
    lowered: Lowered, feature: Feature, column: list[str], known: dict[str, float], tests: list[int]
) -> TestFamily:
    missing_yes = lowered.questions[tests[0]].missing_yes
    cuts = [float(lowered.questions[test].value) for test in tests]
    places = {cell: int(np.searchsorted(cuts, value, side="left")) for cell, value in known.items()}
    place = np.array([places.get(cell, 0 if missing_yes else len(cuts)) for cell in column])
    codes = feature.codes
    assert codes is not None
    is_known = np.array([cell in known for cell in column])
    if (place[is_known] != codes[is_known]).any() or (codes[~is_known] >= 0).any():
        raise refuse(f"the cuts of `{feature.name}` do not follow from the numbers in the file")
    start, end = f"test {quoted(feature.name)} cuts", " missing" if missing_yes else ""
    line = f"{start} {' '.join(map(repr, cuts))}{end}"
    alone = tuple(f"{start} {cut!r}{end}" for cut in cuts)
    return TestFamily(line, place, len(cuts), tuple(tests), cut_lines=alone)


# Costs.


def _classes(dataset: Dataset, cells: Cells) -> tuple[tuple[str, ...], ...]:
    """The words of every class in the file."""
    assert dataset.target is not None
    if dataset.target.name not in cells.columns:
        raise refuse(f"the target `{dataset.target.name}` is not in the file by this name")
    words: list[set[str]] = [set() for _ in dataset.classes]
    for cell, number in zip(cells.columns[dataset.target.name], dataset.actual.tolist(), strict=True):
        words[number].add(cell)
    if sum(map(len, words)) != len(set().union(*words)) or not all(words) or len(words) > 64:
        raise refuse("the classes do not follow from the words of the target in the file")
    return tuple(tuple(sorted(each)) for each in words)


def amount_of(total: Sum, dataset: Dataset, cells: Cells) -> Amount:
    """A sum of costs of predictions and of leaves, in whole numbers of the largest unit that fits."""
    costs: Any = np.zeros((dataset.rows, len(dataset.classes)), dtype=np.int64)
    scale, price = Fraction(1), Fraction(0)
    for factor, term in total.parts:
        if isinstance(term, Predicted):
            costs, scale = term.cost, factor * term.scale
        elif isinstance(term, Leaves):
            price += factor
        else:
            raise refuse(f"{term.phrase} is not covered in a goal, or beside other measures in a requirement")
    if price < 0:
        raise refuse("a price per leaf below zero is not covered")
    weight, weights = row_weights(dataset, cells)
    exact, shares = _per_weight(costs, weights)
    unit = _unit([scale * share for share in shares] + [price])
    lines = _cost_lines(exact, np.flatnonzero(weights).tolist(), dataset, cells, scale / unit)
    whole = _whole(exact, scale / unit)
    if used_weight := bool((weights != 1).any()):
        whole = whole * weights[:, None]
    amount = Amount(whole, int(price / unit), unit, total.constant, lines, weight if used_weight else None)
    if amount.size >= LIMIT:
        raise refuse("the costs are too large: their sum reaches 2^53")
    return replace(amount, matrix=whole.astype(np.int64))


def row_weights(dataset: Dataset, cells: Cells) -> tuple[tuple[str, int] | None, Any]:
    """The column of weights with its scale, and the weights as the checkers compute them."""
    name = dataset.spec.weight_column or dataset.table.weight
    if name is None:
        return None, np.ones(dataset.rows, dtype=np.int64)
    if name not in cells.columns:
        raise refuse(f"the weights `{name}` are not in the file")
    matches = [_DECIMAL.fullmatch(cell) for cell in cells.columns[name]]
    if not all(matches):
        raise refuse(f"the weights `{name}` are not plain decimals")
    scale = 10 ** max(len(match[1] or "") for match in matches if match)
    exact = [Fraction(cell) * scale for cell in cells.columns[name]]
    return (name, scale), np.array([int(each) for each in exact], dtype=np.int64)


def _per_weight(costs: Any, weights: Any) -> tuple[Any, set[Fraction]]:
    """The costs of every row divided by its weight, as an array of fractions, and the different ones."""
    if (weights == 1).all():
        return costs, {Fraction(int(each)) for each in np.unique(costs)}
    exact = np.empty(costs.shape, dtype=object)
    known: dict[tuple[int, int], Fraction] = {}
    for row, weight in enumerate(weights.tolist()):
        for label, cost in enumerate(costs[row].tolist()):
            if weight == 0 and cost:
                raise refuse("the costs do not follow from the weights in the file")
            exact[row, label] = known.setdefault((cost, weight), Fraction(cost, weight or 1))
    return exact, set(known.values())


def _unit(amounts: list[Fraction]) -> Fraction:
    """The largest unit of which all amounts are multiples."""
    top = bottom = 0
    for amount in amounts:
        if amount:
            top, bottom = (
                gcd(top * amount.denominator, amount.numerator * (bottom or 1)),
                (bottom or 1) * amount.denominator,
            )
            shared = gcd(top, bottom)
            top, bottom = top // shared, bottom // shared
    return Fraction(top, bottom) if top else Fraction(1)


def _whole(exact: Any, scale: Fraction) -> Any:
    whole = exact.astype(object) * scale
    return np.array([[int(cost) for cost in row] for row in whole.tolist()], dtype=object)


def _cost_lines(exact: Any, rows: list[int], dataset: Dataset, cells: Cells, scale: Fraction) -> tuple[str, ...]:
    """Lines that give these rows their costs: by the target alone, else by the target and one more column."""
    assert dataset.target is not None
    target = dataset.target.name
    vectors = [tuple(row) for row in exact.tolist()]
    others = [name for name in cells.columns if name != target and len(set(cells.columns[name])) <= 64]
    for other in (None, *others):
        keys = list(zip(cells.columns[target], cells.columns[other] if other else [""] * dataset.rows, strict=True))
        found: dict[tuple[str, str], Any] = {}
        if all(found.setdefault(keys[row], vectors[row]) == vectors[row] for row in rows):
            return tuple(_lines(found, target, other, scale))
    raise refuse("the costs of rows follow neither from the target nor from the target and one more column")


def _lines(found: dict[tuple[str, str], Any], target: str, other: str | None, scale: Fraction) -> Iterator[str]:
    for (word, more), vector in sorted(found.items()):
        costs = " ".join(str(int(cost * scale)) for cost in vector)
        if any(vector):
            yield f"cost {costs}"
            yield f"when {quoted(target)} {quoted(word)}"
            if other:
                yield f"when {quoted(other)} {quoted(more)}"


# Squared loss.


def _squared(
    dataset: Dataset,
    problem: Problem,
    cells: Cells,
    families: tuple[TestFamily, ...],
    missing: tuple[str, ...],
    shape: dict[str, int],
) -> Statement:
    (goal,) = problem.goals if len(problem.goals) == 1 else (None,)
    if goal is None or goal.negated:
        raise refuse("a squared loss is covered as the only goal")
    losses = [(factor * term.scale, term) for factor, term in goal.sum.parts if isinstance(term, Loss)]
    prices = sum((factor for factor, term in goal.sum.parts if isinstance(term, Leaves)), Fraction(0))
    if len(losses) != 1 or losses[0][1].kind != "squared" or losses[0][1].targets.shape[1] != 1:
        raise refuse("of the losses, the squared one of one target is covered")
    if len(goal.sum.parts) > 1 + bool(prices):
        raise refuse("a squared loss is covered with a price per leaf and nothing else")
    assert dataset.target is not None
    name = dataset.target.name
    weight, weights = row_weights(dataset, cells)
    matches = [_DECIMAL.fullmatch(cell) for cell in cells.columns.get(name, [""])]
    if not all(matches):
        raise refuse(f"the numbers of `{name}` are not plain decimals")
    scale = 10 ** max(len(match[1] or "") for match in matches if match)
    targets = [int(Fraction(cell) * scale) for cell in cells.columns[name]]
    factor, term = losses[0]
    # factor * sum of weight * target^2 in the units of the problem is unit * the same in whole numbers of the file.
    unit = _square_unit(factor, term, weights, targets)
    price = prices / unit
    if price.denominator != 1:
        raise refuse("the price per leaf is not a whole number in the units of the squared loss")
    middle = sum(targets) // len(targets)
    shifted = [target - middle for target in targets]
    if sum(w * abs(s) for w, s in zip(weights.tolist(), shifted, strict=True)) >= 2**31 or (weights < 0).any():
        raise refuse("the squared loss is too large for the checkers")
    if sum(weights.tolist()) >= LIMIT:
        raise refuse("the weights are too large for the checkers")
    rows = [(w, w * s, w * s * s) for w, s in zip(weights.tolist(), shifted, strict=True)]
    if sum(row[2] for row in rows) + int(price) * len(rows) >= LIMIT:
        raise refuse("the squared loss is too large for the checkers")
    amount = Amount(None, int(price), unit, goal.sum.constant, (), weight)
    return Statement(
        cells.separator, cells.rows, name, (), shape["depth"], families, (amount,), shape["leaves"], shape["support"],
        missing, scale=scale, claim="", targets=np.array(rows, dtype=np.int64),
    )  # fmt: skip


def _square_unit(factor: Fraction, term: Loss, weights: Any, targets: list[int]) -> Fraction:
    """The problem's loss per unit of the file's; refuses if targets or weights are not the same up to a factor."""
    problem_targets = [int(each) for each in term.targets[:, 0]]
    place = max(range(len(targets)), key=lambda row: abs(targets[row]))
    ratio = Fraction(problem_targets[place], targets[place]) if targets[place] else Fraction(1)
    heavy = int(np.argmax(weights))
    share = Fraction(int(term.weight[heavy]), int(weights[heavy])) if weights[heavy] else Fraction(1)
    same = all(ratio * mine == theirs for mine, theirs in zip(targets, problem_targets, strict=True))
    if not same or any(share * int(w) != int(v) for w, v in zip(weights, term.weight, strict=True)):
        raise refuse("the targets or weights of the problem are not those of the file")
    return factor * ratio * ratio * share
