"""`leaves linear(x1, x2, ridge = 0.1)` -> the columns of the linear models that leaves hold, and their ridge.

`leaves simple_linear(x1, x2)` lets every leaf choose one of the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from treeml.lang.expressions import Scope, constant
from treeml.lang.findings import Findings
from treeml.lang.measures import MEASURES
from treeml.lang.source import Span
from treeml.lang.spec import LinearLeaves, Use
from treeml.lang.syntax import Argument, Call, Improve, LeafModels, ListTrees, Name, Statement


def linear_leaves(statement: LeafModels, scope: Scope) -> LinearLeaves | None:
    """What the statement asks for; None if it is wrong."""
    called = statement.method
    name = called.name if isinstance(called, Call) else called.text
    span = (called.name_span if isinstance(called, Call) else called.span) or statement.span
    if name not in ("linear", "simple_linear"):
        scope.findings.error(
            "N207",
            f"leaves cannot be `{name}`",
            (span, "not a model that leaves can hold"),
            help="write `leaves linear`, `leaves linear(x1, x2, ridge = 0.1)` or, with one column per leaf, "
            "`leaves simple_linear`",
        )
        return None
    columns: dict[str, Span | None] = {}
    ridge: Fraction | None = Fraction(0)
    for argument in called.arguments if isinstance(called, Call) else ():
        if argument.name == "ridge":
            ridge = _ridge(argument, scope)
        elif not argument.name and isinstance(argument.value, Name) and argument.value.text not in columns:
            columns[argument.value.text] = argument.value.span
        else:
            scope.findings.error(
                "N206",
                f"`{name}` takes names of columns, each once, and `ridge`",
                (argument.span or statement.span, "is neither"),
                help=f"write `leaves {name}(x1, x2, ridge = 0.1)`",
            )
            return None
    if ridge is None:
        return None
    return LinearLeaves(tuple(columns), ridge, name == "simple_linear", tuple(columns.values()), statement.span)


def _ridge(argument: Argument, scope: Scope) -> Fraction | None:
    value = constant(argument.value, scope, "a ridge")
    if value is None:
        return None
    if value.value < 0:
        scope.findings.error(
            "T310", "a ridge is not below 0", (argument.span, "is below 0"), help="write 0 for plain least squares"
        )
        return None
    return value.value


def report_leaf_models(
    model: LinearLeaves | None, uses: Sequence[Use], statements: Sequence[Statement], findings: Findings
) -> None:
    """Linear models are those with the least squares, and are found for one tree at a time."""
    if model is None:
        return
    other = next((use for use in uses if MEASURES[use.measure].task != "any" and use.measure != "squared_loss"), None)
    if other is not None:
        findings.error(
            "T315",
            f"`{other.text}` does not go with linear leaves",
            (other.span, "is no sum of squares"),
            (model.span, "have the least squares"),
            help="minimize `squared_loss`; other measures can be reported",
        )
    elif not any(use.measure == "squared_loss" for use in uses):
        findings.error(
            "T315", "linear leaves need `squared_loss`", (model.span, "have the least squares"),
            help="write `minimize squared_loss`",
        )  # fmt: skip
    more = next((each for each in statements if isinstance(each, Improve | ListTrees)), None)
    if more is not None:
        word = "improve" if isinstance(more, Improve) else "list"
        findings.error(
            "T315",
            f"`{word}` looks at trees whose leaves are constant",
            (more.span, "needs constant leaves"),
            (model.span, "asks for linear ones"),
            help="remove one of the two",
        )
