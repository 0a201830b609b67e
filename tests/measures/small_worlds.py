"""Random small data, specs and trees, for the tests of measures, trees and verification."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from treeml.data.bind import bind
from treeml.data.table import Column, Dataset, Table
from treeml.lang.spec import Binarization, CheckedGoal, ColumnSpec, Condition, Linear, Spec, Use
from treeml.measures.lower_dataset import Lowered, lower
from treeml.problem.evaluate import answers
from treeml.problem.tree import Leaf, Node, Split

CLASSES = ("no", "perhaps", "yes")
GROUPS = ("F", "M", "X")
SIZES = ("large", "medium", "small")

ONE = Fraction(1)
NAMED_YES = Use("count", ((Condition("predicted", "=", "yes", False),), ()))
RIGHT_YES = Use("count", ((Condition("actual", "=", "yes", False), Condition("predicted", "=", "yes", False)), ()))

CLASS_USES = (
    Use("depth"),
    Use("leaves"),
    Use("splits"),
    Use("support"),
    Use("errors"),
    Use("error_rate"),
    Use("accuracy"),
    Use("balanced_accuracy"),
    Use("recall", ("yes",)),
    Use("precision", ("yes",)),
    Use("specificity", ("yes",)),
    Use("npv", ("yes",)),
    Use("f1", ("yes",)),
    Use("fbeta", ("yes", Fraction(2))),
    Use("fbeta", ("yes", Fraction("0.3"))),
    Use("jaccard", ("yes",)),
    Use("count", ((Condition("actual", "=", "yes", False),), ())),
    Use("mcc", ("yes",)),
    Use("gmean"),
    Use("count", ((Condition("predicted", "=", "yes", False), Condition("age", "<=", Fraction(2))), ())),
    Use("count", ((Condition("actual", "=", "no", False), Condition("predicted", "=", "yes", False)), ())),
    Use("rate", ((Condition("predicted", "=", "yes", False),), (Condition("sex", "=", "F"),))),
    Use("rate", ((Condition("predicted", "=", "no", False),), (Condition("score", ">", Fraction("1.5")),))),
    Use("rate", ((Condition("predicted", "=", "yes", False),), ())),
    Use("rate", ((Condition("actual", "=", "yes", False),), (Condition("predicted", "=", "yes", False),))),
    Use(
        "rate",
        (
            (Condition("actual", "=", "yes", False), Condition("age", ">=", Fraction(1))),
            (Condition("predicted", "=", "yes", False), Condition("sex", "=", "M")),
        ),
    ),
    Use("ratio", (Linear(((ONE, RIGHT_YES),)), Linear(((ONE, NAMED_YES),)))),
    Use(
        "ratio",
        (
            Linear(((ONE, Use("errors")), (Fraction(-1, 2), NAMED_YES)), ONE),
            Linear(((ONE, NAMED_YES), (Fraction(2), Use("accuracy"))), Fraction(3)),
        ),
    ),
    Use("parity_gap", ("sex",)),
    Use("opportunity_gap", ("sex",)),
    Use("predictive_gap", ("sex",)),
    Use("odds_gap", ("sex",)),
    Use("parity_gap", ("age",)),
    Use("mistake_cost"),
    Use("gain"),
    Use("test_cost"),
    Use("purity"),
    Use("leaf_errors"),
    Use("leaf_weight"),
    Use("features_used"),
    Use("uses", ("age",)),
    Use("uses", ("sex",)),
    Use("monotone", ("age", "increasing")),
    Use("monotone", ("score", "decreasing")),
    Use("monotone", ("member", "increasing")),
    Use("monotone", ("size", "increasing")),
)
NUMBER_USES = (
    Use("squared_loss"),
    Use("absolute_loss"),
    Use("mse"),
    Use("mean_absolute_error"),
    Use("r2"),
    Use("quantile_loss", (Fraction("0.9"),)),
    Use("quantile_loss", (Fraction("0.25"),)),
)
CLUSTER_USES = (
    Use("cluster_loss", (("score", "age"), "squared")),
    Use("cluster_loss", (("score", "age"), "absolute")),
    Use("cluster_loss", (("age",), "squared")),
)


@dataclass(frozen=True, eq=False)
class World:
    dataset: Dataset
    lowered: Lowered
    node: Node


def single(use: Use, sense: str = "minimize") -> CheckedGoal:
    return CheckedGoal(sense, Linear(((Fraction(1), use),)), use.measure)


@st.composite
def tables(draw: Any, most: int = 10) -> Table:
    """Columns of every type, some of them with gaps."""
    rows = draw(st.integers(1, most))

    def codes(levels: int) -> np.ndarray[Any, Any]:
        return np.array(draw(st.lists(st.integers(0, levels - 1), min_size=rows, max_size=rows)), dtype=np.int32)

    score = codes(5) * 0.75
    gaps = codes(4) == 3 if draw(st.booleans()) else np.zeros(rows, dtype=bool)
    gaps[0] = False
    score = np.where(gaps, np.nan, score)
    sizes = codes(3)
    size_gaps = codes(4) == 3 if draw(st.booleans()) else np.zeros(rows, dtype=bool)
    sizes = np.where(size_gaps, -1, sizes).astype(np.int32)
    pay = codes(4) * 0.5
    pay[0] = 1.5
    columns = (
        Column("age", "integer", codes(4).astype(np.float64)),
        Column("score", "number", score, (), gaps if gaps.any() else None),
        Column("sex", "category", codes(3), GROUPS),
        Column("size", "ordered", sizes, SIZES, size_gaps if size_gaps.any() else None),
        Column("member", "binary", codes(2), (False, True)),
        Column("pay", "number", pay),
        Column("minutes", "number", (codes(9) - 3) / 10),
        Column("class", "category", codes(draw(st.integers(1, 3))), CLASSES),
    )
    return Table({column.name: column for column in columns}, rows, "small.csv")


@st.composite
def nodes(draw: Any, lowered: Lowered, depth: int = 3) -> Node:
    """A tree over the tests of a problem, each of whose leaves has rows."""
    problem = lowered.problem

    def grow(rows: np.ndarray[Any, Any], left: int) -> Node:
        useful = []
        if left and draw(st.integers(0, 3)):
            for test in range(len(problem.tests)):
                yes = answers(problem, test, rows)
                if yes.any() and not yes.all():
                    useful.append((test, yes))
        if not useful:
            return Leaf(draw(st.integers(0, problem.classes - 1)) if problem.classes else -1)
        test, yes = draw(st.sampled_from(useful))
        return Split(test, grow(rows[yes], left - 1), grow(rows[~yes], left - 1))

    return grow(np.arange(problem.rows), depth)


@st.composite
def worlds(draw: Any, task: str = "classes", use: Use | None = None, **more: Any) -> World:
    """Data bound to a spec that asks for one measure, and a tree over them."""
    table = draw(tables())
    first = use or {"classes": Use("errors"), "numbers": Use("squared_loss"), "clusters": CLUSTER_USES[0]}[task]
    weighted = draw(st.booleans())
    more.setdefault("goals", (single(first),))
    spec = Spec(
        target={"classes": "class", "numbers": "minutes", "clusters": None}[task],
        features=("age", "score", "sex", "size", "member"),
        positive=_positive(table) if task == "classes" else None,
        columns={
            "score": ColumnSpec("number", missing="drop" if task == "clusters" else "separate"),
            "size": ColumnSpec("ordered", missing="separate"),
        },
        weight_column="pay" if weighted else None,
        test_costs={"age": Fraction("1.5"), "sex": Fraction(2)},
        mistake_costs=_mistake_costs(table) if task == "classes" else {},
        binarizations=(Binarization("sex", draw(st.sampled_from(["levels", "subsets"]))),),
        **more,
    )
    dataset = bind(spec, table)
    lowered = lower(dataset)
    return World(dataset, lowered, draw(nodes(lowered)))


def present_classes(table: Table) -> list[str]:
    return [CLASSES[code] for code in sorted(set(table.columns["class"].values.tolist()))]


def _positive(table: Table) -> str:
    return present_classes(table)[-1]


def _mistake_costs(table: Table) -> dict[tuple[str, str], Fraction]:
    present = present_classes(table)
    return {(present[0], present[-1]): Fraction("2.5")} if len(present) > 1 else {}
