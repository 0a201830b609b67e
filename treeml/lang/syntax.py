"""The nodes of a .tml file, made by the parser or by the Python builder and printed by the formatter.

Nodes are values: two are equal if they say the same thing, wherever it was written. A model built in Python therefore
equals the model parsed from the text that it prints; spans are kept for messages and never compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from treeml.lang.source import Span


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False, kw_only=True)  # type: ignore[no-any-return, call-overload]


# -- expressions --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """`3`, `0.05`, `5%`, `20 rows`, `10 min`: the number as written (5% is 5 with the unit %), exactly."""

    value: Fraction
    unit: str = ""  # "", "%", "rows", "ms", "s", "min" or "h"
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class String:
    """A `"quoted"` value: a class, a level, a path."""

    text: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Name:
    """A bare word or a `` `back quoted` `` name: a param, a measure without arguments, a column, or `all`."""

    text: str
    quoted: bool = field(default=False, compare=False)
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Relation:
    """`depth <= 3`, and chains such as `2 <= leaves <= 8`: operands and the operators between them."""

    operands: tuple[Expression, ...]
    operators: tuple[str, ...]  # "<=", ">=", "=", "<" or ">"
    span: Span | None = _span()
    operator_spans: tuple[Span, ...] = field(default=(), compare=False, repr=False, kw_only=True)  # or none


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call: `8`, `seed = 7`, or a condition such as `sex = "F"` inside rate(...)."""

    value: Expression
    name: str = ""
    span: Span | None = _span()
    name_span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Call:
    """`recall("yes")`, `native(cache = 2_000_000)`, `rate(predicted = "yes" given sex = "F")`.

    `given` holds what follows the word `given`, and is empty otherwise. A call without parentheses is a Name.
    """

    name: str
    arguments: tuple[Argument, ...] = ()
    given: tuple[Argument, ...] = ()
    span: Span | None = _span()  # including parentheses around it
    name_span: Span | None = _span()
    own_span: Span | None = _span()  # without parentheses around it


@dataclass(frozen=True, slots=True)
class Binary:
    operator: str  # "+", "-", "*" or "/"
    left: Expression
    right: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Negate:
    operand: Expression
    span: Span | None = _span()


Expression = Number | String | Name | Relation | Call | Binary | Negate
Value = Number | String | Name | Negate  # what `is`, `=` in a param, `when` and levels take


# -- statements, in the order in which they are printed ------------------------


@dataclass(frozen=True, slots=True)
class Version:
    number: int
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Include:
    path: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Range:
    low: Value
    high: Value
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Choices:
    values: tuple[Value, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Param:
    name: str
    default: Value | None = None
    domain: Range | Choices | None = None
    type: str = ""
    span: Span | None = _span()
    name_span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Set:
    name: str
    value: Value
    span: Span | None = _span()
    name_span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Data:
    path: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Predict:
    """`predict spam is 1`, or `predict months observed died`: a time, and whether its end was observed."""

    column: Name
    positive: Value | None = None
    observed: Name | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Features:
    """`features all except id, name`: no columns named means all."""

    columns: tuple[Name, ...] = ()
    excluded: tuple[Name, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Modifier:
    """`sensitive`, `missing median`, ... after the type of a column, or alone."""

    name: str
    value: str = ""
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class ColumnRule:
    columns: tuple[Name, ...]
    type: str  # "" if it is inferred
    modifiers: tuple[Modifier, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class WeightBy:
    column: Name
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class WeightClass:
    label: Value
    weight: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class MistakeCost:
    predicted: Value
    actual: Value
    cost: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class RowCost:
    """`cost predict "A" by column loss_a`: what it costs each row to be predicted A; or `gain`, its negative."""

    predicted: Value
    column: Name
    is_gain: bool = False
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class ColumnCost:
    """`cost test a = 5`, `cost test a, b together = 20` (once for all of them), or `cost test b after a = 3`."""

    columns: tuple[Name, ...]
    cost: Expression
    together: bool = False
    after: Name | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Binarize:
    """`binarize age, income by quantiles(4)` or `binarize age at 25, 35`: no columns named means all."""

    columns: tuple[Name, ...]
    method: Call | Name | None = None
    cuts: tuple[Expression, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class GoalPart:
    sense: str  # "minimize" or "maximize"
    expression: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Objective:
    goals: tuple[GoalPart, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Satisfy:
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Require:
    condition: Expression  # a Relation, or a Call or Name that is true or false: uses(age), monotone(x, increasing)
    name: str = ""
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Forbid:
    columns: tuple[Name, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class LeafModels:
    """`leaves linear(x1, x2, ridge = 0.1)`: what each leaf holds instead of a constant."""

    method: Call | Name
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Ensemble:
    method: Call | Name
    trees: Expression | None = None  # `ensemble up to 50 trees by lpboost(...)`
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Start:
    source: Call | Name | String
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Improve:
    method: Call | Name
    within: Expression | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class ListTrees:
    """`list 100 trees`, `list up to 10_000 trees within 2% of best as treefarms`: all good trees instead of one."""

    most: Expression | None = None
    within: Expression | None = None
    style: str = ""
    span: Span | None = _span()
    name_span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Validate:
    method: Call | Name | String  # a String is a file: `validate on "test.csv"`
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Solve:
    backends: tuple[Call | Name, ...] = ()
    within: Expression | None = None
    gap: Expression | None = None
    seed: Expression | None = None
    threads: Expression | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Report:
    items: tuple[Call | Name, ...]
    span: Span | None = _span()


Statement = (
    Version
    | Include
    | Param
    | Set
    | Data
    | Predict
    | Features
    | ColumnRule
    | WeightBy
    | WeightClass
    | MistakeCost
    | RowCost
    | ColumnCost
    | Binarize
    | Objective
    | Satisfy
    | Require
    | Forbid
    | LeafModels
    | Ensemble
    | Start
    | Improve
    | ListTrees
    | Validate
    | Solve
    | Report
)
