"""Trees over the tests of a problem: what a back-end answers with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Leaf:
    """`label` is the predicted class; -1 if the leaf holds a number, which follows from its rows.

    Every leaf of an answer holds at least one row: a test that sends all rows one way splits nothing.
    """

    label: int = -1


@dataclass(frozen=True, slots=True)
class Split:
    test: int
    yes: Node
    no: Node


Node = Leaf | Split
