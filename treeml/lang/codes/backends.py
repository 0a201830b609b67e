"""Codes of backends."""

from __future__ import annotations

from treeml.lang.codes.entry import Entry

BACKENDS: tuple[Entry, ...] = ()
