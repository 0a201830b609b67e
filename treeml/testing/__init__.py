"""What a back-end is tested with: the conformance suite, its cases, and the fuzzer. All of it is public."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treeml.testing.conformance import Conformance as Conformance

__all__ = ["Conformance"]


def __getattr__(name: str) -> Any:
    """The suite needs pytest, which a user of the cases or of the fuzzer need not have."""
    if name == "Conformance":
        from treeml.testing.conformance import Conformance

        return Conformance
    raise AttributeError(name)
