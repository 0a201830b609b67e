"""One entry of the catalogue of codes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeEntry:
    code: str
    title: str  # what is wrong, in general
    meaning: str  # why that is a mistake
    wrong: str  # what leads to it: lines of a spec, a call, or a description of the data
    instead: str  # what to do
