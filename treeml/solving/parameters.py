"""Dataset -> the parameters of its classification instance, and whether `parameterized` will finish on it.

These are the figures of Table 1 of Ordyniak and Szeider (2021), with a smallest support set: columns that distinguish
any two rows of different classes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Deadline
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.display import shown
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Predicted, Sum
from treeml.problem.tree import Leaf, Node
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions

if TYPE_CHECKING:
    from treeml.data.table import Dataset
    from treeml.lang.statements import Statements

SECONDS = 10.0  # for the search for a smallest support set


def parameters(model: Statements, data: Any = None, options: RunOptions = DEFAULT_OPTIONS) -> list[dict[str, Any]]:
    """The parameters of a model's rows: for each a name, a value and its text."""
    from treeml.solving.pipeline import prepare  # imported here: start-up time

    dataset, request = prepare(model, data, None, options)
    return parameters_of(dataset, request.spec.within)


def parameters_of(dataset: Dataset, within: float | None = None) -> list[dict[str, Any]]:
    """The same for a dataset that is bound already; `within` limits the search in seconds."""
    # imported here: start-up time
    import numpy as np

    from treeml.backends.parameterized.backend import ParameterizedBackend
    from treeml.backends.parameterized.instance import read_instance
    from treeml.backends.parameterized.parameters import measure
    from treeml.backends.task.greedy_start import greedy_for_bound
    from treeml.measures.lower_dataset import lower

    if not dataset.classes:
        raise DataError(_no_classes())
    lowered = lower(dataset, numeric=True)
    problem, actual = lowered.problem, np.asarray(dataset.actual)
    _refuse_contradictory_rows(problem, dataset)
    cost = (np.arange(problem.classes)[None, :] != actual[:, None]).astype(np.int64)
    perfect = Bound(Sum(((Fraction(1), Predicted(cost)),)), "<=", Fraction(0))
    instance = read_instance(problem, actual.astype(np.int64))
    found = measure(instance, Deadline.after(SECONDS if within is None else within))
    tree = greedy_for_bound(problem.asking((), (perfect,)))
    names = [_name(lowered.questions[instance.tests[column][0]]) for column in found.support]
    support = f"{len(names)} columns: {', '.join(map(shown, names))}"
    if not found.is_smallest:
        support += f" (every support set has at least {found.least_support})"
    return [
        _row("rows", found.rows, f"{found.rows:,} that differ, of {dataset.rows:,}"),
        _row("features", found.columns, f"{found.columns:,} that differ between rows"),
        _row("domain size", found.largest_domain, f"at most {found.largest_domain:,} values of a feature"),
        _row(
            "maximum difference",
            found.largest_difference,
            f"two rows of different classes differ in at most {found.largest_difference:,} features",
        ),
        _row(f"{'smallest' if found.is_smallest else 'small'} support set", names, support),
        _row(ParameterizedBackend.name, found.reach(), found.prediction(None if tree is None else _leaves(tree) - 1)),
    ]


def _refuse_contradictory_rows(problem: Problem, dataset: Dataset) -> None:
    """DataError if rows of different classes agree on every feature: then no tree is perfect."""
    # imported here: start-up time
    import numpy as np

    from treeml.solving.feasibility import alike, clashing

    groups = alike(problem)
    clash = clashing(groups, dataset)
    if clash is None:
        return
    first, second, _ = clash
    seen = np.zeros((int(groups.max()) + 1, problem.classes), dtype=np.int64)
    np.add.at(seen, (groups, np.asarray(dataset.actual)), 1)
    least = int((seen.sum(axis=1) - seen.max(axis=1)).sum())
    target = dataset.target.name if dataset.target is not None else "the target"
    raise DataError(
        Diagnostic(
            "D498",
            "no tree is perfect on this data, and these parameters are those of perfect trees",
            place=dataset.table.source,
            notes=(
                f"rows {first} and {second} agree on every feature, not on `{target}`",
                f"every tree has at least {least} {'error' if least == 1 else 'errors'}",
            ),
            helps=("clean the rows, or use finer cuts: `binarize all by thresholds`",),
        )
    )


def _no_classes() -> Diagnostic:
    return Diagnostic(
        "D497",
        "these parameters are those of rows with classes",
        place="--parameters",
        helps=("predict a column of classes",),
    )


def parameters_text(rows: list[dict[str, Any]]) -> str:
    return "\n".join(f"{row['what']:<21} {row['text']}" for row in rows)


def _row(what: str, value: Any, said: str) -> dict[str, Any]:
    return {"what": what, "value": value, "text": said}


def _name(question: Any) -> str:
    if question.kind in ("true", "at most"):
        return str(question.column)
    if question.kind == "missing":
        return f"{question.column} is missing"
    values = question.values or (question.value,)
    return f"{question.column} in {{{', '.join(map(str, values))}}}"


def _leaves(tree: Node) -> int:
    return 1 if isinstance(tree, Leaf) else _leaves(tree.yes) + _leaves(tree.no)
