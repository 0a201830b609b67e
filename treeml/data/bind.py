"""Spec, Table -> Dataset: every column in its role, in whole numbers; or all mistakes of spec and data together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data import spec_checks
from treeml.data.classes import are_classes, classes_of, numbered_as
from treeml.data.hazards import hazards
from treeml.data.linear import LinearColumns, without_base
from treeml.data.mentions import Mention, mentions, uses
from treeml.data.missing import fill
from treeml.data.rounding import (
    Rounding,
    costs_may_be_rounded,
    reads_weights,
    targets_may_be_rounded,
    weighs_distances,
    weights_are_added_up,
    weights_may_be_rounded,
)
from treeml.data.scaling import EXACT, fit, whole_fractions, whole_numbers
from treeml.data.table import BitColumns, Column, Dataset, Table, Whole, label_text
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.identity import Same
from treeml.lang.measures import BUILT_IN, MEASURES
from treeml.lang.spec import UNDECLARED, LinearLeaves, Spec, Use

_SAFE = 2**62  # sums of weights, and of targets, stay below this
_LARGEST = 2**58  # and each target below this, so that solvers can shift them; exact sums of weights for every solver
LEAST_DIGITS = 1_000_000  # weights are never rounded more coarsely than to mean / this
_ROUNDED_EACH = 2**24  # weights that multiply distances of numbers are rounded to at most this mean,
_ROUNDED_BESIDE_PRICES = 2**57  # and where every row may pay a price in the same units, to this sum divided by the rows
_SMALLEST_BUMP = 2**26  # what is added to a weight is at most this part of all weights
_KEPT = 10**9  # rounding must leave every weight and cost at least this many units
FEW_ROWS = 20  # in fewer rows, a column and the target may agree by chance
_TRUTHS = (("0", "1"), ("false", "true"), ("no", "yes"))


def bind(spec: Spec, table: Table, *, keep: bool = False, known_classes: tuple[Any, ...] = ()) -> Dataset:
    """Join a spec with its data; `keep` also stores the original table, so that folds of its rows can be bound.

    With `known_classes`, those of the training rows, these rows are only measured: they may lack classes, levels and
    groups that the spec names, and the measures of these are undefined.
    """
    given = table if keep else None
    if table.again is not None:
        table = replace(table, again=None)  # it may hold the content of a file
    table = _with_numbers(spec, table)
    mistakes: list[Diagnostic] = []
    notes = list(table.notes)
    roles = _roles(spec, table, mistakes, notes)
    table, row_numbers = fill(spec, table, roles.needed, roles.without_gaps, notes, mistakes)
    target = table.columns.get(roles.target) if roles.target is not None else None
    as_classes = are_classes(spec, target, roles.tasks)
    if target is not None:
        mistakes += spec_checks.wrong_task(spec, table, target, as_classes, roles.uses)
    classes, actual = _classes(target if as_classes else None, known_classes, notes)
    if len(classes) > 1 and not known_classes and spec.observed is None:
        notes += _tells_all(table, roles.features, classes, actual)
    mistakes += _unusable_columns(spec, table, roles)
    if any(mistake.code in ("D416", "T301") for mistake in mistakes) or (target is None and roles.target is not None):
        raise DataError(_in_order(mistakes))  # without a target, what else is wrong cannot be known
    positive = _positive(spec, table, classes, roles.uses, notes, mistakes)
    mistake_cost, mistake_scale = _mistake_costs(spec, table, classes, mistakes)
    sound = roles.weight if roles.weight in table.columns and not mistakes else None
    weights = _weights(spec, table, sound, classes, actual, mistake_cost, notes, mistakes)
    row_costs = _row_costs(spec, table, classes, weights, notes, mistakes)
    targets, target_scale, target_error = _targets(spec, table, roles, target, as_classes, notes, mistakes)
    dataset = Dataset(
        spec=spec,
        table=table,
        rows=table.rows,
        row_numbers=row_numbers,
        features=roles.features,
        target=target,
        classes=classes,
        actual=actual,
        positive=positive,
        weight=_of_all(weights.whole, table),
        weight_scale=weights.scale,
        targets=targets,
        target_scale=target_scale,
        mistake_cost=mistake_cost,
        mistake_scale=mistake_scale,
        row_cost=row_costs.whole,
        row_cost_scale=row_costs.scale,
        test_cost=dict(spec.test_costs),
        test_discount=dict(spec.test_discounts),
        notes=tuple(notes),
        given=given,
        rounding=Rounding(weights.error, target_error, weights.moved, row_costs.moved),
        given_weight=None if weights.given is None else (_of_all(weights.given[0], table), weights.given[1]),
        count=None if table.merged is None else table.merged.count,
    )
    if not known_classes:
        mistakes += spec_checks.unknown_classes_and_groups(dataset, roles.uses)
    if mistakes:
        raise DataError(_in_order(mistakes))
    return _with_remarks(dataset, roles)


def _with_remarks(dataset: Dataset, roles: Roles) -> Dataset:
    """The dataset with what linear leaves need, and with remarks on all of it."""
    notes, linear = dataset.notes, dataset.spec.linear
    if linear is not None:
        dataset = replace(dataset, linear=_linear(linear, roles.linear, dataset))
        notes = (*notes, "the linear models of leaves are computed in floating point")
    more = spec_checks.remarks(dataset, roles.uses)
    return replace(dataset, notes=(*notes, *more)) if more or linear is not None else dataset


def _tells_all(table: Table, features: Sequence[str], classes: Sequence[Any], actual: NDArray[np.int32]) -> list[str]:
    """A note for every feature that is the target under other names, which is rarely meant."""
    found: list[str] = []
    if table.rows < FEW_ROWS or isinstance(table.columns, BitColumns):
        return found
    for name in features:
        column = table.columns[name]
        if len(column.levels) != len(classes) or column.missing is not None:
            continue
        class_of: dict[int, int] = {}
        first = zip(column.values[:FEW_ROWS].tolist(), actual[:FEW_ROWS].tolist(), strict=True)
        if any(class_of.setdefault(code, number) != number for code, number in first):
            continue
        if len(np.unique(column.values.astype(np.int64) * len(classes) + actual)) == len(classes):
            found.append(f"`{name}` alone tells the class of every row: leave it out if it follows from the target")
    return found


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of the columns."""

    mentions: list[Mention]
    uses: list[Use]
    target: str | None
    weight: str | None
    clustered: list[str]
    linear: tuple[str, ...]  # that the linear models of leaves depend on
    features: tuple[str, ...]
    tasks: frozenset[str]
    without_gaps: list[str]  # the columns whose missing values cannot be kept apart
    needed: list[str]  # the columns whose missing values matter


