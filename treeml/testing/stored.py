"""Problem <-> JSON: how a case that the fuzzer found is kept.

Fractions are written as text, matrices as lists. A leaf cost of one's own can be kept only if it is of the kind that
the generator makes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from treeml.problem.problem import Bound, Feature, Goal, Problem, Test
from treeml.problem.terms import (
    Custom,
    Depth,
    Largest,
    LeafErrors,
    Leaves,
    Loss,
    Monotone,
    Predicted,
    Purity,
    Ratio,
    Sum,
    Support,
    Term,
    TestCost,
    Used,
)
from treeml.testing.problems import PriceSpread


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
        "goals": [
            {"sum": _sum_to_json(goal.sum), "negated": goal.negated, "text": goal.text} for goal in problem.goals
        ],
        "bounds": [
            {"sum": _sum_to_json(bound.sum), "sense": bound.sense, "limit": str(bound.limit), "name": bound.name}
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
    goals = tuple(Goal(_sum_from_json(goal["sum"]), goal["negated"], goal["text"]) for goal in value["goals"])
    bounds = tuple(
        Bound(_sum_from_json(bound["sum"]), bound["sense"], Fraction(bound["limit"]), bound["name"])
        for bound in value["bounds"]
    )
    return Problem(features, tests, np.array(value["count"], dtype=np.int64), value["classes"], goals, bounds, bits)


def _sum_to_json(total: Sum) -> dict[str, Any]:
    parts = [[str(factor), _term_to_json(term)] for factor, term in total.parts]
    return {"parts": parts, "constant": str(total.constant)}


def _sum_from_json(value: dict[str, Any]) -> Sum:
    parts = tuple((Fraction(factor), _term_from_json(term)) for factor, term in value["parts"])
    return Sum(parts, Fraction(value["constant"]))


def _term_to_json(term: Term) -> dict[str, Any]:
    kind = {"kind": type(term).__name__}
    match term:
        case Predicted(cost, scale) | LeafErrors(cost, scale):
            return {**kind, "cost": cost.tolist(), "scale": str(scale)}
        case TestCost(costs, scale):
            return {**kind, "costs": list(costs), "scale": str(scale)}
        case Used(features):
            return {**kind, "features": sorted(features)}
        case Loss(shape, targets, weight, scale, level):
            numbers = {"targets": targets.tolist(), "weight": weight.tolist()}
            return {**kind, "shape": shape, **numbers, "scale": str(scale), "level": str(level)}
        case Purity(weight):
            return {**kind, "weight": weight.tolist()}
        case Monotone(feature, increasing, positive):
            return {**kind, "feature": feature, "increasing": increasing, "positive": positive}
        case Largest(parts):
            return {**kind, "parts": [_sum_to_json(part) for part in parts]}
        case Ratio(numerator, denominator):
            return {**kind, "numerator": _sum_to_json(numerator), "denominator": _sum_to_json(denominator)}
        case Custom(PriceSpread(prices)):
            return {**kind, "prices": list(prices)}
        case Custom():
            raise TypeError("a leaf cost given as a function cannot be written to a file")
    return kind


def _term_from_json(value: dict[str, Any]) -> Term:
    match value:
        case {"kind": "Predicted", "cost": cost, "scale": scale}:
            return Predicted(_matrix(cost), Fraction(scale))
        case {"kind": "LeafErrors", "cost": cost, "scale": scale}:
            return LeafErrors(_matrix(cost), Fraction(scale))
        case {"kind": "TestCost", "costs": costs, "scale": scale}:
            return TestCost(tuple(costs), Fraction(scale))
        case {"kind": "Used", "features": features}:
            return Used(frozenset(features))
        case {"kind": "Loss", "shape": shape, "targets": targets, "weight": weight, "scale": scale, "level": level}:
            return Loss(shape, _matrix(targets), np.array(weight, dtype=np.int64), Fraction(scale), Fraction(level))
        case {"kind": "Purity", "weight": weight}:
            return Purity(_matrix(weight))
        case {"kind": "Monotone", "feature": feature, "increasing": increasing, "positive": positive}:
            return Monotone(feature, increasing, positive)
        case {"kind": "Largest", "parts": parts}:
            return Largest(tuple(_sum_from_json(part) for part in parts))
        case {"kind": "Ratio", "numerator": numerator, "denominator": denominator}:
            return Ratio(_sum_from_json(numerator), _sum_from_json(denominator))
        case {"kind": "Custom", "prices": prices}:
            return Custom(PriceSpread(tuple(prices)))
        case {"kind": "Leaves"}:
            return Leaves()
        case {"kind": "Depth"}:
            return Depth()
        case {"kind": "Support"}:
            return Support()
    raise ValueError(f"no term is written as {value}")


def _matrix(rows: list[list[int]]) -> Any:
    return np.array(rows, dtype=np.int64)
