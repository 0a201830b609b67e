"""The result of `check`: a model with every name resolved, every unit settled and every param bound.

A Spec refers to columns and classes by name; `data/bind.py` joins it with a table. Nothing here needs data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from treeml.lang.source import Span


@dataclass(frozen=True, slots=True)
class Condition:
    """`predicted = "yes"`, `actual = "yes"`, `sex = "F"`, `age >= 40`: a property of a row."""

    subject: str  # "predicted", "actual" or a column's name
    comparison: str  # "=", "<=", ">=", "<" or ">"
    value: str | Fraction
    is_column: bool = True  # False for predicted and actual
    span: Span | None = field(default=None, compare=False, repr=False)
    subject_span: Span | None = field(default=None, compare=False, repr=False)
    value_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Use:
    """A measure with its arguments, as used in a spec: errors, recall(">50K"), parity_gap(sex).

    Arguments are given in the order of the measure's parameters: a class, level or column as its text, a number as a
    Fraction, a word as its text, `count` and `rate` two tuples of conditions (what is counted, and among which rows).
    """

    measure: str
    arguments: tuple[Any, ...] = ()
    text: str = field(default="", compare=False)  # as the user wrote it
    span: Span | None = field(default=None, compare=False, repr=False)
    # One per argument, or a tuple with the spans of an argument that is given several times.
    argument_spans: tuple[Span | tuple[Span | None, ...] | None, ...] = field(default=(), compare=False, repr=False)

    def spans_of(self, argument: int) -> tuple[Span | None, ...]:
        """The spans of the values of an argument; that of the whole measure if they are not known."""
        found = self.argument_spans[argument] if argument < len(self.argument_spans) else None
        return found if isinstance(found, tuple) else (found or self.span,)


@dataclass(frozen=True, slots=True)
class Linear:
    """An exact weighted sum of measures."""

    parts: tuple[tuple[Fraction, Use], ...]
    constant: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class CheckedGoal:
    sense: str  # "minimize" or "maximize"
    expression: Linear
    text: str = field(default="", compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Requirement:
    """`expression sense limit`, closed: strict comparisons of whole-number measures were tightened by `check`.

    `share_of_rows` says that the limit is a share of the rows of the data (`support >= 1%`), to be turned into
    ceil(limit * n) once the data are known.
    """

    expression: Linear
    sense: str  # "<=", ">=" or "="
    limit: Fraction
    name: str = ""  # as given, or the text of the requirement
    text: str = field(default="", compare=False)
    share_of_rows: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """The declaration of a column."""

    type: str = ""  # "", or one of binary, number, integer, category, ordered, text
    sensitive: bool = False
    missing: str = ""  # "", drop, separate or median
    span: Span | None = field(default=None, compare=False, repr=False)


UNDECLARED = ColumnSpec()  # a column that the spec does not declare


@dataclass(frozen=True, slots=True)
class Binarization:
    """How one column, or every column without a rule of its own (`column` is empty), becomes yes-or-no tests."""

    column: str  # "" for all
    method: str  # thresholds, quantiles, width, cuts, levels, subsets or branches
    pieces: int = 0  # of quantiles and width
    cuts: tuple[Fraction, ...] = ()
    calendar: bool = False  # cuts at dates or times, in days since 1970
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LinearLeaves:
    """Each leaf holds a linear model of these columns; none: of all that hold numbers."""

    columns: tuple[str, ...] = ()
    ridge: Fraction = Fraction(0)
    is_simple: bool = False  # is each model one of a single column, the best for its leaf?
    column_spans: tuple[Span | None, ...] = field(default=(), compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Method:
    """A name with options: a back-end, lpboost(penalty = 0.05), cart(depth = 10), folds(5, seed = 1), tree."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    span: Span | None = field(default=None, compare=False, repr=False)


LISTING_STYLES = ("", "treefarms")  # how trees are counted


@dataclass(frozen=True, slots=True)
class ListingRequest:
    """Which trees to list: the best `most` of them, those within a distance of the best value, or both."""

    most: int | None = None
    slack: Fraction | None = None  # None: any distance
    unit: str = ""  # of the slack: "%" for a share of the best value, "rows", or "" for the unit of the goal
    style: str = ""  # one of LISTING_STYLES


@dataclass(frozen=True, slots=True)
class Spec:
    """One complete, checked request."""

    folder: Path = Path()
    file: str = field(default="", compare=False)  # with the request and its includes, as commands name it; or empty
    untrusted: bool = False  # it may only read in its folder, may not write, and has tight limits
    data: str | None = None
    target: str | None = None
    positive: str | None = None  # the class that counts as positive, as text
    observed: str | None = None  # the column that says whether the end of the time in the target was observed
    features: tuple[str, ...] | None = None  # None: all
    excluded: tuple[str, ...] = ()
    columns: Mapping[str, ColumnSpec] = field(default_factory=dict)
    weight_column: str | None = None
    class_weights: Mapping[str, Fraction] = field(default_factory=dict)
    mistake_costs: Mapping[tuple[str, str], Fraction] = field(default_factory=dict)  # (predicted, actual) -> cost
    row_costs: Mapping[str, tuple[str, bool]] = field(default_factory=dict)  # predicted -> column, is it a gain?
    test_costs: Mapping[str, Fraction] = field(default_factory=dict)
    test_discounts: Mapping[tuple[str, str], Fraction] = field(default_factory=dict)  # (column, tested before) -> cost
    binarizations: tuple[Binarization, ...] = ()
    goals: tuple[CheckedGoal, ...] = ()  # none: satisfy
    requirements: tuple[Requirement, ...] = ()
    forbidden: tuple[str, ...] = ()
    linear: LinearLeaves | None = None  # None: leaves hold constants
    ensemble: Method | None = None
    ensemble_trees: int | None = None
    start: Method | str | None = None  # a str is a path
    improve: Method | None = None
    improve_within: float | None = None
    listing: ListingRequest | None = None
    backends: tuple[Method, ...] = ()
    within: float | None = None  # seconds
    gap: Fraction = Fraction(0)  # relative
    seed: int | None = None
    threads: int | None = None
    validate: Method | str | None = None
    report: tuple[Method, ...] = ()
    reported: tuple[Use, ...] = ()  # measures to show besides those of goals and requirements
    params: Mapping[str, Any] = field(default_factory=dict)  # the value that each param was bound to
    # Spans by statement ("data", "predict", "positive", "weight", "solve", "within", ...), and
    # by statement and name ("features:age", "except:id", "forbid:sex", "binarize:age", "test cost:insulin",
    # "class weight:ill", "cost predicted:ill", "cost actual:ill", "row cost:loss").
    spans: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False)