def _roles(spec: Spec, table: Table, mistakes: list[Diagnostic], notes: list[str]) -> Roles:
    return roles_of_bits(spec, table) or _make_roles(spec, table, mistakes, notes)


def roles_of_bits(spec: Spec, table: Table) -> Roles | None:
    """The roles of the columns of a matrix of 0 and 1; None if other columns or remarks make a closer look necessary.

    Only the names of the columns matter, and a model is solved many times: fold by fold, limit by limit.
    """
    columns = table.columns
    if not isinstance(columns, BitColumns) or columns.others:
        return None
    return _roles_of_bits(Same(spec), tuple(columns.index), table.target, table.weight)


@lru_cache(maxsize=32)
def _roles_of_bits(spec: Same[Spec], names: tuple[str, ...], target: str | None, weight: str | None) -> Roles | None:
    """None if there is something to say about the columns, which needs the table."""
    bits = BitColumns(names, np.zeros((len(names), 1), dtype=np.bool_), (0, 1), {})
    mistakes: list[Diagnostic] = []
    notes: list[str] = []
    roles = _make_roles(spec.kept, Table(bits, 1, target=target, weight=weight), mistakes, notes)
    return None if mistakes or notes else roles


@lru_cache(maxsize=32)
def _named_and_asked(spec: Same[Spec]) -> tuple[tuple[Mention, ...], tuple[Use, ...]]:
    """The columns and the measures of a spec, which is bound many times: fold by fold, limit by limit."""
    return tuple(mentions(spec.kept)), tuple(uses(spec.kept))


