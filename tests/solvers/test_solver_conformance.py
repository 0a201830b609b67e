"""Encodings that are not the default of their back-end pass the conformance suite; the defaults do so as back-ends."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, ClassVar

import pytest

from treeml.testing import Conformance


@pytest.mark.slow
class TestCpSatRows(Conformance):
    backend = "cpsat"
    options: ClassVar[Mapping[str, Any]] = {"encoding": "rows"}


class TestCpSatOrder(Conformance):
    backend = "cpsat"
    options: ClassVar[Mapping[str, Any]] = {"encoding": "order"}


@pytest.mark.slow
class TestMipCoverScip(Conformance):
    backend = "mip"
    options: ClassVar[Mapping[str, Any]] = {"solver": "scip"}
    # Floats do not separate the last unit of 5e11, or of 1e12.
    unproved = frozenset({"magnitude-test-cost-and-clusters", "weight-huge"})


@pytest.mark.slow
class TestMipFlow(Conformance):
    backend = "mip"
    options: ClassVar[Mapping[str, Any]] = {"formulation": "flow"}


@pytest.mark.slow
class TestMaxSatBinary(Conformance):
    backend = "maxsat"
    options: ClassVar[Mapping[str, Any]] = {"encoding": "binary"}


class TestMaxSatCore(Conformance):
    backend = "maxsat"
    options: ClassVar[Mapping[str, Any]] = {"strategy": "core"}


@pytest.mark.skipif(find_spec("gurobipy") is None, reason="gurobipy is not installed")
class TestMipGurobi(Conformance):
    backend = "mip"
    options: ClassVar[Mapping[str, Any]] = {"solver": "gurobi", "presolve": False}
    unproved = frozenset({"magnitude-test-cost-and-clusters"})  # floats do not separate the last unit of 5e11


class TestCpSatWithoutPresolve(Conformance):
    backend = "cpsat"
    options: ClassVar[Mapping[str, Any]] = {"encoding": "cover", "presolve": False}


class TestMipWithoutPresolve(Conformance):
    backend = "mip"
    options: ClassVar[Mapping[str, Any]] = {"presolve": False}
