"""Params, `set` statements and given values -> the value that each param has.

A value from Python or `--set` overrides `set`, which overrides the default. All of them are checked against the
declared type and domain, so that a wrong default is found even if it is overridden.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

from treeml.lang.findings import Findings
from treeml.lang.measures import BUILT_IN
from treeml.lang.quantities import Quantity, decimal, enumerated, quantity, spelled
from treeml.lang.source import Span
from treeml.lang.suggest import suggest
from treeml.lang.syntax import Choices, Name, Negate, Number, Param, Range, Set, Statement, String, Value
from treeml.lang.words import MAXIMUM_DIGITS, read_number, read_unit

ParamValue = Quantity | str


@dataclass(slots=True)
class Params:
    """The value of every declared param; `used` grows as expressions read them."""

    values: dict[str, ParamValue | None]  # None: no usable value, which was reported
    declared: dict[str, Param]
    used: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        return name in self.declared

    def read(self, name: str) -> ParamValue | None:
        self.used.add(name)
        return self.values[name]


def bind_params(
    statements: Sequence[Statement], bindings: Mapping[str, Any], origin: str | None, findings: Findings
) -> Params:
    """`origin` is what messages call the source of the bindings: by default `--set` for text, else "the call"."""
    declared: dict[str, Param] = {}
    for statement in statements:
        if isinstance(statement, Param) and statement.name not in declared:
            declared[statement.name] = statement
            _check_declaration(statement, findings)
    sets: dict[str, Set] = {}
    for statement in statements:
        if isinstance(statement, Set):
            if statement.name in declared:
                sets.setdefault(statement.name, statement)
            else:
                _unknown_param(statement.name, statement.name_span or statement.span, declared, "", findings)
    for name in bindings:
        if name not in declared:
            _unknown_param(name, None, declared, origin or _giver(bindings[name]), findings)
    params = Params({}, declared)
    for name, param in declared.items():
        giver = origin or _giver(bindings.get(name))
        params.values[name] = _bind(param, sets.get(name), bindings, giver, findings)
    return params


def _giver(given: Any) -> str:
    return "--set" if isinstance(given, str) else "the call"


def _bind(
    param: Param, assigned: Set | None, bindings: Mapping[str, Any], origin: str, findings: Findings
) -> ParamValue | None:
    """The value that takes effect; overridden values are checked as well."""
    value: ParamValue | None = None
    found = False
    if param.default is not None:
        found = True
        value = literal(param.default)
        if not _fits(param, value, f"its default is {shown(value)}", param.default.span, "", findings):
            value = None
    if assigned is not None:
        found = True
        value = literal(assigned.value)
        if not _fits(param, value, f"`set` gives {shown(value)}", assigned.value.span, "set", findings):
            value = None
    if param.name in bindings:
        found = True
        given = bindings[param.name]
        value = given_value(given, as_text=_takes_text(param))
        if value is None:
            findings.error(
                "T312",
                f"{origin} gives `{param.name}` {_unusable(given)}",
                (param.name_span or param.span, "declared here"),
                help="give a finite number, or a text such as `5%`",
            )
        elif not _fits(param, value, f"{origin} gives {shown(value)}", None, origin, findings):
            value = None
    if not found:
        findings.error(
            "N212",
            f"the param `{param.name}` has no value",
            (param.name_span or param.span, "declared without a default"),
            help=(
                f"give a default: `param {param.name} = {_example(param)}{_domain_text(param)}`",
                f"or a value when solving: --set {param.name}={_example(param)}",
            ),
        )
    return value


def _check_declaration(param: Param, findings: Findings) -> None:
    place = param.name_span or param.span
    if param.name in BUILT_IN:  # not MEASURES: installing a package must not break a spec
        findings.error(
            "N210",
            f"`{param.name}` is the name of a measure, so no param can have it",
            (place, "declared here"),
            help=f"call it `max_{param.name}` or `{param.name}_limit`",
        )
    if param.type and param.type not in _TYPES:
        findings.error(
            "T312",
            f"a param cannot be of type `{param.type}`",
            (param.span, "declared here"),
            help=f"the types of params are {enumerated(_TYPES)}",
        )
    if isinstance(param.domain, Range):
        low, high = literal(param.domain.low), literal(param.domain.high)
        if isinstance(low, str) or isinstance(high, str):
            findings.error(
                "T312",
                f"the range of `{param.name}` must run from one number to another",
                (param.domain.span, "not both are numbers"),
                help=f"to allow certain words, list them: `in {{{shown(low)}, {shown(high)}}}`",
            )
        elif low.value > high.value:
            findings.error(
                "T306",
                f"the range of `{param.name}` is empty",
                (param.domain.span, f"{low} lies above {high}"),
                help=f"write the smaller number first: `in {high} .. {low}`",
            )


_TYPES = ("number", "integer", "binary", "text")


def _fits(param: Param, value: ParamValue, gives: str, place: Span | None, origin: str, findings: Findings) -> bool:
    """Whether the value has the declared type and lies in the domain; `gives` says where it comes from."""
    problem = _type_problem(param, value)
    if problem:
        findings.error(
            "T312",
            f"`{param.name}` {problem}, but {gives}",
            (place or param.name_span or param.span, "given here" if place else "declared here"),
            *(((param.name_span or param.span, "declared here"),) if place and origin == "set" else ()),
        )
        return False
    domain = param.domain
    if isinstance(domain, Range):
        low, high = literal(domain.low), literal(domain.high)
        if isinstance(low, str) or isinstance(high, str):
            return False
        if low.value > high.value:
            return False
        if isinstance(value, Quantity) and low.value <= value.value <= high.value:
            return True
        extent = f"must lie in {_as_written(domain.low)} .. {_as_written(domain.high)}"
    elif isinstance(domain, Choices):
        choices = [literal(choice) for choice in domain.values]
        if any(_same(choice, value) for choice in choices):
            return True
        extent = f"must be {enumerated(map(shown, choices), 'or', quote=False)}"
    else:
        return True
    places = [(place, "given here")] if origin == "set" else []
    findings.error(
        "T306",
        f"`{param.name}` {extent}, but {gives}",
        (domain.span, "declared here"),
        *places,
        help=_domain_help(param, value, origin),
    )
    return False


def _type_problem(param: Param, value: ParamValue) -> str:
    whole = isinstance(value, Quantity) and value.value.denominator == 1
    if param.type == "integer" and not whole:
        return "is a whole number"
    if param.type == "number" and isinstance(value, str):
        return "is a number"
    if param.type == "text" and isinstance(value, Quantity):
        return "is text"
    if param.type == "binary" and label_of(value) not in ("true", "false", "0", "1"):
        return "is true or false"
    if param.type:
        return ""
    example = _example_value(param)
    if isinstance(example, Quantity) and isinstance(value, str):
        return "is a number"
    if isinstance(example, Quantity) and isinstance(value, Quantity) and _kind(example) != _kind(value):
        return f"is {_kind(example)}"
    return ""


def _domain_help(param: Param, value: ParamValue, origin: str) -> tuple[str, ...]:
    """If a share is expected, 5 most often means 5%."""
    if not (isinstance(value, Quantity) and value.unit == "" and isinstance(param.domain, Range)):
        return ()
    low, high = literal(param.domain.low), literal(param.domain.high)
    share = value.value / 100
    if isinstance(low, str) or isinstance(high, str) or not (low.value <= share <= high.value and high.value <= 1):
        return ()
    words = spelled(int(value.value)) if value.value.denominator == 1 else decimal(value.value)
    if origin in ("", "set"):
        verb = "set" if origin == "set" else "param"
        return (f"for {words} per cent write `{verb} {param.name} = {value}%`",)
    if origin.startswith("--"):
        return (f"for {words} per cent write {origin} {param.name}={value}%",)
    return (f"for {words} per cent give {decimal(share)}",)


def _unknown_param(
    name: str, place: Span | None, declared: Mapping[str, Param], origin: str, findings: Findings
) -> None:
    near = suggest(name, declared)
    title = f"no param is called `{name}`" + (f", but {origin} gives it a value" if origin else "")
    known = f"the params are {enumerated(declared)}" if declared else "this specification declares no params"
    if place is not None:
        label = f"did you mean `{near}`?" if near else "not declared"
        findings.error(
            "N201", title, (place, label), note=known, help=() if near else f"declare it: `param {name} = ...`"
        )
    else:
        findings.error(
            "N201",
            title,
            note=known,
            help=_suggestion(origin, near) if near else f"declare it: `param {name} = ...`",
        )


def _suggestion(origin: str, near: str) -> str:
    return f"did you mean {origin} {near}=...?" if origin.startswith("--") else f"did you mean `{near}`?"


def literal(value: Value) -> ParamValue:
    """A written value -> a quantity, or the text of a word or string."""
    if isinstance(value, Number):
        return quantity(value)
    if isinstance(value, Negate):
        inner = literal(value.operand)  # type: ignore[arg-type]
        return f"-{inner}" if isinstance(inner, str) else Quantity(-inner.value, inner.unit)
    return value.text


def label_text(value: Value) -> str:
    """A written class or level -> the text that labels are compared by: 1, 1.0 and "1" are all `1`."""
    if isinstance(value, (String, Name)):
        return value.text
    return label_of(literal(value))


def label_of(value: ParamValue) -> str:
    if isinstance(value, str):
        return value
    if value.unit in ("rows", "s"):
        return str(value)
    number = value.value
    return str(number.numerator) if number.denominator == 1 else repr(float(number))


_NUMBER = re.compile(r"([+-]?)\s*([0-9]+(?:_[0-9]+)*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*(%|ms|s|min|h|rows?)?")
_MOST_BITS = 4 * MAXIMUM_DIGITS


def given_value(given: Any, as_text: bool = False) -> ParamValue | None:
    """A value from Python or from the command line; None if it is neither a number nor text."""
    if isinstance(given, str):
        text = given.strip()
        if len(text) >= 2 and text[0] == text[-1] == '"':
            return text[1:-1]
        match = None if as_text else _NUMBER.fullmatch(text)
        if match is None:
            return text
        sign, digits, unit = match.groups()
        number = read_number(digits)
        return None if number is None else quantity(Number(-number if sign == "-" else number, read_unit(unit or "")))
    if isinstance(given, Number):
        return quantity(given)
    if isinstance(given, (String, Name)):
        return given.text
    if isinstance(given, bool) or type(given).__name__ == "bool_":
        return "true" if given else "false"
    if isinstance(given, Rational):
        exact = Fraction(int(given.numerator), int(given.denominator))
        return Quantity(exact) if max(map(int.bit_length, exact.as_integer_ratio())) <= _MOST_BITS else None
    if isinstance(given, Decimal) and given.is_finite():
        number = read_number(str(given.copy_abs()))
        return None if number is None else Quantity(-number if given.is_signed() else number)
    if isinstance(given, Real):
        near = float(given)
        # The text of a float is what its author wrote: 0.1 means a tenth, not the nearest binary fraction.
        return Quantity(Fraction(repr(near))) if abs(near) < float("inf") else None
    return None


def shown(value: ParamValue) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _as_written(value: Value) -> str:
    return value.span.text if value.span is not None else shown(literal(value))


def _same(left: ParamValue, right: ParamValue) -> bool:
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        return left.value == right.value
    return left == right


def _takes_text(param: Param) -> bool:
    return param.type == "text" if param.type else isinstance(_example_value(param), str)


def _example_value(param: Param) -> ParamValue | None:
    """An example value from the declaration: the default, or one of the domain."""
    if param.default is not None:
        return literal(param.default)
    if isinstance(param.domain, Range):
        return literal(param.domain.low)
    return literal(param.domain.values[0]) if isinstance(param.domain, Choices) else None


def _kind(value: Quantity) -> str:
    return {"rows": "a number of rows", "s": "a time"}.get(value.unit, "a plain number")


def _example(param: Param) -> str:
    if isinstance(param.domain, Range):
        return shown(literal(param.domain.low))
    if isinstance(param.domain, Choices):
        return shown(literal(param.domain.values[0]))
    return {"binary": "true", "text": '"..."'}.get(param.type, "1")


def _domain_text(param: Param) -> str:
    return f" in {param.domain.span.text}" if param.domain is not None and param.domain.span is not None else ""


def _unusable(given: Any) -> str:
    if isinstance(given, (str, Rational, Decimal)):
        return f"a number of more than {MAXIMUM_DIGITS} digits"
    text = repr(given)
    return f"the value {text if len(text) <= 40 else text[:37] + '...'}, which is neither a number nor text"
