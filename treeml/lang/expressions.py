"""Expressions -> exact weighted sums of measures, with params replaced and units settled.

A sum keeps its constant separate, with the unit it was written in, because the meaning of a limit depends on it: `1%`
of `support` is a share of the rows, `1%` of `accuracy` is a hundredth. Evaluation uses an explicit stack, so that long
sums do not exhaust the recursion limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from treeml.lang.arguments import argument_values, signature
from treeml.lang.diagnostic import Fix
from treeml.lang.findings import Findings
from treeml.lang.measures import BUILT_IN, MEASURES, load_failure
from treeml.lang.params import Params
from treeml.lang.quantities import Quantity, decimal, enumerated, quantity
from treeml.lang.source import Span
from treeml.lang.spec import Linear, Use
from treeml.lang.suggest import nearest, suggest
from treeml.lang.syntax import Binary, Call, Expression, Name, Negate, Number, Relation, String
from treeml.lang.write import write_expression

NOTHING = Quantity(Fraction(0))


@dataclass(frozen=True, slots=True)
class MeasureSum:
    """Measures with their factors, plus a constant in a unit."""

    parts: tuple[tuple[Fraction, Use], ...] = ()
    constant: Quantity = NOTHING

    @property
    def linear(self) -> Linear:
        return Linear(self.parts, self.constant.value)


@dataclass(frozen=True, slots=True)
class Scope:
    """The params that an expression may use, and the list that collects its mistakes."""

    params: Params
    findings: Findings
    lost: frozenset[str] = frozenset()  # params whose declaration could not be parsed: their values are unknown


def evaluate(node: Expression, scope: Scope) -> MeasureSum | None:
    """The sum that an expression stands for, or None if a mistake in it was reported."""
    stack: list[tuple[Expression, bool]] = [(node, False)]
    done: list[MeasureSum | None] = []
    while stack:
        current, visited = stack.pop()
        if isinstance(current, Binary):
            if not visited:
                stack += [(current, True), (current.right, False), (current.left, False)]
                continue
            right, left = done.pop(), done.pop()
            done.append(None if left is None or right is None else _combine(current, left, right, scope))
        elif isinstance(current, Negate):
            if not visited:
                stack += [(current, True), (current.operand, False)]
                continue
            operand = done.pop()
            done.append(None if operand is None else _scaled(operand, Fraction(-1)))
        else:
            done.append(_leaf(current, scope))
    result = done.pop()
    return None if result is None else _gathered(result)


def constant(node: Expression, scope: Scope, subject: str) -> Quantity | None:
    """The value of an expression without measures; `subject` is its name in messages, such as `a cost`."""
    if isinstance(node, Name) and node.text not in scope.params and node.text not in MEASURES:
        if node.text in scope.lost:
            return None
        near = suggest(node.text, scope.params.declared)
        scope.findings.error(
            "N202",
            f"no param is called `{node.text}`",
            (
                node.span,
                f"did you mean `{near}`?" if near else f"{subject} is a number, or a param that stands for one",
            ),
            help=() if near else f"declare it: `param {node.text} = ...`",
        )
        return None
    value = evaluate(node, scope)
    if value is None:
        return None
    if value.parts:
        use = value.parts[0][1]
        scope.findings.error(
            "T310",
            f"{subject} is a number, but `{use.text}` is only known once there is a tree",
            (use.span or node.span, "a measure of the tree"),
            help="write a number, or the name of a param",
        )
        return None
    return value.constant


def _leaf(node: Expression, scope: Scope) -> MeasureSum | None:
    if isinstance(node, Number):
        return MeasureSum(constant=quantity(node))
    if isinstance(node, Name):
        if node.quoted:
            _quoted(node, scope)
            return None
        if node.text in scope.params and node.text not in BUILT_IN:
            return _param(node, scope)
        return _measure(node.text, Call(node.text, span=node.span), scope)
    if isinstance(node, Call):
        if node.name in scope.params and node.name not in BUILT_IN:
            scope.params.read(node.name)
            scope.findings.error(
                "T308",
                f"`{node.name}` is a param and takes no arguments",
                (node.span, f"write `{node.name}`"),
            )
            return None
        return _measure(node.name, node, scope)
    if isinstance(node, String):
        scope.findings.error(
            "T312",
            "a text stands where a number is needed",
            (node.span, "text cannot be added or compared"),
            help=f'a class is named inside a measure: `recall("{node.text}")`',
        )
        return None
    if isinstance(node, Relation):
        scope.findings.error(
            "T310",
            "a comparison stands where a number is needed",
            (node.span, "true or false, not a number"),
            help="comparisons belong in `require`",
        )
    return None


def _quoted(node: Name, scope: Scope) -> None:
    known = node.text in MEASURES or node.text in scope.params
    scope.findings.error(
        "N203",
        f"a name in backquotes is a column, not a {'measure' if node.text not in scope.params else 'param'}",
        (node.span, f"write {node.text} without backquotes" if known else "a column has no value for a whole tree"),
        help=() if known else "`treeml explain measures` lists what can be measured",
    )


def _param(node: Name, scope: Scope) -> MeasureSum | None:
    value = scope.params.read(node.text)
    if isinstance(value, str):
        scope.findings.error(
            "T312",
            f"`{node.text}` stands for text, but a number is needed here",
            (node.span, f'it is "{value}"'),
            help="a param cannot stand for another one: give it a number" if value in scope.params else (),
        )
        return None
    return None if value is None else MeasureSum(constant=value)


def _measure(name: str, call: Call, scope: Scope) -> MeasureSum | None:
    measure = MEASURES.get(name)
    if measure is None:
        unknown_measure(name, call.name_span or call.span, scope)
        return None
    if measure.instead:
        scope.findings.error(
            "T321",
            f"`{name}` can be reported, but no back-end optimizes or bounds it",
            (call.name_span or call.span, "not a sum over rows or leaves"),
            help=(measure.instead, f"report it: `report tree, measures, {_text(call)}`"),
        )
        return None
    use = measure_use(call, scope)
    return None if use is None else MeasureSum(parts=((Fraction(1), use),))


def measure_use(call: Call, scope: Scope) -> Use | None:
    """A known measure with its arguments, or None if a mistake in them was reported."""
    found = argument_values(
        MEASURES[call.name],
        call,
        scope.params,
        scope.findings,
        lambda node: _sum_over_predictions(call.name, node, scope),
    )
    return None if found is None else Use(call.name, found[0], _text(call), call.span, found[1])


def same_for_every_tree(parts: Iterable[tuple[Fraction, Use]], scope: Scope) -> bool:
    """Reports a sum whose counts and rates all ignore the predictions; one of them beside other measures is fine."""
    uses = [use for _, use in parts]
    if not all(map(_ignores_predictions, uses)):
        return False
    scope.findings.error(
        "T308",
        f"this {uses[0].measure} is the same for every tree",
        (uses[0].span, "nothing in it is predicted"),
        help=f"write `{signature(MEASURES[uses[0].measure])}`",
    )
    return True


def _ignores_predictions(use: Use) -> bool:
    """Is it a count, a rate, or a quotient of such, with conditions on columns and actual classes only?"""
    if use.measure == "ratio":
        return all(_ignores_predictions(inner) for side in use.arguments for _, inner in side.parts)
    if use.measure not in ("count", "rate"):
        return False
    return not any(
        condition.subject == "predicted" and not condition.is_column for part in use.arguments for condition in part
    )


def _sum_over_predictions(name: str, node: Expression, scope: Scope) -> Linear | None:
    """An argument of a quotient: a sum of measures that add up what is predicted for each row."""
    value = evaluate(node, scope)
    if value is None:
        return None
    other = next((use for _, use in value.parts if not _is_additive(use)), None)
    if value.parts and other is None:
        return value.linear
    scope.findings.error(
        "T308",
        f"`{name}` divides sums over the predictions, and this is not one",
        ((other.span if other is not None else None) or node.span, "not a sum of what is predicted for the rows"),
        note="such sums are made of errors, count(...), recall(...), mistake_cost and other measures that add up rows",
    )
    return None


def _is_additive(use: Use) -> bool:
    """Does the measure add up rows? A rate among rows with a certain prediction is itself a quotient."""
    among = use.arguments[1] if use.measure == "rate" and len(use.arguments) > 1 else ()
    by_prediction = any(condition.subject == "predicted" and not condition.is_column for condition in among)
    return MEASURES[use.measure].additive and not by_prediction


def _text(call: Call) -> str:
    """The measure as written, without parentheses around it."""
    return call.name if call.own_span is None else " ".join(call.own_span.text.split())


def unknown_measure(name: str, place: Span | None, scope: Scope) -> None:
    if name in scope.lost:
        return
    failure = load_failure(name)
    if failure:
        scope.findings.error(
            "N216",
            f"the measure `{name}` of another package cannot be used",
            (place, "does not load"),
            note=failure,
            help="update or remove that package",
        )
        return
    near = suggest(name, [*MEASURES, *scope.params.declared])
    if near is not None and near in scope.params:
        scope.findings.error(
            "N202",
            f"no param and no measure is called `{name}`",
            (place, f"did you mean `{near}`?"),
            note=f"the params are {enumerated(scope.params.declared)}",
        )
        return
    if near is None or name in _COUNTED:
        near = _counted(name, scope.findings.positive) or near
    if near is not None and near.endswith("(...)"):
        near = signature(MEASURES[near.removesuffix("(...)")], scope.findings.positive)
    priced = near is not None and near.startswith("k * ") and place is not None and _is_price(place)
    if near is not None and not priced and place is not None and _is_priced(place):
        near = near.removeprefix("k * ")
    kin = MEASURES.get(near.partition("(")[0]) if near is not None else None
    relatives = [] if kin is None else [each.name for each in MEASURES.values() if each.group == kin.group]
    group = "" if kin is None else _GROUPS.get(kin.group, kin.group)
    scope.findings.error(
        "N203",
        f"unknown measure `{name}`",
        (place, f"did you mean `{near}`?" if near and not priced else "no measure and no param has this name"),
        note=f"{group} are {enumerated(relatives)}" if len(relatives) > 1 else (),
        help=f"to name a number, declare it: `param {name} = 0.01`"
        if priced
        else _HELPS.get(name.casefold(), "`treeml explain measures` lists all of them"),
        fix=(Fix(place, near),) if near is not None and place is not None and _is_typing_mistake(name, near) else (),
    )


def _is_typing_mistake(name: str, near: str) -> bool:
    """Is it a measure with a letter or two wrong? A word of another tool may mean something else."""
    return near in MEASURES and not MEASURES[near].parameters and nearest(name, MEASURES) == near


_COUNTED = {
    **dict.fromkeys(("false_negatives", "false_negative", "fn"), (False, True)),
    **dict.fromkeys(("false_positives", "false_positive", "fp", "false_alarms"), (True, False)),
    **dict.fromkeys(("true_positives", "true_positive", "tp"), (True, True)),
    **dict.fromkeys(("true_negatives", "true_negative", "tn"), (False, False)),
}
"""Cells of a table of mistakes -> is the positive class predicted, and is it true?"""
_OTHER_CLASS = {'"yes"': '"no"', '"no"': '"yes"', "1": "0", "0": "1", '"true"': '"false"', '"True"': '"False"'}
_HELPS = {
    "abs": "bound both signs: `require -5% <= a - b <= 5%`",
    "root": "a tree chooses the order of its tests; `require uses(age)` asks for a test of a column somewhere",
}


def _counted(name: str, positive: str) -> str | None:
    """`false_negatives` as a count of the declared positive class, or of "yes"."""
    cell = _COUNTED.get(name.casefold())
    if cell is None:
        return None
    positive = positive or '"yes"'
    other = _OTHER_CLASS.get(positive, '"the other class"')
    predicted, actual = (positive if each else other for each in cell)
    return f"count(predicted = {predicted}, actual = {actual})"


def _is_price(place: Span) -> bool:
    """Is the name at this place multiplied by a measure, as a number would be?"""
    text = place.source.text
    return text[place.end :].lstrip().startswith("*")


def _is_priced(place: Span) -> bool:
    """Does `0.01 *` stand before this place?"""
    before = place.source.text[: place.start].rstrip()
    return before.endswith("*") and before[:-1].rstrip()[-1:].isdigit()


_GROUPS = {
    "size": "measures of size",
    "errors": "measures of error",
    "rates": "measures of one class",
    "fairness": "measures of fairness",
    "costs": "measures of cost",
    "losses": "measures for numbers and clusters",
    "survival": "measures of survival",
    "leaves": "measures of the worst leaf",
    "features": "measures of the columns used",
    "ensembles": "measures of an ensemble",
}


def _combine(node: Binary, left: MeasureSum, right: MeasureSum, scope: Scope) -> MeasureSum | None:
    if node.operator in ("+", "-"):
        return _added(node, left, right if node.operator == "+" else _scaled(right, Fraction(-1)), scope)
    if node.operator == "*":
        return _product(node, left, right, scope)
    return _quotient(node, left, right, scope)


def _added(node: Binary, left: MeasureSum, right: MeasureSum, scope: Scope) -> MeasureSum | None:
    first, second = left.constant, right.constant
    unit = first.unit or second.unit
    units = {first.unit, second.unit}
    mixed = len(units) > 1 and not units <= {"", "%"}
    # The constant of a bare measure is 0 without a unit, which fits any unit.
    if mixed and not _is_nothing(left) and not _is_nothing(right):
        scope.findings.error(
            "T305",
            f"{_amount(first)} and {_amount(second)} cannot be added",
            (node.span, "their units differ"),
            help="write both with the same unit",
        )
        return None
    return MeasureSum(left.parts + right.parts, Quantity(first.value + second.value, unit))


def _is_nothing(value: MeasureSum) -> bool:
    return bool(value.parts) and value.constant.value == 0 and not value.constant.unit


def _product(node: Binary, left: MeasureSum, right: MeasureSum, scope: Scope) -> MeasureSum | None:
    if left.parts and right.parts:
        scope.findings.error(
            "T307",
            f"`{left.parts[0][1].text}` and `{right.parts[0][1].text}` cannot be multiplied",
            (node.span, "a product of two measures is not linear"),
            help=(
                f"add them with weights: `{left.parts[0][1].text} + 0.5 * {right.parts[0][1].text}`",
                f"or bound one of them: `require {right.parts[0][1].text} <= ...`",
            ),
        )
        return None
    factor, other = (left, right) if not left.parts else (right, left)
    unit = factor.constant.unit
    if unit in ("rows", "s") and (other.parts or other.constant.unit in ("rows", "s")):
        what = f"`{other.parts[0][1].text}`" if other.parts else _amount(other.constant)
        scope.findings.error(
            "T305",
            f"{_amount(factor.constant)} and {what} cannot be multiplied",
            (node.span, f"the factor of a measure is a plain number, not {_KINDS[unit]}"),
            help=f"write `{decimal(factor.constant.value)} * {other.parts[0][1].text}`" if other.parts else (),
        )
        return None
    scaled = _scaled(other, factor.constant.value)
    if other.parts or (unit in ("", "%") and other.constant.unit):
        return scaled
    return MeasureSum((), Quantity(scaled.constant.value, unit))


_OVER_ROWS = {"count", "rate", "errors", "error_rate", "accuracy", "recall", "specificity", "mistake_cost", "gain"}


def _ratio(node: Binary) -> str:
    """The quotient as the measure `ratio`."""
    above, below = write_expression(node.left), write_expression(node.right)
    return f"ratio({above}, {below})"


def _quotient(node: Binary, left: MeasureSum, right: MeasureSum, scope: Scope) -> MeasureSum | None:
    if right.parts:
        below = right.parts[0][1].text
        above = f"`{left.parts[0][1].text}`" if left.parts else str(left.constant)
        multiplied = f"to bound a quotient, multiply it out: `require {above[1:-1]} <= 0.1 * {below}`"
        helps: tuple[str, ...] = (multiplied,)
        if left.parts and all(use.measure in _OVER_ROWS for _, use in (*left.parts, *right.parts)):
            helps = (f"a quotient of sums over the rows is a measure: `{_ratio(node)}`", multiplied)
        elif not left.parts:
            helps = (f"use `{below}` itself, with a weight: `0.01 * {below}`",)
        scope.findings.error(
            "T307",
            f"{above} cannot be divided by `{below}`",
            (node.span, "not linear in the measures"),
            help=helps,
        )
        return None
    divisor = right.constant
    if divisor.value == 0:
        scope.findings.error("T314", "this divides by zero", (node.right.span, "is 0"), help="divide by another number")
        return None
    unit = left.constant.unit
    if divisor.unit in ("rows", "s"):
        if left.parts or unit != divisor.unit:
            scope.findings.error(
                "T305",
                f"a number cannot be divided by {_amount(divisor)}",
                (node.span, "their units differ"),
            )
            return None
        unit = ""
    scaled = _scaled(left, 1 / divisor.value)
    return MeasureSum(scaled.parts, Quantity(scaled.constant.value, unit))


def _scaled(value: MeasureSum, factor: Fraction) -> MeasureSum:
    parts = tuple((factor * weight, use) for weight, use in value.parts)
    return MeasureSum(parts, Quantity(factor * value.constant.value, value.constant.unit))


def _gathered(value: MeasureSum) -> MeasureSum:
    """The sum with equal measures added up and those that cancel out removed."""
    totals: dict[Use, Fraction] = {}
    for factor, use in value.parts:
        totals[use] = totals.get(use, Fraction(0)) + factor
    return MeasureSum(tuple((factor, use) for use, factor in totals.items() if factor), value.constant)


_KINDS = {"": "a plain number", "%": "a share", "rows": "a number of rows", "s": "a time"}


def _amount(value: Quantity) -> str:
    return f"{value}" if value.unit else f"the plain number {value}"