def _make_roles(spec: Spec, table: Table, mistakes: list[Diagnostic], notes: list[str]) -> Roles:
    named, asked = _named_and_asked(Same(spec))
    mistakes += spec_checks.absent_columns(named, table, spec)
    target = spec.target if spec.target is not None else table.target
    weight = spec.weight_column if spec.weight_column is not None else table.weight
    clustered = list(dict.fromkeys(mention.column for mention in named if mention.role == "cluster"))
    costs = dict.fromkeys(column for column, _ in spec.row_costs.values())
    features = _features(spec, table, target, weight, clustered, mistakes, notes)
    linear = spec_checks.linear_names(spec, table, features)
    tasks = frozenset(MEASURES[use.measure].task for use in asked)
    if target is None and (tasks & {"classes", "numbers", "ensemble"} or not clustered):
        mistakes.append(spec_checks.no_target(spec, table))
    whole = [name for name in (target, spec.observed, weight, *clustered, *costs, *linear) if name is not None]
    matter = ("target", "weight", "group", "condition", "cluster", "cost")
    needed = dict.fromkeys((*features, *(each.column for each in named if each.role in matter), *whole))
    return Roles(list(named), list(asked), target, weight, clustered, linear, features, tasks, whole, list(needed))


def _classes(
    target: Column | None, known: tuple[Any, ...], notes: list[str]
) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    """The classes in this column, after those that are known, and the number of that of every row."""
    if target is None:
        return (), np.empty(0, dtype=np.int32)
    classes, actual = numbered_as(known, *classes_of(target))
    if len(classes) == 1:
        notes.append(f"every row is of class `{label_text(classes[0])}`, so a single leaf makes no error")
    return classes, actual


def _unusable_columns(spec: Spec, table: Table, roles: Roles) -> list[Diagnostic]:
    return [
        *spec_checks.unsuitable_binarizations(spec, table, roles.features),
        *spec_checks.unusable_weights(spec, table, roles.weight),
        *spec_checks.unusable_clusters(roles.mentions, table),
        *spec_checks.unusable_costs(roles.mentions, table),
        *spec_checks.unusable_linear(spec, table, roles.linear),
    ]


def _with_numbers(spec: Spec, table: Table) -> Table:
    """The table in which undeclared columns of 0 and 1 that linear models name are numbers, as if declared so."""
    named = () if spec.linear is None else spec.linear.columns
    undeclared = [name for name in named if name in table.columns and not spec.columns.get(name, UNDECLARED).type]
    counted = [table.columns[name] for name in undeclared if spec_checks.reads_as_numbers(table.columns[name])]
    if not counted:
        return table
    numbers = {column.name: replace(column, type="number", values=_floats(column), levels=()) for column in counted}
    return replace(table, columns={**table.columns, **numbers})


def _floats(column: Column) -> NDArray[np.float64]:
    values = spec_checks.numbers_of(column).astype(np.float64)
    return values if column.missing is None else np.where(column.missing, np.nan, values)


def _linear(model: LinearLeaves, names: tuple[str, ...], dataset: Dataset) -> LinearColumns:
    columns, base = zip(*(without_base(dataset.column(name).values) for name in names), strict=True)
    numbers = dataset.targets[:, 0]
    middle = (int(numbers.min()) + int(numbers.max())) // 2 if len(numbers) else 0
    target = (numbers - middle).astype(np.float64) * float(dataset.target_scale)
    offset = float(middle * dataset.target_scale)
    weight = (dataset.weight * float(dataset.weight_scale)).astype(np.float64)
    values, ridge = np.column_stack(columns), float(model.ridge)
    return LinearColumns.of(names, values, target, weight, ridge, model.is_simple, offset, base if any(base) else ())


def _in_order(mistakes: list[Diagnostic]) -> list[Diagnostic]:
    """In the order of the text; mistakes without a span come last."""
    return sorted(mistakes, key=lambda mistake: mistake.labels[0].span.start if mistake.labels else float("inf"))


