"""`solve`, `start`, `improve`, `list`, `ensemble`, `validate` and `report` -> how to find and show the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from treeml.lang.expressions import Scope, constant, measure_use, unknown_measure
from treeml.lang.measures import MEASURES
from treeml.lang.methods import MethodRule, as_call, backend, checked, method, nearest_method
from treeml.lang.source import Span
from treeml.lang.spec import LISTING_STYLES, ListingRequest, Method, Use
from treeml.lang.suggest import suggest
from treeml.lang.syntax import (
    Ensemble,
    Expression,
    Improve,
    ListTrees,
    Report,
    Solve,
    Start,
    Statement,
    String,
    Validate,
)

_MOST = Fraction(2**31 - 1)
_SEED = MethodRule("seed", "whole", "the seed", Fraction(0), _MOST)
_THREADS = MethodRule("threads", "whole", "the number of threads", Fraction(1), Fraction(1024))
_LISTED = MethodRule("trees", "whole", "the number of trees", Fraction(1), Fraction(2**62))
_TREES = MethodRule("trees", "whole", "the number of trees", Fraction(1), _MOST)
_GAP = MethodRule("gap", "number", "the gap", Fraction(0))


@dataclass(slots=True)
class Requests:
    fields: dict[str, Any] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)


def requests_of(statements: Sequence[Statement], scope: Scope) -> Requests:
    """The first statement of every kind; a second one was already reported as a duplicate."""
    found = Requests()
    for statement in statements:
        kind = _KINDS.get(type(statement))
        if kind is None or kind in found.spans:
            continue
        if statement.span is not None:
            found.spans[kind] = statement.span
        match statement:
            case Solve():
                _solve(statement, scope, found)
            case Start():
                source = statement.source
                found.fields["start"] = source.text if isinstance(source, String) else method("start", source, scope)
            case Improve():
                found.fields["improve"] = method("improve", statement.method, scope)
                if statement.within is not None:
                    found.fields["improve_within"] = _seconds(statement.within, scope)
            case ListTrees():
                found.fields["listing"] = _listing(statement, scope)
            case Ensemble():
                found.fields["ensemble"] = method("ensemble", statement.method, scope)
                if statement.trees is not None:
                    found.fields["ensemble_trees"] = _plain(statement.trees, _TREES, scope)
            case Validate():
                how = statement.method
                found.fields["validate"] = how.text if isinstance(how, String) else method("validate", how, scope)
            case Report():
                found.fields["report"], found.fields["reported"] = _items(statement, scope)
    measures = found.fields.get("reported")
    if measures and found.fields.get("ensemble") is not None:
        scope.findings.error(
            "T319",
            f"`{measures[0].text}` is measured on one tree, but an ensemble has several",
            (measures[0].span, "of a single tree"),
            help="remove it; `report measures` shows what is known of the forest",
        )
    return found


_KINDS: dict[type, str] = {
    Solve: "solve",
    Start: "start",
    Improve: "improve",
    ListTrees: "list",
    Ensemble: "ensemble",
    Validate: "validate",
    Report: "report",
}


def _solve(statement: Solve, scope: Scope, found: Requests) -> None:
    backends: dict[str, Method] = {}
    for node in statement.backends:
        named = backend(node, scope)
        if named is None:
            continue
        key = repr((named.name, sorted(named.options.items(), key=str)))
        if key in backends:
            scope.findings.warning(
                "L706",
                f"the back-end `{named.name}` is named twice",
                (backends[key].span, "first here"),
                (named.span, "and again here"),
                help="remove one of the two",
            )
            continue
        backends[key] = named
    found.fields["backends"] = tuple(backends.values())
    if statement.within is not None:
        found.fields["within"] = _seconds(statement.within, scope)
    if statement.gap is not None:
        found.fields["gap"] = _gap(statement.gap, scope) or Fraction(0)
    if statement.seed is not None:
        found.fields["seed"] = _plain(statement.seed, _SEED, scope)
    if statement.threads is not None:
        found.fields["threads"] = _plain(statement.threads, _THREADS, scope)
    for name in ("within", "gap", "seed", "threads"):
        node = getattr(statement, name)
        if node is not None and node.span is not None:
            found.spans[name] = node.span


def _listing(statement: ListTrees, scope: Scope) -> ListingRequest | None:
    """Which trees to list; None after a mistake."""
    most = None if statement.most is None else _plain(statement.most, _LISTED, scope)
    slack = None if statement.within is None else _slack(statement.within, scope)
    if statement.style not in LISTING_STYLES:
        near = suggest(statement.style, [style for style in LISTING_STYLES if style])
        scope.findings.error(
            "N207",
            f"trees cannot be counted as `{statement.style}`",
            (statement.name_span or statement.span, f"did you mean `{near}`?" if near else "not a way to count trees"),
            help="leave `as` out, or write `as treefarms` to count trees as that package does",
        )
        return None
    if statement.most is None and statement.within is None:
        scope.findings.error(
            "T313",
            "`list trees` does not say which",
            (statement.span, "all trees there are?"),
            help=("a number of them: `list 100 trees`", "or those near the best: `list trees within 2% of best`"),
        )
        return None
    if (statement.most is not None and most is None) or (statement.within is not None and slack is None):
        return None
    amount, unit = slack or (None, "")
    return ListingRequest(most, amount, unit, statement.style)


def _slack(node: Expression, scope: Scope) -> tuple[Fraction, str] | None:
    """How far from the best: a value and its unit, `%` for a share of the best value."""
    value = constant(node, scope, "the distance from the best")
    if value is None:
        return None
    if value.unit == "s":
        scope.findings.error(
            "T305",
            f"the distance from the best is in units of the goal, not {value}",
            (node.span, "a time"),
            help="write `within 2% of best`, or `solve within 5 min` for a limit on the time",
        )
        return None
    if value.value < 0:
        scope.findings.error(
            "T309", "no tree is better than the best", (node.span, "is negative"), help="write `within 0 of best`"
        )
        return None
    return value.value, value.unit


def _items(statement: Report, scope: Scope) -> tuple[tuple[Method, ...], tuple[Use, ...]]:
    """The parts of the report, and the measures that are to be shown besides those of goals and requirements."""
    items: dict[str, Method] = {}
    measures: dict[Use, Use] = {}
    for node in statement.items:
        call = as_call(node)
        if call.name in MEASURES:
            use = measure_use(call, scope)
            if use is not None and measures.setdefault(use, use) is not use:
                _reported_twice(use.text, measures[use].span, use.span, scope)
            continue
        if nearest_method("report", call.name) is None and suggest(call.name, MEASURES) is not None:
            unknown_measure(call.name, call.name_span or call.span, scope)
            continue
        item = method("report", node, scope)
        if item is not None and items.setdefault(item.name, item) is not item:
            _reported_twice(item.name, items[item.name].span, item.span, scope)
    return tuple(items.values()), tuple(measures)


def _reported_twice(name: str, first: Span | None, second: Span | None, scope: Scope) -> None:
    scope.findings.warning(
        "L706",
        f"`{name}` is reported twice",
        (first, "first here"),
        (second, "and again here"),
        help="remove one of the two",
    )


def _seconds(node: Expression, scope: Scope) -> float | None:
    value = constant(node, scope, "a time")
    if value is None:
        return None
    if value.unit == "":
        scope.findings.error(
            "T305",
            "a time needs a unit",
            (node.span, f"{value} of what?"),
            help=f"write `within {value} s`, `within {value} min` or `within {value} h`",
        )
        return None
    if value.unit != "s":
        scope.findings.error(
            "T305",
            f"a time is given in `ms`, `s`, `min` or `h`, not as {value}",
            (node.span, "not a time"),
            help="write `within 5 min`",
        )
        return None
    if value.value < 0:
        scope.findings.error(
            "T309", "a time cannot be negative", (node.span, "ends before it begins"), help="write `within 0 s` or more"
        )
        return None
    return float(min(value.value, Fraction(10) ** 12))


def _gap(node: Expression, scope: Scope) -> Fraction | None:
    value = constant(node, scope, "the gap")
    if value is None:
        return None
    if value.unit in ("rows", "s"):
        scope.findings.error(
            "T305", f"the gap is a share, not {value}", (node.span, "the unit does not fit"), help="write `gap 1%`"
        )
        return None
    if value.unit == "" and value.value >= 1:
        scope.findings.error(
            "T309",
            "a gap of 100% or more accepts any tree",
            (node.span, f"{value} means {value.value * 100}%" if value.value.denominator == 1 else "too large"),
            help=f"did you mean `gap {value}%`?",
        )
        return None
    found = checked(value, _GAP, "the gap", node.span, scope)
    return None if found is None else Fraction(found)


def _plain(node: Expression, rule: MethodRule, scope: Scope) -> int | None:
    value = constant(node, scope, rule.what)
    if value is None:
        return None
    if value.unit:
        scope.findings.error(
            "T305", f"{rule.what} is a plain number, not {value}", (node.span, "the unit does not fit")
        )
        return None
    found = checked(value, rule, rule.what, node.span, scope)
    return None if found is None else int(found)
