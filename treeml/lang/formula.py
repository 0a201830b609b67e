"""Python values and operators -> expressions of the language.

`tml.error_rate + 0.01 * tml.leaves` and `tml.depth <= 3` build the nodes that the parser would build from the same
text, so a model built in Python equals the model parsed from what it prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from inspect import Signature
from numbers import Rational, Real
from typing import Any, ClassVar, NoReturn

from treeml.lang.measures import MEASURES, Measure, Parameter
from treeml.lang.node_builder import as_argument
from treeml.lang.syntax import Argument, Binary, Call, Expression, Name, Negate, Number, Relation, String, Value
from treeml.lang.words import MAXIMUM_DIGITS, UNITS, is_bare, read_number, read_unit, spell_number


@dataclass(frozen=True, eq=False)
class Formula:
    """A number, a param, a measure or a sum of them; it supports + - * / and comparisons."""

    node: Expression

    __array_ufunc__: ClassVar[None] = None  # so that numpy leaves `np.float64(2) * leaves` to __rmul__

    def __add__(self, other: Any) -> Formula:
        return Formula(Binary("+", self.node, expression(other)))

    def __radd__(self, other: Any) -> Formula:
        return Formula(Binary("+", expression(other), self.node))

    def __sub__(self, other: Any) -> Formula:
        return Formula(Binary("-", self.node, expression(other)))

    def __rsub__(self, other: Any) -> Formula:
        return Formula(Binary("-", expression(other), self.node))

    def __mul__(self, other: Any) -> Formula:
        return Formula(Binary("*", self.node, expression(other)))

    def __rmul__(self, other: Any) -> Formula:
        return Formula(Binary("*", expression(other), self.node))

    def __truediv__(self, other: Any) -> Formula:
        return Formula(Binary("/", self.node, expression(other)))

    def __rtruediv__(self, other: Any) -> Formula:
        return Formula(Binary("/", expression(other), self.node))

    def __neg__(self) -> Formula:
        return Formula(Negate(self.node))

    def __pos__(self) -> Formula:
        return self

    def __le__(self, other: Any) -> Constraint:
        return Constraint(Relation((self.node, _side(other)), ("<=",)))

    def __ge__(self, other: Any) -> Constraint:
        return Constraint(Relation((self.node, _side(other)), (">=",)))

    def __lt__(self, other: Any) -> Constraint:
        return Constraint(Relation((self.node, _side(other)), ("<",)))

    def __gt__(self, other: Any) -> Constraint:
        return Constraint(Relation((self.node, _side(other)), (">",)))

    def __eq__(self, other: object) -> Constraint:  # type: ignore[override]
        return Constraint(Relation((self.node, _side(other)), ("=",)))

    def __ne__(self, other: object) -> NoReturn:  # type: ignore[override]
        raise TypeError("a model has no `!=`: its comparisons are <=, >= and ==, and < and > on whole numbers")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> NoReturn:
        raise TypeError(f"`{self}` has no value before the model is solved; use it in minimize(...) or require(...)")

    def __str__(self) -> str:
        from treeml.lang.write import write_expression

        return write_expression(self.node)

    def __repr__(self) -> str:
        return f"<{self}>"


@dataclass(frozen=True, slots=True)
class Constraint:
    """A comparison to be required; it is neither true nor false before the model is solved."""

    node: Relation

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"`{self}` is neither true nor false before the model is solved; Python cannot chain such comparisons: "
            "write tml.between(2, tml.leaves, 8), or two requirements"
        )

    def __str__(self) -> str:
        from treeml.lang.write import write_expression

        return write_expression(self.node)

    def __repr__(self) -> str:
        return f"<{self}>"


@dataclass(frozen=True, slots=True)
class MethodFormula:
    """A name with options: a back-end, or a method to binarize, validate, start or report."""

    node: Call | Name

    def __str__(self) -> str:
        from treeml.lang.write import write_expression

        return write_expression(self.node)

    def __repr__(self) -> str:
        return f"<{self}>"


class MeasureWithArguments:
    """A measure of a column, a class or conditions: calling it with them gives a formula."""

    def __init__(self, measure: Measure, doc: str = "", signature: Signature | None = None) -> None:
        self.measure = measure
        self.__name__ = measure.name
        if doc:
            self.__doc__ = doc
        if signature is not None:
            self.__signature__ = signature

    def __call__(self, *arguments: Any, given: Any = (), **conditions: Any) -> Formula:
        kinds = [parameter.kind for parameter in self.measure.parameters]
        if kinds == ["conditions"]:
            counted = [as_argument(_condition(argument)) for argument in arguments] + _equalities(conditions)
            if not counted:
                raise TypeError(f'{self.measure.name}(...) needs a condition such as predicted="yes"')
            return Formula(Call(self.measure.name, tuple(counted), tuple(_conditions(given))))
        if given != ():
            raise TypeError(f"{self.measure.name}(...) takes no `given`; only count and rate do")
        return Formula(Call(self.measure.name, tuple(_measure_arguments(self.measure, arguments, conditions))))

    def __repr__(self) -> str:
        return f"<{self.measure.name}(...): {self.measure.summary}>"


def measure(name: str) -> Formula | MeasureWithArguments:
    """The measure of this name: a formula, or an object to call with its arguments."""
    entry = MEASURES[name]
    return MeasureWithArguments(entry) if entry.parameters else Formula(Name(name))


def documented_measure(name: str, doc: str) -> Formula:
    """A measure without arguments, with a docstring of its own that `help` shows."""
    found = Formula(Name(name))
    object.__setattr__(found, "__doc__", doc)
    return found


def column(name: str) -> Formula:
    """A column of the data, for use in conditions.

    >>> tml.count(tml.column("age") >= 40, predicted="yes") <= 100
    <count(age >= 40, predicted = "yes") <= 100>
    """
    return Formula(Name(_text(name, "the name of a column")))


def param(name: str) -> Formula:
    """A param that is declared elsewhere, for example in an included file; `Model.param` declares one and returns it.

    >>> tml.leaves <= tml.param("size")
    <leaves <= size>
    """
    return Formula(Name(identifier(name, "a param")))


def between(low: Any, middle: Any, high: Any) -> Constraint:
    """The comparison `low <= middle <= high`, which Python's own operators cannot express for measures.

    >>> tml.between(2, tml.leaves, 8)
    <2 <= leaves <= 8>
    """
    return Constraint(Relation((expression(low), expression(middle), expression(high)), ("<=", "<=")))


def quantity(number: Any, unit: str) -> Formula:
    """A number with a unit: %, rows, ms, s, min or h.

    >>> tml.quantity(500, "ms")
    <500 ms>
    """
    unit = read_unit(unit)
    if unit not in UNITS:
        raise ValueError(f"no unit is called {unit!r}: units are {', '.join(UNITS)}")
    return Formula(_number(number, unit))


def percent(number: Any) -> Formula:
    """A share in percent.

    >>> tml.accuracy >= tml.percent(90)
    <accuracy >= 90%>
    """
    return quantity(number, "%")


def rows(number: Any) -> Formula:
    """A number of rows, regardless of their weights.

    >>> tml.support >= tml.rows(10)
    <support >= 10 rows>
    """
    return quantity(number, "rows")


def seconds(number: Any) -> Formula:
    """A time in seconds.

    >>> model.solve_with("native", within=tml.seconds(90))
    """
    return quantity(number, "s")


def minutes(number: Any) -> Formula:
    """A time in minutes.

    >>> model.solve_with("native", within=tml.minutes(5))
    """
    return quantity(number, "min")


def hours(number: Any) -> Formula:
    """A time in hours.

    >>> model.solve_with("cpsat", within=tml.hours(2))
    """
    return quantity(number, "h")


def method(name: str, *arguments: Any, **options: Any) -> MethodFormula:
    """A name with options: a back-end, or a method to binarize, validate, start or report.

    >>> model.solve_with(tml.method("native", cache=2_000_000))
    >>> model.binarize(by=tml.method("quantiles", 4))
    """
    word = identifier(name, "a method")
    if not arguments and not options:
        return MethodFormula(Name(word))
    given = [Argument(_argument_value(argument)) for argument in arguments]
    given += [Argument(_argument_value(value), name=key) for key, value in options.items()]
    return MethodFormula(Call(word, tuple(given)))


def expression(value: Any) -> Expression:
    """A formula or a number -> the expression that can be part of a sum."""
    if isinstance(value, Formula):
        return value.node
    if isinstance(value, MeasureWithArguments):
        raise TypeError(f"{value.measure.name} needs arguments: {_signature(value.measure)}")
    if isinstance(value, Constraint):
        raise TypeError(f"`{value}` is a comparison; it can be required, but not be part of a sum")
    if isinstance(value, str):
        raise TypeError(f"{value!r} is text; a formula is made of numbers, params and measures such as tml.leaves")
    return _number(value)


def condition(value: Any) -> Expression:
    """A comparison, or a measure that is true or false -> the expression that can be required."""
    if isinstance(value, Constraint):
        return value.node
    if isinstance(value, bool):
        raise TypeError(f"{value} is not a requirement: compare measures with numbers, as in tml.depth <= 3")
    return expression(value)


def label(value: Any) -> Value:
    """A class, a level or the value of a param: text, a number, or a formula that consists of just that."""
    if isinstance(value, str):
        return String(value)
    if isinstance(value, bool):
        return Name("true" if value else "false")
    node = expression(value)
    if isinstance(node, Number | String) or (isinstance(node, Negate) and isinstance(node.operand, Number)):
        return node
    if isinstance(node, Name) and is_bare(node.text):
        return node
    raise TypeError(f"`{Formula(node)}` is a formula; a plain value is needed here")


def duration(value: Any) -> Expression:
    """A time: seconds as a number, text such as "5 min", or a formula."""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([0-9][0-9_]*(?:\.[0-9]+)?)\s*(ms|s|min|h)\s*", value)
        number = match and read_number(match[1])
        if match is None or number is None:
            raise ValueError(f'{value[:40]!r} is not a time: write "90 s", "5 min" or "2 h"')
        return _number(number, match[2])
    node = expression(value)
    return Number(node.value, "s") if isinstance(node, Number) and not node.unit else node


def slack(value: Any) -> Expression:
    """A distance from the best: text such as "2%" or "3 rows", a number in the unit of the goal, or a formula."""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([0-9][0-9_]*(?:\.[0-9]+)?)\s*(%|rows?|)\s*", value)
        number = match and read_number(match[1])
        if match is None or number is None:
            raise ValueError(f'{value[:40]!r} is not a distance from the best: write "2%", "3 rows" or "0.01"')
        return _number(number, read_unit(match[2]))
    return expression(value)


def identifier(name: str, what: str) -> str:
    """The name, checked to need no backquotes; names of params, requirements and methods must not need them."""
    if not isinstance(name, str) or not is_bare(name):
        raise ValueError(f"{name!r} cannot name {what}: use letters, digits and _, and no digit first")
    return name


def column_name(name: str | Formula) -> Name:
    """The name of a column, given as text or as `tml.column(...)`."""
    if isinstance(name, Formula) and isinstance(name.node, Name):
        return name.node
    return Name(_text(name, "the name of a column"))


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} is text, not {value!r}")
    if not value:
        raise ValueError(f"{what} is empty")
    return value


def _number(value: Any, unit: str = "") -> Number | Negate | Binary:
    """The exact number that Python prints: 0.05 is five hundredths, not the nearest binary fraction."""
    if type(value) is int or type(value) is float:
        return _usual_number(value, unit)
    return _any_number(value, unit)


def _any_number(value: Any, unit: str) -> Number | Negate | Binary:
    if isinstance(value, bool) or not (isinstance(value, Real) or hasattr(value, "as_integer_ratio")):
        raise TypeError(f"{value!r} is not a number")
    try:
        exact = _plain_fraction(value) if isinstance(value, Rational) else Fraction(str(value))
    except ValueError:
        raise ValueError(f"{value} is not a finite number") from None
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > 4 * MAXIMUM_DIGITS:
        raise ValueError(f"a number has at most {MAXIMUM_DIGITS} digits")
    if exact < 0:
        return Negate(_number(-exact, unit))
    try:
        digits = spell_number(exact)
    except ValueError:
        if unit:
            raise ValueError(f"{value} has no finite decimal writing") from None
        return Binary("/", _number(exact.numerator), _number(exact.denominator))
    if len(digits) > MAXIMUM_DIGITS:
        raise ValueError(f"a number has at most {MAXIMUM_DIGITS} digits")
    return Number(exact, unit)


# Models are built with the same few limits again and again. 1 and 1.0 are written alike, and so are 0.0 and -0.0.
_usual_number = lru_cache(maxsize=256)(_any_number)


def _plain_fraction(value: Rational) -> Fraction:
    """A fraction of Python's own integers, which never overflow, whichever library the value comes from."""
    return Fraction(int(value.numerator), int(value.denominator))


