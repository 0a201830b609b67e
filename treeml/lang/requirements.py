"""`require` statements -> closed bounds on exact sums of measures.

Measures move to the left and constants to the right; a strict comparison of whole numbers becomes the equivalent closed
one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from treeml.lang.diagnostic import Fix
from treeml.lang.expressions import MeasureSum, Scope, evaluate, same_for_every_tree
from treeml.lang.measures import MEASURES
from treeml.lang.quantities import Quantity, decimal, percent
from treeml.lang.source import Span
from treeml.lang.spec import Linear, Requirement, Use
from treeml.lang.syntax import Call, Expression, Name, Number, Relation, Require

FLIPPED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "=": "="}


@dataclass(frozen=True, slots=True)
class Link:
    """One comparison of a chain: `left operator right`, as written."""

    left: Expression
    operator: str
    right: Expression
    operator_span: Span | None

    @property
    def span(self) -> Span | None:
        if self.left.span is None or self.right.span is None:
            return None
        return Span(self.left.span.source, self.left.span.start, self.right.span.end)

    @property
    def limit_span(self) -> Span | None:
        """From the operator to the end: `<= 3`."""
        if self.operator_span is None or self.right.span is None:
            return None
        return Span(self.operator_span.source, self.operator_span.start, self.right.span.end)


def requirements_of(statement: Require, scope: Scope, weighted: bool) -> list[Requirement]:
    """The bounds that one `require` sets: several for a chain, none if a mistake was reported."""
    condition = statement.condition
    if isinstance(condition, (Call, Name)):
        links = [_truth(statement, condition, scope)]
    elif isinstance(condition, Relation):
        places = condition.operator_spans or (None,) * len(condition.operators)
        chain = zip(condition.operands[:-1], condition.operators, condition.operands[1:], places, strict=True)
        links = [_compared(statement, Link(*link), scope, weighted) for link in chain]
    else:
        text = plain_text(condition.span)
        scope.findings.error(
            "T310",
            "a requirement compares two things",
            (condition.span or statement.span, "compared with nothing"),
            help=f"write `require {text} <= ...`" if text else (),
        )
        return []
    return [requirement for requirement in links if requirement is not None]


def _truth(statement: Require, condition: Call | Name, scope: Scope) -> Requirement | None:
    """`uses(age)` and `monotone(...)` are true or false; requiring them means that they are at least 1."""
    value = evaluate(condition, scope)
    if value is None:
        return None
    if len(value.parts) != 1 or MEASURES[value.parts[0][1].measure].unit != "truth":
        text = plain_text(condition.span) or (condition.text if isinstance(condition, Name) else condition.name)
        what = f"`{text}`" if value.parts else f"the param `{text}`"
        scope.findings.error(
            "T310",
            f"{what} is a number, so a requirement must compare it",
            (condition.span, "compared with nothing"),
            help=f"write `require {text} {_usual_sense(value)} ...`",
        )
        return None
    return _requirement(statement, Linear(value.parts), ">=", Fraction(1), False)


def _usual_sense(value: MeasureSum) -> str:
    measure = MEASURES[value.parts[0][1].measure] if value.parts else None
    return ">=" if measure is not None and (measure.goal == "maximize" or measure.unit == "rows") else "<="


def _compared(statement: Require, link: Link, scope: Scope, weighted: bool) -> Requirement | None:
    left, right = evaluate(link.left, scope), evaluate(link.right, scope)
    if left is None or right is None:
        return None
    parts = _moved(left, right)
    limit = right.constant.value - left.constant.value
    if not parts:
        _without_measure(link, left, right, limit, scope)
        return None
    if same_for_every_tree(parts, scope):
        return None
    unit = _limit_unit(link, left, right, scope)
    if unit is None:
        return None
    sense = link.operator
    if len(parts) == 1:
        factor, use = parts[0]
        parts, limit = ((Fraction(1), use),), limit / factor
        sense = FLIPPED[sense] if factor < 0 else sense
    bound = RequirementBound(parts, sense, Quantity(limit, unit), link, weighted, reversed=not left.parts)
    if not _unit_fits(bound, scope) or not _strictness_fits(bound, scope):
        return None
    sense, limit = _closed(bound)
    if not _possible(bound, sense, limit, scope):
        return None
    return _requirement(statement, Linear(parts), sense, limit, _share_of_rows(bound))


@dataclass(frozen=True, slots=True)
class RequirementBound:
    """A requirement in normal form: constants on the right; a single measure has the factor 1."""

    parts: tuple[tuple[Fraction, Use], ...]
    sense: str
    limit: Quantity
    link: Link
    weighted: bool
    reversed: bool = False  # the measure stands on the right: `3 >= depth`

    @property
    def place(self) -> Span | None:
        """The span of the operator and the limit, or of the whole comparison if the limit comes first."""
        return self.link.span if self.reversed else self.link.limit_span

    @property
    def single(self) -> Use | None:
        return self.parts[0][1] if len(self.parts) == 1 else None

    @property
    def text(self) -> str:
        return self.parts[0][1].text if len(self.parts) == 1 else "this sum"


def _requirement(
    statement: Require, expression: Linear, sense: str, limit: Fraction, share_of_rows: bool
) -> Requirement:
    text = plain_text(statement.condition.span)
    return Requirement(expression, sense, limit, statement.name or text, text, share_of_rows, statement.condition.span)


def _moved(left: MeasureSum, right: MeasureSum) -> tuple[tuple[Fraction, Use], ...]:
    totals: dict[Use, Fraction] = {use: factor for factor, use in left.parts}
    for factor, use in right.parts:
        totals[use] = totals.get(use, Fraction(0)) - factor
    return tuple((factor, use) for use, factor in totals.items() if factor)


def _without_measure(link: Link, left: MeasureSum, right: MeasureSum, limit: Fraction, scope: Scope) -> None:
    holds = {"<=": limit >= 0, ">=": limit <= 0, "=": limit == 0, "<": limit > 0, ">": limit < 0}[link.operator]
    same = bool(left.parts or right.parts)
    why = "both sides measure the same" if same else "always true" if holds else "never true"
    params = any(isinstance(side, Name) and side.text in scope.params for side in (link.left, link.right))
    scope.findings.error(
        "T311",
        "this requirement says nothing about the tree",
        (link.span, why),
        help="to limit a param, declare its domain: `param price in 0 .. 0.5`"
        if params
        else "compare a measure, as in `require depth <= 3`",
    )


def _limit_unit(link: Link, left: MeasureSum, right: MeasureSum, scope: Scope) -> str | None:
    """The common unit of the constants; measures have none."""
    units = {side.constant.unit for side in (left, right) if side.constant.value or not side.parts}
    units.discard("")
    if not units:
        return ""
    if len(units) > 1:
        scope.findings.error(
            "T305", "the units in this requirement differ", (link.span, f"{left.constant} and {right.constant}")
        )
        return None
    return units.pop()


def _unit_fits(bound: RequirementBound, scope: Scope) -> bool:
    units = {MEASURES[use.measure].unit for _, use in bound.parts}
    unit = bound.limit.unit
    if unit == "":
        return True
    if unit == "%" and (units & {"share", "quotient"} or (bound.single and units == {"rows"})):
        return True
    if unit == "rows" and (units <= {"rows"} or (units <= {"rows", "weight"} and not bound.weighted)):
        return True
    kind = {"%": "a share", "rows": "a number of rows", "s": "a time"}[unit]
    use = bound.parts[0][1]
    measure = MEASURES[use.measure]
    scope.findings.error(
        "T305",
        f"`{use.text}` {_is_what(measure.unit, bound.weighted)}, but the limit is {kind}",
        (bound.place, f"{_written_limit(bound)} is {kind}"),
        help=_unit_help(bound, use),
    )
    return False


def _is_what(unit: str, weighted: bool) -> str:
    weight = "adds up weights" if weighted else "counts rows"
    return {
        "count": "is a plain number",
        "rows": "counts rows",
        "weight": weight,
        "share": "is a share",
        "cost": "is a sum of costs",
        "loss": "is a sum of losses",
        "truth": "is true or false",
        "quotient": "is a quotient",
        "value": "is a plain number",
    }[unit]


def _unit_help(bound: RequirementBound, use: Use) -> tuple[str, ...]:
    sense, limit = bound.sense, bound.limit
    number = decimal(limit.value * 100 if limit.unit == "%" else limit.value)
    if limit.unit == "s":
        return ("the time to solve is limited by `solve within 5 min`",)
    if limit.unit == "%" and use.measure == "errors":
        plain = () if bound.weighted else (f"for {number} rows write `errors {sense} {number}`",)
        return (f"for a share write `error_rate {sense} {limit}`", *plain)
    if limit.unit == "%" and use.measure == "leaf_errors":
        return (f"for a share write `purity {FLIPPED[sense]} {percent(1 - limit.value)}`",)
    if limit.unit == "%" and use.measure == "leaf_weight":
        return (
            f"for a share of the rows, whatever they weigh, write `support {sense} {limit}`",
            f"or the weight itself: `leaf_weight {sense} 60`",
        )
    if limit.unit == "%" and use.measure == "count":
        return (f"for a share write `{use.text.replace('count', 'rate', 1)} {sense} {limit}`",)
    if limit.unit == "rows" and use.measure in ("accuracy", "error_rate"):
        return (f"for a number of rows bound `errors`: `errors <= {number}`",)
    if limit.unit == "rows" and MEASURES[use.measure].unit == "share":
        return (f"write a share: `{use.text} {sense} 5%`",)
    return (f"write `{use.text} {sense} {number}`",)


def _written_limit(bound: RequirementBound) -> str:
    """The limit as written, or its value if it was computed."""
    for side in (bound.link.right, bound.link.left):
        if isinstance(side, Number) and side.span is not None:
            return plain_text(side.span)
    return str(bound.limit)


def _share_of_rows(bound: RequirementBound) -> bool:
    return bound.limit.unit == "%" and bound.single is not None and MEASURES[bound.single.measure].unit == "rows"


def is_whole(parts: tuple[tuple[Fraction, Use], ...], weighted: bool) -> bool:
    """Whether the sum is always a whole number: whole measures, and weights of rows if all rows weigh 1."""
    return all(
        factor.denominator == 1
        and (MEASURES[use.measure].whole or (MEASURES[use.measure].unit == "weight" and not weighted))
        for factor, use in parts
    )


def _strictness_fits(bound: RequirementBound, scope: Scope) -> bool:
    if bound.sense not in ("<", ">"):
        return True
    limit = bound.limit.value
    operator = bound.link.operator
    written = _side_text(bound)
    if not is_whole(bound.parts, bound.weighted):
        closed = f"{bound.sense}="
        scope.findings.error(
            "T302",
            f"`{bound.text}` is not a whole number, so `{operator}` has no exact meaning"
            if bound.single
            else f"this sum is not a whole number, so `{operator}` has no exact meaning",
            (bound.place, _why_not_whole(bound)),
            help=f"write `{bound.text} {closed} {bound.limit}`" if bound.single else f"write `{operator}=`",
        )
        return False
    if limit.denominator != 1 and not _share_of_rows(bound):
        nearest = floor(limit) if bound.sense == "<" else ceil(limit)
        scope.findings.error(
            "T303",
            f"`{bound.text}` is a whole number, so `{written}` is never met exactly"
            if bound.single
            else f"this sum is a whole number, so `{written}` is never met exactly",
            (bound.place, f"{bound.text} is a whole number"),
            help=f"write `{bound.text} {bound.sense}= {nearest}`",
        )
        return False
    if _share_of_rows(bound):
        scope.findings.error(
            "T302",
            f"a share of the rows is not a whole number, so `{operator}` has no exact meaning",
            (bound.place, "rounded up to rows once the data are known"),
            help=f"write `{bound.text} {bound.sense}= {bound.limit}`",
        )
        return False
    return True


def _why_not_whole(bound: RequirementBound) -> str:
    if bound.single and bound.weighted and MEASURES[bound.single.measure].unit == "weight":
        return "rows have weights here, which need not be whole"
    return "only whole numbers have a next one"


def _side_text(bound: RequirementBound) -> str:
    if bound.reversed or bound.place is None:
        return f"{bound.sense} {bound.limit}"
    return plain_text(bound.place)


def _closed(bound: RequirementBound) -> tuple[str, Fraction]:
    if bound.sense == "<":
        return "<=", bound.limit.value - 1
    if bound.sense == ">":
        return ">=", bound.limit.value + 1
    return bound.sense, bound.limit.value


def reach(parts: tuple[tuple[Fraction, Use], ...]) -> tuple[Fraction | None, Fraction | None]:
    """The smallest and the largest value that the sum can have on any data; None if there is no limit."""
    low: Fraction | None = Fraction(0)
    high: Fraction | None = Fraction(0)
    for factor, use in parts:
        least, most = _range(use)
        if factor < 0:
            least, most = most, least
        low = None if low is None or least is None else low + factor * least
        high = None if high is None or most is None else high + factor * most
    return low, high


def _range(use: Use) -> tuple[Fraction | None, Fraction | None]:
    measure = MEASURES[use.measure]
    if measure.signed or measure.unit in ("value", "quotient"):
        return None, None
    if measure.unit in ("share", "truth"):
        return Fraction(0), Fraction(1)
    return Fraction(1 if use.measure == "leaves" else 0), None


def _possible(bound: RequirementBound, sense: str, limit: Fraction, scope: Scope) -> bool:
    """Report a limit that no tree can meet; warn about one that every tree meets or that is not a whole number."""
    if _share_of_rows(bound):
        low, high = Fraction(0), Fraction(1)
    else:
        low, high = reach(bound.parts)  # type: ignore[assignment]
    whole = is_whole(bound.parts, bound.weighted) and not _share_of_rows(bound)
    never = (
        (sense in (">=", "=") and high is not None and limit > high)
        or (sense in ("<=", "=") and low is not None and limit < low)
        or (sense == "=" and whole and limit.denominator != 1)
    )
    if never:
        _impossible(bound, sense, low, high, whole, scope)
        return False
    always = (sense == ">=" and low is not None and limit <= low) or (
        sense == "<=" and high is not None and limit >= high
    )
    if always:
        scope.findings.warning(
            "L705",
            f"every tree meets `{plain_text(bound.link.span)}`",
            (bound.link.span, f"{_where(bound, low, high)}, so this rules nothing out"),
            help=_percent_help(bound, high, sense),
        )
    elif whole and limit.denominator != 1:
        nearest = floor(limit) if sense == "<=" else ceil(limit)
        likely: tuple[str, ...] = ()
        if bound.single and bound.single.measure == "support" and 0 < limit < 1:
            likely = (f"for a share of the rows write `support {sense} {percent(limit)}`",)
        scope.findings.warning(
            "L704",
            f"`{bound.text}` is a whole number, so `{_side_text(bound)}` means `{sense} {nearest}`",
            (bound.place, f"{decimal(limit)} is not a whole number"),
            help=likely or f"write `{bound.text} {sense} {nearest}`",
        )
    return True


def _impossible(
    bound: RequirementBound, sense: str, low: Fraction | None, high: Fraction | None, whole: bool, scope: Scope
) -> None:
    limit = bound.limit
    what = {"<=": f"{_shown(limit)} or less", ">=": f"{_shown(limit)} or more", "=": _shown(limit)}[sense]
    if bound.sense == "<":
        what = f"less than {_shown(limit)}"
    elif bound.sense == ">":
        what = f"more than {_shown(limit)}"
    if sense == "=" and whole and limit.value.denominator != 1:
        where = f"{bound.text} is a whole number"
    else:
        where = _where(bound, low, high)
    scope.findings.error(
        "T304",
        f"`{bound.text}` is never {what}" if bound.single else f"this sum is never {what}",
        (bound.place if bound.single else bound.link.span, where),
        help=_percent_help(bound, high, sense) or _limit_help(bound, sense, low, high),
        fix=_percent_fix(bound) if _percent_help(bound, high, sense) else (),
    )


def _percent_fix(bound: RequirementBound) -> tuple[Fix, ...]:
    """A percent sign after the limit, if that is written as a number."""
    sides = (bound.link.right, bound.link.left)
    numbers = [side.span for side in sides if isinstance(side, Number) and side.span is not None]
    return tuple(Fix(span, f"{plain_text(span)}%") for span in numbers[:1])


def _limit_help(bound: RequirementBound, sense: str, low: Fraction | None, high: Fraction | None) -> str:
    share = high == 1 and (bound.limit.unit == "%" or bound.single is None)
    if low is not None and bound.limit.value < low:
        return f"write a limit of {percent(low) if share else decimal(low)} or more"
    if high is not None and bound.limit.value > high:
        return f"write a limit of {percent(high) if share else decimal(high)} or less"
    below = floor(bound.limit.value)
    return f"write `{bound.text} {sense} {below}` or `{bound.text} {sense} {below + 1}`"


def _shown(limit: Quantity) -> str:
    return str(limit)


def _where(bound: RequirementBound, low: Fraction | None, high: Fraction | None) -> str:
    if bound.single is not None and bound.single.measure == "leaves":
        return "a tree has at least one leaf"
    share = all(MEASURES[use.measure].unit == "share" for _, use in bound.parts) or _share_of_rows(bound)
    text = bound.text if not _share_of_rows(bound) else "a share"
    if low is not None and high is not None:
        return f"{text} lies between {percent(low) if share else low} and {percent(high) if share else high}"
    return f"{text} is at least {low}" if low is not None else f"{text} is at most {high}"


def always_met(requirement: Requirement) -> bool:
    """Whether every tree on any data meets it."""
    if requirement.share_of_rows:
        return requirement.sense == ">=" and requirement.limit <= 0
    low, high = reach(requirement.expression.parts)
    limit = requirement.limit
    return (requirement.sense == ">=" and low is not None and limit <= low) or (
        requirement.sense == "<=" and high is not None and limit >= high
    )


def _percent_help(bound: RequirementBound, high: Fraction | None, sense: str) -> tuple[str, ...]:
    """If a share is expected, 90 most often means 90%."""
    value = bound.limit.value
    if (
        bound.single
        and not bound.limit.unit
        and high == 1
        and 1 < value <= 100
        and MEASURES[bound.single.measure].unit == "share"
    ):
        return (f"did you mean `{bound.text} {sense} {decimal(value)}%`?",)
    return ()


_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"?|`(?:\\.|[^`\\\n])*`?|(?:#[^\n]*|\s)+')


def plain_text(span: Span | None) -> str:
    """The text of a span on one line, without comments."""
    if span is None:
        return ""
    return _TOKEN.sub(lambda m: m[0] if m[0][0] in '"`' else " ", span.text).strip()
