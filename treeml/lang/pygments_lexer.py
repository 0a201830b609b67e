"""Text -> highlighted tokens: .tml for Pygments, and so for documentation, IPython and rich.

Pygments finds it through the entry point `pygments.lexers`. Keywords come from the language and measures from their
declarations, so that neither list can become outdated.
"""

from __future__ import annotations

import re
from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace

from treeml.lang.measures import MEASURES
from treeml.lang.words import INNER_WORDS, TYPES, VERBS

_NAME = r"[^\W\d]\w*"
_NAMING = ("predict", "param", "set", "column")  # the word after one of these is always a name


class TreemlLexer(RegexLexer):  # type: ignore[misc]
    """Specifications of decision trees."""

    name = "TreeML"
    aliases: ClassVar[list[str]] = ["treeml", "tml"]
    filenames: ClassVar[list[str]] = ["*.tml"]
    mimetypes: ClassVar[list[str]] = ["text/x-treeml"]
    version_added = ""
    flags = re.MULTILINE

    tokens: ClassVar[dict[str, list[object]]] = {
        "root": [
            (r"\s+", Whitespace),
            (r"#[^\n]*", Comment.Single),
            (r'"(\\.|[^"\\\n])*"', String.Double),
            (r"`(\\.|[^`\\\n])+`", Name.Variable),
            (rf"({'|'.join(_NAMING)})(\s+)({_NAME})\b", bygroups(Keyword, Whitespace, Name.Variable)),
            (r"(?<=\S[ \t])gain\b(?!\s+predict\b)", Name.Builtin),  # a measure, unless it opens a statement
            (r"\bleaves\b(?!\s+(?:simple_)?linear\b)", Name.Builtin),  # and so is this
            (words(VERBS, prefix=r"\b", suffix=r"\b"), Keyword),
            (rf"({_NAME})(\s*)(?=\()", bygroups(Name.Function, Whitespace)),
            (words(INNER_WORDS, prefix=r"\b", suffix=r"\b"), Keyword.Pseudo),
            (words(TYPES, prefix=r"(?<=:\s)\b", suffix=r"\b"), Keyword.Type),
            (words(tuple(MEASURES), prefix=r"\b", suffix=r"\b"), Name.Builtin),
            (r"\d+(_\d+)*(\.\d+(_\d+)*)?([eE][+-]?\d+\b)?", Number),
            (r"%|(?<=[\d ])(ms|s|min|h|rows?)\b", Keyword.Type),
            (_NAME, Name),
            (r"<=|>=|[<>=+*/-]", Operator),
            (r"\.\.|[(){},:]", Punctuation),
            (r".", Text),
        ]
    }