def _features(
    spec: Spec,
    table: Table,
    target: str | None,
    weight: str | None,
    clustered: list[str],
    mistakes: list[Diagnostic],
    notes: list[str],
) -> tuple[str, ...]:
    columns = table.columns
    left_out = {
        target,
        spec.observed,
        weight,
        *spec.excluded,
        *spec.forbidden,
        *(column for column, _ in spec.row_costs.values()),
    }
    if spec.features is None:
        left_out.update(clustered)
        candidates: Any = columns
    else:
        mistakes += spec_checks.unusable_features(spec, table, target, weight)
        candidates = [name for name in dict.fromkeys(spec.features) if name in columns]
    if isinstance(columns, BitColumns):  # no column of the matrix is text, and none of them has to be made
        texts = [name for name, column in columns.others.items() if column.type == "text"]
        left_out.update(texts)
        chosen = tuple([name for name in candidates if name not in left_out])
    else:
        chosen = tuple(name for name in candidates if name not in left_out and columns[name].type != "text")
    if not chosen:
        notes.append("there is no column to split on, so the tree is a single leaf")
    return chosen


def _positive(
    spec: Spec, table: Table, classes: tuple[Any, ...], asked: list[Any], notes: list[str], mistakes: list[Diagnostic]
) -> int | None:
    if not classes:
        return None
    texts = [label_text(label) for label in classes]
    if spec.positive is not None:
        if spec.positive in texts:
            return texts.index(spec.positive)
        mistakes.append(spec_checks.unknown_class(spec.positive, classes, table, spec.spans.get("positive")))
        return None
    speaks = [use for use in asked if MEASURES[use.measure].needs_positive]
    lowered = [text.lower() for text in texts]
    for _, yes in _TRUTHS:
        if (
            len(classes) <= 2
            and yes in lowered
            and all(any(text in truth for truth in _TRUTHS if yes in truth) for text in lowered)
        ):
            if speaks:
                target = spec.target or table.target
                notes.append(
                    f"the positive class of `{target}` is `{texts[lowered.index(yes)]}`, since no other was named"
                )
            return lowered.index(yes)
    mistakes.extend(spec_checks.positive_unsaid(spec, table, use, classes) for use in speaks)
    return None


def _mistake_costs(
    spec: Spec, table: Table, classes: tuple[Any, ...], mistakes: list[Diagnostic]
) -> tuple[Whole, Fraction]:
    size = len(classes)
    if not spec.mistake_costs:
        return 1 - np.eye(size, dtype=np.int64), Fraction(1)
    number = {label_text(label): code for code, label in enumerate(classes)}
    costs = [[Fraction(int(i != j)) for j in range(size)] for i in range(size)]
    for (predicted, real), cost in spec.mistake_costs.items():
        sides = {f"cost predicted:{predicted}": predicted, f"cost actual:{real}": real}
        unknown = {key: label for key, label in sides.items() if label not in number}
        for key, label in unknown.items():
            mistake = spec_checks.unknown_class(label, classes, table, spec.spans.get(key))
            if mistake not in mistakes:
                mistakes.append(mistake)
        if not unknown:
            costs[number[predicted]][number[real]] = cost
    whole, scale = whole_fractions([cost for row in costs for cost in row])
    if max(map(abs, whole), default=0) > _SAFE:
        spans = (spec.spans.get(f"cost predicted:{each}") for each, _ in spec.mistake_costs)
        mistakes.append(spec_checks.too_many_digits("costs of mistakes", table, next(spans, None)))
        whole = [0] * len(whole)
    return np.array(whole, dtype=np.int64).reshape(size, size), scale


_Scaled = Callable[[int, int], tuple[Whole, Fraction, Fraction]]  # most together, most alone -> weights, scale, change


@dataclass(frozen=True, slots=True)
class _Weights:
    """Row weights = whole * scale, the largest change by rounding, relative to the weight, and all changes together."""

    whole: Whole
    scale: Fraction = Fraction(1)
    error: Fraction = Fraction(0)
    moved: Fraction = Fraction(0)
    given: tuple[NDArray[Any], Fraction] | None = None


