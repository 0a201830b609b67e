"""Every encoding of every solver back-end passes the conformance suite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from treeml.testing import Conformance


class TestCpSatCover(Conformance):
    backend = "cpsat"


class TestCpSatRows(Conformance):
    backend = "cpsat"
    options: ClassVar[Mapping[str, Any]] = {"encoding": "rows"}


class TestCpSatOrder(Conformance):
    backend = "cpsat"
    options: ClassVar[Mapping[str, Any]] = {"encoding": "order"}


class TestMipCover(Conformance):
    backend = "mip"


class TestMipCoverScip(Conformance):
    backend = "mip"
    options: ClassVar[Mapping[str, Any]] = {"solver": "scip"}


class TestMipFlow(Conformance):
    backend = "mip"
    options: ClassVar[Mapping[str, Any]] = {"formulation": "flow"}


class TestMaxSatOrder(Conformance):
    backend = "maxsat"


class TestMaxSatBinary(Conformance):
    backend = "maxsat"
    options: ClassVar[Mapping[str, Any]] = {"encoding": "binary"}


class TestMaxSatCore(Conformance):
    backend = "maxsat"
    options: ClassVar[Mapping[str, Any]] = {"strategy": "core"}


class TestSat(Conformance):
    backend = "sat"
