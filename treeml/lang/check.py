"""Syntax tree, params -> Spec: every name resolved, every unit settled, or every mistake at once.

Nothing here needs data. `data/bind.py` checks what depends on the rows (does the column exist? are there two classes?),
and the planner refuses what no back-end can do. The stages share one list of findings, so that one run shows every
mistake, in the order of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from treeml.lang.columns import columns_of
from treeml.lang.contradictions import report_contradictions
from treeml.lang.diagnostic import Diagnostic, InfeasibleError, Label, SpecError
from treeml.lang.duplicates import report_duplicates
from treeml.lang.expressions import Scope, evaluate, same_for_every_tree
from treeml.lang.file_options import confine_writes
from treeml.lang.findings import Findings
from treeml.lang.include import lost_params, resolve_includes
from treeml.lang.leaf_models import report_leaf_models
from treeml.lang.lint import report_lint
from treeml.lang.params import Params, bind_params
from treeml.lang.place import place
from treeml.lang.quantities import Quantity
from treeml.lang.requirements import plain_text, requirements_of
from treeml.lang.run_statements import requests_of
from treeml.lang.size_limits import too_large
from treeml.lang.source import Source
from treeml.lang.spec import CheckedGoal, Spec
from treeml.lang.syntax import Data, Name, Number, Objective, Param, Predict, Require, Satisfy, Statement, String
from treeml.lang.task_checks import is_weighted, report_tasks, uses_of
from treeml.lang.words import spell_number, spell_string


def check(
    statements: Iterable[Statement],
    bindings: Mapping[str, Any] = {},
    folder: Path = Path(),
    *,
    origin: str | None = None,
    has_target: bool = False,
    untrusted: bool = False,
) -> tuple[Spec, list[Diagnostic]]:
    """The checked spec and warnings; SpecError with every error and warning if there is an error.

    `bindings` are values of params, as text or as Python values. `origin` is what messages call the place they come
    from: by default `--set` for text and "the call" for anything else.
    `has_target` says that the target comes with the data (arrays X and y), so that no `predict` is needed;
    `untrusted` confines what the spec touches to its folder.
    Requirements that contradict each other whatever the data raise InfeasibleError, if nothing else is wrong.
    """
    spec, diagnostics = _examine(place(statements), bindings, folder, origin, has_target, None, untrusted)
    _raise_errors(diagnostics)
    return spec, diagnostics


def check_source(
    source: Source,
    bindings: Mapping[str, Any] = {},
    folder: Path | None = None,
    *,
    origin: str | None = None,
    has_target: bool = False,
    untrusted: bool = False,
) -> tuple[Spec | None, list[Diagnostic]]:
    """Like `check` for the text of a file, but nothing is raised: syntax errors are reported with all other mistakes.

    The spec is None if there is an error.
    """
    from treeml.lang.parse import parse_all

    parsed = parse_all(source)
    where = folder if folder is not None else source.path.parent if source.path is not None else Path()
    lost = lost_params(source) if parsed.diagnostics else None
    spec, found = _examine(parsed.statements, bindings, where, origin, has_target, lost, untrusted)
    diagnostics = _merged(source, parsed.diagnostics, found)
    return (None if any(diagnostic.is_error for diagnostic in diagnostics) else spec), diagnostics


def _raise_errors(diagnostics: Sequence[Diagnostic]) -> None:
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.is_error]
    if errors and all(diagnostic.code == "F603" for diagnostic in errors):
        raise InfeasibleError(diagnostics)
    if errors:
        raise SpecError(diagnostics)


def _merged(source: Source, syntax: Sequence[Diagnostic], meaning: Sequence[Diagnostic]) -> list[Diagnostic]:
    """All diagnostics in the order of the text, without those about text that could not be parsed."""
    unread = [(label.span.start, label.span.end) for diagnostic in syntax for label in diagnostic.labels]

    def is_sound(diagnostic: Diagnostic) -> bool:
        if syntax and not diagnostic.is_error:
            return False
        own = [label.span for label in diagnostic.labels if label.span.source.name == source.name]
        return not any(span.start < end and start < span.end for span in own for start, end in unread)

    def key(diagnostic: Diagnostic) -> tuple[bool, int]:
        if not diagnostic.labels:
            return True, 0
        span = diagnostic.labels[0].span
        return span.source.name != source.name, span.start

    named = [replace(found, place=source.name) if not found.labels else found for found in meaning if is_sound(found)]
    return sorted([*syntax, *named], key=key)


def _examine(
    statements: Sequence[Statement],
    bindings: Mapping[str, Any],
    folder: Path,
    origin: str | None,
    has_target: bool,
    lost: frozenset[str] | None,
    untrusted: bool,
) -> tuple[Spec, list[Diagnostic]]:
    """`lost` is not None if some statements could not be parsed; then nothing is reported as missing."""
    findings = Findings(positive_class(statements))
    included = resolve_includes(statements, folder, findings, untrusted)
    everything = included.statements
    if untrusted and too_large(everything, findings):
        return Spec(folder=folder, untrusted=True), _shown(findings.in_order(included.sources))
    complete = lost is None and included.sound
    report_duplicates(everything, findings)
    params = _params(everything, bindings, origin, complete, findings)
    scope = Scope(params, findings, (lost or frozenset()) | included.lost)
    weighted = is_weighted(everything)
    goals = _goals(everything, scope)
    requirements = [
        requirement
        for statement in everything
        if isinstance(statement, Require)
        for requirement in requirements_of(statement, scope, weighted)
    ]
    columns = columns_of(everything, scope)
    requests = requests_of(everything, scope)
    asked, reported = uses_of(goals, requirements), requests.fields.get("reported", ())
    report_tasks(everything, goals, (*asked, *reported), has_target or not complete, findings)
    report_leaf_models(columns.fields["linear"], asked, everything, findings)
    has_branches = any(rule.method == "branches" for rule in columns.fields["binarizations"])
    report_contradictions(requirements, columns.banned, has_branches, findings)
    if complete:
        _report_missing(everything, findings)
    if not findings.has_errors:
        report_lint(everything, goals, requirements, columns, params, "".join(included.sources[:1]), findings)
    spec = Spec(
        folder=folder,
        file=included.file,
        untrusted=untrusted,
        data=next((statement.path for statement in everything if isinstance(statement, Data)), None),
        goals=tuple(goals),
        requirements=tuple(requirements),
        params=_plain(params),
        spans={**columns.spans, **requests.spans},
        **columns.fields,
        **confine_writes(requests.fields, folder, untrusted, findings),
    )
    return spec, _shown(findings.in_order(included.sources))


def positive_class(statements: Sequence[Statement]) -> str:
    """The positive class of `predict ... is`, in quotes unless it is a number; "" if there is none or it is a param."""
    params = {statement.name for statement in statements if isinstance(statement, Param)}
    for statement in statements:
        value = statement.positive if isinstance(statement, Predict) else None
        if isinstance(value, Number):
            return spell_number(value.value)
        if isinstance(value, (String, Name)) and value.text not in params:
            return spell_string(value.text)
    return ""


def _shown(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics, with the general text of the catalogue for mistakes in files whose lines are not shown."""
    return [_without_lines(found) if _is_hidden(found) else found for found in diagnostics]


