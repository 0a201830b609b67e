"""Statements about columns, weights, costs and tests -> the fields of a Spec that name columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

from treeml.lang.arguments import label
from treeml.lang.expressions import Scope, constant
from treeml.lang.leaf_models import linear_leaves
from treeml.lang.methods import method
from treeml.lang.moments import days_of
from treeml.lang.quantities import decimal
from treeml.lang.source import Span
from treeml.lang.spec import Binarization, ColumnSpec
from treeml.lang.suggest import suggest
from treeml.lang.syntax import (
    Binarize,
    ColumnCost,
    ColumnRule,
    Data,
    Expression,
    Features,
    Forbid,
    LeafModels,
    MistakeCost,
    Modifier,
    Name,
    Predict,
    RowCost,
    Statement,
    String,
    WeightBy,
    WeightClass,
)
from treeml.lang.words import MODIFIERS, TYPES

MISSING = ("drop", "separate", "median")
ORDERED_METHODS = ("thresholds", "quantiles", "width", "cuts")
LEVEL_METHODS = ("levels", "subsets", "branches")


@dataclass(slots=True)
class ColumnFields:
    """`fields` go into the Spec as they are; `banned` holds the columns that no split may use, with their spans."""

    fields: dict[str, Any] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    banned: dict[str, Span | None] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)  # why a column is banned: "is the target", "is forbidden"

    def remember(self, key: str, span: Span | None) -> None:
        if span is not None:
            self.spans.setdefault(key, span)

    def ban(self, name: str, span: Span | None, why: str) -> None:
        self.banned.setdefault(name, span)
        self.why.setdefault(name, why)


def columns_of(statements: Sequence[Statement], scope: Scope) -> ColumnFields:
    """Everything about columns. The spans of names are kept in `spans`, under keys such as `forbid:sex`."""
    found = ColumnFields()
    for statement in statements:
        if isinstance(statement, Data):
            found.remember("data", statement.span)
    _target(statements, scope, found)
    _features(statements, scope, found)
    _rules(statements, scope, found)
    _weights(statements, scope, found)
    _mistake_costs(statements, scope, found)
    _row_costs(statements, scope, found)
    _test_costs(statements, scope, found)
    _binarizations(statements, scope, found)
    _leaf_model(statements, scope, found)
    return found


def _leaf_model(statements: Sequence[Statement], scope: Scope, found: ColumnFields) -> None:
    statement = next((each for each in statements if isinstance(each, LeafModels)), None)
    model = None if statement is None else linear_leaves(statement, scope)
    found.fields["linear"] = model
    for name, span in () if model is None else zip(model.columns, model.column_spans, strict=True):
        if name in (found.fields.get("target"), found.fields.get("weight_column"), found.fields.get("observed")):
            scope.findings.error(
                "T317",
                f"`{name}` is not known for new rows, so leaves cannot depend on it",
                (span, "the target, or about how a row counts"),
                help="name another column",
            )


def _target(statements: Sequence[Statement], scope: Scope, found: ColumnFields) -> None:
    predict = next((statement for statement in statements if isinstance(statement, Predict)), None)
    if predict is None:
        return
    found.fields["target"] = predict.column.text
    found.remember("predict", predict.column.span or predict.span)
    found.ban(predict.column.text, predict.column.span or predict.span, "is the target")
    if predict.positive is not None:
        found.fields["positive"] = label(predict.positive, scope.params)
        found.remember("positive", predict.positive.span)
    if predict.observed is not None:
        name, span = predict.observed.text, predict.observed.span or predict.span
        if name == predict.column.text:
            scope.findings.error(
                "T317",
                f"`{name}` cannot be both the time and whether its end was observed",
                (span, "the time again"),
                help="name the column that is 1 or true where the end was observed",
            )
        found.fields["observed"] = name
        found.remember("observed", span)
        found.ban(name, span, "says whether the end was observed")


def _features(statements: Sequence[Statement], scope: Scope, found: ColumnFields) -> None:
    target = found.fields.get("target")
    features = next((statement for statement in statements if isinstance(statement, Features)), None)
    if features is not None:
        found.remember("features", features.span)
        named = _distinct(features.columns, "feature", scope)
        found.fields["features"] = tuple(named) or None
        found.fields["excluded"] = tuple(_distinct(features.excluded, "excluded column", scope))
        for column in features.columns:
            found.remember(f"features:{column.text}", column.span)
            if column.text == target:
                scope.findings.error(
                    "T317",
                    f"`{column.text}` is predicted, so it cannot be a feature",
                    (found.spans.get("predict"), "the target"),
                    (column.span, "a tree that may ask for the answer needs no other question"),
                    help="remove it from one of the two",
                )
            if column.text == found.fields.get("observed"):
                scope.findings.error(
                    "T317",
                    f"`{column.text}` says whether the end was observed, so it cannot be a feature",
                    (found.spans.get("observed"), "known only at the end"),
                    (column.span, "a feature"),
                    help="remove it from one of the two",
                )
        for column in features.excluded:
            found.remember(f"except:{column.text}", column.span)
            found.ban(column.text, column.span, "is left out by `except`")
    forbidden: dict[str, Name] = {}
    for statement in statements:
        if not isinstance(statement, Forbid):
            continue
        found.remember("forbid", statement.span)
        for column in statement.columns:
            first = forbidden.get(column.text)
            if first is not None:
                _again(f"`{column.text}` is forbidden twice", first, column, scope)
                continue
            forbidden[column.text] = column
            if column.text in found.why:
                _no_effect(
                    f"`{column.text}` {found.why[column.text]}, so no tree splits on it anyway", column, found, scope
                )
            found.remember(f"forbid:{column.text}", column.span)
            found.ban(column.text, column.span, "is forbidden")
    found.fields["forbidden"] = tuple(forbidden)
    if features is not None and features.columns:
        listed = {column.text for column in features.columns}
        for name, column in forbidden.items():
            if name not in listed and name != target:
                _no_effect(f"`{name}` is not among the features, so no tree splits on it anyway", column, found, scope)


def _distinct(columns: Iterable[Name], noun: str, scope: Scope) -> dict[str, Name]:
    seen: dict[str, Name] = {}
    for column in columns:
        if column.text in seen:
            _again(f"the {noun} `{column.text}` is named twice", seen[column.text], column, scope)
        else:
            seen[column.text] = column
    return seen


def _again(title: str, first: Name, second: Name, scope: Scope) -> None:
    scope.findings.warning(
        "L706", title, (first.span, "first here"), (second.span, "and again here"), help="remove one of the two"
    )


def _no_effect(title: str, column: Name, found: ColumnFields, scope: Scope) -> None:
    places = [(column.span, "has no effect")]
    earlier = found.banned.get(column.text)
    if earlier is not None and earlier is not column.span:
        places.append((earlier, "because of this"))
    scope.findings.warning("L713", title, *places, help="remove it")


def _rules(statements: Sequence[Statement], scope: Scope, found: ColumnFields) -> None:
    columns: dict[str, ColumnSpec] = {}
    for statement in statements:
        if not isinstance(statement, ColumnRule):
            continue
        sensitive, missing = False, ""
        said: dict[str, Modifier] = {}
        for modifier in statement.modifiers:
            first = said.setdefault(modifier.name, modifier)
            if first is not modifier:
                scope.findings.error(
                    "N205",
                    f"`{modifier.name}` is said twice of `{statement.columns[0].text}`",
                    (first.span, "first here"),
                    (modifier.span, "and again here"),
                )
            elif _modifier_fits(modifier, scope):
                sensitive = sensitive or modifier.name == "sensitive"
                missing = modifier.value if modifier.name == "missing" else missing
        for column in statement.columns:
            span = column.span or statement.span
            columns.setdefault(column.text, ColumnSpec(statement.type, sensitive, missing, span))
    found.fields["columns"] = columns


def _modifier_fits(modifier: Modifier, scope: Scope) -> bool:
    name, value = modifier.name, modifier.value
    if name == "sensitive" and not value:
        return True
    if name == "missing" and value in MISSING:
        return True
    allowed = "`missing drop`, `missing separate` or `missing median`"
    if name == "missing":
        near = _FILLING.get(value) or suggest(value, MISSING)
        title = f"there is no `missing {value}`" if value else "`missing` does not say what to do"
        text = f"did you mean `missing {near}`?" if near else "drop, separate or median?"
        scope.findings.error("N211", title, (modifier.span, text), help=f"write {allowed}")
        return False
    if name == "sensitive":
        scope.findings.error(
            "N211", f"`sensitive` takes no word after it, but here is `{value}`", (modifier.span, "write `sensitive`")
        )
        return False
    if name in TYPES:
        scope.findings.error(
            "N211", "the type of a column stands first", (modifier.span, f"write `{name}` right after the colon")
        )
        return False
    near = "sensitive" if name in ("protected", "private") else suggest(name, MODIFIERS)
    scope.findings.error(
        "N211",
        f"no property of a column is called `{name}`",
        (modifier.span, f"did you mean `{near}`?" if near else "unknown"),
        help=f"after the type of a column may stand `sensitive`, {allowed}",
    )
    return False


_FILLING = {
    "mean": "median", "average": "median", "impute": "median", "mode": "median", "fill": "median", "remove": "drop",
    "ignore": "drop", "skip": "drop", "omit": "drop", "keep": "separate", "own": "separate", "category": "separate",
}  # fmt: skip


def _weights(statements: Sequence[Statement], scope: Scope, found: ColumnFields) -> None:
    classes: dict[str, Fraction] = {}
    for statement in statements:
        if isinstance(statement, WeightBy):
            name = statement.column.text
            found.fields.setdefault("weight_column", name)
            found.remember("weight", statement.column.span or statement.span)
            if name == found.fields.get("target"):
                scope.findings.error(
                    "T317",
                    f"`{name}` is predicted, so it cannot be the weight",
                    (found.spans.get("predict"), "the target"),
                    (statement.column.span or statement.span, "also the weight of a row"),
                    help="weigh rows by another column",
                )
        elif isinstance(statement, WeightClass):
            text = label(statement.label, scope.params)
            value = _amount(statement.weight, "the weight of a class", scope)
            if text is not None and value is not None:
                classes.setdefault(text, value)
                found.remember(f"class weight:{text}", statement.label.span or statement.span)
    found.fields["class_weights"] = classes


def _mistake_costs(statements: Sequence[Statement], scope: Scope, found: ColumnFields) -> None:
    mistakes: dict[tuple[str, str], Fraction] = {}
    for statement in statements:
        if isinstance(statement, MistakeCost):
            predicted, actual = label(statement.predicted, scope.params), label(statement.actual, scope.params)
            value = _amount(statement.cost, "the cost of a mistake", scope)
            if predicted is None or actual is None or value is None:
                continue
            mistakes.setdefault((predicted, actual), value)
            found.remember(f"cost predicted:{predicted}", statement.predicted.span or statement.span)
            found.remember(f"cost actual:{actual}", statement.actual.span or statement.span)
            if predicted == actual and value:
                scope.findings.warning(
                    "L707",
                    f"predicting `{actual}` when it is `{actual}` is not a mistake, but costs {decimal(value)}",
                    (statement.span, "a right answer that costs"),
                    help=f"was another class meant? write `cost predict {_value_text(statement.predicted)} when ...`",
                )
    found.fields["mistake_costs"] = mistakes


def _row_costs(statements: Sequence[Statement], scope: Scope, found: ColumnFields) -> None:
    """The columns that hold what it costs each row to be predicted a class."""
    costs: dict[str, tuple[str, bool]] = {}
    by_matrix = next((statement for statement in statements if isinstance(statement, MistakeCost)), None)
    for statement in statements:
        if not isinstance(statement, RowCost):
            continue
        name, span = statement.column.text, statement.column.span or statement.span
        if by_matrix is not None:
            scope.findings.error(
                "T316",
                "costs are stated both by class and by row",
                (by_matrix.span, "one cost for all rows of a class"),
                (statement.span, "a cost for every row"),
                help="keep one kind; a column can hold the costs of both",
            )
            by_matrix = None
        if name in (found.fields.get("target"), found.fields.get("weight_column")):
            role = "predicted" if name == found.fields.get("target") else "the weight of a row"
            scope.findings.error(
                "T317",
                f"`{name}` is {role}, so it cannot be a cost",
                (span, "also the cost of a prediction"),
                help="name another column",
            )
        for feature in found.fields.get("features") or ():
            if feature == name:
                scope.findings.error(
                    "T317",
                    f"`{name}` is the cost of a prediction, so it cannot be a feature",
                    (found.spans.get(f"features:{name}"), "a feature"),
                    (span, "known only after the fact"),
                    help="remove it from one of the two",
                )
        text = label(statement.predicted, scope.params)
        if text is not None:
            costs.setdefault(text, (name, statement.is_gain))
            found.remember(f"cost predicted:{text}", statement.predicted.span or statement.span)
        found.remember(f"row cost:{name}", span)
        found.ban(name, span, "is the cost of a prediction")
    found.fields["row_costs"] = costs


def _test_costs(statements: Sequence[Statement], scope: Scope, found: ColumnFields) -> None:
    tests: dict[str, Fraction] = {}
    discounts: dict[tuple[str, str], Fraction] = {}
    stated = [statement for statement in statements if isinstance(statement, ColumnCost)]
    for statement in stated:
        value = _amount(statement.cost, "the cost of a test", scope)
        names = [column.text for column in statement.columns]
        for column in statement.columns:
            found.remember(f"test cost:{column.text}", column.span or statement.span)
            if column.text in found.why:
                _no_effect(f"`{column.text}` {found.why[column.text]}, so it is never tested", column, found, scope)
        if value is None:
            continue
        if statement.after is not None:
            found.remember(f"test cost:{statement.after.text}", statement.after.span or statement.span)
            discounts.update({(name, statement.after.text): value for name in names})
            continue
        for name in names:
            tests.setdefault(name, value)
        if statement.together:
            discounts.update({pair: Fraction(0) for pair in permutations(dict.fromkeys(names), 2)})
    for statement in stated:
        _report_discount(statement, tests, discounts, scope)
    found.fields["test_costs"] = tests
    found.fields["test_discounts"] = discounts


def _report_discount(
    statement: ColumnCost,
    tests: dict[str, Fraction],
    discounts: dict[tuple[str, str], Fraction],
    scope: Scope,
) -> None:
    """A discount needs a price that it lowers, and columns that are tested together are at least two."""
    if statement.together and len({column.text for column in statement.columns}) < 2:
        scope.findings.error(
            "T320",
            "`together` needs at least two columns",
            (statement.span, "names one column"),
            help="name the others: `cost test a, b together = 20`",
        )
    if statement.after is None:
        return
    for column in statement.columns:
        name, before = column.text, statement.after.text
        price, value = tests.get(name, Fraction(0)), discounts.get((name, before))
        if name == before:
            scope.findings.error(
                "T320",
                f"`{name}` cannot be tested for the first time after itself",
                (statement.span, "the same column twice"),
                help="name the column that is tested before it",
            )
        elif value is not None and value > price:
            scope.findings.error(
                "T320",
                f"`{name}` costs {decimal(price)} by itself, so {decimal(value)} after `{before}` is no discount",
                (statement.span, "dearer than without"),
                help=f"state what it costs by itself: `cost test {_bare(name)} = ...`, at least {decimal(value)}",
            )


def _value_text(value: Expression) -> str:
    return value.span.text if value.span is not None else "..."


def _amount(node: Expression, subject: str, scope: Scope) -> Fraction | None:
    value = constant(node, scope, subject)
    if value is None:
        return None
    if value.unit:
        scope.findings.error(
            "T305",
            f"{subject} is a plain number, not {value}",
            (node.span, "the unit does not fit"),
            help=f"write `{decimal(value.value)}`",
        )
        return None
    if value.value < 0:
        scope.findings.error(
            "T318", f"{subject} cannot be negative", (node.span, f"is {value}"), help="write 0 or more"
        )
        return None
    return value.value


def _binarizations(statements: Sequence[Statement], scope: Scope, found: ColumnFields) -> None:
    rules: dict[str, Binarization] = {}
    types: dict[str, ColumnSpec] = found.fields["columns"]
    for statement in statements:
        if not isinstance(statement, Binarize):
            continue
        rule = _rule(statement, scope)
        for column in statement.columns:
            found.remember(f"binarize:{column.text}", column.span)
            if column.text in found.why:
                _no_effect(f"`{column.text}` {found.why[column.text]}, so it needs no tests", column, found, scope)
            declared = types.get(column.text)
            if rule is None or not _type_fits(column, declared, rule[0], scope):
                continue
            rules.setdefault(column.text, Binarization(column.text, *rule, column.span))
        if not statement.columns and rule is not None:
            rules.setdefault("", Binarization("", *rule, statement.span))
    found.fields["binarizations"] = tuple(rules.values())


def _calendar_rule(statement: Binarize, scope: Scope) -> tuple[str, int, tuple[Fraction, ...], bool] | None:
    """Cuts at dates and times, in days since 1970."""
    cuts = []
    for node in statement.cuts:
        days = days_of(node.text) if isinstance(node, String) else None
        if days is None:
            scope.findings.error(
                "T305",
                "this cut is not a date or a time",
                (node.span, "is no calendar value"),
                help='write it like `"2024-03-01"` or `"2024-03-01 12:30"`',
            )
            return None
        cuts.append(days)
    return "cuts", 0, tuple(sorted(set(cuts))), True


def _rule(statement: Binarize, scope: Scope) -> tuple[str, int, tuple[Fraction, ...], bool] | None:
    """Method, number of pieces, cuts, and whether these are calendar values."""
    if statement.method is not None:
        called = method("binarize", statement.method, scope)
        return None if called is None else (called.name, called.options.get("pieces", 0), (), False)
    values: list[tuple[Fraction, Expression]] = []
    sound = True
    if any(isinstance(node, String) for node in statement.cuts):
        return _calendar_rule(statement, scope)
    for node in statement.cuts:
        value = constant(node, scope, "a cut")
        if value is None:
            sound = False
        elif value.unit in ("rows", "s"):
            scope.findings.error(
                "T305",
                f"a cut is a plain number, not {value}",
                (node.span, "the unit does not fit"),
                help=f"write `{decimal(value.value)}`",
            )
            sound = False
        else:
            values.append((value.value, node))
    if not sound:
        return None
    _report_disorder(values, scope)
    return "cuts", 0, tuple(sorted({value for value, _ in values})), False


def _report_disorder(values: Sequence[tuple[Fraction, Expression]], scope: Scope) -> None:
    first: dict[Fraction, Expression] = {}
    for value, node in values:
        if value in first:
            scope.findings.warning(
                "L710",
                f"the cut {decimal(value)} is given twice",
                (first[value].span, "first here"),
                (node.span, "and again here"),
                help="remove one of the two",
            )
        first.setdefault(value, node)
    for (before, _), (after, node) in pairwise(values):
        if after < before:
            ordered = ", ".join(decimal(value) for value in sorted(first))
            scope.findings.warning(
                "L710",
                "the cuts are not in order",
                (node.span, f"{decimal(after)} stands after {decimal(before)}"),
                help=f"write `at {ordered}`" if len(ordered) < 80 else (),
            )
            return


def _type_fits(column: Name, declared: ColumnSpec | None, method: str, scope: Scope) -> bool:
    type = declared.type if declared is not None else ""
    if type in ("category", "text", "binary") and method in ORDERED_METHODS:
        fact, instead = "has no order to cut", f"write `by {LEVEL_METHODS[0]}` or `by {LEVEL_METHODS[1]}`"
        article = "text" if type == "text" else f"a {type}" if type == "category" else "binary"
    elif type in ("number", "integer", "date", "time") and method in LEVEL_METHODS:
        fact, instead = "has no levels", "write `by thresholds`, `by quantiles(8)` or `at ...`"
        article = "an integer" if type == "integer" else f"a {type}"
    else:
        return True
    other = "number" if method in ORDERED_METHODS else "category"
    how = "cut at numbers" if method == "cuts" else f"binarized by `{method}`"
    scope.findings.error(
        "T317",
        f"`{column.text}` is {article}, so it cannot be {how}",
        (declared.span if declared is not None else None, f"declared {article} here"),
        (column.span, fact),
        help=(instead, f"or declare another type: `column {_bare(column.text)} : {other}`"),
    )
    return False


def _bare(text: str) -> str:
    return text if text.isidentifier() else f"`{text}`"
