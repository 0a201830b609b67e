"""The Pygments lexer knows every word of the language, and gives the text back unchanged."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text, Token

from treeml.lang.measures import MEASURES
from treeml.lang.pygments_lexer import TreemlLexer

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/*.tml"))


def _tokens(text: str) -> list[tuple[object, str]]:
    return [(kind, value) for kind, value in TreemlLexer().get_tokens(text) if value.strip()]


def test_the_keywords_are_those_of_the_grammar() -> None:
    grammar = (ROOT / "grammar" / "treeml.lark").read_text(encoding="utf-8")
    written = set(re.findall(r'^[A-Z_]+: +"([a-z]+)"$', grammar, re.MULTILINE))
    assert len(written) > 40
    # Alone on a line a verb is a keyword; inside a statement the other words are.
    colored = {word for word in written for kind, value in _tokens(word) if kind in Keyword and value == word}
    assert colored == written
    for word in ("treeml2", "required", "depthy"):
        assert [kind for kind, _ in _tokens(word)] == [Name]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_colored_whole_and_without_errors(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tokens = list(TreemlLexer().get_tokens(text))
    assert "".join(value for _, value in tokens) == text
    assert not [value for kind, value in tokens if kind in (Token.Error, Text)]
    wanted = {Keyword, Name.Variable} if "predict" in text else {Keyword, Name}  # clusters have no target
    assert wanted <= {kind for kind, _ in tokens}


def test_words_have_the_right_token_types() -> None:
    text = (
        'predict class is "a" # why\nrequire parity_gap(sex) <= 5%\nminimize depth + 1_000.5 * `a b`\ncolumn x : number'
    )
    tokens = _tokens(text)
    for expected in (
        (Keyword, "predict"),
        (Name.Variable, "class"),
        (Keyword.Pseudo, "is"),
        (String.Double, '"a"'),
        (Comment.Single, "# why"),
        (Name.Function, "parity_gap"),
        (Operator, "<="),
        (Number, "5"),
        (Keyword.Type, "%"),
        (Name.Builtin, "depth"),
        (Number, "1_000.5"),
        (Name.Variable, "`a b`"),
        (Keyword.Type, "number"),
    ):
        assert expected in tokens
    assert all((Name.Builtin, name) in _tokens(f"minimize {name}") for name in MEASURES)


def test_the_entry_point_names_the_lexer() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, name = project["entry-points"]["pygments.lexers"]["treeml"].split(":")
    assert getattr(import_module(module), name) is TreemlLexer
    assert TreemlLexer.filenames == ["*.tml"]