def _weights(
    spec: Spec,
    table: Table,
    name: str | None,
    classes: tuple[Any, ...],
    actual: NDArray[np.int32],
    costs: Whole,
    notes: list[str],
    mistakes: list[Diagnostic],
) -> _Weights:
    """Row weights as whole numbers, exact if their sum, times the largest cost, stays below 2**58.

    Beyond that they are rounded if `rounding.py` allows it and all of them keep their leading digits, which they need
    not where only their sum over all rows counts. Otherwise they are exact up to 2**62, too large for some back-ends,
    or refused.
    """
    if name is None and not spec.class_weights:
        return _Weights(np.ones(table.rows, dtype=np.int64))
    column = table.columns[name] if name is not None else None
    values = np.ones(table.rows) if column is None else spec_checks.numbers_of(column)
    products = _class_products(spec, table, values, classes, actual, mistakes) if spec.class_weights else None

    def scaled(most: int, largest: int) -> tuple[Whole, Fraction, Fraction]:
        if products is None:
            return whole_numbers(values, most, largest)
        exact, counts, where = products
        fitted, scale, moved = fit(exact, counts, most, largest)
        return np.array(fitted, dtype=np.int64)[where], scale, moved

    may_round = weights_may_be_rounded(spec)
    are_added_up = may_round and weights_are_added_up(spec)
    weight, scale, moved, bump = _fitted(spec, table, costs, scaled, may_round, are_added_up)
    if not weight.any():
        mistakes.append(spec_checks.no_weight(spec, table, name))
    if not moved:
        return _Weights(weight, scale)
    lose_digits = not are_added_up and _least(weight) < _KEPT
    if not may_round or lose_digits or bool(((weight == 0) & (values != 0)).any()):
        mistakes.append(spec_checks.too_many_digits("weights", table, spec.spans.get("weight")))
    notes.append(
        f"weights were rounded to multiples of {float(scale):g}, so that their sums are exact; "
        f"their total moves by at most {float(moved):.2g}"
    )
    # Half a unit, and what the multiplication of a float by a power of ten may add.
    error = Fraction(1, 2 * int(weight[weight > 0].min(initial=_SAFE))) + Fraction(1, 2**51)
    error += Fraction(bump, int(weight.max(initial=1)))
    is_required = any(reads_weights(use) for each in spec.requirements for _, use in each.expression.parts)
    return _Weights(weight, scale, error, moved, _unrounded(values, products) if is_required else None)


