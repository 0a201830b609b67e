"""Codes of data."""

from __future__ import annotations

from treeml.lang.codes.entry import Entry

DATA: tuple[Entry, ...] = ()
