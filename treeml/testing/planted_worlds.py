"""A random generator -> worlds with a planted tree: it keeps every requirement, most of them exactly.

Nobody has to know the optimum to refute a claim about such a world: an "optimal" that is worse than the planted tree is
false, and so are "infeasible" and a bound that excludes the tree. So these worlds may be larger than those of
`random_worlds.py`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from random import Random

from treeml.testing.planted import PlantedRows, planted_rows
from treeml.testing.random_worlds import DEPTH, GOALS, REQUIREMENTS, asking, decimal
from treeml.testing.truth import AllTrees
from treeml.testing.world_view import Grown, Place, TooMany, View
from treeml.testing.worlds import CLASSES, NUMBERS, Required, Weighted, World, WorldColumn

KERNELS = ("native(kernel = numeric)", "native(kernel = binary)", "native(threads = 2)")
WEIGHTS = (("1", "2", "3"), ("1", "1", "100"), ("0.1", "0.25", "1"))
PLAIN = ("errors", "errors, price", "mistake cost", "errors then leaves", "leaves", "accuracy")
LIMITED = ("support", "leaf weight", "purity", "leaf errors", "leaves", "test cost", "recall", "parity gap")
SKIPPED = ("absurd depth", "depth", "depth from below")
COSTLY = ("test cost", "mistake cost", "gain")  # need more of the text than a requirement
DIGITS = 12  # of a limit that has no end


def planted_world(random: Random) -> World:
    """Some dozens of rows, and a tree of two to four levels among them."""
    while True:
        with suppress(TooMany):  # the oracle does not know every measure of three classes
            return _asked(random)


def _asked(random: Random) -> World:
    task = random.choice((CLASSES, CLASSES, CLASSES, NUMBERS))
    depth, support = random.choice((2, 3, 3, 3, 4)), random.choice((1, 2, 3, 3, 4, 5))
    classes = random.choice((2, 2, 3))
    rows = planted_rows(random, depth, support, random.choice((5, 8, 14)), classes, random.choice((16, 24, 40)))
    goals, kinds = list(GOALS[task]), [kind for kind in REQUIREMENTS[task] if kind not in SKIPPED]
    goal = random.choice([each for each in goals if each in PLAIN] if random.random() < 0.4 else goals)
    chosen = random.sample([each for each in kinds if each not in COSTLY], random.choice((0, 1, 2)))
    chosen.append(random.choice([each for each in kinds if each in LIMITED]))
    world = asking(random, _rows_of(random, task, rows), task, goal, chosen[-1])
    view = AllTrees(replace(world, requirements=()))
    tree = _grown(view, rows)
    predicted = tuple(_label(random, view, place) for place in tree)
    kept = [Required(Weighted(DEPTH), "<=", str(rows.depth))]
    for kind in dict.fromkeys(chosen):
        required = _exactly(random, view, task, kind, tree, predicted)
        if required is not None and view.meets(required, tree, predicted):
            kept.append(required)
    values = tuple(view.total(each.what, tree, predicted) or Fraction(0) for each in world.goals)
    return replace(
        world,
        requirements=tuple(kept),
        planted=tuple(map(str, values)),
        has_planted=True,
        cell=("planted", f"{task}: {goal}"),
        seconds=3.0,
        backends=KERNELS,
    )


def _rows_of(random: Random, task: str, rows: PlantedRows) -> World:
    rule = random.choice(("", "", "by thresholds"))
    columns = [
        WorldColumn(f"c{number}", "number", tuple(map(str, values)), rule) for number, values in enumerate(rows.columns)
    ]
    weight: tuple[str, ...] = ()
    if random.random() < 0.3:
        shape = random.choice(WEIGHTS)
        weight = tuple(random.choice(shape) for _ in range(rows.rows))
    if task == NUMBERS:
        target = tuple(str(10 * own + random.choice((0, 0, 1, 3))) for own in rows.label)
        return World(task, tuple(columns), target, weight)
    columns.append(
        WorldColumn("g", "category", tuple("ab"[row] if row < 2 else random.choice("ab") for row in range(rows.rows)))
    )
    labels = list(rows.label)
    for own in (0, 1):  # both names must occur
        if own not in labels:
            labels[random.randrange(len(labels))] = own
    return World(task, tuple(columns), tuple("pqr"[own] for own in labels), weight)


def _grown(view: View, rows: PlantedRows) -> Grown:
    """The planted tree as the oracle writes trees."""
    numbers = {(each.column, each.rows): number for number, each in enumerate(view.questions)}
    places = []
    for leaf, path in enumerate(rows.path):
        literals = []
        for column, cut, side in path:
            passing = frozenset(row for row, value in enumerate(rows.columns[column]) if value <= cut)
            literals.append((numbers[f"c{column}", passing], side))
        places.append(Place(rows.members(leaf), tuple(literals)))
    return tuple(places)


def _label(random: Random, view: View, place: Place) -> str:
    """The heaviest class of a leaf; now and then another one, since requirements on predictions may need that."""
    if not view.names:
        return ""
    if random.random() < 0.1:
        return random.choice(view.names)
    weights = {name: sum(view.weight[row] for row in place.rows if view.actual[row] == name) for name in view.names}
    return max(view.names, key=lambda name: weights[name])


def _exactly(
    random: Random, view: AllTrees, task: str, kind: str, tree: Grown, predicted: tuple[str, ...]
) -> Required | None:
    """The requirement with the value of the tree as its limit; None if that is not defined or cannot be written."""
    senses, parts = REQUIREMENTS[task][kind]
    what = Weighted(tuple(parts))
    if not senses:
        return Required(what)
    sense, value = random.choice(senses), view.total(what, tree, predicted)
    if value is None or value < 0:
        return None
    if kind == "support, a share":
        return Required(what, sense, decimal(value * 100 / view.rows, 6), "%")
    unit = " rows" if kind == "support" else ""
    text = decimal(value, DIGITS)
    if Fraction(text) == value or sense == ">=":
        return Required(what, sense, text, unit)
    return Required(what, sense, decimal(value + Fraction(1, 10**DIGITS), DIGITS), unit) if sense == "<=" else None
