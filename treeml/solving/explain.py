"""A specification or a word -> an explanation: the plan, a measure, or a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Backend
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions

if TYPE_CHECKING:
    from treeml.lang.statements import Statements


def of_word(word: str) -> str | None:
    """The meaning of `measures`, of the name of a measure, or of the code of a message; None for other words."""
    from treeml.lang.codes import CATALOGUE
    from treeml.lang.measures import MEASURES
    from treeml.solving.report import table_text

    if word == "measures":
        return table_text(
            [{"measure": signature(m.name), "unit": m.unit, "means": m.summary} for m in MEASURES.values()]
        )
    if word in MEASURES:
        measure = MEASURES[word]
        lines = [f"{signature(word)}: {measure.summary}", f"unit: {measure.unit}; of a tree for: {measure.task}"]
        return "\n".join(lines)
    entry = CATALOGUE.get(word.upper())
    if entry is not None:
        title = f"{entry.code}: {entry.title}"
        return "\n\n".join([title, entry.meaning, "for instance", _indented(entry.wrong), entry.instead])
    return None


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def signature(name: str) -> str:
    """A measure with its arguments."""
    from treeml.lang.arguments import signature
    from treeml.lang.measures import MEASURES

    return signature(MEASURES[name])


def plan_text(rows: list[dict[str, str]]) -> str:
    """The rows of a plan as lines."""
    return "\n".join(f"{row['what']:<9} {row['text']}" for row in rows)


def plan_rows(
    model: Statements, data: Any = None, y: Any = None, options: RunOptions = DEFAULT_OPTIONS
) -> list[dict[str, str]]:
    """How a model would be solved: the back-end, its steps, and the size of the problem."""
    from treeml.solving.choice import lower, plan
    from treeml.solving.pipeline import prepare

    dataset, request = prepare(model, data, y, options)
    chosen = plan(lower(dataset, request), request)
    problem = chosen.plan.problem
    size = f"{problem.rows:,} rows, {len(problem.tests):,} tests on {len(problem.features):,} columns"
    if problem.classes:
        size += f", {problem.classes} classes"
    lines = [("problem", size)]
    lines += [("goal", goal.text) for goal in request.spec.goals]
    lines += [("require", requirement.text) for requirement in request.spec.requirements]
    lines += [(f"step {number}", sentence) for number, sentence in enumerate(chosen.plan.explain(), 1)]
    lines += [("note", note) for note in chosen.lowered.notes]
    return [{"what": what, "text": text} for what, text in lines]


def params(model: Statements) -> list[dict[str, Any]]:
    """One row per param of a model: its value, where the value comes from, and its declaration."""
    from treeml.lang.findings import Findings
    from treeml.lang.include import resolve_includes
    from treeml.lang.syntax import Param, Set
    from treeml.lang.write import write
    from treeml.solving.checking import check
    from treeml.solving.result import plain

    spec, _ = check(model)
    statements = resolve_includes(model.statements, model.folder, Findings()).statements
    assigned = {statement.name for statement in statements if isinstance(statement, Set)}
    rows = []
    for statement in statements:
        if isinstance(statement, Param):
            name = statement.name
            value = spec.params.get(name)
            rows.append(
                {
                    "param": name,
                    "value": value if value is None or isinstance(value, str) else plain(value),
                    "from": "--set" if name in model.bindings else "set" if name in assigned else "default",
                    "declared": write(statement),
                }
            )
    return rows


def capable_backends(
    model: Statements, data: Any = None, options: RunOptions = DEFAULT_OPTIONS
) -> list[dict[str, Any]]:
    """Every back-end: whether it can solve a model, and why not."""
    from treeml.solving.choice import every_plan, lower
    from treeml.solving.pipeline import prepare

    dataset, request = prepare(model, data, None, options)
    rows = []
    for candidate in every_plan(lower(dataset, request), request):
        refused = candidate.outcome if isinstance(candidate.outcome, list) else []
        because = list(dict.fromkeys(refusal.because for refusal in refused))
        rows.append({"back-end": candidate.backend.name, "takes it": "no" if refused else "yes", "because": because})
    return rows


def backends() -> list[dict[str, Any]]:
    """Every registered back-end, and whether it can run here."""
    from treeml.backends import registry

    rows = [_backend_row(backend) for backend in registry.all()]
    return rows + [{"back-end": problem.title, "here": "; ".join(problem.notes)} for problem in registry.broken()]


def _backend_row(backend: Backend) -> dict[str, Any]:
    try:
        missing, version = backend.missing(), backend.version()
    except Exception as error:  # a library that does not load becomes one line of the list
        missing, version = f"{type(error).__name__}: {error}", ""
    return {
        "back-end": backend.name,
        "version": "" if missing else version,
        "proves": "yes" if backend.can.proves else "no",
        "what it is": backend.summary,
        "here": missing or "ready",
    }
