"""A generator of random numbers -> a table and a specification that asks for a tree of it within some seconds.

Tables are of many shapes, and most kinds of columns that files have; specifications ask for goals and requirements of
every sort. `benchmarks.stopped` runs such cases, and judges what comes of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl

PLAIN = ("decimals", "integers", "binary", "categories")
ODD = ("levels", "dates", "names", "constant", "ties", "truths")
KINDS = (*PLAIN, "mixed", "odd")
MOST_CELLS = 12_000_000
CLASSES = "pqrstuvwabcdefghijkl"
LIMITS = (0.5, 1.0, 2.0, 5.0, 20.0)


@dataclass
class Case:
    """What is asked for; `senses` has 1 for every goal to minimize and -1 for every goal to maximize."""

    frame: pl.DataFrame
    kind: str
    lines: list[str]
    senses: list[int]
    depth: int | None
    within: float
    is_file: bool
    ending: str = "csv"

    def text(self, depth: int | None, backend: str = "") -> str:
        limit = [] if depth is None else [f"require depth <= {depth}"]
        return "\n".join([*self.lines, *limit, *([f"solve with {backend}"] if backend else [])]) + "\n"

    @property
    def title(self) -> str:
        way = f"file.{self.ending}" if self.is_file else "call"
        hidden = ("predict y", "column ", "features")
        asked = "; ".join(line for line in self.text(self.depth).splitlines() if not line.startswith(hidden))
        return f"{self.frame.height} x {self.frame.width - 1} {self.kind}, {self.within:g} s, {way}: {asked}"


@dataclass
class _Asked:
    """Goals and the further lines that they need."""

    goals: list[str]
    more: list[str]
    needs_depth: bool = True


def drawn(draw: np.random.Generator) -> Case:
    """A case; the same generator draws the same one."""
    rows = int(10 ** draw.choice([draw.uniform(2, 4), draw.uniform(2, 4), draw.uniform(4, 6)]))
    columns = int(min(2 ** draw.uniform(1, 9), max(2, MOST_CELLS // rows)))
    kind = str(draw.choice(KINDS))
    is_number = draw.random() < 0.25
    classes = 2 if draw.random() < 0.7 else int(draw.integers(3, len(CLASSES) + 1))
    frame = table(draw, rows, columns, kind, 0 if is_number else classes)
    lines = _missing(draw, frame) if kind in ("mixed", "odd") and draw.random() < 0.5 else []
    more, senses, needs_depth = asked(draw, frame, is_number)
    depth = int(draw.integers(1, 7)) if needs_depth or draw.random() < 0.6 else None
    within = float(draw.choice(LIMITS)) if draw.random() < 0.5 else round(float(10 ** draw.uniform(-0.7, 1.3)), 1)
    is_file, ending = draw.random() < 0.5, str(draw.choice(["csv", "parquet"]))
    if not any(line.startswith("predict") for line in more):
        is_binary = any("gap" in line or "monotone" in line for line in more)
        lines.append('predict y is "q"' if is_binary else "predict y")
    return Case(frame, kind, [*lines, *more], senses, depth, within, is_file, ending)


def table(draw: np.random.Generator, rows: int, columns: int, kind: str, classes: int) -> pl.DataFrame:
    """Columns of a kind, and a target that follows a few of them by a random tree, with noise; 0 classes: numbers."""
    values: dict[str, Any] = {}
    codes = []
    for number in range(columns):
        among = {"mixed": PLAIN, "odd": (*PLAIN, *ODD)}.get(kind, (kind,))
        own = str(draw.choice(among))
        code, shown = _column(draw, rows, own)
        codes.append(code)
        values[f"x{number}"] = shown
    target = _followed(draw, codes, rows, int(draw.integers(2, 6)))
    group = np.array(["f", "m"])[draw.integers(0, 2, rows)]
    y = _labels(draw, target, classes) if classes else _numbers(draw, target)
    died = draw.integers(0, 2, rows)
    return pl.DataFrame({**values, "g": group, "w": draw.integers(1, 5, rows), "died": died, "y": y})


def _column(draw: np.random.Generator, rows: int, kind: str) -> tuple[Any, Any]:
    """Numbers that a target can follow, and the values that stand for them in the table."""
    if kind == "decimals":
        values = np.round(draw.normal(size=rows), int(draw.choice([2, 4, 8])))
        return values, values
    if kind == "ties":  # nearly all rows are equal
        values = np.where(draw.random(rows) < 0.95, 0.0, np.round(draw.exponential(size=rows), 3))
        return values, values
    if kind == "dates":
        days = draw.integers(0, int(draw.choice([50, 5000])), rows)
        return days, [date(2010, 1, 1) + timedelta(days=int(each)) for each in days]
    if kind == "names":
        codes = draw.permutation(rows)
        return codes, [f"n{each}" for each in codes]
    if kind == "levels":
        codes = draw.integers(0, int(draw.choice([20, 100, 500])), rows)
        return codes, [f"level {each}" for each in codes]
    most = {"integers": int(draw.choice([5, 30, 1000])), "categories": int(draw.integers(2, 9)), "constant": 1}
    codes = draw.integers(0, most.get(kind, 2), rows)
    if kind == "categories":
        return codes, np.array(list("abcdefgh"))[codes]
    return codes, codes.astype(bool) if kind == "truths" else codes


def _followed(draw: np.random.Generator, codes: list[Any], rows: int, depth: int) -> Any:
    """A number per row, by a random tree."""
    place = np.zeros(rows, dtype=np.int64)
    for _ in range(depth):
        column = np.asarray(codes[int(draw.integers(len(codes)))], dtype=np.float64)
        place = 2 * place + (column > np.quantile(column, draw.uniform(0.2, 0.8)))
    return draw.integers(0, 40, 1 << depth)[place]


def _labels(draw: np.random.Generator, target: Any, classes: int) -> Any:
    label = (target % classes).astype(np.int64)
    noisy = draw.random(len(label)) < draw.choice([0.0, 0.05, 0.2, 0.4])
    label[noisy] = draw.integers(0, classes, int(noisy.sum()))
    if draw.random() < 0.3:  # most rows are of one class
        label[draw.random(len(label)) < draw.choice([0.8, 0.97])] = 0
    label[:classes] = np.arange(classes)
    return np.array(list(CLASSES))[label]


def _numbers(draw: np.random.Generator, target: Any) -> Any:
    y = target + draw.normal(size=len(target)) * draw.choice([0.1, 1.0, 10.0])
    if draw.random() < 0.3:  # outliers
        y = y + np.where(draw.random(len(y)) < 0.01, 1e4 * draw.exponential(size=len(y)), 0.0)
    return np.round(np.maximum(y, 0.0) + 0.001, 3)


def _missing(draw: np.random.Generator, frame: pl.DataFrame) -> list[str]:
    """Declarations of some columns, in which values are made missing."""
    lines = []
    for name in frame.columns:
        if not name.startswith("x") or draw.random() > 0.3:
            continue
        place = frame.get_column_index(name)
        gone = pl.Series(draw.random(frame.height) < 0.1)
        frame.replace_column(place, frame[name].to_frame().select(pl.when(~gone).then(pl.col(name)))[name])
        lines.append(f"column {name} : missing {draw.choice(['separate', 'drop' if len(lines) < 2 else 'separate'])}")
    return lines


def asked(draw: np.random.Generator, frame: pl.DataFrame, is_number: bool) -> tuple[list[str], list[int], bool]:
    """The lines of a specification but for the depth, the senses of its goals, and whether it needs a depth."""
    rows = frame.height
    chosen = _about_numbers(draw, frame) if is_number else _about_classes(draw)
    lines = [*chosen.more]
    if not any("cluster" in goal for goal in chosen.goals):
        lines.append("features all except w, died")
    if draw.random() < 0.2 and not any("survival" in goal or "margin" in goal for goal in chosen.goals):
        lines.append("weight by w")
    if draw.random() < 0.15:
        lines.append(f"binarize all by quantiles({int(draw.choice([2, 4, 16]))})")
    if draw.random() < 0.3:
        lines.append(f"require support >= {draw.choice(['2 rows', '10 rows', f'{max(2, rows // 50)} rows', '5%'])}")
    needs_depth = chosen.needs_depth
    if draw.random() < 0.3:
        lines.append(f"require leaves <= {int(draw.integers(2, 12))}")
        needs_depth = False
    if not is_number and draw.random() < 0.35:
        lines.append(_requirement(draw))
    senses = [1 if "minimize" in goal else -1 for goal in chosen.goals]
    return [*lines, *chosen.goals], senses, needs_depth


def _about_numbers(draw: np.random.Generator, frame: pl.DataFrame) -> _Asked:
    numbers = [each for each in frame.columns if each.startswith("x") and frame[each].dtype.is_numeric()]
    choices = [
        _Asked(["minimize squared_loss"], []),
        _Asked(["minimize absolute_loss"], []),
        _Asked(["minimize quantile_loss(0.8)"], []),
        _Asked(["maximize r2"], []),
        _Asked(["minimize squared_loss", "then minimize leaves"], []),
        _Asked([f"minimize mse + {draw.choice([0.01, 1.0])} * leaves"], [], needs_depth=False),
        _Asked(["minimize survival_loss"], ["predict y observed died"]),
        _Asked(["minimize squared_loss"], ["leaves simple_linear()"] if numbers else []),
        _Asked(["minimize squared_loss"], [f"leaves linear({numbers[0]}, ridge = 0.1)"] if numbers else []),
        _Asked(["minimize cluster_loss(y, w)"], ["features all except died"]),
        _Asked(["minimize mean_absolute_error"], []),
    ]
    return choices[int(draw.integers(len(choices)))]


def _about_classes(draw: np.random.Generator) -> _Asked:
    price, share = draw.choice([0.0005, 0.002, 0.01]), draw.choice([0.5, 0.6, 0.7, 0.9])
    choices = [
        _Asked(["minimize errors"], []),
        _Asked(["maximize accuracy"], []),
        _Asked(["maximize balanced_accuracy"], []),
        _Asked(["minimize mistake_cost"], ['cost predict "p" when "q" = 7', 'cost predict "q" when "p" = 2']),
        _Asked([f"minimize error_rate + {price} * leaves"], [], needs_depth=False),
        _Asked(["minimize errors", "then minimize leaves"], []),
        _Asked(["minimize leaves"], [f"require accuracy >= {share}"], needs_depth=False),
        _Asked(["minimize depth"], [f"require accuracy >= {share}"], needs_depth=False),
        _Asked(["minimize leaves", "then minimize errors"], [f"require accuracy >= {share}"], needs_depth=False),
        _Asked(["minimize depth", "then minimize leaves"], [f'require recall("q") >= {share}'], needs_depth=False),
        _Asked(['maximize f1("q")'], []),
        _Asked(['maximize precision("q")'], [f'require recall("q") >= {share}']),
        _Asked(['maximize recall("q")'], [f'require precision("q") >= {draw.choice([0.3, 0.5, 0.7])}']),
        _Asked(["minimize errors + 0.1 * test_cost"], ["cost test x0 = 2", "cost test x1 = 1"]),
        _Asked(["minimize parity_gap(g)"], [f"require accuracy >= {share}"]),
        _Asked(["minimize error_rate + 0.01 * features_used"], []),
        _Asked(["minimize gini"], []),
        _Asked(["minimize log_loss"], []),
        _Asked(["minimize errors", "then minimize depth"], []),
        _Asked(["minimize errors"], ["list 20 trees"]),
        _Asked(["maximize margin"], ["ensemble by lpboost(penalty = 0.05)"]),
    ]
    return choices[int(draw.integers(len(choices)))]


def _requirement(draw: np.random.Generator) -> str:
    return str(
        draw.choice(
            [
                f'require recall("q") >= {draw.choice([0.3, 0.6, 0.9])}',
                f'require precision("q") >= {draw.choice([0.3, 0.6])}',
                f'require specificity("q") >= {draw.choice([0.5, 0.8])}',
                'require rate(predicted = "q" given g = "f") - rate(predicted = "q" given g = "m") <= 0.05',
                "require odds_gap(g) <= 10%",
                f"require accuracy >= {draw.choice([0.5, 0.7])}",
                f"require features_used <= {int(draw.integers(2, 5))}",
                f"require purity >= {draw.choice([0.5, 0.6])}",
                "require monotone(x0, increasing)",
                "require uses(x0)",
            ]
        )
    )
