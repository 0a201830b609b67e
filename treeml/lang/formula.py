"""Python values and operators -> expressions of the language.

`tml.error_rate + 0.01 * tml.leaves` and `tml.depth <= 3` build the nodes that the parser would build from the same
text, so a model built in Python equals the model parsed from what it prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, ClassVar, NoReturn

from treeml.lang.measures import MEASURES, Measure, Parameter
from treeml.lang.node_builder import as_argument
from treeml.lang.syntax import Argument, Binary, Call, Expression, Name, Negate, Number, Relation, String, Value
from treeml.lang.words import MAXIMUM_DIGITS, UNITS, is_bare, read_number, spell_number


@dataclass(frozen=True, eq=False, slots=True)
class Formula:
    """A number, a param, a measure or a sum of them: supports + - * / and comparisons."""

    node: Expression

    __array_ufunc__: ClassVar[None] = None  # makes numpy call __rmul__ for `np.float64(2) * leaves`

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
    """A comparison, to be required; it is neither true nor false before the model is solved."""

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
    """A name with options: a back-end, or a method of `binarize`, `validate`, `start` or `report`."""

    node: Call | Name

    def __str__(self) -> str:
        from treeml.lang.write import write_expression

        return write_expression(self.node)

    def __repr__(self) -> str:
        return f"<{self}>"


@dataclass(frozen=True, slots=True)
class MeasureWithArguments:
    """A measure that needs a column, a class or conditions: call it with them."""

    measure: Measure

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
    """A measure by name: a formula, or a function of its arguments if it has any."""
    entry = MEASURES[name]
    return MeasureWithArguments(entry) if entry.parameters else Formula(Name(name))


def column(name: str) -> Formula:
    """A column of the data inside a condition: `tml.count(tml.column("age") >= 40, predicted="yes")`."""
    return Formula(Name(_text(name, "the name of a column")))


def param(name: str) -> Formula:
    """A param that is declared elsewhere, such as in an included file; `Model.param` declares one and returns it."""
    return Formula(Name(identifier(name, "a param")))


def between(low: Any, middle: Any, high: Any) -> Constraint:
    """`low <= middle <= high`; Python cannot build such a chain of comparisons from measures."""
    return Constraint(Relation((expression(low), expression(middle), expression(high)), ("<=", "<=")))


def quantity(number: Any, unit: str) -> Formula:
    """A number with a unit: %, rows, ms, s, min or h."""
    if unit not in UNITS:
        raise ValueError(f"no unit is called {unit!r}: units are {', '.join(UNITS)}")
    return Formula(_number(number, unit))


def percent(number: Any) -> Formula:
    return quantity(number, "%")


def rows(number: Any) -> Formula:
    return quantity(number, "rows")


def seconds(number: Any) -> Formula:
    return quantity(number, "s")


def minutes(number: Any) -> Formula:
    return quantity(number, "min")


def hours(number: Any) -> Formula:
    return quantity(number, "h")


def method(name: str, *arguments: Any, **options: Any) -> MethodFormula:
    """`method("native", cache=2_000_000)`; without arguments the name alone."""
    word = identifier(name, "a method")
    if not arguments and not options:
        return MethodFormula(Name(word))
    given = [Argument(_argument_value(argument)) for argument in arguments]
    given += [Argument(_argument_value(value), name=key) for key, value in options.items()]
    return MethodFormula(Call(word, tuple(given)))


def expression(value: Any) -> Expression:
    """The node of a formula or a number, which can be part of a sum."""
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
    """The node of something that can be required: a comparison, or a measure that is true or false."""
    if isinstance(value, Constraint):
        return value.node
    if isinstance(value, bool):
        raise TypeError(f"{value} is not a requirement: compare measures with numbers, as in tml.depth <= 3")
    return expression(value)


def label(value: Any) -> Value:
    """A class, a level or the value of a param: text, a number, or a formula that is just one of them."""
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


def identifier(name: str, what: str) -> str:
    """The name, if it needs no backquotes; names of params, requirements and methods must not."""
    if not isinstance(name, str) or not is_bare(name):
        raise ValueError(f"{name!r} cannot name {what}: use letters, digits and _, and no digit first")
    return name


def column_name(name: str | Formula) -> Name:
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


def _plain_fraction(value: Rational) -> Fraction:
    """A fraction of Python integers, which never overflow, whatever library the value comes from."""
    return Fraction(int(value.numerator), int(value.denominator))


def _side(value: Any) -> Expression:
    """One side of a comparison: also text, for conditions such as column("sex") == "F"."""
    return String(value) if isinstance(value, str) else expression(value)


def _argument_value(value: Any) -> Expression:
    return label(value) if isinstance(value, str | bool) else expression(value)


def _measure_arguments(entry: Measure, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> list[Argument]:
    """Arguments by the kinds of the parameters: columns and words become names, classes texts or numbers."""
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
    """The parameter of each positional argument; a repeated parameter takes all that are left."""
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


def methods(names: Iterable[str | MethodFormula]) -> tuple[Call | Name, ...]:
    return tuple(as_method(name).node for name in names)


def as_method(value: str | MethodFormula, *arguments: Any, **options: Any) -> MethodFormula:
    """A method, given as it is or by its name and options."""
    if isinstance(value, MethodFormula):
        if arguments or options:
            raise TypeError(f"give the options of `{value}` inside tml.method(...)")
        return value
    return method(value, *arguments, **options)
