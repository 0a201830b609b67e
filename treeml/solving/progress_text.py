"""Progress -> what a user reads of it: values in the user's sense, the clock of the call, and one line of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from time import monotonic

from treeml.backends.contract import OnProgress, Progress
from treeml.forests.progress import ForestProgress
from treeml.lang.spec import CheckedGoal

WIDEST_LINE = 60  # columns
MOST_OF_A_NAME = 20  # characters of a goal that a line has room for; a longer one is called `objective`


@dataclass(frozen=True, slots=True)
class CallProgress(Progress):
    """A report with the goals it is about. `seconds` counts from the beginning of the call.

    >>> model.solve("heart.csv", on_progress=lambda moment: print(moment.line))
    """

    goals: tuple[CheckedGoal, ...] = field(default=(), kw_only=True)
    within: float | None = field(default=None, kw_only=True)  # seconds that the call may take

    @property
    def values(self) -> tuple[tuple[str, Fraction], ...]:
        """The goals that have a value so far, each with that value, in the user's sense."""
        return tuple(
            (_name(self.goals, place), _in_users_sense(value, self.goals, place))
            for place, value in enumerate(self.objective or ())
        )

    @property
    def best_possible(self) -> Fraction | None:
        """The bound in the user's sense: no tree has a better value of the goal that is being optimized."""
        if self.bound is None:
            return None
        return _in_users_sense(self.bound, self.goals, max(len(self.objective or ()), 1) - 1)

    @property
    def line(self) -> str:
        """The text of a progress line: `accuracy 0.829, bound 0.91, gap 9.8 %, 7.9 of 20 s`."""
        values = [f"{name} {short(value)}" for name, value in self.values[-2:]] or ["no tree yet"]
        limits = [] if self.best_possible is None else [f"bound {short(self.best_possible)}"]
        if self.values and self.best_possible is not None:
            limits.append(f"gap {gap_text(self.values[-1][1], self.best_possible)}")
        clock = clock_text(self.seconds, self.within)
        unnamed = [f"objective {short(value)}" for _, value in self.values[-1:]]
        # The first of these that fits: less is said if the numbers are long.
        forms = ([*values, *limits, clock], [*values[-1:], *limits, clock], [*unnamed, *limits, clock])
        lines = [", ".join(form) for form in (*forms, [*unnamed, *limits[:1], clock])]
        return next((line for line in lines if len(line) <= WIDEST_LINE), lines[-1])


class Reporter:
    """Passes the reports of a search on in the user's terms; one without values repeats those that are known."""

    def __init__(
        self, on_progress: OnProgress, goals: Sequence[CheckedGoal], begun: float, within: float | None
    ) -> None:
        self.on_progress, self.goals, self.begun, self.within = on_progress, tuple(goals), begun, within
        self.last = Progress(0.0)

    def __call__(self, moment: Progress) -> bool | None:
        known = moment if moment.objective is not None or moment.bound is not None else self.last
        self.last = known
        # A bound above the value is one of an earlier goal.
        is_below = known.bound is None or not known.objective or known.bound <= known.objective[-1]
        return self.on_progress(
            CallProgress(
                monotonic() - self.begun,
                known.objective,
                known.bound if is_below else None,
                moment.tree,
                evidence=known.evidence if is_below else (),
                goals=self.goals,
                within=self.within,
            )
        )


def in_users_terms(moment: Progress, goals: Sequence[CheckedGoal], later: float = 0.0) -> Progress:
    """A report of a trace, whose clock starts `later` than that of the call."""
    if isinstance(moment, (CallProgress, ForestProgress)):
        return moment
    known = {each.name: getattr(moment, each.name) for each in fields(Progress)}
    return CallProgress(**{**known, "seconds": moment.seconds + later}, goals=tuple(goals))


def progress_text(moment: Progress) -> str:
    """One line of at most 60 columns."""
    if isinstance(moment, (CallProgress, ForestProgress)):
        return moment.line
    return CallProgress(moment.seconds, moment.objective, moment.bound, evidence=moment.evidence).line


def closed_share(moment: Progress) -> float | None:
    """The share of the gap that is closed; None while there is no tree or no bound."""
    if not moment.objective or moment.bound is None:
        return None
    value, bound = float(moment.objective[-1]), float(moment.bound)
    return 1.0 if value == bound else max(0.0, min(1.0, 1 - abs(value - bound) / max(abs(value), abs(bound))))


def gap_text(value: Fraction | float, bound: Fraction | float) -> str:
    """The distance of the bound: a percentage of the value, or the difference itself if it exceeds the value."""
    reached = float(value)
    distance = abs(reached - float(bound))
    return f"{100 * distance / abs(reached):.1f} %" if distance < abs(reached) else short(distance)


def clock_text(seconds: float, within: float | None) -> str:
    """`7.9 of 20 s`; tenths do not matter after 100 seconds."""
    elapsed = f"{seconds:.1f}" if seconds < 100 else f"{seconds:.0f}"
    return f"{elapsed} s" if within is None else f"{elapsed} of {within:g} s"


def short(value: Fraction | float) -> str:
    """A number with the four digits that a line of progress has room for."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e7 else f"{number:.4g}"


def _name(goals: Sequence[CheckedGoal], place: int) -> str:
    """`accuracy` for the goal `maximize accuracy`."""
    name = goals[place].text.partition(" ")[2] if place < len(goals) else ""
    return name if 0 < len(name) <= MOST_OF_A_NAME else "objective"


def _in_users_sense(value: Fraction, goals: Sequence[CheckedGoal], place: int) -> Fraction:
    """Searches minimize; a goal to be maximized has the negated value."""
    return -value if place < len(goals) and goals[place].sense == "maximize" else value
