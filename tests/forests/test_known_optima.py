"""Known optima on the boards of tic-tac-toe: does x win?"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from boosting_worlds import model
from numpy.typing import NDArray

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def boards() -> tuple[NDArray[Any], NDArray[Any]]:
    """All boards at the end of a game that x began, one column for each square and mark."""

    def has_line(board: tuple[str, ...], player: str) -> bool:
        return any(all(board[place] == player for place in line) for line in LINES)

    rows, labels = [], []
    for board in product("xob", repeat=9):
        crosses, noughts = board.count("x"), board.count("o")
        x, o = has_line(board, "x"), has_line(board, "o")
        won = x and not o and crosses == noughts + 1
        drawn = not x and not o and "b" not in board and crosses == noughts + 1
        if won or drawn or (o and not x and crosses == noughts):
            rows.append([int(board[square] == mark) for square in range(9) for mark in "xob"])
            labels.append(int(won))
    return np.array(rows), np.array(labels)


def test_stumps_on_every_board() -> None:
    x, y = boards()
    assert len(y) == 958
    result = model("mdboost", 1, penalty=12).solve(x, y)
    assert result.is_optimal
    greedy = model("mdboost", 1, penalty=12).solve(x, y, backend="cart")
    assert greedy.objective <= result.objective + 1e-3  # type: ignore[operator]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "penalty", "optimum"),
    [("lpboost", 0.125, 0.271492), ("lpboost", 0.01, 0.275043), ("mdboost", 12, 3800.37738), ("mdboost", 1, 444.35301)],
)
def test_depth_three_on_every_board(name: str, penalty: float, optimum: float) -> None:
    x, y = boards()
    result = model(name, 3, penalty=penalty).solve(x, y)
    assert result.is_optimal
    assert result.objective == pytest.approx(optimum, rel=2e-6, abs=1e-6)
    assert result.verified
