"""Requirements -> pairs that no tree can meet together, and requirements that others make superfluous.

Every bound on a single measure narrows an interval and remembers which requirement did so. A few facts about trees
carry bounds from one measure to another, such as that a tree of depth d has at most 2^d leaves if every node has two
branches. Whatever depends on the data is left to the back-ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from treeml.lang.findings import Findings, Place
from treeml.lang.measures import BUILT_IN
from treeml.lang.quantities import decimal
from treeml.lang.requirements import always_met
from treeml.lang.source import Span
from treeml.lang.spec import Requirement, Use


@dataclass(frozen=True, slots=True)
class IntervalEnd:
    """One end of an interval, the requirement that set it, and the reason if it is not obvious."""

    value: Fraction
    requirement: Requirement
    because: str = ""
    others: tuple[Requirement, ...] = ()  # requirements that set it together with `requirement`


Key = tuple[Use, bool]  # the measure, and whether its limit is a share of the rows

_DEPTH, _LEAVES, _FEATURES, _ERRORS, _ERROR_RATE = (
    (Use(name), False) for name in ("depth", "leaves", "features_used", "errors", "error_rate")
)

_SHARES_OF_PREDICTIONS = {"precision", "npv", "f1", "fbeta", "jaccard", "ratio"}


def report_contradictions(
    requirements: Sequence[Requirement], banned: Mapping[str, Span | None], has_branches: bool, findings: Findings
) -> None:
    """`banned` are the columns that no split may use, with the place that says so; `has_branches`: a node may have more
    than two branches."""
    low: dict[Key, IntervalEnd] = {}
    high: dict[Key, IntervalEnd] = {}
    for requirement in requirements:
        _narrow(requirement, low, high)
    spare = list(_spare(requirements, low, high))
    reported: set[tuple[int, int]] = set()
    _report_clashes(low, high, reported, findings)
    clean = not reported
    _report_banned(low, banned, findings)
    if clean:
        for _ in range(3):
            for key, end, is_low in list(_consequences(low, high, has_branches)):
                _tighten(low if is_low else high, key, end, is_low)
        _report_clashes(low, high, reported, findings)
    if not reported:
        _report_spare(spare, findings)


def _narrow(requirement: Requirement, low: dict[Key, IntervalEnd], high: dict[Key, IntervalEnd]) -> None:
    for key, is_low, limit in _sides(requirement):
        _tighten(low if is_low else high, key, IntervalEnd(limit, requirement), is_low)


def _sides(requirement: Requirement) -> Iterator[tuple[Key, bool, Fraction]]:
    """The ends of intervals that a requirement on one measure sets: one, or two for an equation."""
    if len(requirement.expression.parts) != 1:
        return
    factor, use = requirement.expression.parts[0]
    key, sense, limit = _canonical(use, requirement.sense, requirement.limit / factor, requirement.share_of_rows)
    if sense in (">=", "="):
        yield key, True, limit
    if sense in ("<=", "="):
        yield key, False, limit


def _canonical(use: Use, sense: str, limit: Fraction, share_of_rows: bool) -> tuple[Key, str, Fraction]:
    """A bound on `accuracy` is one on `error_rate`, and a bound on `splits` is one on `leaves`."""
    if use.measure == "accuracy":
        return _ERROR_RATE, {"<=": ">=", ">=": "<=", "=": "="}[sense], 1 - limit
    if use.measure == "splits":
        return _LEAVES, sense, limit + 1
    return (use, share_of_rows), sense, limit


def _tighten(ends: dict[Key, IntervalEnd], key: Key, end: IntervalEnd, is_low: bool) -> None:
    known = ends.get(key)
    if known is None or (end.value > known.value if is_low else end.value < known.value):
        ends[key] = end


def _consequences(
    low: Mapping[Key, IntervalEnd], high: Mapping[Key, IntervalEnd], has_branches: bool
) -> Iterator[tuple[Key, IntervalEnd, bool]]:
    """Facts that hold for every tree, on any data."""
    depth = high.get(_DEPTH)
    if depth is not None and 0 <= depth.value <= 64 and (depth.value < 1 or not has_branches):
        levels = depth.value.numerator // depth.value.denominator
        most = Fraction(2**levels)
        yield (
            _LEAVES,
            IntervalEnd(most, depth.requirement, f"a tree of depth {levels} has at most {_count(most, 'leaf')}"),
            False,
        )
    depth = low.get(_DEPTH)
    if depth is not None:
        least = depth.value + 1
        yield (
            _LEAVES,
            IntervalEnd(
                least, depth.requirement, f"a tree of depth {decimal(depth.value)} has at least {_count(least, 'leaf')}"
            ),
            True,
        )
    leaves = high.get(_LEAVES)
    if leaves is not None:
        most = leaves.value - 1
        text = f"a tree of {_count(leaves.value, 'leaf')} tests at most {_count(most, 'column')}"
        yield _FEATURES, IntervalEnd(most, leaves.requirement, text), False
    used = [end for (use, _), end in low.items() if use.measure == "uses" and end.value > 0]
    if used:
        least = Fraction(len(used))
        names, last = tuple(end.requirement for end in used[:-1]), used[-1].requirement
        yield _FEATURES, IntervalEnd(least, last, f"{_count(least, 'column')} must be used", names), True
    features = low.get(_FEATURES)
    if features is not None:
        least = features.value + 1
        text = (
            features.because
            or f"a tree that tests {_count(features.value, 'column')} has at least {_count(least, 'leaf')}"
        )
        yield _LEAVES, IntervalEnd(least, features.requirement, text), True
    for one, other in ((_ERRORS, _ERROR_RATE), (_ERROR_RATE, _ERRORS)):
        none = high.get(one)
        if none is not None and none.value == 0:
            yield other, IntervalEnd(Fraction(0), none.requirement, "no errors means an accuracy of 100%"), False


def _count(number: Fraction, noun: str) -> str:
    plural = {"leaf": "leaves"}.get(noun, f"{noun}s")
    return f"{decimal(number)} {noun if number == 1 else plural}"


def _report_clashes(
    low: Mapping[Key, IntervalEnd], high: Mapping[Key, IntervalEnd], reported: set[tuple[int, int]], findings: Findings
) -> None:
    for key, floor in low.items():
        ceiling = high.get(key)
        if ceiling is None or floor.value <= ceiling.value or _may_be_undefined(key[0]):
            continue
        first, second = _in_order(floor.requirement, ceiling.requirement)
        if first is second or (id(first), id(second)) in reported:
            continue
        reported.add((id(first), id(second)))
        if first.span is not None and first.span == second.span:
            places: tuple[Place, ...] = ((first.span, "contradicts itself"),)
            title, help = "no tree meets this requirement, whatever the data", "widen the range"
        else:
            involved = {id(one): one for one in (first, second, *floor.others, *ceiling.others)}.values()
            places = _conflict(one.span for one in involved)
            title, help = "no tree meets these requirements together, whatever the data", "relax one of them"
        findings.error(
            "F603",
            title,
            *places,
            note=tuple(dict.fromkeys(text for text in (ceiling.because, floor.because) if text)),
            help=help,
        )


def _may_be_undefined(use: Use) -> bool:
    """Can a tree leave the measure without a value? Such a tree meets every bound on it, also those that clash."""
    if use.measure == "rate":
        return any(condition.subject == "predicted" and not condition.is_column for condition in use.arguments[1])
    return use.measure in _SHARES_OF_PREDICTIONS or use.measure not in BUILT_IN


def _report_banned(low: Mapping[Key, IntervalEnd], banned: Mapping[str, Span | None], findings: Findings) -> None:
    for (use, _), end in low.items():
        if use.measure == "uses" and end.value > 0 and use.arguments[0] in banned:
            findings.error(
                "F603",
                f"the tree must use `{use.arguments[0]}`, but may not split on it",
                *_conflict((end.requirement.span, banned[use.arguments[0]])),
                help="remove one of the two",
            )


def _spare(
    requirements: Sequence[Requirement], low: Mapping[Key, IntervalEnd], high: Mapping[Key, IntervalEnd]
) -> Iterator[tuple[Requirement, Requirement]]:
    """Requirements that set no end of any interval, each with the tighter requirement that sets it instead."""
    for requirement in requirements:
        if always_met(requirement):
            continue
        setters = [(low if is_low else high)[key].requirement for key, is_low, _ in _sides(requirement)]
        if setters and all(setter is not requirement for setter in setters):
            yield requirement, setters[0]


def _report_spare(spare: Iterable[tuple[Requirement, Requirement]], findings: Findings) -> None:
    for weaker, tighter in spare:
        same = weaker.limit == tighter.limit and weaker.expression == tighter.expression
        findings.warning(
            "L703",
            "this requirement says the same as another" if same else "this requirement follows from another",
            (weaker.span, "adds nothing"),
            (tighter.span, "says the same" if same else "says more"),
            help="remove one of the two" if same else "remove it, or compare another measure",
        )


def _conflict(spans: Iterable[Span | None]) -> tuple[Place, ...]:
    """Labels to be read from top to bottom: each says `conflicts with`, and the last says `this`."""
    known = [span for span in spans if span is not None]
    first = known[0].source.name if known else ""
    ordered = sorted(known, key=lambda span: (span.source.name != first, span.start))
    texts = ["conflicts with"] * (len(ordered) - 1) + ["this"]
    return tuple(zip(ordered, texts, strict=True))


def _in_order(first: Requirement, second: Requirement) -> tuple[Requirement, Requirement]:
    if first.span is None or second.span is None or first.span.source is not second.span.source:
        return first, second
    return (first, second) if first.span.start <= second.span.start else (second, first)
