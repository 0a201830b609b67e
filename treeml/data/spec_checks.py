"""Spec and data -> mistakes where they do not fit; one function per kind of mistake, which returns all it finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.binarization import suits
from treeml.data.classes import can_be_classes
from treeml.data.conditions import compared_rows, groups_of, rows_meeting, speaks_of_prediction
from treeml.data.dates import CALENDAR, calendar_value
from treeml.data.mentions import Mention, conditions, place
from treeml.data.table import Column, Dataset, Table, label_text, listed, quoted
from treeml.lang.diagnostic import DataError, Diagnostic, Label
from treeml.lang.measures import MEASURES
from treeml.lang.source import Span
from treeml.lang.spec import Spec, Use
from treeml.lang.suggest import nearest
from treeml.lang.task_checks import HELPS, counts

MOST_GROUPS = 50


def absent_columns(named: Iterable[Mention], table: Table, spec: Spec) -> Iterator[Diagnostic]:
    """D402, once for every name, with all its spans."""
    absent: dict[str, list[Mention]] = {}
    for mention in named:
        if mention.column not in table.columns:
            absent.setdefault(mention.column, []).append(mention)
    for name, places in absent.items():
        spans = list(dict.fromkeys(mention.span for mention in places if mention.span is not None))
        spans.sort(key=lambda span: span.start)
        fact = f"not among its {len(table.columns)} columns"
        labels = tuple(Label(span, fact if i == 0 else "and here") for i, span in enumerate(spans))
        notes = (_candidates({mention.role for mention in places}, table, spec),)
        close = nearest(name, table.columns)
        helps = [f"did you mean `{close}`?"] if close else []
        spaced = close if close and " " in close else None if close else _with_spaces(table.columns)
        if spaced:
            helps.append(f"quote a name with spaces in backquotes: `{spaced}`")
        title = f"{table.source} has no column `{name}`"
        yield Diagnostic("D402", title, labels, notes if labels else (fact, *notes), tuple(helps), place=table.source)


def _with_spaces(names: Iterable[str]) -> str | None:
    """An example of a name that needs quotes: a column with spaces in its name, or with underscores replaced."""
    known = list(names)
    spaced = next((name for name in known if " " in name), None)
    return spaced or next((name.replace("_", " ") for name in known if "_" in name.strip("_")), None)


def _candidates(roles: set[str], table: Table, spec: Spec) -> str:
    names = list(table.columns)
    if "group" in roles:
        groups = [
            name
            for name, column in table.columns.items()
            if column.type in ("category", "binary", "ordered")
            and name != spec.target
            and len(column.levels) <= MOST_GROUPS
        ]
        if groups:
            return f"columns that could name a group: {listed(groups)}"
    if "weight" in roles:
        numbers = [name for name, column in table.columns.items() if column.is_number]
        if numbers:
            return f"columns that hold numbers: {listed(numbers)}"
    return f"its columns are {listed(names)}"


def no_target(spec: Spec, table: Table) -> Diagnostic:
    return Diagnostic(
        "D416",
        f"nothing says which column of {table.source} to predict",
        notes=(f"its columns are {listed(list(table.columns))}",),
        helps=("name it: `predict disease`; with arrays, give y",),
        place=table.source,
    )


def unusable_features(spec: Spec, table: Table, target: str | None, weight: str | None) -> Iterator[Diagnostic]:
    """Columns named in `features` that cannot be tested."""
    for name in dict.fromkeys(spec.features or ()):
        span = place(spec, "features", name)
        if name == target:
            title = f"`{name}` is the target, and cannot also be a feature"
            yield _at("D423", title, span, "predicted, so not known", table, (), (f"remove `{name}` from `features`",))
        elif name == weight:
            title = f"`{name}` weighs the rows, and cannot also be a feature"
            yield _at("D423", title, span, "the weight of a row", table, (), (f"remove `{name}` from `features`",))
        elif name in table.columns and table.columns[name].type == "text":
            column = table.columns[name]
            title = f"no test can be made of `{name}`"
            fact = f"text with {len(column.levels)} different values"
            yield _at(
                "D424",
                title,
                span,
                fact,
                table,
                (),
                (f"declare `column {quoted(name)} : category` to split on its values",),
            )


def wrong_task(
    spec: Spec, table: Table, target: Column, as_classes: bool, asked: Sequence[Use]
) -> Iterator[Diagnostic]:
    """T301: classes are measured, but the target is a number, or the other way round."""
    span = place(spec, "predict", target.name)
    if target.type in CALENDAR:
        title = f"`{target.name}` holds {target.type}s, which cannot be predicted"
        instead = f"predict a number of days, or declare `column {quoted(target.name)} : category`"
        yield _at("T301", title, span, describe(target), table, (), (instead,))
        return
    if as_classes:
        use = next((use for use in asked if MEASURES[use.measure].task in ("classes", "ensemble")), None)
        if use is None or can_be_classes(spec, target):
            return
        needs, what, more = "classes", "a number" if target.is_number else "text", HELPS["numbers"]
    else:
        use = next((use for use in asked if MEASURES[use.measure].task == "numbers"), None)
        if use is None or target.is_number or reads_as_numbers(target):
            return
        needs, what, more = "a number", "a category" if target.type == "category" else target.type, HELPS["classes"]
    title = f"`{use.measure}` needs {needs}, but `{target.name}` is {what}"
    labels = []
    fact = f"{describe(target)} in {table.source}"
    if span is not None:
        labels.append(Label(span, fact))
    if use.span is not None:
        labels.append(Label(use.span, counts(use)))
    helps = [more] if target.is_number or not as_classes else []
    if as_classes:
        helps.append(f"if `{target.name}` names classes, declare `column {quoted(target.name)} : category`")
    yield Diagnostic("T301", title, tuple(labels), () if span else (fact,), tuple(helps), place=table.source)


def reads_as_numbers(column: Column) -> bool:
    return column.type == "binary" and all(isinstance(level, (int, float)) for level in column.levels)


def describe(column: Column) -> str:
    """The values of a column in a few words: `412 distinct values between 3.5 and 190`."""
    if column.type == "text":
        return f"{len(column.levels)} different values"
    if not column.is_number:
        return f"{len(column.levels)} classes: {listed([label_text(level) for level in column.levels], 4)}"
    values = np.unique(column.values if column.missing is None else column.values[~column.missing])
    if not len(values):
        return "no values"
    ends = values[[0, -1]].tolist()
    if column.type in CALENDAR:
        ends = [calendar_value(end, column.type) for end in ends]
    low, high = map(label_text, ends)
    many = "1 distinct value" if len(values) == 1 else f"{len(values):,} distinct values".replace(",", "")
    return f"{many} between {low} and {high}"


def unsuitable_binarizations(spec: Spec, table: Table, features: Sequence[str]) -> Iterator[Diagnostic]:
    for rule in spec.binarizations:
        column = table.columns.get(rule.column) if rule.column else None
        if column is None or rule.column not in features or suits(rule, column):
            continue
        method = "at" if rule.method == "cuts" else f"by {rule.method}"
        name = quoted(column.name)
        helps = [f"`binarize {name} by levels` makes one test per level"]
        if column.is_number and rule.method == "cuts":
            title = f"`at` cuts at numbers, but `{column.name}` holds {column.type}s"
            helps = [f'write `binarize {name} at "2024-03-01"`']
            if rule.calendar:
                title = f"`at` cuts at dates or times, but `{column.name}` is a number"
                helps = [f"write `binarize {name} at 5`", f"or declare `column {name} : date`"]
        elif column.is_number:
            title = f"`{method}` splits levels, but `{column.name}` is a number"
            helps = [
                f"`binarize {name} by thresholds` cuts between its values",
                f"or declare `column {name} : category`",
            ]
        else:
            kind = "ordered text" if column.type == "ordered" else "a category"
            title = f"`{method}` cuts numbers, but `{column.name}` is {kind}"
        yield _at("D417", title, rule.span, describe(column).replace("classes:", "levels:"), table, (), tuple(helps))


def unusable_weights(spec: Spec, table: Table, name: str | None) -> Iterator[Diagnostic]:
    """Weights must be numbers, not negative, and not all zero."""
    column = table.columns.get(name) if name is not None else None
    if column is None:
        return
    span = place(spec, "weight", column.name)
    if not column.is_number and not reads_as_numbers(column):
        title = f"`{column.name}` cannot weigh rows, because it is not a number"
        yield _at(
            "D415",
            title,
            span,
            describe(column).replace("classes:", "levels:"),
            table,
            (),
            ("weigh by a column of numbers",),
        )
        return
    values = numbers_of(column)
    if len(values) and (values < 0).any():
        row = int(np.argmax(values < 0))
        negative = int((values < 0).sum())
        title = (
            f"{negative} weights in `{column.name}` are negative"
            if negative > 1
            else f"a weight in `{column.name}` is negative"
        )
        fact = f"{label_text(values[row].item())} in row {row + 1} of {table.source}"
        yield _at("D415", title, span, fact, table, (), ("a weight is zero (the row does not count) or more",))
    elif len(values) and not values.any():
        title = f"all weights in `{column.name}` are zero"
        yield _at("D415", title, span, "no row counts", table, (), ("give at least one row a weight above zero",))


def unusable_clusters(named: Iterable[Mention], table: Table) -> Iterator[Diagnostic]:
    """Columns whose values have no distances."""
    for mention in named:
        column = table.columns.get(mention.column) if mention.role == "cluster" else None
        if column is not None and not column.is_number and not reads_as_numbers(column):
            title = f"`{column.name}` cannot be clustered, because it is not a number"
            fact = describe(column).replace("classes:", "levels:")
            yield _at("D425", title, mention.span, fact, table, (), ("name columns of numbers, or of 0 and 1",))


def unusable_costs(named: Iterable[Mention], table: Table) -> Iterator[Diagnostic]:
    """Columns that cannot be the cost of a prediction."""
    for mention in named:
        column = table.columns.get(mention.column) if mention.role == "cost" else None
        if column is not None and not column.is_number and not reads_as_numbers(column):
            title = f"`{column.name}` cannot be a cost, because it is not a number"
            fact = describe(column).replace("classes:", "levels:")
            yield _at("D425", title, mention.span, fact, table, (), ("name a column of numbers",))


def no_weight(spec: Spec, table: Table, name: str | None) -> Diagnostic:
    title = "no row has a weight above zero"
    label = "the weights of the rows and of their classes leave nothing"
    keys = ("weight", *(f"class weight:{each}" for each in spec.class_weights))
    span = next((spec.spans[key] for key in keys if key in spec.spans), None)
    return _at("D415", title, span, label, table, (), ("give at least one class that occurs a weight above zero",))


def too_many_digits(what: str, table: Table, span: Span | None) -> Diagnostic:
    """D463: numbers that 64 bits do not hold, and that cannot be rounded without changing what is asked."""
    title = f"the {what} have more digits than 64 bits hold"
    notes = (
        "from the first digit of their sum to the last digit of the smallest",
        "they are not rounded, which could make a requirement hold or fail, or change the small ones",
    )
    return _at("D463", title, span, "too many digits", table, notes, ("round them to a few digits",))


def unknown_class(label: str, classes: Sequence[Any], table: Table, span: Span | None) -> Diagnostic:
    texts = [label_text(each) for each in classes]
    close = nearest(label, texts)
    helps = (f'did you mean "{close}"?',) if close else ()
    return _at(
        "D450",
        f"no row has the class `{label}`",
        span,
        f"not a class of {table.source}",
        table,
        (f"its classes are {listed(texts)}",),
        helps,
    )


def positive_unsaid(spec: Spec, table: Table, use: Use, classes: Sequence[Any]) -> Diagnostic:
    target = quoted(spec.target or table.target or "target")
    texts = [label_text(label) for label in classes]
    return _at(
        "D451",
        f"`{use.measure}` needs to know which class is the positive one",
        use.span,
        "depends on the positive class",
        table,
        (f"the classes of `{spec.target or table.target}` are {listed(texts)}",),
        (f'name it: `predict {target} is "{texts[-1]}"`',) if texts else (),
    )


def unknown_classes_and_groups(dataset: Dataset, asked: Iterable[Use]) -> Iterator[Diagnostic]:
    """Classes, levels and groups that measures name and that no row has."""
    texts = [label_text(label) for label in dataset.classes]
    for use in asked:
        pairs = zip(MEASURES[use.measure].parameters, use.arguments, strict=False)
        for number, (parameter, argument) in enumerate(pairs):
            if parameter.kind == "class" and dataset.classes and label_text(argument) not in texts:
                yield unknown_class(label_text(argument), dataset.classes, dataset.table, use.spans_of(number)[0])
        sound = True
        for condition in conditions(use):
            if not condition.is_column:
                value = label_text(float(condition.value)) if isinstance(condition.value, Fraction) else condition.value
                if condition.comparison == "=" and value not in texts:
                    sound = False
                    yield unknown_class(value, dataset.classes, dataset.table, condition.value_span or use.span)
                continue
            if condition.subject not in dataset.table.columns:
                sound = False
                continue
            try:
                rows_meeting(dataset, (condition,))
            except DataError as problem:
                sound = False
                yield from problem.diagnostics
        if sound and use.measure == "rate":
            yield from _empty_rate(dataset, use)
        if MEASURES[use.measure].fairness and use.arguments[0] in dataset.table.columns:
            yield from _empty_groups(dataset, use)


def _empty_rate(dataset: Dataset, use: Use) -> Iterator[Diagnostic]:
    given = [each for each in (use.arguments[1] if len(use.arguments) > 1 else ()) if not speaks_of_prediction(each)]
    if given and not dataset.weight[rows_meeting(dataset, given)].any():
        title = "this rate is a share of nothing"
        helps = ("leave it out, or name conditions that some row meets",)
        yield _at("D414", title, use.span, "no row meets what is given", dataset.table, (), helps)


_MEMBERS = {"all": "has any weight", "positives": "is actually positive", "negatives": "is actually negative"}


def _empty_groups(dataset: Dataset, use: Use) -> Iterator[Diagnostic]:
    """A rate over no rows is undefined, so a group without such rows is refused."""
    name = use.arguments[0]
    column = dataset.column(name)
    if column.is_number and len(np.unique(column.values)) > MOST_GROUPS:
        title = f"`{name}` has too many values to name groups"
        helps = ("make a column of a few groups, and name that",)
        yield _at("D422", title, use.spans_of(0)[0], describe(column), dataset.table, (), helps)
        return
    if dataset.positive is None:
        return
    for text, group in groups_of(dataset, name):
        for compared in MEASURES[use.measure].fairness:
            rows = group if compared == "all" else group & compared_rows(dataset, compared)
            if not (rows if dataset.has_unit_weights else dataset.weight.compress(rows)).any():
                title = f"`{use.measure}` cannot compare the group `{text}` of `{name}`"
                fact = f"no row of it {_MEMBERS[compared]}"
                helps = ("leave these rows out of the data, or join the group with another",)
                yield _at("D414", title, use.spans_of(0)[0], fact, dataset.table, (), helps)


def remarks(dataset: Dataset, asked: Iterable[Use]) -> list[str]:
    """Notes that are worth reporting but are not mistakes."""
    notes = []
    for use in asked:
        if MEASURES[use.measure].fairness:
            groups = groups_of(dataset, use.arguments[0])
            if len(groups) == 1:
                notes.append(
                    f"`{use.arguments[0]}` is `{groups[0][0]}` in every row, so {use.text or use.measure} is always 0"
                )
    return list(dict.fromkeys(notes))


def linear_names(spec: Spec, table: Table, features: Sequence[str]) -> tuple[str, ...]:
    """The columns of the linear models of leaves that are in the table; if none is named, all that hold numbers."""
    if spec.linear is None:
        return ()
    if spec.linear.columns:
        return tuple(name for name in spec.linear.columns if name in table.columns)
    # A column that no split may use can still be a part of a model.
    candidates = dict.fromkeys((*features, *(spec.features or table.columns)))
    others = {spec.target or table.target, spec.observed, spec.weight_column or table.weight, *spec.excluded}
    return tuple(name for name in candidates if name not in others and _holds_numbers(table, name))


def _holds_numbers(table: Table, name: str) -> bool:
    return name in table.columns and table.columns[name].is_number


def unusable_linear(spec: Spec, table: Table, names: Sequence[str]) -> Iterator[Diagnostic]:
    if spec.linear is None:
        return
    if not names and not spec.linear.columns:
        title, fact = "there is no column of numbers for linear leaves", "have nothing to depend on"
        yield _at("D469", title, spec.linear.span, fact, table, (), ("declare one: `column age : number`",))
    for name, span in zip(spec.linear.columns, spec.linear.column_spans, strict=True):
        column = table.columns.get(name)
        if column is not None and not column.is_number:
            title = f"`{name}` does not hold numbers, so leaves cannot be linear in it"
            helps = (f"declare `column {quoted(name)} : number`, if it does",)
            yield _at("D469", title, span or spec.linear.span, describe(column), table, (), helps)


def unusable_survival(spec: Spec, table: Table, target: Column | None) -> Iterator[Diagnostic]:
    """Times below 0, and a column that does not say yes or no."""
    column = table.columns.get(spec.observed) if spec.observed is not None else None
    if column is None or target is None:
        return
    if target.is_number and len(target.values) and float(target.values.min()) < 0:
        fact = f"the least of them is {label_text(target.values.min().item())}"
        title, helps = f"the times in `{target.name}` go below 0", ("measure each from its own beginning",)
        yield _at("D468", title, place(spec, "predict", target.name), fact, table, (), helps)
    texts = {label_text(each).lower() for each in _distinct(column)}
    if not texts <= _OBSERVED | _CENSORED:
        fact = f"holds {listed(sorted(texts - _OBSERVED - _CENSORED), 4)}"
        title = f"`{column.name}` does not say whether the end was observed"
        helps = ("write 1, true or yes where it was, and 0, false or no where it was not",)
        yield _at("D468", title, place(spec, "observed", column.name), fact, table, (), helps)


_OBSERVED, _CENSORED = {"1", "true", "yes"}, {"0", "false", "no"}


def is_observed(column: Column) -> NDArray[np.bool_]:
    """Which rows were observed to the end."""
    if column.is_number:
        return np.asarray(column.values == 1)
    observed = np.array([label_text(level).lower() in _OBSERVED for level in column.levels], dtype=np.bool_)
    return observed[column.values] if len(observed) else np.zeros(len(column.values), dtype=np.bool_)


def _distinct(column: Column) -> list[Any]:
    if not column.is_number:
        counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels)).tolist()
        return [level for level, count in zip(column.levels, counts, strict=True) if count]
    values: list[Any] = np.unique(column.values).tolist()
    return values


def numbers_of(column: Column) -> NDArray[Any]:
    """The values of a column as numbers; a binary column of 0 and 1 by its levels."""
    if column.is_number:
        return column.values
    levels: NDArray[np.float64] = np.array([float(level) for level in column.levels])
    return np.asarray(levels[column.values])


def as_fraction(value: float | int) -> Fraction:
    """The exact value of the shortest decimal of a float."""
    return Fraction(Decimal(repr(value)))


def _at(
    code: str, title: str, span: Span | None, fact: str, table: Table, notes: tuple[str, ...], helps: tuple[str, ...]
) -> Diagnostic:
    if span is None:
        return Diagnostic(code, title, (), (fact, *notes), helps, place=table.source)
    return Diagnostic(code, title, (Label(span, fact),), notes, helps)