def _is_hidden(found: Diagnostic) -> bool:
    """Does the message have to hide the file? Refusals of access quote nothing from it, and stay as they are."""
    return not found.code.startswith("A") and any(label.span.source.hidden for label in found.labels)


def _without_lines(found: Diagnostic) -> Diagnostic:
    from treeml.lang.codes import CATALOGUE

    hidden = next(label.span.source for label in found.labels if label.span.source.hidden)
    labels = tuple(Label(label.span, label.text if not label.span.source.hidden else "") for label in found.labels)
    note = f"the lines of {hidden.name} are not shown"
    return replace(found, title=CATALOGUE[found.code].title, labels=labels, notes=(note,), helps=(), fix=())


def _params(
    statements: Sequence[Statement], bindings: Mapping[str, Any], origin: str | None, complete: bool, findings: Findings
) -> Params:
    """Bind the params. If statements could not be parsed, a param that seems missing may be declared in one of them."""
    own = Findings()
    params = bind_params(statements, bindings, origin, own)
    findings.extend(found for found in own.in_order() if complete or found.code not in ("N201", "N212"))
    return params


def _goals(statements: Sequence[Statement], scope: Scope) -> list[CheckedGoal]:
    objective = next((statement for statement in statements if isinstance(statement, Objective)), None)
    satisfy = next((statement for statement in statements if isinstance(statement, Satisfy)), None)
    if objective is not None and satisfy is not None:
        scope.findings.error(
            "T316",
            "`satisfy` asks for any tree, but an objective asks for the best",
            (objective.span, "asks for the best tree"),
            (satisfy.span, "asks for any tree"),
            help="remove one of the two",
        )
    goals = []
    for goal in objective.goals if objective is not None else ():
        value = evaluate(goal.expression, scope)
        if value is None:
            continue
        text = f"{goal.sense} {plain_text(goal.expression.span)}".strip()
        if not value.parts:
            scope.findings.error(
                "T311",
                "this objective is the same for every tree",
                (goal.expression.span or goal.span, f"always {value.constant}"),
                help="name a measure, as in `minimize errors`, or write `satisfy` for any tree",
            )
            continue
        if same_for_every_tree(value.parts, scope):
            continue
        if value.constant.unit in ("rows", "s"):
            scope.findings.error(
                "T305",
                f"{value.constant} cannot be added to `{value.parts[0][1].text}`",
                (goal.expression.span or goal.span, "the units differ"),
                help="a constant in an objective changes nothing: remove it",
            )
            continue
        goals.append(CheckedGoal(goal.sense, value.linear, text, goal.expression.span or goal.span))
    return goals


def _report_missing(statements: Sequence[Statement], findings: Findings) -> None:
    if any(isinstance(statement, (Objective, Satisfy)) for statement in statements):
        return
    last = next((statement for statement in reversed(statements) if statement.span is not None), None)
    if last is None:
        findings.error(
            "T313",
            "this specification says nothing",
            help="four lines are a complete one: `data`, `predict`, `maximize accuracy` and `require depth <= 3`",
        )
        return
    predict = next((statement for statement in statements if isinstance(statement, Predict)), last)
    findings.error(
        "T313",
        "the specification does not say what is best",
        (predict.span, "the best tree for this, but in what sense?" if predict is not last else "nothing is best yet"),
        help=("add an objective: `maximize accuracy`", "or take any tree that meets the requirements: `satisfy`"),
    )


def _plain(params: Params) -> dict[str, Any]:
    return {
        name: value.value if isinstance(value, Quantity) else value
        for name, value in params.values.items()
        if value is not None
    }
