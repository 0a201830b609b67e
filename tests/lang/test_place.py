"""A statement built in Python gets the spans that the parser would give to the text that it prints."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
import random_models
from hypothesis import HealthCheck, given, settings

import treeml as tml
from treeml.lang.parse import parse
from treeml.lang.place import place
from treeml.lang.source import Source, Span
from treeml.lang.write import write

QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`')
relaxed = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def spans(node: Any) -> list[tuple[str, int, int]]:
    """Every span in a node, in the order of its fields; parentheses around a node are left out."""
    if isinstance(node, tuple):
        return [found for each in node for found in spans(each)]
    if isinstance(node, Span) or not is_dataclass(node):
        return []
    found = []
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, Span):
            found.append((field.name, *_bare(value)))
        elif field.name == "operator_spans":
            found += [(field.name, *_bare(span)) for span in value]
        else:
            found += spans(value)
    return found


def _bare(span: Span) -> tuple[int, int]:
    start, end = span.start, span.end
    while span.source.text[start] == "(" and span.source.text[end - 1] == ")" and _is_pair(span.source.text[start:end]):
        start, end = start + 1, end - 1
    return start, end


def _is_pair(text: str) -> bool:
    """Does the first parenthesis close with the last? Those in quotes do not count."""
    depth = 0
    for number, letter in enumerate(QUOTED.sub(lambda found: "x" * len(found[0]), text)):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return number == len(text) - 1
    return False


@relaxed
@given(random_models.statements)
def test_spans_are_those_of_the_parser(statement: Any) -> None:
    (placed,) = place([statement])
    (read,) = parse(Source("the model", f"{write(statement)}\n"))
    assert placed == statement
    assert spans(placed) == spans(read)


def test_statements_of_a_file_keep_their_spans() -> None:
    read = parse(Source("x.tml", "predict y\nminimize errors\n"))
    built = tml.Model().require(tml.depth <= 3).statements
    placed = place([*read, *built])
    assert placed[0] is read[0]
    assert placed[2].span is not None
    assert (placed[2].span.source.name, placed[2].span.text) == ("the model", "require depth <= 3")


def test_one_formula_in_two_places_has_two_spans() -> None:
    leaves = tml.leaves
    model = tml.Model().predict("y").minimize(leaves + 0.1 * leaves).require(leaves <= 30 * tml.percent(1))
    with pytest.raises(tml.SpecError) as refused:
        model.check()
    assert "require leaves <= 30 * 1%" in str(refused.value)
