"""Arrays and a plain specification -> a verified result, by the shortest way.

On a few thousand rows a tree of two or three levels is found and proved in less than a millisecond, and the stages of
`pipeline.py` would take most of the time: a table, a dataset, a problem and a plan, each with an object for every
column. So the commonest calls of all, `model.solve(X, y)` for the best accuracy or the least squares up to a depth, go
from the matrix to the kernel and back: numbers in `express_errors.py`, tests of 0 and 1 in `express_squares.py`. The
tree is verified by numpy from the matrix as it was given; what only a reader needs is made when it is read
(`express_result.py`). Anything else, and a search that takes longer, returns None here and takes the general way. Both
ways answer the same; tests compare them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeml.lang.statements import Statements
from treeml.native.loader import missing
from treeml.solving.express_errors import express_errors
from treeml.solving.express_squares import express_squares
from treeml.solving.express_task import ERRORS, task_of
from treeml.solving.options import RunOptions
from treeml.solving.result import Result


def express(statements: Statements, data: Any, y: Any, options: RunOptions, begun: float) -> Result | None:
    """The verified result; None if this way is not for the model, the data or the options, or if it takes too long."""
    if type(data) is not np.ndarray or type(y) is not np.ndarray or data.ndim != 2 or y.shape != data.shape[:1]:
        return None
    if not data.size or missing() is not None:
        return None
    task = task_of(statements, options)
    if task is None:
        return None
    return (express_errors if task.goal == ERRORS else express_squares)(task, data, y, begun)