def _side(value: Any) -> Expression:
    """One side of a comparison; text is allowed for conditions such as column("sex") == "F"."""
    return String(value) if isinstance(value, str) else expression(value)


def _argument_value(value: Any) -> Expression:
    return label(value) if isinstance(value, str | bool) else expression(value)


def _measure_arguments(entry: Measure, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> list[Argument]:
    """Arguments converted by the kind of their parameter: columns and words to names, classes to texts or numbers."""
    positional = _paired(entry, arguments)
    unknown = set(named) - {parameter.name for parameter in entry.parameters}
    if unknown:
        raise TypeError(f"{entry.name} has no argument {sorted(unknown)[0]!r}: {_signature(entry)}")
    found = [Argument(_by_kind(parameter, value)) for parameter, value in positional]
    for parameter in entry.parameters:
        if parameter.name in named:
            if any(parameter is given for given, _ in positional):
                raise TypeError(f"{entry.name} is given {parameter.name!r} twice")
            values = named[parameter.name]
            many = parameter.repeated and not isinstance(values, str | Formula)
            found += [Argument(_by_kind(parameter, value)) for value in (values if many else [values])]
            if parameter.optional:
                found[-1] = Argument(found[-1].value, name=parameter.name)
        elif not parameter.optional and not any(parameter is given for given, _ in positional):
            raise TypeError(f"{entry.name} needs {parameter.name!r}: {_signature(entry)}")
    return found


def _paired(entry: Measure, arguments: tuple[Any, ...]) -> list[tuple[Parameter, Any]]:
    """Each positional argument with its parameter; a repeated parameter takes all remaining arguments."""
    pairs: list[tuple[Parameter, Any]] = []
    parameters = list(entry.parameters)
    for value in arguments:
        if not parameters:
            raise TypeError(f"{entry.name} takes fewer arguments: {_signature(entry)}")
        pairs.append((parameters[0], value))
        if not parameters[0].repeated:
            parameters.pop(0)
    return pairs


def _by_kind(parameter: Parameter, value: Any) -> Expression:
    match parameter.kind:
        case "column" | "columns":
            return column_name(value)
        case "class":
            return label(value)
        case "word":
            if value not in parameter.choices:
                raise ValueError(f"{parameter.name} is one of {', '.join(parameter.choices)}, not {value!r}")
            return Name(value)
        case _:
            return expression(value)


def _signature(entry: Measure) -> str:
    names = (f"{parameter.name}=..." if parameter.optional else parameter.name for parameter in entry.parameters)
    return f"{entry.name}({', '.join(names)})"


def _conditions(given: Any) -> list[Argument]:
    if isinstance(given, Mapping):
        return _equalities(given)
    found = [given] if isinstance(given, Constraint) else list(given)
    return [
        argument
        for item in found
        for argument in (_equalities(item) if isinstance(item, Mapping) else [as_argument(_condition(item))])
    ]


def _equalities(conditions: Mapping[str, Any]) -> list[Argument]:
    return [Argument(label(value), name=_text(key, "the name of a column")) for key, value in conditions.items()]


def _condition(value: Any) -> Expression:
    if not isinstance(value, Constraint):
        raise TypeError(f'{value!r} is not a condition: write predicted="yes", or tml.column("age") >= 40')
    return value.node


def methods(names: Iterable[str | MethodFormula | Formula]) -> tuple[Call | Name, ...]:
    """The nodes of several methods, each given by name or as a whole."""
    return tuple(as_method(name).node for name in names)


def as_method(value: str | MethodFormula | Formula, *arguments: Any, **options: Any) -> MethodFormula:
    """A method, given by its name and options, or as a whole."""
    if isinstance(value, Formula):
        if not isinstance(value.node, Call | Name):
            raise TypeError(f"`{value}` is a formula, not a single measure")
        value = MethodFormula(value.node)  # a measure to report
    if isinstance(value, MethodFormula):
        if arguments or options:
            raise TypeError(f"give the options of `{value}` inside tml.method(...)")
        return value
    return method(value, *arguments, **options)
