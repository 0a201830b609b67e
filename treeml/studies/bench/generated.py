"""The name of a data set that a rule defines -> its rows: the original data sets, generated instead of shipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

Rows = list[list[str]]  # the first row holds the names, the last column the class
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def write(name: str, path: Path) -> None:
    """Write a generated data set as a CSV file."""
    rows = GENERATED[name]()
    path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")


def tic_tac_toe() -> Rows:
    """Boards at the end of a game that x began; the class is whether x has a line."""
    rows = [[f"square{number}" for number in range(9)] + ["label"]]
    for board in product("xob", repeat=9):
        x, o = board.count("x"), board.count("o")
        wins = {player: any(all(board[place] == player for place in line) for line in LINES) for player in "xo"}
        if wins["x"] and not wins["o"] and x == o + 1:
            rows.append([*board, "positive"])
        elif (wins["o"] and not wins["x"] and x == o) or (not any(wins.values()) and "b" not in board and x == o + 1):
            rows.append([*board, "negative"])
    return rows


def balance_scale() -> Rows:
    """The side to which a scale tips, left or not, from weights and distances as numbers."""
    rows = [[f"{side}_{what}" for side in ("left", "right") for what in ("weight", "distance")] + ["label"]]
    for values in product(range(1, 6), repeat=4):
        left, right = values[0] * values[1], values[2] * values[3]
        rows.append([*map(str, values), "left" if left > right else "rest"])
    return rows


def monk(number: int) -> Rows:
    """One of the three monk's problems, over all 432 rows."""
    rows = [[f"a{place}" for place in range(1, 7)] + ["label"]]
    for a in product((1, 2, 3), (1, 2, 3), (1, 2), (1, 2, 3), (1, 2, 3, 4), (1, 2)):
        truth = {
            1: a[0] == a[1] or a[4] == 1,
            2: sum(value == 1 for value in a) == 2,
            3: (a[4] == 3 and a[3] == 1) or (a[4] != 4 and a[1] != 3),
        }[number]
        rows.append([*(f"v{value}" for value in a), "yes" if truth else "no"])
    return rows


def multiplexer() -> Rows:
    """Six bits; the first two select which of the other four is the class."""
    rows = [["a0", "a1", "d0", "d1", "d2", "d3", "label"]]
    for bits in product((0, 1), repeat=6):
        rows.append([*map(str, bits), str(bits[2 + 2 * bits[0] + bits[1]])])
    return rows


def car() -> Rows:
    """Whether a car is acceptable, by the rules of the car evaluation data set."""
    prices = ((0, 0, 1, 1), (0, 1, 1, 1), (1, 1, 2, 3), (1, 2, 3, 3))
    rows = [["buying", "maint", "doors", "persons", "luggage", "safety", "label"]]
    levels = ("vhigh", "high", "med", "low")
    for buying, maint, doors, persons, luggage, safety in product(
        range(4),
        range(4),
        ("2", "3", "4", "5more"),
        ("2", "4", "more"),
        ("small", "med", "big"),
        ("low", "med", "high"),
    ):
        tech = _tech(doors, persons, luggage, safety)
        price = prices[buying][maint]
        label = "unacc" if price == 0 or tech == 0 or (price == 1 and tech == 1) else "rest"
        rows.append([levels[buying], levels[maint], f"d{doors}", f"p{persons}", luggage, safety, label])
    return rows


def car_ordered() -> Rows:
    """The same with the levels of every column as ordered numbers, for thresholds."""
    names, *rows = car()
    orders = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    return [
        names,
        *(
            [*(str(order.index(value)) for order, value in zip(orders[:-1], row[:-1], strict=True)), row[-1]]
            for row in rows
        ),
    ]


def _tech(doors: str, persons: str, luggage: str, safety: str) -> int:
    many = doors in ("4", "5more")
    if persons == "2":
        comfort = 0
    elif persons == "4":
        comfort = 2 if luggage == "big" or (luggage == "med" and many) else 1
    elif doors == "2":
        comfort = ("small", "med", "big").index(luggage)
    else:
        comfort = 1 if luggage == "small" else 2
    return 0 if comfort == 0 or safety == "low" else comfort + (safety == "high")


def _monks() -> Iterator[tuple[str, Callable[[], Rows]]]:
    for number in (1, 2, 3):
        yield f"monk{number}", lambda number=number: monk(number)  # type: ignore[misc]


GENERATED: dict[str, Callable[[], Rows]] = {
    "tic-tac-toe": tic_tac_toe,
    "balance-scale": balance_scale,
    "car": car,
    "car-ordered": car_ordered,
    "mux6": multiplexer,
    **dict(_monks()),
}
