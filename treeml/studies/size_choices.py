"""A specification, values of what bounds the size of its trees -> one specification per combination.

`depth`, `support`, `price` and `tolerance` stand for statements that most specifications have: a limit on the depth, a
limit on the rows of a leaf, a price per leaf in the goal, and the limits on fairness gaps. Everything else that should
vary is a param.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from treeml.lang.diagnostic import Diagnostic, SpecError
from treeml.lang.measures import MEASURES
from treeml.lang.statements import Statements
from treeml.lang.syntax import (
    Binary,
    Call,
    Expression,
    GoalPart,
    ListTrees,
    Name,
    Negate,
    Number,
    Objective,
    Param,
    Relation,
    Require,
    Statement,
    Validate,
)

CHOICES = ("depth", "price", "support", "tolerance")
Settings = Mapping[str, str]


def variants(model: Statements, choices: Mapping[str, Sequence[str]]) -> Iterator[tuple[Settings, Statements]]:
    """Every combination of the values, with the specification that it makes.

    A name that the model declares as a param is that param, also one of the four.
    """
    declared = {node.name for node in model.statements if isinstance(node, Param)}
    for values in product(*choices.values()):
        settings = dict(zip(choices, values, strict=True))
        statements: list[Statement] = []
        statements += (node for node in model.statements if not isinstance(node, (Validate, ListTrees)))
        params = {name: value for name, value in settings.items() if name not in CHOICES or name in declared}
        for name in CHOICES:
            if name in settings and name not in declared:
                statements = _EDITS[name](statements, settings[name])
        yield (
            settings,
            Statements(
                statements,
                folder=model.folder,
                bindings={**model.bindings, **params},
                untrusted=model.untrusted,
            ),
        )


def depth_limit(model: Statements) -> int | None:
    """The depth that the specification allows, if a number says so."""
    for node in model.statements:
        if isinstance(node, Require) and _limits(node, "depth", ("<=", "<")):
            assert isinstance(node.condition, Relation)
            limit = node.condition.operands[1]
            if isinstance(limit, Number) and limit.value.denominator == 1:
                return int(limit.value) - (node.condition.operators[0] == "<")
    return None


def _with_depth(statements: list[Statement], value: str) -> list[Statement]:
    return _with_limit(statements, "depth", ("<=", "<", "="), f"require depth <= {value}")


def _with_support(statements: list[Statement], value: str) -> list[Statement]:
    return _with_limit(statements, "support", (">=", ">", "="), f"require support >= {value}")


def _with_limit(statements: list[Statement], measure: str, senses: Sequence[str], text: str) -> list[Statement]:
    """The specification with this limit instead of its own."""
    _number(text.split("= ")[1])
    kept = [node for node in statements if not (isinstance(node, Require) and _limits(node, measure, senses))]
    return [*kept, *Statements.parse(text).statements]


def _limits(node: Require, measure: str, senses: Sequence[str]) -> bool:
    """Is this `require measure <= limit`, in one of these senses?"""
    relation = node.condition
    return (
        isinstance(relation, Relation)
        and len(relation.operands) == 2
        and isinstance(relation.operands[0], Name)
        and relation.operands[0].text == measure
        and relation.operators[0] in senses
    )


def _with_price(statements: list[Statement], value: str) -> list[Statement]:
    """The first goal with a price per leaf: added to what is minimized, taken from what is maximized."""
    price = _number(value)
    made: list[Statement] = []
    found = False
    for node in statements:
        if isinstance(node, Objective):
            found = True
            first = node.goals[0]
            if any(isinstance(each, Name) and each.text == "leaves" for each in _nodes(first.expression)):
                raise SpecError(_priced_already())
            goals = (_priced(first, price), *node.goals[1:])
            node = node if not price.value else replace(node, goals=goals, span=None)
        made.append(node)
    if not found:
        raise SpecError(_no_goal())
    return made


def _priced(goal: GoalPart, price: Number) -> GoalPart:
    operator = "+" if goal.sense == "minimize" else "-"
    return GoalPart(goal.sense, Binary(operator, goal.expression, Binary("*", price, Name("leaves"))))


def _with_tolerance(statements: list[Statement], value: str) -> list[Statement]:
    """The specification with this limit on every fairness gap that it bounds from above."""
    limit = _number(value)
    made: list[Statement] = []
    for node in statements:
        if isinstance(node, Require) and _bounds_a_gap(node.condition):
            assert isinstance(node.condition, Relation)
            relation = Relation((node.condition.operands[0], limit), node.condition.operators)
            node = Require(relation, node.name)
        made.append(node)
    if made == statements and not any(isinstance(n, Require) and _bounds_a_gap(n.condition) for n in statements):
        raise SpecError(_no_gap())
    return made


def _bounds_a_gap(condition: Expression) -> bool:
    if not isinstance(condition, Relation) or len(condition.operands) != 2 or condition.operators[0] not in ("<=", "<"):
        return False
    measured = condition.operands[0]
    return isinstance(measured, Call) and measured.name in MEASURES and bool(MEASURES[measured.name].fairness)


def _number(value: str) -> Number:
    """The value as a spec would read it, with its unit."""
    (node,) = Statements.parse(f"set x = {value}").statements
    number = getattr(node, "value", None)
    if not isinstance(number, Number):
        raise SpecError(
            Diagnostic(
                "S151",
                f"`{value}` is not a number of 0 or more",
                helps=("write 1..4, 0..5%, or values with commas: 1, 2, 5",),
            )
        )
    return replace(number, span=None)


def _nodes(expression: Expression) -> Iterator[Expression]:
    yield expression
    if isinstance(expression, Binary):
        yield from _nodes(expression.left)
        yield from _nodes(expression.right)
    elif isinstance(expression, Negate):
        yield from _nodes(expression.operand)


_EDITS = {"depth": _with_depth, "price": _with_price, "support": _with_support, "tolerance": _with_tolerance}


def _priced_already() -> Diagnostic:
    return Diagnostic(
        "T331",
        "the goal already has a price per leaf",
        helps=("make it a param, `param price = 0.01`, and vary that: --set price=0..5%",),
    )


def _no_goal() -> Diagnostic:
    return Diagnostic("T331", "there is no goal to add a price per leaf to", helps=("write `minimize error_rate`",))


def _no_gap() -> Diagnostic:
    return Diagnostic(
        "T331",
        "no requirement bounds a fairness gap, so there is no tolerance to vary",
        helps=("write `require parity_gap(sex) <= 5%`", "or vary a param of the spec: --set name=0..20%"),
    )
