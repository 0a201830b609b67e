"""A world as plain data -> the text of its specification, and the file with its rows.

A world is what a user has: a text and a file. It also keeps what the text says as plain data, from which `truth.py`
works out the answer without any other part of the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

CLASSES, NUMBERS, CLUSTERS = "classes", "numbers", "clusters"
SURVIVAL, LINES = "survival", "lines"  # times whose end was observed or not; leaves with linear models


@dataclass(frozen=True, slots=True)
class WorldMeasure:
    """A measure as written in the text; `conditions` and `given` belong to count and rate."""

    name: str
    arguments: tuple[str, ...] = ()
    conditions: tuple[tuple[str, str], ...] = ()
    given: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        inside = ", ".join(self.arguments) + ", ".join(f'{who} = "{what}"' for who, what in self.conditions)
        if self.given:
            inside += " given " + ", ".join(f'{who} = "{what}"' for who, what in self.given)
        return f"{self.name}({inside})" if inside else self.name


@dataclass(frozen=True, slots=True)
class Weighted:
    """A weighted sum: factors as written in the text, each with its measure."""

    parts: tuple[tuple[str, WorldMeasure], ...]

    def __str__(self) -> str:
        text = " + ".join(str(use) if factor == "1" else f"{factor} * {use}" for factor, use in self.parts)
        return text.replace("+ -", "- ")


@dataclass(frozen=True, slots=True)
class Wanted:
    sense: str  # minimize or maximize
    what: Weighted


@dataclass(frozen=True, slots=True)
class Required:
    """A bound, or, without a sense, a measure that is true or false."""

    what: Weighted
    sense: str = ""
    limit: str = ""
    unit: str = ""  # "", "%" or " rows"

    def __str__(self) -> str:
        return f"{self.what} {self.sense} {self.limit}{self.unit}" if self.sense else str(self.what)


@dataclass(frozen=True, slots=True)
class WorldColumn:
    """The values of a column as in the file, empty if missing, and how the column is cut into tests."""

    name: str
    kind: str  # number, category or date
    values: tuple[str, ...]
    rule: str = ""  # "", "by thresholds", "at 1, 2", "by levels", "by subsets", "by quantiles(3)", "by width(3)"
    missing: str = ""  # "", separate, drop or median


@dataclass(frozen=True, slots=True)
class World:
    task: str
    columns: tuple[WorldColumn, ...]  # those that may be tested, and g, which holds groups and may not be tested
    target: tuple[str, ...] = ()
    weight: tuple[str, ...] = ()
    died: tuple[str, ...] = ()  # of survival: 1 if the end was observed
    lines: tuple[str, ...] = ()  # the columns of linear models
    ridge: str = "0"
    class_weights: tuple[tuple[str, str], ...] = ()
    mistake_costs: tuple[tuple[str, str, str], ...] = ()  # predicted, actual, cost
    row_costs: tuple[tuple[str, str, tuple[str, ...]], ...] = ()  # "cost" or "gain", predicted, values
    test_costs: tuple[tuple[str, str], ...] = ()
    test_discounts: tuple[tuple[str, str, str], ...] = ()  # column, tested before, cost
    goals: tuple[Wanted, ...] = ()  # empty: satisfy
    requirements: tuple[Required, ...] = ()
    forest: str = ""
    cell: tuple[str, str] = ("", "")  # the kinds of the goal and of the requirement
    seconds: float = 5.0  # for each back-end
    backends: tuple[str, ...] = ()  # besides the usual ones
    is_large: bool = field(default=False)  # too large for the oracle, and perhaps for every back-end
    has_planted: bool = False  # is a tree known that keeps all requirements?
    planted: tuple[str, ...] = ()  # the values of its goals

    @property
    def rows(self) -> int:
        return len(self.columns[0].values)

    @property
    def groups(self) -> tuple[str, ...]:
        return next(column.values for column in self.columns if column.name == "g")

    def without_row(self, row: int) -> World:
        def less(values: Sequence[str]) -> tuple[str, ...]:
            return tuple(values[:row]) + tuple(values[row + 1 :])

        columns = tuple(replace(column, values=less(column.values)) for column in self.columns)
        costs = tuple((verb, said, less(values)) for verb, said, values in self.row_costs)
        target, weight, died = less(self.target), less(self.weight), less(self.died)
        return replace(
            self,
            columns=columns,
            target=target,
            weight=weight,
            died=died,
            row_costs=costs,
            has_planted=False,  # a leaf of it may lack the row
            planted=(),
        )

    def table(self) -> str:
        """The file, as comma-separated values."""
        columns = [(column.name, column.values) for column in self.columns]
        columns += [("y", self.target)] if self.target else []
        columns += [("w", self.weight)] if self.weight else []
        columns += [("died", self.died)] if self.died else []
        columns += [(f"cost_{said}", values) for _, said, values in self.row_costs]
        lines = [",".join(name for name, _ in columns)]
        lines += [",".join(cells) for cells in zip(*(values for _, values in columns), strict=True)]
        return "\n".join(lines) + "\n"

    def text(self) -> str:
        """The specification, without its data and without `solve`."""
        lines = []
        if self.task != CLUSTERS:
            observed = " observed died" if self.task == SURVIVAL else ""
            lines.append('predict y is "p"' if self.task == CLASSES else f"predict y{observed}")
        lines.append("features " + ", ".join(column.name for column in self.columns if column.name != "g"))
        for column in self.columns:
            kept = f", missing {column.missing}" if column.missing else ""
            lines.append(f"column {column.name} : {column.kind}{kept}")
            lines += [f"binarize {column.name} {column.rule}"] if column.rule else []
        lines += [f"leaves linear({', '.join(self.lines)}, ridge = {self.ridge})"] if self.lines else []
        lines += ["weight by w"] if self.weight else []
        lines += [f'weight class "{name}" = {weight}' for name, weight in self.class_weights]
        lines += [f'cost predict "{said}" when "{true}" = {cost}' for said, true, cost in self.mistake_costs]
        lines += [f'{verb} predict "{said}" by column cost_{said}' for verb, said, _ in self.row_costs]
        lines += [f"cost test {name} = {cost}" for name, cost in self.test_costs]
        lines += [f"cost test {name} after {before} = {cost}" for name, before, cost in self.test_discounts]
        lines += [f"ensemble by {self.forest}"] if self.forest else []
        wanted = [f"{goal.sense} {goal.what}" for goal in self.goals]
        lines.append("\nthen ".join(wanted) if wanted else "satisfy")
        lines += [f"require {requirement}" for requirement in self.requirements]
        return "\n".join(lines) + "\n"
