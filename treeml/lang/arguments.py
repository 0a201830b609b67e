"""The arguments of a measure, as written -> the values that its parameters take."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from treeml.lang.diagnostic import Fix
from treeml.lang.findings import Findings
from treeml.lang.measures import Measure, Parameter
from treeml.lang.moments import days_of
from treeml.lang.params import Params, label_of, literal
from treeml.lang.quantities import Quantity, decimal, enumerated
from treeml.lang.source import Span
from treeml.lang.spec import Condition, Linear
from treeml.lang.suggest import suggest
from treeml.lang.syntax import Argument, Call, Expression, Name, Negate, Number, Relation, String

Found = tuple[tuple[Any, ...], tuple[Span | tuple[Span | None, ...] | None, ...]]


def argument_values(
    measure: Measure, call: Call, params: Params, findings: Findings, sum_of: Callable[[Expression], Linear | None]
) -> Found | None:
    """Values and their spans, in the order of the measure's parameters; None if a mistake was reported.

    `sum_of` evaluates an argument that is itself a sum of measures.
    """
    if any(parameter.kind == "conditions" for parameter in measure.parameters):
        return _conditions(measure, call, params, findings)
    if call.given:
        findings.error(
            "T308",
            f"`{measure.name}` takes no `given`",
            (call.given[0].span or call.span, "only `rate` and `count` do"),
            help=_among(measure, call),
        )
        return None
    slots = _assigned(measure, call, findings)
    if slots is None:
        return None
    values: list[Any] = []
    spans: list[Span | tuple[Span | None, ...] | None] = []
    sound = True
    for parameter, arguments in slots:
        if not arguments:
            if not parameter.optional:
                _missing(measure, parameter, call, findings)
                return None
            values.append(parameter.choices[0] if parameter.choices else None)
            spans.append(None)
            continue
        found = [
            sum_of(argument.value)
            if parameter.kind == "sum"
            else _value(measure, parameter, argument.value, params, findings)
            for argument in arguments
        ]
        sound = sound and all(value is not None for value in found)
        values.append(tuple(found) if parameter.repeated else found[0])
        places = tuple(argument.value.span or argument.span for argument in arguments)
        spans.append(places if parameter.repeated else places[0])
    return (tuple(values), tuple(spans)) if sound else None


def signature(measure: Measure, positive: str = "") -> str:
    """How the measure is written, with an example of every argument: `recall("yes")`, or of the positive class."""
    if measure.name == "rate":
        return 'rate(predicted = "yes" given sex = "F")'
    if measure.name == "count":
        return 'count(predicted = "yes", actual = "no")'
    if measure.name == "ratio":
        return 'ratio(count(predicted = "yes", actual = "no"), errors)'
    if not measure.parameters:
        return measure.name
    examples = [_example(parameter, positive) for parameter in measure.parameters if not parameter.optional]
    return f"{measure.name}({', '.join(examples)})"


def _among(measure: Measure, call: Call) -> str:
    """A measure of one class among some rows, as a rate."""
    texts = [
        " ".join(each.span.text.split()) if each.span is not None else "" for each in (*call.arguments, *call.given)
    ]
    if len(call.arguments) == 1 and all(texts):
        label, among = texts[0], ", ".join(texts[1:])
        if measure.name == "recall":
            return f"write `rate(predicted = {label} given actual = {label}, {among})`"
        if measure.name == "precision":
            return f"write `rate(actual = {label} given predicted = {label}, {among})`"
    if measure.name in ("accuracy", "error_rate", "errors"):
        return f"among some rows, add up rates or counts, class by class: `{RIGHT_IN_A_GROUP}`"
    return f"write `{signature(measure)}`"


RIGHT_IN_A_GROUP = (
    'rate(predicted = "yes", actual = "yes" given sex = "F") + rate(predicted = "no", actual = "no" given sex = "F")'
)


def _instead_of_naming(measure: Measure, argument: Argument) -> str | tuple[str, ...]:
    """What to write instead of an argument with a name that the measure does not have."""
    if any(parameter.kind.startswith("column") for parameter in measure.parameters) and argument.span is not None:
        return f"if a column is called so, write it in backquotes: {measure.name}(`{argument.span.text}`)"
    if measure.name in ("accuracy", "error_rate", "errors"):
        return f"among some rows, add up rates or counts, class by class: `{RIGHT_IN_A_GROUP}`"
    return f"write `{signature(measure)}`"


def _example(parameter: Parameter, positive: str) -> str:
    if parameter.kind == "class":
        return positive or '"yes"'
    if parameter.kind == "number":
        return "0.5" if parameter.high else "2"
    if parameter.kind == "word":
        return parameter.choices[0]
    return "age, income" if parameter.kind == "columns" else "age"


def _assigned(measure: Measure, call: Call, findings: Findings) -> list[tuple[Parameter, list[Argument]]] | None:
    """Assign every argument to a parameter, by name or in order; a repeated parameter takes all that are left."""
    slots: dict[str, list[Argument]] = {parameter.name: [] for parameter in measure.parameters}
    positional: list[Argument] = []
    for argument in call.arguments:
        if not argument.name:
            positional.append(argument)
        elif argument.name not in slots:
            near = suggest(argument.name, slots)
            findings.error(
                "N206",
                f"`{measure.name}` has no argument called `{argument.name}`",
                (argument.span or call.span, f"did you mean `{near}`?" if near else "not an argument of it"),
                help=_instead_of_naming(measure, argument),
            )
            return None
        elif slots[argument.name]:
            findings.error(
                "N205",
                f"the argument `{argument.name}` is given twice",
                (slots[argument.name][0].span, "first here"),
                (argument.span, "and again here"),
            )
            return None
        else:
            slots[argument.name].append(argument)
    for argument in positional:
        free = next((p for p in measure.parameters if not slots[p.name] or p.repeated), None)
        if free is not None and free.repeated:
            following = measure.parameters[measure.parameters.index(free) + 1 :]
            word = argument.value.text if isinstance(argument.value, Name) and not argument.value.quoted else None
            free = next((p for p in following if word in p.choices and not slots[p.name]), free)
        if free is None:
            findings.error(
                "T308",
                f"`{measure.name}` takes {_how_many(measure)}, but {_given(len(call.arguments))} given",
                (argument.span or argument.value.span or call.span, "one too many"),
                help=f"write `{signature(measure)}`",
            )
            return None
        slots[free.name].append(argument)
    return [(parameter, slots[parameter.name]) for parameter in measure.parameters]


def _given(count: int) -> str:
    return "1 is" if count == 1 else f"{count} are"


def _how_many(measure: Measure) -> str:
    count = len(measure.parameters)
    return "no arguments" if count == 0 else "one argument" if count == 1 else f"{count} arguments"


def _missing(measure: Measure, parameter: Parameter, call: Call, findings: Findings) -> None:
    what = {
        "class": "which class",
        "column": "which column",
        "columns": "which columns",
        "number": f"the {parameter.name}",
        "sum": f"the {parameter.name}",
        "word": f"the {parameter.name}: {enumerated(parameter.choices, 'or')}",
    }[parameter.kind]
    whole = signature(measure, findings.positive)
    known = (
        parameter.kind == "class" and bool(findings.positive) and len(measure.parameters) == 1 and not call.arguments
    )
    span = call.own_span or call.span
    findings.error(
        "T308",
        f"`{measure.name}` does not say {what}",
        (call.span, f"write `{whole}`" if known else "needs an argument"),
        note=f"the class in `predict ... is {findings.positive}`, or any other" if known else (),
        help=() if known else f"write `{whole}`" + _for_a_class(parameter, findings.positive),
        fix=(Fix(span, whole),) if known and span is not None else (),
    )


def _for_a_class(parameter: Parameter, positive: str) -> str:
    """The class in an example is one of the target only if the spec names one."""
    return ', with one of the classes for "yes"' if parameter.kind == "class" and not positive else ""


def _value(
    measure: Measure, parameter: Parameter, node: Expression, params: Params, findings: Findings
) -> str | Fraction | None:
    if parameter.kind in ("column", "columns"):
        return _column(measure, node, params, findings)
    if parameter.kind == "class":
        return _class(measure, node, params, findings)
    if parameter.kind == "word":
        return _word(measure, parameter, node, params, findings)
    return _number(measure, parameter, node, params, findings)


def _column(measure: Measure, node: Expression, params: Params, findings: Findings) -> str | None:
    if isinstance(node, Name):
        bound = params.values[node.text] if node.text in params and not node.quoted else None
        if isinstance(bound, str):
            params.read(node.text)
            return bound
        return node.text
    if isinstance(node, String):
        findings.error(
            "T308",
            f"`{measure.name}` wants a column, not a text",
            (node.span, "a text in quotes is a class or a level"),
            help=f"write the name of the column as it is: `{measure.name}({_bare(node.text)})`",
        )
        return None
    findings.error("T308", f"`{measure.name}` wants a column", (node.span, "this is not the name of a column"))
    return None


def _class(measure: Measure, node: Expression, params: Params, findings: Findings) -> str | None:
    text = label(node, params)
    if text is None:
        findings.error(
            "T308",
            f"`{measure.name}` wants a class",
            (node.span, "not a class"),
            help=f'write the class in quotes: `{measure.name}("yes")`',
        )
    return text


def label(node: Expression, params: Params) -> str | None:
    """The text of a class or level: 1, 1.0 and "1" all read `1`; a param is replaced by its value."""
    if isinstance(node, String):
        return node.text
    if isinstance(node, Name):
        if node.text in params and not node.quoted:
            bound = params.read(node.text)
            return node.text if bound is None else label_of(bound)
        return node.text
    if isinstance(node, Number) or (isinstance(node, Negate) and isinstance(node.operand, Number)):
        return label_of(literal(node))
    return None


def _word(measure: Measure, parameter: Parameter, node: Expression, params: Params, findings: Findings) -> str | None:
    text = label(node, params) if isinstance(node, (Name, String)) else None
    if text in parameter.choices:
        return text
    near = suggest(text, parameter.choices) if text else None
    findings.error(
        "T308",
        f"the {parameter.name} of `{measure.name}` is {enumerated(parameter.choices, 'or')}",
        (node.span, f"did you mean `{near}`?" if near else "neither of them"),
        help=f"write `{signature(measure)}`",
    )
    return None


def _number(
    measure: Measure, parameter: Parameter, node: Expression, params: Params, findings: Findings
) -> Fraction | None:
    value: Any = None
    if isinstance(node, Name) and node.text in params:
        value = params.read(node.text)
        if value is None:
            return None
    elif isinstance(node, Number) or (isinstance(node, Negate) and isinstance(node.operand, Number)):
        value = literal(node)
    if not isinstance(value, Quantity) or value.unit in ("rows", "s"):
        findings.error(
            "T308",
            f"the {parameter.name} of `{measure.name}` is a number",
            (node.span, "not a number, and no param that stands for one"),
            help=f"write `{signature(measure)}`",
        )
        return None
    too_low = parameter.low and value.value <= Fraction(parameter.low)
    too_high = parameter.high and value.value >= Fraction(parameter.high)
    if too_low or too_high:
        share = value.value / 100
        fits = Fraction(parameter.low or 0) < share < Fraction(parameter.high or 1)
        findings.error(
            "T308",
            f"the {parameter.name} of `{measure.name}` "
            + (f"lies between {parameter.low} and {parameter.high}" if parameter.high else f"is above {parameter.low}"),
            (node.span, f"is {value}"),
            help=f"did you mean `{measure.name}({decimal(share)})`?" if fits else f"write `{signature(measure)}`",
        )
        return None
    return value.value


def _conditions(measure: Measure, call: Call, params: Params, findings: Findings) -> Found | None:
    counted = [_condition(measure, argument, params, findings) for argument in call.arguments]
    given = [_condition(measure, argument, params, findings) for argument in call.given]
    if not call.arguments:
        findings.error(
            "T308",
            f"`{measure.name}` does not say which rows to count",
            (call.span, "needs a condition"),
            help=f"write `{signature(measure)}`",
        )
        return None
    sound = [condition for condition in (*counted, *given) if condition is not None]
    if len(sound) < len(counted) + len(given):
        return None
    first = tuple(condition for condition in counted if condition is not None)
    second = tuple(condition for condition in given if condition is not None)
    return (first, second), (call.span, call.span)


def _condition(measure: Measure, argument: Argument, params: Params, findings: Findings) -> Condition | None:
    place = argument.span or argument.value.span
    if argument.name:
        subject, comparison, node, quoted = argument.name, "=", argument.value, False
        subject_span = argument.name_span
    elif (
        isinstance(argument.value, Relation)
        and len(argument.value.operators) == 1
        and isinstance(argument.value.operands[0], Name)
    ):
        name = argument.value.operands[0]
        subject, comparison, quoted = name.text, argument.value.operators[0], name.quoted
        node, subject_span = argument.value.operands[1], name.span
    else:
        findings.error(
            "T308",
            f"`{measure.name}` counts rows that meet conditions",
            (place, "not a condition"),
            help='a condition reads `predicted = "yes"`, `actual = "no"`, `sex = "F"` or `age >= 40`',
        )
        return None
    is_column = quoted or subject not in ("predicted", "actual")
    if comparison != "=" and not is_column:
        findings.error(
            "T308",
            f"`{subject}` is a class, and classes have no order",
            (place, f"write `{subject} = ...`"),
        )
        return None
    if not is_column and isinstance(node, Name) and node.text in ("actual", "predicted"):
        findings.error(
            "T308",
            f"`{subject}` is compared with a class",
            (node.span or place, "not a class"),
            help=(
                f"what is predicted rightly among some rows: `{RIGHT_IN_A_GROUP}`",
                "among all rows: `accuracy`, `error_rate` or `errors`",
            ),
        )
        return None
    value: str | Fraction | None = label(node, params)
    if is_column:
        number = _plain_number(node, params)
        value = number if number is not None else value
    has_order = not isinstance(value, str) or days_of(value) is not None  # a number, a date or a time
    if value is None or (comparison != "=" and not has_order):
        findings.error(
            "T308",
            f"`{subject}` is compared with something that is not a {'number' if comparison != '=' else 'value'}",
            (
                node.span or place,
                "a number is needed" if comparison != "=" else "a class, a level or a number is needed",
            ),
        )
        return None
    return Condition(subject, comparison, value, is_column, place, subject_span or place, node.span or place)


def _plain_number(node: Expression, params: Params) -> Fraction | None:
    found: Any = None
    if isinstance(node, Name) and node.text in params and not node.quoted:
        found = params.read(node.text)
    elif isinstance(node, Number) or (isinstance(node, Negate) and isinstance(node.operand, Number)):
        found = literal(node)
    return found.value if isinstance(found, Quantity) else None


def _bare(text: str) -> str:
    return text if text.isidentifier() else f"`{text}`"
