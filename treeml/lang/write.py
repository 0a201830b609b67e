"""Syntax tree -> canonical text.

Parsing the text gives equal nodes. One spelling for one meaning: names stand bare where they can, numbers are written
out, and parentheses appear only where the tree needs them.
"""

from __future__ import annotations

from typing import assert_never

from treeml.lang.syntax import (
    Argument,
    Binarize,
    Binary,
    Call,
    Choices,
    ColumnCost,
    ColumnRule,
    Data,
    Ensemble,
    Expression,
    Features,
    Forbid,
    Improve,
    Include,
    MistakeCost,
    Name,
    Negate,
    Number,
    Objective,
    Param,
    Predict,
    Range,
    Relation,
    Report,
    Require,
    Satisfy,
    Set,
    Solve,
    Start,
    Statement,
    String,
    Validate,
    Version,
    WeightBy,
    WeightClass,
)
from treeml.lang.words import spell_name, spell_number, spell_string


def write(statement: Statement) -> str:
    """One statement as text, on one line but for the goals that follow the first."""
    match statement:
        case Version():
            return f"treeml {statement.number}"
        case Include():
            return f"include {spell_string(statement.path)}"
        case Param():
            kind = f" : {statement.type}" if statement.type else ""
            default = f" = {write_expression(statement.default)}" if statement.default is not None else ""
            domain = f" in {_domain(statement.domain)}" if statement.domain is not None else ""
            return f"param {statement.name}{kind}{default}{domain}"
        case Set():
            return f"set {statement.name} = {write_expression(statement.value)}"
        case Data():
            return f"data {spell_string(statement.path)}"
        case Predict():
            positive = f" is {write_expression(statement.positive)}" if statement.positive is not None else ""
            return f"predict {_columns(statement.column)}{positive}"
        case Features():
            excluded = f" except {_columns(*statement.excluded)}" if statement.excluded else ""
            return f"features {_columns(*statement.columns)}{excluded}"
        case ColumnRule():
            modifiers = "".join(f", {modifier.name} {modifier.value}".rstrip() for modifier in statement.modifiers)
            return f"column {_columns(*statement.columns)} : {statement.type}{modifiers}"
        case WeightBy():
            return f"weight by {_columns(statement.column)}"
        case WeightClass():
            return f"weight class {write_expression(statement.label)} = {write_expression(statement.weight)}"
        case MistakeCost():
            predicted, actual = write_expression(statement.predicted), write_expression(statement.actual)
            return f"cost predict {predicted} when {actual} = {write_expression(statement.cost)}"
        case ColumnCost():
            return f"cost test {_columns(statement.column)} = {write_expression(statement.cost)}"
        case Binarize():
            how = (
                f"at {_list(statement.cuts)}"
                if statement.method is None
                else f"by {write_expression(statement.method)}"
            )
            return f"binarize {_columns(*statement.columns)} {how}"
        case Objective():
            return "\nthen ".join(f"{goal.sense} {write_expression(goal.expression)}" for goal in statement.goals)
        case Satisfy():
            return "satisfy"
        case Require():
            name = f"{statement.name}: " if statement.name else ""
            return f"require {name}{write_expression(statement.condition)}"
        case Forbid():
            return f"forbid split on {_columns(*statement.columns)}"
        case Ensemble():
            trees = f"up to {write_expression(statement.trees)} trees " if statement.trees is not None else ""
            return f"ensemble {trees}by {write_expression(statement.method)}"
        case Start():
            return f"start from {write_expression(statement.source)}"
        case Improve():
            return f"improve by {write_expression(statement.method)}{_limit('within', statement.within)}"
        case Validate():
            word = "on" if isinstance(statement.method, String) else "by"
            return f"validate {word} {write_expression(statement.method)}"
        case Solve():
            backends = f" with {_list(statement.backends)}" if statement.backends else ""
            limits = "".join(_limit(word, getattr(statement, word)) for word in ("within", "gap", "seed", "threads"))
            return f"solve{backends}{limits}"
        case Report():
            return f"report {_list(statement.items)}"
    assert_never(statement)


def write_expression(expression: Expression) -> str:
    match expression:
        case Number():
            space = " " if expression.unit not in ("", "%") else ""
            return f"{spell_number(expression.value)}{space}{expression.unit}"
        case String():
            return spell_string(expression.text)
        case Name():
            return spell_name(expression.text)
        case Relation():
            words = [write_expression(expression.operands[0])]
            for operator, operand in zip(expression.operators, expression.operands[1:], strict=True):
                words += [operator, write_expression(operand)]
            return " ".join(words)
        case Call():
            given = f" given {', '.join(map(_argument, expression.given))}" if expression.given else ""
            return f"{expression.name}({', '.join(map(_argument, expression.arguments))}{given})"
        case Binary():
            # Operators of one rank group from the left, so an equal rank on the right needs its parentheses.
            left = _wrapped(expression.left, _rank(expression.left) < _rank(expression))
            right = _wrapped(expression.right, _rank(expression.right) <= _rank(expression))
            return f"{left} {expression.operator} {right}"
        case Negate():
            return f"-{_wrapped(expression.operand, isinstance(expression.operand, Binary))}"
    assert_never(expression)


def _rank(expression: Expression) -> int:
    if isinstance(expression, Binary):
        return 1 if expression.operator in ("+", "-") else 2
    return 3


def _wrapped(expression: Expression, needed: bool) -> str:
    text = write_expression(expression)
    return f"({text})" if needed else text


def _argument(argument: Argument) -> str:
    name = f"{spell_name(argument.name)} = " if argument.name else ""
    return name + write_expression(argument.value)


def _domain(domain: Range | Choices) -> str:
    if isinstance(domain, Range):
        return f"{write_expression(domain.low)} .. {write_expression(domain.high)}"
    return f"{{{_list(domain.values)}}}"


def _limit(word: str, value: Expression | None) -> str:
    return f" {word} {write_expression(value)}" if value is not None else ""


def _list(items: tuple[Expression, ...]) -> str:
    return ", ".join(map(write_expression, items))


def _columns(*columns: Name) -> str:
    """Columns by name; none means all of them, so a column that is called `all` stands in backquotes."""
    return ", ".join(spell_name(column.text, ("all",)) for column in columns) if columns else "all"
