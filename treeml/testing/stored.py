"""Problem <-> JSON: how the cases that the fuzzer found are stored.

Fractions are written as text, matrices as lists, and every term as its class defines it. A leaf cost that a user gives
as a function cannot be written.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from treeml.problem.problem import Bound, Feature, Goal, Problem, Test
from treeml.problem.terms import Sum


def to_json(problem: Problem) -> dict[str, Any]:
    return {
        "features": [
            {
                "name": feature.name,
                "kind": feature.kind,
                "levels": feature.levels,
                "codes": None if feature.codes is None else feature.codes.tolist(),
                "first_test": feature.first_test,
                "tests": feature.tests,
                "has_missing": feature.has_missing,
            }
            for feature in problem.features
        ],
        "tests": [[test.feature, test.kind, list(test.values), test.missing_yes] for test in problem.tests],
        "bits": ["".join("01"[int(bit)] for bit in row) for row in problem.bits],
        "count": problem.count.tolist(),
        "classes": problem.classes,
        "goals": [{"sum": goal.sum.to_json(), "negated": goal.negated, "text": goal.text} for goal in problem.goals],
        "bounds": [
            {"sum": bound.sum.to_json(), "sense": bound.sense, "limit": str(bound.limit), "name": bound.name}
            for bound in problem.bounds
        ],
    }


def from_json(value: dict[str, Any]) -> Problem:
    features = tuple(
        Feature(**{**each, "codes": None if each["codes"] is None else np.array(each["codes"], dtype=np.int32)})
        for each in value["features"]
    )
    tests = tuple(Test(feature, kind, tuple(values), missing) for feature, kind, values, missing in value["tests"])
    rows = len(value["count"])
    bits = np.array([[bit == "1" for bit in row] for row in value["bits"]], dtype=bool).reshape(len(tests), rows)
    goals = tuple(Goal(Sum.from_json(goal["sum"]), goal["negated"], goal["text"]) for goal in value["goals"])
    bounds = tuple(
        Bound(Sum.from_json(bound["sum"]), bound["sense"], Fraction(bound["limit"]), bound["name"])
        for bound in value["bounds"]
    )
    return Problem(features, tests, np.array(value["count"], dtype=np.int64), value["classes"], goals, bounds, bits)