def _fitted(
    spec: Spec, table: Table, costs: Whole, scaled: _Scaled, may_round: bool, are_added_up: bool
) -> tuple[Whole, Fraction, Fraction, int]:
    """Weights, their scale, and how far all of them together are moved; also what was added to the largest one."""
    is_priced = any(use.measure == "mistake_cost" or use.measure not in BUILT_IN for use in uses(spec))
    dearest = max(1, int(np.abs(costs).max(initial=1))) if is_priced else 1
    room = max(_LARGEST // dearest, LEAST_DIGITS * table.given_rows)
    bump = 0
    weight, scale, moved = scaled(room, room)
    if moved and not may_round:
        weight, scale, moved = scaled(_SAFE - 1, _SAFE - 1)
    elif moved:
        most = max(_room_of_sums(spec, table.given_rows, are_added_up) // dearest, LEAST_DIGITS * table.given_rows)
        coarse = scaled(most, EXACT)
        if are_added_up or _least(coarse[0]) >= _KEPT:
            weight, scale, moved = coarse
        if are_added_up:
            bump = _bump_to_round_sum(spec, weight, table)
            moved += bump * scale
    return weight, scale, moved, bump


def _bump_to_round_sum(spec: Spec, weight: Whole, table: Table) -> int:
    """Adds a little to the largest weight, so that prices beside a share of all rows are whole numbers of its units.

    Returns what was added: 0 if the prices have too many digits for that.
    """
    factors = [factor for goal in spec.goals for factor, _ in goal.expression.parts]
    denominator = lcm(*(factor.denominator for factor in factors))
    total = int(weight.sum())
    if len(factors) < 2 or table.merged is not None or denominator > total // _SMALLEST_BUMP:
        return 0
    bump = -total % denominator
    weight[weight.argmax()] += bump
    return bump


def _room_of_sums(spec: Spec, rows: int, are_added_up: bool) -> int:
    """What rounded weights add up to at most: the less, the more room is left for what is added or multiplied.

    Weights that add up to more than 2**52 are beyond most solvers.
    """
    most = EXACT // 2
    if are_added_up and weighs_distances(spec):
        return min(rows * _ROUNDED_EACH, most)
    is_priced = any(not reads_weights(use) for goal in spec.goals for _, use in goal.expression.parts)
    return min(_ROUNDED_BESIDE_PRICES // max(rows, 1), most) if are_added_up and is_priced else most


@dataclass(frozen=True, slots=True)
class _RowCosts:
    """Rows x classes: costs = whole * scale, and the most that rounding moves the cost of any predictions."""

    whole: Whole | None = None
    scale: Fraction = Fraction(1)
    moved: Fraction = Fraction(0)


def _row_costs(
    spec: Spec, table: Table, classes: tuple[Any, ...], weights: _Weights, notes: list[str], mistakes: list[Diagnostic]
) -> _RowCosts:
    """The costs in columns as whole numbers, exact if their weighted sum stays below 2**58, else rounded or refused."""
    if not spec.row_costs:
        return _RowCosts()
    number = {label_text(label): code for code, label in enumerate(classes)}
    for predicted in spec.row_costs:
        if predicted not in number:
            span = spec.spans.get(f"cost predicted:{predicted}")
            mistakes.append(spec_checks.unknown_class(predicted, classes, table, span))
    if mistakes:
        return _RowCosts()
    columns = [spec_checks.numbers_of(table.columns[name]) for name, _ in spec.row_costs.values()]
    span = next((spec.spans.get(f"row cost:{name}") for name, _ in spec.row_costs.values()), None)
    heaviest = max(1, int(weights.whole.max(initial=1)))
    stacked = np.concatenate(columns)
    if _loses_digits(columns, stacked):
        mistakes.append(spec_checks.too_many_digits("costs", table, span))
        return _RowCosts()
    whole, scale, moved = whole_numbers(stacked, _LARGEST, _LARGEST)
    if moved or int(np.abs(whole).max(initial=0)) * heaviest * table.rows > _LARGEST:
        room = EXACT // (2 * heaviest)
        if room >= LEAST_DIGITS * len(stacked) and costs_may_be_rounded(spec):
            whole, scale, moved = whole_numbers(stacked, room, room)
        elif moved:
            mistakes.append(spec_checks.too_many_digits("costs", table, span))
            return _RowCosts()
    cost = np.zeros((table.rows, len(classes)), dtype=np.int64)
    for place, (predicted, (_, is_gain)) in enumerate(spec.row_costs.items()):
        part = whole[place * table.rows : (place + 1) * table.rows]
        cost[:, number[predicted]] = -part if is_gain else part
    if not moved:
        return _RowCosts(cost, scale)
    # Half a unit for every row, and what the multiplication of a float by a power of ten may add.
    total = int(weights.whole.sum()) * weights.scale
    change = scale * (Fraction(1, 2) + Fraction(int(np.abs(whole).max()), 2**51)) * total
    notes.append(
        f"costs of rows were rounded to multiples of {float(scale):g}; "
        f"the cost of a tree moves by at most {float(change):.2g}"
    )
    return _RowCosts(cost, scale, change)


def _loses_digits(columns: Sequence[NDArray[Any]], joined: NDArray[Any]) -> bool:
    """Are there whole numbers that floats cannot hold, and was the joined column made of floats?"""
    return joined.dtype.kind == "f" and any(each.dtype.kind in "iu" and _beyond_floats(each) for each in columns)


def _beyond_floats(values: NDArray[Any]) -> bool:
    return len(values) > 0 and max(abs(int(values.min())), abs(int(values.max()))) > EXACT


def _unrounded(
    values: NDArray[Any], products: tuple[list[Fraction], list[int], NDArray[np.intp]] | None
) -> tuple[NDArray[Any], Fraction]:
    """The weights of all rows as integers of any size, and their scale."""
    if products is not None:
        exact, _, where = products
    else:
        known, where = np.unique(values, return_inverse=True)
        exact = [spec_checks.as_fraction(value) for value in known.tolist()]
    whole, scale = whole_fractions(exact)
    return np.array(whole, dtype=object)[where.reshape(-1)], scale


def _class_products(
    spec: Spec,
    table: Table,
    values: NDArray[Any],
    classes: tuple[Any, ...],
    actual: NDArray[np.int32],
    mistakes: list[Diagnostic],
) -> tuple[list[Fraction], list[int], NDArray[np.intp]]:
    """The different products of a row's weight and its class's, how often each occurs, and that of every row."""
    number = {label_text(label): code for code, label in enumerate(classes)}
    factors = [Fraction(1)] * len(classes)
    for label, factor in spec.class_weights.items():
        if label in number:
            factors[number[label]] = factor
        else:
            mistakes.append(spec_checks.unknown_class(label, classes, table, spec.spans.get(f"class weight:{label}")))
    known, place = np.unique(values, return_inverse=True)
    exact = [spec_checks.as_fraction(value) for value in known.tolist()]
    pairs, where = np.unique(place.reshape(-1) * len(classes) + actual, return_inverse=True)
    counts = np.bincount(where.reshape(-1), weights=None if table.merged is None else table.merged.count)
    products = [exact[pair // len(classes)] * factors[pair % len(classes)] for pair in pairs.tolist()]
    return products, counts.astype(np.int64).tolist(), where.reshape(-1)


def _of_all(weight: NDArray[Any], table: Table) -> NDArray[Any]:
    """The weight of all of the user's rows that each row stands for."""
    return weight if table.merged is None else weight * table.merged.count


def _least(whole: Whole) -> int:
    """The smallest absolute value other than 0."""
    return int(np.abs(whole[whole != 0]).min(initial=_KEPT))


def _targets(
    spec: Spec,
    table: Table,
    roles: Roles,
    target: Column | None,
    as_classes: bool,
    notes: list[str],
    mistakes: list[Diagnostic],
) -> tuple[Whole, Fraction, Fraction]:
    """Numeric targets, one column per output, in whole numbers of one scale, and the largest change by rounding."""
    outputs: list[Column] = []
    if not as_classes and not mistakes:
        outputs = [table.columns[name] for name in roles.clustered] or ([target] if target is not None else [])
    mistakes += spec_checks.unusable_survival(spec, table, target)
    if spec.observed is not None and target is not None and not mistakes:
        seen = table.columns[spec.observed]
        packed = hazards(spec_checks.numbers_of(target), spec_checks.is_observed(seen))
        return packed[:, None], Fraction(1), Fraction(0)
    if not outputs:
        return np.empty((table.rows, 0), dtype=np.int64), Fraction(1), Fraction(0)
    columns = [spec_checks.numbers_of(column) for column in outputs]
    stacked = np.concatenate(columns)
    if _loses_digits(columns, stacked):
        mistakes.append(spec_checks.too_many_digits("numbers to predict", table, spec.spans.get("predict")))
    whole, scale, moved = whole_numbers(stacked, _SAFE, _LARGEST)
    error = Fraction(0)
    if moved:
        # Half a unit, and what the multiplication of a float by a power of ten may add.
        error = scale * (Fraction(1, 2) + Fraction(int(np.abs(whole).max()), 2**51))
        if not targets_may_be_rounded(spec):
            span = spec.spans.get(f"predict:{spec.target}") or spec.spans.get("predict")
            mistakes.append(spec_checks.too_many_digits("numbers to predict", table, span))
        notes.append(
            f"numbers to predict were rounded to multiples of {float(scale):g}; "
            f"their total moves by at most {float(moved):.2g}"
        )
    return np.ascontiguousarray(whole.reshape(len(outputs), table.rows).T), scale, error
