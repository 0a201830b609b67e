"""An object -> a key that is equal to itself alone, for caches of what follows from a specification."""

from __future__ import annotations

from typing import Generic, TypeVar

Kept = TypeVar("Kept")


class Same(Generic[Kept]):
    """An object as a key that is equal to itself alone; the key keeps it alive, so that no other gets its identity."""

    __slots__ = ("kept",)

    def __init__(self, kept: Kept) -> None:
        self.kept = kept

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.kept is other.kept

    def __hash__(self) -> int:
        return id(self.kept)
