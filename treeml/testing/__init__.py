"""Tests for back-ends: the conformance suite, its cases, the fuzzer and the attack. All of it is public.

Import `Conformance` from here; `problems` builds small problems, `fuzz` and `attack` search for wrong answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treeml.testing.conformance import Conformance as Conformance

__all__ = ["Conformance"]


def __getattr__(name: str) -> Any:
    """Load the suite at first use: it needs pytest, the cases and the fuzzer do not."""
    if name == "Conformance":
        from treeml.testing.conformance import Conformance

        return Conformance
    raise AttributeError(name)
