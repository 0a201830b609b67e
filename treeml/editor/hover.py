"""A specification and a place in it -> what the word there means, as Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass

from treeml.editor.analysis import Analysis
from treeml.editor.completion import backend_options
from treeml.lang.arguments import signature
from treeml.lang.backend_options import is_backend
from treeml.lang.check import positive_class
from treeml.lang.display import shown
from treeml.lang.measures import MEASURES
from treeml.lang.methods import FAMILIES
from treeml.lang.parse import expected_at
from treeml.lang.source import Span
from treeml.lang.words import USAGE, VERBS

_WORD = re.compile(r"`[^`\n]+`|[^\W\d]\w*")
_TEXT = re.compile(r'"(\\.?|[^"\\])*("|$)')  # an open one takes the rest, so that no later quote is tried again

# TP, FP, TN and FN count the rows (by weight) of one class that are predicted right or wrong.
FORMULAS = {
    "errors": "FP + FN over all classes",
    "error_rate": "errors / rows",
    "accuracy": "1 - errors / rows",
    "balanced_accuracy": "mean over the classes of TP / (TP + FN)",
    "recall": "TP / (TP + FN)",
    "precision": "TP / (TP + FP)",
    "specificity": "TN / (TN + FP)",
    "npv": "TN / (TN + FN)",
    "f1": "2 TP / (2 TP + FP + FN)",
    "fbeta": "(1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP)",
    "jaccard": "TP / (TP + FP + FN)",
    "mcc": "(TP TN - FP FN) / root of (TP + FP)(TP + FN)(TN + FP)(TN + FN)",
    "gmean": "root of (TP / (TP + FN)) (TN / (TN + FP))",
    "log_loss": "mean of -log(share of the row's class in its leaf)",
    "gini": "mean over rows of 1 - sum of the squared shares of the classes in the leaf",
    "description_length": "1 bit per node, log2(tests) per split, and the bits of the classes of every leaf",
    "ratio": "numerator / denominator",
    "parity_gap": "max - min over the groups of (predicted positive / rows)",
    "opportunity_gap": "max - min over the groups of TP / (TP + FN)",
    "predictive_gap": "max - min over the groups of FP / (FP + TN)",
    "odds_gap": "the larger of opportunity_gap and predictive_gap",
    "squared_loss": "sum of (y - prediction)^2",
    "absolute_loss": "sum of |y - prediction|",
    "mse": "sum of (y - prediction)^2 / rows",
    "mean_absolute_error": "sum of |y - prediction| / rows",
    "r2": "1 - sum of (y - prediction)^2 / sum of (y - mean)^2",
    "quantile_loss": "sum of level * (y - prediction) if y is larger, else (1 - level) * (prediction - y)",
    "survival_loss": "sum over deaths of -log(hazard), plus, over the leaves, deaths * log(sum of hazards / deaths)",
    "depth": "splits on the longest path",
    "leaves": "splits + 1",
    "support": "rows of the smallest leaf",
    "purity": "least over the leaves of (rows of its majority / rows)",
}


@dataclass(frozen=True, slots=True)
class Hover:
    """Markdown about a part of the text."""

    span: Span
    text: str


def hover(analysis: Analysis, offset: int) -> Hover | None:
    """What the word at the offset means; None if it means nothing here."""
    span = word_at(analysis, offset)
    if span is None:
        return None
    word = span.text.strip("`")
    is_quoted = span.text.startswith("`")
    told = None
    if not is_quoted:
        told = _param(analysis, word) or _column_in_place(analysis, span, word) or _measure(analysis, word)
        told = told or _keyword(analysis, span, word) or _backend(word) or _method(word)
    told = told or _column(analysis, word)
    return None if told is None else Hover(span, told)


def word_at(analysis: Analysis, offset: int) -> Span | None:
    """The name or keyword at an offset, or right before it; None in comments and texts."""
    text = analysis.source.text
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[start : len(text) if end < 0 else end]
    plain = _TEXT.sub(_blanked, line).partition("#")[0]
    for match in _WORD.finditer(plain):
        if match.start() <= offset - start <= match.end():
            return Span(analysis.source, start + match.start(), start + match.end())
    return None


def _blanked(text: re.Match[str]) -> str:
    """The quotes with blanks between them; a text that is never closed stays as it is."""
    return '"' + " " * (len(text[0]) - 2) + '"' if text[2] else text[0]


def _param(analysis: Analysis, word: str) -> str | None:
    node = analysis.params.get(word)
    if node is None or node.span is None:
        return None
    spec, _ = analysis.checked
    value = "" if spec is None or word not in spec.params else f"\n\nvalue: {spec.params[word]}"
    return f"```treeml\n{' '.join(node.span.text.split())}\n```\nparam{value}"


def _measure(analysis: Analysis, word: str) -> str | None:
    measure = MEASURES.get(word)
    if measure is None:
        return None
    formula = FORMULAS.get(word)
    lines = [f"```treeml\n{signature(measure, positive_class(analysis.everything))}\n```", measure.summary]
    if formula:
        lines.append(f"`{formula}`")
    wanted = f", usually {measure.goal}d" if measure.goal else ""
    lines.append(f"unit: {measure.unit}; of trees for {measure.task}{wanted}")
    return "\n\n".join(lines)


def _keyword(analysis: Analysis, span: Span, word: str) -> str | None:
    """A verb where the grammar takes it for one."""
    if word not in VERBS or word.upper() not in expected_at(analysis.source, span.start).terminals:
        return None
    return f"```treeml\n{USAGE[word]}\n```"


def _backend(word: str) -> str | None:
    if not is_backend(word):
        return None
    options = [f"- `{name}`: {option.summary}" for name, option in backend_options(word).items()]
    return "\n".join([f"back-end `{word}`; options:\n", *options]) if options else f"back-end `{word}`"


def _method(word: str) -> str | None:
    for verb, family in FAMILIES.items():
        if word in family.methods:
            options = ", ".join(rule.name for rule in family.methods[word])
            return f"{family.noun} (`{verb}`)" + (f"\n\noptions: {options}" if options else "")
    return None


def _column_in_place(analysis: Analysis, span: Span, word: str) -> str | None:
    """A column where the grammar takes nothing else, although it is called like a measure."""
    terminals = expected_at(analysis.source, span.start).terminals
    return _column(analysis, word) if terminals <= {"NAME", "QUOTED", "ALL"} and "QUOTED" in terminals else None


def _column(analysis: Analysis, word: str) -> str | None:
    facts = analysis.data
    column = None if facts is None else facts.columns.get(word)
    if column is None:
        return None
    return f"column `{shown(column.name)}`: {column.type}\n\n{shown(column.summary, 400)}"
