"""Deadline -> an exception that ends the building of a model, since building counts towards the deadline of a solve."""

from __future__ import annotations

from treeml.backends.contract import Deadline

NO_DEADLINE = Deadline()


class OutOfTime(Exception):
    """The deadline passed while a model was built."""


def in_time(deadline: Deadline) -> None:
    if deadline.passed:
        raise OutOfTime
