"""The target and the measures -> errors if they do not fit together.

Measures of classes, of numbers, of clusters and of ensembles cannot be mixed. Without data the type of the target is
known only if it is declared or if `is` names a class; `data/bind.py` checks again when the rows are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from treeml.lang.findings import Findings
from treeml.lang.measures import MEASURES
from treeml.lang.source import Span
from treeml.lang.spec import CheckedGoal, Requirement, Use
from treeml.lang.syntax import (
    ColumnRule,
    Ensemble,
    Improve,
    ListTrees,
    MistakeCost,
    Name,
    Predict,
    RowCost,
    Satisfy,
    Start,
    Statement,
    WeightBy,
    WeightClass,
)

NEEDS = {"classes": "classes", "numbers": "a number"}
HELPS = {
    "classes": "for classes, minimize `errors` or maximize `accuracy`",
    "numbers": "for a number, minimize `squared_loss`, `absolute_loss` or `quantile_loss(0.5)`",
}

SURVIVAL_HELP = "minimize `survival_loss`, or remove `observed ...` to predict a number"


def report_tasks(
    statements: Sequence[Statement],
    goals: Sequence[CheckedGoal],
    uses: Sequence[Use],
    has_target: bool,
    findings: Findings,
) -> None:
    """`uses`: the measures of goals and requirements, then those reported.

    `has_target`: the target comes with the data, so that no `predict` is needed.
    """
    predict = next((statement for statement in statements if isinstance(statement, Predict)), None)
    rules = {
        column.text: statement
        for statement in statements
        if isinstance(statement, ColumnRule)
        for column in statement.columns
    }
    by_task: dict[str, Use] = {}
    for use in uses:
        by_task.setdefault(MEASURES[use.measure].task, use)
    mixed = _report_mixture(by_task, findings)
    if predict is None and not has_target:
        _report_no_target(by_task, statements, findings)
    if predict is not None:
        _report_cluster(predict, by_task, findings)
    _report_survival(predict, uses, statements, mixed, findings)
    if predict is not None and not mixed:
        _report_target(predict, by_task, rules, findings)
    ensemble = next((statement for statement in statements if isinstance(statement, Ensemble)), None)
    _report_ensemble(ensemble, by_task, goals, findings)
    _report_improved_ensemble(ensemble, statements, findings)
    _report_list(statements, goals, findings)
    _report_classes_of_numbers(statements, by_task, mixed, findings)


def uses_of(goals: Sequence[CheckedGoal], requirements: Sequence[Requirement]) -> list[Use]:
    sums = [goal.expression for goal in goals] + [requirement.expression for requirement in requirements]
    return [use for linear in sums for _, use in linear.parts]


def counts(use: Use) -> str:
    """What a measure does with the target, for a label."""
    task, unit = MEASURES[use.measure].task, MEASURES[use.measure].unit
    if use.measure in ("accuracy", "balanced_accuracy"):
        return "counts rows whose class is right"
    if task == "classes":
        return "counts rows by their class" if unit != "truth" else "depends on the positive class"
    return {"numbers": "adds up distances between numbers", "clusters": "needs no target"}.get(
        task, "measures a forest"
    )


def _report_mixture(by_task: Mapping[str, Use], findings: Findings) -> bool:
    tasks = [task for task in ("classes", "numbers", "clusters") if task in by_task]
    if len(tasks) < 2:
        return False
    first, second = sorted((by_task[tasks[0]], by_task[tasks[1]]), key=_start)
    findings.error(
        "T315",
        f"`{first.text}` and `{second.text}` do not go together",
        (first.span, counts(first)),
        (second.span, counts(second)),
        help="use measures of one kind: for classes, for numbers, or for clusters",
    )
    return True


def _start(use: Use) -> int:
    return use.span.start if use.span is not None else 0


def _report_no_target(by_task: Mapping[str, Use], statements: Sequence[Statement], findings: Findings) -> None:
    use = by_task.get("classes") or by_task.get("numbers") or by_task.get("ensemble")
    if use is not None:
        findings.error(
            "T313",
            f"`{use.text}` needs a target, but nothing is predicted",
            (use.span, counts(use)),
            help="name the column to predict: `predict disease`",
        )
        return
    about_classes = next((s for s in statements if isinstance(s, (WeightClass, MistakeCost, RowCost))), None)
    if about_classes is not None:
        what = "weight" if isinstance(about_classes, WeightClass) else "cost"
        findings.error(
            "T313",
            f"this {what} refers to classes, but nothing is predicted",
            (about_classes.span, "which column has these classes?"),
            help="name the column to predict: `predict disease`",
        )


def _report_cluster(predict: Predict, by_task: Mapping[str, Use], findings: Findings) -> None:
    use = by_task.get("clusters")
    if use is None or "classes" in by_task or "numbers" in by_task:
        return
    findings.error(
        "T301",
        f"`{use.measure}` groups rows without a target, but `{predict.column.text}` is predicted",
        (predict.column.span, "the target"),
        (use.span, counts(use)),
        help=(f"remove `predict {predict.column.text}`", HELPS["numbers"]),
    )


def _report_target(
    predict: Predict, by_task: Mapping[str, Use], rules: Mapping[str, ColumnRule], findings: Findings
) -> None:
    target = predict.column.text
    declared = rules.get(target)
    number = by_task.get("numbers")
    classes = by_task.get("classes") or by_task.get("ensemble")
    if declared is not None and declared.type == "number" and classes is not None:
        findings.error(
            "T301",
            f"`{classes.text}` needs classes, but `{target}` is a number",
            (declared.span, "declared a number here"),
            (classes.span, counts(classes)),
            help=(
                HELPS["numbers"],
                f"if `{target}` names classes, declare `column {_written(predict.column)} : category`",
            ),
        )
    elif declared is not None and declared.type in ("category", "text", "binary", "ordered") and number is not None:
        findings.error(
            "T301",
            f"`{number.text}` needs a number, but `{target}` is {_article(declared.type)}",
            (declared.span, f"declared {_article(declared.type)} here"),
            (number.span, counts(number)),
            help=(
                HELPS["classes"],
                f"if `{target}` holds numbers, declare `column {_written(predict.column)} : number`",
            ),
        )
    elif predict.positive is not None and number is not None:
        findings.error(
            "T301",
            f"`{number.text}` needs a number, but `{target}` is predicted as classes",
            (predict.positive.span or predict.span, "names a class"),
            (number.span, counts(number)),
            help=(f"write `predict {_written(predict.column)}` to predict a number", HELPS["classes"]),
        )


def _report_survival(
    predict: Predict | None, uses: Sequence[Use], statements: Sequence[Statement], mixed: bool, findings: Findings
) -> None:
    """Measures of survival need to know which ends were observed, and others would take a censored time for a death."""
    about_numbers = [use for use in uses if MEASURES[use.measure].task in ("numbers", "classes", "clusters")]
    survival = next((use for use in about_numbers if MEASURES[use.measure].group == "survival"), None)
    other = next((use for use in about_numbers if MEASURES[use.measure].group != "survival"), None)
    observed = None if predict is None else predict.observed
    # `brier` is a measure of survival or of classes: what else is measured decides.
    is_about_classes = not about_numbers or any(MEASURES[use.measure].task == "classes" for use in about_numbers)
    either = None if is_about_classes else next((use for use in uses if use.measure == "brier"), None)
    if observed is None and (lone := survival or either) is not None:
        findings.error(
            "T301",
            f"`{lone.text}` needs to know which rows were observed to the end",
            (lone.span, "treats a death and a lost trace differently"),
            help="name that column, too: `predict months observed died`",
        )
    if other is not None and not mixed and (observed is not None or survival is not None):
        spans = [(other.span, counts(other))]
        spans += [(observed.span, "says that some rows were not observed to the end")] if observed is not None else []
        findings.error("T315", f"`{other.text}` does not go with times of survival", *spans, help=SURVIVAL_HELP)
    weight = next((each for each in statements if isinstance(each, (WeightBy, WeightClass))), None)
    if observed is not None and weight is not None:
        findings.error(
            "T315",
            "times of survival cannot be weighted",
            (weight.span, "weighs rows"),
            help="remove it: every row counts once in the hazards",
        )


def _article(type: str) -> str:
    return {"category": "a category", "text": "text", "binary": "binary", "ordered": "ordered"}[type]


def _written(column: Name) -> str:
    return column.text if column.text.isidentifier() else f"`{column.text}`"


def _report_ensemble(
    ensemble: Ensemble | None, by_task: Mapping[str, Use], goals: Sequence[CheckedGoal], findings: Findings
) -> None:
    margin = by_task.get("ensemble")
    if ensemble is None and margin is not None:
        findings.error(
            "T316",
            f"`{margin.text}` is of an ensemble, but one tree is asked for",
            (margin.span, "measures a forest"),
            help=("ask for a forest: `ensemble by lpboost(penalty = 0.05)`", "for one tree, maximize `accuracy`"),
        )
    if ensemble is not None and goals and margin is None:
        findings.error(
            "T316",
            "an ensemble is chosen by its `margin`, which is not the objective",
            (ensemble.span, "asks for a forest"),
            (goals[0].span, "asks for something else"),
            help=("write `maximize margin`", "for one tree, remove the `ensemble` statement"),
        )
    if ensemble is not None and margin is not None and not _is_margin_alone(goals):
        other = next((goal for goal in goals if not _is_margin_alone([goal])), None)
        findings.error(
            "T316",
            "an ensemble maximizes its `margin`, and that alone",
            (ensemble.span, "asks for a forest"),
            (margin.span if other is None else other.span, "asks for something else"),
            help=("write `maximize margin`", "bound what else matters in every tree: `require leaves <= 4`"),
        )


def _is_margin_alone(goals: Sequence[CheckedGoal]) -> bool:
    """Is the one goal `maximize margin`, without a factor or a constant?"""
    if len(goals) != 1 or goals[0].sense != "maximize":
        return False
    expression = goals[0].expression
    return expression.constant == 0 and [(f, use.measure) for f, use in expression.parts] == [(Fraction(1), "margin")]


def _report_improved_ensemble(ensemble: Ensemble | None, statements: Sequence[Statement], findings: Findings) -> None:
    """`start`, `improve` and `list` apply to single trees only."""
    for statement in statements:
        if ensemble is not None and isinstance(statement, (Improve, Start, ListTrees)):
            word = {Improve: "improve", Start: "start", ListTrees: "list"}[type(statement)]
            findings.error(
                "T319",
                f"`{word}` applies to {'single trees' if word == 'list' else 'one tree'}, but a forest is asked for",
                (ensemble.span, "asks for a forest"),
                (statement.span, f"applies to {'single trees' if word == 'list' else 'one tree'}"),
                help=(f"remove `{word}`", "for one tree, remove the `ensemble` statement"),
            )


def _report_list(statements: Sequence[Statement], goals: Sequence[CheckedGoal], findings: Findings) -> None:
    """Trees are listed in the order of a goal; an improved tree is one tree, and `list` looks at all of them."""
    listed = next((statement for statement in statements if isinstance(statement, ListTrees)), None)
    if listed is None:
        return
    satisfy = next((statement for statement in statements if isinstance(statement, Satisfy)), None)
    if satisfy is not None and not goals:
        findings.error(
            "T316",
            "`satisfy` asks for any tree, but `list` for the best ones",
            (satisfy.span, "any tree is as good as any other"),
            (listed.span, "lists trees in the order of a goal"),
            help="name a goal: `minimize errors`",
        )
    improve = next((statement for statement in statements if isinstance(statement, Improve | Start)), None)
    if improve is not None:
        word = "improve" if isinstance(improve, Improve) else "start"
        findings.error(
            "T316",
            f"`{word}` begins with one tree, but `list` looks at all of them",
            (improve.span, "begins with one tree"),
            (listed.span, "looks at all trees"),
            help="remove one of the two",
        )


def _report_classes_of_numbers(
    statements: Sequence[Statement], by_task: Mapping[str, Use], mixed: bool, findings: Findings
) -> None:
    number = by_task.get("numbers")
    if number is None or mixed:
        return
    for statement in statements:
        if isinstance(statement, (WeightClass, MistakeCost, RowCost)):
            findings.error(
                "T301",
                f"`{number.text}` needs a number, but this refers to classes",
                (statement.span, "names a class"),
                (number.span, counts(number)),
                help=HELPS["classes"],
            )
            return


def is_weighted(statements: Sequence[Statement]) -> bool:
    return any(isinstance(statement, (WeightBy, WeightClass)) for statement in statements)


def place_of(statements: Sequence[Statement]) -> Span | None:
    return next((statement.span for statement in statements if statement.span is not None), None)
