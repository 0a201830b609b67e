"""A spec without errors in it -> warnings about what is probably not meant."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from treeml.lang.columns import ColumnFields
from treeml.lang.findings import Findings
from treeml.lang.measures import MEASURES
from treeml.lang.params import Params
from treeml.lang.quantities import decimal
from treeml.lang.source import Span
from treeml.lang.spec import CheckedGoal, Linear, Requirement, Use
from treeml.lang.syntax import Binary, ColumnCost, Expression, MistakeCost, Objective, RowCost, Statement
from treeml.lang.task_checks import is_weighted


def report_lint(
    statements: Sequence[Statement],
    goals: Sequence[CheckedGoal],
    requirements: Sequence[Requirement],
    columns: ColumnFields,
    params: Params,
    main: str,
    findings: Findings,
) -> None:
    """Unused params are reported in `main`, the file being checked; included files may serve other specs too."""
    _unused_params(params, main, findings)
    if not is_weighted(statements):
        _tie_breaking_penalties(statements, goals, requirements, findings)
    _unusual_senses(goals, findings)
    _repeated_goals(goals, findings)
    _idle_costs(statements, goals, requirements, findings)
    _unguarded_columns(columns, goals, requirements, findings)


def _unused_params(params: Params, main: str, findings: Findings) -> None:
    for name, param in params.declared.items():
        shared = param.span is not None and param.span.source.name != main
        if name not in params.used and not shared:
            findings.warning(
                "L702",
                f"the param `{name}` is never used",
                (param.name_span or param.span, "declared here"),
                help="use it or remove it",
            )


def _tie_breaking_penalties(
    statements: Sequence[Statement],
    goals: Sequence[CheckedGoal],
    requirements: Sequence[Requirement],
    findings: Findings,
) -> None:
    """`errors + 0.01 * leaves`: errors are whole rows, so a hundredth per leaf only breaks ties."""
    objective = next((statement for statement in statements if isinstance(statement, Objective)), None)
    most = _most_leaves(requirements)
    for goal in goals:
        # A factor other than 1, as in `100 * errors + leaves`, shows that the weights are deliberate.
        errors = any(factor == 1 and use.measure == "errors" for factor, use in goal.expression.parts)
        penalties = [(factor, use) for factor, use in goal.expression.parts if use.measure in ("leaves", "splits")]
        if not errors or len(penalties) != 1 or len(goal.expression.parts) != 2:
            continue
        price, use = penalties[0]
        # All leaves together cost less than one row; if their number is not bounded, a hundredth each is small enough.
        if not 0 < price < 1 or not (price * (most - 1) < 1 if most is not None else price <= Fraction(1, 100)):
            continue
        place = _product_around(objective, use.span) or use.span
        findings.warning(
            "L701",
            "this penalty only breaks ties",
            (place, f"a {'leaf' if use.measure == 'leaves' else 'split'} costs {_fraction(price)} of one row"),
            note="`errors` counts rows (0, 1, 2, ...); `error_rate` is their share (0 .. 1)",
            help=f"did you mean `error_rate + {decimal(price)} * {use.measure}`?",
        )


def _most_leaves(requirements: Sequence[Requirement]) -> int | None:
    """The largest number of leaves that the requirements allow; None if it is not bounded."""
    bounds = []
    for requirement in requirements:
        if len(requirement.expression.parts) != 1 or requirement.sense == ">=":
            continue
        use = requirement.expression.parts[0][1]
        limit = requirement.limit.numerator // requirement.limit.denominator
        if use.measure == "depth" and 0 <= limit <= 60:
            bounds.append(2**limit)
        elif use.measure in ("leaves", "splits"):
            bounds.append(limit + (use.measure == "splits"))
    return min(bounds, default=None)


def _product_around(objective: Objective | None, span: Span | None) -> Span | None:
    """The span of the product that contains a measure: `0.01 * leaves`."""
    if objective is None or span is None:
        return None
    waiting: list[Expression] = [goal.expression for goal in objective.goals]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Binary):
            if node.operator in ("*", "/") and node.span is not None and _covers(node.span, span):
                return node.span
            waiting += [node.left, node.right]
    return None


def _covers(outer: Span, inner: Span) -> bool:
    return outer.source is inner.source and outer.start <= inner.start and inner.end <= outer.end


def _fraction(value: Fraction) -> str:
    words = {2: "half", 3: "a third", 4: "a quarter", 10: "a tenth", 100: "a hundredth", 1000: "a thousandth"}
    return words.get(value.denominator, decimal(value)) if value.numerator == 1 else decimal(value)


def _unusual_senses(goals: Sequence[CheckedGoal], findings: Findings) -> None:
    """Warn about goals such as `minimize accuracy`; in a sum of several measures, mixed signs are deliberate."""
    for goal in goals:
        if len(goal.expression.parts) != 1:
            continue
        factor, use = goal.expression.parts[0]
        usual = MEASURES[use.measure].goal
        sense = goal.sense if factor > 0 else {"minimize": "maximize", "maximize": "minimize"}[goal.sense]
        if usual and sense != usual:
            findings.warning(
                "L709",
                f"this asks for the tree with the {'most' if sense == 'maximize' else 'least'} `{use.text}`",
                (goal.span, f"`{use.measure}` is better when it is {'small' if usual == 'minimize' else 'large'}"),
                help=f"did you mean `{usual} {use.text}`?",
            )


def _repeated_goals(goals: Sequence[CheckedGoal], findings: Findings) -> None:
    seen: dict[tuple[tuple[Fraction, Use], ...], CheckedGoal] = {}
    for goal in goals:
        key = tuple(sorted(goal.expression.parts, key=lambda part: (part[1].measure, str(part[1].arguments))))
        if key in seen:
            findings.warning(
                "L711",
                "this goal has been settled by an earlier one",
                (seen[key].span, "settled here"),
                (goal.span, "can make no difference"),
                help="remove it",
            )
        seen.setdefault(key, goal)


def _idle_costs(
    statements: Sequence[Statement],
    goals: Sequence[CheckedGoal],
    requirements: Sequence[Requirement],
    findings: Findings,
) -> None:
    sums = [goal.expression for goal in goals] + [requirement.expression for requirement in requirements]
    used = {use.measure: use for linear in sums for _, use in linear.parts}
    mistakes = [statement for statement in statements if isinstance(statement, MistakeCost | RowCost)]
    tests = [statement for statement in statements if isinstance(statement, ColumnCost)]
    for measure, stated, noun in (("mistake_cost", mistakes, "mistakes"), ("test_cost", tests, "tests")):
        if measure == "mistake_cost" and "gain" in used:
            continue
        if stated and measure not in used:
            is_gain = isinstance(stated[0], RowCost) and stated[0].is_gain
            noun, measure = ("predictions", "gain") if is_gain else (noun, measure)
            findings.warning(
                "L708",
                f"the {'gains' if is_gain else 'costs'} of {noun} are stated, but `{measure}` is not used",
                (stated[0].span, "changes nothing"),
                help=_goal_with(measure, goals, bool(mistakes)),
            )
    if "test_cost" in used and not tests:
        findings.warning(
            "L708",
            "`test_cost` is 0 for every tree: no test has a cost",
            (used["test_cost"].span, "always 0"),
            help="state what a column costs: `cost test insulin = 12`",
        )


def _goal_with(measure: str, goals: Sequence[CheckedGoal], has_mistakes: bool) -> str:
    """A goal that uses the stated costs. Costs of tests alone would be least without any test."""
    if measure == "gain":
        return "make it the goal: `maximize gain`"
    is_cost = bool(goals) and any(use.measure in ("mistake_cost", "test_cost") for _, use in goals[0].expression.parts)
    if is_cost and goals[0].sense == "minimize":
        return f"add it to the goal: `{goals[0].text} + {measure}`"
    if measure == "mistake_cost":
        return "make it the goal: `minimize mistake_cost`"
    other = "mistake_cost" if has_mistakes else "10 * errors"
    worth = "" if has_mistakes else ", where an error is worth 10"
    return f"add it to a goal: `minimize {other} + test_cost`{worth}"


def _unguarded_columns(
    columns: ColumnFields, goals: Sequence[CheckedGoal], requirements: Sequence[Requirement], findings: Findings
) -> None:
    sums = [goal.expression for goal in goals] + [requirement.expression for requirement in requirements]
    named = {argument for linear in sums for _, use in linear.parts for argument in _columns_named(use)}
    chosen = columns.fields.get("features")
    for name, declared in columns.fields["columns"].items():
        in_reach = name not in columns.banned and (chosen is None or name in chosen)
        if declared.sensitive and name not in named and in_reach:
            findings.warning(
                "L712",
                f"`{name}` is sensitive, but nothing keeps the tree from using it",
                (declared.span, "declared here"),
                help=(
                    f"`forbid split on {_bare(name)}`",
                    f"or bound its effect: `require parity_gap({_bare(name)}) <= 5%`",
                ),
            )


def _columns_named(use: Use) -> list[str]:
    found: list[str] = []
    for argument in use.arguments:
        if isinstance(argument, Linear):
            found += [name for _, part in argument.parts for name in _columns_named(part)]
        elif isinstance(argument, str):
            found.append(argument)
        elif isinstance(argument, tuple):
            found += [item if isinstance(item, str) else item.subject for item in argument]
    return found


def _bare(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"
