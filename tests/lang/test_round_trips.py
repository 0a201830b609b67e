"""Whatever can be said survives printing, reading and laying out."""

from __future__ import annotations

import re

import random_models
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from treeml.lang.format import format_source, format_statements
from treeml.lang.parse import parse, tokens
from treeml.lang.source import Source
from treeml.lang.words import PHRASES
from treeml.lang.write import write
from treeml.model import Model

relaxed = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@relaxed
@given(random_models.statements)
def test_a_printed_statement_reads_as_itself(statement):
    assert parse(Source("x", write(statement))) == [statement]


@relaxed
@given(random_models.models)
def test_a_printed_model_reads_as_an_equal_model(statements):
    model = Model(statements)
    again = Model.parse(str(model))
    assert again == model
    assert str(again) == str(model)


@relaxed
@given(random_models.models, st.randoms(use_true_random=False))
def test_order_does_not_matter_to_a_model(statements, random):
    shuffled = random.sample(statements, len(statements))
    assert Model(statements) == Model(shuffled)
    assert str(Model(statements)) == str(Model(shuffled))


@relaxed
@given(random_models.models)
def test_canonical_text_is_laid_out_already(statements):
    text = format_statements(statements)
    assert format_source(Source("x", text)) == text


gaps = st.sampled_from(
    [" ", "  ", "\n", "\n\n\n", "\t", "\r\n", " # one\n", "\n# two  \n", "\n\n   #three\n\n# four\n", "#\n"]
)


@relaxed
@given(random_models.models, st.data())
def test_formatting_repairs_any_layout_and_keeps_comments(statements, data):
    words = [word.text for word, _ in tokens(Source("x", format_statements(statements)))]
    text = data.draw(gaps) + "".join(word + data.draw(gaps) for word in words)
    source = Source("x", text)
    mended = format_source(source)
    assert parse(Source("x", mended)) == parse(source)
    assert format_source(Source("x", mended)) == mended
    assert comments(mended) == comments(text)
    assert all(line == line.rstrip() for line in mended.split("\n"))
    assert "\n\n\n" not in mended


def comments(text: str) -> list[str]:
    found = re.findall(r'"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\\n])*`|#[^\n]*', text)
    return [item.rstrip() for item in found if item.startswith("#")]


@relaxed
@given(st.text(max_size=200))
def test_no_text_breaks_the_parser(text):
    from treeml.lang.parse import parse_all
    from treeml.lang.render import render

    for diagnostic in parse_all(Source("x", text)).diagnostics:
        for style in ("full", "concise", "json"):
            assert render(diagnostic, style)


@relaxed
@given(random_models.models, st.data())
def test_no_slip_breaks_the_parser(statements, data):
    """Valid text with a stretch cut out or doubled: every answer is statements or diagnostics in plain words."""
    from treeml.lang.parse import parse_all
    from treeml.lang.render import render

    text = format_statements(statements)
    low, high = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    broken = data.draw(st.sampled_from([text[:low] + text[high:], text[:high] + text[low:]]))
    for diagnostic in parse_all(Source("x", broken)).diagnostics:
        shown = diagnostic.title + " ".join(label.text for label in diagnostic.labels)
        for terminal in PHRASES:
            assert terminal in broken or not re.search(rf"(?<!\w){re.escape(terminal)}(?!\w)", shown)
        assert render(diagnostic)
