"""A random generator -> whole specifications with their rows, of every goal, requirement and magnitude."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

from treeml.testing.truth import some_values
from treeml.testing.worlds import (
    CLASSES,
    CLUSTERS,
    LINES,
    NUMBERS,
    SURVIVAL,
    Required,
    Wanted,
    Weighted,
    World,
    WorldColumn,
    WorldMeasure,
)

# -- goals and requirements -----------------------------------------------------------------------------

Parts = Sequence[tuple[str, WorldMeasure]]


def _one(name: str, *arguments: str) -> tuple[tuple[str, WorldMeasure], ...]:
    return (("1", WorldMeasure(name, arguments)),)


ERRORS, LEAVES, SPLITS, DEPTH = _one("errors"), _one("leaves"), _one("splits"), _one("depth")
POSITIVE = '"p"'
PREDICTED = (("predicted", "p"),)
# Rows that are predicted right count above and not below.
HITS = ('count(predicted = "p", actual = "p")', 'errors + count(actual = "q")')
SIZE_GOALS: dict[str, tuple[tuple[str, Parts], ...]] = {
    "leaves": (("minimize", LEAVES),),
    "splits": (("minimize", SPLITS),),
    "depth": (("minimize", DEPTH),),
    "features used": (("minimize", _one("features_used")),),
    "test cost": (("minimize", _one("test_cost")),),
    "satisfy": (),
}
CLASS_GOALS: dict[str, tuple[tuple[str, Parts], ...]] = {
    **SIZE_GOALS,
    "errors": (("minimize", ERRORS),),
    "error rate": (("minimize", _one("error_rate")),),
    "accuracy": (("maximize", _one("accuracy")),),
    "balanced accuracy": (("maximize", _one("balanced_accuracy")),),
    "recall": (("maximize", _one("recall", POSITIVE)),),
    "specificity": (("maximize", _one("specificity", POSITIVE)),),
    "precision": (("maximize", _one("precision", POSITIVE)),),
    "npv": (("maximize", _one("npv", POSITIVE)),),
    "f1": (("maximize", _one("f1", POSITIVE)),),
    "fbeta": (("maximize", _one("fbeta", POSITIVE, "2")),),
    "jaccard": (("maximize", _one("jaccard", POSITIVE)),),
    "hits": (("maximize", _one("ratio", *HITS)),),
    "hits, price": (("maximize", (*_one("ratio", *HITS), ("-0.02", WorldMeasure("leaves")))),),
    "mcc": (("maximize", _one("mcc", POSITIVE)),),
    "gmean": (("maximize", _one("gmean")),),
    "gmean then leaves": (("maximize", _one("gmean")), ("minimize", LEAVES)),
    "mcc then leaves": (("maximize", _one("mcc", POSITIVE)), ("minimize", LEAVES)),
    "least precision": (("minimize", _one("precision", POSITIVE)),),
    "f1 then leaves": (("maximize", _one("f1", POSITIVE)), ("minimize", LEAVES)),
    "precision then errors": (("maximize", _one("precision", POSITIVE)), ("minimize", ERRORS)),
    "gini": (("minimize", _one("gini")),),
    "gini, price": (("minimize", (*_one("gini"), ("PRICE", WorldMeasure("leaves")))),),
    "log loss": (("minimize", _one("log_loss")),),
    "mistake cost": (("minimize", _one("mistake_cost")),),
    "count": (("maximize", (("1", WorldMeasure("count", (), PREDICTED, (("actual", "q"),))),)),),
    "rate": (("minimize", (("1", WorldMeasure("rate", (), PREDICTED, (("g", "a"),))),)),),
    "parity gap": (("minimize", _one("parity_gap", "g")),),
    "opportunity gap": (("minimize", _one("opportunity_gap", "g")),),
    "predictive gap": (("minimize", _one("predictive_gap", "g")),),
    "odds gap": (("minimize", _one("odds_gap", "g")),),
    "errors, price": (("minimize", (*ERRORS, ("PRICE", WorldMeasure("leaves")))),),
    "error rate, price": (("minimize", (*_one("error_rate"), ("PRICE", WorldMeasure("splits")))),),
    "errors, test cost": (("minimize", (*ERRORS, ("PRICE", WorldMeasure("test_cost")))),),
    "gain": (("maximize", _one("gain")),),
    "mistake and test cost": (("minimize", (*_one("mistake_cost"), *_one("test_cost"))),),
    "errors, depth": (("minimize", (*ERRORS, ("PRICE", WorldMeasure("depth")))),),
    "errors, features": (("minimize", (*ERRORS, ("PRICE", WorldMeasure("features_used")))),),
    "accuracy less gap": (("maximize", (*_one("accuracy"), ("-0.3", WorldMeasure("parity_gap", ("g",))))),),
    "errors then leaves": (("minimize", ERRORS), ("minimize", LEAVES)),
    "leaves then errors": (("minimize", LEAVES), ("minimize", ERRORS)),
    "accuracy then depth": (("maximize", _one("accuracy")), ("minimize", DEPTH)),
    "recall then test cost": (("maximize", _one("recall", POSITIVE)), ("minimize", _one("test_cost"))),
    "gap then errors then leaves": (("minimize", _one("parity_gap", "g")), ("minimize", ERRORS), ("minimize", LEAVES)),
}


def _loss_goals(losses: dict[str, Parts]) -> dict[str, tuple[tuple[str, Parts], ...]]:
    goals = dict(SIZE_GOALS)
    for name, parts in losses.items():
        goals[name] = (("minimize", parts),)
        goals[f"{name}, price"] = (("minimize", (*parts, ("PRICE", WorldMeasure("leaves")))),)
        goals[f"{name}, test cost"] = (("minimize", (*parts, ("PRICE", WorldMeasure("test_cost")))),)
        goals[f"{name}, depth"] = (("minimize", (*parts, ("PRICE", WorldMeasure("depth")))),)
        goals[f"{name} then leaves"] = (("minimize", parts), ("minimize", LEAVES))
    return goals


NUMBER_LOSSES: dict[str, Parts] = {
    "squared loss": _one("squared_loss"),
    "absolute loss": _one("absolute_loss"),
    "mean squared error": _one("mse"),
    "mean absolute error": _one("mean_absolute_error"),
    "quantile loss": _one("quantile_loss", "0.3"),
}
CLUSTER_LOSSES: dict[str, Parts] = {
    "cluster loss": _one("cluster_loss", "c0", "c1"),
    "cluster loss, absolute": _one("cluster_loss", "c0", "c1", "absolute"),
}
GOALS = {
    CLASSES: CLASS_GOALS,
    NUMBERS: _loss_goals(NUMBER_LOSSES),
    CLUSTERS: _loss_goals(CLUSTER_LOSSES),
    SURVIVAL: _loss_goals({"survival loss": _one("survival_loss")}),
    LINES: _loss_goals({"squared loss": _one("squared_loss")}),
}
for _task in (SURVIVAL, LINES):  # values in floating point have no exact ties that a later goal could break
    GOALS[_task] = {name: goals for name, goals in GOALS[_task].items() if len(goals) == 1}

# Kind of requirement -> its possible senses, and its sum. The limit is drawn near the value of some tree.
Kind = tuple[tuple[str, ...], Parts]
SIZE_REQUIREMENTS: dict[str, Kind] = {
    "depth": (("<=",), DEPTH),
    "absurd depth": (("<=",), DEPTH),
    "depth from below": ((">=",), DEPTH),
    "leaves": (("<=", ">=", "="), LEAVES),
    "splits": (("<=",), SPLITS),
    "support": ((">=",), _one("support")),
    "support, a share": ((">=",), _one("support")),
    "test cost": (("<=",), _one("test_cost")),
    "features used": (("<=", ">=", "="), _one("features_used")),
    "uses": ((), _one("uses", "c0")),
    "a sum of sizes": (("<=",), (*LEAVES, ("1.5", WorldMeasure("depth")))),
}
CLASS_REQUIREMENTS: dict[str, Kind] = {
    **SIZE_REQUIREMENTS,
    "errors": (("<=", ">="), ERRORS),
    "errors, exactly": (("=",), ERRORS),
    "error rate": (("<=",), _one("error_rate")),
    "accuracy": ((">=",), _one("accuracy")),
    "balanced accuracy": ((">=",), _one("balanced_accuracy")),
    "recall": ((">=",), _one("recall", POSITIVE)),
    "specificity": ((">=",), _one("specificity", POSITIVE)),
    "precision": ((">=", "<="), _one("precision", POSITIVE)),
    "npv": ((">=", "<="), _one("npv", POSITIVE)),
    "f1": ((">=", "<="), _one("f1", POSITIVE)),
    "fbeta": ((">=", "<="), _one("fbeta", POSITIVE, "0.5")),
    "jaccard": ((">=", "<="), _one("jaccard", POSITIVE)),
    "hits": ((">=", "<="), _one("ratio", *HITS)),
    "mcc": ((">=", "<="), _one("mcc", POSITIVE)),
    "gmean": ((">=", "<="), _one("gmean")),
    "mistake cost": (("<=",), _one("mistake_cost")),
    "gain": ((">=", "<="), _one("gain")),
    "count": (("<=", ">="), (("1", WorldMeasure("count", (), PREDICTED, (("actual", "q"),))),)),
    "rate": (("<=", ">="), (("1", WorldMeasure("rate", (), PREDICTED, (("g", "a"),))),)),
    "a difference of rates": (
        ("<=",),
        (
            ("1", WorldMeasure("rate", (), PREDICTED, (("g", "a"),))),
            ("-1", WorldMeasure("rate", (), PREDICTED, (("g", "b"),))),
        ),
    ),
    "parity gap": (("<=",), _one("parity_gap", "g")),
    "parity gap from below": ((">=",), _one("parity_gap", "g")),
    "opportunity gap": (("<=",), _one("opportunity_gap", "g")),
    "predictive gap": (("<=",), _one("predictive_gap", "g")),
    "odds gap": (("<=",), _one("odds_gap", "g")),
    "purity": ((">=",), _one("purity")),
    "leaf errors": (("<=",), _one("leaf_errors")),
    "leaf weight": ((">=",), _one("leaf_weight")),
    "monotone": ((), _one("monotone", "c0", "increasing")),
    "monotone, falling": ((), _one("monotone", "c0", "decreasing")),
    "errors and leaves": (("<=",), (*ERRORS, ("0.5", WorldMeasure("leaves")))),
}
REQUIREMENTS = {
    CLASSES: CLASS_REQUIREMENTS,
    NUMBERS: {**SIZE_REQUIREMENTS, **{name: (("<=",), parts) for name, parts in NUMBER_LOSSES.items()}},
    CLUSTERS: {**SIZE_REQUIREMENTS, **{name: (("<=",), parts) for name, parts in CLUSTER_LOSSES.items()}},
    SURVIVAL: SIZE_REQUIREMENTS,
    LINES: SIZE_REQUIREMENTS,
}
CELLS: tuple[tuple[str, str, str], ...] = tuple(
    (task, goal, requirement)
    for task in GOALS
    for goal in GOALS[task]
    for requirement in REQUIREMENTS[task]
    # Clustering has its loss as the only goal; sizes alone say nothing about times and linear models.
    if task in (CLASSES, NUMBERS) or "loss" in goal or "loss" in requirement
)


# -- random worlds ----------------------------------------------------------------------------------


def random_world(random: Random, task: str, goal: str, requirement: str) -> World:
    """A world small enough that every tree can be examined."""
    rows = random.choice((1, 2, 3, 4, 5, 5, 6, 6, 7, 8, 9))
    world = World(
        task, _columns(random, rows, task), _target(random, rows, task), cell=(f"{task}: {goal}", requirement)
    )
    if task == SURVIVAL:
        world = replace(world, died=tuple(random.choice("0111") for _ in range(rows)))
    if task == LINES:
        world = replace(world, lines=("c0",), ridge=random.choice(("0", "0.1", "2")))
    if random.random() < 0.5 and task not in (CLUSTERS, SURVIVAL):
        world = replace(world, weight=_numbers(random, rows, positive=True))
    if task == CLASSES and random.random() < 0.2:
        world = replace(world, class_weights=(("p", number(random, positive=True)),))
    return asking(random, world, task, goal, requirement)


def asking(random: Random, world: World, task: str, goal: str, requirement: str) -> World:
    """The world with a goal, the requirement, a depth limit that keeps it small, and perhaps another requirement."""
    wanted = tuple(Wanted(sense, Weighted(_priced(random, parts))) for sense, parts in GOALS[task][goal])
    kinds = [requirement]
    if random.random() < 0.4:
        kinds.append(random.choice(list(REQUIREMENTS[task])))
    if requirement == "purity" and random.random() < 0.3:
        kinds.append("purity")
    used = " ".join(str(each.what) for each in wanted) + " ".join(kinds)
    if "test cost" in used or "test_cost" in used:
        tested = [column.name for column in world.columns if column.name != "g"]
        world = replace(world, test_costs=tuple((name, number(random, positive=True)) for name in tested))
        if random.random() < 0.4:
            world = replace(world, test_discounts=_discounts(random, world))
    if "gain" in used or ("mistake" in used and random.random() < 0.4):
        verb, said = random.choice(("cost", "gain")), random.choice((("p",), ("q",), ("p", "q")))
        numbers = [(random.choice((verb, "gain")), name, _signed(random, world.rows)) for name in said]
        world = replace(world, row_costs=tuple(numbers))
    elif "mistake" in used:
        costs = (("p", "q", number(random, positive=True)), ("q", "p", number(random, positive=True)))
        world = replace(world, mistake_costs=costs)
    requirements = []
    if random.random() < 0.9 and not any("depth" in kind for kind in kinds):
        requirements.append(Required(Weighted(DEPTH), "<=", str(random.choice((1, 2, 2, 3)))))
    for kind in dict.fromkeys(kinds) if kinds.count("purity") < 2 else kinds:
        senses, parts = REQUIREMENTS[task][kind]
        what = Weighted(tuple(parts))
        sense = random.choice(senses) if senses else ""
        values = some_values(random, world, what) if sense else ()
        requirements.append(_required(random, kind, what, sense, values, world.rows))
    return replace(world, goals=wanted, requirements=tuple(dict.fromkeys(requirements)))


def _discounts(random: Random, world: World) -> tuple[tuple[str, str, str], ...]:
    """Some columns that cost nothing, half or all of their price after another one."""
    pairs = [(name, before) for name, _ in world.test_costs for before, _ in world.test_costs if name != before]
    full = dict(world.test_costs)
    chosen = random.sample(pairs, min(len(pairs), random.randint(1, 3)))
    return tuple(
        (name, before, decimal(Fraction(full[name]) * random.choice((0, 0, 1, 2)) / 2, 40)) for name, before in chosen
    )


def _signed(random: Random, rows: int) -> tuple[str, ...]:
    return tuple(random.choice(("", "-")) + text for text in _numbers(random, rows, positive=True))


def _required(random: Random, kind: str, what: Weighted, sense: str, values: Sequence[Fraction], rows: int) -> Required:
    if not sense:
        return Required(what)
    if kind == "absurd depth":
        return Required(what, sense, random.choice(("12", "30", "1000", str(2**31), str(2**63), str(10**30))))
    value = random.choice(list(values) or [Fraction(random.randint(0, 3))])
    if kind == "support, a share":
        return Required(what, sense, decimal(value * 100 / rows, random.choice((0, 3))), "%")
    if kind in ("depth", "depth from below", "leaves", "splits", "features used"):
        return Required(what, sense, str(int(value)))
    if kind == "support":
        return Required(what, sense, str(max(1, int(value))), " rows")
    if random.random() < 0.1:
        return Required(what, sense, random.choice((str(2**63), str(10**20), "1e-9", "0.0000000000000001")))
    return Required(what, sense, near(random, value))


def near(random: Random, value: Fraction) -> str:
    """The value as text if that is possible, or a number of 16 digits just below or just above it."""
    if value.denominator == 1 and random.random() < 0.5:
        return str(value.numerator)
    digits = random.choice((2, 6, 15, 16, 17))
    step = Fraction(random.choice((0, 0, 1, -1)), 10**digits)
    return decimal(max(Fraction(0), value + step), digits)


def decimal(value: Fraction, digits: int) -> str:
    """The value with this many digits after the point, truncated; never negative."""
    whole = int(value * 10**digits)
    text = f"{whole // 10**digits}.{whole % 10**digits:0{digits}d}" if digits else str(whole)
    return text.rstrip("0").rstrip(".") if "." in text else text


SMALL = ("1", "2", "3", "5")
SHAPES = {
    "small": SMALL,
    "decimals": ("0.1", "0.25", "0.7", "1.3", "2.05"),
    "floats": ("0.6666666666666666", "0.1428571428571428", "0.30000000000000004", "1.4142135623730951"),
    "thirds": ("0.3333333333333333", "0.6666666666666667", "1"),
    "tiny": ("0.000000001", "0.000000002", "0.000000003"),
    "huge": ("1000000000000000", "999999999999999", "1000000000000001"),
    "mixed": ("0.000000001", "1", "1000000000", "0.5"),
    "outlier": ("1", "2", "3", "6", "1000000"),
    "digits": ("0.1234567890123456", "12345.678901234567", "0.3333333333333333", "1000000000"),  # these are rounded
}


def number(random: Random, positive: bool = False) -> str:
    """One number of any magnitude."""
    text = random.choice(SHAPES[random.choice(list(SHAPES))])
    return text if positive or random.random() < 0.8 else f"-{text}"


def _numbers(random: Random, rows: int, positive: bool = False) -> tuple[str, ...]:
    """Numbers of one shape, as in a column."""
    shape = SHAPES[random.choice(list(SHAPES))]
    found = [random.choice(shape) for _ in range(rows)]
    if not positive and random.random() < 0.3:
        found = [f"-{text}" if random.random() < 0.5 else text for text in found]
    return tuple(found)


def _priced(random: Random, parts: Parts) -> tuple[tuple[str, WorldMeasure], ...]:
    prices = ("0.1", "0.5", "1", "2", "0.01714285714285714", "0.3333333333333333", "1e-9", "1000000", "1e15")
    return tuple((random.choice(prices) if factor == "PRICE" else factor, use) for factor, use in parts)


def _columns(random: Random, rows: int, task: str) -> tuple[WorldColumn, ...]:
    made = []
    for place in range(2 if task == CLUSTERS else random.choice((1, 2, 2, 3))):
        name = f"c{place}"
        kind = "number" if place == 0 or task == CLUSTERS else random.choice(("number", "number", "category"))
        if place and task != CLUSTERS and random.random() < 0.15:
            made.append(_date_column(random, name, rows))
            continue
        if not place and task == LINES:  # floats that differ in their last digits have no digits left for a slope
            shape = SHAPES[random.choice(("small", "decimals", "outlier"))]
            made.append(WorldColumn(name, "number", tuple(random.choice(shape) for _ in range(rows))))
            continue
        column = _category(random, name, rows) if kind == "category" else _number_column(random, name, rows)
        # Distances to a missing value are undefined.
        made.append(_number_column(random, name, rows, whole=True) if task == CLUSTERS and column.missing else column)
    group = tuple(random.choice(("a", "b")) if row > 1 else "ab"[row] for row in range(rows))
    return (*made, WorldColumn("g", "category", group)) if task == CLASSES else tuple(made)


def _category(random: Random, name: str, rows: int) -> WorldColumn:
    values = tuple(random.choice("uvx") for _ in range(rows))
    return WorldColumn(name, "category", values, random.choice(("by levels", "by subsets")))


def _date_column(random: Random, name: str, rows: int) -> WorldColumn:
    values = tuple(f"20{random.choice('012')}{random.randint(0, 9)}-0{random.randint(1, 9)}-15" for _ in range(rows))
    return WorldColumn(name, "date", values, random.choice(("", "by thresholds")))


def _number_column(random: Random, name: str, rows: int, whole: bool = False) -> WorldColumn:
    if random.random() < 0.5:
        return WorldColumn(name, "number", tuple(random.choice(("0", "1")) for _ in range(rows)))
    values = list(_numbers(random, rows))
    missing = ""
    if random.random() < 0.15 and rows > 1 and not whole:
        values[random.randrange(1, rows)] = ""
        missing = random.choice(("separate", "separate", "drop", "median"))
    rule = random.choice(("", "", "by thresholds", "at 1.5", "by quantiles(3)", "by width(3)"))
    return WorldColumn(name, "number", tuple(values), rule, missing)


def _target(random: Random, rows: int, task: str) -> tuple[str, ...]:
    if task == CLUSTERS:
        return ()
    if task == SURVIVAL:
        return _numbers(random, rows, positive=True)
    if task == LINES:  # in floating point, huge and tiny numbers beside each other have no digits left
        return tuple(random.choice(SHAPES[random.choice(("small", "decimals"))]) for _ in range(rows))
    if task == NUMBERS:
        return _numbers(random, rows)
    names = random.choice(("pq", "pq", "pqr"))
    found = [random.choice(names) for _ in range(rows)]
    found[0] = "p"
    if rows > 1:
        found[1] = "q"
    return tuple(found)


# -- larger worlds, which no back-end finishes ------------------------------------------------------------

LARGE: tuple[tuple[str, tuple[tuple[str, Parts], ...], tuple[Required, ...]], ...] = (
    (CLASSES, CLASS_GOALS["errors"], ()),
    (CLASSES, CLASS_GOALS["specificity"], (Required(Weighted(_one("recall", POSITIVE)), ">=", "0.95"),)),
    (CLASSES, CLASS_GOALS["recall"], (Required(Weighted(_one("precision", POSITIVE)), ">=", "0.85"),)),
    (CLASSES, CLASS_GOALS["errors"], (Required(Weighted(_one("parity_gap", "g")), "<=", "0.02"),)),
    (CLASSES, CLASS_GOALS["leaves"], (Required(Weighted(_one("accuracy")), ">=", "0.8"),)),
    (CLASSES, CLASS_GOALS["errors, test cost"], ()),
    (CLASSES, CLASS_GOALS["errors then leaves"], (Required(Weighted(_one("support")), ">=", "20", " rows"),)),
    (CLASSES, CLASS_GOALS["accuracy"], (Required(Weighted(_one("purity")), ">=", "0.6666666666666666"),)),
    (NUMBERS, GOALS[NUMBERS]["squared loss"], ()),
    (NUMBERS, GOALS[NUMBERS]["absolute loss"], (Required(Weighted(LEAVES), "<=", "6"),)),
    (NUMBERS, GOALS[NUMBERS]["squared loss, price"], ()),
)


def large_world(random: Random, number_of_rows: int | None = None) -> World:
    """Hundreds of rows, for which a proof takes minutes; with several short limits, no claims may contradict."""
    place = random.randrange(len(LARGE))
    task, goals, required = LARGE[place]
    rows = number_of_rows or random.choice((120, 500, 1000, 2000))
    hidden = [[random.random() for _ in range(rows)] for _ in range(6)]
    # The tests are given explicitly: otherwise back-ends that take numeric columns directly would have more tests.
    rule, digits = random.choice((("by thresholds", 1), ("by thresholds", 2), ("by quantiles(8)", 3)))
    columns = [
        WorldColumn(f"c{n}", "number", tuple(f"{value:.{digits}f}" for value in values), rule)
        for n, values in enumerate(hidden)
    ]
    group = tuple(random.choice("ab") for _ in range(rows))
    score = [hidden[0][row] - hidden[1][row] + 0.5 * (group[row] == "a") + random.gauss(0, 0.4) for row in range(rows)]
    if task == CLASSES:
        columns.append(WorldColumn("g", "category", group))
        target = tuple("p" if value > 0.3 else "q" for value in score)
    else:
        target = tuple(f"{100 * value:.1f}" for value in score)
    wanted = tuple(Wanted(sense, Weighted(_priced(random, parts))) for sense, parts in goals)
    costs = tuple((f"c{n}", str(n + 1)) for n in range(6)) if "test_cost" in str(wanted) else ()
    depth = Required(Weighted(DEPTH), "<=", str(random.choice((2, 3, 3, 4))))
    world = World(task, tuple(columns), target, goals=wanted, requirements=(depth, *required), test_costs=costs)
    return replace(world, cell=("large", str(place)), is_large=True)


def forest_world(random: Random) -> World:
    """A forest of small trees; there is no oracle for it, so back-ends are compared with each other."""
    rows = random.choice((6, 10, 20))
    columns = tuple(WorldColumn(f"c{n}", "number", tuple(random.choice("01") for _ in range(rows))) for n in range(3))
    target = tuple("pq"[row] if row < 2 else random.choice("pq") for row in range(rows))
    kind = random.choice(("lpboost(penalty = 0.2)", "lpboost(penalty = 0.1)", "hardmargin", "mdboost(penalty = 2)"))
    wanted = (Wanted("maximize", Weighted(_one("margin"))),)
    depth = Required(Weighted(DEPTH), "<=", str(random.choice((1, 2))))
    weight = _numbers(random, rows, positive=True) if random.random() < 0.3 else ()
    return World(
        CLASSES, columns, target, weight, goals=wanted, requirements=(depth,), forest=kind, cell=("forest", kind)
    )
