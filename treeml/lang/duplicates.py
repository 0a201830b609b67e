"""All statements -> errors about what is stated twice, pointing at both places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from treeml.lang.findings import Findings
from treeml.lang.params import label_text
from treeml.lang.source import Span
from treeml.lang.syntax import (
    Binarize,
    ColumnCost,
    ColumnRule,
    Data,
    Ensemble,
    Features,
    Improve,
    LeafModels,
    ListTrees,
    MistakeCost,
    Objective,
    Param,
    Predict,
    Report,
    Require,
    RowCost,
    Satisfy,
    Set,
    Solve,
    Start,
    Statement,
    Validate,
    WeightBy,
    WeightClass,
)

Fact = tuple[str, str, Span | None]  # the title of the error; a key that clashing statements share; the span


def report_duplicates(statements: Sequence[Statement], findings: Findings) -> None:
    first: dict[str, Span | None] = {}
    for statement in statements:
        for title, key, span in _facts(statement):
            if key not in first:
                first[key] = span
                continue
            findings.error(
                "N205",
                title,
                (first[key], "first here"),
                (span, "and again here"),
                note=_NOTES.get(key, ()),
                help=_HELPS.get(key.partition(" ")[0] if key.startswith("require ") else key, ()),
            )


_NOTES = {
    "predict": "a specification predicts one column; order does not decide which",
    "data": "a specification reads one file; order does not decide which",
    "solve": "name all back-ends in one statement, in order of preference",
}
_HELPS = {
    "objective": "to break ties by a second goal write `minimize a then minimize b`",
    "solve": "write `solve with a, b within 5 min`",
    "require": "a name comes back when requirements conflict, so each needs its own",
    "report": "write `report tree, confusion`",
    "features": "write `features a, b, c`",
    "data": "another file can be given when solving: --data other.csv",
}


# Statements that a specification has once, whatever they say: the title of the error, and the key.
_ONCE: dict[type[Statement], tuple[str, str]] = {
    Data: ("the data are given twice", "data"),
    Features: ("the features are given twice", "features"),
    WeightBy: ("the weight of a row is given twice", "weight by"),
    Objective: ("the objective is given twice", "objective"),
    Satisfy: ("`satisfy` is given twice", "satisfy"),
    LeafModels: ("what leaves hold is given twice", "leaves"),
    Ensemble: ("the ensemble is given twice", "ensemble"),
    Start: ("the starting tree is given twice", "start"),
    Improve: ("how to improve the tree is given twice", "improve"),
    ListTrees: ("which trees to list is given twice", "list"),
    Solve: ("how to solve is given twice", "solve"),
    Validate: ("how to validate is given twice", "validate"),
    Report: ("what to report is given twice", "report"),
}


def _facts(statement: Statement) -> Iterator[Fact]:
    """What a statement says that only one statement may say."""
    span = statement.span
    if type(statement) in _ONCE:
        title, key = _ONCE[type(statement)]
        yield title, key, span
        return
    match statement:
        case Predict():
            yield "the target is given twice", "predict", _until(span, statement.column.span)
        case WeightClass():
            label = label_text(statement.label)
            yield f"the weight of class `{label}` is given twice", f"weight class {label}", span
        case MistakeCost():
            predicted, actual = label_text(statement.predicted), label_text(statement.actual)
            yield (
                f"the cost of predicting `{predicted}` when it is `{actual}` is given twice",
                f"cost {predicted!r} {actual!r}",
                span,
            )
        case RowCost():
            predicted = label_text(statement.predicted)
            yield f"the cost of predicting `{predicted}` is given twice", f"row cost {predicted!r}", span
        case ColumnCost():
            after = "" if statement.after is None else f" after `{statement.after.text}`"
            for name, place in _named_columns(statement):
                yield f"the cost of testing `{name}`{after} is given twice", f"cost test {name}{after}", place
        case ColumnRule():
            for name, place in _named_columns(statement):
                yield f"the type of `{name}` is given twice", f"column {name}", place
        case Binarize():
            for column in statement.columns:
                yield f"how to binarize `{column.text}` is given twice", f"binarize {column.text}", column.span
            if not statement.columns:
                yield "how to binarize all columns is given twice", "binarize all", span
        case Param():
            yield f"the param `{statement.name}` is given twice", f"param {statement.name}", span
        case Set():
            yield f"the value of `{statement.name}` is given twice", f"set {statement.name}", span
        case Require() if statement.name:
            yield f"two requirements are called `{statement.name}`", f"require {statement.name}", span


def _named_columns(statement: ColumnCost | ColumnRule) -> Iterator[tuple[str, Span | None]]:
    """The columns of a statement, and where to point: at all of a statement that names only one."""
    for column in statement.columns:
        yield column.text, statement.span if len(statement.columns) == 1 else column.span


def _until(span: Span | None, last: Span | None) -> Span | None:
    return span if span is None or last is None else Span(span.source, span.start, last.end)
